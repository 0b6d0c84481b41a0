package pintle_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/internal/testsite"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/store/memstore"
)

// acceptsIDTokens is a site that takes ID tokens for the client "web" of acme, and for
// "ios" of other. Applications get database sessions.
func acceptsIDTokens(changes ...func(s *site, acme *pintle.OAuth)) func(*site) {
	return func(s *site) {
		acme := s.idp.OIDC("acme")
		acme.AcceptIDTokens = oauth.IDTokens{Audiences: []string{"web"}}
		other := s.newIdentityProvider("https://other.example").OIDC("other")
		other.AcceptIDTokens = oauth.IDTokens{Audiences: []string{"web", "ios"}, NonceHash: oauth.NonceSHA256Hex}
		for _, change := range changes {
			change(s, acme)
		}
		s.Providers = []pintle.Provider{acme, other, s.idp.OIDC("plain")}
		s.Store = memstore.New()
		s.Session.AllowBearer = true
	}
}

// What browsers say of a request of a page of the site.
var ownPage = []string{"Sec-Fetch-Site", "same-origin", "Origin", "http://localhost:3000"}

// nonce asks for a nonce as the script of a page does.
func (b *browser) nonce(provider string) string {
	b.t.Helper()
	var answer struct {
		Nonce     string
		ExpiresAt time.Time
	}
	r := b.get("/auth/idtoken/"+provider, ownPage...).want(http.StatusOK)
	r.json(&answer)
	if left := time.Until(answer.ExpiresAt); left > 10*time.Minute || left < 9*time.Minute || len(answer.Nonce) < 43 || len(answer.Nonce) > 128 {
		b.t.Errorf("the nonce is %q until %s", answer.Nonce, answer.ExpiresAt)
	}
	if !strings.Contains(r.header.Get("Cache-Control"), "no-store") {
		b.t.Errorf("the nonce may be stored: %q", r.header.Get("Cache-Control"))
	}
	return answer.Nonce
}

// tap posts an ID token as the script of a page does, with the form token.
func (b *browser) tap(provider, token string, fields ...string) *reply {
	b.t.Helper()
	object := map[string]any{"id_token": token, "csrfToken": b.csrf(), "callbackUrl": "/bye"}
	for i := 0; i < len(fields); i += 2 {
		object[fields[i]] = fields[i+1]
	}
	return b.postJSON("/auth/idtoken/"+provider, object, ownPage...)
}

// arrives fails the test unless a script is told to go to /bye.
func (r *reply) arrives() {
	r.t.Helper()
	var to struct{ URL string }
	r.want(http.StatusOK).json(&to)
	if to.URL != "http://localhost:3000/bye" {
		r.t.Errorf("the browser is sent to %q", to.URL)
	}
}

// isRefusedAs fails the test unless a script is told to go to a page with an error, and
// the answer sets no cookie.
func (r *reply) isRefusedAs(page, code string) {
	r.t.Helper()
	var to struct{ URL string }
	r.want(http.StatusOK).json(&to)
	u := mustParse(r.t, to.URL)
	if u.Path != "/auth/"+page || u.Query().Get("error") != code || len(r.header["Set-Cookie"]) > 0 {
		r.t.Errorf("the browser is sent to %s with %v, want %s with %s", to.URL, r.header["Set-Cookie"], page, code)
	}
}

// An application is one without a browser: it sends no cookie.
type application struct{ *site }

func (a application) send(method, path string, object map[string]any, headers ...string) *reply {
	a.t.Helper()
	b := a.browser()
	if method == http.MethodGet {
		return b.get(path, headers...)
	}
	return b.postJSON(path, object, headers...)
}

func (a application) nonce(provider string) string {
	a.t.Helper()
	var answer struct{ Nonce string }
	r := a.send(http.MethodGet, "/auth/idtoken/"+provider, nil).want(http.StatusOK)
	if r.json(&answer); len(r.header["Set-Cookie"]) > 0 {
		a.t.Errorf("an application gets the cookies %q", r.header["Set-Cookie"])
	}
	return answer.Nonce
}

// signIn posts an ID token, and returns the token of the session.
func (a application) signIn(provider string, object map[string]any) string {
	a.t.Helper()
	var answer struct {
		Token   string `json:"access_token"`
		Type    string `json:"token_type"`
		Expires int    `json:"expires_in"`
	}
	r := a.send(http.MethodPost, "/auth/idtoken/"+provider, object)
	r.want(http.StatusOK).json(&answer)
	r.isNotStored()
	if answer.Token == "" || answer.Type != "Bearer" || answer.Expires < 29*24*3600 || answer.Expires > 30*24*3600 {
		a.t.Errorf("the answer is %s", r.body)
	}
	return answer.Token
}

