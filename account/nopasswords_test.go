package account_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/password"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/throttle"
)

// withoutPasswords is the other half of an application: the same store and providers, and no
// passwords.
func withoutPasswords(s *site) func(*pintle.Config, *account.Options) {
	return func(c *pintle.Config, o *account.Options) { c.Store, o.Passwords.Off = s.store, true }
}

// on is the browser at another site of the same host, with its cookies.
func (b *browser) on(s *site) *browser { return &browser{site: s, client: b.client, stays: b.stays} }

// What happens to each route if passwords are off. A new route needs an entry: "off" for one that
// leads to a password or to a sign-up, and "stays" for the others.
var withPasswordsOff = map[string]string{
	"sign-up": "off", "sign-up-sent": "off", "sign-up-finish": "off", "sign-up-options": "off", "address-choice": "off",
	"forgot": "off", "forgot-sent": "off", "reset": "off", "reset-options": "off", "password": "off", "must-change": "off",

	"": "stays", "me": "stays", "stop-acting": "stays", "address-lost": "stays", "prove": "stays",
	"address": "stays", "address-finish": "stays", "address-cancel": "stays", "address-undo": "stays", "address-undo-options": "stays",
	"profile": "stays", "picture": "stays", "passkeys": "stays", "passkey": "stays", "accounts": "stays", "unlink": "stays",
	"devices": "stays", "end-devices": "stays", "data": "stays", "delete": "stays", "keep": "stays", "export": "stays",
	"second-factor": "stays", "second-factor-options": "stays", "enrol": "stays", "totp": "stays", "activity": "stays",
	"factors": "stays", "factor": "stays", "remembered": "stays", "recovery-codes": "stays", "confirm": "stays", "confirm-options": "stays",
}

var linkToAccount = regexp.MustCompile(`(?:href|action)="/auth/account/([a-z-]*)`)

// AC-1, AC-58
func TestWithoutPasswordsNoRouteLeadsToOne(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		pictures := &pictureStore{link: "https://pictures.example/x.png"}
		before := newSite(t, tokens, withAll, pictures.configure)
		s := newSite(t, tokens, withAll, pictures.configure, withoutPasswords(before))
		for name := range before.accounts.RoutesOf() {
			if withPasswordsOff[name] == "" {
				t.Errorf("the route %q is not in the table: does it stay if passwords are off?", name)
			}
		}
		u := s.seed(ada, goodPassword, true)
		s.link(u, "github")
		routes, kept := s.accounts.RoutesOf(), s.fingerprint(u)
		for name, what := range withPasswordsOff {
			path := strings.TrimSuffix("/auth/account/"+name, "/")
			if _, is := routes[name]; is != (what == "stays") {
				t.Errorf("%s: the application has the route: %t", path, is)
			}
			for who, b := range map[string]*browser{"signed out": s.browser(), "a fresh session": s.browser().startSession(u, 0, "fed").stay()} {
				gone := what == "off"
				if b.get(path); gone && b.status != http.StatusNotFound {
					t.Errorf("GET %s, %s: %d", path, who, b.status)
				}
				if strings.Contains(b.page, `type="password"`) {
					t.Errorf("GET %s, %s: the page has a field for a password", path, who)
				}
				for _, link := range linkToAccount.FindAllStringSubmatch(b.page, -1) {
					if withPasswordsOff[link[1]] != "stays" {
						t.Errorf("GET %s, %s: the page leads to %q", path, who, link[1])
					}
				}
				if !gone {
					continue
				}
				if b.post(path, everyField(u)...); b.status != http.StatusNotFound {
					t.Errorf("POST %s, %s: %d", path, who, b.status)
				}
				if answer := b.postJSON(path, map[string]any{"email": u.Email, "password": newPassword}); b.status != http.StatusNotFound || answer["error"] != "not_found" {
					t.Errorf("POST of JSON, %s, %s: %d %v", path, who, b.status, answer)
				}
				r := b.request(http.MethodGet, "/", http.NoBody)
				if _, err := s.accounts.Do(httptest.NewRecorder(), r, name, map[string]string{"password": newPassword}); err == nil {
					t.Errorf("Do has the route %q", name)
				}
			}
		}
		if now := s.fingerprint(u); now != kept {
			t.Errorf("the user was\n%s\nand is\n%s", kept, now)
		}
	})
}

