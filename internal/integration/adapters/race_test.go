package adapters_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
)

// linkOpenedOnBothSides opens each of twenty mail links twice at Auth.js and
// twice at Pintle, all at once (SH-19).
func (s *shared) linkOpenedOnBothSides(t *testing.T) {
	both := 0
	for n := range 20 {
		v := pintle.Verification{
			Identifier: "race@example.org", Token: fmt.Sprintf("%064x", n), Expires: time.Now().Add(time.Hour).Truncate(time.Second),
		}
		if n%2 == 0 {
			if err := s.pintle.CreateVerification(t.Context(), &v); err != nil {
				t.Fatal(err)
			}
		} else {
			s.authjs.call(t, "createVerificationToken", linkObject(v))
		}
		theirs, ours := s.openLink(t, v)
		switch {
		case ours > 1:
			t.Errorf("link %d: Pintle let in %d, want one at most", n, ours)
		case theirs+ours == 0:
			t.Errorf("link %d: no request signed in", n)
		case theirs+ours > 1 && !s.readsFirst:
			t.Errorf("link %d: Auth.js let in %d and Pintle %d, want one in all", n, theirs, ours)
		}
		if theirs > 0 && ours > 0 {
			both++
		}
		s.linkIsUsed(t, v)
	}
	if s.readsFirst {
		t.Logf("%d of 20 links signed in on both sides, because the adapter reads a link before it deletes it", both)
	}
}

// takenOnBothSides makes both sides concurrently create a user with one address,
// and link one account to each of two users. The index that Check requires allows
// only one of them.
func (s *shared) takenOnBothSides(t *testing.T) {
	if s.layout.Dialect == 0 {
		t.Skip("Redis has no index: the adapter overwrites the owner of an address or an account")
	}
	taken := make([]string, 2)
	for n := range 20 {
		u := pintle.User{ID: proposedID(), Name: "Ada", Email: fmt.Sprintf("race%d@example.org", n)}
		theirs := s.authjs.start("createUser", userObject(u))
		u.ID = proposedID()
		_, err := s.pintle.CreateUser(t.Context(), &u)
		s.oneOfBoth(t, "user", <-theirs, err)
		found, err := s.pintle.UserByEmail(t.Context(), u.Email)
		if err != nil {
			t.Fatal(err)
		}
		taken[n%2] = found.ID
		if n%2 == 0 {
			continue
		}

		a := pintle.Account{UserID: taken[0], Type: pintle.TypeOAuth, Provider: "race", ProviderAccountID: fmt.Sprint(n)}
		other := s.authjs.call(t, "getUser", taken[1]).(map[string]any)["id"]
		theirs = s.authjs.start("linkAccount", accountObject(a, other))
		err = s.pintle.LinkAccount(t.Context(), &a)
		s.oneOfBoth(t, "account", <-theirs, err)
		owner, err := s.pintle.UserByAccount(t.Context(), a.Provider, a.ProviderAccountID)
		if err != nil {
			t.Fatal(err)
		}
		key := map[string]any{"provider": a.Provider, "providerAccountId": a.ProviderAccountID}
		if got := object(t, s.authjs.call(t, "getUserByAccount", key)); got["id"] != owner.ID {
			t.Errorf("the account is of %v for Auth.js and of %v for Pintle", got["id"], owner.ID)
		}
	}
}

// oneOfBoth checks that one of two conflicting writes succeeded, and that Pintle
// returns the right error if it lost.
func (s *shared) oneOfBoth(t *testing.T, what string, theirs said, ours error) {
	t.Helper()
	switch {
	case ours != nil && !errors.Is(ours, pintle.ErrConflict):
		t.Errorf("%s: Pintle failed with %v, want ErrConflict", what, ours)
	case ours == nil && theirs.Error == "":
		t.Errorf("%s: both sides have it", what)
	case ours != nil && theirs.Error != "":
		t.Errorf("%s: neither side has it: %v and %s", what, ours, theirs.Error)
	}
}

// openLink returns how many each side lets in.
func (s *shared) openLink(t *testing.T, v pintle.Verification) (theirs, ours int) {
	var goers sync.WaitGroup
	var found atomic.Int64
	start := make(chan struct{})
	for range 2 {
		goers.Go(func() {
			<-start
			_, err := s.pintle.UseVerification(t.Context(), v.Identifier, v.Token)
			switch {
			case err == nil:
				found.Add(1)
			case !errors.Is(err, pintle.ErrNotFound):
				t.Errorf("UseVerification: %v", err)
			}
		})
	}
	var answers []<-chan said
	for range 2 {
		answers = append(answers, s.authjs.start("useVerificationToken", map[string]any{"identifier": v.Identifier, "token": v.Token}))
	}
	close(start)
	goers.Wait()
	for _, answer := range answers {
		switch a, ok := <-answer; {
		case !ok:
			t.Fatal("node has ended")
		case a.Error != "":
			t.Errorf("useVerificationToken: %s", a.Error)
		case !nothing(a.Value):
			theirs++
		}
	}
	return theirs, int(found.Load())
}
