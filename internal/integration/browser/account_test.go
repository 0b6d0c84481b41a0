package browser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// labelled presses the button that is called label where a page is read aloud.
func (v *browserUser) labelled(label string) {
	v.t.Helper()
	v.leave("press "+label, chromedp.Click(fmt.Sprintf(`//button[@aria-label = %q]`, label)))
}

// asMary signs in with Mary's password.
func (v *browserUser) asMary(q *quickstart) {
	v.t.Helper()
	v.open(q.url + "/account")
	v.fill("Email", "mary@example.com")
	v.fill("Password", "ammonite and belemnite")
	v.press("Sign in with password")
	v.isAt("/account")
}

// onAPhone makes the browser call itself one of a phone.
func (v *browserUser) onAPhone() *browserUser {
	v.t.Helper()
	setting(v, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{
		UserAgent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
	})
	return v
}

// ASVS-7.5.2: users see their sessions, and can end them.
func TestAUserSignsOutOtherDevices(t *testing.T) {
	q := startQuickstart(t, "database")
	laptop, phone := newBrowserUser(t).withoutScripts(), newBrowserUser(t).onAPhone()
	laptop.asMary(q)
	phone.asMary(q)
	laptop.open(q.url + "/account")
	laptop.sees("Chrome on Linux", "this device", "Safari on iPhone", "last used within a day")
	laptop.looks("9-devices")

	laptop.labelled("Sign out Safari on iPhone")
	laptop.isAt("/account")
	laptop.sees("That device is signed out.", "this device")
	if text := laptop.text(); strings.Contains(text, "iPhone") || strings.Contains(text, "all other devices") {
		t.Errorf("the page still shows the phone:\n%s", text)
	}
	phone.open(q.url + "/account")
	phone.isAt("/auth/signin")

	phone.asMary(q)
	laptop.open(q.url + "/account")
	laptop.press("Sign out all other devices")
	laptop.sees("All other devices are signed out.")
	phone.open(q.url + "/account")
	phone.isAt("/auth/signin")
}

// An account of a provider is linked and unlinked, and the browser returns to the
// account page, on errors too.
func TestAUserLinksAnAccountAndDeletesTheUser(t *testing.T) {
	eachKind(t, func(t *testing.T, sessions string) {
		q := startQuickstart(t, sessions)
		mary, emmy := newBrowserUser(t).withoutScripts(), newBrowserUser(t).withoutScripts()
		link := func(whom string) {
			t.Helper()
			mary.press("Link an account")
			mary.press(whom)
			mary.isAt("/account")
		}
		mary.asMary(q)
		mary.sees("You have none.")
		link("Grace Hopper")
		mary.sees("You can sign in with that account from now on.", "Local identity provider", "Mary Anning")

		emmy.open(q.url + "/account")
		emmy.press("Sign in with Local identity provider")
		emmy.press("Emmy Noether")
		link("Emmy Noether")
		mary.sees("Another user signs in here with that account", "Mary Anning")
		link("Do not sign in")
		mary.sees("Nothing has changed.")
		if sessions == "database" {
			mary.looks("10-not-linked")
		}
		mary.press("Unlink")
		mary.sees("You can no longer sign in with that account.", "You have none.")

		emmy.press("Unlink")
		emmy.sees("That is the only way you can sign in.", "Local identity provider")

		emmy.press("Delete my account")
		emmy.isAt("/account/delete")
		if sessions == "database" {
			emmy.looks("11-delete")
		}
		emmy.press("Keep it")
		emmy.isAt("/account")
		before := emmy.cookies(q.url)
		emmy.press("Delete my account")
		emmy.do("tick the box", chromedp.Click(`//input[@name = "confirmed"]`))
		emmy.press("Delete my account")
		emmy.isAt("/")
		emmy.sees("Your account is deleted", "You are not signed in")
		emmy.cannotComeBackWith(before, q)

		mary.open(q.url + "/account")
		mary.sees("Mary Anning")
		if sessions == "token" {
			before := mary.cookies(q.url)
			mary.sees("there is no list of the others")
			mary.press("Sign out everywhere")
			mary.isAt("/")
			mary.sees("You are not signed in")
			mary.cannotComeBackWith(before, q)
		}
	})
}

// cannotComeBackWith checks that a copy of earlier cookies is not valid (SH-16,
// SH-86).
func (v *browserUser) cannotComeBackWith(before map[string]*network.Cookie, q *quickstart) {
	v.t.Helper()
	copied := 0
	for name, c := range before {
		if !strings.Contains(name, "session-token") {
			continue
		}
		copied++
		if _, err := chromedp.Call(v.ctx, network.SetCookie, network.SetCookieParams{Name: name, Value: c.Value, URL: q.url}); err != nil {
			v.t.Fatal(err)
		}
	}
	if copied == 0 {
		v.t.Fatal("there was no session cookie")
	}
	v.open(q.url + "/account")
	v.isAt("/auth/signin")
}
