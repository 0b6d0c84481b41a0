package authtest

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/pintleauth/pintle"
)

// StorageState returns the storage state of a Playwright browser in which u is
// signed in, see [SignIn], at the site with the given address. It is the JSON of
// the option storageState:
//
//	state := authtest.StorageState(t, auth, "http://localhost:3000", &pintle.User{Name: "Kim"})
//	err := os.WriteFile("kim.json", state, 0o600)
//	// In the tests: test.use({ storageState: 'kim.json' })
//
// The file is a credential: its cookies are valid at every site with the same
// secret.
//
// https://playwright.dev/docs/api/class-browser#browser-new-context-option-storage-state
func StorageState(tb TB, auth *pintle.Auth, address string, u *pintle.User) []byte {
	tb.Helper()
	site, cookies := cookiesAt(tb, auth, address, u)
	if site == nil {
		return nil
	}
	state := storageState{Cookies: []storedCookie{}, Origins: []struct{}{}}
	for _, c := range cookies {
		state.Cookies = append(state.Cookies, stored(c, site.Hostname()))
	}
	text, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		tb.Fatalf("authtest: write the storage state: %v", err)
	}
	return text
}

type storageState struct {
	Cookies []storedCookie `json:"cookies"`
	Origins []struct{}     `json:"origins"`
}

// A storedCookie is a cookie as Playwright writes it.
type storedCookie struct {
	Name     string `json:"name"`
	Value    string `json:"value"`
	Domain   string `json:"domain"` // with a leading dot for subdomains, too
	Path     string `json:"path"`
	Expires  int64  `json:"expires"` // in Unix seconds, -1 when the browser is closed
	HTTPOnly bool   `json:"httpOnly"`
	Secure   bool   `json:"secure"`
	SameSite string `json:"sameSite"`
}

// stored returns a cookie that the site with the host name has set.
func stored(c *http.Cookie, host string) storedCookie {
	s := storedCookie{
		Name: c.Name, Value: c.Value, Domain: host, Path: c.Path,
		Expires: -1, HTTPOnly: c.HttpOnly, Secure: c.Secure, SameSite: "Lax", // the default of browsers
	}
	if c.Domain != "" {
		s.Domain = "." + strings.TrimPrefix(c.Domain, ".")
	}
	if !c.Expires.IsZero() {
		s.Expires = c.Expires.Unix()
	}
	switch c.SameSite {
	case http.SameSiteStrictMode:
		s.SameSite = "Strict"
	case http.SameSiteNoneMode:
		s.SameSite = "None"
	}
	return s
}
