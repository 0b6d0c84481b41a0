package authtest_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle/authtest"
)

func TestCodeFlowSatisfiesACarefulClient(t *testing.T) {
	for _, algorithm := range []string{authtest.RS256, authtest.ES256, authtest.EdDSA} {
		t.Run(algorithm, func(t *testing.T) {
			idp := authtest.Start(t, authtest.Options{
				Algorithm: algorithm, AutoConsent: true, RequirePKCE: true, Clients: []authtest.Client{app},
			})
			rp := newRelyingParty(t, idp)
			a := rp.begin()
			answer := a.approve("login_hint", "grace", "acr_values", "phr phrh")
			if answer.Get("state") != a.state || answer.Get("iss") != idp.Issuer {
				t.Fatalf("answer = %v, want state %q and iss %q", answer, a.state, idp.Issuer)
			}
			token, err := a.exchange(answer.Get("code"))
			if err != nil {
				t.Fatal(err)
			}
			idToken, err := rp.verify(token)
			if err != nil {
				t.Fatal(err)
			}
			claims := idToken.claims
			if idToken.Subject != "1002" || idToken.Nonce != a.nonce || claims["name"] != "Grace Hopper" ||
				claims["email"] != "grace@example.com" || claims["email_verified"] != true || claims["acr"] != "phr" {
				t.Errorf("ID token with %v, want Grace Hopper's", claims)
			}
			if info := rp.userInfo(token); info["sub"] != "1002" || info["email"] != "grace@example.com" {
				t.Errorf("userinfo with %v, want Grace Hopper's", info)
			}
		})
	}
}

