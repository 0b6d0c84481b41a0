package account_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/authtest"
)

// shareSession signs the browser in as Auth.js does beside this site: the session records
// nothing but its user and its end.
func (b *browser) shareSession(u *pintle.User, tokens bool) *browser {
	b.t.Helper()
	cfg := pintle.Config{
		Store: b.store, URL: b.server.URL, Secrets: []string{strings.Repeat("secret ", 6)},
		Getenv: func(string) string { return "" },
	}
	withGitHub(&cfg, nil)
	if tokens {
		cfg.Session.Strategy = pintle.StrategyJWT
	}
	beside, err := pintle.New(cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.startSessionBy(beside, u, pintle.Authentication{})
}

// guard puts a page behind Auth.Require.
func (s *site) guard(path string) {
	s.mux.Handle(path, s.auth.Require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("inside " + r.URL.RawQuery))
	})))
}

const inside = "/inside"

// AC-133, AT-50: what Auth.js signs in has passed no gate.
func TestASharedSessionOfAUserWithASecondFactorIsSignedOutUntilConfirmed(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		s.guard(inside)
		u := s.seed(ada, goodPassword, true)
		code := s.app(u)
		b := s.browser().shareSession(u, tokens).isSignedInAs("")
		if shown := b.get("/auth/session").page; shown != "null" {
			t.Errorf("the session route shows %s", shown)
		}
		if slices.ContainsFunc(b.cookieNames(), func(name string) bool { return strings.Contains(name, "session") }) {
			t.Errorf("the session route sets %v", b.cookieNames())
		}
		if b.script(http.MethodGet, inside, "").status != http.StatusUnauthorized {
			t.Errorf("a script gets %d", b.status)
		}
		b.get(inside + "?x=1").isAt("/auth/account/confirm").says("Code of the app")
		if strings.Contains(b.page, `type="password"`) || strings.Contains(b.page, "method=password") {
			t.Error("the page asks for the password, which says nothing of the second factor")
		}
		for _, wrong := range []string{"000000", "123456"} {
			b.confirmBy("code", wrong).want(http.StatusUnprocessableEntity).isSignedInAs("")
		}
		for _, way := range []string{"password", "mail"} {
			b.post("/auth/account/confirm", "method", way, "password", goodPassword, "again", "1").want(http.StatusUnprocessableEntity).isSignedInAs("")
		}
		b.get(inside+"?x=1").confirmBy("code", code()).isAt(inside).says("inside x=1").isSignedInAs(ada)
		if user := b.get("/auth/session").json()["user"]; user == nil {
			t.Error("the session route does not show the confirmed session")
		}
	})
}

// AC-133, AC-140: the code of the app says nothing of the first factor.
func TestAConfirmedSharedSessionIsOfOneFactor(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		s.guard(inside)
		s.demand("/danger", account.Demand{Level: account.TwoFactors})
		u := s.seed(ada, goodPassword, true)
		code := s.app(u)
		b := s.browser().shareSession(u, tokens).get("/danger").isAt("/auth/account/confirm").confirmBy("code", code())
		b.isAt("/auth/account/confirm").isSignedInAs(ada)
		b.get("/danger").isAt("/auth/account/confirm").says(`type="password"`).confirmBy("password", goodPassword).isAt("/danger").says("done")
	})
}

// AC-133, AC-113
func TestASharedSessionIsConfirmedByARecoveryCode(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		s.guard(inside)
		u := s.seed(ada, goodPassword, true)
		s.app(u)
		codes, err := s.accounts.GiveRecoveryCodes(t.Context(), u.ID)
		if err != nil {
			t.Fatal(err)
		}
		b := s.browser().shareSession(u, tokens).get(inside)
		b.get(b.at.String()+"&method=recovery").says("Recovery code").confirmBy("code", codes[0]).isAt(inside).isSignedInAs(ada)
	})
}

