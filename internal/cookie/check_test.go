package cookie_test

import (
	"strings"
	"testing"

	"github.com/pintleauth/pintle/internal/cookie"
)

func TestCheckRejectsWhatABrowserWouldDrop(t *testing.T) {
	secure := cookie.Attributes{Path: "/", Secure: true, SameSite: "Lax"}
	with := func(change func(*cookie.Attributes)) cookie.Attributes {
		a := secure
		change(&a)
		return a
	}
	tests := []struct {
		name, cookie string
		a            cookie.Attributes
		wantErr      string // a part of it; empty means none
	}{
		{"default session cookie", "__Secure-authjs.session-token", secure, ""},
		{"default csrf cookie", "__Host-authjs.csrf-token", secure, ""},
		{"plain", "authjs.state", cookie.Attributes{Path: "/"}, ""},
		{"every token character", "!#$%&'*+-.^_`|~09azAZ", secure, ""},
		{"empty name", "", secure, "name is empty"},
		{"name with a separator", "a;b", secure, "';'"},
		{"name with an equals sign", "a=b", secure, "'='"},
		{"name with a line break", "a\r\nb", secure, "'\\r'"},
		{"name beyond ASCII", "naïve", secure, "name"},
		{"domain", "a", with(func(a *cookie.Attributes) { a.Domain = ".Example-1.test" }), ""},
		{"domain with an attribute in it", "a", with(func(a *cookie.Attributes) { a.Domain = "x.test; Path=/y" }), "domain"},
		{"domain with an empty label", "a", with(func(a *cookie.Attributes) { a.Domain = "x..test" }), "domain"},
		{"domain with a hyphen at an end", "a", with(func(a *cookie.Attributes) { a.Domain = "-x.test" }), "domain"},
		{"domain with a long label", "a", with(func(a *cookie.Attributes) { a.Domain = strings.Repeat("x", 64) + ".test" }), "domain"},
		{"domain too long", "a", with(func(a *cookie.Attributes) { a.Domain = strings.Repeat("x.", 127) + "test" }), "domain"},
		{"path without a slash", "a", with(func(a *cookie.Attributes) { a.Path = "x" }), "path"},
		{"path with an attribute in it", "a", with(func(a *cookie.Attributes) { a.Path = "/;Domain=x" }), "path"},
		{"path with a control character", "a", with(func(a *cookie.Attributes) { a.Path = "/\n" }), "path"},
		{"CK-2 path longer than browsers read", "a", with(func(a *cookie.Attributes) { a.Path = "/" + strings.Repeat("x", 1024) }), "path"},
		{"unknown SameSite", "a", with(func(a *cookie.Attributes) { a.SameSite = "Loose" }), "SameSite"},
		{"unknown Priority", "a", with(func(a *cookie.Attributes) { a.Priority = "Urgent" }), "Priority"},
		{"CK-4 SameSite=None without Secure", "a", cookie.Attributes{SameSite: "none"}, "SameSite=None"},
		{"SameSite=None with Secure", "a", cookie.Attributes{SameSite: "none", Secure: true}, ""},
		{"Partitioned without Secure", "a", cookie.Attributes{Partitioned: true}, "Partitioned"},
		{"CK-1 __Host- without Secure", "__Host-a", cookie.Attributes{Path: "/"}, "__Host-"},
		{"CK-1 __Host- with another path", "__Host-a", with(func(a *cookie.Attributes) { a.Path = "/x" }), "__Host-"},
		{"CK-1 __Host- without path", "__Host-a", with(func(a *cookie.Attributes) { a.Path = "" }), "__Host-"},
		{"CK-1 __Host- with a domain", "__Host-a", with(func(a *cookie.Attributes) { a.Domain = "x.test" }), "__Host-"},
		{"CK-1 __host- in another spelling", "__hOST-a", with(func(a *cookie.Attributes) { a.Domain = "x.test" }), "__Host-"},
		{"CK-1 __Secure- without Secure", "__Secure-a", cookie.Attributes{Path: "/"}, "__Secure-"},
		{"CK-1 __secure- in another spelling", "__secure-a", cookie.Attributes{Path: "/"}, "__Secure-"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := cookie.Check(tt.cookie, tt.a)
			switch {
			case tt.wantErr == "" && err != nil:
				t.Errorf("Check(%q, %+v) = %v, want nil", tt.cookie, tt.a, err)
			case tt.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tt.wantErr)):
				t.Errorf("Check(%q, %+v) = %v, want an error naming %s", tt.cookie, tt.a, err, tt.wantErr)
			}
		})
	}
}
