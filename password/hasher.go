package password

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/crypto/argon2"
	"golang.org/x/sync/semaphore"
)

// MaxLength is how many bytes a password may have. It is far longer than any
// password that is typed or generated, and bounds the work for an anonymous
// client.
const MaxLength = 1 << 10

var (
	// ErrTooLong is returned by [Hasher.Hash] for a password beyond
	// [MaxLength].
	ErrTooLong = fmt.Errorf("password: longer than %d bytes", MaxLength)

	// ErrEmpty is returned by [Hasher.Hash] for the empty password.
	ErrEmpty = errors.New("password: empty")
)

const (
	saltLen = 16 // bytes, as RFC 9106 recommends
	keyLen  = 32
)

// A Hasher makes and verifies hashes. The zero value is ready to use; set the
// fields before the first call. Its methods may be called concurrently, and it
// must not be copied after that.
//
// A change of Memory, Passes or Threads affects new hashes only. Old ones still
// match; see [Hasher.Outdated].
type Hasher struct {
	// Memory is the memory of one hash, in KiB. Zero means 19456 (19 MiB).
	Memory uint32
	// Passes is the number of passes over the memory. Zero means 2.
	Passes uint32
	// Threads is how many cores one hash uses. Zero means 1.
	Threads uint8

	// Concurrent is how many hashes of this cost may be computed at a time;
	// further calls wait. Zero means as many as there are cores to compute
	// them. Hashes of higher cost count as several, so that Memory times
	// Concurrent is the most memory that hashing takes, or the memory of a
	// single stored hash (at most 256 MiB) if that is more.
	Concurrent int

	once   sync.Once
	memory *semaphore.Weighted // in KiB
	total  int64
}

// cost returns the settings with the defaults filled in.
//
// https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html#argon2id
func (h *Hasher) cost() (params, error) {
	p := params{h.Memory, h.Passes, h.Threads}
	if p.memory == 0 {
		p.memory = 19 << 10
	}
	if p.passes == 0 {
		p.passes = 2
	}
	if p.threads == 0 {
		p.threads = 1
	}
	if err := p.check(); err != nil {
		return params{}, fmt.Errorf("password: Hasher: %w", err)
	}
	return p, nil
}

// Hash returns a new hash of password as a PHC string of about 100 characters,
// "$argon2id$v=19$m=19456,t=2,p=1$salt$key". Two hashes of one password differ.
// Hash waits until fewer than Concurrent hashes are computed, or ctx is done.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	p, err := h.cost()
	switch {
	case err != nil:
		return "", err
	case password == "":
		return "", ErrEmpty
	case len(password) > MaxLength:
		return "", ErrTooLong
	}
	s := stored{params: p, salt: make([]byte, saltLen)}
	rand.Read(s.salt) // never fails
	if s.key, err = h.derive(ctx, p, password, s.salt, keyLen); err != nil {
		return "", err
	}
	return s.String(), nil
}

// Verify reports whether hash is a hash of password. Like [Hasher.Hash] it waits
// for other hashes.
//
// Hashes are PHC strings of Argon2id, with any settings, or bcrypt hashes ($2a$,
// $2b$, $2y$) up to cost 14, so that existing users can sign in; replace those
// that [Hasher.Outdated] reports. An error means that the password was not
// compared: ctx ended, or the hash is damaged ([ErrHash]). A wrong password is
// not an error.
//
// The empty hash stands for an unknown user: no password matches it, in the time
// that a hash of this Hasher takes. That hides which users have an account if
// their hashes have the current settings. Bcrypt and outdated hashes take a
// different time until they are replaced, which may reveal those accounts.
func (h *Hasher) Verify(ctx context.Context, hash, password string) (bool, error) {
	p, err := h.cost()
	if err != nil {
		return false, err
	}
	if len(password) > MaxLength {
		return false, nil // for every user, so it reveals no account
	}
	if isBcrypt(hash) {
		return h.verifyBcrypt(ctx, hash, password)
	}
	s, parseErr := parsePHC(hash)
	if parseErr != nil {
		// An empty or damaged hash causes the same work as a valid one.
		s = stored{params: p, salt: make([]byte, saltLen), key: make([]byte, keyLen)}
	}
	key, err := h.derive(ctx, s.params, password, s.salt, uint32(len(s.key))) //nolint:gosec // at most maxKey
	switch {
	case err != nil:
		return false, err
	case hash == "":
		return false, nil
	case parseErr != nil:
		return false, parseErr
	}
	return subtle.ConstantTimeCompare(key, s.key) == 1 && password != "", nil
}

// Outdated reports whether a hash has other settings than new ones. If it does,
// store a new hash after a successful [Hasher.Verify], while the password is
// known, and only if the stored hash still is the one that was verified: otherwise
// a sign-in under way brings back the old password after a change. The empty hash
// is not outdated.
func (h *Hasher) Outdated(hash string) bool {
	p, err := h.cost()
	if err != nil || hash == "" {
		return false
	}
	s, err := parsePHC(hash)
	return err != nil || s.params != p || len(s.salt) < saltLen || len(s.key) != keyLen
}

func (h *Hasher) derive(ctx context.Context, p params, password string, salt []byte, size uint32) ([]byte, error) {
	release, err := h.acquire(ctx, int64(p.memory))
	if err != nil {
		return nil, err
	}
	defer release()
	return argon2.IDKey([]byte(password), salt, p.passes, p.memory, p.threads, size), nil
}

// acquire waits until kib of memory may be used.
func (h *Hasher) acquire(ctx context.Context, kib int64) (release func(), err error) {
	h.once.Do(func() {
		p, _ := h.cost() // checked by every caller
		n := h.Concurrent
		if n <= 0 {
			n = max(1, runtime.GOMAXPROCS(0)/int(p.threads))
		}
		h.total = int64(n) * int64(p.memory)
		h.memory = semaphore.NewWeighted(h.total)
	})
	kib = min(kib, h.total)
	if err := h.memory.Acquire(ctx, kib); err != nil {
		return nil, fmt.Errorf("password: wait for others to be hashed: %w", err)
	}
	return func() { h.memory.Release(kib) }, nil
}

// isBcrypt reports whether hash has a prefix of bcrypt.
func isBcrypt(hash string) bool {
	return strings.HasPrefix(hash, "$2a$") || strings.HasPrefix(hash, "$2b$") || strings.HasPrefix(hash, "$2y$")
}
