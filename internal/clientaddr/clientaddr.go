package throttle

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// connection returns the address of a request's connection.
func connection(r *http.Request) netip.Addr { return parse(r.RemoteAddr) }

// Forwarded returns a function for [Guard.Address]. It takes the address of the
// connection unless that is one of the given proxies; then the last address in
// X-Forwarded-For that is none of theirs, because what stands before it was
// written by whoever sent the request.
//
//	guard := &throttle.Guard{Address: throttle.Forwarded(netip.MustParsePrefix("10.0.0.0/8"))}
func Forwarded(proxies ...netip.Prefix) func(*http.Request) netip.Addr {
	trusted := func(a netip.Addr) bool {
		return slices.ContainsFunc(proxies, func(p netip.Prefix) bool { return p.Contains(a) })
	}
	return func(r *http.Request) netip.Addr {
		client := connection(r)
		said := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		for _, hop := range slices.Backward(said) {
			if !trusted(client) {
				return client
			}
			next := parse(strings.TrimSpace(hop))
			if !next.IsValid() {
				return client
			}
			client = next
		}
		return client
	}
}

// parse reads an address with or without a port, as both are found in practice.
// What is neither is not valid.
func parse(text string) netip.Addr {
	if with, err := netip.ParseAddrPort(text); err == nil {
		return with.Addr().Unmap().WithZone("")
	}
	a, _ := netip.ParseAddr(strings.Trim(text, "[]"))
	return a.Unmap().WithZone("")
}
