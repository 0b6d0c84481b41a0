package password

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

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
	// them. Hashes that need more memory count as several, those of other
	// systems that need less as one, so that Memory times Concurrent is the most
	// memory that hashing takes, or the memory of a single stored hash (at most
	// 256 MiB) if that is more.
	Concurrent int

	// Firebase has the projects of Firebase Authentication whose hashes were
	// imported with [Firebase.Import].
	Firebase []Firebase

	// Devise has the applications whose hashes were imported with [Devise.Import], if
	// they have a pepper.
	Devise []Devise

	blankOnce sync.Once
	blankText string

	once   sync.Once
	memory *semaphore.Weighted // in KiB
	total  int64
	meter  *meter
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
	s, err := h.fresh(ctx, p, password)
	if err != nil {
		return "", err
	}
	return s.String(), nil
}

// fresh hashes a text with a new salt.
func (h *Hasher) fresh(ctx context.Context, p params, text string) (stored, error) {
	release, err := h.acquire(ctx, int64(p.memory))
	if err != nil {
		return stored{}, err
	}
	defer release()
	s := stored{params: p, salt: make([]byte, saltLen), key: make([]byte, keyLen)}
	rand.Read(s.salt) // never fails
	s.key = s.keyOf(h, text)
	return s, nil
}

// Verify reports whether hash is a hash of password. Like [Hasher.Hash] it waits
// for other hashes.
//
// Hashes are PHC strings of Argon2id, with any settings, or the hash of another
// system that [Import] accepts, so that existing users can sign in; replace those
// that [Hasher.Outdated] reports. An error means that the password was not
// compared: ctx ended, or the hash is damaged or costs too much ([ErrHash]). It is
// for the operator. A wrong password is not an error.
//
// The empty hash stands for an unknown user, or one without a password: no password
// matches it, in the time that a hash of this Hasher takes. So do texts that begin
// with "!". That hides which users have an account if their hashes have the current
// settings. Other hashes take a different time until they are replaced, which may
// reveal those accounts.
//
// A hash of bcrypt matches the first 72 bytes of a longer password, because it knows
// no more; the hash that replaces it knows the whole.
func (h *Hasher) Verify(ctx context.Context, hash, password string) (bool, error) {
	own, err := h.cost()
	if err != nil {
		return false, err
	}
	if len(password) > MaxLength {
		return false, nil // for every user, so it reveals no account
	}
	// An empty or damaged hash causes the same work as a valid one, which is also parsed.
	text, none := hash, unusable(hash)
	if none {
		text = h.blank(own)
	}
	f, parseErr := parse(text)
	if parseErr != nil {
		f, none, err = blank(own), true, parseErr
	}
	// A hash takes a core, however little memory it needs.
	release, waitErr := h.acquire(ctx, max(f.kib(), int64(own.memory)))
	if waitErr != nil {
		return false, waitErr
	}
	defer release()
	same, workErr := f.matches(h, password)
	switch {
	case workErr != nil:
		return false, workErr
	case none:
		return false, err
	}
	return same && acceptable(f, password), nil
}

// blank is a hash that no password is known for.
func blank(p params) stored {
	return stored{params: p, salt: make([]byte, saltLen), key: make([]byte, keyLen)}
}

func (h *Hasher) blank(own params) string {
	h.blankOnce.Do(func() { h.blankText = blank(own).String() })
	return h.blankText
}

// acceptable reports whether a password that matches is one. No account has the
// empty password, even if another program stored its hash.
//
// Nor does one of another system have a zero byte: programs disagree whether it ends
// a password, and both bcrypt and HMAC give several such texts one hash.
func acceptable(f form, password string) bool {
	if _, own := f.(stored); !own && strings.Contains(password, "\x00") {
		return false
	}
	return password != ""
}

// Outdated reports whether a hash has other settings than new ones, or is one of
// another system. If it is,
// store a new hash after a successful [Hasher.Verify], while the password is
// known, and only if the stored hash still is the one that was verified: otherwise
// a sign-in under way brings back the old password after a change. The hash of a user
// without a password is not outdated.
func (h *Hasher) Outdated(hash string) bool {
	p, err := h.cost()
	if err != nil || unusable(hash) {
		return false
	}
	s, err := parsePHC(hash)
	return err != nil || s.params != p || len(s.salt) < saltLen || len(s.key) != keyLen
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
