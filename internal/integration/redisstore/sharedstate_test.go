package redisstore_test

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle/internal/integration/twoinstances"
	"github.com/pintleauth/pintle/sharedstate"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/store/redisstore"
	"github.com/pintleauth/pintle/storetest"
)

// RPT-4: each process has its own client.
func TestTheSharedStateOfTwoProcessesKeepsEveryPromise(t *testing.T) {
	for _, d := range deployments {
		t.Run(d.name, func(t *testing.T) {
			first := d.open(t)
			second := again(t, first)
			storetest.RunSharedState(t, func(*testing.T) sharedstate.Store {
				prefix := rand.Text() + ":"
				return twoinstances.SharedState(redisstore.NewSharedState(first, prefix), redisstore.NewSharedState(second, prefix))
			})
		})
	}
}

// Every key in Redis expires, and none before its time.
func TestTheSharedStateExpiresByItself(t *testing.T) {
	client, prefix := single(t), rand.Text()+":"
	state := redisstore.NewSharedState(client, prefix)
	until := time.Now().Add(time.Hour)
	if first, err := state.Once(t.Context(), sharedstate.Key{1}, until); !first || err != nil {
		t.Fatalf("Once() = %t, %v, want the first", first, err)
	}
	if held, err := state.Lease(t.Context(), sharedstate.Key{1}, sharedstate.Owner{1}, time.Hour); !held || err != nil {
		t.Fatalf("Lease() = %t, %v, want the lease", held, err)
	}
	if wait, err := state.Take(t.Context(), sharedstate.Key{1}, sharedstate.Rate{Burst: 1, Every: time.Hour}); wait != 0 || err != nil {
		t.Fatalf("Take() = %v, %v, want an attempt that is allowed", wait, err)
	}
	keys, err := client.Keys(t.Context(), prefix+"*").Result()
	if err != nil || len(keys) != 3 {
		t.Fatalf("the keys are %q, %v, want one for each call", keys, err)
	}
	for _, key := range keys {
		left, err := client.PTTL(t.Context(), key).Result()
		if err != nil || left < time.Until(until) || left > time.Hour {
			t.Errorf("%s ends in %v, %v, want an hour", key, left, err)
		}
	}
}

// sentTwice sends each command again, as the client does when the answer was lost.
type sentTwice struct{}

func (sentTwice) DialHook(next redis.DialHook) redis.DialHook { return next }

func (sentTwice) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		_ = next(ctx, cmd)
		return next(ctx, cmd)
	}
}

func (sentTwice) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func TestALostAnswerDoesNotUseAValueUp(t *testing.T) {
	client := again(t, single(t))
	client.AddHook(sentTwice{})
	state, until := redisstore.NewSharedState(client, rand.Text()+":"), time.Now().Add(time.Hour)
	for _, want := range []bool{true, false} {
		if first, err := state.Once(t.Context(), sharedstate.Key{1}, until); first != want || err != nil {
			t.Errorf("Once() = %t, %v, want %t", first, err, want)
		}
	}
}

// A store of sessions and the store of its users have one shared state.
func TestASessionStoreHasTheSharedStateOfTheUsers(t *testing.T) {
	users := memstore.New()
	s := redisstore.Sessions(users, single(t), alone())
	if first, err := s.SharedState().Once(t.Context(), sharedstate.Key{1}, time.Now().Add(time.Hour)); !first || err != nil {
		t.Fatalf("Once() = %t, %v, want the first", first, err)
	}
	if first, err := users.SharedState().Once(t.Context(), sharedstate.Key{1}, time.Now().Add(time.Hour)); first || err != nil {
		t.Errorf("Once() of the store of the users = %t, %v, want a key that was used", first, err)
	}
}

// Without a server a shared state lets no value through, and no work begin.
func TestASharedStateWithoutAServerDecidesNothing(t *testing.T) {
	state := redisstore.NewSharedState(closed(t, redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})), "")
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
