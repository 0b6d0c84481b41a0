package twoinstances

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/pintleauth/pintle/sharedstate"
)

// SharedState returns the shared state of two instances: every other call goes to the
// second.
func SharedState(first, second sharedstate.Store) sharedstate.Store {
	return &sharedState{states: [2]sharedstate.Store{first, second}}
}

type sharedState struct {
	sharedstate.Unimplemented
	states [2]sharedstate.Store
	calls  atomic.Int64
}

func (s *sharedState) next() sharedstate.Store { return s.states[s.calls.Add(1)%2] }

func (s *sharedState) Once(ctx context.Context, key sharedstate.Key, until time.Time) (bool, error) {
	return s.next().Once(ctx, key, until)
}

func (s *sharedState) Lease(ctx context.Context, key sharedstate.Key, owner sharedstate.Owner, d time.Duration) (bool, error) {
	return s.next().Lease(ctx, key, owner, d)
}

func (s *sharedState) Take(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
	return s.next().Take(ctx, key, r)
}

func (s *sharedState) Wait(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
	return s.next().Wait(ctx, key, r)
}

func (s *sharedState) GiveBack(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) error {
	return s.next().GiveBack(ctx, key, r)
}

// Sweep sweeps if the instances have to be swept.
func (s *sharedState) Sweep(ctx context.Context, before time.Time, limit int) (int, error) {
	swept, ok := s.next().(interface {
		Sweep(ctx context.Context, before time.Time, limit int) (int, error)
	})
	if !ok {
		return 0, ctx.Err()
	}
	return swept.Sweep(ctx, before, limit)
}

func (s *sharedState) Release(ctx context.Context, key sharedstate.Key, owner sharedstate.Owner) error {
	return s.next().Release(ctx, key, owner)
}
