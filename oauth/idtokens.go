package oauth

import "context"

// IDTokens are the ID tokens that a site accepts from applications and scripts which
// have received them from the SDK of a provider, such as those of Google One Tap,
// Android, or Sign in with Apple on iOS. The zero value accepts none.
type IDTokens struct {
	// Audiences are the client ids for which tokens are accepted, byte for byte: the
	// web client of Google, the bundle id of an application for Apple. The client id
	// of the provider is not among them unless it is in the list. A token has exactly
	// one audience.
	Audiences []string

	// AuthorizedParties are the client ids of which one must be the claim azp. Android
	// needs it: there aud is the web client, and azp is the Android client. Empty
	// accepts tokens without azp, and those whose azp is their audience.
	AuthorizedParties []string

	// NonceHash is how the SDK may change the nonce before it is in the token.
	NonceHash NonceHash

	// DangerouslyAllowWithoutNonce accepts tokens without a nonce from browsers, for
	// pages that cannot have one. A token is then accepted once, within five minutes of
	// its iat, with the form token of this site or the one of Google's script. A page
	// of a sibling domain can plant the cookie of the latter, and so sign a browser in as
	// the attacker.
	DangerouslyAllowWithoutNonce bool

	// ClientSecret returns the secret of a client of Audiences. With it, a code that an
	// application sends beside its token is exchanged, and the account has the tokens
	// of the response: Apple requires that they are revoked when the user deletes the
	// account, and an SDK returns none. Nil ignores codes.
	ClientSecret func(ctx context.Context, clientID string) (string, error)
}

// A NonceHash is how an SDK changes the nonce before it is in the ID token.
type NonceHash int

const (
	// NonceUnchanged requires the nonce as it was given.
	NonceUnchanged NonceHash = iota

	// NonceSHA256Hex also accepts its SHA-256 in lower-case hexadecimal digits. Most
	// applications with Sign in with Apple hash the nonce themselves.
	NonceSHA256Hex

	// NonceSHA256Base64 also accepts its SHA-256 in base64url without padding.
	NonceSHA256Base64
)
