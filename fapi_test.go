package pintle_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/store/memstore"
)

// fapiSite is a site whose provider requires the FAPI 2.0 Security Profile, and gives
// refresh tokens.
func fapiSite(t *testing.T, nonces bool, changes ...func(*site)) *site {
	t.Helper()
	key := newECKey(t)
	return newSite(t, append([]func(*site){func(s *site) {
		s.idp = authtest.NewIdentityProvider(authtest.Options{AutoConsent: true, FAPI2: true, DPoPNonces: nonces, Algorithm: authtest.ES256})
		s.idp.Issuer = "https://idp.example"
		s.net["idp.example"] = s.idp
		withClientKeys(key, func(p *pintle.OAuth) { fapiProvider(p, key) })(s)
		s.Store, s.Session.Strategy = memstore.New(), pintle.StrategyJWT
	}}, changes...)...)
}

func fapiProvider(p *pintle.OAuth, key *ecdsa.PrivateKey) {
	p.SecurityProfile, p.ClientSecret, p.ClientKeys = oauth.FAPI2, "", []oauth.ClientKey{{Signer: key}}
	p.Checks = nil
	p.Authorization.Params = map[string]string{"scope": "openid profile email offline_access"}
	p.ProfileFromUserInfo = true
}

// tokenPart decodes a part of a JWT: 0 is the header, 1 the claims.
func tokenPart(t *testing.T, token string, part int) (members map[string]any) {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("%q is not a JWT", token)
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[part])
	if err == nil {
		err = json.Unmarshal(raw, &members)
	}
	if err != nil {
		t.Fatal(err)
	}
	return members
}

// callAPI calls the userinfo endpoint as an API, with the account that is stored.
func (s *site) callAPI(account *pintle.Account) (status int, body string, err error) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.idp.URL(authtest.UserInfoEndpoint)+"?of=me", http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := s.auth.SendWithToken(account, r, s.net)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	read, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(read), err
}

// RPT-86, RPT-34. The OpenID Foundation's fapi2-security-profile-final-client-test-happy-path,
// -happy-path-no-dpop-nonce and -client-refresh-token-test: sign-in, API call, refresh. The
// suite looks at five things on the way, and so does this.
func TestAFAPISignInFromEndToEnd(t *testing.T) {
	for _, nonces := range []bool{true, false} {
		t.Run(fmt.Sprintf("with nonces %v", nonces), func(t *testing.T) {
			s := fapiSite(t, nonces)
			// The profile requires more than the metadata says.
			s.idp.Tamper(authtest.Tamper{Discovery: func(d map[string]any) { delete(d, "require_pushed_authorization_requests") }})
			b := s.browser()
			b.attempt("acme")
			if got := b.who(); got != "Ada Lovelace" {
				t.Fatalf("signed in as %q:\n%s", got, s.log)
			}
			account := s.heldTokens()
			if account.TokenType != "dpop" {
				t.Errorf("the token type is %q", account.TokenType)
			}
			if status, body, err := s.callAPI(account); err != nil || status != http.StatusOK || !strings.Contains(body, "Ada") {
				t.Errorf("the API answers %d %s, %v", status, body, err)
			}
			s.idp.ChangeDPoPNonces()
			stale := *account
			stale.ExpiresAt = 1
			renewed, err := s.auth.Refresh(t.Context(), &stale)
			if err != nil || renewed.AccessToken == account.AccessToken {
				t.Fatalf("Refresh = %v, %v", renewed, err)
			}
			if status, _, err := s.callAPI(renewed); err != nil || status != http.StatusOK {
				t.Errorf("the API answers %d, %v", status, err)
			}
			s.checkFAPIRequests(t, nonces)
			if text := s.log.String(); strings.Contains(text, "eyJ") || strings.Contains(text, renewed.AccessToken) {
				t.Errorf("RPT-37 the log has a token:\n%s", text)
			}
		})
	}
}

func (s *site) checkFAPIRequests(t *testing.T, nonces bool) {
	t.Helper()
	seen := map[any]bool{}
	first := func(what string, id any) {
		t.Helper()
		if text, _ := id.(string); len(text) < 22 || seen[text] {
			t.Errorf("RPT-34 the jti of %s is %v: it is short, or was used before", what, id)
		}
		seen[id] = true
	}
	pushes, tokens := s.idp.Requests(authtest.PushEndpoint), s.idp.Requests(authtest.TokenEndpoint)
	want := map[bool][2]int{true: {2, 3}, false: {1, 2}}[nonces] // the nonce is learned once, and changed before the refresh
	if len(pushes) != want[0] || len(tokens) != want[1] {
		t.Errorf("%d pushed requests and %d token requests, want %v", len(pushes), len(tokens), want)
	}
	for _, r := range slices.Concat(pushes, tokens) {
		assertion := r.Form.Get("client_assertion")
		if aud := tokenPart(t, assertion, 1)["aud"]; aud != s.idp.Issuer {
			t.Errorf("%s: aud is %v, want the issuer as a string", r.Endpoint, aud)
		}
		if typ := tokenPart(t, assertion, 0)["typ"]; typ != "client-authentication+jwt" {
			t.Errorf("%s: typ is %v", r.Endpoint, typ)
		}
		first("an assertion", tokenPart(t, assertion, 1)["jti"])
		proof := tokenPart(t, r.Header.Get("DPoP"), 1)
		if proof["htm"] != "POST" || proof["htu"] != s.idp.URL(r.Endpoint) || proof["ath"] != nil {
			t.Errorf("%s: the proof has %v", r.Endpoint, proof)
		}
		first("a proof", proof["jti"])
	}
	for _, r := range pushes {
		if r.Form.Has("request_uri") || r.Form.Get("code_challenge_method") != "S256" || r.Form.Get("nonce") == "" || r.Form.Get("state") == "" {
			t.Errorf("pushed %v", r.Form)
		}
	}
	for _, r := range s.idp.Requests(authtest.AuthorizationEndpoint) {
		if len(r.Form) != 2 || r.Form.Get("client_id") != "acme" || !r.Form.Has("request_uri") {
			t.Errorf("the browser carries %v", r.Form)
		}
	}
	for _, r := range s.idp.Requests(authtest.UserInfoEndpoint) {
		proof := tokenPart(t, r.Header.Get("DPoP"), 1)
		if !strings.HasPrefix(r.Header.Get("Authorization"), "DPoP ") || proof["ath"] == nil || proof["htu"] != s.idp.URL(authtest.UserInfoEndpoint) {
			t.Errorf("the API was called with %v and the proof %v", r.Header, proof)
		}
		first("a proof", proof["jti"])
	}
}

