package pintle_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/store/memstore"
)

// These tests are for a site that replaces Auth.js route by route. Each test is a
// row of docs/compatibility.md.

func TestRoutesAreThoseOfTheReference(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	tests := []struct {
		name, method, path string
		status             int
		kind               string
	}{
		{"S-1 the form token", "GET", "/auth/csrf", 200, "application/json"},
		{"S-1 the sign-in page", "GET", "/auth/signin", 200, "text/html"},
		{"S-1 the sign-out page", "GET", "/auth/signout", 200, "text/html"},
		{"S-2 the session route for an anonymous request", "GET", "/auth/session", 200, "application/json"},
		{"S-2 an update without the form token", "POST", "/auth/session", 400, "application/json"},
		{"S-3 a callback of a flow that did not begin", "GET", "/auth/callback/acme?code=x&state=y", 302, ""},
		{"S-4 a page about a fault", "GET", "/auth/error?error=Configuration", 500, "text/html"},
		{"S-4 a page about a refusal", "GET", "/auth/error?error=AccessDenied", 403, "text/html"},
		{"S-4 a page about a link, S-33", "GET", "/auth/error?error=Verification", 403, "text/html"},
		{"S-4 a page about anything else", "GET", "/auth/error?error=Whatever", 200, "text/html"},
		{"S-4 no route", "GET", "/auth/nothing", 400, "application/json"},
		{"S-8 a request cannot ask for raw answers or to skip the check", "POST", "/auth/signout?raw=1&skipCSRFCheck=1", 302, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := b.do(tt.method, tt.path, nil).want(tt.status)
			if kind, _, _ := strings.Cut(r.header.Get("Content-Type"), ";"); kind != tt.kind {
				t.Errorf("Content-Type %q, want %q", kind, tt.kind)
			}
		})
	}
}

func TestClaimsOfATokenAreThoseOfTheReference(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	b.signIn("ada")
	claims := unsealed(t, sessionCookie, b.cookie(sessionCookie))
	var names []string
	for name := range claims {
		names = append(names, name)
	}
	slices.Sort(names)
	if want := []string{"email", "exp", "iat", "jti", "name", "sub"}; !slices.Equal(names, want) {
		t.Errorf("S-6 the claims are %v, want %v", names, want)
	}
	t.Run("S-6 the image is the claim picture", func(t *testing.T) {
		ada := authtest.DefaultPeople()[0]
		ada.Picture = "https://example.com/ada.png"
		s.idp.SignInAs(ada)
		b := s.browser()
		b.signInWith("acme")
		claims := unsealed(t, sessionCookie, b.cookie(sessionCookie))
		if claims["picture"] != ada.Picture || claims["image"] != nil {
			t.Errorf("claims %v", claims)
		}
	})
}

func TestTheFormTokenHasTheFormOfTheReference(t *testing.T) {
	b := newSite(t).browser()
	token := b.csrf()
	value, err := url.QueryUnescape(b.cookie(csrfCookie))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(token + secret))
	if want := token + "|" + hex.EncodeToString(sum[:]); value != want {
		t.Errorf("W-13 the cookie is %q, want %q", value, want)
	}
}

