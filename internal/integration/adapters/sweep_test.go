package adapters_test

import (
	"errors"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
)

// sweeps checks that Pintle removes the expired rows of both sides, and no others.
func (s *shared) sweeps(t *testing.T) {
	sweeper := s.pintle
	if !sweeper.Features().Sweep {
		t.Skip("Redis deletes the expired keys of Pintle")
	}
	ctx := t.Context()
	if _, err := sweeper.Sweep(ctx, time.Now().Add(10000*day), 1000); err != nil {
		t.Fatal(err)
	}
	created, err := s.pintle.CreateUser(ctx, &pintle.User{ID: proposedID(), Email: "sweep@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	owner := s.authjs.call(t, "getUser", created.ID).(map[string]any)["id"]
	now := time.Now().Truncate(time.Second)
	write := func(side, name string, expires time.Time) {
		session := pintle.StoredSession{Token: side + name, UserID: created.ID, Expires: expires}
		link := pintle.Verification{Identifier: "sweep@example.org", Token: side + name, Expires: expires}
		if side == "pintle" {
			if err := errors.Join(s.pintle.CreateSession(ctx, &session), s.pintle.CreateVerification(ctx, &link)); err != nil {
				t.Fatal(err)
			}
			return
		}
		s.authjs.call(t, "createSession", sessionObject(session, owner))
		s.authjs.call(t, "createVerificationToken", linkObject(link))
	}
	for _, side := range []string{"pintle", "authjs"} {
		// A wrong time zone makes a difference of hours.
		write(side, " an hour ago", now.Add(-time.Hour))
		write(side, " in an hour", now.Add(time.Hour))
	}
	if n, err := sweeper.Sweep(ctx, time.Now(), 1000); err != nil || n != 4 {
		t.Errorf("Sweep() = %d, %v, want the session and the link of either side", n, err)
	}
	for _, side := range []string{"pintle", "authjs"} {
		if _, _, err := s.pintle.SessionAndUser(ctx, side+" an hour ago"); !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("SessionAndUser of %s's expired session: %v, want ErrNotFound", side, err)
		}
		if nothing(s.authjs.call(t, "getSessionAndUser", side+" in an hour")) {
			t.Errorf("%s's session was removed before its time", side)
		}
		if nothing(s.authjs.call(t, "useVerificationToken", map[string]any{"identifier": "sweep@example.org", "token": side + " in an hour"})) {
			t.Errorf("%s's mail link was removed before its time", side)
		}
	}
}
