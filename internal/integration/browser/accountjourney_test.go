package browser_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	numbers "encoding/binary"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/password"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/store/redisstore"
	"github.com/pintleauth/pintle/store/sqlstore"
)

const (
	marysAddress  = "mary@example.com"
	firstPassword = "ammonite and belemnite"
	nextPassword  = "ichthyosaur and plesiosaur"
)

// An accountSite is an application with accounts.
type accountSite struct {
	url string

	mu    sync.Mutex
	mails []*pintle.Message
}

// newAccountSite starts an application with its store in a real server.
func newAccountSite(t *testing.T, store, sessions string) *accountSite {
	t.Helper()
	s := &accountSite{}
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	s.url = srv.URL
	cfg := pintle.Config{
		URL: s.url, Secrets: []string{"a secret of at least 32 characters"},
		Getenv: func(string) string { return "" },
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	var ended pintle.RevocationStore
	switch store {
	case "memory":
		cfg.Store, ended = memstore.New(), &memstore.Revocations{}
	case "PostgreSQL":
		db := services.PostgreSQLDatabase(t)
		if err := sqlstore.Migrate(t.Context(), db.DB, sqlstore.PostgreSQL); err != nil {
			t.Fatal(err)
		}
		cfg.Store, ended = sqlstore.New(db.DB, sqlstore.PostgreSQL), sqlstore.NewRevocations(db.DB, sqlstore.PostgreSQL)
	case "Redis":
		client := redis.NewClient(&redis.Options{Addr: services.Redis(t).Addr})
		t.Cleanup(func() { _ = client.Close() })
		cfg.Store, ended = redisstore.New(client, redisstore.Options{}), redisstore.NewRevocations(client, "")
	}
	if sessions == "token" {
		cfg.Session.Strategy, cfg.Session.Revocation = pintle.StrategyJWT, ended
	}
	accounts := account.New(account.Options{
		Mail:      s.keepMail,
		Passwords: account.Passwords{Hasher: &password.Hasher{Memory: 64, Passes: 1}}, // cheap
	})
	cfg.Accounts = accounts
	auth, err := pintle.New(cfg)
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
	mux.Handle("/members", auth.Load(auth.Require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writePage(w, "Only members see this, "+pintle.SessionFrom(r.Context()).User.Email)
	}))))
	mux.Handle("/vault", accounts.Demand(account.Demand{MaxAge: 10 * time.Minute, Strongest: true}, http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			writePage(w, "The vault, drawer "+r.URL.Query().Get("drawer"))
		})))
	// The session of a device that was left alone since the proofs were given.
	mux.HandleFunc("/an-hour-later", func(w http.ResponseWriter, r *http.Request) {
		session, err := auth.Session(r)
		if err != nil || session == nil {
			t.Errorf("the session is %v, %v", session, err)
			return
		}
		facts := pintle.Authentication{Proofs: map[string]time.Time{}}
		for method, at := range session.Authentication.Proofs {
			facts.Methods, facts.Proofs[method] = append(facts.Methods, method), at.Add(-time.Hour)
		}
		if _, _, err := auth.StartSession(w, r, &session.User, pintle.StartOptions{Authentication: facts}); err != nil {
			t.Error(err)
		}
		writePage(w, "It is an hour later")
	})
	return s
}

func writePage(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, `<!doctype html><html lang="en"><title>A site</title><p>`+html.EscapeString(text))
}

// keepMail keeps a mail, unless it is one about a new browser, which most sign-ins send.
func (s *accountSite) keepMail(_ context.Context, m *pintle.Message) error {
	if strings.HasPrefix(m.Kind, "new-device") {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mails = append(s.mails, m)
	return nil
}

// mail returns the last mail, and checks to whom it is and what it is about.
func (s *accountSite) mail(t *testing.T, to, subject string) *pintle.Message {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.mails) == 0 {
		t.Fatal("no mail was sent")
	}
	m := s.mails[len(s.mails)-1]
	if m.To != to || !strings.Contains(m.Subject, subject) {
		t.Fatalf("the last mail is %q to %s, want %q to %s", m.Subject, m.To, subject, to)
	}
	return m
}

