package authtest_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/pintleauth/pintle/authtest"
)

// validRequest is an authorization request without faults.
func validRequest() url.Values {
	return url.Values{
		"client_id":             {app.ID},
		"redirect_uri":          {app.RedirectURIs[0]},
		"response_type":         {"code"},
		"scope":                 {"openid"},
		"state":                 {"s"},
		"code_challenge":        {"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"},
		"code_challenge_method": {"S256"},
	}
}

func TestAuthorizationRequestsThatCannotBeTrustedAreNotRedirected(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{AutoConsent: true, Clients: []authtest.Client{app}})
	tests := []struct {
		name   string
		change func(url.Values)
	}{
		{"unknown client", func(v url.Values) { v.Set("client_id", "other") }},
		{"no client", func(v url.Values) { v.Del("client_id") }},
		{"no redirect URI", func(v url.Values) { v.Del("redirect_uri") }},
		{"BCP-1 longer redirect URI", func(v url.Values) { v.Set("redirect_uri", app.RedirectURIs[0]+"/x") }},
		{"BCP-1 redirect URI with a query", func(v url.Values) { v.Set("redirect_uri", app.RedirectURIs[0]+"?x") }},
		{"BCP-1 redirect URI in another case", func(v url.Values) { v.Set("redirect_uri", "https://APP.example.test/auth/callback/test") }},
		{"repeated parameter", func(v url.Values) { v.Add("state", "t") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := validRequest()
			tt.change(v)
			resp := get(t, idp.URL(authtest.AuthorizationEndpoint)+"?"+v.Encode())
			if resp.StatusCode != http.StatusBadRequest || resp.Header.Get("Location") != "" {
				t.Errorf("%s to %q, want 400 and no redirect", resp.Status, resp.Header.Get("Location"))
			}
		})
	}
}

func TestAuthorizationErrorsAreSentToTheClient(t *testing.T) {
	auto := authtest.Start(t, authtest.Options{AutoConsent: true, RequirePKCE: true, Clients: []authtest.Client{app}})
	asking := authtest.Start(t, authtest.Options{Clients: []authtest.Client{app}})
	tests := []struct {
		name   string
		idp    *authtest.IdentityProvider
		change func(url.Values)
		want   string // the error, "" for a code
	}{
		{"no fault", auto, func(url.Values) {}, ""},
		{"no response type", auto, func(v url.Values) { v.Del("response_type") }, "invalid_request"},
		{"BCP-9 implicit flow", auto, func(v url.Values) { v.Set("response_type", "id_token token") }, "unsupported_response_type"},
		{"unknown response mode", auto, func(v url.Values) { v.Set("response_mode", "fragment") }, "invalid_request"},
		{"BCP-4 plain challenge", auto, func(v url.Values) { v.Set("code_challenge_method", "plain") }, "invalid_request"},
		{"BCP-4 challenge without method", auto, func(v url.Values) { v.Del("code_challenge_method") }, "invalid_request"},
		{"method without challenge", auto, func(v url.Values) { v.Del("code_challenge") }, "invalid_request"},
		{"malformed challenge", auto, func(v url.Values) { v.Set("code_challenge", "short") }, "invalid_request"},
		{"no challenge where one is required", auto, func(v url.Values) {
			v.Del("code_challenge")
			v.Del("code_challenge_method")
		}, "invalid_request"},
		{"no challenge where none is required", asking, func(v url.Values) {
			v.Del("code_challenge")
			v.Del("code_challenge_method")
			v.Set("prompt", "none")
		}, "login_required"},
		{"request object", auto, func(v url.Values) { v.Set("request", "x.y.z") }, "request_not_supported"},
		{"request URI", auto, func(v url.Values) { v.Set("request_uri", "https://evil.test") }, "request_uri_not_supported"},
		{"contradicting prompts", auto, func(v url.Values) { v.Set("prompt", "none login") }, "invalid_request"},
		{"prompt none, consent automatic", auto, func(v url.Values) { v.Set("prompt", "none") }, ""},
		{"unknown login hint", auto, func(v url.Values) { v.Set("login_hint", "unknown@example.com") }, "access_denied"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := validRequest()
			tt.change(v)
			resp := get(t, tt.idp.URL(authtest.AuthorizationEndpoint)+"?"+v.Encode())
			answer := answerOf(t, resp)
			if answer.Get("error") != tt.want || answer.Has("code") != (tt.want == "") {
				t.Errorf("answer = %v, want the error %q", answer, tt.want)
			}
			if answer.Get("state") != "s" || answer.Get("iss") != tt.idp.Issuer {
				t.Errorf("answer = %v, want state and iss", answer)
			}
		})
	}
}

func TestAuthorizationRequestMayBePosted(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{AutoConsent: true, Clients: []authtest.Client{app}})
	resp, err := browser.PostForm(idp.URL(authtest.AuthorizationEndpoint), validRequest())
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusSeeOther || !answerOf(t, resp).Has("code") {
		t.Errorf("%s to %q, want 303 with a code", resp.Status, resp.Header.Get("Location"))
	}
}

func TestRedirectURIKeepsItsQuery(t *testing.T) {
	client := app
	client.RedirectURIs = []string{appURL + "/cb?tenant=a%20b"}
	idp := authtest.Start(t, authtest.Options{AutoConsent: true, Clients: []authtest.Client{client}})
	v := validRequest()
	v.Set("redirect_uri", client.RedirectURIs[0])
	answer := answerOf(t, get(t, idp.URL(authtest.AuthorizationEndpoint)+"?"+v.Encode()))
	if answer.Get("tenant") != "a b" || !answer.Has("code") {
		t.Errorf("answer = %v, want a code beside the tenant", answer)
	}
}

func TestMethodsAreChecked(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{})
	for endpoint, allow := range map[authtest.Endpoint]string{
		authtest.TokenEndpoint:   "POST",
		authtest.ConsentEndpoint: "POST",
	} {
		resp := get(t, idp.URL(endpoint))
		if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != allow {
			t.Errorf("GET %s: %s, Allow %q; want 405, %q", endpoint, resp.Status, resp.Header.Get("Allow"), allow)
		}
	}
}

func TestOptionsThatCannotWorkPanic(t *testing.T) {
	for name, opts := range map[string]authtest.Options{
		"algorithm":              {Algorithm: "HS256"},
		"path":                   {Path: "tenant"},
		"client without id":      {Clients: []authtest.Client{{RedirectURIs: []string{appURL}}}},
		"relative redirect URI":  {Clients: []authtest.Client{{ID: "a", RedirectURIs: []string{"/cb"}}}},
		"redirect URI fragment":  {Clients: []authtest.Client{{ID: "a", RedirectURIs: []string{appURL + "#x"}}}},
		"host that breaks a CSP": {Clients: []authtest.Client{{ID: "a", RedirectURIs: []string{"https://a;b.test"}}}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: NewIdentityProvider did not panic", name)
				}
			}()
			authtest.NewIdentityProvider(opts)
		}()
	}
}
