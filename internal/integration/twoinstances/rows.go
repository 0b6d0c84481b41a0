// Package twoinstances makes one store of two instances that share a database, so that a
// race between goroutines is one between processes.
package twoinstances

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/pintleauth/pintle/accountstore"
)

// Rows returns the rows of two instances. calls is shared by all rows of one store: every
// other call that changes a row goes to the second instance.
func Rows(first, second accountstore.Store, calls *atomic.Int64) accountstore.Store {
	return rows{first, second, calls}
}

type rows struct {
	accountstore.Store
	second accountstore.Store
	calls  *atomic.Int64
}

func (r rows) next() accountstore.Store {
	if r.calls.Add(1)%2 == 0 {
		return r.second
	}
	return r.Store
}

func (r rows) ChangeState(ctx context.Context, s *accountstore.State) error {
	return r.next().ChangeState(ctx, s)
}

func (r rows) CountFailure(ctx context.Context, userID string, at time.Time, window time.Duration, limit int) (accountstore.Failures, error) {
	return r.next().CountFailure(ctx, userID, at, window, limit)
}

func (r rows) AddFactor(ctx context.Context, f *accountstore.Factor) error {
	return r.next().AddFactor(ctx, f)
}

func (r rows) ReplaceFactor(ctx context.Context, f *accountstore.Factor) error {
	return r.next().ReplaceFactor(ctx, f)
}

func (r rows) AdvanceFactor(ctx context.Context, userID, kind, id string, step int64, used time.Time) error {
	return r.next().AdvanceFactor(ctx, userID, kind, id, step, used)
}

func (r rows) DeleteFactor(ctx context.Context, userID, kind, id string) error {
	return r.next().DeleteFactor(ctx, userID, kind, id)
}

func (r rows) AttemptFlow(ctx context.Context, id accountstore.Hash, limit int) (int, error) {
	return r.next().AttemptFlow(ctx, id, limit)
}

func (r rows) ChangeFlow(ctx context.Context, f *accountstore.Flow) error {
	return r.next().ChangeFlow(ctx, f)
}

func (r rows) UseFlow(ctx context.Context, id accountstore.Hash, kind string) (*accountstore.Flow, error) {
	return r.next().UseFlow(ctx, id, kind)
}
