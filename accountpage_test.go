package pintle_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
)

func withAccountPage(s *site) { s.Pages.Account = "/account?tab=ways" }

// A signed-in user whose attempt to link an account fails returns to the page
// on which they began it, whatever the error.
func TestAFailureToLinkLeadsBackToTheAccountPage(t *testing.T) {
	tests := []struct {
		name  string
		fault authtest.Fault
		owned bool  // whether another user owns the account
		asked error // of Callbacks.SignIn
		code  string
		other string // the page for those who are not signed in
	}{
		{name: "the account of another user", owned: true, code: "OAuthAccountNotLinked"},
		{name: "the person said no", fault: authtest.ResponseAccessDenied, code: "OAuthCallbackError", other: "/auth/signin"},
		{name: "the application says no", asked: errors.New("not one of ours"), code: "AccessDenied", other: "/auth/error"},
		{name: "a provider that cannot be believed", fault: authtest.IDTokenWrongIssuer, code: "Configuration", other: "/auth/error"},
		{name: "a provider that cannot be reached", fault: authtest.DiscoveryForeignIssuer, code: "Configuration", other: "/auth/error"},
	}
	for _, tt := range tests {
		for _, strategy := range strategies {
			t.Run(tt.name+" with sessions as "+string(strategy), func(t *testing.T) {
				k := newRecordingStore()
				s := newSite(t, withRecordingStore(k, strategy), withAccountPage, func(s *site) {
					s.Providers = []pintle.Provider{s.idp.OIDC("acme")}
					s.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) { return "", tt.asked }
				})
				ada, grace := k.seedUser(t, people["ada"].user), k.seedUser(t, people["grace"].user)
				if tt.owned {
					k.seedAccount(t, grace, "acme", adaElsewhere.Subject)
				}
				if tt.fault != "" {
					s.idp.Break(tt.fault)
				}
				b := s.browser()
				held := b.signInAs(k, ada, strategy)
				s.eventNames()
				r := b.attempt("acme").want(http.StatusFound)
				if want := s.url + "/account?tab=ways&error=" + tt.code; r.location() != want {
					t.Errorf("the browser is sent to %q, want %q", r.location(), want)
				}
				for _, check := range []string{stateCookie, pkceCookie, nonceCookie} {
					if b.cookie(check) != "" {
						t.Errorf("SH-11 the cookie %s is left", check)
					}
				}
				if b.cookie(sessionCookie) != held || b.who() != ada.Name {
					t.Error("the failure changed the session")
				}
				if events := s.eventNames(); len(events) > 0 {
					t.Errorf("there were the events %q", events)
				}
				if tt.other != "" {
					s.browser().attempt("acme").fails(tt.other, tt.code)
				}
			})
		}
	}
}

// The account page is for signed-in users. A browser without a session, or with
// one that has expired or was ended elsewhere, sees the public pages.
func TestOnlySignedInUsersAreLedToTheAccountPage(t *testing.T) {
	for _, strategy := range strategies {
		k := newRecordingStore()
		s := newSite(t, withRecordingStore(k, strategy), withAccountPage)
		ada := k.seedUser(t, people["ada"].user)
		s.idp.Break(authtest.ResponseAccessDenied)
		over := s.browser()
		if strategy == pintle.StrategyDatabase {
			over.plant(sessionCookie, k.seedSession(t, ada, -time.Minute))
		} else {
			over.plant(sessionCookie, "no token")
		}
		over.attempt("acme").fails("/auth/signin", "OAuthCallbackError")

		// Nor does a user who types a password: they mean to sign in.
		b := s.browser()
		b.signInAs(k, ada, strategy)
		b.post("/auth/callback/credentials", "username", "ada", "password", "wrong").fails("/auth/signin", "CredentialsSignin")

		k.fail("getSessionAndUser", "getUser")
		if to := b.get("/auth/callback/acme?error=access_denied&state=x").location(); !strings.HasPrefix(to, s.url+"/auth/") {
			t.Errorf("%s: when the store cannot say who is signed in, the browser is sent to %q", strategy, to)
		}
	}
}

// Passkeys are added on the account page, too.
func TestAPasskeyThatCannotBeAddedLeadsBackToTheAccountPage(t *testing.T) {
	store := memstore.New()
	s := newSite(t, withPasskeys, withAccountPage, func(s *site) {
		s.Store = store
		s.Providers = append(s.Providers[:2], &pintle.WebAuthn{Ceremony: anyCeremony{is: pintle.Passkey{CredentialID: "AAAA"}}})
	})
	register := func(b *browser, options string) *reply {
		b.get("/auth/webauthn-options/passkey" + options).want(http.StatusOK)
		return b.post("/auth/callback/passkey", "action", "register", "data", `{"id":"AAAA"}`)
	}
	register(s.browser(), "?email=grace@example.com").goesTo(s.url)

	ada := s.browser()
	ada.get(ada.consent(ada.leave("acme"))).goesTo(s.url)
	r := register(ada, "?action=register").want(http.StatusFound)
	if want := s.url + "/account?tab=ways&error=AccountNotLinked"; r.location() != want {
		t.Errorf("the browser is sent to %q, want %q", r.location(), want)
	}
	register(s.browser(), "?email=eve@example.com").fails("/auth/signin", "AccountNotLinked")
}

