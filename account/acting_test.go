package account_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

const eve = "eve@example.com" // an operator

// withActing lets users with the role "support" act.
func withActing(_ *pintle.Config, o *account.Options) {
	o.Acting = account.Acting{Roles: []string{"support", "root"}, Protected: []string{"admin"}}
}

// A desk is a site with an operator, and ada as whom the operator acts. Its pages are those of
// an application.
type desk struct {
	*site
	operator, user *pintle.User

	// writes are the addresses of the users for whom the application has changed something.
	writes []string
}

// newDesk starts the application. POST /admin/act lets the operator of the session act as the
// user of the form, and POST /write changes something for the user of the session.
func newDesk(t *testing.T, tokens bool, changes ...func(*pintle.Config, *account.Options)) *desk {
	t.Helper()
	d := &desk{site: newSite(t, tokens, append([]func(*pintle.Config, *account.Options){withActing}, changes...)...)}
	d.operator, d.user = d.seed(eve, goodPassword, true), d.seed(ada, goodPassword, true)
	d.setRoles(d.operator, "support")
	d.pages()
	return d
}

func (d *desk) setRoles(u *pintle.User, roles ...string) {
	d.t.Helper()
	d.changeState(u.ID, func(s *accountstore.State) { s.Roles = roles })
}

func (d *desk) pages() {
	d.mux.Handle("POST /admin/act", d.auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := d.accounts.Operators().ActAs(w, r, r.FormValue("user"), account.ActOptions{Reason: r.FormValue("reason"), ReturnTo: "/admin/users"})
		var stepUp *account.StepUpError
		switch {
		case errors.As(err, &stepUp):
			stepUp.ServeHTTP(w, r)
		case err != nil:
			http.Error(w, err.Error(), http.StatusForbidden)
		default:
			http.Redirect(w, r, "/home", http.StatusSeeOther)
		}
	})))
	d.mux.Handle("/home", d.auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		banner, err := d.accounts.ActingBanner(w, r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		s := pintle.SessionFrom(r.Context())
		if s == nil {
			_, _ = io.WriteString(w, "no user")
			return
		}
		by := "no operator"
		if s.Actor != nil {
			by = s.Actor.ID + " " + s.Actor.Name
		}
		fmt.Fprintf(w, "%s by %s, proofs %v%s", s.User.Email, by, s.Authentication, banner)
	})))
	d.mux.Handle("POST /write", d.auth.Load(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		who := "no user"
		if s := pintle.SessionFrom(r.Context()); s != nil {
			who = s.User.Email
		}
		d.writes = append(d.writes, who)
	})))
}

// at gives a browser the session of the operator, who has just proven two factors.
func (d *desk) at() *browser { return d.browser().startSession(d.operator, 0, "pwd", "otp") }

// begin acts as ada.
func (d *desk) begin() *browser {
	d.t.Helper()
	b := d.at()
	b.post("/admin/act", "user", d.user.ID, "reason", "ticket 7").want(http.StatusOK).isAt("/home")
	return d.actsIn(b)
}

// actsIn checks that the operator acts as ada in a browser.
func (d *desk) actsIn(b *browser) *browser {
	d.t.Helper()
	b.get("/home").says(ada + " by " + d.operator.ID + " " + eve)
	if b.header.Get("Pintle-Acting") != "1" {
		d.t.Fatal("the answer has no header Pintle-Acting")
	}
	return b
}

// lapse lets the time pass for which the operator acts in a browser.
func (d *desk) lapse(b *browser) {
	d.t.Helper()
	r := b.request(http.MethodGet, "/", nil)
	for _, c := range b.client.Jar.Cookies(r.URL) {
		r.AddCookie(c)
	}
	id, err := d.accounts.HeldActing(r)
	d.done(err)
	f, err := d.rows.Flow(d.t.Context(), id)
	d.done(err)
	f.Expires = time.Now().Add(-time.Millisecond).UTC().Truncate(time.Millisecond)
	d.done(d.rows.ChangeFlow(d.t.Context(), f))
}

// grants counts the operators who act as ada.
func (d *desk) grants() int {
	d.t.Helper()
	n, err := d.rows.CountFlows(d.t.Context(), d.user.ID, "acting", time.Now())
	d.done(err)
	return n
}