func TestFailuresLeadWhereTheReferenceSends(t *testing.T) {
	t.Run("S-17 wrong credentials", func(t *testing.T) {
		r := newSite(t).browser().post("/auth/callback/credentials", "username", "ada", "password", "wrong")
		r.fails("/auth/signin", "CredentialsSignin")
		if !strings.HasSuffix(r.location(), "&code=credentials") {
			t.Errorf("the browser is sent to %q", r.location())
		}
	})
	t.Run("S-18 refused access", func(t *testing.T) {
		s := newSite(t, func(s *site) {
			s.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) {
				return "", errors.New("she is on holiday")
			}
		})
		s.browser().post("/auth/callback/credentials", "username", "ada", "password", people["ada"].password).fails("/auth/error", "AccessDenied")
		if !strings.Contains(s.log.String(), "she is on holiday") {
			t.Error("the reason is not in the log")
		}
	})
	t.Run("S-19 an error of the library keeps its type", func(t *testing.T) {
		s := newSite(t, func(s *site) {
			s.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) {
				return "", pintle.CodeVerification
			}
		})
		s.browser().post("/auth/callback/credentials", "username", "ada", "password", people["ada"].password).fails("/auth/error", "Verification")
	})
	t.Run("W-33 a bad address and an unknown provider", func(t *testing.T) {
		s := newSite(t, func(s *site) {
			s.Store = memstore.New()
			s.Config.Providers = append(s.Config.Providers, s.mailProvider())
		})
		b := s.browser()
		b.post("/auth/signin/email", "email", "not-an-address").fails("/auth/error", "Configuration")
		b.post("/auth/signin/nowhere").fails("/auth/error", "Configuration")
		if page := b.get("/auth/error?error=Configuration"); !strings.Contains(page.body, s.url+"/auth/signin") {
			t.Error("the error page leads nowhere")
		}
	})
	t.Run("W-2 and Q1 a profile that cannot be mapped", func(t *testing.T) {
		s := newSite(t, func(s *site) {
			p := s.idp.OIDC("acme")
			p.Profile = func(pintle.Profile, *pintle.Account) (*pintle.User, error) { return nil, errors.New("no such thing") }
			s.Config.Providers = []pintle.Provider{p}
		})
		r := s.browser().signInWith("acme")
		r.fails("/auth/signin", "OAuthCallbackError")
		if strings.Contains(r.location(), "code=") {
			t.Errorf("the address of the page holds the code: %q", r.location())
		}
	})
}

func TestThePagesTakeLittleFromTheQuery(t *testing.T) {
	t.Run("W-4 the sign-in page", func(t *testing.T) {
		b := newSite(t).browser()
		page := b.get("/auth/signin?csrfToken=planted&callbackUrl=https://evil.example/&theme=x&providers=x").want(http.StatusOK)
		for _, planted := range []string{"planted", "evil.example"} {
			if strings.Contains(page.body, planted) {
				t.Errorf("the page holds %q", planted)
			}
		}
	})
	t.Run("W-6 the error page of the host", func(t *testing.T) {
		b := newSite(t, func(s *site) { s.Pages.Error = "/problem?lang=en" }).browser()
		b.get("/auth/error?error=a%26b%3Dc").goesTo("/problem?lang=en&error=a%26b%3Dc")
		b.get("/auth/error").goesTo("/problem?lang=en")
	})
}

