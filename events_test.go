package pintle_test

import (
	"context"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pintleauth/pintle"
)

// fullSite has a provider of every kind and keeps its users in a store: "acme",
// whose addresses are verified, "email", and "credentials", which reports that
// no stored user has a password.
func fullSite(t *testing.T, strategy pintle.SessionStrategy, changes ...func(*site)) (*site, *recordingTxStore) {
	t.Helper()
	k := newRecordingStore()
	changes = append([]func(*site){withRecordingStore(k, strategy), func(s *site) {
		acme := s.idp.OIDC("acme")
		acme.EmailVerified = verifiedClaim
		s.Providers = []pintle.Provider{acme, &pintle.Credentials{Authorize: checkPassword, CanSignIn: knowsNoUser}, s.mailProvider()}
	}}, changes...)
	return newSite(t, changes...), k
}

func knowsNoUser(context.Context, *pintle.User) (bool, error) { return false, nil }

// verifiedClaim believes the standard claim.
func verifiedClaim(p pintle.Profile) bool { return p.Bool("email_verified") }

func TestEventsTellWhatHappenedAndNothingElse(t *testing.T) {
	for _, strategy := range strategies {
		s, k := fullSite(t, strategy)
		ada := k.seedUser(t, people["ada"].user)
		steps := []struct {
			name string
			do   func(*browser)
			want []string
		}{
			{"asking for a mail", func(b *browser) { b.mailTo("ada@example.com") }, nil},
			{"opening the link", func(b *browser) { b.get(s.lastMail().URL).goesTo(s.url) }, []string{"updateUser", "signIn"}},
			{"asking for the session", func(b *browser) { b.session() }, []string{"session"}},
			{"updating the session", func(b *browser) {
				b.postJSON("/auth/session", map[string]any{"csrfToken": b.csrf(), "data": map[string]any{"name": "Ada"}}).want(http.StatusOK)
			}, []string{"session"}},
			{"looking at a page", func(b *browser) { b.who() }, nil},
			{"linking an account", func(b *browser) {
				s.idp.SignInAs(noAddress)
				b.signInWith("acme").goesTo(s.url)
			}, []string{"linkAccount", "signIn"}},
			{"signing out", func(b *browser) { b.post("/auth/signout").goesTo(s.url) }, []string{"signOut"}},
			{"signing out once more", func(b *browser) { b.post("/auth/signout").goesTo(s.url) }, nil},
			{"requesting the session while signed out", func(b *browser) { b.session() }, nil},
			{"signing in with the account", func(b *browser) { b.signInWith("acme").goesTo(s.url) }, []string{"signIn"}},
			{"a wrong password", func(b *browser) {
				b.post("/auth/callback/credentials", "username", "ada", "password", "guess").fails("/auth/signin", "CredentialsSignin")
			}, nil},
			{"a right password", func(b *browser) { b.signIn("ada") }, []string{"signIn"}},
			{"a used link", func(b *browser) { b.get(s.lastMail().URL).fails("/auth/error", "Verification") }, nil},
			{"a new user by mail", func(b *browser) { b.get(b.mailTo("new@example.com").URL).goesTo(s.url) }, []string{"createUser", "signIn"}},
			{"an account of another user", func(b *browser) { b.signInWith("acme").fails("/auth/signin", "OAuthAccountNotLinked") }, nil},
			{"a session that expired", func(b *browser) {
				if strategy == pintle.StrategyDatabase {
					b.plant(sessionCookie, k.seedSession(t, ada, -time.Hour))
				} else {
					claims := claimsFor("ada")
					claims["exp"] = time.Now().Add(-time.Hour).Unix()
					b.plant(sessionCookie, sealed(t, sessionCookie, claims))
				}
				b.session()
			}, nil},
		}
		b := s.browser()
		for _, step := range steps {
			t.Run(string(strategy)+" S-32 "+step.name, func(t *testing.T) {
				s.eventNames()
				step.do(b)
				if got := s.eventNames(); !slices.Equal(got, step.want) {
					t.Errorf("the events are %q, want %q", got, step.want)
				}
			})
		}
	}
}

