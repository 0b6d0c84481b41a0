package account_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
)

const bob = "bob@example.com"

// wantNew checks how many mails about new devices went to an address.
func (s *site) wantNew(email string, want int, when string) {
	s.t.Helper()
	if n := s.count(email, "new-device"); n != want {
		s.t.Errorf("%s: %d mails about new devices went to %s, want %d: %q", when, n, email, want, s.kinds(email))
	}
}

// known is the cookie of the users for whom the browser is known, or nil.
func (b *browser) known() *http.Cookie {
	here, _ := url.Parse(b.server.URL)
	for _, c := range b.client.Jar.Cookies(here) {
		if c.Name == "pintle.known" {
			return c
		}
	}
	return nil
}

// keep puts a cookie of the known users into the browser.
func (b *browser) keep(value string) *browser {
	here, _ := url.Parse(b.server.URL)
	b.client.Jar.SetCookies(here, []*http.Cookie{{Name: "pintle.known", Value: value, Path: "/"}})
	return b
}

func (b *browser) signOut() *browser {
	b.t.Helper()
	b.get("/auth/signout").post("/auth/signout")
	return b.isSignedInAs("")
}

// AC-172
func TestASignInInANewBrowserIsMailedOnce(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		b := s.browser().signUp(ada)
		b.post("/auth/account/sign-up-sent", "code", s.code()).post("/auth/account/sign-up-finish", "password", goodPassword)
		b.isSignedInAs(ada)
		s.wantNew(ada, 0, "after the sign-up")
		b.signOut().signIn(ada, goodPassword).isSignedInAs(ada)
		s.wantNew(ada, 0, "in the browser of the sign-up")

		other := s.browser().signIn(ada, goodPassword).isSignedInAs(ada)
		s.wantNew(ada, 1, "in another browser")
		m := s.mails[len(s.mails)-1]
		if m.URL != s.server.URL+"/auth/account/forgot" || m.Token != "" || m.Code != "" || !m.Expires.IsZero() {
			t.Errorf("the mail leads to %q", m.URL)
		}
		other.signOut().signIn(ada, goodPassword).isSignedInAs(ada)
		s.wantNew(ada, 1, "in the other browser again")

		s.browser().signIn(ada, "wrong"+goodPassword)
		s.wantNew(ada, 1, "after a wrong password")
		s.browser().startSession(s.user(ada), 0, "pwd").isSignedInAs(ada)
		s.wantNew(ada, 1, "after a session that server code has started")
	})
}

// AT-91: a browser is known for the users who have signed in in it, and for no other one.
func TestABrowserOfOneUserIsNewForAnother(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		s.seed(ada, goodPassword, true)
		s.seed(bob, goodPassword, true)
		b := s.browser().signIn(ada, goodPassword).signOut().signIn(bob, goodPassword).isSignedInAs(bob)
		s.wantNew(ada, 1, "at first")
		s.wantNew(bob, 1, "in the browser of the other user")
		b.signOut().signIn(ada, goodPassword).signOut().signIn(bob, goodPassword)
		s.wantNew(ada, 1, "in the browser of both")
		s.wantNew(bob, 1, "in the browser of both")
	})
}

// AT-91
func TestABrowserIsKnownForFiveUsers(t *testing.T) {
	s := newSite(t, false)
	b := s.browser()
	var all []string
	for i := range 6 {
		all = append(all, fmt.Sprintf("user-%d@example.com", i))
		s.seed(all[i], goodPassword, true)
		b.signIn(all[i], goodPassword).signOut()
	}
	for i := 5; i > 0; i-- {
		b.signIn(all[i], goodPassword).signOut()
		s.wantNew(all[i], 1, "one of the last five")
	}
	b.signIn(all[0], goodPassword)
	s.wantNew(all[0], 2, "the first of six")
}

