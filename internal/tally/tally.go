// Package tally counts attempts in the shared state of a site, for the limits of package
// throttle. The counts of a request are in its context: a limit is a function of the
// application, which receives nothing else that knows of the shared state.
package tally

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"sync"
	"time"

	"github.com/pintleauth/pintle/internal/flight"
	"github.com/pintleauth/pintle/sharedstate"
)

const (
	// patience is how long one call waits for the shared state.
	patience = time.Second

	// rest is how long a shared state that has failed is not called.
	rest = 2 * time.Second

	// queueing is how long an attempt waits for its turn. Attempts that come faster than the
	// shared state counts them are rejected then: they are guesses.
	queueing = 5 * time.Second

	// Recheck is how long a process keeps a negative result of the shared state. An attempt
	// that another process gives back could otherwise end a refusal long before this process
	// learns of it.
	Recheck = 10 * time.Second

	// quiet is the least time between two records of a shared state that fails.
	quiet = time.Minute
)

// A Store is the part of a [sharedstate.Store] that counts.
type Store interface {
	Take(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) (time.Duration, error)
	Wait(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) (time.Duration, error)
	GiveBack(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) error
}

// Counts are the counts of one site, or of one of its tenants. They may be used
// concurrently.
type Counts struct {
	store Store
	key   []byte
	log   *slog.Logger

	mu     sync.Mutex
	logged time.Time // when a failure was logged
	lacks  bool      // the store has no counts
	next   time.Time // when the store may be called after a failure; zero if it works
	turns  map[sharedstate.Key]*turn
}

// A turn lets one attempt at a time of this process be counted under a name. Calls for one
// name wait for one another in a database, which locks the row: of many, most would end
// without a result, and count in this process alone.
type turn struct {
	free    chan struct{} // has an element while no attempt is being counted
	callers int
	refused time.Time // until when the attempts that wait are rejected
}

// New returns the counts that all processes with the same store, the same first secret and the
// same tenant have in common. It returns nil without a store, and without a secret.
func New(store Store, secrets []string, tenant string, log *slog.Logger) *Counts {
	if v := reflect.ValueOf(store); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() || len(secrets) == 0 {
		return nil
	}
	return &Counts{store: store, key: sum([]byte(secrets[0]), "pintle counts\x00"+tenant), log: log}
}

func sum(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write([]byte(text)) // never fails
	return h.Sum(nil)
}

// keyOf returns the key of a name. It depends on a secret: a reader of the database could
// find a plain hash of an address by trying all of them.
func (c *Counts) keyOf(name string) sharedstate.Key { return sharedstate.Key(sum(c.key, name)) }

type contextKey struct{}

// With returns a context in which limits count with c, or as before if c is nil.
func With(ctx context.Context, c *Counts) context.Context {
	if c == nil {
		return ctx
	}
	return context.WithValue(ctx, contextKey{}, c)
}

// From returns the counts of a context, or nil if each process counts alone.
func From(ctx context.Context) *Counts {
	c, _ := ctx.Value(contextKey{}).(*Counts)
	if c == nil || !c.counting() {
		return nil
	}
	return c
}

func (c *Counts) counting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.lacks
}

// Take counts an attempt under a name and returns zero, or returns how long to wait. counted
// is false if the store has failed: the attempt may count or not.
//
// The count does not end with the request: a client could otherwise close its connection so
// that the shared state does not count the attempt.
func (c *Counts) Take(ctx context.Context, name string, r sharedstate.Rate) (wait time.Duration, counted bool) {
	key := c.keyOf(name)
	t := c.arrive(key)
	defer c.leave(key, t)
	late := time.NewTimer(queueing)
	defer late.Stop()
	select {
	case <-t.free:
	case <-late.C:
		return time.Second, true
	}
	defer func() { t.free <- struct{}{} }()
	if wait := time.Until(t.refused); wait > 0 {
		return wait, true
	}
	wait, counted = c.call(ctx, func(ctx context.Context) (time.Duration, error) { return c.store.Take(ctx, key, r) })
	if counted && wait > 0 {
		t.refused = time.Now().Add(min(wait, Recheck))
	}
	return wait, counted
}

