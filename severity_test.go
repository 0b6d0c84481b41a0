package pintle_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
)

// maxRecord bounds a log record about a request, whatever is in the request.
const maxRecord = 2000

// last returns the latest log record with a code.
func (l *logBook) last(t *testing.T, code string) map[string]any {
	t.Helper()
	var found map[string]any
	for _, entry := range l.entries(t) {
		if entry["code"] == code {
			found = entry
		}
	}
	if found == nil {
		t.Fatalf("the log has no %s:\n%s", code, l)
	}
	return found
}

func TestClientsDoNotFillTheLog(t *testing.T) {
	long := strings.Repeat("a\"é", 100_000)
	for _, tt := range []struct {
		name, code string
		do         func(b *browser)
	}{
		{"a path", "UnknownAction", func(b *browser) { b.get("/auth/" + url.PathEscape(long)) }},
		{"a method", "UnknownAction", func(b *browser) { b.do(strings.Repeat("A", 300_000), "/auth/session", nil) }},
		{"a callback URL in the query", "InvalidCallbackUrl", func(b *browser) { b.get("/auth/signin?callbackUrl=javascript:" + strings.Repeat("a", 200_000)) }},
		{"a callback URL in the body", "Configuration", func(b *browser) {
			b.post("/auth/signin/acme", "callbackUrl", strings.Repeat("no address ", 600))
		}},
		{"a provider", "Configuration", func(b *browser) { b.get("/auth/callback/" + strings.Repeat("p", 300_000)) }},
		{"an error that a provider is said to answer with", "OAuthCallbackError", func(b *browser) {
			state := b.leave("acme").Query().Get("state")
			b.get("/auth/callback/acme?iss=https://idp.example&state=" + url.QueryEscape(state) + "&error=" + strings.Repeat("e", 3000) + "&error_description=" + url.QueryEscape(strings.Repeat("é", 2000)))
		}},
		{"an action of a passkey", "WebAuthnVerificationError", func(b *browser) {
			b.get("/auth/webauthn-options/passkey?email=new@example.com")
			b.post("/auth/callback/passkey", "action", strings.Repeat("x", 200_000), "data", `{"id":"AAAA"}`)
		}},
		{"what was typed, in an error of the application's", "CredentialsSignin", func(b *browser) {
			b.post("/auth/callback/echo", "username", strings.Repeat("u", 200_000))
		}},
		{"a host", "UntrustedHost", func(b *browser) { b.get("/auth/session", "Host", strings.Repeat("h", 200_000)+".example") }},
	} {
		t.Run("SA-L13 "+tt.name, func(t *testing.T) {
			s := newSite(t, withPasskeys, func(s *site) {
				s.Providers = append(s.Providers, &pintle.Credentials{ID: "echo", Authorize: func(_ context.Context, c *pintle.Submission) (*pintle.User, error) {
					return nil, fmt.Errorf("no user %s: %w", c.Text("username"), pintle.CodeCredentials)
				}})
			})
			tt.do(s.browser())
			entry := s.log.last(t, tt.code)
			if entry["level"] != "INFO" && entry["level"] != "WARN" {
				t.Errorf("what a client causes is at level %s", entry["level"])
			}
			for line := range strings.Lines(s.log.String()) {
				if len(line) > maxRecord {
					t.Errorf("a record has %d bytes: %.300s", len(line), line)
				}
			}
			if client := entry["client"]; client != "192.0.2.1" {
				t.Errorf("the client is %v", client)
			}
		})
	}
	t.Run("SA-L13 a tenant that does not exist", func(t *testing.T) {
		// The log of a request without a configuration is the default one.
		book := &logBook{}
		useDefaultLog(t, book)
		auth := pintle.NewFunc(func(r *http.Request) string { return r.Host }, func(_ context.Context, host string) (pintle.Config, error) {
			if host == "broken.example" {
				return pintle.Config{}, errBroken
			}
			return pintle.Config{}, fmt.Errorf("tenant: %w", pintle.ErrNotFound)
		})
		guard := auth.Load(auth.Require(http.NotFoundHandler()))
		for path, h := range map[string]http.Handler{"/auth/signin": auth, "/auth/session": auth, "/members": guard} {
			if w := get(h, "http://"+strings.Repeat("h.", 100)+"example"+path); w.Code != http.StatusNotFound {
				t.Errorf("%s is answered %d", path, w.Code)
			} else if path == "/auth/session" && w.Body.String() != `{"message":"There is no site at this address."}` {
				t.Errorf("a script is told %s", w.Body)
			}
			if w := get(h, "http://broken.example"+path); w.Code != http.StatusInternalServerError {
				t.Errorf("a tenant that cannot be looked up: %s is answered %d", path, w.Code)
			}
		}
		get(auth, "http://localhost:3000/auth/session")
		if book.has("AddressMismatch") {
			t.Errorf("the address of a tenant that does not exist is said to be wrong: %v", book.last(t, "AddressMismatch"))
		}
		if entry := book.last(t, "UnknownTenant"); entry["level"] != "INFO" || len(fmt.Sprint(entry)) > maxRecord {
			t.Errorf("the record is %v", entry)
		}
		if entry := book.last(t, "Configuration"); entry["level"] != "ERROR" {
			t.Errorf("the record of a fault is %v", entry)
		}
	})
}