// AC-20: what was begun while there were passwords ends with them.
func TestWithoutPasswordsNothingOfBeforeEndsInOne(t *testing.T) {
	before := newSite(t, false, withGitHub)
	s := newSite(t, false, withGitHub, withoutPasswords(before))
	u := before.seed(ada, goodPassword, true)
	reset := before.resetLink(ada)
	signUp := before.browser().signUp("new@example.com")
	link, code := before.lastMail().URL, before.code()
	ops, ctx := before.operators()
	invited, err := ops.Invite(ctx, account.Invitation{Email: "invited@example.com"})
	before.done(err)
	held := before.browser().get(reset)
	for name, url := range map[string]string{"a reset": reset, "a sign-up": link, "an invitation": invited} {
		there := strings.Replace(url, before.server.URL, s.server.URL, 1)
		if b := s.browser().get(there); b.status != http.StatusNotFound {
			t.Errorf("the link of %s: %d", name, b.status)
		}
	}
	held.on(s).post("/auth/account/reset", "password", newPassword).want(http.StatusNotFound)
	signUp.on(s).post("/auth/account/sign-up-sent", "code", code).want(http.StatusNotFound)
	if !s.passwordIs(ada, goodPassword) || s.user("new@example.com") != nil || s.user("invited@example.com") != nil {
		t.Error("a password was chosen")
	}

	// A sign-in that waits for the second factor began with the password.
	app := before.app(u)
	half := before.browser().signIn(ada, goodPassword).isAt("/auth/account/second-factor")
	half.on(s).post("/auth/account/second-factor", "code", app()).want(http.StatusForbidden).isSignedInAs("")
}

// AC-1
func TestWithoutPasswordsAStoredOneProvesNothing(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		before := newSite(t, tokens, withGitHub)
		s := newSite(t, tokens, withGitHub, withoutPasswords(before))
		u := s.seed(ada, goodPassword, true)
		s.link(u, "github")
		b := s.browser().get("/auth/signin").want(http.StatusOK)
		for _, text := range []string{`type="password"`, "callback/credentials", "Forgot your password?", "Create an account"} {
			if strings.Contains(b.page, text) {
				t.Errorf("the sign-in page has %q", text)
			}
		}
		if b.get("/auth/providers"); strings.Contains(b.page, "credentials") {
			t.Errorf("the providers are %s", b.page)
		}
		for _, path := range []string{"/auth/callback/credentials", "/auth/signin/credentials"} {
			if b.post(path, "email", ada, "password", goodPassword).isSignedInAs(""); b.sessionCookie() != "" {
				t.Errorf("%s: the browser has a session", path)
			}
		}

		stale := s.browser().startSession(u, time.Hour, "fed")
		if answer := stale.asJSON("/auth/account/confirm"); !equalJSON(answer["methods"], []any{"mail"}) {
			t.Errorf("the ways to confirm are %v", answer["methods"])
		}
		answer := stale.postJSON("/auth/account/confirm", map[string]any{"method": "password", "password": goodPassword})
		if answer["error"] != "invalid" {
			t.Errorf("the proof by a password is answered with %v", answer)
		}
		fresh := s.browser().startSession(u, 0, "fed")
		if me := fresh.asJSON("/auth/account/me"); me["password"].(map[string]any)["set"] != false {
			t.Errorf("the account has a password: %v", me["password"])
		}
		// It is no other way to sign in, either.
		answer = fresh.postJSON("/auth/account/unlink", map[string]any{"provider": "github", "id": "1 " + u.ID})
		if answer["error"] != "last_sign_in" {
			t.Errorf("the last account: %v", answer)
		}
		before.browser().signIn(ada, goodPassword).isSignedInAs(ada) // with passwords again
	})
}

func (b *browser) signInByMail(email string) *browser {
	b.t.Helper()
	b.get("/auth/signin").post("/auth/signin/email", "email", email)
	b.get(b.lastMail().URL)
	b.press(anyForm.FindStringSubmatch(b.page))
	return b
}

// A user who was to choose another password is not sent to a page that is not there.
func TestWithoutPasswordsADuePasswordKeepsNobodyOut(t *testing.T) {
	for _, must := range []string{"password", "password-stolen"} {
		var s *site
		s = newSite(t, false, withMailLinks(&s), func(_ *pintle.Config, o *account.Options) { o.Passwords.Off = true })
		u := s.seed(ada, goodPassword, true)
		s.changeState(u.ID, func(state *accountstore.State) { state.Must = must })
		s.browser().signInByMail(ada).isSignedInAs(ada)
		if got := s.state(u).Must; got != must {
			t.Errorf("the state has %q afterwards, want %q for passwords that are on again", got, must)
		}
	}

	// Nor does a user of a provider prove the address before it.
	idp := authtest.NewIdentityProvider(authtest.Options{AutoConsent: true})
	server := httptest.NewServer(idp)
	defer server.Close()
	idp.Issuer = server.URL
	idp.SignInAs(authtest.Person{Subject: "ada", Email: ada})
	var s *site
	s = newSite(t, false, withEveryWay(t, idp, server, &s), func(_ *pintle.Config, o *account.Options) { o.Passwords.Off = true })
	u := s.seed(ada, goodPassword, false)
	s.done(s.store.LinkAccount(t.Context(), &pintle.Account{UserID: u.ID, Type: pintle.TypeOIDC, Provider: "acme", ProviderAccountID: "ada"}))
	s.changeState(u.ID, func(state *accountstore.State) { state.Must = "password" })
	b := s.browser()
	everyWay["provider"](b)
	b.isSignedInAs(ada)
}

