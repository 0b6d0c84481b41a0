package pintleotel

import (
	"context"
	"time"

	"github.com/pintleauth/pintle/sharedstate"
)

// A shared is a shared state with a span for each call.
type shared struct {
	sharedstate.Store
	t *telemetry
}

func (w shared) calls() caller { return caller{t: w.t} }

func (w shared) Once(ctx context.Context, key sharedstate.Key, until time.Time) (first bool, err error) {
	return get(ctx, w.calls(), "SharedState.Once", func(ctx context.Context) (bool, error) { return w.Store.Once(ctx, key, until) })
}

func (w shared) Lease(ctx context.Context, key sharedstate.Key, owner sharedstate.Owner, d time.Duration) (held bool, err error) {
	return get(ctx, w.calls(), "SharedState.Lease", func(ctx context.Context) (bool, error) { return w.Store.Lease(ctx, key, owner, d) })
}

func (w shared) Release(ctx context.Context, key sharedstate.Key, owner sharedstate.Owner) error {
	return w.calls().do(ctx, "SharedState.Release", func(ctx context.Context) error { return w.Store.Release(ctx, key, owner) })
}

func (w shared) Take(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) (wait time.Duration, err error) {
	return get(ctx, w.calls(), "SharedState.Take", func(ctx context.Context) (time.Duration, error) { return w.Store.Take(ctx, key, r) })
}

func (w shared) Wait(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) (wait time.Duration, err error) {
	return get(ctx, w.calls(), "SharedState.Wait", func(ctx context.Context) (time.Duration, error) { return w.Store.Wait(ctx, key, r) })
}

func (w shared) GiveBack(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) error {
	return w.calls().do(ctx, "SharedState.GiveBack", func(ctx context.Context) error { return w.Store.GiveBack(ctx, key, r) })
}
