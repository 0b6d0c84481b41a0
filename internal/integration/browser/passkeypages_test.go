package browser_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

// pressesPasskey presses the button whose script asks the authenticator.
func (v *browserUser) pressesPasskey() {
	v.t.Helper()
	v.do("press the button", chromedp.Click(`form[data-passkey-options] button`))
}

// signsUpWithAPasskey makes the account of Mary with a passkey.
func (v *browserUser) signsUpWithAPasskey(s *accountSite, store pintle.Store) *pintle.User {
	v.t.Helper()
	v.provesAddress(s, marysAddress)
	v.pressesPasskey()
	v.comesTo("/")
	v.sees("Hello " + marysAddress)
	mary, err := store.UserByEmail(v.t.Context(), marysAddress)
	if err != nil {
		v.t.Fatal(err)
	}
	return mary
}

// AC-112, AC-113: the codes of a required passkey are saved at the sign-up with it. One of them signs
// in a browser without scripts, which can use no passkey.
func TestAUserOfARequiredPasskeySignsInWithARecoveryCode(t *testing.T) {
	s, _ := newPasskeySite(t, func(o *account.Options) {
		o.SecondFactor.Required = func(context.Context, *pintle.PendingSignIn) (bool, error) { return true, nil }
	})
	v := newBrowserUser(t).withPasskeys()
	v.provesAddress(s, marysAddress)
	v.pressesPasskey()
	v.comesTo("/auth/account/enrol")
	v.comes("/auth/account/enrol", "Save recovery codes", "If you lose your passkey, a recovery code takes its place.")
	v.press("Show the codes")
	v.comes("/auth/account/enrol", "They are shown only now.", "Save as a text file", "Print")
	codes := v.codesOnPage()
	v.do("tick the box", chromedp.Click(`//input[@name = "saved"]`))
	v.press("Continue")
	v.comes("/", "Hello "+marysAddress)

	// A password is a second way in, after which the passkey is asked for.
	v.open(s.url + "/auth/account/password")
	v.fill("New password", firstPassword)
	v.press("Set the password")
	w := newBrowserUser(t).withoutScripts()
	w.open(s.url + "/auth/signin?callbackUrl=/")
	w.do("type the address", chromedp.SendKeys(`form[action$="/callback/credentials"] input[name=email]`, marysAddress))
	w.fill("Password", firstPassword)
	w.press("Sign in with password")
	w.isAt("/auth/account/second-factor")
	w.sees("Passkeys need JavaScript", "Use a recovery code")
	w.isSignedOut(s)
	w.open(s.url + "/auth/account/second-factor")
	w.press("Use a recovery code")
	w.fill("Recovery code", codes[6])
	w.press("Sign in")
	w.comes("/", "Hello "+marysAddress)
}

// AC-112, AC-147: a user who signs in with the password, away from the passkey, is asked for it before a change. The
// recovery codes that the pages have offered take its place, without scripts as well, and the lost passkey goes.
func TestAUserWhoHasLostThePasskeyRemovesIt(t *testing.T) {
	s, store := newPasskeySite(t)
	v := newBrowserUser(t).withPasskeys()
	mary := v.signsUpWithAPasskey(s, store)
	v.open(s.url + "/auth/account/password")
	v.fill("New password", firstPassword)
	v.press("Set the password")
	v.open(s.url + "/auth/account/passkeys")
	v.sees("If you lose your passkey, a recovery code takes its place.")
	v.press("Save recovery codes")
	v.press("Show the codes")
	v.comes("/auth/account/recovery-codes", "They are shown only now.")
	codes := v.codesOnPage()
	v.do("tick the box", chromedp.Click(`//input[@name = "saved"]`))
	v.press("Continue")
	v.comes("/auth/account/factors", "You have 10 codes left", "Your passkey confirms changes to your account.")

	w := newBrowserUser(t).withoutScripts()
	w.open(s.url + "/auth/signin?callbackUrl=/auth/account/password")
	w.do("type the address", chromedp.SendKeys(`form[action$="/callback/credentials"] input[name=email]`, marysAddress))
	w.fill("Password", firstPassword)
	w.press("Sign in with password")
	w.comes("/auth/account/confirm", "Passkeys need JavaScript", "ask the operator of the site")
	w.press("Use a recovery code")
	w.fill("Recovery code", codes[2])
	w.press("Continue")
	w.isAt("/auth/account/password")
	w.open(s.url + "/auth/account/passkeys")
	w.press("Remove")
	w.sees("The passkey is removed.")
	if keys, err := store.UserPasskeys(t.Context(), mary.ID); err != nil || len(keys) != 0 {
		t.Errorf("the user has %d passkeys: %v", len(keys), err)
	}
}