func (a application) isRefused(r *reply, status int, code string) {
	a.t.Helper()
	if r.want(status); r.body != `{"error":"`+code+`"}` {
		a.t.Errorf("the answer is %s", r.body)
	}
	r.isNotStored()
}

// who returns the user of a bearer token.
func (a application) who(token string) string {
	a.t.Helper()
	return strings.TrimPrefix(a.browser().get("/", "Authorization", "Bearer "+token).body, "hello, ")
}

// S-46, RPX-86 to 93: a page with Google One Tap, and the account is that of the code flow.
func TestAPageSignsInWithTheTokenOfAnSDK(t *testing.T) {
	inBothStrategies(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		var attempts []*pintle.SignInAttempt
		s := newSite(t, acceptsIDTokens(), func(s *site) {
			s.Session.Strategy = strategy
			s.Callbacks.SignIn = func(_ context.Context, a *pintle.SignInAttempt) (string, error) {
				attempts = append(attempts, a)
				return "", nil
			}
		})
		b := s.browser()
		b.tap("acme", s.idp.IDTokenFor("web", "web", b.nonce("acme"), nil)).arrives()
		b.is("Ada Lovelace")
		first := lastEvent[*pintle.SignInEvent](s, "signIn")
		if !attempts[0].SDK || !first.SDK || !first.SignedIn || !*first.NewUser {
			t.Errorf("the event is %+v", first)
		}
		// A form, as a page without a script sends it.
		again := s.browser()
		token := s.idp.IDTokenFor("web", "", again.nonce("acme"), nil)
		again.postForm("/auth/idtoken/acme", url.Values{"credential": {token}, "csrfToken": {again.csrf()}, "callbackUrl": {"/bye"}}, ownPage...).
			goesTo(s.url + "/bye")
		again.is("Ada Lovelace")
		byCode := s.browser()
		byCode.arrivesBy("acme")
		last := lastEvent[*pintle.SignInEvent](s, "signIn")
		if last.SDK || *last.NewUser || last.User.ID != first.User.ID || last.Account.ProviderAccountID != first.Account.ProviderAccountID {
			t.Errorf("by the code flow the user is %+v, by the token %+v", last.User, first.User)
		}
		account, err := s.Store.Account(t.Context(), "acme", first.Account.ProviderAccountID)
		if err != nil || account.IDToken == "" || account.AccessToken != "" || account.RefreshToken != "" {
			t.Errorf("the store has the account %v, %v", account, err)
		}
	})
}

// RPX-89: the post of Google's script, which has no form token.
func TestTheFormOfGooglesScriptSignsIn(t *testing.T) {
	s := newSite(t, acceptsIDTokens())
	post := func(b *browser, token, inCookie, inBody string, headers ...string) *reply {
		b.plant("g_csrf_token", inCookie)
		return b.postForm("/auth/idtoken/acme", url.Values{"credential": {token}, "g_csrf_token": {inBody}, "select_by": {"btn"}}, headers...)
	}
	const csrf = "0123456789abcdef"
	b := s.browser()
	post(b, s.idp.IDTokenFor("web", "web", b.nonce("acme"), nil), csrf, csrf, ownPage...).goesTo(s.url)
	b.is("Ada Lovelace")
	for name, pair := range map[string][2]string{
		"others": {csrf, "0123456789abcdeg"}, "none in the body": {csrf, ""}, "none in the cookie": {"", csrf}, "none": {"", ""}, "short ones": {csrf[1:], csrf[1:]},
	} {
		t.Run("RPT-57 "+name, func(t *testing.T) {
			b := s.browser()
			post(b, s.idp.IDTokenFor("web", "web", b.nonce("acme"), nil), pair[0], pair[1], ownPage...).fails("/error", "Configuration")
			b.is("anonymous")
		})
	}
	t.Run("a post from Google's site is posted again, so that the cookies come along", func(t *testing.T) {
		b := s.browser()
		token := s.idp.IDTokenFor("web", "web", b.nonce("acme"), nil)
		fields := url.Values{"credential": {token}, "g_csrf_token": {csrf}}
		// The cookies with SameSite=Lax stay in the browser.
		r := s.browser().postForm("/auth/idtoken/acme", fields, "Sec-Fetch-Site", "cross-site", "Origin", "https://accounts.google.com", "Cookie", "g_csrf_token="+csrf)
		if r.want(http.StatusOK); len(r.header["Set-Cookie"]) > 0 {
			t.Errorf("the page sets %q", r.header["Set-Cookie"])
		}
		b.plant("g_csrf_token", csrf)
		b.postForm(r.action(), r.hidden(), ownPage...).goesTo(s.url)
		b.is("Ada Lovelace")
	})
}

