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
// twice at Pintle, all at once.
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
			t.Errorf("link %d: nobody was let in", n)
		case theirs+ours > 1 && !s.readsFirst:
			t.Errorf("link %d: Auth.js let in %d and Pintle %d, want one in all", n, theirs, ours)
		}
		if theirs > 0 && ours > 0 {
			both++
		}
		s.linkIsUsed(t, v)
	}
	if s.readsFirst {
		t.Logf("%d of 20 links let somebody in on both sides, because the adapter reads a link before it deletes it", both)
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