// AC-72: the page that a mail leads to takes the passkey of a user who has an app.
func TestAResetOfThePasswordIsProvenWithAPasskey(t *testing.T) {
	s, store := newPasskeySite(t)
	v := newBrowserUser(t).withPasskeys()
	mary := v.signsUpWithAPasskey(s, store)
	app := &accountstore.Factor{UserID: mary.ID, Kind: "totp", ID: "1", Secret: "sealed", Created: time.Now().UTC().Truncate(time.Millisecond)}
	if err := store.AccountStore().AddFactor(t.Context(), app); err != nil {
		t.Fatal(err)
	}
	v.signsOut(s)
	v.open(s.url + "/auth/account/forgot")
	v.fill("Email", marysAddress)
	v.press("Send the mail")
	v.open(s.mail(t, marysAddress, "A new password").URL)
	v.comes("/auth/account/reset", "Use a passkey")
	v.fill("New password", nextPassword)
	v.pressesPasskey()
	s.mailed(t, marysAddress, "was changed")
	if kinds := kindsOf(t, store, mary); kinds["password"] != 1 || kinds["totp"] != 1 {
		t.Errorf("the user has %v", kinds)
	}
}

// AC-86: so does the page that undoes a change of the address, for a passkey from long before it.
func TestAChangeOfTheAddressIsUndoneWithAPasskey(t *testing.T) {
	s, store := newPasskeySite(t)
	v := newBrowserUser(t).withPasskeys()
	mary := v.signsUpWithAPasskey(s, store)
	keys, err := store.UserPasskeys(t.Context(), mary.ID)
	if err != nil || len(keys) != 1 {
		t.Fatalf("the user has %d passkeys: %v", len(keys), err)
	}
	keys[0].Created = time.Now().Add(-30 * 24 * time.Hour)
	if err := store.DeletePasskey(t.Context(), mary.ID, keys[0].CredentialID); err != nil {
		t.Fatal(err)
	}
	if err := store.CreatePasskey(t.Context(), keys[0]); err != nil {
		t.Fatal(err)
	}
	const next = "next@example.com"
	v.open(s.url + "/auth/account/address")
	v.fill("New address", next)
	v.press("Continue")
	v.open(s.mailed(t, next, "Your code for").URL)
	v.press("Change the address")
	undo := s.mailed(t, marysAddress, "was changed")
	if after, err := store.User(t.Context(), mary.ID); err != nil || after.Email != next {
		t.Fatalf("the user has the address %+v: %v", after, err)
	}
	v.open(undo.URL)
	v.comes("/auth/account/address-undo", "Use a passkey")
	v.fill("New password", nextPassword)
	v.pressesPasskey()
	s.mailed(t, marysAddress, "was undone")
	if after, err := store.User(t.Context(), mary.ID); err != nil || after.Email != marysAddress {
		t.Errorf("the user has the address %+v: %v", after, err)
	}
}

// mailed waits for a mail. After the form is sent, the browser goes to the page for the sign-in, where
// the passkey may sign in at once.
func (s *accountSite) mailed(t *testing.T, to, subject string) *pintle.Message {
	t.Helper()
	for end := time.Now().Add(pageTimeout); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		s.mu.Lock()
		for _, m := range s.mails {
			if m.To == to && strings.Contains(m.Subject, subject) {
				s.mu.Unlock()
				return m
			}
		}
		s.mu.Unlock()
	}
	t.Fatalf("no mail %q was sent to %s", subject, to)
	return nil
}

func kindsOf(t *testing.T, store pintle.Store, u *pintle.User) map[string]int {
	t.Helper()
	rows, err := store.AccountStore().Factors(t.Context(), u.ID)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, row := range rows {
		kinds[row.Kind]++
	}
	return kinds
}