// RPT-57: a page of another site, or of a sibling domain that can plant cookies, has a token
// of the attacker.
func TestAnotherSiteCannotSignABrowserInWithAToken(t *testing.T) {
	s := newSite(t, acceptsIDTokens())
	const csrf = "0123456789abcdef"
	attacker := s.browser()
	for name, nonce := range map[string]string{
		"of the attacker's browser":      attacker.nonce("acme"),
		"of the attacker's application":  application{s}.nonce("acme"),
		"that was made up":               "x",
		"that is missing in this token":  "",
		"of another site, with its mark": strings.Repeat("x", 43) + ".zzzzzz." + strings.Repeat("x", 22),
	} {
		t.Run("a nonce "+name, func(t *testing.T) {
			victim := s.browser()
			victim.csrf() // the victim has visited the site
			victim.plant("g_csrf_token", csrf)
			fields := url.Values{"credential": {s.idp.IDTokenFor("web", "web", nonce, nil)}, "g_csrf_token": {csrf}, "nonce": {nonce}}
			if nonce == "" {
				fields.Del("nonce")
			}
			victim.postForm("/auth/idtoken/acme", fields, "Sec-Fetch-Site", "same-site", "Origin", "https://evil.localhost").fails("/error", "Configuration")
			victim.is("anonymous")
		})
	}
	for name, nonce := range map[string]string{
		"of the attacker's browser": attacker.nonce("acme"), "of the attacker's application": application{s}.nonce("acme"),
	} {
		t.Run("a browser without cookies, and a nonce "+name, func(t *testing.T) {
			victim := s.browser()
			fields := url.Values{"credential": {s.idp.IDTokenFor("web", "web", nonce, nil)}, "g_csrf_token": {csrf}}
			r := victim.postForm("/auth/idtoken/acme", fields, "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example").want(http.StatusOK)
			victim.plant("g_csrf_token", csrf)
			victim.postForm(r.action(), r.hidden(), ownPage...).fails("/error", "Configuration")
			victim.is("anonymous")
		})
	}
}

// S-46, RPX-91: an application without a browser gets a bearer session, and no cookie.
func TestAnApplicationSignsInWithTheTokenOfAnSDK(t *testing.T) {
	inBothStrategies(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := newSite(t, acceptsIDTokens(), func(s *site) { s.Session.Strategy = strategy })
		app := application{s}
		nonce := app.nonce("acme")
		token := app.signIn("acme", map[string]any{"id_token": s.idp.IDTokenFor("web", "", nonce, nil), "nonce": nonce})
		if who := app.who(token); who != "Ada Lovelace" {
			t.Errorf("the token is that of %q", who)
		}
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/out", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		if _, err := s.auth.SignOut(httptest.NewRecorder(), r, pintle.SignOutOptions{RedirectTo: "/"}); err != nil {
			t.Error(err)
		}
		if who := app.who(token); strategy == pintle.StrategyDatabase && who != "anonymous" {
			t.Errorf("after the sign-out the token is that of %q", who)
		}
	})
}

// RPT-58: what a page can make a browser send gets no bearer token.
func TestAPageGetsNoBearerToken(t *testing.T) {
	s := newSite(t, acceptsIDTokens())
	for _, header := range [][]string{{"Cookie", "x=y"}, {"Origin", s.url}, {"Origin", "null"}, {"Sec-Fetch-Site", "same-origin"}, {"Sec-Fetch-Site", "cross-site"}} {
		app := application{s}
		nonce := app.nonce("acme")
		object := map[string]any{"id_token": s.idp.IDTokenFor("web", "", nonce, nil), "nonce": nonce}
		if r := app.send(http.MethodPost, "/auth/idtoken/acme", object, header...); strings.Contains(r.body, "access_token") || len(r.header["Set-Cookie"]) > 0 {
			t.Errorf("with %q the answer is %s", header, r.body)
		}
		// With the nonce of a page it is no application either.
		b := s.browser()
		if r := b.tap("acme", s.idp.IDTokenFor("web", "", b.nonce("acme"), nil)); strings.Contains(r.body, "access_token") {
			t.Errorf("a page gets %s", r.body)
		}
		b.is("Ada Lovelace")
	}
	t.Run("an application does not sign in with the nonce of a page", func(t *testing.T) {
		app, nonce := application{s}, s.browser().nonce("acme")
		r := app.send(http.MethodPost, "/auth/idtoken/acme", map[string]any{"id_token": s.idp.IDTokenFor("web", "", nonce, nil), "nonce": nonce})
		app.isRefused(r, http.StatusBadRequest, "invalid_grant")
	})
}

