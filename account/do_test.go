package account_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

// own puts a page of the application on the site that does what a route does with the fields
// that are posted. It answers with the error.
func (s *site) own(path, route string) {
	s.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			s.t.Error(err)
		}
		fields := map[string]string{}
		for name, values := range r.PostForm {
			fields[name] = values[0]
		}
		next, err := s.accounts.Do(w, r, route, fields)
		var stepUp *account.StepUpError
		var failed *account.Error
		switch {
		case errors.As(err, &stepUp):
			fmt.Fprint(w, "step up")
		case errors.As(err, &failed):
			fmt.Fprint(w, string(failed.Code))
		case err != nil:
			s.t.Error(err)
		default:
			fmt.Fprint(w, "done ", next)
		}
	})
}

// recorded is the activity of a user, without ids and times.
func (s *site) recorded(u *pintle.User) string {
	s.t.Helper()
	events, _, err := s.rows.Activity(s.t.Context(), accountstore.ActivityQuery{UserID: u.ID, Limit: 100})
	s.done(err)
	var lines []string
	for _, e := range events {
		if e.Detail["session"] == "" {
			s.t.Errorf("%s has no session", e.Kind)
		}
		delete(e.Detail, "session") // the users differ
		lines = append(lines, fmt.Sprint(e.Kind, " ", e.Outcome, " ", e.Count, " ", e.Detail))
	}
	slices.Sort(lines) // the order of two events of one millisecond is not known
	return strings.Join(lines, "; ")
}

// AC-168: a page, a script and server code are told the same, change the same, and leave the
// same events.
func TestPagesScriptsAndServerCodeDoTheSame(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withAll)
		for _, route := range []string{"password", "profile", "passkey", "unlink", "end-devices", "factor", "remembered", "address", "delete"} {
			s.own("/own/"+route, route)
		}
		for i, tt := range []struct {
			route, want string
			ago         time.Duration
			fields      []string
		}{
			{"password", "wrong_password", 0, []string{"current", "x", "password", newPassword}},
			{"password", "password_too_short", 0, []string{"current", goodPassword, "password", "short"}},
			{"password", "has_password", 0, []string{"password", newPassword}},
			{"delete", "insufficient_user_authentication", time.Hour, []string{"confirmed", "1"}},
			{"password", "", 0, []string{"current", goodPassword, "password", newPassword}},
			{"profile", "invalid_name", 0, []string{"name", ""}},
			{"profile", "", time.Hour, []string{"name", "Ada"}},
			{"passkey", "not_found", 0, []string{"id", "x", "action", "remove"}},
			{"unlink", "not_found", 0, []string{"provider", "github", "id", "x"}},
			{"unlink", "insufficient_user_authentication", time.Hour, []string{"provider", "github", "id", "x"}},
			{"end-devices", "not_found", 0, []string{"handle", "x"}},
			{"end-devices", "insufficient_user_authentication", 25 * time.Hour, []string{"all", "1"}},
			{"factor", "not_found", 0, []string{"id", "x", "action", "remove"}},
			{"address", "invalid_email", 0, []string{"email", "x"}},
			{"delete", "not_confirmed", 0, []string{}},
		} {
			told, recorded := map[string]string{}, map[string]string{}
			for _, way := range []string{"page", "script", "server code"} {
				u := s.seed(fmt.Sprintf("user-%d-%s@example.com", i, way[:2]), goodPassword, true)
				b := s.browser().startSession(u, tt.ago, "pwd")
				switch way {
				case "page":
					b.get("/auth/account").stay().post("/auth/account/"+tt.route, tt.fields...)
					told[way] = fmt.Sprint(b.status < 400)
				case "script":
					members := map[string]any{}
					for i := 0; i < len(tt.fields); i += 2 {
						members[tt.fields[i]] = tt.fields[i+1]
					}
					code, _ := b.postJSON("/auth/account/"+tt.route, members)["error"].(string)
					told[way] = code
				default:
					b.get("/auth/account").post("/own/"+tt.route, tt.fields...)
					told[way] = b.page
				}
				recorded[way] = s.recorded(u)
			}
			if recorded["page"] != recorded["script"] || recorded["page"] != recorded["server code"] {
				t.Errorf("%s %q: recorded %q", tt.route, tt.fields, recorded)
			}
			if failed := strings.Contains(recorded["page"], "password_changed failed 1 map[code:wrong_password"); failed != (tt.want == "wrong_password") {
				t.Errorf("%s %q: recorded %q", tt.route, tt.fields, recorded)
			}
			own := map[string]string{"": "done ", "insufficient_user_authentication": "step up"}[tt.want]
			if own == "" {
				own = tt.want
			}
			if told["page"] != fmt.Sprint(tt.want == "") || told["script"] != tt.want || len(told["server code"]) < len(own) || told["server code"][:len(own)] != own {
				t.Errorf("%s %q: told %q, want %q", tt.route, tt.fields, told, tt.want)
			}
		}
	})
}