// The tests of the OpenID Foundation for clients of the FAPI 2.0 Security Profile.
//
// https://www.certification.openid.net/
func TestFAPIFoundationSuite(t *testing.T) {
	const (
		accept       = "signed in"
		afterIDToken = "no API call"
		beforeToken  = "no token request"
		afterStart   = "nothing after discovery"
	)
	alternate := func(header, _ map[string]any) { header["alg"] = "RS256" }
	for _, tt := range []struct {
		module string
		faults []authtest.Fault
		tamper func(header, claims map[string]any)
		want   string
	}{
		{"happy-path", nil, nil, accept},
		{"token-type-case-insensitivity", []authtest.Fault{authtest.TokenTypeBound}, nil, accept},
		{"rs-dpop-auth-scheme-case-insensitivity", []authtest.Fault{authtest.DPoPChallengeOddCase}, nil, accept},
		{"valid-aud-as-array", []authtest.Fault{authtest.IDTokenAudienceList}, nil, accept},
		{"invalid-aud", []authtest.Fault{authtest.IDTokenWrongAudience}, nil, afterIDToken},
		{"invalid-missing-aud", []authtest.Fault{authtest.IDTokenWithoutAudience}, nil, afterIDToken},
		{"invalid-secondary-aud", []authtest.Fault{authtest.IDTokenWithoutAuthorizedParty}, nil, afterIDToken},
		{"invalid-iss", []authtest.Fault{authtest.IDTokenWrongIssuer}, nil, afterIDToken},
		{"invalid-missing-iss", []authtest.Fault{authtest.IDTokenWithoutIssuer}, nil, afterIDToken},
		{"invalid-expired-exp", []authtest.Fault{authtest.IDTokenExpired}, nil, afterIDToken},
		{"invalid-missing-exp", []authtest.Fault{authtest.IDTokenWithoutExpiry}, nil, afterIDToken},
		{"invalid-nonce", []authtest.Fault{authtest.IDTokenWrongNonce}, nil, afterIDToken},
		{"invalid-missing-nonce", []authtest.Fault{authtest.IDTokenWithoutNonce}, nil, afterIDToken},
		{"invalid-null-alg", []authtest.Fault{authtest.IDTokenUnsigned}, nil, afterIDToken},
		{"invalid-alternate-alg", nil, alternate, afterIDToken},
		{"ensure-authorization-response-with-invalid-state-fails", []authtest.Fault{authtest.ResponseWrongState}, nil, beforeToken},
		{"ensure-authorization-response-with-invalid-missing-state-fails", []authtest.Fault{authtest.ResponseWithoutState}, nil, beforeToken},
		{"invalid-authorization-response-iss", []authtest.Fault{authtest.ResponseWrongIssuer}, nil, beforeToken},
		{"remove-authorization-response-iss", []authtest.Fault{authtest.ResponseWithoutIssuer}, nil, beforeToken},
		{"discovery-issuer-mismatch", []authtest.Fault{authtest.DiscoveryForeignIssuer}, nil, afterStart},
		// The profile requires the parameter of every provider.
		{"an issuer that is neither promised nor sent", []authtest.Fault{authtest.DiscoveryWithoutIssuerParameter}, nil, beforeToken},
		// Of a provider with RS256 alone no ID token is accepted.
		{"metadata without an algorithm of the profile", []authtest.Fault{authtest.DiscoveryForeignAlgorithm}, nil, afterIDToken},
	} {
		t.Run(tt.module, func(t *testing.T) {
			s := fapiSite(t, true)
			s.idp.Break(tt.faults...)
			s.idp.Tamper(authtest.Tamper{IDToken: tt.tamper})
			b := s.browser()
			b.attempt("acme")
			if got := b.who(); (got == "Ada Lovelace") != (tt.want == accept) {
				t.Errorf("signed in as %q:\n%s", got, s.log)
			}
			for _, no := range []struct {
				when bool
				at   authtest.Endpoint
			}{
				{tt.want != accept, authtest.UserInfoEndpoint},
				{tt.want == beforeToken || tt.want == afterStart, authtest.TokenEndpoint},
				{tt.want == afterStart, authtest.PushEndpoint},
			} {
				if requests := s.idp.Requests(no.at); no.when && len(requests) > 0 {
					t.Errorf("%d requests to %s", len(requests), no.at)
				}
			}
		})
	}
}

// RPT-41. Signed answers (JARM) are not supported, so that none is believed: neither one that is
// good nor one with a fault, alone or beside the parameters of a plain answer. No code reaches the
// token endpoint.
func TestASignedAnswerIsNotBelieved(t *testing.T) {
	good := map[string]any{"iss": "https://idp.example", "aud": "acme", "exp": time.Now().Add(time.Minute).Unix()}
	for name, change := range map[string]map[string]any{
		"good": nil, "another issuer": {"iss": "https://evil.example"}, "another audience": {"aud": "other"}, "no exp": {"exp": nil}, "expired": {"exp": 1},
	} {
		for _, alg := range []string{"ES256", "none"} {
			for _, beside := range []bool{false, true} {
				t.Run(fmt.Sprintf("RPT-41 %s, %s, beside a plain answer %v", name, alg, beside), func(t *testing.T) {
					s := fapiSite(t, false)
					s.idp.Tamper(authtest.Tamper{Response: func(v url.Values) {
						token := s.idp.LogoutToken("acme", func(header, claims map[string]any) {
							clear(header)
							clear(claims)
							header["alg"] = "ES256"
							maps.Copy(claims, good)
							maps.Copy(claims, change)
							for name := range v {
								claims[name] = v.Get(name)
							}
						})
						if alg == "none" {
							token = "eyJhbGciOiJub25lIn0." + strings.Split(token, ".")[1] + "."
						}
						if !beside {
							clear(v)
						}
						v.Set("response", token)
					}})
					b := s.browser()
					b.attempt("acme")
					if got, n := b.who(), len(s.idp.Requests(authtest.TokenEndpoint)); got != "anonymous" || n != 0 {
						t.Errorf("signed in as %q after %d token requests", got, n)
					}
				})
			}
		}
	}
}