// AC-188, AC-192
func TestAnOperatorSeesTheSiteAsTheUser(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		d := newDesk(t, tokens)
		b := d.begin()
		b.says("proofs {0001-01-01").says(`<aside class="pintle-acting">`).says("You act as <bdi>" + ada + "</bdi>.").says(`action="/auth/account/stop-acting"`)

		var shown struct {
			User struct{ Email string }
			Act  map[string]string
		}
		d.done(json.Unmarshal([]byte(b.script(http.MethodGet, "/auth/session", "").page), &shown))
		if shown.User.Email != ada || shown.Act["sub"] != d.operator.ID || shown.Act["name"] != eve {
			t.Errorf("the session route shows %s", b.page)
		}
		for _, path := range []string{"/auth/account", "/auth/account/devices", "/auth/account/nothing", "/auth/signin", "/auth/signout", "/auth/error"} {
			b.get(path).says("You act as").says(`/auth/account/stop-acting"`)
			if b.header.Get("Pintle-Acting") != "1" {
				t.Errorf("%s has no header Pintle-Acting", path)
			}
		}
		b.post("/auth/account/stop-acting").want(http.StatusOK).isAt("/admin/users")
		b.get("/home").says(eve + " by no operator")
		if strings.Contains(b.page, "pintle-acting") || d.grants() != 0 {
			t.Errorf("after the end there are %d grants, and the page is %s", d.grants(), b.page)
		}
	})
}

// AC-188: a view of the application shows who acts as well.
func TestAViewOfTheApplicationShowsWhoActs(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		d := newDesk(t, tokens, func(c *pintle.Config, _ *account.Options) {
			c.Callbacks.Session = func(_ context.Context, v *pintle.SessionView) (any, error) {
				if !tokens && (v.User.Email != v.Session.User.Email || v.Stored.UserID != v.User.ID) {
					return nil, errors.New("the row is not that of the user")
				}
				if tokens && v.Claims["email"] != v.Session.User.Email {
					return nil, errors.New("the claims are not those of the user")
				}
				v.Session.Actor = nil
				return map[string]string{"mail": v.Session.User.Email}, nil
			}
		})
		b := d.begin()
		if got, want := b.script(http.MethodGet, "/auth/session", "").page, fmt.Sprintf(`{"mail":%q,"act":{"sub":%q,"name":%q}}`, ada, d.operator.ID, eve); got != want {
			t.Errorf("the session route shows %s, want %s", got, want)
		}
	})
}

// AC-189, AC-150, AT-47, AT-102
func TestAnOperatorWhoActsChangesNothingOfTheAccount(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		d := newDesk(t, tokens, withGitHub)
		d.app(d.user)
		d.demand("/danger", account.Demand{})
		b := d.begin().stay()
		before := d.rowsOf(d.user) + d.rowsOf(d.operator)
		forms := []string{
			"password", "address", "address-finish", "address-cancel", "address-undo", "profile", "unlink", "end-devices", "delete", "export", "totp",
			"factor", "remembered", "recovery-codes", "confirm", "keep", "prove", "must-change", "second-factor", "enrol", "sign-up", "forgot", "reset",
		}
		for _, name := range forms {
			path := "/auth/account/" + name
			b.post(path, "password", goodPassword, "email", "new@example.com", "all", "1", "name", "Mallory", "confirmed", "1").want(http.StatusForbidden).says("You act as another user.")
			if answer := b.postJSON(path, map[string]any{"password": goodPassword}); b.status != http.StatusForbidden || answer["error"] != "acting" {
				t.Errorf("the form %q is answered with %d %v", name, b.status, answer)
			}
		}
		for _, name := range []string{"password", "address", "delete", "export", "totp", "recovery-codes", "confirm"} {
			if b.script(http.MethodGet, "/auth/account/"+name, ""); b.status != http.StatusForbidden || b.json()["error"] != "acting" {
				t.Errorf("the page %q is answered with %d %s", name, b.status, b.page)
			}
		}
		b.get("/danger").want(http.StatusForbidden).says("Only the user can open this page.").says("pintle-acting")
		if strings.Contains(b.page, "Nothing was done") || strings.Contains(b.page, ">Sign in<") {
			t.Errorf("the page that was opened says what was not done, or leads to the sign-in: %s", b.page)
		}
		for _, path := range []string{"/auth/signin/github", "/auth/callback/credentials", "/auth/session"} {
			if b.post(path, "email", ada, "password", goodPassword).want(http.StatusForbidden); strings.Contains(b.header.Get("Set-Cookie"), "session-token") {
				t.Errorf("%s sets a session", path)
			}
		}
		b.get("/auth/callback/github?code=1&state=2").want(http.StatusForbidden)
		b.post("/admin/act", "user", d.seed("bob@example.com", "", true).ID, "reason", "again").want(http.StatusForbidden).says("account: acting")
		if after := d.rowsOf(d.user) + d.rowsOf(d.operator); after != before {
			t.Errorf("the rows were\n%s\nand are\n%s", before, after)
		}
		d.actsIn(b)
	})
}

