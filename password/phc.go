package password

import (
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
)

// ErrHash is matched by errors about a stored hash that this package cannot
// verify.
var ErrHash = errors.New("the password hash cannot be verified")

// The bounds of a stored hash. A hash is data: an attacker who can write one row
// must not be able to stop the server with it.
const (
	maxMemory  = 256 << 10 // KiB
	maxPasses  = 64
	maxThreads = 16
	maxWork    = 1 << 20 // KiB times passes; a few seconds

	minSalt, maxSalt = 8, 64 // bytes
	minKey, maxKey   = 16, 64

	maxPHC = 256 // characters of the whole string
)

// params are the cost of one Argon2id hash.
type params struct {
	memory  uint32 // KiB
	passes  uint32
	threads uint8
}

// check rejects costs beyond the bounds of RFC 9106 and of this package.
//
// https://www.rfc-editor.org/rfc/rfc9106#section-3.1
func (p params) check() error {
	switch {
	case p.threads < 1 || p.threads > maxThreads:
		return fmt.Errorf("%d threads, 1 to %d are allowed", p.threads, maxThreads)
	case p.passes < 1 || p.passes > maxPasses:
		return fmt.Errorf("%d passes, 1 to %d are allowed", p.passes, maxPasses)
	case p.memory < 8*uint32(p.threads) || p.memory > maxMemory:
		return fmt.Errorf("%d KiB of memory, 8 for each thread to %d are allowed", p.memory, maxMemory)
	case uint64(p.memory)*uint64(p.passes) > maxWork:
		return fmt.Errorf("%d passes over %d KiB are too much work", p.passes, p.memory)
	}
	return nil
}

// stored is a hash in the PHC string format, taken apart.
//
// https://github.com/P-H-C/phc-string-format/blob/master/phc-sf-spec.md
type stored struct {
	params
	salt, key []byte
}

func (s stored) String() string {
	return fmt.Sprintf("$argon2id$v=19$m=%d,t=%d,p=%d$%s$%s", s.memory, s.passes, s.threads,
		base64.RawStdEncoding.EncodeToString(s.salt), base64.RawStdEncoding.EncodeToString(s.key))
}

func (s stored) kib() int64 { return int64(s.memory) }

// keyOf computes the key of a password. It is empty if the meter only counts.
func (s stored) keyOf(h *Hasher, password string) []byte {
	if !h.meter.spend(argon2Work, int(s.memory)*int(s.passes)) {
		return nil
	}
	return argon2.IDKey([]byte(password), s.salt, s.passes, s.memory, s.threads, uint32(len(s.key))) //nolint:gosec // at most maxKey
}

func (s stored) matches(h *Hasher, password string) (bool, error) {
	return subtle.ConstantTimeCompare(s.keyOf(h, password), s.key) == 1, nil
}

// parsePHC accepts exactly the form that String writes, so that a hash has one
// spelling. Errors name the fault without repeating the hash.
func parsePHC(text string) (stored, error) {
	fail := func(what string) (stored, error) {
		return stored{}, fmt.Errorf("password: stored hash: %s: %w", what, ErrHash)
	}
	if len(text) > maxPHC {
		return fail("too long")
	}
	fields := strings.Split(text, "$")
	if len(fields) != 6 || fields[0] != "" || fields[1] != "argon2id" {
		return fail("not Argon2id")
	}
	if fields[2] != "v=19" {
		return fail("another version of Argon2 than 19")
	}
	var s stored
	costs := strings.Split(fields[3], ",")
	if len(costs) != 3 {
		return fail("parameters are not m, t and p")
	}
	memory, okM := number(costs[0], "m=", 32)
	passes, okT := number(costs[1], "t=", 32)
	threads, okP := number(costs[2], "p=", 8)
	if !okM || !okT || !okP {
		return fail("parameters are not m, t and p")
	}
	s.params = params{uint32(memory), uint32(passes), uint8(threads)} //nolint:gosec // number keeps to these sizes
	if err := s.check(); err != nil {
		return fail(err.Error())
	}
	var err error
	if s.salt, err = decode(fields[4], minSalt, maxSalt); err != nil {
		return fail("salt: " + err.Error())
	}
	if s.key, err = decode(fields[5], minKey, maxKey); err != nil {
		return fail("key: " + err.Error())
	}
	return s, nil
}

// number reads a decimal without sign or leading zero behind a prefix.
func number(text, prefix string, bits int) (uint64, bool) {
	digits, ok := strings.CutPrefix(text, prefix)
	if !ok || strings.HasPrefix(digits, "0") {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, bits)
	return n, err == nil
}

func decode(text string, minLen, maxLen int) ([]byte, error) {
	// The decoder skips line breaks, which would be a second spelling.
	data, err := base64.RawStdEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") {
		return nil, errors.New("not base64 without padding")
	}
	if len(data) < minLen || len(data) > maxLen {
		return nil, fmt.Errorf("%d bytes, %d to %d are allowed", len(data), minLen, maxLen)
	}
	return data, nil
}
