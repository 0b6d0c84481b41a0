package mongostore_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

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
	return rows{i.Store.AccountStore(), i.second.AccountStore(), i.calls}
}

// rows are those of two instances. Every other call that changes one goes to the
// second.
type rows struct {
	accountstore.Store
	second accountstore.Store
	calls  *atomic.Int64
}

func (r rows) next() accountstore.Store {
	if r.calls.Add(1)%2 == 0 {
		return r.second
	}
	return r.Store
}

func (r rows) ChangeState(ctx context.Context, s *accountstore.State) error {
	return r.next().ChangeState(ctx, s)
}

func (r rows) CountFailure(ctx context.Context, userID string, at time.Time, window time.Duration, limit int) (accountstore.Failures, error) {
	return r.next().CountFailure(ctx, userID, at, window, limit)
}

func (r rows) AddFactor(ctx context.Context, f *accountstore.Factor) error {
	return r.next().AddFactor(ctx, f)
}

func (r rows) ReplaceFactor(ctx context.Context, f *accountstore.Factor) error {
	return r.next().ReplaceFactor(ctx, f)
}

func (r rows) AdvanceFactor(ctx context.Context, userID, kind, id string, step int64, used time.Time) error {
	return r.next().AdvanceFactor(ctx, userID, kind, id, step, used)
}

func (r rows) DeleteFactor(ctx context.Context, userID, kind, id string) error {
	return r.next().DeleteFactor(ctx, userID, kind, id)
}

func (r rows) AttemptFlow(ctx context.Context, id accountstore.Hash, limit int) (int, error) {
	return r.next().AttemptFlow(ctx, id, limit)
}

func (r rows) ChangeFlow(ctx context.Context, f *accountstore.Flow) error {
	return r.next().ChangeFlow(ctx, f)
}

func (r rows) UseFlow(ctx context.Context, id accountstore.Hash, kind string) (*accountstore.Flow, error) {
	return r.next().UseFlow(ctx, id, kind)
}

func TestTwoInstancesKeepEveryPromise(t *testing.T) {
	storetest.Run(t, func(t *testing.T) pintle.Store {
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