// RPT-38: a push that fails is the end of the sign-in. The parameters do not go through the
// browser instead.
func TestAPushThatFailsEndsTheSignIn(t *testing.T) {
	for _, fault := range []authtest.Fault{
		authtest.At(authtest.PushEndpoint, authtest.ServerError), authtest.At(authtest.PushEndpoint, authtest.Hangs),
		authtest.At(authtest.PushEndpoint, authtest.HTMLBody), authtest.At(authtest.PushEndpoint, authtest.Redirects),
		authtest.At(authtest.PushEndpoint, authtest.Unauthorized), authtest.At(authtest.PushEndpoint, authtest.NotFound),
		authtest.At(authtest.PushEndpoint, authtest.EmptyBody), authtest.At(authtest.PushEndpoint, authtest.HugeBody),
		authtest.PushWithoutURI, authtest.PushURINotText, authtest.PushURIHuge, authtest.PushURIWithSpace,
		authtest.PushWithoutExpiry, authtest.PushAlreadyExpired, authtest.TokenInvalidClient,
	} {
		t.Run("RPT-38 "+string(fault), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, func(s *site) {
					p := s.idp.OIDC("acme")
					p.Push = oauth.PushAlways
					s.Providers = []pintle.Provider{p}
					if fault == authtest.TokenInvalidClient { // an answer with status 401 to a client that is not known
						s.idp.Register(authtest.Client{ID: "other"})
					}
				})
				s.idp.Break(fault)
				began := time.Now()
				r := s.browser().post("/auth/signin/acme")
				r.fails("/auth/error", operator)
				if waited := time.Since(began); waited > 11*time.Second {
					t.Errorf("the user has waited %v", waited)
				}
				for _, e := range []authtest.Endpoint{authtest.AuthorizationEndpoint, authtest.ElsewhereEndpoint} {
					if len(s.idp.Requests(e)) > 0 {
						t.Errorf("there is a request to %s", e)
					}
				}
				if strings.Contains(r.location(), "code_challenge") {
					t.Errorf("the browser goes to %s", r.location())
				}
			})
		})
	}
}

// RPX-62: what the metadata requires is done without a setting, and PushNever is not
// overruled.
func TestParametersArePushedWhereTheProviderRequiresIt(t *testing.T) {
	for name, tt := range map[string]struct {
		push     oauth.Push
		required bool
		pushes   int
	}{
		"not required":          {oauth.PushWhenRequired, false, 0},
		"required":              {oauth.PushWhenRequired, true, 1},
		"always":                {oauth.PushAlways, false, 1},
		"never, but required":   {oauth.PushNever, true, 0},
		"never, and not needed": {oauth.PushNever, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, func(s *site) {
				s.idp = authtest.NewIdentityProvider(authtest.Options{AutoConsent: true, RequirePush: tt.required, Algorithm: authtest.ES256})
				s.idp.Issuer = "https://idp.example"
				s.net["idp.example"] = s.idp
				p := s.idp.OIDC("acme")
				p.Push = tt.push
				s.Providers = []pintle.Provider{p}
			})
			b := s.browser()
			to := b.post("/auth/signin/acme?prompt=consent&request_uri=urn:evil&client_id=evil").location()
			if pushed := s.idp.Requests(authtest.PushEndpoint); len(pushed) != tt.pushes {
				t.Errorf("%d pushed requests", len(pushed))
			} else if tt.pushes > 0 && (pushed[0].Form.Get("prompt") != "consent" || pushed[0].Form.Has("request_uri") || strings.Contains(to, "evil")) {
				t.Errorf("pushed %v, and goes to %s", pushed[0].Form, to)
			}
		})
	}
}

// RPX-62, RPX-52: endpoints that are set by hand serve as well, and the assertion there has
// the audience of the token endpoint's.
func TestAPushToAnEndpointThatIsSetByHand(t *testing.T) {
	key := newECKey(t)
	s := newSite(t, withClientKeys(key, func(p *pintle.OAuth) {
		p.ClientKeys = []oauth.ClientKey{{Signer: key}}
	}), func(s *site) {
		p := s.Providers[0].(*pintle.OAuth)
		p.Protocol, p.Issuer, p.Checks, p.Push = oauth.OAuth2, "", nil, oauth.PushAlways
		p.Authorization.URL, p.PushedAuthorization.URL = s.idp.URL(authtest.AuthorizationEndpoint), s.idp.URL(authtest.PushEndpoint)
		p.Token.URL, p.UserInfo.URL = s.idp.URL(authtest.TokenEndpoint), s.idp.URL(authtest.UserInfoEndpoint)
	})
	b := s.browser()
	b.attempt("acme")
	if got := b.who(); got != "Ada Lovelace" {
		t.Errorf("signed in as %q:\n%s", got, s.log)
	}
	if r, ok := s.idp.LastRequest(authtest.PushEndpoint); !ok || tokenPart(t, r.Form.Get("client_assertion"), 1)["aud"] != s.idp.URL(authtest.TokenEndpoint) {
		t.Errorf("pushed %v", r.Form)
	}
}

// BCP-15, RPT-43.
func TestProofsAndProvidersThatMisbehave(t *testing.T) {
	for _, tt := range []struct {
		fault         authtest.Fault
		pushes, token int // requests
		accept        bool
	}{
		{authtest.DPoPNonceNeverRight, 2, 0, false},
		{authtest.DPoPNonceMalformed, 1, 0, false},
		{authtest.DPoPNonceMissing, 1, 0, false},
		{authtest.TokenTypeBearer, 2, 1, false},
		{authtest.TokenTypeMissing, 2, 1, false},
		{authtest.DPoPChallengeOddCase, 2, 1, true},
	} {
		t.Run("RPT-43 "+string(tt.fault), func(t *testing.T) {
			s := fapiSite(t, true)
			s.idp.Break(tt.fault)
			b := s.browser()
			r := b.post("/auth/signin/acme")
			for hops := 0; hops < 3 && r.location() != "" && !strings.HasPrefix(r.location(), s.url+"/auth/error"); hops++ {
				r = b.get(r.location())
			}
			if got := b.who(); (got == "Ada Lovelace") != tt.accept {
				t.Errorf("signed in as %q:\n%s", got, s.log)
			}
			if n := len(s.idp.Requests(authtest.UserInfoEndpoint)); !tt.accept && n > 0 {
				t.Errorf("%d requests with a token that is refused", n)
			}
			if p, n := len(s.idp.Requests(authtest.PushEndpoint)), len(s.idp.Requests(authtest.TokenEndpoint)); p != tt.pushes || n != tt.token {
				t.Errorf("%d pushed requests and %d token requests, want %d and %d", p, n, tt.pushes, tt.token)
			}
		})
	}
	t.Run("RPT-43 a bound token without a proof", func(t *testing.T) {
		s := newSite(t)
		s.idp.Break(authtest.TokenTypeBound)
		b := s.browser()
		b.attempt("acme")
		if got := b.who(); got != "anonymous" {
			t.Errorf("signed in as %q", got)
		}
	})
	t.Run("RPT-43 bearer tokens, where bound ones are only preferred", func(t *testing.T) {
		for fault, want := range map[authtest.Fault]string{authtest.TokenTypeBearer: "bearer", authtest.DPoPChallengeOddCase: "dpop"} {
			s := newSite(t, func(s *site) {
				p := s.idp.OIDC("acme")
				p.DPoP = oauth.DPoPWhenOffered
				s.Providers, s.Store, s.Session.Strategy = []pintle.Provider{p}, memstore.New(), pintle.StrategyJWT
			})
			s.idp.Break(fault)
			b := s.browser()
			b.attempt("acme")
			if got := s.heldTokens().TokenType; got != want {
				t.Errorf("the token type is %q, want %q:\n%s", got, want, s.log)
			}
		}
	})
}

