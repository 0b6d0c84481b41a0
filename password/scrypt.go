package password

import (
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"math/bits"
	"strings"

	"golang.org/x/crypto/scrypt"
	"golang.org/x/text/unicode/norm"
)

// The bounds of scrypt. Its memory is 128 bytes times N times r, at most 256 MiB.
const (
	maxScryptN    = 1 << 17
	maxScryptR    = 16
	maxScryptP    = 16
	maxScryptWork = maxScryptN * maxScryptR // N times r times p; a few seconds
)

// scryptCost is the cost of a hash of scrypt.
//
// https://www.rfc-editor.org/rfc/rfc7914#section-2
type scryptCost struct{ n, r, p int }

func (c scryptCost) check() error {
	switch {
	case c.n < 2 || c.n > maxScryptN || bits.OnesCount(uint(c.n)) != 1:
		return fmt.Errorf("scrypt with N %d, a power of two to %d is allowed", c.n, maxScryptN)
	case c.r < 1 || c.r > maxScryptR:
		return fmt.Errorf("scrypt with r %d, 1 to %d are allowed", c.r, maxScryptR)
	case c.p < 1 || c.p > maxScryptP:
		return fmt.Errorf("scrypt with p %d, 1 to %d are allowed", c.p, maxScryptP)
	case c.n*c.r*c.p > maxScryptWork:
		return fmt.Errorf("scrypt with N %d, r %d and p %d is too much work", c.n, c.r, c.p)
	}
	return nil
}

func (c scryptCost) kib() int64 { return int64(c.n) * int64(c.r) / 8 }

// key is empty if the meter only counts.
func (c scryptCost) key(h *Hasher, password string, salt []byte, size int) ([]byte, error) {
	if !h.meter.spend(scryptWork, c.n*c.r*c.p) {
		return nil, nil
	}
	key, err := scrypt.Key([]byte(password), salt, c.n, c.r, c.p, size)
	if err != nil { // the bounds are narrower than those of the library
		return nil, fmt.Errorf("password: stored hash: %w", err)
	}
	return key, nil
}

// A scryptHash is a hash of scrypt.
type scryptHash struct {
	scryptCost
	compose   bool // whether the password is normalised to NFKC
	salt, key []byte
}

func newScrypt(s scryptHash) (form, error) {
	if err := s.check(); err != nil {
		return refuse(err.Error())
	}
	if err := checkLen(len(s.salt), minForeignSalt, maxSalt); err != nil {
		return refuse("salt: " + err.Error())
	}
	if err := checkLen(len(s.key), minKey, maxKey); err != nil {
		return refuse("key: " + err.Error())
	}
	return s, nil
}

func (s scryptHash) matches(h *Hasher, password string) (bool, error) {
	if s.compose {
		password = norm.NFKC.String(password)
	}
	key, err := s.scryptCost.key(h, password, s.salt, len(s.key))
	return subtle.ConstantTimeCompare(key, s.key) == 1, err
}

// parsePHCScrypt reads ln=…,r=…,p=…$salt$key.
//
// https://passlib.readthedocs.io/en/stable/lib/passlib.hash.scrypt.html
func parsePHCScrypt(rest string) (form, error) {
	fields := strings.Split(rest, "$")
	if len(fields) != 3 {
		return refuse("scrypt without parameters, salt and key")
	}
	cost, others, ok := parseScryptCost(fields[0])
	if !ok || len(others) != 0 {
		return refuse("parameters are not ln, r and p")
	}
	salt, err := decodeBase64(unpadded, fields[1])
	if err != nil {
		return refuse("salt: " + err.Error())
	}
	key, err := decodeBase64(unpadded, fields[2])
	if err != nil {
		return refuse("key: " + err.Error())
	}
	return newScrypt(scryptHash{scryptCost: cost, salt: salt, key: key})
}

// unpadded is base64 as PHC strings have it.
var unpadded = base64.RawStdEncoding.Strict()

// parseScryptCost reads ln=…,r=…,p=… and returns what follows.
func parseScryptCost(text string) (cost scryptCost, others []string, ok bool) {
	params := strings.Split(text, ",")
	if len(params) < 3 {
		return scryptCost{}, nil, false
	}
	ln, okN := number(params[0], "ln=", 5)
	r, okR := number(params[1], "r=", 16)
	p, okP := number(params[2], "p=", 16)
	return scryptCost{1 << ln, int(r), int(p)}, params[3:], okN && okR && okP //nolint:gosec // number keeps to these sizes
}

// parseDjangoScrypt reads N$salt$r$p$key. The salt is text.
//
// https://github.com/django/django/blob/main/django/contrib/auth/hashers.py
func parseDjangoScrypt(rest string) (form, error) {
	fields := strings.Split(rest, "$")
	if len(fields) != 5 {
		return refuse("scrypt of Django without N, salt, r, p and key")
	}
	key, err := decodeBase64(padded, fields[4])
	if err != nil {
		return refuse("key: " + err.Error())
	}
	return textScrypt(fields[0], fields[2], fields[3], fields[1], key)
}

// parseWerkzeugScrypt reads N:r:p$salt$key. The salt is text, the key is
// hexadecimal.
//
// https://github.com/pallets/werkzeug/blob/main/src/werkzeug/security.py
func parseWerkzeugScrypt(rest string) (form, error) {
	fields := strings.Split(rest, "$")
	params := strings.Split(fields[0], ":")
	if len(fields) != 3 || len(params) != 3 {
		return refuse("scrypt of Werkzeug without N, r, p, salt and key")
	}
	key, err := decodeHex(fields[2])
	if err != nil {
		return refuse("key: " + err.Error())
	}
	return textScrypt(params[0], params[1], params[2], fields[1], key)
}

// textScrypt is a hash whose salt is the bytes of a text.
func textScrypt(n, r, p, salt string, key []byte) (form, error) {
	nn, okN := positive(n)
	rr, okR := positive(r)
	pp, okP := positive(p)
	if !okN || !okR || !okP {
		return refuse("parameters of scrypt are not numbers")
	}
	return newScrypt(scryptHash{scryptCost: scryptCost{nn, rr, pp}, salt: []byte(salt), key: key})
}

// parseColonScrypt reads salt:key of Better Auth and Lucia. The key is hexadecimal.
// So is the salt, and its text is what counts, not the bytes that it stands for.
//
// https://github.com/better-auth/better-auth/blob/main/packages/better-auth/src/crypto/password.ts
func parseColonScrypt(rest string) (form, error) {
	salt, digits, _ := strings.Cut(rest, ":")
	key, err := decodeHex(digits)
	if err != nil || len(key) != 64 {
		return refuse("no known form")
	}
	return newScrypt(scryptHash{scryptCost: scryptCost{1 << 14, 16, 1}, compose: true, salt: []byte(salt), key: key})
}
