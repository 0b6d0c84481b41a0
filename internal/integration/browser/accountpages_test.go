package browser_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/pages"
	"github.com/pintleauth/pintle/passkey"
	"github.com/pintleauth/pintle/password"
	"github.com/pintleauth/pintle/provider"
	"github.com/pintleauth/pintle/store/memstore"
)

// A pagesSite is an application with accounts in one language, in which tests bring about
// every state of a page.
type pagesSite struct {
	t      *testing.T
	url    string
	auth   *pintle.Auth
	store  pintle.Store
	hasher *password.Hasher

	mu    sync.Mutex
	mails map[string]chan *pintle.Message
}

// The labels of the fields that the application adds, which Texts.Words translates.
const (
	nameLabel = "Your name"
	newsLabel = "Send me news"
)

func newPagesSite(t *testing.T, texts pages.Texts, sessions string) *pagesSite {
	t.Helper()
	s := &pagesSite{
		t: t, store: memstore.New(), hasher: &password.Hasher{Memory: 64, Passes: 1}, mails: map[string]chan *pintle.Message{},
	}
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	s.url = srv.URL
	keys := passkey.New(passkey.Options{})
	keys.Fields, keys.DisableAutofill = []pintle.Field{}, true
	cfg := pintle.Config{
		Store: s.store, URL: s.url, Secrets: []string{"a secret of at least 32 characters"}, Texts: texts,
		Providers: []pintle.Provider{
			provider.GitHub(provider.Options{ClientID: "id", ClientSecret: "secret"}), keys,
		},
		ExperimentalPasskeys: true,

		Getenv: func(string) string { return "" },
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	if sessions == "token" {
		cfg.Session.Strategy, cfg.Session.Revocation = pintle.StrategyJWT, &memstore.Revocations{}
	}
	accounts := account.New(account.Options{
		Mail: func(_ context.Context, m *pintle.Message) error {
			if !strings.HasPrefix(m.Kind, "new-device") { // which most sign-ins send
				s.mailsTo(m.To) <- m
			}
			return nil
		},
		Passwords: account.Passwords{Hasher: s.hasher},
		SignUp: account.SignUp{Fields: []pintle.Field{
			{Name: "name", Label: nameLabel, Attributes: map[string]string{"required": "", "autocomplete": "name"}},
			{Name: "news", Label: newsLabel, Type: "checkbox"},
		}},
		Pictures: account.Pictures{Store: func(context.Context, *pintle.User, *account.Picture) (string, error) { return "/picture", nil }},
		SecondFactor: account.SecondFactor{
			Required: func(_ context.Context, p *pintle.PendingSignIn) (bool, error) {
				return strings.HasPrefix(p.User.Email, "admin"), nil
			},
			Remember:     func(context.Context, *pintle.PendingSignIn) (bool, error) { return true, nil },
			MailFallback: func(context.Context, *pintle.PendingSignIn) (bool, error) { return true, nil },
		},
		Acting: account.Acting{Roles: []string{"support"}},
	})
	cfg.Accounts = accounts
	var err error
	if s.auth, err = pintle.New(cfg); err != nil {
		t.Fatal(err)
	}
	mux.Handle("/auth/", s.auth)
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) { writePage(w, "The site") })
	mux.Handle("/vault", accounts.Demand(account.Demand{MaxAge: 10 * time.Minute, Strongest: true}, http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) { writePage(w, "The vault") })))
	mux.HandleFunc("/form", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><html lang="en"><title>A form</title><form action="/vault" method="post"><button>Send</button></form>`)
	})
	// The operator of the session acts as a user.
	mux.Handle("/act", s.auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u, err := s.store.UserByEmail(r.Context(), r.URL.Query().Get("email"))
		if err == nil {
			err = accounts.Operators().ActAs(w, r, u.ID, account.ActOptions{Reason: "ticket 7"})
		}
		if err != nil {
			t.Error(err)
		}
		writePage(w, "Acting")
	})))
	// The session of a user who has given the proofs "by" a while ago.
	mux.HandleFunc("/become", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		ago, err := time.ParseDuration(q.Get("ago"))
		if err != nil {
			t.Error(err)
		}
		u, err := s.store.UserByEmail(r.Context(), q.Get("email"))
		if err != nil {
			t.Error(err)
			return
		}
		facts := pintle.Authentication{Time: time.Now().Add(-ago), Methods: q["by"]}
		if _, _, err := s.auth.StartSession(w, r, u, pintle.StartOptions{Authentication: facts}); err != nil {
			t.Error(err)
		}
		writePage(w, "Signed in")
	})
	return s
}

func (s *pagesSite) mailsTo(address string) chan *pintle.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mails[address] == nil {
		s.mails[address] = make(chan *pintle.Message, 20)
	}
	return s.mails[address]
}

// mail waits for the next mail to an address.
func (s *pagesSite) mail(address string) *pintle.Message {
	s.t.Helper()
	select {
	case m := <-s.mailsTo(address):
		return m
	case <-time.After(pageTimeout):
		s.t.Fatalf("no mail to %s", address)
		return nil
	}
}

var mailedCode = regexp.MustCompile(`\b\d{4} \d{4}\b`)

func (s *pagesSite) code(address string) string {
	s.t.Helper()
	return mailedCode.FindString(s.mail(address).Text)
}

// seed stores a user, with a password unless it is empty.
func (s *pagesSite) seed(email, chosen string, proved bool) *pintle.User {
	s.t.Helper()
	u := &pintle.User{ID: "id-" + email, Email: email}
	if proved {
		u.EmailVerified = time.Now().Add(-48 * time.Hour).UTC().Truncate(time.Millisecond)
	}
	u, err := s.store.CreateUser(s.t.Context(), u)
	if err != nil {
		s.t.Fatal(err)
	}
	if chosen != "" {
		hash, err := s.hasher.Hash(s.t.Context(), chosen)
		if err != nil {
			s.t.Fatal(err)
		}
		f := &accountstore.Factor{UserID: u.ID, Kind: "password", Secret: hash, Created: time.Now().Add(-time.Hour).UTC().Truncate(time.Millisecond)}
		if err := s.store.AccountStore().AddFactor(s.t.Context(), f); err != nil {
			s.t.Fatal(err)
		}
	}
	return u
}

func (s *pagesSite) link(u *pintle.User) {
	s.t.Helper()
	err := s.store.LinkAccount(s.t.Context(), &pintle.Account{
		UserID: u.ID, Type: pintle.TypeOAuth, Provider: "github", ProviderAccountID: "1 " + u.ID,
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// linkedPicture stores a picture of the account that link links, as a sign-in with it does.
func (s *pagesSite) linkedPicture(u *pintle.User) (id string) {
	s.t.Helper()
	sum := sha256.Sum256([]byte("pintle picture\x00github\x001 " + u.ID))
	id = base64.RawURLEncoding.EncodeToString(sum[:16])
	err := s.store.AccountStore().AddFactor(s.t.Context(), &accountstore.Factor{
		UserID: u.ID, Kind: "picture", ID: id, Name: "github", Secret: "https://localhost:1/picture", Created: time.Now().UTC().Truncate(time.Millisecond),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

// passkey gives a user a passkey that no authenticator has.
func (s *pagesSite) passkey(u *pintle.User) {
	s.t.Helper()
	key := &pintle.Passkey{CredentialID: "a2V5", ProviderAccountID: "a2V5", UserID: u.ID, DeviceType: "singleDevice"}
	if err := s.store.CreatePasskey(s.t.Context(), key); err != nil {
		s.t.Fatal(err)
	}
	err := s.store.LinkAccount(s.t.Context(), &pintle.Account{UserID: u.ID, Type: pintle.TypeWebAuthn, Provider: "passkey", ProviderAccountID: key.CredentialID})
	if err != nil {
		s.t.Fatal(err)
	}
}

// keepCodes removes recovery codes of a user until n are left.
func (s *pagesSite) keepCodes(u *pintle.User, n int) {
	s.t.Helper()
	rows := s.store.AccountStore()
	factors, err := rows.Factors(s.t.Context(), u.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	left := 0
	for _, f := range factors {
		if f.Kind != "recovery" {
			continue
		}
		if left++; left > n {
			if err := rows.DeleteFactor(s.t.Context(), u.ID, f.Kind, f.ID); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	if left < n {
		s.t.Fatalf("the user has %d recovery codes, want at least %d", left, n)
	}
}

// A tour is a browser on its way through the pages of accounts.
type tour struct {
	*browserUser
	site *pagesSite

	// look is what the test wants to know of each page; what names its state.
	look func(v *tour, what string)

	// shown are the names of the pages it has been at; at is that of the one where it is.
	shown map[string]bool
	at    string
}

// newTab opens a tab with an empty profile.
func newTab(t *testing.T) *browserUser {
	t.Helper()
	ctx, cancel := chromedp.NewContext(services.SharedChromium(t), chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return &browserUser{t: t, ctx: ctx}
}

func newTour(t *testing.T, s *pagesSite, shown map[string]bool, look func(*tour, string)) *tour {
	t.Helper()
	v := &tour{browserUser: newTab(t), site: s, look: look, shown: shown}
	v.listen()
	v.emulate(320, "light")
	return v
}

// goes opens a page of the site.
func (v *tour) goes(path string) {
	v.t.Helper()
	v.open(v.site.url + path)
}

// is checks which page it is, and looks at it.
func (v *tour) is(name, what string) {
	v.t.Helper()
	class := read(v.browserUser, chromedp.Evaluate[string](`document.querySelector(".page > div")?.className ?? ""`))
	if name != strings.TrimPrefix(class, "account account-") {
		v.t.Fatalf("%s: the page at %s is %q, want %q; it shows:\n%s", what, v.address(), class, name, v.text())
	}
	v.shown[name], v.at = true, name
	v.look(v, what)
}

// sends fills in the form with an action that has all of the fields, and sends it. It does
// so in every language, and past the checks of the browser.
func (v *tour) sends(action string, pairs ...string) {
	v.t.Helper()
	fields := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		fields[pairs[i]] = pairs[i+1]
	}
	text, err := json.Marshal(fields)
	if err != nil {
		v.t.Fatal(err)
	}
	v.leave("send "+action, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{
		const fields = %s;
		const form = Array.from(document.forms).find((form) =>
			form.getAttribute("action").endsWith(%q) && Object.entries(fields).every(([name, value]) =>
				form.elements[name] && (form.elements[name].type !== "hidden" || form.elements[name].value === value)));
		for (const [name, value] of Object.entries(fields)) {
			const input = form.elements[name];
			if (input.type === "checkbox") input.checked = value !== "";
			else input.value = value;
		}
		form.noValidate = true;
		form.requestSubmit();
	}; undefined`, text, action)))
}

