package account_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/authtest"
)

// echo is a ceremony whose authenticator answers with the id of the passkey and the
// challenge. Package passkey tests one that signs.
type echo struct {
	verifies bool // its user
}

func (echo) RegistrationOptions(_ context.Context, r *pintle.CeremonyRequest) (json.RawMessage, error) {
	return json.Marshal(map[string]any{
		"challenge": r.Challenge, "required": r.RequireUserVerification, "email": r.User.Email, "name": r.User.Name,
	})
}

func (echo) AuthenticationOptions(_ context.Context, r *pintle.CeremonyRequest) (json.RawMessage, error) {
	return json.Marshal(map[string]any{"challenge": r.Challenge, "required": r.RequireUserVerification})
}

func (e *echo) VerifyRegistration(_ context.Context, r *pintle.CeremonyRequest) (*pintle.Passkey, error) {
	var answer struct{ ID, Challenge string }
	if err := json.Unmarshal(r.Answer, &answer); err != nil || answer.Challenge != r.Challenge {
		return nil, errors.New("the answer is to another challenge")
	}
	return &pintle.Passkey{CredentialID: answer.ID, DeviceType: "singleDevice", UserVerified: e.verifies}, nil
}

func (e *echo) VerifyAuthentication(_ context.Context, r *pintle.CeremonyRequest) (*pintle.Passkey, error) {
	var answer struct{ Challenge string }
	if err := json.Unmarshal(r.Answer, &answer); err != nil || answer.Challenge != r.Challenge {
		return nil, errors.New("the answer is to another challenge")
	}
	used := *r.Passkeys[0]
	used.Counter++
	used.UserVerified = e.verifies
	return &used, nil
}

// withPasskeys gives an application passkeys.
func withPasskeys(e *echo) func(*pintle.Config, *account.Options) {
	return func(c *pintle.Config, _ *account.Options) {
		c.Providers = append(c.Providers, &pintle.WebAuthn{Ceremony: e})
		c.ExperimentalPasskeys = true
	}
}

// passkey gives a user a passkey, and returns its id.
func (s *site) passkey(u *pintle.User) string {
	s.t.Helper()
	id := base64.StdEncoding.EncodeToString([]byte(u.ID))
	account := &pintle.Account{UserID: u.ID, Type: pintle.TypeWebAuthn, Provider: "passkey", ProviderAccountID: id}
	if err := s.store.LinkAccount(s.t.Context(), account); err != nil {
		s.t.Fatal(err)
	}
	key := &pintle.Passkey{CredentialID: id, ProviderAccountID: id, UserID: u.ID, DeviceType: "singleDevice"}
	if err := s.store.CreatePasskey(s.t.Context(), key); err != nil {
		s.t.Fatal(err)
	}
	return id
}

// keys is a user who can confirm in every way that leads to the root.
func (s *site) keys() *pintle.User {
	u := s.seed("keys@example.com", goodPassword, true)
	s.passkey(u)
	s.link(u, "acme")
	return u
}

// answer is what the script of the page posts: the options are those at a path.
func (b *browser) answer(id, path string) (data string, required bool) {
	b.t.Helper()
	page, at := b.page, b.at
	var begun struct {
		Action  string
		Options struct {
			Challenge string
			Required  bool
		}
	}
	if err := json.Unmarshal([]byte(b.get(path).want(http.StatusOK).page), &begun); err != nil || begun.Action != "authenticate" {
		b.t.Fatalf("%s: %v: %s", path, err, b.page)
	}
	b.page, b.at = page, at
	text, err := json.Marshal(map[string]any{"id": id, "challenge": begun.Options.Challenge})
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text), begun.Options.Required
}

// confirmByPasskey does what the script of the page to confirm does.
func (b *browser) confirmByPasskey(id string) *browser {
	b.t.Helper()
	b.isAt("/auth/account/confirm").says(`data-passkey-options="/auth/account/confirm-options"`)
	q := url.Values{}
	pairs := b.fields()
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	data, _ := b.answer(id, "/auth/account/confirm-options?"+q.Encode())
	return b.confirmBy("action", "authenticate", "data", data)
}

