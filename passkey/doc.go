// Package passkey signs users in with passkeys: it makes and verifies WebAuthn
// ceremonies for a [pintle.WebAuthn] provider.
//
//	auth, err := pintle.New(pintle.Config{
//		Providers:            []pintle.Provider{passkey.New(passkey.Options{})},
//		Store:                sqlstore.New(db, sqlstore.SQLite),
//		ExperimentalPasskeys: true,
//	})
//
// The sign-in page of package pintle then offers passkeys in the browser's
// autofill list. Your own pages use the client of this repository, in
// client/src/passkey.ts, or one of those that Auth.js works with,
// next-auth/webauthn and version 9 of @simplewebauthn/browser.
//
// By default credentials are discoverable, so that users need not type a name,
// and the authenticator verifies the user, by a PIN or a biometric, so that a
// passkey counts for two factors. Attestation is not requested. One that a browser
// sends all the same is verified, but its authenticator is not: see [Options.Trust].
//
// The cryptography is that of github.com/go-webauthn/webauthn. It supports the
// attestation formats none, packed, tpm, android-key, android-safetynet,
// fido-u2f, apple and compound; others are rejected.
package passkey