func TestWhereBrowsersGo(t *testing.T) {
	t.Run("S-20 the same origin or a path", func(t *testing.T) {
		b := newSite(t).browser()
		for wish, want := range map[string]string{
			"/home":                       "http://localhost:3000/home",
			"http://localhost:3000/x":     "http://localhost:3000/x",
			"http://localhost:3001/x":     "http://localhost:3000",
			"https://localhost:3000/x":    "http://localhost:3000",
			"http://localhost.evil/x":     "http://localhost:3000",
			"http://localhost:3000@evil/": "http://localhost:3000",
		} {
			b.post("/auth/signout", "callbackUrl", wish).goesTo(want)
		}
	})
	t.Run("S-21 sign-out leads to the callback URL or home", func(t *testing.T) {
		b := newSite(t).browser()
		b.signIn("ada")
		b.post("/auth/signout").goesTo("http://localhost:3000")
	})
	t.Run("S-22 a script is told where", func(t *testing.T) {
		b := newSite(t).browser()
		b.signIn("ada")
		form := url.Values{"csrfToken": {b.csrf()}, "callbackUrl": {"/bye"}}
		var answer map[string]string
		b.postForm("/auth/signout", form, "X-Auth-Return-Redirect", "1").want(http.StatusOK).json(&answer)
		if answer["url"] != "http://localhost:3000/bye" {
			t.Errorf("the answer is %v", answer)
		}
	})
	t.Run("S-44 the form of next-auth 4 is a script's", func(t *testing.T) {
		b := newSite(t).browser()
		ask := func(path string, fields ...string) map[string]string {
			t.Helper()
			form := url.Values{"csrfToken": {b.csrf()}, "callbackUrl": {"/in"}, "json": {"true"}}
			for i := 0; i < len(fields); i += 2 {
				form.Set(fields[i], fields[i+1])
			}
			var answer map[string]string
			b.postForm(path, form).want(http.StatusOK).json(&answer)
			return answer
		}
		if to := ask("/auth/callback/credentials", "username", "ada", "password", "wrong")["url"]; !strings.HasPrefix(to, "http://localhost:3000/auth/signin?error=CredentialsSignin") {
			t.Errorf("a wrong password leads to %q", to)
		}
		if to := ask("/auth/callback/credentials", "username", "ada", "password", people["ada"].password)["url"]; to != "http://localhost:3000/in" || b.who() != "Ada Lovelace" {
			t.Errorf("the right password leads to %q, and %s is signed in", to, b.who())
		}
		if to := ask("/auth/signin/acme")["url"]; !strings.HasPrefix(to, "https://idp.example/") {
			t.Errorf("the way to the provider is %q", to)
		}
		if to := ask("/auth/signout")["url"]; to != "http://localhost:3000/in" || b.who() == "Ada Lovelace" {
			t.Errorf("signing out leads to %q, and %s is signed in", to, b.who())
		}
		if to := ask("/auth/signout", "csrfToken", "forged")["url"]; !strings.HasPrefix(to, "http://localhost:3000/auth/signin?error=MissingCSRF") {
			t.Errorf("a form of another site leads to %q", to)
		}
		for _, other := range []string{"false", "1", "True", ""} {
			form := url.Values{"csrfToken": {b.csrf()}, "json": {other}}
			b.postForm("/auth/signout", form).want(http.StatusFound)
		}
		b.get("/auth/signin/acme?json=true").want(http.StatusFound)
	})
	t.Run("S-23 server code signs in whatever the method of its request", func(t *testing.T) {
		s := newSite(t)
		r := httptest.NewRequest(http.MethodGet, "http://localhost:3000/magic", nil)
		next, err := s.auth.SignIn(httptest.NewRecorder(), r, "credentials", pintle.SignInOptions{
			RedirectTo: "/in", Fields: map[string]any{"username": "ada", "password": people["ada"].password},
		})
		if err != nil || next != "http://localhost:3000/in" {
			t.Errorf("SignIn = %q, %v", next, err)
		}
	})
	t.Run("S-23 server code is told where", func(t *testing.T) {
		s := newSite(t)
		r := httptest.NewRequest(http.MethodPost, "http://localhost:3000/login", nil)
		next, err := s.auth.SignIn(httptest.NewRecorder(), r, "nowhere", pintle.SignInOptions{RedirectTo: "/in"})
		if want := "http://localhost:3000/auth/signin?callbackUrl=http%3A%2F%2Flocalhost%3A3000%2Fin"; err != nil || next != want {
			t.Errorf("SignIn = %q, %v, want %q", next, err, want)
		}
	})
}

