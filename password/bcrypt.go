package password

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/crypto/bcrypt"
)

const (
	// maxBcryptCost bounds the work that a stored hash can cause: about a second.
	maxBcryptCost = 14

	// maxBcryptLen is how many bytes of a password bcrypt reads.
	maxBcryptLen = 72
)

// verifyBcrypt rejects passwords that bcrypt would truncate: two different ones
// could match one hash.
func (h *Hasher) verifyBcrypt(ctx context.Context, hash, password string) (bool, error) {
	cost, err := bcrypt.Cost([]byte(hash))
	if err != nil || len(hash) != 60 {
		return false, fmt.Errorf("password: stored hash: damaged bcrypt hash: %w", ErrHash)
	}
	if cost > maxBcryptCost {
		return false, fmt.Errorf("password: stored hash: bcrypt cost %d, at most %d is allowed: %w", cost, maxBcryptCost, ErrHash)
	}
	// It needs a core, but almost no memory: it counts as one hash.
	p, err := h.cost()
	if err != nil {
		return false, err
	}
	release, err := h.acquire(ctx, int64(p.memory))
	if err != nil {
		return false, err
	}
	defer release()
	switch err := bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)); {
	case err == nil:
		return password != "" && len(password) <= maxBcryptLen, nil
	case errors.Is(err, bcrypt.ErrMismatchedHashAndPassword):
		return false, nil
	default:
		return false, fmt.Errorf("password: stored hash: damaged bcrypt hash: %w", ErrHash)
	}
}
