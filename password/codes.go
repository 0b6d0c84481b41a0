package password

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"slices"
)

// HashCodes returns the hashes of a set of codes that the program made at random, such as
// recovery codes, in their order. They are like those of [Hasher.Hash], but have one salt,
// so that [Hasher.VerifyCodes] compares a code with the whole set by one computation. A
// code needs at least 64 random bits: equal codes of one set have equal hashes. The errors
// are those of Hash.
func (h *Hasher) HashCodes(ctx context.Context, codes []string) ([]string, error) {
	p, err := h.cost()
	if err != nil {
		return nil, err
	}
	for _, code := range codes {
		switch {
		case code == "":
			return nil, ErrEmpty
		case len(code) > MaxLength:
			return nil, ErrTooLong
		}
	}
	release, err := h.acquire(ctx, int64(p.memory))
	if err != nil {
		return nil, err
	}
	defer release()
	s := stored{params: p, salt: make([]byte, saltLen), key: make([]byte, keyLen)}
	rand.Read(s.salt) // never fails
	hashes := make([]string, len(codes))
	for i, code := range codes {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("password: hash codes: %w", err)
		}
		s.key = s.keyOf(h, code)
		hashes[i] = s.String()
	}
	return hashes, nil
}

// VerifyCodes returns the index of the hash of a code in a set that [Hasher.HashCodes] made,
// or -1 if it has none. It is one computation, whatever the number of hashes, and
// compares the code with all of them. An error means that the code was not compared: ctx
// ended, or the hashes are damaged or not of one set ([ErrHash]).
func (h *Hasher) VerifyCodes(ctx context.Context, hashes []string, code string) (int, error) {
	if _, err := h.cost(); err != nil {
		return -1, err
	}
	if len(hashes) == 0 || code == "" || len(code) > MaxLength {
		return -1, nil
	}
	set := make([]stored, len(hashes))
	for i, hash := range hashes {
		var err error
		if set[i], err = parsePHC(hash); err != nil {
			return -1, err
		}
		if set[i].params != set[0].params || !slices.Equal(set[i].salt, set[0].salt) || len(set[i].key) != len(set[0].key) {
			return -1, fmt.Errorf("password: codes with several salts are not of one set: %w", ErrHash)
		}
	}
	release, err := h.acquire(ctx, set[0].kib())
	if err != nil {
		return -1, err
	}
	defer release()
	key, found := set[0].keyOf(h, code), -1
	for i, s := range set {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(key, s.key), i, found)
	}
	return found, nil
}
