package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

func startSite(t *testing.T) (address string, auth *pintle.Auth) {
	t.Helper()
	auth, err := pintle.New(config(authtest.Start(t, authtest.Options{})))
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(site(auth))
	t.Cleanup(srv.Close)
	return srv.URL, auth
}

func TestTheServerGreetsMembersOnly(t *testing.T) {
	address, auth := startSite(t)
	kim := authtest.HTTPClient(t, auth, address, &pintle.User{Name: "Kim"})
	if status, text := get(t, kim, address+"/api/greeting"); status != http.StatusOK || text != `{"text":"The server knows you as Kim."}`+"\n" {
		t.Errorf("Kim gets %d %s", status, text)
	}
	anonymous := authtest.HTTPClient(t, auth, address, nil)
	if status, text := get(t, anonymous, address+"/api/greeting"); status != http.StatusUnauthorized {
		t.Errorf("an anonymous client gets %d %s", status, text)
	}
}

func TestThePageIsServed(t *testing.T) {
	address, _ := startSite(t)
	for path, part := range map[string]string{
		"/":         `<script type="module" crossorigin src="/page.js">`,
		"/page.js":  "/api/auth",
		"/page.css": "body",
	} {
		if status, text := get(t, http.DefaultClient, address+path); status != http.StatusOK || !strings.Contains(text, part) {
			t.Errorf("%s: status %d, without %s", path, status, part)
		}
	}
}

func TestAPageMayOnlyWishForAName(t *testing.T) {
	wishes := []struct {
		name string
		wish any
		want string
	}{
		{"a name", map[string]any{"name": " Kim the Brave "}, "Kim the Brave"},
		{"no name", map[string]any{"name": " "}, "Kim"},
		{"a name that is too long", map[string]any{"name": strings.Repeat("x", 201)}, "Kim"},
		{"another user's id", map[string]any{"sub": "2"}, "Kim"},
		{"no object", "Kim the Brave", "Kim"},
	}
	for _, tt := range wishes {
		t.Run(tt.name, func(t *testing.T) {
			claims, err := rename(t.Context(), &pintle.TokenChange{
				Claims: pintle.Claims{"sub": "1", "name": "Kim"}, Trigger: pintle.TriggerUpdate, Update: tt.wish,
			})
			if err != nil || claims["name"] != tt.want || claims["sub"] != "1" {
				t.Errorf("the claims are %v, %v, want the name %q", claims, err, tt.want)
			}
		})
	}
}

func get(t *testing.T, c *http.Client, address string) (status int, body string) {
	t.Helper()
	resp, err := c.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}
