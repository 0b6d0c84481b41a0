package authtest_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/pintleauth/pintle/authtest"
)

// appURL is the address of the application under test. No server listens there:
// browsers in these tests stop at every redirect.
const appURL = "https://app.example.test"

var app = authtest.Client{
	ID:                     "app",
	Secret:                 "s3cret: with %, + and /",
	Name:                   "The application",
	RedirectURIs:           []string{appURL + "/auth/callback/test"},
	PostLogoutRedirectURIs: []string{appURL + "/bye"},
}

// A relyingParty is a client written from the specifications, in plain HTTP.
// internal/integration/oauthclients tests this package with client libraries.
type relyingParty struct {
	t   *testing.T
	idp *authtest.IdentityProvider

	clientID, clientSecret, redirectURI, scope string
}

func newRelyingParty(t *testing.T, idp *authtest.IdentityProvider) *relyingParty {
	t.Helper()
	if issuer := decode(t, get(t, idp.URL(authtest.DiscoveryEndpoint)))["issuer"]; issuer != idp.Issuer {
		t.Fatalf("discovery: the issuer is %v, want %s", issuer, idp.Issuer)
	}
	return &relyingParty{
		t: t, idp: idp, clientID: app.ID, clientSecret: app.Secret, redirectURI: app.RedirectURIs[0],
		scope: "openid profile email offline_access",
	}
}

// An attempt is one sign-in.
type attempt struct {
	*relyingParty

	verifier, state, nonce string
}

func (rp *relyingParty) begin() *attempt {
	return &attempt{rp, newVerifier(), "state-" + rp.t.Name(), "nonce-" + rp.t.Name()}
}

func newVerifier() string { return rand.Text() + rand.Text() } // RFC 7636 requires 43 characters at least

func challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// url is where the attempt begins, with more parameters: name, value and so on.
func (a *attempt) url(more ...string) string {
	return a.urlWith(append([]string{"code_challenge", challenge(a.verifier), "code_challenge_method", "S256", "nonce", a.nonce}, more...)...)
}

func (a *attempt) urlWith(more ...string) string {
	v := url.Values{
		"response_type": {"code"}, "client_id": {a.clientID}, "redirect_uri": {a.redirectURI}, "scope": {a.scope}, "state": {a.state},
	}
	for pair := range slices.Chunk(more, 2) {
		v.Set(pair[0], pair[1])
	}
	return a.idp.URL(authtest.AuthorizationEndpoint) + "?" + v.Encode()
}

// approve requests the authorization endpoint of a provider with automatic consent,
// and returns the parameters of its redirect.
func (a *attempt) approve(more ...string) url.Values {
	a.t.Helper()
	resp := get(a.t, a.url(more...))
	if resp.StatusCode != http.StatusFound {
		a.t.Fatalf("authorization: %s: %s", resp.Status, body(a.t, resp))
	}
	return answerOf(a.t, resp)
}

// tokens are the response of the token endpoint.
type tokens struct {
	AccessToken  string `json:"access_token"`
	RefreshToken string `json:"refresh_token"`
	IDToken      string `json:"id_token"`
}

func (a *attempt) exchange(code string) (*tokens, error) {
	return a.grant(url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {a.redirectURI}, "code_verifier": {a.verifier},
	})
}

func (a *attempt) refresh(token string) (*tokens, error) {
	return a.grant(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}})
}

func (a *attempt) grant(form url.Values) (*tokens, error) {
	req, err := http.NewRequestWithContext(a.t.Context(), http.MethodPost, a.idp.URL(authtest.TokenEndpoint), strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(url.QueryEscape(a.clientID), url.QueryEscape(a.clientSecret))
	resp, err := browser.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return nil, err
	}
	t := new(tokens)
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", resp.Status, answer)
	}
	return t, json.Unmarshal(answer, t)
}

// An idToken is one that was verified, with all of its claims.
type idToken struct {
	Issuer     string  `json:"iss"`
	Subject    string  `json:"sub"`
	Audience   string  `json:"aud"`
	Expiry     float64 `json:"exp"`
	Nonce      string  `json:"nonce"`
	AccessHash string  `json:"at_hash"`

	claims map[string]any
}

// verify checks the ID token in t as a careful client does.
func (rp *relyingParty) verify(t *tokens) (*idToken, error) {
	jws, err := jose.ParseSignedCompact(t.IDToken, []jose.SignatureAlgorithm{jose.RS256, jose.ES256, jose.EdDSA})
	if err != nil {
		return nil, err
	}
	var set jose.JSONWebKeySet
	if err := json.NewDecoder(get(rp.t, rp.idp.URL(authtest.JWKSEndpoint)).Body).Decode(&set); err != nil {
		return nil, err
	}
	payload, err := jws.Verify(set)
	if err != nil {
		return nil, err
	}
	v := new(idToken)
	if err := errors.Join(json.Unmarshal(payload, v), json.Unmarshal(payload, &v.claims)); err != nil {
		return nil, err
	}
	switch {
	case v.Issuer != rp.idp.Issuer, v.Audience != rp.clientID:
		return nil, fmt.Errorf("issued by %q for %q", v.Issuer, v.Audience)
	case time.Until(time.Unix(int64(v.Expiry), 0)) <= 0:
		return nil, errors.New("expired")
	case v.AccessHash != leftHash(t.AccessToken, jws.Signatures[0].Header.Algorithm):
		return nil, errors.New("at_hash is not that of the access token")
	}
	return v, nil
}

// userInfo returns the profile that the userinfo endpoint has for a token.
func (rp *relyingParty) userInfo(t *tokens) map[string]any {
	rp.t.Helper()
	return decode(rp.t, do(rp.t, withBearer(rp.t, rp.idp.URL(authtest.UserInfoEndpoint), t.AccessToken)))
}

// browser stops at each redirect, so that tests look at every hop.
var browser = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func get(t *testing.T, address string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	return do(t, req)
}

func do(t *testing.T, req *http.Request) *http.Response {
	t.Helper()
	resp, err := browser.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// answerOf returns the parameters of the redirect back to the application.
func answerOf(t *testing.T, resp *http.Response) url.Values {
	t.Helper()
	location, err := resp.Location()
	if err != nil {
		t.Fatalf("%s: no redirect: %v", resp.Status, err)
	}
	return location.Query()
}

func body(t *testing.T, resp *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func decode(t *testing.T, resp *http.Response) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
		t.Fatalf("%s: %v", resp.Status, err)
	}
	return v
}

func withBearer(t *testing.T, address, token string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	return req
}
