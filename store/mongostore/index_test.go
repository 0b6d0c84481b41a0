package mongostore

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func keys(names ...string) bson.D {
	var d bson.D
	for _, name := range names {
		d = append(d, bson.E{Key: name, Value: int32(1)})
	}
	return d
}

func where(field, operator string, value any) bson.D {
	return bson.D{{Key: field, Value: bson.D{{Key: operator, Value: value}}}}
}

func TestAnIndexServesOnlyIfItKeepsEveryDuplicateOut(t *testing.T) {
	email := need{fields: []string{"email"}, unique: true, optional: true}
	account := need{fields: []string{"provider", "providerAccountId"}, unique: true}
	owner := need{fields: []string{"userId"}}
	collation := bson.Raw("\x05\x00\x00\x00\x00")
	tests := []struct {
		name  string
		need  need
		index index
		want  bool
	}{
		{"unique", email, index{Keys: keys("email"), Unique: true}, true},
		{"not unique", email, index{Keys: keys("email")}, false},
		{"of another field", email, index{Keys: keys("name"), Unique: true}, false},
		{"unique together with another field", email, index{Keys: keys("email", "tenant"), Unique: true}, false},
		{"of every text, which look-ups do not use", email, index{Keys: keys("email"), Unique: true, Partial: where("email", "$type", "string")}, false},
		{"of every value", email, index{Keys: keys("email"), Unique: true, Partial: where("email", "$exists", true)}, true},
		{"of every text but the empty one", email, index{Keys: keys("email"), Unique: true, Partial: where("email", "$gt", "")}, true},
		{"of missing ones", email, index{Keys: keys("email"), Unique: true, Partial: where("email", "$exists", false)}, false},
		{"of some addresses", email, index{Keys: keys("email"), Unique: true, Partial: where("email", "$gt", "m")}, false},
		{"of some users", email, index{Keys: keys("email"), Unique: true, Partial: where("role", "$exists", true)}, false},
		{"of some users, named", email, index{Keys: keys("email"), Unique: true, Partial: bson.D{{Key: "email", Value: "x"}}}, false},
		{"of two conditions", email, index{Keys: keys("email"), Unique: true, Partial: append(where("email", "$exists", true), where("role", "$exists", true)...)}, false},
		{"with the rules of a language", email, index{Keys: keys("email"), Unique: true, Collation: collation}, false},
		{"both fields", account, index{Keys: keys("provider", "providerAccountId"), Unique: true}, true},
		{"both fields, the other way round", account, index{Keys: keys("providerAccountId", "provider"), Unique: true}, true},
		{"one of both fields", account, index{Keys: keys("providerAccountId"), Unique: true}, true},
		{"both and a third", account, index{Keys: keys("provider", "providerAccountId", "userId"), Unique: true}, false},
		{"first of several", owner, index{Keys: keys("userId", "expires")}, true},
		{"second of several", owner, index{Keys: keys("expires", "userId")}, false},
		{"unique, though it need not be", owner, index{Keys: keys("userId"), Unique: true}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.need.metBy(tt.index); got != tt.want {
				t.Errorf("metBy = %t, want %t", got, tt.want)
			}
		})
	}
}

// As MongoDB lists them; the server of the other tests has no collations.
func TestACollectionThatTakesOtherTextsForEqualIsRefused(t *testing.T) {
	for listed, refused := range map[string]bool{
		`{"name":"users","type":"collection","options":{},"info":{"readOnly":false}}`:                                         false,
		`{"name":"users","type":"collection","options":{"collation":{"locale":"en","strength":2}},"info":{"readOnly":false}}`: true,
	} {
		err := read[collection](t, listed).check()
		if (err != nil) != refused {
			t.Errorf("check of %s: %v, want an error: %t", listed, err, refused)
		}
	}
}