// A form of the application for passwords of its own does not lead to those of the package.
func TestWithoutPasswordsAFormOfTheApplicationHasNoLinksToThem(t *testing.T) {
	s := newSite(t, false, withGitHub, func(c *pintle.Config, o *account.Options) {
		c.Providers = append(c.Providers, &pintle.Credentials{
			ID: "directory", Fields: []pintle.Field{{Name: "password", Type: "password"}},
			Authorize: func(context.Context, *pintle.Submission) (*pintle.User, error) { return nil, nil },
		})
		o.Passwords.Off = true
	})
	b := s.browser().get("/auth/signin").says(`/auth/callback/directory"`)
	if strings.Contains(b.page, "/auth/account/") {
		t.Errorf("the page leads to a page of accounts: %s", b.text())
	}
}

// Passwords may be on again later.
func TestWithoutPasswordsTheFirstProofOfAnAddressStillRemovesOne(t *testing.T) {
	var s *site
	s = newSite(t, false, withMailLinks(&s), func(_ *pintle.Config, o *account.Options) { o.Passwords.Off = true })
	u := s.seed(ada, goodPassword, false)
	s.browser().signInByMail(ada).isSignedInAs(ada)
	rows, err := s.rows.Factors(t.Context(), u.ID)
	s.done(err)
	for _, row := range rows {
		if row.Kind == "password" && row.Secret != "" {
			t.Error("the password of another person is still stored")
		}
	}
}

// AC-86: the password of before, which a thief may know, does not come back either.
func TestWithoutPasswordsAChangeOfTheAddressIsUndone(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		before := newSite(t, tokens, withGitHub)
		s := newSite(t, tokens, withGitHub, withoutPasswords(before))
		u := s.seed(ada, goodPassword, true)
		s.link(u, "github")
		thief := s.browser().startSession(u, 0, "fed").movesAddress(newAddress)
		undo := s.mailOf("address-changed-undo")
		b := s.browser().get(undo.URL).want(http.StatusOK)
		if strings.Contains(b.page, `type="password"`) {
			t.Error("the page has a field for a password")
		}
		b.pressAll() // as a program does that reads the mail
		b.post("/auth/account/address-undo", "mailedCode", "0000 0000").want(http.StatusUnprocessableEntity)
		if s.user(ada) != nil {
			t.Fatal("the change is undone without the code of the mail")
		}
		code := mailedCode.FindString(undo.Text)
		if code == "" || undo.Code != code || strings.Contains(undo.Text, "10 minutes") {
			t.Errorf("the mail says\n%s", undo.Text)
		}
		b.get("/auth/account/address-undo").post("/auth/account/address-undo", "mailedCode", code).isAt("/auth/signin").says("Sign in once more.")
		thief.isSignedInAs("")
		if s.user(ada) == nil {
			t.Fatal("the address is not back")
		}
		s.wantMail(newAddress, "was undone")
		before.browser().signIn(ada, goodPassword).isSignedInAs("")
		before.browser().signIn(ada, "!").isSignedInAs("")
		s.browser().get(undo.URL).want(http.StatusGone) // it works once
	})
}

func TestWithoutPasswordsOperatorsGiveNone(t *testing.T) {
	before := newSite(t, false, withGitHub)
	s := newSite(t, false, withGitHub, withoutPasswords(before))
	u := s.seed(ada, goodPassword, true)
	ops, ctx := s.operators()
	kept := s.fingerprint(u)
	for name, err := range map[string]error{
		"Invite":                second(ops.Invite(ctx, account.Invitation{Email: "new@example.com"})),
		"SendReset":             second(ops.SendReset(ctx, u.ID)),
		"SetTemporaryPassword":  second(ops.SetTemporaryPassword(ctx, u.ID)),
		"RequirePasswordChange": ops.RequirePasswordChange(ctx, u.ID),
	} {
		if err == nil || !strings.Contains(err.Error(), name+" leads to a password") {
			t.Errorf("%s returned %v", name, err)
		}
	}
	if now := s.fingerprint(u); now != kept || len(s.mails) > 0 || s.state(u).Must != "" {
		t.Errorf("the user is %s, and there are %d mails", now, len(s.mails))
	}
	if _, err := ops.Create(ctx, account.NewUser{Email: "new@example.com"}); err != nil {
		t.Error(err)
	}
}

