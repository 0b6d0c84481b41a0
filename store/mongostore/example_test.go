package mongostore_test

import (
	"context"
	"log"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/mongostore"
)

func Example() {
	ctx := context.Background()
	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://localhost"))
	if err != nil {
		log.Fatal(err)
	}
	db := client.Database("app")
	if err := mongostore.EnsureIndexes(ctx, db, mongostore.Options{}); err != nil {
		log.Fatal(err)
	}
	store, err := mongostore.Open(ctx, db, mongostore.Options{})
	if err != nil {
		log.Fatal(err)
	}
	auth, err := pintle.New(pintle.Config{Store: store})
	if err != nil {
		log.Fatal(err)
	}
	_ = auth
}

// Token sessions that can be ended all the same.
func ExampleNewRevocations() {
	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://localhost"))
	if err != nil {
		log.Fatal(err)
	}
	auth, err := pintle.New(pintle.Config{
		Session: pintle.SessionConfig{
			Strategy:   pintle.StrategyJWT,
			Revocation: mongostore.NewRevocations(client.Database("app"), mongostore.Options{}),
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	_ = auth
}

// A host sweeps when it likes, a few hundred documents at a time.
func ExampleStore_Sweep() {
	sweep := func(ctx context.Context, store *mongostore.Store) error {
		const batch = 500
		for {
			n, err := store.Sweep(ctx, time.Now(), batch)
			if err != nil || n < batch {
				return err
			}
		}
	}
	_ = sweep
}