// RPT-43: an API is asked once more with its nonce, if the body can be had again, and its
// nonces do not go to the provider.
func TestAnAPICallWithABoundToken(t *testing.T) {
	s := fapiSite(t, false)
	b := s.browser()
	b.attempt("acme")
	account := s.heldTokens()
	var mu sync.Mutex
	var nonces, bodies []string
	right := true
	s.net["api.example"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		proof := tokenPart(t, r.Header.Get("DPoP"), 1)
		body, _ := io.ReadAll(r.Body)
		nonce, _ := proof["nonce"].(string)
		nonces, bodies = append(nonces, nonce), append(bodies, string(body))
		if proof["htu"] != "https://api.example/notes" || proof["htm"] != r.Method {
			t.Errorf("the proof has %v", proof)
		}
		if r.URL.Query().Has("away") {
			http.Redirect(w, r, "https://evil.example/", http.StatusTemporaryRedirect)
			return
		}
		if nonce != "api-nonce" || !right {
			w.Header().Set("DPoP-Nonce", "api-nonce")
			w.Header().Set("WWW-Authenticate", `dPoP error="use_dpop_nonce"`)
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	s.net["evil.example"] = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the token went to another host") })
	send := func(query string, body io.Reader) (int, error) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.example/notes"+query, body)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := s.auth.SendWithToken(account, r, s.net)
		if err != nil {
			return 0, err
		}
		defer resp.Body.Close()
		if r.Header.Get("Authorization") != "" || r.Header.Get("DPoP") != "" {
			t.Errorf("the request was changed: %v", r.Header)
		}
		return resp.StatusCode, nil
	}
	check := func(name string, wantNonces, wantBodies []string) {
		t.Helper()
		if !slices.Equal(nonces, wantNonces) || !slices.Equal(bodies, wantBodies) {
			t.Errorf("%s: nonces %q and bodies %q", name, nonces, bodies)
		}
		nonces, bodies = nil, nil
	}
	if status, err := send("", io.MultiReader(strings.NewReader("once"))); err != nil || status != http.StatusUnauthorized {
		t.Errorf("a body that is gone: %d, %v", status, err)
	}
	check("a body that is gone", []string{""}, []string{"once"})
	right = false
	if status, err := send("?a=b", bytes.NewBufferString("hello")); err != nil || status != http.StatusUnauthorized {
		t.Errorf("a second challenge: %d, %v", status, err)
	}
	check("a second challenge", []string{"api-nonce", "api-nonce"}, []string{"hello", "hello"})
	right = true
	if status, err := send("?away=1", nil); err != nil || status != http.StatusTemporaryRedirect {
		t.Errorf("a redirect: %d, %v", status, err)
	}
	check("a redirect", []string{"api-nonce"}, []string{""})
	if status, err := send("", bytes.NewBufferString("hello")); err != nil || status != http.StatusOK {
		t.Errorf("the nonce is known: %d, %v", status, err)
	}
	check("the nonce is known", []string{"api-nonce"}, []string{"hello"})

	stale := *account
	stale.ExpiresAt = 1
	if _, err := s.auth.Refresh(t.Context(), &stale); err != nil { // this provider refuses a nonce that it has not sent
		t.Error(err)
	}
}

// A bound token is not sent as a bearer token where its provider is not configured.
func TestABoundTokenOfAnUnknownProvider(t *testing.T) {
	s := newSite(t)
	requests := 0
	count := testTransport(func(r *http.Request) { requests++ })
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.example/", strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]*pintle.Account{
		"another provider":        {Provider: "other", AccessToken: "a", TokenType: "DPoP"},
		"a provider without DPoP": {Provider: "acme", AccessToken: "a", TokenType: "dpop"},
		"no token":                {Provider: "acme"},
		"no account":              nil,
	} {
		if _, err := s.auth.SendWithToken(a, r, count); err == nil || requests != 0 {
			t.Errorf("%s: %v after %d requests", name, err, requests)
		}
	}
	if all := s.log.failures(t); len(all) != 2 || all[0]["function"] != "SendWithToken" {
		t.Errorf("the records are %v", all)
	}
	var header string
	if _, err := s.auth.SendWithToken(&pintle.Account{Provider: "acme", AccessToken: "a"}, r, testTransport(func(r *http.Request) {
		header = r.Header.Get("Authorization")
	})); err != nil || header != "Bearer a" {
		t.Errorf("a bearer token: %q, %v", header, err)
	}
}

// A testTransport sees a request, and answers it.
type testTransport func(*http.Request)

func (f testTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	f(r)
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Header: http.Header{}}, nil
}

// BackChannelLogout of the profile takes no token that could be one of another kind.
func TestALogoutTokenOfAFAPIProviderHasItsType(t *testing.T) {
	s := fapiSite(t, false, func(s *site) {
		s.Providers[0].(*pintle.OAuth).BackChannelLogout = true
		s.Session.Revocation = &memstore.Revocations{}
	})
	b := s.browser()
	b.attempt("acme")
	b.is("Ada Lovelace")
	untyped := s.idp.LogoutToken("acme", func(header, _ map[string]any) { delete(header, "typ") })
	s.backChannel("acme", untyped).refusesLogout(http.StatusBadRequest, "invalid_request")
	b.is("Ada Lovelace")
	s.loggedOutBy(nil)
	b.is("anonymous")
}

