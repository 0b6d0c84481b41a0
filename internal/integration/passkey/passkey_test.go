package passkey_test

import (
	"encoding/base64"
	"fmt"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/passkey"
)

func decode(t *testing.T, text string) string {
	t.Helper()
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func encode(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

const signedIn = `document.querySelector("h1")?.textContent === %q`

func TestTheSignInPage(t *testing.T) {
	eachStore(t, func(t *testing.T, s *site) {
		d := s.device(t)

		d.open("/auth/signin?callbackUrl=/")
		d.fill("email", "ada@example.com")
		d.press("Sign in with a passkey")
		d.waitFor("signed up", fmt.Sprintf(signedIn, "ada@example.com"))
		if n := len(d.credentials()); n != 1 || !d.credentials()[0].IsResidentCredential {
			t.Fatalf("the authenticator has %d credentials, want one that is discoverable", n)
		}

		// With a virtual user present, the autofill list is used at once.
		d.forget()
		d.open("/auth/signin?callbackUrl=/")
		d.waitFor("signed in by autofill", fmt.Sprintf(signedIn, "ada@example.com"))

		d.forget()
		d.present(false)
		d.open("/auth/signin?callbackUrl=/")
		d.begins(1)
		d.present(true)
		d.fill("email", "ada@example.com")
		d.press("Sign in with a passkey")
		d.waitFor("signed in by the button", fmt.Sprintf(signedIn, "ada@example.com"))

		// A sensor that fails, or a user who cancels.
		d.forget()
		command(d, webauthn.ClearCredentials, webauthn.ClearCredentialsParams{AuthenticatorID: d.key})
		d.open("/auth/signin?callbackUrl=/")
		d.fill("email", "ada@example.com")
		d.press("Sign in with a passkey")
		d.waitFor("showing that nothing happened", `!document.querySelector("[data-passkey-failed]").hidden`)
		if who := d.who(); who != "" {
			t.Errorf("%q is signed in", who)
		}
		d.waitFor("offering autofill again", `asked === 3`) // at first, by the button, and again
	})
}

// Autofill is for one of them, and ends when the button of the other is pressed.
func TestTheSignInPageWithTwoKindsOfPasskeys(t *testing.T) {
	other := passkey.New(passkey.Options{})
	other.ID, other.Name, other.DisableAutofill = "other", "Company key", true
	s := newSite(t, onSQLite(t), passkey.Options{}, other)
	d := s.device(t)
	d.open("/auth/signin?callbackUrl=/")
	d.waitFor("offering autofill", `asked === 1`)
	d.do("fill in the address", chromedp.Focus(`form[action$="/other"] input[name="email"]`, chromedp.NodeVisible), chromedp.KeyEvent("ada@example.com"))
	d.press("Sign in with Company key")
	d.waitFor("signed up", fmt.Sprintf(signedIn, "ada@example.com"))

	d.forget()
	command(d, webauthn.ClearCredentials, webauthn.ClearCredentialsParams{AuthenticatorID: d.key})
	d.open("/auth/signin?callbackUrl=/")
	d.do("fill in the address", chromedp.Focus(`form[action$="/other"] input[name="email"]`, chromedp.NodeVisible), chromedp.KeyEvent("ada@example.com"))
	d.press("Sign in with Company key")
	d.waitFor("showing that nothing happened", `!document.querySelector('form[action$="/other"] [data-passkey-failed]').hidden`)
	d.waitFor("offering autofill again", `asked === 3`) // at first, by the button, and again
}

// A sign-in page that is open in two tabs, or was opened yesterday, holds a
// challenge that the cookie does not.
func TestTheSignInPageOffersAPasskeyThatWorks(t *testing.T) {
	s := newSite(t, onSQLite(t), passkey.Options{})
	d := s.device(t)
	d.signUp("ada@example.com")
	d.forget()
	d.present(false)
	d.open("/auth/signin?callbackUrl=/")
	d.begins(1)
	d.evaluate(`fetch("/auth/webauthn-options/passkey?action=authenticate").then(() => "")`)
	d.present(true)
	d.evaluate(`document.dispatchEvent(new Event("visibilitychange")), ""`)
	d.waitFor("signed in", fmt.Sprintf(signedIn, "ada@example.com"))
}

// With scripts off, every other way to sign in on the same page still works.
func TestTheSignInPageWithoutScripts(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{AutoConsent: true})
	mailbox := authtest.NewMailbox(authtest.MailboxOptions{})
	oidc, oauth := idp.OIDC("oidc"), idp.OAuth2("oauth")
	oidc.Name, oauth.Name = "OIDC", "OAuth"
	s := newSite(t, onSQLite(t), passkey.Options{}, oidc, oauth, &pintle.Email{From: "pintle@example.com", Send: mailbox.Send})
	d := s.device(t)
	ways := map[string]func(){
		"mary@example.com": func() {
			d.fill("username", "mary")
			d.fill("password", "ammonite and belemnite")
			d.press("Sign in with Credentials")
		},
		"oidc@example.com": func() {
			idp.SignInAs(authtest.Person{Subject: "1", Email: "oidc@example.com"})
			d.press("Sign in with OIDC")
		},
		"oauth@example.com": func() {
			idp.SignInAs(authtest.Person{Subject: "2", Email: "oauth@example.com"})
			d.press("Sign in with OAuth")
		},
		"mail@example.com": func() {
			d.do("fill in the address", chromedp.Focus(`input[type="email"]`, chromedp.NodeVisible), chromedp.KeyEvent("mail@example.com"))
			d.press("Sign in with Email")
			mail, err := mailbox.Wait(t.Context(), "mail@example.com")
			if err != nil {
				t.Fatal(err)
			}
			// The mail may arrive before the page that announces it.
			d.withScripts(true)
			d.waitFor("showing that a mail was sent", `location.pathname === "/auth/verify-request" && document.readyState === "complete"`)
			d.withScripts(false)
			d.do("open the link", chromedp.Navigate(mail.Links()[0]))
		},
	}
	for who, signIn := range ways {
		d.forget()
		d.withScripts(false)
		d.open("/auth/signin?callbackUrl=/")
		signIn()
		d.withScripts(true)
		d.waitFor("signed in", fmt.Sprintf(signedIn, who))
	}
}

func TestTheClients(t *testing.T) {
	calls := map[string]struct{ signUp, signIn, add string }{
		"next-auth/webauthn": {
			`signIn({ email: "ada@example.com" }).then(r => r.url)`,
			`signIn({ action: "authenticate" }).then(r => r.url)`,
			`signIn({ action: "register" }).then(r => r.url)`,
		},
		"@simplewebauthn/browser": {
			`answer({ email: "ada@example.com" }).then(send)`,
			`answer({}).then(send)`,
			`answer({ action: "register" }).then(send)`,
		},
		"pintle": {
			`auth.passkey.register({ fields: { email: "ada@example.com" }, redirect: false }).then(r => r.url)`,
			`auth.passkey.signIn({ redirect: false }).then(r => r.url)`,
			`auth.passkey.register({ redirect: false }).then(r => r.url)`,
		},
		"pintle, autofill": {
			`auth.passkey.register({ fields: { email: "ada@example.com" }, redirect: false }).then(r => r.url)`,
			`auth.passkey.signIn({ autofill: true, redirect: false }).then(r => r.url)`,
			`auth.passkey.register({ redirect: false }).then(r => r.url)`,
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, onSQLite(t), passkey.Options{})
			d := s.device(t)
			d.home()
			if code := d.codeOf(d.evaluate(call.signUp)); code != "" || d.who() != "ada@example.com" {
				t.Fatalf("sign up: %q, signed in %q; log:\n%s", code, d.who(), s.log.String())
			}

			d.forget()
			d.home()
			if code := d.codeOf(d.evaluate(call.signIn)); code != "" || d.who() != "ada@example.com" {
				t.Fatalf("sign in: %q, signed in %q; log:\n%s", code, d.who(), s.log.String())
			}

			// The authenticator has a passkey of hers already.
			if _, err := d.try(call.add); err == nil || !strings.Contains(err.Error(), "InvalidStateError") {
				t.Errorf("a second passkey in one authenticator: %v, want InvalidStateError", err)
			}
			d.attach(platform)
			if code := d.codeOf(d.evaluate(call.add)); code != "" {
				t.Fatalf("add a passkey: %q; log:\n%s", code, s.log.String())
			}
			if _, passkeys := s.user("ada@example.com"); len(passkeys) != 2 {
				t.Errorf("Ada has %d passkeys, want 2", len(passkeys))
			}
		})
	}
	t.Run("pintle leaves the page by default", func(t *testing.T) {
		s := newSite(t, onSQLite(t), passkey.Options{})
		d := s.device(t)
		d.signUp("ada@example.com")
		d.forget()
		d.home()
		d.evaluate(`void auth.passkey.signIn({ redirectTo: "/welcome" }) ?? ""`)
		d.waitFor("welcomed", `location.pathname === "/welcome"`)
		d.waitFor("signed in", fmt.Sprintf(signedIn, "ada@example.com"))
	})
	t.Run("pintle ends a ceremony when the next begins", func(t *testing.T) {
		s := newSite(t, onSQLite(t), passkey.Options{})
		d := s.device(t)
		d.signUp("ada@example.com")
		d.forget()
		d.home()
		d.present(false)
		d.evaluate(`globalThis.first = auth.passkey.signIn({ autofill: true }).then(() => "signed in", (e) => e.name), ""`)
		d.begins(1)
		d.present(true)
		d.evaluate(`globalThis.second = auth.passkey.signIn({ redirect: false }).then((r) => String(r.ok)), ""`)
		if first := d.evaluate(`first`); first != "AbortError" {
			t.Errorf("the first ceremony ended with %s", first)
		}
		if ok := d.evaluate(`second`); ok != "true" || d.who() != "ada@example.com" {
			t.Errorf("the second: %s, signed in %q", ok, d.who())
		}
	})
}