// RPT-55: a token that was captured is good once, within ten minutes, at all processes.
func TestATokenOfAnSDKIsGoodOnce(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		for name, shared := range map[string]bool{"with a shared state": true, "without": false} {
			if !shared && strategy == pintle.StrategyDatabase {
				continue
			}
			s := newSite(t, acceptsIDTokens(), func(s *site) {
				if s.Session.Strategy = strategy; !shared {
					s.Store = nil
				}
			})
			b := s.browser()
			token := s.idp.IDTokenFor("web", "", b.nonce("acme"), nil)
			b.tap("acme", token).arrives()
			b.tap("acme", token).isRefusedAs("error", "Configuration")
			if shared {
				second, err := pintle.New(s.Config)
				if err != nil {
					t.Fatal(err)
				}
				s.serve(second)
				b.signOut()
				b.tap("acme", token).isRefusedAs("error", "Configuration")
			}
			app := application{s}
			nonce := app.nonce("acme")
			object := map[string]any{"id_token": s.idp.IDTokenFor("web", "", nonce, nil), "nonce": nonce}
			accepted := 0
			for _, r := range testsite.InParallel(10, func(int) *reply { return app.send(http.MethodPost, "/auth/idtoken/acme", object) }) {
				if r.status == http.StatusOK {
					accepted++
				}
			}
			if accepted != 1 {
				t.Errorf("of 10 requests with one token %d were accepted", accepted)
			}
			app.isRefused(app.send(http.MethodPost, "/auth/idtoken/acme", object), http.StatusBadRequest, "invalid_grant")

			late, early := app.nonce("acme"), app.nonce("acme")
			time.Sleep(10*time.Minute - 2*time.Second)
			app.signIn("acme", map[string]any{"id_token": s.idp.IDTokenFor("web", "", early, nil), "nonce": early})
			time.Sleep(2 * time.Second)
			r := app.send(http.MethodPost, "/auth/idtoken/acme", map[string]any{"id_token": s.idp.IDTokenFor("web", "", late, nil), "nonce": late})
			if app.isRefused(r, http.StatusBadRequest, "invalid_grant"); t.Failed() {
				t.Log(name, s.log)
			}
		}
	})
}

// RPT-54, RPT-56, RPT-59: each fault alone, for a page and for an application. The checks
// of the claims are in internal/handshake, too.
func TestATokenOfAnSDKThatIsNotGoodSignsNobodyIn(t *testing.T) {
	s := newSite(t, acceptsIDTokens())
	other := s.net["other.example"].(*authtest.IdentityProvider)
	sum := func(nonce string) string { h := sha256.Sum256([]byte(nonce)); return hex.EncodeToString(h[:]) }
	type faulty struct {
		token func(nonce string) string
		page  string // the error that a page is sent to
	}
	for name, f := range map[string]faulty{
		"RPT-54 of another client":      {func(n string) string { return s.idp.IDTokenFor("plain", "", n, nil) }, "OAuthCallbackError"},
		"RPT-54 of the code flow":       {func(n string) string { return s.idp.IDTokenFor("acme", "", n, nil) }, "OAuthCallbackError"},
		"RPT-54 with a foreign azp":     {func(n string) string { return s.idp.IDTokenFor("web", "android", n, nil) }, "OAuthCallbackError"},
		"RPT-59 that is a logout token": {func(n string) string { return s.idp.LogoutToken("web", claiming(map[string]any{"nonce": n})) }, "OAuthCallbackError"},
		"RPT-59 with events": {func(n string) string {
			return s.idp.IDTokenFor("web", "", n, claiming(map[string]any{"events": map[string]any{}}))
		}, "OAuthCallbackError"},
		"of another provider": {func(n string) string { return other.IDTokenFor("web", "", n, nil) }, "OAuthCallbackError"},
		"RPT-60 with an issuer shortened": {func(n string) string {
			return s.idp.IDTokenFor("web", "", n, claiming(map[string]any{"iss": "idp.example"}))
		}, "OAuthCallbackError"},
		"RPT-56 with a hash of the nonce": {func(n string) string { return s.idp.IDTokenFor("web", "", sum(n), nil) }, "OAuthCallbackError"},
		"RPT-56 with another nonce":       {func(string) string { return s.idp.IDTokenFor("web", "", "x", nil) }, "OAuthCallbackError"},
		"without a nonce":                 {func(string) string { return s.idp.IDTokenFor("web", "", "", nil) }, "OAuthCallbackError"},
	} {
		t.Run(name, func(t *testing.T) {
			b, app := s.browser(), application{s}
			nonce := b.nonce("acme")
			r := b.tap("acme", f.token(nonce), "nonce", nonce)
			r.isRefusedAs("signin", f.page)
			b.is("anonymous")
			nonce = app.nonce("acme")
			raw := f.token(nonce)
			app.isRefused(app.send(http.MethodPost, "/auth/idtoken/acme", map[string]any{"id_token": raw, "nonce": nonce}), http.StatusBadRequest, "invalid_grant")
			if strings.Contains(s.log.String(), raw) || strings.Contains(s.log.String(), nonce) {
				t.Error("the log has the token or the nonce")
			}
			// The forged one has not used the nonce up.
			app.signIn("acme", map[string]any{"id_token": s.idp.IDTokenFor("web", "", nonce, nil), "nonce": nonce})
		})
	}
	for name, nonce := range map[string]func(b *browser, app application) (forPage, forApp string){
		"RPT-56 of another provider": func(b *browser, app application) (string, string) { return b.nonce("other"), app.nonce("other") },
		"RPT-56 of another browser":  func(_ *browser, app application) (string, string) { return s.browser().nonce("acme"), "x" },
		"RPT-56 that was made up": func(*browser, application) (string, string) {
			made := strings.Repeat("x", 43) + ".zzzzzz." + strings.Repeat("x", 22)
			return made, made
		},
		"RPT-56 whose time was changed": func(b *browser, app application) (string, string) {
			later := func(n string) string { p := strings.Split(n, "."); return p[0] + ".zzzzzz." + p[2] }
			return later(b.nonce("acme")), later(app.nonce("acme"))
		},
		"without a mark": func(b *browser, app application) (string, string) {
			cut := func(n string) string { p := strings.Split(n, "."); return p[0] + "." + p[1] + "." }
			return cut(b.nonce("acme")), cut(app.nonce("acme"))
		},
	} {
		t.Run("a nonce "+name, func(t *testing.T) {
			b, app := s.browser(), application{s}
			forPage, forApp := nonce(b, app)
			b.tap("acme", s.idp.IDTokenFor("web", "", forPage, nil)).isRefusedAs("error", "Configuration")
			b.is("anonymous")
			r := app.send(http.MethodPost, "/auth/idtoken/acme", map[string]any{"id_token": s.idp.IDTokenFor("web", "", forApp, nil), "nonce": forApp})
			app.isRefused(r, http.StatusBadRequest, "invalid_grant")
		})
	}
	t.Run("RPT-56 the claim has a nonce of ours, and the body another", func(t *testing.T) {
		b := s.browser()
		first, second := b.nonce("acme"), b.nonce("acme")
		b.tap("acme", s.idp.IDTokenFor("web", "", first, nil), "nonce", second).isRefusedAs("signin", "OAuthCallbackError")
	})
	t.Run("the hash of the nonce, where the provider hashes it", func(t *testing.T) {
		other.SignInAs(authtest.Person{Subject: "other-1", Name: "Another"})
		b, app := s.browser(), application{s}
		nonce := b.nonce("other")
		b.tap("other", other.IDTokenFor("ios", "", sum(nonce), nil), "nonce", nonce).arrives()
		nonce = app.nonce("other")
		// The body has to have the nonce: a hash tells nothing.
		app.isRefused(app.send(http.MethodPost, "/auth/idtoken/other", map[string]any{"id_token": other.IDTokenFor("ios", "", sum(nonce), nil)}),
			http.StatusBadRequest, "invalid_grant")
	})
}

