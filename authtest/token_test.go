package authtest_test

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
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/pintleauth/pintle/authtest"
)

// redeem sends a token request as it is written here.
func redeem(t *testing.T, idp *authtest.IdentityProvider, form url.Values, basic ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, idp.URL(authtest.TokenEndpoint), strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if len(basic) == 2 {
		req.SetBasicAuth(basic[0], basic[1])
	}
	return do(t, req)
}

func TestCodesAreBoundToWhatTheyWereIssuedFor(t *testing.T) {
	other := authtest.Client{ID: "other", Secret: "x", RedirectURIs: []string{appURL + "/other"}}
	idp := authtest.Start(t, authtest.Options{Algorithm: authtest.ES256, AutoConsent: true, Clients: []authtest.Client{app, other}})
	rp := newRelyingParty(t, idp)
	tests := []struct {
		name   string
		change func(url.Values)
		want   string
	}{
		{"no fault", func(url.Values) {}, ""},
		{"no code", func(v url.Values) { v.Del("code") }, "invalid_grant"},
		{"unknown code", func(v url.Values) { v.Set("code", "x") }, "invalid_grant"},
		{"another redirect URI", func(v url.Values) { v.Set("redirect_uri", appURL) }, "invalid_grant"},
		{"no redirect URI", func(v url.Values) { v.Del("redirect_uri") }, "invalid_grant"},
		{"another client", func(v url.Values) { v.Set("client_id", "other"); v.Set("client_secret", "x") }, "invalid_grant"},
		{"BCP-6 no verifier", func(v url.Values) { v.Del("code_verifier") }, "invalid_grant"},
		{"another verifier", func(v url.Values) { v.Set("code_verifier", newVerifier()) }, "invalid_grant"},
		{"no grant type", func(v url.Values) { v.Del("grant_type") }, "invalid_request"},
		{"BCP-9 password grant", func(v url.Values) { v.Set("grant_type", "password") }, "unsupported_grant_type"},
		{"repeated parameter", func(v url.Values) { v.Add("code", "x") }, "invalid_request"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := rp.begin()
			form := url.Values{
				"grant_type": {"authorization_code"}, "code": {a.approve().Get("code")}, "redirect_uri": {app.RedirectURIs[0]},
				"code_verifier": {a.verifier}, "client_id": {app.ID}, "client_secret": {app.Secret},
			}
			tt.change(form)
			resp := redeem(t, idp, form)
			got, _ := decode(t, resp)["error"].(string)
			if got != tt.want || (tt.want == "") != (resp.StatusCode == http.StatusOK) {
				t.Errorf("%s with error %q, want %q", resp.Status, got, tt.want)
			}
		})
	}
}

func TestVerifierWithoutChallengeIsADowngrade(t *testing.T) { // SH-85
	idp := authtest.Start(t, authtest.Options{AutoConsent: true, Clients: []authtest.Client{app}})
	a := newRelyingParty(t, idp).begin()
	code := answerOf(t, get(t, a.urlWith())).Get("code")
	if _, err := a.exchange(code); err == nil {
		t.Error("a verifier was accepted for a code without challenge")
	}
}

func TestCodeWorksOnceAmongMany(t *testing.T) { // SH-17
	idp := authtest.Start(t, authtest.Options{Algorithm: authtest.ES256, AutoConsent: true, Clients: []authtest.Client{app}})
	a := newRelyingParty(t, idp).begin()
	code := a.approve().Get("code")
	var wg sync.WaitGroup
	got := make([]*tokens, 8)
	for i := range got {
		wg.Go(func() { got[i], _ = a.exchange(code) })
	}
	wg.Wait()
	var won []*tokens
	for _, token := range got {
		if token != nil {
			won = append(won, token)
		}
	}
	if len(won) != 1 {
		t.Fatalf("%d exchanges of one code succeeded, want 1", len(won))
	}
	if resp := do(t, withBearer(t, idp.URL(authtest.UserInfoEndpoint), won[0].AccessToken)); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("the token of a replayed code: %s, want 401", resp.Status)
	}
}

