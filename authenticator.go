package pintle

import "time"

// An Authenticator is a passkey: a WebAuthn credential registered for a user.
//
// https://www.w3.org/TR/webauthn-3/#credential-record
type Authenticator struct {
	// CredentialID is the credential id in standard base64 with padding. It is
	// unique and compared byte by byte.
	CredentialID string

	UserID string

	// ProviderAccountID equals CredentialID, of the account that belongs to
	// the passkey.
	ProviderAccountID string

	// PublicKey is the COSE key in standard base64 with padding.
	PublicKey string

	// Counter is the signature counter the authenticator reported last.
	Counter uint32

	// DeviceType is "singleDevice", or "multiDevice" for a passkey that may be
	// synchronised.
	DeviceType string

	// BackedUp reports whether the passkey was synchronised when last used.
	BackedUp bool

	// Transports lists how the authenticator may be reached, separated by
	// commas. Empty means that the browser did not say.
	Transports string

	// Name is what its user calls the passkey, see [Auth.RenamePasskey]. At
	// first it is that of the password manager that made it, where that is
	// known. Auth.js has no column for it, nor for the times below: in tables
	// shared with it they may be missing, and are then zero.
	Name string

	// Created is when the passkey was registered.
	Created time.Time

	// LastUsed is when it last signed. The registration does not count.
	LastUsed time.Time
}