// Scripts receive the address.
func TestAScriptIsToldOfTheAccountPage(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase), withAccountPage)
	b := s.browser()
	b.signInAs(k, k.seedUser(t, people["ada"].user), pintle.StrategyDatabase)
	var answer struct{ URL string }
	s.idp.Break(authtest.DiscoveryForeignIssuer)
	r := b.postJSON("/auth/signin/acme", map[string]any{"csrfToken": b.csrf()}, "X-Auth-Return-Redirect", "1")
	r.want(http.StatusOK).json(&answer)
	if want := s.url + "/account?tab=ways&error=Configuration"; answer.URL != want {
		t.Errorf("the script is told %q, want %q", answer.URL, want)
	}
}

// The whole way of an account page: link, see it, unlink.
func TestAnAccountIsLinkedListedAndUnlinked(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			k := newRecordingStore()
			s := newSite(t, withRecordingStore(k, strategy), withAccountPage)
			ada := k.seedUser(t, people["ada"].user)
			k.seedAccount(t, ada, "acme", "home")
			b := s.browser()
			b.signInAs(k, ada, strategy)
			s.eventNames()
			back := b.consent(b.leave("acme"))
			b.get(back).goesTo(s.url)
			session := b.held()
			accounts, err := s.auth.Accounts(t.Context(), session)
			if err != nil || len(accounts) != 2 || session.User.ID != ada.ID {
				t.Fatalf("the accounts of %s are %v, %v", session.User.ID, accounts, err)
			}
			if err := s.auth.Unlink(t.Context(), session, "acme", "1001"); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(s.eventNames(), " "); got != "linkAccount signIn" {
				t.Errorf("the events are %q", got)
			}
			if b.who() != ada.Name {
				t.Error("the session ended")
			}
		})
	}
}

func TestTheAccountPageMustBeAPage(t *testing.T) {
	for _, page := range []string{"account", "//evil.example", "javascript:alert(1)"} {
		_, err := pintle.New(pintle.Config{
			Providers: []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}}, Secrets: []string{secret},
			Pages: pintle.Pages{Account: page}, Getenv: func(string) string { return "" },
		})
		if !errors.Is(err, pintle.CodeConfiguration) || !strings.Contains(err.Error(), "Config.Pages.Account") {
			t.Errorf("Pages.Account %q is %v", page, err)
		}
	}
}

// personal are the methods by which a user manages what is theirs, by name.
func personal(auth *pintle.Auth) map[string]func(context.Context, *pintle.Session) error {
	return map[string]func(context.Context, *pintle.Session) error{
		"Accounts": func(ctx context.Context, s *pintle.Session) error { _, err := auth.Accounts(ctx, s); return err },
		"Unlink":   func(ctx context.Context, s *pintle.Session) error { return auth.Unlink(ctx, s, "acme", "1") },
		"Passkeys": func(ctx context.Context, s *pintle.Session) error { _, err := auth.Passkeys(ctx, s); return err },
		"RenamePasskey": func(ctx context.Context, s *pintle.Session) error {
			return auth.RenamePasskey(ctx, s, "AAAA", "mine")
		},
		"Devices": func(ctx context.Context, s *pintle.Session) error {
			for _, err := range auth.Devices(ctx, s) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"EndDevice":       func(ctx context.Context, s *pintle.Session) error { return auth.EndDevice(ctx, s, "handle") },
		"EndOtherDevices": func(ctx context.Context, s *pintle.Session) error { _, err := auth.EndOtherDevices(ctx, s); return err },
	}
}

// SA-M3: The user with the id of a session is another one at another Auth, and at
// another tenant.
func TestASessionManagesNothingAtAnotherAuth(t *testing.T) {
	customers, staff, r := twoAuths(t)
	session, err := customers.Session(r)
	if err != nil || session == nil {
		t.Fatal(session, err)
	}
	for name, call := range personal(staff) {
		if err := call(t.Context(), session); !errors.Is(err, pintle.CodeAccessDenied) || !strings.Contains(err.Error(), "another Auth") {
			t.Errorf("%s of another Auth: %v", name, err)
		}
	}
	for name, call := range personal(customers) {
		if err := call(t.Context(), session); errors.Is(err, pintle.CodeAccessDenied) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A session of a test of the host is one of all of them.
	if _, err := staff.Accounts(t.Context(), &pintle.Session{User: session.User}); err != nil {
		t.Error(err)
	}

	var book logBook
	tenants := byHost(&book, func(_ context.Context, host string) (pintle.Config, error) {
		cfg := rented(host)
		cfg.Store, cfg.Session.Strategy = memstore.New(), pintle.StrategyJWT
		return cfg, nil
	})
	at := func(host string, do func(context.Context, *pintle.Session)) {
		page := tenants.Load(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { do(r.Context(), pintle.SessionFrom(r.Context())) }))
		get(page, "http://"+host+"/", "Cookie", adaAt(t, tenants, host))
	}
	at("evil.example", func(ctx context.Context, evil *pintle.Session) {
		at("bank.example", func(bank context.Context, own *pintle.Session) {
			for name, call := range personal(tenants) {
				if err := call(bank, evil); !errors.Is(err, pintle.CodeAccessDenied) {
					t.Errorf("%s at another tenant: %v", name, err)
				}
				for at, err := range map[string]error{"evil.example": call(ctx, evil), "bank.example": call(bank, own)} {
					if errors.Is(err, pintle.CodeAccessDenied) {
						t.Errorf("%s at %s: %v", name, at, err)
					}
				}
			}
		})
	})
}
