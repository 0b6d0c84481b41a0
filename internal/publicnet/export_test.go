package publicnet

import (
	"net"
	"net/http"
	"syscall"
)

// TransportTo is [Transport] with a function in the place of connections to addresses
// that are not refused.
func TransportTo(connect func(address string) error, resolver *net.Resolver, ports ...int) http.RoundTripper {
	return newTransport(&net.Dialer{Resolver: resolver, Control: func(network, address string, c syscall.RawConn) error {
		if err := refuse(network, address, c); err != nil {
			return err
		}
		return connect(address)
	}}, ports)
}

// UsesProxy reports whether a transport would connect to a proxy.
func UsesProxy(t http.RoundTripper) bool { return t.(*transport).base.Proxy != nil }
