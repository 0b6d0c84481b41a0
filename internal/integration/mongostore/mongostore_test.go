// Package mongostore_test runs store/mongostore against a server of MongoDB's
// protocol, and beside the published adapter of Auth.js.
package mongostore_test

import (
	"os"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/mongostore"
	"github.com/pintleauth/pintle/storetest"
)

func TestMain(m *testing.M) { os.Exit(services.Run(m)) }

// open returns a store in db, whose indexes are made.
func open(t testing.TB, db *mongo.Database) *mongostore.Store {
	t.Helper()
	if err := mongostore.EnsureIndexes(t.Context(), db, mongostore.Options{}); err != nil {
		t.Fatal(err)
	}
	s, err := mongostore.Open(t.Context(), db, mongostore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStoreKeepsEveryPromise(t *testing.T) {
	storetest.Run(t, func(t *testing.T) pintle.Store { return open(t, services.MongoDatabase(t)) })
}