// onePixel is a picture.
const onePixel = "GIF89a\x01\x00\x01\x00\x00\x00\x00;"

// chooses gives the field for a picture a file with a text.
func (v *tour) chooses(text string) {
	v.t.Helper()
	file := filepath.Join(v.t.TempDir(), "picture.gif")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		v.t.Fatal(err)
	}
	v.do("choose a file", chromedp.SetUploadFiles("input[name=picture]", []string{file}))
}

// becomes starts the session of a user.
func (v *tour) becomes(email, ago string, by ...string) {
	v.t.Helper()
	v.goes("/become?" + url.Values{"email": {email}, "ago": {ago}, "by": by}.Encode())
}

// forgets removes all cookies, as another browser has none.
func (v *tour) forgets() {
	v.t.Helper()
	setting(v.browserUser, network.ClearBrowserCookies, cdp.Empty{})
}

func (v *tour) signsIn(email, chosen string) {
	v.t.Helper()
	v.goes("/auth/signin")
	v.sends("/callback/credentials", "email", email, "password", chosen)
}

// app reads the key that the page shows.
func (v *tour) app() *authenticatorApp {
	v.t.Helper()
	link := read(v.browserUser, chromedp.Evaluate[string](`document.querySelector("a[href^='otpauth:']").href`))
	u, err := url.Parse(link)
	if err != nil {
		v.t.Fatal(err)
	}
	return newApp(v.t, u.Query().Get("secret"))
}

