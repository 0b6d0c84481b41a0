package account_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/authtest"
)

// withAcme is a site with a provider that signs a person in without asking.
func withAcme(t *testing.T, tokens bool, person authtest.Person, changes ...func(*pintle.Config, *account.Options)) *site {
	t.Helper()
	idp := authtest.NewIdentityProvider(authtest.Options{AutoConsent: true})
	server := httptest.NewServer(idp)
	t.Cleanup(server.Close)
	idp.Issuer = server.URL
	idp.SignInAs(person)
	return newSite(t, tokens, append(changes, func(c *pintle.Config, _ *account.Options) {
		c.Providers, c.HTTPClient = append(c.Providers, idp.OIDC("acme")), server.Client()
	})...)
}

// AT-12, AC-3: the user may be one that an attacker has made with the address of another person.
func TestNoAccountIsLinkedToAUserWithAnUnprovenAddress(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := withAcme(t, tokens, authtest.Person{Subject: "eve", Email: "eve@example.com"})
		link := func(u *pintle.User) (b *browser, linked bool) {
			t.Helper()
			b = s.browser().startSession(u, 0, "fed").get("/auth/signin").post("/auth/signin/acme")
			accounts, err := s.store.UserAccounts(t.Context(), u.ID)
			if err != nil {
				t.Fatal(err)
			}
			return b, len(accounts) > 0
		}
		u := s.seed(ada, "", false)
		b, linked := link(u)
		if linked {
			t.Error("an account is linked")
		}
		b.isAt("/auth/account/prove").isSignedInAs(ada)
		b.post("/auth/account/prove", "again", "1").post("/auth/account/prove", "code", s.code()).isSignedInAs(ada)
		if b.get("/auth/signin").post("/auth/signin/acme"); b.at.Path == "/auth/account/prove" {
			t.Error("a user who has proven the address is asked again")
		}
		if accounts, err := s.store.UserAccounts(t.Context(), u.ID); len(accounts) != 1 || err != nil {
			t.Errorf("after the proof %d accounts are linked, %v", len(accounts), err)
		}
	})
}

// AC-120: a user without an address has none to prove.
func TestAnAccountIsLinkedToAUserWithoutAnAddress(t *testing.T) {
	t.Parallel()
	s := withAcme(t, false, authtest.Person{Subject: "eve", Email: "eve@example.com"})
	u, err := s.store.CreateUser(t.Context(), &pintle.User{ID: "nameless"})
	if err != nil {
		t.Fatal(err)
	}
	s.browser().startSession(u, 0, "fed").get("/auth/signin").post("/auth/signin/acme")
	if accounts, err := s.store.UserAccounts(t.Context(), u.ID); len(accounts) != 1 || err != nil {
		t.Errorf("%d accounts are linked, %v", len(accounts), err)
	}
}

// AT-12, AC-3, AC-64: a password that is due is one that signs in, and needs a proven address
// like any other.
func TestAPasswordThatIsDueProvesNoAddress(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := withAcme(t, tokens, authtest.Person{Subject: "eve", Email: ada})
		u := s.seed(ada, "", false)
		err := s.store.LinkAccount(t.Context(), &pintle.Account{
			UserID: u.ID, Type: pintle.TypeOIDC, Provider: "acme", ProviderAccountID: "eve",
		})
		if err != nil {
			t.Fatal(err)
		}
		s.changeState(u.ID, func(state *accountstore.State) { state.Must = "password" })
		b := s.browser().get("/auth/signin").post("/auth/signin/acme").isAt("/auth/account/prove").isSignedInAs("")
		b.get(mustChange).want(http.StatusForbidden)
		b.postJSON(mustChange, map[string]any{"password": newPassword})
		if b.status != http.StatusForbidden || s.passwordIs(ada, newPassword) {
			t.Errorf("a password is set beside an unproven address: %d", b.status)
		}
		if !s.user(ada).EmailVerified.IsZero() {
			t.Error("the address is proven")
		}
		for _, m := range s.sent(ada) {
			if m.Token != "" || m.URL != "" || mailedCode.FindString(m.Text) == "" {
				t.Errorf("the mail to an unproven address is %q: %s", m.Subject, m.Text)
			}
		}
		b.get("/auth/account/prove").post("/auth/account/prove", "code", s.code()).isAt(mustChange).isSignedInAs("")
		b.post(mustChange, "password", newPassword).isAt("/").isSignedInAs(ada)
		if s.user(ada).EmailVerified.IsZero() || !s.passwordIs(ada, newPassword) {
			t.Error("the address is not proven, or the password not set")
		}
	})
}

