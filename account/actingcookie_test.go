package account_test

import (
	"context"
	"crypto/subtle"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
)

// cookies are those that a browser sends to the site.
func (b *browser) cookies() map[string]string {
	b.t.Helper()
	here, err := url.Parse(b.server.URL)
	b.done(err)
	all := map[string]string{}
	for _, c := range b.client.Jar.Cookies(here) {
		all[c.Name] = c.Value
	}
	return all
}

// sendWith sends a request of a browser with cookies that other sites of the domain have planted
// before and after its own.
func (b *browser) sendWith(method, path, before, after string) *browser {
	b.t.Helper()
	r := b.request(method, path, http.NoBody)
	r.Header.Set("Accept", "text/html")
	all := b.cookies()
	own := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		own = append(own, name+"="+all[name])
	}
	r.Header.Set("Cookie", strings.Trim(before+"; "+strings.Join(own, "; ")+"; "+after, "; "))
	jar := b.client.Jar
	b.client.Jar = nil
	defer func() { b.client.Jar = jar }()
	return b.send(r)
}

// cleared reports whether the last answer clears the cookie of an operator who acts.
func (b *browser) cleared() bool {
	return slices.ContainsFunc(b.header["Set-Cookie"], func(line string) bool { return strings.HasPrefix(line, "pintle.acting=;") })
}

// beginIn acts as ada in a browser that has the session of the operator.
func (d *desk) beginIn(b *browser) *browser {
	d.t.Helper()
	b.post("/admin/act", "user", d.user.ID, "reason", "ticket 7").want(http.StatusOK).isAt("/home")
	return d.actsIn(b)
}

// AC-191, AT-105: the tenants of one host, whose sessions are apart, do not end what an operator
// does at another one.
func TestOperatorsActAtTwoTenantsOfOneHost(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		open := func(tenant string) *desk {
			return newDesk(t, tokens, func(c *pintle.Config, _ *account.Options) {
				c.Tenant = tenant
				c.Cookies.SessionToken.Name, c.Cookies.CSRFToken.Name = "session-"+tenant, "csrf-"+tenant
			})
		}
		red, blue := open("red"), open("blue") // cookies know no ports
		atRed, atBlue := red.at(), blue.browser()
		atBlue.client = atRed.client
		atBlue.startSession(blue.operator, 0, "pwd", "otp")
		red.beginIn(atRed)
		atBlue.get("/home").says(eve + " by no operator")
		atBlue.do(http.MethodPost, "/write", url.Values{}).want(http.StatusOK)
		red.actsIn(atRed)
		blue.beginIn(atBlue)
		red.actsIn(atRed)
		atBlue.post("/auth/account/stop-acting").isAt("/admin/users").get("/home").says(eve + " by no operator")
		atRed.do(http.MethodPost, "/write", url.Values{}).want(http.StatusOK)
		if !slices.Equal(red.writes, []string{ada}) || !slices.Equal(blue.writes, []string{eve}) {
			t.Errorf("red has changed something for %q, and blue for %q", red.writes, blue.writes)
		}
	})
}

