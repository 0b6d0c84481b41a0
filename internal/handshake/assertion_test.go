package handshake_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/pintleauth/pintle/internal/handshake"
	"github.com/pintleauth/pintle/oauth"
)

// newAssertion is an assertion as a platform makes it.
func newAssertion(id string, life time.Duration) string {
	return signRaw(ecdsaKey(), jose.ES256, map[string]any{"alg": "ES256"}, map[string]any{
		"jti": id, "sub": "system:serviceaccount:web", "exp": time.Now().Add(life).Unix(),
	})
}

// assertingProvider is a client whose assertions are made elsewhere.
func (o *op) assertingProvider() *handshake.Provider {
	p := o.oauth2()
	p.ClientSecret = ""
	return p
}

// RPT-35: of a file that is replaced while requests are under way the newest content is sent,
// and it is not read more often than every five seconds.
func TestTheNewestAssertionOfAFileIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &op{key: rsaKey(), alg: jose.RS256, answer: map[string]http.HandlerFunc{}, issuer: "https://op.example.test"}
		path := filepath.Join(t.TempDir(), "token")
		p := o.assertingProvider()
		p.Client = &http.Client{Transport: direct{o}}
		p.AssertionFile = path
		write := func(text string) {
			t.Helper()
			// A platform replaces the file as a whole.
			if err := errors.Join(os.WriteFile(path+".new", []byte(text), 0o600), os.Rename(path+".new", path)); err != nil {
				t.Fatal(err)
			}
		}
		sent := func() string {
			t.Helper()
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() {
					if _, err := p.Redeem(t.Context(), options()); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			r := o.last(t, "/token")
			if r.form.Get("client_id") != clientID || r.form.Get("client_assertion_type") != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" ||
				r.form.Has("client_secret") || r.header.Get("Authorization") != "" {
				t.Errorf("form = %v", r.form)
			}
			return r.form.Get("client_assertion")
		}
		first, second := newAssertion("1", time.Hour), newAssertion("2", time.Hour)
		write(" " + first + "\r\n")
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		if got := sent(); got != first {
			t.Errorf("sent %q", got)
		}
		write(second)
		if got := sent(); got != first {
			t.Error("the file was read twice within five seconds")
		}
		time.Sleep(5 * time.Second)
		if got := sent(); got != second {
			t.Error("the newest assertion was not sent")
		}
	})
}

// RPT-35: an error names the file, and nothing that is in it.
func TestAFileWithoutAnAssertion(t *testing.T) {
	const canary = "canary-6f1f0e1d"
	dir := t.TempDir()
	pem := "-----BEGIN PRIVATE KEY-----\n" + canary + "\n-----END PRIVATE KEY-----\n"
	expired := newAssertion(canary, -time.Minute)
	type file struct {
		name  string
		make  func(path string) error
		want  string
		later bool // New cannot know
	}
	files := []file{
		{"missing", func(string) error { return nil }, "no such file", false},
		{"empty", func(path string) error { return os.WriteFile(path, nil, 0o600) }, "not a signed JWT", false},
		{"1 MiB", func(path string) error {
			return os.WriteFile(path, []byte(canary+strings.Repeat("a", 1<<20)), 0o600)
		}, "longer than 16384 bytes", false},
		{"PEM", func(path string) error { return os.WriteFile(path, []byte(pem), 0o600) }, "not a signed JWT", false},
		{"a secret", func(path string) error { return os.WriteFile(path, []byte(canary), 0o600) }, "not a signed JWT", false},
		{"expired", func(path string) error { return os.WriteFile(path, []byte(expired), 0o600) }, "expired at", true},
		{"a directory", func(path string) error { return os.Mkdir(path, 0o700) }, "not a regular file", false},
		{"unreadable", func(path string) error {
			// The tests may run as root, which may read everything: a loop of links is unreadable for all.
			return os.Symlink(path, path)
		}, "too many levels", false},
	}
	if makePipe != nil {
		files = append(files, file{"a pipe", makePipe, "not a regular file", false})
	}
	for _, tt := range files {
		t.Run("RPT-35 "+tt.name, func(t *testing.T) {
			path := filepath.Join(dir, strings.ReplaceAll(tt.name, " ", "-"))
			if err := tt.make(path); err != nil {
				t.Fatal(err)
			}
			o := newOP(t)
			p := o.assertingProvider()
			p.AssertionFile = path
			if err := p.Check(); (err != nil) == tt.later {
				t.Errorf("Check: %v", err)
			}
			_, err := p.Redeem(t.Context(), options())
			wantError(t, err, tt.want, path)
			if strings.Contains(err.Error(), canary) || strings.Contains(err.Error(), expired) {
				t.Errorf("RPT-37 the error repeats the file: %v", err)
			}
			if o.count("/token") != 0 {
				t.Error("a token request was sent")
			}
		})
	}
}

