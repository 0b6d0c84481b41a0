package tokenhash_test

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/internal/tokenhash"
)

const k = "0123456789abcdef0123456789abcdef"

func plain(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestSumMatchesTheVectorsOfTheContract(t *testing.T) {
	tests := []struct {
		name    string
		text    string
		secrets []string
		want    string
	}{
		{"csrf token", "abc", []string{k}, "951da5cdad6551234d1dbbde840aa172432a0ca0dd375f54146c1f5b2e63e65b"},
		{"short secret", "abc", []string{"secret"}, "a42178b773273f5c9f24387fbea546af537d08b8c06b23631e44878b9ce47f49"},
		{"two secrets are joined", "abc", []string{"n3w", "0ld"}, "6d5b279b82c7d020b24ad275fddf64d79a473694da3933ccb1c82830b72ece90"},
		{"mail token", "tok123", []string{k}, "d6447f85d77a3e8e4dab103aeebfad9fd7c286f2886db3389136b046ee7bb3d6"},
		{"longer than the buffer", strings.Repeat("x", 300), []string{k}, plain(strings.Repeat("x", 300) + k)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := tokenhash.New(tt.secrets...)
			if got := h.Sum(tt.text); got != tt.want {
				t.Errorf("Sum(%q) = %s, want %s", tt.text, got, tt.want)
			}
			if !h.Equal(tt.text, tt.want) {
				t.Error("Equal does not accept what Sum gives")
			}
		})
	}
}

func TestEqualAcceptsHashesOfEarlierSecretLists(t *testing.T) {
	h := tokenhash.New("c", "b", "a")
	tests := []struct {
		name string
		hash string
		want bool
	}{
		{"all secrets", plain("tok" + "c,b,a"), true},
		{"W-12 before the newest was added", plain("tok" + "b,a"), true},
		{"W-12 before the two newest were added", plain("tok" + "a"), true},
		{"Q22 the newest alone", plain("tok" + "c"), true},
		{"Q22 the middle one alone", plain("tok" + "b"), true},
		{"W-12 before the second took over", plain("tok" + "b,c,a"), true},
		{"another order", plain("tok" + "a,b,c"), false},
		{"without the oldest", plain("tok" + "c,b"), false},
		{"no secret", plain("tok"), false},
		{"another secret", plain("tok" + "x"), false},
		{"another text", plain("tik" + "c,b,a"), false},
		{"upper case", strings.ToUpper(plain("tok" + "c,b,a")), false},
		{"cut short", plain("tok" + "c,b,a")[:63], false},
		{"longer", plain("tok"+"c,b,a") + "0", false},
		{"empty", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := h.Equal("tok", tt.hash); got != tt.want {
				t.Errorf("Equal = %t, want %t", got, tt.want)
			}
			if got := slices.Contains(h.Candidates("tok"), tt.hash); got != tt.want {
				t.Errorf("among the candidates: %t, want %t", got, tt.want)
			}
		})
	}
	if got := h.Candidates("tok")[0]; got != h.Sum("tok") {
		t.Error("the first candidate is not what Sum writes")
	}
	if got := tokenhash.New("a").Candidates("tok"); len(got) != 1 {
		t.Errorf("%d candidates with one secret, want 1", len(got))
	}
}

// SA-M3: what is hashed for one tenant is found by no other, nor where there are
// no tenants, whatever text a client sends there.
func TestTenantsShareNoHashes(t *testing.T) {
	h := tokenhash.New("c", k)
	red := h.Tenant("red")
	sum := red.Sum("tok")
	if sum != plain("tokc,"+k+"\x00red") || !red.Equal("tok", sum) || !red.Equal("tok", tokenhash.New(k).Tenant("red").Sum("tok")) {
		t.Errorf("the tenant does not find its own hash %s", sum)
	}
	for name, other := range map[string]tokenhash.Hasher{"another tenant": h.Tenant("blue"), "one whose name ends alike": h.Tenant("infrared"), "no tenant": h} {
		for _, text := range []string{"tok", "redtok", "red tok", "\x00redtok", "tok\x00red", "red"} {
			if other.Equal(text, sum) {
				t.Errorf("%s has the hash, for %q", name, text)
			}
		}
	}
	if h.Tenant("").Sum("tok") != h.Sum("tok") {
		t.Error("the empty name is a tenant")
	}
}

func TestAHasherWithoutASecretAcceptsNothing(t *testing.T) {
	for _, h := range []tokenhash.Hasher{{}, tokenhash.New(), tokenhash.New(""), tokenhash.New("", "")} {
		if h.Equal("tok", plain("tok")) || h.Equal("tok", plain("tok,")) {
			t.Error("a hash anyone can compute was accepted")
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("Sum hashed without a secret")
				}
			}()
			h.Sum("tok")
		}()
	}
}

func TestAnEmptySecretInAListIsNeverAKey(t *testing.T) {
	h := tokenhash.New("", "a")
	if h.Equal("tok", plain("tok")) {
		t.Error("the empty secret counts")
	}
	if h.Sum("tok") != plain("tok"+",a") {
		t.Error("the joined form is not the one Auth.js writes")
	}
}

func TestEqualDoesNotAllocate(t *testing.T) {
	h := tokenhash.New(k, "another secret of thirty-two byte")
	token := strings.Repeat("a", 64)
	hash := h.Sum(token)
	if n := testing.AllocsPerRun(100, func() { h.Equal(token, hash) }); n != 0 {
		t.Errorf("Equal allocates %v times, want 0", n)
	}
}

func BenchmarkEqual(b *testing.B) {
	h := tokenhash.New(k)
	token := strings.Repeat("a", 64)
	hash := h.Sum(token)
	b.ReportAllocs()
	for b.Loop() {
		h.Equal(token, hash)
	}
}
