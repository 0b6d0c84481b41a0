package pintle_test

import (
	"context"
	"errors"
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
	"github.com/pintleauth/pintle/store/memstore"
)

// confirmable is a site on which Ada, who has an account of acme, has signed in with her
// password an hour ago.
func confirmable(t *testing.T, strategy pintle.SessionStrategy, changes ...func(*site)) (*site, *browser) {
	t.Helper()
	s, b := steppingUp(t, strategy, changes...)
	s.link("user-ada", "acme", adaElsewhere.Subject)
	time.Sleep(time.Hour)
	s.eventNames()
	return s, b
}

// link stores an account of a user.
func (s *site) link(userID, provider, accountID string) {
	s.t.Helper()
	err := s.Store.LinkAccount(s.t.Context(), &pintle.Account{
		UserID: userID, Type: pintle.TypeOIDC, Provider: provider, ProviderAccountID: accountID,
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// asks has server code begin a sign-in, and returns where the browser is sent.
func (b *browser) asks(provider string, o pintle.SignInOptions) *url.URL {
	b.t.Helper()
	w := httptest.NewRecorder()
	next, err := b.site.auth.SignIn(w, b.request(), provider, o)
	if err != nil {
		b.t.Fatalf("the sign-in does not begin: %v", err)
	}
	b.takes(w)
	return mustParse(b.t, next)
}

var confirm = pintle.SignInOptions{Confirm: true, RedirectTo: "/confirm?for=keys"}

// wantUnconfirmed makes sure that nothing has changed.
func (b *browser) wantUnconfirmed(held string, before pintle.Authentication) {
	b.t.Helper()
	if b.cookie(sessionCookie) != held {
		b.t.Error("the session is another one")
	}
	b.wantRecorded(before)
	if events := b.site.eventNames(); slices.ContainsFunc(events, func(e string) bool { return e != "session" }) {
		b.t.Errorf("there were the events %q", events)
	}
}

func TestAProviderConfirmsItsUser(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				s, b := confirmable(t, strategy, func(s *site) {
					s.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) { asked++; return "", nil }
				})
				before := b.recorded()
				old := b.copied()
				to := b.asks("acme", confirm)
				if got := to.Query(); got.Get("prompt") != "login" || got.Get("max_age") != "0" {
					t.Errorf("the provider is asked with %v", got)
				}
				// A sign-in in another tab does not lead the browser elsewhere.
				b.plant(callbackURLCookie, s.url+"/elsewhere")
				r := b.get(b.consent(to)).goesTo(s.url + "/confirm?for=keys")
				for _, check := range []string{stateCookie, pkceCookie, nonceCookie} {
					if !r.clears(check) && b.cookie(check) != "" {
						t.Errorf("the cookie %s is left", check)
					}
				}
				now := time.Now()
				b.wantRecorded(pintle.Authentication{
					Time: now, Started: before.Started, Provider: "credentials", Methods: []string{"pwd", "fed"},
					Proofs: map[string]time.Time{"pwd": before.Time, "fed": now},
				})
				if b.cookie(sessionCookie) == old.cookie(sessionCookie) {
					t.Error("the session has the token it had")
				}
				if events := s.eventNames(); slices.ContainsFunc(events, func(e string) bool { return e != "session" }) || asked != 0 {
					t.Errorf("there were the events %q, and %d calls of Callbacks.SignIn", events, asked)
				}
			})
		})
	}
}

// What a provider reports counts as its own word only in a session that began there: the
// session names one provider.
func TestAProviderReportsForItsOwnSessions(t *testing.T) {
	for provider, want := range map[string][]string{"acme": {"fed", "fed:mfa"}, "other": {"fed"}} {
		s := newSite(t, recording, func(s *site) {
			s.Store = memstore.New()
			s.Providers = append(s.Providers, s.idp.OIDC("other"))
		})
		showFacts(s)
		b := s.browser()
		b.signInWith("acme").goesTo(s.url)
		s.link(b.sub(), "other", adaElsewhere.Subject)
		s.idp.Tamper(authtest.Tamper{IDToken: func(_, claims map[string]any) { claims["amr"] = []string{"mfa"} }})
		b.get(b.consent(b.asks(provider, confirm))).goesTo(s.url + "/confirm?for=keys")
		if got := b.recorded(); !slices.Equal(got.Methods, want) || got.Provider != "acme" {
			t.Errorf("after a confirmation by %s the session records %+v, want the methods %v", provider, got, want)
		}
	}
}