// S-46, RPX-135: the shape of a request.
func TestARequestWithoutAnIDTokenIsRefused(t *testing.T) {
	s := newSite(t, acceptsIDTokens())
	app, long := application{s}, strings.Repeat("x", 17<<10)
	for name, object := range map[string]map[string]any{
		"no token": {}, "a number": {"id_token": 1}, "an empty one": {"id_token": ""}, "17 KiB": {"id_token": long},
		"two": {"id_token": "x", "credential": "x"}, "a list as nonce": {"id_token": "x", "nonce": []any{"x"}},
		"a long nonce": {"id_token": "x", "nonce": long}, "a long code": {"id_token": "x", "code": long},
		"a name that is text": {"id_token": "x", "name": "Ada"}, "a number in the name": {"id_token": "x", "name": map[string]any{"firstName": 1}},
		"65 KiB": {"id_token": "x", "more": strings.Repeat("x", 65<<10)},
	} {
		t.Run(name, func(t *testing.T) {
			status := http.StatusBadRequest
			if name == "65 KiB" {
				status = http.StatusRequestEntityTooLarge
			}
			app.isRefused(app.send(http.MethodPost, "/auth/idtoken/acme", object), status, "invalid_request")
			if name == "65 KiB" {
				return
			}
			b := s.browser()
			object["csrfToken"] = b.csrf()
			b.postJSON("/auth/idtoken/acme", object, ownPage...).isRefusedAs("signin", "OAuthCallbackError")
		})
	}
	t.Run("a form", func(t *testing.T) {
		app.isRefused(s.browser().postForm("/auth/idtoken/acme", url.Values{"id_token": {"x"}}), http.StatusBadRequest, "invalid_request")
	})
	t.Run("no JSON", func(t *testing.T) {
		app.isRefused(s.browser().do(http.MethodPost, "/auth/idtoken/acme", strings.NewReader("{"), "Content-Type", "application/json"), http.StatusBadRequest, "invalid_request")
	})
	t.Run("a provider that takes no tokens", func(t *testing.T) {
		for _, path := range []string{"/auth/idtoken/plain", "/auth/idtoken/none", "/auth/idtoken", "/auth/idtoken/acme/x", "/auth/idtoken/%61cme"} {
			s.browser().get(path).want(http.StatusBadRequest)
		}
	})
	t.Run("a site without bearer sessions", func(t *testing.T) {
		s := newSite(t, acceptsIDTokens(), func(s *site) { s.Session.AllowBearer = false })
		app := application{s}
		nonce := app.nonce("acme")
		app.isRefused(app.send(http.MethodPost, "/auth/idtoken/acme", map[string]any{"id_token": s.idp.IDTokenFor("web", "", nonce, nil), "nonce": nonce}),
			http.StatusBadRequest, "invalid_request")
	})
}

