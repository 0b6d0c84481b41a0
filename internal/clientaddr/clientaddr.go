// Package clientaddr finds the address of the client that sent a request.
package clientaddr

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Connection returns the address of a request's connection. The result is
// invalid if the server does not know the address, as with Unix sockets.
func Connection(r *http.Request) netip.Addr { return parse(r.RemoteAddr) }

// Forwarded returns a function that returns the address of the connection,
// unless that is one of the given proxies. Then it returns the last address in
// X-Forwarded-For that is not a proxy's: the client can write anything before it.
func Forwarded(proxies ...netip.Prefix) func(*http.Request) netip.Addr {
	if len(proxies) == 0 {
		return Connection
	}
	proxies = slices.Clone(proxies)
	trusted := func(a netip.Addr) bool {
		return slices.ContainsFunc(proxies, func(p netip.Prefix) bool { return p.Contains(a) })
	}
	return func(r *http.Request) netip.Addr {
		client := Connection(r)
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

// Normal returns an address in one spelling: IPv4 in IPv6 as IPv4, and without
// a zone.
func Normal(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// parse reads an address with or without a port, as both are found in practice.
// Anything else gives an invalid address.
func parse(text string) netip.Addr {
	if with, err := netip.ParseAddrPort(text); err == nil {
		return Normal(with.Addr())
	}
	a, _ := netip.ParseAddr(strings.Trim(text, "[]"))
	return Normal(a)
}
