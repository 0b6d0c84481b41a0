package main

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/oauth"
)

// displayName is data of ours that travels with a session.
var displayName = pintle.NewClaim[string]("displayName")

// config is the whole configuration of Pintle.
func config(store pintle.Store, ended pintle.RevocationStore, accounts *account.Accounts, idp *authtest.IdentityProvider, secret string, sessions pintle.SessionStrategy) pintle.Config {
	local := &pintle.OAuth{
		ID: localProvider, Name: "Local identity provider",
		Protocol: oauth.OIDC, Issuer: idp.Issuer,
		ClientID: "Pintle quickstart", ClientSecret: "any will do there",
	}
	return pintle.Config{
		Providers: []pintle.Provider{local, byPasskey()},
		Accounts:  accounts, // the password form comes from here, with its limits against guessing
		Store:     store,
		Secrets:   []string{secret},
		Session:   pintle.SessionConfig{Strategy: sessions, Describe: describe, Revocation: ended},
		Pages:     pintle.Pages{Account: "/account"},
		// Passkeys may still change between versions.
		ExperimentalPasskeys: true,
		Getenv:               func(string) string { return "" }, // a variable of another project must not confuse this one
	}
}