// AT-72, RPT-40, ASVS-6.8.4, AC-147: the session is as before unless the provider proves that it
// asked this user, now.
func TestAProviderThatProvesTooLittleConfirmsNothing(t *testing.T) {
	grace := authtest.DefaultPeople()[1]
	acr := func(v any) func(*site) {
		return func(s *site) {
			s.idp.Tamper(authtest.Tamper{IDToken: func(_, claims map[string]any) { claims["acr"] = v }})
		}
	}
	breaks := func(f authtest.Fault) func(*site) { return func(s *site) { s.idp.Break(f) } }
	classes := confirm
	classes.ACRValues = []string{"phr", "mfa"}
	tests := []struct {
		name   string
		change func(*site)
		ask    pintle.SignInOptions
		code   string
	}{
		{"no auth_time", breaks(authtest.IDTokenWithoutAuthTime), confirm, "StepUp"},
		{"an old auth_time", breaks(authtest.IDTokenOldAuthTime), confirm, "StepUp"},
		{"a user who has no account here", func(s *site) { s.idp.SignInAs(authtest.DefaultPeople()[2]) }, confirm, "StepUp"},
		{"another user of this site", func(s *site) { s.link("user-grace", "acme", grace.Subject); s.idp.SignInAs(grace) }, confirm, "StepUp"},
		{"another class", breaks(authtest.IDTokenWeakContextClass), classes, "StepUp"},
		{"the empty class", acr(""), classes, "StepUp"},
		{"a list of classes", acr([]string{"mfa"}), classes, "StepUp"},
		{"a class that is a number", acr(2), classes, "StepUp"},
		{"a class in another case", acr("PHR"), classes, "StepUp"},
		{"a refusal", breaks(authtest.ResponseLoginRequired), confirm, "StepUp"},
		{"a user who said no", breaks(authtest.ResponseAccessDenied), confirm, "OAuthCallbackError"},
		{"a token that cannot be believed", breaks(authtest.IDTokenWrongNonce), confirm, "Configuration"},
	}
	for _, tt := range tests {
		for _, strategy := range strategies {
			t.Run(tt.name+" with sessions as "+string(strategy), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, b := confirmable(t, strategy)
					g := people["grace"].user
					if _, err := s.Store.CreateUser(t.Context(), &g); err != nil {
						t.Fatal(err)
					}
					tt.change(s)
					before, held := b.recorded(), b.cookie(sessionCookie)
					s.eventNames()
					r := b.get(b.consent(b.asks("acme", tt.ask)))
					r.goesTo(s.url + "/confirm?for=keys&error=" + tt.code)
					b.wantUnconfirmed(held, before)
					for _, check := range []string{stateCookie, pkceCookie, nonceCookie} {
						if b.cookie(check) != "" {
							t.Errorf("the cookie %s is left", check)
						}
					}
				})
			})
		}
	}
}

// RPT-39: what the browser takes out of the request is missing in the answer. An honest
// provider that remembers its user does not ask again.
func TestABrowserCannotChangeWhatIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := confirmable(t, pintle.StrategyDatabase)
		s.idp.Break(authtest.RemembersItsUser)
		before, held := b.recorded(), b.cookie(sessionCookie)
		ask := confirm
		ask.ACRValues = []string{"mfa"}
		for name, edit := range map[string]func(url.Values){
			"prompt and max_age removed": func(q url.Values) { q.Del("prompt"); q.Del("max_age") },
			"older sign-ins allowed":     func(q url.Values) { q.Del("prompt"); q.Set("max_age", "999999") },
			"no class":                   func(q url.Values) { q.Del("acr_values") },
			"another class":              func(q url.Values) { q.Set("acr_values", "weak") },
		} {
			to := b.asks("acme", ask)
			q := to.Query()
			edit(q)
			to.RawQuery = q.Encode()
			if r := b.get(b.consent(to)); r.errorCode() != "StepUp" {
				t.Errorf("%s: the browser is sent to %s", name, r.location())
			}
			b.wantUnconfirmed(held, before)
		}
		// As it was sent, the request is answered well.
		b.get(b.consent(b.asks("acme", ask))).goesTo(s.url + "/confirm?for=keys")
		if b.cookie(sessionCookie) == held {
			t.Error("the session is not confirmed")
		}
	})
}