// RPT-44: New names each contradiction, and all at once.
func TestWhatContradictsFAPI(t *testing.T) {
	key := newECKey(t)
	idp := authtest.NewIdentityProvider(authtest.Options{})
	idp.Issuer = "https://idp.example"
	build := func(changes ...func(*pintle.OAuth)) error {
		p := idp.OIDC("acme")
		p.ClientAuth = ""
		fapiProvider(p, key)
		for _, change := range changes {
			change(p)
		}
		_, err := pintle.New(pintle.Config{Providers: []pintle.Provider{p}, Secrets: []string{secret}, Getenv: func(string) string { return "" }})
		return err
	}
	if err := build(); err != nil {
		t.Fatalf("nothing contradicts: %v", err)
	}
	at := oauth.Endpoint{URL: "https://idp.example/x"}
	insecure := func(c *tls.Config) func(*pintle.OAuth) {
		return func(p *pintle.OAuth) { p.HTTPClient = &http.Client{Transport: &http.Transport{TLSClientConfig: c}} }
	}
	var all []func(*pintle.OAuth)
	var texts []string
	for _, tt := range []struct {
		name   string
		change func(*pintle.OAuth)
		want   string
	}{
		{"no PKCE", func(p *pintle.OAuth) { p.Checks = []oauth.Check{oauth.CheckNonce} }, "CheckPKCE"},
		{"no nonce", func(p *pintle.OAuth) { p.Checks = []oauth.Check{oauth.CheckPKCE} }, "CheckNonce"},
		{"no push", func(p *pintle.OAuth) { p.Push = oauth.PushNever }, "Push must not be"},
		{"bearer tokens", func(p *pintle.OAuth) { p.DPoP = oauth.DPoPWhenOffered }, "DPoP must not be"},
		{"a secret", func(p *pintle.OAuth) { p.ClientSecret = "a secret of thirty-two characters" }, "AUTH_ACME_SECRET"},
		{"a function for secrets", func(p *pintle.OAuth) {
			p.Quirks.ClientSecret = func(context.Context) (string, error) { return "", nil }
		}, "ClientSecret"},
		{"another method", func(p *pintle.OAuth) { p.ClientAuth = oauth.ClientSecretPost }, "not client_secret_post"},
		{"no key", func(p *pintle.OAuth) { p.ClientKeys = nil }, "ClientKeys must have a key"},
		{"assertions of a platform", func(p *pintle.OAuth) {
			p.ClientAssertion = func(context.Context, string) (string, error) { return "", nil }
		}, "ClientAssertion and"},
		{"another audience", func(p *pintle.OAuth) { p.Quirks.AssertionAudience = "https://idp.example/token" }, "AssertionAudience"},
		{"another type", func(p *pintle.OAuth) { p.Quirks.AssertionType = "JWT" }, "AssertionType"},
		{"RS256 for ID tokens", func(p *pintle.OAuth) { p.SigningAlg = oauth.RS256 }, "SigningAlg is RS256"},
		{"RS256 for userinfo", func(p *pintle.OAuth) { p.Quirks.UserInfoSigningAlg = oauth.RS256 }, "UserInfoSigningAlg is RS256"},
		{"a template", func(p *pintle.OAuth) { p.Quirks.TenantIssuer = true }, "TenantIssuer"},
		{"an authorization endpoint", func(p *pintle.OAuth) { p.Authorization.URL = at.URL }, "Authorization.URL must not"},
		{"a push endpoint", func(p *pintle.OAuth) { p.PushedAuthorization = at }, "PushedAuthorization.URL must not"},
		{"a token endpoint", func(p *pintle.OAuth) { p.Token = at }, "Token.URL must not"},
		{"a userinfo endpoint", func(p *pintle.OAuth) { p.UserInfo = at }, "UserInfo.URL must not"},
		{"a revocation endpoint", func(p *pintle.OAuth) { p.Revocation = at }, "Revocation.URL must not"},
		{"keys", func(p *pintle.OAuth) { p.Quirks.JWKS = at.URL }, "Quirks.JWKS must not"},
		{"a response type", func(p *pintle.OAuth) { p.Authorization.Params["response_type"] = "code id_token" }, "must not have response_type"},
		{"a request URI", func(p *pintle.OAuth) { p.Authorization.Params["request_uri"] = "urn:x" }, "must not have request_uri"},
		{"no type", func(p *pintle.OAuth) { p.Quirks.TokenTypeOptional = true }, "TokenTypeOptional"},
		{"no TLS", func(p *pintle.OAuth) { p.DangerouslyAllowHTTP = true }, "DangerouslyAllowHTTP"},
		{"any certificate", insecure(&tls.Config{InsecureSkipVerify: true}), "InsecureSkipVerify"},
	} {
		t.Run("RPT-44 "+tt.name, func(t *testing.T) {
			if err := build(tt.change); err == nil || !strings.Contains(err.Error(), "FAPI2: ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New: %v", err)
			}
		})
		all, texts = append(all, tt.change), append(texts, tt.want)
	}
	err := build(all...)
	for _, want := range texts {
		if strings.HasPrefix(want, "Check") {
			continue // one of the two lists of checks replaces the other
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("RPT-44 of all at once %q is not named: %v", want, err)
		}
	}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		change func(*pintle.OAuth)
		want   string
	}{
		"a key on P-384":              {func(p *pintle.OAuth) { p.ClientKeys[0].Signer = p384 }, "ClientKeys[0] signs with ES384"},
		"TLS 1.1":                     {insecure(&tls.Config{MinVersion: tls.VersionTLS11}), "TLS 1.2 or later"},
		"no issuer":                   {func(p *pintle.OAuth) { p.Issuer, p.WellKnown = "", "https://idp.example/metadata" }, "AUTH_ACME_ISSUER"},
		"an algorithm of another key": {func(p *pintle.OAuth) { p.ClientKeys[0].Algorithm = oauth.ES384 }, "cannot sign"},
		"OAuth 1.0a":                  {func(p *pintle.OAuth) { p.Protocol = oauth.OAuth1 }, "SecurityProfile is for OAuth 2"},
		"no profile":                  {func(p *pintle.OAuth) { p.SecurityProfile = 7 }, "no security profile 7"},
		"OpenID, ClockSkew": {func(p *pintle.OAuth) {
			p.Protocol, p.SecurityProfile, p.ClientKeys, p.ClockSkew = oauth.OpenID2, 0, nil, time.Minute
		}, "ClockSkew is for OAuth 2"},
		"OpenID, DPoP": {func(p *pintle.OAuth) { p.Protocol, p.SecurityProfile, p.DPoP = oauth.OpenID2, 0, 1 }, "DPoP is for OAuth 2"},
	} {
		t.Run("RPT-44 "+name, func(t *testing.T) {
			if err := build(tt.change); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New: %v", err)
			}
		})
	}
}

