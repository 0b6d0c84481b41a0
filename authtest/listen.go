package authtest

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// listenLoopback listens on addr, which must be localhost or an IP address of this
// machine only, and a port.
func listenLoopback(addr string) (net.Listener, error) {
	if port, is := strings.CutPrefix(addr, "localhost:"); is {
		addr = "127.0.0.1:" + port // the name may have other addresses
	}
	ap, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, fmt.Errorf("authtest: listen: %q is not localhost or an IP address with a port: %w", addr, err)
	}
	if !ap.Addr().IsLoopback() {
		return nil, fmt.Errorf("authtest: listen on %s: only loopback addresses are allowed, because the server does not verify its users", addr)
	}
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("authtest: %w", err)
	}
	return listener, nil
}
