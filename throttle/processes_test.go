package throttle_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/connection"
	"github.com/pintleauth/pintle/sharedstate"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/throttle"
)

// processes are sites that have a shared state in common, and nothing else.
func processes(t *testing.T, n int, shared sharedstate.Store, changes ...func(*pintle.Config)) []*site {
	t.Helper()
	sites := make([]*site, n)
	for i := range sites {
		sites[i] = newSite(t, nil, append([]func(*pintle.Config){func(cfg *pintle.Config) { cfg.SharedState = shared }}, changes...)...)
	}
	return sites
}

// network returns one of many networks of clients.
func network(i int) string { return fmt.Sprintf("203.0.%d.%d:1", i/250, i%250) }

// ASVS-6.3.1: limits hold within 10 % of the configured rate, over four processes.
func TestFourProcessesAllowAsManyAttemptsAsOne(t *testing.T) {
	const hours = 2
	for name, tt := range map[string]struct {
		attempt func(s *site, i int) bool // whether it is within the limit
		burst   int
		every   time.Duration
	}{
		"wrong passwords for one account from one client": {func(s *site, i int) bool {
			return s.guess(1, here, "kim") == 1
		}, 10, time.Minute},
		"wrong passwords from one client": {func(s *site, i int) bool {
			return s.guess(1, here, fmt.Sprint("person ", i)) == 1
		}, 100, 6 * time.Second},
		"wrong passwords for one account": {func(s *site, i int) bool {
			return s.guess(1, network(i), "kim") == 1
		}, 100, time.Minute},
		"mails to one mailbox": {func(s *site, i int) bool {
			return s.mail(network(i), "kim@example.com")
		}, 5, 10 * time.Minute},
		"mails that one client requests": {func(s *site, i int) bool {
			return s.mail(here, fmt.Sprintf("person-%d@example.com", i))
		}, 100, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sites := processes(t, 4, &memstore.SharedState{})
				allowed, tries := 0, 0
				for range hours * int(time.Hour/(6*time.Second)) {
					for range 2 {
						if tt.attempt(sites[tries%4], tries) {
							allowed++
						}
						tries++
					}
					time.Sleep(6 * time.Second)
				}
				want := float64(tt.burst) + float64(hours*time.Hour)/float64(tt.every)
				if got := float64(allowed); got < 0.9*want || got > 1.1*want {
					t.Errorf("of %d attempts %d were allowed, want %.0f, within 10 %%", tries, allowed, want)
				}
			})
		})
	}
}

func TestSearchesAreLimitedForAllProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := &memstore.SharedState{}
		passed := 0
		for i := range 4 {
			limit := throttle.Limit{Burst: 3, Every: time.Minute}
			connections := (&throttle.Guard{SearchesPerClient: limit}).Connections(connection.Config{Source: noConnections{}})
			s := processes(t, 1, shared, func(cfg *pintle.Config) { cfg.Connections = connections })[0]
			for j := range 3 {
				_, err := s.SignIn(httptest.NewRecorder(), from(here), "sso", pintle.SignInOptions{
					Fields: map[string]any{"email": fmt.Sprintf("kim@%d-%d.example", i, j)},
				})
				if !errors.Is(err, throttle.ErrTooMany) {
					passed++
				}
			}
		}
		if passed != 3 {
			t.Errorf("%d searches passed, want 3", passed)
		}
	})
}

// noConnections is a source without connections.
type noConnections struct{}

func (noConnections) Connection(context.Context, string) (*connection.Connection, error) {
	return nil, connection.ErrNotFound
}

func (noConnections) IDs(context.Context, string) ([]string, error) { return nil, nil }

func TestAttemptsAtTheSameTimeAreCountedByAllProcesses(t *testing.T) {
	sites := processes(t, 4, &memstore.SharedState{})
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() { sites[i%4].try(here, "kim", fmt.Sprint("guess ", i)) })
	}
	all.Wait()
	verified := int32(0)
	for _, s := range sites {
		verified += s.asked.Load()
	}
	if verified != 10 {
		t.Errorf("of 64 guesses at once %d were verified, want 10", verified)
	}
}

func TestOnlyWrongPasswordsCountForAllProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sites := processes(t, 4, &memstore.SharedState{})
		for i := range 400 {
			if got := sites[i%4].try(here, "kim", "open sesame"); got != "in" {
				t.Fatalf("the right password of attempt %d: %s", i, got)
			}
		}
		verified := 0
		for i := range 100 {
			verified += sites[i%4].guess(1, here, "kim")
		}
		if verified != 10 {
			t.Errorf("then of 100 guesses %d were verified, want 10", verified)
		}
	})
}

// ASVS-6.1.1, SA-M6: an address from which the owner has signed in is known to all processes, and
// to those that start later. Guesses do not keep the owner out there.
func TestAnOwnerIsKnownToAllProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := &memstore.SharedState{}
		sites := processes(t, 4, shared)
		if got := sites[0].try(here, "kim", "open sesame"); got != "in" {
			t.Fatal(got)
		}
		attack := func() {
			for i := range 500 {
				sites[i%4].guess(1, network(i), "kim")
			}
		}
		attack()
		restarted := processes(t, 1, shared)[0]
		for i, s := range append(sites, restarted) {
			if got := s.try(elsewhere, "kim", "open sesame"); got != "refused" {
				t.Errorf("at process %d a new address is %s", i, got)
			}
			if got := s.try(here, "kim", "open sesame"); got != "in" {
				t.Errorf("at process %d the owner is %s", i, got)
			}
		}
		verified := 0
		for i := range 100 {
			verified += sites[i%4].guess(1, here, "kim")
		}
		if verified != 10 {
			t.Errorf("at the address of the owner %d guesses were verified, want 10", verified)
		}
		// The owner who signs in now and then stays known.
		for range 10 {
			time.Sleep(14 * 24 * time.Hour)
			attack()
			if got := processes(t, 1, shared)[0].try(here, "kim", "open sesame"); got != "in" {
				t.Errorf("two weeks after a sign-in the owner is %s", got)
			}
		}
		time.Sleep(31 * 24 * time.Hour)
		attack()
		if got := processes(t, 1, shared)[0].try(here, "kim", "open sesame"); got != "refused" {
			t.Errorf("a month later, at a process that has just started, the address is %s", got)
		}
	})
}

// An owner who signs in at one process each day stays known to the others.
func TestAnOwnerWhoSignsInEachDayStaysKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := &memstore.SharedState{}
		first := processes(t, 1, shared)[0]
		for range 60 {
			if got := first.try(here, "kim", "open sesame"); got != "in" {
				t.Fatal(got)
			}
			time.Sleep(25 * time.Hour)
		}
		other := processes(t, 1, shared)[0]
		for i := range 500 {
			other.guess(1, network(i), "kim")
		}
		if got := other.try(here, "kim", "open sesame"); got != "in" {
			t.Errorf("at another process the owner is %s", got)
		}
	})
}

// A recordingState is a shared state that records its calls, and may fail.
type recordingState struct {
	memstore.SharedState
	mu     sync.Mutex
	keys   []sharedstate.Key
	calls  int
	before func(ctx context.Context) error // of a call
	after  error                           // of Take, which has counted
}

func (s *recordingState) record(ctx context.Context, key sharedstate.Key) error {
	s.mu.Lock()
	s.calls++
	s.keys = append(s.keys, key)
	before := s.before
	s.mu.Unlock()
	if before == nil {
		return nil
	}
	return before(ctx)
}

// made returns how many calls there were.
func (s *recordingState) made() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

func (s *recordingState) fail(before func(context.Context) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = before
}

func (s *recordingState) Take(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
	if err := s.record(ctx, key); err != nil {
		return 0, err
	}
	wait, err := s.SharedState.Take(ctx, key, r)
	if s.after != nil {
		return 0, s.after
	}
	return wait, err
}

func (s *recordingState) Wait(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
	if err := s.record(ctx, key); err != nil {
		return 0, err
	}
	return s.SharedState.Wait(ctx, key, r)
}

func (s *recordingState) GiveBack(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) error {
	if err := s.record(ctx, key); err != nil {
		return err
	}
	return s.SharedState.GiveBack(ctx, key, r)
}

