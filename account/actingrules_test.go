package account_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/store/memstore"
)

// AC-190, AT-106: an application that lists no protected roles protects all of them.
func TestWithoutProtectedRolesNobodyActsAsAUserWithARole(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		d := newDesk(t, tokens, func(_ *pintle.Config, o *account.Options) { o.Acting.Protected = nil })
		if logs := d.logged(); !strings.Contains(logs, "code=ActingWithoutProtected") || !strings.Contains(logs, "fix=") {
			t.Errorf("New has logged %s", logs)
		}
		d.setRoles(d.user, "editor")
		b := d.at()
		b.do(http.MethodPost, "/admin/act", url.Values{"user": {d.user.ID}, "reason": {"ticket"}}).want(http.StatusForbidden).says("refused")
		d.setRoles(d.user)
		d.beginIn(b)
		d.setRoles(d.user, "editor")
		b.do(http.MethodPost, "/write", url.Values{}).want(http.StatusConflict)
	})
	if logs := newDesk(t, false).logged(); strings.Contains(logs, "ActingWithoutProtected") {
		t.Errorf("New has logged %s", logs)
	}
	if logs := newSite(t, false).logged(); strings.Contains(logs, "ActingWithoutProtected") {
		t.Errorf("New has logged %s", logs)
	}
}

// logged is what the site has logged.
func (s *site) logged() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logs.String()
}

// lateRoles is a store in which a user has other roles from the second look at the state on: an
// operator of another process gives them while a request is answered.
type lateRoles struct {
	accountstore.Store
	user  string
	looks int
	late  []string
}

func (r *lateRoles) State(ctx context.Context, userID string) (*accountstore.State, error) {
	s, err := r.Store.State(ctx, userID)
	if err == nil && r.user == userID {
		if r.looks++; r.looks > 1 {
			s.Roles = r.late
		}
	}
	return s, err
}

type lateStore struct {
	pintle.Store
	rows *lateRoles
}

func (s *lateStore) AccountStore() accountstore.Store { return s.rows }

// AC-190, AT-106: a role that nobody acts as opens no handler, also if the user gets it after the
// request was found to be good.
func TestAProtectedRoleOpensNoHandlerForAnOperatorWhoActs(t *testing.T) {
	t.Parallel()
	memory := memstore.New()
	rows := &lateRoles{Store: memory.AccountStore()}
	d := newDesk(t, false, func(c *pintle.Config, _ *account.Options) { c.Store = &lateStore{memory, rows} })
	d.setRoles(d.user, "editor")
	reached := ""
	for path, roles := range map[string][]string{"/admin": {"admin"}, "/desk": {"support", "root"}, "/editors": {"admin", "editor"}, "/authors": {"admin", "author"}} {
		d.mux.Handle(path, d.accounts.RequireRole(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached += path }), roles...))
	}
	b := d.begin()
	rows.user, rows.late = d.user.ID, []string{"admin", "support", "editor"}
	for path, want := range map[string]string{"/admin": "acting", "/desk": "acting", "/authors": "refused"} {
		rows.looks = 0
		if b.script(http.MethodGet, path, "").want(http.StatusForbidden); b.json()["error"] != want {
			t.Errorf("%s answers %s", path, b.page)
		}
	}
	rows.looks = 0
	b.get("/admin").want(http.StatusForbidden).says("Stop acting to open this page.").says("pintle-acting")
	if strings.Contains(b.page, "Nothing was done") || strings.Contains(b.page, "/auth/signin") || strings.Count(b.page, `action="/auth/account/stop-acting"`) != 2 {
		t.Errorf("the page of a role does not offer to stop acting: %s", b.page)
	}
	rows.looks = 0
	b.get("/editors").want(http.StatusOK)
	rows.user = ""
	d.setRoles(d.operator, "support", "admin")
	d.at().get("/admin").want(http.StatusOK).get("/desk").want(http.StatusOK) // as the operator
	if reached != "/editors/admin/desk" {
		t.Errorf("the requests have reached %q", reached)
	}
}

// AT-105: the cookie of acting does not go to the other hosts of a domain, and the session does.
func TestASessionOfADomainAndOperatorsWhoActContradictEachOther(t *testing.T) {
	t.Parallel()
	try := func(domain string, roles ...string) error {
		a := account.New(account.Options{Mail: (&site{}).keepMail, Acting: account.Acting{Roles: roles, Protected: []string{"admin"}}})
		_, err := pintle.New(pintle.Config{
			Store: memstore.New(), URL: "https://app.example.com", Secrets: []string{strings.Repeat("secret ", 6)}, Accounts: a,
			Cookies: pintle.Cookies{SessionToken: pintle.Cookie{Domain: domain}}, Getenv: func(string) string { return "" },
		})
		return err
	}
	if err := try("example.com", "support"); err == nil || !strings.Contains(err.Error(), "Options.Acting.Roles with Config.Cookies.SessionToken.Domain") {
		t.Errorf("New returns %v", err)
	}
	if err := errors.Join(try("example.com"), try("", "support")); err != nil {
		t.Error(err)
	}
}

// AC-189: the user sees that an operator has begun to act, also if the record of how it went is lost.
func TestTheUserSeesThatActingBeganBeforeItIsKnownHowItWent(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		store, lose := &unrecorded{}, true
		d := newDesk(t, tokens, func(c *pintle.Config, o *account.Options) {
			store.Store = c.Store
			c.Store = store
			o.Activity.Record = func(_ context.Context, e *accountstore.Event) { store.away = lose && e.Outcome == "begun" }
		})
		d.begin()
		own := d.browser().startSession(d.user, 0, "pwd")
		if n := strings.Count(own.get("/auth/account/activity").page, "Support began to act as you"); n != 1 {
			t.Errorf("the user sees %d beginnings: %s", n, own.page)
		}
		store.away, lose = false, false
		d.begin()
		if n := strings.Count(own.get("/auth/account/activity").page, "Support began to act as you"); n != 2 {
			t.Errorf("the user sees %d beginnings of two: %s", n, own.page)
		}
	})
}
