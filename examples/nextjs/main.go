// Command nextjs shows sign-in in a Next.js application whose /api/auth is served
// by a Go program:
//
//	go run ./examples/nextjs
//
// It needs Node.js 20 or later with npm. Sign in as kim with the password "open
// sesame", or with its local identity provider. Read config.go first.
package main

import (
	"context"
	"crypto/rand"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

func main() {
	addr := flag.String("addr", "localhost:3000", "`address` of the Next.js application")
	web := flag.String("web", "examples/nextjs/web", "`folder` of the Next.js application")
	flag.Parse()
	if err := run(*addr, *web); err != nil {
		log.Fatal(err)
	}
}

// run starts Pintle where only this machine can reach it, and Next.js in front.
func run(addr, web string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	idp := authtest.NewIdentityProvider(authtest.Options{Name: "Local identity provider"})
	if err := idp.Listen(); err != nil {
		return err
	}
	defer idp.Close()
	addr, err := freeAddress(ctx, addr)
	if err != nil {
		return err
	}
	site, secret := "http://"+addr, rand.Text()+rand.Text() // sessions end with the program
	auth, err := pintle.New(config(idp, site, secret))
	if err != nil {
		return err
	}
	var network net.ListenConfig
	listener, err := network.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: auth,
		// A client that sends or reads slowly must not hold a connection forever.
		ReadTimeout: 20 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
	}
	defer server.Close()
	go func() { _ = server.Serve(listener) }() // until Close

	app := &nextApp{dir: web, env: []string{"AUTH_SECRET=" + secret, "PINTLE_URL=http://" + listener.Addr().String()}}
	err = app.build(ctx)
	if err == nil {
		err = app.serve(ctx, addr)
	}
	if ctx.Err() != nil {
		return nil // it was interrupted
	}
	return err
}

// freeAddress returns addr with a free port in place of 0. Pintle needs the site's
// address before Next.js listens there.
func freeAddress(ctx context.Context, addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port != "0" {
		return addr, err
	}
	var network net.ListenConfig
	listener, err := network.Listen(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	_, port, err = net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return "", err
	}
	return net.JoinHostPort(host, port), listener.Close()
}
