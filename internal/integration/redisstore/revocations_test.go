package redisstore_test

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/redisstore"
	"github.com/pintleauth/pintle/storetest"
)

func TestRevocationsKeepEveryPromise(t *testing.T) {
	for _, d := range deployments {
		t.Run(d.name, func(t *testing.T) {
			client := d.open(t)
			storetest.RunRevocation(t, func(*testing.T) pintle.RevocationStore {
				return redisstore.NewRevocations(client, rand.Text()+":")
			})
		})
	}
}

// Every key in Redis expires, and none before its time.
func TestRevocationsExpireByThemselves(t *testing.T) {
	client, prefix := single(t), rand.Text()+":"
	list := redisstore.NewRevocations(client, prefix)
	until := time.Now().Add(30 * 24 * time.Hour)
	for _, err := range []error{
		list.Revoke(t.Context(), pintle.TokenSession{UserID: "ada", ID: "1"}, until), list.RevokeUser(t.Context(), "ada", until),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	keys, err := client.Keys(t.Context(), prefix+"*").Result()
	if err != nil || len(keys) != 2 {
		t.Fatalf("the keys are %q, %v", keys, err)
	}
	for _, key := range keys {
		left, err := client.TTL(t.Context(), key).Result()
		if err != nil || left < time.Until(until) || left > time.Until(until)+2*time.Hour {
			t.Errorf("%s ends in %v, %v", key, left, err)
		}
	}
}

// SH-04: a token is not accepted if the server does not respond, or if the key was
// not written by the store.
func TestAnUnreadableRevocationListRejectsTokens(t *testing.T) {
	gone := redisstore.NewRevocations(closed(t, redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})), "")
	if ended, err := gone.Revoked(t.Context(), pintle.TokenSession{UserID: "ada", ID: "1", SignedIn: time.Now()}); !ended || err == nil {
		t.Errorf("without a server Revoked returned %t, %v", ended, err)
	}

	client, prefix := single(t), rand.Text()+":"
	list := redisstore.NewRevocations(client, prefix)
	if err := list.RevokeUser(t.Context(), "ada", time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	keys, err := client.Keys(t.Context(), prefix+"*").Result()
	if err != nil || len(keys) != 1 {
		t.Fatalf("the keys are %q, %v", keys, err)
	}
	if err := client.Set(t.Context(), keys[0], "yesterday", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if ended, err := list.Revoked(t.Context(), pintle.TokenSession{UserID: "ada", ID: "1", SignedIn: time.Now()}); !ended || err == nil {
		t.Errorf("of a key that is no number Revoked returned %t, %v", ended, err)
	}
}
