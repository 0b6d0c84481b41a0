package main

import (
	"embed"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"

	"github.com/pintleauth/pintle"
)

// How an application on the user's computer gets a session:
//
//  1. it opens the system's browser at /app/authorize, with the hash of a
//     verifier that it made up (PKCE) and the address that it listens at;
//  2. there the user signs in with any provider, or is signed in already, and
//     consents;
//  3. the browser is redirected to that address with a code: an attacker who reads
//     it in the history or a log cannot use it without the verifier;
//  4. the application sends both to /app/token for a token.
//
// The token itself is in no address, and the application gets no password. These
// are the steps and the names of OAuth, so that its client libraries work.
//
// https://www.rfc-editor.org/rfc/rfc8252

//go:embed consent.html
var files embed.FS

var page = template.Must(template.ParseFS(files, "consent.html"))

// A request is an authorization request of an application.
type request struct{ Client, Redirect, Challenge, State string }

// sha256Hash matches one in base64url, without padding.
var sha256Hash = regexp.MustCompile(`^[\w-]{43}$`)

// readRequest returns the authorization request of the browser. It checks the
// address for the redirect.
func readRequest(r *http.Request) (request, error) {
	asked := request{r.FormValue("client_id"), r.FormValue("redirect_uri"), r.FormValue("code_challenge"), r.FormValue("state")}
	app, known := applications[asked.Client]
	switch {
	case !known:
		return asked, errors.New("no such application")
	case !app.redirect.MatchString(asked.Redirect):
		return asked, errors.New("the application may not be answered at that address")
	case r.FormValue("code_challenge_method") != "S256" || !sha256Hash.MatchString(asked.Challenge):
		return asked, errors.New("the application has to send a challenge (PKCE with S256)")
	}
	return asked, nil
}

// answer returns the URL that redirects the browser to the application.
func (q request) answer(name, value string) string {
	return q.Redirect + "?" + url.Values{name: {value}, "state": {q.State}}.Encode()
}

// ask shows the consent page with the name of the application. Without it any
// program on this computer could get a token while a user is signed in: the
// identity of an application cannot be verified.
//
// https://www.rfc-editor.org/rfc/rfc8252#section-8.6
func (a *api) ask(w http.ResponseWriter, r *http.Request) {
	asked, err := readRequest(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	origin, _ := url.Parse(asked.Redirect) // which the pattern matched
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	// The form redirects to the application, and Chromium applies form-action to
	// redirects, too. frame-ancestors stops other sites from placing the button
	// under the user's mouse (clickjacking).
	h.Set("Content-Security-Policy", fmt.Sprintf("default-src 'none'; form-action 'self' %s://%s; base-uri 'none'; frame-ancestors 'none'", origin.Scheme, origin.Host))
	err = page.Execute(w, map[string]any{
		"Asked": asked, "Application": applications[asked.Client].Name, "User": pintle.SessionFrom(r.Context()).User,
	})
	if err != nil {
		slog.WarnContext(r.Context(), "page not sent", "error", err)
	}
}

// decide redirects the browser to the application with the user's decision.
func (a *api) decide(w http.ResponseWriter, r *http.Request) {
	asked, err := readRequest(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	target := asked.answer("error", "access_denied")
	if r.FormValue("answer") == "yes" {
		target = asked.answer("code", a.codes.give(asked, pintle.SessionFrom(r.Context())))
	}
	http.Redirect(w, r, target, http.StatusSeeOther) //nolint:gosec // readRequest has checked where that is
}
