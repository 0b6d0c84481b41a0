package pintle_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/pintleauth/pintle"
)

// SH-24: where a customer chooses the provider, its URLs must not lead into the
// network of the host.
func TestAProviderOfATenantDoesNotReachTheInnerNetwork(t *testing.T) {
	var asked atomic.Int64
	inner := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"access_token":"x","token_type":"bearer","id":"1"}`))
	}))
	defer inner.Close()

	discovered := &pintle.OAuth{ID: "acme", Protocol: pintle.OIDC, Issuer: inner.URL, ClientID: "x", ClientSecret: "y"}
	static := &pintle.OAuth{
		ID: "acme", ClientID: "x", ClientSecret: "y",
		Authorization: pintle.Endpoint{URL: "https://acme.example/authorize"},
		Token:         pintle.Endpoint{URL: inner.URL + "/token"},
		UserInfo:      pintle.Endpoint{URL: inner.URL + "/user"},
	}
	tenant := func(p *pintle.OAuth, client *http.Client) func(*site) {
		return func(s *site) { s.Providers, s.HTTPClient = []pintle.Provider{p}, client }
	}
	// response is the callback of a flow that was begun, with a code.
	response := func(s *site) (*browser, string) {
		b := s.browser()
		state := b.leave("acme").Query().Get("state")
		return b, "/auth/callback/acme?code=c&state=" + state
	}
	t.Run("the inner network is reached with an ordinary client", func(t *testing.T) {
		s := newSite(t, tenant(static, &http.Client{}))
		b, back := response(s)
		b.get(back).goesTo(s.url)
		if asked.Swap(0) != 2 {
			t.Error("the test attacks nothing")
		}
	})
	t.Run("SA-L7 SH-24 an issuer on loopback", func(t *testing.T) {
		s := newSite(t, tenant(discovered, pintle.PublicNetworkClient()))
		s.browser().post("/auth/signin/acme").fails("/auth/error", operator)
	})
	t.Run("SA-L7 SH-24 a token endpoint on loopback", func(t *testing.T) {
		s := newSite(t, tenant(static, pintle.PublicNetworkClient()))
		b, back := response(s)
		b.get(back).fails("/auth/error", operator)
	})
	t.Run("SA-L7 SH-24 the issuer of a tenant of NewFunc", func(t *testing.T) {
		s := newSite(t, tenant(discovered, pintle.PublicNetworkClient()))
		s.serve(pintle.NewFunc(func(*http.Request) string { return "a" }, func(context.Context, string) (pintle.Config, error) { return s.Config, nil }))
		s.browser().post("/auth/signin/acme").fails("/auth/error", operator)
	})
	if n := asked.Load(); n != 0 {
		t.Errorf("the inner server was asked %d times", n)
	}
}
