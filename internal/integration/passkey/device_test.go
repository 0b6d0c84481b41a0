package passkey_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/pintleauth/pintle/internal/integration/services"
)

// pageTimeout is how long a user waits.
const pageTimeout = 30 * time.Second

// A device is a browser with its own cookies and authenticator. A step that fails
// ends the test.
type device struct {
	t   *testing.T
	s   *site
	ctx context.Context
	key webauthn.AuthenticatorID
}

// devices returns as many new devices.
func (s *site) devices(t *testing.T, n int) []*device {
	t.Helper()
	browser := services.SharedChromium(t)
	var all []*device
	for range n {
		ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
		t.Cleanup(cancel)
		d := &device{t: t, s: s, ctx: ctx}
		d.do("open a tab")
		command(d, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: countAsked})
		d.attach(platform)
		all = append(all, d)
	}
	return all
}

func (s *site) device(t *testing.T) *device {
	t.Helper()
	return s.devices(t, 1)[0]
}

// countAsked counts in globalThis.asked how often a script requested a passkey.
const countAsked = `
globalThis.asked = 0
const get = CredentialsContainer.prototype.get
CredentialsContainer.prototype.get = function (...options) {
	asked++
	return get.apply(this, options)
}`

// The kinds of authenticators. Each has a virtual user who touches it and is
// verified.
var (
	platform = webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
		HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
	}
	platformWithoutMemory = webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
		HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
	}
	securityKey = webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportUsb,
		HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
	}
	securityKeyWithoutPIN = webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportUsb,
		HasResidentKey: true, AutomaticPresenceSimulation: true,
	}
	securityKeyOfLongAgo = webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolU2f, Transport: webauthn.AuthenticatorTransportUsb,
		AutomaticPresenceSimulation: true,
	}
)

// attach gives the device a new authenticator in place of the one it had.
func (d *device) attach(o webauthn.VirtualAuthenticatorOptions) {
	d.t.Helper()
	if d.key != "" {
		command(d, webauthn.RemoveVirtualAuthenticator, webauthn.RemoveVirtualAuthenticatorParams{AuthenticatorID: d.key})
	}
	command(d, webauthn.Enable, webauthn.EnableParams{})
	d.key = command(d, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &o}).AuthenticatorID
}

// present sets whether a virtual user touches the authenticator. A change does not
// affect a ceremony that has begun.
func (d *device) present(yes bool) {
	d.t.Helper()
	command(d, webauthn.SetAutomaticPresenceSimulation, webauthn.SetAutomaticPresenceSimulationParams{AuthenticatorID: d.key, Enabled: yes})
}

// begins waits until the browser has sent the nth request of a script to the
// authenticator. No event reports that, but the browser handles a later request of
// the same kind after it.
func (d *device) begins(n int) {
	d.t.Helper()
	d.waitFor("requesting a passkey", fmt.Sprintf(`asked === %d`, n))
	for range 10 {
		d.evaluate(`PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable().then(String)`)
		d.credentials()
	}
}

// credentials are those the authenticator holds.
func (d *device) credentials() []*webauthn.Credential {
	d.t.Helper()
	return command(d, webauthn.GetCredentials, webauthn.GetCredentialsParams{AuthenticatorID: d.key}).Credentials
}

// addCredential is webauthn.AddCredential without the members that Chromium rejects
// for most authenticators, with any value.
var addCredential = cdp.Command[addCredentialParams, cdp.Empty]{Method: webauthn.CommandAddCredential}

type addCredentialParams struct {
	AuthenticatorID webauthn.AuthenticatorID `json:"authenticatorId"`
	Credential      struct {
		ID         []byte  `json:"credentialId"`
		Resident   bool    `json:"isResidentCredential"`
		RPID       string  `json:"rpId"`
		PrivateKey []byte  `json:"privateKey"`
		UserHandle []byte  `json:"userHandle"`
		SignCount  float64 `json:"signCount"`
	} `json:"credential"`
}

// give copies a credential into the authenticator of another device, as the
// cloud of a password manager does.
func (d *device) give(other *device, c *webauthn.Credential) {
	d.t.Helper()
	params := addCredentialParams{AuthenticatorID: other.key}
	params.Credential.ID, params.Credential.Resident, params.Credential.RPID = c.CredentialID, c.IsResidentCredential, c.RpID
	params.Credential.PrivateKey, params.Credential.UserHandle, params.Credential.SignCount = c.PrivateKey, c.UserHandle, c.SignCount
	command(other, addCredential, params)
}

func command[P, R any](d *device, c cdp.Command[P, R], params P) R {
	d.t.Helper()
	r, err := chromedp.Call(d.ctx, c, params)
	if err != nil {
		d.t.Fatalf("%s: %v", c.Method, err)
	}
	return r
}

func (d *device) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.ctx, pageTimeout)
	defer cancel()
	if len(steps) == 0 {
		ctx = d.ctx // which begins the life of the tab
	}
	if err := chromedp.Do(ctx, steps...); err != nil {
		d.t.Fatalf("%s: %v; log:\n%s", what, err, d.s.log.String())
	}
}

// open opens a page of the site.
func (d *device) open(path string) {
	d.t.Helper()
	d.do("open "+path, chromedp.Navigate(d.s.url+path))
}

