package pintle

import (
	"net/http"
	"net/netip"

	"github.com/pintleauth/pintle/internal/clientaddr"
)

// ForwardedFor returns a function for [Config.ClientAddress] of an application
// behind proxies. It takes the address of the connection unless that is one of
// the given proxies. Then it takes the last address in X-Forwarded-For that is
// not a proxy's, because the client can write anything before that one.
//
//	ClientAddress: pintle.ForwardedFor(netip.MustParsePrefix("10.0.0.0/8")),
func ForwardedFor(proxies ...netip.Prefix) func(*http.Request) netip.Addr {
	return clientaddr.Forwarded(proxies...)
}

// clientAddress returns the address of the client that sent a request, for the
// log and for limits. An unknown address is invalid.
func (s *settings) clientAddress(r *http.Request) netip.Addr {
	if s.ClientAddress == nil {
		return clientaddr.Connection(r)
	}
	return clientaddr.Normal(s.ClientAddress(r))
}
