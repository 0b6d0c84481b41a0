package pintle

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
)

// A user handle is 64 characters, the form Auth.js has: the hexadecimal digits
// of 32 bytes. To an authenticator it is who the passkey is for, and another
// passkey for the same handle replaces the first.
//
// That of a stored user is a pseudonym of their id and a tag that shows who made
// it, so that it is the same each time and can be checked. That of somebody who
// signs up is random, since their id is not known yet.
//
// https://www.w3.org/TR/webauthn-3/#sctn-user-handle-privacy
func (s *settings) userHandle(user *User) string {
	if user.ID == "" {
		random := make([]byte, 32)
		_, _ = rand.Read(random) // never fails
		return hex.EncodeToString(random)
	}
	pseudonym := handlePart(s.jwtSecrets[0], "pseudonym", []byte(user.ID))
	return hex.EncodeToString(append(pseudonym, handlePart(s.jwtSecrets[0], "tag", pseudonym)...))
}

func handlePart(secret, purpose string, content []byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("pintle user handle " + purpose + "\x00"))
	mac.Write(content)
	return mac.Sum(nil)[:16]
}

// handleContradicts reports whether a user handle was made here for somebody
// else than user. A random one, or one that another server or an earlier secret
// made, says nothing: the store tells whose the credential is.
func (s *settings) handleContradicts(handle string, user *User) bool {
	if decoded, err := base64.RawURLEncoding.DecodeString(handle); err == nil && len(handle) != 64 {
		// Newer browser libraries encode what version 9 takes for text.
		handle = string(decoded)
	}
	raw, err := hex.DecodeString(handle)
	if err != nil || len(raw) != 32 {
		return false
	}
	for _, secret := range s.jwtSecrets {
		if hmac.Equal(raw[16:], handlePart(secret, "tag", raw[:16])) {
			return !hmac.Equal(raw[:16], handlePart(secret, "pseudonym", []byte(user.ID)))
		}
	}
	return false
}