func TestTheAccountAsDataSaysWhatIsDue(t *testing.T) {
	t.Parallel()
	must := false
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) {
		o.SecondFactor.Required = func(context.Context, *pintle.PendingSignIn) (bool, error) { return must, nil }
	})
	u := s.seed(ada, goodPassword, true)
	b := s.browser().startSession(u, 0, "pwd")
	me := b.get("/auth/account/me").json()
	if me["required"] != false || !equalJSON(me["pending"], map[string]any{}) {
		t.Errorf("nothing is due, and the account is %v %v", me["required"], me["pending"])
	}
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	s.changeState(u.ID, func(state *accountstore.State) { state.DeleteAt, state.Claim = at, "new@example.com" })
	must = true
	me = b.get("/auth/account/me").json()
	due := map[string]any{"address": "new@example.com", "deletion": "2030-01-02T03:04:05.000Z"}
	if me["required"] != true || !equalJSON(me["pending"], due) {
		t.Errorf("the account is %v %v", me["required"], me["pending"])
	}
	must = false
	s.changeState(u.ID, func(state *accountstore.State) { state.Must = "enrol" })
	if me = b.get("/auth/account/me").json(); me["required"] != true {
		t.Error("an operator asks for a second factor, and the account does not say so")
	}
}

// AC-60
func TestAUserWhoHasLostTheAddressIsToldAtTheNextSignIn(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		for name, transactions := range map[string]bool{"with transactions": true, "without": false} {
			s := withAcme(t, tokens, authtest.Person{Subject: "eve", Email: ada}, func(c *pintle.Config, _ *account.Options) {
				if !transactions {
					c.Store = faultyStore{c.Store, &fault{}}
				}
			})
			loser := s.seed(ada, "", false)
			err := s.store.LinkAccount(t.Context(), &pintle.Account{
				UserID: loser.ID, Type: pintle.TypeOIDC, Provider: "acme", ProviderAccountID: "eve",
			})
			if err != nil {
				t.Fatal(err)
			}
			owner := s.browser().signUp(ada).get(s.lastMail().URL).post("/auth/account/address-choice", "choice", "new")
			if s.state(loser).Must != "" {
				t.Errorf("%s: the user is told before the address is lost", name)
			}
			owner.post("/auth/account/sign-up-finish", "password", goodPassword).isAt("/").isSignedInAs(ada)
			mails := len(s.mails)

			const lost = "/auth/account/address-lost"
			if tokens { // lists of ended token sessions count in seconds
				time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
			}
			s.browser().get(lost).want(http.StatusForbidden)
			b := s.browser().get("/auth/signin").post("/auth/signin/acme").isAt(lost).says("has no address").isSignedInAs("")
			if who := s.browserWith(b).get("/auth/session").page; who != "null" {
				t.Errorf("%s: before it was read there is a session: %s", name, who)
			}
			b.get(lost).post(lost).isAt("/")
			if session := s.browserWith(b).get("/auth/session").json(); session["user"] == nil {
				t.Errorf("%s: the sign-in does not go on: %v", name, session)
			}
			s.browser().get("/auth/signin").post("/auth/signin/acme").isAt("/") // once
			if len(s.mails) != mails {
				t.Errorf("%s: a mail was sent", name)
			}
			owner.isSignedInAs(ada)
			s.browser().signIn(ada, goodPassword).isAt("/").isSignedInAs(ada)
		}
	})
}

func TestThePageOfALostAddressIsForASignInThatWaitsForIt(t *testing.T) {
	t.Parallel()
	s, _, _ := withApp(t, false)
	s.changeState(s.user(ada).ID, func(state *accountstore.State) { state.Must = "know-address-lost" })
	const lost = "/auth/account/address-lost"
	b := s.half().get(lost).want(http.StatusForbidden).post(lost).want(http.StatusForbidden).isSignedInAs("")
	if got := s.state(s.user(ada)).Must; got != "know-address-lost" {
		t.Errorf("a sign-in that waits for the second factor has read it: %q", got)
	}
	b.get(secondFactor).want(http.StatusOK)
}

