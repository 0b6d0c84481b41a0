package apiclient_test

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/apiclient"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/store/memstore"
)

// A world is an application with one user, a provider and its API.
type world struct {
	t      *testing.T
	auth   *pintle.Auth
	store  *memstore.Store
	userID string
	api    *httptest.Server

	mu        sync.Mutex
	exchanges int
	tokenType string            // empty: bearer
	refused   bool              // the provider refuses refresh tokens
	good      func(string) bool // which access tokens the API accepts
	challenge string
	seen      []string // the headers Authorization of requests to the API
	bodies    []string
}

// newWorld links an account whose access token is "token 0". The provider issues "token 1"
// and so on.
func newWorld(t *testing.T, changes ...func(*pintle.OAuth)) *world {
	t.Helper()
	w := &world{t: t, store: memstore.New(), good: func(string) bool { return true }, challenge: `Bearer error="invalid_token"`}
	provider := httptest.NewServer(http.HandlerFunc(w.serveToken))
	t.Cleanup(provider.Close)
	w.api = httptest.NewServer(http.HandlerFunc(w.serveAPI))
	t.Cleanup(w.api.Close)
	acme := &pintle.OAuth{
		ID: "acme", ClientID: "app", ClientSecret: "the secret of the client",
		Authorization: oauth.Endpoint{URL: provider.URL + "/authorize"}, Token: oauth.Endpoint{URL: provider.URL + "/token"},
		UserInfo: oauth.Endpoint{URL: provider.URL + "/user"},
	}
	for _, change := range changes {
		change(acme)
	}
	var err error
	w.auth, err = pintle.New(pintle.Config{
		Providers: []pintle.Provider{acme},
		Store:     w.store, Secrets: []string{"a secret of the tests of this package"},
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	w.userID = w.link("1", "token 0")
	return w
}

func (w *world) link(id, token string) (userID string) {
	w.t.Helper()
	u, err := w.store.CreateUser(w.t.Context(), &pintle.User{Name: "Ada"})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.store.LinkAccount(w.t.Context(), &pintle.Account{
		UserID: u.ID, Type: pintle.TypeOAuth, Provider: "acme", ProviderAccountID: id, AccessToken: token, RefreshToken: "refresh",
		ExpiresAt: time.Now().Add(time.Hour).Unix(), TokenType: "bearer", Scope: "read,write offline",
	}); err != nil {
		w.t.Fatal(err)
	}
	return u.ID
}

func (w *world) serveToken(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.exchanges++
	rw.Header().Set("Content-Type", "application/json")
	if w.refused {
		rw.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(rw, `{"error":"invalid_grant"}`)
		return
	}
	_, _ = fmt.Fprintf(rw, `{"access_token":"token %d","token_type":%q,"expires_in":3600}`, w.exchanges, cmp.Or(w.tokenType, "bearer"))
}

func (w *world) serveAPI(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	w.seen, w.bodies = append(w.seen, r.Header.Get("Authorization")), append(w.bodies, string(body))
	if to := r.URL.Query().Get("to"); to != "" {
		http.Redirect(rw, r, to, http.StatusTemporaryRedirect)
		return
	}
	if token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); !w.good(token) {
		status := http.StatusUnauthorized
		if r.URL.Path == "/forbidden" {
			status = http.StatusForbidden
		}
		rw.Header().Add("WWW-Authenticate", `Basic realm="error=\"invalid_token\""`)
		rw.Header().Add("WWW-Authenticate", w.challenge)
		rw.WriteHeader(status)
		return
	}
	_, _ = io.WriteString(rw, "hello")
}

func (w *world) client(change ...func(*apiclient.Options)) *http.Client {
	w.t.Helper()
	o := apiclient.Options{Provider: "acme", Origins: []string{w.api.URL}}
	for _, f := range change {
		f(&o)
	}
	c, err := apiclient.New(w.auth, w.userID, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// get returns the status and the body of an answer.
func get(c *http.Client, url string) (string, error) { return answer(c.Get(url)) }

func answer(resp *http.Response, err error) (string, error) {
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return fmt.Sprint(resp.StatusCode, " ", string(body)), err
}

func (w *world) wantSeen(want ...string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if got := strings.Join(w.seen, ", "); got != strings.Join(want, ", ") {
		w.t.Errorf("the API has seen %s, want %s", got, strings.Join(want, ", "))
	}
}

func TestRequestsCarryTheTokenOfTheUser(t *testing.T) {
	w := newWorld(t)
	if got, err := get(w.client(), w.api.URL); err != nil || got != "200 hello" {
		t.Errorf("the answer is %q, %v", got, err)
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, w.api.URL, nil)
	req.Header.Set("Authorization", "Basic of another user")
	if _, err := answer(w.client().Do(req)); err != nil || req.Header.Get("Authorization") != "Basic of another user" {
		t.Errorf("the request has changed: %v (%v)", req.Header, err)
	}
	w.wantSeen("Bearer token 0", "Bearer token 0")
	token, err := apiclient.TokenSource(t.Context(), w.auth, w.userID, apiclient.Options{Provider: "acme"}).Token()
	if err != nil || token.AccessToken != "token 0" || token.Type() != "Bearer" || !token.Valid() || token.RefreshToken != "" || time.Until(token.Expiry) < 50*time.Minute {
		t.Errorf("the token is %+v (%v)", token, err)
	}
}

// RPT-49: a token goes to the origins it is for.
func TestNoOtherOriginGetsTheToken(t *testing.T) {
	w := newWorld(t)
	var elsewhere []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		elsewhere = append(elsewhere, r.Header.Get("Authorization"))
	}))
	defer other.Close()
	host := strings.TrimPrefix(w.api.URL, "http://")
	_, port, _ := strings.Cut(host, ":")
	for _, to := range []string{other.URL, "http://localhost:" + port, "https://" + host, "http://127.0.0.1/", "//" + other.Listener.Addr().String(), "http://" + host + "@" + other.Listener.Addr().String()} {
		if got, err := get(w.client(), w.api.URL+"?to="+to); err != nil || !strings.HasPrefix(got, "307 ") {
			t.Errorf("RPT-49 a redirect to %s: %q, %v", to, got, err)
		}
		if strings.HasPrefix(to, "//") {
			to = "http:" + to
		}
		if got, err := get(w.client(), to); err == nil || !strings.Contains(err.Error(), "the client is for") {
			t.Errorf("RPT-49 a request to %s: %q, %v", to, got, err)
		}
	}
	if len(elsewhere) != 0 {
		t.Errorf("RPT-49 another origin was sent %q", elsewhere)
	}
	w.seen = nil
	if got, err := get(w.client(), w.api.URL+"?to="+w.api.URL+"/here"); err != nil || got != "200 hello" {
		t.Errorf("a redirect within the origin: %q, %v", got, err)
	}
	w.wantSeen("Bearer token 0", "Bearer token 0")
	loop := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, "/", http.StatusFound) }))
	defer loop.Close()
	if _, err := get(w.client(func(o *apiclient.Options) { o.Origins = []string{loop.URL} }), loop.URL); err == nil || !strings.Contains(err.Error(), "10 redirects") {
		t.Errorf("a loop of redirects ends with %v", err)
	}
}