// AT-73, AC-146: another user is signed in when the browser comes back, or none, or the same one
// in a session that began later.
func TestAConfirmationIsForTheSessionThatAskedForIt(t *testing.T) {
	for _, strategy := range strategies {
		for name, change := range map[string]func(*site, *browser){
			"another user": func(_ *site, b *browser) { b.begins(people["grace"].user) },
			"no user":      func(_ *site, b *browser) { b.plant(sessionCookie, "") },
			"a later session of the user": func(_ *site, b *browser) {
				time.Sleep(2 * time.Second)
				b.begins(people["ada"].user)
			},
			"a session that was ended": func(s *site, b *browser) {
				time.Sleep(2 * time.Second)
				if err := s.auth.SignOutEverywhere(b.t.Context(), "user-ada"); err != nil {
					b.t.Fatal(err)
				}
			},
		} {
			t.Run(name+" with sessions as "+string(strategy), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, b := confirmable(t, strategy)
					g := people["grace"].user
					if _, err := s.Store.CreateUser(t.Context(), &g); err != nil {
						t.Fatal(err)
					}
					back := b.consent(b.asks("acme", confirm))
					change(s, b)
					before, held := b.recorded(), b.cookie(sessionCookie)
					s.eventNames()
					b.get(back).goesTo(s.url + "/confirm?for=keys&error=StepUp")
					b.wantUnconfirmed(held, before)
				})
			})
		}
	}
}

// RPT-1: what was asked is good for its own provider, browser and quarter of an hour. No
// request reaches a provider otherwise.
func TestWhatWasAskedBelongsToItsFlow(t *testing.T) {
	for name, attack := range map[string]func(s *site, b *browser, back string) *reply{
		"at the callback of another provider": func(_ *site, b *browser, back string) *reply {
			return b.get(strings.Replace(back, "/callback/acme", "/callback/other", 1))
		},
		"of another browser": func(s *site, b *browser, back string) *reply {
			other := s.browser()
			other.plant(sessionCookie, b.cookie(sessionCookie))
			return other.get(back)
		},
		"16 minutes old": func(_ *site, b *browser, back string) *reply {
			state, pkce := b.cookie(stateCookie), b.cookie(pkceCookie)
			nonce := b.cookie(nonceCookie)
			time.Sleep(16 * time.Minute)
			b.plant(stateCookie, state)
			b.plant(pkceCookie, pkce)
			b.plant(nonceCookie, nonce)
			return b.get(back)
		},
		"cut": func(_ *site, b *browser, back string) *reply {
			b.plant(stateCookie, b.cookie(stateCookie)[:100])
			return b.get(back)
		},
		"another check cookie in its place": func(_ *site, b *browser, back string) *reply {
			b.plant(stateCookie, b.cookie(pkceCookie))
			return b.get(back)
		},
		"that of a sign-in in its place, without what was asked": func(s *site, b *browser, back string) *reply {
			other := s.browser()
			other.leave("acme")
			b.plant(stateCookie, other.cookie(stateCookie))
			return b.get(back)
		},
		"a second time": func(_ *site, b *browser, back string) *reply {
			cookies := map[string]string{}
			for _, name := range []string{stateCookie, pkceCookie, nonceCookie, sessionCookie} {
				cookies[name] = b.cookie(name)
			}
			b.site.idp.Break(authtest.IDTokenOldAuthTime)
			b.get(back)
			b.site.idp.Repair()
			b.site.idp.ForgetRequests()
			for name, value := range cookies {
				b.plant(name, value)
			}
			return b.get(back)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, b := confirmable(t, pintle.StrategyDatabase, func(s *site) { s.Providers = append(s.Providers, s.idp.OIDC("other")) })
				before, held := b.recorded(), b.cookie(sessionCookie)
				back := b.consent(b.asks("acme", confirm))
				s.idp.ForgetRequests()
				s.eventNames()
				if r := attack(s, b, back).want(http.StatusFound); r.errorCode() == "" {
					t.Errorf("the browser is sent to %s", r.location())
				}
				if got := s.idp.Requests(authtest.TokenEndpoint); len(got) != 0 {
					t.Errorf("%d requests reached the provider", len(got))
				}
				b.wantUnconfirmed(held, before)
			})
		})
	}
}

// A sign-in can ask for more, too. The session that was there stays as it was.
func TestASignInAsksForMoreThanTheConfiguration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := confirmable(t, pintle.StrategyDatabase)
		s.idp.Break(authtest.RemembersItsUser)
		before, held := b.recorded(), b.cookie(sessionCookie)
		day := pintle.SignInOptions{MaxAge: 25 * time.Hour, Params: url.Values{"max_age": {"1"}, "login_hint": {"ada"}}}
		to := b.asks("acme", day)
		if got := to.Query(); !slices.Equal(got["max_age"], []string{"90000"}) || got.Get("login_hint") != "ada" || got.Has("prompt") {
			t.Errorf("the provider is asked with %v", got)
		}
		for _, seconds := range []string{"999999", ""} {
			hour := b.asks("acme", pintle.SignInOptions{MaxAge: time.Hour})
			q := hour.Query()
			q.Set("max_age", seconds)
			hour.RawQuery = q.Encode()
			b.get(b.consent(hour)).fails("/auth/error", "AccessDenied")
			b.wantUnconfirmed(held, before)
		}
		b.get(b.consent(b.asks("acme", day))).goesTo(s.url + "/")
		if events := s.eventNames(); !slices.Contains(events, "signIn") {
			t.Errorf("there were the events %q", events)
		}
	})
}