func TestOptionsHaveTheDefaultsOfTheReference(t *testing.T) {
	b := newSite(t).browser()
	b.signIn("ada")
	claims := unsealed(t, sessionCookie, b.cookie(sessionCookie))
	if lifetime := claims["exp"].(float64) - claims["iat"].(float64); lifetime != 30*24*3600 {
		t.Errorf("S-7 a token lives for %v s", lifetime)
	}
	t.Run("S-9 a missing secret is refused everywhere", func(t *testing.T) {
		_, err := pintle.New(pintle.Config{Providers: []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}}, Getenv: func(string) string { return "" }})
		if !errors.Is(err, pintle.Code("MissingSecret")) {
			t.Errorf("New: %v", err)
		}
	})
	t.Run("S-10 a short secret is refused unless it is allowed", func(t *testing.T) {
		cfg := pintle.Config{
			Providers: []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}},
			Secrets:   []string{"short"}, Getenv: func(string) string { return "" },
		}
		if _, err := pintle.New(cfg); err == nil {
			t.Error("New accepts a short secret")
		}
		cfg.DangerouslyAllowShortSecrets, cfg.Logger = true, slog.New(slog.DiscardHandler)
		if _, err := pintle.New(cfg); err != nil {
			t.Errorf("New: %v", err)
		}
	})
	t.Run("S-24 S-26 S-38 the environment", func(t *testing.T) {
		env := map[string]string{"AUTH_SECRET": secret, "AUTH_SECRET_1": "the newer secret, which is the one that writes", "AUTH_URL": "https://app.example.com/api/auth"}
		s := newSite(t, func(s *site) {
			s.Secrets, s.BasePath = nil, ""
			s.url = "https://app.example.com"
			s.Getenv = func(name string) string { return env[name] }
		})
		r := httptest.NewRequest(http.MethodGet, "https://elsewhere.example/api/auth/providers", nil)
		w := httptest.NewRecorder()
		s.auth.ServeHTTP(w, r)
		if !strings.Contains(w.Body.String(), "https://app.example.com/api/auth/signin/acme") {
			t.Errorf("the providers are %s", w.Body)
		}
		cookie := signedInAt(t, s.auth, "https://app.example.com/login", "__Secure-"+sessionCookie)
		if _, ok := openedWith(env["AUTH_SECRET_1"], "__Secure-"+sessionCookie, cookie); !ok {
			t.Error("the newer secret does not write")
		}
	})
	t.Run("S-25 the variables of a provider", func(t *testing.T) {
		env := map[string]string{"AUTH_ACME_ONE_ID": "id-of-ours", "AUTH_ACME_ONE_SECRET": "x", "AUTH_ACME_ONE_ISSUER": "https://idp.example"}
		s := newSite(t, func(s *site) {
			s.Config.Providers = []pintle.Provider{&pintle.OAuth{ID: "acme-one", Protocol: oauth.OIDC}}
			s.Getenv = func(name string) string { return env[name] }
		})
		if to := s.browser().leave("acme-one"); to.Host != "idp.example" || to.Query().Get("client_id") != "id-of-ours" {
			t.Errorf("the browser is sent to %s", to)
		}
	})
	t.Run("W-28 S-36 S-37 there is one base path", func(t *testing.T) {
		s := newSite(t, func(s *site) { s.BasePath = "/api/auth" })
		b := s.browser()
		b.signIn("ada")
		if who := b.who(); who != "Ada Lovelace" {
			t.Errorf("%s is signed in", who)
		}
		if to := b.get("/api/auth/signin").body; !strings.Contains(to, `action="/api/auth/callback/credentials"`) {
			t.Error("the form is posted elsewhere")
		}
	})
	t.Run("S-42 secure cookies have other names", func(t *testing.T) {
		s := newSite(t, func(s *site) { s.SecureCookies = pintle.SecureAlways })
		cookies := s.browser().get("/auth/csrf").cookies()
		if c := cookies["__Host-"+csrfCookie]; c == nil || !c.Secure {
			t.Errorf("the cookies are %v", cookies)
		}
	})
	t.Run("W-46 a token may be shorter-lived than its cookie", func(t *testing.T) {
		s := newSite(t, func(s *site) { s.JWT.MaxAge = time.Hour })
		b := s.browser()
		set := b.signIn("ada").cookies()[sessionCookie]
		claims := unsealed(t, sessionCookie, set.Value)
		if left := time.Until(set.Expires); left < 29*24*time.Hour {
			t.Errorf("the cookie lives for %s", left)
		}
		if lifetime := claims["exp"].(float64) - claims["iat"].(float64); lifetime != 3600 {
			t.Errorf("the token lives for %v s", lifetime)
		}
	})
}

func TestChecksAreThoseThatWereConfigured(t *testing.T) {
	leave := func(t *testing.T, change func(*pintle.OAuth)) (*reply, url.Values) {
		t.Helper()
		s := newSite(t, func(s *site) {
			p := s.idp.OIDC("acme")
			p.Checks = nil
			change(p)
			s.Config.Providers = []pintle.Provider{p}
			s.url, s.URL = "https://localhost:3000", "https://localhost:3000"
		})
		r := s.browser().post("/auth/signin/acme").want(http.StatusFound)
		return r, mustParse(t, r.location()).Query()
	}
	t.Run("W-17 PKCE is sent when it is listed", func(t *testing.T) {
		_, sent := leave(t, func(*pintle.OAuth) {})
		if sent.Get("code_challenge_method") != "S256" || sent.Get("code_challenge") == "" || sent.Has("nonce") {
			t.Errorf("the parameters are %v", sent)
		}
	})
	t.Run("W-18 and Q24 a list replaces the default list", func(t *testing.T) {
		_, sent := leave(t, func(p *pintle.OAuth) { p.Checks = []oauth.Check{oauth.CheckNonce} })
		if sent.Has("code_challenge") || !sent.Has("nonce") {
			t.Errorf("the parameters are %v", sent)
		}
	})
	t.Run("W-16 every check survives an answer by form", func(t *testing.T) {
		r, _ := leave(t, func(p *pintle.OAuth) {
			p.Checks = []oauth.Check{oauth.CheckPKCE, oauth.CheckState, oauth.CheckNonce}
			p.Authorization.Params = map[string]string{"response_mode": "form_post"}
		})
		for _, name := range []string{pkceCookie, stateCookie, nonceCookie} {
			if c := r.cookies()["__Secure-"+name]; c == nil || c.SameSite != http.SameSiteNoneMode || !c.Secure {
				t.Errorf("%s is %v, want SameSite=None and Secure", name, c)
			}
		}
	})
	t.Run("S-39 a redirect proxy switches state on", func(t *testing.T) {
		_, sent := leave(t, func(p *pintle.OAuth) { p.RedirectProxyURL = "https://app.example.com/auth" })
		if !sent.Has("state") || sent.Get("redirect_uri") != "https://app.example.com/auth/callback/acme" {
			t.Errorf("the parameters are %v", sent)
		}
	})
}

