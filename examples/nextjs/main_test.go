package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

// The whole program is tested in a browser, with Next.js. This test needs only Go.

// Next.js sends requests to Pintle at another address than that for browsers.
func TestTheSiteIsWhereNextIs(t *testing.T) {
	auth, err := pintle.New(config(authtest.Start(t, authtest.Options{}), "http://localhost:3000", "a secret of at least 32 characters"))
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:4567/api/auth/providers", nil)
	r.Header.Set("X-Forwarded-Host", "evil.example")
	w := httptest.NewRecorder()
	auth.ServeHTTP(w, r)
	if !strings.Contains(w.Body.String(), `"http://localhost:3000/api/auth/signin/local"`) {
		t.Errorf("the providers are %s", w.Body)
	}
}

func TestAPageMayOnlyWishForAName(t *testing.T) {
	for _, tt := range []struct {
		wish any
		want string
	}{
		{map[string]any{"name": " Kim the Brave "}, "Kim the Brave"},
		{map[string]any{"name": strings.Repeat("x", 201)}, "Kim"},
		{map[string]any{"name": "", "sub": "2"}, "Kim"},
		{"Kim the Brave", "Kim"},
	} {
		change := &pintle.TokenChange{Claims: pintle.Claims{"sub": "1", "name": "Kim"}, Trigger: pintle.TriggerUpdate, Update: tt.wish}
		if claims, err := rename(t.Context(), change); err != nil || claims["name"] != tt.want || claims["sub"] != "1" {
			t.Errorf("%v makes %v, %v", tt.wish, claims, err)
		}
	}
}

func TestAFreeAddressTakesThePlaceOfPort0(t *testing.T) {
	if addr, err := freeAddress(t.Context(), "localhost:3000"); addr != "localhost:3000" || err != nil {
		t.Errorf("localhost:3000 becomes %s, %v", addr, err)
	}
	addr, err := freeAddress(t.Context(), "localhost:0")
	if host, port, bad := net.SplitHostPort(addr); host != "localhost" || port == "0" || err != nil || bad != nil {
		t.Errorf("localhost:0 becomes %s, %v", addr, err)
	}
	if addr, err := freeAddress(t.Context(), "localhost"); err == nil {
		t.Errorf("an address without a port becomes %s", addr)
	}
}

func TestTheApplicationHasToBeThere(t *testing.T) {
	app := &nextApp{dir: t.TempDir()}
	if err := app.build(t.Context()); err == nil || !strings.Contains(err.Error(), "-web") {
		t.Errorf("build returns %v, want what to do", err)
	}
}
