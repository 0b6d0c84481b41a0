package mongostore_test

import (
	"errors"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/integration/accountsite"
	"github.com/pintleauth/pintle/internal/integration/services"
)

// AT-112, AC-216: users go through all pages of package account, one of them a user of Auth.js. The
// documents of the adapter are byte for byte what they were, but for the session that a
// reset of the password ends, and the adapter goes on with them.
func TestAccountsLeaveTheDocumentsOfAuthJSAsTheyAre(t *testing.T) {
	db := services.MongoDatabase(t)
	node := newAdapter(t, db)
	ends := date(time.Date(2100, 1, 2, 3, 4, 5, 678e6, time.UTC))
	ids := map[string]string{}
	for _, name := range []string{"mary", "grace"} {
		created := node.call(t, "createUser", object{
			"name": name, "email": name + "@example.org", "emailVerified": date(noon), "visits": 3,
		}).(object)
		ids[name] = created["id"].(string)
		node.call(t, "linkAccount", object{
			"userId": ids[name], "type": "oidc", "provider": "google", "providerAccountId": name, "expires_at": 4102542245, "further": 1,
		})
		node.call(t, "createSession", object{"sessionToken": name, "userId": ids[name], "expires": ends})
		node.call(t, "createVerificationToken", object{"identifier": name + "@example.org", "token": "h", "expires": ends})
	}
	before := documents(t, db)

	s := open(t, db)
	site := accountsite.New(t, s)
	j := site.Take()
	site.Browser().SetCookie("authjs.session-token", "grace").IsSignedInAs("grace@example.org")
	const chosen = "a password that Mary chooses"
	site.Browser().Get("/auth/account/forgot").Post("/auth/account/forgot", "email", "mary@example.org")
	site.Browser().Get(site.Mail("mary@example.org").URL).Post("/auth/account/reset", "password", chosen).IsAt("/auth/signin")
	site.Browser().SignIn("mary@example.org", chosen).IsSignedInAs("mary@example.org")

	after, changed := documents(t, db), 0
	for id, document := range before {
		if after[id] != document {
			changed++
			t.Logf("the document %s was %s and is %q", id, bson.Raw(document), after[id])
		}
	}
	if _, _, err := s.SessionAndUser(t.Context(), "mary"); changed != 1 || !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("%d documents of the adapter have changed, and the session of before is %v; want that one", changed, err)
	}

	for _, name := range []string{"mary", "grace"} {
		has(t, "getUserByAccount", node.call(t, "getUserByAccount", object{"provider": "google", "providerAccountId": name}), object{
			"id": ids[name], "name": name, "email": name + "@example.org", "emailVerified": date(noon), "visits": 3,
		})
	}
	found, ok := node.call(t, "getSessionAndUser", j.SessionToken()).(object)
	if !ok || found["user"].(object)["email"] != j.Address {
		t.Errorf("getSessionAndUser of a user who signed up here is %v", found)
	}
	has(t, "useVerificationToken", node.call(t, "useVerificationToken", object{"identifier": "grace@example.org", "token": "h"}), object{
		"identifier": "grace@example.org", "token": "h", "expires": ends,
	})
	node.call(t, "deleteUser", ids["grace"])
	if _, err := s.User(t.Context(), ids["grace"]); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("the user whom the adapter deleted: %v, want ErrNotFound", err)
	}
}

// documents returns the bytes of each document of the adapter's collections, by its
// collection and its id.
func documents(t *testing.T, db *services.Mongo) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, collection := range []string{"users", "accounts", "sessions", "verification_tokens"} {
		found, err := db.Collection(collection).Find(t.Context(), bson.D{})
		if err != nil {
			t.Fatal(err)
		}
		for found.Next(t.Context()) {
			all[collection+" "+found.Current.Lookup("_id").String()] = string(found.Current)
		}
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if len(all) < 8 {
		t.Fatalf("there are %d documents", len(all))
	}
	return all
}
