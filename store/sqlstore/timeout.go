package sqlstore

import (
	"context"
	"sync/atomic"
	"time"
)

// statementTimeout caps every statement. Package database/sql has no limit: a
// database that accepts statements and never answers would hold one request
// after another until its browser leaves.
const statementTimeout = 10 * time.Second

// withStatementTimeout returns a context for one statement.
func withStatementTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, statementTimeout)
}

// inTime runs a step of a transaction, which end ends if it takes too long.
func inTime(end context.CancelFunc, step func() error) error {
	late := time.AfterFunc(statementTimeout, end)
	err := step()
	if !late.Stop() && err != nil {
		return context.DeadlineExceeded
	}
	return err
}

// sharedDeadlines lets the look-ups of the same few seconds share one timer. A
// timer for each would cost more than the rest of the work for a look-up. They
// end after one to one and a half times statementTimeout.
type sharedDeadlines struct {
	now atomic.Pointer[sharedDeadline]
}

type sharedDeadline struct {
	context.Context
	cancel context.CancelFunc
	until  time.Time // when the next one begins
}

// of returns the context for a look-up on behalf of a request.
//
// A look-up that was sent is not cancelled when the browser leaves: drivers
// would have to close the connection, and a client that sends requests and drops
// them could force us to open a new one for each. A shorter deadline of the host
// applies as it is.
func (s *sharedDeadlines) of(request context.Context) context.Context {
	now := time.Now()
	if at, bounded := request.Deadline(); bounded && at.Before(now.Add(statementTimeout)) {
		return request
	}
	current := s.now.Load()
	if current == nil || !now.Before(current.until) {
		next := &sharedDeadline{until: now.Add(statementTimeout / 2)}
		next.Context, next.cancel = context.WithDeadline(context.Background(), next.until.Add(statementTimeout))
		if s.now.CompareAndSwap(current, next) {
			current = next
		} else { // another request began it
			next.cancel()
			current = s.now.Load()
		}
	}
	return &lookupContext{current, request}
}

// lookupContext ends with its deadline and has the values of its request.
type lookupContext struct {
	*sharedDeadline
	request context.Context
}

// Value looks in the deadline first: package context finds the parent of a
// context by a private key, and starts a goroutine to watch any other parent.
func (c *lookupContext) Value(key any) any {
	if v := c.sharedDeadline.Value(key); v != nil {
		return v
	}
	return c.request.Value(key)
}
