package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// listen listens on addr, or else on a free port beside it. It rejects addresses
// that other machines can reach: the passwords are on the page, and the identity
// provider does not verify its users.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(host); host != "localhost" && !ip.IsLoopback() {
		return nil, fmt.Errorf("-addr %s: use a loopback address, such as 127.0.0.1:3000", addr)
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", addr)
	if err != nil {
		return config.Listen(ctx, "tcp", net.JoinHostPort(host, "0"))
	}
	return listener, nil
}

// name returns an address with a host name: passkeys belong to a name and do not
// work at an IP address.
func name(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err == nil && (host == "127.0.0.1" || host == "::1") {
		return net.JoinHostPort("localhost", port)
	}
	return addr.String()
}

// serve serves requests until the program is interrupted, and gives those under way
// two seconds.
func serve(l net.Listener, h http.Handler) error {
	server := &http.Server{
		Handler: h,
		// A client that sends or reads slowly must not hold a connection forever.
		ReadTimeout: 20 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	stopped := make(chan error, 1)
	go func() {
		<-stop
		last, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		_ = server.Shutdown(last) // fails when a browser holds on to a connection
		stopped <- server.Close()
	}()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}