// An authenticatorApp shows codes of a key that its user has typed into it. It shows no
// code twice.
//
// https://www.rfc-editor.org/rfc/rfc6238#section-4
type authenticatorApp struct {
	t      *testing.T
	secret []byte
	shown  int64 // the step of the last code
}

func (v *browserUser) typesKeyIntoApp() *authenticatorApp {
	v.t.Helper()
	shown := regexp.MustCompile(`Key: ([A-Z2-7 ]+)`).FindStringSubmatch(v.text())
	if shown == nil {
		v.t.Fatalf("the page shows no key:\n%s", v.text())
	}
	return newApp(v.t, strings.ReplaceAll(strings.TrimSpace(shown[1]), " ", ""))
}

// newApp is an app that has got a key.
func newApp(t *testing.T, key string) *authenticatorApp {
	t.Helper()
	secret, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(key)
	if err != nil {
		t.Fatal(err)
	}
	return &authenticatorApp{t: t, secret: secret}
}

// code is the next code: that of now, or of the next half minute if it has shown that of
// now already. Clocks may be apart so much.
func (a *authenticatorApp) code() string {
	a.shown = max(a.shown+1, time.Now().Unix()/30)
	return a.last()
}

// last is the code that it has shown last.
func (a *authenticatorApp) last() string {
	mac := hmac.New(sha1.New, a.secret)
	mac.Write(numbers.BigEndian.AppendUint64(nil, uint64(a.shown)))
	sum := mac.Sum(nil)
	offset := sum[len(sum)-1] & 15
	return fmt.Sprintf("%06d", numbers.BigEndian.Uint32(sum[offset:])&0x7fffffff%1_000_000)
}

// comes checks the path of the page, what it shows, and that nothing of it is beside the
// window of a small phone.
//
// https://www.w3.org/TR/WCAG22/#reflow
func (v *browserUser) comes(path string, want ...string) {
	v.t.Helper()
	v.isAt(path)
	v.sees(want...)
	if over := read(v, chromedp.Evaluate[float64]("document.documentElement.scrollWidth - document.documentElement.clientWidth")); over > 0 {
		v.t.Errorf("the page at %s is %.0f pixels wider than the window", v.address(), over)
	}
	if ways := read(v, chromedp.Evaluate[[]string](`Array.from(new Set(Array.from(document.querySelectorAll(".site-link"), link => getComputedStyle(link).textAlign)))`)); len(ways) > 1 {
		v.t.Errorf("the links at %s are aligned in several ways: %q", v.address(), ways)
	}
}

// isToldWhatIsWrong checks that the page has a message. It has the focus, so that it is read
// aloud.
func (v *browserUser) isToldWhatIsWrong(path, message string) {
	v.t.Helper()
	v.comes(path, message)
	if got := read(v, chromedp.Evaluate[string]("document.activeElement.id")); got != "form-error" {
		v.t.Errorf("the focus of the page at %s is on %q, want the message", v.address(), got)
	}
	over := read(v, chromedp.Evaluate[float64](`document.querySelector("h1").getBoundingClientRect().bottom - document.querySelector("#form-error").getBoundingClientRect().top`))
	if over > 0 {
		v.t.Errorf("the message at %s covers %.0f pixels of the heading", v.address(), over)
	}
}

// signsIn fills in the form of the sign-in page.
func (v *browserUser) signsIn(s *accountSite, chosen string) {
	v.t.Helper()
	v.open(s.url + "/members")
	v.comes("/auth/signin", "Sign in", "Forgot your password?")
	v.fill("Email", "Mary@Example.com") // users write their address in any case
	v.fill("Password", chosen)
	v.press("Sign in with password")
}

