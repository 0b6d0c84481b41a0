package accountsite

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// A Secret is what a user or a browser has and a copy of the database must not give away.
type Secret struct {
	Name   string
	Values []string // the forms that it has outside of the database

	// Guessable is a secret that can be found by trying, if its hash has no key and
	// costs nothing.
	Guessable bool
}

// SessionToken is the name of the secrets that are plain in tables of Auth.js, as it
// writes them.
const SessionToken = "session token"

// A Journey is what users of a site did.
type Journey struct {
	*Site
	Secrets []Secret

	// Address is that of a user who has a password, an app and recovery codes, is signed in
	// in one browser, and has entered the password in another.
	Address, password string
	signedIn, half    *Browser
	recovery          []string // codes that are left

	app app

	reset, signUp string   // links that were not used
	waiting       *Browser // which began signUp
}

// Of each page, what a user copies from it.
var (
	shownKey   = regexp.MustCompile(`name="key" value="([^"]+)"`)
	shownURI   = regexp.MustCompile(`href="(otpauth:[^"]+)"`)
	shownCodes = regexp.MustCompile(`<code>([0-9A-Z-]{19})</code>`)
	mailedCode = regexp.MustCompile(`\b\d{4} \d{4}\b`)
)

const (
	signUp       = "/auth/account/sign-up"
	signUpSent   = "/auth/account/sign-up-sent"
	signUpFinish = "/auth/account/sign-up-finish"
	forgot       = "/auth/account/forgot"
	reset        = "/auth/account/reset"
	totp         = "/auth/account/totp"
	recovery     = "/auth/account/recovery-codes"
	second       = "/auth/account/second-factor"
)

// Take makes users do everything of which package account stores something: one signs up,
// adds an app, resets the password and signs in with a code; what they and others have
// begun is left unfinished.
func (s *Site) Take() *Journey {
	s.t.Helper()
	j := &Journey{Site: s, Address: "ada-" + strings.ToLower(rand.Text()) + "@example.com"}
	bob, carol := "bob-"+strings.ToLower(rand.Text())+"@example.com", "carol-"+strings.ToLower(rand.Text())+"@example.com"

	first := j.newPassword("first password")
	b := s.Browser()
	j.signUpBy(b, j.Address, first)
	j.keepSession(b)
	j.addApp(b)

	link := j.resetLink()
	j.password = j.newPassword("password")
	s.Browser().Get(link).IsAt(reset).Post(reset, "password", j.password, "code", j.recovery[0]).IsAt("/auth/signin")
	j.recovery = j.recovery[1:]
	b.IsSignedInAs("")

	s.Browser().SignIn(j.Address, j.newPassword("wrong password")).IsSignedInAs("")
	j.signedIn = s.Browser().SignIn(j.Address, j.password).IsAt(second).Post(second, "code", j.app.code()).IsSignedInAs(j.Address)
	j.keepSession(j.signedIn)

	// What is left unfinished.
	j.half = s.Browser().SignIn(j.Address, j.password).IsAt(second)
	j.keepCookies("pending sign-in", j.half)
	j.reset = j.resetLink()
	half := s.Browser().Get(j.reset).IsAt(reset)
	j.keepCookies("cookie of a reset", half)
	j.beginSignUp(carol)
	other := s.Browser()
	j.signUpBy(other, bob, j.newPassword("password of another user"))
	j.beginApp(other)
	if s.Store.Features().Verifications {
		s.Browser().Get("/auth/signin").Post("/auth/signin/email", "email", j.Address)
		j.keepLink("mail link", s.Mail(j.Address).URL)
	}
	return j
}

func (j *Journey) keep(name string, guessable bool, values ...string) {
	j.Secrets = append(j.Secrets, Secret{name, values, guessable})
}

func (j *Journey) newPassword(name string) string {
	chosen := "Canary " + rand.Text()
	j.keep(name, true, chosen)
	return chosen
}

func (j *Journey) keepSession(b *Browser) {
	j.t.Helper()
	token := b.Cookies()["authjs.session-token"]
	if token == "" {
		j.t.Fatal("the browser has no session")
	}
	j.keep(SessionToken, false, token)
}

