package pintle_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

// An outcome of a request that fails: where the browser is sent, with which code,
// and what the operator reads. The user sees a helpful code or "Configuration":
// ASVS-16.5.1.
func TestEveryErrorHasItsPageAndItsLogEntry(t *testing.T) {
	tests := []struct {
		code  pintle.Code // in the log
		level string      // there; empty where nothing is logged
		page  string
		shown string // the error in the address of the page
		do    func(t *testing.T) (*site, *reply)
	}{
		{pintle.CodeAccessDenied, "WARN", "/auth/error", "AccessDenied", func(t *testing.T) (*site, *reply) {
			s := newSite(t, func(s *site) { s.Callbacks.SignIn = refusing(errBroken) })
			return s, s.browser().signInWith("acme")
		}},
		{pintle.CodeCredentials, "INFO", "/auth/signin", "CredentialsSignin", func(t *testing.T) (*site, *reply) {
			s := newSite(t)
			return s, s.browser().post("/auth/callback/credentials", "username", "ada", "password", "guess")
		}},
		{pintle.CodeVerification, "INFO", "/auth/error", "Verification", func(t *testing.T) (*site, *reply) {
			s, _ := mailSite(t, pintle.StrategyJWT)
			return s, s.browser().get("/auth/callback/email?token=a&email=ada@example.com")
		}},
		{pintle.Code("MissingCSRF"), "INFO", "/auth/signin", "MissingCSRF", func(t *testing.T) (*site, *reply) {
			s := newSite(t)
			return s, s.browser().postForm("/auth/signin/acme", nil)
		}},
		{pintle.Code("OAuthCallbackError"), "INFO", "/auth/signin", "OAuthCallbackError", func(t *testing.T) (*site, *reply) {
			s := newSite(t)
			s.idp.Break(authtest.ResponseAccessDenied)
			return s, s.browser().signInWith("acme")
		}},
		{pintle.CodeAccountNotLinked, "INFO", "/auth/signin", "OAuthAccountNotLinked", func(t *testing.T) (*site, *reply) {
			k := newRecordingStore()
			k.seedUser(t, people["ada"].user)
			s := newSite(t, withRecordingStore(k, pintle.StrategyJWT))
			return s, s.browser().signInWith("acme")
		}},
		{pintle.Code("WebAuthnVerificationError"), "INFO", "/auth/error", "WebAuthnVerificationError", func(t *testing.T) (*site, *reply) {
			s := newSite(t, withPasskeys)
			return s, s.browser().post("/auth/callback/passkey", "action", "authenticate", "data", "{}")
		}},
		{pintle.CodeConfiguration, "INFO", "/auth/error", "Configuration", func(t *testing.T) (*site, *reply) {
			s := newSite(t)
			return s, s.browser().post("/auth/signin/unknown")
		}},
		{pintle.CodeStore, "ERROR", "/auth/error", "Configuration", func(t *testing.T) (*site, *reply) {
			k := newRecordingStore()
			s := newSite(t, withRecordingStore(k, pintle.StrategyJWT))
			k.fail("getUserByAccount")
			return s, s.browser().signInWith("acme")
		}},
		{pintle.CodeInvalidCheck, "INFO", "/auth/error", "Configuration", func(t *testing.T) (*site, *reply) {
			s := newSite(t)
			b := s.browser()
			back := b.consent(b.leave("acme"))
			b.plant(stateCookie, "")
			return s, b.get(back)
		}},
		{pintle.Code("EmailSignInError"), "INFO", "/auth/error", "Configuration", func(t *testing.T) (*site, *reply) {
			s, _ := mailSite(t, pintle.StrategyJWT)
			return s, s.browser().askForMail("not-an-address")
		}},
		{"CallbackRouteError", "ERROR", "/auth/error", "Configuration", func(t *testing.T) (*site, *reply) {
			s := newSite(t)
			s.idp.Break(authtest.IDTokenWrongAudience)
			return s, s.browser().signInWith("acme")
		}},
		{"InvalidProvider", "INFO", "/auth/error", "Configuration", func(t *testing.T) (*site, *reply) {
			s := newSite(t)
			return s, s.browser().get("/auth/callback/credentials")
		}},
		{"UnknownAction", "INFO", "/auth/error", "Configuration", func(t *testing.T) (*site, *reply) {
			s := newSite(t)
			return s, s.browser().get("/auth/signin/acme")
		}},
		{"UnsupportedStrategy", "ERROR", "/auth/error", "Configuration", func(t *testing.T) (*site, *reply) {
			s := newSite(t, withRecordingStore(newRecordingStore(), pintle.StrategyDatabase))
			return s, s.browser().post("/auth/callback/credentials", "username", "ada", "password", people["ada"].password)
		}},
		{"OAuthCallbackError", "ERROR", "/auth/signin", "OAuthCallbackError", func(t *testing.T) (*site, *reply) { // OAuthProfileParseError is its cause
			s := newSite(t, func(s *site) {
				acme := s.idp.OIDC("acme")
				acme.Profile = func(pintle.Profile, *pintle.Account) (*pintle.User, error) { return nil, errBroken }
				s.Providers = []pintle.Provider{acme}
			})
			r := s.browser().signInWith("acme")
			if !strings.Contains(s.log.String(), "OAuthProfileParseError") {
				t.Errorf("W-2 Q1 the log does not say that the profile is at fault:\n%s", s.log)
			}
			return s, r
		}},
	}
	for _, tt := range tests {
		t.Run(string(tt.code)+" from "+tt.page, func(t *testing.T) {
			s, r := tt.do(t)
			r.fails(tt.page, tt.shown)
			if level := s.log.level(t, string(tt.code)); level != tt.level {
				t.Errorf("the log has it as %q, want %q; it says\n%s", level, tt.level, s.log)
			}
			page := s.browser().get(r.location())
			if tt.page == "/auth/error" && tt.shown == "Configuration" && page.status != http.StatusInternalServerError {
				t.Errorf("the page has the status %d", page.status)
			}
			if strings.Contains(page.body, errBroken.Error()) {
				t.Error("ASVS-16.5.1 the page tells the cause")
			}
		})
	}
}