// The content of a sign-in event depends on the provider.
func TestASignInEventHasWhatTheWayInHas(t *testing.T) {
	s, k := fullSite(t, pintle.StrategyJWT)
	ada := k.seedUser(t, people["ada"].user)

	s.browser().signIn("ada")
	e := lastEvent[*pintle.SignInEvent](s, "signIn")
	if e.User.ID != ada.ID || e.Account.Type != pintle.TypeCredentials || e.Account.Provider != "credentials" ||
		e.Account.ProviderAccountID != ada.ID || e.Profile != nil || e.ProviderUser != nil || e.NewUser != nil {
		t.Errorf("by password: %+v with %+v", e, e.Account)
	}

	b := s.browser()
	b.get(b.mailTo("ada@example.com").URL).goesTo(s.url)
	e = lastEvent[*pintle.SignInEvent](s, "signIn")
	if e.User.ID != ada.ID || e.Account.Type != pintle.TypeEmail || e.Account.ProviderAccountID != "ada@example.com" || e.Profile != nil || e.ProviderUser != nil || *e.NewUser {
		t.Errorf("by mail: %+v with %+v", e, e.Account)
	}

	s.idp.SignInAs(noAddress)
	s.browser().signInWith("acme").goesTo(s.url)
	e = lastEvent[*pintle.SignInEvent](s, "signIn")
	if e.Account.Type != pintle.TypeOIDC || e.Account.ProviderAccountID != noAddress.Subject || e.Profile.Text("name") != noAddress.Name ||
		e.ProviderUser == nil || e.ProviderUser.Name != noAddress.Name || !*e.NewUser {
		t.Errorf("by provider: %+v with %+v", e, e.Account)
	}
}

// A host keeps what it likes of the profile also if the sign-in waits, and changes nothing of it.
func TestAPendingSignInHasTheUserOfTheProfile(t *testing.T) {
	var reported []*pintle.User
	s, k := fullSite(t, pintle.StrategyJWT, func(s *site) {
		s.Callbacks.Hold = func(_ context.Context, p *pintle.PendingSignIn) (string, error) {
			reported = append(reported, p.ProviderUser)
			if p.ProviderUser != nil {
				p.ProviderUser.Name = "changed"
			}
			return "", nil
		}
	})
	k.seedUser(t, people["ada"].user)
	s.browser().signIn("ada")
	s.idp.SignInAs(noAddress)
	b := s.browser()
	b.signInWith("acme").goesTo(s.url)
	if len(reported) != 2 || reported[0] != nil || reported[1] == nil {
		t.Fatalf("the users of the profiles are %v", reported)
	}
	if e := lastEvent[*pintle.SignInEvent](s, "signIn"); e.ProviderUser.Name != noAddress.Name || e.User.Name != noAddress.Name {
		t.Errorf("the event has the names %q and %q", e.ProviderUser.Name, e.User.Name)
	}
}

func TestASignOutEventHasWhatWasEnded(t *testing.T) {
	t.Run("a token", func(t *testing.T) {
		s := newSite(t)
		b := s.browser()
		b.signIn("ada")
		b.post("/auth/signout").goesTo(s.url)
		if e := lastEvent[*pintle.SignOutEvent](s, "signOut"); e.Claims["sub"] != "user-ada" || e.Session != nil {
			t.Errorf("the event is %+v", e)
		}
	})
	t.Run("a row", func(t *testing.T) {
		s, k := fullSite(t, pintle.StrategyDatabase)
		ada := k.seedUser(t, people["ada"].user)
		b := s.browser()
		b.signInAs(k, ada, pintle.StrategyDatabase)
		b.post("/auth/signout").goesTo(s.url)
		if e := lastEvent[*pintle.SignOutEvent](s, "signOut"); e.Claims != nil || e.Session == nil || e.Session.UserID != ada.ID {
			t.Errorf("the event is %+v", e)
		}
	})
	t.Run("a row that was gone", func(t *testing.T) {
		s, _ := fullSite(t, pintle.StrategyDatabase)
		b := s.browser()
		b.plant(sessionCookie, "an-unknown-token")
		b.post("/auth/signout").goesTo(s.url)
		if e := lastEvent[*pintle.SignOutEvent](s, "signOut"); e.Claims != nil || e.Session != nil {
			t.Errorf("the event is %+v", e)
		}
	})
}