func (v *browserUser) signsOut(s *accountSite) {
	v.t.Helper()
	v.open(s.url + "/auth/account")
	v.comes("/auth/account", "You are signed in as "+marysAddress)
	v.press("Sign out")
	v.isSignedOut(s)
}

func (v *browserUser) isSignedOut(s *accountSite) {
	v.t.Helper()
	v.open(s.url)
	v.sees("Hello guest")
}

// A user makes an account, forgets the password, adds a second factor and loses it, on a
// small phone. Every pair of store, kind of session, and scripts is in one of the ways.
func TestAnAccountFromItsSignUpToALostDevice(t *testing.T) {
	for _, way := range []struct {
		store, sessions string
		scripts         bool
	}{
		{"PostgreSQL", "database", true},
		{"PostgreSQL", "token", false},
		{"Redis", "database", false},
		{"Redis", "token", true},
	} {
		t.Run(fmt.Sprintf("sessions in a %s, on %s, with scripts: %t", way.sessions, way.store, way.scripts), func(t *testing.T) {
			t.Parallel()
			s := newAccountSite(t, way.store, way.sessions)
			v := newBrowserUser(t)
			if !way.scripts {
				v.withoutScripts()
			}
			v.emulate(320, "light")
			v.makesAnAccount(s)
			v.signsOut(s)
			v.choosesANewPassword(s)
			app, codes := v.addsAnApp(s)
			v.signsOut(s)
			v.signsInWithTheApp(s, app)
			v.signsOut(s)
			v.signsInWithARecoveryCode(s, codes)
			v.confirmsForTheVault(s, codes)
		})
	}
}

func (v *browserUser) makesAnAccount(s *accountSite) {
	v.t.Helper()
	v.open(s.url + "/members")
	v.press("Create an account")
	v.comes("/auth/account/sign-up", "We send you a mail to confirm your address.")
	v.fill("Email", marysAddress)
	v.press("Continue")
	v.comes("/auth/account/sign-up-sent", "We sent a mail to "+marysAddress)
	code := regexp.MustCompile(`\b\d{4} \d{4}\b`).FindString(s.mail(v.t, marysAddress, "Your code").Text)
	v.fill("Code", strings.Map(func(d rune) rune { // no digit of it is right
		if d != ' ' {
			d = '0' + (d-'0'+1)%10
		}
		return d
	}, code))
	v.press("Continue")
	v.isToldWhatIsWrong("/auth/account/sign-up-sent", "That code is not right.")
	v.fill("Code", code)
	v.press("Continue")
	v.comes("/auth/account/sign-up-finish", "This is for your new account with the address "+marysAddress)
	v.fill("New password", "short")
	v.press("Create the account")
	v.isToldWhatIsWrong("/auth/account/sign-up-finish", "The password needs at least 15 characters.")
	v.isSignedOut(s)
	v.open(s.url + "/auth/account/sign-up-finish")
	v.fill("New password", firstPassword)
	v.press("Create the account")
	v.comes("/members", "Only members see this, "+marysAddress) // where it began
}

func (v *browserUser) choosesANewPassword(s *accountSite) {
	v.t.Helper()
	v.signsIn(s, "belemnite and ammonite")
	v.comes("/auth/signin", "Sign-in failed.")
	v.press("Forgot your password?")
	v.comes("/auth/account/forgot", "We send you a link to choose a new password.")
	v.fill("Email", marysAddress)
	v.press("Send the mail")
	v.comes("/auth/account/forgot-sent", "Check your email")
	v.open(s.mail(v.t, marysAddress, "A new password").URL)
	v.comes("/auth/account/reset", "This is for the account with the address "+marysAddress)
	if strings.Contains(v.address(), "?") {
		v.t.Errorf("the history of the browser has the token: %s", v.address())
	}
	v.fill("New password", nextPassword)
	v.press("Save the password")
	v.comes("/auth/signin", "Your new password is saved. Sign in with it.")
	v.isSignedOut(s)
	v.signsIn(s, firstPassword)
	v.comes("/auth/signin", "Sign-in failed.")
	v.signsIn(s, nextPassword)
	v.comes("/members", marysAddress)
}