// Any client can send these requests, so no record of them is at the level of
// alarms.
func TestRequestsThatClientsMakeUpRaiseNoAlarm(t *testing.T) {
	confirm := true
	steam := withSteam("76561197960287930", &confirm)
	assertion := func(b *browser) string { return b.consent(b.leave("steam")) }
	for name, tt := range map[string]struct {
		change func(*site)
		do     func(b *browser)
	}{
		"a sign-out with a session cookie": {func(*site) {}, func(b *browser) {
			b.plant(sessionCookie, "made up")
			b.post("/auth/signout")
		}},
		"a page with a session cookie": {func(*site) {}, func(b *browser) {
			b.plant(sessionCookie, "made up")
			b.get("/members")
		}},
		"a code": {func(*site) {}, func(b *browser) {
			to := b.leave("acme")
			b.get("/auth/callback/acme?code=made-up&iss=https://idp.example&state=" + to.Query().Get("state"))
		}},
		"OAuth 1.0a: a token": {withOAuth1, func(b *browser) {
			b.leave("old")
			b.get("/auth/callback/old?oauth_token=made-up&oauth_verifier=x")
		}},
		"OAuth 1.0a: no verifier": {withOAuth1, func(b *browser) {
			b.get("/auth/callback/old?oauth_token=" + b.leave("old").Query().Get("oauth_token"))
		}},
		"OAuth 1.0a: a verifier": {withOAuth1, func(b *browser) {
			b.get("/auth/callback/old?oauth_verifier=made-up&oauth_token=" + b.leave("old").Query().Get("oauth_token"))
		}},
		"OpenID 2.0: parameters": {steam, func(b *browser) {
			b.leave("steam")
			b.get("/auth/callback/steam?openid.mode=id_res&openid.ns=x")
		}},
		"OpenID 2.0: a parameter twice": {steam, func(b *browser) {
			b.leave("steam")
			b.get("/auth/callback/steam?openid.mode=id_res&openid.mode=id_res")
		}},
		"OpenID 2.0: an account": {steam, func(b *browser) {
			b.get(strings.ReplaceAll(assertion(b), "76561197960287930", "made-up"))
		}},
		"OpenID 2.0: an assertion": {steam, func(b *browser) {
			confirm = false
			b.get(assertion(b))
			confirm = true
		}},
	} {
		t.Run("SA-L13 "+name, func(t *testing.T) {
			s := newSite(t, tt.change)
			tt.do(s.browser())
			for _, entry := range s.log.entries(t) {
				if entry["level"] == "ERROR" {
					t.Errorf("an alarm: %v", entry)
				}
			}
			if !strings.Contains(s.log.String(), `"code":`) {
				t.Error("the log does not have the request")
			}
		})
	}
}