// RPX-58: a function is asked for each request, and its result is checked like a file.
func TestAnAssertionThatTheApplicationMakes(t *testing.T) {
	o := newOP(t)
	p := o.assertingProvider()
	p.Issuer = "https://op.example.test"
	asked := 0
	p.Assertion = func(ctx context.Context, audience string) (string, error) {
		asked++
		if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > 10*time.Second || audience != p.Issuer {
			t.Errorf("asked for %q until %v", audience, deadline)
		}
		return newAssertion(string(rune('0'+asked)), time.Minute) + "\n", nil
	}
	seen := map[string]bool{}
	for range 3 {
		if _, err := p.Redeem(t.Context(), options()); err != nil {
			t.Fatal(err)
		}
		seen[o.last(t, "/token").form.Get("client_assertion")] = true
	}
	if len(seen) != 3 {
		t.Errorf("%d different assertions were sent", len(seen))
	}
	made := newAssertion("canary", -time.Hour)
	for name, result := range map[string]struct {
		text string
		err  error
	}{
		"an expired one":           {made, nil},
		"a text that is none":      {"canary-canary", nil},
		"a long one":               {strings.Repeat("a", 17<<10), nil},
		"an error that repeats it": {made, errors.New("refused: " + made)},
	} {
		t.Run("RPT-37 "+name, func(t *testing.T) {
			before := o.count("/token")
			p.Assertion = func(context.Context, string) (string, error) { return result.text, result.err }
			_, err := p.Redeem(t.Context(), options())
			wantError(t, err, "client assertion")
			if strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), made) || o.count("/token") != before {
				t.Errorf("error = %v", err)
			}
		})
	}
}

// RPT-37: a provider repeats the assertion in its error, which does not get into ours.
func TestAnErrorDoesNotRepeatTheAssertion(t *testing.T) {
	o := newOP(t)
	p := o.assertingProvider()
	p.ClientKeys = []oauth.ClientKey{{Signer: ecdsaKey()}}
	o.answer["/token"] = func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		sendJSON(w, map[string]any{"error": "invalid_client", "error_description": "bad: " + r.PostForm.Get("client_assertion")})
	}
	_, err := p.Redeem(t.Context(), options())
	wantError(t, err, "[redacted]", "the keys or the assertion of the client")
}

// RPX-54: the first key signs, with its thumbprint as the id.
func TestTheFirstClientKeySigns(t *testing.T) {
	o := newOP(t)
	p := o.assertingProvider()
	p.Issuer = "https://op.example.test"
	p.ClientKeys = []oauth.ClientKey{{Signer: rsaKey(), Algorithm: oauth.PS256}, {Signer: ecdsaKey(), ID: "next"}}
	p.AssertionType = "client-authentication+jwt"
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Redeem(t.Context(), options()); err != nil {
		t.Fatal(err)
	}
	keys := must(p.PublishedKeys())
	r := o.last(t, "/token")
	checkAssertion(t, r, rsaKey().Public(), jose.PS256, keys[0].ID)
	jws := must(jose.ParseSignedCompact(r.form.Get("client_assertion"), []jose.SignatureAlgorithm{jose.PS256}))
	if typ := jws.Signatures[0].Header.ExtraHeaders[jose.HeaderType]; typ != "client-authentication+jwt" {
		t.Errorf("typ = %v", typ)
	}
	var shown struct{ Kid, Alg, Use string }
	if err := json.Unmarshal(keys[0].JWK, &shown); err != nil || shown.Kid != keys[0].ID || shown.Alg != "PS256" || shown.Use != "sig" {
		t.Errorf("published %s, %v", keys[0].JWK, err)
	}
	if len(keys) != 2 || keys[1].ID != "next" || keys[0].ID != keys[0].Thumbprint {
		t.Errorf("keys = %+v", keys)
	}
}

