package account_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/authtest"
)

const secondOptions = "/auth/account/second-factor-options"

// byPasskey does what the script of the page of the second factor does.
func (b *browser) byPasskey(id string, pairs ...string) *browser {
	b.t.Helper()
	b.isAt(secondFactor).says(`data-passkey-options="` + secondOptions + `"`)
	data, _ := b.answer(id, secondOptions)
	return b.post(secondFactor, append([]string{"method", "passkey", "action", "authenticate", "data", data}, pairs...)...)
}

// proofs are the methods that the session of a browser records, and its level.
func (b *browser) proofs() (methods []string, level any) {
	b.t.Helper()
	session := b.site.browserWith(b).get("/auth/account/me").json()["session"].(map[string]any)
	for _, method := range session["amr"].([]any) {
		methods = append(methods, method.(string))
	}
	slices.Sort(methods)
	return methods, session["acr"]
}

// AC-104, AC-115
func TestThePageOfTheSecondFactorOffersThePasskeyFirst(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		for _, c := range []struct {
			verifies bool
			methods  string
			level    string
		}{{true, "mfa pop pwd user", "phr"}, {false, "pop pwd user", "mfa"}} {
			s, a, codes := withApp(t, tokens, withPasskeys(&echo{verifies: c.verifies}))
			id := s.passkey(s.user(ada))
			b := s.half().says("Use your passkey").says("<noscript>").says("method=totp").says("method=recovery")
			if csp := b.header.Get("Content-Security-Policy"); !strings.Contains(csp, "connect-src 'self'") {
				t.Errorf("the policy is %q", csp)
			}
			b.byPasskey(id).isAt("/").isSignedInAs(ada)
			if methods, level := b.proofs(); strings.Join(methods, " ") != c.methods || level != c.level {
				t.Errorf("the session has %v and the level %v, want %s and %s", methods, level, c.methods, c.level)
			}
			// The other ways are links.
			s.half().get(secondFactor+"?method=totp").says("Code of the app").says("method=passkey").
				post(secondFactor, "code", a.code(t, 0)).isSignedInAs(ada)
			s.half().get(secondFactor+"?method=recovery").says("Recovery code").post(secondFactor, "method", "recovery", "code", codes[0]).isSignedInAs(ada)
		}
	})
}

// AC-104: which ways a user has is for clients that have given the first proof.
func TestScriptsGetTheMethodsOfTheUser(t *testing.T) {
	s, _, _ := withApp(t, false, withPasskeys(&echo{}))
	methods := func(b *browser) string {
		b.script(http.MethodGet, secondFactor, "")
		var all []string
		for _, m := range b.json()["methods"].([]any) {
			all = append(all, m.(string))
		}
		return strings.Join(all, " ")
	}
	if got := methods(s.half()); got != "totp recovery" {
		t.Errorf("without a passkey: %s", got)
	}
	s.half().get(secondOptions).want(http.StatusUnprocessableEntity)
	id := s.passkey(s.user(ada))
	b := s.half()
	if got := methods(b); got != "passkey totp recovery" {
		t.Errorf("with a passkey: %s", got)
	}
	data, _ := b.answer(id, secondOptions)
	if answer := b.postJSON(secondFactor, map[string]any{"method": "passkey", "data": data}); answer["next"] != s.server.URL+"/" && answer["next"] != s.server.URL {
		t.Errorf("the answer is %v", answer)
	}
	b.isSignedInAs(ada)
	for _, path := range []string{secondFactor, secondOptions} {
		if answer := s.browser().script(http.MethodGet, path, "").want(http.StatusForbidden).json(); answer["error"] != "flow_missing" || answer["methods"] != nil {
			t.Errorf("%s answers %v to a client that has proven nothing", path, answer)
		}
	}
}