// useDefaultLog makes the book the default log for the time of a test.
func useDefaultLog(t *testing.T, book *logBook) {
	t.Helper()
	useDefaultLogger(t, book.logger())
}

// A limit that was reached is a warning: a client guesses, or floods.
func TestALimitThatWasReachedIsAWarning(t *testing.T) {
	s := newSite(t, func(s *site) {
		s.Providers = []pintle.Provider{&pintle.Credentials{Authorize: func(context.Context, *pintle.Submission) (*pintle.User, error) {
			return nil, &pintle.Error{Code: pintle.CodeCredentials, RetryAfter: 1}
		}}}
	})
	s.browser().post("/auth/callback/credentials", "username", "ada").fails("/auth/signin", "CredentialsSignin")
	if level := s.log.level(t, "CredentialsSignin"); level != "WARN" {
		t.Errorf("it is at level %s", level)
	}
}

// unknownMailbox is what package smtp returns for a recipient that does not exist.
type unknownMailbox struct{ error }

func (unknownMailbox) RecipientRefused() bool { return true }

// Any client can type an address that does not exist, as often as it likes.
func TestAnAddressThatDoesNotExistIsAWarning(t *testing.T) {
	s, _ := mailSite(t, pintle.StrategyJWT, func(_ *site, m *pintle.Email) {
		m.Send = func(context.Context, *pintle.Message) error { return fmt.Errorf("smtp: %w", unknownMailbox{errBroken}) }
	})
	s.browser().askForMail("mallory@example.com").fails("/auth/error", "Configuration")
	if level := s.log.level(t, "EmailSignInError"); level != "WARN" {
		t.Errorf("it is at level %s", level)
	}
}

func TestFaultsOfTheOperatorAreErrors(t *testing.T) {
	for _, tt := range []struct {
		name, code string
		do         func(t *testing.T) *site
	}{
		{"a mail server that refuses", "EmailSignInError", func(t *testing.T) *site {
			s, _ := mailSite(t, pintle.StrategyJWT, func(_ *site, m *pintle.Email) {
				m.Send = func(context.Context, *pintle.Message) error { return errBroken }
			})
			s.browser().askForMail("ada@example.com").fails("/auth/error", "Configuration")
			return s
		}},
		{"a token for another client", "CallbackRouteError", func(t *testing.T) *site {
			s := newSite(t)
			s.idp.Break(authtest.IDTokenWrongAudience)
			s.browser().signInWith("acme")
			return s
		}},
		{"a profile that cannot be read", "OAuthCallbackError", func(t *testing.T) *site {
			s := newSite(t, func(s *site) {
				acme := s.idp.OIDC("acme")
				acme.Profile = func(pintle.Profile, *pintle.Account) (*pintle.User, error) { return nil, errBroken }
				s.Providers = []pintle.Provider{acme}
			})
			s.browser().signInWith("acme")
			return s
		}},
		{"a provider that is away", "CallbackRouteError", func(t *testing.T) *site {
			s := newSite(t)
			b := s.browser()
			back := b.consent(b.leave("acme"))
			delete(s.net, "idp.example")
			b.get(back)
			return s
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.do(t)
			if level := s.log.level(t, tt.code); level != "ERROR" {
				t.Errorf("it is at level %q:\n%s", level, s.log)
			}
		})
	}
}