// addsApp adds an app by the forms of a route, and returns it with the recovery codes.
func (v *tour) addsApp(route, name string) (*authenticatorApp, []string) {
	v.t.Helper()
	a := v.app()
	v.sends("/account/"+route, "code", a.code(), "name", name)
	codes := v.codes()
	route = strings.Replace(route, "totp", "recovery-codes", 1)
	v.sends("/account/"+route, "saved", "1")
	return a, codes
}

func (v *tour) codes() []string {
	v.t.Helper()
	codes := read(v.browserUser, chromedp.Evaluate[[]string](`Array.from(document.querySelectorAll(".codes code"), code => code.textContent)`))
	if len(codes) != 10 {
		v.t.Fatalf("the page shows %d recovery codes:\n%s", len(codes), v.text())
	}
	return codes
}

// tours go through all pages, and the states in which they show something else. Together
// they are at every page.
var tours = []struct {
	name string
	goes func(*tour)
}{
	{"signing up", (*tour).signsUp},
	{"an address that another user has", (*tour).claimsAnAddress},
	{"forgotten passwords", (*tour).forgetsThePassword},
	{"changed passwords", (*tour).changesThePassword},
	{"unproven addresses", (*tour).provesTheAddress},
	{"changed addresses", (*tour).changesTheAddress},
	{"names, downloads and deletion", (*tour).leaves},
	{"passkeys, linked accounts and devices", (*tour).looksAround},
	{"second factors", (*tour).addsASecondFactor},
	{"signing in with a second factor", (*tour).givesASecondFactor},
	{"a second factor that is required", (*tour).enrols},
	{"confirming", (*tour).confirms},
	{"confirming by other means", (*tour).confirmsOtherwise},
	{"an operator who acts as a user", (*tour).acts},
}

