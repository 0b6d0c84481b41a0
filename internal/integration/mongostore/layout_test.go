package mongostore_test

import (
	"cmp"
	"errors"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/mongostore"
)

// only returns the one document of a collection as extended JSON, which shows
// the types, without its id.
func only(t *testing.T, db *services.Mongo, collection string) string {
	t.Helper()
	cursor, err := db.Collection(collection).Find(t.Context(), bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	var documents []bson.D
	if err := cursor.All(t.Context(), &documents); err != nil {
		t.Fatal(err)
	}
	if len(documents) != 1 {
		t.Fatalf("%s has %d documents, want 1", collection, len(documents))
	}
	document := slices.DeleteFunc(documents[0], func(e bson.E) bool { return e.Key == "_id" })
	slices.SortFunc(document, func(a, b bson.E) int { return cmp.Compare(a.Key, b.Key) })
	text, err := bson.MarshalExtJSON(document, true, false)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestDocumentsAreThoseOfTheAdapter(t *testing.T) {
	db := services.MongoDatabase(t)
	u, _ := whole(t, open(t, db))
	if u.ID != ada.ID {
		t.Errorf("CreateUser replaced the id of an ObjectID, %s, by %s", ada.ID, u.ID)
	}
	const (
		owner    = `"userId":{"$oid":"65a0f0c2e4b0a1b2c3d4e5f6"}`
		verified = `{"$date":{"$numberLong":"1767323045678"}}`
		ends     = `"expires":{"$date":{"$numberLong":"4102542245678"}}`
	)
	for collection, want := range map[string]string{
		"users":               `{"email":"ada@example.org","emailVerified":` + verified + `,"image":null,"name":"Ada"}`,
		"accounts":            `{"access_token":"gho_x","expires_at":{"$numberLong":"2592000"},"provider":"github","providerAccountId":"583231","scope":"user","token_type":"bearer","type":"oauth",` + owner + `}`,
		"sessions":            `{"created":` + verified + `,"data":"{\"a.b\":\"$c\"}",` + ends + `,"sessionToken":"t0",` + owner + `}`,
		"verification_tokens": `{` + ends + `,"identifier":"ada@example.org","token":"abc"}`,
		"authenticators": `{"counter":{"$numberLong":"0"},"created":` + verified + `,"credentialBackedUp":false,"credentialDeviceType":"singleDevice",` +
			`"credentialID":"a/b+c/c=","credentialPublicKey":"AA==","name":"Phone","providerAccountId":"a/b+c/c=","transports":null,` + owner + `}`,
	} {
		if got := only(t, db, collection); got != want {
			t.Errorf("%s:\n got %s\nwant %s", collection, got, want)
		}
	}
}

func TestCollectionsHaveTheNamesOfTheOptions(t *testing.T) {
	db := services.MongoDatabase(t)
	o := mongostore.Options{
		Users: "u", Accounts: "a", Sessions: "s", VerificationTokens: "v", Authenticators: "p", Revocations: "r", States: "ps", Factors: "pf", Flows: "pl", Activity: "pa",
		ProviderSessions: "os", ProviderEnds: "oe", Once: "on", Leases: "ol", Counts: "oc",
	}
	if err := mongostore.EnsureIndexes(t.Context(), db.Database, o); err != nil {
		t.Fatal(err)
	}
	s, err := mongostore.Open(t.Context(), db.Database, o)
	if err != nil {
		t.Fatal(err)
	}
	whole(t, s)
	person(t, s)
	names, err := db.ListCollectionNames(t.Context(), bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	if want := []string{"a", "oc", "oe", "ol", "on", "os", "p", "pa", "pf", "pl", "ps", "r", "s", "u", "v"}; !slices.Equal(names, want) {
		t.Errorf("the collections are %q, want %q", names, want)
	}
}

// SH-73: a token response or a profile may have any member. No member can change
// the owner of the account or the id of the user.
func TestExtraMembersReplaceNoField(t *testing.T) {
	s := open(t, services.MongoDatabase(t))
	victim, _ := whole(t, s)
	hostile := map[string]any{
		"_id": victim.ID, "id": victim.ID, "userId": victim.ID, "email": victim.Email, "provider": "github", "providerAccountId": "583231",
		"type": "oidc", "emailVerified": "2026-01-02T03:04:05.678Z", "image": "x", "name": "Ada", "plan": "free",
	}
	u, err := s.CreateUser(t.Context(), &pintle.User{Email: "mallory@example.org", Extra: hostile})
	if err != nil {
		t.Fatal(err)
	}
	if u.ID == victim.ID || u.Email != "mallory@example.org" || u.Name != "" || !u.EmailVerified.IsZero() || u.Extra["plan"] != "free" {
		t.Errorf("CreateUser = %+v", u)
	}
	hostile["plan"] = "paid"
	u, err = s.UpdateUser(t.Context(), u.ID, pintle.UserUpdate{Extra: hostile})
	if err != nil {
		t.Fatal(err)
	}
	if u.ID == victim.ID || u.Email != "mallory@example.org" || u.Name != "" || !u.EmailVerified.IsZero() || u.Extra["plan"] != "paid" {
		t.Errorf("UpdateUser = %+v", u)
	}
	hostile["plan"] = "free"
	if err := s.LinkAccount(t.Context(), &pintle.Account{UserID: u.ID, Type: pintle.TypeOAuth, Provider: "acme", ProviderAccountID: "1", Extra: hostile}); err != nil {
		t.Fatal(err)
	}
	if owner, err := s.UserByAccount(t.Context(), "acme", "1"); err != nil || owner.ID != u.ID {
		t.Errorf("UserByAccount = %+v, %v, want Mallory", owner, err)
	}
	if owner, err := s.UserByAccount(t.Context(), "github", "583231"); err != nil || owner.ID != victim.ID {
		t.Errorf("UserByAccount of the victim's account = %+v, %v", owner, err)
	}
	update := &pintle.Account{Provider: "acme", ProviderAccountID: "1", AccessToken: "new", Extra: hostile}
	if err := s.UpdateAccount(t.Context(), update); err != nil {
		t.Fatal(err)
	}
	if a, err := s.Account(t.Context(), "acme", "1"); err != nil || a.UserID != u.ID || a.AccessToken != "new" || a.Type != pintle.TypeOAuth || a.Extra["plan"] != "free" {
		t.Errorf("Account after UpdateAccount = %+v, %v", a, err)
	}
}

func TestNamesThatWouldBePathsOrOperatorsAreRejected(t *testing.T) {
	s := open(t, services.MongoDatabase(t))
	u, _ := whole(t, s)
	for _, name := range []string{"$set", "a.b", "$", ".", "nul\x00", "\xff"} {
		for _, extra := range []map[string]any{{name: 1}, {"a": map[string]any{name: 1}}, {"a": []any{map[string]any{name: 1}}}} {
			if _, err := s.CreateUser(t.Context(), &pintle.User{Extra: extra}); err == nil {
				t.Errorf("CreateUser keeps the field %q", extra)
			}
			if _, err := s.UpdateUser(t.Context(), u.ID, pintle.UserUpdate{Extra: extra}); err == nil {
				t.Errorf("UpdateUser keeps the field %q", extra)
			}
		}
	}
}

func TestTheAccountOfADeletedUserCanBeLinkedAgain(t *testing.T) {
	db := services.MongoDatabase(t)
	s := open(t, db)
	u, _ := whole(t, s)
	// A sign-in that runs while the user is deleted leaves such an account.
	if _, err := db.Collection("users").DeleteOne(t.Context(), bson.D{{Key: "email", Value: ada.Email}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.UserByAccount(t.Context(), "github", "583231"); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("UserByAccount of an abandoned account: %v, want ErrNotFound", err)
	}
	heir, err := s.CreateUser(t.Context(), &pintle.User{Email: ada.Email})
	if err != nil {
		t.Fatal(err)
	}
	if heir.ID == u.ID {
		t.Fatal("the heir has the id of the user who was deleted")
	}
	again := linked
	again.UserID = heir.ID
	if err := s.LinkAccount(t.Context(), &again); err != nil {
		t.Fatalf("LinkAccount of an abandoned account: %v", err)
	}
	if owner, err := s.UserByAccount(t.Context(), "github", "583231"); err != nil || owner.ID != heir.ID {
		t.Errorf("UserByAccount = %+v, %v, want the heir", owner, err)
	}
	if accounts, err := s.UserAccounts(t.Context(), u.ID); err != nil || len(accounts) != 0 {
		t.Errorf("UserAccounts of the user who was deleted = %+v, %v", accounts, err)
	}
}

// A token of few digits, which a host may make, comes twice.
func TestALinkThatIsStoredTwiceIsUsedOnce(t *testing.T) {
	s := open(t, services.MongoDatabase(t))
	first := time.Now().Add(time.Minute).UTC().Truncate(time.Millisecond)
	v := pintle.Verification{Identifier: "ada@example.org", Token: "123456", Expires: first}
	for range 2 {
		if err := s.CreateVerification(t.Context(), &v); err != nil {
			t.Fatal(err)
		}
		v.Expires = v.Expires.Add(time.Minute)
	}
	used, err := s.UseVerification(t.Context(), v.Identifier, v.Token)
	if err != nil || !used.Expires.Equal(first.Add(time.Minute)) {
		t.Errorf("UseVerification = %+v, %v, want the later end", used, err)
	}
	if _, err := s.UseVerification(t.Context(), v.Identifier, v.Token); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("UseVerification a second time: %v, want ErrNotFound", err)
	}
}

func TestAnEmptyAddressFindsNoUser(t *testing.T) {
	db := services.MongoDatabase(t)
	s := open(t, db)
	for _, none := range []any{"", nil} {
		if _, err := db.Collection("users").InsertOne(t.Context(), bson.D{{Key: "email", Value: none}}); err != nil {
			t.Fatal(err)
		}
	}
	if u, err := s.UserByEmail(t.Context(), ""); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf(`UserByEmail("") = %+v, %v, want ErrNotFound`, u, err)
	}
}