func TestAFailedSignInIsAnEventAndOneRecord(t *testing.T) {
	withEvents := func(into *[]*pintle.SignInFailedEvent) func(*site) {
		return func(s *site) {
			s.Events.SignInFailed = func(_ context.Context, e *pintle.SignInFailedEvent) error {
				*into = append(*into, e)
				return nil
			}
		}
	}
	for _, tt := range []struct {
		name, provider string
		code           pintle.Code
		change         func(*site)
		do             func(b *browser)
	}{
		{"a wrong password", "credentials", pintle.CodeCredentials, nil, func(b *browser) {
			b.post("/auth/callback/credentials", "username", "ada", "password", "guess")
		}},
		{"a refusal of the callback", "acme", pintle.CodeAccessDenied, func(s *site) { s.Callbacks.SignIn = refusing(errBroken) }, func(b *browser) {
			b.signInWith("acme")
		}},
		{"a consent that was not given", "acme", pintle.Code("OAuthCallbackError"), func(s *site) { s.idp.Break(authtest.ResponseAccessDenied) }, func(b *browser) {
			b.signInWith("acme")
		}},
		{"a callback of no flow", "acme", pintle.CodeInvalidCheck, nil, func(b *browser) { b.get("/auth/callback/acme?code=x") }},
		{"a token that does not verify", "acme", "CallbackRouteError", func(s *site) { s.idp.Break(authtest.IDTokenWrongAudience) }, func(b *browser) {
			b.signInWith("acme")
		}},
		{"a link that is unknown", "email", pintle.CodeVerification, nil, func(b *browser) { b.get("/auth/callback/email?token=a&email=ada@example.com") }},
		{"a malformed address", "email", pintle.Code("EmailSignInError"), nil, func(b *browser) { b.askForMail("not-an-address") }},
		{"a mail too many", "email", pintle.Code("EmailSignInError"), func(s *site) {
			for _, p := range s.Providers {
				if p, ok := p.(*pintle.Email); ok {
					p.Allow = func(context.Context, *pintle.MailRequest) error { return errBroken }
				}
			}
		}, func(b *browser) { b.askForMail("ada@example.com") }},
	} {
		t.Run("SA-L13 "+tt.name, func(t *testing.T) {
			var events []*pintle.SignInFailedEvent
			s := newSite(t, func(s *site) {
				s.Store, s.Session.Strategy = memstore.New(), pintle.StrategyJWT
				s.Providers = append(s.Providers, s.mailProvider())
				s.URL = s.url // requests come through a proxy
				s.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
				if tt.change != nil {
					tt.change(s)
				}
			}, withEvents(&events))
			b := s.browser()
			b.client.Transport = forwarding{b.client.Transport, "198.51.100.7"}
			tt.do(b)
			if len(events) != 1 {
				t.Fatalf("there are %d events", len(events))
			}
			e := events[0]
			if e.Provider != tt.provider || e.Code != tt.code || e.Client.String() != "198.51.100.7" || e.Request == nil {
				t.Errorf("the event is %+v", e)
			}
			if err, ok := errors.AsType[*pintle.Error](e.Err); !ok || err.Code != tt.code {
				t.Errorf("its error is %v", e.Err)
			}
			records := 0
			for _, entry := range s.log.entries(t) {
				if entry["msg"] == "pintle: request failed" {
					records++
					if entry["code"] != string(tt.code) || entry["provider"] != tt.provider || entry["client"] != "198.51.100.7" {
						t.Errorf("the record is %v", entry)
					}
				}
			}
			if records != 1 {
				t.Errorf("there are %d records", records)
			}
		})
	}
	for _, tt := range []struct {
		name, provider, route string
		fields                []string
		change                func(*site)
	}{
		{"a wrong password", "credentials", "/auth/callback/credentials", []string{"username", "ada", "password", "guess"}, nil},
		{"a refusal of the callback", "credentials", "/auth/callback/credentials", []string{"username", "ada", "password", people["ada"].password}, func(s *site) {
			s.Callbacks.SignIn = refusing(errBroken)
		}},
		{"a callback that cannot say where to go", "credentials", "/auth/callback/credentials", []string{"callbackUrl", "/home"}, func(s *site) {
			s.Callbacks.Redirect = func(context.Context, string, string) (string, error) { return "", errBroken }
		}},
		{"a malformed address", "email", "/auth/signin/email", []string{"email", "not-an-address"}, nil},
		{"a provider that is away", "acme", "/auth/signin/acme", nil, func(s *site) { delete(s.net, "idp.example") }},
	} {
		t.Run("SA-L13, S-52 from a form of the application's as from the sign-in page: "+tt.name, func(t *testing.T) {
			fail := func(run func(*site)) (*pintle.SignInFailedEvent, map[string]any) {
				var events []*pintle.SignInFailedEvent
				s := newSite(t, withEvents(&events), func(s *site) {
					s.Store, s.Session.Strategy = memstore.New(), pintle.StrategyJWT
					s.Providers = append(s.Providers, s.mailProvider())
					if tt.change != nil {
						tt.change(s)
					}
				})
				run(s)
				all := s.log.failures(t)
				if len(events) != 1 || len(all) != 1 {
					t.Fatalf("there are %d events and the records %v", len(events), all)
				}
				delete(all[0], "time")
				return events[0], all[0]
			}
			there, route := fail(func(s *site) {
				b := s.browser()
				form := url.Values{}
				if tt.change == nil || s.Callbacks.Redirect == nil {
					form.Set("csrfToken", b.csrf())
				}
				for i := 0; i < len(tt.fields); i += 2 {
					form.Set(tt.fields[i], tt.fields[i+1])
				}
				b.postForm(tt.route, form)
			})
			var err error
			here, function := fail(func(s *site) {
				fields := map[string]any{}
				for i := 0; i < len(tt.fields); i += 2 {
					fields[tt.fields[i]] = tt.fields[i+1]
				}
				_, err = s.auth.SignIn(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, s.url+"/login", nil), tt.provider, pintle.SignInOptions{Fields: fields})
			})
			if !maps.Equal(route, function) {
				t.Errorf("the record is\n\t%v, at the route\n\t%v", function, route)
			}
			if here.Provider != there.Provider || here.Code != there.Code || here.Client != there.Client || here.Request == nil {
				t.Errorf("the event is\n\t%+v, at the route\n\t%+v", here, there)
			}
			if e, ok := errors.AsType[*pintle.Error](err); !ok || e.Code != here.Code || e.Provider != tt.provider || !errors.Is(here.Err, e) {
				t.Errorf("the host gets %v, the event has %v", err, here.Err)
			}
		})
	}
	t.Run("what is no sign-in that failed", func(t *testing.T) {
		var events []*pintle.SignInFailedEvent
		s := newSite(t, withEvents(&events))
		b := s.browser()
		b.postForm("/auth/callback/credentials", url.Values{"username": {"ada"}})
		b.get("/auth/callback/unknown")
		b.get("/auth/callback/credentials")
		b.get("/auth/elsewhere")
		b.post("/auth/signout")
		b.signIn("ada")
		if len(events) > 0 {
			t.Errorf("there is an event %+v", events[0])
		}
	})
	t.Run("a handler that fails", func(t *testing.T) {
		s := newSite(t, func(s *site) {
			s.Events.SignInFailed = func(context.Context, *pintle.SignInFailedEvent) error { return errBroken }
		})
		s.browser().post("/auth/callback/credentials", "username", "ada", "password", "guess").fails("/auth/signin", "CredentialsSignin")
		if entry := s.log.last(t, "EventError"); entry["event"] != "signInFailed" {
			t.Errorf("the record is %v", entry)
		}
	})
}