// ASVS-6.3.1: while the shared state fails or is slow, each process limits alone, also with what it
// has counted before. The log says so once a minute.
func TestEachProcessLimitsAloneWhileTheSharedStateFails(t *testing.T) {
	down := errors.New("connection refused")
	for name, fail := range map[string]func(context.Context) error{
		"fails":           func(context.Context) error { return down },
		"does not answer": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				state := &recordingState{}
				s := processes(t, 1, state, func(cfg *pintle.Config) { cfg.Logger = slog.New(slog.NewJSONHandler(&log, nil)) })[0]
				if n := s.guess(8, here, "kim"); n != 8 {
					t.Fatalf("of 8 guesses %d were verified", n)
				}
				state.fail(fail)
				began := time.Now()
				if n := s.guess(4, here, "kim"); n != 2 {
					t.Errorf("of 4 guesses %d were verified, want the 2 that are left", n)
				}
				// Wrong passwords are not given back, so each causes one call that fails.
				if took := time.Since(began); took > 2*time.Second {
					t.Errorf("two guesses took %v, want at most a second each", took)
				}
				if got := s.try(elsewhere, "kim", "open sesame"); got != "in" {
					t.Errorf("the owner is %s", got)
				}
				const notice = `"code":"SharedCountsFailed"`
				if n := strings.Count(log.String(), notice); n != 1 {
					t.Errorf("the log has %d records, want one:\n%s", n, &log)
				}
				time.Sleep(time.Minute)
				s.guess(4, elsewhere, "kim")
				if n := strings.Count(log.String(), notice); n != 2 {
					t.Errorf("after a minute the log has %d records, want 2:\n%s", n, &log)
				}
				state.fail(nil)
				other := processes(t, 1, state)[0]
				time.Sleep(24 * time.Hour)
				if n := s.guess(6, here, "kim") + other.guess(6, here, "kim"); n != 10 {
					t.Errorf("when it works again, two processes verify %d guesses, want 10", n)
				}
			})
		})
	}
}

// An attempt of which it is unknown whether it counts is not given back: it would allow one more
// than the limit.
func TestAnAttemptWithAnUnknownOutcomeIsNotGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := &recordingState{}
		sites := processes(t, 2, state)
		sites[0].guess(9, here, "kim")
		state.fail(func(context.Context) error { return errors.New("not counted") })
		if got := sites[0].try(here, "kim", "open sesame"); got != "in" {
			t.Fatal(got)
		}
		state.fail(nil)
		if n := sites[1].guess(5, here, "kim"); n != 1 {
			t.Errorf("after 9 guesses and a right password %d more were verified, want 1", n)
		}
	})
}

// A client that closes its connection does not avoid the count: the request has ended, but the
// attempt is verified.
func TestAClientThatLeavesIsCountedByAllProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := &recordingState{before: func(ctx context.Context) error { return ctx.Err() }}
		sites := processes(t, 4, state)
		for i := range 40 {
			ctx, leave := context.WithCancel(t.Context())
			leave()
			_, _ = sites[i%4].SignIn(httptest.NewRecorder(), from(here).WithContext(ctx), "credentials", pintle.SignInOptions{
				Fields: map[string]any{"username": "kim", "password": "a guess"},
			})
		}
		verified := int32(0)
		for _, s := range sites {
			verified += s.asked.Load()
		}
		if verified != 10 {
			t.Errorf("of 40 guesses %d were verified, want 10", verified)
		}
	})
}

// A client beyond a limit does not load the database: until its time is up, it causes no call.
func TestAClientBeyondALimitCausesNoCallOfTheSharedState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := &recordingState{}
		sites := processes(t, 2, state)
		sites[0].guess(10, here, "kim")
		sites[1].guess(1, here, "kim")
		before := state.calls
		for _, s := range sites {
			if n := s.guess(100, here, "kim"); n != 0 {
				t.Errorf("%d guesses were verified", n)
			}
		}
		if state.calls != before {
			t.Errorf("200 guesses beyond the limit caused %d calls", state.calls-before)
		}
		time.Sleep(time.Minute)
		if n := sites[1].guess(3, here, "kim"); n != 1 {
			t.Errorf("a minute later %d guesses were verified, want 1", n)
		}
	})
}

// A lockingState is a shared state in a database that locks the row of a count, and takes a
// tenth of a second for each attempt.
type lockingState struct {
	memstore.SharedState
	mu   sync.Mutex
	rows map[sharedstate.Key]chan struct{}
}