// AC-189, AT-102: what a handler of the application calls.
func TestGoMethodsRefuseAnOperatorWhoActs(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		d := newDesk(t, tokens, withGitHub)
		d.link(d.user, "github")
		calls := map[string]func(w http.ResponseWriter, r *http.Request) error{
			"SignIn": func(w http.ResponseWriter, r *http.Request) error {
				_, err := d.auth.SignIn(w, r, "github", pintle.SignInOptions{})
				return err
			},
			"StartSession": func(w http.ResponseWriter, r *http.Request) error {
				_, _, err := d.auth.StartSession(w, r, d.user, pintle.StartOptions{})
				return err
			},
			"Reauthenticate": func(w http.ResponseWriter, r *http.Request) error {
				_, err := d.auth.Reauthenticate(w, r, pintle.CompleteOptions{Methods: []string{"pwd"}})
				return err
			},
			"CompleteSignIn": func(w http.ResponseWriter, r *http.Request) error {
				_, err := d.auth.CompleteSignIn(w, r, pintle.CompleteOptions{})
				return err
			},
			"UpdateSession": func(w http.ResponseWriter, r *http.Request) error {
				_, err := d.auth.UpdateSession(w, r, map[string]any{"name": "Mallory"})
				return err
			},
			"Unlink": func(_ http.ResponseWriter, r *http.Request) error {
				return d.auth.Unlink(r.Context(), pintle.SessionFrom(r.Context()), "github", "1 "+d.user.ID)
			},
			"EndDevice": func(_ http.ResponseWriter, r *http.Request) error {
				return d.auth.EndDevice(r.Context(), pintle.SessionFrom(r.Context()), "handle")
			},
			"EndOtherDevices": func(_ http.ResponseWriter, r *http.Request) error {
				_, err := d.auth.EndOtherDevices(r.Context(), pintle.SessionFrom(r.Context()))
				return err
			},
			"RenamePasskey": func(_ http.ResponseWriter, r *http.Request) error {
				return d.auth.RenamePasskey(r.Context(), pintle.SessionFrom(r.Context()), "AAAA", "mine")
			},
			"SignOutEverywhere": func(_ http.ResponseWriter, r *http.Request) error {
				return d.auth.SignOutEverywhere(r.Context(), d.user.ID)
			},
			"DeleteUser": func(_ http.ResponseWriter, r *http.Request) error { return d.auth.DeleteUser(r.Context(), d.user.ID) },
			"Do": func(w http.ResponseWriter, r *http.Request) error {
				_, err := d.accounts.Do(w, r, "profile", map[string]string{"name": "Mallory"})
				return err
			},
			"Read": func(w http.ResponseWriter, r *http.Request) error {
				return d.accounts.Read(w, r, "recovery-codes", &struct{}{})
			},
			"Meets": func(_ http.ResponseWriter, r *http.Request) error { return d.accounts.Meets(r, account.Demand{}) },
			"ActAs": func(w http.ResponseWriter, r *http.Request) error {
				return d.accounts.Operators().ActAs(w, r, d.user.ID, account.ActOptions{Reason: "again"})
			},
		}
		for name, call := range calls {
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				d.mux.Handle(method+" /call/"+name, d.auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if err := call(w, r); !errors.Is(err, pintle.CodeActing) && !errors.Is(err, account.CodeActing) {
						t.Errorf("%s by %s returns %v", name, r.Method, err)
					}
				})))
			}
		}
		b := d.begin()
		before := d.rowsOf(d.user) + d.rowsOf(d.operator)
		for name := range calls {
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				if len(b.do(method, "/call/"+name, url.Values{}).want(http.StatusOK).header["Set-Cookie"]) > 0 {
					t.Errorf("%s by %s sets %q", name, method, b.header["Set-Cookie"])
				}
			}
		}
		if after := d.rowsOf(d.user) + d.rowsOf(d.operator); after != before {
			t.Errorf("the rows were\n%s\nand are\n%s", before, after)
		}
		d.actsIn(b)
	})
}

// rowsOf is what the store has of a user.
func (s *site) rowsOf(u *pintle.User) string {
	s.t.Helper()
	stored, err := s.store.User(s.t.Context(), u.ID)
	s.done(err)
	linked, err := s.store.UserAccounts(s.t.Context(), u.ID)
	s.done(err)
	factors, err := s.rows.Factors(s.t.Context(), u.ID)
	s.done(err)
	var sessions []string
	for session, err := range s.store.UserSessions(s.t.Context(), u.ID) {
		s.done(err)
		sessions = append(sessions, session.ID)
	}
	slices.Sort(sessions)
	text, err := json.Marshal([]any{stored, linked, factors, sessions, s.state(u)})
	s.done(err)
	return string(text)
}

