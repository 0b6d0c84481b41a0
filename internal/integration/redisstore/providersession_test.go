package redisstore_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/providersession"
	"github.com/pintleauth/pintle/store/redisstore"
)

// begin stores a user and a session, and returns the record of its sign-in.
func begin(t *testing.T, s *redisstore.Store, token string) *providersession.Record {
	t.Helper()
	u, err := s.CreateUser(t.Context(), &pintle.User{})
	if err != nil {
		t.Fatal(err)
	}
	expires := time.Now().Add(time.Hour)
	if err := s.CreateSession(t.Context(), &pintle.StoredSession{Token: token, UserID: u.ID, Expires: expires}); err != nil {
		t.Fatal(err)
	}
	return &providersession.Record{
		Session: providersession.KeyOf(token), UserID: u.ID, Provider: "keycloak", Sid: providersession.Key{1}, Sub: providersession.Key{2},
		Role: providersession.Began, Created: time.Now(), Expires: expires,
	}
}

// RPT-22: a provider ends its session between any two commands of the sign-in.
func TestASignInSeesItsEndAtEachMoment(t *testing.T) {
	client := single(t)
	for n := 1; ; n++ {
		keys := alone()
		s := redisstore.New(client, keys)
		r := begin(t, s, "token")
		interrupted := again(t, client)
		d, ended := &death{after: math.MaxInt}, false
		d.before = func(command int) {
			if command != n {
				return
			}
			ended = true
			if _, err := s.ProviderSessions().EndBy(t.Context(), r.Sid, providersession.Key{}, time.Now().Add(time.Minute)); err != nil {
				t.Error(err)
			}
		}
		interrupted.AddHook(d)
		err := redisstore.New(interrupted, keys).ProviderSessions().Put(t.Context(), r, time.Now().Add(-time.Minute))
		if !ended {
			if err != nil || n < 5 {
				t.Errorf("Put() = %v after %d commands", err, n-1)
			}
			break
		}
		if !errors.Is(err, providersession.ErrEnded) {
			t.Errorf("before command %d: Put() = %v, want ErrEnded", n, err)
		}
		if left, err := s.ProviderSessions().Of(t.Context(), r.Session); err != nil || len(left) != 0 {
			t.Errorf("before command %d: Of() = %v, %v, want nothing", n, left, err)
		}
	}
}

// RPT-21, RPT-84: an end that breaks off is finished by another with the same keys.
func TestAnEndThatBreaksOffIsFinishedByAnother(t *testing.T) {
	client := single(t)
	for after := 0; ; after++ {
		keys := alone()
		s := redisstore.New(client, keys)
		r := begin(t, s, "token")
		if err := s.ProviderSessions().Put(t.Context(), r, time.Now().Add(-time.Minute)); err != nil {
			t.Fatal(err)
		}
		before := time.Now().Add(time.Minute)
		dying := again(t, client)
		dying.AddHook(&death{after: after})
		_, broken := redisstore.New(dying, keys).ProviderSessions().EndBy(t.Context(), r.Sid, providersession.Key{}, before)
		if _, err := s.ProviderSessions().EndBy(t.Context(), r.Sid, providersession.Key{}, before); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.SessionAndUser(t.Context(), "token"); !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("after %d commands and another call: SessionAndUser() = %v, want ErrNotFound", after, err)
		}
		if left, err := s.ProviderSessions().Of(t.Context(), r.Session); err != nil || len(left) != 0 {
			t.Errorf("after %d commands and another call: Of() = %v, %v, want nothing", after, left, err)
		}
		if broken == nil {
			break
		}
	}
}
