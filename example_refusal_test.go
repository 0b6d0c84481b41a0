package pintle_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
)

// A nightly job calls the API of the company's provider for each user. For a user who has
// left the company, the provider refuses new tokens, and the user's sessions here end.
func ExampleOAuth_endSessionsOnRefusal() {
	idp := authtest.NewIdentityProvider(authtest.Options{AutoConsent: true, TokenLifetime: time.Second})
	if err := idp.Listen(); err != nil {
		log.Fatal(err)
	}
	defer idp.Close()

	company := idp.OIDC("company")
	company.Authorization.Params = map[string]string{"scope": "openid profile offline_access"}
	company.EndSessionsOnRefusal = true
	var user string
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{company},
		Secrets:   []string{"the output of openssl rand -base64 33"},
		Store:     memstore.New(),
		Getenv:    func(string) string { return "" }, // nothing but what is here
		Events: pintle.Events{
			SignIn: func(_ context.Context, e *pintle.SignInEvent) error {
				user = e.User.ID
				return nil
			},
			ProviderSignOut: func(_ context.Context, e *pintle.SignOutEvent) error {
				fmt.Println(e.Provider, "refuses the user:", e.Refused, "sessions ended:", e.Ended)
				return nil
			},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.Handle("/", auth.Load(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		fmt.Println("signed in:", pintle.SessionFrom(r.Context()) != nil)
	})))
	site := httptest.NewServer(mux)
	defer site.Close()

	jar, _ := cookiejar.New(nil)
	browser := &http.Client{Jar: jar}
	signIn(browser, site.URL, "company") // which ends at the home page

	idp.Break(authtest.TokenInvalidGrant) // as for a user who was disabled
	_, err = auth.Refresh(context.Background(), &pintle.Account{Provider: "company", UserID: user})
	fmt.Println("sign in again:", errors.Is(err, pintle.ErrNoRefresh))

	answer, err := browser.Get(site.URL)
	if err != nil {
		log.Fatal(err)
	}
	answer.Body.Close()
	// Output:
	// signed in: true
	// company refuses the user: true sessions ended: 1
	// sign in again: true
	// signed in: false
}
