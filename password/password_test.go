package password_test

import (
	"context"
	"errors"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/pintleauth/pintle/password"
)

// cheap is for tests that do not depend on the cost.
func cheap() *password.Hasher { return &password.Hasher{Memory: 64, Passes: 1} }

func mustHash(t testing.TB, h *password.Hasher, text string) string {
	t.Helper()
	hash, err := h.Hash(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// ASVS-11.4.2
func TestTheZeroHasherUsesTheSettingsOWASPRecommends(t *testing.T) {
	var h password.Hasher
	hash := mustHash(t, &h, "correct horse")
	if !regexp.MustCompile(`^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$`).MatchString(hash) {
		t.Errorf("Hash = %s", hash)
	}
	if ok, err := h.Verify(t.Context(), hash, "correct horse"); !ok || err != nil {
		t.Errorf("Verify = %t, %v", ok, err)
	}
	if h.Outdated(hash) {
		t.Error("a new hash is outdated")
	}
}

func TestVerify(t *testing.T) {
	h := cheap()
	const (
		// From the tests of the reference implementation of Argon2.
		reference = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
		// From the tests of crypt_blowfish.
		bcrypt = "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"
	)
	own := mustHash(t, h, "pässword")
	tests := []struct {
		name, hash, password string
		want                 bool
		wantErr              error
	}{
		{"right", own, "pässword", true, nil},
		{"wrong", own, "passwort", false, nil},
		{"other case", own, "Pässword", false, nil},
		{"with a space after it", own, "pässword ", false, nil},
		{"in another Unicode form", own, "pa\u0308ssword", false, nil},
		{"empty password", own, "", false, nil},
		{"longer than any password", own, strings.Repeat("x", password.MaxLength+1), false, nil},
		{"hash of the reference implementation", reference, "password", true, nil},
		{"hash of the reference implementation, wrong password", reference, "passwore", false, nil},
		{"bcrypt", bcrypt, "U*U", true, nil},
		{"bcrypt, wrong password", bcrypt, "U*V", false, nil},
		{"bcrypt of PHP", strings.Replace(bcrypt, "$2a$", "$2y$", 1), "U*U", true, nil},
		{"bcrypt, newer spelling", strings.Replace(bcrypt, "$2a$", "$2b$", 1), "U*U", true, nil},
		{"bcrypt that would take minutes", strings.Replace(bcrypt, "$05$", "$31$", 1), "U*U", false, password.ErrHash},
		{"bcrypt, cut short", bcrypt[:59], "U*U", false, password.ErrHash},
		{"bcrypt with more behind it", bcrypt + "x", "U*U", false, password.ErrHash},
		{"bcrypt, damaged", bcrypt[:10] + "!" + bcrypt[11:], "U*U", false, password.ErrHash},
		{"bcrypt of nothing", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.7uG0VCzI2bS7j6ymqJi9CdcdxiRTWNy", "", false, nil},
		{"unknown user", "", "password", false, nil},
		{"unknown user, empty password", "", "", false, nil},
		{"plain text in the database", "password", "password", false, password.ErrHash},
		{"damaged", own[:len(own)-2], "pässword", false, password.ErrHash},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ok, err := h.Verify(t.Context(), tt.hash, tt.password)
			if ok != tt.want || !errors.Is(err, tt.wantErr) {
				t.Errorf("Verify = %t, %v, want %t, %v", ok, err, tt.want, tt.wantErr)
			}
			if err != nil && len(tt.hash) > 20 && strings.Contains(err.Error(), tt.hash[len(tt.hash)-20:]) {
				t.Errorf("the error repeats the hash: %v", err)
			}
		})
	}
}

// ASVS-6.2.5, ASVS-6.2.8, ASVS-6.2.9
func TestNoPasswordIsTruncated(t *testing.T) {
	h := cheap()
	for _, n := range []int{64, 72, 73, 128, password.MaxLength} {
		text := strings.Repeat("x", n-1)
		hash := mustHash(t, h, text+"a")
		if ok, err := h.Verify(t.Context(), hash, text+"a"); !ok || err != nil {
			t.Errorf("%d bytes: Verify = %t, %v", n, ok, err)
		}
		if ok, _ := h.Verify(t.Context(), hash, text+"b"); ok {
			t.Errorf("%d bytes: the last one does not count", n)
		}
	}
}

// ASVS-6.2.8: what another system has cut is not cut again.
func TestAHashOfBcryptKnows72BytesAndItsReplacementAll(t *testing.T) {
	h := cheap()
	const hash = "$2a$04$F4DfRiWNFTxAVVnjdgQC/.RztXDTPpBr8SIWmRrwjHtCNzMKQGiFu" // 72 times x
	for n, want := range map[int]bool{71: false, 72: true, 73: true} {
		if ok, err := h.Verify(t.Context(), hash, strings.Repeat("x", n)); ok != want || err != nil {
			t.Errorf("%d bytes: Verify = %t, %v, want %t", n, ok, err, want)
		}
	}
	if !h.Outdated(hash) {
		t.Error("the hash of bcrypt is not replaced")
	}
	replacement := mustHash(t, h, strings.Repeat("x", 73))
	for n, want := range map[int]bool{72: false, 73: true, 74: false} {
		if ok, err := h.Verify(t.Context(), replacement, strings.Repeat("x", n)); ok != want || err != nil {
			t.Errorf("replacement, %d bytes: Verify = %t, %v, want %t", n, ok, err, want)
		}
	}
}

func TestHashRejects(t *testing.T) {
	h := cheap()
	for _, tt := range []struct {
		text string
		want error
	}{
		{"", password.ErrEmpty},
		{strings.Repeat("x", password.MaxLength+1), password.ErrTooLong},
	} {
		if hash, err := h.Hash(t.Context(), tt.text); hash != "" || !errors.Is(err, tt.want) {
			t.Errorf("Hash of %d bytes = %q, %v, want %v", len(tt.text), hash, err, tt.want)
		}
	}
	if first, second := mustHash(t, h, "x"), mustHash(t, h, "x"); first == second {
		t.Error("two hashes of one password are the same")
	}
}

func TestAHasherWithImpossibleSettingsDoesNothing(t *testing.T) {
	for name, h := range map[string]*password.Hasher{
		"too little memory": {Memory: 7},
		"too much memory":   {Memory: 1 << 20},
		"too many threads":  {Threads: 17},
		"too many passes":   {Passes: 65},
		"too much work":     {Memory: 256 << 10, Passes: 5},
	} {
		if hash, err := h.Hash(t.Context(), "x"); err == nil {
			t.Errorf("%s: Hash = %q", name, hash)
		}
		if ok, err := h.Verify(t.Context(), "", "x"); ok || err == nil {
			t.Errorf("%s: Verify = %t, %v", name, ok, err)
		}
	}
}

func TestOutdated(t *testing.T) {
	h := cheap()
	tests := []struct {
		name, hash string
		want       bool
	}{
		{"own", mustHash(t, h, "x"), false},
		{"less memory", mustHash(t, &password.Hasher{Memory: 32, Passes: 1}, "x"), true},
		{"more passes", mustHash(t, &password.Hasher{Memory: 64, Passes: 2}, "x"), true},
		{"short salt", "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc", true},
		{"bcrypt", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", true},
		{"damaged", "x", true},
		{"none", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := h.Outdated(tt.hash); got != tt.want {
				t.Errorf("Outdated = %t, want %t", got, tt.want)
			}
		})
	}
}

// ASVS-6.3.8: the cost of an unknown user is measured in memory, because time
// depends on the load of the machine.
func TestAnUnknownUserCostsWhatAKnownOneDoes(t *testing.T) {
	h := &password.Hasher{Memory: 4096, Passes: 1}
	used := func(hash, text string) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = h.Verify(t.Context(), hash, text)
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) >> 10
	}
	hash := mustHash(t, h, "x")
	for name, got := range map[string]uint64{
		"right":        used(hash, "x"),
		"wrong":        used(hash, "y"),
		"unknown":      used("", "x"),
		"damaged hash": used("x", "x"),
		"empty":        used(hash, ""),
	} {
		if got < 4096 || got > 4096+512 {
			t.Errorf("%s: %d KiB used, want about 4096", name, got)
		}
	}
}

