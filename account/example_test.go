package account_test

import (
	"context"
	"log"
	"net/http"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/store/memstore"
)

// An application with sign-up and passwords. The sign-in page is at /auth/signin.
func Example() {
	var send func(context.Context, *pintle.Message) error // of package smtp, or your own
	accounts := account.New(account.Options{From: "App <no-reply@app.example.com>", Mail: send})
	auth, err := pintle.New(pintle.Config{Store: memstore.New(), URL: "https://app.example.com", Accounts: accounts})
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("/auth/", auth)
	http.Handle("/.well-known/change-password", accounts.ChangePasswordHandler())
	http.Handle("/", auth.Require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("Hello " + pintle.SessionFrom(r.Context()).User.Email))
	})))
}
