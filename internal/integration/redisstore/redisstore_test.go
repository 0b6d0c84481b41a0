// Package redisstore_test runs store/redisstore against a real Redis and a real
// Redis Cluster.
package redisstore_test

import (
	"crypto/rand"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/store/redisstore"
	"github.com/pintleauth/pintle/storetest"
)

// deployments are the ways to run Redis that the package promises the same for.
var deployments = []struct {
	name string
	open func(testing.TB) redis.UniversalClient
}{
	{"single server", single},
	{"three-node cluster", cluster},
}

func single(t testing.TB) redis.UniversalClient {
	t.Helper()
	s := services.Redis(t)
	return closed(t, redis.NewClient(&redis.Options{Addr: s.Addr, ContextTimeoutEnabled: true}))
}

func cluster(t testing.TB) redis.UniversalClient {
	t.Helper()
	c := services.RedisCluster(t)
	return closed(t, redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs, ContextTimeoutEnabled: true}))
}

// closed closes the client before its server ends.
func closed(t testing.TB, client redis.UniversalClient) redis.UniversalClient {
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return client
}

// alone are keys that no other test has.
func alone() redisstore.Options { return redisstore.Options{BaseKeyPrefix: rand.Text() + ":"} }

// RPT-81, RPT-82: among the promises are those about a session that its provider ends while it
// begins, is extended or is deleted, and about texts with any characters.
func TestStoreKeepsEveryPromise(t *testing.T) {
	for _, d := range deployments {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			client := d.open(t)
			storetest.Run(t, func(*testing.T) pintle.Store { return redisstore.New(client, alone()) })
		})
	}
}

func TestSessionsOfUsersInAnotherStoreKeepEveryPromise(t *testing.T) {
	for _, d := range deployments {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			client := d.open(t)
			storetest.Run(t, func(*testing.T) pintle.Store { return redisstore.Sessions(memstore.New(), client, alone()) })
		})
	}
}