// AC-190, AT-103, AT-105
func TestActingEndsWithWhatItNeeds(t *testing.T) {
	for name, end := range map[string]func(d *desk, b *browser){
		"sign-out": func(_ *desk, b *browser) { b.post("/auth/signout") },
		"session of the operator": func(d *desk, _ *browser) {
			d.done(d.auth.SignOutEverywhere(d.t.Context(), d.operator.ID))
		},
		"ban of the operator": func(d *desk, _ *browser) {
			d.done(d.accounts.Operators().Ban(d.t.Context(), d.operator.ID, time.Time{}, ""))
		},
		"ban of the operator by the state alone": func(d *desk, _ *browser) {
			d.changeState(d.operator.ID, func(s *accountstore.State) { s.BannedUntil = time.Now().Add(time.Hour) })
		},
		"ban of the user": func(d *desk, _ *browser) {
			d.done(d.accounts.Operators().Ban(d.t.Context(), d.user.ID, time.Time{}, ""))
		},
		"ban of the user by the state alone": func(d *desk, _ *browser) {
			d.changeState(d.user.ID, func(s *accountstore.State) { s.BannedUntil = time.Now().Add(time.Hour) })
		},
		"role of the operator": func(d *desk, _ *browser) {
			d.changeState(d.operator.ID, func(s *accountstore.State) { s.Roles = []string{"editor"} })
		},
		"protection of the user": func(d *desk, _ *browser) {
			d.changeState(d.user.ID, func(s *accountstore.State) { s.Roles = []string{"admin"} })
		},
		"all sessions of the user": func(d *desk, _ *browser) { d.done(d.auth.SignOutEverywhere(d.t.Context(), d.user.ID)) },
		"deletion of the user":     func(d *desk, _ *browser) { d.done(d.auth.DeleteUser(d.t.Context(), d.user.ID)) },
		"time":                     func(d *desk, b *browser) { d.lapse(b) },
	} {
		t.Run(name, func(t *testing.T) {
			inBothKinds(t, func(t *testing.T, tokens bool) {
				d := newDesk(t, tokens)
				b := d.begin()
				b.do(http.MethodPost, "/write", url.Values{}).want(http.StatusOK)
				end(d, b)
				if name != "sign-out" { // which has cleared the cookie
					b.do(http.MethodPost, "/write", url.Values{}).want(http.StatusConflict).says("You no longer act as the user.")
					b.script(http.MethodPost, "/write", "{}").want(http.StatusConflict).says(`{"error":"acting_ended"}`)
				}
				b.get("/home")
				for _, line := range b.header["Set-Cookie"] {
					if strings.HasPrefix(line, "pintle.acting=;") != (name != "sign-out") && strings.HasPrefix(line, "pintle.acting") {
						t.Errorf("the page sets %q", line)
					}
				}
				if strings.Contains(b.page, ada) || b.header.Get("Pintle-Acting") != "" {
					t.Errorf("the operator still acts: %s", b.page)
				}
				if !slices.Equal(d.writes, []string{ada}) {
					t.Errorf("the application has changed something for %q", d.writes)
				}
			})
		})
	}
}

// AC-191: server code outside of Auth.Load tells a request that came too late by its code.
func TestServerCodeKnowsThatTheActingHasEnded(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		d := newDesk(t, tokens)
		d.mux.HandleFunc("POST /outside", func(w http.ResponseWriter, r *http.Request) {
			if _, err := d.accounts.Do(w, r, "profile", map[string]string{"name": "Mallory"}); !errors.Is(err, account.CodeActingEnded) {
				t.Errorf("Do returns %v", err)
			}
			if s, err := d.auth.Session(r); s != nil || !errors.Is(err, pintle.CodeActingEnded) {
				t.Errorf("Session returns %v, %v", s, err)
			}
		})
		b := d.begin()
		d.done(d.accounts.Operators().Ban(t.Context(), d.user.ID, time.Time{}, ""))
		b.post("/outside").want(http.StatusOK)
	})
}

// AC-190: an operator who gets the role back begins again.
func TestActingDoesNotGoOnWhenTheRoleComesBack(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		d := newDesk(t, tokens)
		b := d.begin()
		d.setRoles(d.operator)
		b.script(http.MethodGet, "/home", "").says(eve)
		d.setRoles(d.operator, "support")
		b.script(http.MethodGet, "/home", "").says(eve + " by no operator")
	})
}