// AT-91: a cookie that the browser or another site has made, or that is too old, names no user.
func TestAForgedCookieOfKnownUsersSilencesNoMail(t *testing.T) {
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	s.seed(bob, goodPassword, true)
	r := s.browser().request(http.MethodGet, "/", http.NoBody)
	foreign := newSite(t, false, func(c *pintle.Config, _ *account.Options) { c.Secrets = []string{strings.Repeat("another", 6)} })
	tenant := newSite(t, false, func(c *pintle.Config, _ *account.Options) { c.Tenant = "two" })
	good := account.KnownAs(s.accounts, r, u.ID)
	session := s.browser().signIn(bob, goodPassword)
	s.mails = nil
	for i, tt := range []struct {
		name, value string
		known       bool
	}{
		{"a good one", good, true},
		{"one of five", account.KnownAs(s.accounts, r, "1", "2", "3", "4", u.ID), true},
		{"of another user", account.KnownAs(s.accounts, r, "id-"+bob), false},
		{"of another secret", account.KnownAs(foreign.accounts, r, u.ID), false},
		{"of another tenant", account.KnownAs(tenant.accounts, r, u.ID), false},
		{"with a changed byte", good[:len(good)-5] + "x" + good[len(good)-4:], false},
		{"the id of the user", u.ID, false},
		{"nothing", "", false},
		{"a list that is not sealed", "eyJ1c2VycyI6WyI" + u.ID + "iXSwiZXhwIjo5OTk5OTk5OTk5fQ", false},
		{"that of another browser", session.known().Value, false},
	} {
		if _, err := s.rows.EndFlows(t.Context(), u.ID, "notices-of-devices"); err != nil {
			t.Fatal(err)
		}
		s.mails = nil
		b := s.browser().keep(tt.value).signIn(ada, goodPassword).isSignedInAs(ada)
		if told := s.count(ada, "new-device") == 1; told == tt.known {
			t.Errorf("%d: with a cookie %s the user was told: %t", i, tt.name, told)
		}
		if c := b.known(); c == nil || c.Value == tt.value {
			t.Errorf("%s: the browser is not known afterwards", tt.name)
		}
	}
}

// A configured is a configuration as package account has made it, without a server.
type configured struct {
	*account.Accounts
	cfg   pintle.Config
	mails []*pintle.Message
}

func (c *configured) Attach(auth *pintle.Auth, cfg *pintle.Config) (http.Handler, error) {
	h, err := c.Accounts.Attach(auth, cfg)
	c.cfg = *cfg
	return h, err
}