// A failure that cannot stop the request is logged, and the user gets the requested
// page.
func TestErrorsThatStopNoRequestAreInTheLog(t *testing.T) {
	tests := []struct {
		code, level string
		do          func(t *testing.T) *site
	}{
		{"EventError", "ERROR", func(t *testing.T) *site {
			s := newSite(t, func(s *site) {
				s.Events.SignIn = func(context.Context, *pintle.SignInEvent) error { return errBroken }
			})
			s.browser().signIn("ada")
			return s
		}},
		{"JWTSessionError", "INFO", func(t *testing.T) *site {
			s := newSite(t)
			b := s.browser()
			b.plant(sessionCookie, "garbage")
			b.get("/").want(http.StatusOK)
			return s
		}},
		{"JWTSessionError", "INFO", func(t *testing.T) *site {
			s := newSite(t)
			b := s.browser()
			b.plant(sessionCookie, "garbage")
			b.get("/auth/session").want(http.StatusOK)
			return s
		}},
		{"SessionTokenError", "ERROR", func(t *testing.T) *site {
			k := newRecordingStore()
			s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase))
			k.fail("getSessionAndUser")
			b := s.browser()
			b.plant(sessionCookie, "any")
			b.get("/auth/session").want(http.StatusOK)
			return s
		}},
		{"SignOutError", "ERROR", func(t *testing.T) *site {
			k := newRecordingStore()
			s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase))
			k.fail("deleteSession")
			b := s.browser()
			b.plant(sessionCookie, "any")
			b.post("/auth/signout").fails("/auth/error", "SignOutError")
			return s
		}},
	}
	for _, tt := range tests {
		t.Run(tt.code, func(t *testing.T) {
			s := tt.do(t)
			if level := s.log.level(t, tt.code); level != tt.level {
				t.Errorf("the log has it as %q, want %q; it says\n%s", level, tt.level, s.log)
			}
		})
	}
}