func (v *browserUser) addsAnApp(s *accountSite) (app *authenticatorApp, codes []string) {
	v.t.Helper()
	v.open(s.url + "/auth/account")
	v.comes("/auth/account", "You have no second factor.")
	v.follows("Second factor")
	v.press("Add an authenticator app")
	v.comes("/auth/account/totp", "Scan the image with the app, or type the key into it.")
	app = v.typesKeyIntoApp()
	v.fill("Code of the app", app.code())
	v.fill("Name of the device", "Mary’s phone")
	v.press("Add the app")
	v.comes("/auth/account/recovery-codes", "They are shown only now.")
	codes = v.codesOnPage()
	v.do("tick the box", chromedp.Click(`//input[@name = "saved"]`))
	v.press("Continue")
	v.comes("/auth/account/factors", "The app is added.", "Mary’s phone", "You have 10 codes left.")
	s.mail(v.t, marysAddress, "A second factor was added")
	return app, codes
}

// codesOnPage are the recovery codes that the page shows.
func (v *browserUser) codesOnPage() []string {
	v.t.Helper()
	codes := read(v, chromedp.Evaluate[[]string](`Array.from(document.querySelectorAll(".codes code"), code => code.innerText)`))
	if len(codes) != 10 {
		v.t.Fatalf("the page shows %d recovery codes:\n%s", len(codes), v.text())
	}
	return codes
}

func (v *browserUser) signsInWithTheApp(s *accountSite, app *authenticatorApp) {
	v.t.Helper()
	v.signsIn(s, nextPassword)
	v.comes("/auth/account/second-factor", "Type the code that your authenticator app shows.")
	v.isSignedOut(s)
	v.open(s.url + "/auth/account/second-factor")
	v.fill("Code of the app", app.last()) // which has worked once
	v.press("Sign in")
	v.isToldWhatIsWrong("/auth/account/second-factor", "That code is not right.")
	v.fill("Code of the app", app.code())
	v.press("Sign in")
	v.comes("/members", marysAddress)
}

func (v *browserUser) signsInWithARecoveryCode(s *accountSite, codes []string) {
	v.t.Helper()
	v.signsIn(s, nextPassword)
	v.press("Use a recovery code")
	v.comes("/auth/account/second-factor", "Type one of the recovery codes that you saved.")
	v.fill("Recovery code", strings.ToLower(codes[3]))
	v.press("Sign in")
	v.comes("/members", marysAddress)
	if m := s.mail(v.t, marysAddress, "A recovery code was used"); !strings.Contains(m.Text, "You have 9 codes left.") {
		v.t.Errorf("the mail says:\n%s", m.Text)
	}
}

func (v *browserUser) confirmsForTheVault(s *accountSite, codes []string) {
	v.t.Helper()
	v.open(s.url + "/vault?drawer=7")
	v.sees("The vault, drawer 7") // what was proven at the sign-in counts
	v.open(s.url + "/an-hour-later")
	v.open(s.url + "/vault?drawer=7")
	v.comes("/auth/account/confirm", "Confirm that it is you")
	v.fill("Current password", firstPassword)
	v.press("Continue")
	v.isToldWhatIsWrong("/auth/account/confirm", "That is not your password.")
	v.fill("Current password", nextPassword)
	v.press("Continue")
	v.comes("/auth/account/confirm", "Code of the app")
	v.press("Use a recovery code")
	v.comes("/auth/account/confirm", "Recovery code")
	v.fill("Recovery code", codes[3]) // which has worked once
	v.press("Continue")
	v.isToldWhatIsWrong("/auth/account/confirm", "That code is not right.")
	v.fill("Recovery code", codes[8])
	v.press("Continue")
	v.comes("/vault", "The vault, drawer 7")
	v.open(s.url + "/members")
	v.comes("/members", marysAddress)
}
