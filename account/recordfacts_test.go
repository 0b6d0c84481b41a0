package account_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/throttle"
)

// one returns the only event of a kind.
func (s *site) one(kind string) *accountstore.Event {
	s.t.Helper()
	events := s.everything(accountstore.ActivityQuery{Kind: kind})
	if len(events) != 1 {
		s.t.Fatalf("there are %d events of the kind %s, want 1", len(events), kind)
	}
	return events[0]
}

// AC-176: an operator sees which events are those of one session.
func TestTheEventsOfASessionHaveItsHandle(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		s.seed("ada@example.com", goodPassword, true)
		s.seed("bob@example.com", goodPassword, true)
		b := s.browser().signIn("ada@example.com", goodPassword)
		b.get("/auth/account/profile").post("/auth/account/profile", "name", "Ada").want(http.StatusOK)
		b.get("/auth/account/confirm").post("/auth/account/confirm", "method", "password", "password", "a wrong one").want(http.StatusUnprocessableEntity)
		b.post("/auth/account/confirm", "method", "password", "password", goodPassword).want(http.StatusOK)
		var cookies []string
		for _, c := range b.client.Jar.Cookies(b.at) {
			cookies = append(cookies, c.Value)
		}
		b.get("/auth/signout").post("/auth/signout").isSignedInAs("")
		handle := s.one("sign_in").Detail["session"]
		if len(handle) != 22 || strings.Contains(strings.Join(cookies, " "), handle) {
			t.Errorf("the handle of the session is %q", handle)
		}
		for _, kind := range []string{"profile_changed", "confirm_failed", "confirmed", "sign_out"} {
			if got := s.one(kind).Detail["session"]; got != handle {
				t.Errorf("%s has the session %q, want that of the sign-in, %q", kind, got, handle)
			}
		}
		began := time.Now().Unix()
		s.browser().signIn("bob@example.com", goodPassword)
		for time.Now().Unix() == began { // sessions have their start in seconds
			time.Sleep(10 * time.Millisecond)
		}
		s.browser().signIn("ada@example.com", goodPassword)
		different := map[string]bool{}
		for _, e := range s.everything(accountstore.ActivityQuery{Kind: "sign_in"}) {
			different[e.Detail["session"]] = true
		}
		if len(different) != 3 {
			t.Errorf("three sessions have the handles %v", different)
		}
		if log := s.log(); !strings.Contains(log, "session="+handle) {
			t.Error("the log does not have the handle")
		}
	})
}

// AC-176: what a user adds during a session is found with the other events of it.
func TestAnAccountOrAPasskeyThatIsAddedHasTheHandleOfTheSession(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := withAcme(t, tokens, authtest.Person{Subject: "ada", Email: ada}, withPasskeys(&echo{}))
		s.seed(ada, goodPassword, true)
		b := s.browser().signIn(ada, goodPassword).get("/auth/account/accounts")
		b.post("/auth/signin/acme", "callbackUrl", s.server.URL+"/auth/account/accounts").isAt("/auth/account/accounts")
		b.addPasskey("key").isSignedInAs(ada)
		handle := s.everything(accountstore.ActivityQuery{Kind: "sign_in"})[0].Detail["session"]
		for _, kind := range []string{"account_linked", "passkey_added"} {
			if got := s.one(kind).Detail["session"]; len(got) != 22 || got != handle {
				t.Errorf("%s has the session %q, want that of the sign-in, %q", kind, got, handle)
			}
		}
	})
}

