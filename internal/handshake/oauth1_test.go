package handshake_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pintleauth/pintle/internal/handshake"
	"github.com/pintleauth/pintle/internal/query"
)

// signOAuth1 is RFC 5849 section 3.4 written from the text, so that the fake
// provider does not check internal/oauth1 with itself.
func signOAuth1(method, rawURL string, params url.Values, consumerSecret, tokenSecret string) (base, signature string) {
	u := must(url.Parse(rawURL))
	all := url.Values{}
	maps.Copy(all, params)
	for name, values := range u.Query() {
		all[name] = append(all[name], values...)
	}
	var pairs []string
	for name, values := range all {
		if name == "realm" || name == "oauth_signature" {
			continue
		}
		for _, v := range values {
			pairs = append(pairs, rfc3986(name)+"\x00="+rfc3986(v)) // a name that begins with another sorts after it
		}
	}
	slices.Sort(pairs)
	base = method + "&" + rfc3986(u.Scheme+"://"+u.Host+u.EscapedPath()) + "&" + rfc3986(strings.ReplaceAll(strings.Join(pairs, "&"), "\x00", ""))
	m := hmac.New(sha1.New, []byte(rfc3986(consumerSecret)+"&"+rfc3986(tokenSecret)))
	m.Write([]byte(base))
	return base, base64.StdEncoding.EncodeToString(m.Sum(nil))
}

func rfc3986(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// oauthHeader reads an Authorization header of scheme OAuth.
func oauthHeader(t testing.TB, header http.Header) url.Values {
	t.Helper()
	fields, ok := strings.CutPrefix(header.Get("Authorization"), "OAuth ")
	if !ok {
		t.Errorf("Authorization = %q", header.Get("Authorization"))
	}
	params := url.Values{}
	for field := range strings.SplitSeq(fields, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		params.Set(name, must(url.PathUnescape(strings.Trim(value, `"`))))
	}
	return params
}

// The examples of RFC 5849 section 1.2 and those recorded from the
// microblogging provider hold for the verifier that the fake provider uses.
func TestOAuth1VerifierAgainstPublishedExamples(t *testing.T) {
	rfc := func(more url.Values) url.Values {
		maps.Copy(more, url.Values{"oauth_consumer_key": {"dpf43f3p2l4k3l03"}, "oauth_signature_method": {"HMAC-SHA1"}, "realm": {"Photos"}})
		return more
	}
	tests := []struct {
		name, method, url           string
		params                      url.Values
		consumerSecret, tokenSecret string
		base, signature             string
	}{
		{
			"RFC 5849 temporary credentials", "POST", "https://photos.example.net/initiate",
			rfc(url.Values{"oauth_timestamp": {"137131200"}, "oauth_nonce": {"wIjqoS"}, "oauth_callback": {"http://printer.example.com/ready"}}),
			"kd94hf93k423kf44", "", "", "74KNZJeDHnMBp0EMJ9ZHt/XKycU=",
		},
		{
			"RFC 5849 token credentials", "POST", "https://photos.example.net/token",
			rfc(url.Values{"oauth_timestamp": {"137131201"}, "oauth_nonce": {"walatlh"}, "oauth_token": {"hh5s93j4hdidpola"}, "oauth_verifier": {"hfdp7dh39dks9884"}}),
			"kd94hf93k423kf44", "hdhd0244k9j7ao03", "", "gKgrFCywp7rO0OXSjdot/IHF7IU=",
		},
		{
			"RFC 5849 protected resource", "GET", "http://photos.example.net/photos?file=vacation.jpg&size=original",
			rfc(url.Values{"oauth_timestamp": {"137131202"}, "oauth_nonce": {"chapoH"}, "oauth_token": {"nnch734d00sl2jdk"}}),
			"kd94hf93k423kf44", "pfkkdhi9sl3r4s00", "", "MdpQcU8iPSUjWoN/UDMsK2sui9I=",
		},
		{
			"request token", "POST", "https://api.x.com/oauth/request_token",
			url.Values{
				"oauth_callback": {"https://app.example.com/auth/callback/twitter?x=1&y=a b"}, "oauth_consumer_key": {"consumer-key"},
				"oauth_nonce": {"nonce123"}, "oauth_signature_method": {"HMAC-SHA1"}, "oauth_timestamp": {"1795113600"}, "oauth_version": {"1.0"},
			},
			"consumer&secret", "",
			"POST&https%3A%2F%2Fapi.x.com%2Foauth%2Frequest_token&oauth_callback%3Dhttps%253A%252F%252Fapp.example.com%252Fauth%252Fcallback%252Ftwitter%253Fx%253D1%2526y%253Da%2520b%26oauth_consumer_key%3Dconsumer-key%26oauth_nonce%3Dnonce123%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D1795113600%26oauth_version%3D1.0",
			"gels/t9TLClIkyevIGy8DD9Pk04=",
		},
		{
			"verify credentials", "GET", "https://api.x.com/1.1/account/verify_credentials.json?include_email=true&include_entities=false&skip_status=true",
			url.Values{
				"oauth_consumer_key": {"consumer-key"}, "oauth_nonce": {"nonce456"}, "oauth_signature_method": {"HMAC-SHA1"},
				"oauth_timestamp": {"1795113601"}, "oauth_token": {"123-token"}, "oauth_version": {"1.0"},
			},
			"consumer&secret", "token/secret~é",
			"GET&https%3A%2F%2Fapi.x.com%2F1.1%2Faccount%2Fverify_credentials.json&include_email%3Dtrue%26include_entities%3Dfalse%26oauth_consumer_key%3Dconsumer-key%26oauth_nonce%3Dnonce456%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D1795113601%26oauth_token%3D123-token%26oauth_version%3D1.0%26skip_status%3Dtrue",
			"CEfSP2Amk9HYGLVlDnSxz4C/9ts=",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, signature := signOAuth1(tt.method, tt.url, tt.params, tt.consumerSecret, tt.tokenSecret)
			if tt.base != "" && base != tt.base {
				t.Errorf("base string\n got %s\nwant %s", base, tt.base)
			}
			if signature != tt.signature {
				t.Errorf("signature = %s, want %s", signature, tt.signature)
			}
		})
	}
}

