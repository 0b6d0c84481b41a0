package clip_test

import (
	"strings"
	"testing"

	"github.com/pintleauth/pintle/internal/clip"
)

func TestQuote(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", `""`},
		{"/path\n", `"/path\n"`},
		{strings.Repeat("a", 200), `"` + strings.Repeat("a", 200) + `"`},
		{strings.Repeat("a", 201), `"` + strings.Repeat("a", 200) + `"… (201 bytes)`},
		{strings.Repeat("a", 199) + "é", `"` + strings.Repeat("a", 199) + `"… (201 bytes)`},
	} {
		if got := clip.Quote(tt.in); got != tt.want {
			t.Errorf("Quote(%q) = %s, want %s", tt.in, got, tt.want)
		}
	}
	if got := clip.Quote(strings.Repeat("\xff\x00", 500_000)); len(got) > 1000 {
		t.Errorf("a megabyte that has to be escaped becomes %d bytes", len(got))
	}
}

func FuzzQuote(f *testing.F) {
	f.Add("é", 1)
	f.Fuzz(func(t *testing.T, s string, n int) {
		if got := clip.Text(strings.Repeat(s, n&1023), clip.Max); len(got) > clip.Max {
			t.Errorf("%d bytes", len(got))
		}
		if got := clip.Quote(s); len(got) > 10*clip.Max+40 {
			t.Errorf("%d bytes", len(got))
		}
	})
}
