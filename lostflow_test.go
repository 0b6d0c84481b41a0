package pintle_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
)

// lost fails the test unless the sign-in page explains to a browser that comes
// back from a provider what became of its flow.
func (r *reply) lost(b *browser, detail string, status int, says string) {
	r.t.Helper()
	if want := b.site.url + "/auth/signin?error=InvalidCheck&code=" + detail; r.want(http.StatusFound).location() != want {
		r.t.Fatalf("the browser is sent to %s, want %s; log:\n%s", r.location(), want, b.site.log)
	}
	if page := b.get(r.location()).want(status); !strings.Contains(page.body, says) {
		r.t.Errorf("the page does not say %q", says)
	}
}

// W-14, W-33: of two tabs that sign in at once, the one that began later
// succeeds in whatever order they come back. The other one shows what to do.
func TestTwoTabsThatSignInAtOnce(t *testing.T) {
	back := func(b *browser, to string) *reply { return b.get(to, navigation...) }
	t.Run("the first tab comes back first", func(t *testing.T) {
		s := newSite(t)
		b := s.browser()
		first := b.leave("acme")
		second := b.leave("acme")
		back(b, b.consent(first)).lost(b, "flow_replaced", http.StatusConflict, "You began to sign in again in another tab")
		if entry := s.log.last(t, "CallbackRouteError"); entry["level"] != "INFO" || !strings.Contains(entry["error"].(string), "in another tab") {
			t.Errorf("the record is %v", entry)
		}
		back(b, b.consent(second)).goesTo(s.url)
		if who := b.who(); who == "anonymous" {
			t.Error("the second tab does not sign in")
		}
	})
	t.Run("the second tab comes back first", func(t *testing.T) {
		s := newSite(t)
		b := s.browser()
		first := b.leave("acme")
		second := b.leave("acme")
		back(b, b.consent(second)).goesTo(s.url)
		back(b, b.consent(first)).lost(b, "flow_unknown", http.StatusBadRequest, "finished in another tab")
		if who := b.who(); who == "anonymous" {
			t.Error("the first tab signs out")
		}
	})
	t.Run("with two providers", func(t *testing.T) {
		s := newSite(t, func(s *site) { s.Providers = append(s.Providers, s.idp.OIDC("second")) })
		b := s.browser()
		first := b.leave("acme")
		second := b.leave("second")
		back(b, b.consent(first)).lost(b, "flow_replaced", http.StatusConflict, "You began to sign in again in another tab")
		back(b, b.consent(second)).goesTo(s.url)
	})
	t.Run("with OAuth 1.0a", func(t *testing.T) {
		s := newSite(t, withOAuth1)
		b := s.browser()
		first := b.leave("old")
		second := b.leave("old")
		back(b, b.consent(first)).lost(b, "flow_replaced", http.StatusConflict, "You began to sign in again in another tab")
		back(b, b.consent(second)).goesTo(s.url)
	})
	t.Run("when an account is linked", func(t *testing.T) {
		s := newSite(t, func(s *site) {
			s.Store, s.Pages.Account = memstore.New(), "/account"
			s.Providers = append(s.Providers, s.idp.OIDC("second"))
		})
		b := s.browser()
		b.signInWith("acme")
		s.idp.SignInAs(authtest.Person{Subject: "ada-2", Email: "ada@work.example"})
		first := b.leave("second")
		second := b.leave("second")
		back(b, b.consent(first)).fails("/account", operator)
		back(b, b.consent(second)).goesTo(s.url)
	})
	t.Run("when it is a script that comes back", func(t *testing.T) {
		s := newSite(t)
		b := s.browser()
		first := b.leave("acme")
		b.leave("acme")
		b.get(b.consent(first)).fails("/auth/error", operator)
	})
}

func TestALostFlowIsExplained(t *testing.T) {
	t.Run("one that took too long", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t)
			b := s.browser()
			to := b.consent(b.leave("acme"))
			time.Sleep(16 * time.Minute)
			b.get(to, navigation...).lost(b, "flow_expired", http.StatusGone, "That took too long")
		})
	})
	t.Run("one that took too long, of a browser that keeps cookies for longer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t)
			b := s.browser()
			to := b.consent(b.leave("acme"))
			kept := map[string]string{}
			for _, name := range []string{stateCookie, pkceCookie, nonceCookie} {
				kept[name] = b.cookie(name)
			}
			time.Sleep(16 * time.Minute)
			for name, value := range kept {
				b.plant(name, value)
			}
			b.get(to, navigation...).lost(b, "flow_expired", http.StatusGone, "That took too long")
		})
	})
	t.Run("one that took too long, without a state", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, withOAuth1)
			b := s.browser()
			to := b.consent(b.leave("old"))
			kept := b.cookie(stateCookie)
			time.Sleep(16 * time.Minute)
			b.plant(stateCookie, kept)
			b.get(to, navigation...).lost(b, "flow_expired", http.StatusGone, "That took too long")
		})
	})
	t.Run("one that was finished before", func(t *testing.T) {
		s := newSite(t)
		b := s.browser()
		to := b.consent(b.leave("acme"))
		kept := map[string]string{}
		for _, name := range []string{stateCookie, pkceCookie, nonceCookie} {
			kept[name] = b.cookie(name)
		}
		b.get(to, navigation...).goesTo(s.url)
		for name, value := range kept {
			b.plant(name, value)
		}
		b.get(to, navigation...).lost(b, "flow_used", http.StatusConflict, "finished before")
	})
	t.Run("one of another browser", func(t *testing.T) {
		s := newSite(t)
		to := s.browser().consent(s.browser().leave("acme"))
		b := s.browser()
		b.get(to, navigation...).lost(b, "flow_unknown", http.StatusBadRequest, "began in another browser")
	})
	t.Run("an unsolicited response ends no flow", func(t *testing.T) {
		s := newSite(t)
		b := s.browser()
		to := b.consent(b.leave("acme"))
		other := s.browser()
		forged := other.consent(other.leave("acme"))
		b.get(b.get(forged, navigation...).location())
		b.get(to, navigation...).goesTo(s.url)
	})
	t.Run("a mail link that lost its end", func(t *testing.T) {
		s, _ := mailSite(t, pintle.StrategyJWT)
		b := s.browser()
		r := b.get("/auth/callback/email?callbackUrl=%2F", navigation...).fails("/auth/error", "Verification")
		if page := b.get(r.location()).want(http.StatusForbidden); !strings.Contains(page.body, "This link no longer works") {
			t.Error("the page does not speak of the link")
		}
		b.get("/auth/callback/email?callbackUrl=%2F").fails("/auth/error", operator)
	})
}
