package storetest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

// A mutant is a good store with one thing wrong, and the check that has to
// notice it.
type mutant struct {
	name    string
	store   func(*memstore.Store) pintle.Store
	noticed string
}

// AT-110, AC-4, AC-200, AC-201
func TestEveryMutantIsNoticed(t *testing.T) {
	mutants := slices.Concat(userMutants, extraMutants, accountMutants, accountSwapMutants, sessionMutants, linkMutants, transactionMutants, featureMutants(), rowMutants(), signInMutants())
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			open := func() pintle.Store { return m.store(memstore.New()) }
			for range tries {
				if len(failures(t, open, m.noticed)) > 0 {
					return
				}
			}
			t.Errorf("no check named %q failed, only %v", m.noticed, failures(t, open, ""))
		})
	}
}

// tries is how often a mutant may escape: two calls that have to meet in a race do
// not meet each time.
const tries = 20

func TestAGoodStoreFailsNoCheck(t *testing.T) {
	if failed := failures(t, func() pintle.Store { return memstore.New() }, ""); len(failed) > 0 {
		t.Errorf("failed: %v", failed)
	}
}

func TestALimitSkipsWhatAsksForMore(t *testing.T) {
	for _, l := range []Limit{WholeSeconds, NarrowColumns, AddressRequired, OneAccountEach, LooseUniqueness, AuthJSAccounts} {
		skipped := 0
		for _, g := range groups() {
			for _, c := range g.checks {
				if r := try(t, c, memstore.New(), l); r.skipped && strings.Contains(r.log.String(), l.String()) {
					skipped++
				}
			}
		}
		if skipped == 0 {
			t.Errorf("%q skips no check", l)
		}
	}
}

// failures returns what the checks that failed had to say, of those whose names
// contain a text.
func failures(t *testing.T, open func() pintle.Store, named string) map[string]string {
	failed := make(map[string]string)
	for _, g := range groups() {
		for _, c := range g.checks {
			name := g.name + "/" + c.name
			if !strings.Contains(name, named) {
				continue
			}
			if r := try(t, c, open(), 0); r.failed {
				failed[name] = r.log.String()
			}
		}
	}
	return failed
}

// A trial is a test whose outcome is looked at instead of counted.
type trial struct {
	testing.TB
	mu              sync.Mutex
	failed, skipped bool
	log             strings.Builder
	cleanups        []func()
}

func try(t *testing.T, c check, s pintle.Store, limits ...Limit) *trial {
	r := &trial{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				r.Errorf("panic: %v", p)
			}
			for _, f := range r.cleanups {
				f()
			}
		}()
		c.run(newTester(r, s, limits))
	}()
	<-done
	return r
}

func (r *trial) note(failed, skipped bool, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed, r.skipped = r.failed || failed, r.skipped || skipped
	r.log.WriteString(text + "\n")
}

func (r *trial) Helper()                           {}
func (r *trial) Cleanup(f func())                  { r.cleanups = append(r.cleanups, f) }
func (r *trial) Context() context.Context          { return context.Background() }
func (r *trial) Log(args ...any)                   { r.note(false, false, fmt.Sprint(args...)) }
func (r *trial) Logf(format string, args ...any)   { r.note(false, false, fmt.Sprintf(format, args...)) }
func (r *trial) Error(args ...any)                 { r.note(true, false, fmt.Sprint(args...)) }
func (r *trial) Errorf(format string, args ...any) { r.note(true, false, fmt.Sprintf(format, args...)) }
func (r *trial) Fatal(args ...any)                 { r.Error(args...); runtime.Goexit() }
func (r *trial) Fatalf(format string, args ...any) { r.Errorf(format, args...); runtime.Goexit() }
func (r *trial) FailNow()                          { r.note(true, false, ""); runtime.Goexit() }
func (r *trial) Skip(args ...any)                  { r.note(false, true, fmt.Sprint(args...)); runtime.Goexit() }
func (r *trial) Skipf(format string, args ...any)  { r.Skip(fmt.Sprintf(format, args...)) }
