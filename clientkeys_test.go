package pintle_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/internal/handshake"
	"github.com/pintleauth/pintle/oauth"
)

func newECKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// withClientKeys has the provider acme know its client by the key of a signer.
func withClientKeys(known crypto.Signer, change func(*pintle.OAuth)) func(*site) {
	return func(s *site) {
		s.idp.Register(authtest.Client{
			ID: "acme", Key: known.Public(), AuthMethod: authtest.PrivateKeyJWT,
			RedirectURIs: []string{s.url + "/auth/callback/acme"},
		})
		p := s.idp.OIDC("acme")
		p.ClientAuth = ""
		change(p)
		s.Providers = []pintle.Provider{p}
	}
}

func (s *site) keySet(method string) (status int, header http.Header, keys []map[string]any) {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), method, s.url+"/auth/jwks", nil)
	r.Header.Set("If-None-Match", `"anything"`)
	w := httptest.NewRecorder()
	s.auth.ServeHTTP(w, r)
	var set struct{ Keys []map[string]any }
	if w.Code == http.StatusOK {
		if err := json.Unmarshal(w.Body.Bytes(), &set); err != nil {
			s.t.Fatal(err)
		}
	}
	return w.Code, w.Header(), set.Keys
}

// RPT-36: the set has the public members of every key once, in the order of the
// configuration.
func TestTheKeySetHasPublicKeysOnly(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ecKey := newECKey(t)
	s := newSite(t, withClientKeys(rsaKey, func(p *pintle.OAuth) {
		p.ClientKeys = []oauth.ClientKey{{Signer: rsaKey, ID: "first"}, {Signer: ecKey}, {Signer: edKey, ID: "third"}}
	}), func(s *site) {
		other := s.idp.OIDC("other")
		other.ClientAuth, other.PrivateKey, other.PrivateKeyID = oauth.PrivateKeyJWT, rsaKey, "first"
		s.Providers = append(s.Providers, other)
	})
	status, header, keys := s.keySet(http.MethodGet)
	if status != http.StatusOK || len(keys) != 3 {
		t.Fatalf("%d with %d keys", status, len(keys))
	}
	if header.Get("Content-Type") != "application/json" || header.Get("Cache-Control") != "public, max-age=300" || header["Set-Cookie"] != nil {
		t.Errorf("header = %v", header)
	}
	for i, want := range []struct{ kty, alg, members string }{
		{"RSA", "RS256", "alg e kid kty n use"}, {"EC", "ES256", "alg crv kid kty use x y"}, {"OKP", "EdDSA", "alg crv kid kty use x"},
	} {
		key := keys[i]
		members := strings.Join(slices.Sorted(maps.Keys(key)), " ")
		if key["kty"] != want.kty || key["alg"] != want.alg || key["use"] != "sig" || members != want.members {
			t.Errorf("key %d is %v", i, key)
		}
	}
	if keys[0]["kid"] != "first" || keys[2]["kid"] != "third" || len(keys[1]["kid"].(string)) != 43 {
		t.Errorf("keys = %v", keys)
	}
	if status, head, _ := s.keySet(http.MethodHead); status != http.StatusOK || head.Get("Cache-Control") != "public, max-age=300" {
		t.Errorf("RPX-3 HEAD is answered with %d and %v", status, head)
	}
	for _, method := range []string{http.MethodPost, http.MethodDelete} {
		if status, _, _ := s.keySet(method); status != http.StatusBadRequest {
			t.Errorf("%s is answered with %d", method, status)
		}
	}
	b := s.browser()
	b.attempt("acme")
	if got := b.who(); got != "Ada Lovelace" {
		t.Errorf("signed in as %q:\n%s", got, s.log)
	}
}

func TestThereIsNoKeySetWithoutKeys(t *testing.T) {
	s := newSite(t)
	if status, _, _ := s.keySet(http.MethodGet); status != http.StatusBadRequest {
		t.Errorf("the answer is %d", status)
	}
}

// A key is replaced in steps: it is published, it signs, and the old one is removed.
func TestAKeyIsReplaced(t *testing.T) {
	before, after := newECKey(t), newECKey(t)
	for name, tt := range map[string]struct {
		keys  []oauth.ClientKey
		known crypto.Signer
	}{
		"published":    {[]oauth.ClientKey{{Signer: before}, {Signer: after}}, before},
		"signs":        {[]oauth.ClientKey{{Signer: after}, {Signer: before}}, after},
		"the only one": {[]oauth.ClientKey{{Signer: after}}, after},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, withClientKeys(tt.known, func(p *pintle.OAuth) { p.ClientKeys = tt.keys }))
			b := s.browser()
			b.attempt("acme")
			if got := b.who(); got != "Ada Lovelace" {
				t.Errorf("signed in as %q:\n%s", got, s.log)
			}
			if _, _, keys := s.keySet(http.MethodGet); len(keys) != len(tt.keys) {
				t.Errorf("%d keys are published", len(keys))
			}
		})
	}
}