func (c *Counts) arrive(key sharedstate.Key) *turn {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.turns[key]
	if t == nil {
		t = &turn{free: make(chan struct{}, 1)}
		t.free <- struct{}{}
		if c.turns == nil {
			c.turns = map[sharedstate.Key]*turn{}
		}
		c.turns[key] = t
	}
	t.callers++
	return t
}

func (c *Counts) leave(key sharedstate.Key, t *turn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.callers--; t.callers == 0 {
		delete(c.turns, key)
	}
}

// Ahead reports whether a name has a count. known is false if the store has failed.
func (c *Counts) Ahead(ctx context.Context, name string) (ahead, known bool) {
	key := c.keyOf(name)
	wait, known := c.call(ctx, func(ctx context.Context) (time.Duration, error) {
		return c.store.Wait(ctx, key, sharedstate.Rate{Burst: 1, Every: time.Millisecond})
	})
	return known && wait > 0, known
}

// GiveBack removes an attempt that was counted.
func (c *Counts) GiveBack(ctx context.Context, name string, r sharedstate.Rate) {
	key := c.keyOf(name)
	c.call(ctx, func(ctx context.Context) (time.Duration, error) { return 0, c.store.GiveBack(ctx, key, r) })
}

// call calls the store, unless that has just failed, and reports whether there is a result
// within the time that an attempt waits. Not every client of a database ends a call with its
// context: go-redis does so with ContextTimeoutEnabled.
func (c *Counts) call(ctx context.Context, f func(context.Context) (time.Duration, error)) (time.Duration, bool) {
	if !c.may() {
		return 0, false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	type result struct {
		wait time.Duration
		err  error
	}
	results := make(chan result, 1)
	flight.Beside(ctx, func() {
		wait, err := f(ctx)
		results <- result{wait, err}
	}, func(err error) { results <- result{err: err} })
	var r result
	select {
	case r = <-results:
	case <-ctx.Done():
		r.err = fmt.Errorf("no answer within %s: %w", patience, ctx.Err())
	}
	return r.wait, c.worked(ctx, r.err)
}

// may reports whether the store may be called. After a failure one call at a time finds out
// whether it works again, so that attempts do not each wait for it.
func (c *Counts) may() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next.IsZero() {
		return true
	}
	now := time.Now()
	if now.Before(c.next) {
		return false
	}
	c.next = now.Add(patience + rest)
	return true
}

// note stores whether the store works.
func (c *Counts) note(works bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next = time.Time{}
	if !works {
		c.next = time.Now().Add(rest)
	}
}

// worked reports whether there is no error, and logs one in a minute. It logs once that a
// store has no counts, which is not called again.
func (c *Counts) worked(ctx context.Context, err error) bool {
	c.note(err == nil)
	if err == nil {
		return true
	}
	lacks := errors.Is(err, errors.ErrUnsupported)
	if !c.report(lacks) {
		return false
	}
	if lacks {
		c.log.LogAttrs(ctx, slog.LevelWarn, "pintle: the shared state has no counts, so each process counts attempts alone",
			slog.String("code", "NoSharedCounts"), slog.Any("error", err),
			slog.String("fix", "implement Take, Wait and GiveBack of sharedstate.Store"))
		return false
	}
	c.log.LogAttrs(ctx, slog.LevelWarn, "pintle: the shared state does not count, so each process counts attempts alone until it does",
		slog.String("code", "SharedCountsFailed"), slog.Any("error", err),
		slog.String("fix", "look whether the database of the shared state can be reached, and whether its tables are migrated"))
	return false
}

// report reports whether a failure is logged.
func (c *Counts) report(lacks bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.lacks || !lacks && !c.logged.IsZero() && now.Sub(c.logged) < quiet {
		return false
	}
	c.lacks, c.logged = lacks, now
	return true
}
