package sqlstore

import (
	"context"
	"sync/atomic"
	"time"
)

// patience is how long a statement may take, whatever its caller would wait.
// Package database/sql has no limit, and a database that takes statements and
// answers none would hold requests until their browsers are gone, and then the
// next ones.
const patience = 10 * time.Second

// patiently returns a context for one statement.
func patiently(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, patience)
}

// inTime runs a step of a transaction, which end ends if it takes too long.
func inTime(end context.CancelFunc, step func() error) error {
	late := time.AfterFunc(patience, end)
	err := step()
	if !late.Stop() && err != nil {
		return context.DeadlineExceeded
	}
	return err
}

// shifts are the contexts of look-ups. A timer for each would cost more than
// the rest of what we do for one, so that those of a few seconds share one, and
// are ended between one and one and a half times patience.
type shifts struct{ now atomic.Pointer[shift] }

type shift struct {
	context.Context
	cancel context.CancelFunc
	until  time.Time // when the next one begins
}

// of returns the context for a look-up on behalf of a request.
//
// A look-up that was sent is not taken back when the browser leaves: drivers
// would have to close the connection, and somebody who sends requests and drops
// them could make us do nothing but open new ones. What the host bounds itself
// ends when the host says so.
func (s *shifts) of(request context.Context) context.Context {
	now := time.Now()
	if at, bounded := request.Deadline(); bounded && at.Before(now.Add(patience)) {
		return request
	}
	current := s.now.Load()
	if current == nil || !now.Before(current.until) {
		next := &shift{until: now.Add(patience / 2)}
		next.Context, next.cancel = context.WithDeadline(context.Background(), next.until.Add(patience))
		if s.now.CompareAndSwap(current, next) {
			current = next
		} else { // somebody else began it
			next.cancel()
			current = s.now.Load()
		}
	}
	return &onShift{current, request}
}

// onShift ends with its shift and has the values of its request.
type onShift struct {
	*shift
	request context.Context
}

// The shift is asked first: package context finds by a key of its own which
// context ends this one, and would watch with a goroutine if it were another's.
func (c *onShift) Value(key any) any {
	if v := c.shift.Value(key); v != nil {
		return v
	}
	return c.request.Value(key)
}