// A birdcage is an OAuth 1.0a provider that checks every signature.
type birdcage struct {
	t      testing.TB
	url    string
	seen   map[string]url.Values // OAuth parameters of the last request, by path
	answer map[string]http.HandlerFunc
}

func newBirdcage(t testing.TB) *birdcage {
	b := &birdcage{t: t, seen: map[string]url.Values{}, answer: map[string]http.HandlerFunc{}}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	b.url = server.URL
	return b
}

func (b *birdcage) client() *handshake.OAuth1 {
	return &handshake.OAuth1{
		ID: "bird", RequestTokenURL: b.url + "/request_token", AccessTokenURL: b.url + "/access_token",
		Authorize:   handshake.Endpoint{URL: b.url + "/authenticate"},
		UserInfo:    handshake.Endpoint{URL: b.url + "/me.json", Params: query.Values{{Key: "include_email", Value: "true"}}},
		ConsumerKey: "consumer-key", ConsumerSecret: "consumer&secret",
	}
}

func (b *birdcage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	params := oauthHeader(b.t, r.Header)
	b.seen[r.URL.Path] = maps.Clone(params)
	if err := r.ParseForm(); err != nil {
		b.t.Error(err)
	}
	maps.Copy(params, r.PostForm)
	tokenSecret := map[string]string{"": "", "temp-token": "temp-secret/~é", "user-token": "user-secret+"}[params.Get("oauth_token")]
	_, want := signOAuth1(r.Method, b.url+r.URL.RequestURI(), params, "consumer&secret", tokenSecret)
	if params.Get("oauth_signature") != want || params.Get("oauth_nonce") == "" {
		b.t.Errorf("%s: signature %q, want %q", r.URL, params.Get("oauth_signature"), want)
	}
	if h := b.answer[r.URL.Path]; h != nil {
		h(w, r)
		return
	}
	switch r.Method + r.URL.Path {
	case "POST/request_token":
		saying(200, "text/plain", "oauth_token=temp-token&oauth_token_secret=temp-secret%2F~%C3%A9&oauth_callback_confirmed=true")(w, r)
	case "POST/access_token":
		saying(200, "text/plain", "oauth_token=user-token&oauth_token_secret=user-secret%2B&user_id=2244994945&screen_name=birds")(w, r)
	case "GET/me.json":
		saying(200, "application/json", `{"id":9007199254740993,"id_str":"9007199254740993","name":"Bird"}`)(w, r)
	default:
		http.NotFound(w, r)
	}
}

