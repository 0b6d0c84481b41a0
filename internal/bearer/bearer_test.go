package bearer_test

import (
	"net/http"
	"testing"

	"github.com/pintleauth/pintle/internal/bearer"
)

func TestToken(t *testing.T) {
	for _, tt := range []struct{ name, header, want string }{
		{"a token", "Bearer abc.def", "abc.def"},
		{"percent-encoded", "Bearer abc%2Edef", "abc.def"},
		{"SH-02 with a broken escape", "Bearer abc%2", "abc%2"},
		{"with a word behind it", "Bearer abc def", "abc"},
		{"nothing behind the scheme", "Bearer", ""},
		{"a space behind the scheme", "Bearer ", ""},
		{"two spaces behind the scheme", "Bearer  abc", ""},
		{"another case", "bearer abc", ""},
		{"another scheme", "Basic abc", ""},
		{"no scheme", "abc", ""},
		{"no header", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := http.Header{}
			if tt.header != "" {
				h.Set("Authorization", tt.header)
			}
			if got := bearer.Token(h); got != tt.want {
				t.Errorf("Token = %q, want %q", got, tt.want)
			}
		})
	}
}
