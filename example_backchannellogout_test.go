package pintle_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
)

// The identity provider ends the sessions of a user at this site. Its server posts a logout
// token, without the browser.
func ExampleOAuth_backChannelLogout() {
	idp := authtest.NewIdentityProvider(authtest.Options{AutoConsent: true})
	if err := idp.Listen(); err != nil {
		log.Fatal(err)
	}
	defer idp.Close()

	company := idp.OIDC("company")
	company.BackChannelLogout = true
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{company},
		Secrets:   []string{"the output of openssl rand -base64 33"},
		Store:     memstore.New(),
		Getenv:    func(string) string { return "" }, // nothing but what is here
		Events: pintle.Events{ProviderSignOut: func(_ context.Context, e *pintle.SignOutEvent) error {
			fmt.Println(e.Provider, "has ended sessions:", e.Ended)
			return nil
		}},
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

	answer, err := http.PostForm(site.URL+"/auth/backchannel-logout/company", url.Values{
		"logout_token": {idp.LogoutToken(company.ClientID, nil)},
	})
	if err != nil {
		log.Fatal(err)
	}
	answer.Body.Close()

	if answer, err = browser.Get(site.URL); err != nil {
		log.Fatal(err)
	}
	answer.Body.Close()
	// Output:
	// signed in: true
	// company has ended sessions: 1
	// signed in: false
}

// signIn is what a browser does whose user chooses a provider.
func signIn(browser *http.Client, site, provider string) {
	answer, err := browser.Get(site + "/auth/csrf")
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	var form struct{ CSRFToken string }
	if err := json.NewDecoder(answer.Body).Decode(&form); err != nil {
		log.Fatal(err)
	}
	if answer, err = browser.PostForm(site+"/auth/signin/"+provider, url.Values{"csrfToken": {form.CSRFToken}}); err != nil {
		log.Fatal(err)
	}
	answer.Body.Close()
}
