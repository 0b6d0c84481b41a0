package authtest

import (
	"context"
	"fmt"
	"net"
	"net/netip"
)

// listenLoopback listens on addr, which must be an IP address of this machine
// only and a port.
func listenLoopback(addr string) (net.Listener, error) {
	ap, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, fmt.Errorf("authtest: listen: %q is not an IP address and port: %w", addr, err)
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
