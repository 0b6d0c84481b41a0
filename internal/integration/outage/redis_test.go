package outage

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/redisstore"
)

// closed closes the client before its server ends.
func closed[C interface{ Close() error }](t *testing.T, client C) C {
	t.Helper()
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return client
}

// ASVS-16.5.2: a failure denies access, and ends no session.
func TestARedisThatFailsSignsNoUserOutAndComesBack(t *testing.T) {
	server := services.Redis(t)
	proxy := services.NewProxy(t, server.Addr)
	client := closed(t, redis.NewClient(&redis.Options{Addr: proxy.Addr, ContextTimeoutEnabled: true, PoolSize: connections}))
	s := open(t, redisstore.New(client, redisstore.Options{}))
	s.under(t, func() { time.Sleep(limit / 4) }) // fills the pool
	before := s.goroutines() + idle

	faults := []struct {
		name   string
		happen func(t *testing.T)
	}{
		{"stopped and started", func(t *testing.T) {
			server.Stop(t)
			time.Sleep(limit)
			server.Start(t)
		}},
		{"killed and started", func(t *testing.T) {
			server.Kill(t)
			time.Sleep(limit)
			server.Start(t)
		}},
		{"slower than the time-out", func(*testing.T) {
			proxy.Stall()
			time.Sleep(limit * 3 / 2)
			proxy.Resume()
		}},
		{"every connection taken", func(t *testing.T) {
			var held []*redis.Conn
			for range connections {
				conn := client.Conn()
				if err := conn.Ping(t.Context()).Err(); err != nil {
					t.Fatal(err)
				}
				held = append(held, conn)
			}
			time.Sleep(limit * 3 / 2)
			for _, conn := range held {
				if err := conn.Close(); err != nil {
					t.Error(err)
				}
			}
		}},
	}
	for _, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			counts := s.under(t, func() { fault.happen(t) })
			if counts[failed] == 0 {
				t.Errorf("the visits were %v: there was no fault", counts)
			}
			s.allUsers(t)
			s.noLeak(t, before)
		})
	}
	s.checkLog(t)

	// A client that tries again hides this one.
	t.Run("connections reset by the network", func(t *testing.T) {
		s.under(t, func() {
			for range 5 {
				proxy.Cut()
				time.Sleep(20 * time.Millisecond)
			}
		})
		s.allUsers(t)
		s.noLeak(t, before)
	})
}

// quick makes nodes that do not answer half a second dead.
var quick = []string{"--cluster-node-timeout", "500"}

func TestARedisClusterThatLosesANodeServesTheOthersSessions(t *testing.T) {
	t.Parallel()
	cluster := services.RedisClusterWith(t, 0, append(quick, "--cluster-require-full-coverage", "no")...)
	client := closed(t, redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs, ContextTimeoutEnabled: true}))
	s := open(t, redisstore.New(client, redisstore.Options{}))
	s.allUsers(t)
	s.under(t, func() {
		cluster.Nodes[0].Kill(t)
		time.Sleep(2 * limit)
		counts := map[outcome]int{}
		for _, token := range s.tokens {
			got, err := s.visit(t.Context(), "/page", token)
			if err != nil {
				t.Error(err)
			}
			counts[got]++
		}
		if counts[served] == 0 || counts[failed] == 0 {
			t.Errorf("without a third of the keys %v, want some of both", counts)
		}
		cluster.Nodes[0].Start(t)
	})
	s.allUsers(t)
	s.checkLog(t)
}

func TestARedisClusterWithReplicasServesAllUsersWithoutTheNodeItLost(t *testing.T) {
	t.Parallel()
	cluster := services.RedisClusterWith(t, 1, quick...)
	client := closed(t, redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs, ContextTimeoutEnabled: true}))
	s := open(t, redisstore.New(client, redisstore.Options{}))
	s.allUsers(t)
	cluster.Replicated(t)
	counts := s.under(t, func() {
		cluster.Nodes[0].Kill(t)
		time.Sleep(2 * limit)
	})
	if counts[failed] == 0 {
		t.Errorf("the visits were %v: there was no fault", counts)
	}
	s.allUsers(t)
	s.checkLog(t)
}