// AC-115, 4.1: possession of a key is a second factor beside a password or a mail only.
func TestAPasskeyBesideAProviderVerifiesItsUser(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		e := &echo{}
		s := withAcme(t, tokens, authtest.Person{Subject: "ada", Email: ada}, withPasskeys(e))
		u := s.seed(ada, goodPassword, true)
		if err := s.store.LinkAccount(t.Context(), &pintle.Account{UserID: u.ID, Type: pintle.TypeOIDC, Provider: "acme", ProviderAccountID: "ada"}); err != nil {
			t.Fatal(err)
		}
		id := s.passkey(u)
		s.app(u)
		b := s.browser().get("/auth/signin").post("/auth/signin/acme").isAt(secondFactor)
		data, requires := b.answer(id, secondOptions)
		if !requires {
			t.Error("the options do not require that the authenticator verifies its user")
		}
		b.post(secondFactor, "method", "passkey", "data", data).isAt(secondFactor).isSignedInAs("")
		e.verifies = true
		b.get(secondFactor).byPasskey(id).isSignedInAs(ada)
		b = s.half()
		if _, requires := b.answer(id, secondOptions); requires {
			t.Error("beside a password the options require it")
		}
	})
}

// AC-115: the key with which the sign-in began is no second one.
func TestAPasskeyThatDoesNotVerifyItsUserIsOneFactor(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		e := &echo{}
		s := newSite(t, tokens, withPasskeys(e))
		u := s.seed(ada, goodPassword, true)
		id := s.passkey(u)
		code := s.app(u)
		b := s.browser().get("/auth/signin")
		data, _ := b.answer(id, "/auth/webauthn-options/passkey?action=authenticate")
		b.post("/auth/callback/passkey", "action", "authenticate", "data", data).isAt(secondFactor).isSignedInAs("")
		data, _ = b.answer(id, secondOptions)
		b.post(secondFactor, "method", "passkey", "data", data).isAt(secondFactor).isSignedInAs("")
		b.get(secondFactor).post(secondFactor, "code", code()).isSignedInAs(ada)
	})
}

// AT-57: an answer is for one purpose, one sign-in and one time.
func TestAnAnswerOfAPasskeyCompletesTheSignInItWasMadeFor(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s, _, _ := withApp(t, tokens, withPasskeys(&echo{}))
		u := s.user(ada)
		id := s.passkey(u)
		bob := s.seed("bob@example.com", goodPassword, true)
		bobs := s.passkey(bob)
		refused := func(b *browser, data string) {
			t.Helper()
			b.post(secondFactor, "method", "passkey", "data", data).want(http.StatusUnprocessableEntity).isSignedInAs("")
		}

		b := s.half()
		data, _ := b.answer(id, "/auth/webauthn-options/passkey?action=authenticate")
		refused(b, data) // of a sign-in

		b = s.half()
		data, _ = b.answer(id, secondOptions)
		b.post("/auth/callback/passkey", "action", "authenticate", "data", data).isSignedInAs("")

		b = s.half()
		data, _ = b.answer(bobs, secondOptions)
		refused(b, data) // by the key of another user

		b = s.half()
		data, _ = b.answer(id, secondOptions)
		b.get("/auth/signin").post("/auth/callback/credentials", "email", ada, "password", goodPassword).isAt(secondFactor)
		refused(b, data) // of the sign-in before in this browser

		b = s.half()
		for _, data := range []string{"", "null", "{}", `{"id":"AAAA"}`} {
			refused(b, data)
		}
		b.get(secondFactor).byPasskey(id).isSignedInAs(ada)
		b.post(secondFactor, "method", "passkey", "data", data).want(http.StatusForbidden) // nothing waits

		confirms := s.browser().startSession(u, 0, "pwd")
		data, _ = confirms.answer(id, "/auth/account/confirm-options?acr_values=phr")
		half := s.half()
		for _, c := range confirms.client.Jar.Cookies(confirms.request(http.MethodGet, "/", nil).URL) {
			if c.Name == "authjs.challenge" {
				half.client.Jar.SetCookies(half.request(http.MethodGet, "/", nil).URL, []*http.Cookie{c})
			}
		}
		refused(half, data) // of a session
	})
}

