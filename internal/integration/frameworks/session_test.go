package frameworks_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
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
				if data, ok := c.Update.(map[string]any); ok && c.Trigger == pintle.TriggerUpdate {
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
		b := f.start(t, func(s *setting) { s.Session.UpdateAge = time.Hour })
		first := b.signIn("kim").line("authjs.session-token")
		if line := b.get("/").wantBody("Kim").line("authjs.session-token"); line != "" {
			t.Errorf("a session just made is renewed: %.80s", line)
		}
		// The same session at a site where it is due after a second, however late that is seen.
		later := f.start(t, func(s *setting) { s.Session.UpdateAge = time.Second })
		b.address = later.address
		time.Sleep(1100 * time.Millisecond) // sockets are not part of a synctest bubble
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

// ASVS-7.4.1: a copy of the cookie is not valid after the sign-out.
func TestSessionsInADatabase(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t, withProvider(t), func(s *setting) { s.Store, s.Session.UpdateAge = memstore.New(), -1 })
		b.client.CheckRedirect = nil
		authtest.SignInWith(t, b.client, b.address+"/auth", "acme").Body.Close()
		r := b.get("/account").want(http.StatusOK).wantBody("Ada")
		if r.line("authjs.session-token") == "" {
			t.Error("the session is not extended")
		}
		b.post("/role", "role", "editor").want(http.StatusOK).wantBody("editor")
		b.get("/role").wantBody("editor")
		held := b.cookies()
		b.post("/logout").want(http.StatusOK).wantBody("guest") // after the redirect
		for _, c := range held {
			b.get("/", "Cookie", c.String()).wantBody("guest")
		}
	})
}

func TestANativeApplicationSendsItsSessionInAHeader(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		b := f.start(t, func(s *setting) { s.Session.AllowBearer, s.Session.Revocation = true, &memstore.Revocations{} })
		line := b.signIn("kim").line("authjs.session-token")
		value, _, _ := strings.Cut(strings.TrimPrefix(line, "authjs.session-token="), ";")
		native := newBrowser(t, b.address)
		native.get("/account", "Authorization", "Bearer "+value).want(http.StatusOK).wantBody("Kim")
		r := native.get("/account", "Authorization", "Bearer x", "Accept", "*/*").want(http.StatusUnauthorized)
		if got := r.Header.Get("WWW-Authenticate"); got != "Bearer" {
			t.Errorf("WWW-Authenticate is %q", got)
		}
		native.get("/auth/session", "Authorization", "Bearer "+value).want(http.StatusOK).wantBody("null")
		native.do(http.MethodPost, "/logout", "", "Authorization", "Bearer "+value).want(http.StatusSeeOther)
		native.get("/account", "Authorization", "Bearer "+value, "Accept", "*/*").want(http.StatusUnauthorized)
	})
}

// Frameworks use their contexts, and Fiber the memory of requests, again.
func TestSessionsDoNotMixUnderLoad(t *testing.T) {
	each(t, func(t *testing.T, f framework) {
		first := f.start(t)
		people := map[string]*browser{"Kim": first, "Root": newBrowser(t, first.address), "guest": newBrowser(t, first.address)}
		people["Kim"].signIn("kim")
		people["Root"].signIn("root")
		var busy sync.WaitGroup
		for name, b := range people {
			for range 4 {
				busy.Go(func() {
					for range 50 {
						resp, err := b.client.Get(b.address)
						if err != nil {
							t.Error(err)
							return
						}
						body, err := io.ReadAll(resp.Body)
						resp.Body.Close()
						if string(body) != name || err != nil {
							t.Errorf("%s sees %q, %v", name, body, err)
							return
						}
					}
				})
			}
		}
		busy.Wait()
	})
}