func TestOAuth1SignIn(t *testing.T) {
	b := newBirdcage(t)
	o := b.client()
	begun, err := o.Begin(t.Context(), handshake.BeginOptions{
		RedirectURI: "https://app.example.test/auth/callback/bird?x=1&y=a b",
		Extra:       query.Values{{Key: "force_login", Value: "true"}, {Key: "oauth_token", Value: "evil"}, {Key: "OAuth_Callback", Value: "evil"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := handshake.OAuth1Begun{URL: b.url + "/authenticate?force_login=true&oauth_token=temp-token", Token: "temp-token", Secret: "temp-secret/~é"}
	if d := cmp.Diff(want, begun); d != "" {
		t.Errorf("Begin (-want +got):\n%s", d)
	}
	if got := b.seen["/request_token"]; got.Get("oauth_callback") != "https://app.example.test/auth/callback/bird?x=1&y=a b" {
		t.Errorf("request token with %v", got)
	}

	r, err := o.Finish(t.Context(), handshake.OAuth1Return{
		Params: parse(t, "oauth_token=temp-token&oauth_verifier=verifier-1"), Token: begun.Token, Secret: begun.Secret,
	})
	if err != nil {
		t.Fatal(err)
	}
	wantTokens := map[string]any{"oauth_token": "user-token", "oauth_token_secret": "user-secret+", "user_id": "2244994945", "screen_name": "birds"}
	if d := cmp.Diff(wantTokens, r.Tokens); d != "" {
		t.Errorf("tokens (-want +got):\n%s", d)
	}
	if r.Profile["id"] != json.Number("9007199254740993") {
		t.Errorf("profile = %v", r.Profile)
	}
	if got := b.seen["/access_token"].Get("oauth_verifier"); got != "verifier-1" {
		t.Errorf("oauth_verifier = %q", got)
	}
	if got := b.seen["/me.json"].Get("oauth_token"); got != "user-token" {
		t.Errorf("the profile request has token %q", got)
	}
	if b.seen["/access_token"].Get("oauth_nonce") == b.seen["/me.json"].Get("oauth_nonce") {
		t.Error("two requests share a nonce")
	}
}

// All requests of a hook are signed. One that cannot be signed is not sent.
func TestOAuth1SignsTheRequestsOfHooks(t *testing.T) {
	back := handshake.OAuth1Return{Params: parse(t, "oauth_token=temp-token&oauth_verifier=v"), Token: "temp-token", Secret: "temp-secret/~é"}
	ask := func(ctx context.Context, c *http.Client, method, address, form string) (map[string]any, error) {
		req := must(http.NewRequestWithContext(ctx, method, address, strings.NewReader(form)))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
		if _, err := handshake.Fetch(c, req); err != nil {
			return nil, err
		}
		if req.Header.Get("Authorization") != "" {
			t.Error("the hook's own request was changed")
		}
		return map[string]any{"id": "1"}, nil
	}
	tests := []struct{ name, method, query, form, want string }{
		{"a query", "GET", "fields=id,name&q=a+b%2Bc", "", ""},
		{"duplicates, and names that begin with another", "GET", "a1=b&a=z&a=y&a", "", ""},
		{"a form", "POST", "a=q", "a=f&c2&a3=2+q&a=%C3%A9", ""},
		{"bytes that are no text", "POST", "a=%FF", "b=%00%FE", ""},
		{"a query that the service may read otherwise", "GET", "a=%zz", "", "malformed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBirdcage(t)
			b.answer["/hook"] = saying(200, "application/json", "{}")
			o := b.client()
			o.FetchProfile = func(ctx context.Context, c *http.Client, _ map[string]any) (map[string]any, error) {
				return ask(ctx, c, tt.method, b.url+"/hook?"+tt.query, tt.form)
			}
			_, err := o.Finish(t.Context(), back)
			if tt.want != "" {
				wantError(t, err, tt.want)
			} else if err != nil {
				t.Error(err)
			}
			if sent := b.seen["/hook"] != nil; sent != (tt.want == "") {
				t.Errorf("sent: %t", sent)
			}
		})
	}
}

func TestOAuth1CallbacksThatAreRefused(t *testing.T) {
	tests := []struct {
		name, params string
		change       func(*handshake.OAuth1Return)
		want         string
	}{
		{"BCP-3 a token of another browser", "oauth_token=other&oauth_verifier=v", nil, "not the one this browser started with"},
		{"BCP-3 no token", "oauth_verifier=v", nil, "not the one"},
		{"BCP-3 nothing sealed", "oauth_token=&oauth_verifier=v", func(r *handshake.OAuth1Return) { r.Token, r.Secret = "", "" }, "not the one"},
		{"no verifier", "oauth_token=temp-token", nil, "oauth_verifier is missing"},
		{"access denied with a token of another browser", "denied=other", nil, "not the one"},
		{"access denied", "denied=temp-token", nil, "access_denied"},
		{"a verifier without end", "oauth_token=temp-token&oauth_verifier=" + strings.Repeat("v", 9<<10), nil, "longer than"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBirdcage(t)
			back := handshake.OAuth1Return{Params: parse(t, tt.params), Token: "temp-token", Secret: "temp-secret/~é"}
			if tt.change != nil {
				tt.change(&back)
			}
			r, err := b.client().Finish(t.Context(), back)
			wantError(t, err, tt.want)
			_, refused := errors.AsType[*handshake.ResponseError](err)
			if r != nil || refused != (tt.want == "access_denied") {
				t.Errorf("Finish = %v, %v", r, err)
			}
			if len(b.seen) != 0 {
				t.Errorf("requests were sent: %v", b.seen)
			}
		})
	}
}

func TestOAuth1ProvidersThatMisbehave(t *testing.T) {
	tests := []struct {
		name, path string
		answer     http.HandlerFunc
		want       string
	}{
		{"OAuth 1.0 without the a", "/request_token", saying(200, "text/plain", "oauth_token=temp-token&oauth_token_secret=s"), "oauth_callback_confirmed"},
		{"a callback that is not confirmed", "/request_token", saying(200, "text/plain", "oauth_token=temp-token&oauth_token_secret=s&oauth_callback_confirmed=false"), "oauth_callback_confirmed"},
		{"no request token", "/request_token", saying(200, "text/plain", "oauth_callback_confirmed=true"), "missing oauth_token"},
		{"SH-13 an error that repeats secrets", "/request_token", saying(401, "text/plain", "consumer&secret temp-secret"), "status 401"},
		{"a redirect", "/request_token", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, "status 307"},
		{"BCP-21 a response without end", "/request_token", saying(200, "text/plain", strings.Repeat("x", 2<<20)), "larger than"},
		{"no access token", "/access_token", saying(200, "text/plain", "user_id=5"), "missing oauth_token"},
		{"SH-13 an error about the verifier", "/access_token", saying(401, "text/plain", "verifier-1 of temp-secret/~é"), "status 401"},
		{"a server that fails", "/access_token", saying(503, "text/plain", ""), "status 503"},
		{"a redirect of the verifier", "/access_token", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, "status 307"},
		{"BCP-21 tokens without end", "/access_token", saying(200, "text/plain", strings.Repeat("x", 2<<20)), "larger than"},
		{"Q11 a profile in an error", "/me.json", saying(403, "application/json", `{"id_str":"5"}`), "status 403"},
		{"a profile that is a list", "/me.json", saying(200, "application/json", `[]`), "a list"},
		{"a profile that is a page", "/me.json", saying(200, "text/html", `<h1>hi</h1>`), "not JSON"},
		{"a redirected profile", "/me.json", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, "status 307"},
		{"BCP-21 a profile without end", "/me.json", saying(200, "application/json", strings.Repeat(" ", 2<<20)), "larger than"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBirdcage(t)
			b.answer[tt.path] = tt.answer
			o := b.client()
			begun, err := o.Begin(t.Context(), handshake.BeginOptions{RedirectURI: redirectURI})
			if tt.path != "/request_token" {
				if err != nil {
					t.Fatal(err)
				}
				_, err = o.Finish(t.Context(), handshake.OAuth1Return{
					Params: parse(t, "oauth_token=temp-token&oauth_verifier=verifier-1"), Token: begun.Token, Secret: begun.Secret,
				})
			}
			wantError(t, err, tt.want)
			if _, made := errors.AsType[*handshake.AnswerError](err); made != (tt.path == "/access_token" && tt.want == "status 401") {
				t.Errorf("an error that a browser can cause is told from others: %t", made)
			}
			for _, secret := range []string{"consumer&secret", "temp-secret", "verifier-1", "user-secret"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("SH-13 error repeats %q: %v", secret, err)
				}
			}
			if b.seen["/elsewhere"] != nil {
				t.Error("the redirect was followed")
			}
		})
	}
}