// A user who has a passkey and nothing else confirms with it.
func TestAUserWithAPasskeyAloneConfirms(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withPasskeys(&echo{verifies: true}))
		for name, d := range map[string]account.Demand{
			"strongest": strongest, "one": {MaxAge: tenMinutes}, "two": {Level: account.TwoFactors, MaxAge: tenMinutes},
			"resistant": {Level: account.PhishingResistant, MaxAge: tenMinutes},
		} {
			calls := s.demand("/"+name, d)
			u := s.seed(name+"@example.com", "", false)
			id := s.passkey(u)
			b := s.browser().startSession(u, time.Hour, "pop", "user", "mfa")
			b.get("/" + name + "?x=1").isAt("/auth/account/confirm")
			for _, want := range []string{"Use a passkey", "<noscript>", "data-passkey-failed hidden", "<script>"} {
				b.says(want)
			}
			if csp := b.header.Get("Content-Security-Policy"); !strings.Contains(csp, "; script-src 'sha256-") || !strings.Contains(csp, "connect-src 'self'") {
				t.Errorf("the policy is %q", csp)
			}
			if b.confirmByPasskey(id).isAt("/" + name).says("done GET x=1"); *calls != 1 {
				t.Errorf("%s: the page was reached %d times", name, *calls)
			}
			b.isSignedInAs(u.Email)
		}
	})
}

// AC-115: a passkey that does not verify its user is a second factor beside a password, and is
// asked to verify where it is alone.
func TestAPasskeyThatDoesNotVerifyItsUserIsASecondFactor(t *testing.T) {
	s := newSite(t, false, withPasskeys(&echo{}))
	calls := s.demand("/danger", strongest)
	u := s.seed("ada@example.com", goodPassword, true)
	id := s.passkey(u)
	b := s.browser().startSession(u, time.Hour, "pwd")
	if _, required := b.get("/danger").answer(id, "/auth/account/confirm-options?acr_values=mfa&max_age=600"); !required {
		t.Error("alone it need not verify its user")
	}
	b.confirmByPasskey(id).want(http.StatusUnprocessableEntity).says("The passkey was not accepted.")
	b.get("/danger").get(b.at.String()+"&method=password").confirmBy("password", goodPassword)
	if _, required := b.answer(id, "/auth/account/confirm-options?acr_values=mfa&max_age=600"); required {
		t.Error("beside a password it has to verify its user")
	}
	if b.confirmByPasskey(id).isAt("/danger").says("done"); *calls != 1 {
		t.Errorf("the page was reached %d times", *calls)
	}
}

// AT-57, AC-115: an answer for a sign-in, of another user, or of a challenge before.
func TestAForeignAnswerOfAPasskeyConfirmsNothing(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withPasskeys(&echo{verifies: true}))
		calls := s.demand("/danger", strongest)
		ada, bob := s.seed("ada@example.com", "", false), s.seed("robert@example.com", "", false)
		id, other := s.passkey(ada), s.passkey(bob)
		b := s.browser().startSession(ada, time.Hour, "pop", "user", "mfa")
		const options = "/auth/account/confirm-options"
		signIn, _ := b.get("/danger").answer(id, "/auth/webauthn-options/passkey?action=authenticate")
		b.confirmBy("data", signIn).want(http.StatusUnprocessableEntity)
		before, _ := b.get("/danger").answer(id, options)
		foreign, _ := b.answer(other, options)
		for _, data := range []string{foreign, before, "", "{}", "null"} {
			if b.confirmBy("data", data); b.status == http.StatusOK {
				t.Errorf("%q was answered with status %d", data, b.status)
			}
			b.get("/danger").isAt("/auth/account/confirm")
		}
		// The answer to a confirmation does not sign in.
		data, _ := b.answer(id, options)
		b.post("/auth/callback/passkey", "action", "authenticate", "data", data)
		b.get("/danger").isAt("/auth/account/confirm")
		if *calls != 0 {
			t.Error("the page was reached")
		}
		b.isSignedInAs("ada@example.com")
		s.browser().get(options).want(http.StatusUnauthorized)
	})
}

// acme is an identity provider, and a change that makes it one of the application.
func acme(t *testing.T) (*authtest.IdentityProvider, func(*pintle.Config, *account.Options)) {
	t.Helper()
	idp := authtest.NewIdentityProvider(authtest.Options{AutoConsent: true})
	server := httptest.NewServer(idp)
	t.Cleanup(server.Close)
	idp.Issuer = server.URL
	return idp, func(c *pintle.Config, _ *account.Options) {
		c.Providers, c.HTTPClient = append(c.Providers, idp.OIDC("acme")), server.Client()
	}
}

