// Package handshake signs a browser in at another service: OAuth 2 and OpenID
// Connect ([Provider]), OAuth 1.0a ([OAuth1]) and OpenID 2.0 ([OpenID2]).
//
// It is given facts about a provider and bytes from a callback, and gives back
// maps: token response, ID token claims, profile. It knows no users, sets no
// cookies and answers no requests. What has to be remembered between leaving
// for the provider and coming back is returned to the caller, who seals it and
// hands it in again.
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
// Requests leave over https, or over http to this machine, unless AllowInsecure
// says otherwise; they follow no redirect, end after Timeout and read at most
// one MiB. No claim of an ID token is believed before its signature was verified.
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
// The code exchange is written here, because those of libraries follow redirects
// with the code and the secret in the body, accept every 2xx status, guess the
// encoding of the body from its label, try a second client authentication with
// a code that is already spent, or print the body of a failed response. OAuth
// 1.0a is signed by internal/oauth1.
package handshake
