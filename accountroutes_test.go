package pintle_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/pages"
	"github.com/pintleauth/pintle/store/memstore"
)

// attached is a [pintle.Accounts] made of functions.
type attached struct {
	attach func(a *pintle.Auth, cfg *pintle.Config) error
	serve  http.HandlerFunc
	auth   *pintle.Auth

	handler http.Handler // instead of serve
}

func (c *attached) Attach(a *pintle.Auth, cfg *pintle.Config) (http.Handler, error) {
	c.auth = a
	if c.attach != nil {
		if err := c.attach(a, cfg); err != nil {
			return nil, err
		}
	}
	if c.handler != nil || c.serve == nil {
		return c.handler, nil
	}
	return c.serve, nil
}

// echo answers with what it received.
func echo(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusTeapot)
		return
	}
	_, _ = fmt.Fprintf(w, "%s %s %s", r.Method, r.URL.Path, text)
}

// withAccounts is a site with account routes that a function serves.
func withAccounts(serve http.HandlerFunc, changes ...func(*site)) func(t *testing.T) *site {
	return func(t *testing.T) *site {
		return newSite(t, append(changes, func(s *site) { s.Accounts = &attached{serve: serve} })...)
	}
}

func TestWithoutAccountsTheirRoutesAreUnknown(t *testing.T) {
	for name, change := range map[string]func(*site){
		"nil":               func(*site) {},
		"without a handler": func(s *site) { s.Accounts = &attached{} },
	} {
		s := newSite(t, change)
		b := s.browser()
		s.auth.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, s.url+"/elsewhere/account", nil))
		if strings.Contains(s.log.String(), "BasePathMismatch") {
			t.Errorf("%s: the path /elsewhere/account counts as one of a route", name)
		}
		for _, path := range []string{"/auth/account", "/auth/account/password"} {
			if r := b.get(path); r.status != http.StatusBadRequest || r.body != badRequest {
				t.Errorf("%s: GET %s is answered %d %s", name, path, r.status, r.body)
			}
			if r := b.post(path); r.status != http.StatusBadRequest {
				t.Errorf("%s: POST %s is answered %d", name, path, r.status)
			}
		}
	}
}

// AT-121
func TestAccountRoutesHaveOnePathEach(t *testing.T) {
	s := withAccounts(echo)(t)
	for path, want := range map[string]string{
		"/auth/account":                "/auth/account",
		"/auth/account/":               "/auth/account",
		"/auth//account":               "/auth/account",
		"/auth/account/password":       "/auth/account/password",
		"/auth/account//password/":     "/auth/account/password",
		"/auth/account/password?a=b":   "/auth/account/password",
		"/auth/account/callback":       "/auth/account/callback",
		"/auth/account/undefined":      "/auth/account/undefined",
		"/auth/account/password/again": "",
		"/auth/account/p%61ssword":     "",
		"/auth/account/a%2Fb":          "",
		"/auth/%61ccount":              "",
		"/auth/ACCOUNT":                "",
		"/auth/accounts":               "",
		"/account":                     "",
	} {
		w := httptest.NewRecorder()
		s.auth.ServeHTTP(w, httptest.NewRequest(http.MethodGet, s.url+path, nil))
		switch {
		case want == "" && w.Code != http.StatusBadRequest:
			t.Errorf("%s reaches %s", path, w.Body)
		case want != "" && w.Body.String() != "GET "+want+" ":
			t.Errorf("%s is answered %d %s, want %s", path, w.Code, w.Body, want)
		}
	}
	if w := get(withAccounts(echo, func(s *site) { s.BasePath = "/" })(t).auth, "http://localhost:3000/account/me"); w.Body.String() != "GET /account/me " {
		t.Errorf("at the root: %d %s", w.Code, w.Body)
	}
}

