package pintle

import (
	"net/http"

	"github.com/pintleauth/pintle/internal/publicnet"
)

// PublicNetworkClient returns a client for [Config.HTTPClient] that connects to
// public addresses only. Use it where the host does not choose the providers, for
// example where a customer enters an issuer: its metadata can name any URL as the
// token endpoint, which would then receive requests from inside the network of
// the host, with the client's credentials.
//
// It refuses loopback, private, link-local, carrier-grade NAT, multicast and other
// special addresses, the metadata services of clouds among them. It looks at the
// address of each connection and not at names, which may resolve to another
// address the next time. It does not use the proxy of the environment, and a
// request takes at most 10 seconds.
//
// [OAuth.HTTPClient] replaces it, and issuers at http://localhost cannot be reached
// through it either.
func PublicNetworkClient() *http.Client {
	return &http.Client{Transport: publicnet.Transport(nil), Timeout: outgoingTimeout}
}
