package frameworks_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
)

func kim() *pintle.User { return &pintle.User{ID: "1", Name: "Kim", Email: "kim@example.com"} }

func TestTheSessionRouteShowsTheSession(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t)
		r := b.get("/auth/session", "Content-Type", "application/json").want(http.StatusOK).wantBody("null")
		for name, want := range map[string]string{
			"Content-Type": "application/json", "Cache-Control": "private, no-cache, no-store",
			"Expires": "0", "Pragma": "no-cache", "X-Content-Type-Options": "nosniff",
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		b.signIn("kim")
		var session struct {
			User    map[string]string
			Expires time.Time
		}
		b.get("/auth/session").want(http.StatusOK).json(&session)
		if session.User["name"] != "Kim" || session.User["email"] != "kim@example.com" || len(session.User) != 2 {
			t.Errorf("the session's user is %v", session.User)
		}
		if left := time.Until(session.Expires); left < 29*24*time.Hour || left > 31*24*time.Hour {
			t.Errorf("the session ends in %v, want a month", left)
		}
	})
}

func TestTheSessionRouteUpdatesTheSession(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t, func(s *setting) {
			s.Callbacks.JWT = func(_ ctx, c *pintle.TokenChange) (pintle.Claims, error) {
				if data, ok := c.Session.(map[string]any); ok && c.Trigger == pintle.TriggerUpdate {
					c.Claims["name"] = data["name"]
				}
				return c.Claims, nil
			}
		})
		b.signIn("kim")
		body := `{"csrfToken":"` + b.csrf() + `","data":{"name":"Kim II"}}`
		b.do(http.MethodPost, "/auth/session", body, "Content-Type", "application/json").want(http.StatusOK)
		b.get("/").wantBody("Kim II")
		b.do(http.MethodPost, "/auth/session", `{"data":{"name":"Mallory"}}`, "Content-Type", "application/json").
			want(http.StatusBadRequest).wantBody("null")
		b.get("/").wantBody("Kim II")
	})
}

func TestTheTokenRouteKeepsItsToken(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t)
		token := b.csrf()
		if len(token) != 64 {
			t.Errorf("the form token is %q", token)
		}
		if again := b.csrf(); again != token {
			t.Errorf("the form token changed from %s to %s", token, again)
		}
	})
}

func TestASessionIsRenewedWhenUpdateAgeHasPassed(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		t.Parallel()
		b := f.start(t, func(s *setting) { s.Session.UpdateAge = 2 * time.Second })
		first := b.signIn("kim").line("authjs.session-token")
		if line := b.get("/").wantBody("Kim").line("authjs.session-token"); line != "" {
			t.Errorf("a session just made is renewed: %.80s", line)
		}
		time.Sleep(2100 * time.Millisecond) // sockets are not part of a synctest bubble
		r := b.get("/").wantBody("Kim")
		if line := r.line("authjs.session-token"); line == "" || line == first {
			t.Errorf("a session that is due is not renewed: %.80q", line)
		}
		if r.Header.Get("Cache-Control") != "private" {
			t.Errorf("Cache-Control is %q beside a cookie", r.Header.Get("Cache-Control"))
		}
		b.get("/account").want(http.StatusOK).wantBody("Kim")
	})
}
