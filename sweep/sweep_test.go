package sweep_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/sharedstate"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/sweep"
)

// rows is a part that has a number of expired rows.
type rows struct {
	mu      sync.Mutex
	left    int
	fail    error
	took    time.Duration // by each call
	batches []int
	befores []time.Time
}

func (r *rows) sweep(ctx context.Context, before time.Time, limit int) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	time.Sleep(r.took)
	n := min(limit, r.left)
	r.left -= n
	r.batches, r.befores = append(r.batches, n), append(r.befores, before)
	return n, r.fail
}

func (r *rows) set(fail error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail = fail
}

func (r *rows) rounds() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.batches)
}

func (r *rows) part(name string) sweep.Part { return sweep.Part{Name: name, Sweep: r.sweep} }

func TestARoundRemovesEverythingInBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &rows{left: 25}, &rows{left: 10}
		var reports []sweep.Progress
		job := &sweep.Job{Parts: []sweep.Part{a.part("a"), b.part("b")}, Batch: 10, Progress: func(p sweep.Progress) { reports = append(reports, p) }}
		began := time.Now()
		n, err := job.Once(t.Context())
		if n != 35 || err != nil {
			t.Errorf("Once() = %d, %v, want 35", n, err)
		}
		if !slices.Equal(a.batches, []int{10, 10, 5}) || !slices.Equal(b.batches, []int{10, 0}) {
			t.Errorf("the batches are %v and %v", a.batches, b.batches)
		}
		if took := time.Since(began); took < 300*time.Millisecond || took > 450*time.Millisecond {
			t.Errorf("three pauses took %v, want 0.1 to 0.15 seconds each", took)
		}
		if last := reports[len(reports)-1]; len(reports) != 5 || last.Part != "b" || last.PartRemoved != 10 || last.Removed != 35 || last.Took == 0 {
			t.Errorf("the last of %d reports is %+v", len(reports), last)
		}
	})
}

// A database that is slow is left alone for as long as a batch took.
func TestAPauseIsAsLongAsTheBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &rows{left: 15, took: 4 * time.Second}
		began := time.Now()
		if _, err := (&sweep.Job{Parts: []sweep.Part{slow.part("slow")}, Batch: 10}).Once(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 12*time.Second || took > 14*time.Second {
			t.Errorf("two batches of 4 seconds took %v with their pause, want 12 to 14 seconds", took)
		}
	})
}

func TestAPartThatFailsDoesNotKeepTheOthersFromBeingSwept(t *testing.T) {
	down := errors.New("connection refused")
	a, b := &rows{left: 3, fail: down}, &rows{left: 4}
	n, err := (&sweep.Job{Parts: []sweep.Part{a.part("sessions"), b.part("marks")}}).Once(t.Context())
	if n != 7 || !errors.Is(err, down) || !strings.Contains(err.Error(), "sessions") || strings.Contains(err.Error(), "marks") {
		t.Errorf("Once() = %d, %v", n, err)
	}
}

func TestARoundEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		many := &rows{left: 1 << 30}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		n, err := (&sweep.Job{Parts: []sweep.Part{many.part("many")}}).Once(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || n < 400*500 || n > 600*500 {
			t.Errorf("Once() = %d, %v", n, err)
		}
	})
}

// The clock of this process may be ahead of the others'.
func TestRowsStayForTheGraceAfterTheyHaveExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for grace, want := range map[time.Duration]time.Duration{0: 10 * time.Minute, time.Hour: time.Hour, -1: 0} {
			r := &rows{}
			if _, err := (&sweep.Job{Parts: []sweep.Part{r.part("")}, Grace: grace}).Once(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := time.Since(r.befores[0]); got != want {
				t.Errorf("with the grace %v rows go %v after they have expired, want %v", grace, got, want)
			}
		}
	})
}

func TestRunSweepsAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		often, seldom := &rows{left: 5}, &rows{left: 5}
		job := &sweep.Job{
			Parts:  []sweep.Part{often.part("often"), {Name: "seldom", Sweep: seldom.sweep, Every: 24 * time.Hour}},
			Logger: slog.New(slog.NewJSONHandler(&log, nil)),
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); job.Run(ctx) }()
		time.Sleep(time.Minute)
		if often.rounds() != 1 || seldom.rounds() != 1 {
			t.Errorf("after a minute there were %d and %d rounds, want one", often.rounds(), seldom.rounds())
		}
		often.set(errors.New("connection refused"))
		time.Sleep(70 * time.Minute)
		often.set(nil)
		time.Sleep(46*time.Hour + 50*time.Minute)
		if n := often.rounds(); n < 42 || n > 49 {
			t.Errorf("in two days there were %d rounds, want one an hour", n)
		}
		if n := seldom.rounds(); n != 2 {
			t.Errorf("in two days the part that is swept each day was swept %d times", n)
		}
		cancel()
		<-ended
		if n := strings.Count(log.String(), `"code":"Swept","removed":10`); n != 1 {
			t.Errorf("the log has %d records of what was removed, want one:\n%s", n, &log)
		}
		if n := strings.Count(log.String(), `"code":"SweepFailed"`); n != 1 {
			t.Errorf("the log has %d records of the failure, want one:\n%s", n, &log)
		}
	})
}

func TestAPartThatIsSweptSeldomIsTriedAgainInTheNextRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		daily, weekly := &rows{}, &rows{fail: errors.New("connection refused")}
		job := &sweep.Job{
			Parts: []sweep.Part{
				{Name: "daily", Sweep: daily.sweep, Every: 24 * time.Hour},
				{Name: "weekly", Sweep: weekly.sweep, Every: 7 * 24 * time.Hour},
			},
			Logger: slog.New(slog.DiscardHandler),
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); job.Run(ctx) }()
		time.Sleep(70 * time.Minute) // the second round has the part that failed alone
		if n, m := weekly.rounds(), daily.rounds(); n != 2 || m != 1 {
			t.Errorf("the part that fails was swept %d times and the other %d times, want two and one", n, m)
		}
		weekly.set(nil)
		time.Sleep(70 * time.Minute)
		done := weekly.rounds()
		time.Sleep(20 * time.Hour)
		if n := weekly.rounds(); n != done || done != 3 || daily.rounds() != 1 {
			t.Errorf("the part that worked again was swept %d times, %d of them in the first hours, and the other %d times", n, done, daily.rounds())
		}
		cancel()
		<-ended
	})
}

// Processes that start together sweep at different times.
func TestProcessesDoNotSweepInStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := map[time.Duration]bool{}
		var mu sync.Mutex
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour)
		defer cancel()
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				(&sweep.Job{Parts: []sweep.Part{{Sweep: func(context.Context, time.Time, int) (int, error) {
					mu.Lock()
					defer mu.Unlock()
					at[time.Since(began)] = true
					return 0, nil
				}}}}).Run(ctx)
			})
		}
		all.Wait()
		if len(at) < 16 {
			t.Errorf("8 processes swept at %d times in three hours", len(at))
		}
	})
}

// state is a shared state in a database.
type state struct {
	sharedstate.Unimplemented
	rows
}

func (s *state) Sweep(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.sweep(ctx, before, limit)
}

// expiring is a store whose rows expire by themselves, but for those of users who are gone.
type expiring struct {
	pintle.Store
	gone rows
}

func (e *expiring) Features() pintle.Features { return pintle.Features{} }

func (e *expiring) SharedState() sharedstate.Store { return nil }

func (e *expiring) Sweep(context.Context, time.Time, int) (int, error) { panic("not a feature") }

func (e *expiring) SweepAccountStore(ctx context.Context, limit int) (int, error) {
	return e.gone.sweep(ctx, time.Time{}, limit)
}

func TestTheJobOfAConfigurationSweepsAllThatItHas(t *testing.T) {
	for name, tt := range map[string]struct {
		cfg  pintle.Config
		want []string
	}{
		"nothing":                   {pintle.Config{}, nil},
		"nil pointers":              {pintle.Config{Store: (*memstore.Store)(nil), SharedState: (*state)(nil)}, nil},
		"a store":                   {pintle.Config{Store: memstore.New()}, []string{"store"}},
		"keys that expire":          {pintle.Config{SharedState: &memstore.SharedState{}}, nil},
		"a store whose keys expire": {pintle.Config{Store: &expiring{}}, []string{"deleted_users"}},
		"tokens": {
			pintle.Config{SharedState: &state{}, Session: pintle.SessionConfig{Revocation: &memstore.Revocations{}}},
			[]string{"shared_state", "ended_sessions"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			job := sweep.New(tt.cfg)
			var names []string
			for _, p := range job.Parts {
				names = append(names, p.Name)
			}
			if !slices.Equal(names, tt.want) {
				t.Errorf("the parts are %q, want %q", names, tt.want)
			}
			if n, err := job.Once(t.Context()); n != 0 || err != nil {
				t.Errorf("Once() = %d, %v", n, err)
			}
		})
	}
}