func TestAccountRoutesHaveThreeMethods(t *testing.T) {
	s := withAccounts(echo)(t)
	b := s.browser()
	b.get("/auth/account").want(http.StatusOK)
	b.post("/auth/account").want(http.StatusOK)
	// The server leaves the body out.
	if r := b.do(http.MethodHead, "/auth/account", nil).want(http.StatusOK); r.body != "HEAD /auth/account " {
		t.Errorf("the handler sees %s", r.body)
	}
	for _, method := range []string{http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, "get"} {
		if r := b.do(method, "/auth/account/password", nil).want(http.StatusMethodNotAllowed); r.header.Get("Allow") != "GET, HEAD, POST" {
			t.Errorf("%s: Allow is %q", method, r.header.Get("Allow"))
		}
		b.do(method, "/auth/account", nil, "Accept", "application/json").want(http.StatusMethodNotAllowed)
	}
	b.do(http.MethodHead, "/auth/signin", nil).want(http.StatusBadRequest)
}

// AT-120, AC-220
func TestAccountFormsOfOtherSitesAreRefused(t *testing.T) {
	reached := false
	s := withAccounts(func(w http.ResponseWriter, r *http.Request) { reached = true; echo(w, r) })(t)
	other := s.browser().csrf()
	const form, object = "application/x-www-form-urlencoded", "application/json"
	for _, tt := range []struct {
		name    string
		kind    string
		token   func(own string) string
		headers []string
		good    bool
	}{
		{"a form of this site", form, nil, []string{"Sec-Fetch-Site", "same-origin"}, true},
		{"a form of this site, without Fetch Metadata", form, nil, []string{"Origin", "http://localhost:3000"}, true},
		{"a form without both, of an old browser", form, nil, nil, true},
		{"a form that a person opened again", form, nil, []string{"Sec-Fetch-Site", "none"}, true},
		{"JSON of this site", object, nil, []string{"Sec-Fetch-Site", "same-origin"}, true},
		{"JSON with a charset", "Application/JSON; charset=utf-8", nil, nil, true},
		{"a form of another site", form, nil, []string{"Sec-Fetch-Site", "cross-site"}, false},
		{"a form of a sibling domain", form, nil, []string{"Sec-Fetch-Site", "same-site", "Origin", "http://localhost:3000"}, false},
		{"Fetch Metadata that says nothing", form, nil, []string{"Sec-Fetch-Site", ""}, false},
		{"the Origin of another site", form, nil, []string{"Origin", "https://evil.example"}, false},
		{"the Origin of another port", form, nil, []string{"Origin", "http://localhost:3001"}, false},
		{"an opaque Origin", form, nil, []string{"Origin", "null"}, false},
		{"no token", form, func(string) string { return "" }, []string{"Sec-Fetch-Site", "same-origin"}, false},
		{"the token of another browser", form, func(string) string { return other }, []string{"Sec-Fetch-Site", "same-origin"}, false},
		{"JSON without the token", object, func(string) string { return "" }, nil, false},
		{"JSON as text", "text/plain", nil, nil, false},
		{"JSON in a parameter of text", "text/plain; x=application/json", nil, nil, false},
		{"JSON of another type", "application/vnd.api+json", nil, nil, false},
		{"a form of another type", "multipart/form-data; boundary=x", nil, nil, false},
		{"no type", "", nil, nil, false},
	} {
		for _, script := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, script %t", tt.name, script), func(t *testing.T) {
				b := s.browser()
				token := b.csrf()
				if tt.token != nil {
					token = tt.token(token)
				}
				text := url.Values{"csrfToken": {token}}.Encode()
				if strings.Contains(strings.ToLower(tt.kind), "json") || tt.kind == "text/plain" {
					made, _ := json.Marshal(map[string]string{"csrfToken": token})
					text = string(made)
				}
				headers := append([]string{"Content-Type", tt.kind}, tt.headers...)
				if script {
					headers = append(headers, "Accept", "text/html, application/json;q=0.9")
				}
				reached = false
				r := b.do(http.MethodPost, "/auth/account/password", strings.NewReader(text), headers...)
				if reached != tt.good {
					t.Fatalf("it reaches the handler: %t; status %d, body %.200s", reached, r.status, r.body)
				}
				if tt.good {
					if r.want(http.StatusOK).body != "POST /auth/account/password "+text {
						t.Errorf("the handler reads %s", r.body)
					}
					return
				}
				r.want(http.StatusForbidden)
				isJSON := script || strings.HasPrefix(strings.ToLower(tt.kind), "application/json")
				if isJSON && (r.body != `{"error":"csrf"}` || r.header.Get("Content-Type") != "application/json") {
					t.Errorf("a script is answered %s", r.body)
				}
				if !isJSON && !strings.Contains(r.body, "Allow cookies for this site and try again.") {
					t.Errorf("a browser is shown %.300s", r.body)
				}
			})
		}
	}
}

