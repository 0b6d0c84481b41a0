package account_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/authtest"
)

// AT-107: what a provider reports gives no role.
func TestAProfileOfAProviderGivesNoRole(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := withAcme(t, tokens, authtest.Person{Subject: "eve", Email: "eve@example.com", Name: "Eve", Claims: map[string]any{
			"roles": []string{"admin"}, "role": "admin", "groups": []string{"admin"}, "banned": false, "delete_at": 0,
		}})
		s.mux.Handle(inside, s.accounts.RequireRole(http.NotFoundHandler(), "admin"))
		b := s.browser().get("/auth/signin").post("/auth/signin/acme").isSignedInAs("eve@example.com")
		if b.get(inside).status != http.StatusForbidden || len(s.state(s.user("eve@example.com")).Roles) > 0 {
			t.Errorf("the roles of the profile are %q, and the page answers %d", s.state(s.user("eve@example.com")).Roles, b.status)
		}
	})
}

// A clone is a ceremony whose authenticator has a counter that stands still.
type clone struct{ echo }

func (c *clone) VerifyAuthentication(ctx context.Context, r *pintle.CeremonyRequest) (*pintle.Passkey, error) {
	used, err := c.echo.VerifyAuthentication(ctx, r)
	if err == nil {
		used.Counter = 1
	}
	return used, err
}

// AC-179: the copy of a passkey is rejected, and its user sees that.
func TestACopyOfAPasskeyIsRecordedForItsUser(t *testing.T) {
	s := newSite(t, false, func(c *pintle.Config, _ *account.Options) {
		c.Providers = append(c.Providers, &pintle.WebAuthn{Ceremony: &clone{echo{verifies: true}}})
		c.ExperimentalPasskeys = true
	})
	u := s.seed(ada, goodPassword, true)
	id := s.passkey(u)
	for range 2 {
		b := s.browser().get("/auth/signin")
		data, _ := b.answer(id, "/auth/webauthn-options/passkey?action=authenticate")
		b.post("/auth/callback/passkey", "action", "authenticate", "data", data)
	}
	if e := s.one("passkey_cloned"); e.UserID != u.ID || e.Outcome != "refused" {
		t.Errorf("the record is %+v", e)
	}
	s.browser().signIn(ada, goodPassword).get("/auth/account/activity").says("A copy of a passkey was rejected")
}

// failingRows is a store whose remembered browsers cannot be removed.
type failingRows struct{ pintle.Store }

func (s failingRows) AccountStore() accountstore.Store { return noDeletion{s.Store.AccountStore()} }

type noDeletion struct{ accountstore.Store }

func (noDeletion) DeleteFactors(context.Context, string, []string, []string) (int, error) {
	return 0, errAway
}

// The passkey is gone, and the operator learns that remembered browsers go on.
func TestAPasskeyThatIsUnlinkedWhileBrowsersStayRememberedIsAnErrorInTheLog(t *testing.T) {
	s := newSite(t, false, withPasskeys(&echo{}), func(c *pintle.Config, _ *account.Options) { c.Store = failingRows{c.Store} })
	u := s.seed(ada, goodPassword, true)
	id := s.passkey(u)
	s.mux.HandleFunc("/own-unlink", func(_ http.ResponseWriter, r *http.Request) {
		session, err := s.auth.Session(r)
		s.done(err)
		s.done(s.auth.Unlink(r.Context(), session, "passkey", id))
	})
	s.browser().startSession(u, 0, "pwd").get("/own-unlink").want(http.StatusOK)
	if log := s.log(); s.passkeys(u) != 0 || !strings.Contains(log, `level=ERROR msg="pintle: a passkey is removed, and the browsers that the user has had remembered`) {
		t.Errorf("the user has %d passkeys, and the log is %s", s.passkeys(u), log)
	}
}
