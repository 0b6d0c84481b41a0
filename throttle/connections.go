package throttle

import (
	"context"
	"fmt"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/connection"
)

// Connections returns a configuration of connections in which searches by an address stay
// within the limits of the guard. One beyond a limit is rejected before the source is
// called, and whether or not the domain is one of a connection. c.Allow runs for searches
// within the limits.
func (g *Guard) Connections(c connection.Config) connection.Config {
	allow := c.Allow
	c.Limited = true
	c.Allow = func(ctx context.Context, l *connection.Lookup) error {
		client := client(l.Client)
		_, wait := g.take(ctx, []attempt{
			{counts: &g.searchedDomains, kind: ofDomain, name: l.Domain, limit: g.SearchesPerDomain.or(300, time.Second)},
			{counts: &g.searchClients, kind: ofSearchClient, name: client, limit: g.SearchesPerClient.or(100, 6*time.Second)},
		})
		if wait > 0 {
			return &pintle.Error{
				Code: pintle.Code("ConnectionNotFound"), Detail: detail, RetryAfter: wait,
				Err: fmt.Errorf("%w from %s: the next search is possible in %s", ErrTooMany, client, wait.Round(time.Second)),
			}
		}
		if allow == nil {
			return nil
		}
		return allow(ctx, l)
	}
	return c
}
