package health_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle/health"
)

// A part is something that a check looks at.
type part struct {
	mu    sync.Mutex
	fail  error
	took  time.Duration
	deaf  bool // to the end of the context
	calls atomic.Int32
	now   atomic.Int32
	most  atomic.Int32 // calls at once
}

func (p *part) set(fail error, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fail, p.took = fail, took
}

func (p *part) run(ctx context.Context) error {
	p.calls.Add(1)
	p.most.Store(max(p.most.Load(), p.now.Add(1)))
	defer p.now.Add(-1)
	p.mu.Lock()
	fail, took := p.fail, p.took
	p.mu.Unlock()
	if p.deaf {
		time.Sleep(took)
		return fail
	}
	select {
	case <-time.After(took):
		return fail
	case <-ctx.Done():
		return ctx.Err()
	}
}

func probe(h http.Handler, method string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, "/ready", nil))
	return w
}

func status(h http.Handler) int { return probe(h, http.MethodGet).Code }

var errDown = errors.New("dial tcp 10.0.0.7:5432: connection refused")

func TestTheAnswerSaysNothingButTheStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		store, idp := &part{}, &part{fail: errDown}
		h := health.Handler([]health.Check{
			{Name: "sessions", Run: store.run, Required: true}, {Name: "provider:acme", Run: idp.run},
		}, health.Options{Logger: slog.New(slog.NewJSONHandler(&log, nil))})
		w := probe(h, http.MethodGet)
		if w.Code != http.StatusOK || w.Body.String() != "ok\n" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("the answer is %d %q %v", w.Code, w.Body, w.Header())
		}
		store.set(errDown, 0)
		time.Sleep(5 * time.Second)
		w = probe(h, http.MethodGet)
		if w.Code != http.StatusServiceUnavailable || w.Body.String() != "unavailable\n" {
			t.Errorf("the answer is %d %q", w.Code, w.Body)
		}
		if w := probe(h, http.MethodPost); w.Code != http.StatusMethodNotAllowed {
			t.Errorf("POST is answered with %d", w.Code)
		}
		for range 30 { // half a minute
			status(h)
			time.Sleep(time.Second)
		}
		store.set(nil, 0)
		time.Sleep(time.Second)
		if got := status(h); got != http.StatusOK {
			t.Errorf("a second after the end of the failure the status is %d", got)
		}
		for says, want := range map[string]int{
			`"level":"ERROR","msg":"pintle: a health check fails","code":"HealthCheckFailed","check":"sessions","required":true,"error":"dial tcp`: 1,
			`"level":"WARN","msg":"pintle: a health check fails","code":"HealthCheckFailed","check":"provider:acme"`:                               1,
			`"level":"INFO","msg":"pintle: a health check works again","code":"HealthCheckWorks","check":"sessions"`:                               1,
		} {
			if n := strings.Count(log.String(), says); n != want {
				t.Errorf("the log has %d records %s, want %d:\n%s", n, says, want, &log)
			}
		}
	})
}

// Anyone can send probes, at once or one after the other.
func TestProbesCauseOneCheckAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &part{took: 100 * time.Millisecond}
		h := health.Handler([]health.Check{{Name: "sessions", Run: store.run, Required: true}}, health.Options{})
		many := func() {
			var all sync.WaitGroup
			for range 1000 {
				all.Go(func() {
					if got := status(h); got != http.StatusOK {
						t.Errorf("the status is %d", got)
					}
				})
			}
			all.Wait()
		}
		for range 4 {
			many()
		}
		if n := store.calls.Load(); n != 1 {
			t.Errorf("4000 requests caused %d checks, want one", n)
		}
		time.Sleep(5 * time.Second)
		many()
		if n := store.calls.Load(); n != 2 || store.most.Load() != 1 {
			t.Errorf("five seconds later there were %d checks, %d at once", n, store.most.Load())
		}
	})
}

// A paused database may keep a look-up until it goes on, whatever the context.
func TestACheckThatHangsFailsInTimeAndIsNotRepeated(t *testing.T) {
	for name, deaf := range map[string]bool{"and ends with its context": false, "and ignores its context": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, idp := &part{took: time.Minute, deaf: deaf}, &part{took: time.Hour}
				h := health.Handler([]health.Check{
					{Name: "provider", Run: idp.run}, {Name: "sessions", Run: store.run, Required: true},
				}, health.Options{Timeout: time.Second})
				for range 5 {
					began := time.Now()
					if got := status(h); got != http.StatusServiceUnavailable || time.Since(began) > time.Second {
						t.Errorf("the status is %d after %v, want 503 within a second", got, time.Since(began))
					}
					time.Sleep(time.Second)
				}
				if n := store.calls.Load(); store.most.Load() != 1 || deaf && n != 1 {
					t.Errorf("%d checks ran, %d at once", n, store.most.Load())
				}
				store.set(nil, 0)
				time.Sleep(2 * time.Minute)
				if got := status(h); got != http.StatusOK {
					t.Errorf("when the database goes on, the status is %d", got)
				}
				time.Sleep(time.Hour)
			})
		})
	}
}

func TestARequestDoesNotWaitForWhatIsNotRequired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		idp := &part{took: time.Hour}
		h := health.Handler([]health.Check{{Name: "provider", Run: idp.run}}, health.Options{})
		began := time.Now()
		if got := status(h); got != http.StatusOK || time.Since(began) > 0 {
			t.Errorf("the status is %d after %v", got, time.Since(began))
		}
		time.Sleep(2 * time.Second) // until the check has ended
	})
}

// A probe that gives up does not end the check for the others, nor change its result.
func TestAProbeThatLeavesDoesNotFailTheCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &part{took: time.Second}
		h := health.Handler([]health.Check{{Name: "sessions", Run: store.run, Required: true}}, health.Options{})
		ctx, leave := context.WithTimeout(t.Context(), time.Millisecond)
		defer leave()
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/ready", nil).WithContext(ctx))
		if got := status(h); got != http.StatusOK || store.calls.Load() != 1 {
			t.Errorf("the status is %d after %d checks", got, store.calls.Load())
		}
	})
}

func TestAFunctionThatPanicsIsAFailure(t *testing.T) {
	h := health.Handler([]health.Check{{Name: "sessions", Run: func(context.Context) error { panic("on purpose") }, Required: true}},
		health.Options{Logger: slog.New(slog.DiscardHandler)})
	if got := status(h); got != http.StatusServiceUnavailable {
		t.Errorf("the status is %d", got)
	}
}