// forwarding is a proxy that names the client whose request it passes on.
type forwarding struct {
	next   http.RoundTripper
	client string
}

func (f forwarding) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("X-Forwarded-For", "203.0.113.66, "+f.client)
	return f.next.RoundTrip(r)
}

// A mistake of the person leads back to where they can repair it. W-33: a script
// gets the same answer as from Auth.js.
func TestAMistakeOfThePersonLeadsToTheSignInPage(t *testing.T) {
	tooMany := func(_ *site, m *pintle.Email) {
		m.Allow = func(context.Context, *pintle.MailRequest) error {
			return &pintle.Error{Code: pintle.Code("EmailSignInError"), Detail: "too_many_mails", RetryAfter: 1}
		}
	}
	for _, tt := range []struct {
		name, query string
		status      int
		text        string
		change      func(*site, *pintle.Email)
		do          func(b *browser, headers ...string) *reply
	}{
		{"a malformed address", "error=EmailSignin&code=malformed_address", 400, "That is not an email address. Check it and try again.", nil, func(b *browser, headers ...string) *reply {
			return b.postForm("/auth/signin/email", url.Values{"csrfToken": {b.csrf()}, "email": {"not-an-address"}}, headers...)
		}},
		{"a mail too many", "error=EmailSignin&code=too_many_mails", 429, "Too many emails were asked for", tooMany, func(b *browser, headers ...string) *reply {
			return b.postForm("/auth/signin/email", url.Values{"csrfToken": {b.csrf()}, "email": {"ada@example.com"}}, headers...)
		}},
		{"a callback of no flow", "error=InvalidCheck&code=flow_unknown", 400, "began in another browser", func(s *site, _ *pintle.Email) { s.Providers = append(s.Providers, s.idp.OIDC("acme")) }, func(b *browser, headers ...string) *reply {
			return b.get("/auth/callback/acme?code=x", headers...)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			change := func(s *site, m *pintle.Email) {
				if tt.change != nil {
					tt.change(s, m)
				}
			}
			s, _ := mailSite(t, pintle.StrategyJWT, change)
			b := s.browser()
			r := tt.do(b, "Sec-Fetch-Mode", "navigate").want(http.StatusFound)
			if r.location() != s.url+"/auth/signin?"+tt.query {
				t.Errorf("a browser is sent to %s", r.location())
			}
			page := b.get(r.location()).want(tt.status)
			if !strings.Contains(page.body, tt.text) {
				t.Errorf("the page does not say %q", tt.text)
			}
			tt.do(b).fails("/auth/error", "Configuration")
			tt.do(b, "Sec-Fetch-Mode", "cors").fails("/auth/error", "Configuration")
			script := tt.do(b, "Sec-Fetch-Mode", "navigate", "X-Auth-Return-Redirect", "1")
			if !strings.Contains(script.body, "/auth/error?error=Configuration") {
				t.Errorf("W-33 a script is answered %s", script.body)
			}
			own, _ := mailSite(t, pintle.StrategyJWT, change, func(s *site, _ *pintle.Email) { s.Pages.Error = "/oops" })
			tt.do(own.browser(), "Sec-Fetch-Mode", "navigate").fails("/oops", "Configuration")
		})
	}
	t.Run("a mail server that refuses is no mistake of the person", func(t *testing.T) {
		s, _ := mailSite(t, pintle.StrategyJWT, func(_ *site, m *pintle.Email) {
			m.Send = func(context.Context, *pintle.Message) error { return errBroken }
		})
		b := s.browser()
		r := b.postForm("/auth/signin/email", url.Values{"csrfToken": {b.csrf()}, "email": {"ada@example.com"}}, "Sec-Fetch-Mode", "navigate")
		r.fails("/auth/error", "Configuration")
		if r.location() != s.url+"/auth/error?error=Configuration&code=mail_not_sent" {
			t.Errorf("a browser is sent to %s", r.location())
		}
		if page := b.get(r.location()).want(http.StatusInternalServerError); !strings.Contains(page.body, "The email was not sent.") {
			t.Error("the page does not speak of the mail")
		}
		if page := b.get("/auth/error?error=Configuration"); strings.Contains(page.body, "mail") {
			t.Error("the page about another failure speaks of a mail")
		}
	})
}