func TestIssuerBelowAPathIsKept(t *testing.T) { // RP-16
	idp := authtest.Start(t, authtest.Options{Path: "/tenant/7", AutoConsent: true, Clients: []authtest.Client{app}})
	if !strings.HasSuffix(idp.Issuer, "/tenant/7") {
		t.Fatalf("issuer = %q, want it below /tenant/7", idp.Issuer)
	}
	a := newRelyingParty(t, idp).begin()
	token, err := a.exchange(a.approve().Get("code"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.verify(token); err != nil {
		t.Error(err)
	}
	outside := strings.TrimSuffix(idp.Issuer, "/tenant/7") + string(authtest.DiscoveryEndpoint)
	if resp := get(t, outside); resp.StatusCode != http.StatusNotFound {
		t.Errorf("discovery outside the path: %s, want 404", resp.Status)
	}
}

func TestHandlerWithoutIssuerUsesTheHostOfTheRequest(t *testing.T) {
	srv := httptest.NewTLSServer(authtest.NewIdentityProvider(authtest.Options{}))
	t.Cleanup(srv.Close)
	resp, err := srv.Client().Get(srv.URL + string(authtest.DiscoveryEndpoint))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if issuer := decode(t, resp)["issuer"]; issuer != srv.URL {
		t.Errorf("the issuer is %v, want %s", issuer, srv.URL)
	}
}

func TestOpenModeTakesAnyClientOfThisMachine(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{AutoConsent: true})
	rp := newRelyingParty(t, idp)
	rp.clientID, rp.clientSecret = "never-registered", "any"
	rp.redirectURI = "http://localhost:3000/auth/callback"
	a := rp.begin()
	token, err := a.exchange(a.approve().Get("code"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rp.verify(token); err != nil {
		t.Error(err)
	}

	for _, elsewhere := range []string{
		"https://app.example.test/cb", "http://localhost.example.test/cb", "http://127.0.0.1.example.test/",
		"http://user@localhost/", "http://0.0.0.0/", "http://10.0.0.1/", "javascript:alert(1)//localhost",
		"http://[::1%25eth0]/", `http://localhost\@evil.test/`, "http://localhost#x", "//localhost/", "",
		"http://evillocalhost/", "http://a;script-src.localhost/", "http://a'b.localhost/",
	} {
		rp.redirectURI = elsewhere
		if resp := get(t, rp.begin().url()); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("redirect_uri %q in open mode: %s, want 400", elsewhere, resp.Status)
		}
	}

	idp.Register(app)
	rp.redirectURI = "http://localhost:3000/auth/callback"
	if resp := get(t, rp.begin().url()); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("unregistered client after Register: %s, want 400", resp.Status)
	}
}

func TestRefreshTokenRotates(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{Algorithm: authtest.ES256, AutoConsent: true, Clients: []authtest.Client{app}})
	a := newRelyingParty(t, idp).begin()
	first, err := a.exchange(a.approve().Get("code"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := a.refresh(first.RefreshToken)
	if err != nil {
		t.Fatal(err)
	}
	if second.RefreshToken == first.RefreshToken || second.AccessToken == first.AccessToken {
		t.Error("the refresh returned an old token")
	}
	idToken, err := a.verify(second)
	if err != nil {
		t.Fatal(err)
	}
	if idToken.Nonce != "" || idToken.Subject != "1001" {
		t.Errorf("refreshed ID token has nonce %q and subject %q, want none and 1001", idToken.Nonce, idToken.Subject)
	}

	// A replaced token is a stolen one: using it ends the whole grant.
	if _, err := a.refresh(first.RefreshToken); err == nil {
		t.Error("a replaced refresh token was accepted")
	}
	if _, err := a.refresh(second.RefreshToken); err == nil {
		t.Error("the grant outlived the use of a replaced refresh token")
	}
}

func TestSignOutReturnsToARegisteredAddress(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{Algorithm: authtest.ES256, AutoConsent: true, Clients: []authtest.Client{app}})
	a := newRelyingParty(t, idp).begin()
	token, err := a.exchange(a.approve().Get("code"))
	if err != nil {
		t.Fatal(err)
	}
	hint := token.IDToken
	idp.Break(authtest.IDTokenWrongIssuer)
	foreign, err := a.exchange(a.approve().Get("code"))
	if err != nil {
		t.Fatal(err)
	}
	idp.Repair()
	idp.RotateKeys() // hints outlive keys
	logout := func(v url.Values) *http.Response {
		return get(t, idp.URL(authtest.EndSessionEndpoint)+"?"+v.Encode())
	}
	bye := app.PostLogoutRedirectURIs[0]

	for _, tt := range []struct {
		name   string
		params url.Values
		status int
		want   string
	}{
		{"foreign address", url.Values{"id_token_hint": {hint}, "post_logout_redirect_uri": {"https://evil.test/"}}, 400, ""},
		{"no client", url.Values{"post_logout_redirect_uri": {bye}}, 400, ""},
		{"invalid hint", url.Values{"id_token_hint": {hint + "x"}, "post_logout_redirect_uri": {bye}}, 400, ""},
		{"hint of another issuer", url.Values{"id_token_hint": {foreign.IDToken}, "post_logout_redirect_uri": {bye}}, 400, ""},
		{"hint of another client", url.Values{"id_token_hint": {hint}, "client_id": {"other"}}, 400, ""},
		{"no address", url.Values{}, 200, ""},
		{"client id", url.Values{"client_id": {app.ID}, "post_logout_redirect_uri": {bye}}, 302, bye},
		{"hint and state", url.Values{"id_token_hint": {hint}, "post_logout_redirect_uri": {bye}, "state": {"s 1"}}, 302, bye + "?state=s+1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp := logout(tt.params)
			if resp.StatusCode != tt.status || resp.Header.Get("Location") != tt.want {
				t.Errorf("%s to %q, want %d to %q", resp.Status, resp.Header.Get("Location"), tt.status, tt.want)
			}
		})
	}
	if resp := do(t, withBearer(t, idp.URL(authtest.UserInfoEndpoint), token.AccessToken)); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("userinfo after signing out: %s, want 401", resp.Status)
	}
}

func TestCodesAndTokensExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		idp := authtest.NewIdentityProvider(authtest.Options{Algorithm: authtest.ES256, AutoConsent: true, TokenLifetime: 10 * time.Minute})
		idp.Issuer = "http://127.0.0.1"
		serve := func(r *http.Request) *http.Response {
			w := httptest.NewRecorder()
			idp.ServeHTTP(w, r)
			return w.Result()
		}
		redeem := func(wait time.Duration) *http.Response {
			ask := "/authorize?response_type=code&client_id=a&redirect_uri=http://localhost/cb&scope=openid"
			code := answerOf(t, serve(httptest.NewRequest(http.MethodGet, ask, nil))).Get("code")
			time.Sleep(wait)
			r := httptest.NewRequest(http.MethodPost, "/token", strings.NewReader(url.Values{
				"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {"http://localhost/cb"}, "client_id": {"a"},
			}.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			return serve(r)
		}
		if resp := redeem(61 * time.Second); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("code after 61 seconds: %s, want 400", resp.Status)
		}
		resp := redeem(59 * time.Second)
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("code after 59 seconds: %s, want 200", resp.Status)
		}
		token := decode(t, resp)
		if token["expires_in"] != 600.0 {
			t.Errorf("expires_in = %v, want 600", token["expires_in"])
		}
		ask := withBearer(t, "/userinfo", token["access_token"].(string))
		if resp := serve(ask); resp.StatusCode != http.StatusOK {
			t.Errorf("userinfo with a new token: %s, want 200", resp.Status)
		}
		time.Sleep(10*time.Minute + time.Second)
		if resp := serve(ask); resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("userinfo with an expired token: %s, want 401", resp.Status)
		}
	})
}

func TestPlainOAuthProfileHasANumericID(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{AutoConsent: true, Clients: []authtest.Client{app}})
	idp.SignInAs(authtest.Person{
		Subject: "kim", Name: "Kim", Login: "kim", Email: "kim@example.com", EmailVerified: true,
		Claims: map[string]any{"company": "Example"},
	})
	rp := newRelyingParty(t, idp)
	rp.scope = "user:email"
	a := rp.begin()
	token, err := a.exchange(a.approve().Get("code"))
	if err != nil {
		t.Fatal(err)
	}
	if token.IDToken != "" {
		t.Error("an ID token without the scope openid")
	}
	user := decode(t, do(t, withBearer(t, idp.URL(authtest.UserEndpoint), token.AccessToken)))
	id, ok := user["id"].(float64)
	if !ok || id <= 0 || user["login"] != "kim" || user["company"] != "Example" || user["avatar_url"] != nil {
		t.Errorf("user = %v, want a numeric id, the login kim, the company Example and no avatar", user)
	}
	emails := body(t, do(t, withBearer(t, idp.URL(authtest.UserEmailsEndpoint), token.AccessToken)))
	if want := `[{"email":"kim@example.com","primary":true,"verified":true,"visibility":"private"}]`; emails != want {
		t.Errorf("emails = %s, want %s", emails, want)
	}
}

func TestListenRejectsAddressesOtherMachinesCanReach(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", "[::]:0", ":0", "192.0.2.1:0", "example.com:80"} {
		if err := authtest.NewIdentityProvider(authtest.Options{Addr: addr}).Listen(); err == nil {
			t.Errorf("Listen on %q succeeded", addr)
		}
	}
}

func TestListenKnowsLocalhost(t *testing.T) {
	idp, box := authtest.NewIdentityProvider(authtest.Options{Addr: "localhost:0"}), authtest.NewMailbox(authtest.MailboxOptions{Addr: "localhost:0"})
	if err := errors.Join(idp.Listen(), box.Listen()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(idp.Close(), box.Close()) })
	if !strings.HasPrefix(idp.Issuer, "http://127.0.0.1:") || !strings.HasPrefix(box.Addr, "127.0.0.1:") {
		t.Errorf("the issuer is %s, and the mailbox is at %s", idp.Issuer, box.Addr)
	}
}
