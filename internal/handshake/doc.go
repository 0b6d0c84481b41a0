// Package handshake signs a browser in at another service: OAuth 2 and OpenID
// Connect ([Provider]), OAuth 1.0a ([OAuth1]) and OpenID 2.0 ([OpenID2]).
//
// It takes the configuration of a provider and the bytes of a callback, and
// returns maps: token response, ID token claims, profile. It has no users, sets no
// cookies and writes no responses. The values that must survive between the
// redirect to the provider and the callback are returned to the caller, which
// seals them and passes them in again.
//
//	begun, err := p.Begin(ctx, handshake.BeginOptions{RedirectURI: callback, State: state})
//	// … seal begun.Verifier, begun.Nonce and state; redirect to begun.URL …
//	code, err := p.Validate(ctx, query, state)
//	result, err := p.Redeem(ctx, handshake.RedeemOptions{Code: code, RedirectURI: callback, Verifier: …, Nonce: …})
//
// # Numbers
//
// Every number in a map that came from JSON is a [encoding/json.Number]: the
// account ids of some providers are larger than 2^53 and would lose digits as
// float64. The only number added here, "expires_at", is an int64.
//
// # What is promised
//
// Requests use https, or http to this machine, unless AllowInsecure is set; they
// follow no redirect, end after Timeout and read at most one MiB. No claim of an
// ID token is used before its signature is verified.
// Errors never contain a token, a code, a verifier or a secret.
//
// # What libraries do, and what is done here
//
// go-jose parses, verifies and makes JSON Web Signatures. Which algorithm, which
// key and which claims are accepted is decided in signature.go and idtoken.go:
// libraries for relying parties leave azp, nonce, iat, sub, at_hash, leeway and
// templates of issuers to their caller, and their key sets read without bound or
// time-out, keep keys for ever and fetch again for every unknown key id.
//
// The code exchange is written here, because libraries follow redirects with the
// code and the secret in the body, accept every 2xx status, guess the encoding of
// the body from its Content-Type, try a second client authentication with a code
// that is already spent, or print the body of a failed response. OAuth
// 1.0a is signed by internal/oauth1.
package handshake
