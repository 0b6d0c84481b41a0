package password

import (
	"crypto/pbkdf2"
	"crypto/sha1" //nolint:gosec // as HMAC in PBKDF2, which its weaknesses do not concern
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash"
	"strings"
)

// maxIterations bounds the work of a stored hash: a few seconds, for the longest
// key.
const maxIterations = 2_000_000

// A pbkdf2Hash is a hash of PBKDF2 with HMAC.
//
// https://www.rfc-editor.org/rfc/rfc8018#section-5.2
type pbkdf2Hash struct {
	digest     func() hash.Hash
	iterations int
	salt, key  []byte
}

// newPBKDF2 checks the parts of a hash. The name is sha1, sha256 or sha512.
func newPBKDF2(name string, iterations int, salt, key []byte) (form, error) {
	p := pbkdf2Hash{iterations: iterations, salt: salt, key: key}
	switch name {
	case "sha1":
		p.digest = sha1.New
	case "sha256":
		p.digest = sha256.New
	case "sha512":
		p.digest = sha512.New
	default:
		return refuse("PBKDF2 with another digest than SHA-1, SHA-256 and SHA-512")
	}
	if iterations < 1 || iterations > maxIterations {
		return refuse(fmt.Sprintf("%d iterations, 1 to %d are allowed", iterations, maxIterations))
	}
	if err := checkLen(len(salt), minForeignSalt, maxSalt); err != nil {
		return refuse("salt: " + err.Error())
	}
	if err := checkLen(len(key), minKey, maxKey); err != nil {
		return refuse("key: " + err.Error())
	}
	return p, nil
}

func (p pbkdf2Hash) kib() int64 { return 0 }

func (p pbkdf2Hash) matches(h *Hasher, password string) (bool, error) {
	// Each block of the key costs all iterations.
	blocks := (len(p.key) + p.digest().Size() - 1) / p.digest().Size()
	if !h.meter.spend(pbkdf2Work, p.iterations*blocks) {
		return false, nil
	}
	key, err := pbkdf2.Key(p.digest, password, p.salt, p.iterations, len(p.key))
	if err != nil { // only where the program is restricted to FIPS 140
		return false, fmt.Errorf("password: stored hash: %w", err)
	}
	return subtle.ConstantTimeCompare(key, p.key) == 1, nil
}

// parseDjangoPBKDF2 reads iterations$salt$key. The salt is text.
//
// https://github.com/django/django/blob/main/django/contrib/auth/hashers.py
func parseDjangoPBKDF2(digest, rest string) (form, error) {
	fields := strings.Split(rest, "$")
	if len(fields) != 3 {
		return refuse("PBKDF2 of Django without iterations, salt and key")
	}
	key, err := decodeBase64(padded, fields[2])
	if err != nil {
		return refuse("key: " + err.Error())
	}
	return textPBKDF2(digest, fields[0], fields[1], key)
}

// parseWerkzeugPBKDF2 reads digest:iterations$salt$key. The salt is text, the key is
// hexadecimal.
//
// https://github.com/pallets/werkzeug/blob/main/src/werkzeug/security.py
func parseWerkzeugPBKDF2(rest string) (form, error) {
	fields := strings.Split(rest, "$")
	digest, iterations, ok := strings.Cut(fields[0], ":")
	if len(fields) != 3 || !ok {
		return refuse("PBKDF2 of Werkzeug without digest, iterations, salt and key")
	}
	key, err := decodeHex(fields[2])
	if err != nil {
		return refuse("key: " + err.Error())
	}
	return textPBKDF2(digest, iterations, fields[1], key)
}

// textPBKDF2 is a hash whose salt is the bytes of a text.
func textPBKDF2(digest, iterations, salt string, key []byte) (form, error) {
	n, ok := positive(iterations)
	if !ok {
		return refuse("iterations are not a number")
	}
	return newPBKDF2(digest, n, []byte(salt), key)
}

// adapted is the base64 of passlib: without padding, and with "." for "+".
//
// https://passlib.readthedocs.io/en/stable/lib/passlib.utils.binary.html
var adapted = base64.NewEncoding("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789./").
	WithPadding(base64.NoPadding).Strict()

// parsePasslibPBKDF2 reads iterations$salt$key.
//
// https://passlib.readthedocs.io/en/stable/lib/passlib.hash.pbkdf2_digest.html
func parsePasslibPBKDF2(digest, rest string) (form, error) {
	fields := strings.Split(rest, "$")
	if len(fields) != 3 {
		return refuse("PBKDF2 without iterations, salt and key")
	}
	salt, err := decodeBase64(adapted, fields[1])
	if err != nil {
		return refuse("salt: " + err.Error())
	}
	key, err := decodeBase64(adapted, fields[2])
	if err != nil {
		return refuse("key: " + err.Error())
	}
	return textPBKDF2(digest, fields[0], string(salt), key)
}

// parseASPNET reads the base64 of version 2, which is 0, 16 bytes of salt and 32 of
// key, or of version 3, which is 1, three numbers, the salt and the key. The numbers
// are the digest, the iterations and the length of the salt.
//
// https://github.com/dotnet/aspnetcore/blob/main/src/Identity/Extensions.Core/src/PasswordHasher.cs
func parseASPNET(text string) (form, error) {
	data, err := decodeBase64(padded, text)
	switch {
	case err != nil || len(data) == 0:
	case data[0] == 0 && len(data) == 1+16+32:
		return newPBKDF2("sha1", 1000, data[1:17], data[17:])
	case data[0] == 1 && len(data) > 13:
		digest := binary.BigEndian.Uint32(data[1:])
		iterations := binary.BigEndian.Uint32(data[5:])
		saltLen := binary.BigEndian.Uint32(data[9:])
		rest := data[13:]
		switch {
		case digest > 2:
			return refuse("ASP.NET Identity with an unknown digest")
		case uint64(saltLen) > uint64(len(rest)):
			return refuse("ASP.NET Identity, cut short")
		}
		return newPBKDF2([]string{"sha1", "sha256", "sha512"}[digest], int(iterations), rest[:saltLen], rest[saltLen:])
	}
	return refuse("no known form")
}