func (v *tour) signsUp() {
	v.t.Helper()
	v.goes("/auth/signin")
	v.is("signin", "the sign-in page")
	v.signsIn("none@example.com", "not the password")
	v.is("signin", "a wrong password")
	v.goes("/auth/account/sign-up")
	v.is("sign-up", "the form")
	v.sends("/account/sign-up", "email", "x", "name", "")
	v.is("sign-up", "what is no address")
	v.sends("/account/sign-up", "email", "new@example.com", "name", "")
	v.is("sign-up", "no name")
	v.sends("/account/sign-up", "email", "new@example.com", "name", "‹1›", "news", "1")
	v.is("sign-up-sent", "the mail is sent")
	m := v.site.mail("new@example.com")
	v.sends("/account/sign-up-sent", "code", "0000 000")
	v.is("sign-up-sent", "a wrong code")
	v.sends("/account/sign-up-sent", "again", "1")
	v.is("sign-up-sent", "another mail")
	v.sends("/account/sign-up-sent", "code", v.site.code("new@example.com"))
	v.is("sign-up-finish", "the code is right")
	v.sends("/account/sign-up-finish", "password", "short")
	v.is("sign-up-finish", "a short password")
	v.sends("/account/sign-up-finish", "password", "password")
	v.is("sign-up-finish", "a password that is easy to guess")
	v.forgets()
	v.open(m.URL)
	v.is("sign-up-finish", "the link in another browser")
	v.sends("/account/sign-up-finish", "password", firstPassword, "name", "")
	v.is("sign-up-finish", "no name in another browser")
	v.forgets()
	v.goes("/auth/account/sign-up-sent")
	v.is("problem", "a sign-up of another browser")
	v.goes("/auth/account/sign-up-finish?token=x")
	v.is("expired", "a link that no longer works")
	v.goes("/auth/account/nothing")
	v.is("problem", "a page that is not there")
	v.goes("/auth/error?error=Verification")
	v.is("error", "the error page")
	v.goes("/auth/verify-request")
	v.is("verify-request", "a sign-in link is sent")
}

func (v *tour) claimsAnAddress() {
	v.t.Helper()
	signUp := func(email string) string {
		v.goes("/auth/account/sign-up")
		v.sends("/account/sign-up", "email", email, "name", "‹1›")
		return v.site.mail(email).URL
	}
	known := signUp("known@example.com")
	v.site.seed("known@example.com", firstPassword, true)
	v.open(known)
	v.is("sign-up-known", "an account that was made meanwhile")
	v.site.link(v.site.seed("held@example.com", firstPassword, false))
	v.open(signUp("held@example.com"))
	v.is("sign-up-taken", "an account that has the address, unproven")
	v.sends("/account/address-choice", "choice", "new")
	v.is("sign-up-finish", "it is not theirs")
}

func (v *tour) forgetsThePassword() {
	v.t.Helper()
	ada := v.site.seed("ada@example.com", firstPassword, true)
	v.goes("/auth/account/forgot")
	v.is("forgot", "the form")
	v.sends("/account/forgot", "email", "x")
	v.is("forgot", "what is no address")
	v.sends("/account/forgot", "email", ada.Email)
	v.is("forgot-sent", "the mail is sent")
	v.open(v.site.mail(ada.Email).URL)
	v.is("reset", "the link")
	v.sends("/account/reset", "password", "password")
	v.is("reset", "a password that is easy to guess")
	v.sends("/account/reset", "password", nextPassword)
	v.is("signin", "the password is saved")
	v.site.mail(ada.Email)
	v.becomes(ada.Email, "0s", "pwd")
	v.goes("/auth/account/totp")
	v.addsApp("totp", "")
	v.site.mail(ada.Email)
	v.forgets()
	v.goes("/auth/account/forgot")
	v.sends("/account/forgot", "email", ada.Email)
	v.open(v.site.mail(ada.Email).URL)
	v.is("reset", "the link, with a second factor")
	v.sends("/account/reset", "password", firstPassword, "code", "")
	v.is("reset", "no code")
	v.sends("/account/reset", "password", firstPassword, "code", "000")
	v.is("reset", "a wrong code")
	v.forgets()
	v.goes("/auth/account/reset")
	v.is("problem", "a link of another browser")
}

