package browser_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/passkey"
	"github.com/pintleauth/pintle/password"
	"github.com/pintleauth/pintle/store/memstore"
)

// newPasskeySite starts an application on which users sign up with a passkey or a password.
func newPasskeySite(t *testing.T, changes ...func(*account.Options)) (*accountSite, pintle.Store) {
	t.Helper()
	s := &accountSite{}
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	s.url = strings.Replace(srv.URL, "127.0.0.1", "localhost", 1) // passkeys belong to a name
	store := memstore.New()
	options := account.Options{Mail: s.keepMail, Passwords: account.Passwords{Hasher: &password.Hasher{Memory: 64, Passes: 1}}}
	for _, change := range changes {
		change(&options)
	}
	auth, err := pintle.New(pintle.Config{
		URL: s.url, Secrets: []string{"a secret of at least 32 characters"}, Store: store,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Providers: []pintle.Provider{passkey.New(passkey.Options{})}, ExperimentalPasskeys: true,
		Accounts: account.New(options),
	})
	if err != nil {
		t.Fatal(err)
	}
	mux.Handle("/auth/", auth)
	mux.Handle("/{$}", auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := "guest"
		if session := pintle.SessionFrom(r.Context()); session != nil {
			name = session.User.Email
		}
		writePage(w, "Hello "+name)
	})))
	return s, store
}

// provesAddress signs up with an address, and types the code of the mail.
func (v *browserUser) provesAddress(s *accountSite, address string) {
	v.t.Helper()
	v.open(s.url + "/auth/account/sign-up")
	v.fill("Email", address)
	v.press("Continue")
	v.fill("Code", mailedCode.FindString(s.mail(v.t, address, "Your code").Text))
	v.press("Continue")
	v.comes("/auth/account/sign-up-finish", "This is for your new account with the address "+address)
}

// AC-56: the script of the page runs under its policy.
func TestANewUserCreatesAPasskeyAndSignsInWithIt(t *testing.T) {
	s, store := newPasskeySite(t)
	v := newBrowserUser(t).withPasskeys()
	v.provesAddress(s, marysAddress)
	v.do("press the button", chromedp.Click(`form[data-passkey-options] button`))
	v.comesTo("/")
	v.sees("Hello " + marysAddress)
	mary, err := store.UserByEmail(t.Context(), marysAddress)
	if err != nil {
		t.Fatal(err)
	}
	if keys, err := store.UserPasskeys(t.Context(), mary.ID); err != nil || len(keys) != 1 {
		t.Fatalf("the user has %d passkeys, %v", len(keys), err)
	}
	v.signsOut(s)
	v.open(s.url + "/auth/signin?callbackUrl=/") // where the browser offers the passkey, and its user takes it
	v.comesTo("/")
	v.sees("Hello " + marysAddress)
}

// AC-56: without scripts the page has the form for a password.
func TestANewUserWithoutScriptsChoosesAPassword(t *testing.T) {
	s, _ := newPasskeySite(t)
	v := newBrowserUser(t).withoutScripts()
	v.provesAddress(s, marysAddress)
	v.sees("Passkeys need JavaScript")
	v.fill("New password", firstPassword)
	v.press("Create the account")
	v.isAt("/")
	v.sees("Hello " + marysAddress)
}
