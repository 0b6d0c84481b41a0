package main

import (
	"context"
	"net/http"
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
	by := request{Client: r.PostFormValue("client_id"), Redirect: r.PostFormValue("redirect_uri")}
	var g grant
	limited := a.guard.Credentials(&pintle.Credentials{ID: "code", Authorize: func(context.Context, *pintle.Submission) (*pintle.User, error) {
		var ok bool
		if g, ok = a.codes.redeem(r.PostFormValue("code"), by, r.PostFormValue("code_verifier")); !ok {
			return nil, nil // an unknown or used code
		}
		return &pintle.User{ID: g.userID}, nil
	}}, "code")
	user, err := limited.Authorize(r.Context(), submission(r, map[string]any{"code": r.PostFormValue("code")}))
	switch {
	case err != nil:
		fail(w, r, err)
	case user == nil:
		answer(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
	default:
		a.issue(w, r, user, g.signedIn)
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
