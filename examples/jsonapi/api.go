package main

import (
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/pintleauth/pintle"
)

// api is the application's server. Requests come from browsers and applications.
type api struct {
	auth      *pintle.Auth
	passwords *pintle.Credentials
}

// newAPI routes requests. A session comes in a cookie from browsers and in the
// header Authorization from applications. Requests that a page of another site
// forges with a user's cookie are rejected before they reach a handler.
func newAPI(auth *pintle.Auth, passwords *pintle.Credentials) http.Handler {
	a := &api{auth, passwords}
	own := http.NewServeMux()
	own.HandleFunc("POST /session", a.signIn)
	own.HandleFunc("DELETE /session", a.signOut)
	own.Handle("GET /me", auth.Require(http.HandlerFunc(a.me)))

	all := http.NewServeMux()
	all.Handle("/auth/", auth)
	all.Handle("/", auth.Load(http.NewCrossOriginProtection().Handler(limited(own))))
	return all
}

// me is the resource of the API.
func (a *api) me(w http.ResponseWriter, r *http.Request) {
	user := pintle.SessionFrom(r.Context()).User
	answer(w, http.StatusOK, map[string]string{"id": user.ID, "name": user.Name})
}

// signIn is for your own applications that have a password form. They cannot
// offer identity providers or passkeys, and teach users to type passwords into
// applications: the browser is better.
func (a *api) signIn(w http.ResponseWriter, r *http.Request) {
	var form struct{ Username, Password string }
	if err := json.NewDecoder(r.Body).Decode(&form); err != nil {
		answer(w, http.StatusBadRequest, map[string]string{"error": "invalid_request"})
		return
	}
	user, err := a.passwords.Authorize(r.Context(), submission(r, map[string]any{"username": form.Username, "password": form.Password}))
	switch {
	case err != nil:
		fail(w, r, err)
	case user == nil:
		answer(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
	default:
		a.issue(w, r, user, pintle.Authentication{Provider: "credentials", Methods: []string{"pwd"}})
	}
}

// issue starts a session of a user and responds with its token. The application gets
// no cookie. Events and the list of a user's sessions are those of a browser.
func (a *api) issue(w http.ResponseWriter, r *http.Request, user *pintle.User, signedIn pintle.Authentication) {
	token, session, err := a.auth.StartSession(nil, r, user, pintle.StartOptions{Authentication: signedIn})
	if err != nil {
		fail(w, r, err)
		return
	}
	answer(w, http.StatusOK, map[string]any{
		"access_token": token, "token_type": "Bearer", "expires_in": int(time.Until(session.Expires).Seconds()),
	})
}

// submission is what a client has sent, for the limit of guesses.
func submission(r *http.Request, fields map[string]any) *pintle.Submission {
	client, _ := netip.ParseAddrPort(r.RemoteAddr)
	return &pintle.Submission{Fields: fields, Request: r, Client: client.Addr()}
}

// signOut ends the session that the request came with.
func (a *api) signOut(w http.ResponseWriter, r *http.Request) {
	if _, err := a.auth.SignOut(w, r, pintle.SignOutOptions{RedirectTo: "/"}); err != nil {
		fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// fail logs the error for the operator, and sends the application only a status.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	if e, ok := errors.AsType[*pintle.Error](err); ok && e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds()))))
		answer(w, http.StatusTooManyRequests, map[string]string{"error": "too_many_attempts"})
		return
	}
	slog.ErrorContext(r.Context(), "request failed", "path", r.URL.Path, "error", err)
	answer(w, http.StatusInternalServerError, map[string]string{"error": "server_error"})
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store") // for one user only
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // an error means that the client has gone
}

// limited reads no more of a request than its forms can need.
func limited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
		next.ServeHTTP(w, r)
	})
}
