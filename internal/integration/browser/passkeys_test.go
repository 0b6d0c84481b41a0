package browser_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

// withPasskeys gives the browser a virtual authenticator that stores passkeys and
// verifies the user.
func (v *browserUser) withPasskeys() *browserUser {
	v.t.Helper()
	setting(v, webauthn.Enable, webauthn.EnableParams{})
	_, err := chromedp.Call(v.ctx, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
		HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
	}})
	if err != nil {
		v.t.Fatal(err)
	}
	return v
}

func (v *browserUser) signInAs(q *quickstart, email, password string) {
	v.t.Helper()
	v.open(q.url + "/account")
	v.fill("Email", email)
	v.fill("Password", password)
	v.press("Sign in with password")
	v.isAt("/account")
}

func TestUsersManageTheirPasskeys(t *testing.T) {
	eachKind(t, func(t *testing.T, sessions string) {
		q := startQuickstart(t, sessions)
		v := newBrowserUser(t).withPasskeys()
		v.signInAs(q, "mary@example.com", "ammonite and belemnite")
		v.sees("You have none.")
		v.press("Add a passkey")
		v.isAt("/account")
		v.sees("You can sign in with that passkey from now on.", "Each of them signs you in", "not used yet")

		// The authenticator has one of hers.
		v.do("press the button", chromedp.Click(`//button[. = "Add a passkey"]`), chromedp.WaitVisible(`//*[@role = "alert"][. = "You have a passkey there already."]`))

		v.do("open the form", chromedp.Click("details > summary"))
		v.fill("Name of Passkey", " Hammer & chisel ")
		if sessions == "database" {
			v.looks("9-passkeys")
		}
		v.press("Save")
		v.sees("The passkey has a new name.", "Hammer & chisel\n")

		// The virtual user is present, so the autofill list is used at once.
		v.press("Sign out")
		v.open(q.url + "/auth/signin?callbackUrl=/account")
		v.comesTo("/account")
		v.sees("Mary Anning", "Hammer & chisel", "last used within a day")

		v.press("Remove")
		v.sees("You can no longer sign in with that passkey.", "You have none.")
		v.press("Sign out")
		v.open(q.url + "/auth/signin?callbackUrl=/account")
		v.comesTo("/auth/error")
	})
}

// comesTo waits until a script has navigated to another page. Scripts fail on a
// page that is being left, and run again on the next one.
func (v *browserUser) comesTo(path string) {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.ctx, pageTimeout)
	defer cancel()
	there := fmt.Sprintf("location.pathname === %q && document.readyState === 'complete'", path)
	for {
		_, err := chromedp.Run(ctx, chromedp.Poll[bool](there, chromedp.WithPollingTimeout(pageTimeout)))
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			v.t.Fatalf("the browser never reached %s: %v; the page at %s shows:\n%s", path, err, v.address(), v.text())
		}
	}
}

// Passkeys are the only way to sign in that needs a script.
func TestWithoutScriptsNoPasskeyIsOffered(t *testing.T) {
	q := startQuickstart(t, "database")
	v := newBrowserUser(t).withoutScripts()
	v.signInAs(q, "mary@example.com", "ammonite and belemnite")
	v.sees("You have none.", "This browser makes passkeys when scripts may run.")
	if strings.Contains(v.text(), "Add a passkey") {
		t.Error("the page offers passkeys, which do not work without scripts")
	}
}

func TestPasskeysAreNotOfferedAtAnAddress(t *testing.T) {
	q := startQuickstart(t, "database")
	named := q.url
	q.url = strings.Replace(q.url, "localhost", "127.0.0.1", 1)
	v := newBrowserUser(t).withPasskeys()
	v.signInAs(q, "mary@example.com", "ammonite and belemnite")
	v.sees("Passkeys belong to a name, and this page is at an address: open it at localhost to add one.")
	v.press("open it at localhost")
	v.isAt("/auth/signin") // which is another site
	if !strings.HasPrefix(v.address(), named+"/") {
		t.Errorf("the link leads to %s, want %s", v.address(), named)
	}
}

// Without a session no passkey is added, whatever address the client sends.
func TestAnonymousClientsCannotAddPasskeys(t *testing.T) {
	q := startQuickstart(t, "database")
	v := newBrowserUser(t)
	v.open(q.url)
	for _, query := range []string{"action=register&email=eve@example.com", "action=register&email=mary@example.com", "action=register"} {
		status := read(v, chromedp.Evaluate[float64](fmt.Sprintf(`fetch("/auth/webauthn-options/passkey?%s").then(r => r.status)`, query), chromedp.EvalAwaitPromise))
		if status != 400 {
			t.Errorf("the response to %s is %.0f, want 400", query, status)
		}
	}
}