// signsInAt links the account of a user at the provider, who signs in there from now on.
func (s *site) signsInAt(idp *authtest.IdentityProvider, u *pintle.User) {
	s.t.Helper()
	s.link(u, "acme")
	idp.SignInAs(authtest.Person{Subject: "1 " + u.ID, Email: u.Email})
}

// AC-147: a user who has an account of a provider and nothing else confirms there, also at one
// that remembers its user: it is told to ask.
func TestAUserOfAnOpenIDProviderConfirmsThere(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		idp, withAcme := acme(t)
		idp.Break(authtest.RemembersItsUser)
		s := newSite(t, tokens, withAcme)
		calls := s.demand("/danger", strongest)
		u := s.seed("ada@example.com", "", false)
		s.signsInAt(idp, u)
		b := s.browser().startSession(u, time.Hour, "fed")
		b.get("/danger?x=1").isAt("/auth/account/confirm").says("Continue with Test identity provider")
		if b.confirmBy().isAt("/danger").says("done GET x=1"); *calls != 1 {
			t.Errorf("the page was reached %d times", *calls)
		}
		// With a second factor, the page asks for that next.
		code := s.app(u)
		b.startSession(u, time.Hour, "fed", "otp").get("/danger").confirmBy().isAt("/auth/account/confirm").says("Code of the app")
		if b.at.Query().Get("from") != "acme" {
			t.Errorf("the browser went round by the page: it is at %s", b.at)
		}
		b.confirmBy("code", code()).isAt("/danger").says("done")
	})
}

// AT-72, AC-147: a redirect that did not ask the user shows only that a browser has a session
// there.
func TestAProviderThatDoesNotAskItsUserConfirmsNothing(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		idp, withAcme := acme(t)
		s := newSite(t, tokens, withAcme, withGitHub)
		calls := s.demand("/danger", strongest)
		u := s.seed("ada@example.com", "", false)
		s.signsInAt(idp, u)
		b := s.browser().startSession(u, time.Hour, "fed")
		for name, change := range map[string]func(){
			"no auth_time":     func() { idp.Break(authtest.IDTokenWithoutAuthTime) },
			"an old auth_time": func() { idp.Break(authtest.IDTokenOldAuthTime) },
			"another user":     func() { idp.SignInAs(authtest.Person{Subject: "eve"}) },
		} {
			change()
			b.get("/danger?x=1").confirmBy().isAt("/auth/account/confirm").want(http.StatusOK).says("did not confirm that it is you")
			b.says("Continue with Test identity provider").says("Sign in again to confirm that it is you.").isSignedInAs("ada@example.com")
			if b.get("/danger").isAt("/auth/account/confirm"); *calls != 0 {
				t.Fatalf("%s: the page was reached", name)
			}
			idp.Repair()
		}
		// One that speaks OAuth 2 alone is not offered, and not taken.
		s.link(u, "github")
		b.get("/danger")
		if strings.Contains(b.page, "GitHub") {
			t.Errorf("the page offers GitHub: %s", b.text())
		}
		b.confirmBy("method", "provider:github").want(http.StatusUnprocessableEntity)
		s.browser().startSession(s.seed("bob@example.com", "", false), time.Hour, "fed").
			get("/danger").post("/auth/account/confirm", "method", "provider:acme").want(http.StatusUnprocessableEntity)
	})
}

// A user whose only provider never says when its user has signed in gets on by a new sign-in.
func TestASignInConfirmsWhereTheProviderCannot(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		idp, withAcme := acme(t)
		s := newSite(t, tokens, withAcme, func(_ *pintle.Config, o *account.Options) {
			o.Passwords.Off, o.SecondFactor.Off = true, true
		})
		calls := s.demand("/danger", account.Demand{MaxAge: tenMinutes})
		u := s.seed("ada@example.com", "", false)
		s.signsInAt(idp, u)
		idp.Break(authtest.IDTokenWithoutAuthTime)
		b := s.browser().startSession(u, time.Hour, "fed").get("/danger").confirmBy().isAt("/auth/account/confirm")
		link := regexp.MustCompile(`href="([^"]*/auth/signin[^"]*)"[^>]*>Sign in<`).FindStringSubmatch(b.page)
		if link == nil {
			t.Fatalf("the page leads to no sign-in: %s", b.text())
		}
		b.get(html.UnescapeString(link[1])).isAt("/auth/signin")
		if b.post("/auth/signin/acme", "callbackUrl", "/danger").isAt("/danger").isSignedInAs("ada@example.com"); *calls == 0 {
			t.Error("the user does not reach the page")
		}
	})
}

