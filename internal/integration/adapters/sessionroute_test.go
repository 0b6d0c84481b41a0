package adapters_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pintleauth/pintle"
)

const day = 24 * time.Hour

// bothAnswerForTheSession requests the session routes of both servers, each of
// which extends the session for the other. Their responses must be equal.
func (s *shared) bothAnswerForTheSession(t *testing.T, p person) {
	t.Helper()
	ours := s.pintleSession(t, p.session.Token, 40*day)
	s.expiresIn(t, "after Pintle's session route", p.session.Token, 40*day)
	theirs := s.authjs.call(t, "session", p.session.Token, (50 * day).Seconds())
	s.expiresIn(t, "after the session route of Auth.js", p.session.Token, 50*day)

	want := map[string]any{}
	for name, value := range map[string]string{"name": p.user.Name, "email": p.user.Email, "image": p.user.Image} {
		if value != "" {
			want[name] = value
		}
	}
	for who, answer := range map[string]any{"Pintle": ours, "Auth.js": theirs} {
		session, ok := answer.(map[string]any)
		if !ok {
			t.Fatalf("%s's session route answers %v", who, answer)
		}
		user, ok := session["user"].(map[string]any)
		if !ok {
			t.Fatalf("%s's session route answers %v", who, answer)
		}
		for name, value := range user {
			if nothing(value) {
				delete(user, name)
			}
		}
		if diff := cmp.Diff(want, user); diff != "" {
			t.Errorf("the user of %s's session route (-want +got):\n%s", who, diff)
		}
	}
}

func (s *shared) pintleSession(t *testing.T, token string, maxAge time.Duration) any {
	t.Helper()
	auth, err := pintle.New(pintle.Config{
		Store:     s.pintle,
		Providers: []pintle.Provider{&pintle.Email{Send: func(context.Context, *pintle.Message) error { return nil }}},
		Secrets:   []string{"a secret that is long enough for both"},
		Session:   pintle.SessionConfig{MaxAge: maxAge, UpdateAge: -1},
		URL:       "http://app.example.test/auth",
	})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://app.example.test/auth/session", nil)
	r.AddCookie(&http.Cookie{Name: "authjs.session-token", Value: token})
	w := httptest.NewRecorder()
	auth.ServeHTTP(w, r)
	var answer any
	if err := json.NewDecoder(strings.NewReader(w.Body.String())).Decode(&answer); err != nil {
		t.Fatalf("Pintle's session route answers %q: %v", w.Body, err)
	}
	return answer
}

// expiresIn checks, on both sides, that the expiry of a session is that of the last
// extension.
func (s *shared) expiresIn(t *testing.T, when, token string, want time.Duration) {
	t.Helper()
	session, _, err := s.pintle.SessionAndUser(t.Context(), token)
	if err != nil {
		t.Fatalf("%s: SessionAndUser: %v", when, err)
	}
	both, ok := s.authjs.call(t, "getSessionAndUser", token).(map[string]any)
	if !ok {
		t.Fatalf("%s: getSessionAndUser found nothing", when)
	}
	theirs := both["session"].(map[string]any)["expires"]
	if !cmp.Equal(theirs, any(session.Expires)) {
		t.Errorf("%s: it expires at %v for Auth.js and at %v for Pintle", when, theirs, session.Expires)
	}
	if left := time.Until(session.Expires); left > want || left < want-time.Minute {
		t.Errorf("%s: it expires in %v, want %v", when, left, want)
	}
}
