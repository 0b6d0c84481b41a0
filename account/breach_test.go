package account_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

// A breachService knows stolen passwords, and records its requests.
type breachService struct {
	mu     sync.Mutex
	stolen []string
	asked  []string
	status int
}

func (b *breachService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, strings.TrimPrefix(r.URL.Path, "/range/"))
	w.WriteHeader(b.status)
	for _, password := range b.stolen {
		_, _ = w.Write([]byte(sha1Hex(password)[5:] + ":7\r\n"))
	}
}

// requests returns what was asked since the last call.
func (b *breachService) requests() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	asked := b.asked
	b.asked = nil
	return asked
}

func withBreaches(t *testing.T, b *breachService) func(*pintle.Config, *account.Options) {
	t.Helper()
	b.status = http.StatusOK
	service := httptest.NewServer(b)
	t.Cleanup(service.Close)
	return func(_ *pintle.Config, o *account.Options) {
		o.Passwords.Breached = &account.BreachCheck{URL: service.URL + "/range/", AtSignIn: true, FailClosed: true}
	}
}

// AC-78, AC-81, ASVS-6.2.12
func TestAStolenPasswordIsReplacedBeforeTheSessionBegins(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		b := &breachService{stolen: []string{goodPassword}}
		s := newSite(t, tokens, withBreaches(t, b))
		s.seed(ada, goodPassword, true)
		user := s.browser().signIn(ada, goodPassword).isAt("/auth/account/prove").isSignedInAs("")
		// A client that has shown the stolen password alone cannot choose another.
		user.post(mustChange, "password", newPassword).want(http.StatusForbidden)
		if asked := b.requests(); len(asked) != 1 || asked[0] != sha1Hex(goodPassword)[:5] {
			t.Errorf("the service was asked %q", asked)
		}
		if shown := s.browserWith(user).get("/auth/session").page; shown != "null" {
			t.Errorf("there is a session: %s", shown)
		}
		user.get("/auth/account/prove").post("/auth/account/prove", "code", s.code()).isAt(mustChange).isSignedInAs("")
		user.post(mustChange, "password", goodPassword).want(http.StatusUnprocessableEntity)
		// Another sign-in does not pass while the password is the old one.
		b.mu.Lock()
		b.stolen = nil
		b.mu.Unlock()
		s.browser().signIn(ada, goodPassword).isAt("/auth/account/prove").isSignedInAs("")
		user.get(mustChange).post(mustChange, "password", newPassword).isSignedInAs(ada)
		s.browser().signIn(ada, newPassword).isAt("/").isSignedInAs(ada)
		if state := s.state(s.user(ada)); state.Must != "" {
			t.Errorf("the user still must %q", state.Must)
		}
	})
}

// AC-78, AT-1: the sign-in requires the second factor first.
func TestAStolenPasswordIsReplacedAfterTheSecondFactor(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withBreaches(t, &breachService{stolen: []string{goodPassword}}))
		code := s.app(s.seed(ada, goodPassword, true))
		b := s.browser().signIn(ada, goodPassword).isAt(secondFactor).isSignedInAs("")
		b.get(mustChange).want(http.StatusForbidden)
		b.get(secondFactor).post(secondFactor, "code", code()).isAt(mustChange).isSignedInAs("")
		b.post(mustChange, "password", newPassword).isSignedInAs(ada)
	})
}

// AC-61, AC-78: the code of a proven address is no first proof, which would remove passkeys.
func TestAStolenPasswordTakesNothingElseAway(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withPasskeys(&echo{}), withBreaches(t, &breachService{stolen: []string{goodPassword}}))
		u := s.seed(ada, goodPassword, true)
		s.passkey(u)
		b := s.browser().signIn(ada, goodPassword).isAt("/auth/account/prove")
		b.post("/auth/account/prove", "code", s.code()).isAt(mustChange)
		if keys, err := s.store.UserPasskeys(t.Context(), u.ID); err != nil || len(keys) != 1 {
			t.Errorf("the user has %d passkeys: %v", len(keys), err)
		}
	})
}

// AC-81, AC-5: only the right password of a sign-in is looked up.
func TestTheServiceIsAskedAboutRightPasswordsOfSignInsOnly(t *testing.T) {
	t.Parallel()
	b := &breachService{}
	s := newSite(t, false, withBreaches(t, b))
	u := s.seed(ada, goodPassword, true)
	for _, email := range []string{ada, "unknown@example.com"} {
		s.browser().signIn(email, "a wrong password").isSignedInAs("")
	}
	s.demand("/danger", account.Demand{MaxAge: tenMinutes})
	s.browser().startSession(u, 2*tenMinutes, "pwd").get("/danger").confirmBy("password", goodPassword).says("done")
	if asked := b.requests(); len(asked) != 0 {
		t.Errorf("the service was asked %q", asked)
	}
	s.browser().signIn(ada, goodPassword).isAt("/").isSignedInAs(ada)
	if asked := b.requests(); len(asked) != 1 {
		t.Errorf("the service was asked %q", asked)
	}
}

// AC-81
func TestASignInGoesOnWhileTheServiceForStolenPasswordsIsAway(t *testing.T) {
	t.Parallel()
	b := &breachService{stolen: []string{goodPassword}}
	s := newSite(t, false, withBreaches(t, b))
	s.seed(ada, goodPassword, true)
	b.status = http.StatusServiceUnavailable
	s.browser().signIn(ada, goodPassword).isAt("/").isSignedInAs(ada)
	if log := s.log(); !strings.Contains(log, "not checked for breaches") || strings.Contains(log, sha1Hex(goodPassword)[:5]) {
		t.Error(log)
	}
}

// AC-78, AC-13
func TestASignInFailsIfItCannotBeRecordedThatItsPasswordIsStolen(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		f := &fault{}
		s := newSite(t, tokens, withBreaches(t, &breachService{stolen: []string{goodPassword}}), func(c *pintle.Config, _ *account.Options) {
			c.Store = faultyStore{c.Store, f}
		})
		u := s.seed(ada, goodPassword, true)
		for call := 1; ; call++ {
			s.changeState(u.ID, func(state *accountstore.State) { state.Must = "" })
			f.arm(call)
			b := s.browser().signIn(ada, goodPassword).isSignedInAs("")
			hit := f.hit.Load()
			f.arm(0)
			if !hit {
				b.isAt("/auth/account/prove")
				break
			}
		}
	})
}
