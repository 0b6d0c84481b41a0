package throttle

import (
	"context"
	"fmt"
	"time"

	"github.com/pintleauth/pintle/internal/tally"
	"github.com/pintleauth/pintle/sharedstate"
)

// The kinds of names, as the processes of a site know them. Another word begins a new count.
const (
	ofPair          = "account and client"
	ofClient        = "client"
	ofAccount       = "account"
	ofKnown         = "known client"
	ofDevice        = "device"
	ofDeviceAccount = "devices of an account"
	ofMailbox       = "mailbox"
	ofMailClient    = "client for mails"
	ofDomain        = "domain"
	ofSearchClient  = "client for searches"
)

// An attempt is to be counted under a name, with a limit.
type attempt struct {
	counts *counts
	kind   string
	name   string
	limit  Limit

	// shared says that the shared state counts the attempt. It is false if the outcome of the
	// call is unknown: to give such an attempt back could allow one more than the limit.
	shared bool
}

func (l Limit) rate() sharedstate.Rate { return sharedstate.Rate{Burst: l.Burst, Every: l.Every} }

// sharedName returns the name of an attempt among those of all guards of the site. The limit
// is a part of it: with a count of another limit, which is further ahead, a client would wait
// for what it has not done.
func (g *Guard) sharedName(a attempt) string {
	return fmt.Sprintf("%s %q %d %d %s", a.kind, g.Name, a.limit.Burst, a.limit.Every, a.name)
}

// take counts all attempts and returns zero. If one is beyond its limit, it counts
// none of them, and returns the counts that reject it and how long to wait.
//
// This process counts first. What it rejects causes no call of the shared state, and its limits
// hold while the shared state fails.
func (g *Guard) take(ctx context.Context, all []attempt) (refusing *counts, wait time.Duration) {
	if refusing, wait = takeHere(all); wait > 0 {
		return refusing, wait
	}
	return g.takeShared(ctx, all)
}

// takeHere is take for this process.
func takeHere(all []attempt) (refusing *counts, wait time.Duration) {
	for i, a := range all {
		if wait := a.counts.take(a.name, a.limit); wait > 0 {
			giveBackHere(all[:i])
			return a.counts, wait
		}
	}
	return nil, 0
}

// takeShared is take for the shared state, of attempts that this process has counted.
func (g *Guard) takeShared(ctx context.Context, all []attempt) (refusing *counts, wait time.Duration) {
	shared := tally.From(ctx)
	if shared == nil {
		return nil, 0
	}
	for i := range all {
		a := &all[i]
		if a.limit.Burst < 0 {
			continue
		}
		wait, counted := shared.Take(ctx, g.sharedName(*a), a.limit.rate())
		if !counted {
			return nil, 0 // the limits of this process hold
		}
		if wait > 0 {
			g.giveBack(ctx, all)
			a.counts.refuse(a.name, wait)
			return a.counts, wait
		}
		a.shared = true
	}
	return nil, 0
}

func giveBackHere(counted []attempt) {
	for _, a := range counted {
		a.counts.giveBack(a.name, a.limit, a.shared)
	}
}

// giveBack removes attempts that were counted.
func (g *Guard) giveBack(ctx context.Context, counted []attempt) {
	giveBackHere(counted)
	shared := tally.From(ctx)
	if shared == nil {
		return
	}
	for i := range counted {
		if a := &counted[i]; a.shared {
			shared.GiveBack(ctx, g.sharedName(*a), a.limit.rate())
			a.shared = false
		}
	}
}
