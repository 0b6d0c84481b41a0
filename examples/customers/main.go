// Command customers is a service whose customers sign in with identity providers of their own. It
// has their connections in SQLite, and needs a provider that is on the internet:
//
//	go run ./examples/customers -add acme -issuer https://acme.okta.com -client-id ID -client-secret SECRET -domain acme.example
//	go run ./examples/customers
//
// Register http://localhost:3000/auth/callback/sso-acme there as the callback URL, and sign in
// with an address of the domain.
package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"html"
	"log"
	"net/http"
	"os"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite", in Go alone

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/connection"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/throttle"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:3000", "loopback `address` to listen on")
	file := flag.String("db", "customers.db", "`file` of the database")
	c := &connection.Connection{Version: time.Now().UnixMicro()}
	domain := ""
	flag.StringVar(&c.ID, "add", "", "add the connection of a customer with this `id`")
	flag.StringVar(&c.Issuer, "issuer", "", "`URL` of the customer's provider")
	flag.StringVar(&c.ClientID, "client-id", "", "client `id` at the provider")
	flag.StringVar(&c.ClientSecret, "client-secret", "", "client `secret` at the provider")
	flag.StringVar(&domain, "domain", "", "`domain` that the customer has proven to own")
	flag.Parse()
	c.Domains = []string{domain}

	db, err := openDatabase(*file)
	if err != nil {
		log.Fatal(err)
	}
	customers, err := newSource(context.Background(), db, keyOf(os.Getenv("CUSTOMERS_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	if c.ID != "" {
		if err := customers.put(context.Background(), c); err != nil {
			log.Fatal(err)
		}
		return
	}
	auth, err := pintle.New(config(customers))
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

func openDatabase(file string) (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(5000)&_pragma=foreign_keys(1)&_txlock=immediate")
}

// keyOf returns the key of a secret with many random bits. A real service has it from the place
// where it keeps its secrets.
func keyOf(secret string) []byte {
	key := sha256.Sum256([]byte(secret))
	return key[:]
}

// config has no providers but those of the customers.
func config(customers connection.Source) pintle.Config {
	guard := &throttle.Guard{} // limits searches for customers
	return pintle.Config{
		Connections: guard.Connections(connection.Config{Source: customers}),
		Callbacks:   pintle.Callbacks{SignIn: onlyMembers},
		Secrets:     []string{rand.Text() + rand.Text()}, // sessions end with the program
		Store:       memstore.New(),
	}
}

// onlyMembers admits users whose address is in a domain that the customer has proven. A real
// service puts the user into the tenant of the customer here.
func onlyMembers(_ context.Context, a *pintle.SignInAttempt) (redirect string, err error) {
	if a.Connection == "" || !a.VerifiedDomain {
		return "", errors.New("the user is no member of the customer")
	}
	return "", nil
}

// site is the application.
func site(auth *pintle.Auth) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.Handle("GET /{$}", auth.Require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, page, html.EscapeString(pintle.SessionFrom(r.Context()).User.Email))
	})))
	return auth.Load(mux)
}

const page = `<!DOCTYPE html><title>Service</title><p>Hello, %s. <a href="/auth/signout">Sign out</a>`
