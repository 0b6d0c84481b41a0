// Package oauthclients tests the identity provider of package authtest, with and
// without faults, with other libraries, and the signatures of OAuth 1.0a against
// another implementation.
package oauthclients

import (
	"context"
	"net/http"
	"net/url"
	"testing"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/pintleauth/pintle/authtest"
	"golang.org/x/oauth2"
)

// appURL is the address of the application under test. No server listens there:
// browsers in these tests stop at every redirect.
const appURL = "https://app.example.test"

var app = authtest.Client{
	ID:           "app",
	Secret:       "s3cret: with %, + and /",
	Name:         "The application",
	RedirectURIs: []string{appURL + "/auth/callback/test"},
}

// A relyingParty is an application made of x/oauth2 and go-oidc.
type relyingParty struct {
	t      *testing.T
	idp    *authtest.IdentityProvider
	config oauth2.Config
	oidc   *oidc.Provider
}

func newRelyingParty(t *testing.T, idp *authtest.IdentityProvider) *relyingParty {
	t.Helper()
	provider, err := oidc.NewProvider(t.Context(), idp.Issuer)
	if err != nil {
		t.Fatalf("discovery: %v", err)
	}
	return &relyingParty{t: t, idp: idp, oidc: provider, config: oauth2.Config{
		ClientID:     app.ID,
		ClientSecret: app.Secret,
		RedirectURL:  app.RedirectURIs[0],
		Endpoint:     provider.Endpoint(),
		Scopes:       []string{"openid", "profile", "email", "offline_access"},
	}}
}

// An attempt is one sign-in.
type attempt struct {
	*relyingParty

	verifier, state, nonce string
}

func (rp *relyingParty) begin() *attempt {
	return &attempt{rp, oauth2.GenerateVerifier(), "state-" + rp.t.Name(), "nonce-" + rp.t.Name()}
}

func (a *attempt) url(more ...oauth2.AuthCodeOption) string {
	more = append(more, oauth2.S256ChallengeOption(a.verifier), oidc.Nonce(a.nonce))
	return a.config.AuthCodeURL(a.state, more...)
}

// approve requests the authorization endpoint of a provider with automatic consent,
// and returns the parameters of its redirect.
func (a *attempt) approve(more ...oauth2.AuthCodeOption) url.Values {
	a.t.Helper()
	resp := get(a.t, a.url(more...))
	if resp.StatusCode != http.StatusFound {
		a.t.Fatalf("authorization: %s", resp.Status)
	}
	return answerOf(a.t, resp)
}

func (a *attempt) exchange(code string) (*oauth2.Token, error) {
	return a.exchangeWith(a.t.Context(), code)
}

func (a *attempt) exchangeWith(ctx context.Context, code string) (*oauth2.Token, error) {
	return a.config.Exchange(context.WithValue(ctx, oauth2.HTTPClient, browser), code, oauth2.VerifierOption(a.verifier))
}

// verify checks the ID token in token as a careful client does.
func (rp *relyingParty) verify(ctx context.Context, token *oauth2.Token) (*oidc.IDToken, error) {
	raw, _ := token.Extra("id_token").(string)
	idToken, err := rp.oidc.Verifier(&oidc.Config{ClientID: rp.config.ClientID}).Verify(ctx, raw)
	if err != nil {
		return nil, err
	}
	return idToken, idToken.VerifyAccessToken(token.AccessToken)
}

// browser stops at each redirect, so that tests look at every hop.
var browser = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func get(t *testing.T, address string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := browser.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// answerOf returns the parameters of the redirect back to the application.
func answerOf(t *testing.T, resp *http.Response) url.Values {
	t.Helper()
	location, err := resp.Location()
	if err != nil {
		t.Fatalf("%s: no redirect: %v", resp.Status, err)
	}
	return location.Query()
}
