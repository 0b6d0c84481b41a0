package redisstore_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/pintleauth/pintle/internal/integration/twoinstances"

	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/store/redisstore"
	"github.com/pintleauth/pintle/storetest"
)

// Two instances of an application have a store and a client each. Every other
// call goes to the second.
type instances struct {
	*redisstore.Store
	second *redisstore.Store
	calls  *atomic.Int64
}

func (i instances) next() *redisstore.Store {
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

// again opens a second client of the same servers.
func again(t testing.TB, client redis.UniversalClient) redis.UniversalClient {
	t.Helper()
	switch c := client.(type) {
	case *redis.Client:
		return closed(t, redis.NewClient(c.Options()))
	case *redis.ClusterClient:
		return closed(t, redis.NewClusterClient(c.Options()))
	}
	t.Fatalf("a client is %T", client)
	return nil
}

func (i instances) AccountStore() accountstore.Store {
	return twoinstances.Rows(i.Store.AccountStore(), i.second.AccountStore(), i.calls)
}

func TestTwoInstancesKeepThePromisesOfConcurrentCalls(t *testing.T) {
	for _, d := range deployments {
		t.Run(d.name, func(t *testing.T) {
			first := d.open(t)
			second := again(t, first)
			storetest.RunRaces(t, func(*testing.T) pintle.Store {
				keys := alone()
				return instances{redisstore.New(first, keys), redisstore.New(second, keys), new(atomic.Int64)}
			})
		})
	}
}
