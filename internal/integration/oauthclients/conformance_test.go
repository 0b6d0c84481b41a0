package oauthclients

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/pintleauth/pintle/authtest"
	"golang.org/x/oauth2"
)

// signIn signs in like a careful application with x/oauth2 and go-oidc, with the
// checks that go-oidc leaves to its caller.
func signIn(ctx context.Context, idp *authtest.IdentityProvider, a *attempt) error {
	provider, err := oidc.NewProvider(ctx, idp.Issuer)
	if err != nil {
		return fmt.Errorf("discovery: %w", err)
	}
	a.oidc = provider
	resp, err := browser.Get(a.url())
	if err != nil {
		return err
	}
	resp.Body.Close()
	location, err := resp.Location()
	if err != nil {
		return err
	}
	answer := location.Query()
	if answer.Get("state") != a.state || answer.Get("iss") != idp.Issuer || answer.Has("error") {
		return fmt.Errorf("authorization response %v", answer)
	}
	token, err := a.exchangeWith(ctx, answer.Get("code"))
	if err != nil {
		return fmt.Errorf("exchange: %w", err)
	}
	idToken, err := a.verify(ctx, token)
	if err != nil {
		return fmt.Errorf("ID token: %w", err)
	}
	switch {
	case idToken.Nonce != a.nonce:
		return errors.New("another nonce")
	case idToken.Subject == "":
		return errors.New("no subject")
	case idToken.IssuedAt.IsZero():
		return errors.New("no time of issue")
	}
	info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return fmt.Errorf("userinfo: %w", err)
	}
	if info.Subject != idToken.Subject {
		return errors.New("userinfo of another subject")
	}
	return nil
}

// The faults have their effect on another library: go-oidc, with the checks that a
// careful application adds, rejects what it should.
func TestFaultsAreFaultsToAnotherLibrary(t *testing.T) {
	faults := func(f ...authtest.Fault) []authtest.Fault { return f }
	tests := []struct {
		algorithm string
		faults    []authtest.Fault
		accept    bool
	}{
		{authtest.RS256, nil, true},
		{authtest.ES256, faults(authtest.IDTokenWrongNonce), false},
		{authtest.ES256, faults(authtest.IDTokenWrongIssuer), false},
		{authtest.ES256, faults(authtest.IDTokenWithoutSubject), false},
		{authtest.ES256, faults(authtest.IDTokenWrongAudience), false},
		{authtest.ES256, faults(authtest.IDTokenWithoutAudience), false},
		{authtest.ES256, faults(authtest.IDTokenWithoutIssuedAt), false},
		{authtest.ES256, faults(authtest.IDTokenWrongAccessHash), false},
		{authtest.ES256, faults(authtest.IDTokenWithoutKeyID), true},
		{authtest.ES256, faults(authtest.IDTokenWithoutKeyID, authtest.JWKSSeveralKeys), true},
		{authtest.ES256, faults(authtest.IDTokenUnsigned), false},
		{authtest.RS256, faults(authtest.IDTokenWrongSignature), false},
		{authtest.ES256, faults(authtest.IDTokenWrongSignature), false},
		{authtest.RS256, faults(authtest.IDTokenHS256PublicKey), false},
		{authtest.ES256, faults(authtest.UserInfoWrongSubject), false},
		{authtest.ES256, faults(authtest.UserInfoSigned), true},
		{authtest.ES256, faults(authtest.UserInfoAggregatedClaims), true},
		{authtest.ES256, faults(authtest.UserInfoDistributedClaims), true},
		{authtest.ES256, faults(authtest.DiscoveryForeignIssuer), false},
		{authtest.ES256, faults(authtest.KeysRotateBeforeSigning), true},
		{authtest.ES256, faults(authtest.ResponseWrongIssuer), false},
		{authtest.ES256, faults(authtest.ResponseWithoutIssuer), false},
		{authtest.ES256, faults(authtest.ResponseWithoutState), false},
		{authtest.ES256, faults(authtest.IDTokenUnsignedOddCase), false},
		{authtest.ES256, faults(authtest.IDTokenEmbeddedKey), false},
		{authtest.ES256, faults(authtest.IDTokenForeignKey), false},
		{authtest.ES256, faults(authtest.IDTokenEmptyAudience), false},
		{authtest.ES256, faults(authtest.IDTokenManyDots), false},
		{authtest.ES256, faults(authtest.AccessTokenMissing), false},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.algorithm, " ", tt.faults), func(t *testing.T) {
			idp := authtest.Start(t, authtest.Options{Algorithm: tt.algorithm, AutoConsent: true, Clients: []authtest.Client{app}})
			a := newRelyingParty(t, idp).begin()
			idp.Break(tt.faults...)
			err := signIn(t.Context(), idp, a)
			if tt.accept && err != nil {
				t.Errorf("rejected: %v", err)
			}
			if !tt.accept && err == nil {
				t.Error("accepted")
			}
			if got := idp.Requests(authtest.DistributedClaimsEndpoint); len(got) != 0 {
				t.Errorf("%d requests for distributed claims", len(got))
			}
		})
	}
}