// A host that lets something in front check forms has the rest of the checks.
func TestAccountFormsAreCheckedByWhatTheBrowserSaysWithoutTokens(t *testing.T) {
	s := withAccounts(echo, func(s *site) { s.DangerouslySkipCSRFCheck = true })(t)
	b := s.browser()
	b.postForm("/auth/account", url.Values{"a": {"b"}}).want(http.StatusOK)
	b.postForm("/auth/account", url.Values{"a": {"b"}}, "Sec-Fetch-Site", "cross-site").want(http.StatusForbidden)
	b.do(http.MethodPost, "/auth/account", strings.NewReader("{}"), "Content-Type", "text/plain").want(http.StatusForbidden)
}

func TestTheBodyOfAnAccountFormIsBounded(t *testing.T) {
	s := withAccounts(echo)(t)
	b := s.browser()
	filled := func(length int) url.Values {
		form := url.Values{"csrfToken": {b.csrf()}, "x": {""}}
		form.Set("x", strings.Repeat("x", length-len(form.Encode())))
		return form
	}
	if r := b.postForm("/auth/account", filled(64<<10)).want(http.StatusOK); len(r.body) < 64<<10 {
		t.Errorf("the handler reads %d bytes", len(r.body))
	}
	b.postForm("/auth/account", filled(64<<10+1)).want(http.StatusRequestEntityTooLarge)
	if r := b.postForm("/auth/account", filled(64<<10+1), "Accept", "application/json").want(http.StatusRequestEntityTooLarge); r.body != `{"error":"too_large"}` {
		t.Errorf("a script is answered %s", r.body)
	}
	if r := b.do(http.MethodPost, "/auth/account", strings.NewReader("{"), "Content-Type", "application/json").want(http.StatusBadRequest); r.body != `{"error":"invalid"}` {
		t.Errorf("broken JSON is answered %s", r.body)
	}
}

// fileServer is a handler that accepts forms of 100,000 bytes on the page "picture".
type fileServer struct{ http.HandlerFunc }

func (fileServer) MaxUpload(page string) int64 {
	if page == "picture" {
		return 100_000
	}
	return 0
}

