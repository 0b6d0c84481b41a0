package pintle_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/store/memstore"
)

// A page has the user sign in at the provider once more before something that matters. A
// browser in which the user is still signed in there does not do.
func ExampleAuth_SignIn_confirm() {
	store := memstore.New()
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.OAuth{
			ID: "acme", Protocol: oauth.OIDC, Issuer: "https://idp.example", ClientID: "app", ClientSecret: "secret",
			Authorization: oauth.Endpoint{URL: "https://idp.example/authorize"},
		}},
		Store: store, Secrets: []string{secret}, Getenv: noEnv,
		Session: pintle.SessionConfig{RecordAuthentication: true},
	})
	if err != nil {
		log.Fatal(err)
	}
	// The page that matters, behind Auth.Load and Auth.Require.
	keys := func(w http.ResponseWriter, r *http.Request) {
		proofs := pintle.SessionFrom(r.Context()).Authentication.Proofs
		if time.Since(proofs["fed"]) > 10*time.Minute {
			http.Redirect(w, r, "/confirm", http.StatusSeeOther) // a page with a form
			return
		}
		_, _ = io.WriteString(w, "the keys")
	}
	// What the form is posted to. The provider sends the browser back to RedirectTo, with
	// error=StepUp if it did not ask this user.
	confirm := func(w http.ResponseWriter, r *http.Request) {
		next, err := auth.SignIn(w, r, "acme", pintle.SignInOptions{Confirm: true, RedirectTo: "/keys"})
		if err != nil {
			http.Error(w, "Please sign in.", http.StatusForbidden)
			return
		}
		http.Redirect(w, r, next, http.StatusSeeOther)
	}
	_ = keys

	// Ada came by acme, an hour ago.
	ada, err := store.CreateUser(context.Background(), &pintle.User{Name: "Ada"})
	if err != nil {
		log.Fatal(err)
	}
	w := httptest.NewRecorder()
	how := pintle.Authentication{Time: time.Now().Add(-time.Hour), Provider: "acme", Methods: []string{"fed"}}
	if _, _, err := auth.StartSession(w, httptest.NewRequest(http.MethodPost, "http://localhost/", nil), ada, pintle.StartOptions{Authentication: how}); err != nil {
		log.Fatal(err)
	}
	r := withCookies(w)
	w = httptest.NewRecorder()
	confirm(w, r)
	to, err := url.Parse(w.Header().Get("Location"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(w.Code, to.Host, to.Query().Get("prompt"), to.Query().Get("max_age"))
	// Output: 303 idp.example login 0
}

// A page has the user prove with a passkey that it is them. Its script fetches the options,
// calls navigator.credentials.get, and posts the answer as JSON.
func ExampleAuth_BeginPasskeyConfirmation() {
	var auth *pintle.Auth // of pintle.New
	options := func(w http.ResponseWriter, r *http.Request) {
		o := pintle.SignInOptions{RequireUserVerification: true}
		options, err := auth.BeginPasskeyConfirmation(w, r, "passkey", o)
		if err != nil {
			http.Error(w, "There is no passkey to confirm with.", http.StatusForbidden)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(options)
	}
	confirm := func(w http.ResponseWriter, r *http.Request) {
		answer, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
		if err == nil {
			_, err = auth.FinishPasskeyConfirmation(w, r, "passkey", answer)
		}
		if err != nil {
			http.Error(w, "That did not work. Try again.", http.StatusForbidden)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /confirm/options", options)
	mux.HandleFunc("POST /confirm", confirm)
}

// A new user has typed the code of a mail, and creates a passkey. The row of the sign-up
// has the address, and an id for the user that was chosen with it.
func ExampleAuth_BeginPasskeySignUp() {
	var auth *pintle.Auth                        // of pintle.New
	var proven func(*http.Request) *pintle.User  // reads the row of the sign-up in this browser
	var useUp func(*http.Request) (removed bool) // removes it
	options := func(w http.ResponseWriter, r *http.Request) {
		u := proven(r)
		if u == nil {
			http.Error(w, "Type the code of the mail first.", http.StatusForbidden)
			return
		}
		options, err := auth.BeginPasskeySignUp(w, r, "passkey", u)
		if err != nil {
			http.Error(w, "That did not work. Try again.", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(options)
	}
	finish := func(w http.ResponseWriter, r *http.Request) {
		u := proven(r)
		answer, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
		if err != nil || u == nil || !useUp(r) {
			http.Error(w, "Sign up again.", http.StatusForbidden)
			return
		}
		next, err := auth.FinishPasskeySignUp(w, r, "passkey", u, answer, pintle.SignInOptions{RedirectTo: "/welcome"})
		if err != nil {
			http.Error(w, "Sign up again.", http.StatusForbidden)
			return
		}
		http.Redirect(w, r, next, http.StatusSeeOther)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sign-up/options", options)
	mux.HandleFunc("POST /sign-up", finish)
}
