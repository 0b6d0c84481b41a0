// Package tally counts attempts in the shared state of a site, for the limits of package
// throttle. The counts of a request are in its context: a limit is a function of the
// application, which receives nothing else that knows of the shared state.
package tally

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"log/slog"
	"reflect"
	"sync"
	"time"

	"github.com/pintleauth/pintle/sharedstate"
)

// patience is how long one attempt waits for the shared state.
const patience = time.Second

// quiet is the least time between two records of a shared state that fails.
const quiet = time.Minute

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

// Bound returns the context for the calls of one attempt. It ends after one second, and not
// with the request: a client could otherwise close its connection so that the shared state
// does not count the attempt.
func Bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), patience)
}

// Take counts an attempt under a name and returns zero, or returns how long to wait. counted
// is false if the store has failed: the attempt may count or not.
func (c *Counts) Take(ctx context.Context, name string, r sharedstate.Rate) (wait time.Duration, counted bool) {
	wait, err := c.store.Take(ctx, c.keyOf(name), r)
	return wait, c.worked(ctx, err)
}

// Ahead reports whether a name has a count, and false if the store has failed.
func (c *Counts) Ahead(ctx context.Context, name string) bool {
	wait, err := c.store.Wait(ctx, c.keyOf(name), sharedstate.Rate{Burst: 1, Every: time.Millisecond})
	return c.worked(ctx, err) && wait > 0
}

// GiveBack removes an attempt that was counted.
func (c *Counts) GiveBack(ctx context.Context, name string, r sharedstate.Rate) {
	c.worked(ctx, c.store.GiveBack(ctx, c.keyOf(name), r))
}

// worked reports whether there is no error, and logs one in a minute. It logs once that a
// store has no counts, which is not called again.
func (c *Counts) worked(ctx context.Context, err error) bool {
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