// W-33: scripts and the application's own error page get what Auth.js sends.
func TestABrowserSeesThatAStoreDoesNotAnswerASignIn(t *testing.T) {
	broken := func(changes ...func(*site)) (*browser, *site) {
		k := newRecordingStore()
		s := newSite(t, append([]func(*site){withRecordingStore(k, pintle.StrategyJWT)}, changes...)...)
		k.fail("getUserByAccount")
		return s.browser(), s
	}
	signIn := func(b *browser, headers ...string) *reply { return b.get(b.consent(b.leave("acme")), headers...) }

	b, s := broken()
	r := signIn(b, "Sec-Fetch-Mode", "navigate").want(http.StatusFound)
	if r.location() != s.url+"/auth/error?error=Configuration&code=unavailable" {
		t.Errorf("a browser is sent to %s", r.location())
	}
	page := b.get(r.location()).want(http.StatusServiceUnavailable)
	if page.header.Get("Retry-After") == "" || !strings.Contains(page.body, "Something is wrong on our side") || !strings.Contains(page.body, `href="`+s.url+`/auth/signin"`) {
		t.Errorf("the page has Retry-After %q and says\n%s", page.header.Get("Retry-After"), page.body)
	}
	for name, headers := range map[string][]string{
		"a client without the header": nil,
		"a request of a script":       {"Sec-Fetch-Mode", "cors"},
	} {
		b, s := broken()
		if to := signIn(b, headers...).location(); to != s.url+"/auth/error?error=Configuration" {
			t.Errorf("W-33 %s is sent to %s", name, to)
		}
		b.get("/auth/error?error=Configuration").want(http.StatusInternalServerError)
	}
	b, s = broken(func(s *site) { s.Pages.Error = "/oops" })
	if to := signIn(b, "Sec-Fetch-Mode", "navigate").location(); to != s.url+"/oops?error=Configuration" {
		t.Errorf("W-33 the page of the application is asked as %s", to)
	}
	b, _ = broken()
	b.get("/auth/error?error=AccessDenied&code=unavailable").want(http.StatusForbidden)
}

