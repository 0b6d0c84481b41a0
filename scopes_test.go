package pintle_test

import (
	"context"
	"errors"
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

var wantsCalendar = pintle.SignInOptions{Scopes: []string{"calendar", "profile"}, RedirectTo: "/calendar?week=7"}

const (
	granted  = "openid profile email offline_access"
	wider    = granted + " calendar"
	narrower = "openid"
)

// scopeSite is a site whose user has an account with a refresh token, and its browser.
func scopeSite(t *testing.T, strategy pintle.SessionStrategy, changes ...func(*site)) (*site, *browser) {
	t.Helper()
	s := refreshSite(t, memstore.New(), append([]func(*site){func(s *site) { s.Session.Strategy = strategy }}, changes...)...)
	b := s.browser()
	b.signInWith("acme").goesTo(s.url)
	s.eventNames()
	return s, b
}

// heldTokens is the account that the site has.
func (s *site) heldTokens() *pintle.Account {
	s.t.Helper()
	a, err := s.auth.Account(s.t.Context(), "acme", "1001")
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

// answers has the provider put a scope into its next responses, or leave it out, and keep
// the refresh token to itself.
func (s *site) answers(scope string, refresh bool) {
	s.idp.Tamper(authtest.Tamper{Token: func(body map[string]any) {
		if body["scope"] = scope; scope == "" {
			delete(body, "scope")
		}
		if !refresh {
			delete(body, "refresh_token")
		}
	}})
}

// failsWith makes sure that the browser is at the page of the host with an error.
func (b *browser) failsWith(r *reply, code string) {
	b.t.Helper()
	r.goesTo(b.site.url + "/calendar?week=7&error=" + code)
}

// RPX-82, RPX-84
func TestAUserGrantsMoreScopes(t *testing.T) {
	for _, strategy := range strategies {
		for name, tt := range map[string]struct {
			scope   string
			refresh bool
			want    string
		}{
			"named":                    {wider, true, wider},
			"not named":                {"", true, "calendar email offline_access openid profile"},
			"without a refresh token":  {wider, false, wider},
			"separated by commas":      {strings.ReplaceAll(wider, " ", ","), true, strings.ReplaceAll(wider, " ", ",")},
			"with more than asked for": {wider + " mail", true, wider + " mail"},
		} {
			t.Run(string(strategy)+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					asked := 0
					s, b := scopeSite(t, strategy, func(s *site) {
						s.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) { asked++; return "", nil }
					})
					asked = 0
					before, session := s.heldTokens(), b.cookie(sessionCookie)
					s.answers(tt.scope, tt.refresh)
					to := b.asks("acme", wantsCalendar)
					if got := strings.Fields(to.Query().Get("scope")); !slices.Equal(got, strings.Fields(wider)) || to.Query().Has("prompt") {
						t.Errorf("RPX-82 the provider is asked for %q with %v", got, to.Query())
					}
					b.get(b.consent(to)).goesTo(s.url + "/calendar?week=7")
					after := s.heldTokens()
					if after.AccessToken == before.AccessToken || after.Scope != tt.want {
						t.Errorf("RPX-84 stored is the scope %q", after.Scope)
					}
					if tt.refresh == (after.RefreshToken == before.RefreshToken) || after.RefreshToken == "" {
						t.Errorf("RPX-84 the refresh token is %q", after.RefreshToken)
					}
					if events := s.eventNames(); slices.ContainsFunc(events, func(e string) bool { return e != "session" }) || asked != 0 {
						t.Errorf("RPX-82 there were the events %q, and %d calls of Callbacks.SignIn", events, asked)
					}
					if b.cookie(sessionCookie) != session && strategy == pintle.StrategyDatabase {
						t.Error("the session is another one")
					}
				})
			})
		}
	}
}