// A change that ends the other sessions leaves the browser of the page signed in.
//
// ASVS-6.2.2, ASVS-6.2.3
func TestServerCodeChangesAPassword(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		u := s.seed(ada, goodPassword, true)
		s.own("/own", "password")
		other := s.browser().signIn(ada, goodPassword)
		b := s.browser().startSession(u, 0, "pwd").get("/auth/account")
		b.post("/own", "current", goodPassword, "password", newPassword).says("done ").isSignedInAs(ada)
		other.isSignedInAs("")
		s.browser().signIn(ada, newPassword).isSignedInAs(ada)
		s.wantMail(ada, "was changed")
	})
}

func TestServerCodeIsToldWhatIsMissing(t *testing.T) {
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	do := func(b *browser, route string, fields map[string]string) (err error) {
		t.Helper()
		r := b.request(http.MethodPost, "/", http.NoBody)
		for _, c := range b.client.Jar.Cookies(r.URL) {
			r.AddCookie(c)
		}
		_, err = s.accounts.Do(httptest.NewRecorder(), r, route, fields)
		return err
	}
	b := s.browser().startSession(u, 0, "pwd")
	var failed *account.Error
	err := do(b, "password", map[string]string{"current": goodPassword, "password": "short"})
	if !errors.As(err, &failed) || failed.Fields["password"] != "password_too_short" || failed.Number != 15 || !errors.Is(err, account.Code("password_too_short")) {
		t.Errorf("a short password: %#v", err)
	}
	if err := do(s.browser(), "password", nil); !errors.Is(err, account.CodeSignedOut) {
		t.Errorf("without a session: %v", err)
	}
	var stepUp *account.StepUpError
	if err := do(s.browser().startSession(u, time.Hour, "pwd"), "password", nil); !errors.As(err, &stepUp) || stepUp.Level != account.OneFactor {
		t.Errorf("an old session: %v", err)
	}
	for range 5 {
		err = do(b, "password", map[string]string{"current": "x", "password": newPassword})
	}
	for i := 0; i < 10 && !errors.Is(err, account.Code("too_many_attempts")); i++ {
		err = do(b, "password", map[string]string{"current": "x", "password": newPassword})
	}
	if !errors.As(err, &failed) || failed.Code != "too_many_attempts" && failed.Code != account.CodeSignedOut {
		t.Errorf("many attempts: %v", err)
	}
	for _, route := range []string{"sign-up", "reset", "nothing", "me", "export"} {
		if err := do(b, route, nil); err == nil || errors.As(err, &failed) && failed.Code == "" {
			t.Errorf("%s: %v", route, err)
		}
	}
	if _, err := account.New(account.Options{}).Do(nil, nil, "password", nil); err == nil {
		t.Error("accounts of no configuration changed a password")
	}
}

func TestServerCodeReadsTheAccount(t *testing.T) {
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	s.app(u)
	b := s.browser().startSession(u, 0, "pwd", "otp")
	s.mux.HandleFunc("/read", func(w http.ResponseWriter, r *http.Request) {
		var me struct {
			User     struct{ Email string }
			Password struct{ Set bool }
			Factors  []struct{ ID, Name string }
		}
		if err := s.accounts.Read(w, r, "me", &me); err != nil {
			fmt.Fprint(w, err)
			return
		}
		fmt.Fprint(w, me.User.Email, me.Password.Set, len(me.Factors))
	})
	if got := b.get("/read").page; got != ada+"true 1" {
		t.Errorf("the account is %q", got)
	}
	if got := s.browser().get("/read").page; got != "account: signed_out" {
		t.Errorf("without a session: %q", got)
	}
	var none *pintle.User
	for _, route := range []string{"unlink", "sign-up"} {
		if err := s.accounts.Read(nil, b.request(http.MethodGet, "/", http.NoBody), route, none); err == nil {
			t.Errorf("%s was read", route)
		}
	}
}