func TestASecondDevice(t *testing.T) {
	eachStore(t, func(t *testing.T, s *site) {
		all := s.devices(t, 2)
		first, second := all[0], all[1]
		first.signUp("ada@example.com")
		first.attach(securityKey)
		if code := first.send(first.answer(`{action: "register"}`)); code != "" {
			t.Fatalf("register it: %q; log:\n%s", code, s.log.String())
		}
		first.give(second, first.credentials()[0])

		second.home()
		if code := second.send(second.answer(`{}`)); code != "" || second.who() != "ada@example.com" {
			t.Errorf("at the second device: %q, signed in %q; log:\n%s", code, second.who(), s.log.String())
		}
		if _, passkeys := s.user("ada@example.com"); len(passkeys) != 2 {
			t.Errorf("Ada has %d passkeys, want 2", len(passkeys))
		}
	})
}

func TestARemovedPasskey(t *testing.T) {
	eachStore(t, func(t *testing.T, s *site) {
		d := s.device(t)
		d.signUp("ada@example.com")
		user, passkeys := s.user("ada@example.com")
		d.forget()
		d.home()
		a := d.answer(`{}`)
		// As an operator does: users cannot remove their last passkey themselves.
		if err := s.store.DeletePasskey(t.Context(), user.ID, passkeys[0].CredentialID); err != nil {
			t.Fatal(err)
		}
		if code := d.send(a); code != "WebAuthnVerificationError" || d.who() != "" {
			t.Errorf("error %q, signed in %q", code, d.who())
		}
		// The page leads to an explanation.
		d.open("/auth/signin?callbackUrl=/")
		d.waitFor("told", `location.pathname === "/auth/error" && document.body.innerText.includes("Your passkey was not accepted")`)
	})
}