// AC-191, AT-105: a form of a page on which the operator acted must not reach the account of the
// operator, also if a script of another page has read something meanwhile.
func TestAFormThatComesAfterTheEndChangesNothing(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		d := newDesk(t, tokens, withGitHub)
		b := d.begin()
		token := b.token()
		d.lapse(b)
		b.script(http.MethodGet, "/home", "").says(eve + " by no operator")
		b.script(http.MethodGet, "/auth/session", "").says(eve)
		for _, path := range []string{"/write", "/auth/account/profile", "/auth/account/end-devices", "/auth/signin/github", "/auth/session", "/auth/callback/credentials"} {
			form := url.Values{"csrfToken": {token}, "name": {"Ada"}, "all": {"1"}, "email": {ada}, "password": {goodPassword}}
			b.do(http.MethodPost, path, form).want(http.StatusConflict)
		}
		if d.user = d.site.user(eve); d.user.Name != "" || len(d.writes) > 0 {
			t.Errorf("the operator is %v, and wrote %q", d.user, d.writes)
		}
		b.get("/home").says(eve + " by no operator") // the page without the banner
		b.do(http.MethodPost, "/write", url.Values{}).want(http.StatusOK)
		if !slices.Equal(d.writes, []string{eve}) {
			t.Errorf("the application has changed something for %q", d.writes)
		}
	})
}

// AC-191: the button of the banner, the sign-out and a new sign-in work after the end.
func TestTheOperatorGoesOnAfterTheEnd(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		d := newDesk(t, tokens)
		b := d.begin()
		d.lapse(b)
		b.post("/auth/account/stop-acting").isAt("/")
		b.do(http.MethodPost, "/write", url.Values{}).want(http.StatusOK)

		b = d.begin()
		d.lapse(b)
		b.post("/auth/signout").isSignedInAs("")
		b.do(http.MethodPost, "/write", url.Values{}).want(http.StatusOK)

		b = d.begin()
		token := b.token()
		d.done(d.auth.SignOutEverywhere(t.Context(), d.operator.ID))
		if tokens {
			time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
		}
		b.do(http.MethodPost, "/auth/callback/credentials", url.Values{"csrfToken": {token}, "email": {eve}, "password": {goodPassword}})
		b.isSignedInAs(eve).do(http.MethodPost, "/write", url.Values{}).want(http.StatusOK)
	})
}

// AC-190, AT-106
func TestWhoMayBeginToAct(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		for name, c := range map[string]struct {
			operator, user []string
			change         func(d *desk, form url.Values)
			proofs         []string
			ago            time.Duration
			want           string
		}{
			"another role that may":             {operator: []string{"a", "root"}, want: "acts"},
			"no role":                           {operator: []string{"editor"}, want: "refused"},
			"a role that has the text in it":    {operator: []string{"support-lead"}, want: "refused"},
			"a part of the text of a role":      {operator: []string{"sup"}, want: "refused"},
			"a user with a protected role":      {user: []string{"admin", "user"}, want: "refused"},
			"a user who may act":                {user: []string{"root"}, want: "refused"},
			"a user with a part of a role":      {user: []string{"admin-of-nothing"}, want: "acts"},
			"a user without roles":              {want: "acts"},
			"the operator":                      {change: func(d *desk, form url.Values) { form.Set("user", d.operator.ID) }, want: "refused"},
			"nobody":                            {change: func(_ *desk, form url.Values) { form.Set("user", "nobody") }, want: "not found"},
			"a banned user":                     {change: func(d *desk, _ url.Values) { d.ban(d.user) }, want: "refused"},
			"no reason":                         {change: func(_ *desk, form url.Values) { form.Del("reason") }, want: "reason"},
			"a short reason":                    {change: func(_ *desk, form url.Values) { form.Set("reason", " x ") }, want: "reason"},
			"a long reason":                     {change: func(_ *desk, form url.Values) { form.Set("reason", strings.Repeat("x", 501)) }, want: "reason"},
			"one factor":                        {proofs: []string{"pwd"}, want: "nothing was done"},
			"two factors of two hours ago":      {ago: 2 * time.Hour, want: "nothing was done"},
			"two factors of less than one hour": {ago: 50 * time.Minute, want: "acts"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				d := newDesk(t, tokens)
				if c.operator != nil {
					d.setRoles(d.operator, c.operator...)
				}
				d.setRoles(d.user, c.user...)
				if c.proofs == nil {
					c.proofs = []string{"pwd", "otp"}
				}
				b := d.browser().startSession(d.operator, c.ago, c.proofs...)
				form := url.Values{"user": {d.user.ID}, "reason": {"ticket 7"}}
				if c.change != nil {
					c.change(d, form)
				}
				b.do(http.MethodPost, "/admin/act", form)
				switch acts := strings.Contains(b.get("/home").page, ada+" by"); {
				case acts != (c.want == "acts"):
					t.Fatalf("the operator acts: %t: %s", acts, b.page)
				case !acts && (d.grants() != 0 || len(d.acts()) != 0):
					t.Errorf("there are %d grants, and the acts %q", d.grants(), d.acts())
				}
			})
		}
	})
}

