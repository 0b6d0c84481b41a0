package pintle_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
)

// Users agree to the terms of use before their first session begins. The page knows
// the user by the pending sign-in: there is no session yet.
func ExampleAuth_CompleteSignIn() {
	// In production this is the provider's server.
	idp := authtest.NewIdentityProvider(authtest.Options{AutoConsent: true})
	if err := idp.Listen(); err != nil {
		log.Fatal(err)
	}
	defer idp.Close()
	idp.SignInAs(authtest.Person{Subject: "42", Name: "Kim"})

	store := memstore.New()
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{idp.OIDC("sso")},
		Store:     store,
		Callbacks: pintle.Callbacks{
			Hold: func(_ context.Context, p *pintle.PendingSignIn) (string, error) {
				if agreed, _ := p.User.Extra["terms"].(string); agreed != "2026-11" {
					return "/terms", nil
				}
				return "", nil
			},
		},
		Secrets: []string{"the output of openssl rand -base64 33"},
		Getenv:  func(string) string { return "" }, // nothing but what is here
	})
	if err != nil {
		log.Fatal(err)
	}

	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) {
		next, err := auth.SignIn(w, r, "sso", pintle.SignInOptions{RedirectTo: "/inbox"})
		if err != nil {
			http.Error(w, "try again later", http.StatusInternalServerError)
			return
		}
		http.Redirect(w, r, next, http.StatusSeeOther)
	})
	mux.HandleFunc("GET /terms", func(w http.ResponseWriter, r *http.Request) {
		p, err := auth.PendingSignIn(r)
		switch {
		case err != nil:
			http.Error(w, "try again later", http.StatusServiceUnavailable)
		case p == nil:
			http.Redirect(w, r, "/login", http.StatusSeeOther) // it took too long
		default:
			fmt.Fprintf(w, "%s, do you agree?", p.User.Name)
		}
	})
	mux.HandleFunc("POST /terms", func(w http.ResponseWriter, r *http.Request) {
		p, err := auth.PendingSignIn(r)
		if err != nil || p == nil {
			http.Redirect(w, r, "/login", http.StatusSeeOther)
			return
		}
		agreed := pintle.UserUpdate{Extra: map[string]any{"terms": "2026-11"}}
		if _, err := store.UpdateUser(r.Context(), p.User.ID, agreed); err != nil {
			http.Error(w, "try again later", http.StatusInternalServerError)
			return
		}
		next, err := auth.CompleteSignIn(w, r, pintle.CompleteOptions{})
		if err != nil {
			http.Redirect(w, r, "/login", http.StatusSeeOther)
			return
		}
		http.Redirect(w, r, next, http.StatusSeeOther)
	})
	mux.Handle("GET /inbox", auth.Require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "welcome, %s", pintle.SessionFrom(r.Context()).User.Name)
	})))
	protected := http.NewCrossOriginProtection().Handler(mux) // for POST /terms
	app := httptest.NewServer(protected)
	defer app.Close()

	jar, _ := cookiejar.New(nil) // which never fails without options
	browser := &http.Client{Jar: jar}
	for _, load := range []func() (*http.Response, error){
		func() (*http.Response, error) { return browser.Get(app.URL + "/login") },
		func() (*http.Response, error) { return browser.PostForm(app.URL+"/terms", nil) },
	} {
		resp, err := load()
		if err != nil {
			log.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		fmt.Printf("%s: %s\n", resp.Request.URL.Path, text)
	}
	// Output:
	// /terms: Kim, do you agree?
	// /inbox: welcome, Kim
}