// RPT-44: every field of a provider is either in harmony with the profile, or named by New, or
// ruled by the profile whatever its value is. A new field fails this test until it is in one
// of the two lists.
func TestEachFieldIsDecidedForFAPI(t *testing.T) {
	key := newECKey(t)
	idp := authtest.NewIdentityProvider(authtest.Options{})
	idp.Issuer = "https://idp.example"
	at := oauth.Endpoint{URL: "https://idp.example/x"}
	params := oauth.Endpoint{Params: map[string]string{"x": "y"}}
	dir := t.TempDir()
	file := dir + "/assertion"
	if err := os.WriteFile(file, []byte("a.b.c"), 0o600); err != nil {
		t.Fatal(err)
	}
	type change = func(*pintle.OAuth)
	refused := map[string]struct {
		change change
		want   string
	}{
		"ClientSecret":        {func(p *pintle.OAuth) { p.ClientSecret = "a secret of thirty-two characters" }, "ClientSecret"},
		"WellKnown":           {func(p *pintle.OAuth) { p.WellKnown = "https://other.example/metadata" }, "WellKnown must be on the host"},
		"Token":               {func(p *pintle.OAuth) { p.Token = at }, "Token.URL"},
		"UserInfo":            {func(p *pintle.OAuth) { p.UserInfo = at }, "UserInfo.URL"},
		"PushedAuthorization": {func(p *pintle.OAuth) { p.PushedAuthorization = at }, "PushedAuthorization.URL"},
		"EndSession":          {func(p *pintle.OAuth) { p.EndSession = at }, "EndSession.URL"},
		"Revocation":          {func(p *pintle.OAuth) { p.Revocation = at }, "Revocation.URL"},
		"Authorization":       {func(p *pintle.OAuth) { p.Authorization = at }, "Authorization.URL"},
		"Checks":              {func(p *pintle.OAuth) { p.Checks = []oauth.Check{oauth.CheckNone} }, "CheckPKCE"},
		"ClientAuth":          {func(p *pintle.OAuth) { p.ClientAuth = oauth.PublicClient }, "ClientAuth must be"},
		"ClientAssertion": {func(p *pintle.OAuth) {
			p.ClientAssertion = func(context.Context, string) (string, error) { return "", nil }
		}, "ClientAssertion"},
		"ClientAssertionFile": {func(p *pintle.OAuth) { p.ClientAssertionFile = file }, "ClientAssertionFile"},
		"Push":                {func(p *pintle.OAuth) { p.Push = oauth.PushNever }, "Push must not"},
		"DPoP":                {func(p *pintle.OAuth) { p.DPoP = oauth.DPoPWhenOffered }, "DPoP must not"},
		"ClockSkew":           {func(p *pintle.OAuth) { p.ClockSkew = 2 * time.Minute }, "ClockSkew is 2m0s"},
		"SigningAlg":          {func(p *pintle.OAuth) { p.SigningAlg = oauth.HS256 }, "SigningAlg is HS256"},
		"AcceptIDTokens":      {func(p *pintle.OAuth) { p.ProfileFromUserInfo, p.AcceptIDTokens.Audiences = false, []string{"acme"} }, "AcceptIDTokens must not"},
		"RedirectURL":         {func(p *pintle.OAuth) { p.RedirectURL = "http://app.example/auth/callback/acme" }, "RedirectURL must be https"},
		"RedirectProxyURL":    {func(p *pintle.OAuth) { p.RedirectProxyURL = "http://app.example/auth" }, "RedirectProxyURL must be https"},
		"HTTPClient": {func(p *pintle.OAuth) {
			p.HTTPClient = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{MaxVersion: tls.VersionTLS11}}}
		}, "MaxVersion must be"},
		"DangerouslyAllowHTTP":   {func(p *pintle.OAuth) { p.DangerouslyAllowHTTP = true }, "DangerouslyAllowHTTP"},
		"RequestToken, Protocol": {func(p *pintle.OAuth) { p.Protocol, p.RequestToken = oauth.OAuth1, at }, "SecurityProfile is for OAuth 2"},
		"Complete": {func(p *pintle.OAuth) {
			p.Complete = func(p *pintle.OAuth) error { p.Push = oauth.PushNever; return nil }
		}, "Push must not"},

		"Quirks.ClientSecret": {func(p *pintle.OAuth) {
			p.Quirks.ClientSecret = func(context.Context) (string, error) { return "", nil }
		}, "ClientSecret"},
		"Quirks.AssertionAudience":  {func(p *pintle.OAuth) { p.Quirks.AssertionAudience = at.URL }, "AssertionAudience"},
		"Quirks.AssertionType":      {func(p *pintle.OAuth) { p.Quirks.AssertionType = "JWT" }, "AssertionType"},
		"Quirks.JWKS":               {func(p *pintle.OAuth) { p.Quirks.JWKS = at.URL }, "Quirks.JWKS"},
		"Quirks.TenantIssuer":       {func(p *pintle.OAuth) { p.Quirks.TenantIssuer = true }, "TenantIssuer"},
		"Quirks.TokenTypeOptional":  {func(p *pintle.OAuth) { p.Quirks.TokenTypeOptional = true }, "TokenTypeOptional"},
		"Quirks.FormTokenBody":      {func(p *pintle.OAuth) { p.Quirks.FormTokenBody = true }, "FormTokenBody"},
		"Quirks.UserInfoSigningAlg": {func(p *pintle.OAuth) { p.Quirks.UserInfoSigningAlg = oauth.RS256 }, "UserInfoSigningAlg"},
		"Quirks.Metadata":           {func(p *pintle.OAuth) { p.Quirks.Metadata = func(map[string]any) error { return nil } }, "Quirks.Metadata must not"},
		"Quirks.Leave":              {func(p *pintle.OAuth) { p.Quirks.Leave = func(*url.URL) error { return nil } }, "Quirks.Leave must not"},
		"Quirks.Return":             {func(p *pintle.OAuth) { p.Quirks.Return = func(map[string]string) error { return nil } }, "Quirks.Return must not"},
		"Quirks.TokenRequest":       {func(p *pintle.OAuth) { p.Quirks.TokenRequest = func(*oauth.TokenRequest) error { return nil } }, "Quirks.TokenRequest must not"},
		"Quirks.TokenResponse":      {func(p *pintle.OAuth) { p.Quirks.TokenResponse = func(*oauth.TokenResponse) error { return nil } }, "Quirks.TokenResponse must not"},
		"Quirks.Exchange": {func(p *pintle.OAuth) {
			p.Quirks.Exchange = func(context.Context, *http.Client, *oauth.TokenRequest) (*oauth.TokenResponse, error) {
				return nil, nil
			}
		}, "Quirks.Exchange must not"},
	}
	accepted := map[string]change{
		"ID, Name, Env, ClientID":     func(p *pintle.OAuth) { p.ID, p.Name, p.Env, p.ClientID = "bank", "Bank", "BANK", "app" },
		"Issuer, WellKnown":           func(p *pintle.OAuth) { p.WellKnown = p.Issuer + "/.well-known/oauth-authorization-server" },
		"ClientAuth, ClientKeys":      func(p *pintle.OAuth) { p.ClientAuth = oauth.PrivateKeyJWT },
		"PrivateKey, PrivateKeyID":    func(p *pintle.OAuth) { p.ClientKeys, p.PrivateKey, p.PrivateKeyID = nil, key, "1" },
		"SecurityProfile, Push, DPoP": func(p *pintle.OAuth) { p.Push, p.DPoP = oauth.PushAlways, oauth.DPoPRequired },
		"Resources":                   func(p *pintle.OAuth) { p.Resources = []string{"https://api.example/"} },
		"RequireIssuerParameter":      func(p *pintle.OAuth) { p.RequireIssuerParameter = true }, // always on
		"SigningAlg":                  func(p *pintle.OAuth) { p.SigningAlg = oauth.ES256 },
		"ClockSkew":                   func(p *pintle.OAuth) { p.ClockSkew = time.Minute },
		"MaxAge, KeysMaxAge":          func(p *pintle.OAuth) { p.MaxAge, p.KeysMaxAge = time.Hour, time.Hour },
		"ProfileFromUserInfo, Profile": func(p *pintle.OAuth) {
			p.ProfileFromUserInfo, p.Profile = true, func(pintle.Profile, *pintle.Account) (*pintle.User, error) { return &pintle.User{}, nil }
		},
		"StoreAccount":                func(p *pintle.OAuth) { p.StoreAccount = func(a *pintle.Account) *pintle.Account { return a } },
		"StoreTokensAtSignIn":         func(p *pintle.OAuth) { p.StoreTokensAtSignIn = true },
		"DangerouslyLinkByEmail":      func(p *pintle.OAuth) { p.DangerouslyLinkByEmail = true },
		"EmailVerified":               func(p *pintle.OAuth) { p.EmailVerified = func(pintle.Profile) bool { return true } },
		"EndSessionAtProvider":        func(p *pintle.OAuth) { p.EndSessionAtProvider, p.EndSession = true, params },
		"PostLogoutRedirectURL":       func(p *pintle.OAuth) { p.PostLogoutRedirectURL = "https://app.example/auth/signout/acme" },
		"RevokeAtUnlink, Revocation":  func(p *pintle.OAuth) { p.RevokeAtUnlink, p.Revocation = true, params },
		"RevokeAtSignOut":             func(p *pintle.OAuth) { p.RevokeAtSignOut = true },
		"BackChannelLogout":           func(p *pintle.OAuth) { p.BackChannelLogout = true }, // see TestUnderFAPIALogoutTokenHasItsType
		"RequireLogoutTokenType":      func(p *pintle.OAuth) { p.BackChannelLogout, p.RequireLogoutTokenType = true, true },
		"FollowProvider, FollowGrace": func(p *pintle.OAuth) { p.FollowProvider, p.FollowGrace = time.Hour, 2*time.Hour },
		"EndSessionsOnRefusal":        func(p *pintle.OAuth) { p.EndSessionsOnRefusal = true },
		"AllowInitiated":              func(p *pintle.OAuth) { p.AllowInitiated = true }, // the flow is an ordinary one
		"RedirectURL":                 func(p *pintle.OAuth) { p.RedirectURL = "https://app.example/auth/callback/acme" },
		"RedirectProxyURL":            func(p *pintle.OAuth) { p.RedirectProxyURL = "https://app.example/auth" },
		"HTTPClient": func(p *pintle.OAuth) {
			p.HTTPClient = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS13}}}
		},
		"PublicNetworkOnly": func(p *pintle.OAuth) { p.PublicNetworkOnly, p.HTTPClient = true, nil },
		"Complete, Style": func(p *pintle.OAuth) {
			p.Complete, p.Style.Logo = func(*pintle.OAuth) error { return nil }, "https://idp.example/logo.svg"
		},
		"Quirks.AssertionType":         func(p *pintle.OAuth) { p.Quirks.AssertionType = "client-authentication+jwt" },
		"Quirks.AssertionFileVariable": func(p *pintle.OAuth) { p.Quirks.AssertionFileVariable = "TOKEN_FILE" }, // not read beside ClientKeys
		"Quirks.OtherIssuer":           func(p *pintle.OAuth) { p.Quirks.OtherIssuer = "idp.example" },          // for AcceptIDTokens alone
		"Quirks.UserInfoSigningAlg":    func(p *pintle.OAuth) { p.Quirks.UserInfoSigningAlg = oauth.PS256 },
		"Quirks.ClaimedID":             func(p *pintle.OAuth) { p.Quirks.ClaimedID = regexp.MustCompile("x") }, // for OpenID 2.0 alone
		"Quirks.EndSession":            func(p *pintle.OAuth) { p.Quirks.EndSession = func(*url.URL) error { return nil } },
		"Quirks.CheckClaims":           func(p *pintle.OAuth) { p.Quirks.CheckClaims = func(map[string]any) error { return nil } },
		"Quirks.FetchProfile": func(p *pintle.OAuth) {
			p.Quirks.FetchProfile = func(context.Context, *http.Client, map[string]any) (map[string]any, error) { return nil, nil }
		},
		"Quirks.AmendProfile": func(p *pintle.OAuth) {
			p.Quirks.AmendProfile = func(context.Context, *http.Client, *oauth.Answer) error { return nil }
		},
	}
	build := func(change change) error {
		p := idp.OIDC("acme")
		p.ClientAuth = ""
		fapiProvider(p, key)
		change(p)
		getenv := func(name string) string {
			if name == "TOKEN_FILE" {
				return file
			}
			return ""
		}
		_, err := pintle.New(pintle.Config{
			Providers: []pintle.Provider{p}, Secrets: []string{secret}, Getenv: getenv,
			Store: memstore.New(), Session: pintle.SessionConfig{Strategy: pintle.StrategyDatabase},
		})
		return err
	}
	decided := map[string]bool{"Quirks": true} // field by field
	for name, tt := range refused {
		if err := build(tt.change); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("RPT-44 %s: New returned %v, want an error with %q", name, err, tt.want)
		}
		for field := range strings.SplitSeq(name, ", ") {
			decided[field] = true
		}
	}
	for name, change := range accepted {
		if err := build(change); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for field := range strings.SplitSeq(name, ", ") {
			decided[field] = true
		}
	}
	for prefix, of := range map[string]reflect.Type{"": reflect.TypeFor[pintle.OAuth](), "Quirks.": reflect.TypeFor[oauth.Quirks]()} {
		for field := range of.Fields() {
			if name := prefix + field.Name; !decided[name] {
				t.Errorf("%s is in neither list: does it contradict the profile?", name)
			}
		}
	}
}

