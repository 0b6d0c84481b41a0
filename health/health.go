// Package health answers the probes of a load balancer or an orchestrator: whether this
// process can serve requests.
//
//	checks, err := auth.HealthChecks(ctx)
//	…
//	mux.Handle("GET /ready", health.Handler(checks, health.Options{}))
//
// Anyone may send such a request. Its answer is a status and one word, and does not say what
// fails: that is in the log. A success is kept for [Options.Keep] and a failure for a second, and
// one check of a kind runs at a time, so that requests cause at most one call of each check per
// second, however many there are. A shorter Keep allows more.
package health

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/pintleauth/pintle/internal/flight"
)

const (
	defaultTimeout = 2 * time.Second
	defaultKeep    = 5 * time.Second

	// keepFailure is how long a failure is kept at most, so that a process is ready again
	// soon after its database.
	keepFailure = time.Second

	// quiet is the least time between two records of a check that goes on failing.
	quiet = time.Minute
)

// A Check finds out whether something works that requests need.
type Check struct {
	// Name tells the check in the log, such as "sessions".
	Name string

	// Run returns nil if it works. The context ends after the time-out of the handler. Run is
	// not called while another call of it goes on.
	Run func(ctx context.Context) error

	// Required makes the process unready while the check fails. Other failures are in the log
	// only. Do not require something that all processes share and few requests need, such
	// as a provider: its failure would take all processes out of service.
	Required bool

	// Keep is how long a success is kept. Zero means [Options.Keep].
	Keep time.Duration
}

// Options of a handler. The zero value is ready to use.
type Options struct {
	// Timeout is how long a request waits for the checks. A check that takes longer has
	// failed. Zero means two seconds. Let the time-out of the probe be longer.
	Timeout time.Duration

	// Keep is how long a success is kept. Zero means five seconds. A failure is kept for a
	// second at most.
	Keep time.Duration

	// Logger receives a record when a check begins to fail and once a minute while it fails, at
	// the level ERROR if it is required and WARN if not, with the code HealthCheckFailed; and
	// one at the level INFO when it works again, with the code HealthCheckWorks. Nil means [slog.Default].
	Logger *slog.Logger
}

// Handler answers GET and HEAD: with status 200 and the text "ok" if all required checks
// succeed, and with status 503 and the text "unavailable" if not. It may be mounted at any
// path, and needs no session. Without checks it answers that the process runs.
func Handler(checks []Check, o Options) http.Handler {
	h := &handler{timeout: cmp.Or(max(o.Timeout, 0), defaultTimeout)}
	for _, c := range checks {
		h.checks = append(h.checks, &kept{
			Check: c, timeout: h.timeout, keep: cmp.Or(max(c.Keep, 0), max(o.Keep, 0), defaultKeep), log: cmp.Or(o.Logger, slog.Default()),
		})
	}
	return h
}

type handler struct {
	checks  []*kept
	timeout time.Duration
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	status, text := http.StatusOK, "ok\n"
	if !h.ready(r.Context()) {
		status, text = http.StatusServiceUnavailable, "unavailable\n"
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// ready reports whether all required checks succeed. Requests do not wait for the others.
func (h *handler) ready(ctx context.Context) bool {
	waiting := make([]<-chan struct{}, len(h.checks))
	for i, c := range h.checks {
		waiting[i] = c.begin(ctx)
	}
	late := time.NewTimer(h.timeout)
	defer late.Stop()
	for i, c := range h.checks {
		if !c.Required {
			continue
		}
		select {
		case <-waiting[i]:
		case <-late.C:
			return false
		case <-ctx.Done():
			return false
		}
		if !c.works() {
			return false
		}
	}
	return true
}

// kept is a check with its last result.
type kept struct {
	Check
	timeout, keep time.Duration
	log           *slog.Logger

	mu      sync.Mutex
	err     error
	at      time.Time     // of the result; zero: there is none
	running chan struct{} // is closed when the call that goes on ends, or is late; nil: none does
	late    bool          // the call that goes on has not ended within the time-out
	failing bool
	logged  time.Time
}

// ended is a channel of something that has ended.
var ended = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// begin runs the check if its result is too old, and returns a channel that is closed when there
// is a result.
func (k *kept) begin(ctx context.Context) <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.running != nil {
		return k.running // closed if the call is late: its failure is the result until it ends
	}
	keep := k.keep
	if k.err != nil {
		keep = min(keep, keepFailure)
	}
	if !k.at.IsZero() && time.Since(k.at) < keep {
		return ended
	}
	running := make(chan struct{})
	k.running = running
	// The call is for all requests that wait: it does not end with this one.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), k.timeout)
	stop := context.AfterFunc(ctx, func() { k.note(ctx, running, fmt.Errorf("no answer within %s", k.timeout), true) })
	end := func(err error) {
		stop()
		k.note(ctx, running, err, false)
		cancel()
	}
	flight.Beside(ctx, func() { end(k.Run(ctx)) }, end)
	return running
}

// note stores a result. late says that the call has not ended yet.
func (k *kept) note(ctx context.Context, running chan struct{}, err error, late bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.running != running {
		return // it has ended already
	}
	wasLate := k.late
	k.err, k.at, k.late = err, time.Now(), late
	if !wasLate {
		close(running)
	}
	if !late {
		k.running = nil
	}
	k.report(ctx)
}

// report logs what has changed.
func (k *kept) report(ctx context.Context) {
	level := slog.LevelWarn
	if k.Required {
		level = slog.LevelError
	}
	switch {
	case k.err != nil && (!k.failing || time.Since(k.logged) >= quiet):
		k.log.LogAttrs(ctx, level, "pintle: a health check fails",
			slog.String("code", "HealthCheckFailed"), slog.String("check", k.Name), slog.Bool("required", k.Required), slog.Any("error", k.err))
		k.logged = time.Now()
	case k.err == nil && k.failing:
		k.log.LogAttrs(ctx, slog.LevelInfo, "pintle: a health check works again",
			slog.String("code", "HealthCheckWorks"), slog.String("check", k.Name))
	}
	k.failing = k.err != nil
}

// works reports whether there is a result, and it is a success.
func (k *kept) works() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.at.IsZero() && k.err == nil
}
