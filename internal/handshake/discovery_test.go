package handshake_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle/internal/handshake"
)

const wellKnown = "/.well-known/openid-configuration"

func begin(ctx context.Context, p *handshake.Provider) (handshake.Begun, error) {
	return p.Begin(ctx, handshake.BeginOptions{RedirectURI: redirectURI, State: "s"})
}

func TestDiscoveryDocumentsThatAreRefused(t *testing.T) {
	change := func(name string, v any) func(*op) {
		return func(o *op) { o.document = func(d map[string]any) { d[name] = v } }
	}
	answer := func(h http.HandlerFunc) func(*op) { return func(o *op) { o.answer[wellKnown] = h } }
	tests := []struct {
		name string
		lie  func(*op)
		want string
	}{
		{"ASVS-10.5.3 a foreign issuer", change("issuer", "https://issuer.example.test"), `document is of issuer "https://issuer.example.test"`},
		{"no issuer", change("issuer", nil), "names no issuer"},
		{"an issuer that is no text", change("issuer", 5), "names no issuer"},
		{"an issuer that is no URL", change("issuer", "not a url"), "document is of issuer"},
		{"no authorization endpoint", change("authorization_endpoint", nil), "no authorization endpoint"},
		{"an endpoint that is a script", change("authorization_endpoint", "javascript:alert(1)"), "not an absolute URL"},
		{"W-19 an endpoint in the clear", change("authorization_endpoint", "http://op.example.test/"), "not encrypted"},
		{"a page", answer(saying(200, "text/html", "<!doctype html><title>Maintenance</title>")), "not JSON"},
		{"half a document", answer(saying(200, "application/json", `{"issuer":`)), "not JSON"},
		{"two documents", answer(saying(200, "application/json", `{}{}`)), "more than one JSON value"},
		{"a list", answer(saying(200, "application/json", `[]`)), "a list"},
		{"nothing", answer(saying(200, "application/json", ``)), "not JSON"},
		{"a server error", answer(saying(500, "application/json", `{}`)), "status 500"},
		{"not found", answer(saying(404, "application/json", `{}`)), "status 404"},
		{"BCP-21 a document without end", answer(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"x":"` + strings.Repeat("x", 2<<20) + `"}`))
		}), "larger than"},
		{"RPX-125 201 members", func(o *op) {
			o.document = func(d map[string]any) {
				for i := len(d); i <= 200; i++ {
					d[fmt.Sprint("x", i)] = 1
				}
			}
		}, "more than 200 members"},
		{"RPX-125 an endless issuer", change("issuer", "https://op.example.test/"+strings.Repeat("x", 2048)), "issuer in the document is longer"},
		{"RPX-125 an endless authorization endpoint", change("authorization_endpoint", "https://op.example.test/"+strings.Repeat("x", 2048)), "authorization_endpoint in the document is longer"},
		{"RPX-125 an endless token endpoint", change("token_endpoint", "https://op.example.test/"+strings.Repeat("x", 2048)), "token_endpoint in the document is longer"},
		{"RPX-125 an endless userinfo endpoint", change("userinfo_endpoint", "https://op.example.test/"+strings.Repeat("x", 2048)), "userinfo_endpoint in the document is longer"},
		{"RPX-125 an endless address of the keys", change("jwks_uri", "https://op.example.test/"+strings.Repeat("x", 2048)), "jwks_uri in the document is longer"},
		{"RPT-77 SH-24 a redirect to elsewhere", answer(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/other"+wellKnown, http.StatusFound)
		}), "status 302"},
		{"a dropped connection", answer(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), wellKnown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := newOP(t)
			tt.lie(o)
			begun, err := begin(t.Context(), o.provider())
			wantError(t, err, tt.want)
			if begun.URL != "" {
				t.Error("there is a URL beside the error")
			}
			if o.count("/other"+wellKnown) > 0 {
				t.Error("the redirect was followed")
			}
		})
	}
}

func TestIssuerIsComparedAsAURL(t *testing.T) {
	tests := []struct {
		name, configured, discovered string
		ok                           bool
	}{
		{"a bare host with and without slash", "https://op.example.test", "https://op.example.test/", true},
		{"the other way", "https://op.example.test/", "https://op.example.test", true},
		{"case of the host and default port", "https://OP.example.test:443", "https://op.example.test", true},
		{"a path with a slash", "https://op.example.test/a", "https://op.example.test/a/", false},
		{"case of the path", "https://op.example.test/a", "https://op.example.test/A", false},
		{"another port", "https://op.example.test:8443", "https://op.example.test", false},
		{"another scheme", "https://op.example.test", "http://op.example.test", false},
		{"RP-16 an issuer with a path", "https://op.example.test/realms/one", "https://op.example.test/realms/one", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := &op{issuer: "https://op.example.test", answer: map[string]http.HandlerFunc{}}
			o.document = func(d map[string]any) { d["issuer"] = tt.discovered }
			p := &handshake.Provider{ID: "op", OIDC: true, Issuer: tt.configured, ClientID: clientID, Client: &http.Client{Transport: direct{o}}}
			if _, err := begin(t.Context(), p); (err == nil) != tt.ok {
				t.Errorf("issuer %q for %q: %v, want ok %t", tt.discovered, tt.configured, err, tt.ok)
			}
		})
	}
}

func TestDocumentIsFetchedWhereItIs(t *testing.T) {
	tests := []struct{ name, issuer, wellKnown, want string }{
		{"RP-16 below the issuer", "/realms/one", "", "/realms/one" + wellKnown},
		{"below an issuer that ends in a slash", "/realms/one/", "", "/realms/one" + wellKnown},
		{"Q14 at the well-known address given", "/realms/one", "/elsewhere" + wellKnown, "/elsewhere" + wellKnown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := newOP(t)
			o.document = func(d map[string]any) { d["issuer"] = o.issuer + tt.issuer }
			p := &handshake.Provider{ID: "op", OIDC: true, Issuer: o.issuer + tt.issuer, ClientID: clientID}
			if tt.wellKnown != "" {
				p.WellKnown = o.issuer + tt.wellKnown
			}
			if _, err := begin(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			if o.count(tt.want) != 1 {
				t.Errorf("document was not fetched from %s: %+v", tt.want, o.requests)
			}
		})
	}
}

// SH-24.
func TestRemoteDocumentCannotDirectRequestsToThisMachine(t *testing.T) {
	o := &op{issuer: "https://op.example.test", answer: map[string]http.HandlerFunc{}}
	o.document = func(d map[string]any) { d["token_endpoint"] = "http://127.0.0.1:9/token" }
	p := o.provider()
	p.Client = &http.Client{Transport: direct{o}}
	_, err := p.Redeem(t.Context(), options())
	wantError(t, err, "token endpoint", "not encrypted")
}

// SH-24, RPT-77. The metadata of an issuer that a customer chose names public services only,
// in every field.
func TestMetadataOfAPublicProviderNamesPublicServices(t *testing.T) {
	for _, address := range []string{
		"https://127.0.0.1/x", "https://localhost/x", "https://keycloak.internal/x", "http://op.example.test/x", "https://op.example.test:22/x",
		"https://op.example.test/#x", "https://op.example.test/" + strings.Repeat("x", 500),
	} {
		for _, endpoint := range []string{"token_endpoint", "userinfo_endpoint", "jwks_uri"} {
			o := &op{issuer: "https://op.example.test", key: rsaKey(), alg: "RS256", answer: map[string]http.HandlerFunc{}}
			o.keys = []map[string]any{jwk(rsaKey(), "key-1", "RS256")}
			p := o.provider()
			p.Client = &http.Client{Transport: direct{o}}
			p.PublicOnly, p.AllowInsecure, p.ProfileFromUserInfo = true, true, true
			if _, err := p.Redeem(t.Context(), options()); err != nil {
				t.Fatal(err)
			}
			p = o.provider()
			p.Client = &http.Client{Transport: direct{o}}
			p.PublicOnly, p.AllowInsecure, p.ProfileFromUserInfo = true, true, true
			o.document = func(d map[string]any) { d[endpoint] = address }
			if _, err := p.Redeem(t.Context(), options()); err == nil || o.count("/x") != 0 {
				t.Errorf("RPT-77 SH-24 %s at %s: %v, %d requests", endpoint, address, err, o.count("/x"))
			}
		}
	}
}

func TestDocumentIsKeptForAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &op{issuer: "https://op.example.test", answer: map[string]http.HandlerFunc{}}
		p := o.provider()
		p.Client = &http.Client{Transport: direct{o}}
		for range 3 {
			if _, err := begin(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		}
		if n := o.count(wellKnown); n != 1 {
			t.Errorf("fetched %d times, want once", n)
		}
		time.Sleep(time.Hour + time.Second)
		if _, err := begin(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if n := o.count(wellKnown); n != 2 {
			t.Errorf("fetched %d times after an hour, want twice", n)
		}
	})
}

func TestManySignInsFetchTheDocumentOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &op{issuer: "https://op.example.test", answer: map[string]http.HandlerFunc{}}
		o.document = func(map[string]any) { time.Sleep(time.Second) }
		p := o.provider()
		p.Client = &http.Client{Transport: direct{o}}
		var group sync.WaitGroup
		var failed atomic.Int32
		impatient, cancel := context.WithCancel(t.Context())
		signIn := func(ctx context.Context) func() {
			return func() {
				if _, err := begin(ctx, p); err != nil {
					failed.Add(1)
				}
			}
		}
		group.Go(signIn(impatient))
		synctest.Wait()
		for range 20 {
			group.Go(signIn(t.Context()))
		}
		synctest.Wait()
		cancel() // the sign-in that began the fetch gives up; the others still get the document
		group.Wait()
		if n := o.count(wellKnown); n != 1 {
			t.Errorf("fetched %d times, want once", n)
		}
		if failed.Load() != 1 {
			t.Errorf("%d sign-ins failed, want only the one that gave up", failed.Load())
		}
	})
}

// A cookie of the provider in a client that the application shares would carry
// one user's session into the requests of the next.
func TestCookiesOfTheProviderAreNotKept(t *testing.T) {
	o := newOP(t)
	o.answer["/userinfo"] = func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "alice", Path: "/"})
		sendJSON(w, map[string]any{"id": "1"})
	}
	p := o.oauth2()
	p.Client = &http.Client{Jar: must(cookiejar.New(nil))}
	for range 2 {
		if _, err := p.Redeem(t.Context(), options()); err != nil {
			t.Fatal(err)
		}
	}
	if got := o.last(t, "/userinfo").header.Get("Cookie"); got != "" {
		t.Errorf("the second user's request carries Cookie %q", got)
	}
}

// SH-13.
func TestErrorsOfRequestsLeaveOutTheQuery(t *testing.T) {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:1/me?access_token=secret-1", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	_, err = handshake.Fetch(&http.Client{}, req)
	wantError(t, err, "GET http://127.0.0.1:1/me: ")
	if strings.Contains(err.Error(), "secret-1") {
		t.Errorf("error repeats the query: %v", err)
	}
}

// BCP-21: a provider that never answers costs ten seconds, not a goroutine.
func TestSilentProviderIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &op{issuer: "https://op.example.test", answer: map[string]http.HandlerFunc{}}
		o.answer[wellKnown] = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
		p := o.provider()
		p.Client = &http.Client{Transport: direct{o}}
		start := time.Now()
		_, err := begin(t.Context(), p)
		wantError(t, err, "deadline exceeded")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v is no DeadlineExceeded", err)
		}
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("gave up after %v, want 10s", took)
		}
		time.Sleep(10 * time.Second) // the requests that were made beside the first one end
	})
}

func TestHookThatPanicsOnAnOddDocumentIsAnError(t *testing.T) {
	o := newOP(t)
	p := o.provider()
	p.Discovered = func(d map[string]any) error { _ = d["no_such_member"].(string); return nil }
	_, err := begin(t.Context(), p)
	wantError(t, err, "panic")
}

func TestDiscoveredHookRepairsTheDocument(t *testing.T) {
	o := newOP(t)
	o.document = func(d map[string]any) { d["issuer"] = "https://login.example.test" }
	p := o.provider()
	p.Discovered = func(d map[string]any) error { d["issuer"] = o.issuer; return nil }
	if _, err := begin(t.Context(), p); err != nil {
		t.Error(err)
	}
}

func TestCheckFindsWhatNoRequestIsNeededFor(t *testing.T) {
	tests := []struct {
		name   string
		change func(*handshake.Provider)
		want   string // empty: nothing wrong
	}{
		{"nothing", func(*handshake.Provider) {}, ""},
		{"an issuer alone is enough", func(p *handshake.Provider) {
			p.OIDC, p.Authorization, p.Token, p.UserInfo = true, handshake.Endpoint{}, handshake.Endpoint{}, handshake.Endpoint{}
		}, ""},
		{"W-19 http on this machine is fine", func(p *handshake.Provider) { p.Token.URL = "http://[::1]:5556/token" }, ""},
		{"W-19 http to a name below localhost is fine", func(p *handshake.Provider) { p.Token.URL = "http://IDP.LocalHost:5556/token" }, ""},
		{"W-19 http elsewhere", func(p *handshake.Provider) { p.Token.URL = "http://op.example.test/token" }, "Token.URL: http://op.example.test is not encrypted"},
		{"W-19 http elsewhere, allowed", func(p *handshake.Provider) { p.Token.URL, p.AllowInsecure = "http://op.example.test/token", true }, ""},
		{"a name that only begins like localhost", func(p *handshake.Provider) { p.Token.URL = "http://localhost.evil.example/token" }, "not encrypted"},
		{"no token endpoint", func(p *handshake.Provider) { p.Issuer, p.Token.URL = "", "" }, "Token.URL is missing"},
		{"no userinfo endpoint", func(p *handshake.Provider) { p.Issuer, p.UserInfo.URL = "", "" }, "UserInfo.URL is missing"},
		{"Q15 no userinfo endpoint, but none is needed", func(p *handshake.Provider) {
			p.Issuer, p.UserInfo.URL = "", ""
			p.FetchProfile = func(context.Context, *http.Client, map[string]any) (map[string]any, error) { return nil, nil }
		}, ""},
		{"OIDC without an issuer", func(p *handshake.Provider) { p.OIDC, p.Issuer = true, "" }, "Issuer is missing"},
		{"an unknown client authentication", func(p *handshake.Provider) { p.AuthMethod = "tls_client_auth" }, "not supported"},
		{"a key method without a key", func(p *handshake.Provider) { p.AuthMethod = "private_key_jwt" }, "needs a PrivateKey"},
		{"SH-28 unsigned ID tokens", func(p *handshake.Provider) { p.SigningAlg = "none" }, `"none" is not supported`},
		{"unsigned userinfo", func(p *handshake.Provider) { p.UserInfoSigningAlg = "HS256" }, "not supported"},
		{"MaxAge for a plain OAuth 2 provider, which has no auth_time", func(p *handshake.Provider) { p.MaxAge = time.Hour }, "OIDC"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := staticProvider()
			tt.change(p)
			err := p.Check()
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantError(t, err, tt.want)
		})
	}
}

// Whoever sets the issuer needs no endpoints, so their absence is not told.
func TestAMissingIssuerIsTheOnlyFault(t *testing.T) {
	err := (&handshake.Provider{ID: "acme", OIDC: true, ClientID: "x", ClientSecret: "y"}).Check()
	if want := `provider "acme": Issuer is missing: set it in the provider's options or in AUTH_ACME_ISSUER`; err == nil || err.Error() != want {
		t.Errorf("the error is\n%v, want\n%s", err, want)
	}
}
