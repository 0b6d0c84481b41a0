package mongostore_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/mongostore"
)

func TestWithoutUniqueIndexesThereIsNoStore(t *testing.T) {
	db := services.MongoDatabase(t)
	uniques := []string{
		"users (email)", "accounts (provider, providerAccountId)", "sessions (sessionToken)",
		"verification_tokens (identifier, token)", "authenticators (credentialID)",
	}
	_, err := mongostore.Open(t.Context(), db.Database, mongostore.Options{})
	for _, want := range append(uniques, "EnsureIndexes") {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open without indexes: %v, want it to name %s", err, want)
		}
	}
	if err := mongostore.EnsureIndexes(t.Context(), db.Database, mongostore.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, drop := range []struct{ collection, index string }{
		{"users", "pintle_email"},
		{"accounts", "pintle_provider_providerAccountId"},
		{"sessions", "pintle_sessionToken"},
		{"verification_tokens", "pintle_identifier_token"},
		{"authenticators", "pintle_credentialID"},
	} {
		if _, err := mongostore.Open(t.Context(), db.Database, mongostore.Options{}); err != nil {
			t.Errorf("Open with every index: %v", err)
		}
		if err := db.Collection(drop.collection).Indexes().DropOne(t.Context(), drop.index); err != nil {
			t.Fatal(err)
		}
		_, err := mongostore.Open(t.Context(), db.Database, mongostore.Options{})
		if err == nil || !strings.Contains(err.Error(), "unique index on "+drop.collection+" (") || strings.Count(err.Error(), "(") != 1 {
			t.Errorf("Open without %s: %v, want it to name that", drop.index, err)
		}
		if err := mongostore.EnsureIndexes(t.Context(), db.Database, mongostore.Options{}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestIndexesAreMadeOnceAndThoseOfOthersServe(t *testing.T) {
	db := services.MongoDatabase(t)
	_, err := db.Collection("users").Indexes().CreateOne(t.Context(), mongo.IndexModel{
		Keys: bson.D{{Key: "email", Value: -1}}, Options: options.Index().SetUnique(true).SetName("theirs"),
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := mongostore.EnsureIndexes(t.Context(), db.Database, mongostore.Options{}); err != nil {
			t.Fatal(err)
		}
		for collection, want := range map[string]int{
			"users": 1, "accounts": 2, "sessions": 3, "verification_tokens": 2, "authenticators": 2, "pintle_factors": 2, "pintle_flows": 2, "pintle_activity": 5,
			"pintle_once": 1, "pintle_leases": 1, "pintle_counts": 1, "pintle_provider_sessions": 5, "pintle_provider_ends": 1,
		} {
			indexes, err := db.Collection(collection).Indexes().ListSpecifications(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := len(indexes) - 1; got != want { // one is that of _id
				t.Errorf("%s has %d indexes, want %d", collection, got, want)
			}
		}
	}
	if _, err := mongostore.Open(t.Context(), db.Database, mongostore.Options{}); err != nil {
		t.Error(err)
	}
}

func TestDuplicatesAreNamedByTheirIdsAndNotByWhatTheyShare(t *testing.T) {
	db := services.MongoDatabase(t)
	insert := func(collection string, documents ...any) {
		t.Helper()
		if _, err := db.Collection(collection).InsertMany(t.Context(), documents); err != nil {
			t.Fatal(err)
		}
	}
	id := []bson.ObjectID{bson.NewObjectID(), bson.NewObjectID(), bson.NewObjectID(), bson.NewObjectID(), bson.NewObjectID()}
	insert("users",
		bson.D{{Key: "_id", Value: id[0]}, {Key: "email", Value: "twice@example.org"}},
		bson.D{{Key: "_id", Value: id[1]}, {Key: "email", Value: "twice@example.org"}},
		bson.D{{Key: "_id", Value: id[2]}, {Key: "email", Value: "once@example.org"}},
		bson.D{{Key: "name", Value: "no address"}}, bson.D{{Key: "name", Value: "no address"}})
	insert("accounts",
		bson.D{{Key: "_id", Value: id[3]}, {Key: "provider", Value: "acme"}, {Key: "providerAccountId", Value: "shared secret"}},
		bson.D{{Key: "_id", Value: id[4]}, {Key: "provider", Value: "acme"}, {Key: "providerAccountId", Value: "shared secret"}},
		bson.D{{Key: "provider", Value: "other"}, {Key: "providerAccountId", Value: "shared secret"}})

	err := mongostore.EnsureIndexes(t.Context(), db.Database, mongostore.Options{})
	if err == nil {
		t.Fatal("EnsureIndexes succeeds in spite of duplicates")
	}
	for _, want := range []string{"users (email)", id[0].Hex(), id[1].Hex(), "accounts (provider, providerAccountId)", id[3].Hex(), id[4].Hex()} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("EnsureIndexes: %v\nwant it to name %s", err, want)
		}
	}
	for _, secret := range []string{id[2].Hex(), "twice@", "shared secret"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("EnsureIndexes: %v\nwant it without %s", err, secret)
		}
	}
	for collection, gone := range map[string]bson.ObjectID{"users": id[1], "accounts": id[4]} {
		if _, err := db.Collection(collection).DeleteOne(t.Context(), bson.D{{Key: "_id", Value: gone}}); err != nil {
			t.Fatal(err)
		}
	}
	open(t, db)
}

// MongoDB, which is not installed here, has partial indexes. The store requests
// one first.
func TestTheIndexOfAddressesIsPartialWhereItCanBe(t *testing.T) {
	var asked []string
	db := services.MongoDatabase(t, options.Client().SetMonitor(&event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
		if e.CommandName == "createIndexes" && e.Command.Lookup("createIndexes").StringValue() == "users" {
			asked = append(asked, e.Command.Lookup("indexes", "0").String())
		}
	}}))
	open(t, db)
	want := []string{
		`{"key": {"email": {"$numberInt":"1"}},"unique": true,"partialFilterExpression": {"email": {"$gt": ""}},"name": "pintle_email"}`,
		`{"key": {"email": {"$numberInt":"1"}},"unique": true,"sparse": true,"name": "pintle_email"}`,
	}
	for i := range want {
		if len(asked) <= i || normal(t, asked[i]) != normal(t, want[i]) {
			t.Errorf("the server received %q, want %q", asked, want)
		}
	}
}

