package password_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/password"
)

func TestACodeIsFoundInItsSet(t *testing.T) {
	h := &password.Hasher{Memory: 64, Passes: 1}
	var codes []string
	for i := range 10 {
		codes = append(codes, fmt.Sprintf("code number %d", i))
	}
	hashes, err := h.HashCodes(t.Context(), codes)
	if err != nil {
		t.Fatal(err)
	}
	for i, code := range append(codes, "", "code number 10", strings.Repeat("x", password.MaxLength+1)) {
		want := i
		if i >= len(codes) {
			want = -1
		}
		if got, err := h.VerifyCodes(t.Context(), hashes, code); got != want || err != nil {
			t.Errorf("code %d is found at %d, %v", i, got, err)
		}
	}
	for i, hash := range hashes {
		if right, err := h.Verify(t.Context(), hash, codes[i]); !right || err != nil {
			t.Errorf("the hash %d of a code is not like one of Hash: %v, %v", i, right, err)
		}
	}
}

// AC-112
func TestTheCodesOfASetHaveOneSaltAndThoseOfTwoHaveTwo(t *testing.T) {
	h := &password.Hasher{Memory: 64, Passes: 1}
	salts := map[string]bool{}
	var mixed []string
	for range 2 {
		hashes, err := h.HashCodes(t.Context(), []string{"a", "b"})
		if err != nil {
			t.Fatal(err)
		}
		first, second := strings.Split(hashes[0], "$"), strings.Split(hashes[1], "$")
		if first[4] != second[4] || first[5] == second[5] {
			t.Errorf("the codes of a set are %q", hashes)
		}
		salts[first[4]] = true
		mixed = append(mixed, hashes[0])
	}
	if len(salts) != 2 {
		t.Error("two sets have one salt")
	}
	if i, err := h.VerifyCodes(t.Context(), mixed, "a"); i != -1 || !errors.Is(err, password.ErrHash) {
		t.Errorf("a mixture of sets answers %d, %v", i, err)
	}
}

func TestCodesThatCannotBeComparedAreAnError(t *testing.T) {
	h := &password.Hasher{Memory: 64, Passes: 1}
	hashes, err := h.HashCodes(t.Context(), []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	if i, err := h.VerifyCodes(t.Context(), append(slices.Clone(hashes), "$argon2id$damaged"), "a"); i != -1 || !errors.Is(err, password.ErrHash) {
		t.Errorf("a damaged hash answers %d, %v", i, err)
	}
	if i, err := h.VerifyCodes(t.Context(), nil, "a"); i != -1 || err != nil {
		t.Errorf("an empty set answers %d, %v", i, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.HashCodes(ended, []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("HashCodes ends with its context by %v", err)
	}
	for code, want := range map[string]error{"": password.ErrEmpty, strings.Repeat("x", password.MaxLength+1): password.ErrTooLong} {
		if _, err := h.HashCodes(t.Context(), []string{code}); !errors.Is(err, want) {
			t.Errorf("a code of %d bytes is hashed: %v", len(code), err)
		}
	}
}