// AC-188, AT-103: a sibling host cannot have the prefix __Host-. On a site without TLS it can plant
// what it likes.
func TestACookieThatIsPlantedNeitherBeginsNorEndsActing(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		d := newDesk(t, tokens)
		mallory := d.seed("mallory@example.com", goodPassword, true)
		d.setRoles(mallory, "support")
		same := time.Now().Add(-5 * time.Minute)
		attacker := d.browser().startSessionAt(mallory, same, "pwd", "otp")
		attacker.post("/admin/act", "user", d.user.ID, "reason", "ticket 8").isAt("/home")
		twin := d.browser().startSessionAt(d.operator, same, "pwd", "otp")
		twin.sendWith(http.MethodGet, "/home", "pintle.acting="+attacker.cookies()["pintle.acting"], "").says(eve + " by no operator")
		planted := []string{"pintle.acting=garbage", "pintle.acting=", "pintle.acting=" + attacker.cookies()["pintle.acting"]}

		b := d.begin()
		at := d.browser().startSession(d.operator, 10*time.Minute, "pwd", "otp") // another session of the operator
		stolen := "pintle.acting=" + b.cookies()["pintle.acting"]
		at.sendWith(http.MethodGet, "/home", stolen, "").says(eve + " by no operator")
		at.sendWith(http.MethodPost, "/write", stolen, "").want(http.StatusConflict)
		for _, cookie := range planted {
			for _, order := range [][2]string{{cookie, ""}, {"", cookie}} {
				if b.sendWith(http.MethodGet, "/home", order[0], order[1]).says(ada + " by " + d.operator.ID); b.cleared() {
					t.Errorf("%q ends that the operator acts", cookie)
				}
				b.sendWith(http.MethodPost, "/write", order[0], order[1]).want(http.StatusOK)
				at.sendWith(http.MethodGet, "/home", order[0], order[1]).says(eve + " by no operator")
				at.sendWith(http.MethodPost, "/write", order[0], order[1]).want(http.StatusConflict)
			}
		}
		if slices.ContainsFunc(d.writes, func(of string) bool { return of != ada }) {
			t.Errorf("the application has changed something for %q", d.writes)
		}
	})
}

// AC-188, AT-103: with more cookies than are tried it is not known who acts.
func TestManyPlantedCookiesDoNotEndActing(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		d := newDesk(t, tokens)
		b := d.begin()
		var many []string
		for i := range 17 {
			many = append(many, fmt.Sprint("pintle.acting=", i))
		}
		if b.sendWith(http.MethodGet, "/home", strings.Join(many, "; "), ""); b.page != "no user" || b.cleared() {
			t.Errorf("planted cookies end that the operator acts: %s", b.page)
		}
		d.actsIn(b)
	})
}

// AC-191, AT-105: the grant is open, and the session of the operator does not come for a while. The
// cookie stays, since requests that are meant for the user would be those of the operator then.
func TestACookieOfAGrantThatIsOpenIsNotCleared(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		held := ""
		d := newDesk(t, tokens, func(c *pintle.Config, _ *account.Options) {
			c.Callbacks.Accept = acceptsUnless(&held)
		})
		b := d.begin()
		held = "/terms"
		for _, path := range []string{"/home", "/auth/signin", "/auth/account/forgot"} {
			if b.get(path).want(http.StatusOK); b.cleared() {
				t.Errorf("the page %s clears the cookie", path)
			}
		}
		b.get("/home").says("no user")
		b.do(http.MethodPost, "/write", url.Values{}).want(http.StatusConflict)
		if b.get("/auth/account").isAt("/auth/signin"); strings.Contains(b.page, ada) || b.header.Get("Pintle-Acting") != "" {
			t.Errorf("a session that is not used shows the account of the user: %s", b.page)
		}
		held = ""
		d.actsIn(b).do(http.MethodPost, "/write", url.Values{}).want(http.StatusOK)
		if !slices.Equal(d.writes, []string{ada}) {
			t.Errorf("the application has changed something for %q", d.writes)
		}
		d.lapse(b)
		if b.get("/home").says(eve + " by no operator"); !b.cleared() {
			t.Error("the cookie of a grant that has ended stays")
		}
	})
}

// acceptsUnless uses sessions unless a page comes first.
func acceptsUnless(first *string) func(context.Context, *pintle.Session) (string, error) {
	return func(context.Context, *pintle.Session) (string, error) { return *first, nil }
}

// AC-191: no user is signed in any more, so that no form of a sign-in changes an account,
// also where the application has put all of the site inside Load.
func TestTheOperatorSignsInAgainWithTwoFactorsWhileTheGrantIsOpen(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		d := newDesk(t, tokens)
		d.server.Config.Handler = d.auth.Load(d.mux)
		code := d.app(d.operator)
		b := d.begin()
		d.done(d.auth.SignOutEverywhere(t.Context(), d.operator.ID))
		if tokens {
			time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
		}
		if b.get("/home").says("no user"); b.cleared() {
			t.Error("the cookie of a grant that is open is cleared")
		}
		b.do(http.MethodPost, "/write", url.Values{}).want(http.StatusConflict)
		b.signIn(eve, goodPassword).isAt("/auth/account/second-factor").post("/auth/account/second-factor", "code", code())
		b.get("/home").says(eve + " by no operator")
		b.do(http.MethodPost, "/write", url.Values{}).want(http.StatusOK)
		if _, has := b.cookies()["pintle.acting"]; has || !slices.Equal(d.writes, []string{eve}) {
			t.Errorf("after the sign-in the cookie is there: %t; the application has changed something for %q", has, d.writes)
		}
	})
}