// RPX-94: the form token shows that the user wanted the page to link the account.
func TestATokenOfAnSDKIsLinkedToTheUserWhoWantedIt(t *testing.T) {
	const csrf = "0123456789abcdef"
	for name, linked := range map[string]bool{
		"the form token": true, "Google's token alone": false, "a nonce from before the sign-in": false,
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, acceptsIDTokens())
			other := s.net["other.example"].(*authtest.IdentityProvider)
			other.SignInAs(authtest.Person{Subject: "other-1", Name: "Another"})
			b := s.browser()
			nonce := b.nonce("other")
			b.arrivesBy("acme")
			if name != "a nonce from before the sign-in" {
				nonce = b.nonce("other")
			}
			token := other.IDTokenFor("web", "", nonce, nil)
			if name == "Google's token alone" {
				b.plant("g_csrf_token", csrf)
				b.postForm("/auth/idtoken/other", url.Values{"credential": {token}, "g_csrf_token": {csrf}}, ownPage...).want(http.StatusFound)
			} else {
				b.tap("other", token).arrives()
			}
			account, err := s.Store.Account(t.Context(), "other", "other-1")
			ada, _ := s.Store.UserByEmail(t.Context(), "ada@example.com")
			if err != nil || ada == nil || (account.UserID == ada.ID) != linked {
				t.Errorf("linked: %v, %v", account, err)
			}
			if want := map[bool]string{true: "Ada Lovelace", false: "Another"}[linked]; b.who() != want {
				t.Errorf("the browser is that of %q, want %q", b.who(), want)
			}
		})
	}
}

// RPX-90
func TestATokenWithoutANonceIsAcceptedOnceWhereTheHostAllowsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, acceptsIDTokens(func(_ *site, acme *pintle.OAuth) { acme.AcceptIDTokens.DangerouslyAllowWithoutNonce = true }))
		b := s.browser()
		b.csrf()
		token := s.idp.IDTokenFor("web", "", "", nil)
		b.tap("acme", token).arrives()
		b.tap("acme", token).isRefusedAs("error", "Configuration")
		old := s.idp.IDTokenFor("web", "", "", nil)
		withNonce := s.idp.IDTokenFor("web", "", "of another request", nil)
		b.tap("acme", withNonce).isRefusedAs("error", "Configuration")
		app := application{s}
		app.isRefused(app.send(http.MethodPost, "/auth/idtoken/acme", map[string]any{"id_token": old}), http.StatusBadRequest, "invalid_grant")
		time.Sleep(6 * time.Minute)
		b.tap("acme", old).isRefusedAs("signin", "OAuthCallbackError")
	})
}

// RPX-123: a token that was issued in the future is remembered until no clock accepts it.
func TestATokenWithoutANonceIsGoodOnceWhileTheClockSkewAcceptsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, acceptsIDTokens(func(_ *site, acme *pintle.OAuth) {
			acme.ClockSkew, acme.AcceptIDTokens.DangerouslyAllowWithoutNonce = 2*time.Minute, true
		}))
		b := s.browser()
		b.csrf()
		token := s.idp.IDTokenFor("web", "", "", claiming(map[string]any{"iat": time.Now().Add(119 * time.Second).Unix()}))
		b.tap("acme", token).arrives()
		time.Sleep(9*time.Minute - 2*time.Second)
		b.tap("acme", token).isRefusedAs("error", "Configuration")
		if !strings.Contains(s.log.String(), "was used before") {
			t.Errorf("the token was refused for another reason: %s", s.log)
		}
	})
}

