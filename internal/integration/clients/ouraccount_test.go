package clients_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/pintleauth/pintle/passkey"
)

// runs runs a script of the page with the functions of the account, and returns what it returns.
func (p *tab) runs(script string) string {
	p.t.Helper()
	got, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](`import("/account.js").then(async ({ connectAccount, StepUpError, RequestError }) => {
		const account = connectAccount({ basePath: "/api/auth" })
		`+script+`
	}).then(String)`, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", script, err)
	}
	return got
}

// signsInByPassword signs in on the built-in page, and waits for the one after it.
func (p *tab) signsInByPassword(s *site) {
	p.t.Helper()
	p.open(s.url + "/api/auth/signin?callbackUrl=/welcome")
	p.fill("email", "mary@example.com")
	p.fill("password", "ammonite and belemnite")
	p.press("Sign in with password")
	p.waitFor("signed in", `location.pathname === "/welcome" && document.readyState === "complete"`)
}

// Our client changes an account as the pages do, and is told the same.
func TestOurClientChangesAnAccount(t *testing.T) {
	for _, sessions := range []string{"token", "database"} {
		t.Run(sessions, func(t *testing.T) {
			s := newAccountsSite(t, build(t), sessions)
			p := newBrowser(t).openTab(t, "one")
			p.signsInByPassword(s)
			p.open(s.url + "/pintle.html")
			for _, step := range []struct{ does, script, want string }{
				{"reads the account", `const me = await account.me(); return [me.user.email, me.password.set, me.factors.length, me.accounts[0].provider]`, "mary@example.com,true,0,idp"},
				{"a name that is none", `const done = await account.profile.update({ name: "" }); return [done.error, done.fields.name]`, "invalid_name,invalid_name"},
				{"a name", `return (await account.profile.update({ name: "Mary" })).next.endsWith("/account/profile?notice=profile_changed")`, "true"},
				{"a picture", `
					const canvas = new OffscreenCanvas(3, 2);
					canvas.getContext("2d");
					const done = await account.profile.upload(await canvas.convertToBlob());
					return [done.error, (await account.me()).user.image]`, ",/pictures/3x2.png"},
				{"a picture that is none", `const done = await account.profile.upload(new Blob(["<svg/>"])); return [done.error, done.fields.picture]`, "invalid,invalid"},
				{"a wrong password", `return (await account.password.change("x", "ichthyosaur and plesiosaur")).error`, "wrong_password"},
				{"a short password", `const done = await account.password.change("ammonite and belemnite", "x"); return [done.error, done.min]`, "password_too_short,15"},
				{"the password", `return (await account.password.change("ammonite and belemnite", "ichthyosaur and plesiosaur")).error`, "undefined"},
				{"the devices", `const list = await account.devices.list(); return [list.devices.length, list.devices[0].current, list.next]`, "1,true,"},
				{"a device that is not there", `return (await account.devices.end("x")).error`, "not_found"},
				{"an account", `
					const [{ provider, providerAccountId }] = (await account.me()).accounts;
					return [(await account.accounts.unlink(provider, providerAccountId)).error, (await account.me()).accounts.length]`, ",0"},
				{"a new key", `const key = await account.factors.addTotp(); return [key.uri.startsWith("otpauth://totp/"), (await account.factors.confirmTotp(key.key, "000")).error]`, "true,code_wrong"},
				{"the data", `const { file } = await account.exportData(); return (await file.text()).includes("mary@example.com")`, "true"},
				{"the data once more", `return (await account.exportData()).error`, "too_many_attempts"},
				{"signed out everywhere", `return (await account.devices.endAll()).next.includes("/signin")`, "true"},
				{"without a session", `return (await account.me()).error`, "signed_out"},
			} {
				if got := p.runs(step.script); got != step.want {
					t.Errorf("%s: %q, want %q", step.does, got, step.want)
				}
			}
		})
	}
}

// A demand that is not met is an error with what the user has to prove, and the functions of
// confirm prove it.
func TestOurClientConfirmsTheUser(t *testing.T) {
	s := newAccountsSite(t, build(t), "database")
	p := newBrowser(t).openTab(t, "one")
	p.signsInByPassword(s)
	p.addsAnApp(s)
	p.open(s.url + "/pintle.html") // whose policy lets scripts run
	codes := p.runs(`const { codes } = await account.factors.newRecoveryCodes(); await account.factors.saveRecoveryCodes(); return codes.join(" ")`)
	if len(codes) < 100 {
		t.Fatalf("the recovery codes are %q", codes)
	}
	p.open(s.url + "/old") // the proofs of this session are of an hour ago
	got := p.runs(`
		let demand;
		try { await account.factors.addTotp() } catch (e) { demand = e }
		const said = [demand instanceof StepUpError, demand.acrValues, demand.maxAge, new URL(demand.url).pathname];
		const { methods } = await account.confirm.methods(demand);
		const wrong = await account.confirm.verify("password", "x", demand);
		const right = await account.confirm.verify("password", "ammonite and belemnite", demand);
		const code = await account.confirm.verify("recovery", "` + codes[:19] + `", demand);
		return [...said, methods.includes("password"), wrong.error, right.error, code.error, (await account.factors.addTotp()).error].join(" ")`)
	if want := "true mfa,phr 600 /api/auth/account/confirm true wrong_password   "; got != want {
		t.Errorf("the user confirms: %q, want %q", got, want)
	}
}