// RPX-28: a logout token without a type of its own could be another token of the provider.
func TestUnderFAPIALogoutTokenHasItsType(t *testing.T) {
	s := fapiSite(t, false, func(s *site) {
		s.Providers[0].(*pintle.OAuth).BackChannelLogout = true
		s.Session.Revocation = &memstore.Revocations{}
	})
	b := s.browser()
	b.attempt("acme")
	for _, typ := range []any{"JWT", nil} {
		s.backChannel("acme", s.idp.LogoutToken("acme", func(header, _ map[string]any) {
			if header["typ"] = typ; typ == nil {
				delete(header, "typ")
			}
		})).refusesLogout(http.StatusBadRequest, "invalid_request")
		b.is("Ada Lovelace")
	}
	s.loggedOutBy(nil)
	b.is("anonymous")
}

// RPT-45, RPX-132: tokens for several APIs come with one exchange, which names them all.
func TestResourcesAreNamedInEveryRequest(t *testing.T) {
	resources := []string{"https://a.example/", "https://b.example/v1"}
	synctest.Test(t, func(t *testing.T) {
		s := refreshSite(t, memstore.New(), func(s *site) { s.Providers[0].(*pintle.OAuth).Resources = resources })
		b := s.browser()
		to, err := url.Parse(b.post("/auth/signin/acme?resource=https://evil.example/").location())
		if err != nil || !slices.Equal(to.Query()["resource"], resources) {
			t.Errorf("the query of a sign-in changes the resources: %s, %v", to, err)
		}
		b.signInWith("acme").goesTo(s.url)
		stale := *s.heldTokens()
		stale.ExpiresAt = 1
		var wait sync.WaitGroup
		for range 2 {
			wait.Go(func() {
				if _, err := s.auth.Refresh(t.Context(), &stale); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if n := s.exchanges(); n != 1 {
			t.Errorf("RPT-45 %d exchanges", n)
		}
		asked := s.idp.Requests(authtest.AuthorizationEndpoint, authtest.TokenEndpoint)
		if len(asked) != 3 {
			t.Fatalf("%d requests", len(asked))
		}
		for _, r := range asked {
			if !slices.Equal(r.Form["resource"], resources) {
				t.Errorf("%s has the resources %q", r.Endpoint, r.Form["resource"])
			}
		}
	})
	for name, tt := range map[string]struct {
		resources []string
		want      string
	}{
		"a fragment": {[]string{"https://a.example/#x"}, "without a fragment"},
		"a path":     {[]string{"/api"}, "absolute URI"},
		"a long one": {[]string{"https://a.example/" + strings.Repeat("a", 500)}, "512 bytes"},
		"nine":       {slices.Repeat([]string{"https://a.example/"}, 9), "at most 8"},
	} {
		t.Run(name, func(t *testing.T) {
			idp := authtest.NewIdentityProvider(authtest.Options{})
			idp.Issuer = "https://idp.example"
			p := idp.OIDC("acme")
			p.Resources = tt.resources
			_, err := pintle.New(pintle.Config{Providers: []pintle.Provider{p}, Secrets: []string{secret}, Getenv: func(string) string { return "" }})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New: %v", err)
			}
		})
	}
}

// RPX-132: a resource that the provider does not know is a mistake of the configuration.
func TestAProviderThatDoesNotKnowAResource(t *testing.T) {
	for name, of := range map[string][]string{"Resources": {"https://a.example/"}, "none": nil} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, func(s *site) {
				p := s.idp.OIDC("acme")
				p.Resources = of
				s.Providers = []pintle.Provider{p}
			})
			s.idp.Tamper(authtest.Tamper{Response: func(v url.Values) {
				delete(v, "code")
				v["error"] = []string{"invalid_target"}
			}})
			want := map[bool]string{true: operator, false: retry}[of != nil]
			if got := s.browser().attempt("acme").errorCode(); got != want {
				t.Errorf("the page shows %q, want %q", got, want)
			}
		})
	}
}