// A configuration that cannot work is reported to the operator only: pages are
// the error page, and other answers match no answer that a client expects.
func TestAFaultyConfigurationIsAnsweredBeforeAnythingElse(t *testing.T) {
	for _, own := range []string{"", "/oops", "/oops?from=auth"} {
		book := &logBook{}
		auth := pintle.NewFunc(func(*http.Request) string { return "" }, func(context.Context, string) (pintle.Config, error) {
			return pintle.Config{Getenv: noEnv, Logger: book.logger(), Pages: pintle.Pages{Error: own}}, nil
		})
		h := auth
		for _, path := range []string{"/auth/signin", "/auth/signout", "/auth/error", "/auth/verify-request"} {
			w, _ := ask(h, http.MethodGet, "http://localhost:3000"+path, nil)
			switch {
			case own == "" && (w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "Something is wrong on our side")):
				t.Errorf("GET %s is answered %d %.200s", path, w.Code, w.Body)
			case own == "/oops" && w.Header().Get("Location") != "http://localhost:3000/oops?error=Configuration",
				own == "/oops?from=auth" && w.Header().Get("Location") != "http://localhost:3000/oops?from=auth&error=Configuration":
				t.Errorf("W-7 GET %s leads to %q", path, w.Header().Get("Location"))
			}
		}
		for _, path := range []string{"/auth/session", "/auth/csrf", "/auth/providers", "/auth/callback/acme"} {
			w, _ := ask(h, http.MethodGet, "http://localhost:3000"+path, nil)
			if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "server logs") || w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("GET %s is answered %d %.200s", path, w.Code, w.Body)
			}
		}
		if !book.has("MissingSecret") || book.level(t, "MissingSecret") != "ERROR" {
			t.Errorf("the log does not say what is wrong:\n%s", book)
		}
	}
}

func TestAnErrorPageThatIsItselfProtectedDoesNotLoop(t *testing.T) {
	book := &logBook{}
	auth := pintle.NewFunc(func(*http.Request) string { return "" }, func(context.Context, string) (pintle.Config, error) {
		return pintle.Config{Getenv: noEnv, Logger: book.logger(), Pages: pintle.Pages{Error: "/oops"}}, nil
	})
	w, _ := ask(auth, http.MethodGet, "http://localhost:3000/auth/signin?callbackUrl=%2Foops%3Ferror%3DConfiguration", nil)
	if w.Code != http.StatusInternalServerError || !book.has("ErrorPageLoop") {
		t.Errorf("it is answered %d %s; log:\n%s", w.Code, w.Header().Get("Location"), book)
	}
}

// Scripts receive the address of the error page instead of a redirect.
func TestScriptsAreToldOfErrors(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	form := url.Values{"csrfToken": {b.csrf()}, "username": {"ada"}, "password": {"guess"}}
	r := b.postForm("/auth/callback/credentials", form, "X-Auth-Return-Redirect", "1").want(http.StatusOK)
	var answer struct{ URL string }
	r.json(&answer)
	if answer.URL != s.url+"/auth/signin?error=CredentialsSignin&code=credentials" || len(r.header["Set-Cookie"]) > 0 {
		t.Errorf("the script is told %q with cookies %q", answer.URL, r.header["Set-Cookie"])
	}
	if r := b.postJSON("/auth/session", map[string]any{"csrfToken": "guess"}).want(http.StatusBadRequest); r.body != "null" {
		t.Errorf("S-2 the session route answers %q", r.body)
	}
}

// A host that asks for causes finds them, and one that prints them reads a
// sentence.
func TestErrorsCanBeAskedForTheirCause(t *testing.T) {
	err := error(&pintle.Error{Code: pintle.CodeAccessDenied, Provider: "acme", Err: fmt.Errorf("asking: %w", errBroken)})
	wrapped := fmt.Errorf("outside: %w", err)
	if !errors.Is(wrapped, pintle.CodeAccessDenied) || !errors.Is(wrapped, errBroken) || errors.Is(wrapped, pintle.CodeCredentials) {
		t.Error("the causes are not found")
	}
	if e, ok := errors.AsType[*pintle.Error](wrapped); !ok || e.Provider != "acme" {
		t.Errorf("the Error is %v", e)
	}
	if code, ok := errors.AsType[pintle.Code](wrapped); !ok || code != pintle.CodeAccessDenied {
		t.Errorf("the code is %v", code)
	}
	if got, want := err.Error(), "pintle: AccessDenied (provider acme): asking: broken on purpose"; got != want {
		t.Errorf("the text is %q, want %q", got, want)
	}
	nested := &pintle.Error{Code: pintle.Code("OAuthCallbackError"), Err: &pintle.Error{Code: pintle.CodeStore, Err: errBroken}}
	if got, want := nested.Error(), "pintle: OAuthCallbackError: AdapterError: broken on purpose"; got != want {
		t.Errorf("the text is %q, want %q", got, want)
	}
	if got, want := (&pintle.Error{Code: pintle.Code("MissingCSRF")}).Error(), "pintle: MissingCSRF"; got != want {
		t.Errorf("the text is %q, want %q", got, want)
	}
	if bare := (&pintle.Error{Code: pintle.Code("MissingCSRF")}); !errors.Is(bare, pintle.Code("MissingCSRF")) || errors.Unwrap(bare) != nil {
		t.Error("an error without a cause has one")
	}
}