func (v *tour) changesThePassword() {
	v.t.Helper()
	ada := v.site.seed("ada@example.com", firstPassword, true)
	v.site.link(ada)
	v.becomes(ada.Email, "1h", "pwd")
	v.goes("/auth/account/password")
	v.is("password", "an old session")
	v.becomes(ada.Email, "0s", "pwd")
	v.goes("/auth/account")
	v.is("account", "with a password")
	v.goes("/auth/account/password")
	v.is("password", "the form")
	v.sends("/account/password", "current", "x", "password", nextPassword)
	v.is("password", "a wrong password")
	v.sends("/account/password", "current", firstPassword, "password", firstPassword)
	v.is("password", "the same password")
	v.sends("/account/password", "current", firstPassword, "password", nextPassword)
	v.is("account", "the password is changed")
	v.goes("/auth/account/password")
	v.sends("/account/password", "remove", "1")
	v.is("account", "the password is removed")
	v.goes("/auth/account/password")
	v.is("password-first", "without a password")
	v.sends("/account/password", "password", "short")
	v.is("password-first", "a short password")
	v.goes("/auth/signout")
	v.is("signout", "signing out")

	must := v.site.seed("must@example.com", firstPassword, true)
	if err := v.site.store.AccountStore().ChangeState(v.t.Context(), &accountstore.State{UserID: must.ID, Must: "password"}); err != nil {
		v.t.Fatal(err)
	}
	v.forgets()
	v.signsIn(must.Email, firstPassword)
	v.is("must-change", "a password that has to be replaced")
	v.sends("/account/must-change", "password", firstPassword)
	v.is("must-change", "the same password")

	lost := v.site.seed("lost@example.com", firstPassword, true)
	if err := v.site.store.AccountStore().ChangeState(v.t.Context(), &accountstore.State{UserID: lost.ID, Must: "know-address-lost"}); err != nil {
		v.t.Fatal(err)
	}
	v.forgets()
	v.signsIn(lost.Email, firstPassword)
	v.is("address-lost", "another person has the address")
}

func (v *tour) provesTheAddress() {
	v.t.Helper()
	u := v.site.seed("unproven@example.com", firstPassword, false)
	v.signsIn(u.Email, firstPassword)
	v.is("prove", "the code is sent")
	v.site.mail(u.Email)
	v.sends("/account/prove", "code", "0000 000")
	v.is("prove", "a wrong code")
	v.sends("/account/prove", "again", "1")
	v.is("prove", "another mail")
	v.forgets()
	fed := v.site.seed("fed@example.com", "", false)
	v.site.link(fed)
	v.becomes(fed.Email, "0s", "fed")
	v.goes("/auth/account")
	v.is("account", "with an unproven address")
	v.goes("/auth/account/password")
	v.is("prove-begin", "the address has to be proven first")
	v.goes("/auth/account/prove")
	v.is("prove-begin", "no code yet")
	v.sends("/account/prove", "again", "1")
	v.is("prove", "the first code")
	v.sends("/account/prove", "code", v.site.code(fed.Email))
	v.is("account", "the address is proven")
}

func (v *tour) changesTheAddress() {
	v.t.Helper()
	const next = "next@example.com"
	ada := v.site.seed("ada@example.com", firstPassword, true)
	v.becomes(ada.Email, "0s", "pwd")
	v.goes("/auth/account/address")
	v.is("address", "the form")
	v.sends("/account/address", "email", "x")
	v.is("address", "what is no address")
	v.sends("/account/address", "email", next)
	v.is("address-sent", "the mail is sent")
	v.sends("/account/address-finish", "code", "0000 000")
	v.is("address-sent", "a wrong code")
	v.goes("/auth/account")
	v.is("account", "a change of the address waits")
	v.open(v.site.mail(next).URL)
	v.is("address-finish", "the link")
	v.site.mail(ada.Email)
	v.sends("/account/address-finish")
	v.is("account", "the address is changed")
	undo := v.site.mail(ada.Email)
	v.forgets()
	v.open(undo.URL)
	v.is("address-undo", "the link to the old address")
	v.sends("/account/address-undo", "password", "short")
	v.is("address-undo", "a short password")
	v.sends("/account/address-undo", "password", nextPassword)
	v.is("signin", "the change is undone")
}

func (v *tour) leaves() {
	v.t.Helper()
	ada := v.site.seed("ada@example.com", firstPassword, true)
	if _, err := v.site.store.UpdateUser(v.t.Context(), ada.ID, pintle.UserUpdate{Image: new("/picture")}); err != nil {
		v.t.Fatal(err)
	}
	v.becomes(ada.Email, "0s", "pwd")
	v.goes("/auth/account/activity")
	v.is("activity", "a few events")
	v.goes("/auth/account/profile")
	v.is("profile", "with a picture")
	v.site.link(ada)
	id := v.site.linkedPicture(ada)
	v.goes("/auth/account/profile")
	v.is("profile", "with the picture of a linked account")
	v.sends("/account/profile", "image", id)
	v.is("profile", "that picture is chosen")
	v.sends("/account/profile", "name", "")
	v.is("profile", "no name")
	v.sends("/account/profile", "name", "‹1›")
	v.is("profile", "the name is saved")
	v.chooses("<svg/>")
	v.sends("/account/picture")
	v.is("profile", "the file is no picture")
	v.chooses(onePixel)
	v.sends("/account/picture")
	v.is("profile", "the picture is uploaded")
	v.goes("/auth/account/export")
	v.is("export", "the form")
	v.goes("/auth/account/delete")
	v.is("delete", "the form")
	v.sends("/account/delete", "confirmed", "")
	v.is("delete", "no tick")
	v.sends("/account/delete", "confirmed", "1")
	v.is("signin", "the deletion is planned")
	v.signsIn(ada.Email, firstPassword)
	v.is("keep", "the account can be kept")
	v.sends("/account/keep")
	v.goes("/auth/account")
	v.is("account", "the account is kept")
}

