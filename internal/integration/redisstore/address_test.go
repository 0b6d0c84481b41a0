package redisstore_test

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/redisstore"
)

// Q20: a process that dies while it gives a user an address leaves an address that leads to
// the user, or one that another user can take. If a user had an address by which the store finds
// no user, another user could take it, and two users would have it.
func TestAnAddressIsThatOfItsUserOrFreeWhenItsProcessHasDied(t *testing.T) {
	const address, key = "new@example.org", "user:email:new@example.org"
	client := single(t)
	for after := 0; ; after++ {
		client.FlushAll(t.Context())
		s := redisstore.New(client, redisstore.Options{})
		u, err := s.CreateUser(t.Context(), &pintle.User{ID: "ada"})
		if err != nil {
			t.Fatal(err)
		}
		dying := again(t, client)
		d := &death{after: after}
		dying.(*redis.Client).AddHook(d)
		given := address
		_, err = redisstore.New(dying, redisstore.Options{}).UpdateUser(t.Context(), u.ID, pintle.UserUpdate{Email: &given})
		if err == nil {
			if ttl := client.PTTL(t.Context(), key).Val(); ttl != -1 {
				t.Errorf("the address of a user ends in %v", ttl)
			}
			if after < 5 {
				t.Errorf("UpdateUser sent %d commands", after)
			}
			return
		}
		// The process may be alive and about to write the user.
		if client.Exists(t.Context(), key).Val() == 1 {
			if _, err := s.CreateUser(t.Context(), &pintle.User{ID: "eve", Email: address}); !errors.Is(err, pintle.ErrConflict) {
				t.Errorf("after %d commands another user is given the address at once: %v", after, err)
			}
		}
		// A minute later what was only reserved is gone.
		if left := client.PTTL(t.Context(), key).Val(); left > 0 {
			client.PExpire(t.Context(), key, left-2*time.Minute)
		}
		stored, err := s.User(t.Context(), u.ID)
		if err != nil {
			t.Fatal(err)
		}
		_, taken := s.CreateUser(t.Context(), &pintle.User{ID: "bob", Email: address})
		found, err := s.UserByEmail(t.Context(), address)
		switch {
		case err != nil:
			t.Errorf("after %d commands the store finds no user by the address: %v", after, err)
		case stored.Email == address && (found.ID != u.ID || !errors.Is(taken, pintle.ErrConflict)):
			t.Errorf("after %d commands the user has the address, which leads to %s, and another user: %v", after, found.ID, taken)
		case stored.Email == "" && (found.ID != "bob" || taken != nil):
			t.Errorf("after %d commands the user has no address, and it leads to %s, and another user: %v", after, found.ID, taken)
		}
	}
}

// Q20: a user whose sign-up broke off signs in by the address, and is signed in for good: the address
// must not go with the reservation. Otherwise the next sign-in would make a second user.
func TestAUserKeepsTheAddressWhoseProcessDiedWhileItMadeThem(t *testing.T) {
	const address, key = "new@example.org", "user:email:new@example.org"
	client := single(t)
	s := redisstore.New(client, redisstore.Options{})
	usable := 0
	for after := 0; ; after++ {
		client.FlushAll(t.Context())
		dying := again(t, client)
		dying.(*redis.Client).AddHook(&death{after: after})
		_, died := redisstore.New(dying, redisstore.Options{}).CreateUser(t.Context(), &pintle.User{ID: "ada", Email: address})
		before, err := s.UserByEmail(t.Context(), address)
		if err != nil && !errors.Is(err, pintle.ErrNotFound) {
			t.Fatal(err)
		}
		if err == nil {
			usable++
		}
		// A minute later what was only reserved is gone.
		if left := client.PTTL(t.Context(), key).Val(); left > 0 {
			client.PExpire(t.Context(), key, left-2*time.Minute)
		}
		_, taken := s.CreateUser(t.Context(), &pintle.User{ID: "bob", Email: address})
		found, err := s.UserByEmail(t.Context(), address)
		switch {
		case err != nil:
			t.Errorf("after %d commands the store finds no user by the address: %v", after, err)
		case before != nil && (found.ID != before.ID || !errors.Is(taken, pintle.ErrConflict)):
			t.Errorf("after %d commands the address led to %s, and a minute later to %s; another user: %v", after, before.ID, found.ID, taken)
		case before == nil && (found.ID != "bob" || taken != nil):
			t.Errorf("after %d commands the address led to nobody, and a minute later to %s; another user: %v", after, found.ID, taken)
		}
		if died == nil {
			if usable < 2 {
				t.Errorf("the address led to a user after %d of %d commands", usable, after)
			}
			return
		}
	}
}

// A user without an address has it with the next sign-in. A process that died while it gave it to
// them does not keep them from it for a minute.
func TestAUserIsGivenAnAddressAtOnceAfterAProcessDiedWhileItGaveIt(t *testing.T) {
	address, key := "new@example.org", "user:email:new@example.org"
	client := single(t)
	s := redisstore.New(client, redisstore.Options{})
	for after := 0; ; after++ {
		client.FlushAll(t.Context())
		u, err := s.CreateUser(t.Context(), &pintle.User{ID: "ada"})
		if err != nil {
			t.Fatal(err)
		}
		dying := again(t, client)
		dying.(*redis.Client).AddHook(&death{after: after})
		_, died := redisstore.New(dying, redisstore.Options{}).UpdateUser(t.Context(), u.ID, pintle.UserUpdate{Email: &address})
		if _, err := s.UpdateUser(t.Context(), u.ID, pintle.UserUpdate{Email: &address}); err != nil {
			t.Errorf("after %d commands of another process: %v", after, err)
		}
		if found, err := s.UserByEmail(t.Context(), address); err != nil || found.ID != u.ID {
			t.Errorf("after %d commands of another process the address leads to %v, %v", after, found, err)
		}
		if ttl := client.PTTL(t.Context(), key).Val(); ttl > 0 && ttl <= time.Minute {
			t.Errorf("after %d commands of another process the address ends in %v", after, ttl)
		}
		if died == nil {
			return
		}
	}
}