func configure(t *testing.T, store pintle.Store, secrets ...string) *configured {
	t.Helper()
	c := &configured{}
	c.Accounts = account.New(account.Options{
		Mail: func(_ context.Context, m *pintle.Message) error { c.mails = append(c.mails, m); return nil },
	})
	_, err := pintle.New(pintle.Config{
		Store: store, URL: "https://app.example.com", Secrets: secrets, Getenv: func(string) string { return "" }, Accounts: c,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// AT-91
func TestABrowserIsKnownFor400Days(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, old := memstore.New(), strings.Repeat("old ", 10)
		before, now := configure(t, store, old), configure(t, store, strings.Repeat("new ", 10), old)
		u, err := store.CreateUser(t.Context(), &pintle.User{ID: "1", Email: ada, EmailVerified: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodPost, "https://app.example.com/auth/callback/credentials", http.NoBody)
		r.AddCookie(&http.Cookie{Name: "__Host-pintle.known", Value: account.KnownAs(before.Accounts, r, "2", u.ID)})
		signIn := func() int {
			now.mails = nil
			if err := now.cfg.Events.SignIn(t.Context(), &pintle.SignInEvent{User: u, SignedIn: true, Request: r}); err != nil {
				t.Fatal(err)
			}
			return len(now.mails)
		}
		time.Sleep(399 * 24 * time.Hour)
		if n := signIn(); n != 0 {
			t.Errorf("after 399 days, with a secret that was replaced: %d mails", n)
		}
		time.Sleep(24*time.Hour + time.Minute)
		if n := signIn(); n != 1 {
			t.Errorf("after 400 days: %d mails, want 1", n)
		}
	})
}

// A passkey is a way in for good, and so is an account of a provider. The address is the one of the store.
func TestAUserIsMailedAboutANewWayIn(t *testing.T) {
	store := memstore.New()
	c := configure(t, store, strings.Repeat("secret ", 6))
	u, err := store.CreateUser(t.Context(), &pintle.User{ID: "1", Email: ada, EmailVerified: time.Now().UTC().Truncate(time.Millisecond)})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "https://app.example.com/auth/callback/passkey", http.NoBody)
	reported := &pintle.User{ID: u.ID, Email: "eve@evil.example", EmailVerified: time.Now()}
	for kind, e := range map[string]*pintle.LinkAccountEvent{
		"passkey-added":  {User: reported, Account: &pintle.Account{Type: pintle.TypeWebAuthn, Provider: "passkey"}, Request: r},
		"account-linked": {User: reported, Account: &pintle.Account{Type: pintle.TypeOIDC, Provider: "acme"}, Request: r},
		"":               {User: reported, Account: &pintle.Account{Type: pintle.TypeOIDC, Provider: "acme"}, Request: r, NewUser: true},
	} {
		c.mails = nil
		if err := c.cfg.Events.LinkAccount(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		switch {
		case kind == "" && len(c.mails) > 0:
			t.Errorf("a new user got %q", c.mails[0].Subject)
		case kind != "" && (len(c.mails) != 1 || c.mails[0].Kind != kind || c.mails[0].To != ada || c.mails[0].URL != "https://app.example.com/auth/account"):
			t.Errorf("%s: %+v", kind, c.mails)
		}
	}
}

// The events of the application are called, too, and their errors are returned.
func TestTheEventsOfTheApplicationAreCalled(t *testing.T) {
	var called []string
	s := newSite(t, false, func(c *pintle.Config, _ *account.Options) {
		c.Events.SignIn = func(_ context.Context, e *pintle.SignInEvent) error {
			called = append(called, "signIn "+e.User.Email)
			return errors.New("of the application")
		}
	})
	s.seed(ada, goodPassword, true)
	s.browser().signIn(ada, goodPassword).isSignedInAs(ada)
	if !slices.Equal(called, []string{"signIn " + ada}) || !strings.Contains(s.log(), "of the application") {
		t.Errorf("called were %q", called)
	}
}

// AT-92: users who get a mail at each sign-in stop reading them.
func TestManySignInsADayAreFiveMailsAndASummary(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	s.seed(ada, goodPassword, true)
	for range 60 {
		s.browser().signIn(ada, goodPassword)
	}
	want := []string{"new-device", "new-device", "new-device", "new-device", "new-device", "new-devices"}
	if kinds := s.kinds(ada); !slices.Equal(kinds, want) {
		t.Errorf("the mails are %q, want %q", kinds, want)
	}
	if m := s.mails[5]; !strings.Contains(m.Text, "More than 5 new browsers") || m.Subject == s.mails[4].Subject {
		t.Errorf("the summary is %q %q", m.Subject, m.Text)
	}
}

// AC-172: a first factor alone tells nothing and makes no browser known.
func TestAHeldSignInIsMailedWhenItIsComplete(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		code := s.app(s.seed(ada, goodPassword, true))
		b := s.browser().signIn(ada, goodPassword).isAt("/auth/account/second-factor")
		s.wantNew(ada, 0, "after the password")
		if b.known() != nil {
			t.Error("the password makes the browser known")
		}
		b.post("/auth/account/second-factor", "code", code()).isSignedInAs(ada)
		s.wantNew(ada, 1, "after the code")
		b.signOut().signIn(ada, goodPassword).isAt("/auth/account/second-factor").post("/auth/account/second-factor", "code", code()).isSignedInAs(ada)
		s.wantNew(ada, 1, "in the same browser again")
	})
}

