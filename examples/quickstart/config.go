package main

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/throttle"
)

// displayName is data of ours that travels with a session.
var displayName = pintle.NewClaim[string]("displayName")

// config is the whole configuration of Pintle.
func config(store pintle.Store, ended pintle.RevocationStore, p *people, idp *authtest.IdentityProvider, secret string, sessions pintle.SessionStrategy) pintle.Config {
	local := &pintle.OAuth{
		ID: localProvider, Name: "Local identity provider",
		Protocol: oauth.OIDC, Issuer: idp.Issuer,
		ClientID: "Pintle quickstart", ClientSecret: "any will do there",
	}
	byPassword := &pintle.Credentials{
		ID: "password", Name: "password",
		Fields: []pintle.Field{
			{Name: "email", Label: "E-mail", Type: "email", Attributes: map[string]string{"autocomplete": "username webauthn", "required": "required"}},
			{Name: "password", Label: "Password", Type: "password", Attributes: map[string]string{"autocomplete": "current-password", "required": "required"}},
		},
		Authorize: p.authorize,
		CanSignIn: p.hasPassword,
	}
	guard := &throttle.Guard{} // against guessing
	return pintle.Config{
		Providers: []pintle.Provider{local, guard.Credentials(byPassword, "email"), byPasskey()},
		Store:     store,
		Secrets:   []string{secret},
		Session:   pintle.SessionConfig{Strategy: sessions, Describe: describe, Revocation: ended},
		Pages:     pintle.Pages{Account: "/account"},
		// Passkeys may still change between versions.
		ExperimentalPasskeys: true,
		Getenv:               func(string) string { return "" }, // a variable of another project must not confuse this one
	}
}
