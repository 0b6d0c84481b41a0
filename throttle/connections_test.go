package throttle_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/connection"
	"github.com/pintleauth/pintle/throttle"
)

// RPX-113. Searches for a connection are limited for each client and for each domain,
// whether or not the domain is one of a connection.
func TestSearchesAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		passed := 0
		guard := &throttle.Guard{SearchesPerDomain: throttle.Limit{Burst: 4, Every: time.Minute}, SearchesPerClient: throttle.Limit{Burst: 3, Every: time.Minute}}
		c := guard.Connections(connection.Config{
			Prefix: "idp-",
			Allow:  func(context.Context, *connection.Lookup) error { passed++; return nil },
		})
		search := func(client, domain string) error {
			return c.Allow(t.Context(), &connection.Lookup{Client: netip.MustParseAddr(client), Domain: domain})
		}
		for i := range 3 {
			if err := search("192.0.2.1", fmt.Sprint(i, ".example")); err != nil {
				t.Errorf("search %d: %v", i, err)
			}
		}
		var refused *pintle.Error
		err := search("192.0.2.1", "corp.example")
		if !errors.As(err, &refused) || refused.Code != "ConnectionNotFound" || refused.Detail != "too_many_attempts" || refused.RetryAfter != time.Minute || !errors.Is(err, throttle.ErrTooMany) {
			t.Errorf("beyond the limit of the client: %v", err)
		}
		for i := range 4 {
			if err := search(fmt.Sprint("192.0.2.", 10+i), "corp.example"); err != nil {
				t.Errorf("a refused search counts for the domain: %v", err)
			}
		}
		if err := search("192.0.2.20", "corp.example"); !errors.Is(err, throttle.ErrTooMany) {
			t.Errorf("beyond the limit of the domain: %v", err)
		}
		if passed != 7 || c.Prefix != "idp-" {
			t.Errorf("Allow of the host was called %d times, want 7", passed)
		}
		time.Sleep(time.Minute)
		if err := search("192.0.2.1", "corp.example"); err != nil {
			t.Errorf("a minute later: %v", err)
		}
	})
}