var mainButton = regexp.MustCompile(`class="(?:button )?primary"[^>]*>([^<]*)<`)

// The main button of the page to confirm is one that can work after a provider has not confirmed
// the user.
func TestAProviderThatDidNotConfirmIsNoLongerTheMainWay(t *testing.T) {
	const provider, signIn = "Continue with Test identity provider", "Sign in"
	offs := func(_ *pintle.Config, o *account.Options) { o.Passwords.Off, o.SecondFactor.Off = true, true }
	trusted := func(_ *pintle.Config, o *account.Options) { o.SecondFactor.SkipFor = []string{"acme"} }
	for name, tt := range map[string]struct {
		change func(*pintle.Config, *account.Options)
		proven bool
		demand account.Demand
		want   string
		links  []string // besides
	}{
		"nothing else":    {offs, false, account.Demand{MaxAge: tenMinutes}, signIn, nil},
		"a mail":          {offs, true, account.Demand{MaxAge: tenMinutes}, "Send me a code by mail", []string{"Use Test identity provider"}},
		"a factor to add": {trusted, false, account.Demand{Level: account.TwoFactors, MaxAge: tenMinutes}, "Add an authenticator app", []string{">Sign in<"}},
	} {
		idp, withAcme := acme(t)
		s := newSite(t, false, withAcme, tt.change)
		s.demand("/danger", tt.demand)
		u := s.seed(ada, "", tt.proven)
		s.signsInAt(idp, u)
		b := s.browser().sessionFrom("acme", u)
		mains := func(want string, links ...string) {
			t.Helper()
			if found := mainButton.FindAllStringSubmatch(b.page, -1); len(found) != 1 || found[0][1] != want {
				t.Errorf("%s: the main buttons are %q, want %q", name, found, want)
			}
			for _, link := range links {
				b.says(link)
			}
		}
		b.get("/danger").isAt("/auth/account/confirm")
		mains(provider)
		idp.Break(authtest.IDTokenWithoutAuthTime)
		b.confirmBy().isAt("/auth/account/confirm").says("did not confirm that it is you")
		mains(tt.want, append(tt.links, "Test identity provider")...)
	}
}

// sessionFrom gives the browser a session that began at a provider an hour ago.
func (b *browser) sessionFrom(provider string, u *pintle.User) *browser {
	b.t.Helper()
	return b.startSessionBy(b.auth, u, pintle.Authentication{Time: time.Now().Add(-time.Hour), Provider: provider, Methods: []string{"fed"}})
}

// A provider that the application trusts may prove two factors, in a session that began
// there.
func TestATrustedProviderMayProveTwoFactors(t *testing.T) {
	idp, withAcme := acme(t)
	s := newSite(t, false, withAcme, func(_ *pintle.Config, o *account.Options) { o.SecondFactor.SkipFor = []string{"acme"} })
	s.demand("/danger", account.Demand{Level: account.TwoFactors, MaxAge: tenMinutes})
	u := s.seed("ada@example.com", "", false)
	s.signsInAt(idp, u)
	b := s.browser().sessionFrom("acme", u)
	b.get("/danger").says("Continue with Test identity provider").says("/auth/account/totp")
	b.confirmBy().isAt("/auth/account/confirm").says("Continue with Test identity provider")
	idp.Tamper(authtest.Tamper{IDToken: func(_, claims map[string]any) { claims["amr"] = []string{"mfa"} }})
	b.confirmBy().isAt("/danger").says("done")

	b = s.browser().sessionFrom("other", u)
	b.get("/danger").isAt("/auth/account/confirm").says("needs a second factor")
	b.get("/auth/account/confirm?acr_values=1fa&max_age=600").confirmBy()
	b.get("/danger").isAt("/auth/account/confirm")
}