func (d *desk) ban(u *pintle.User) {
	d.changeState(u.ID, func(s *accountstore.State) { s.BannedUntil = time.Now().Add(time.Hour) })
}

// AC-190: nothing but the options lets operators act.
func TestWithoutRolesNobodyActs(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false, func(_ *pintle.Config, o *account.Options) { o.Acting.Roles = nil })
	d.at().do(http.MethodPost, "/admin/act", url.Values{"user": {d.user.ID}, "reason": {"ticket"}}).want(http.StatusForbidden).says("Options.Acting.Roles")
}

// AC-190
func TestActingLastsNoLongerThanItsTime(t *testing.T) {
	for name, c := range map[string]struct{ most, asked, want time.Duration }{
		"by default":     {want: time.Hour},
		"as asked":       {asked: time.Minute, want: time.Minute},
		"at most":        {most: 2 * time.Hour, asked: 5 * time.Hour, want: 2 * time.Hour},
		"of the options": {most: 8 * time.Hour, want: 8 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			inBothKinds(t, func(t *testing.T, tokens bool) {
				d := newDesk(t, tokens, func(_ *pintle.Config, o *account.Options) { o.Acting.MaxAge = c.most })
				var expires time.Time
				d.mux.Handle("/begin", d.auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					d.done(d.accounts.Operators().ActAs(w, r, d.user.ID, account.ActOptions{Reason: "ticket", For: c.asked}))
				})))
				d.mux.Handle("/expires", d.auth.Load(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					expires = pintle.SessionFrom(r.Context()).Expires
				})))
				began := time.Now().Add(-time.Second)
				b := d.at().get("/begin")
				for range 2 { // no request extends it
					b.get("/expires").want(http.StatusOK)
					if expires.Before(began.Add(c.want)) || expires.After(time.Now().Add(c.want)) {
						t.Errorf("it ends at %v, %v after the beginning", expires, expires.Sub(began))
					}
				}
			})
		})
	}
	_, wrong := pintle.New(pintle.Config{Secrets: []string{strings.Repeat("secret ", 6)}, Accounts: account.New(account.Options{Acting: account.Acting{MaxAge: 9 * time.Hour}}), Getenv: func(string) string { return "" }})
	if wrong == nil || !strings.Contains(wrong.Error(), "Options.Acting.MaxAge") {
		t.Errorf("nine hours are %v", wrong)
	}
}

// AC-189, AC-182
func TestActingIsRecordedAndTold(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		d := newDesk(t, tokens)
		b := d.begin()
		if m := d.wantMail(ada, "acts as you"); m.Kind != "acting-begun" || strings.Contains(m.Text+m.HTML, "ticket 7") {
			t.Errorf("the mail is %q: %s", m.Kind, m.Text)
		}
		for range 3 {
			b.do(http.MethodPost, "/write", url.Values{}).want(http.StatusOK)
		}
		b.get("/home").get("/home")
		b.post("/auth/account/stop-acting")
		events, _, err := d.rows.Activity(t.Context(), accountstore.ActivityQuery{UserID: d.user.ID, Limit: 100})
		d.done(err)
		requests, got := 0, []string{}
		for _, e := range events {
			switch {
			case e.Kind == "acting_request":
				requests += e.Count
				fallthrough
			case strings.HasPrefix(e.Kind, "op_"):
				if got = append(got, e.Kind+" "+e.Outcome+" "+e.Detail["reason"]); e.Actor != d.operator.ID {
					t.Errorf("the actor of %s is %q", e.Kind, e.Actor)
				}
			}
		}
		slices.Sort(got)
		if len(got) > 5 { // the minute may have passed
			t.Errorf("three requests of a minute are several records: %q", got)
		}
		got = slices.Compact(got)
		if want := []string{"acting_request ok ticket 7", "op_acting_begun begun ticket 7", "op_acting_begun ok ticket 7", "op_acting_ended ok ticket 7"}; !slices.Equal(got, want) || requests != 3 {
			t.Errorf("the activity has %q, and %d requests", got, requests)
		}
		own := d.browser().startSession(d.user, 0, "pwd")
		own.get("/auth/account/activity").says("Support began to act as you").says("Support stopped acting as you").says("Support sent a form as you")
		for _, secret := range []string{"ticket 7", eve, d.operator.ID} {
			if strings.Contains(own.text(), secret) {
				t.Errorf("the user sees %q", secret)
			}
		}
	})
}