func TestClientsAuthenticateInEveryStandardWay(t *testing.T) { // RP-4, BCP-16
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	edPublic, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	secret := "a secret of 32 bytes: % + / and :"
	client := func(id, secret string, key crypto.PublicKey, method string) authtest.Client {
		return authtest.Client{ID: id, Secret: secret, Key: key, AuthMethod: method, RedirectURIs: app.RedirectURIs}
	}
	idp := authtest.Start(t, authtest.Options{AutoConsent: true, Clients: []authtest.Client{
		client("conf", secret, nil, ""),
		client("basic only", secret, nil, authtest.ClientSecretBasic),
		client("public", "", nil, ""),
		client("rsa", "", rsaKey.Public(), ""), client("ec", "", ecKey.Public(), ""), client("ed", "", edPublic, ""),
	}})

	// assert returns an assertion, changed from a good one.
	assert := func(alg jose.SignatureAlgorithm, key any, id string, change func(*jwt.Claims)) url.Values {
		claims := jwt.Claims{
			Issuer: id, Subject: id, Audience: jwt.Audience{idp.Issuer}, ID: rand.Text(),
			Expiry: jwt.NewNumericDate(time.Now().Add(time.Minute)),
		}
		if change != nil {
			change(&claims)
		}
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, nil)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := jwt.Signed(signer).Claims(claims).Serialize()
		if err != nil {
			t.Fatal(err)
		}
		return url.Values{
			"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"},
			"client_assertion":      {signed},
		}
	}
	post := func(id, secret string) url.Values { return url.Values{"client_id": {id}, "client_secret": {secret}} }
	encoded := url.QueryEscape(secret)

	// emptyMAC is an assertion that any client can make for one without a
	// secret.
	emptyMAC := func(id string) url.Values {
		part := func(v any) string {
			return base64.RawURLEncoding.EncodeToString([]byte(stringify(v)))
		}
		input := part(map[string]any{"alg": "HS256"}) + "." + part(map[string]any{
			"iss": id, "sub": id, "aud": idp.Issuer, "jti": "j", "exp": time.Now().Add(time.Minute).Unix(),
		})
		mac := hmac.New(sha256.New, nil)
		mac.Write([]byte(input))
		return url.Values{
			"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"},
			"client_assertion":      {input + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))},
		}
	}
	otherClient := assert(jose.EdDSA, edKey, "ed", nil)
	otherClient.Set("client_id", "public")

	tests := []struct {
		name  string
		form  url.Values
		basic []string
		want  string // the method, "" when refused
	}{
		{"basic", nil, []string{"conf", encoded}, authtest.ClientSecretBasic},
		{"RP-4 basic without form encoding", nil, []string{"conf", secret}, ""},
		{"basic with another secret", nil, []string{"conf", "x"}, ""},
		{"basic of an unknown client", nil, []string{"unknown", encoded}, ""},
		{"basic and another client_id", url.Values{"client_id": {"public"}}, []string{"conf", encoded}, ""},
		{"post", post("conf", secret), nil, authtest.ClientSecretPost},
		{"post with another secret", post("conf", "x"), nil, ""},
		{"post with an empty secret", post("public", ""), nil, ""},
		{"post by a client for basic", post("basic only", secret), nil, ""},
		{"basic by a client for basic", nil, []string{"basic+only", encoded}, authtest.ClientSecretBasic},
		{"two ways at once", post("conf", secret), []string{"conf", encoded}, ""},
		{"SH-29 none by a confidential client", url.Values{"client_id": {"conf"}}, nil, ""},
		{"none by a client with a key", url.Values{"client_id": {"rsa"}}, nil, ""},
		{"none by a public client", url.Values{"client_id": {"public"}}, nil, authtest.ClientAuthNone},
		{"secret JWT", assert(jose.HS256, []byte(secret), "conf", nil), nil, authtest.ClientSecretJWT},
		{"secret JWT with another secret", assert(jose.HS256, []byte(secret+"x"), "conf", nil), nil, ""},
		{"secret JWT by a client without secret", assert(jose.HS256, []byte(secret), "rsa", nil), nil, ""},
		{"secret JWT with an empty secret", emptyMAC("rsa"), nil, ""},
		{"RS256", assert(jose.RS256, rsaKey, "rsa", nil), nil, authtest.PrivateKeyJWT},
		{"PS256", assert(jose.PS256, rsaKey, "rsa", nil), nil, authtest.PrivateKeyJWT},
		{"ES256", assert(jose.ES256, ecKey, "ec", nil), nil, authtest.PrivateKeyJWT},
		{"EdDSA", assert(jose.EdDSA, edKey, "ed", nil), nil, authtest.PrivateKeyJWT},
		{"another client's key", assert(jose.ES256, ecKey, "rsa", nil), nil, ""},
		{"assertion and another client_id", otherClient, nil, ""},
		{"audience is the token endpoint", assert(jose.EdDSA, edKey, "ed", func(c *jwt.Claims) {
			c.Audience = jwt.Audience{idp.URL(authtest.TokenEndpoint)}
		}), nil, authtest.PrivateKeyJWT},
		{"RPT-33 several audiences", assert(jose.EdDSA, edKey, "ed", func(c *jwt.Claims) {
			c.Audience = jwt.Audience{idp.Issuer, idp.URL(authtest.TokenEndpoint)}
		}), nil, ""},
		{"another audience", assert(jose.EdDSA, edKey, "ed", func(c *jwt.Claims) { c.Audience = jwt.Audience{"x"} }), nil, ""},
		{"another issuer", assert(jose.EdDSA, edKey, "ed", func(c *jwt.Claims) { c.Issuer = "x" }), nil, ""},
		{"no jti", assert(jose.EdDSA, edKey, "ed", func(c *jwt.Claims) { c.ID = "" }), nil, ""},
		{"no expiry", assert(jose.EdDSA, edKey, "ed", func(c *jwt.Claims) { c.Expiry = nil }), nil, ""},
		{"expired", assert(jose.EdDSA, edKey, "ed", func(c *jwt.Claims) { c.Expiry = jwt.NewNumericDate(time.Now().Add(-time.Second)) }), nil, ""},
		{"too long a life", assert(jose.EdDSA, edKey, "ed", func(c *jwt.Claims) { c.Expiry = jwt.NewNumericDate(time.Now().Add(time.Hour)) }), nil, ""},
		{"garbage", url.Values{
			"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}, "client_assertion": {"x.y.z"},
		}, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// The code is unknown: the error invalid_grant shows that the
			// client is authenticated.
			form := url.Values{"grant_type": {"authorization_code"}, "code": {"unknown"}}
			maps.Copy(form, tt.form)
			resp := redeem(t, idp, form, tt.basic...)
			failure, _ := decode(t, resp)["error"].(string)
			last, _ := idp.LastRequest(authtest.TokenEndpoint)
			if tt.want == "" {
				if failure != "invalid_client" || resp.StatusCode != http.StatusUnauthorized || last.ClientAuth != "" {
					t.Errorf("%s with error %q, recorded %q; want invalid_client", resp.Status, failure, last.ClientAuth)
				}
				return
			}
			if failure != "invalid_grant" || last.ClientAuth != tt.want {
				t.Errorf("%s with error %q, recorded %q; want invalid_grant for %q", resp.Status, failure, last.ClientAuth, tt.want)
			}
			if _, asserted := tt.form["client_assertion"]; asserted {
				again, _ := decode(t, redeem(t, idp, form))["error"].(string)
				if again != "invalid_client" {
					t.Errorf("SH-74 the same assertion again: error %q, want invalid_client", again)
				}
			}
		})
	}
}