// A passkey that waits for the proof of the address is not added, and the functions of address prove it.
func TestOurClientProvesTheAddress(t *testing.T) {
	s := newAccountsSite(t, build(t), "database", passkey.New(passkey.Options{}))
	p := newBrowser(t).openTab(t, "one")
	p.hasPasskeys()
	p.open(s.url + "/unproven")
	p.open(s.url + "/now")
	p.open(s.url + "/pintle.html")
	for _, call := range []string{`passkey.add()`, `factors.addTotp()`} {
		if got := p.runs(`return (await account.` + call + `).error`); got != "address_unproved" {
			t.Errorf("%s without the proof: %q", call, got)
		}
	}
	p.runs(`await account.address.sendCode()`)
	mail := s.mail.Load()
	if mail == nil {
		t.Fatal("no mail was sent")
	}
	code := regexp.MustCompile(`\b\d{4} \d{4}\b`).FindString(mail.Text)
	got := p.runs(`return [(await account.address.prove("0000 0000")).error, (await account.address.prove("` + code + `")).error,
		(await account.passkey.add()).error, (await account.me()).passkeys.length]`)
	if want := "code_wrong,,,1"; got != want {
		t.Errorf("the address and the passkey: %q, want %q", got, want)
	}
}

// A sign-in that waits for a second factor and for another password goes on by the functions for them.
func TestOurClientGoesOnWithASignInThatWaits(t *testing.T) {
	for _, sessions := range []string{"token", "database"} {
		t.Run(sessions, func(t *testing.T) {
			s := newAccountsSite(t, build(t), sessions)
			p := newBrowser(t).openTab(t, "one")
			p.open(s.url + "/due")
			p.open(s.url + "/api/auth/signin?callbackUrl=/welcome")
			p.fill("email", "mary@example.com")
			p.fill("password", "ammonite and belemnite")
			p.press("Sign in with password")
			p.waitFor("waiting", `location.pathname === "/api/auth/account/enrol" && document.readyState === "complete"`)
			p.open(s.url + "/pintle.html")
			if got := p.runs(`
				const due = await account.enrolment.read();
				await account.enrolment.sendCode();
				return [due.email, due.sent, due.key, (await account.enrolment.prove("0000 0000")).error, (await account.password.replace("x")).error]`); got != "mary@example.com,true,,code_wrong,flow_missing" {
				t.Errorf("before the code: %q", got)
			}
			code := regexp.MustCompile(`\b\d{4} \d{4}\b`).FindString(s.mail.Load().Text)
			secret := p.runs(`
				const done = await account.enrolment.prove("` + code + `");
				window.due = await account.enrolment.read();
				return done.error ?? window.due.secret`)
			for _, step := range []struct{ does, script, want string }{
				{"a wrong code of the app", `return (await account.enrolment.confirmTotp(window.due.key, "000")).error`, "code_wrong"},
				{"a code of the app", `return (await account.enrolment.confirmTotp(window.due.key, "` + codeOfNow(t, strings.ReplaceAll(secret, " ", "")) + `", "Phone")).error`, "undefined"},
				{"the codes", `return (await account.enrolment.read()).codes.length`, "10"},
				{"the codes are saved", `return (await account.enrolment.saveRecoveryCodes()).next.includes("/api/auth/account/must-change?")`, "true"},
				{"no session yet", `return (await account.me()).error`, "signed_out"},
				{"the password as before", `return (await account.password.replace("ammonite and belemnite")).fields.password`, "password_same"},
				{"another password", `return (await account.password.replace("ichthyosaur and plesiosaur")).next.endsWith("/welcome")`, "true"},
				{"the account", `const me = await account.me(); return [me.user.email, me.factors.length, me.factors[0].name, me.recoveryLeft]`, "mary@example.com,1,Phone,10"},
			} {
				if got := p.runs(step.script); got != step.want {
					t.Errorf("%s: %q, want %q", step.does, got, step.want)
				}
			}
		})
	}
}

// A form token that could not be requested is requested again by the next call.
func TestOurClientGoesOnAfterAFailedRequest(t *testing.T) {
	s := newAccountsSite(t, build(t), "database", passkey.New(passkey.Options{}))
	p := newBrowser(t).openTab(t, "one")
	p.hasPasskeys()
	p.open(s.url + "/now")
	p.open(s.url + "/pintle.html")
	for _, call := range []string{`profile.update({ name: "Mary" })`, `exportData()`, `passkey.add()`} {
		s.down.Store(true)
		if got := p.runs(`window.kept = account; return kept.` + call + `.catch((e) => e instanceof RequestError && e.status)`); got != "503" {
			t.Errorf("%s without a form token: %q, want the status 503", call, got)
		}
		s.down.Store(false)
		if got := p.runs(`return (await window.kept.` + call + `).error`); got != "undefined" {
			t.Errorf("%s after a failed request: %q", call, got)
		}
	}
	if got := p.runs(`return (await account.me()).passkeys.length`); got != "1" {
		t.Errorf("the user has %s passkeys, want 1", got)
	}
}

// A form whose token is none any more is sent once more, with another one.
func TestOurClientRequestsAnotherFormToken(t *testing.T) {
	s := newAccountsSite(t, build(t), "database")
	p := newBrowser(t).openTab(t, "one")
	p.open(s.url + "/now")
	p.open(s.url + "/pintle.html")
	for _, call := range []string{`profile.update({ name: "Mary A." })`, `exportData()`} {
		p.runs(`window.kept = account; await kept.profile.update({ name: "Mary" })`)
		setting(p, network.DeleteCookies, network.DeleteCookiesParams{Name: "authjs.csrf-token", URL: s.url})
		if got := p.runs(`return (await window.kept.` + call + `).error`); got != "undefined" {
			t.Errorf("%s without the cookie of its form token: %q", call, got)
		}
	}
}

// hasPasskeys gives the tab an authenticator that verifies its user.
func (p *tab) hasPasskeys() {
	p.t.Helper()
	setting(p, webauthn.Enable, webauthn.EnableParams{})
	setting(p, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
		HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
	}})
}
