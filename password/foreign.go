package password

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

const (
	// maxText is how many characters a stored hash may have.
	maxText = 768

	// minForeignSalt is the shortest salt of another system, in bytes. Old systems
	// have short ones, and their hashes are replaced at the first sign-in.
	minForeignSalt = 1
)

// Import checks a hash of another system and returns the text to store, which
// [Hasher.Verify] accepts. It computes nothing, so a whole table is checked in
// seconds. These texts say what they are, and are returned unchanged:
//
//   - PHC strings of Argon2id and scrypt: $argon2id$v=19$…, $scrypt$ln=…,r=…,p=…$…
//   - bcrypt of any system: $2a$…, $2b$…, $2y$…
//   - Django: pbkdf2_sha256$…, pbkdf2_sha1$…, scrypt$…, argon2$argon2id$…,
//     bcrypt_sha256$$2b$…, bcrypt$$2b$…
//   - ASP.NET Identity, versions 2 and 3: base64
//   - Better Auth and the class Scrypt of Lucia 3: salt:key; Lucia 2: s2:salt:key
//   - Werkzeug: scrypt:N:r:p$salt$key, pbkdf2:sha256:iterations$salt$key
//   - passlib: $pbkdf2-sha256$…, $pbkdf2-sha512$…, $pbkdf2$…, $bcrypt-sha256$…,
//     $scrypt$…
//
// The empty text and the unusable passwords of Django, which begin with "!", are
// users without a password: Import returns the empty text.
//
// An error matches [ErrHash] and says what is wrong, without the hash: a form that
// is not known, a damaged text, or a cost above what [Hasher.Verify] would compute.
// Such a user needs a new password. For other sources see [ImportKeycloak],
// [Firebase.Import], [Devise.Import] and [Hasher.Wrap].
func Import(hash string) (string, error) {
	if unusable(hash) {
		return "", nil
	}
	if _, err := parse(hash); err != nil {
		return "", err
	}
	return hash, nil
}

// unusable reports whether a text stands for a user without a password.
//
// https://docs.djangoproject.com/en/5.2/ref/contrib/auth/#django.contrib.auth.models.User.set_unusable_password
func unusable(hash string) bool { return hash == "" || strings.HasPrefix(hash, "!") }

// A form is a stored hash, taken apart, whose work is within the bounds.
type form interface {
	// kib is the memory that a comparison takes, in KiB.
	kib() int64

	// matches reports whether the hash is one of password. An error means that it
	// could not be computed.
	matches(h *Hasher, password string) (bool, error)
}

// parsers are the forms by their prefix. The first that fits decides.
var parsers = []struct {
	prefix string
	parse  func(text, rest string) (form, error)
}{
	{"$argon2id$", func(text, _ string) (form, error) { return parseArgon2id(text) }},
	{"argon2$", func(_, rest string) (form, error) { return parseArgon2id("$" + rest) }}, // Django
	{"$2", func(text, _ string) (form, error) { return parseBcrypt(text, plainBcrypt) }},
	{"bcrypt$", func(_, rest string) (form, error) { return parseBcrypt(rest, plainBcrypt) }}, // Django
	{"bcrypt_sha256$", func(_, rest string) (form, error) { return parseBcrypt(rest, hexSHA256) }},
	{"$bcrypt-sha256$", func(_, rest string) (form, error) { return parsePasslibBcrypt(rest) }},
	{"$pbkdf2$", func(_, rest string) (form, error) { return parsePasslibPBKDF2("sha1", rest) }},
	{"$pbkdf2-sha256$", func(_, rest string) (form, error) { return parsePasslibPBKDF2("sha256", rest) }},
	{"$pbkdf2-sha512$", func(_, rest string) (form, error) { return parsePasslibPBKDF2("sha512", rest) }},
	{"pbkdf2_sha1$", func(_, rest string) (form, error) { return parseDjangoPBKDF2("sha1", rest) }},
	{"pbkdf2_sha256$", func(_, rest string) (form, error) { return parseDjangoPBKDF2("sha256", rest) }},
	{"pbkdf2:", func(_, rest string) (form, error) { return parseWerkzeugPBKDF2(rest) }},
	{"$scrypt$", func(_, rest string) (form, error) { return parsePHCScrypt(rest) }},
	{"scrypt$", func(_, rest string) (form, error) { return parseDjangoScrypt(rest) }},
	{"scrypt:", func(_, rest string) (form, error) { return parseWerkzeugScrypt(rest) }},
	{"$firescrypt$", func(_, rest string) (form, error) { return parseFirebase(rest) }},
	{pepperedPrefix, func(_, rest string) (form, error) { return parsePeppered(rest) }},
	{"$wrapped$", func(_, rest string) (form, error) { return parseWrapped(rest) }},
	{"s2:", func(_, rest string) (form, error) { return parseColonScrypt(rest) }},

	{"$argon2", func(string, string) (form, error) { return refuse("neither Argon2i nor Argon2d is verified") }},
	{"md5$", refuseDigest},
	{"sha1$", refuseDigest},
	{"{S", refuseDigest}, // LDAP
	{"{MD5}", refuseDigest},
}

// parse takes a stored hash of any form apart. Its work is bounded by maxText.
func parse(text string) (form, error) {
	if len(text) > maxText {
		return refuse("too long")
	}
	for _, p := range parsers {
		if rest, ok := strings.CutPrefix(text, p.prefix); ok {
			return p.parse(text, rest)
		}
	}
	switch {
	case strings.Contains(text, ":"):
		return parseColonScrypt(text)
	case isDigest(text):
		return refuseDigest("", "")
	}
	return parseASPNET(text)
}

// refuse returns an error about a stored hash, which it does not repeat.
func refuse(what string) (form, error) {
	return nil, fmt.Errorf("password: stored hash: %s: %w", what, ErrHash)
}

// refuseDigest refuses what takes no work to guess. The texts of some systems look
// alike and mean different things: "sha1$salt$…" is a digest of both in Django, and
// an HMAC in old versions of Werkzeug.
func refuseDigest(string, string) (form, error) {
	return refuse("a digest that is quick to guess: wrap it with Hasher.Wrap")
}

// isDigest reports whether a text is a digest in hexadecimal.
func isDigest(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && (len(text) == 32 || len(text) == 40 || len(text) == 64 || len(text) == 128)
}

func parseArgon2id(text string) (form, error) {
	s, err := parsePHC(text)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// padded is base64 as most systems write it.
var padded = base64.StdEncoding.Strict()

func decodeBase64(enc *base64.Encoding, text string) ([]byte, error) {
	// The decoder skips line breaks, which would be a second spelling.
	data, err := enc.DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") {
		return nil, errors.New("not base64")
	}
	return data, nil
}

func decodeHex(text string) ([]byte, error) {
	data, err := hex.DecodeString(text)
	if err != nil {
		return nil, errors.New("not hexadecimal")
	}
	return data, nil
}

// checkLen checks how many bytes a salt or a key has. A hash is checked in one place,
// whatever text it came in.
func checkLen(n, minLen, maxLen int) error {
	if n < minLen || n > maxLen {
		return fmt.Errorf("%d bytes, %d to %d are allowed", n, minLen, maxLen)
	}
	return nil
}

// positive reads a decimal of at most 31 bits without sign or leading zero.
func positive(text string) (int, bool) {
	n, ok := number(text, "", 31)
	return int(n), ok //nolint:gosec // number keeps to 31 bits
}
