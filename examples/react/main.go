// Command react shows sign-in in a page that is written with React and an unchanged
// next-auth/react:
//
//	go run ./examples/react
//
// Sign in as kim with the password "open sesame", or with its local identity
// provider. Read config.go first.
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:3000", "loopback `address` to listen on")
	flag.Parse()
	idp := authtest.NewIdentityProvider(authtest.Options{Name: "Local identity provider"})
	if err := idp.Listen(); err != nil {
		log.Fatal(err)
	}
	auth, err := pintle.New(config(idp))
	if err != nil {
		log.Fatal(err)
	}
	var network net.ListenConfig
	listener, err := network.Listen(context.Background(), "tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("open http://%s", listener.Addr())
	server := &http.Server{
		Handler: site(auth),
		// A client that sends or reads slowly must not hold a connection forever.
		ReadTimeout: 20 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
	}
	log.Fatal(server.Serve(listener))
}