// Server code that signs people in gets the error itself.
func TestServerCodeIsToldWhyASignInFailed(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyJWT), func(s *site) {
		s.Providers = append(s.Providers, s.mailProvider())
		s.Callbacks.SignIn = func(_ context.Context, a *pintle.SignInAttempt) (string, error) {
			if a.User.Email == "grace@example.com" {
				return "", errBroken
			}
			return "", nil
		}
	})
	signIn := func(provider string, fields map[string]any) error {
		r := httptest.NewRequest(http.MethodPost, s.url+"/login", nil)
		w := httptest.NewRecorder()
		_, err := s.auth.SignIn(w, r, provider, pintle.SignInOptions{Fields: fields})
		if err != nil && len(w.Header()["Set-Cookie"]) > 0 {
			t.Errorf("a failure sets cookies: %q", w.Header()["Set-Cookie"])
		}
		return err
	}
	tests := []struct {
		name, provider string
		fields         map[string]any
		code           pintle.Code
		cause          error
	}{
		{"a wrong password", "credentials", map[string]any{"username": "ada", "password": "guess"}, pintle.CodeCredentials, nil},
		{"a refusal", "credentials", map[string]any{"username": "grace", "password": people["grace"].password}, pintle.CodeAccessDenied, errBroken},
		{"an invalid address", "email", map[string]any{"email": "not-an-address"}, pintle.Code("EmailSignInError"), nil},
		{"a refusal before the mail", "email", map[string]any{"email": "grace@example.com"}, pintle.CodeAccessDenied, errBroken},
	}
	for _, tt := range tests {
		err := signIn(tt.provider, tt.fields)
		e, ok := errors.AsType[*pintle.Error](err)
		if !ok || e.Code != tt.code || e.Provider != tt.provider || tt.cause != nil && !errors.Is(err, tt.cause) {
			t.Errorf("%s: the error is %v", tt.name, err)
		}
	}
	k.fail("createVerificationToken")
	if err := signIn("email", map[string]any{"email": "ada@example.com"}); !errors.Is(err, pintle.CodeStore) || !errors.Is(err, errBroken) {
		t.Errorf("a store that fails: the error is %v", err)
	}
}

// The host chooses the code of a rejected password, and no other part of the
// form is revealed: S-17.
func TestTheHostChoosesTheCodeOfAWrongPassword(t *testing.T) {
	s := newSite(t, func(s *site) {
		s.Providers = append(s.Providers, &pintle.Credentials{ID: "otp", Authorize: func(context.Context, *pintle.Submission) (*pintle.User, error) {
			return nil, &pintle.Error{Code: pintle.CodeCredentials, Detail: "too late & more", Err: errBroken}
		}})
	})
	b := s.browser()
	r := b.post("/auth/callback/otp", "code", "123456").fails("/auth/signin", "CredentialsSignin")
	if !strings.HasSuffix(r.location(), "?error=CredentialsSignin&code=too+late+%26+more") {
		t.Errorf("S-17 the browser is sent to %s", r.location())
	}
}

// docs/errors.md explains every code, and no others.
func TestEveryCodeIsExplained(t *testing.T) {
	source, err := os.ReadFile("errors.go")
	if err != nil {
		t.Fatal(err)
	}
	records, err := os.ReadFile("account/logcodes.go")
	if err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile("docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?:Code|code\w+ *) = "(\w+)"`).FindAllStringSubmatch(string(source)+string(records), -1) {
		codes[match[1]] = true
		if !strings.Contains(string(guide), "\n| `"+match[1]+"` |") {
			t.Errorf("docs/errors.md has no row for %s", match[1])
		}
	}
	for _, match := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\|").FindAllStringSubmatch(string(guide), -1) {
		if !codes[match[1]] {
			t.Errorf("docs/errors.md explains %s, which does not exist", match[1])
		}
	}
}
