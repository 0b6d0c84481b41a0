package provider_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/provider"
)

// An episode is a sign-in in which the service deviates from its facts.
type episode struct {
	name string
	id   string

	create  func(provider.Options) *pintle.OAuth // other than the usual one
	back    func(url.Values)                     // changes the parameters of the callback
	answer  func(address string, answer any) any // changes the responses of the service
	wantErr string                               // in the log; empty: the sign-in succeeds
	check   func(*testing.T, *pintle.SignInEvent)
}

// A tampering service changes answers.
type tampering struct {
	*service
	with func(address string, answer any) any
}

func (s tampering) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := s.service.RoundTrip(req)
	if err != nil || s.with == nil || resp.Header.Get("Content-Type") != "application/json" {
		return resp, err
	}
	var was any
	_ = json.NewDecoder(resp.Body).Decode(&was)
	at := *req.URL
	at.RawQuery = ""
	is := s.with(at.String(), was)
	if status, ok := is.(int); ok {
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
	}
	text, _ := json.Marshal(is)
	return answering(resp.StatusCode, string(text))(req)
}

// set returns an answer with a member changed, in answers from one address.
func set(suffix, path string, value any) func(string, any) any {
	return func(address string, answer any) any {
		if doc, ok := answer.(map[string]any); ok && strings.HasSuffix(address, suffix) {
			place(doc, path, value)
		}
		return answer
	}
}

func failing(suffix string) func(string, any) any {
	return func(address string, answer any) any {
		if strings.HasSuffix(address, suffix) {
			return http.StatusForbidden
		}
		return answer
	}
}

