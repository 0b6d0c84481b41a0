package sealed

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"slices"
)

// Mark returns a keyed hash of a value, for a text that others see. It proves that
// a server with the secret made the text for that value, and reveals
// nothing else. It has 22 characters of base64url, and so no dot.
func Mark(secret, purpose, value string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(purpose + "\x00" + value))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

// HasMark reports whether a mark is that of a value, with any of the secrets.
func HasMark(mark string, secrets []string, purpose, value string) bool {
	return slices.ContainsFunc(secrets, func(secret string) bool {
		return hmac.Equal([]byte(mark), []byte(Mark(secret, purpose, value)))
	})
}