func TestWithoutPasswordsThereIsNoPageToChangeThem(t *testing.T) {
	s := newSite(t, false, withGitHub, func(_ *pintle.Config, o *account.Options) { o.Passwords.Off = true })
	w := httptest.NewRecorder()
	s.accounts.ChangePasswordHandler().ServeHTTP(w, s.browser().request(http.MethodGet, "/.well-known/change-password", http.NoBody))
	if w.Code != http.StatusNotFound {
		t.Errorf("the status is %d", w.Code)
	}
}

func TestRulesThatDoNothingWithoutPasswordsAreErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*pintle.Config, *account.Options)
		want   string
	}{
		"nothing else": {func(*pintle.Config, *account.Options) {}, ""},
		"a hasher":     {func(_ *pintle.Config, o *account.Options) { o.Passwords.Hasher = &password.Hasher{} }, ""},
		"a guard":      {func(_ *pintle.Config, o *account.Options) { o.Passwords.Guard = &throttle.Guard{} }, ""},
		"closed":       {func(_ *pintle.Config, o *account.Options) { o.SignUp.Closed = true }, ""},
		"a length":     {func(_ *pintle.Config, o *account.Options) { o.Passwords.MinLength = 20 }, "Passwords.MinLength"},
		"a check":      {func(_ *pintle.Config, o *account.Options) { o.Passwords.Breached = &account.BreachCheck{} }, "Passwords.Breached"},
		"an import":    {func(_ *pintle.Config, o *account.Options) { o.Passwords.Import = noHash }, "Passwords.Import"},
		"a former hash": {func(_ *pintle.Config, o *account.Options) {
			o.Passwords.FormerHash = "$2a$04$" + strings.Repeat("a", 53)
		}, "Passwords.FormerHash"},
		"fields":            {func(_ *pintle.Config, o *account.Options) { o.SignUp.Fields = []pintle.Field{{Name: "name"}} }, "SignUp.Fields"},
		"deferred":          {func(_ *pintle.Config, o *account.Options) { o.SignUp.Verify = account.VerifyDeferred }, "SignUp.Verify"},
		"no proof":          {func(_ *pintle.Config, o *account.Options) { o.SignUp.Verify = account.VerifyNone }, "SignUp.Verify"},
		"no provider":       {func(c *pintle.Config, _ *account.Options) { c.Providers = nil }, "no new user can sign in"},
		"passkeys only":     {func(c *pintle.Config, o *account.Options) { c.Providers = nil; withPasskeys(&echo{})(c, o) }, "no new user can sign in"},
		"a replaced page":   {func(_ *pintle.Config, o *account.Options) { o.Pages = map[string]string{"password": "/me/password"} }, `Options.Pages has "password"`},
		"no mail":           {func(_ *pintle.Config, o *account.Options) { o.Mail = nil }, "codes and notices are mails"},
		"another id of one": {func(c *pintle.Config, _ *account.Options) { c.Providers = append(c.Providers, &pintle.Credentials{}) }, "give yours another ID"},
	} {
		cfg := pintle.Config{
			Store: memstore.New(), URL: "https://app.example.com", Secrets: []string{strings.Repeat("secret ", 6)}, Getenv: func(string) string { return "" },
		}
		o := account.Options{Mail: func(context.Context, *pintle.Message) error { return nil }, Passwords: account.Passwords{Off: true}}
		withGitHub(&cfg, &o)
		tt.change(&cfg, &o)
		cfg.Accounts = account.New(o)
		_, err := pintle.New(cfg)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func noHash(context.Context, *pintle.User) (string, error) { return "", nil }

// Mails that are not sent if passwords are off, and one that only names what cannot be changed.
var aboutPasswords = []string{
	"sign-up", "sign-up-known", "sign-up-prove", "invitation", "reset", "reset-unknown", "second-factor-wrong", "acting-begun",
	"password-changed", "password-set", "password-removed", "password-reset", "password-temporary",
}

func TestWithoutPasswordsNoMailAdvisesToChooseOne(t *testing.T) {
	before := newSite(t, false, withGitHub)
	s := newSite(t, false, withGitHub, withoutPasswords(before))
	for kind := range page.English().Account.Mails {
		if slices.Contains(aboutPasswords, kind) {
			continue
		}
		u := s.seed(strings.ReplaceAll(kind, "-", "")+"@example.com", "", true)
		r := s.browser().request(http.MethodGet, "/", http.NoBody)
		account.Notify(s.accounts, r, u, kind, "the value")
		m := s.mailOf(kind)
		if text := strings.ToLower(m.Subject + m.Text); strings.Contains(text, "password") || strings.Contains(text, "forgot") {
			t.Errorf("the mail %s says\n%s", kind, m.Text)
		}
		if strings.Contains(page.English().Account.Mails[kind].Text[0], "%s") && !strings.Contains(m.Text, "the value") {
			t.Errorf("the mail %s lacks its value:\n%s", kind, m.Text)
		}
	}
}
