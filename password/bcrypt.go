package password

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/bcrypt"
)

// maxBcryptCost bounds the work that a stored hash can cause: about a second.
const maxBcryptCost = 14

// A bcryptHash is a hash of bcrypt, of a password or of a digest of one.
//
// Bcrypt reads 72 bytes. Most systems cut a longer password without a word, so its
// beginning is all that their hash knows: it matches the first 72 bytes, and the
// hash that replaces it knows the whole password.
type bcryptHash struct {
	text   string // $2b$12$…
	cost   int
	digest func(password, salt string) string
}

// parseBcrypt reads a hash of bcrypt. The variant $2x$ marks hashes of a faulty
// program, which match other passwords too.
func parseBcrypt(text string, digest func(password, salt string) string) (form, error) {
	if !isBcrypt(text) {
		return refuse("no known variant of bcrypt")
	}
	cost, err := bcrypt.Cost([]byte(text))
	if err != nil || len(text) != 60 || text[6] != '$' || strings.Trim(text[7:], bcryptAlphabet) != "" {
		return refuse("damaged bcrypt hash")
	}
	if cost > maxBcryptCost {
		return refuse(fmt.Sprintf("bcrypt cost %d, at most %d is allowed", cost, maxBcryptCost))
	}
	return bcryptHash{text, cost, digest}, nil
}

// bcryptAlphabet is the base64 of bcrypt.
const bcryptAlphabet = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// isBcrypt reports whether hash has a prefix of bcrypt.
func isBcrypt(hash string) bool {
	return strings.HasPrefix(hash, "$2a$") || strings.HasPrefix(hash, "$2b$") || strings.HasPrefix(hash, "$2y$")
}

func (b bcryptHash) kib() int64 { return 0 }

func (b bcryptHash) matches(h *Hasher, password string) (bool, error) {
	if !h.meter.spend(bcryptWork, 1<<b.cost) {
		return false, nil
	}
	// Its comparison takes the same time wherever the hashes differ.
	err := bcrypt.CompareHashAndPassword([]byte(b.text), []byte(b.digest(password, b.text[7:29])))
	if err != nil && !errors.Is(err, bcrypt.ErrMismatchedHashAndPassword) {
		_, err = refuse("damaged bcrypt hash")
		return false, err
	}
	return err == nil, nil
}

func plainBcrypt(password, _ string) string { return password }

// hexSHA256 is what Django hashes: the digest as text.
//
// https://github.com/django/django/blob/main/django/contrib/auth/hashers.py
func hexSHA256(password, _ string) string {
	sum := sha256.Sum256([]byte(password))
	return hex.EncodeToString(sum[:])
}

// base64SHA256 is what version 1 of passlib's bcrypt_sha256 hashes.
func base64SHA256(password, _ string) string {
	sum := sha256.Sum256([]byte(password))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// base64HMAC is what version 2 hashes, with the text of the salt as the key.
func base64HMAC(password, salt string) string {
	mac := hmac.New(sha256.New, []byte(salt))
	mac.Write([]byte(password))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// parsePasslibBcrypt reads v=2,t=2b,r=cost$salt$key or, of version 1,
// 2b,cost$salt$key.
//
// https://passlib.readthedocs.io/en/stable/lib/passlib.hash.bcrypt_sha256.html
func parsePasslibBcrypt(rest string) (form, error) {
	fields := strings.Split(rest, "$")
	if len(fields) != 3 {
		return refuse("bcrypt_sha256 without parameters, salt and key")
	}
	digest := base64SHA256
	variant, rounds, _ := strings.Cut(fields[0], ",")
	if params, ok := strings.CutPrefix(fields[0], "v=2,t="); ok {
		digest = base64HMAC
		variant, rounds, _ = strings.Cut(params, ",r=")
	}
	cost, ok := positive(rounds)
	if !ok || len(fields[1]) != 22 {
		return refuse("damaged bcrypt_sha256 hash")
	}
	return parseBcrypt(fmt.Sprintf("$%s$%02d$%s%s", variant, cost, fields[1], fields[2]), digest)
}