// AT-48, AT-120, AC-220
func TestAnAccountPageAcceptsAFile(t *testing.T) {
	const kind = "multipart/form-data; boundary=b"
	form := func(token, file string) string {
		return "--b\r\nContent-Disposition: form-data; name=\"csrfToken\"\r\n\r\n" + token + "\r\n" +
			"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\n" + file + "\r\n--b--\r\n"
	}
	for _, accepts := range []bool{true, false} {
		s := newSite(t, func(s *site) {
			s.Accounts = &attached{handler: fileServer{echo}}
			if !accepts {
				s.Accounts = &attached{serve: echo}
			}
		})
		b := s.browser()
		token := b.csrf()
		post := func(page, text string, headers ...string) *reply {
			t.Helper()
			return b.do(http.MethodPost, "/auth/account"+page, strings.NewReader(text), append([]string{"Content-Type", kind}, headers...)...)
		}
		sent := form(token, strings.Repeat("\x00", 90_000))
		if !accepts {
			post("/picture", form(token, "x")).want(http.StatusForbidden)
			post("/picture", sent).want(http.StatusRequestEntityTooLarge)
			continue
		}
		if r := post("/picture", sent, "Sec-Fetch-Site", "same-origin").want(http.StatusOK); r.body != "POST /auth/account/picture "+sent {
			t.Errorf("the handler reads %d bytes of %d", len(r.body), len(sent))
		}
		if r := post("/picture", form(token, strings.Repeat("x", 100_000))).want(http.StatusRequestEntityTooLarge); !strings.Contains(r.body, "The request is too large. Send less, or a smaller file.") {
			t.Errorf("a browser is shown %s", r.body)
		}
		post("", form(token, "x")).want(http.StatusForbidden)
		post("/password", form(token, "x")).want(http.StatusForbidden)
		post("/picture", form("", "x")).want(http.StatusForbidden)
		post("/picture", form(s.browser().csrf(), "x")).want(http.StatusForbidden)
		post("/picture", form(token, "x"), "Sec-Fetch-Site", "cross-site").want(http.StatusForbidden)
		post("/picture", form(token, "x"), "Sec-Fetch-Site", "same-site").want(http.StatusForbidden)
		post("/picture", form(token, "x"), "Origin", "https://evil.example").want(http.StatusForbidden)
		post("/picture", form(token, "x")[:150]).want(http.StatusBadRequest)
		post("/picture", "csrfToken="+token, "Content-Type", "text/plain").want(http.StatusForbidden)
		b.postForm("/auth/account/picture", url.Values{"csrfToken": {token}, "file": {strings.Repeat("x", 64<<10)}}).want(http.StatusRequestEntityTooLarge)
		post("/picture", strings.Replace(form(token, "x"), `name="csrfToken"`, `name="csrftoken"`, 1)).want(http.StatusForbidden)
	}
}

// AC-221, and section 11.5 of the contract.
func TestAccountAnswersAreKeptOutOfCachesAndOtherSites(t *testing.T) {
	s := withAccounts(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept-Language")
		switch r.URL.Path {
		case "/auth/account/redirect":
			http.Redirect(w, r, "/", http.StatusSeeOther)
		case "/auth/account/error":
			http.Error(w, "no", http.StatusTeapot)
		}
	})(t)
	b := s.browser()
	for name, r := range map[string]*reply{
		"page":           b.get("/auth/account"),
		"redirect":       b.get("/auth/account/redirect"),
		"error":          b.get("/auth/account/error"),
		"refused form":   b.postForm("/auth/account", nil),
		"refused script": b.postForm("/auth/account", nil, "Accept", "application/json"),
		"method":         b.do(http.MethodPut, "/auth/account", nil),
		"bad address":    b.get("/auth/account", "Host", "elsewhere.example"),
	} {
		if r.header.Get("Cache-Control") != "no-store" || !strings.HasPrefix(strings.Join(r.header["Vary"], ", "), "Cookie, Accept") ||
			r.header.Get("Cross-Origin-Resource-Policy") != "same-origin" || r.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d with %v", name, r.status, r.header)
		}
	}
	if r := b.get("/auth/account"); strings.Join(r.header["Vary"], ", ") != "Cookie, Accept, Accept-Language" {
		t.Errorf("after others have added to it, Vary is %q", r.header["Vary"])
	}
}

func TestAnAddressThatIsNotTheSitesReachesNoAccountPage(t *testing.T) {
	s := withAccounts(echo)(t)
	r := s.browser().get("/auth/account", "Host", "elsewhere.example").want(http.StatusInternalServerError)
	if strings.Contains(r.body, "GET /auth/account") {
		t.Error("the handler answers")
	}
}

