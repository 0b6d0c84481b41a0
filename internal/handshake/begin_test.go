package handshake_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/pintleauth/pintle/internal/handshake"
	"github.com/pintleauth/pintle/internal/query"
)

// fixed returns the URL with names in place of its random parts.
func fixed(t *testing.T, begun handshake.Begun) string {
	t.Helper()
	u, err := url.Parse(begun.URL)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	got := begun.URL
	for _, name := range []string{"code_challenge", "nonce"} {
		if v := query.Get(name); v != "" {
			got = strings.Replace(got, v, "<"+name+">", 1)
		}
	}
	return got
}

func TestAuthorizationURL(t *testing.T) {
	const callback = "&redirect_uri=https%3A%2F%2Fapp.example.test%2Fauth%2Fcallback%2Fop"
	type params = query.Values
	tests := []struct {
		name  string
		p     *handshake.Provider
		extra params
		want  string
	}{
		{
			"endpoint parameters come first, then the default scope, then ours",
			&handshake.Provider{Authorization: handshake.Endpoint{URL: "https://OP.example.test:443/a?b=~*", Params: params{{Key: "audience", Value: "x y"}}}},
			params{{Key: "prompt", Value: "login"}},
			"https://op.example.test/a?b=%7E*&audience=x+y&scope=openid+profile+email&response_type=code&client_id=client-1" + callback + "&prompt=login&state=the+state",
		},
		{
			"every check, in its place",
			&handshake.Provider{
				Authorization: handshake.Endpoint{URL: "https://op.example.test/a?scope=read"},
				State:         true, PKCE: true, Nonce: true,
			},
			nil,
			"https://op.example.test/a?scope=read&response_type=code&client_id=client-1" + callback + "&state=the+state&code_challenge=%3Ccode_challenge%3E&code_challenge_method=S256&nonce=%3Cnonce%3E",
		},
		{
			"the configuration may rename what we send",
			&handshake.Provider{Authorization: handshake.Endpoint{URL: "https://op.example.test/a#wechat_redirect", Params: params{
				{Key: "response_type", Value: "Assertion"}, {Key: "scope", Value: "s"}, {Key: "client_id", Value: "other"},
			}}},
			nil,
			"https://op.example.test/a?response_type=Assertion&scope=s&client_id=other" + callback + "&state=the+state#wechat_redirect",
		},
		{
			"Q10 parameters without a value are dropped, and an empty scope is not sent",
			&handshake.Provider{Authorization: handshake.Endpoint{URL: "https://op.example.test", Params: params{{Key: "tenantId", Value: ""}, {Key: "scope", Value: ""}}}},
			params{{Key: "login_hint", Value: ""}},
			"https://op.example.test/?response_type=code&client_id=client-1" + callback + "&state=the+state",
		},
		{
			"a request may choose prompt, and scope where the configuration has none",
			&handshake.Provider{Authorization: handshake.Endpoint{URL: "https://op.example.test/a", Params: params{{Key: "prompt", Value: "consent"}}}},
			params{{Key: "scope", Value: "openid email"}, {Key: "prompt", Value: "none"}},
			"https://op.example.test/a?prompt=none&scope=openid+email&response_type=code&client_id=client-1" + callback + "&state=the+state",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.p.ID, tt.p.ClientID = "op", clientID
			begun, err := tt.p.Begin(t.Context(), handshake.BeginOptions{RedirectURI: redirectURI, State: "the state", Extra: tt.extra})
			if err != nil {
				t.Fatal(err)
			}
			got := fixed(t, begun)
			want := strings.NewReplacer("%3C", "<", "%3E", ">").Replace(tt.want)
			if got != want {
				t.Errorf("URL\n got %s\nwant %s", got, want)
			}
		})
	}
}