// AC-176
func TestAnEventHasTheKindOfItsFlow(t *testing.T) {
	s := newSite(t, false)
	b := s.browser()
	b.get("/auth/account/sign-up").post("/auth/account/sign-up", "email", "ada@example.com").want(http.StatusOK)
	b.post("/auth/account/sign-up-sent", "code", s.code()).want(http.StatusOK)
	b.post("/auth/account/sign-up-finish", "password", goodPassword).want(http.StatusOK).isSignedInAs("ada@example.com")
	link, err := s.accounts.Operators().Invite(t.Context(), account.Invitation{Email: "bob@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	s.browser().get(link).post("/auth/account/sign-up-finish", "password", goodPassword).want(http.StatusOK).isSignedInAs("bob@example.com")
	s.browser().get("/auth/account/forgot").post("/auth/account/forgot", "email", "bob@example.com").want(http.StatusOK)
	s.browser().get(s.lastMail().URL).post("/auth/account/reset", "password", newPassword).want(http.StatusOK)
	ada := s.user("ada@example.com")
	next := s.app(ada)
	b.signIn("ada@example.com", goodPassword).post(secondFactor, "code", "123456").want(http.StatusUnprocessableEntity)
	b.post(secondFactor, "code", next()).isSignedInAs("ada@example.com")
	b.get("/auth/account/profile").post("/auth/account/profile", "name", "Ada").want(http.StatusOK)
	want := map[string][]string{
		"sign_up": {"signup", "invite"}, "reset_asked": {"reset"}, "password_reset": {"reset"},
		"second_factor_failed": {"second"}, "profile_changed": {""},
	}
	for kind, flows := range want {
		events := s.everything(accountstore.ActivityQuery{Kind: kind})
		for i, flow := range flows {
			if at := len(events) - 1 - i; at < 0 || events[at].Detail["flow"] != flow {
				t.Errorf("the events of the kind %s are %+v, want them with the flows %q", kind, events, flows)
				break
			}
		}
	}
	newest := s.everything(accountstore.ActivityQuery{Kind: "sign_in", UserID: ada.ID})[0]
	if flow := newest.Detail["flow"]; flow != "second" {
		t.Errorf("a sign-in with a second factor has the flow %q", flow)
	}
}

// AC-177: a user sees that the password, or another first proof, is known to whoever was rejected.
func TestASignInThatIsRefusedAfterTheFirstProofIsOneOfItsUser(t *testing.T) {
	for way, signIn := range everyWay {
		for what, refuse := range map[string]func(c *pintle.Config){
			"ban": func(*pintle.Config) {},
			"callback": func(c *pintle.Config) {
				c.Callbacks.SignIn = func(_ context.Context, attempt *pintle.SignInAttempt) (string, error) {
					if attempt.VerificationRequest {
						return "", nil
					}
					return "", errors.New("not today")
				}
			},
		} {
			t.Run(way+", "+what, func(t *testing.T) {
				t.Parallel()
				idp := authtest.NewIdentityProvider(authtest.Options{AutoConsent: true})
				server := httptest.NewServer(idp)
				t.Cleanup(server.Close)
				idp.Issuer = server.URL
				idp.SignInAs(authtest.Person{Subject: "ada", Email: "ada@example.com"})
				var s *site
				s = newSite(t, false, withEveryWay(t, idp, server, &s), func(c *pintle.Config, _ *account.Options) { refuse(c) })
				u := s.seed("ada@example.com", goodPassword, true)
				err := s.store.LinkAccount(t.Context(), &pintle.Account{UserID: u.ID, Type: pintle.TypeOIDC, Provider: "acme", ProviderAccountID: "ada"})
				if err != nil {
					t.Fatal(err)
				}
				if what == "ban" {
					s.changeState(u.ID, func(s *accountstore.State) { s.BannedUntil = accountstore.Forever })
				}
				b := s.browser()
				signIn(b)
				b.isSignedInAs("")
				e := s.one("sign_in_failed")
				if e.UserID != u.ID || e.Outcome != "refused" || e.Subject != (accountstore.Hash{}) {
					t.Errorf("the event is %+v, want one of the user %s", e, u.ID)
				}
			})
		}
	}
}

// AC-177: whether the address has an account is not looked at, so the event has no user.
func TestAnAttemptTooManyHasTheHashOfTheAddress(t *testing.T) {
	few := throttle.Limit{Burst: 1, Every: time.Hour}
	var s *site
	s = newSite(t, false, func(c *pintle.Config, o *account.Options) {
		o.Passwords.Guard = &throttle.Guard{PerAccountAndClient: few, MailsPerAddress: few}
		guard := &throttle.Guard{Name: "links", MailsPerAddress: few}
		c.Providers = append(c.Providers, guard.Email(&pintle.Email{From: "no-reply@example.com", Send: func(ctx context.Context, m *pintle.Message) error {
			return s.keepMail(ctx, m)
		}}))
	})
	s.seed("ada@example.com", goodPassword, true)
	s.seed("bob@example.com", goodPassword, true)
	for _, email := range []string{"ada@example.com", "nobody@example.com"} {
		for range 3 {
			s.browser().signIn(email, "wrong wrong wrong").isSignedInAs("")
			s.browser().get("/auth/signin").post("/auth/signin/email", "email", email)
		}
	}
	subjects := map[string]map[accountstore.Hash]bool{"credentials": {}, "email": {}}
	for _, e := range s.everything(accountstore.ActivityQuery{Kind: "sign_in_failed", Outcome: "refused"}) {
		if e.UserID != "" || e.Subject == (accountstore.Hash{}) {
			t.Errorf("an attempt too many is %+v, want it with a hash and no user", e)
		}
		subjects[e.Detail["provider"]][e.Subject] = true
	}
	for provider, different := range subjects {
		if len(different) != 2 {
			t.Errorf("attempts with %s for two addresses have %d subjects", provider, len(different))
		}
	}
}

// AC-177: a sign-in that is refused later than at its first step has the user as well.
func TestASignInThatIsRefusedAtItsEndIsOneOfItsUser(t *testing.T) {
	refuse := false
	idp := authtest.NewIdentityProvider(authtest.Options{AutoConsent: true})
	server := httptest.NewServer(idp)
	defer server.Close()
	idp.Issuer = server.URL
	idp.SignInAs(authtest.Person{Subject: "new", Email: "new@example.com"})
	var s *site
	s = newSite(t, false, withEveryWay(t, idp, server, &s), func(c *pintle.Config, _ *account.Options) {
		c.Callbacks.Hold = func(context.Context, *pintle.PendingSignIn) (string, error) {
			if refuse {
				return "", errors.New("not today")
			}
			return "", nil
		}
	})
	u := s.seed("ada@example.com", goodPassword, true)
	next := s.app(u)
	b := s.browser().signIn("ada@example.com", goodPassword).isAt(secondFactor)
	refuse = true
	b.post(secondFactor, "code", next()).isSignedInAs("")
	if e := s.one("sign_in_failed"); e.UserID != u.ID {
		t.Errorf("the event of a held sign-in is %+v, want one of the user %s", e, u.ID)
	}
	everyWay["provider"](s.browser())
	made := s.user("new@example.com")
	if events := s.everything(accountstore.ActivityQuery{UserID: made.ID, Kind: "sign_in_failed"}); len(events) != 1 {
		t.Errorf("a new user who is refused has the events %+v", events)
	}
}
