package pintle_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

// An acceptance is what Callbacks.Accept of a site returns. Requests that have the key in
// their context are accepted.
type acceptance struct {
	page  string
	err   error
	asked *pintle.Session
}

type proving struct{}

// reads checks what a page says.
func (b *browser) reads(path, want string) {
	b.t.Helper()
	if got := b.get(path).want(http.StatusOK).body; got != want {
		b.t.Errorf("%s says %q, want %q", path, got, want)
	}
}

func (a *acceptance) of(s *site) {
	s.Callbacks.Accept = func(ctx context.Context, session *pintle.Session) (string, error) {
		a.asked = session
		if ctx.Value(proving{}) != nil {
			return "", nil
		}
		return a.page, a.err
	}
}

// AC-133
func TestASessionThatIsNotAcceptedCountsAsSignedOut(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			a := &acceptance{}
			s, b := steppingUp(t, strategy, a.of)
			b.reads("/", "hello, Ada Lovelace")
			if a.asked == nil || a.asked.User.ID != "user-ada" || a.asked.Authentication.Proofs["pwd"].IsZero() {
				t.Fatalf("the callback was asked about %+v", a.asked)
			}
			held := b.cookie(sessionCookie)

			a.page = "/prove?why=old"
			b.reads("/", "hello, anonymous")
			for _, shown := range []*reply{b.get("/auth/session"), b.postJSON("/auth/session", map[string]any{"csrfToken": b.csrf(), "data": map[string]any{"x": 1}})} {
				if shown.want(http.StatusOK).body != "null" {
					t.Errorf("the session route shows %s", shown.body)
				}
			}
			b.get("/members/area?x=1").goesTo("/prove?why=old&callbackUrl=%2Fmembers%2Farea%3Fx%3D1")
			b.get("/members", "Accept", "application/json").want(http.StatusUnauthorized)
			r, w := b.request(), httptest.NewRecorder()
			if session, err := s.auth.Session(r); session != nil || err != nil {
				t.Errorf("Session() = %v, %v", session, err)
			}
			if session, err := s.auth.UpdateSession(w, r, nil); session != nil || err != nil {
				t.Errorf("UpdateSession() = %v, %v", session, err)
			}
			if _, _, err := b.confirms("otp"); !errors.Is(err, pintle.CodeAccessDenied) {
				t.Errorf("Reauthenticate() = %v, want AccessDenied", err)
			}
			if _, err := s.auth.SignIn(w, r, "acme", confirm); !errors.Is(err, pintle.CodeAccessDenied) {
				t.Errorf("SignIn() with Confirm = %v, want AccessDenied", err)
			}
			if b.cookie(sessionCookie) != held || len(w.Header()["Set-Cookie"]) > 0 {
				t.Error("the cookie of the session has changed")
			}

			// The page proves it: its requests are accepted.
			proves := r.WithContext(context.WithValue(r.Context(), proving{}, true))
			if session, err := s.auth.Session(proves); err != nil || session == nil || session.User.ID != "user-ada" {
				t.Errorf("the page finds the session %v, %v", session, err)
			}
			if _, err := s.auth.Reauthenticate(w, proves, pintle.CompleteOptions{Methods: []string{"otp"}}); err != nil {
				t.Errorf("the page cannot confirm: %v", err)
			}
			a.page = ""
			b.takes(w)
			b.reads("/", "hello, Ada Lovelace")
		})
	}
}

// AC-133: an account that the user links goes to no user who counts as signed out.
func TestNothingIsLinkedToASessionThatIsNotAccepted(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			a := &acceptance{}
			s, b := steppingUp(t, strategy, a.of, func(s *site) { s.Callbacks.SyncUser = nil })
			a.page = "/prove"
			someoneElse := authtest.Person{Subject: "2002", Name: "Grace", Email: "grace@example.com", EmailVerified: true}
			s.idp.SignInAs(someoneElse)
			b.signInWith("acme")
			accounts, err := s.Store.UserAccounts(t.Context(), "user-ada")
			if err != nil || len(accounts) != 0 {
				t.Errorf("Ada has %d accounts, %v", len(accounts), err)
			}
			if owner, err := s.Store.UserByAccount(t.Context(), "acme", someoneElse.Subject); err != nil || owner.ID == "user-ada" {
				t.Errorf("the account belongs to %v, %v", owner, err)
			}
		})
	}
}

// AC-13, AC-133
func TestAFailureToDecideAboutASessionIsNoAnswer(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			a := &acceptance{}
			s, b := steppingUp(t, strategy, a.of)
			held := b.cookie(sessionCookie)
			a.err = errors.New("the database is away")
			b.reads("/", "hello, anonymous")
			b.get("/members").want(http.StatusServiceUnavailable)
			if shown := b.get("/auth/session").body; shown != "null" {
				t.Errorf("the session route shows %s", shown)
			}
			if session, err := s.auth.Session(b.request()); session != nil || err == nil {
				t.Errorf("Session() = %v, %v, want an error", session, err)
			}
			if _, _, err := b.confirms("otp"); !errors.Is(err, pintle.CodeStore) {
				t.Errorf("Reauthenticate() = %v, want Store", err)
			}
			if b.cookie(sessionCookie) != held {
				t.Error("the cookie of the session has changed")
			}
			if !strings.Contains(s.log.String(), "Callbacks.Accept: the database is away") {
				t.Errorf("the log does not say why: %s", s.log)
			}
			a.err = nil
			b.reads("/members", "hello, Ada Lovelace")
		})
	}
}

func TestThePageOfACallbackBehindItsGuardIsNoLoop(t *testing.T) {
	a := &acceptance{}
	s, b := steppingUp(t, pintle.StrategyJWT, a.of)
	a.page = "/members/prove"
	b.get("/members/prove").want(http.StatusForbidden)
	if !strings.Contains(s.log.String(), "SignInPageLoop") || !strings.Contains(s.log.String(), "serve the page that Callbacks.Accept returns outside Auth.Require") {
		t.Errorf("the log does not name the page: %s", s.log)
	}
}