func (s *lockingState) row(key sharedstate.Key) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows == nil {
		s.rows = map[sharedstate.Key]chan struct{}{}
	}
	if s.rows[key] == nil {
		s.rows[key] = make(chan struct{}, 1)
	}
	return s.rows[key]
}

func (s *lockingState) Take(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
	row := s.row(key)
	select {
	case row <- struct{}{}:
		defer func() { <-row }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	time.Sleep(100 * time.Millisecond)
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return s.SharedState.Take(ctx, key, r)
}

// ASVS-6.3.1: guesses that come at once wait for one another in the database, which must not let most of them
// count in one process alone.
func TestParallelGuessesAreCountedByAllProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sites := processes(t, 4, &lockingState{})
		var all sync.WaitGroup
		for i := range 160 {
			all.Go(func() { sites[i%4].try(here, "kim", fmt.Sprint("guess ", i)) })
		}
		all.Wait()
		verified := int32(0)
		for _, s := range sites {
			verified += s.asked.Load()
		}
		if verified != 10 {
			t.Errorf("of 160 guesses at once %d were verified, want 10", verified)
		}
	})
}

// Attempts that come faster than the shared state counts them are rejected, and do not wait for long.
func TestAttemptsThatWaitTooLongAreRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := processes(t, 1, &lockingState{})[0]
		began := time.Now()
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() { s.try(here, fmt.Sprint("person ", i), "a guess") })
		}
		all.Wait()
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("100 guesses of one client took %v, want 6 seconds at most", took)
		}
		if n := s.asked.Load(); n < 40 || n > 60 {
			t.Errorf("%d guesses were verified, want those that were counted within 5 seconds", n)
		}
	})
}

// ASVS-6.3.1: a shared state that has failed is not called by each attempt, which would wait for it, and is
// called again soon.
func TestASharedStateThatHasJustFailedIsLeftAlone(t *testing.T) {
	for name, fail := range map[string]func(context.Context) error{
		"fails":               func(context.Context) error { return errors.New("connection refused") },
		"does not answer":     func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"ignores the context": func(context.Context) error { time.Sleep(20 * time.Second); return errors.New("i/o timeout") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				state := &recordingState{before: fail}
				sites := processes(t, 2, state)
				began := time.Now()
				for i := range 50 {
					sites[0].guess(1, network(i), "kim")
				}
				if took := time.Since(began); took > time.Second || state.made() != 1 {
					t.Errorf("50 guesses took %v and %d calls, want a second at most and one call", took, state.made())
				}
				time.Sleep(2 * time.Second)
				for i := range 50 {
					sites[0].guess(1, network(50+i), "kim")
				}
				if state.made() != 2 {
					t.Errorf("two seconds later there were %d calls, want one more", state.made())
				}
				state.fail(nil)
				time.Sleep(2 * time.Second)
				sites[0].guess(10, elsewhere, "lee")
				if n := sites[1].guess(5, elsewhere, "lee"); n != 0 {
					t.Errorf("when it works again, another process verifies %d guesses beyond the limit", n)
				}
				time.Sleep(time.Minute) // until all calls have returned
			})
		})
	}
}

// A client that the limit of an account rejects does not load the database, whatever Exceeded says.
func TestAClientThatTheLimitOfAnAccountRejectsIsLookedUpOnce(t *testing.T) {
	for name, exceeded := range map[string]func(context.Context, *throttle.Excess) error{
		"by the limit": nil,
		"by Exceeded": func(context.Context, *throttle.Excess) error {
			return &pintle.Error{Code: pintle.CodeCredentials, Err: throttle.ErrTooMany}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				state := &recordingState{}
				g := &throttle.Guard{Exceeded: exceeded}
				s := newSite(t, g, func(cfg *pintle.Config) { cfg.SharedState = state })
				for i := range 100 {
					s.guess(1, network(i), "kim")
				}
				for range 2 {
					before := state.made()
					if n := s.guess(100, elsewhere, "kim"); n != 0 {
						t.Errorf("%d guesses were verified", n)
					}
					if n := state.made() - before; n != 1 {
						t.Errorf("100 guesses that are rejected caused %d calls, want one", n)
					}
					time.Sleep(10 * time.Second)
				}
			})
		})
	}
}