// Passkeys stay open to a user whose codes are suspended, or who has typed too many wrong ones.
func TestAPasskeyCompletesASignInWhenCodesAreNotAccepted(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s, a, _ := withApp(t, tokens, withPasskeys(&echo{verifies: true}))
		u := s.user(ada)
		id := s.passkey(u)
		if err := s.rows.ChangeState(t.Context(), &accountstore.State{UserID: u.ID, Suspended: true}); err != nil {
			t.Fatal(err)
		}
		b := s.half()
		b.post(secondFactor, "method", "totp", "code", a.code(t, 0)).want(http.StatusForbidden).says("Codes are no longer accepted").says("method=passkey")
		b.get(secondFactor).byPasskey(id).isSignedInAs(ada)
		if state, err := s.rows.State(t.Context(), u.ID); err != nil || state.Suspended {
			t.Errorf("the suspension has not ended: %v, %v", state, err)
		}
	})
}

// AC-118: a user who has a passkey does not get the page that adds an app: a thief of the
// password and the mailbox would add one.
func TestAPasskeyIsTheSecondFactorThatIsRequired(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, withPasskeys(&echo{}), required)
		u := s.seed(ada, goodPassword, true)
		id := s.passkey(u)
		b := s.half()
		for _, link := range []string{"method=totp", "method=recovery"} {
			if strings.Contains(b.page, link) {
				t.Errorf("the page has %s", link)
			}
		}
		b.get("/auth/account/enrol").want(http.StatusForbidden)
		b.get(secondFactor).post(secondFactor, "code", "123456").isSignedInAs("")
		b.get(secondFactor).byPasskey(id).savesCodes(enrol)
		b.isSignedInAs(ada)
		// The operator helps a user who has lost it.
		if err := s.accounts.Operators().ResetSecondFactor(t.Context(), u.ID); err != nil {
			t.Fatal(err)
		}
		s.browser().signIn(ada, goodPassword).isAt("/auth/account/enrol").isSignedInAs("")
	})
}

// A passkey alone is asked for where a second factor is required, and not otherwise: there
// would be no recovery code for its loss.
func TestAPasskeyAloneIsNotAskedForAfterAPassword(t *testing.T) {
	s := newSite(t, false, withPasskeys(&echo{}))
	s.passkey(s.seed(ada, goodPassword, true))
	s.browser().signIn(ada, goodPassword).isAt("/").isSignedInAs(ada)
}

// The gate decides, whichever page completes the sign-in.
func TestTheGateKnowsWhichProofsAreTwoFactors(t *testing.T) {
	s := withAcme(t, false, authtest.Person{Subject: "ada", Email: ada}, withPasskeys(&echo{}))
	u := s.seed(ada, goodPassword, true)
	if err := s.store.LinkAccount(t.Context(), &pintle.Account{UserID: u.ID, Type: pintle.TypeOIDC, Provider: "acme", ProviderAccountID: "ada"}); err != nil {
		t.Fatal(err)
	}
	id := s.passkey(u)
	s.app(u)
	s.mux.HandleFunc("/complete", func(w http.ResponseWriter, r *http.Request) {
		next, err := s.auth.CompleteSignIn(w, r, pintle.CompleteOptions{Methods: r.URL.Query()["method"]})
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write([]byte(next))
	})
	begin := map[string]func() *browser{
		"password": s.half,
		"provider": func() *browser { return s.browser().get("/auth/signin").post("/auth/signin/acme") },
		"key": func() *browser {
			b := s.browser().get("/auth/signin")
			data, _ := b.answer(id, "/auth/webauthn-options/passkey?action=authenticate")
			return b.post("/auth/callback/passkey", "action", "authenticate", "data", data)
		},
	}
	for _, c := range []struct {
		by, methods string
		in          bool
	}{
		{"password", "", false},
		{"password", "method=mail", false},
		{"password", "method=mfa", false},
		{"password", "method=pop", true},
		{"password", "method=otp", true},
		{"provider", "method=pop", false},
		{"provider", "method=pop&method=mfa", true},
		{"provider", "method=pop&method=mail", true},
		{"provider", "method=mail", false},
		{"key", "method=pop", false},
		{"key", "method=mail", false},
		{"key", "method=pop&method=mfa", true},
		{"key", "method=recovery", true},
	} {
		b := begin[c.by]().isAt(secondFactor)
		b.get("/complete?" + c.methods)
		if in := b.who() == ada; in != c.in {
			t.Errorf("%s and then %q: signed in is %t, want %t", c.by, c.methods, in, c.in)
		}
	}
}