// RPT-50
func TestAnAnswerWithOtherScopesOrForAnotherAccount(t *testing.T) {
	kim := authtest.Person{Subject: "77", Name: "Kim"}
	tests := []struct {
		name   string
		during func(s *site, b *browser)
		code   string
		stored bool // the new tokens
	}{
		{"partial consent that loses nothing", func(s *site, _ *browser) { s.answers(granted, true) }, "ConsentRequired", true},
		{"partial consent that loses a scope", func(s *site, _ *browser) { s.answers(narrower+" calendar", true) }, "ConsentRequired", false},
		{"no scope at all", func(s *site, _ *browser) { s.answers(" ", true) }, "ConsentRequired", false},
		{"another account of the provider", func(s *site, _ *browser) { s.answers(wider, true); s.idp.SignInAs(kim) }, "OAuthAccountNotLinked", false},
		{"another account of the user", func(s *site, b *browser) {
			s.answers(wider, true)
			s.idp.SignInAs(kim)
			s.link(b.sub(), "acme", kim.Subject)
		}, "OAuthAccountNotLinked", false},
		{"an account that was unlinked and is another user's", func(s *site, b *browser) {
			s.answers(wider, true)
			a := s.heldTokens()
			if err := s.Store.UnlinkAccount(s.t.Context(), a.UserID, a.Provider, a.ProviderAccountID, nil); err != nil {
				s.t.Fatal(err)
			}
			other, err := s.Store.CreateUser(s.t.Context(), &pintle.User{Name: "Grace"})
			if err != nil {
				s.t.Fatal(err)
			}
			a.UserID = other.ID
			if err := s.Store.LinkAccount(s.t.Context(), a); err != nil {
				s.t.Fatal(err)
			}
		}, "OAuthAccountNotLinked", false},
		{"the user signed out", func(s *site, b *browser) { s.answers(wider, true); b.plant(sessionCookie, "") }, "Configuration", false},
		{"another user signed in", func(s *site, b *browser) {
			s.answers(wider, true)
			other, err := s.Store.CreateUser(s.t.Context(), &pintle.User{Name: "Grace"})
			if err != nil {
				s.t.Fatal(err)
			}
			b.begins(*other)
		}, "Configuration", false},
		{"the user says no", func(s *site, _ *browser) { s.idp.Break(authtest.ResponseAccessDenied) }, "OAuthCallbackError", false},
	}
	for _, tt := range tests {
		t.Run("RPT-50 "+tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, b := scopeSite(t, pintle.StrategyJWT)
				before := s.heldTokens()
				to := b.asks("acme", wantsCalendar)
				tt.during(s, b)
				b.failsWith(b.get(b.consent(to)), tt.code)
				if after := s.heldTokens(); (after.AccessToken != before.AccessToken) != tt.stored {
					t.Errorf("RPT-50 the tokens are new: %t", !tt.stored)
				}
				if a, err := s.auth.Account(t.Context(), "acme", kim.Subject); err == nil && a.AccessToken != "" {
					t.Errorf("RPX-83 the tokens of another account are stored: %v", a)
				}
			})
		})
	}
}

// RPT-50: the answer in another browser changes nothing.
func TestScopesAreGrantedInTheBrowserThatAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := scopeSite(t, pintle.StrategyJWT)
		before := s.heldTokens()
		s.answers(wider, true)
		back := b.consent(b.asks("acme", wantsCalendar))
		other := s.browser()
		other.plant(sessionCookie, b.cookie(sessionCookie))
		if at := other.get(back).location(); !strings.Contains(at, "error=") {
			t.Errorf("RPT-50 another browser is sent to %s", at)
		}
		if s.heldTokens().AccessToken != before.AccessToken {
			t.Error("RPT-50 the tokens are new")
		}
	})
}

