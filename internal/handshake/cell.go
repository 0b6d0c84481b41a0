package handshake

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pintleauth/pintle/internal/flight"
)

// A cell caches one document of a provider. Concurrent sign-ins share one fetch. If that
// hangs, they make another request beside it from time to time: the connection may be dead,
// and the provider may answer again.
//
// While the provider does not answer, an older copy serves for a time. A failure is
// remembered for a time that doubles with each one, so that requests do not each
// wait for a provider that is down. Nothing runs between requests.
type cell[T any] struct {
	mu      sync.Mutex
	value   T
	fresh   time.Duration // of value: how long it needs no renewal
	fetched time.Time     // zero: no document yet

	before   T         // the copy that value replaced
	from, to time.Time // when before was current; zero: there is none

	failure error         // of the last fetch; nil after a success
	pause   time.Duration // from a failure to the next fetch
	failed  time.Time
	warned  time.Time // of this failure

	sent     time.Time    // when the request for value was sent
	underWay int          // requests, also those of fetches that have ended
	fetching *fetching[T] // nil: no fetch is under way
}

// A fetching is a fetch that callers wait for. It succeeds with any of its requests, and
// fails with the first one.
type fetching[T any] struct {
	began, latest time.Time // when the first and the latest request was sent
	done          chan struct{}

	// Known when done is closed.
	value T
	err   error
}

// A source is where the document of a cell comes from.
type source[T any] struct {
	fetch func(context.Context) (fetched[T], error)

	// stale is the age until which a copy serves whose renewal fails.
	stale time.Duration

	// warn is told about a failure while an older copy serves, at most every
	// warnPause. It may be nil.
	warn func(ctx context.Context, since time.Time, err error)
}

// A fetched is a document, and how long it is fresh.
type fetched[T any] struct {
	value T
	fresh time.Duration
}

// errHook is remembered as the failure if fetch panics.
var errHook = errors.New("a function of the provider's configuration panicked")

// get returns the document, fetching it if it is no longer fresh.
func (c *cell[T]) get(ctx context.Context, s source[T]) (T, error) {
	now := time.Now()
	c.mu.Lock()
	value, failure, age := c.value, c.failure, now.Sub(c.fetched)
	known := !c.fetched.IsZero()
	fresh, usable := known && age < min(c.fresh, s.stale), known && age < s.stale
	resting, probing := c.resting(now), c.fetching != nil && (failure != nil || now.Sub(c.fetching.began) >= slowFetch)
	c.mu.Unlock()
	switch {
	case fresh, usable && (resting || probing):
		// One request finds out whether the provider is back.
		return value, nil
	case resting:
		var none T
		return none, failure
	case !usable:
		return c.load(ctx, s)
	}
	patience, cancel := context.WithTimeoutCause(ctx, slowFetch, errSlow)
	defer cancel()
	renewed, err := c.join(patience, s).wait(patience, nil)
	if err != nil && ctx.Err() == nil {
		c.tell(ctx, s, err)
		return value, nil
	}
	return renewed, err
}

var errSlow = fmt.Errorf("the provider has not answered for %v", slowFetch)

// resting reports whether the last fetch failed so short a time ago that the next
// one has to wait.
func (c *cell[T]) resting(now time.Time) bool { return c.failure != nil && now.Sub(c.failed) < c.pause }

// at returns the copy that the present one replaced, if that copy was current at t.
func (c *cell[T]) at(t time.Time) (before T, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.before, !c.from.IsZero() && !t.Before(c.from) && t.Before(c.to.Truncate(time.Second))
}

// tell reports that an older copy serves because of err.
func (c *cell[T]) tell(ctx context.Context, s source[T], err error) {
	c.mu.Lock()
	since, due := c.fetched, s.warn != nil && (c.warned.IsZero() || time.Since(c.warned) >= warnPause)
	if due {
		c.warned = time.Now()
	}
	c.mu.Unlock()
	if due {
		s.warn(ctx, since, err)
	}
}

var errTooSoon = errors.New("fetched again a moment ago")