// looksAround goes through what a user has.
func (v *tour) looksAround() {
	v.t.Helper()
	ada := v.site.seed("ada@example.com", firstPassword, true)
	v.becomes(ada.Email, "0s", "pwd")
	v.goes("/auth/account/passkeys")
	v.is("passkeys", "without one")
	v.goes("/auth/account/accounts")
	v.is("accounts", "without one")
	v.goes("/auth/account/devices")
	v.is("devices", "one")
	v.site.passkey(ada)
	v.site.link(ada)
	v.forgets()
	v.becomes(ada.Email, "0s", "pwd", "otp")
	v.goes("/auth/account")
	v.is("account", "with all of them")
	v.goes("/auth/account?error=OAuthAccountNotLinked")
	v.is("account", "an account that is not linked")
	v.goes("/auth/account/passkeys")
	v.is("passkeys", "with one")
	v.sends("/account/passkey", "action", "rename", "name", strings.Repeat("‹3›", 30))
	v.is("passkeys", "a name that is too long")
	v.sends("/account/passkey", "action", "rename", "name", "‹3›")
	v.is("passkeys", "a name")
	v.goes("/auth/account/accounts")
	v.is("accounts", "with one")
	v.goes("/auth/account/devices")
	v.is("devices", "two")
	v.sends("/account/end-devices", "handle", v.handle())
	v.is("devices", "one is ended")
	v.goes("/auth/account/data")
	v.is("data", "what to do with all of it")
	v.becomes(ada.Email, "1h", "pwd")
	v.goes("/auth/account/passkeys")
	v.is("passkeys", "an old proof")
	v.goes("/auth/account/accounts")
	v.sends("/account/unlink", "provider", "github")
	v.is("nothing-done", "an account needs a fresh proof")
	v.forgets()
	v.becomes(ada.Email, "0s", "pwd", "otp")
	v.goes("/auth/account/accounts")
	v.sends("/account/unlink", "provider", "github")
	v.is("accounts", "it is unlinked")
	v.goes("/auth/account/devices")
	v.sends("/account/end-devices", "others", "1")
	v.is("devices", "the others are ended")
	v.goes("/auth/account/passkeys")
	v.sends("/account/passkey", "action", "remove") // ends the others, too
	v.is("passkeys", "it is removed")
	v.goes("/auth/account/devices")
	v.sends("/account/end-devices", "all", "1")
	v.is("signin", "all are ended")
}

// handle is that of a device on the page.
func (v *tour) handle() string {
	v.t.Helper()
	return read(v.browserUser, chromedp.Evaluate[string](`document.querySelector("input[name=handle]").value`))
}

func (v *tour) addsASecondFactor() {
	v.t.Helper()
	ada := v.site.seed("ada@example.com", firstPassword, true)
	v.becomes(ada.Email, "0s", "pwd")
	v.goes("/auth/account/factors")
	v.is("factors", "without an app")
	v.goes("/auth/account/totp")
	v.is("totp", "a new key")
	v.sends("/account/totp", "code", "000", "name", "‹2›")
	v.is("totp", "a wrong code")
	a := v.app()
	v.sends("/account/totp", "code", a.code(), "name", "‹2›")
	v.is("recovery-codes", "new codes")
	v.sends("/account/recovery-codes", "saved", "")
	v.is("recovery-codes", "they are not saved")
	v.codes()
	v.sends("/account/recovery-codes", "saved", "1")
	v.is("factors", "the app is added")
	v.goes("/auth/account")
	v.is("account", "with an app")
	v.goes("/auth/account/recovery-codes")
	v.is("recovery-codes-new", "with codes")
	v.goes("/auth/account/totp")
	v.sends("/account/totp", "code", v.app().code(), "name", "")
	v.is("factors", "with two apps")
	v.sends("/account/factor", "action", "rename", "name", strings.Repeat("‹3›", 30))
	v.is("factors", "a name that is too long")
	v.sends("/account/factor", "action", "remove")
	v.is("factors", "an app is removed")
	v.site.keepCodes(ada, 2)
	v.goes("/auth/account/factors")
	v.is("factors", "with few codes")
	v.goes("/auth/account")
	v.is("account", "with few codes")
	v.goes("/auth/account/recovery-codes")
	v.sends("/account/recovery-codes", "new", "1")
	v.is("recovery-codes", "codes instead of others")
	v.sends("/account/recovery-codes", "saved", "1")
	v.is("factors", "codes are saved")
}