// keepCookies keeps those that are not for every browser.
func (j *Journey) keepCookies(name string, b *Browser) {
	for cookie, value := range b.Cookies() {
		if cookie != "authjs.csrf-token" && cookie != "authjs.callback-url" {
			j.keep(name, false, value)
		}
	}
}

func (j *Journey) keepLink(name, link string) {
	j.t.Helper()
	u, err := url.Parse(link)
	if err != nil || u.Query().Get("token") == "" {
		j.t.Fatalf("the mail has the link %q, %v", link, err)
	}
	j.keep(name, false, u.Query().Get("token"))
}

// keepCode keeps the code of the last mail, and returns it.
func (j *Journey) keepCode(to string) string {
	j.t.Helper()
	code := mailedCode.FindString(j.Mail(to).Text)
	if code == "" {
		j.t.Fatal("the mail has no code")
	}
	j.keep("mailed code", true, code, strings.ReplaceAll(code, " ", ""))
	return code
}

func (j *Journey) signUpBy(b *Browser, address, chosen string) {
	j.t.Helper()
	b.Get(signUp).Post(signUp, "email", address, "name", "Name").IsAt(signUpSent)
	j.keepLink("link of a sign-up", j.Mail(address).URL)
	j.keepCookies("cookie of a sign-up", b)
	b.Post(signUpSent, "code", j.keepCode(address)).IsAt(signUpFinish).Post(signUpFinish, "password", chosen).IsSignedInAs(address)
}

// beginSignUp leaves a sign-up unfinished. Of its user nothing must be readable.
func (j *Journey) beginSignUp(address string) {
	j.t.Helper()
	name, back := "Carol "+rand.Text(), "/welcome?of="+rand.Text()
	j.waiting = j.Browser().Get(signUp).Post(signUp, "email", address, "name", name, "callbackUrl", back).IsAt(signUpSent)
	j.keepCode(address)
	j.signUp = j.Mail(address).URL
	j.keepLink("link of an open sign-up", j.signUp)
	j.keepCookies("cookie of an open sign-up", j.waiting)
	j.keep("address in a flow", true, address)
	j.keep("field in a flow", true, name)
	j.keep("page in a flow", false, back, url.QueryEscape(back))
}

func (j *Journey) resetLink() string {
	j.t.Helper()
	j.Browser().Get(forgot).Post(forgot, "email", j.Address)
	link := j.Mail(j.Address).URL
	j.keepLink("link of a reset", link)
	return link
}

// beginApp scans the secret of an app, enters its first code, and returns the recovery
// codes, which the user has not saved.
func (j *Journey) beginApp(b *Browser) (a app, codes []string) {
	j.t.Helper()
	b.Get(totp).IsAt(totp)
	u, err := url.Parse(b.found(shownURI))
	if err != nil {
		j.t.Fatal(err)
	}
	a.key, err = base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(u.Query().Get("secret"))
	if err != nil {
		j.t.Fatal(err)
	}
	j.keep("TOTP secret", false, u.Query().Get("secret"), string(a.key))
	b.Post(totp, "key", b.found(shownKey), "code", a.code(), "name", "Phone").IsAt(recovery)
	for _, found := range shownCodes.FindAllStringSubmatch(b.Page, -1) {
		codes = append(codes, found[1])
		j.keep("recovery code", false, found[1], strings.ReplaceAll(found[1], "-", ""))
	}
	if len(codes) == 0 {
		j.t.Fatalf("no recovery codes were shown: %s", b.Page)
	}
	return a, codes
}

func (j *Journey) addApp(b *Browser) {
	j.t.Helper()
	j.app, j.recovery = j.beginApp(b)
	b.Post(recovery, "saved", "1").IsSignedInAs(j.Address)
}

// An app is an authenticator app. It shows no code twice.
//
// https://www.rfc-editor.org/rfc/rfc6238#section-4
type app struct {
	key  []byte
	last int64
}

func (a *app) code() string {
	a.last = max(a.last+1, time.Now().Unix()/30)
	mac := hmac.New(sha1.New, a.key)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(a.last)))
	sum := mac.Sum(nil)
	o := sum[19] & 15
	return fmt.Sprintf("%06d", (binary.BigEndian.Uint32(sum[o:])&0x7fffffff)%1_000_000)
}

// SessionToken is that of the session in which the user is signed in.
func (j *Journey) SessionToken() string { return j.signedIn.Cookies()["authjs.session-token"] }
