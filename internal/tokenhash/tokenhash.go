// Package tokenhash computes the keyed hashes that Auth.js puts into the CSRF
// cookie and into the table of verification tokens: lower-case hexadecimal
// SHA-256 of the text followed by the secret.
//
// A list of secrets is one text joined by commas, because Auth.js writes it so
// into a shared database or cookie. With that form alone a new secret would
// invalidate every earlier hash, so more hashes are accepted than written: see
// [Hasher.Equal].
//
// The secret comes last and the hash is not an HMAC. A length extension attack
// can only append, which changes the secret, so it forges nothing here. A short
// secret can be searched for offline, so long ones are required.
package tokenhash

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"slices"
	"strings"
)

// Size is the length of a hash in characters.
const Size = 2 * sha256.Size

// A Hasher hashes with a list of secrets. It may be used concurrently. The zero
// value has no secret: [Hasher.Equal] returns false and [Hasher.Sum] panics.
type Hasher struct {
	// keys are the texts that may follow the hashed one. New hashes use the
	// first.
	keys []string
}

// New returns a Hasher for the secrets, newest first.
func New(secrets ...string) Hasher {
	var h Hasher
	add := func(key string) {
		// A key that consists of commas holds no secret.
		if strings.Trim(key, ",") != "" && !slices.Contains(h.keys, key) {
			h.keys = append(h.keys, key)
		}
	}
	for i := range secrets {
		add(strings.Join(secrets[i:], ","))
	}
	if len(secrets) > 1 {
		// To replace a secret on several machines, the new one is first listed
		// behind the old one: all machines know it before one writes with it.
		swapped := append([]string{secrets[1], secrets[0]}, secrets[2:]...)
		add(strings.Join(swapped, ","))
	}
	for _, secret := range secrets {
		add(secret)
	}
	return h
}

// Tenant returns a Hasher whose hashes are those of one tenant: tenants may share
// a secret and a table. Auth.js has no tenants and does not write or find such
// hashes. The empty name is no tenant, and returns h.
//
// The name follows the secret. Before the text it could be a part of the text
// that a client sends to a service without tenants.
func (h Hasher) Tenant(name string) Hasher {
	if name == "" {
		return h
	}
	var of Hasher
	for _, key := range h.keys {
		of.keys = append(of.keys, key+"\x00"+name)
	}
	return of
}

// Sum returns the hash of text in the form Auth.js writes. It panics when the
// Hasher has no secret: anyone could compute such a hash.
func (h Hasher) Sum(text string) string {
	var sum [Size]byte
	return string(h.AppendSum(sum[:0], []byte(text)))
}

// AppendSum appends what [Hasher.Sum] returns to dst.
func (h Hasher) AppendSum(dst, text []byte) []byte {
	if len(h.keys) == 0 {
		panic("tokenhash: no secret to hash with")
	}
	sum := digest(text, h.keys[0])
	return append(dst, sum[:]...)
}

// Equal reports whether hash is one of [Hasher.Candidates] of text. The time
// it takes depends on the length of text and the number of secrets only.
func (h Hasher) Equal(text, hash string) bool {
	if len(hash) != Size {
		return false
	}
	var got [Size]byte
	copy(got[:], hash)
	found := 0
	for _, key := range h.keys {
		want := digest(text, key)
		found |= subtle.ConstantTimeCompare(want[:], got[:])
	}
	return found == 1
}

// Candidates returns every hash of text that is accepted, the one of [Sum]
// first:
//
//   - with all secrets joined;
//   - with the newest secrets left out, as written before they were added (W-12);
//   - with the first two in the other order, as written by machines on which the
//     second does not lead yet;
//   - with each secret alone, as written by an installation without a list (Q22).
//
// It is for look-ups in a database, which cannot call [Hasher.Equal].
//
// [Sum]: Hasher.Sum
func (h Hasher) Candidates(text string) []string {
	all := make([]string, len(h.keys))
	for i, key := range h.keys {
		sum := digest(text, key)
		all[i] = string(sum[:])
	}
	return all
}

func digest[T string | []byte](text T, key string) [Size]byte {
	// Enough for a token and two long secrets without going to the heap.
	var short [256]byte
	joined := append(append(short[:0], text...), key...)
	sum := sha256.Sum256(joined)
	var out [Size]byte
	hex.Encode(out[:], sum[:])
	return out
}
