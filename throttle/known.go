package throttle

import (
	"context"
	"fmt"
	"time"

	"github.com/pintleauth/pintle/internal/tally"
	"github.com/pintleauth/pintle/sharedstate"
)

// knownRate is how the shared state keeps that a client has signed in: as a count that is 15 to
// 30 days ahead after each sign-in.
var knownRate = sharedstate.Rate{Burst: 2, Every: 15 * 24 * time.Hour}

// renewKnown is how often a process tells the shared state of a client that signs in often.
const renewKnown = 24 * time.Hour

func (g *Guard) knownName(at string) string { return fmt.Sprintf("%s %q %s", ofKnown, g.Name, at) }

// remembers makes a client known to all processes.
func (g *Guard) remembers(ctx context.Context, at string) {
	age, here := g.known.notedFor(at)
	if here && age < renewKnown {
		return
	}
	g.known.note(at, 0)
	if shared := tally.From(ctx); shared != nil {
		ctx, cancel := tally.Bound(ctx)
		defer cancel()
		shared.Take(ctx, g.knownName(at), knownRate)
	}
}

// knownElsewhere reports whether a client that is not known to this process is known to
// another.
func (g *Guard) knownElsewhere(ctx context.Context, at string) bool {
	shared := tally.From(ctx)
	if shared == nil {
		return false
	}
	ctx, cancel := tally.Bound(ctx)
	defer cancel()
	if !shared.Ahead(ctx, g.knownName(at)) {
		return false
	}
	g.known.note(at, renewKnown)
	return true
}
