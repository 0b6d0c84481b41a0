package twoprocesses

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/sharedstate"
)

// sharedRaces are what the processes decide together in the shared state.
var sharedRaces = []race{
	{call: "Once", prepare: aKey, wins: 1, lost: conflict, left: isDecided("Once")},
	{call: "Lease", prepare: aKey, wins: 1, lost: conflict, left: isDecided("Lease")},
	{call: "Take", prepare: aKey, wins: limit, lost: conflict, unnumbered: true, left: isDecided("Take")},
}

func aKey(_ context.Context, _ accountstore.Store, o *order) error {
	_, _ = rand.Read(o.Key[:]) // never fails
	o.Limit = limit
	return nil
}

// decide makes a call of the shared state and reports whether it won.
func decide(ctx context.Context, shared sharedstate.Store, o order) (won bool, err error) {
	switch o.Call {
	case "Once":
		return shared.Once(ctx, o.Key, o.At.Add(time.Hour))
	case "Lease":
		var owner sharedstate.Owner
		_, _ = rand.Read(owner[:]) // never fails
		return shared.Lease(ctx, o.Key, owner, time.Hour)
	default:
		wait, err := shared.Take(ctx, o.Key, sharedstate.Rate{Burst: o.Limit, Every: time.Hour})
		return wait == 0, err
	}
}

// isDecided makes the call once more, which must not win.
func isDecided(call string) func(ctx context.Context, rows accountstore.Store, o *order) error {
	return func(ctx context.Context, rows accountstore.Store, o *order) error {
		if won, err := decide(ctx, rows.(sharing).shared, *o); err != nil || won {
			return fmt.Errorf("afterwards %s returns %t, %w", call, won, err)
		}
		return nil
	}
}

// RPT-4: of 64 calls of two processes one uses a key, and one has the lease; a limit lets as
// many pass as it says.
func TestOfTwoProcessesOneIsTheFirst(t *testing.T) { inTwoProcesses(t, sharedRaces) }