func TestKeyRotationIsFollowed(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{Algorithm: authtest.ES256, AutoConsent: true, Clients: []authtest.Client{app}})
	rp := newRelyingParty(t, idp)
	for range 2 {
		a := rp.begin()
		token, err := a.exchange(a.approve().Get("code"))
		if err != nil {
			t.Fatal(err)
		}
		// go-oidc returns a signature's verdict before it closes its request for the
		// keys, and a check in between joins that request and gets the old keys.
		// Such a check asks for no keys, so it doesn't change the count below.
		deadline := time.Now().Add(5 * time.Second)
		for {
			_, err := rp.verify(t.Context(), token)
			if err == nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
		}
		idp.RotateKeys()
	}
	if n := len(idp.Requests(authtest.JWKSEndpoint)); n != 2 {
		t.Errorf("%d requests for keys, want one per key", n)
	}
}

func TestCodeFlowSatisfiesAnIndependentClient(t *testing.T) {
	for _, algorithm := range []string{authtest.RS256, authtest.ES256, authtest.EdDSA} {
		t.Run(algorithm, func(t *testing.T) {
			idp := authtest.Start(t, authtest.Options{
				Algorithm: algorithm, AutoConsent: true, RequirePKCE: true, Clients: []authtest.Client{app},
			})
			rp := newRelyingParty(t, idp)
			a := rp.begin()
			answer := a.approve(oauth2.SetAuthURLParam("login_hint", "grace"), oauth2.SetAuthURLParam("acr_values", "phr phrh"))
			if answer.Get("state") != a.state || answer.Get("iss") != idp.Issuer {
				t.Fatalf("answer = %v, want state %q and iss %q", answer, a.state, idp.Issuer)
			}
			token, err := a.exchange(answer.Get("code"))
			if err != nil {
				t.Fatal(err)
			}
			idToken, err := rp.verify(t.Context(), token)
			if err != nil {
				t.Fatal(err)
			}
			var claims struct {
				Name     string
				Email    string
				Verified bool   `json:"email_verified"`
				Class    string `json:"acr"`
			}
			if err := idToken.Claims(&claims); err != nil {
				t.Fatal(err)
			}
			if idToken.Subject != "1002" || idToken.Nonce != a.nonce || claims.Name != "Grace Hopper" ||
				claims.Email != "grace@example.com" || !claims.Verified || claims.Class != "phr" {
				t.Errorf("ID token of %q with nonce %q and %+v, want Grace Hopper", idToken.Subject, idToken.Nonce, claims)
			}
			info, err := rp.oidc.UserInfo(t.Context(), oauth2.StaticTokenSource(token))
			if err != nil {
				t.Fatal(err)
			}
			if info.Subject != "1002" || info.Email != "grace@example.com" {
				t.Errorf("userinfo of %q <%s>, want 1002 <grace@example.com>", info.Subject, info.Email)
			}
		})
	}
}

func TestRefreshTokenRotatesForAnIndependentClient(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{Algorithm: authtest.ES256, AutoConsent: true, Clients: []authtest.Client{app}})
	a := newRelyingParty(t, idp).begin()
	first, err := a.exchange(a.approve().Get("code"))
	if err != nil {
		t.Fatal(err)
	}
	refresh := func(token string) (*oauth2.Token, error) {
		return a.config.TokenSource(t.Context(), &oauth2.Token{RefreshToken: token}).Token()
	}
	second, err := refresh(first.RefreshToken)
	if err != nil {
		t.Fatal(err)
	}
	if second.RefreshToken == first.RefreshToken || second.AccessToken == first.AccessToken {
		t.Error("the refresh returned an old token")
	}
	idToken, err := a.verify(t.Context(), second)
	if err != nil {
		t.Fatal(err)
	}
	if idToken.Nonce != "" || idToken.Subject != "1001" {
		t.Errorf("refreshed ID token has nonce %q and subject %q, want none and 1001", idToken.Nonce, idToken.Subject)
	}
}