// RPT-2: the query and the form of a request to the host are no part of what server code
// asks.
func TestTheRequestToTheHostAsksForNothing(t *testing.T) {
	s := newSite(t)
	r := httptest.NewRequest(http.MethodPost, s.url+"/confirm?scope=all&acr_values=weak&max_age=9&claims=%7B%7D&resource=x&dpop_jkt=x&SCOPE=all&scope[]=all&acr.values=weak&prompt=none",
		strings.NewReader("scope=all&acr_values=weak"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	next, err := s.auth.SignIn(httptest.NewRecorder(), r, "acme", pintle.SignInOptions{
		Prompt: "login", ACRValues: []string{"phr", "mfa"}, Params: url.Values{"scope": {"openid"}, "claims": {"own"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := mustParse(t, next).Query()
	for name, want := range map[string]string{"prompt": "login", "acr_values": "phr mfa", "scope": "openid", "claims": "own", "max_age": "0"} {
		if !slices.Equal(got[name], []string{want}) {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	for _, name := range []string{"resource", "dpop_jkt", "SCOPE", "scope[]", "acr.values"} {
		if got.Has(name) {
			t.Errorf("the provider is sent %s", name)
		}
	}
}

// What cannot be checked is an error, and never left out in silence.
func TestWhatCannotBeAskedIsAnError(t *testing.T) {
	many := slices.Repeat([]string{"mfa"}, 9)
	for name, tt := range map[string]struct {
		provider string
		ask      pintle.SignInOptions
		change   func(*site)
		code     pintle.Code
	}{
		"an age that is negative":                {ask: pintle.SignInOptions{MaxAge: -1}},
		"an age of a thousand years":             {ask: pintle.SignInOptions{MaxAge: 250 * 365 * 24 * time.Hour}},
		"an empty class":                         {ask: pintle.SignInOptions{ACRValues: []string{""}}},
		"two classes in one":                     {ask: pintle.SignInOptions{ACRValues: []string{"a b"}}},
		"a class beyond ASCII":                   {ask: pintle.SignInOptions{ACRValues: []string{"é"}}},
		"a long class":                           {ask: pintle.SignInOptions{ACRValues: []string{strings.Repeat("x", 129)}}},
		"nine classes":                           {ask: pintle.SignInOptions{ACRValues: many}},
		"a prompt of two lines":                  {ask: pintle.SignInOptions{Prompt: "login\n"}},
		"a provider of plain OAuth 2":            {provider: "hub", ask: pintle.SignInOptions{Prompt: "login"}},
		"a class of plain OAuth 2":               {provider: "hub", ask: pintle.SignInOptions{ACRValues: []string{"mfa"}}},
		"a confirmation by OAuth 2":              {provider: "hub", ask: pintle.SignInOptions{Confirm: true}},
		"a confirmation by a password":           {provider: "credentials", ask: pintle.SignInOptions{Confirm: true}},
		"a provider that does not exist":         {provider: "unknown", ask: pintle.SignInOptions{MaxAge: time.Hour}},
		"a confirmation without a session":       {ask: confirm, code: pintle.CodeAccessDenied},
		"a confirmation that no session records": {ask: confirm, change: func(s *site) { s.Session.RecordAuthentication = false }},
		"a confirmation without a store":         {ask: confirm, change: func(s *site) { s.Store = nil }},
		"a confirmation without accounts": {ask: confirm, code: "MissingAdapterMethods", change: func(s *site) {
			s.Store, s.Session.Strategy = withoutAccounts{memstore.New()}, pintle.StrategyJWT
			s.Providers = s.Providers[:1]
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, recording, func(s *site) {
				s.Store = memstore.New()
				hub := s.idp.OAuth2("hub")
				s.Providers = append(s.Providers, hub)
				if tt.change != nil {
					tt.change(s)
				}
			})
			provider, code := tt.provider, tt.code
			if provider == "" {
				provider = "acme"
			}
			if code == "" {
				code = pintle.CodeConfiguration
			}
			w := httptest.NewRecorder()
			next, err := s.auth.SignIn(w, s.browser().request(), provider, tt.ask)
			if !errors.Is(err, code) || next != "" || len(w.Result().Cookies()) != 0 {
				t.Errorf("SignIn returns %q, %v, want %s", next, err, code)
			}
		})
	}
}

// A provider that posts its answer comes back without the session cookie. The form is
// posted once more from here.
func TestAProviderThatPostsItsAnswerConfirms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := confirmable(t, pintle.StrategyDatabase, func(s *site) {
			posting := s.idp.OIDC("acme")
			posting.Authorization.Params = map[string]string{"response_mode": "form_post", "scope": "openid profile email"}
			s.Providers[0] = posting
		})
		held := b.cookie(sessionCookie)
		to := b.asks("acme", confirm)
		form := b.get(to.String()).want(http.StatusOK).hidden()
		cross := s.browser() // with the cookies that browsers send along from another site
		for _, name := range []string{stateCookie, pkceCookie, nonceCookie} {
			cross.plant(name, b.cookie(name))
		}
		again := cross.postForm("/auth/callback/acme", form).want(http.StatusOK).hidden()
		if b.cookie(sessionCookie) != held {
			t.Fatal("the session changed")
		}
		b.postForm("/auth/callback/acme", again).goesTo(s.url + "/confirm?for=keys")
		if got := b.recorded(); !got.Proofs["fed"].Equal(time.Now().Truncate(time.Second)) {
			t.Errorf("the session records %+v", got)
		}
	})
}

// carelessCeremony takes every answer, and verifies no user.
type carelessCeremony struct {
	noCeremony
	verified bool
}

func (c carelessCeremony) VerifyAuthentication(_ context.Context, r *pintle.CeremonyRequest) (*pintle.Passkey, error) {
	used := *r.Passkeys[0]
	used.Counter++
	used.UserVerified = c.verified
	return &used, nil
}

// A ceremony that does not know the requirement cannot lower it. Package passkey tests the
// rest with real signatures.
func TestAPasskeyIsVerifiedWhereThatIsRequired(t *testing.T) {
	for _, verified := range []bool{true, false} {
		for _, required := range []bool{true, false} {
			s := newSite(t, withPasskeys, recording, func(s *site) {
				s.Providers = append(s.Providers[:2], &pintle.WebAuthn{Ceremony: carelessCeremony{verified: verified}})
			})
			ada := people["ada"].user
			if _, err := s.Store.CreateUser(t.Context(), &ada); err != nil {
				t.Fatal(err)
			}
			s.link(ada.ID, "passkey", "AAAA")
			key := &pintle.Passkey{CredentialID: "AAAA", ProviderAccountID: "AAAA", UserID: ada.ID, DeviceType: "singleDevice", Created: time.Now()}
			if err := s.Store.CreatePasskey(t.Context(), key); err != nil {
				t.Fatal(err)
			}
			b := s.browser()
			b.begins(ada)
			w := httptest.NewRecorder()
			o := pintle.SignInOptions{RequireUserVerification: required}
			if _, err := s.auth.BeginPasskeyConfirmation(w, b.request(), "passkey", o); err != nil {
				t.Fatal(err)
			}
			b.takes(w)
			o.Confirm = true
			if _, err := s.auth.BeginPasskeyConfirmation(httptest.NewRecorder(), b.request(), "passkey", o); !errors.Is(err, pintle.CodeConfiguration) {
				t.Fatalf("with an option for providers: %v", err)
			}
			session, err := s.auth.FinishPasskeyConfirmation(httptest.NewRecorder(), b.request(), "passkey", []byte(`{"id":"AAAA"}`))
			if refused := err != nil; refused != (required && !verified) {
				t.Fatalf("verified %t, required %t: %v", verified, required, err)
			}
			if err == nil && slices.Contains(session.Authentication.Methods, "mfa") != verified {
				t.Errorf("verified %t: the session records %v", verified, session.Authentication.Methods)
			}
		}
	}
}

func TestMethodsForPasskeyConfirmationsSayWhatTheyNeed(t *testing.T) {
	s := newSite(t, withPasskeys, recording)
	r := s.browser().request()
	for provider, code := range map[string]pintle.Code{"passkey": pintle.CodeAccessDenied, "acme": pintle.CodeConfiguration, "": pintle.CodeConfiguration} {
		if _, err := s.auth.BeginPasskeyConfirmation(httptest.NewRecorder(), r, provider, pintle.SignInOptions{}); !errors.Is(err, code) {
			t.Errorf("begin with %q: %v", provider, err)
		}
		if _, err := s.auth.FinishPasskeyConfirmation(httptest.NewRecorder(), r, provider, nil); !errors.Is(err, code) {
			t.Errorf("finish with %q: %v", provider, err)
		}
	}
}
