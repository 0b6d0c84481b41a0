package main

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
)

// token exchanges a code for a token.
//
// https://www.rfc-editor.org/rfc/rfc6749#section-4.1.3
func (a *api) token(w http.ResponseWriter, r *http.Request) {
	if r.PostFormValue("grant_type") != "authorization_code" {
		answer(w, http.StatusBadRequest, map[string]string{"error": "unsupported_grant_type"})
		return
	}
	fields := map[string]any{}
	for _, name := range []string{"code", "code_verifier", "client_id", "redirect_uri"} {
		fields[name] = r.PostFormValue(name)
	}
	a.issue(w, r, "code", fields)
}

// issue signs a user in and responds with the token of the session. Pintle treats
// an application like a browser: it sets a cookie, whose value is the token.
// Callbacks, events and the list of a user's sessions are the same.
func (a *api) issue(w http.ResponseWriter, r *http.Request, provider string, fields map[string]any) {
	r = r.Clone(r.Context())
	r.Header.Del("Cookie") // the request must not use a session that it may carry
	jar := cookies{}
	if _, err := a.auth.SignIn(jar, r, provider, pintle.SignInOptions{RedirectTo: "/", Fields: fields}); err != nil { //nolint:contextcheck // undoing half a sign-in must outlive its request
		fail(w, r, err)
		return
	}
	for _, c := range (&http.Response{Header: jar.Header()}).Cookies() {
		if strings.HasSuffix(c.Name, "authjs.session-token") { // over TLS it has a prefix
			answer(w, http.StatusOK, map[string]any{
				"access_token": c.Value, "token_type": "Bearer", "expires_in": int(time.Until(c.Expires).Seconds()),
			})
			return
		}
	}
	fail(w, r, errors.New("a callback denied the sign-in"))
}

// cookies is a response of which only the header counts.
type cookies http.Header

func (c cookies) Header() http.Header         { return http.Header(c) }
func (c cookies) Write(b []byte) (int, error) { return len(b), nil }
func (c cookies) WriteHeader(int)             {}