// AC-191: so does a form of the application whose handler is outside of Load.
func TestASignInFormOfTheApplicationWorksWhileTheGrantIsOpen(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		d := newDesk(t, tokens)
		d.mux.HandleFunc("POST /own/signin", func(w http.ResponseWriter, r *http.Request) {
			if _, _, err := d.auth.StartSession(w, r, d.operator, pintle.StartOptions{}); err != nil {
				t.Errorf("StartSession: %v", err)
			}
		})
		b := d.begin()
		d.done(d.auth.SignOutEverywhere(t.Context(), d.operator.ID))
		if tokens {
			time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
		}
		b.get("/home").says("no user").post("/own/signin").want(http.StatusOK)
		b.get("/home").says(eve + " by no operator")
		if _, has := b.cookies()["pintle.acting"]; has {
			t.Error("the cookie is there after the sign-in")
		}
	})
}

// AC-191: configurations that share sessions have one cookie on a host. Where each has a store of
// its own, a grant of one is not valid at the other, and no operator acts at both.
func TestAGrantOfAnotherStoreEndsActing(t *testing.T) {
	d, other := newDesk(t, true), newDesk(t, true) // cookies know no ports
	b := d.begin()
	there := other.browser()
	there.client = b.client
	there.do(http.MethodPost, "/write", url.Values{}).want(http.StatusConflict)
	if there.get("/home"); !there.cleared() {
		t.Error("the page of the other configuration leaves the cookie")
	}
	b.get("/home").says(eve + " by no operator")
	if len(other.writes) > 0 {
		t.Errorf("the other application has changed something for %q", other.writes)
	}
}

// AT-105: forms of Pintle that a tab has loaded before the operator began to act, or before the end,
// were meant for another user.
func TestAFormOfAnotherTabIsRejectedAfterTheSwitch(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		rejected := func(b *browser, token, when string) {
			t.Helper()
			for _, path := range []string{"/auth/account/profile", "/auth/account/end-devices"} {
				text := fmt.Sprintf(`{"csrfToken":%q,"name":"Mallory","all":"1"}`, token)
				if b.script(http.MethodPost, path, text); b.status != http.StatusForbidden || b.json()["error"] != "csrf" {
					t.Errorf("%s: %s is answered with %d %s", when, path, b.status, b.page)
				}
			}
			b.do(http.MethodPost, "/auth/signout", url.Values{"csrfToken": {token}})
			b.get("/home").says(" by ") // somebody is signed in
		}
		for name, end := range map[string]func(*desk, *browser){
			"button": func(_ *desk, b *browser) { b.post("/auth/account/stop-acting") },
			"time":   func(d *desk, b *browser) { d.lapse(b); b.get("/home").says(eve + " by no operator") },
		} {
			d := newDesk(t, tokens)
			b := d.at()
			before := b.get("/auth/account/profile").token()
			d.beginIn(b)
			rejected(b, before, "while acting")
			during := d.actsIn(b).get("/auth/account").token()
			if during == before {
				t.Fatal("the token of the form is that of before")
			}
			end(d, b)
			rejected(b, during, "after the end by "+name)
			b.get("/auth/account/profile").post("/auth/account/profile", "name", "Eve").want(http.StatusOK)
			if u := d.site.user(eve); u.Name != "Eve" {
				t.Errorf("the operator is called %q", u.Name)
			}
		}

		// The page on which the operator sees that it is over has forms of the operator.
		d := newDesk(t, tokens)
		b := d.begin()
		d.lapse(b)
		b.get("/auth/signout").post("/auth/signout").isSignedInAs("")
		b = d.begin()
		d.lapse(b)
		b.get("/auth/account/profile").post("/auth/account/profile", "name", "Eve").want(http.StatusOK)
	})
}

