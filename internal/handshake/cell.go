package handshake

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/pintleauth/pintle/internal/flight"
)

// A cell caches one document of a provider. Concurrent sign-ins share one fetch.
// Failures are not cached.
type cell[T any] struct {
	mu      sync.Mutex
	value   T
	fetched time.Time // zero: no document yet
	renewed time.Time // last time renew fetched

	fetching flight.Group[T]
}

// get returns the document, fetching it if it is older than age.
func (c *cell[T]) get(ctx context.Context, age time.Duration, fetch func(context.Context) (T, error)) (T, error) {
	c.mu.Lock()
	value, fresh := c.value, !c.fetched.IsZero() && time.Since(c.fetched) < age
	c.mu.Unlock()
	if fresh {
		return value, nil
	}
	return c.load(ctx, fetch)
}

var errTooSoon = errors.New("fetched again a moment ago")

// renew fetches the document although it is fresh, unless renew did so within
// pause: a token with an unknown key id, which an attacker can make up, must not
// cause a request each time.
func (c *cell[T]) renew(ctx context.Context, pause time.Duration, fetch func(context.Context) (T, error)) (T, error) {
	c.mu.Lock()
	if !c.renewed.IsZero() && time.Since(c.renewed) < pause {
		value := c.value
		c.mu.Unlock()
		return value, errTooSoon
	}
	c.renewed = time.Now()
	c.mu.Unlock()
	return c.load(ctx, fetch)
}

// load shares one fetch among all callers that wait for it. Cancelling the request
// that started the fetch does not end it; only the time-out of the client does.
func (c *cell[T]) load(ctx context.Context, fetch func(context.Context) (T, error)) (T, error) {
	return c.fetching.Do(ctx, "", func(ctx context.Context) (T, error) {
		value, err := fetch(ctx)
		if err != nil {
			var none T
			return none, err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.value, c.fetched = value, time.Now()
		return value, nil
	})
}