func TestASessionEventHasWhatWasShown(t *testing.T) {
	t.Run("by default", func(t *testing.T) {
		s := newSite(t)
		b := s.browser()
		b.signIn("ada")
		b.session()
		e := lastEvent[*pintle.SessionEvent](s, "session")
		if shown, ok := e.Session.(*pintle.Session); !ok || shown.User.Name != "Ada Lovelace" || e.Claims["sub"] != "user-ada" {
			t.Errorf("the event is %+v", e)
		}
	})
	t.Run("by the host", func(t *testing.T) {
		s, k := fullSite(t, pintle.StrategyDatabase, func(s *site) {
			s.Callbacks.Session = func(context.Context, *pintle.SessionView) (any, error) { return map[string]any{"hello": "world"}, nil }
		})
		b := s.browser()
		b.signInAs(k, k.seedUser(t, people["ada"].user), pintle.StrategyDatabase)
		shown := b.session()
		e := lastEvent[*pintle.SessionEvent](s, "session")
		if diff := cmp.Diff(any(shown), e.Session); diff != "" || e.Claims != nil {
			t.Errorf("the event is %+v, the browser was shown %v", e, shown)
		}
	})
}

// Events come after the writes: a handler that reads the store finds the rows.
func TestEventsComeAfterTheFact(t *testing.T) {
	s, k := fullSite(t, pintle.StrategyDatabase)
	check := map[string]func(context.Context) bool{
		"createUser": func(ctx context.Context) bool {
			_, err := k.Store.UserByEmail(ctx, "ada@example.com")
			return err == nil
		},
		"linkAccount": func(ctx context.Context) bool { _, err := k.Store.Account(ctx, "acme", "1001"); return err == nil },
		"signIn": func(ctx context.Context) bool {
			u, err := k.Store.UserByAccount(ctx, "acme", "1001")
			return err == nil && k.sessions(t, u.ID) == 1
		},
	}
	seen := map[string]bool{}
	s.Events.CreateUser = func(ctx context.Context, _ *pintle.User) error {
		seen["createUser"] = check["createUser"](ctx)
		return nil
	}
	s.Events.LinkAccount = func(ctx context.Context, _ *pintle.LinkAccountEvent) error {
		seen["linkAccount"] = check["linkAccount"](ctx)
		return nil
	}
	s.Events.SignIn = func(ctx context.Context, _ *pintle.SignInEvent) error {
		seen["signIn"] = check["signIn"](ctx)
		return nil
	}
	auth, err := pintle.New(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	s.serve(auth)
	s.browser().signInWith("acme").goesTo(s.url)
	if want := map[string]bool{"createUser": true, "linkAccount": true, "signIn": true}; !maps.Equal(seen, want) {
		t.Errorf("the handlers saw %v, want %v", seen, want)
	}
}

// A handler that fails is the operator's business. Nothing changes for the
// person.
func TestAFailingHandlerChangesNothing(t *testing.T) {
	s, k := fullSite(t, pintle.StrategyDatabase, func(s *site) {
		s.Events = pintle.Events{
			SignIn:      func(context.Context, *pintle.SignInEvent) error { return errBroken },
			SignOut:     func(context.Context, *pintle.SignOutEvent) error { return errBroken },
			CreateUser:  func(context.Context, *pintle.User) error { return errBroken },
			UpdateUser:  func(context.Context, *pintle.User) error { return errBroken },
			LinkAccount: func(context.Context, *pintle.LinkAccountEvent) error { return errBroken },
			Session:     func(context.Context, *pintle.SessionEvent) error { return errBroken },
		}
	})
	b := s.browser()
	b.signInWith("acme").goesTo(s.url)
	if b.session() == nil {
		t.Error("the browser is signed out")
	}
	b.get(b.mailTo("ada@example.com").URL).goesTo(s.url)
	b.post("/auth/signout").goesTo(s.url)
	if k.owner(t, "acme", "1001") == nil || b.session() != nil {
		t.Error("something did not happen")
	}
	for _, name := range []string{"signIn", "signOut", "createUser", "updateUser", "linkAccount", "session"} {
		found := false
		for _, e := range s.log.entries(t) {
			found = found || e["code"] == "EventError" && e["event"] == name && e["level"] == "ERROR" && e["error"] == errBroken.Error()
		}
		if !found {
			t.Errorf("the log does not tell that the handler of %s failed", name)
		}
	}
}

// A handler that changes its event must not change the store or the session.
func TestHandlersWorkOnWhatIsDone(t *testing.T) {
	s, k := fullSite(t, pintle.StrategyDatabase, func(s *site) {
		s.Events.CreateUser = func(_ context.Context, u *pintle.User) error { u.Name = "changed"; return nil }
		s.Events.LinkAccount = func(_ context.Context, e *pintle.LinkAccountEvent) error {
			e.Account.ProviderAccountID, e.Account.UserID = "changed", "changed"
			return nil
		}
	})
	b := s.browser()
	b.signInWith("acme").goesTo(s.url)
	if u := k.owner(t, "acme", "1001"); u == nil || strings.Contains(u.Name, "changed") {
		t.Errorf("the stored user is %+v", u)
	}
}

func TestASignInEventSaysWhetherAUserHasSignedIn(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s, k := fullSite(t, strategy)
			ada := k.seedUser(t, people["ada"].user)
			want := func(name, path string, signedIn bool) {
				t.Helper()
				e := lastEvent[*pintle.SignInEvent](s, "signIn")
				if e.SignedIn != signedIn || e.Request == nil || e.Request.URL.Path != path {
					t.Errorf("%s: the user has signed in: %t; the request is %+v", name, e.SignedIn, e.Request)
				}
			}
			b := s.browser()
			b.get(b.mailTo("ada@example.com").URL).goesTo(s.url)
			want("a sign-in", "/auth/callback/email", true)
			s.idp.SignInAs(noAddress)
			b.signInWith("acme").goesTo(s.url)
			want("an account that is linked", "/auth/callback/acme", false)
			b.signInWith("acme").goesTo(s.url)
			want("a sign-in of the signed-in user", "/auth/callback/acme", true)
			starting(s, ada, pintle.StartOptions{})
			s.browser().get("/start").want(http.StatusOK)
			want("a session of server code", "/start", false)
		})
	}
	t.Run("without a session", func(t *testing.T) {
		s := newSite(t, func(s *site) {
			s.Callbacks.JWT = func(context.Context, *pintle.TokenChange) (pintle.Claims, error) { return nil, nil }
		})
		s.browser().signIn("ada")
		if lastEvent[*pintle.SignInEvent](s, "signIn").SignedIn {
			t.Error("the user has signed in and has no session")
		}
	})
}

