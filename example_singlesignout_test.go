package pintle_test

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

// A user who signs out of the site is signed out at the identity provider, too, and comes
// back.
func ExampleOAuth_singleSignOut() {
	idp := authtest.NewIdentityProvider(authtest.Options{AutoConsent: true})
	if err := idp.Listen(); err != nil {
		log.Fatal(err)
	}
	defer idp.Close()

	company := idp.OIDC("company")
	company.EndSessionAtProvider = true
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{company},
		Secrets:   []string{"the output of openssl rand -base64 33"},
		Getenv:    func(string) string { return "" }, // nothing but what is here
	})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.Handle("/", auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "signed in:", pintle.SessionFrom(r.Context()) != nil)
	})))
	site := httptest.NewServer(mux)
	defer site.Close()

	jar, _ := cookiejar.New(nil)
	browser := &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		fmt.Println("to", r.URL.Path)
		return nil
	}}
	// post sends the form of a page, with its token.
	post := func(path, next string) {
		answer, err := browser.Get(site.URL + "/auth/csrf")
		if err != nil {
			log.Fatal(err)
		}
		defer answer.Body.Close()
		var form struct{ CSRFToken string }
		if err := json.NewDecoder(answer.Body).Decode(&form); err != nil {
			log.Fatal(err)
		}
		answer, err = browser.PostForm(site.URL+path, url.Values{"csrfToken": {form.CSRFToken}, "callbackUrl": {next}})
		if err != nil {
			log.Fatal(err)
		}
		answer.Body.Close()
	}
	post("/auth/signin/company", "/welcome")
	post("/auth/signout", "/goodbye")
	// Output:
	// to /authorize
	// to /auth/callback/company
	// to /welcome
	// to /logout
	// to /auth/signout/company
	// to /goodbye
}