// home opens the page with the scripts, when they are ready.
func (d *device) home() {
	d.t.Helper()
	d.open("/")
	d.waitFor("ready", `document.documentElement.dataset.ready === "..."`)
}

// waitFor waits until a condition, written in JavaScript, is true. It fails on a
// page that is being left, and is evaluated again on the next one.
func (d *device) waitFor(what, condition string) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.ctx, pageTimeout)
	defer cancel()
	var err error
	for ctx.Err() == nil {
		if _, err = chromedp.Run(ctx, chromedp.Poll[bool]("!!("+condition+")", chromedp.WithPollingInterval(10*time.Millisecond), chromedp.WithPollingTimeout(pageTimeout))); err == nil {
			return
		}
	}
	d.t.Fatalf("never %s: %v; the page at %s shows:\n%s\nlog:\n%s", what, err, d.evaluate("location.href"), d.evaluate("document.body.innerText"), d.s.log.String())
}

// press presses a button and type fills in a field.
func (d *device) press(label string) {
	d.t.Helper()
	d.do("press "+label, chromedp.Click(fmt.Sprintf(`//button[contains(normalize-space(.), %q)]`, label)))
}

func (d *device) fill(field, text string) {
	d.t.Helper()
	d.do("fill in "+field, chromedp.Focus(fmt.Sprintf(`input[name=%q]`, field), chromedp.NodeVisible), chromedp.KeyEvent(text))
}

// evaluate returns the value of a script, or of its promise.
func (d *device) evaluate(script string) string {
	d.t.Helper()
	text, err := d.try(script)
	if err != nil {
		d.t.Fatalf("%s: %v; log:\n%s", script, err, d.s.log.String())
	}
	return text
}

func (d *device) try(script string) (string, error) {
	ctx, cancel := context.WithTimeout(d.ctx, pageTimeout)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[string](script, chromedp.EvalAwaitPromise))
}

// who returns the address of the signed-in user, or "".
func (d *device) who() string {
	d.t.Helper()
	return d.evaluate(`fetch("/auth/session").then(r => r.json()).then(s => s?.user?.email ?? "")`)
}

// An answered ceremony is the browser's response to options, before it is sent.
type answered struct {
	Action string `json:"action"`
	Data   string `json:"data"`
}

// answer answers options with @simplewebauthn/browser, without sending it.
func (d *device) answer(parameters string) answered {
	d.t.Helper()
	var a answered
	if err := json.Unmarshal([]byte(d.evaluate(`answer(`+parameters+`).then(JSON.stringify)`)), &a); err != nil {
		d.t.Fatal(err)
	}
	return a
}

// send sends a response and returns the error code of the server.
func (d *device) send(a answered) string {
	d.t.Helper()
	form, err := json.Marshal(a)
	if err != nil {
		d.t.Fatal(err)
	}
	return d.codeOf(d.evaluate(`send(` + string(form) + `)`))
}

func (d *device) codeOf(target string) string {
	d.t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		d.t.Fatal(err)
	}
	return u.Query().Get("error")
}

// tries signs in, if the browser finds a passkey, and returns the signed-in user.
func (d *device) tries(parameters string) string {
	d.t.Helper()
	if _, err := d.try(`answer(` + parameters + `).then(send)`); err != nil && !strings.Contains(err.Error(), "NotAllowedError") {
		d.t.Fatal(err)
	}
	return d.who()
}

// signUp registers a passkey for a new user.
func (d *device) signUp(email string) {
	d.t.Helper()
	d.home()
	if code := d.send(d.answer(fmt.Sprintf(`{email: %q}`, email))); code != "" {
		d.t.Fatalf("%s cannot sign up: %s; log:\n%s", email, code, d.s.log.String())
	}
	if who := d.who(); who != email {
		d.t.Fatalf("%q is signed in, want %s", who, email)
	}
}

// forget deletes the cookies of the device.
func (d *device) forget() {
	d.t.Helper()
	command(d, network.ClearBrowserCookies, cdp.Empty{})
}

// cookie returns a cookie of the site.
func (d *device) cookie(name string) string {
	d.t.Helper()
	for _, c := range command(d, network.GetCookies, network.GetCookiesParams{URLs: []string{d.s.url}}).Cookies {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

func (d *device) setCookie(name, value string) {
	d.t.Helper()
	command(d, network.SetCookie, network.SetCookieParams{Name: name, Value: value, URL: d.s.url})
}

// withScripts turns JavaScript on or off.
func (d *device) withScripts(on bool) {
	d.t.Helper()
	command(d, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
}

// spoil changes a text in the client data of an answer.
func spoil(t *testing.T, a answered, old, replacement string) answered {
	t.Helper()
	var data map[string]any
	if err := json.Unmarshal([]byte(a.Data), &data); err != nil {
		t.Fatal(err)
	}
	response := data["response"].(map[string]any)
	text := decode(t, response["clientDataJSON"].(string))
	changed := strings.Replace(text, old, replacement, 1)
	if changed == text {
		t.Fatalf("the client data %s has no %s", text, old)
	}
	response["clientDataJSON"] = encode(changed)
	encoded, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return answered{a.Action, string(encoded)}
}