// Collections of Auth.js get no index unasked by which MongoDB removes documents. The server that is
// installed here has no such indexes: the store requests one first, and then one for Sweep.
func TestMongoDBRemovesWhatExpiresFromTheCollectionsOfThisPackage(t *testing.T) {
	own := []string{
		"pintle_revocations", "pintle_factors", "pintle_flows", "pintle_activity", "pintle_provider_sessions", "pintle_provider_ends",
		"pintle_once", "pintle_leases", "pintle_counts",
	}
	for _, tt := range []struct {
		o    mongostore.Options
		want []string
	}{
		{mongostore.Options{}, own},
		{mongostore.Options{ExpireSessionsAndTokens: true}, append([]string{"sessions", "verification_tokens"}, own...)},
	} {
		var asked []string
		db := services.MongoDatabase(t, options.Client().SetMonitor(&event.CommandMonitor{Started: func(_ context.Context, e *event.CommandStartedEvent) {
			if e.CommandName != "createIndexes" {
				return
			}
			after, err := e.Command.LookupErr("indexes", "0", "expireAfterSeconds")
			if err != nil {
				return
			}
			collection := e.Command.Lookup("createIndexes").StringValue()
			if keys := e.Command.Lookup("indexes", "0", "key").String(); !strings.Contains(keys, "expires") || after.AsInt64() != 600 {
				t.Errorf("the index of %s is %s, after %d seconds", collection, keys, after.AsInt64())
			}
			asked = append(asked, collection)
		}}))
		if err := mongostore.EnsureIndexes(t.Context(), db.Database, tt.o); err != nil {
			t.Fatal(err)
		}
		slices.Sort(asked)
		slices.Sort(tt.want)
		if !slices.Equal(asked, tt.want) {
			t.Errorf("with ExpireSessionsAndTokens %t, MongoDB removes documents of %q, want %q", tt.o.ExpireSessionsAndTokens, asked, tt.want)
		}
		asked = nil
		if err := mongostore.EnsureIndexes(t.Context(), db.Database, mongostore.Options{ExpireSessionsAndTokens: true}); err != nil {
			t.Fatal(err)
		}
		if asked != nil {
			t.Errorf("a second call changes the indexes of %q", asked)
		}
	}
}

// normal is extended JSON with its members in the order of their names.
func normal(t *testing.T, text string) string {
	t.Helper()
	var m bson.M
	if err := bson.UnmarshalExtJSON([]byte(text), true, &m); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