func TestRefreshTokenIsBoundToItsClient(t *testing.T) {
	other := authtest.Client{ID: "other", Secret: "x", RedirectURIs: []string{appURL + "/other"}}
	idp := authtest.Start(t, authtest.Options{Algorithm: authtest.ES256, AutoConsent: true, Clients: []authtest.Client{app, other}})
	a := newRelyingParty(t, idp).begin()
	token, err := a.exchange(a.approve().Get("code"))
	if err != nil {
		t.Fatal(err)
	}
	stolen := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token.RefreshToken}, "client_id": {"other"}, "client_secret": {"x"}}
	if got := decode(t, redeem(t, idp, stolen)); got["error"] != "invalid_grant" {
		t.Errorf("refresh by another client = %v, want invalid_grant", got)
	}
	if _, err := a.refresh(token.RefreshToken); err != nil {
		t.Errorf("refresh by its own client, after the attempt: %v", err)
	}
}

func TestRefreshMayNarrowTheScope(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{Algorithm: authtest.ES256, AutoConsent: true, Clients: []authtest.Client{app}})
	a := newRelyingParty(t, idp).begin()
	token, err := a.exchange(a.approve().Get("code"))
	if err != nil {
		t.Fatal(err)
	}
	refresh := func(token, scope string) map[string]any {
		return decode(t, redeem(t, idp, url.Values{
			"grant_type": {"refresh_token"}, "refresh_token": {token}, "scope": {scope},
			"client_id": {app.ID}, "client_secret": {app.Secret},
		}))
	}
	narrow := refresh(token.RefreshToken, "openid")
	if narrow["scope"] != "openid" {
		t.Fatalf("narrowed = %v, want the scope openid", narrow)
	}
	info := decode(t, do(t, withBearer(t, idp.URL(authtest.UserInfoEndpoint), narrow["access_token"].(string))))
	if len(info) != 1 || info["sub"] != "1001" {
		t.Errorf("userinfo for the scope openid = %v, want only the subject", info)
	}
	if got := refresh(narrow["refresh_token"].(string), "openid admin"); got["error"] != "invalid_scope" {
		t.Errorf("widened = %v, want invalid_scope", got)
	}
}

func TestUserInfoTakesTokensFromHeaderAndFormOnly(t *testing.T) { // RP-13
	idp := authtest.Start(t, authtest.Options{Algorithm: authtest.ES256, AutoConsent: true, Clients: []authtest.Client{app}})
	a := newRelyingParty(t, idp).begin()
	token, err := a.exchange(a.approve().Get("code"))
	if err != nil {
		t.Fatal(err)
	}
	at := url.Values{"access_token": {token.AccessToken}}
	if resp := get(t, idp.URL(authtest.UserInfoEndpoint)+"?"+at.Encode()); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("token in the query: %s, want 401", resp.Status)
	}
	resp, err := browser.PostForm(idp.URL(authtest.UserInfoEndpoint), at)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("token in the form: %s, want 200", resp.Status)
	}
	if resp := do(t, withBearer(t, idp.URL(authtest.UserInfoEndpoint), "x")); resp.StatusCode != http.StatusUnauthorized ||
		!strings.Contains(resp.Header.Get("WWW-Authenticate"), "invalid_token") {
		t.Errorf("wrong token: %s, %q; want 401 and a challenge", resp.Status, resp.Header.Get("WWW-Authenticate"))
	}
}