func TestALinkEventSaysWhetherTheUserIsNewAndWhoLinks(t *testing.T) {
	s, k := fullSite(t, pintle.StrategyDatabase, func(s *site) { s.Session.RecordAuthentication = true })
	k.seedUser(t, people["ada"].user)
	b := s.browser()
	b.get(b.mailTo("ada@example.com").URL).goesTo(s.url)
	s.idp.SignInAs(noAddress)
	b.signInWith("acme").goesTo(s.url)
	if e := lastEvent[*pintle.LinkAccountEvent](s, "linkAccount"); e.NewUser || e.Authentication.Provider != "email" || e.Request == nil || e.Request.URL.Path != "/auth/callback/acme" {
		t.Errorf("an account of the signed-in user: %t %+v %+v", e.NewUser, e.Authentication, e.Request)
	}
	s, _ = fullSite(t, pintle.StrategyDatabase)
	s.idp.SignInAs(noAddress)
	s.browser().signInWith("acme").goesTo(s.url)
	if e := lastEvent[*pintle.LinkAccountEvent](s, "linkAccount"); !e.NewUser || !reflect.ValueOf(e.Authentication).IsZero() {
		t.Errorf("an account with which its user was created: %t %+v", e.NewUser, e.Authentication)
	}
}

func TestASignInEventSetsCookies(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s, k := fullSite(t, strategy, func(s *site) {
				remember := s.Events.SignIn
				s.Events.SignIn = func(ctx context.Context, e *pintle.SignInEvent) error {
					if err := e.SetCookie(&http.Cookie{Name: "two words", Value: "1"}); err == nil {
						t.Error("a cookie has a name that no cookie can have")
					}
					if err := e.SetCookie(&http.Cookie{Name: "last", Value: e.Account.Provider, Path: "/", Secure: true}); err != nil {
						t.Error(err)
					}
					return remember(ctx, e)
				}
			})
			ada := k.seedUser(t, people["ada"].user)
			b := s.browser()
			b.get(b.mailTo("ada@example.com").URL).goesTo(s.url)
			if got := b.cookie("last"); got != "email" {
				t.Errorf("after a mail link the cookie is %q", got)
			}
			starting(s, ada, pintle.StartOptions{Authentication: pintle.Authentication{Provider: "server"}})
			b = s.browser()
			b.get("/start").want(http.StatusOK)
			if got := b.cookie("last"); got != "server" {
				t.Errorf("after a session of server code the cookie is %q", got)
			}
			if r := s.browser().get("/start", "Native", "1").want(http.StatusOK); len(r.header["Set-Cookie"]) > 0 {
				t.Error("a native application gets a cookie")
			}
		})
	}
	if err := (&pintle.SignInEvent{}).SetCookie(&http.Cookie{Name: "a"}); err != nil {
		t.Errorf("an event of a test: %v", err)
	}
}