// AT-105: a form of the application that repeats the token, as docs/operators.md shows.
func TestAFormOfTheApplicationIsRejectedAfterTheSwitch(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		d := newDesk(t, tokens)
		changed := ""
		d.mux.Handle("/own", d.auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			token, err := d.auth.CSRFToken(w, r)
			d.done(err)
			switch {
			case r.Method == http.MethodGet:
				fmt.Fprintf(w, `<input name="csrfToken" value="%s">`, token)
			case subtle.ConstantTimeCompare([]byte(token), []byte(r.PostFormValue("csrfToken"))) != 1:
				http.Error(w, "Load the page again.", http.StatusConflict)
			default:
				changed += pintle.SessionFrom(r.Context()).User.Email + " "
			}
		})))
		b := d.at()
		form := url.Values{"csrfToken": {b.get("/own").token()}}
		d.beginIn(b).do(http.MethodPost, "/own", form).want(http.StatusConflict)
		acted := url.Values{"csrfToken": {b.get("/own").token()}}
		b.do(http.MethodPost, "/own", acted).want(http.StatusOK)
		b.post("/auth/account/stop-acting").do(http.MethodPost, "/own", acted).want(http.StatusConflict)
		b.do(http.MethodPost, "/own", form).want(http.StatusOK)
		d.beginIn(b)
		d.lapse(b)
		form = url.Values{"csrfToken": {b.get("/own").token()}}
		b.do(http.MethodPost, "/own", form).want(http.StatusOK)
		if changed != ada+" "+eve+" "+eve+" " {
			t.Errorf("the application has changed something for %q", changed)
		}
	})
}

// AC-188: what the operator has begun in this browser goes on after the end.
func TestTheOtherCookiesOfTheOperatorStay(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		d := newDesk(t, tokens, withGitHub)
		b := d.at().stay()
		b.post("/auth/signin/github").want(http.StatusFound) // an account that the operator is about to link
		b.plant("what an earlier sign-in has left")
		kept := func() map[string]string {
			all := b.cookies()
			for name := range all {
				if name == "pintle.acting" || strings.Contains(name, "callback-url") || strings.Contains(name, "session-token") {
					delete(all, name)
				}
			}
			return all
		}
		before := kept()
		b.post("/admin/act", "user", d.user.ID, "reason", "ticket 7").want(http.StatusSeeOther)
		for _, path := range []string{"/home", "/auth/signin", "/auth/account", "/auth/account/devices", "/auth/callback/github?code=1&state=2", "/auth/error?error=OAuthCallbackError"} {
			b.get(path)
		}
		b.post("/auth/callback/credentials", "email", ada, "password", goodPassword).want(http.StatusForbidden)
		d.actsIn(b).post("/auth/account/stop-acting").want(http.StatusSeeOther)
		b.get("/home").says(eve + " by no operator")
		if after := kept(); !maps.Equal(after, before) || len(before) < 3 {
			t.Errorf("the cookies were %v and are %v", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
		}
	})
}

// AC-192, AT-105: no page of the user stays in a cache, and none that the browser has kept is shown after
// the operator has begun to act or stopped.
func TestNoCacheKeepsAPageOnWhichAnOperatorActs(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		d := newDesk(t, tokens, withGitHub)
		b := d.at().stay()
		emptied := func(what string) {
			t.Helper()
			if b.header.Get("Clear-Site-Data") != `"cache"` {
				t.Errorf("%s: the cache of the browser stays: %v", what, b.header)
			}
		}
		begin := func() {
			b.post("/admin/act", "user", d.user.ID, "reason", "ticket 7").want(http.StatusSeeOther)
			emptied("begin")
		}
		begin()
		for _, path := range []string{
			"/home", "/auth/account", "/auth/account/devices", "/auth/account/password", "/auth/signin", "/auth/signout", "/auth/session", "/auth/csrf",
			"/auth/providers", "/auth/error", "/auth/callback/github?code=1", "/auth/account/nothing",
		} {
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				if path == "/auth/signout" && method == http.MethodPost {
					continue
				}
				b.do(method, path, url.Values{})
				if got := b.header["Cache-Control"]; !slices.Equal(got, []string{"private, no-store"}) || b.header.Get("Clear-Site-Data") != "" {
					t.Errorf("%s %s: %d with %q and %q", method, path, b.status, got, b.header.Get("Clear-Site-Data"))
				}
			}
		}
		b.post("/auth/account/stop-acting").want(http.StatusSeeOther)
		emptied("stop")
		if b.get("/home"); b.header.Get("Clear-Site-Data") != "" {
			t.Error("a page of the operator empties the cache")
		}
		for _, path := range []string{"/home", "/auth/signin", "/auth/account"} {
			begin()
			d.lapse(b)
			b.get(path)
			emptied("end by time at " + path)
		}
		begin()
		b.post("/auth/signout").want(http.StatusFound)
		emptied("sign-out")
	})
}