// WA-4: another origin of the same domain forwards all messages (phishing). Only
// the origin in the client data of the browser reveals it.
func TestAnotherOriginInBetween(t *testing.T) {
	eachStore(t, func(t *testing.T, s *site) {
		d := s.device(t)
		d.signUp("ada@example.com")
		d.forget()

		target, err := url.Parse(s.url)
		if err != nil {
			t.Fatal(err)
		}
		proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = target.Host
			// An attacker's proxy removes what would give it away before the ceremony.
			for _, name := range []string{"Origin", "Referer", "Sec-Fetch-Site"} {
				r.Out.Header.Del(name)
			}
		}})
		defer proxy.Close()
		evil := strings.Replace(proxy.URL, "127.0.0.1", "localhost", 1)

		d.do("fall for it", chromedp.Navigate(evil+"/"))
		d.waitFor("ready", `document.documentElement.dataset.ready === "..."`)
		for _, parameters := range []string{`{}`, `{email: "eve@example.com"}`} {
			if code := d.send(d.answer(parameters)); code != "WebAuthnVerificationError" || d.who() != "" {
				t.Errorf("%s: error %q, signed in %q", parameters, code, d.who())
			}
		}
		if !s.logged(evil) {
			t.Error("the log does not name the origin of the responses")
		}
	})
}