// RPX-82: whose scopes are asked for is decided before the browser leaves.
func TestScopesNeedAnAccountOfTheUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := scopeSite(t, pintle.StrategyJWT, func(s *site) {
			s.Providers = append(s.Providers, s.idp.OIDC("other"), &pintle.Credentials{Authorize: checkPassword})
		})
		s.idp.SignInAs(authtest.Person{Subject: "77", Name: "Kim"})
		s.browser().signInWith("acme").goesTo(s.url)
		many, long := slices.Repeat([]string{"a"}, 17), strings.Repeat("a", 257)
		for name, tt := range map[string]struct {
			b        *browser
			provider string
			o        pintle.SignInOptions
			code     pintle.Code
		}{
			"signed out":                    {s.browser(), "acme", pintle.SignInOptions{Scopes: []string{"a"}}, pintle.CodeAccessDenied},
			"RPT-51 another's account":      {b, "acme", pintle.SignInOptions{Scopes: []string{"a"}, ProviderAccountID: "77"}, pintle.CodeAccountNotLinked},
			"an unknown account":            {b, "acme", pintle.SignInOptions{Scopes: []string{"a"}, ProviderAccountID: "78"}, pintle.CodeAccountNotLinked},
			"no account at the provider":    {b, "other", pintle.SignInOptions{Scopes: []string{"a"}}, pintle.CodeAccountNotLinked},
			"a provider without scopes":     {b, "credentials", pintle.SignInOptions{Scopes: []string{"a"}}, pintle.CodeConfiguration},
			"no provider":                   {b, "", pintle.SignInOptions{Scopes: []string{"a"}}, pintle.CodeConfiguration},
			"a confirmation as well":        {b, "acme", pintle.SignInOptions{Scopes: []string{"a"}, Confirm: true}, pintle.CodeConfiguration},
			"an account without scopes":     {b, "acme", pintle.SignInOptions{ProviderAccountID: "1001"}, pintle.CodeConfiguration},
			"two scopes in one":             {b, "acme", pintle.SignInOptions{Scopes: []string{"a b"}}, pintle.CodeConfiguration},
			"an empty scope":                {b, "acme", pintle.SignInOptions{Scopes: []string{""}}, pintle.CodeConfiguration},
			"a scope with a quote":          {b, "acme", pintle.SignInOptions{Scopes: []string{`"`}}, pintle.CodeConfiguration},
			"a scope with a backslash":      {b, "acme", pintle.SignInOptions{Scopes: []string{`\`}}, pintle.CodeConfiguration},
			"a scope that is not ASCII":     {b, "acme", pintle.SignInOptions{Scopes: []string{"é"}}, pintle.CodeConfiguration},
			"many scopes":                   {b, "acme", pintle.SignInOptions{Scopes: many}, pintle.CodeConfiguration},
			"a long scope":                  {b, "acme", pintle.SignInOptions{Scopes: []string{long}}, pintle.CodeConfiguration},
			"scopes that are long together": {b, "acme", pintle.SignInOptions{Scopes: slices.Repeat([]string{long[:250]}, 4)}, pintle.CodeConfiguration},
		} {
			next, err := s.auth.SignIn(httptest.NewRecorder(), tt.b.request(), tt.provider, tt.o)
			if next != "" || !errors.Is(err, tt.code) {
				t.Errorf("%s: %q, %v", name, next, err)
			}
		}
		s.link(s.heldTokens().UserID, "acme", "79")
		if _, err := s.auth.SignIn(httptest.NewRecorder(), b.request(), "acme", wantsCalendar); !errors.Is(err, pintle.CodeConfiguration) || !strings.Contains(err.Error(), "ProviderAccountID") {
			t.Errorf("RPX-82 of two accounts: %v", err)
		}
		one := wantsCalendar
		one.ProviderAccountID = "1001"
		s.idp.SignInAs(authtest.DefaultPeople()[0])
		s.answers(wider, true)
		b.get(b.consent(b.asks("acme", one))).goesTo(s.url + "/calendar?week=7")
	})
}

// RPT-2: the query of a request cannot take the scopes away that server code asks for.
func TestScopesOfServerCodeAreAskedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, b := scopeSite(t, pintle.StrategyJWT)
		r := b.request()
		r.URL.RawQuery = "scope=openid&SCOPE=openid&scope[]=openid"
		o := wantsCalendar
		o.Params = url.Values{"scope": {"openid tasks"}, "login_hint": {"ada@example.com"}}
		next, err := s.auth.SignIn(httptest.NewRecorder(), r, "acme", o)
		if err != nil {
			t.Fatal(err)
		}
		got := mustParse(t, next).Query()
		if want := "openid tasks profile email offline_access calendar"; len(got["scope"]) != 1 || got.Get("scope") != want || got.Has("SCOPE") || got.Has("scope[]") || got.Get("login_hint") == "" {
			t.Errorf("RPT-2 the provider is asked with %v, want the scope %q", got, want)
		}
	})
}

// RPX-81, RPX-84
func TestASignInStoresItsTokens(t *testing.T) {
	tests := []struct {
		name            string
		off             bool
		scope           string
		refresh         bool
		held            string // the scope of the stored account
		stored, renewed bool   // the tokens; the refresh token
	}{
		{name: "not unless it is set", off: true, scope: granted, refresh: true, held: granted},
		{name: "the same scopes", scope: granted, refresh: true, held: granted, stored: true, renewed: true},
		{name: "no refresh token", scope: granted, held: granted, stored: true},
		{name: "more scopes", scope: wider, refresh: true, held: granted, stored: true, renewed: true},
		{name: "fewer scopes", scope: narrower, refresh: true, held: granted},
		{name: "scopes that are not named", refresh: true, held: granted, stored: true, renewed: true},
		{name: "scopes that are not named and fewer", refresh: true, held: wider},
		{name: "of unknown scopes", scope: narrower, refresh: true, stored: true, renewed: true},
	}
	for _, tt := range tests {
		t.Run("RPX-81 "+tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := scopeSite(t, pintle.StrategyDatabase, func(s *site) { s.Providers[0].(*pintle.OAuth).StoreTokensAtSignIn = !tt.off })
				before := s.heldTokens()
				before.Scope = tt.held
				if err := s.Store.UpdateAccount(t.Context(), before); err != nil {
					t.Fatal(err)
				}
				s.answers(tt.scope, tt.refresh)
				s.browser().signInWith("acme").goesTo(s.url)
				after := s.heldTokens()
				if (after.AccessToken != before.AccessToken) != tt.stored || (after.RefreshToken != before.RefreshToken) != tt.renewed || after.RefreshToken == "" {
					t.Errorf("stored are %q and %q", after.AccessToken, after.RefreshToken)
				}
				if !tt.stored && after.Scope != before.Scope {
					t.Errorf("the scope is %q", after.Scope)
				}
			})
		})
	}
}

// A user whose grant has ended signs in again, with fewer scopes than the account had.
func TestASignInReplacesAGrantThatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := scopeSite(t, pintle.StrategyDatabase, func(s *site) { s.Providers[0].(*pintle.OAuth).StoreTokensAtSignIn = true })
		ask := &pintle.Account{Provider: "acme", ProviderAccountID: "1001"}
		wide := s.heldTokens()
		wide.Scope = wider
		if err := s.Store.UpdateAccount(t.Context(), wide); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		s.idp.Break(authtest.TokenInvalidGrant)
		if _, err := s.auth.Refresh(t.Context(), ask); !errors.Is(err, pintle.ErrNoRefresh) {
			t.Fatalf("the error is %v", err)
		}
		s.idp.Repair()
		if dead := s.heldTokens(); dead.RefreshToken != wide.RefreshToken || dead.AccessToken != "" {
			t.Errorf("RPX-84 stored are %q and %q", dead.AccessToken, dead.RefreshToken)
		}
		s.browser().signInWith("acme").goesTo(s.url)
		if got, err := s.process().Refresh(t.Context(), ask); err != nil || got.Scope != granted {
			t.Errorf("RPX-84 after the sign-in: %v (%v)", got, err)
		}
	})
}

func TestAStoreThatFailsDoesNotStopASignInWithTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecordingStore()
		s := refreshSite(t, k, func(s *site) { s.Providers[0].(*pintle.OAuth).StoreTokensAtSignIn = true })
		s.browser().signInWith("acme").goesTo(s.url)
		k.fail("swapAccount")
		b := s.browser()
		b.signInWith("acme").goesTo(s.url)
		if b.who() != "Ada Lovelace" || !strings.Contains(s.log.String(), `"level":"ERROR","msg":"pintle: the tokens of a sign-in are not stored","code":"AdapterError"`) {
			t.Errorf("RPX-81 %s is signed in; log:\n%s", b.who(), s.log)
		}
	})
}

func TestStoreTokensAtSignInNeedsAStoreOfAccounts(t *testing.T) {
	for name, store := range map[string]pintle.Store{"none": nil, "without accounts": noAccounts{memstore.New()}} {
		s := newSite(t)
		s.Store, s.Session.Strategy = store, pintle.StrategyJWT
		acme := s.idp.OIDC("acme")
		acme.StoreTokensAtSignIn = true
		s.Providers = []pintle.Provider{acme}
		if _, err := pintle.New(s.Config); err == nil || !strings.Contains(err.Error(), "StoreTokensAtSignIn") {
			t.Errorf("RPX-81 a store %s: %v", name, err)
		}
	}
}

type noAccounts struct{ pintle.Store }

func (s noAccounts) Features() pintle.Features {
	return lacking(s.Store, func(f *pintle.Features) {
		f.Accounts, f.AccountSwap, f.Passkeys, f.PasskeyNames = false, false, false, false
	})
}
