package account_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/authtest"
)

// everyWay are the ways in of one user.
var everyWay = map[string]func(b *browser){
	"password": func(b *browser) { b.signIn("ada@example.com", goodPassword) },
	"mail": func(b *browser) {
		b.get("/auth/signin").post("/auth/signin/email", "email", "ada@example.com")
		b.get(b.lastMail().URL)
		b.press(anyForm.FindStringSubmatch(b.page))
	},
	"provider": func(b *browser) { b.get("/auth/signin").post("/auth/signin/acme") },
}

// withEveryWay adds the providers of everyWay.
func withEveryWay(t *testing.T, idp *authtest.IdentityProvider, server *httptest.Server, s **site) func(*pintle.Config, *account.Options) {
	t.Helper()
	return func(c *pintle.Config, _ *account.Options) {
		c.Providers = append(c.Providers, idp.OIDC("acme"), &pintle.Email{From: "no-reply@example.com", Send: func(ctx context.Context, m *pintle.Message) error {
			return (*s).keepMail(ctx, m)
		}})
		c.HTTPClient = server.Client()
	}
}

// AT-1, AT-49, AC-1, AC-91, AC-100
func TestEveryWayInPassesTheGate(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		for state, hold := range map[string]struct {
			change func(*accountstore.State)
			factor bool
			at     string
		}{
			"nothing asked": {change: func(*accountstore.State) {}},
			"banned":        {change: func(s *accountstore.State) { s.BannedUntil = accountstore.Forever }, at: "error=AccessDenied"},
			"deleted":       {change: func(s *accountstore.State) { s.DeleteAt = time.Now().Add(time.Hour) }, at: "/auth/account/keep"},
			"deleted, due":  {change: func(s *accountstore.State) { s.DeleteAt = time.Now().Add(-time.Second) }, at: "error=AccessDenied"},
			"must change":   {change: func(s *accountstore.State) { s.Must = "password" }, at: "/auth/account/must-change"},
			"second factor": {change: func(*accountstore.State) {}, factor: true, at: "/auth/account/second-factor"},
		} {
			for way, signIn := range everyWay {
				t.Run(way+", "+state, func(t *testing.T) {
					idp := authtest.NewIdentityProvider(authtest.Options{AutoConsent: true})
					server := httptest.NewServer(idp)
					defer server.Close()
					idp.Issuer = server.URL
					idp.SignInAs(authtest.Person{Subject: "ada", Email: "ada@example.com"})
					var s *site
					s = newSite(t, tokens, withEveryWay(t, idp, server, &s))
					u := s.seed("ada@example.com", goodPassword, true)
					err := s.store.LinkAccount(t.Context(), &pintle.Account{
						UserID: u.ID, Type: pintle.TypeOIDC, Provider: "acme", ProviderAccountID: "ada",
					})
					if err != nil {
						t.Fatal(err)
					}
					s.changeState(u.ID, hold.change)
					if hold.factor {
						s.addTOTP(u.ID)
					}
					b := s.browser()
					signIn(b)
					if hold.at == "" {
						b.isSignedInAs("ada@example.com")
						return
					}
					if !strings.Contains(b.at.String(), hold.at) {
						t.Errorf("the browser is at %s, want %s", b.at, hold.at)
					}
					b.isSignedInAs("")
					if b.sessionCookie() != "" {
						t.Error("the browser has a cookie of a session")
					}
					if text := strings.TrimSpace(b.get("/auth/session").page); text != "null" {
						t.Errorf("the session is shown as %s", text)
					}
				})
			}
		}
	})
}

