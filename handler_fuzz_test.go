package pintle_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/testsite"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/store/memstore"
)

// FuzzHandler sends arbitrary requests to the sign-in routes and to a guarded
// page, of a site with token sessions and of one with database sessions.
// Nothing panics, no request is signed in, no redirect leads away from the site
// except to a provider, and every answer is one of the known ones.
func FuzzHandler(f *testing.F) {
	form := "application/x-www-form-urlencoded"
	f.Add("GET", "/auth/session", form, "", "", []byte(nil))
	f.Add("GET", "/auth/callback/acme?code=x&state=y&iss=z", "", stateCookie+"=a; "+pkceCookie+"=b; "+nonceCookie+"=c", "", []byte(nil))
	f.Add("POST", "/auth/callback/acme", form, "", "", []byte("code=x&state=y&error=z&error_description=%3Cscript%3E"))
	f.Add("GET", "/auth/callback/old?oauth_token=x&oauth_verifier=y", "", stateCookie+"=a", "", []byte(nil))
	f.Add("GET", "/auth/callback/email?token=x&email=ada%40example.com&callbackUrl=//evil.example", "", "", "", []byte(nil))
	f.Add("POST", "/auth/signin/email", form, csrfCookie+"="+formCookie("abc", secret), "", []byte("csrfToken=abc&email=a%EF%BC%A0b@c,d"))
	f.Add("POST", "/auth/callback/credentials", "application/json", csrfCookie+"="+formCookie("abc", secret), "X-Auth-Return-Redirect", []byte(`{"csrfToken":"abc","username":{"a":[1]},"callbackUrl":"/x"}`))
	f.Add("POST", "/auth/signin/acme?redirect_uri=x&scope=y", form, csrfCookie+"="+formCookie("abc", secret), "", []byte("csrfToken=abc&callbackUrl=https://evil.example"))
	f.Add("POST", "/auth/session", "application/json", csrfCookie+"="+formCookie("abc", secret)+"; "+sessionCookie+"=x", "", []byte(`{"csrfToken":"abc","data":{"user":{}}}`))
	f.Add("POST", "/auth/signout", form, sessionCookie+".0=x; "+sessionCookie+".1=y", "Authorization", []byte("csrfToken=abc"))
	f.Add("PUT", "//auth/../auth/%73ession;x?%=%&callbackUrl=%5c%5cevil", "text/plain", "=;;,", "Host", []byte("\x00"))

	network := testsite.Network{} // an empty network
	services := make([]*pintle.Auth, 0, 2)
	for _, strategy := range []pintle.SessionStrategy{pintle.StrategyJWT, pintle.StrategyDatabase} {
		auth, err := pintle.New(pintle.Config{
			Providers: []pintle.Provider{
				&pintle.OAuth{ID: "acme", Protocol: oauth.OIDC, Issuer: "https://idp.example", ClientID: "x", ClientSecret: "y", Checks: []oauth.Check{oauth.CheckState, oauth.CheckPKCE, oauth.CheckNonce}},
				&pintle.OAuth{
					ID: "hub", ClientID: "x", ClientSecret: "y", Authorization: oauth.Endpoint{URL: "https://idp.example/authorize"},
					Token: oauth.Endpoint{URL: "https://idp.example/token"}, UserInfo: oauth.Endpoint{URL: "https://idp.example/user"},
				},
				&pintle.OAuth{
					ID: "old", Protocol: oauth.OAuth1, ClientID: "x", ClientSecret: "y", RequestToken: oauth.Endpoint{URL: "https://idp.example/request"},
					Authorization: oauth.Endpoint{URL: "https://idp.example/authorize"}, Token: oauth.Endpoint{URL: "https://idp.example/token"},
					UserInfo: oauth.Endpoint{URL: "https://idp.example/user"},
				},
				&pintle.Email{Send: func(context.Context, *pintle.Message) error { return nil }},
				&pintle.Credentials{Authorize: func(context.Context, *pintle.Submission) (*pintle.User, error) { return nil, nil }},
			},
			Store: memstore.New(), Session: pintle.SessionConfig{Strategy: strategy, AllowBearer: true},
			Secrets: []string{secret}, Getenv: noEnv, Logger: slog.New(slog.DiscardHandler), Debug: true,
			HTTPClient: &http.Client{Transport: network},
		})
		if err != nil {
			f.Fatal(err)
		}
		services = append(services, auth)
	}
	statuses := []int{200, 302, 400, 403, 404, 413, 500}
	f.Fuzz(func(t *testing.T, method, target, contentType, cookie, header string, body []byte) {
		u, err := url.ParseRequestURI(target)
		if err != nil {
			return
		}
		request := func() *http.Request {
			r := &http.Request{
				Method: method, URL: u, Host: "localhost:3000", Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
				Header: http.Header{"Content-Type": {contentType}, "Cookie": {cookie}, "Accept": {"text/html"}},
			}
			if header != "" {
				r.Header[http.CanonicalHeaderKey(header)] = []string{target}
			}
			return r.WithContext(t.Context())
		}
		for _, auth := range services {
			w := httptest.NewRecorder()
			auth.ServeHTTP(w, request())
			if !slices.Contains(statuses, w.Code) {
				t.Errorf("the answer is %d", w.Code)
			}
			checkAnswer(t, w)

			guarded := auth.Load(auth.Require(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				t.Error("an anonymous request reached a guarded page")
			})))
			w = httptest.NewRecorder()
			guarded.ServeHTTP(w, request())
			checkAnswer(t, w)
		}
	})
}

// checkAnswer fails the test when an answer to an anonymous request signs a
// user in, leads away or breaks its header.
func checkAnswer(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	for name, values := range w.Header() {
		for _, value := range values {
			if strings.ContainsAny(value, "\r\n\x00") {
				t.Errorf("the header %s is %q", name, value)
			}
		}
	}
	for _, line := range w.Header()["Set-Cookie"] {
		for _, name := range []string{sessionCookie, "__Secure-" + sessionCookie} {
			if strings.HasPrefix(line, name) && !strings.Contains(line, "=; Max-Age=0") {
				t.Errorf("an anonymous request received a session: %s", line)
			}
		}
	}
	location := w.Header().Get("Location")
	if location != "" && !staysOn("http://localhost:3000", location) && !strings.HasPrefix(location, "https://idp.example/authorize?") {
		t.Errorf("the browser is sent to %q", location)
	}
}