// AC-133: before it is confirmed, the session changes nothing of its user.
func TestASharedSessionThatIsNotConfirmedDoesNothing(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := withAcme(t, tokens, authtest.Person{Subject: "eve", Email: "eve@example.com"})
		u := s.seed(ada, goodPassword, true)
		s.app(u)
		b := s.browser().shareSession(u, tokens)
		for route, who := range s.accounts.RoutesOf() {
			if who == "anyone" || strings.HasPrefix(route, "confirm") {
				continue
			}
			path := strings.TrimSuffix("/auth/account/"+route, "/")
			if b.get(path); b.at.Path != "/auth/account/confirm" && b.status != http.StatusMethodNotAllowed && b.status != http.StatusUnauthorized {
				t.Errorf("%s shows %d %s", path, b.status, b.at)
			}
			answer := b.postJSON(path, map[string]any{"current": goodPassword, "password": newPassword, "code": "1"})
			if b.status != http.StatusUnauthorized && b.status != http.StatusMethodNotAllowed {
				t.Errorf("POST %s answers %d %v", path, b.status, answer)
			}
		}
		if me := b.script(http.MethodGet, "/auth/account/me", "").json(); b.status != http.StatusUnauthorized || me["acr_values"] != "1fa mfa phr" {
			t.Errorf("a script gets %d %v", b.status, me)
		}
		b.get("/auth/signin").post("/auth/signin/acme")
		accounts, err := s.store.UserAccounts(t.Context(), u.ID)
		if err != nil || len(accounts) != 0 {
			t.Errorf("the session has linked %d accounts, %v", len(accounts), err)
		}
		w := httptest.NewRecorder()
		r := b.request(http.MethodPost, "/", nil)
		s.browser().shareSession(u, tokens).client.Jar.Cookies(r.URL)
		other := s.browser().shareSession(u, tokens)
		for _, c := range other.client.Jar.Cookies(r.URL) {
			r.AddCookie(c)
		}
		if _, err := s.auth.Reauthenticate(w, r, pintle.CompleteOptions{Methods: []string{"pwd"}}); !errors.Is(err, pintle.CodeAccessDenied) {
			t.Errorf("server code confirms the session by a password: %v", err)
		}
		if session, err := s.auth.UpdateSession(w, r, nil); session != nil || err != nil {
			t.Errorf("server code updates the session: %v, %v", session, err)
		}
		other.isSignedInAs("")
	})
}

// AC-133, AC-212: other sessions go on.
func TestSharedSessionsOfOtherUsersGoOn(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		type change = func(*pintle.Config, *account.Options)
		for name, c := range map[string]struct {
			change change
			app    bool
		}{
			"without a second factor": {func(*pintle.Config, *account.Options) {}, false},
			"by the policy":           {func(_ *pintle.Config, o *account.Options) { o.SecondFactor.AcceptSharedSessions = true }, true},
			"second factors are off":  {func(_ *pintle.Config, o *account.Options) { o.SecondFactor.Off = true }, true},
		} {
			s := newSite(t, tokens, c.change)
			s.demand("/danger", account.Demand{})
			u := s.seed(ada, goodPassword, true)
			if c.app {
				s.app(u)
			}
			b := s.browser().shareSession(u, tokens).isSignedInAs(ada)
			if b.get("/danger"); b.at.Path != "/auth/account/confirm" {
				t.Errorf("%s: a session without proofs meets a demand", name)
			}
			b.says(`type="password"`).confirmBy("password", goodPassword).isAt("/danger").isSignedInAs(ada)
		}
	})
}

// AC-187, AC-214: Auth.js beside this site knows no ban.
func TestASharedSessionOfABannedUserIsSignedOut(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		for _, accepts := range []bool{false, true} {
			s := newSite(t, tokens, func(_ *pintle.Config, o *account.Options) { o.SecondFactor.AcceptSharedSessions = accepts })
			u := s.seed(ada, goodPassword, true)
			b := s.browser().shareSession(u, tokens).isSignedInAs(ada)
			s.changeState(u.ID, func(state *accountstore.State) { state.BannedUntil = accountstore.Forever })
			b.isSignedInAs("").get("/auth/account").isAt("/auth/signin")
			s.changeState(u.ID, func(state *accountstore.State) { state.BannedUntil = time.Now().Add(-time.Second) })
			b.isSignedInAs(ada)
		}
	})
}

