package sqlstore

import (
	"context"
	"sync/atomic"
)

// turns lets as many look-ups into a pool as it has connections. The others wait
// here, where the wait ends with a context, and then find a connection without
// one. A wait in the pool takes the context along into the statement: the driver
// watches it, and under load each look-up takes three times as long.
type turns struct {
	now atomic.Pointer[chan struct{}]
}

// take waits for a turn in a pool of so many connections. The caller gives the turn
// back by reading from places. The wait ends with ctx, or with the deadline if that is
// sooner.
func (t *turns) take(ctx context.Context, deadlines *sharedDeadlines, connections int) (places <-chan struct{}, waited bool, err error) {
	now := t.now.Load()
	if now == nil || cap(*now) != connections {
		// Look-ups that have a turn give it back to the former channel.
		sized := make(chan struct{}, connections)
		t.now.CompareAndSwap(now, &sized)
		now = t.now.Load()
	}
	select {
	case *now <- struct{}{}:
		return *now, false, nil
	default:
	}
	look := deadlines.of(ctx)
	select {
	case *now <- struct{}{}:
		return *now, true, nil
	case <-ctx.Done():
		return nil, true, ctx.Err()
	case <-look.Done():
		return nil, true, look.Err()
	}
}
