package csrf_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/internal/csrf"
	"github.com/pintleauth/pintle/internal/tokenhash"
)

const k = "0123456789abcdef0123456789abcdef"

func TestGenerateMakesWhatParseAccepts(t *testing.T) {
	tokens := csrf.New(tokenhash.New(k))
	token, value := tokens.Generate()
	if !regexp.MustCompile(`^[0-9a-f]{64}\|[0-9a-f]{64}$`).MatchString(value) || !strings.HasPrefix(value, token+"|") {
		t.Fatalf("Generate = %q, %q", token, value)
	}
	if got, ok := tokens.Parse(value); got != token || !ok {
		t.Errorf("Parse(%q) = %q, %t", value, got, ok)
	}
	if again, _ := tokens.Generate(); again == token {
		t.Error("two tokens are the same")
	}
}

func TestParse(t *testing.T) {
	const vector = "951da5cdad6551234d1dbbde840aa172432a0ca0dd375f54146c1f5b2e63e65b"
	h := tokenhash.New(k)
	tokens := csrf.New(h)
	_, mine := tokens.Generate()
	token, hash, _ := strings.Cut(mine, "|")
	_, other := csrf.New(tokenhash.New("another secret")).Generate()
	_, older := csrf.New(tokenhash.New("older")).Generate()
	huge := strings.Repeat("a", 10_000)

	tests := []struct {
		name  string
		value string
		want  string
		ok    bool
	}{
		{"the contract's vector", "abc|" + vector, "abc", true},
		{"SH-45 empty", "", "", false},
		{"SH-45 one byte", "a", "", false},
		{"SH-45 no separator", token + hash, "", false},
		{"SH-45 two bars", mine + "|", "", false},
		{"SH-45 two bars with more", mine + "|x", "", false},
		{"SH-45 hash of another secret", other, "", false},
		{"SH-45 swapped halves", hash + "|" + token, "", false},
		{"SH-45 no hash", token + "|", "", false},
		{"SH-45 no token, although the hash fits", "|" + h.Sum(""), "", false},
		{"hash of another token", "abd|" + vector, "", false},
		{"hash in capitals", "abc|" + strings.ToUpper(vector), "", false},
		{"huge, although the hash fits", huge + "|" + h.Sum(huge), "", false},
		{"secret not in the list", older, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := tokens.Parse(tt.value); got != tt.want || ok != tt.ok {
				t.Errorf("Parse(%.80q) = %q, %t, want %q, %t", tt.value, got, ok, tt.want, tt.ok)
			}
		})
	}
	t.Run("W-12 a cookie made before a secret was added", func(t *testing.T) {
		if _, ok := csrf.New(tokenhash.New("newer", "older")).Parse(older); !ok {
			t.Error("refused")
		}
	})
}

func TestVerify(t *testing.T) {
	tests := []struct {
		name, cookie, body string
		want               bool
	}{
		{"same", "abc", "abc", true},
		{"different", "abc", "abd", false},
		{"shorter", "abc", "ab", false},
		{"longer", "abc", "abcd", false},
		{"other case", "abc", "ABC", false},
		{"both empty", "", "", false},
		{"no body token", "abc", "", false},
		{"no cookie token", "", "abc", false},
	}
	tokens := csrf.New(tokenhash.New(k))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tokens.Verify(tt.cookie, tt.body); got != tt.want {
				t.Errorf("Verify(%q, %q) = %t, want %t", tt.cookie, tt.body, got, tt.want)
			}
		})
	}
}

func TestWithoutASecretNothingIsAccepted(t *testing.T) {
	_, value := csrf.New(tokenhash.New(k)).Generate()
	if _, ok := csrf.New(tokenhash.New()).Parse(value); ok {
		t.Error("accepted a cookie")
	}
}

func TestAllocations(t *testing.T) {
	tokens := csrf.New(tokenhash.New(k))
	_, value := tokens.Generate()
	if n := testing.AllocsPerRun(100, func() { tokens.Parse(value) }); n != 0 {
		t.Errorf("Parse allocates %v times, want 0", n)
	}
	if n := testing.AllocsPerRun(100, func() { tokens.Generate() }); n > 2 {
		t.Errorf("Generate allocates %v times, want at most 2", n)
	}
}

// Without the secret no cookie can be made that is accepted.
func FuzzParse(f *testing.F) {
	tokens := csrf.New(tokenhash.New(k))
	f.Add("abc|def")
	f.Add(strings.Repeat("a", 64) + "|" + strings.Repeat("b", 64))
	f.Fuzz(func(t *testing.T, value string) {
		if token, ok := tokens.Parse(value); ok || token != "" {
			t.Errorf("Parse(%q) = %q, %t", value, token, ok)
		}
	})
}

func BenchmarkGenerate(b *testing.B) {
	tokens := csrf.New(tokenhash.New(k))
	b.ReportAllocs()
	for b.Loop() {
		tokens.Generate()
	}
}

func BenchmarkParse(b *testing.B) {
	tokens := csrf.New(tokenhash.New(k))
	_, value := tokens.Generate()
	b.ReportAllocs()
	for b.Loop() {
		tokens.Parse(value)
	}
}

// AT-105: a form that repeats the token of another value is rejected.
func TestABoundTokenBelongsToItsValue(t *testing.T) {
	tokens := csrf.New(tokenhash.New(k))
	token, _ := tokens.Generate()
	of := map[string]string{}
	for _, value := range []string{"", "grant", "another grant"} {
		bound := csrf.Bound(token, value)
		if before, same := of[bound]; same || !tokens.Verify(csrf.Bound(token, value), bound) {
			t.Errorf("the token of %q is %q, as that of %q", value, bound, before)
		}
		of[bound] = value
	}
	if _, plain := of[token]; !plain || csrf.Bound("", "grant") != "" {
		t.Error("a token without a value is changed, or a missing token is made")
	}
}
