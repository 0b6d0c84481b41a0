package pintle_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

// A cookie of another secret is one warning, whatever it holds.
func TestACookieOfAnotherSecretIsNoticed(t *testing.T) {
	const other = "another secret, 32 characters or more"
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, b *browser)
		want string // the cookie that the log names, empty for none
	}{
		{"a session", func(t *testing.T, b *browser) {
			foreign := newSite(t, func(s *site) { s.Secrets = []string{other} }).browser()
			foreign.signIn("ada")
			b.plant(sessionCookie, foreign.cookie(sessionCookie))
			b.who()
		}, sessionCookie},
		{"the check of a flow", func(t *testing.T, b *browser) {
			foreign := newSite(t, func(s *site) { s.Secrets = []string{other} }).browser()
			foreign.leave("acme")
			b.plant(stateCookie, foreign.cookie(stateCookie))
			b.get("/auth/callback/acme?code=x&state=y")
		}, stateCookie},
		{"a form token", func(_ *testing.T, b *browser) {
			b.plant(csrfCookie, formCookie(strings.Repeat("ab", 32), other))
			b.postForm("/auth/callback/credentials", url.Values{})
		}, csrfCookie},
		{"a session that has expired", func(t *testing.T, b *browser) {
			claims := claimsFor("ada")
			claims["exp"] = 1
			b.plant(sessionCookie, sealed(t, sessionCookie, claims))
			b.who()
		}, ""},
		{"what a scanner made up", func(_ *testing.T, b *browser) {
			b.plant(sessionCookie, "admin")
			b.plant(stateCookie, "admin")
			b.plant(csrfCookie, "admin")
			b.who()
			b.get("/auth/callback/acme?code=x&state=y")
			b.postForm("/auth/callback/credentials", url.Values{})
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t)
			for range 2 {
				tt.do(t, s.browser())
			}
			if tt.want == "" {
				if s.log.has("ForeignSecret") {
					t.Errorf("the log has %s", s.log)
				}
				return
			}
			if n := s.log.records(t, "WARN", "ForeignSecret"); n != 1 {
				t.Fatalf("the log has %d warnings: %s", n, s.log)
			}
			entry := s.log.last(t, "ForeignSecret")
			if fix, _ := entry["fix"].(string); entry["cookie"] != tt.want || !strings.Contains(fix, "Config.Secrets (AUTH_SECRET)") {
				t.Errorf("the record is %v", entry)
			}
		})
	}
}

// forgetful is a memory store that does not report InMemory.
type forgetful struct{ *memstore.Store }

func (s forgetful) Features() pintle.Features {
	can := s.Store.Features()
	can.InMemory = false
	return can
}

func TestASessionThatIsNotInMemoryIsNoticed(t *testing.T) {
	stored := func(store pintle.Store) func(*site) {
		return func(s *site) { s.Store, s.Session.Strategy = store, pintle.StrategyDatabase }
	}
	s := newSite(t, stored(memstore.New()))
	b := s.browser()
	b.signInWith("acme").want(http.StatusFound)
	if b.who(); s.log.has("ForgottenSession") {
		t.Fatal("the log speaks of a session that is there")
	}
	held := b.cookie(sessionCookie)

	other := newSite(t, stored(memstore.New()))
	for range 2 {
		second := other.browser()
		second.plant(sessionCookie, held)
		if who := second.who(); who != "anonymous" {
			t.Fatalf("%s is signed in", who)
		}
	}
	if n := other.log.records(t, "WARN", "ForgottenSession"); n != 1 {
		t.Fatalf("the log has %d warnings: %s", n, other.log)
	}
	if fix, _ := other.log.last(t, "ForgottenSession")["fix"].(string); !strings.Contains(fix, "database") || !strings.Contains(fix, "StrategyJWT") {
		t.Errorf("the fix is %q", fix)
	}

	durable := newSite(t, stored(forgetful{memstore.New()}))
	third := durable.browser()
	third.plant(sessionCookie, held)
	if third.who(); durable.log.has("ForgottenSession") {
		t.Error("the log speaks of memory where sessions are kept elsewhere")
	}
}
