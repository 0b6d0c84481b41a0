// Package passkey lets people sign in with passkeys: it makes and verifies
// WebAuthn ceremonies for a [pintle.Passkey] provider.
//
//	auth, err := pintle.New(pintle.Config{
//		Providers:    []pintle.Provider{passkey.New(passkey.Options{})},
//		Store:        sqlstore.New(db, sqlstore.SQLite),
//		Experimental: pintle.Experimental{Passkeys: true},
//	})
//
// The sign-in page of package pintle then offers passkeys in the browser's
// autofill list. Pages of your own use client/passkey.js, or one of the browser
// clients that Auth.js works with, next-auth/webauthn and version 9 of
// @simplewebauthn/browser.
//
// Credentials are discoverable unless Options say otherwise, so that nobody has
// to type who they are, and the authenticator verifies the user, by a PIN or
// what they are, so that a passkey counts for two factors. Attestation is not
// asked for: what a browser sends all the same is verified, and no trust is
// placed in it without [Options.Metadata].
//
// The cryptography is that of github.com/go-webauthn/webauthn. The formats of
// attestation it knows are none, packed, tpm, android-key, android-safetynet,
// fido-u2f, apple and compound; others are refused.
package passkey