// AC-87: a provider that reports another address moves none, and proves none.
func TestAProviderMovesNoAddress(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		idp, withIt := acme(t)
		s := newSite(t, tokens, withIt)
		idp.SignInAs(authtest.Person{Subject: "1", Email: ada, EmailVerified: true})
		s.browser().get("/auth/signin").post("/auth/signin/acme").isSignedInAs(ada)
		before := s.user(ada)
		for _, proven := range []bool{false, true} {
			now := time.Time{}
			if proven {
				now = time.Now().UTC().Truncate(time.Millisecond)
			}
			if _, err := s.store.UpdateUser(t.Context(), before.ID, pintle.UserUpdate{EmailVerified: &now}); err != nil {
				t.Fatal(err)
			}
			idp.SignInAs(authtest.Person{Subject: "1", Email: newAddress, EmailVerified: true})
			s.browser().get("/auth/signin").post("/auth/signin/acme").isSignedInAs(ada)
			if after := s.user(ada); after == nil || after.ID != before.ID || !after.EmailVerified.Equal(now) {
				t.Errorf("proven %t: the user is %+v", proven, after)
			}
			if s.user(newAddress) != nil {
				t.Errorf("proven %t: a user has the address that the provider reports", proven)
			}
		}
	})
}

// The address of a user of a provider is not proven, and nothing is wrong. The user of a deferred
// sign-up loses the account without the proof.
func TestAnUnprovenAddressIsNoWarning(t *testing.T) {
	s := newSite(t, false)
	b := s.browser().startSession(s.seed(ada, "", false), 0, "fed")
	b.get("/auth/account").want(http.StatusOK).says(`<a href="/auth/account/prove">Your address is not confirmed yet.</a>`)
	for _, sign := range []string{"row-warns\"", `role="alert"`} {
		if strings.Contains(b.text(), sign) {
			t.Errorf("the page has %s", sign)
		}
	}
	newDeferred(t, false).browser().signUp("eve@example.com", "password", goodPassword).get("/auth/account").
		says("Your address is not confirmed yet.").says(`class="row row-warns"`)
}

// A user whom an application with single sign-on only asks for nothing has nothing to confirm.
func TestAnAddressIsToBeConfirmedByUsersWhoGainFromIt(t *testing.T) {
	const todo = `<a href="/auth/account/prove">Your address is not confirmed yet.</a>`
	off := func(_ *pintle.Config, o *account.Options) { o.Passwords.Off, o.SecondFactor.Off = true, true }
	var s *site
	for name, tt := range map[string]struct {
		changes []func(*pintle.Config, *account.Options)
		want    bool
	}{
		"single sign-on only": {[]func(*pintle.Config, *account.Options){off}, false},
		"passwords":           {[]func(*pintle.Config, *account.Options){off, func(_ *pintle.Config, o *account.Options) { o.Passwords.Off = false }}, true},
		"second factors":      {[]func(*pintle.Config, *account.Options){off, func(_ *pintle.Config, o *account.Options) { o.SecondFactor.Off = false }}, true},
		"mail links":          {[]func(*pintle.Config, *account.Options){off, withMailLinks(&s)}, true},
		"passkeys":            {[]func(*pintle.Config, *account.Options){off, withPasskeys(&echo{})}, true},
		"another provider":    {[]func(*pintle.Config, *account.Options){off, withGitHub}, true},
	} {
		s = withAcme(t, false, authtest.Person{Subject: "ada", Email: ada, EmailVerified: true}, tt.changes...)
		b := s.browser().get("/auth/signin").post("/auth/signin/acme").isSignedInAs(ada)
		if !s.user(ada).EmailVerified.IsZero() {
			t.Fatalf("%s: the address is proven", name)
		}
		if b.get("/auth/account").want(http.StatusOK); strings.Contains(b.page, todo) != tt.want {
			t.Errorf("%s: the page asks for a proof of the address: %t, want %t", name, !tt.want, tt.want)
		}
		b.get("/auth/account/prove").want(http.StatusOK) // who wants to may
	}
}