func TestProvidersAreServedByTheirType(t *testing.T) {
	s := newSite(t, func(s *site) {
		s.Config.Providers = []pintle.Provider{&pintle.Credentials{ID: "intranet", Name: "Intranet", Authorize: checkPassword}}
	})
	var list map[string]map[string]string
	s.browser().get("/auth/providers").json(&list)
	if list["intranet"]["type"] != "credentials" {
		t.Errorf("W-29 the list is %v", list)
	}
}

func TestAccountsOfUsers(t *testing.T) {
	t.Run("Q5 the account of a new mail user keeps the id that the callback saw", func(t *testing.T) {
		var asked string
		s := newSite(t, func(s *site) {
			s.Store = memstore.New()
			s.Config.Providers = []pintle.Provider{s.mailProvider()}
			s.Callbacks.SignIn = func(_ context.Context, a *pintle.SignInAttempt) (string, error) {
				asked = a.Account.UserID
				return "", nil
			}
		})
		b := s.browser()
		b.post("/auth/signin/email", "email", "ada@example.com").want(http.StatusFound)
		b.get(s.lastMail().URL).want(http.StatusFound)
		e := lastEvent[*pintle.SignInEvent](s, "signIn")
		if e.Account.UserID != asked || e.User.ID == "" {
			t.Errorf("the account is of %q, the user is %q, the callback saw %q", e.Account.UserID, e.User.ID, asked)
		}
	})
	t.Run("Q27 a known account keeps the tokens that are stored", func(t *testing.T) {
		store := memstore.New()
		s := newSite(t, func(s *site) { s.Store = store })
		s.browser().signInWith("acme").want(http.StatusFound)
		stored := func() *pintle.Account {
			a := lastEvent[*pintle.SignInEvent](s, "signIn").Account
			found, err := store.Account(t.Context(), a.Provider, a.ProviderAccountID)
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		first := stored().AccessToken
		s.browser().signInWith("acme").want(http.StatusFound)
		if stored().AccessToken != first {
			t.Error("the stored token changed")
		}
		if lastEvent[*pintle.SignInEvent](s, "signIn").Account.AccessToken == first {
			t.Error("the event does not have the new token")
		}
	})
	t.Run("S-31 and S-32 a first sign-in creates, links and signs in", func(t *testing.T) {
		s := newSite(t, func(s *site) { s.Store = memstore.New() })
		s.browser().signInWith("acme").want(http.StatusFound)
		if got, want := s.eventNames(), []string{"createUser", "linkAccount", "signIn"}; !slices.Equal(got, want) {
			t.Errorf("the events are %v, want %v", got, want)
		}
	})
}

func TestAnUpdateReachesTheCallbackOfItsStrategy(t *testing.T) {
	t.Run("S-29 token sessions", func(t *testing.T) {
		var got any
		s := newSite(t, func(s *site) {
			s.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
				if c.Trigger == pintle.TriggerUpdate {
					got = c.Update
				}
				return c.Claims, nil
			}
		})
		b := s.browser()
		b.signIn("ada")
		b.postJSON("/auth/session", map[string]any{"csrfToken": b.csrf(), "data": map[string]any{"theme": "dark"}}).want(http.StatusOK)
		if text, _ := json.Marshal(got); string(text) != `{"theme":"dark"}` {
			t.Errorf("the callback got %s", text)
		}
	})
}

