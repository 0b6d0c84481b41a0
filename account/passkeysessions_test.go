package account_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
)

// 4.3, AC-30: whoever has used a stolen passkey is signed out when its owner removes it.
func TestARemovedPasskeyEndsTheOtherSessions(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withAll)
		u := s.seed(ada, goodPassword, true)
		id := s.passkey(u)
		thief := s.browser().startSession(u, time.Minute, "pop", "mfa").isSignedInAs(ada)
		b := s.fresh(u)
		here, err := url.Parse(s.server.URL)
		s.done(err)
		copied := s.browser()
		copied.client.Jar.SetCookies(here, b.client.Jar.Cookies(here))
		copied.isSignedInAs(ada)
		b.post("/auth/account/passkey", "id", id, "action", "remove").isAt("/auth/account/passkeys").isSignedInAs(ada)
		thief.isSignedInAs("")
		copied.isSignedInAs("") // a copy of the cookie of before
		if n := s.passkeys(u); n != 0 {
			t.Errorf("the user has %d passkeys", n)
		}
	})
}

// A passkey that stays, because it is the last way in, does not sign its user out.
func TestAPasskeyThatStaysKeepsItsUserSignedIn(t *testing.T) {
	t.Parallel()
	s := newSite(t, false, withAll)
	u, err := s.store.CreateUser(t.Context(), &pintle.User{ID: "key-only", Name: "Ada"})
	s.done(err)
	id := s.passkey(u)
	b := s.browser().startSession(u, 0, "pop", "mfa")
	if answer := b.postJSON("/auth/account/passkey", map[string]any{"id": id, "action": "remove"}); answer["error"] != "last_sign_in" {
		t.Errorf("the last way in: %d %v", b.status, answer)
	}
	b.get("/auth/account/passkeys").want(http.StatusOK).isAt("/auth/account/passkeys")
}

// 4.3: as with an app, all other sessions end, and links that were mailed.
func TestANewPasskeyEndsTheOtherSessions(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, func(c *pintle.Config, _ *account.Options) {
			c.Providers = append(c.Providers, &pintle.WebAuthn{Ceremony: &registrar{}})
			c.ExperimentalPasskeys = true
		})
		u := s.seed(ada, goodPassword, true)
		thief := s.browser().startSession(u, time.Minute, "pwd").isSignedInAs(ada)
		link := s.resetLink(ada)
		b := s.browser().startSession(u, 0, "pwd").addPasskey("new").isSignedInAs(ada)
		if n := s.passkeys(u); n != 1 {
			t.Fatalf("the user has %d passkeys; the browser is at %s", n, b.at)
		}
		thief.isSignedInAs("")
		if s.browser().get(link).post("/auth/account/reset", "password", newPassword); s.passwordIs(ada, newPassword) {
			t.Error("a link of before still chooses a password")
		}
	})
}

// AC-119, AC-186: an operator removes the passkey that a thief has added, with the sessions.
func TestAnOperatorRemovesPasskeys(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withAll)
		ops, ctx := s.operators()
		u, other := s.seed(ada, goodPassword, true), s.seed("bob@example.com", goodPassword, true)
		s.link(u, "github")
		s.app(u)
		s.passkey(u)
		s.done(s.store.CreatePasskey(t.Context(), &pintle.Passkey{ // whose account Auth.js has not stored
			CredentialID: "b3JwaGFu", ProviderAccountID: "b3JwaGFu", UserID: u.ID, DeviceType: "singleDevice",
		}))
		thief := s.browser().startSession(u, time.Minute, "pop", "mfa").isSignedInAs(ada)
		bob := s.browser().startSession(other, time.Minute, "pwd")
		s.done(ops.RemovePasskeys(ctx, u.ID))
		thief.isSignedInAs("")
		bob.isSignedInAs("bob@example.com")
		if n := s.passkeys(u); n != 0 {
			t.Errorf("the user has %d passkeys", n)
		}
		linked, err := s.store.UserAccounts(t.Context(), u.ID)
		if s.done(err); len(linked) != 1 || linked[0].Provider != "github" {
			t.Errorf("the accounts are %+v", linked)
		}
		if apps, _ := s.apps(u); apps != 1 {
			t.Errorf("the user has %d apps", apps)
		}
		if got := s.acts(); len(got) != 2 || got[1] != "op_factor_reset ok grace" {
			t.Errorf("the acts are %q", got)
		}
		if n := s.count(ada, "factors-reset"); n != 1 {
			t.Errorf("%d mails tell of it", n)
		}
	})
}