// AC-188: what an operator has done for one reason is not recorded with another one.
func TestEachRecordOfActingHasTheReasonOfItsGrant(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	b := d.at()
	for _, reason := range []string{"ticket 7", "ticket 8"} {
		b.post("/admin/act", "user", d.user.ID, "reason", reason).isAt("/home")
		b.do(http.MethodPost, "/write", url.Values{}).want(http.StatusOK)
		b.post("/auth/account/profile", "name", "Mallory").want(http.StatusForbidden)
		b.post("/auth/account/stop-acting")
	}
	for kind, outcomes := range map[string][]string{"op_acting_begun": {"begun", "ok"}, "acting_request": {"ok", "refused"}, "op_acting_ended": {"ok"}} {
		for _, outcome := range outcomes {
			d.wantReasons(kind, outcome, "ticket 7", "ticket 8")
		}
	}
}

func (d *desk) wantReasons(kind, outcome string, want ...string) {
	d.t.Helper()
	events, _, err := d.rows.Activity(d.t.Context(), accountstore.ActivityQuery{UserID: d.user.ID, Kind: kind, Outcome: outcome, Limit: 100})
	d.done(err)
	var reasons []string
	for _, e := range events {
		reasons = append(reasons, e.Detail["reason"])
	}
	slices.Sort(reasons)
	if reasons = slices.Compact(reasons); !slices.Equal(reasons, want) { // the minute may have passed
		d.t.Errorf("the records of %s %s have the reasons %q", kind, outcome, reasons)
	}
}

// AC-182, AT-97
func TestWhatCannotBeRecordedIsNotDoneAsTheUser(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		var store *unrecorded
		d := newDesk(t, tokens, func(c *pintle.Config, _ *account.Options) {
			store = &unrecorded{Store: c.Store}
			c.Store = store
		})
		b := d.begin()
		store.away = true
		b.do(http.MethodPost, "/write", url.Values{})
		if !slices.Equal(d.writes, []string{"no user"}) {
			t.Errorf("the application has changed something for %q", d.writes)
		}
		b.get("/home").says(ada)
		other := d.at()
		other.do(http.MethodPost, "/admin/act", url.Values{"user": {d.user.ID}, "reason": {"ticket"}}).want(http.StatusForbidden)
		other.get("/home").says(eve + " by no operator")
	})
}

// AC-189: a mail that the application leaves out.
func TestTheMailAboutActingCanBeLeftOut(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false, func(_ *pintle.Config, o *account.Options) { o.Notices.Off = []string{"acting-begun"} })
	d.begin()
	if mails := d.sent(ada); len(mails) != 0 {
		t.Errorf("the user received %q", mails[0].Subject)
	}
}

// AC-189, AT-104
func TestTheUserSeesNothingOfTheOperatorsSession(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		d := newDesk(t, tokens)
		own := d.browser().startSession(d.user, 0, "pwd", "otp")
		devices := func() int { return strings.Count(own.get("/auth/account/devices").page, `class="row"`) }
		before := devices()
		acting := d.begin()
		if after := devices(); after != before {
			t.Errorf("the user has %d devices, and had %d", after, before)
		}
		own.get("/home").says(ada + " by no operator")
		d.browser().startSession(d.user, 0, "pwd").get("/home").says(ada + " by no operator")

		// The cookie alone, or beside the session of the user, is worth nothing.
		here, err := url.Parse(d.server.URL)
		d.done(err)
		for _, c := range acting.client.Jar.Cookies(here) {
			if c.Name == "pintle.acting" {
				own.client.Jar.SetCookies(here, []*http.Cookie{c})
				alone := d.browser()
				alone.client.Jar.SetCookies(here, []*http.Cookie{c})
				alone.get("/home").says("no user")
			}
		}
		own.script(http.MethodGet, "/home", "").says(ada + " by no operator")
		own.do(http.MethodPost, "/write", url.Values{}).want(http.StatusConflict)
		d.actsIn(acting)
	})
}

// AC-188: two processes of the site.
func TestWhatEndsInOneProcessHasEndedInTheOther(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		var shared pintle.Config
		d := newDesk(t, tokens, func(c *pintle.Config, _ *account.Options) { shared = *c })
		other := &desk{
			site: newSite(t, tokens, withActing, func(c *pintle.Config, _ *account.Options) {
				c.Store, c.Session = shared.Store, shared.Session
			}), operator: d.operator, user: d.user,
		}
		other.pages()
		b := d.begin()
		there := other.browser()
		here, err := url.Parse(d.server.URL)
		d.done(err)
		at, err := url.Parse(other.server.URL)
		d.done(err)
		there.client.Jar.SetCookies(at, b.client.Jar.Cookies(here))
		other.actsIn(there)
		b.post("/auth/account/stop-acting")
		there.do(http.MethodPost, "/write", url.Values{}).want(http.StatusConflict)
		there.get("/home").says(eve + " by no operator")
	})
}