func TestTwoProvidersWithOneKeyID(t *testing.T) {
	s := &site{idp: authtest.NewIdentityProvider(authtest.Options{})}
	s.idp.Issuer = "https://idp.example"
	var providers []pintle.Provider
	for _, id := range []string{"one", "two"} {
		p := s.idp.OIDC(id)
		p.ClientAuth, p.ClientKeys = "", []oauth.ClientKey{{Signer: newECKey(t), ID: "key"}}
		providers = append(providers, p)
	}
	_, err := pintle.New(pintle.Config{Providers: providers, Secrets: []string{secret}, Getenv: func(string) string { return "" }})
	if err == nil || !strings.Contains(err.Error(), `different client keys with the ID "key"`) {
		t.Errorf("New: %v", err)
	}
}

// RPT-35, RPX-57: a file of the platform takes the place of the secret, and its path may come
// from the environment.
func TestASignInWithAnAssertionOfThePlatform(t *testing.T) {
	key := newECKey(t)
	path := filepath.Join(t.TempDir(), "token")
	write := func() {
		t.Helper()
		if err := os.WriteFile(path, []byte(clientAssertion(t, key, "acme", "https://idp.example")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write()
	for name, change := range map[string]func(*site, *pintle.OAuth){
		"a field":                    func(_ *site, p *pintle.OAuth) { p.ClientAssertionFile = path },
		"a variable of the provider": func(s *site, _ *pintle.OAuth) { s.Getenv = variables("AUTH_ACME_ASSERTION_FILE", path) },
		"a variable of the platform": func(s *site, p *pintle.OAuth) {
			s.Getenv, p.Quirks.AssertionFileVariable = variables("PLATFORM_TOKEN_FILE", path), "PLATFORM_TOKEN_FILE"
		},
		"a function": func(_ *site, p *pintle.OAuth) {
			p.ClientAssertion = func(_ context.Context, audience string) (string, error) {
				return clientAssertion(t, key, "acme", audience), nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			write() // an assertion is good for one request at this provider
			s := newSite(t, func(s *site) {
				withClientKeys(key, func(p *pintle.OAuth) {
					p.ClientSecret = ""
					change(s, p)
				})(s)
			})
			b := s.browser()
			b.attempt("acme")
			if got := b.who(); got != "Ada Lovelace" {
				t.Errorf("signed in as %q:\n%s", got, s.log)
			}
			if r, _ := s.idp.LastRequest(authtest.TokenEndpoint); r.Form.Has("client_secret") || r.Form.Get("client_id") != "acme" {
				t.Errorf("form = %v", r.Form)
			}
			if text := s.log.String(); strings.Contains(text, "eyJ") {
				t.Errorf("RPT-37 the log has a token:\n%s", text)
			}
		})
	}
}

// The variable of a platform is set for every program that it starts. A secret that is
// configured goes on to be used.
func TestASecretIsPreferredToTheVariableOfThePlatform(t *testing.T) {
	s := newSite(t, func(s *site) {
		p := s.idp.OIDC("acme")
		p.Quirks.AssertionFileVariable = "PLATFORM_TOKEN_FILE"
		s.Providers, s.Getenv = []pintle.Provider{p}, variables("PLATFORM_TOKEN_FILE", "/nowhere/token")
	})
	b := s.browser()
	b.attempt("acme")
	if got := b.who(); got != "Ada Lovelace" {
		t.Errorf("signed in as %q:\n%s", got, s.log)
	}
}

// RPT-37: printing a key or a provider shows no private half.
func TestAKeyPrintsWithoutItsPrivateHalf(t *testing.T) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	shown := oauth.ClientKey{Signer: key, ID: "first"}
	p := &pintle.OAuth{ID: "acme", ClientKeys: []oauth.ClientKey{shown}, PrivateKey: key}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		text := fmt.Sprintf(format, shown) + fmt.Sprintf(format, *p)
		for _, half := range []string{string(key), fmt.Sprintf("%x", []byte(key)), strings.Trim(fmt.Sprint(string([]byte(key))), "[]")} {
			if strings.Contains(text, half) {
				t.Errorf("%s prints %s", format, text)
			}
		}
	}
}

func variables(name, value string) func(string) string {
	return func(asked string) string {
		if asked == name {
			return value
		}
		return ""
	}
}

// clientAssertion is an assertion that is made outside of this library.
func clientAssertion(t *testing.T, key crypto.Signer, client, audience string) string {
	t.Helper()
	signed, err := handshake.SignJWT(key, "", map[string]any{
		"iss": client, "sub": client, "aud": audience, "jti": rand.Text(), "exp": time.Now().Add(time.Minute).Unix(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return signed
}