func TestAccountPagesHaveTheFormTokenOfTheBrowser(t *testing.T) {
	var s *site
	s = withAccounts(func(w http.ResponseWriter, r *http.Request) {
		for range 2 { // two forms
			token, err := s.auth.CSRFToken(w, r)
			if err != nil {
				t.Error(err)
			}
			_, _ = io.WriteString(w, token+" ")
		}
	})(t)
	b := s.browser()
	first := b.get("/auth/account").want(http.StatusOK)
	tokens := strings.Fields(first.body)
	if lines := first.header["Set-Cookie"]; len(lines) != 1 || !strings.HasPrefix(lines[0], csrfCookie+"=") {
		t.Errorf("the first page sets %q", lines)
	}
	again := b.get("/auth/account").want(http.StatusOK)
	if len(again.header["Set-Cookie"]) > 0 {
		t.Errorf("the second page sets %q", again.header["Set-Cookie"])
	}
	if want := b.csrf(); slices.ContainsFunc(append(tokens, strings.Fields(again.body)...), func(token string) bool { return token != want }) {
		t.Errorf("the pages have the tokens %q and %q, want %q", tokens, again.body, want)
	}
	b.postForm("/auth/account", url.Values{"csrfToken": {tokens[0]}}).want(http.StatusOK)
}

// The host has its own ways to set cookies on the response that it is given.
func TestAnAccountPageSignsItsUserIn(t *testing.T) {
	var s *site
	s = withAccounts(func(w http.ResponseWriter, r *http.Request) {
		ada := people["ada"].user
		if _, _, err := s.auth.StartSession(w, r, &ada, pintle.StartOptions{}); err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusSeeOther)
	})(t)
	b := s.browser()
	b.post("/auth/account/sign-up-finish").want(http.StatusSeeOther)
	if b.who() != "Ada Lovelace" {
		t.Errorf("the browser is signed in as %s", b.who())
	}
}

func TestAccountsCompleteTheConfiguration(t *testing.T) {
	given := make([]pintle.Provider, 1, 2)
	given[0] = &pintle.Credentials{Authorize: checkPassword}
	extension := &attached{serve: echo}
	extension.attach = func(_ *pintle.Auth, cfg *pintle.Config) error {
		if !slices.Equal(cfg.Secrets, []string{secret}) || cfg.URL != "https://app.example.com" || cfg.BasePath != "/auth" || cfg.Store == nil {
			t.Errorf("Attach sees secrets %q, URL %q, base path %q, store %v", cfg.Secrets, cfg.URL, cfg.BasePath, cfg.Store)
		}
		cfg.Providers = append(cfg.Providers, &pintle.Credentials{ID: "password", Authorize: checkPassword})
		cfg.Providers[0] = &pintle.Credentials{ID: "replaced", Authorize: checkPassword}
		cfg.Session.RecordAuthentication, cfg.Session.Strategy = true, pintle.StrategyJWT
		return nil
	}
	env := map[string]string{"AUTH_SECRET": secret, "AUTH_URL": "https://app.example.com"}
	auth, err := pintle.New(pintle.Config{
		Providers: given, Store: memstore.New(), Accounts: extension, Logger: (&logBook{}).logger(),
		Getenv: func(name string) string { return env[name] },
	})
	if err != nil {
		t.Fatal(err)
	}
	if extension.auth != auth {
		t.Error("Attach was given another Auth than the one that New returns")
	}
	var listed map[string]any
	if err := json.Unmarshal(get(auth, "https://app.example.com/auth/providers").Body.Bytes(), &listed); err != nil || len(listed) != 2 || listed["password"] == nil || listed["replaced"] == nil {
		t.Errorf("the providers are %v, %v", listed, err)
	}
	if given[0].(*pintle.Credentials).ID != "" || given[:2][1] != nil {
		t.Error("the list of the host has changed")
	}
	w := httptest.NewRecorder()
	ada := people["ada"].user
	_, session, err := auth.StartSession(w, httptest.NewRequest(http.MethodPost, "https://app.example.com/", nil), &ada,
		pintle.StartOptions{Authentication: pintle.Authentication{Provider: "registration"}})
	if err != nil || session.Authentication.Provider != "registration" {
		t.Errorf("the session records %+v, %v", session, err)
	}
}

