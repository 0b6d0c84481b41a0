// Command chi shows sign-in in an application that is written with chi:
//
//	go run ./examples/chi
//
// Sign in as kim with the password "open sesame", or with the identity provider
// it brings.
package main

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"html"
	"io"
	"log"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/throttle"
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
	log.Printf("open http://%s", *addr)
	server := &http.Server{
		Addr: *addr, Handler: site(auth),
		// A client that sends or reads slowly must not hold a connection forever.
		ReadTimeout: 20 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
	}
	log.Fatal(server.ListenAndServe())
}

// site is the application.
func site(auth *pintle.Auth) http.Handler {
	r := chi.NewRouter()
	r.Use(auth.Load)
	r.Handle("/auth/*", auth)
	r.Get("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, home) })
	r.With(auth.Require).Get("/account", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, account, html.EscapeString(pintle.SessionFrom(r.Context()).User.Name))
	})
	return r
}

const home = `<!DOCTYPE html><title>Home</title><p>Hello, guest. <a href="/account">Your account</a>`

const account = `<!DOCTYPE html><title>Account</title><p>Hello, %s. <a href="/auth/signout">Sign out</a>`

// config signs in kim with a password, and any user with the local identity
// provider.
func config(idp *authtest.IdentityProvider) pintle.Config {
	guard := &throttle.Guard{} // limits guesses
	return pintle.Config{
		Providers: []pintle.Provider{
			guard.Credentials(&pintle.Credentials{Name: "a password", Authorize: checkPassword}, "username"),
			idp.OIDC("local"),
		},
		Secrets: []string{rand.Text() + rand.Text()}, // sessions end with the program
		Store:   memstore.New(),
		Session: pintle.SessionConfig{Strategy: pintle.StrategyJWT},
	}
}

// checkPassword stands for a table of users and their hashes; see package
// password.
func checkPassword(_ context.Context, s *pintle.Submission) (*pintle.User, error) {
	if s.Text("username") != "kim" || s.Text("password") != "open sesame" {
		return nil, nil // wrong credentials
	}
	return &pintle.User{ID: "1", Name: "Kim"}, nil
}
