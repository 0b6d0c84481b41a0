package mongostore_test

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/internal/integration/twoinstances"
	"github.com/pintleauth/pintle/sharedstate"
	"github.com/pintleauth/pintle/store/mongostore"
	"github.com/pintleauth/pintle/storetest"
)

// RPT-4: each process has its own client, with any settings.
func TestTheSharedStateOfTwoProcessesKeepsEveryPromise(t *testing.T) {
	first := services.MongoDatabase(t)
	client, err := mongo.Connect(options.Client().ApplyURI(first.URL).
		SetWriteConcern(writeconcern.Unacknowledged()).
		SetReadPreference(readpref.SecondaryPreferred()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	second := client.Database(first.Name())
	storetest.RunSharedState(t, func(*testing.T) sharedstate.Store {
		return twoinstances.SharedState(mongostore.NewSharedState(first.Database, mongostore.Options{}), mongostore.NewSharedState(second, mongostore.Options{}))
	})
}

// Without a server a shared state lets no value through, and no work begin.
func TestASharedStateWithoutAServerDecidesNothing(t *testing.T) {
	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://127.0.0.1:1").SetServerSelectionTimeout(100 * time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Disconnect(context.Background()) }()
	state := mongostore.NewSharedState(client.Database("app"), mongostore.Options{})
	if first, err := state.Once(t.Context(), sharedstate.Key{}, time.Now()); first || err == nil {
		t.Errorf("Once() = %t, %v, want an error", first, err)
	}
	if held, err := state.Lease(t.Context(), sharedstate.Key{}, sharedstate.Owner{}, time.Minute); held || err == nil {
		t.Errorf("Lease() = %t, %v, want an error", held, err)
	}
	if wait, err := state.Take(t.Context(), sharedstate.Key{}, sharedstate.Rate{}); wait != 0 || err == nil {
		t.Errorf("Take() = %v, %v, want an error", wait, err)
	}
}
