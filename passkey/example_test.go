package passkey_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/passkey"
	"github.com/pintleauth/pintle/passkey/passkeytest"
	"github.com/pintleauth/pintle/store/memstore"
)

// Users of other providers add passkeys and sign in with them.
func ExampleNew() {
	keys := passkey.New(passkey.Options{
		RPID:    "example.com",
		Origins: []string{"https://example.com", "https://app.example.com"},
	})
	keys.SignInOnly = true

	auth, err := pintle.New(pintle.Config{
		Providers:            []pintle.Provider{keys},
		Store:                memstore.New(),
		Secrets:              []string{"replace me by: openssl rand -base64 33"},
		URL:                  "https://app.example.com",
		ExperimentalPasskeys: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("/auth/", auth)
}

// Tests of an application sign in without a browser.
func Example_test() {
	auth, err := pintle.New(pintle.Config{
		Providers:            []pintle.Provider{passkey.New(passkey.Options{})},
		Store:                memstore.New(),
		Secrets:              []string{"a secret for tests, 32 characters or more"},
		ExperimentalPasskeys: true,
		Getenv:               func(string) string { return "" },
	})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.Handle("/", auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println("hello,", pintle.SessionFrom(r.Context()).User.Email)
	})))
	srv := httptest.NewServer(mux)
	defer srv.Close()

	jar, _ := cookiejar.New(nil)
	client := &http.Client{Jar: jar}
	key := passkeytest.New()
	resp, err := key.SignIn(context.Background(), client, srv.URL+"/auth/callback/passkey", url.Values{"email": {"ada@example.com"}})
	if err != nil {
		log.Fatal(err)
	}
	resp.Body.Close()
	// Output: hello, ada@example.com
}