// AC-172: the sign-up may be held for a second factor; it is a sign-up to its end.
func TestASignUpThatIsHeldIsNoNewDevice(t *testing.T) {
	s := newSite(t, false, required)
	b := s.browser().signUp(ada)
	b.post("/auth/account/sign-up-sent", "code", s.code()).post("/auth/account/sign-up-finish", "password", goodPassword)
	b.isAt(enrol).want(http.StatusOK).addApp("enrol")
	b.isSignedInAs(ada)
	s.wantNew(ada, 0, "after the sign-up")
}

// AC-172: the cookie gives no right.
func TestAKnownBrowserHasNoRight(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		u := s.seed(ada, goodPassword, true)
		s.app(u)
		value := account.KnownAs(s.accounts, s.browser().request(http.MethodGet, "/", http.NoBody), u.ID)
		b := s.browser().keep(value)
		b.isSignedInAs("").get("/auth/account").isAt("/auth/signin")
		if answer := b.get("/auth/session").page; answer != "null" {
			t.Errorf("the session is %s", answer)
		}
		b.signIn(ada, goodPassword).isAt("/auth/account/second-factor")
		for _, name := range []string{"authjs.session-token", "pintle.second", "pintle.confirm", "pintle.totp", "pintle.reset", "pintle.signup", "authjs.pending-sign-in"} {
			planted := s.browser()
			here, _ := url.Parse(s.server.URL)
			planted.client.Jar.SetCookies(here, []*http.Cookie{{Name: name, Value: value, Path: "/"}})
			planted.isSignedInAs("")
			for _, path := range []string{"confirm", "second-factor", "reset", "sign-up-finish", "totp", "recovery-codes"} {
				if planted.get("/auth/account/" + path); strings.Contains(planted.page, ada) {
					t.Errorf("the cookie under the name %s opens %s", name, path)
				}
			}
		}
	})
}

// AC-172: the answers that clients of Auth.js read stay as they are, and only a completed sign-in sets the cookie.
func TestOnlyACompletedSignInMakesABrowserKnown(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		s.seed(ada, goodPassword, true)
		b := s.browser().stay()
		for _, path := range []string{"/auth/session", "/auth/csrf", "/auth/providers", "/auth/signin", "/auth/account/forgot"} {
			if b.get(path); slices.Contains(b.cookieNames(), "pintle.known") {
				t.Errorf("%s sets the cookie", path)
			}
		}
		four := account.KnownAs(s.accounts, b.request(http.MethodGet, "/", http.NoBody), "1", "2", "3", "4")
		b.keep(four).get("/auth/signin").post("/auth/callback/credentials", "email", ada, "password", goodPassword)
		size := 0
		for name, values := range b.header {
			for _, value := range values {
				size += len(name) + len(value) + 4
			}
		}
		if !slices.Contains(b.cookieNames(), "pintle.known") || size > 4096 {
			t.Errorf("the answer to the sign-in has %d bytes of headers, and sets %q", size, b.cookieNames())
		}
		for _, line := range b.header["Set-Cookie"] {
			if strings.HasPrefix(line, "pintle.known=") && !strings.HasSuffix(line, "; Path=/; Max-Age=34560000; HttpOnly; SameSite=Lax") {
				t.Errorf("the cookie is %s", line)
			}
		}
		for _, path := range []string{"/auth/session", "/auth/account", "/auth/account/password"} {
			if b.get(path); slices.Contains(b.cookieNames(), "pintle.known") {
				t.Errorf("%s sets the cookie", path)
			}
		}
		b.get("/auth/signout").post("/auth/signout")
		if slices.Contains(b.cookieNames(), "pintle.known") || b.known() == nil {
			t.Error("the sign-out changes the cookie")
		}
	})
}

// Five known users and the cookies of a sign-in fit into the 4 KB of headers that proxies read by default.
func TestTheCookieOfFiveUsersIsSmall(t *testing.T) {
	s := newSite(t, false)
	id := strings.Repeat("0", 255)
	value := account.KnownAs(s.accounts, s.browser().request(http.MethodGet, "/", http.NoBody), id+"1", id+"2", id+"3", id+"4", id+"5")
	if len(value) > 500 || strings.Contains(value, "000") {
		t.Errorf("the cookie has %d bytes", len(value))
	}
}

