package browser_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

// ASVS-3.3.4: the session is in a cookie that no script reads.
func TestTheBrowserKeepsTheSessionFromScripts(t *testing.T) {
	eachKind(t, func(t *testing.T, sessions string) {
		q := startQuickstart(t, sessions)
		v := newBrowserUser(t)
		v.open(q.url + "/account")
		v.fill("Email", "mary@example.com")
		v.fill("Password", "ammonite and belemnite")
		v.press("Sign in with password")

		kept := v.cookies(q.url)
		for _, name := range []string{"authjs.session-token", "authjs.csrf-token", "authjs.callback-url"} {
			c := kept[name]
			if c == nil {
				t.Errorf("there is no cookie %s", name)
				continue
			}
			if !c.HTTPOnly || c.Secure || c.SameSite != network.CookieSameSiteLax || c.Path != "/" || c.Domain != "localhost" {
				t.Errorf("the cookie %s is %+v, want it kept from scripts, lax, and for this host only", name, c)
			}
		}
		if c := kept["authjs.session-token"]; c != nil {
			month := time.Now().Add(30 * 24 * time.Hour)
			if ends := time.Unix(int64(c.Expires), 0); ends.Before(month.Add(-time.Hour)) || ends.After(month.Add(time.Hour)) {
				t.Errorf("the session cookie ends on %s, want in 30 days", ends)
			}
		}
		if got := read(v, chromedp.Evaluate[string]("document.cookie")); got != "" {
			t.Errorf("a script reads the cookies %q", got)
		}

		v.press("Sign out")
		if c := v.cookies(q.url)["authjs.session-token"]; c != nil {
			t.Errorf("after signing out there is still %+v", c)
		}
	})
}

// A browser drops a cookie whose attributes do not match its prefix, so a stored
// cookie has matching ones (CK-1, ASVS-3.3.1).
//
// https://httpwg.org/http-extensions/draft-ietf-httpbis-rfc6265bis.html#name-cookie-name-prefixes
func TestTheBrowserAcceptsThePrefixedCookiesOverTLS(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{})
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{idp.OIDC("acme")},
		Secrets:   []string{"a secret of at least 32 characters"},
		Getenv:    func(string) string { return "" },
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.Handle("/", auth.Load(auth.Require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte("Hello " + pintle.SessionFrom(r.Context()).User.Name))
	}))))
	srv := httptest.NewTLSServer(mux)
	defer srv.Close()

	v := newBrowserUser(t, chromedp.IgnoreCertErrors)
	v.open(srv.URL)
	v.press("Sign in with")
	during := v.cookies(srv.URL)
	v.press("Ada Lovelace")
	v.sees("Hello Ada Lovelace")
	after := v.cookies(srv.URL)
	for name, kept := range map[string]map[string]*network.Cookie{
		"__Host-authjs.csrf-token":           after,
		"__Secure-authjs.callback-url":       after,
		"__Secure-authjs.session-token":      after,
		"__Secure-authjs.state":              during,
		"__Secure-authjs.nonce":              during,
		"__Secure-authjs.pkce.code_verifier": during,
	} {
		if c := kept[name]; c == nil || !c.Secure || !c.HTTPOnly {
			t.Errorf("the cookie %s is %+v, want it secure and kept from scripts", name, c)
		}
	}
	for _, name := range []string{"__Secure-authjs.state", "__Secure-authjs.nonce", "__Secure-authjs.pkce.code_verifier"} {
		if after[name] != nil {
			t.Errorf("the cookie %s, valid for one sign-in, is still stored", name)
		}
	}
}
