// Package clientaddr finds the address of the client that sent a request.
package clientaddr

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/pintleauth/pintle/internal/loopback"
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

// Unlisted returns the address of the connection if that may be a proxy which is missing
// from a list: it is of this machine or of its network, and a header names a client, as
// proxies do. header is the name of it. Otherwise the address is invalid.
//
// A framework may have replaced the address of the connection by that of the client, which
// then is in X-Forwarded-For, too. On this machine a browser has the same address as the proxy.
func Unlisted(r *http.Request, proxies []netip.Prefix) (peer netip.Addr, header string) {
	switch {
	case r.Header.Get("X-Forwarded-For") != "":
		header = "X-Forwarded-For"
	case r.Header.Get("Forwarded") != "":
		header = "Forwarded"
	default:
		return netip.Addr{}, ""
	}
	peer = Connection(r)
	here := loopback.Host(peer.String())
	if !here && !peer.IsPrivate() && !peer.IsLinkLocalUnicast() ||
		slices.ContainsFunc(proxies, func(p netip.Prefix) bool { return p.Contains(peer) }) {
		return netip.Addr{}, ""
	}
	if !here {
		for entry := range strings.SplitSeq(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",") {
			if parse(strings.TrimSpace(entry)) == peer {
				return netip.Addr{}, ""
			}
		}
	}
	return peer, header
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
