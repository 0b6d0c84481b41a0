package mongostore

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A host may keep members of a profile or of a token response. Members
// whose names are those of the documents but for upper and lower case stay what
// they are.
func TestDocumentsAreReadByExactNames(t *testing.T) {
	id, other := bson.NewObjectID(), bson.NewObjectID()
	t.Run("user", func(t *testing.T) {
		data, err := bson.Marshal(bson.D{
			{Key: "_id", Value: id},
			{Key: "email", Value: "ada@example.com"},
			{Key: "name", Value: "Ada"},
			{Key: "Email", Value: "eve@example.com"},
			{Key: "NAME", Value: 5},
			{Key: "_ID", Value: other},
		})
		if err != nil {
			t.Fatal(err)
		}
		var d userDocument
		if err := bson.Unmarshal(data, &d); err != nil {
			t.Fatal(err)
		}
		if u := d.user(); u.ID != id.Hex() || u.Email != "ada@example.com" || u.Name != "Ada" || u.Extra["Email"] != "eve@example.com" {
			t.Errorf("the user is %+v", u)
		}
	})
	t.Run("account", func(t *testing.T) {
		data, err := bson.Marshal(bson.D{
			{Key: "_id", Value: id},
			{Key: "userId", Value: id},
			{Key: "provider", Value: "acme"},
			{Key: "type", Value: "oidc"},
			{Key: "providerAccountId", Value: "1"},
			{Key: "Provider", Value: "other"},
			{Key: "TYPE", Value: "email"},
			{Key: "_Id", Value: other},
		})
		if err != nil {
			t.Fatal(err)
		}
		var d accountDocument
		if err := bson.Unmarshal(data, &d); err != nil {
			t.Fatal(err)
		}
		if a := d.account(); a.ID != id.Hex() || a.Provider != "acme" || a.Type != "oidc" || a.Extra["Provider"] != "other" {
			t.Errorf("the account is %+v", a)
		}
	})
	t.Run("removals", func(t *testing.T) {
		data, err := bson.Marshal(bson.D{{Key: "_id", Value: id}, {Key: removalsField, Value: bson.A{"a"}}, {Key: "Pintle_Unlinking", Value: bson.A{"b"}}})
		if err != nil {
			t.Fatal(err)
		}
		var d removalsDocument
		if err := bson.Unmarshal(data, &d); err != nil {
			t.Fatal(err)
		}
		if len(d.Removals) != 1 || d.Removals[0] != "a" {
			t.Errorf("the calls under way are %q", d.Removals)
		}
	})
}
