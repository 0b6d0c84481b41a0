package mongostore_test

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/mongostore"
	"github.com/pintleauth/pintle/storetest"
)

func TestRevocationsKeepEveryPromise(t *testing.T) {
	storetest.RunRevocation(t, func(t *testing.T) pintle.RevocationStore {
		return mongostore.NewRevocations(services.MongoDatabase(t).Database, mongostore.Options{})
	})
}

// SH-04: a token is not accepted if the server does not respond, or if the
// document was not written by the store.
func TestAnUnreadableRevocationListRejectsTokens(t *testing.T) {
	db := services.MongoDatabase(t)
	list := mongostore.NewRevocations(db.Database, mongostore.Options{})
	if err := list.RevokeUser(t.Context(), "ada", time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for _, ended := range []any{"yesterday", nil, bson.D{}} {
		change := bson.D{{Key: "$set", Value: bson.D{{Key: "ended", Value: ended}}}}
		if _, err := db.Collection("pintle_revocations").UpdateMany(t.Context(), bson.D{}, change); err != nil {
			t.Fatal(err)
		}
		if ended, err := list.Revoked(t.Context(), pintle.TokenSession{UserID: "ada", ID: "1", SignedIn: time.Now().Add(time.Hour)}); !ended {
			t.Errorf("of a mark that is no number Revoked returned %t, %v", ended, err)
		}
	}
	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://127.0.0.1:1").SetServerSelectionTimeout(100 * time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Disconnect(context.Background()) }()
	gone := mongostore.NewRevocations(client.Database("app"), mongostore.Options{})
	if ended, err := gone.Revoked(t.Context(), pintle.TokenSession{UserID: "ada", ID: "1", SignedIn: time.Now()}); !ended || err == nil {
		t.Errorf("without a server Revoked returned %t, %v", ended, err)
	}
}