// renew fetches the document although it is fresh, if a allows it: a token with an
// unknown key id, which an attacker can make up, must not cause a request each
// time. After a failure it waits as get does.
func (c *cell[T]) renew(ctx context.Context, a *allowance, l limit, s source[T]) (T, error) {
	now := time.Now()
	c.mu.Lock()
	if c.resting(now) || now.Sub(c.fetched) < l.young || !a.take(now, l.pause) {
		value := c.value
		c.mu.Unlock()
		return value, errTooSoon
	}
	c.mu.Unlock()
	return c.load(ctx, s)
}

// A limit is how often a document is fetched because of requests that anyone can
// make: not within pause of the last such fetch, nor while the copy is younger than
// young.
type limit struct{ pause, young time.Duration }

// An allowance is when a limit was last used. The mutex of its cell guards it.
type allowance struct{ taken time.Time }

// take uses the allowance up, and reports whether there was one.
func (a *allowance) take(now time.Time, pause time.Duration) bool {
	if !a.taken.IsZero() && now.Sub(a.taken) < pause {
		return false
	}
	a.taken = now
	return true
}

// load shares one fetch among all callers that wait for it. Cancelling the request
// that started the fetch does not end it; only the time-out of the client does.
func (c *cell[T]) load(ctx context.Context, s source[T]) (T, error) {
	f := c.join(ctx, s)
	return f.wait(ctx, func() { c.again(ctx, f, s) })
}

// join returns the fetch that is under way, or begins one.
func (c *cell[T]) join(ctx context.Context, s source[T]) *fetching[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fetching == nil {
		c.fetching = &fetching[T]{began: time.Now(), done: make(chan struct{})}
		c.send(ctx, c.fetching, s)
	}
	return c.fetching
}

// again makes another request for a fetch whose latest one is slow.
func (c *cell[T]) again(ctx context.Context, f *fetching[T], s source[T]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fetching == f && time.Since(f.latest) >= slowFetch && c.underWay < maxFetches {
		c.send(ctx, f, s)
	}
}

// wait returns the outcome of a fetch, or the cause if ctx ends first. It calls slow, if that
// is not nil, whenever no request has been answered for slowFetch.
func (f *fetching[T]) wait(ctx context.Context, slow func()) (T, error) {
	var tick <-chan time.Time
	if slow != nil {
		ticker := time.NewTicker(slowFetch)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-f.done:
			return f.value, f.err
		case <-ctx.Done():
			var none T
			return none, context.Cause(ctx)
		case <-tick:
			slow()
		}
	}
}

// send makes a request for a fetch. The mutex is locked.
func (c *cell[T]) send(ctx context.Context, f *fetching[T], s source[T]) {
	ctx = context.WithoutCancel(ctx)
	sent, first := time.Now(), f.latest.IsZero()
	f.latest = sent
	c.underWay++
	flight.Beside(ctx, func() {
		got, err := s.fetch(ctx)
		c.land(f, sent, first, got, err, err)
	}, func(crash error) { c.land(f, sent, first, fetched[T]{}, errHook, crash) })
}

// land notes the outcome of a request. kept is the failure to remember, and err the one for
// the callers that wait.
func (c *cell[T]) land(f *fetching[T], sent time.Time, first bool, got fetched[T], kept, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.underWay--
	switch {
	case err == nil && !sent.Before(c.sent): // else a later request has brought a document
		c.keep(got)
		c.sent = sent
		c.finish(got.value, nil) // which may have begun after the fetch of this request failed
	case err != nil && c.fetching == f && first:
		c.fail(kept)
		c.finish(got.value, err)
	}
}

// finish ends the fetch that is under way, if there is one.
func (c *cell[T]) finish(value T, err error) {
	if c.fetching == nil {
		return
	}
	c.fetching.value, c.fetching.err = value, err
	close(c.fetching.done)
	c.fetching = nil
}

// keep stores a document.
func (c *cell[T]) keep(f fetched[T]) {
	now := time.Now()
	c.before, c.from, c.to = c.value, c.fetched, now
	c.value, c.fresh, c.fetched = f.value, f.fresh, now
	c.failure, c.pause, c.warned = nil, 0, time.Time{}
}

// fail remembers a failure. It leaves the copy that is there.
func (c *cell[T]) fail(err error) {
	c.failure, c.failed, c.pause = err, time.Now(), min(max(2*c.pause, failurePause), maxFailurePause)
}