// AT-2, AC-20
func TestACookieOfAFlowIsOfNoUseUnderAnotherName(t *testing.T) {
	s := newSite(t, false)
	s.seed("ada@example.com", goodPassword, true)
	b := s.browser().signUp("grace@example.com").get(s.lastMail().URL)
	b.get(s.resetLink("ada@example.com"))
	s.seed(bob, goodPassword, true)
	undo := s.browser().signIn(bob, goodPassword).movesAddress("bob@elsewhere.example.com").mailOf("address-changed-undo")
	b.get(undo.URL).isAt("/auth/account/address-undo")
	b.signIn("ada@example.com", goodPassword).beginsAddress(newAddress).isAt("/auth/account/address-finish")
	b.get("/auth/account/totp")
	s.giveBrowser(s.user("ada@example.com"), b)
	here, _ := url.Parse(s.server.URL)
	held := map[string]string{}
	for _, c := range b.client.Jar.Cookies(here) {
		held[c.Name] = c.Value
	}
	for _, name := range []string{"pintle.signup", "pintle.reset", "pintle.address", "pintle.undo", "pintle.device", "pintle.known", "authjs.session-token"} {
		if held[name] == "" {
			t.Errorf("the browser has no cookie %s", name)
		}
	}
	before := s.fingerprint(s.user("ada@example.com")) + s.fingerprint(s.user("bob@elsewhere.example.com"))
	names := []string{
		"pintle.signup", "pintle.reset", "pintle.confirm", "pintle.totp", "pintle.address", "pintle.undo", "pintle.device", "pintle.known",
		"authjs.session-token", "authjs.pkce.code_verifier",
	}
	for from, value := range held {
		for _, to := range names {
			if from == to || from == "authjs.csrf-token" || from == "authjs.callback-url" {
				continue
			}
			other := s.browser()
			other.client.Jar.SetCookies(here, []*http.Cookie{{Name: to, Value: value}})
			for _, path := range []string{"sign-up-finish", "reset", "address-finish", "address-undo"} {
				if other.get("/auth/account/" + path); other.status != http.StatusForbidden && other.status != http.StatusGone {
					t.Errorf("%s as %s: %s has status %d", from, to, path, other.status)
				}
				other.post("/auth/account/"+path, "password", newPassword, "code", "1234 5678")
				if other.status != http.StatusForbidden && other.status != http.StatusGone {
					t.Errorf("%s as %s: the form of %s has status %d", from, to, path, other.status)
				}
			}
			other.isSignedInAs("")
		}
	}
	if after := s.fingerprint(s.user("ada@example.com")) + s.fingerprint(s.user("bob@elsewhere.example.com")); after != before {
		t.Errorf("the users were\n%s\nand are\n%s", before, after)
	}
	// None of the flows was used up.
	b.get("/auth/account/address-finish").want(http.StatusOK)
	b.get("/auth/account/address-undo").want(http.StatusOK)
	b.get("/auth/account/reset").want(http.StatusOK)
	b.get("/auth/account/sign-up-finish").want(http.StatusOK)
}

// AC-30: a sign-in with the old password begins and ends while the new one is being stored.
func TestASessionOfTheMomentOfTheChangeEndsWithIt(t *testing.T) {
	s, f := withFaults(t)
	s.seed("ada@example.com", goodPassword, true)
	owner := s.browser().get(s.resetLink("ada@example.com"))
	thief := s.browser()
	f.onReplace = func() {
		f.onReplace = nil
		thief.signIn("ada@example.com", goodPassword).isSignedInAs("ada@example.com")
	}
	owner.post("/auth/account/reset", "password", newPassword).isAt("/auth/signin")
	thief.isSignedInAs("")
}

// AC-73
func TestALinkIsOfNoUseOnceTheUserHasAnotherAddress(t *testing.T) {
	s := newSite(t, false)
	u := s.seed("ada@example.com", goodPassword, true)
	link := s.resetLink("ada@example.com")
	opened := s.browser().get(link).want(http.StatusOK)
	elsewhere, now := "ada@example.org", time.Now().UTC().Truncate(time.Millisecond)
	if _, err := s.store.UpdateUser(t.Context(), u.ID, pintle.UserUpdate{Email: &elsewhere, EmailVerified: &now}); err != nil {
		t.Fatal(err)
	}
	opened.post("/auth/account/reset", "password", newPassword).want(http.StatusGone)
	s.browser().get(link).get("/auth/account/reset").want(http.StatusGone)
	if !s.passwordIs(elsewhere, goodPassword) {
		t.Error("the password has changed")
	}
}

// AT-3, AC-4, AC-74
func TestOneOfManyRequestsResetsThePassword(t *testing.T) {
	s := newSite(t, false)
	s.seed("ada@example.com", goodPassword, true)
	b := s.browser().get(s.resetLink("ada@example.com"))
	form := b.token()
	done := make(chan string, 20)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			other, chosen := *b, fmt.Sprint("a long password ", i)
			if other.postQuietly("/auth/account/reset", form, "password", chosen); other.status == http.StatusSeeOther {
				done <- chosen
			}
		})
	}
	all.Wait()
	close(done)
	if len(done) != 1 {
		t.Errorf("%d of 20 requests reset the password", len(done))
	}
	for chosen := range done {
		s.browser().signIn("ada@example.com", chosen).isSignedInAs("ada@example.com")
	}
}