// AC-191, AT-105: requests from other sites carry the cookies of the session and of acting, or neither.
func TestTheCookieOfActingGoesWhereTheSessionGoes(t *testing.T) {
	for name, c := range map[string]struct {
		cookie pintle.Cookie
		want   string
	}{
		"lax":         {want: "; Path=/; HttpOnly; Secure; SameSite=Lax"},
		"strict":      {cookie: pintle.Cookie{SameSite: http.SameSiteStrictMode}, want: "; Path=/; HttpOnly; Secure; SameSite=Strict"},
		"none":        {cookie: pintle.Cookie{SameSite: http.SameSiteNoneMode}, want: "; Path=/; HttpOnly; Secure; SameSite=None"},
		"partitioned": {cookie: pintle.Cookie{SameSite: http.SameSiteNoneMode, Partitioned: true}, want: "; Path=/; HttpOnly; Secure; Partitioned; SameSite=None"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, false, func(cfg *pintle.Config, _ *account.Options) {
				cfg.URL, cfg.Cookies.SessionToken = "https://app.example.com", c.cookie
			})
			jar := map[string]*http.Cookie{}
			request := func(method, path string) *http.Request {
				r := httptest.NewRequestWithContext(t.Context(), method, "https://app.example.com"+path, http.NoBody)
				r.Header.Set("Accept", "text/html")
				for _, c := range jar {
					r.AddCookie(c)
				}
				return r
			}
			keep := func(w *httptest.ResponseRecorder) {
				for _, c := range w.Result().Cookies() {
					jar[c.Name] = c
				}
			}
			line := func(w *httptest.ResponseRecorder) string {
				for _, line := range w.Header()["Set-Cookie"] {
					if strings.HasPrefix(line, "__Host-pintle.acting=") {
						return line
					}
				}
				return ""
			}
			w := httptest.NewRecorder()
			_, _, err := d.auth.StartSession(w, request(http.MethodPost, "/"), d.operator, pintle.StartOptions{
				Authentication: pintle.Authentication{Time: time.Now(), Methods: []string{"pwd", "otp"}},
			})
			d.done(err)
			keep(w)
			w = httptest.NewRecorder()
			d.done(d.accounts.Operators().ActAs(w, request(http.MethodPost, "/"), d.user.ID, account.ActOptions{Reason: "ticket 7"}))
			if got := line(w); !strings.HasSuffix(got, c.want) {
				t.Errorf("ActAs sets %q, want %q", got, c.want)
			}
			keep(w)
			w = httptest.NewRecorder()
			if d.mux.ServeHTTP(w, request(http.MethodGet, "/home")); !strings.Contains(w.Body.String(), ada+" by ") {
				t.Errorf("the operator does not act: %s", w.Body)
			}
			f, err := d.accounts.HeldActing(request(http.MethodGet, "/"))
			d.done(err)
			_, err = d.rows.UseFlow(t.Context(), f, "acting")
			d.done(err)
			w = httptest.NewRecorder()
			d.mux.ServeHTTP(w, request(http.MethodGet, "/home"))
			if got, want := line(w), "__Host-pintle.acting=; Max-Age=0"+c.want; got != want {
				t.Errorf("Load clears the cookie by %q, want %q", got, want)
			}
		})
	}
}
