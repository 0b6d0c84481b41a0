package mongostore_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/pintleauth/pintle/internal/integration/twoinstances"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/mongostore"
	"github.com/pintleauth/pintle/storetest"
)

// Two instances of an application have a store and a client each. Every other
// call goes to the second.
type instances struct {
	*mongostore.Store
	second *mongostore.Store
	calls  *atomic.Int64
}

func (i instances) next() *mongostore.Store {
	if i.calls.Add(1)%2 == 0 {
		return i.second
	}
	return i.Store
}

func (i instances) LinkAccount(ctx context.Context, a *pintle.Account) error {
	return i.next().LinkAccount(ctx, a)
}

func (i instances) UnlinkAccount(ctx context.Context, userID, provider, id string, keepOneOf []*pintle.Account) error {
	return i.next().UnlinkAccount(ctx, userID, provider, id, keepOneOf)
}

func (i instances) CreateSession(ctx context.Context, s *pintle.StoredSession) error {
	return i.next().CreateSession(ctx, s)
}

func (i instances) CreatePasskey(ctx context.Context, a *pintle.Passkey) error {
	return i.next().CreatePasskey(ctx, a)
}

func (i instances) DeleteUser(ctx context.Context, id string) error {
	return i.next().DeleteUser(ctx, id)
}

func (i instances) AccountStore() accountstore.Store {
	return twoinstances.Rows(i.Store.AccountStore(), i.second.AccountStore(), i.calls)
}

func TestTwoInstancesKeepThePromisesOfConcurrentCalls(t *testing.T) {
	storetest.RunRaces(t, func(t *testing.T) pintle.Store {
		db := services.MongoDatabase(t)
		client, err := mongo.Connect(options.Client().ApplyURI(db.URL))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
		second := &services.Mongo{Database: client.Database(db.Name()), URL: db.URL}
		return instances{open(t, db), open(t, second), new(atomic.Int64)}
	})
}
