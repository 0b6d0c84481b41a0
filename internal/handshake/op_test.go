package handshake_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/cryptosigner"

	"github.com/pintleauth/pintle/internal/handshake"
)

const (
	clientID     = "client-1"
	clientSecret = "client-secret-0123456789abcdef0123456789abcdef"
	redirectURI  = "https://app.example.test/auth/callback/op"
	theCode      = "code-1f0e9c"
	theVerifier  = "verifier-0123456789-0123456789-0123456789-0"
	theNonce     = "nonce-0123456789"
)

var (
	rsaKey     = sync.OnceValue(func() crypto.Signer { return must(rsa.GenerateKey(rand.Reader, 2048)) })
	otherKey   = sync.OnceValue(func() crypto.Signer { return must(rsa.GenerateKey(rand.Reader, 2048)) })
	weakKey    = sync.OnceValue(func() crypto.Signer { return must(rsa.GenerateKey(rand.Reader, 1024)) })
	ecdsaKey   = sync.OnceValue(func() crypto.Signer { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) })
	ed25519Key = sync.OnceValue(func() crypto.Signer {
		_, private, err := ed25519.GenerateKey(rand.Reader)
		return must(private, err)
	})
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// An op is an OpenID provider that responds correctly unless a lie is set. Its
// handler can be served by a real server or called in a synctest bubble.
type op struct {
	issuer string

	mu       sync.Mutex
	requests []request

	// Lies. Each gets the correct value and may change it.
	document func(map[string]any)
	tokens   func(map[string]any)
	claims   func(map[string]any)
	profile  func(map[string]any)
	// Replacements of whole responses, by path.
	answer map[string]http.HandlerFunc

	key    any // signs ID tokens; a crypto.Signer, or []byte for HS256
	alg    jose.SignatureAlgorithm
	header map[string]any // of ID tokens; nil values remove
	keys   []map[string]any
}

// A request is one that arrived at the provider.
type request struct {
	method, path string
	header       http.Header
	query, form  url.Values
}

func newOP(t testing.TB) *op {
	t.Helper()
	o := &op{key: rsaKey(), alg: jose.RS256, answer: make(map[string]http.HandlerFunc)}
	o.keys = []map[string]any{jwk(rsaKey(), "key-1", jose.RS256)}
	server := httptest.NewServer(o)
	t.Cleanup(server.Close)
	o.issuer = server.URL
	return o
}

// provider returns a client of o with every check on.
func (o *op) provider() *handshake.Provider {
	return &handshake.Provider{
		ID: "op", OIDC: true, Issuer: o.issuer,
		ClientID: clientID, ClientSecret: clientSecret,
		PKCE: true, State: true, Nonce: true,
	}
}

func options() handshake.RedeemOptions {
	return handshake.RedeemOptions{Code: theCode, RedirectURI: redirectURI, Verifier: theVerifier, Nonce: theNonce}
}

func (o *op) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	o.mu.Lock()
	o.requests = append(o.requests, request{r.Method, r.URL.Path, r.Header.Clone(), r.URL.Query(), r.PostForm})
	answer := o.answer[r.URL.Path]
	o.mu.Unlock()
	if answer != nil {
		answer(w, r)
		return
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/.well-known/openid-configuration"):
		sendJSON(w, o.discovery())
	case r.URL.Path == "/jwks":
		o.mu.Lock()
		defer o.mu.Unlock()
		sendJSON(w, map[string]any{"keys": o.keys})
	case r.URL.Path == "/token":
		sendJSON(w, o.tokenResponse())
	case r.URL.Path == "/userinfo":
		truth := map[string]any{"sub": "sub-alice", "name": "Alice From Userinfo"}
		if o.profile != nil {
			o.profile(truth)
		}
		sendJSON(w, truth)
	default:
		http.NotFound(w, r)
	}
}

func (o *op) discovery() map[string]any {
	truth := map[string]any{
		"issuer":                                o.issuer,
		"authorization_endpoint":                o.issuer + "/authorize",
		"token_endpoint":                        o.issuer + "/token",
		"userinfo_endpoint":                     o.issuer + "/userinfo",
		"jwks_uri":                              o.issuer + "/jwks",
		"id_token_signing_alg_values_supported": []string{"RS256", "ES256", "EdDSA"},
	}
	if o.document != nil {
		o.document(truth)
	}
	return truth
}

func (o *op) tokenResponse() map[string]any {
	truth := map[string]any{
		"access_token": "access-5d41402a", "token_type": "Bearer", "expires_in": 3600,
		"scope": "openid", "id_token": o.idToken(),
	}
	if o.tokens != nil {
		o.tokens(truth)
	}
	return truth
}

func (o *op) idToken() string {
	now := time.Now().Unix()
	truth := map[string]any{
		"iss": o.issuer, "sub": "sub-alice", "aud": clientID, "iat": now, "exp": now + 300,
		"nonce": theNonce, "name": "Alice Example", "email": "alice@example.test",
	}
	if o.claims != nil {
		o.claims(truth)
	}
	return o.sign(truth)
}

func (o *op) sign(claims map[string]any) string {
	header := map[string]any{"alg": string(o.alg), "kid": "key-1"}
	for name, v := range o.header {
		if header[name] = v; v == nil {
			delete(header, name)
		}
	}
	return signRaw(o.key, o.alg, header, claims)
}

// signRaw makes tokens that no library would.
func signRaw(key any, alg jose.SignatureAlgorithm, header map[string]any, claims any) string {
	return signInput(key, alg, encode(header)+"."+encode(claims))
}

// signInput signs what need not be the beginning of a token.
func signInput(key any, alg jose.SignatureAlgorithm, input string) string {
	signature := ""
	switch key := key.(type) {
	case crypto.Signer:
		signature = base64.RawURLEncoding.EncodeToString(must(cryptosigner.Opaque(key).SignPayload([]byte(input), alg)))
	case []byte:
		signature = macSHA256(key, input)
	}
	return input + "." + signature
}

func macSHA256(key []byte, input string) string {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(input))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

func encode(v any) string { return base64.RawURLEncoding.EncodeToString(must(json.Marshal(v))) }

func jwk(key crypto.Signer, id string, alg jose.SignatureAlgorithm) map[string]any {
	raw := must(json.Marshal(jose.JSONWebKey{Key: key.Public(), KeyID: id, Algorithm: string(alg), Use: "sig"}))
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		panic(err)
	}
	return m
}

func with(m map[string]any, more map[string]any) map[string]any {
	m = maps.Clone(m)
	maps.Copy(m, more)
	return m
}

func sendJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(must(json.Marshal(v)))
}

// saying returns a handler with a fixed response.
func saying(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// count returns how often path was requested.
func (o *op) count(path string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for _, r := range o.requests {
		if r.path == path {
			n++
		}
	}
	return n
}

// last returns the last request for path.
func (o *op) last(t testing.TB, path string) request {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range slices.Backward(o.requests) {
		if r.path == path {
			return r
		}
	}
	t.Fatalf("no request for %s arrived", path)
	return request{}
}

// direct is a transport that calls a handler without a socket, so that time in
// a synctest bubble can pass while a request is under way.
type direct struct{ handler http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.handler.ServeHTTP(recorder, r)
	}()
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case <-done:
		return recorder.Result(), nil
	}
}

// wantError fails unless err contains each of words, and none of the secrets.
func wantError(t testing.TB, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", words)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q does not contain %q", err, word)
		}
	}
	for _, secret := range []string{clientSecret, theCode, theVerifier, theNonce, "access-5d41402a", "eyJ"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("SH-13 error repeats the secret %q: %v", secret, err)
		}
	}
}