func TestAnswersThatWereCopiedOrChanged(t *testing.T) {
	eachStore(t, func(t *testing.T, s *site) {
		all := s.devices(t, 2)
		d, thief := all[0], all[1]
		d.home()
		thief.home()

		// W-37, for both ceremonies.
		for _, ceremony := range []struct{ name, parameters string }{
			{"a registration", `{email: "ada@example.com"}`},
			{"an assertion", `{action: "authenticate"}`},
		} {
			a := d.answer(ceremony.parameters)
			copied := d.cookie("authjs.challenge")
			if code := d.send(a); code != "" {
				t.Fatalf("%s: %q; log:\n%s", ceremony.name, code, s.log.String())
			}
			thief.setCookie("authjs.challenge", copied)
			if code := thief.send(a); code == "" || thief.who() != "" {
				t.Errorf("W-37: %s that was replayed: %q, signed in %q", ceremony.name, code, thief.who())
			}
		}

		d.forget()
		for _, change := range []struct{ id, old, new string }{
			{"WA-12", `"crossOrigin":false`, `"crossOrigin":false ,"x":1`},
			{"WA-3", `"challenge":"`, `"challenge":"A`},
			{"WA-4", s.url, "https://evil.example"},
			{"WA-2", "webauthn.get", "webauthn.create"},
		} {
			a := spoil(t, d.answer(`{}`), change.old, change.new)
			if code := d.send(a); code != "WebAuthnVerificationError" || d.who() != "" {
				t.Errorf("%s: client data with %s: %q, signed in %q", change.id, change.new, code, d.who())
			}
		}
		for _, change := range []struct{ id, old, new string }{
			{"WA-3", `"challenge":"`, `"challenge":"A`},
			{"WA-4", s.url, "https://evil.example"},
			{"WA-2", "webauthn.create", "webauthn.get"},
		} {
			d.attach(platform)
			a := spoil(t, d.answer(`{email: "eve@example.com"}`), change.old, change.new)
			if code := d.send(a); code != "WebAuthnVerificationError" || d.who() != "" {
				t.Errorf("%s: client data of a registration with %s: %q, signed in %q", change.id, change.new, code, d.who())
			}
		}
	})
}

func TestAuthenticatorsThatMisbehave(t *testing.T) {
	eachStore(t, func(t *testing.T, s *site) {
		d := s.device(t)
		d.signUp("ada@example.com")
		d.forget()
		yes := true
		for name, override := range map[string]webauthn.SetResponseOverrideBitsParams{
			"WA-12 a bogus signature": {IsBogusSignature: &yes},
			"WA-6 user not verified":  {IsBadUV: &yes},
			"WA-6 user not present":   {IsBadUP: &yes},
		} {
			override.AuthenticatorID = d.key
			command(d, webauthn.SetResponseOverrideBits, override)
			if code := d.send(d.answer(`{}`)); code != "WebAuthnVerificationError" || d.who() != "" {
				t.Errorf("%s: error %q, signed in %q", name, code, d.who())
			}
		}
		command(d, webauthn.SetResponseOverrideBits, webauthn.SetResponseOverrideBitsParams{AuthenticatorID: d.key})

		// WA-13: a copy of the passkey that was used less often.
		for range 3 {
			if code := d.send(d.answer(`{}`)); code != "" {
				t.Fatalf("error %q; log:\n%s", code, s.log.String())
			}
			d.forget()
		}
		count := 1.0
		command(d, webauthn.SetCredentialProperties, webauthn.SetCredentialPropertiesParams{
			AuthenticatorID: d.key, CredentialID: d.credentials()[0].CredentialID, SignCount: &count,
		})
		if code := d.send(d.answer(`{}`)); code != "WebAuthnVerificationError" || d.who() != "" {
			t.Errorf("WA-13: error %q, signed in %q", code, d.who())
		}
		if s.clones != 1 {
			t.Errorf("WA-13: %d clones were reported, want 1", s.clones)
		}
	})
}

// WA-11: a signed-in user uses the passkey of another user.
func TestThePasskeyOfAnotherUser(t *testing.T) {
	eachStore(t, func(t *testing.T, s *site) {
		all := s.devices(t, 2)
		ada, bob := all[0], all[1]
		ada.signUp("ada@example.com")
		bob.signUp("bob@example.com")
		ada.forget()
		a := ada.answer(`{}`)
		bob.setCookie("authjs.challenge", ada.cookie("authjs.challenge"))
		if code := bob.send(a); code != "AccountNotLinked" || bob.who() != "bob@example.com" {
			t.Errorf("error %q, signed in %q", code, bob.who())
		}
		if _, passkeys := s.user("bob@example.com"); len(passkeys) != 1 {
			t.Errorf("Bob has %d passkeys", len(passkeys))
		}
	})
}