func TestOriginsAreChecked(t *testing.T) {
	w := newWorld(t)
	for _, origins := range [][]string{
		nil,
		{""},
		{"api.example.com"},
		{"http://api.example.com"},
		{"https://api.example.com/v1"},
		{"https://api.example.com?x"},
		{"https://user@api.example.com"},
		{"ftp://api.example.com"},
		{"https://"},
		{"https://api.example.com", "*"},
		{"https://api.example.com/#x"},
		{":"},
	} {
		if _, err := apiclient.New(w.auth, w.userID, apiclient.Options{Provider: "acme", Origins: origins}); err == nil || !strings.Contains(err.Error(), "Origins") {
			t.Errorf("RPX-73 %q: the error is %v", origins, err)
		}
	}
	sent := ""
	record := roundTripper(func(r *http.Request) (*http.Response, error) {
		sent = r.Header.Get("Authorization")
		return &http.Response{StatusCode: http.StatusNoContent, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
	})
	for origin, url := range map[string]string{
		"https://API.example.com":     "https://api.example.com:443/v1?q",
		"https://api.example.com:443": "HTTPS://api.Example.com",
		"https://api.example.com/":    "https://api.example.com/",
		"http://[::1]:80":             "http://[::1]/",
		"http://localhost:8080":       "http://localhost:8080",
	} {
		sent = ""
		c := w.client(func(o *apiclient.Options) { o.Origins, o.Transport = []string{origin}, record })
		if got, err := get(c, url); err != nil || sent != "Bearer token 0" {
			t.Errorf("%s is not %s: %q, %v", url, origin, got, err)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// RPX-70: an API asks for another sign-in, and no token of this one helps. What it says is bounded.
func TestAnAPIAsksForAStrongerSignIn(t *testing.T) {
	long := strings.Repeat("x", 129)
	for challenge, want := range map[string]pintle.SignInOptions{
		`Bearer error="insufficient_user_authentication", acr_values="phr mfa", max_age="300"`:                                   {ACRValues: []string{"phr", "mfa"}, MaxAge: 5 * time.Minute},
		`Basic realm="x", bearer Error=insufficient_user_authentication, Max_Age=0`:                                              {Prompt: "login"},
		`Bearer error="insufficient_user_authentication"`:                                                                        {},
		`Bearer error="insufficient_user_authentication", max_age="-1", acr_values="` + long + ` a\\b ü  c"`:                     {ACRValues: []string{`a\b`, "c"}},
		`Bearer error="insufficient_user_authentication", max_age="99999999999", acr_values="` + strings.Repeat("a ", 300) + `"`: {},
		`Bearer error="insufficient_user_authentication", acr_values="1 2 3 4 5 6 7 8 9"`:                                        {ACRValues: []string{"1", "2", "3", "4", "5", "6", "7", "8"}},
	} {
		w := newWorld(t)
		w.good, w.challenge = func(string) bool { return false }, challenge
		_, err := w.client().Get(w.api.URL)
		needs, ok := errors.AsType[*apiclient.StepUpError](err)
		if !ok || !reflect.DeepEqual(needs.SignIn, want) {
			t.Errorf("%s: the error is %v", challenge, err)
		}
		if w.exchanges != 0 || len(w.seen) != 1 {
			t.Errorf("%d exchanges and %d requests", w.exchanges, len(w.seen))
		}
	}
	for _, challenge := range []string{
		`DPoP error="insufficient_user_authentication"`, `Bearer realm="error=insufficient_user_authentication"`, `Bearer scope="x", Basic error="insufficient_user_authentication"`,
	} {
		w := newWorld(t)
		w.good, w.challenge = func(string) bool { return false }, challenge
		if got, err := get(w.client(), w.api.URL); err != nil || got != "401 " {
			t.Errorf("%s: %q, %v", challenge, got, err)
		}
	}
}

// RPX-74
func TestATokenThatTheAPIRejectsIsReplacedOnce(t *testing.T) {
	w := newWorld(t)
	w.good = func(token string) bool { return token == "token 1" }
	if got, err := answer(w.client().Post(w.api.URL, "text/plain", strings.NewReader("a body"))); err != nil || got != "200 hello" {
		t.Errorf("RPX-74 the answer is %q, %v", got, err)
	}
	w.wantSeen("Bearer token 0", "Bearer token 1")
	if w.bodies[1] != "a body" {
		t.Errorf("RPX-74 the body is %q", w.bodies[1])
	}
	w.good = func(string) bool { return false }
	for range 3 {
		if got, err := get(w.client(), w.api.URL); err != nil || got != "401 " {
			t.Errorf("RPX-74 an API that rejects all: %q, %v", got, err)
		}
	}
	w.wantSeen("Bearer token 0", "Bearer token 1", "Bearer token 1", "Bearer token 1", "Bearer token 1")
	if w.exchanges != 1 {
		t.Errorf("RPX-74 %d exchanges", w.exchanges)
	}
}

func TestOtherAnswersReplaceNoToken(t *testing.T) {
	for name, tt := range map[string]struct {
		path, challenge string
		body            io.Reader
		repeated        bool
	}{
		"403":                            {path: "/forbidden", challenge: `Bearer error="invalid_token"`},
		"no reason":                      {challenge: `Bearer realm="api"`},
		"insufficient_scope":             {challenge: `Bearer error="insufficient_scope"`},
		"of another scheme":              {challenge: `Negotiate abc==, DPoP error="invalid_token"`},
		"in a text":                      {challenge: `Bearer error_description="x error=\"invalid_token\"", error="other"`},
		"a text without an end":          {challenge: `Bearer error="invalid_token`},
		"nothing":                        {challenge: ``},
		"garbage":                        {challenge: `;;; Bearer error=invalid_token`},
		"a body that cannot be repeated": {challenge: `Bearer error="invalid_token"`, body: io.MultiReader(strings.NewReader("once"))},
		"the plain form":                 {challenge: `Bearer error="invalid_token"`, repeated: true},
		"without quotes":                 {challenge: `bearer  realm=x , ERROR = invalid_token`, repeated: true},
		"after others":                   {challenge: `Negotiate abc=, Basic realm="a, b", Bearer realm="\"x", error="invalid_token"`, repeated: true},
		"as Microsoft":                   {challenge: `Bearer realm="", authorization_uri="https://login.example.com/common", client_id="0000", error="invalid_token"`, repeated: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.challenge, w.good = tt.challenge, func(token string) bool { return token == "token 1" }
			if tt.path == "" {
				tt.path = "/"
			}
			_, err := answer(w.client().Post(w.api.URL+tt.path, "text/plain", tt.body))
			if err != nil || w.exchanges == 1 != tt.repeated || len(w.seen) == 2 != tt.repeated {
				t.Errorf("RPX-74 %d exchanges, %d requests (%v)", w.exchanges, len(w.seen), err)
			}
		})
	}
}

func TestErrorsOfARefreshAreThoseOfTheCall(t *testing.T) {
	w := newWorld(t)
	w.good, w.refused = func(string) bool { return false }, true
	if got, err := get(w.client(), w.api.URL); !errors.Is(err, pintle.ErrNoRefresh) {
		t.Errorf("%q, %v", got, err)
	}
	closed := &closing{Reader: strings.NewReader("x")}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://elsewhere.example", closed)
	if _, err := w.client().Do(req); err == nil || !closed.closed {
		t.Errorf("the body of a request that is not sent stays open: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := apiclient.TokenSource(ctx, w.auth, w.userID, apiclient.Options{Provider: "acme"}).Token(); !errors.Is(err, context.Canceled) {
		t.Errorf("in a context that has ended: %v", err)
	}
}

type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error { c.closed = true; return nil }

func TestScopesThatAreMissingNeedConsent(t *testing.T) {
	w := newWorld(t)
	scopes := func(names ...string) func(*apiclient.Options) {
		return func(o *apiclient.Options) { o.Scopes = names }
	}
	if _, err := get(w.client(scopes("write", "offline")), w.api.URL); err != nil {
		t.Error(err)
	}
	_, err := get(w.client(scopes("read", "calendar", "writ")), w.api.URL)
	if !errors.Is(err, apiclient.ErrConsentRequired) || !strings.Contains(err.Error(), `["calendar" "writ"]`) || len(w.seen) != 1 {
		t.Errorf("RPX-80 the error is %v after %d requests", err, len(w.seen))
	}
	a, err := w.store.Account(t.Context(), "acme", "1")
	if err != nil {
		t.Fatal(err)
	}
	a.Scope = "" // the provider does not report it
	if err := w.store.UpdateAccount(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if _, err := get(w.client(scopes("calendar")), w.api.URL); err != nil {
		t.Error(err)
	}
}

// RPT-51
func TestTheAccountOfAnotherUserIsNotFound(t *testing.T) {
	w := newWorld(t)
	w.link("2", "token of another user")
	for name, o := range map[string]apiclient.Options{
		"another user's account": {Provider: "acme", ProviderAccountID: "2"},
		"an unknown account":     {Provider: "acme", ProviderAccountID: "3"},
	} {
		c := w.client(func(to *apiclient.Options) { o.Origins = to.Origins; *to = o })
		if got, err := get(c, w.api.URL); !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("RPT-51 %s: %q, %v", name, got, err)
		}
	}
	w.userID = ""
	if got, err := get(w.client(func(o *apiclient.Options) { o.ProviderAccountID = "2" }), w.api.URL); err == nil || !strings.Contains(err.Error(), "empty") {
		t.Errorf("RPT-51 without a user: %q, %v", got, err)
	}
	w.wantSeen()
}

// RPX-85
func TestNothingPrintsATokenByItself(t *testing.T) {
	w := newWorld(t)
	c := w.client()
	source := apiclient.TokenSource(t.Context(), w.auth, w.userID, apiclient.Options{Provider: "acme"})
	if _, err := get(c, w.api.URL); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{fmt.Sprintf("%v %+v %#v", c, c, c), fmt.Sprintf("%v %+v %#v", c.Transport, c.Transport, c.Transport), fmt.Sprintf("%v %+v %#v", source, source, source)} {
		if strings.Contains(text, "token 0") || strings.Contains(text, "refresh") {
			t.Errorf("RPX-85 %s", text)
		}
	}
}

// RPX-129, RPX-74: a token that is bound to a key is sent with a proof, which has the nonce of
// the API. If the API no longer accepts the token, as after a change of the secret, another one
// is fetched.
func TestATokenThatIsBoundToAKey(t *testing.T) {
	w := newBoundWorld(t)
	if got, err := answer(w.client().Post(w.api.URL+"/notes", "text/plain", strings.NewReader("a note"))); err != nil || got != "200 hello" {
		t.Fatalf("the answer is %q, %v", got, err)
	}
	want := []string{"DPoP token 0", "DPoP token 0", "DPoP token 1"}
	w.mu.Lock()
	defer w.mu.Unlock()
	if fmt.Sprint(w.seen) != fmt.Sprint(want) || fmt.Sprint(w.bodies) != "[a note a note a note]" || w.exchanges != 1 {
		t.Errorf("the API saw %q with %q after %d exchanges", w.seen, w.bodies, w.exchanges)
	}
}

func TestABoundTokenIsNoTokenOfASource(t *testing.T) {
	w := newBoundWorld(t)
	token, err := apiclient.TokenSource(t.Context(), w.auth, w.userID, apiclient.Options{Provider: "acme"}).Token()
	if err == nil || !strings.Contains(err.Error(), "bound to a key") {
		t.Errorf("the token is %v, %v", token, err)
	}
}

// newBoundWorld is a world whose tokens are bound. The API asks for a nonce, and does not
// accept the first token.
func newBoundWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, func(p *pintle.OAuth) { p.DPoP = oauth.DPoPRequired })
	w.tokenType = "DPoP"
	linked, err := w.store.Account(t.Context(), "acme", "1")
	if err != nil {
		t.Fatal(err)
	}
	linked.TokenType = "dpop"
	if err := w.store.UpdateAccount(t.Context(), linked); err != nil {
		t.Fatal(err)
	}
	w.api.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		w.seen, w.bodies = append(w.seen, r.Header.Get("Authorization")), append(w.bodies, string(body))
		rw.Header().Set("DPoP-Nonce", "the-nonce")
		_, claims, _ := strings.Cut(r.Header.Get("DPoP"), ".")
		claims, _, _ = strings.Cut(claims, ".")
		decoded, _ := base64.RawURLEncoding.DecodeString(claims)
		switch {
		case !strings.Contains(string(decoded), `"nonce":"the-nonce"`):
			rw.Header().Set("WWW-Authenticate", `DPoP error="use_dpop_nonce"`)
			rw.WriteHeader(http.StatusUnauthorized)
		case r.Header.Get("Authorization") == "DPoP token 0":
			rw.Header().Set("WWW-Authenticate", `dpop algs="ES256", error="invalid_token"`)
			rw.WriteHeader(http.StatusUnauthorized)
		default:
			_, _ = io.WriteString(rw, "hello")
		}
	})
	return w
}
