// Package userhandle makes the user handles of passkeys: what an authenticator
// keeps as the one a passkey is for. Another passkey with the same handle replaces
// the first.
//
// A handle is 64 characters, the form Auth.js has: the hexadecimal digits of 32
// bytes. That of a stored user is a pseudonym of their id and a tag that proves
// that a server with the secret made it. So it is the same each time, can be
// checked, and reveals nothing to the authenticator.
//
// https://www.w3.org/TR/webauthn-3/#sctn-user-handle-privacy
package userhandle

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
)

// size is how many bytes a handle has: half of them are the pseudonym.
const size = 32

// Of returns the handle of the user with an id.
func Of(secret, id string) string {
	pseudonym := part(secret, "pseudonym", []byte(id))
	return hex.EncodeToString(append(pseudonym, part(secret, "tag", pseudonym)...))
}

// Random returns a handle for a user who signs up and has no id yet.
func Random() string {
	var random [size]byte
	_, _ = rand.Read(random[:]) // never fails
	return hex.EncodeToString(random[:])
}

func part(secret, purpose string, content []byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("pintle user handle " + purpose + "\x00"))
	mac.Write(content)
	return mac.Sum(nil)[:size/2]
}

// Contradicts reports whether a handle was made with one of the secrets for another
// user than the one with the id. A random handle, or one made by another server or
// with a former secret, contradicts nothing: the store decides whose the
// credential is.
func Contradicts(handle string, secrets []string, id string) bool {
	if decoded, err := base64.RawURLEncoding.DecodeString(handle); err == nil && len(handle) != 2*size {
		// Newer browser libraries encode what version 9 takes for text.
		handle = string(decoded)
	}
	raw, err := hex.DecodeString(handle)
	if err != nil || len(raw) != size {
		return false
	}
	pseudonym, tag := raw[:size/2], raw[size/2:]
	for _, secret := range secrets {
		if hmac.Equal(tag, part(secret, "tag", pseudonym)) {
			return !hmac.Equal(pseudonym, part(secret, "pseudonym", []byte(id)))
		}
	}
	return false
}