// RPX-54, RPX-56, RPX-59.
func TestCredentialsThatCannotWork(t *testing.T) {
	key := func(k crypto.Signer) []oauth.ClientKey { return []oauth.ClientKey{{Signer: k, ID: "a"}} }
	p224 := must(ecdsa.GenerateKey(elliptic.P224(), rand.Reader))
	assertion := func(context.Context, string) (string, error) { return "", nil }
	for name, tt := range map[string]struct {
		set  func(*handshake.Provider)
		want string
	}{
		"RSA of 1024 bits":      {func(p *handshake.Provider) { p.ClientKeys = key(weakKey()) }, "1024 bits is too short"},
		"a weak PrivateKey":     {func(p *handshake.Provider) { p.PrivateKey = weakKey() }, "PrivateKey: an RSA key"},
		"P-224":                 {func(p *handshake.Provider) { p.ClientKeys = key(p224) }, "the curve is none of"},
		"no signer":             {func(p *handshake.Provider) { p.ClientKeys = key(nil) }, "ClientKeys[0]: there is no Signer"},
		"a key of another kind": {func(p *handshake.Provider) { p.ClientKeys = key(oddKey{}) }, "no signature algorithm"},
		"one id for two keys":   {func(p *handshake.Provider) { p.ClientKeys = append(key(rsaKey()), key(ecdsaKey())...) }, `ID "a", too`},
		"one key twice": {func(p *handshake.Provider) {
			p.ClientKeys = []oauth.ClientKey{{Signer: rsaKey()}, {Signer: rsaKey()}}
		}, "ClientKeys[1]: another key"},
		"an algorithm of another key": {func(p *handshake.Provider) {
			p.ClientKeys = []oauth.ClientKey{{Signer: rsaKey(), Algorithm: oauth.ES256}}
		}, "cannot sign with ES256"},
		"both kinds of keys": {func(p *handshake.Provider) { p.PrivateKey, p.ClientKeys = rsaKey(), key(ecdsaKey()) }, "contradict"},
		"a short secret that signs": {func(p *handshake.Provider) {
			p.AuthMethod, p.ClientSecret = "client_secret_jwt", strings.Repeat("x", 31)
		}, "client_secret_basic"},
		"an assertion and a secret": {func(p *handshake.Provider) { p.Assertion = assertion }, "AUTH_OP_SECRET"},
		"an assertion and a function for a secret": {func(p *handshake.Provider) {
			p.ClientSecret, p.Assertion = "", assertion
			p.ClientSecretFunc = func(context.Context) (string, error) { return "", nil }
		}, "takes the place of ClientSecret"},
		"an assertion and a key": {func(p *handshake.Provider) {
			p.ClientSecret, p.Assertion, p.ClientKeys = "", assertion, key(rsaKey())
		}, "takes the place of ClientKeys"},
		"an assertion and another method": {func(p *handshake.Provider) {
			p.ClientSecret, p.Assertion, p.AuthMethod = "", assertion, "client_secret_post"
		}, "contradicts ClientAuth client_secret_post"},
		"a file and a function": {func(p *handshake.Provider) {
			p.ClientSecret, p.Assertion, p.AssertionFile = "", assertion, "/nowhere"
		}, "contradict each other"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newOP(t).provider()
			tt.set(p)
			wantError(t, p.Check(), tt.want)
		})
	}
}