// AC-132, AC-133: only a session without proofs costs look-ups.
func TestASessionWithProofsCostsNoLookUp(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		var r recorder
		s := newSite(t, tokens, func(c *pintle.Config, _ *account.Options) { c.Store = recordedStore{c.Store, &r} })
		u, other := s.seed(ada, goodPassword, true), s.seed("bob@example.com", goodPassword, true)
		code := s.app(u)
		look := []string{"SessionAndUser"}
		if tokens {
			look = nil
		}
		is := func(what string, b *browser, want ...string) {
			t.Helper()
			if got := r.of(func() { b.get("/") }); !slices.Equal(got, want) {
				t.Errorf("%s: the store is called %q, want %q", what, got, want)
			}
		}
		b := s.browser().startSession(u, time.Minute, "pwd", "otp")
		is("a session with proofs", b, look...)
		is("a session without, of a user without a second factor", s.browser().shareSession(other, tokens), append(append([]string{"Factors"}, look...), "State")...)
		shared := s.browser().shareSession(u, tokens)
		is("a session without", shared, append(append([]string{"Factors"}, look...), "State")...)
		shared.get("/auth/account/confirm?acr_values=1fa").confirmBy("code", code()).isSignedInAs(ada)
		is("a session that was confirmed", shared, look...)
	})
}

// AC-133, AC-13
func TestASharedSessionIsNotUsedWhileTheStoreIsAway(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		var store *flakyStore
		s := newSite(t, tokens, func(c *pintle.Config, _ *account.Options) {
			store = &flakyStore{Store: c.Store}
			c.Store = store
		})
		s.guard(inside)
		u := s.seed(ada, goodPassword, true)
		own, shared := s.browser().startSession(u, time.Minute, "pwd"), s.browser().shareSession(u, tokens)
		store.fail("Factors")
		own.get(inside).says("inside")
		shared.get(inside).want(http.StatusServiceUnavailable).isSignedInAs("")
		shared.get("/auth/account").want(http.StatusServiceUnavailable)
		shared.get("/auth/account/confirm").want(http.StatusServiceUnavailable)
		if shown := shared.get("/auth/session").page; shown != "null" || len(shared.cookieNames()) > 0 && strings.Contains(strings.Join(shared.cookieNames(), " "), "session") {
			t.Errorf("the session route shows %s and sets %v", shown, shared.cookieNames())
		}
		store.fail("")
		shared.get(inside).says("inside").isSignedInAs(ada)
	})
}

// AC-133: the application decides as well, and last.
func TestTheApplicationDecidesAboutSessions(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		var asked []string
		page := "/terms"
		s := newSite(t, tokens, func(c *pintle.Config, _ *account.Options) {
			c.Callbacks.Accept = func(_ context.Context, session *pintle.Session) (string, error) {
				asked = append(asked, session.User.Email)
				return page, nil
			}
		})
		s.guard(inside)
		u := s.seed(ada, goodPassword, true)
		s.app(u)
		s.browser().shareSession(u, tokens).get(inside).isAt("/auth/account/confirm")
		b := s.browser().startSession(u, time.Minute, "pwd", "otp").get(inside + "?x=1")
		if b.at.Path != page || b.at.Query().Get("callbackUrl") != inside+"?x=1" {
			t.Errorf("the browser is sent to %s", b.at)
		}
		b.get("/auth/account").isAt("/auth/signin")
		page = ""
		b.get(inside).says("inside")
		b.get("/auth/account").isAt("/auth/account")
		if !slices.Contains(asked, ada) {
			t.Errorf("the application was asked about %q", asked)
		}
	})
}
