package cookie_test

import (
	"testing"
	"time"

	"github.com/pintleauth/pintle/internal/cookie"
)

func TestLineWritesTheAttributesInTheOrderOfAuthJS(t *testing.T) {
	expires := time.Date(2026, 12, 20, 18, 46, 19, 999e6, time.FixedZone("", 3600))
	tests := []struct {
		name, cookie, value string
		a                   cookie.Attributes
		want                string
	}{
		{
			"bare", "a", "b", cookie.Attributes{}, "a=b",
		},
		{
			"csrf", "__Host-authjs.csrf-token", "to|ha",
			cookie.Attributes{Path: "/", HTTPOnly: true, Secure: true, SameSite: "lax"},
			"__Host-authjs.csrf-token=to%7Cha; Path=/; HttpOnly; Secure; SameSite=Lax",
		},
		{
			"everything", "n", "v",
			cookie.Attributes{
				MaxAge: 900, HasMaxAge: true, Domain: "example.test", Path: "/p", Expires: expires,
				HTTPOnly: true, Secure: true, Partitioned: true, Priority: "HIGH", SameSite: "strict",
			},
			"n=v; Max-Age=900; Domain=example.test; Path=/p; Expires=Sun, 20 Dec 2026 17:46:19 GMT; HttpOnly; Secure; Partitioned; Priority=High; SameSite=Strict",
		},
		{"zero max-age is written", "n", "v", cookie.Attributes{HasMaxAge: true}, "n=v; Max-Age=0"},
		{"max-age without the flag is absent", "n", "v", cookie.Attributes{MaxAge: 7}, "n=v"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := cookie.Line(tt.cookie, tt.value, tt.a); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestClearLineRepeatsTheAttributesWithoutAnExpiry(t *testing.T) {
	a := cookie.Attributes{Domain: "example.test", Path: "/", Expires: time.Now(), MaxAge: 900, HasMaxAge: true, HTTPOnly: true, SameSite: "Lax"}
	want := "authjs.session-token=; Max-Age=0; Domain=example.test; Path=/; HttpOnly; SameSite=Lax"
	if got := cookie.ClearLine("authjs.session-token", a); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func BenchmarkLine(b *testing.B) {
	a := cookie.Attributes{Path: "/", HTTPOnly: true, Secure: true, SameSite: "Lax"}
	value := "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef|0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	b.ReportAllocs()
	for b.Loop() {
		cookie.Line("__Host-authjs.csrf-token", value, a)
	}
}