func TestHashingWaitsForItsTurn(t *testing.T) {
	h := &password.Hasher{Memory: 64, Passes: 1, Concurrent: 2}
	hash := mustHash(t, h, "x")
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if ok, err := h.Verify(t.Context(), hash, "x"); !ok || err != nil {
				t.Errorf("Verify = %t, %v", ok, err)
			}
		})
	}
	wg.Wait()
	// This hash alone needs more memory than the two places have.
	big := mustHash(t, &password.Hasher{Memory: 1024, Passes: 1}, "x")
	if ok, err := h.Verify(t.Context(), big, "x"); !ok || err != nil {
		t.Errorf("Verify of a costly hash = %t, %v", ok, err)
	}
}

func TestNothingIsComputedForACancelledRequest(t *testing.T) {
	h := cheap()
	hash := mustHash(t, h, "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, hash := range []string{hash, "", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"} {
		if ok, err := h.Verify(ctx, hash, "x"); ok || !errors.Is(err, context.Canceled) {
			t.Errorf("Verify = %t, %v, want context.Canceled", ok, err)
		}
	}
	if got, err := h.Hash(ctx, "x"); got != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("Hash = %q, %v, want context.Canceled", got, err)
	}
}

func BenchmarkVerify(b *testing.B) {
	var h password.Hasher
	hash := mustHash(b, &h, "correct horse")
	b.ReportAllocs()
	for b.Loop() {
		if ok, err := h.Verify(b.Context(), hash, "correct horse"); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