// Attempts count until their password is known to be right. What they made a process reject, it
// allows soon after.
func TestARefusalEndsSoonAfterAttemptsAreGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := &memstore.SharedState{}
		verify := make(chan struct{})
		g := &throttle.Guard{}
		slow := newSite(t, g, func(cfg *pintle.Config) {
			cfg.SharedState = shared
			cfg.Providers = []pintle.Provider{g.Credentials(&pintle.Credentials{Authorize: func(context.Context, *pintle.Submission) (*pintle.User, error) {
				<-verify
				return &pintle.User{ID: "kim"}, nil
			}}, "username")}
		})
		other := processes(t, 1, shared)[0]
		other.guess(1, here, "kim")
		for range 9 {
			go slow.try(here, "kim", "open sesame")
		}
		synctest.Wait()
		for name, s := range map[string]*site{"the same process": slow, "another process": other} {
			if got := s.try(here, "kim", "open sesame"); got != "refused" {
				t.Fatalf("while 10 attempts count, one more at %s is %s", name, got)
			}
		}
		close(verify)
		synctest.Wait()
		if got := slow.try(here, "kim", "open sesame"); got != "in" {
			t.Errorf("when they are right, one more at the same process is %s", got)
		}
		time.Sleep(10 * time.Second)
		if got := other.try(here, "kim", "open sesame"); got != "in" {
			t.Errorf("10 seconds later, one more at another process is %s", got)
		}
	})
}

// The shared state learns of an owner who has signed in while it failed.
func TestAnOwnerWhoSignsInDuringAFailureIsKnownToAllProcessesAtTheNextSignIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := &recordingState{before: func(context.Context) error { return errors.New("connection refused") }}
		sites := processes(t, 2, state)
		for range 2 {
			if got := sites[0].try(here, "kim", "open sesame"); got != "in" {
				t.Fatal(got)
			}
			state.fail(nil)
			time.Sleep(time.Minute)
		}
		for i := range 500 {
			sites[i%2].guess(1, network(i), "kim")
		}
		if got := sites[1].try(here, "kim", "open sesame"); got != "in" {
			t.Errorf("at another process the owner is %s", got)
		}
	})
}

// The database has neither names nor addresses, nor a hash that can be computed without the secret.
// Sites and tenants that share a database have nothing in common.
func TestTheSharedStateHasOnlyKeyedHashes(t *testing.T) {
	keys := func(change func(*pintle.Config)) []sharedstate.Key {
		state := &recordingState{}
		s := processes(t, 1, state, change)[0]
		s.guess(1, here, "kim")
		s.mail(here, "kim@example.com")
		if got := s.try(here, "kim", "open sesame"); got != "in" {
			t.Fatal(got)
		}
		slices.SortFunc(state.keys, func(a, b sharedstate.Key) int { return bytes.Compare(a[:], b[:]) })
		return slices.Compact(state.keys)
	}
	all := keys(func(*pintle.Config) {})
	if len(all) != 6 { // account and client, client, account, known client, mailbox, client of mails
		t.Errorf("%d keys are used, want 6", len(all))
	}
	for _, name := range []string{"kim", "kim@example.com", "192.0.2.1", "192.0.2.1 credentials\x00kim"} {
		if slices.Contains(all, sharedstate.Key(sha256.Sum256([]byte(name)))) {
			t.Errorf("a key is the plain hash of %q", name)
		}
	}
	if again := keys(func(*pintle.Config) {}); !slices.Equal(again, all) {
		t.Error("another process has other keys")
	}
	withSecret := keys(func(cfg *pintle.Config) { cfg.Secrets = []string{"another secret, 32 characters or more"} })
	ofTenant := keys(func(cfg *pintle.Config) { cfg.Tenant = "acme" })
	for _, k := range all {
		if slices.Contains(withSecret, k) {
			t.Error("a key does not depend on the secret")
		}
		if slices.Contains(ofTenant, k) {
			t.Error("a key does not depend on the tenant")
		}
	}
}