// RPX-93: what the host decides of a sign-in holds here, too, and an application has no
// page.
func TestTheHostDecidesOfATokenOfAnSDK(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*site)
		status int
		code   string
	}{
		"it refuses": {func(s *site) {
			s.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) { return "", errors.New("no") }
		}, http.StatusForbidden, "access_denied"},
		"it is too often": {func(s *site) {
			s.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) {
				return "", &pintle.Error{Code: pintle.CodeAccessDenied, RetryAfter: time.Minute}
			}
		}, http.StatusTooManyRequests, "too_many_attempts"},
		"it has a page": {func(s *site) {
			s.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) { return "/page", nil }
		}, http.StatusForbidden, "interaction_required"},
		"it holds the sign-in": {func(s *site) {
			s.Callbacks.Hold = func(context.Context, *pintle.PendingSignIn) (string, error) { return "/second-factor", nil }
		}, http.StatusForbidden, "interaction_required"},
		"it wants no session": {func(s *site) {
			s.Session.Strategy = pintle.StrategyJWT
			s.Callbacks.JWT = func(context.Context, *pintle.TokenChange) (pintle.Claims, error) { return nil, nil }
		}, http.StatusForbidden, "interaction_required"},
		"the address is that of another user": {func(s *site) {
			if _, err := s.Store.CreateUser(context.Background(), &pintle.User{Name: "Ada", Email: "ada@example.com"}); err != nil {
				s.t.Fatal(err)
			}
		}, http.StatusForbidden, "account_not_linked"},
		"the store is down": {func(s *site) { s.Store = &brokenAccounts{memstore.New()} }, http.StatusServiceUnavailable, "server_error"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, acceptsIDTokens(), tt.change)
			app := application{s}
			nonce := app.nonce("acme")
			r := app.send(http.MethodPost, "/auth/idtoken/acme", map[string]any{"id_token": s.idp.IDTokenFor("web", "", nonce, nil), "nonce": nonce})
			app.isRefused(r, tt.status, tt.code)
			if r.header.Get("Retry-After") != "" != (tt.status == http.StatusTooManyRequests) {
				t.Errorf("the headers are %v", r.header)
			}
		})
	}
}

type brokenAccounts struct{ *memstore.Store }

func (brokenAccounts) UserByAccount(context.Context, string, string) (*pintle.User, error) {
	return nil, errBroken
}

// RPX-95: a code is exchanged by the client of the application, which then refreshes and
// revokes the tokens.
func TestTheCodeOfAnSDKIsExchangedByItsClient(t *testing.T) {
	for _, tt := range []struct {
		name     string
		audience any
		proofs   oauth.DPoP
		kind     string
	}{
		{"bearer tokens", "web", 0, "Bearer"},
		{"an audience in a list", []string{"web"}, 0, "Bearer"},
		{"bound tokens", "web", oauth.DPoPRequired, "DPoP"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			type sent struct{ client, secret, grant, code, redirect string }
			var last sent
			subject, proofs := "1001", 0
			s := newSite(t, acceptsIDTokens(func(s *site, acme *pintle.OAuth) {
				acme.ClientAuth, acme.RevokeAtUnlink, acme.DPoP = oauth.ClientSecretPost, true, tt.proofs
				acme.AcceptIDTokens.ClientSecret = func(_ context.Context, id string) (string, error) { return "the secret of " + id, nil }
				idp := s.net["idp.example"]
				s.net["idp.example"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					switch r.URL.Path {
					case string(authtest.TokenEndpoint), string(authtest.RevocationEndpoint):
						_ = r.ParseForm()
						f := r.PostForm
						last = sent{f.Get("client_id"), f.Get("client_secret"), f.Get("grant_type"), f.Get("code"), f.Get("redirect_uri")}
						if r.Header.Get("DPoP") != "" {
							proofs++
						}
						w.Header().Set("Content-Type", "application/json")
						_ = json.NewEncoder(w).Encode(map[string]any{
							"access_token": "a", "refresh_token": "r", "token_type": tt.kind, "expires_in": 1,
							"id_token": s.idp.IDTokenFor("web", "", "", claiming(map[string]any{"sub": subject})),
						})
					default:
						idp.ServeHTTP(w, r)
					}
				})
			}))
			app := application{s}
			signIn := func(t *testing.T) *reply {
				nonce := app.nonce("acme")
				return app.send(http.MethodPost, "/auth/idtoken/acme", map[string]any{
					"id_token": s.idp.IDTokenFor("web", "", nonce, claiming(map[string]any{"aud": tt.audience})), "nonce": nonce, "code": "the-code",
				})
			}
			subject = "another"
			app.isRefused(signIn(t), http.StatusBadRequest, "invalid_grant")
			subject = "1001"
			signIn(t).want(http.StatusOK)
			if last != (sent{"web", "the secret of web", "authorization_code", "the-code", ""}) {
				t.Errorf("the provider was sent %+v", last)
			}
			account, err := s.Store.Account(t.Context(), "acme", "1001")
			if err != nil || account.RefreshToken != "r" {
				t.Fatalf("the store has %v, %v", account, err)
			}
			if _, err := s.auth.Refresh(t.Context(), account); err != nil || last.client != "web" || last.grant != "refresh_token" {
				t.Errorf("the refresh was sent by %+v, %v", last, err)
			}
			if want := map[string]int{"DPoP": 3}[tt.kind]; proofs != want {
				t.Errorf("%d requests had a proof, want %d", proofs, want)
			}
			// The response to a refresh has an ID token of its own.
			stored := *account
			stored.IDToken = s.idp.IDTokenFor("web", "", "", claiming(map[string]any{"aud": tt.audience}))
			if err := s.Store.UpdateAccount(t.Context(), &stored); err != nil {
				t.Fatal(err)
			}
			last = sent{}
			if err := s.auth.DeleteUser(t.Context(), account.UserID); err != nil || last.client != "web" {
				t.Errorf("the revocation was sent by %+v, %v", last, err)
			}
		})
	}
}

