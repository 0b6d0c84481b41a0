package pintle_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
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

	discovered := &pintle.OAuth{ID: "acme", Protocol: oauth.OIDC, Issuer: inner.URL, ClientID: "x", ClientSecret: "y"}
	static := &pintle.OAuth{
		ID: "acme", ClientID: "x", ClientSecret: "y",
		Authorization: oauth.Endpoint{URL: "https://acme.example/authorize"},
		Token:         oauth.Endpoint{URL: inner.URL + "/token"},
		UserInfo:      oauth.Endpoint{URL: inner.URL + "/user"},
	}
	tenant := func(p *pintle.OAuth, publicOnly bool) func(*site) {
		return func(s *site) { s.Providers, s.HTTPClient, s.PublicNetworkOnly = []pintle.Provider{p}, nil, publicOnly }
	}
	// response is the callback of a flow that was begun, with a code.
	response := func(s *site) (*browser, string) {
		b := s.browser()
		state := b.leave("acme").Query().Get("state")
		return b, "/auth/callback/acme?code=c&state=" + state
	}
	t.Run("the inner network is reached with an ordinary client", func(t *testing.T) {
		s := newSite(t, tenant(static, false))
		b, back := response(s)
		b.get(back).goesTo(s.url)
		if asked.Swap(0) != 2 {
			t.Error("the test attacks nothing")
		}
	})
	t.Run("SA-L7 SH-24 an issuer on loopback", func(t *testing.T) {
		s := newSite(t, tenant(discovered, true))
		s.browser().post("/auth/signin/acme").fails("/auth/error", operator)
	})
	t.Run("SA-L7 SH-24 a token endpoint on loopback", func(t *testing.T) {
		s := newSite(t, tenant(static, true))
		b, back := response(s)
		b.get(back).fails("/auth/error", operator)
	})
	t.Run("SA-L7 SH-24 the issuer of a tenant of NewFunc", func(t *testing.T) {
		s := newSite(t, tenant(discovered, true))
		s.serve(pintle.NewFunc(func(*http.Request) string { return "a" }, func(context.Context, string) (pintle.Config, error) { return s.Config, nil }))
		s.browser().post("/auth/signin/acme").fails("/auth/error", operator)
	})
	if n := asked.Load(); n != 0 {
		t.Errorf("the inner server was asked %d times", n)
	}
}

// A client of the host's would bypass the restriction.
func TestAClientOfTheHostDoesNotBypassThePublicNetworkOnly(t *testing.T) {
	client := &http.Client{}
	acme := &pintle.OAuth{ID: "acme", Protocol: oauth.OIDC, Issuer: "https://acme.example", ClientID: "x", ClientSecret: "y", HTTPClient: client}
	secrets := []string{"the output of openssl rand -base64 33"}
	for name, cfg := range map[string]pintle.Config{
		"of the configuration": {HTTPClient: client},
		"of a provider":        {Providers: []pintle.Provider{acme}},
	} {
		cfg.Secrets, cfg.URL, cfg.PublicNetworkOnly = secrets, "https://app.example", true
		if _, err := pintle.New(cfg); !errors.Is(err, pintle.CodeConfiguration) || !strings.Contains(err.Error(), "PublicNetworkOnly") {
			t.Errorf("a client %s: the error is %v", name, err)
		}
	}
}
