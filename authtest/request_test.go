package authtest_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/pintleauth/pintle/authtest"
)

func TestRequestsShowWhatTheClientSent(t *testing.T) { // RP-1, RP-2, BCP-4
	idp := authtest.Start(t, authtest.Options{Algorithm: authtest.ES256, AutoConsent: true, Clients: []authtest.Client{app}})
	a := newRelyingParty(t, idp).begin()
	if _, err := a.exchange(a.approve().Get("code")); err != nil {
		t.Fatal(err)
	}
	ask, _ := idp.LastRequest(authtest.AuthorizationEndpoint)
	if ask.Form.Get("code_challenge_method") != "S256" || ask.Form.Get("nonce") != a.nonce || ask.Method != http.MethodGet {
		t.Errorf("authorization request = %s %v, want the nonce and S256", ask.Method, ask.Form)
	}
	redeemed, _ := idp.LastRequest(authtest.TokenEndpoint)
	if redeemed.Form.Get("code_verifier") != a.verifier || redeemed.ClientID != app.ID || redeemed.ClientAuth != authtest.ClientSecretBasic {
		t.Errorf("token request of %q by %s with %v, want app by basic with the verifier", redeemed.ClientID, redeemed.ClientAuth, redeemed.Form)
	}
	var order []string
	for _, r := range idp.Requests() {
		order = append(order, string(r.Endpoint))
	}
	if got := strings.Join(order, " "); got != "/.well-known/openid-configuration /authorize /token" {
		t.Errorf("requests = %s", got)
	}
	idp.ForgetRequests()
	if _, ok := idp.LastRequest(authtest.TokenEndpoint); ok || len(idp.Requests()) != 0 {
		t.Error("requests are still listed after ForgetRequests")
	}
}

func TestRequestsAreBoundedInNumberAndSize(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{})
	for range 1100 {
		get(t, idp.URL(authtest.DiscoveryEndpoint)).Body.Close()
	}
	if n := len(idp.Requests()); n < 900 || n > 1000 {
		t.Errorf("%d requests are kept, want the last thousand or so", n)
	}
	huge := url.Values{"code": {strings.Repeat("x", 2<<20)}}
	if resp := redeem(t, idp, huge); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("a form of 2 MiB: %s, want 400", resp.Status)
	}
}

func TestSettingsMayChangeWhileServing(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{Algorithm: authtest.EdDSA, AutoConsent: true, Clients: []authtest.Client{app}})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 10 {
				resp, err := browser.Get(idp.URL(authtest.AuthorizationEndpoint) + "?" + validRequest().Encode())
				if err != nil {
					t.Error(err)
					return
				}
				resp.Body.Close()
				idp.Break(authtest.ResponseWrongState)
				idp.SignInAs(authtest.Person{Subject: "1"})
				idp.Register(app)
				idp.RotateKeys()
				idp.Requests()
				idp.Tamper(authtest.Tamper{Response: func(v url.Values) { v.Set("x", "y") }})
				idp.Repair()
			}
		})
	}
	wg.Wait()
}

func TestTamperChangesWhatNoFaultDescribes(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{Algorithm: authtest.ES256, AutoConsent: true, Clients: []authtest.Client{app}})
	idp.Tamper(authtest.Tamper{
		Discovery: func(d map[string]any) { d["x"] = 1 },
		Response:  func(v url.Values) { v.Set("session_state", "ss") },
		Token:     func(b map[string]any) { b["x"] = 2 },
		IDToken:   func(h, c map[string]any) { h["typ"], c["x"] = "odd", 3 },
		Profile:   func(b map[string]any) { b["x"] = 4 },
	})
	v := look(t, idp)
	if v.discovery["x"] != 1.0 || v.answer.Get("session_state") != "ss" || v.token["x"] != 2.0 || v.header["typ"] != "odd" ||
		v.claims["x"] != 3.0 || v.userInfo["x"] != 4.0 || v.user["x"] != 4.0 || v.account["x"] != 4.0 {
		t.Errorf("not everything was changed: %+v", v)
	}
	if !verifies(v) {
		t.Error("the changed ID token is not signed")
	}
	idp.Repair()
	if v := look(t, idp); v.discovery["x"] != nil || v.claims["x"] != nil {
		t.Error("Repair left the changes")
	}
}