// RPX-64.
func TestAnIssuerParameterCanBeRequired(t *testing.T) {
	for _, required := range []bool{false, true} {
		s := newSite(t, func(s *site) {
			p := s.idp.OIDC("acme")
			p.RequireIssuerParameter = required
			s.Providers = []pintle.Provider{p}
		})
		s.idp.Break(authtest.DiscoveryWithoutIssuerParameter)
		b := s.browser()
		b.attempt("acme")
		if got := b.who(); (got == "Ada Lovelace") == required {
			t.Errorf("required %v: signed in as %q", required, got)
		}
		if n := len(s.idp.Requests(authtest.TokenEndpoint)); required && n != 0 {
			t.Errorf("%d token requests", n)
		}
	}
}

// RPX-128: the key is that of the secret and the provider, in every process.
func TestTheKeyOfBoundTokens(t *testing.T) {
	key := newECKey(t)
	thumbprint := func(id, with string) string {
		s := newSite(t, func(s *site) {
			s.Secrets = []string{with}
			p := s.idp.OIDC(id)
			p.DPoP, p.ClientAuth, p.ClientKeys = oauth.DPoPRequired, "", []oauth.ClientKey{{Signer: key}}
			s.Providers = []pintle.Provider{p}
		})
		return s.browser().leave(id).Query().Get("dpop_jkt")
	}
	a := thumbprint("acme", secret)
	if len(a) != 43 || thumbprint("acme", secret) != a || thumbprint("other", secret) == a || thumbprint("acme", secret+"2") == a {
		t.Errorf("the thumbprint is %q", a)
	}
}