func TestSilentOAuth1ProviderIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&birdcage{t: t, url: "https://bird.example.test"}).client()
		o.Client = &http.Client{Transport: direct{http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })}}
		start := time.Now()
		_, err := o.Begin(t.Context(), handshake.BeginOptions{RedirectURI: redirectURI})
		wantError(t, err, "deadline exceeded")
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("BCP-21 gave up after %v, want 10s", took)
		}
	})
}

func TestOAuth1RequestEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&birdcage{t: t, url: "https://bird.example.test"}).client()
		o.Client = &http.Client{Transport: direct{http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if _, err := o.Begin(ctx, handshake.BeginOptions{RedirectURI: redirectURI}); err == nil {
			t.Error("no error")
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("ended after %v, want 1s", took)
		}
	})
}

func TestOAuth1Check(t *testing.T) {
	b := &birdcage{url: "https://bird.example.test"}
	if err := b.client().Check(); err != nil {
		t.Error(err)
	}
	o := b.client()
	o.RequestTokenURL, o.AccessTokenURL, o.UserInfo.URL = "", "http://bird.example.test/t", "javascript:x"
	wantError(t, o.Check(), "RequestToken.URL", "Token.URL", "not encrypted", "UserInfo.URL")

	o = b.client()
	o.ConsumerKey = ""
	_, err := o.Begin(t.Context(), handshake.BeginOptions{RedirectURI: redirectURI})
	wantError(t, err, "AUTH_BIRD_ID")
	o = b.client()
	o.ConsumerSecret = ""
	_, err = o.Begin(t.Context(), handshake.BeginOptions{RedirectURI: redirectURI})
	wantError(t, err, "AUTH_BIRD_SECRET")
}
