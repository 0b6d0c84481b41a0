package flight_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle/internal/flight"
)

// land lets some callers wait for one call, and returns what each of them got. The
// call returns when all of them wait.
func land(t *testing.T, callers int, f func(context.Context) (string, error)) (calls int, values []string, errs []error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var group flight.Group[string]
		var wg sync.WaitGroup
		var mu sync.Mutex
		allWait := make(chan struct{})
		for range callers {
			wg.Go(func() {
				value, err := group.Do(t.Context(), "key", func(ctx context.Context) (string, error) {
					mu.Lock()
					calls++
					mu.Unlock()
					<-allWait
					return f(ctx)
				})
				mu.Lock()
				defer mu.Unlock()
				values, errs = append(values, value), append(errs, err)
			})
		}
		synctest.Wait()
		close(allWait)
		wg.Wait()
	})
	return calls, values, errs
}

func TestConcurrentCallersShareOneCall(t *testing.T) {
	calls, values, errs := land(t, 50, func(context.Context) (string, error) { return "value", nil })
	if calls != 1 {
		t.Errorf("%d calls were made", calls)
	}
	for i := range values {
		if values[i] != "value" || errs[i] != nil {
			t.Errorf("a caller got %q, %v", values[i], errs[i])
		}
	}
	failure := errors.New("the database is away")
	calls, values, errs = land(t, 50, func(context.Context) (string, error) { return "", failure })
	if calls != 1 || slices.ContainsFunc(errs, func(err error) bool { return !errors.Is(err, failure) }) {
		t.Errorf("%d calls, and callers got %q, %v", calls, values, errs)
	}
}

func TestACallThatIsOverIsNotShared(t *testing.T) {
	var group flight.Group[int]
	calls := 0
	for range 3 {
		got, err := group.Do(t.Context(), "key", func(context.Context) (int, error) { calls++; return calls, nil })
		if err != nil || got != calls {
			t.Errorf("call %d returns %d, %v", calls, got, err)
		}
	}
}

func TestEachKeyHasASeparateCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var group flight.Group[string]
		var wg sync.WaitGroup
		var both sync.WaitGroup
		both.Add(2)
		for _, key := range []string{"a", "b"} {
			wg.Go(func() {
				got, err := group.Do(t.Context(), key, func(context.Context) (string, error) {
					both.Done()
					both.Wait() // for ever, if they were one call
					return key, nil
				})
				if got != key || err != nil {
					t.Errorf("the call for %s returns %s, %v", key, got, err)
				}
			})
		}
		wg.Wait()
	})
}

type contextKey struct{}

// The context of the first caller ends, as when a user presses Esc.
func TestTheOthersGetTheResultWhenTheFirstCallerGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var group flight.Group[string]
		gone := errors.New("the browser went away")
		first, leave := context.WithCancelCause(context.WithValue(t.Context(), contextKey{}, "of the first"))
		first, cancel := context.WithTimeout(first, time.Hour)
		defer cancel()
		firstLeft, release := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(firstLeft)
			if value, err := group.Do(first, "key", func(ctx context.Context) (string, error) {
				<-release
				_, limited := ctx.Deadline()
				return fmt.Sprintf("value %s: %v, deadline %t", ctx.Value(contextKey{}), ctx.Err(), limited), nil
			}); value != "" || !errors.Is(err, gone) {
				t.Errorf("the first caller got %q, %v", value, err)
			}
		}()
		synctest.Wait()
		second := make(chan struct{})
		go func() {
			defer close(second)
			value, err := group.Do(t.Context(), "key", func(context.Context) (string, error) { return "another call", nil })
			if value != "value of the first: <nil>, deadline false" || err != nil {
				t.Errorf("the second caller got %q, %v", value, err)
			}
		}()
		synctest.Wait()
		leave(gone)
		<-firstLeft
		close(release)
		<-second
	})
}

func TestACallThatCrashesIsAnErrorForAll(t *testing.T) {
	for name, tt := range map[string]struct {
		f    func(context.Context) (string, error)
		want string
	}{
		"a panic":            {func(context.Context) (string, error) { panic("no row for ada") }, "panic: no row for ada"},
		"a panic with nil":   {func(context.Context) (string, error) { panic(nil) }, "panic called with nil argument"}, //nolint:govet // the host's function may
		"an ended goroutine": {func(context.Context) (string, error) { runtime.Goexit(); return "", nil }, "ended its goroutine"},
	} {
		t.Run(name, func(t *testing.T) {
			calls, values, errs := land(t, 20, tt.f)
			if calls != 1 || len(errs) != 20 {
				t.Errorf("%d calls, %d callers got an answer", calls, len(errs))
			}
			for i, err := range errs {
				if !flight.IsCrash(fmt.Errorf("wrapped: %w", err)) || !strings.Contains(err.Error(), tt.want) || values[i] != "" {
					t.Errorf("a caller got %q, %v, want %q", values[i], err, tt.want)
				}
			}
		})
	}
	_, _, errs := land(t, 1, func(context.Context) (string, error) { panic("here") })
	if text := errs[0].Error(); !strings.Contains(text, "TestACallThatCrashesIsAnErrorForAll") {
		t.Errorf("the error does not say where the panic was:\n%s", text)
	}
	if flight.IsCrash(errors.New("another error")) || flight.IsCrash(nil) {
		t.Error("any error is a crash")
	}
}

// A panic with an error of the store is not that error: a tenant whose function
// panics with "not found" is no unknown tenant.
func TestACrashIsNotTheErrorThatThePanicHad(t *testing.T) {
	notFound := errors.New("not found")
	_, _, errs := land(t, 2, func(context.Context) (string, error) { panic(notFound) })
	for _, err := range errs {
		if errors.Is(err, notFound) {
			t.Errorf("%v counts as %v", err, notFound)
		}
	}
}

func TestTheZeroValueOfAnInterfaceIsAResult(t *testing.T) {
	var group flight.Group[error]
	if value, err := group.Do(t.Context(), "", func(context.Context) (error, error) { return nil, nil }); value != nil || err != nil {
		t.Errorf("Do returns %v, %v", value, err)
	}
}

func TestWhatRunsBesideACallDoesNotEndTheProgram(t *testing.T) {
	crashes := make(chan error)
	report := func(err error) { crashes <- err }
	flight.Beside(t.Context(), func() { panic("on purpose") }, report)
	if err := <-crashes; !flight.IsCrash(err) || !strings.Contains(err.Error(), "on purpose") {
		t.Errorf("a panic is reported as %v", err)
	}
	flight.Beside(t.Context(), runtime.Goexit, report)
	if err := <-crashes; !flight.IsCrash(err) {
		t.Errorf("the end of the goroutine is reported as %v", err)
	}
	done := make(chan bool)
	flight.Beside(t.Context(), func() { close(done) }, func(err error) { t.Errorf("%v is reported of what returned", err) })
	<-done
}