func (v *tour) givesASecondFactor() {
	v.t.Helper()
	ada := v.site.seed("ada@example.com", firstPassword, true)
	v.becomes(ada.Email, "0s", "pwd")
	v.goes("/auth/account/totp")
	_, codes := v.addsApp("totp", "")
	v.forgets()
	v.signsIn(ada.Email, firstPassword)
	v.is("second-factor", "the form")
	v.sends("/account/second-factor", "code", "000000")
	v.is("second-factor", "a wrong code")
	v.goes("/auth/account/second-factor?method=recovery")
	v.is("second-factor-recovery", "recovery codes")
	v.sends("/account/second-factor", "method", "recovery", "code", "AAAA-AAAA-AAAA-AAAA")
	v.is("second-factor-recovery", "a wrong recovery code")
	v.site.passkey(ada)
	v.goes("/auth/account/second-factor")
	v.is("second-factor-passkey", "a passkey")
	v.goes("/auth/account/second-factor?method=mail")
	v.is("second-factor-mail-begin", "no code is mailed yet")
	v.sends("/account/second-factor", "method", "mail", "again", "1")
	v.is("second-factor-mail", "a code is mailed")
	v.site.mail(ada.Email)
	v.sends("/account/second-factor", "method", "mail", "code", "0000 000")
	v.is("second-factor-mail", "a wrong mailed code")
	if err := v.site.store.AccountStore().ChangeState(v.t.Context(), &accountstore.State{UserID: ada.ID, Suspended: true}); err != nil {
		v.t.Fatal(err)
	}
	v.goes("/auth/account/second-factor?method=totp")
	v.sends("/account/second-factor", "code", "000000")
	v.is("second-factor", "codes are suspended")
	v.site.keepCodes(ada, 4)
	v.goes("/auth/account/second-factor?method=recovery")
	v.sends("/account/second-factor", "method", "recovery", "code", codes[0], "remember", "1")
	v.is("factors", "signed in with one of the last codes, in a browser that is remembered")
	v.sends("/account/remembered")
	v.is("factors", "the browser is asked again")
	v.forgets()
	v.goes("/auth/account/second-factor")
	v.is("problem", "no sign-in waits")
}

func (v *tour) enrols() {
	v.t.Helper()
	admin := v.site.seed("admin@example.com", firstPassword, true)
	v.signsIn(admin.Email, firstPassword)
	v.is("enrol-code", "a mailed code comes first")
	v.sends("/account/enrol", "code", "0000 000")
	v.is("enrol-code", "a wrong code")
	v.sends("/account/enrol", "code", v.site.code(admin.Email))
	v.is("totp", "a key during a sign-in")
	v.sends("/account/enrol", "code", v.app().code(), "name", "‹2›")
	v.is("recovery-codes", "codes during a sign-in")

	key := v.site.seed("admin-key@example.com", firstPassword, true)
	v.site.passkey(key)
	v.forgets()
	v.becomes(key.Email, "0s", "pwd", "pop")
	v.goes("/auth/account/recovery-codes")
	v.is("recovery-codes-first", "codes for a passkey")
	v.sends("/account/recovery-codes", "new", "1")
	v.is("recovery-codes", "the codes of a passkey")

	// The code has expired, or too many mails were sent.
	late := v.site.seed("admin-late@example.com", firstPassword, true)
	v.forgets()
	v.signsIn(late.Email, firstPassword)
	v.site.mail(late.Email)
	if ended, err := v.site.store.AccountStore().EndFlows(v.t.Context(), late.ID, "enrol"); err != nil || ended != 1 {
		v.t.Fatalf("%d flows ended: %v", ended, err)
	}
	v.goes("/auth/account/enrol")
	v.is("enrol", "no code is on its way")
}

func (v *tour) confirms() {
	v.t.Helper()
	ada := v.site.seed("ada@example.com", firstPassword, true)
	v.becomes(ada.Email, "0s", "pwd")
	v.goes("/auth/account/confirm")
	v.is("confirm", "nothing is left to confirm")
	v.goes("/auth/account/confirm?acr_values=mfa")
	v.is("confirm", "a second factor is needed first")
	v.goes("/auth/account/totp")
	a, codes := v.addsApp("totp", "")
	v.becomes(ada.Email, "1h", "pwd", "otp")
	v.goes("/vault")
	v.is("confirm", "by password")
	v.sends("/account/confirm", "password", "x")
	v.is("confirm", "a wrong password")
	v.sends("/account/confirm", "password", firstPassword)
	v.is("confirm", "by an app")
	v.sends("/account/confirm", "code", a.last())
	v.is("confirm", "a wrong code of the app")
	v.goes("/auth/account/confirm?acr_values=mfa&max_age=600&method=recovery")
	v.is("confirm", "by a recovery code")
	v.sends("/account/confirm", "code", "x")
	v.is("confirm", "a wrong recovery code")
	v.sends("/account/confirm", "code", codes[0])
	v.is("account", "confirmed")
}