// AC-192: the cookie of the session stays that of the operator, for whoever else reads it.
func TestOtherServicesSeeTheOperator(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		d := newDesk(t, tokens)
		b := d.begin()
		plain, err := pintle.New(pintle.Config{
			Store: d.store, Secrets: []string{strings.Repeat("secret ", 6)}, URL: d.server.URL, Getenv: func(string) string { return "" },
			Session:   pintle.SessionConfig{Strategy: map[bool]pintle.SessionStrategy{true: pintle.StrategyJWT}[tokens]},
			Providers: []pintle.Provider{&pintle.OAuth{ID: "acme", Issuer: "https://idp.example", ClientID: "app", ClientSecret: "secret"}},
		})
		d.done(err)
		d.mux.HandleFunc("/other-service", func(w http.ResponseWriter, r *http.Request) {
			s, err := plain.Session(r)
			d.done(err)
			_, _ = io.WriteString(w, s.User.Email)
		})
		if got := b.get("/other-service").page; got != eve {
			t.Errorf("another service sees %q", got)
		}
	})
}

// AC-188: what the application keeps with the session of the operator is not of the user.
func TestASessionInWhichAnOperatorActsHasNoDataOfTheOperator(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		team := pintle.NewClaim[string]("team")
		d := newDesk(t, tokens)
		d.mux.Handle("/team", d.auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s := pintle.SessionFrom(r.Context())
			if s.Actor == nil {
				team.Set(s, "operators")
				_, err := d.auth.UpdateSession(w, r, nil)
				d.done(err)
			}
			value, has := team.Get(s)
			fmt.Fprint(w, value, has, s.Roles)
		})))
		d.setRoles(d.user, "editor")
		b := d.at().get("/team").says("operators")
		b.do(http.MethodPost, "/admin/act", url.Values{"user": {d.user.ID}, "reason": {"ticket 7"}}).isAt("/home")
		want := "false []"
		if tokens {
			want = "false [editor]"
		}
		if got := b.get("/team").page; got != want {
			t.Errorf("the data are %q, want %q", got, want)
		}
		d.mux.Handle("/editors", d.accounts.RequireRole(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "inside") }), "editor"))
		d.mux.Handle("/support", d.accounts.RequireRole(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), "support"))
		b.get("/editors").want(http.StatusOK).says("inside")
		b.get("/support").want(http.StatusForbidden).says("pintle-acting")
	})
}

// AC-190
func TestTheWayBackFromActingStaysOnTheSite(t *testing.T) {
	t.Parallel()
	d := newDesk(t, false)
	for _, to := range []string{"https://evil.example/", "//evil.example", "/\\evil.example", "/\t/evil.example", "home"} {
		w, r := httptest.NewRecorder(), d.browser().request(http.MethodPost, "/", nil)
		err := d.accounts.Operators().ActAs(w, r, d.user.ID, account.ActOptions{Reason: "ticket 7", ReturnTo: to})
		if err == nil || !strings.Contains(err.Error(), "ReturnTo") {
			t.Errorf("the way back %q is answered with %v", to, err)
		}
	}
}

// AC-187: what an operator decides about the user is done also in a request in which the operator
// acts as the user.
func TestAnActOfAnOperatorIsNotHalfDoneWhileActing(t *testing.T) {
	for name, act := range map[string]func(*account.Operators, context.Context, string) error{
		"ban": func(o *account.Operators, ctx context.Context, id string) error {
			return o.Ban(ctx, id, time.Time{}, "")
		},
		"sign-out": func(o *account.Operators, ctx context.Context, id string) error { return o.SignOut(ctx, id) },
		"deletion": func(o *account.Operators, ctx context.Context, id string) error {
			return o.Delete(ctx, id)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBothKinds(t, func(t *testing.T, tokens bool) {
				d := newDesk(t, tokens)
				own := d.browser().startSession(d.user, 0, "pwd").isSignedInAs(ada)
				d.mux.Handle("/decide", d.auth.Load(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					d.done(act(d.accounts.Operators(), account.WithOperator(r.Context(), d.operator.ID), d.user.ID))
				})))
				d.begin().get("/decide").want(http.StatusOK)
				own.isSignedInAs("")
				if name == "deletion" && d.site.user(ada) != nil {
					t.Error("the user is still there")
				}
			})
		})
	}
}
