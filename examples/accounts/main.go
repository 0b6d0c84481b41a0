// Command accounts shows an application that runs its own accounts: sign-up by mail,
// passwords, second factors, and a page that asks for a fresh proof.
//
//	go run ./examples/accounts
//
// Mails are printed on the terminal, and users are kept in memory.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/store/memstore"
)

func main() {
	const address = "localhost:3000"
	site, err := newSite("http://"+address, func(_ context.Context, m *pintle.Message) error {
		fmt.Printf("To: %s\nSubject: %s\n\n%s\n", m.To, m.Subject, m.Text)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("open http://%s", address)
	log.Fatal(http.ListenAndServe(address, site)) //nolint:gosec // a demonstration on this machine
}

func newSite(url string, send func(context.Context, *pintle.Message) error) (http.Handler, error) {
	accounts := account.New(account.Options{From: "Demo <no-reply@localhost>", Mail: send})
	auth, err := pintle.New(pintle.Config{
		URL:      url,
		Secrets:  []string{rand.Text() + rand.Text()}, // yours stays the same: AUTH_SECRET
		Store:    memstore.New(),
		Accounts: accounts,
	})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.Handle("/", auth.Require(http.HandlerFunc(home)))
	mux.Handle("/vault", accounts.Demand(account.Demand{MaxAge: 5 * time.Minute, Strongest: true}, http.HandlerFunc(vault)))
	return mux, nil
}

func home(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "Hello, %s. Your account is at /auth/account, and your vault at /vault.\n", pintle.SessionFrom(r.Context()).User.Email)
}

func vault(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "The vault is open.") }