func (v *tour) confirmsOtherwise() {
	v.t.Helper()
	mail := v.site.seed("mail@example.com", "", true)
	v.site.link(mail)
	v.becomes(mail.Email, "1h", "fed")
	v.goes("/vault")
	v.is("confirm", "by mail")
	v.sends("/account/confirm", "again", "1")
	v.is("confirm", "the code is sent")
	v.site.mail(mail.Email)
	v.sends("/account/confirm", "code", "0000 000")
	v.is("confirm", "a wrong mailed code")

	fed := v.site.seed("fed@example.com", "", false)
	v.site.link(fed)
	v.becomes(fed.Email, "1h", "fed")
	v.goes("/vault")
	v.is("confirm", "by signing in again")
	v.goes("/form")
	v.press("Send")
	v.is("nothing-done", "a form that needs a fresh proof")
	v.goes("/auth/account/password")
	v.is("confirm", "before the password is changed")
}

// AC-192: each page has the banner while an operator acts as a user, and a form that ends it.
func (v *tour) acts() {
	v.t.Helper()
	user, operator := v.site.seed("user@example.com", "", true), v.site.seed("support@example.com", "", true)
	rows := v.site.store.AccountStore()
	state, err := rows.State(v.t.Context(), operator.ID)
	if err == nil {
		state.Roles = []string{"support"}
		err = rows.ChangeState(v.t.Context(), state)
	}
	if err != nil {
		v.t.Fatal(err)
	}
	v.becomes(operator.Email, "1m", "pwd", "otp")
	v.goes("/act?email=" + user.Email)
	has := func(banner bool) {
		v.t.Helper()
		shown := read(v.browserUser, chromedp.Evaluate[string](`document.querySelector(".pintle-acting")?.innerText ?? ""`))
		if strings.Contains(shown, user.Email) != banner {
			v.t.Errorf("the banner of %s is %q", v.address(), shown)
		}
	}
	for _, at := range []struct{ path, name string }{
		{"/auth/account", "account"},
		{"/auth/account/devices", "devices"},
		{"/auth/account/delete", "problem"},
		{"/auth/signin", "signin"},
		{"/auth/signout", "signout"},
		{"/auth/error?error=Verification", "error"},
		{"/auth/account/profile", "profile"},
	} {
		v.goes(at.path)
		v.is(at.name, "while an operator acts as the user")
		has(true)
	}
	v.sends("/account/profile", "name", "x")
	v.is("problem", "a form that is for the user alone")
	has(true)
	v.goes("/auth/account/profile")
	if _, err := rows.EndFlows(v.t.Context(), user.ID, "acting"); err != nil {
		v.t.Fatal(err)
	}
	v.sends("/account/profile", "name", "x")
	v.is("error", "a form that comes after the end")
	v.goes("/auth/account")
	v.is("account", "the operator again")
	has(false)
	v.goes("/act?email=" + user.Email)
	v.goes("/auth/account")
	v.sends("/account/stop-acting")
	v.goes("/auth/account")
	v.is("account", "after the button")
	has(false)
}

// tourAll goes through all pages in one language.
func tourAll(t *testing.T, texts pages.Texts, look func(v *tour, what string)) {
	t.Helper()
	shown := map[string]bool{}
	var all answers
	for _, way := range tours {
		t.Run(way.name, func(t *testing.T) {
			v := newTour(t, newPagesSite(t, texts, "database"), shown, look)
			all.listen(v.browserUser, "/auth/account")
			way.goes(v)
		})
	}
	all.areNeitherKeptNorFramed(t)
	// Forms of other pages, and the page of another configuration, whose form is that of "delete".
	parts := []string{"password-remove", "sign-up-new", "profile-picture", "profile-upload", "delete-now", "devices-others", "devices-all"}
	for name := range page.English().Account.Pages {
		if !shown[name] && !slices.Contains(parts, name) {
			t.Errorf("no tour comes to the page %q", name)
		}
	}
}

// AC-161, AT-83, AT-85: axe finds no barrier on the pages of accounts, in any state, and each looks
// as its picture. Caches keep none.
func TestNoPageOfAnAccountHasABarrier(t *testing.T) {
	looks := album{folder: "account"}
	tourAll(t, pages.Texts{}, func(v *tour, what string) {
		looks.keep(v.browserUser, v.at+", "+what)
		v.hasNoBarrier(what)
	})
	looks.looksAsItDid(t)
}
