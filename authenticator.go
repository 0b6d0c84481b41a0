package pintle

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
}