func TestNewFailsWithTheErrorOfAccounts(t *testing.T) {
	cause := errors.New("Accounts.Password.MinLength is 3: set it to 8 or more")
	_, err := pintle.New(pintle.Config{
		Secrets: []string{secret}, Getenv: noEnv,
		Accounts: &attached{attach: func(*pintle.Auth, *pintle.Config) error { return cause }},
	})
	if !errors.Is(err, cause) || !strings.Contains(err.Error(), cause.Error()) {
		t.Errorf("New fails with %v", err)
	}
}

func TestEachTenantHasItsAccounts(t *testing.T) {
	made := map[string]*attached{}
	auth := byHost(&logBook{}, func(_ context.Context, host string) (pintle.Config, error) {
		cfg := rented(host)
		cfg.Session.RecordAuthentication = true
		own := &attached{}
		own.serve = func(w http.ResponseWriter, r *http.Request) {
			session, err := own.auth.Session(r)
			if err != nil || session == nil {
				_, _ = fmt.Fprintf(w, "%s: signed out, %v", host, err)
				return
			}
			_, _ = fmt.Fprintf(w, "%s: %s", host, session.User.Name)
		}
		if host == "broken" {
			own.attach = func(*pintle.Auth, *pintle.Config) error { return errors.New("it is broken") }
		}
		made[host], cfg.Accounts = own, own
		return cfg, nil
	})
	for _, host := range []string{"blue", "red"} {
		cookie := adaAt(t, auth, host)
		if w := get(auth, "http://"+host+"/auth/account", "Cookie", cookie); w.Body.String() != host+": Ada Lovelace" {
			t.Errorf("%s answers %d %s", host, w.Code, w.Body)
		}
	}
	// The Auth is that of its tenant, whatever request it is given.
	r := httptest.NewRequest(http.MethodGet, "http://red/", nil)
	r.Header.Set("Cookie", adaAt(t, auth, "blue"))
	if session, err := made["blue"].auth.Session(r); err != nil || session == nil {
		t.Errorf("the Auth of blue reads %v, %v", session, err)
	}
	if session, _ := made["red"].auth.Session(r); session != nil {
		t.Error("the Auth of red reads a session of blue")
	}
	if w := get(auth, "http://broken/auth/account"); w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "broken") {
		t.Errorf("a tenant whose Attach fails answers %d %s", w.Code, w.Body)
	}
}

func TestTextsAreThoseOfTheRequest(t *testing.T) {
	s := newSite(t, inLanguages, func(s *site) { s.Texts.SignInHeading = "Come in" })
	for accepted, want := range map[string]pages.Texts{
		"fr":    {Lang: "en", SignInHeading: "Come in"},
		"de-AT": {Lang: "de", SignInHeading: "Anmelden"},
	} {
		r := httptest.NewRequest(http.MethodGet, s.url+"/settings", nil)
		r.Header.Set("Accept-Language", accepted)
		texts := s.auth.Texts(r)
		if texts.Lang != want.Lang || texts.SignInHeading != want.SignInHeading || texts.SignOutButton != "Sign out" || texts.Words["Password"] != "Password" {
			t.Errorf("%s: %q, %q, %q", accepted, texts.Lang, texts.SignInHeading, texts.SignOutButton)
		}
	}
	unknown := byHost(&logBook{}, func(context.Context, string) (pintle.Config, error) { return pintle.Config{}, pintle.ErrNotFound })
	if texts := unknown.Texts(httptest.NewRequest(http.MethodGet, "http://nowhere/", nil)); texts.Lang != "en" || texts.SignInHeading != "Sign in" {
		t.Errorf("without a configuration the texts are %q, %q", texts.Lang, texts.SignInHeading)
	}
}