func TestServicesThatDeviate(t *testing.T) {
	email := func(want string) func(*testing.T, *pintle.SignInEvent) {
		return func(t *testing.T, e *pintle.SignInEvent) {
			if e.User.Email != want {
				t.Errorf("the address is %q, want %q", e.User.Email, want)
			}
		}
	}
	for _, tt := range []episode{
		{name: "GitHub without addresses", id: "github", answer: failing("/emails"), check: email("")},
		{name: "Bitbucket without addresses", id: "bitbucket", answer: failing("/emails"), check: email("")},
		{name: "an unconfirmed address", id: "bitbucket", check: email(""), answer: set("/emails", "values", []any{
			map[string]any{"email": "forged@example.com", "is_primary": true, "is_confirmed": false},
		})},
		{name: "an address Intercom did not verify", id: "intercom", answer: set("/me", "email_verified", false), check: email("")},
		{name: "a name from Apple", id: "apple", check: func(t *testing.T, e *pintle.SignInEvent) {
			if e.User.Name != "Ada Lovelace" || e.User.Email != "ada@example.com" {
				t.Errorf("the user is %q, %q", e.User.Name, e.User.Email)
			}
		}},
		{name: "no name from Apple", id: "apple", back: func(v url.Values) { v.Set("user", `{"email":"forged@example.com"}`) }, check: func(t *testing.T, e *pintle.SignInEvent) {
			if e.User.Name != "ada@example.com" || e.User.Email != "ada@example.com" {
				t.Errorf("the user is %q, %q", e.User.Name, e.User.Email)
			}
		}},
		{name: "nonsense from Apple", id: "apple", back: func(v url.Values) { v.Set("user", `{"name":"Ada"`) }, check: email("ada@example.com")},
		{name: "an error of Microsoft", id: "microsoft-entra-id", wantErr: "AADSTS", answer: func(address string, answer any) any {
			if strings.HasSuffix(address, "/token") {
				return map[string]any{"error": "invalid_grant", "error_description": "AADSTS70008: expired"}
			}
			return answer
		}},
		{name: "an error of Twitch", id: "twitch", wantErr: "invalid_request", answer: func(address string, answer any) any {
			if strings.HasSuffix(address, "/token") {
				return http.StatusBadRequest
			}
			return answer
		}},
		{name: "another shop", id: "shopify", back: func(v url.Values) { v.Set("shop", "evil.myshopify.com") }, wantErr: "hmac"},
		{name: "a callback Shopify did not make", id: "shopify", back: func(v url.Values) { v.Del("hmac") }, wantErr: "hmac"},
		{name: "a user of another company", id: "dingtalk", wantErr: "company", create: func(o provider.Options) *pintle.OAuth {
			return provider.DingTalk(provider.DingTalkOptions{Options: o, CorpID: "corp-1"})
		}, answer: set("/userAccessToken", "corpId", "corp-2")},
		{name: "a user of the company", id: "dingtalk", create: func(o provider.Options) *pintle.OAuth {
			return provider.DingTalk(provider.DingTalkOptions{Options: o, CorpID: "corp-1"})
		}, answer: set("/userAccessToken", "corpId", "corp-1")},
		{name: "a user without a company", id: "dingtalk", wantErr: "company", create: func(o provider.Options) *pintle.OAuth {
			return provider.DingTalk(provider.DingTalkOptions{Options: o, CorpID: "corp-1"})
		}},
		{name: "no unionid", id: "wechat", answer: func(address string, answer any) any {
			if doc, ok := answer.(map[string]any); ok {
				delete(doc, "unionid")
			}
			return answer
		}},
		{name: "an error of WeChat's tokens", id: "wechat", wantErr: "40029", answer: set("/access_token", "errcode", 40029)},
		{name: "an error of WeChat's profiles", id: "wechat", wantErr: "40003", answer: set("/userinfo", "errcode", 40003)},
		{name: "an error of WeCom's tokens", id: "wecom", wantErr: "40013", answer: set("/gettoken", "errcode", 40013)},
		{name: "an error of WeCom's members", id: "wecom", wantErr: "40029", answer: set("/getuserinfo", "errcode", 40029)},
		{name: "an error of WeCom's profiles", id: "wecom", wantErr: "60111", answer: set("/user/get", "errcode", 60111)},
		{name: "a guest of WeCom", id: "wecom", wantErr: "not a member", answer: set("/getuserinfo", "UserId", "")},
		{name: "the token of WeCom's application", id: "wecom", check: func(t *testing.T, e *pintle.SignInEvent) {
			if p := provider.WeCom(provider.WeComOptions{}); p.StoreAccount(e.Account) != nil {
				t.Error("it is stored")
			}
		}},
		{name: "no token for the application of Lark", id: "lark", wantErr: "ClientSecret", answer: set("/internal", "app_access_token", nil)},
		{name: "no data of Lark", id: "lark", wantErr: `"data\"`, answer: set("/oidc/access_token", "data", nil)},
		{name: "a profile of another user at Steam", id: "steam", wantErr: "not about the account", answer: set("/v0002/", "response.players[0].steamid", "76561190000000000")},
		{name: "no profile at Steam", id: "steam", wantErr: "not about the account", answer: set("/v0002/", "response", map[string]any{"players": []any{}})},
		{name: "a token behind a question mark", id: "lastfm", back: func(v url.Values) {
			v.Set("state", v.Get("state")+"?token="+v.Get("token"))
			v.Del("token")
		}},
		{name: "a profile of another user at Last.fm", id: "lastfm", wantErr: "not about the account", answer: set("/2.0/", "user.name", "eve")},
		{name: "no session at Last.fm", id: "lastfm", wantErr: "no session", answer: set("/2.0/", "session", nil)},
		{name: "a name at Last.fm", id: "lastfm", answer: set("/2.0/", "user.id", nil), check: func(t *testing.T, e *pintle.SignInEvent) {
			if e.Account.ProviderAccountID != "name:ada@1037793040" {
				t.Errorf("the id is %q", e.Account.ProviderAccountID)
			}
		}},
		{name: "SA-M9 a name at Last.fm of an unknown time", id: "lastfm", wantErr: "registration", answer: func(address string, answer any) any {
			return set("/2.0/", "user.registered", map[string]any{})(address, set("/2.0/", "user.id", nil)(address, answer))
		}},
		{name: "SA-M9 a login at Bitly of an unknown time", id: "bitly", wantErr: "registration", answer: set("/user", "created", "yesterday")},
		{name: "an answer of VK with status 200", id: "vk", wantErr: "response", answer: func(address string, answer any) any {
			if strings.HasSuffix(address, "/users.get") {
				return map[string]any{"error": map[string]any{"error_code": 5}}
			}
			return answer
		}},
		{name: "a token with an address", id: "nextcloud", wantErr: "user_id", answer: set("/token", "user_id", "..")},
		{name: "a token without an account", id: "stripe", wantErr: "stripe_user_id", answer: set("/token", "stripe_user_id", nil)},
		{name: "an opaque token of EVE Online", id: "eveonline", wantErr: "not a JWT", answer: set("/token", "access_token", "opaque")},
		{name: "a URN of SoundCloud", id: "soundcloud", answer: set("/me", "urn", "soundcloud:users:583231")},
		{name: "a photo of Microsoft", id: "azure-ad", check: func(t *testing.T, e *pintle.SignInEvent) {
			if e.User.Image != "" {
				t.Errorf("the picture is %q", e.User.Image)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.play(t) })
	}
}

func (e episode) play(t *testing.T) {
	t.Helper()
	s := newService(t, readFacts(t)[e.id], ada)
	s.changeBack = e.back
	p := makeProvider(t, s.fact, s)
	if e.create != nil {
		p = e.create(provider.Options{ClientID: clientID, ClientSecret: clientSecret})
	}
	a := newApplication(t, p, tampering{s, e.answer})
	resp := a.signIn(s)
	switch {
	case e.wantErr != "" && a.signedIn != nil:
		t.Errorf("a user was signed in as %q", a.signedIn.Account.ProviderAccountID)
	case e.wantErr != "":
		if !strings.Contains(a.log.String(), e.wantErr) && e.id != "twitch" || !strings.Contains(resp.Header.Get("Location"), "error=") {
			t.Errorf("the callback led to %s, want an error with %q: %s", resp.Header.Get("Location"), e.wantErr, a.log.String())
		}
	case a.signedIn == nil:
		t.Errorf("no user was signed in: %s", a.log.String())
	case e.check != nil:
		e.check(t, a.signedIn)
	case e.id != "lastfm" && a.signedIn.Account.ProviderAccountID != "583231":
		t.Errorf("the account is %q", a.signedIn.Account.ProviderAccountID)
	}
	if strings.Contains(a.log.String(), clientSecret) || strings.Contains(a.log.String(), accessToken) {
		t.Errorf("a secret is in the log: %s", a.log.String())
	}
}

func TestAppleSignsItsSecretForEachExchange(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	p := provider.Apple(provider.AppleOptions{
		Options: provider.Options{ClientID: "com.example.web"}, TeamID: "TEAM123456", KeyID: "KEY1234567",
		PrivateKey: string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	if err := p.Complete(p); err != nil {
		t.Fatal(err)
	}
	secret, err := p.Quirks.ClientSecret(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	signed, err := jose.ParseSignedCompact(secret, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.Verify(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	var claims struct {
		Iss, Sub, Aud string
		Iat, Exp      int64
	}
	if err := json.Unmarshal(text, &claims); err != nil {
		t.Fatal(err)
	}
	if claims.Iss != "TEAM123456" || claims.Sub != "com.example.web" || claims.Aud != "https://appleid.apple.com" ||
		signed.Signatures[0].Header.KeyID != "KEY1234567" {
		t.Errorf("the claims are %+v, the key %q", claims, signed.Signatures[0].Header.KeyID)
	}
	age := time.Duration(claims.Exp-claims.Iat) * time.Second
	if age <= 0 || age > 6*30*24*time.Hour || time.Since(time.Unix(claims.Iat, 0)).Abs() > time.Minute {
		t.Errorf("it lives for %v, from %d", age, claims.Iat)
	}
}

func TestAppleTakesOnlyItsOwnKindOfKey(t *testing.T) {
	large, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string]any{"P-384": large, "RSA": signingKey()} {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		refused(t, provider.Apple(provider.AppleOptions{
			TeamID: "T", KeyID: "K", PrivateKey: string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		}), "ES256")
		t.Log(name)
	}
	refused(t, provider.Apple(provider.AppleOptions{
		TeamID: "T", KeyID: "K", PrivateKey: string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("x")})),
	}), "PKCS #8")
}

func TestTwitchErrorsAreGivenTheirNames(t *testing.T) {
	p := provider.Twitch(provider.Options{})
	r := &oauth.TokenResponse{Status: http.StatusBadRequest, Body: map[string]any{"status": 400, "message": "Invalid authorization code"}}
	if err := p.Quirks.TokenResponse(r); err != nil || r.Body["error"] != "invalid_request" || r.Body["error_description"] != "Invalid authorization code" {
		t.Errorf("the answer became %v, %v", r.Body, err)
	}
	r = &oauth.TokenResponse{Status: http.StatusOK, Body: map[string]any{"scope": []any{}}}
	if err := p.Quirks.TokenResponse(r); err != nil || r.Body["scope"] != nil {
		t.Errorf("an empty list of scopes became %v, %v", r.Body, err)
	}
}

func TestFusionAuthKeepsTheChallengeOfARefusal(t *testing.T) {
	p := provider.FusionAuth(provider.FusionAuthOptions{})
	for status, want := range map[int]string{http.StatusOK: "", http.StatusUnauthorized: "Basic"} {
		r := &oauth.TokenResponse{Status: status, Header: http.Header{"Www-Authenticate": {"Basic"}}}
		if err := p.Quirks.TokenResponse(r); err != nil || r.Header.Get("WWW-Authenticate") != want {
			t.Errorf("with status %d the challenge is %q, want %q", status, r.Header.Get("WWW-Authenticate"), want)
		}
	}
}

func TestRefreshesAreSentWhereTheServiceWantsThem(t *testing.T) {
	form := func() url.Values {
		return url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"old"}, "client_id": {clientID}, "client_secret": {clientSecret}}
	}
	var asked []string
	client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		asked = append(asked, r.URL.Path)
		return answering(http.StatusOK, `{"app_access_token":"app","data":{"access_token":"new"},"accessToken":"new"}`)(r)
	})}
	for _, p := range []*pintle.OAuth{provider.Lark(provider.Options{}), provider.DingTalk(provider.DingTalkOptions{})} {
		r, err := p.Quirks.Exchange(t.Context(), client, &oauth.TokenRequest{URL: p.Token.URL, Form: form()})
		if err != nil || r.Body["access_token"] != "new" {
			t.Errorf("%s gave %v, %v", p.ID, r, err)
		}
	}
	if !slices.Contains(asked, "/open-apis/authen/v1/oidc/refresh_access_token") {
		t.Errorf("only %v were requested", asked)
	}
	azure := &oauth.TokenRequest{Form: form()}
	if err := provider.AzureDevOps(provider.Options{}).Quirks.TokenRequest(azure); err != nil ||
		azure.Form.Get("assertion") != "old" || azure.Form.Get("grant_type") != "refresh_token" || azure.Form.Get("client_secret") != "" {
		t.Errorf("the form is %v, %v", azure.Form, err)
	}
	shop := provider.Shopify(provider.ShopifyOptions{Shop: "a"})
	if err := shop.Quirks.TokenRequest(&oauth.TokenRequest{Form: form()}); err != nil {
		t.Errorf("a refresh is taken for a callback: %v", err)
	}
}

func TestErrorsOfUnreachableServicesNameNoAddress(t *testing.T) {
	client := &http.Client{Transport: transport(func(*http.Request) (*http.Response, error) { return nil, errors.New("no route") })}
	p := provider.WeCom(provider.WeComOptions{})
	_, err := p.Quirks.Exchange(t.Context(), client, &oauth.TokenRequest{URL: p.Token.URL, Form: url.Values{"client_secret": {clientSecret}}})
	if err == nil || strings.Contains(err.Error(), url.QueryEscape(clientSecret)) || strings.Contains(fmt.Sprint(err), "corpsecret") {
		t.Errorf("the error is %v", err)
	}
}