// A part that looks at each key of a database is swept once a week, however many processes there are and
// however often they start.
func TestOneProcessSweepsWeekly(t *testing.T) {
	for name, fail := range map[string]error{"a database that answers": nil, "a database that fails once": errors.New("no answer")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &expiring{gone: rows{fail: fail}}
				cfg := pintle.Config{Store: store, SharedState: &memstore.SharedState{}, Logger: slog.New(slog.DiscardHandler)}
				run := func() (stop context.CancelFunc) {
					ctx, cancel := context.WithCancel(t.Context())
					go sweep.New(cfg).Run(ctx)
					return cancel
				}
				for range 3 {
					defer run()()
				}
				time.Sleep(2 * time.Minute)
				want := 1
				if fail != nil {
					want = store.gone.rounds()
					if want < 1 {
						t.Fatal("no process has tried")
					}
					store.gone.set(nil)
					time.Sleep(2 * time.Hour) // one of them tries again
					want++
				}
				for range 3 { // the processes of a new version
					defer run()()
				}
				time.Sleep(6 * 24 * time.Hour)
				if n := store.gone.rounds(); n != want {
					t.Errorf("the part was swept %d times in a week, want %d", n, want)
				}
				time.Sleep(25 * time.Hour)
				if n := store.gone.rounds(); n != want+1 {
					t.Errorf("the part was swept %d times in more than a week, want %d", n, want+1)
				}
			})
		})
	}
}

// Tenants with one shared state have stores of their own, and each is swept.
func TestTheStoreOfEachTenantIsSweptWeekly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var stores []*expiring
		state := &memstore.SharedState{}
		for _, tenant := range []string{"a", "b"} {
			stores = append(stores, &expiring{})
			go sweep.New(pintle.Config{Tenant: tenant, Store: stores[len(stores)-1], SharedState: state}).Run(ctx)
		}
		time.Sleep(2 * time.Minute)
		for i, store := range stores {
			if n := store.gone.rounds(); n != 1 {
				t.Errorf("the store of tenant %d was swept %d times, want once", i, n)
			}
		}
	})
}

// A shared state that does not answer is no reason to leave rows.
func TestAPartIsSweptWithoutALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &expiring{}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go sweep.New(pintle.Config{Store: store, SharedState: &state{}}).Run(ctx)
		time.Sleep(2 * time.Minute)
		if n := store.gone.rounds(); n != 1 {
			t.Errorf("the part was swept %d times, want once", n)
		}
	})
}

// Several instances sweep one store at once while sessions are read and made. Each expired session
// is removed once, and no other.
func TestSeveralProcessesSweepAtOnce(t *testing.T) {
	store := memstore.New()
	user, err := store.CreateUser(t.Context(), &pintle.User{})
	if err != nil {
		t.Fatal(err)
	}
	create := func(name string, expires time.Time) {
		t.Helper()
		if err := store.CreateSession(t.Context(), &pintle.StoredSession{Token: name, UserID: user.ID, Expires: expires}); err != nil {
			t.Fatal(err)
		}
	}
	const expired = 2000
	for i := range expired {
		create(fmt.Sprint("expired ", i), time.Now().Add(-time.Hour))
	}
	create("in use", time.Now().Add(time.Hour))
	var all sync.WaitGroup
	var removed atomic.Int64
	for range 4 {
		all.Go(func() {
			job := sweep.New(pintle.Config{Store: store})
			job.Batch, job.Pause = 100, -1
			n, err := job.Once(t.Context())
			if err != nil {
				t.Error(err)
			}
			removed.Add(int64(n))
		})
	}
	all.Wait()
	if n := removed.Load(); n != expired {
		t.Errorf("four jobs removed %d sessions, want %d", n, expired)
	}
	if _, _, err := store.SessionAndUser(t.Context(), "in use"); err != nil {
		t.Errorf("the session in use: %v", err)
	}
}
