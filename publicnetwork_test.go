package pintle_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/testsite"
	"github.com/pintleauth/pintle/oauth"
)

// SH-24: where a customer chooses the provider, its URLs must not lead into the
// network of the host.
func TestAProviderOfATenantDoesNotReachTheInnerNetwork(t *testing.T) {
	// A name server of the customer's answers with an address of the inner network.
	original := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = original })
	net.DefaultResolver = testsite.Resolver(t, func(name string) []netip.Addr {
		if name == "nowhere.example." {
			return nil
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}
	})
	var connections atomic.Int64
	inner := httptest.NewUnstartedServer(http.NotFoundHandler())
	inner.Config.ErrorLog = log.New(io.Discard, "", 0)
	inner.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	inner.StartTLS()
	t.Cleanup(inner.Close)
	_, port, _ := strings.Cut(strings.TrimPrefix(inner.URL, "https://"), ":")
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	attacked := "https://idp.acme.example:" + port

	discovered := func(issuer string) *pintle.OAuth {
		return &pintle.OAuth{ID: "acme", Protocol: oauth.OIDC, Issuer: issuer, ClientID: "x", ClientSecret: "y"}
	}
	static := &pintle.OAuth{
		ID: "acme", ClientID: "x", ClientSecret: "y",
		Authorization: oauth.Endpoint{URL: "https://acme.example/authorize"},
		Token:         oauth.Endpoint{URL: attacked + "/token"},
		UserInfo:      oauth.Endpoint{URL: attacked + "/user"},
	}
	own := discovered(attacked)
	own.PublicNetworkOnly = true
	tenant := func(p *pintle.OAuth, publicOnly bool) func(*site) {
		return func(s *site) {
			s.Providers, s.HTTPClient, s.PublicNetworkOnly = []pintle.Provider{p}, nil, publicOnly
			s.PublicNetworkPorts = []int{number}
		}
	}
	// response is the callback of a flow that was begun, with a code.
	response := func(s *site) (*browser, string) {
		b := s.browser()
		state := b.leave("acme").Query().Get("state")
		return b, "/auth/callback/acme?code=c&state=" + state
	}
	saysWhy := func(t *testing.T, s *site) {
		t.Helper()
		if !strings.Contains(s.log.String(), "not a public address") {
			t.Errorf("the log does not say why: %s", s.log)
		}
	}
	t.Run("the inner network is reached with an ordinary client", func(t *testing.T) {
		s := newSite(t, tenant(static, false))
		b, back := response(s)
		b.get(back).fails("/auth/error", operator) // the certificate is another's
		if connections.Swap(0) != 1 {
			t.Error("the test attacks nothing")
		}
	})
	t.Run("RPT-77 SA-L7 SH-24 an issuer in the inner network", func(t *testing.T) {
		s := newSite(t, tenant(discovered(attacked), true))
		s.browser().post("/auth/signin/acme").fails("/auth/error", operator)
		saysWhy(t, s)
	})
	t.Run("RPT-77 SA-L7 SH-24 an issuer of one provider that is guarded", func(t *testing.T) {
		s := newSite(t, tenant(own, false))
		s.browser().post("/auth/signin/acme").fails("/auth/error", operator)
		saysWhy(t, s)
	})
	t.Run("RPT-77 SA-L7 SH-24 a token endpoint in the inner network", func(t *testing.T) {
		s := newSite(t, tenant(static, true))
		b, back := response(s)
		b.get(back).fails("/auth/error", operator)
		saysWhy(t, s)
	})
	t.Run("RPT-77 SA-L7 SH-24 the issuer of a tenant of NewFunc", func(t *testing.T) {
		s := newSite(t, tenant(discovered(attacked), true))
		s.serve(pintle.NewFunc(func(*http.Request) string { return "a" }, func(context.Context, string) (pintle.Config, error) { return s.Config, nil }))
		s.browser().post("/auth/signin/acme").fails("/auth/error", operator)
		saysWhy(t, s)
	})
	t.Run("RPT-77 the browser cannot tell a refused address from one that does not exist", func(t *testing.T) {
		answer := func(issuer string) string {
			s := newSite(t, tenant(discovered(issuer), true))
			b := s.browser()
			r := b.post("/auth/signin/acme").fails("/auth/error", operator)
			return r.location() + b.get(r.location()).body
		}
		if refused, missing := answer(attacked), answer("https://nowhere.example"); refused != missing {
			t.Errorf("the answers are %q and %q", refused, missing)
		}
	})
	if n := connections.Load(); n != 0 {
		t.Errorf("the inner server received %d connections", n)
	}
}

// SH-24, RPT-77. What shows before any request is an error of New.
func TestAddressesThatAreNotPublicAreNotConfigured(t *testing.T) {
	for _, own := range []bool{true, false} {
		for _, tt := range []struct{ issuer, want string }{
			{"http://localhost:8080", "use https"},
			{"https://localhost", "public domain name system"},
			{"https://10.0.0.5", "public domain name system"},
			{"https://keycloak.internal", "public domain name system"},
			{"https://idp.example.com:8443", "port other than 443"},
			{"https://idp.example.com/?tenant=1", "no query"},
			{"https://idp.example.com/#a", "fragment"},
			{"https://idp.example.com/" + strings.Repeat("x", 500), "longer than 512"},
			{"https://a@idp.example.com/", "user name"},
			{"https://idp.example.com:9443", ""},
		} {
			acme := &pintle.OAuth{ID: "acme", Protocol: oauth.OIDC, Issuer: tt.issuer, ClientID: "x", ClientSecret: "y", PublicNetworkOnly: own}
			_, err := pintle.New(pintle.Config{
				Providers: []pintle.Provider{acme}, Secrets: []string{secret}, URL: "https://app.example",
				PublicNetworkOnly: !own, PublicNetworkPorts: []int{9443},
			})
			if tt.want == "" && err != nil || tt.want != "" && (!errors.Is(err, pintle.Code("InvalidEndpoints")) || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("RPT-77 %s: New: %v, want %q", tt.issuer, err, tt.want)
			}
		}
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