// AC-172
func TestMailsAboutNewDevicesCanBeOff(t *testing.T) {
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) { o.Notices.Off = []string{"new-device"} })
	s.seed(ada, goodPassword, true)
	b := s.browser().signIn(ada, goodPassword).isSignedInAs(ada)
	if b.known() != nil || len(s.mails) > 0 {
		t.Errorf("the cookie is %v, the mails are %q", b.known(), s.kinds(ada))
	}
	b = s.browser().signUp("grace@example.com")
	b.post("/auth/account/sign-up-sent", "code", s.code()).post("/auth/account/sign-up-finish", "password", goodPassword)
	if b.isSignedInAs("grace@example.com").known() != nil {
		t.Error("the sign-up sets the cookie")
	}
}

// AC-172: every way in is a sign-in. Linking an account while signed in is not.
func TestASignInWithAProviderIsMailed(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		idp, withAcme := acme(t)
		s := newSite(t, tokens, withAcme)
		u := s.seed(ada, goodPassword, true)
		s.signsInAt(idp, u)
		b := s.browser().get("/auth/signin").post("/auth/signin/acme").isSignedInAs(ada)
		s.wantNew(ada, 1, "with a provider")
		b.signOut().get("/auth/signin").post("/auth/signin/acme").isSignedInAs(ada)
		s.wantNew(ada, 1, "with the provider again")

		s.seed(bob, goodPassword, true)
		idp.SignInAs(authtest.Person{Subject: "of bob", Email: bob})
		linking := s.browser().startSession(s.user(bob), 0, "pwd")
		linking.get("/auth/signin").post("/auth/signin/acme").isSignedInAs(bob)
		s.wantNew(bob, 0, "after an account was linked")
		if m := s.lastMail(); m.To != bob || m.Kind != "account-linked" || !strings.Contains(m.Text, "sign in with Test identity provider now") {
			t.Errorf("about the account %q was sent: %s", m.Subject, m.Text)
		}
		s.browser().get("/auth/signin").post("/auth/signin/acme").isSignedInAs(bob)
		s.wantNew(bob, 1, "with the account that was linked")

		idp.SignInAs(authtest.Person{Subject: "of grace", Email: "grace@example.com"})
		s.browser().get("/auth/signin").post("/auth/signin/acme")
		if kinds := append(s.kinds("grace@example.com"), s.kinds(ada)...); slices.Contains(kinds, "account-linked") {
			t.Errorf("users whose accounts are as before got %q", kinds)
		}
	})
}

// AC-172: a user whose address is not proven gets no mail: it would reach another person.
func TestNoUnprovenAddressIsMailedAboutADevice(t *testing.T) {
	idp, withAcme := acme(t)
	s := newSite(t, false, withAcme)
	s.signsInAt(idp, s.seed(ada, "", false))
	s.browser().get("/auth/signin").post("/auth/signin/acme").isSignedInAs(ada)
	if len(s.mails) > 0 {
		t.Errorf("%q was sent", s.mails[0].Subject)
	}
}

// A thief who signs in and closes the connection must not keep the mail from being sent.
func TestAMailAboutANewBrowserOutlivesItsRequest(t *testing.T) {
	ctx, closes := context.WithCancel(t.Context())
	defer closes()
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) {
		keep := o.Mail
		o.Mail = func(ctx context.Context, m *pintle.Message) error {
			closes()
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return keep(ctx, m)
		}
	})
	s.seed(ada, goodPassword, true)
	b := s.browser().get("/auth/signin")
	form := url.Values{"csrfToken": {b.token()}, "email": {ada}, "password": {goodPassword}}
	r := b.request(http.MethodPost, "/auth/callback/credentials", strings.NewReader(form.Encode())).WithContext(ctx)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, c := range b.client.Jar.Cookies(r.URL) {
		r.AddCookie(c)
	}
	s.mux.ServeHTTP(httptest.NewRecorder(), r)
	s.wantNew(ada, 1, "after the connection was closed")
}
