package password

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
)

// Devise holds the pepper of an application of Ruby on Rails, config.pepper in
// config/initializers/devise.rb. Devise appends it to each password. Put it into
// [Hasher.Devise], and import the hashes of the application with [Devise.Import].
//
// The pepper is a secret of the application and is in no stored hash. It is not
// printed or logged.
type Devise struct {
	Pepper string // empty if the application has none
}

// String names the application by what Import stores of its pepper. GoString and
// LogValue do the same.
func (d Devise) String() string { return "{" + d.id() + "}" }

// GoString is String for the verb %#v.
func (d Devise) GoString() string { return "password.Devise" + d.String() }

// LogValue is String for the log.
func (d Devise) LogValue() slog.Value { return slog.StringValue(d.String()) }

// Import checks a hash of bcrypt, the column encrypted_password, and returns the text
// to store, which [Hasher.Verify] accepts if [Hasher.Devise] has the application. Without
// a pepper it is the hash itself. A user without a hash has no password: the text is
// empty. For errors see [Import].
//
// https://github.com/heartcombo/devise/blob/main/lib/devise/encryptor.rb
func (d Devise) Import(hash string) (string, error) {
	switch {
	case unusable(hash):
		return "", nil
	case !isBcrypt(hash):
		_, err := refuse("no hash of bcrypt, which Devise makes")
		return "", err
	case d.Pepper == "":
		return Import(hash)
	}
	return Import(pepperedPrefix + d.id() + hash)
}

const pepperedPrefix = "$peppered$"

// id tells peppers apart, so that a missing one is an error and no wrong password. It has
// 16 bits: a pepper that is a word cannot be found by it alone.
func (d Devise) id() string {
	if d.Pepper == "" {
		return "no pepper"
	}
	sum := sha256.Sum256([]byte("pintle pepper\x00" + d.Pepper))
	return hex.EncodeToString(sum[:2])
}

// A pepperedHash is a hash of bcrypt of a password and a pepper.
type pepperedHash struct {
	bcryptHash
	id string
}

// parsePeppered reads id$2b$…. The form is ours.
func parsePeppered(rest string) (form, error) {
	id, bcrypt, found := strings.Cut(rest, "$")
	if !found || len(id) != 4 {
		return refuse("hash with a pepper that is not named")
	}
	f, err := parseBcrypt("$"+bcrypt, plainBcrypt)
	if err != nil {
		return nil, err
	}
	return pepperedHash{f.(bcryptHash), id}, nil
}

func (p pepperedHash) matches(h *Hasher, password string) (bool, error) {
	known := false
	for _, d := range h.Devise {
		if d.Pepper == "" || d.id() != p.id {
			continue
		}
		known = true
		if same, err := p.bcryptHash.matches(h, password+d.Pepper); same || err != nil {
			return same, err
		}
	}
	if !known {
		return false, fmt.Errorf("password: stored hash: its pepper is not in Hasher.Devise: %w", ErrHash)
	}
	return false, nil
}