func TestMistakesInAcceptIDTokensAreReported(t *testing.T) {
	for name, change := range map[string]func(*pintle.OAuth){
		"Audiences":              func(p *pintle.OAuth) { p.AcceptIDTokens = oauth.IDTokens{AuthorizedParties: []string{"x"}} },
		"an empty client id":     func(p *pintle.OAuth) { p.AcceptIDTokens.Audiences = []string{""} },
		"NonceHash":              func(p *pintle.OAuth) { p.AcceptIDTokens.NonceHash = 9 },
		"is for OpenID Connect":  func(p *pintle.OAuth) { p.Protocol = oauth.OAuth2 },
		"signed with a key":      func(p *pintle.OAuth) { p.SigningAlg = "HS256" },
		"takes the profile from": func(p *pintle.OAuth) { p.ProfileFromUserInfo = true },
		"takes the place of ClientSecret": func(p *pintle.OAuth) {
			p.ClientAuth, p.ClientSecret = "", ""
			p.ClientAssertion = func(context.Context, string) (string, error) { return "", nil }
			p.AcceptIDTokens.ClientSecret = func(context.Context, string) (string, error) { return "", nil }
		},
		"FAPI2: a ClientSecret": func(p *pintle.OAuth) {
			fapiProvider(p, newECKey(t))
			p.ClientAuth, p.ProfileFromUserInfo = "", false
			p.AcceptIDTokens.ClientSecret = func(context.Context, string) (string, error) { return "", nil }
		},
	} {
		idp := authtest.NewIdentityProvider(authtest.Options{})
		idp.Issuer = "https://idp.example"
		acme := idp.OIDC("acme")
		acme.AcceptIDTokens.Audiences = []string{"web"}
		change(acme)
		_, err := pintle.New(pintle.Config{Providers: []pintle.Provider{acme}, Secrets: []string{secret}, Getenv: func(string) string { return "" }})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// RPX-87: a page of the host has the nonce in its template.
func TestATemplateHasANonce(t *testing.T) {
	s := newSite(t, acceptsIDTokens())
	b := s.browser()
	w, r := httptest.NewRecorder(), b.request()
	nonce, err := s.auth.IDTokenNonce(w, r, "acme")
	if err != nil || w.Header().Get("Cache-Control") != "private" {
		t.Fatalf("%v, %v", err, w.Header())
	}
	b.takes(w)
	b.tap("acme", s.idp.IDTokenFor("web", "", nonce, nil)).arrives()
	b.is("Ada Lovelace")
	for _, provider := range []string{"plain", "none", ""} {
		if nonce, err := s.auth.IDTokenNonce(httptest.NewRecorder(), r, provider); !errors.Is(err, pintle.CodeConfiguration) || nonce != "" {
			t.Errorf("%q: %q, %v", provider, nonce, err)
		}
	}
}

// RPT-64: a flood of tokens with invented keys has the keys fetched once, and leaves a
// sign-in that meets new keys the fetch that it needs.
func TestAFloodOfTokensDoesNotStopSignIns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, acceptsIDTokens())
		app, idp, fetched := application{s}, s.net["idp.example"], 0
		s.net["idp.example"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == string(authtest.JWKSEndpoint) {
				fetched++
			}
			idp.ServeHTTP(w, r)
		})
		for range 2 {
			time.Sleep(2 * time.Minute)
			fetched = 0
			nonce := app.nonce("acme")
			for i := range 100 {
				raw := s.idp.IDTokenFor("web", "", nonce, func(header, _ map[string]any) { header["kid"] = fmt.Sprint("made up ", i) })
				app.isRefused(app.send(http.MethodPost, "/auth/idtoken/acme", map[string]any{"id_token": raw, "nonce": nonce}), http.StatusBadRequest, "invalid_grant")
			}
			if fetched != 1 {
				t.Errorf("the keys were fetched %d times, want once", fetched)
			}
		}
		s.idp.RotateKeys()
		s.browser().arrivesBy("acme")
	})
}