// W-15, RPT-2: a request does not replace what decides what the application is given, by no
// spelling that a provider may read as the name.
func TestARequestDoesNotReplaceWhatTheConfigurationAsksFor(t *testing.T) {
	names := []string{
		"scope", "claims", "acr_values", "resource", "audience", "authorization_details", "dpop_jkt", "id_token_hint", "registration",
	}
	for _, name := range names {
		for place, endpoint := range map[string]handshake.Endpoint{
			"parameter": {URL: "https://op.example.test/a", Params: query.Values{{Key: name, Value: "configured"}}},
			"URL":       {URL: "https://op.example.test/a?" + name + "=configured"},
		} {
			p := &handshake.Provider{ID: "op", ClientID: clientID, Authorization: endpoint}
			sent := query.Values{{Key: "login_hint", Value: "ada"}}
			spellings := []string{
				name, strings.ToUpper(name), name + "[]", name + "[0]", " " + name, name + "\x00x", strings.Replace(name, "_", ".", 1),
			}
			for _, spelling := range spellings {
				sent.Add(spelling, "chosen")
			}
			begin := func(o handshake.BeginOptions) url.Values {
				o.RedirectURI, o.State = redirectURI, "the state"
				begun, err := p.Begin(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				return must(url.Parse(begun.URL)).Query()
			}
			got := begin(handshake.BeginOptions{Extra: sent})
			want := "configured"
			if name == "scope" { // Clients of Auth.js replace it by its own name.
				want = "chosen"
			}
			if strings.Count(got.Encode(), want) != 1 || len(got[name]) != 1 || got.Get(name) != want || got.Get("login_hint") != "ada" {
				t.Errorf("%s in the %s: the provider gets %v", name, place, got)
			}
			// The application itself may replace it, and no request what it sets.
			got = begin(handshake.BeginOptions{Own: query.Values{{Key: name, Value: "own"}}, Extra: sent})
			if strings.Contains(got.Encode(), "chosen") || len(got[name]) != 1 || got.Get(name) != "own" {
				t.Errorf("%s of the application: the provider gets %v", name, got)
			}
			// Without a value in the configuration it is passed on, as by Auth.js.
			p.Authorization = handshake.Endpoint{URL: "https://op.example.test/a"}
			if got := begin(handshake.BeginOptions{Extra: query.Values{{Key: name, Value: "chosen"}}})[name]; len(got) != 1 || got[0] != "chosen" {
				t.Errorf("%s without a configured one: the provider gets %v", name, got)
			}
		}
	}
}

// RPT-2: what server code asks for is sent once, whatever else was sent and configured.
func TestWhatASignInAsksFor(t *testing.T) {
	tests := []struct {
		name string
		ask  handshake.Ask
		want url.Values
	}{
		{"nothing", handshake.Ask{}, url.Values{"prompt": {"select_account"}, "acr_values": {"weak"}, "max_age": {"9999"}}},
		{"a login", handshake.Ask{Prompt: "consent login"}, url.Values{"prompt": {"consent login"}, "acr_values": {"weak"}, "max_age": {"0"}}},
		{"a login, which no age weakens", handshake.Ask{Prompt: "login", MaxAge: time.Hour}, url.Values{"prompt": {"login"}, "acr_values": {"weak"}, "max_age": {"0"}}},
		{"an age, in whole seconds", handshake.Ask{MaxAge: 1500 * time.Millisecond}, url.Values{"prompt": {"select_account"}, "acr_values": {"weak"}, "max_age": {"2"}}},
		{"classes", handshake.Ask{ACR: []string{"phr", "mfa"}}, url.Values{"prompt": {"select_account"}, "acr_values": {"phr mfa"}, "max_age": {"9999"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &handshake.Provider{ID: "op", ClientID: clientID, Authorization: handshake.Endpoint{
				URL: "https://op.example.test/a", Params: query.Values{{Key: "prompt", Value: "none"}},
			}}
			sent := query.Values{{Key: "prompt", Value: "select_account"}, {Key: "acr_values", Value: "weak"}, {Key: "max_age", Value: "9999"}}
			begun, err := p.Begin(t.Context(), handshake.BeginOptions{RedirectURI: redirectURI, State: "s", Extra: sent, Ask: tt.ask})
			if err != nil {
				t.Fatal(err)
			}
			got := must(url.Parse(begun.URL)).Query()
			for name, want := range tt.want {
				if !slices.Equal(got[name], want) {
					t.Errorf("%s is %q, want %q", name, got[name], want)
				}
			}
		})
	}
}

func TestDiscoveredAuthorizationURL(t *testing.T) {
	o := newOP(t)
	o.document = func(d map[string]any) { d["authorization_endpoint"] = o.issuer + "/authorize?tenant=blue" }
	const callback = "&redirect_uri=https%3A%2F%2Fapp.example.test%2Fauth%2Fcallback%2Fop"
	tests := []struct {
		name   string
		oidc   bool
		params query.Values
		want   string
	}{
		{"scope comes last for OIDC", true, nil, "?tenant=blue&response_type=code&client_id=client-1" + callback + "&prompt=login&scope=openid+profile+email"},
		{"plain OAuth 2 without a configured endpoint sends no scope", false, nil, "?tenant=blue&response_type=code&client_id=client-1" + callback + "&prompt=login"},
		{"configured parameters follow ours", true, query.Values{{Key: "claims", Value: `{"id_token":{}}`}}, "?tenant=blue&response_type=code&client_id=client-1" + callback + "&claims=%7B%22id_token%22%3A%7B%7D%7D&scope=openid+profile+email&prompt=login"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &handshake.Provider{ID: "op", OIDC: tt.oidc, Issuer: o.issuer, ClientID: clientID, Authorization: handshake.Endpoint{Params: tt.params}}
			begun, err := p.Begin(t.Context(), handshake.BeginOptions{RedirectURI: redirectURI, Extra: query.Values{{Key: "prompt", Value: "login"}}})
			if err != nil {
				t.Fatal(err)
			}
			if want := o.issuer + "/authorize" + tt.want; begun.URL != want {
				t.Errorf("URL\n got %s\nwant %s", begun.URL, want)
			}
		})
	}
}

// W-15, Q19 and BCP-19: the parameters of a request never identify or protect the
// flow, in any spelling that a server might accept.
func TestReservedParametersAreNeverTakenFromARequest(t *testing.T) {
	p := &handshake.Provider{
		ID: "op", ClientID: clientID, OIDC: true, MaxAge: 1e9 * 60,
		Authorization: handshake.Endpoint{URL: "https://op.example.test/a"},
	}
	for _, name := range []string{
		"client_id", "redirect_uri", "response_type", "response_mode", "state", "nonce", "code_challenge",
		"code_challenge_method", "request", "request_uri", "max_age", "appid", "client_key",
		"Redirect_URI", "redirect.uri", "redirect uri", "redirect[uri", " redirect_uri", "redirect_uri[]", "redirect_uri[x]", "redirect.uri[0", "redirect_uri\x00x",
	} {
		t.Run(name, func(t *testing.T) {
			begun, err := p.Begin(t.Context(), handshake.BeginOptions{RedirectURI: redirectURI, Extra: query.Values{{Key: name, Value: "https://evil.example"}}})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(begun.URL, "evil") {
				t.Errorf("%q reached the provider: %s", name, begun.URL)
			}
		})
	}
}

func TestChecksAreFreshAndFitTogether(t *testing.T) {
	p := &handshake.Provider{ID: "op", ClientID: clientID, PKCE: true, Nonce: true, Authorization: handshake.Endpoint{URL: "https://op.example.test/a"}}
	one, err := p.Begin(t.Context(), handshake.BeginOptions{RedirectURI: redirectURI})
	if err != nil {
		t.Fatal(err)
	}
	two, err := p.Begin(t.Context(), handshake.BeginOptions{RedirectURI: redirectURI})
	if err != nil {
		t.Fatal(err)
	}
	if one.Verifier == two.Verifier || one.Nonce == two.Nonce || one.Nonce == one.Verifier {
		t.Error("SH-80 two sign-ins share a secret")
	}
	for _, s := range []string{one.Verifier, one.Nonce} {
		if raw, err := base64.RawURLEncoding.DecodeString(s); err != nil || len(raw) != 32 {
			t.Errorf("%q is not 32 bytes in base64url", s)
		}
	}
	query := must(url.Parse(one.URL)).Query()
	sum := sha256.Sum256([]byte(one.Verifier))
	if got, want := query.Get("code_challenge"), base64.RawURLEncoding.EncodeToString(sum[:]); got != want || query.Get("code_challenge_method") != "S256" {
		t.Errorf("BCP-4 code_challenge = %q by %q, want %q by S256", got, query.Get("code_challenge_method"), want)
	}
	if query.Get("nonce") != one.Nonce {
		t.Error("the nonce sent is not the nonce to seal")
	}
	if strings.Contains(one.URL, one.Verifier) {
		t.Error("the verifier left with the browser")
	}
}

func TestBeginRefuses(t *testing.T) {
	good := func() *handshake.Provider {
		return &handshake.Provider{ID: "azure-ad", ClientID: clientID, Authorization: handshake.Endpoint{URL: "https://op.example.test/a"}}
	}
	tests := []struct {
		name   string
		change func(*handshake.Provider, *handshake.BeginOptions)
		want   string
	}{
		{"a missing client id, naming what to set", func(p *handshake.Provider, _ *handshake.BeginOptions) { p.ClientID = "" }, "ClientID is missing: set it in the provider's options or in AUTH_AZURE_AD_ID"},
		{"a missing client id, by another name in the environment", func(p *handshake.Provider, _ *handshake.BeginOptions) { p.ClientID, p.Env = "", "AZURE" }, "AUTH_AZURE_ID"},
		{"a missing redirect URI", func(_ *handshake.Provider, o *handshake.BeginOptions) { o.RedirectURI = "" }, "RedirectURI"},
		{"a state check without a state", func(p *handshake.Provider, _ *handshake.BeginOptions) { p.State = true }, "state check"},
		{"W-19 http off this machine", func(p *handshake.Provider, _ *handshake.BeginOptions) {
			p.Authorization.URL = "http://op.example.test/a"
		}, "not encrypted"},
		{"an endpoint that is a script", func(p *handshake.Provider, _ *handshake.BeginOptions) {
			p.Authorization.URL = "javascript://op.example.test/%0aalert(1)"
		}, "neither https nor http"},
		{"an endpoint with a password", func(p *handshake.Provider, _ *handshake.BeginOptions) {
			p.Authorization.URL = "https://me:pw@op.example.test/"
		}, "user name"},
		{"no endpoint at all", func(p *handshake.Provider, _ *handshake.BeginOptions) { p.Authorization.URL = "" }, "set Authorization.URL, or Issuer"},
		{"a URL longer than servers take", func(_ *handshake.Provider, o *handshake.BeginOptions) {
			o.Extra = query.Values{{Key: "login_hint", Value: strings.Repeat("x", 20<<10)}}
		}, "longer than"},
		{"W-19, SH-81 an http issuer off this machine", func(p *handshake.Provider, _ *handshake.BeginOptions) {
			p.Authorization.URL, p.Issuer = "", "http://op.example.test"
		}, "not encrypted"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, o := good(), handshake.BeginOptions{RedirectURI: redirectURI}
			tt.change(p, &o)
			begun, err := p.Begin(t.Context(), o)
			wantError(t, err, tt.want)
			if begun.URL != "" || begun.Verifier != "" {
				t.Error("there is a result beside the error")
			}
		})
	}
}

func BenchmarkBegin(b *testing.B) {
	p := &handshake.Provider{
		ID: "op", ClientID: clientID, PKCE: true, State: true, Nonce: true,
		Authorization: handshake.Endpoint{URL: "https://op.example.test/a"},
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Begin(b.Context(), handshake.BeginOptions{RedirectURI: redirectURI, State: "s"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRedeem(b *testing.B) {
	o := &op{issuer: "https://op.example.test", key: rsaKey(), alg: jose.RS256, answer: map[string]http.HandlerFunc{}}
	o.keys = []map[string]any{jwk(rsaKey(), "key-1", jose.RS256)}
	response := must(json.Marshal(o.tokenResponse()))
	o.answer["/token"] = saying(200, "application/json", string(response))
	p := o.provider()
	p.Client = &http.Client{Transport: direct{o}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Redeem(b.Context(), options()); err != nil {
			b.Fatal(err)
		}
	}
}
