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
	told := time.Duration(0)
	if shared := tally.From(ctx); shared != nil {
		if _, counted := shared.Take(ctx, g.knownName(at), knownRate); !counted {
			told = renewKnown // the next sign-in tells the shared state
		}
	}
	g.known.note(at, told)
}

// knownElsewhere reports whether a client that is not known to this process is known to
// another. A client that is not is looked up once in [tally.Recheck]: it could cause any number
// of look-ups, because the limit of the account rejects it before it counts for its own.
func (g *Guard) knownElsewhere(ctx context.Context, at string) bool {
	shared := tally.From(ctx)
	if shared == nil {
		return false
	}
	if age, ok := g.unknown.notedFor(at); ok && age < tally.Recheck {
		return false
	}
	known, found := shared.Ahead(ctx, g.knownName(at))
	switch {
	case known:
		g.known.note(at, renewKnown)
	case found:
		g.unknown.note(at, 0)
	}
	return known
}