// signedInAt returns a cookie of Ada after a sign-in from server code.
func signedInAt(t *testing.T, auth *pintle.Auth, target, cookie string) string {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, target, nil)
	_, err := auth.SignIn(w, r, "credentials", pintle.SignInOptions{
		RedirectTo: "/", Fields: map[string]any{"username": "ada", "password": people["ada"].password},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range w.Result().Cookies() {
		if c.Name == cookie {
			return c.Value
		}
	}
	t.Fatalf("there is no cookie %s", cookie)
	return ""
}

// Where Pintle deviates from the specification on purpose.
func TestTheSpecificationIsLeftWhereTheRegisterSaysSo(t *testing.T) {
	t.Run("S-11 a configuration is made once for its key", func(t *testing.T) {
		made := map[string]int{}
		auth := pintle.NewFunc(func(r *http.Request) string { return r.Host }, func(_ context.Context, key string) (pintle.Config, error) {
			made[key]++
			return pintle.Config{Secrets: []string{secret}, Getenv: func(string) string { return "" }, Providers: []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}}}, nil
		})
		for range 3 {
			get(auth, "http://a.localhost/auth/providers")
			get(auth, "http://b.localhost/auth/providers")
		}
		if made["a.localhost"] != 1 || made["b.localhost"] != 1 {
			t.Errorf("the configurations were made %v times", made)
		}
	})
	t.Run("S-15 the answer that extends a session shows when it would have ended", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, inDatabase(memstore.New()))
			b := s.browser()
			b.signInWith("acme")
			first := b.session()["expires"]
			time.Sleep(2 * day)
			if got := b.session()["expires"]; got != first {
				t.Errorf("the answer that extends shows %v, want %v", got, first)
			}
			if got, want := b.session()["expires"], time.Now().Add(30*day).UTC().Format("2006-01-02T15:04:05.000Z"); got != want {
				t.Errorf("the next answer shows %v, want %v", got, want)
			}
		})
	})
	t.Run("S-24 the variables of platforms trust no host", func(t *testing.T) {
		env := map[string]string{"VERCEL": "1", "CF_PAGES": "1", "NODE_ENV": "development"}
		s := newSite(t, func(s *site) { s.Getenv = func(name string) string { return env[name] } })
		if w := get(s.auth, "https://app.example.com/auth/signin"); w.Code != http.StatusInternalServerError || !s.log.has("UntrustedHost") {
			t.Errorf("status %d", w.Code)
		}
	})
	t.Run("S-64 other members of an account are kept where the host keeps them", func(t *testing.T) {
		for _, keep := range []func(*pintle.Account) *pintle.Account{nil, func(a *pintle.Account) *pintle.Account { return a }} {
			s := newSite(t, func(s *site) {
				p := s.idp.OIDC("acme")
				p.StoreAccount = keep
				s.Providers, s.Store = []pintle.Provider{p}, memstore.New()
				s.idp.Tamper(authtest.Tamper{Token: func(body map[string]any) { body["team"] = "blue" }})
			})
			s.browser().signInWith("acme").goesTo(s.url)
			if got := lastEvent[*pintle.SignInEvent](s, "signIn").Account.Extra["team"]; got != "blue" {
				t.Errorf("the event has the member %v", got)
			}
			stored, err := s.auth.Account(t.Context(), "acme", "1001")
			if err != nil {
				t.Fatal(err)
			}
			if got := stored.Extra["team"] == "blue"; got != (keep != nil) {
				t.Errorf("the member is stored: %t, a function keeps it: %t", got, keep != nil)
			}
		}
	})
	t.Run("S-66 a cookie that is overridden keeps what is not named", func(t *testing.T) {
		s := newSite(t, func(s *site) { s.Cookies.SessionToken = pintle.Cookie{Path: "/app"} })
		if c := s.browser().signIn("ada").cookies()[sessionCookie]; c == nil || c.Path != "/app" || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode {
			t.Errorf("the cookie is %v", c)
		}
	})
	t.Run("S-67 the sign-in callback sends browsers to this site only", func(t *testing.T) {
		for goTo, want := range map[string]string{
			"/onboarding": "http://localhost:3000/onboarding", "https://evil.example/": "http://localhost:3000", "": "http://localhost:3000/next",
		} {
			s := newSite(t, func(s *site) {
				s.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) { return goTo, nil }
			})
			b := s.browser()
			b.post("/auth/callback/credentials", "username", "ada", "password", people["ada"].password, "callbackUrl", "/next").goesTo(want)
			if who := b.who(); (who == "Ada Lovelace") != (goTo == "") {
				t.Errorf("%q: %s is signed in", goTo, who)
			}
		}
	})
}
