package redisstore_test

import (
	"context"
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

// lost runs one command and loses its answer. The client sends it again, or reports the failure.
type lost struct {
	at, commands int
	again        bool
}

func (l *lost) DialHook(next redis.DialHook) redis.DialHook { return next }
func (l *lost) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (l *lost) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, c redis.Cmder) error {
		if l.commands++; l.commands != l.at {
			return next(ctx, c)
		}
		_ = next(ctx, c)
		if l.again {
			c.SetErr(nil)
			return next(ctx, c)
		}
		c.SetErr(errDead)
		return errDead
	}
}

// A user who stayed without their address could not be found by anything, nor be deleted, and the
// next sign-in would make a second one.
func TestALostAnswerLeavesNoNewUserWithoutTheirAddress(t *testing.T) {
	const address, key = "new@example.org", "user:email:new@example.org"
	client := single(t)
	s := redisstore.New(client, redisstore.Options{})
	for _, sentAgain := range []bool{false, true} {
		for at := 1; ; at++ {
			client.FlushAll(t.Context())
			l := &lost{at: at, again: sentAgain}
			losing := again(t, client)
			losing.(*redis.Client).AddHook(l)
			_, err := redisstore.New(losing, redisstore.Options{}).CreateUser(t.Context(), &pintle.User{ID: "ada", Email: address})
			if l.commands < at {
				break
			}
			// A minute later what was only reserved is gone.
			if left := client.PTTL(t.Context(), key).Val(); left > 0 {
				client.PExpire(t.Context(), key, left-2*time.Minute)
			}
			_, missing := s.User(t.Context(), "ada")
			_, unknown := s.UserByEmail(t.Context(), address)
			if gone := errors.Is(missing, pintle.ErrNotFound); gone != errors.Is(unknown, pintle.ErrNotFound) || gone == (err == nil) {
				t.Errorf("command %d, sent again %t: CreateUser: %v; the user: %v; the user by the address: %v", at, sentAgain, err, missing, unknown)
			}
			if _, err := s.CreateUser(t.Context(), &pintle.User{ID: "bob", Email: address}); (err == nil) != (missing != nil) {
				t.Errorf("command %d, sent again %t: another user with the address: %v", at, sentAgain, err)
			}
		}
	}
}

// The call that took the address from the user releases it last of all, when it may be theirs
// again.
func TestAUserWhoIsGivenTheirAddressBackMeanwhileHasIt(t *testing.T) {
	const first, second = "first@example.org", "second@example.org"
	client := single(t)
	s := redisstore.New(client, redisstore.Options{})
	for at := 1; ; at++ {
		client.FlushAll(t.Context())
		if _, err := s.CreateUser(t.Context(), &pintle.User{ID: "ada", Email: first}); err != nil {
			t.Fatal(err)
		}
		d := &death{after: 1000, before: func(command int) {
			if command == at {
				there, back := second, first
				_, _ = s.UpdateUser(t.Context(), "ada", pintle.UserUpdate{Email: &there})
				_, _ = s.UpdateUser(t.Context(), "ada", pintle.UserUpdate{Email: &back})
			}
		}}
		slow := again(t, client)
		slow.(*redis.Client).AddHook(d)
		given := second
		_, err := redisstore.New(slow, redisstore.Options{}).UpdateUser(t.Context(), "ada", pintle.UserUpdate{Email: &given})
		if d.commands < at {
			return
		}
		u, missing := s.User(t.Context(), "ada")
		if missing != nil {
			t.Fatal(missing)
		}
		if found, unknown := s.UserByEmail(t.Context(), u.Email); unknown != nil || found.ID != "ada" {
			t.Errorf("before command %d (%v): %s leads to %v, %v", at, err, u.Email, found, unknown)
		}
	}
}