// Two guards of a site do not count together unless they are the same: a client would wait for what
// it has done elsewhere.
func TestGuardsWithDifferentNamesOrLimitsCountApart(t *testing.T) {
	for name, tt := range map[string]struct {
		first, second *throttle.Guard
		want          int
	}{
		"the same":    {&throttle.Guard{}, &throttle.Guard{}, 10},
		"other names": {&throttle.Guard{}, &throttle.Guard{Name: "forum"}, 20},
		"no limit": {
			&throttle.Guard{PerAccountAndClient: throttle.Limit{Burst: -1}},
			&throttle.Guard{PerAccountAndClient: throttle.Limit{Burst: -1}}, 40,
		},
		"other limits": {
			&throttle.Guard{PerAccountAndClient: throttle.Limit{Burst: 3, Every: 24 * time.Hour}},
			&throttle.Guard{PerAccountAndClient: throttle.Limit{Burst: 4}}, 7,
		},
	} {
		t.Run(name, func(t *testing.T) {
			shared := &memstore.SharedState{}
			verified := 0
			for _, g := range []*throttle.Guard{tt.first, tt.second} {
				s := newSite(t, g, func(cfg *pintle.Config) { cfg.SharedState = shared })
				verified += s.guess(20, here, "kim")
			}
			if verified != tt.want {
				t.Errorf("%d guesses were verified, want %d", verified, tt.want)
			}
		})
	}
}

// A mail that one limit refuses does not count for the other, at any process.
func TestAMailThatAnyProcessRefusesDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sites := processes(t, 6, &memstore.SharedState{})
		for i := range 100 {
			sites[0].mail(here, fmt.Sprintf("person-%d@example.com", i))
		}
		for _, s := range sites { // each asks the shared state once
			if s.mail(here, "kim@example.com") {
				t.Error("a client beyond its limit has caused a mail")
			}
		}
		for i := range 5 {
			if !sites[5].mail(elsewhere, "kim@example.com") {
				t.Errorf("mail %d of 5 is refused", i+1)
			}
		}
	})
}

// Limits of different kinds may have the same numbers, and the same client.
func TestLimitsOfDifferentKindsCountApart(t *testing.T) {
	limit := throttle.Limit{Burst: 3, Every: time.Hour}
	g := &throttle.Guard{PerClient: limit, MailsPerClient: limit, SearchesPerClient: limit}
	s := newSite(t, g, func(cfg *pintle.Config) {
		cfg.SharedState = &memstore.SharedState{}
		cfg.Connections = g.Connections(connection.Config{Source: noConnections{}})
	})
	for i := range 5 {
		_, err := s.SignIn(httptest.NewRecorder(), from(here), "sso", pintle.SignInOptions{
			Fields: map[string]any{"email": fmt.Sprintf("kim@%d.example", i)},
		})
		if refused := errors.Is(err, throttle.ErrTooMany); refused != (i >= 3) {
			t.Errorf("search %d: %v", i, err)
		}
		if sent := s.mail(here, fmt.Sprintf("person-%d@example.com", i)); sent != (i < 3) {
			t.Errorf("mail %d: sent %t", i, sent)
		}
		if verified := s.guess(1, here, fmt.Sprint("person ", i)) == 1; verified != (i < 3) {
			t.Errorf("guess %d: verified %t", i, verified)
		}
	}
}

// limitless is a shared state of an earlier version.
type limitless struct {
	sharedstate.Unimplemented
	calls atomic.Int32
}

func (s *limitless) Take(ctx context.Context, k sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
	s.calls.Add(1)
	return s.Unimplemented.Take(ctx, k, r)
}

func TestASharedStateWithoutCountsLeavesTheProcessToCount(t *testing.T) {
	var log bytes.Buffer
	state := &limitless{}
	s := processes(t, 1, state, func(cfg *pintle.Config) { cfg.Logger = slog.New(slog.NewJSONHandler(&log, nil)) })[0]
	if n := s.guess(100, here, "kim"); n != 10 {
		t.Errorf("of 100 guesses %d were verified, want 10", n)
	}
	if n := strings.Count(log.String(), `"code":"NoSharedCounts"`); n != 1 || state.calls.Load() != 1 {
		t.Errorf("after %d calls the log has %d records, want one of each:\n%s", state.calls.Load(), n, &log)
	}
}

func TestAKnownDeviceHasOneLimitAtAllProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := &memstore.SharedState{}
		sites := make([]*site, 4)
		for i := range sites {
			g := &throttle.Guard{PerDevice: throttle.Limit{Burst: 7}, PerAccount: throttle.Limit{Burst: 20}}
			sites[i] = newSite(t, g, func(cfg *pintle.Config) { cfg.SharedState = shared })
		}
		w := httptest.NewRecorder()
		if _, err := sites[0].SignIn(w, from(here), "credentials", pintle.SignInOptions{
			Fields: map[string]any{"username": "kim", "password": "open sesame"},
		}); err != nil {
			t.Fatal(err)
		}
		verified := int32(-1) // the sign-in
		for i := range 400 {
			r := from(network(i)) // at another address each time
			for _, c := range w.Result().Cookies() {
				r.AddCookie(c)
			}
			_, _ = sites[i%4].SignIn(httptest.NewRecorder(), r, "credentials", pintle.SignInOptions{
				Fields: map[string]any{"username": "kim", "password": "a guess"},
			})
		}
		for _, s := range sites {
			verified += s.asked.Load()
		}
		if verified != 27 {
			t.Errorf("with a stolen cookie %d guesses were verified, want 7, and the 20 that any client has", verified)
		}
	})
}

func TestNewSaysThatEachProcessCountsAlone(t *testing.T) {
	const notice = `"code":"NoSharedState"`
	guarded := func(cfg *pintle.Config) {
		g := &throttle.Guard{}
		cfg.Store, cfg.Session = nil, pintle.SessionConfig{}
		cfg.Providers = []pintle.Provider{g.Credentials(&pintle.Credentials{Authorize: func(context.Context, *pintle.Submission) (*pintle.User, error) {
			return nil, nil
		}}, "username")}
	}
	for name, tt := range map[string]struct {
		change func(*pintle.Config)
		want   bool
	}{
		"passwords within limits": {guarded, true},
		"passwords without limits": {func(cfg *pintle.Config) {
			guarded(cfg)
			cfg.Providers = []pintle.Provider{&pintle.Credentials{Authorize: cfg.Providers[0].(*pintle.Credentials).Authorize}}
		}, false},
		"a shared state":                       {func(cfg *pintle.Config) { guarded(cfg); cfg.SharedState = &memstore.SharedState{} }, false},
		"a store in the memory of one process": {func(*pintle.Config) {}, false},
		"mails": {func(cfg *pintle.Config) {
			cfg.Store, cfg.Providers = stateless{memstore.New()}, cfg.Providers[1:]
		}, true},
		"connections": {func(cfg *pintle.Config) {
			cfg.Store, cfg.Providers = nil, nil
			cfg.Connections = (&throttle.Guard{}).Connections(connection.Config{Source: noConnections{}})
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			newSite(t, nil, tt.change, func(cfg *pintle.Config) { cfg.Logger = slog.New(slog.NewJSONHandler(&log, nil)) })
			if got := strings.Contains(log.String(), notice) && strings.Contains(log.String(), "limits of attempts"); got != tt.want {
				t.Errorf("New says that limits are per process: %t, want %t:\n%s", got, tt.want, &log)
			}
		})
	}
}

// stateless is a store of several processes that has no shared state.
type stateless struct{ *memstore.Store }

func (stateless) SharedState() sharedstate.Store { return nil }

func (s stateless) Features() pintle.Features {
	f := s.Store.Features()
	f.InMemory = false
	return f
}

// A store of one process has nothing to share: the counts of the process are enough.
func TestAStoreOfOneProcessCountsNothing(t *testing.T) {
	state := &recordingState{}
	s := newSite(t, nil, func(cfg *pintle.Config) { cfg.Store = sharing{memstore.New(), state, true} })
	if n := s.guess(20, here, "kim"); n != 10 || state.calls != 0 {
		t.Errorf("%d guesses were verified with %d calls, want 10 and none", n, state.calls)
	}
	s = newSite(t, nil, func(cfg *pintle.Config) { cfg.Store = sharing{memstore.New(), state, false} })
	if n := s.guess(20, here, "kim"); n != 10 || state.calls == 0 {
		t.Errorf("%d guesses were verified with %d calls of the state of the store, want 10 and some", n, state.calls)
	}
}

// sharing is a store with a shared state.
type sharing struct {
	*memstore.Store
	state    *recordingState
	inMemory bool
}

func (s sharing) SharedState() sharedstate.Store { return s.state }

func (s sharing) Features() pintle.Features {
	f := s.Store.Features()
	f.InMemory = s.inMemory
	return f
}