// SH-72, AC-147: what the page offers is what the user has, the best first.
func TestTheWaysToConfirmAreThoseThatTheUserHas(t *testing.T) {
	_, withAcme := acme(t)
	s := newSite(t, false, withAcme, withPasskeys(&echo{verifies: true}))
	n := 0
	for _, tt := range []struct {
		has, fresh string
		demand     string
		want       []any
	}{
		{"password", "", "1fa", []any{"password"}},
		{"password passkey", "", "1fa", []any{"password", "passkey"}},
		{"provider", "", "1fa", []any{"provider:acme"}},
		{"provider mailbox", "", "1fa", []any{"provider:acme", "mail"}},
		{"password passkey provider app", "", "1fa", []any{"password", "passkey", "provider:acme", "totp"}},
		{"password", "", "mfa", []any{}},
		{"provider", "", "mfa", []any{}},
		{"password provider app", "", "mfa", []any{"password", "provider:acme"}},
		{"password provider app", "pwd", "mfa", []any{"totp"}},
		{"password provider app", "fed", "mfa", []any{"totp"}},
		{"password provider app passkey", "fed", "mfa", []any{"passkey", "totp"}},
		{"password passkey", "", "mfa", []any{"passkey", "password"}},
		{"password passkey", "pwd", "mfa", []any{"passkey"}},
		{"provider passkey", "", "mfa", []any{"passkey"}},
		{"provider passkey mailbox", "", "mfa", []any{"passkey", "mail"}},
		{"password app passkey", "pwd otp", "phr", []any{"passkey"}},
		{"password app", "pwd otp", "phr", []any{}},
	} {
		n++
		email := strings.Repeat("x", n) + "@example.com"
		password := ""
		if strings.Contains(tt.has, "password") {
			password = goodPassword
		}
		u := s.seed(email, password, strings.Contains(tt.has, "mailbox"))
		if strings.Contains(tt.has, "passkey") {
			s.passkey(u)
		}
		if strings.Contains(tt.has, "provider") {
			s.link(u, "acme")
		}
		if strings.Contains(tt.has, "app") {
			s.app(u)
		}
		b := s.browser().startSession(u, time.Hour, "pwd")
		if tt.fresh != "" {
			b.startSession(u, 0, strings.Fields(tt.fresh)...)
		}
		answer := b.script(http.MethodGet, "/auth/account/confirm?max_age=600&acr_values="+tt.demand, "").json()
		if !equalJSON(answer["methods"], tt.want) {
			t.Errorf("%q, fresh %q, demand %s: the methods are %v, want %v", tt.has, tt.fresh, tt.demand, answer["methods"], tt.want)
		}
	}
}

// AT-71, SH-72: a passkey is what the user can prove, whatever the session knows. An account
// without its passkey is none.
func TestAPasskeyIsPartOfTheStrongestProof(t *testing.T) {
	s := newSite(t, false, withPasskeys(&echo{verifies: true}))
	s.demand("/danger", strongest)
	u := s.seed("ada@example.com", goodPassword, true)
	b := s.browser().startSession(u, 0, "pwd")
	s.link(u, "passkey")
	b.get("/danger").isAt("/danger").says("done")
	id := s.passkey(u)
	if session := b.script(http.MethodGet, "/auth/account/me", "").json()["session"].(map[string]any); session["fresh"] != false {
		t.Errorf("the session is %v", session)
	}
	b.get("/danger").isAt("/auth/account/confirm").confirmByPasskey(id).says("done")
	if session := b.script(http.MethodGet, "/auth/account/me", "").json()["session"].(map[string]any); session["fresh"] != true {
		t.Errorf("after the confirmation the session is %v", session)
	}
}

// A script of the application confirms by JSON.
func TestAScriptConfirmsWithAPasskey(t *testing.T) {
	s := newSite(t, true, withPasskeys(&echo{verifies: true}))
	u := s.seed("ada@example.com", "", false)
	id := s.passkey(u)
	b := s.browser().startSession(u, time.Hour, "pop")
	data, required := b.get("/auth/account").answer(id, "/auth/account/confirm-options")
	if !required {
		t.Error("the authenticator need not verify its user")
	}
	answer := b.postJSON("/auth/account/confirm", map[string]any{"method": "passkey", "data": data, "callbackUrl": "/x"})
	if b.status != http.StatusOK || answer["next"] != s.server.URL+"/x" {
		t.Errorf("the answer is %d %v", b.status, answer)
	}
	answer = b.postJSON("/auth/account/confirm", map[string]any{"method": "passkey", "data": data})
	if b.status != http.StatusUnprocessableEntity || answer["error"] != "passkey_failed" {
		t.Errorf("the same answer once more: %d %v", b.status, answer)
	}
	other := s.browser().startSession(s.seed("bob@example.com", goodPassword, true), time.Hour, "pwd")
	if answer := other.script(http.MethodGet, "/auth/account/confirm-options", "").json(); other.status != http.StatusUnprocessableEntity || answer["error"] != "invalid" {
		t.Errorf("a user without a passkey: %d %v", other.status, answer)
	}
}