func TestAConfirmPageShowsAnAddressOrNothing(t *testing.T) {
	s, _ := mailSite(t, pintle.StrategyJWT, func(_ *site, m *pintle.Email) { m.Confirm = true })
	b := s.browser()
	for typed, shown := range map[string]string{
		"ada@example.com":                          "ada@example.com",
		"Your account is locked. Call +1 555 0100": "",
		"ada@example.com or call 555 0100":         "",
		strings.Repeat("a", 400) + "@example.com":  "",
		"<b>bold</b>@example.com":                  "",
	} {
		r := b.get("/auth/callback/email?token=t&email=" + url.QueryEscape(typed)).want(http.StatusOK)
		_, rest, _ := strings.Cut(r.body, "<bdi>")
		if got, _, _ := strings.Cut(rest, "</bdi>"); got != shown {
			t.Errorf("SA-L14 %.60q is shown as %.60q", typed, got)
		}
		if strings.Contains(r.body, "555 0100") {
			t.Errorf("SA-L14 the page shows %q", typed)
		}
		if got := r.header.Get("Cache-Control"); !strings.Contains(got, "no-store") {
			t.Errorf("SA-L14 a page with the token of a link has Cache-Control %q", got)
		}
	}
}

func TestTheListOfProvidersIsKeptApartByHost(t *testing.T) {
	s := newSite(t, func(s *site) { s.TrustHost = true })
	r := s.browser().get("/auth/providers", "X-Forwarded-Host", "evil.example", "X-Forwarded-Proto", "https")
	if !strings.Contains(r.body, "https://evil.example/auth/signin/acme") {
		t.Fatalf("the forwarded host is not believed: %s", r.body)
	}
	vary := strings.Join(r.header.Values("Vary"), ",")
	for _, name := range []string{"Host", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if !strings.Contains(", "+vary+",", ", "+name+",") {
			t.Errorf("SA-L15 Vary is %q, without %s", vary, name)
		}
	}
	fixed := newSite(t, func(s *site) { s.URL = s.url })
	if vary := fixed.browser().get("/auth/providers").header.Get("Vary"); vary != "" {
		t.Errorf("with a fixed URL Vary is %q", vary)
	}
}
