// Command jsonapi shows sign-in in a JSON API and in an application on the user's
// computer that uses it:
//
//	go run ./examples/jsonapi
//	go run ./examples/jsonapi -app
//
// The first is the API. The second is the application: it opens the browser, where
// you sign in as kim with the password "open sesame" or with the identity provider
// of the API. Read config.go first.
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/throttle"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:3000", "loopback `address` of the API")
	app := flag.Bool("app", false, "be the application")
	flag.Parse()
	log.SetFlags(0)
	run := serve
	if *app {
		run = useAPI
	}
	if err := run(*addr); err != nil {
		log.Fatal(err)
	}
}

// serve runs the API.
func serve(addr string) error {
	idp := authtest.NewIdentityProvider(authtest.Options{Name: "Local identity provider"})
	if err := idp.Listen(); err != nil {
		return err
	}
	store := memstore.New()
	if _, err := store.CreateUser(context.Background(), &kim); err != nil {
		return err
	}
	guard := &throttle.Guard{}
	passwords := newPasswords(store, guard)
	auth, err := pintle.New(config(store, passwords, idp))
	if err != nil {
		return err
	}
	var network net.ListenConfig
	listener, err := network.Listen(context.Background(), "tcp", addr)
	if err != nil {
		return err
	}
	log.Printf("the API is at http://%s", listener.Addr())
	server := &http.Server{
		Handler: newAPI(auth, passwords),
		// A client that sends or reads slowly must not hold a connection forever.
		ReadTimeout: 20 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
	}
	return server.Serve(listener)
}

// useAPI signs in, requests the user from the API, and signs out.
func useAPI(addr string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute) // long enough for a user to find a password
	defer cancel()
	session, err := signIn(ctx, "http://"+addr, openBrowser)
	if err != nil {
		return err
	}
	name, err := session.me(ctx)
	if err != nil {
		return err
	}
	log.Printf("The API returns your name: %s.", name)
	return session.end(ctx)
}
