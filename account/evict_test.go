package account_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/oauth"
)

// trojans gives a user what a person who used the address before its owner did may have
// added: an authenticator app, a recovery code, a remembered browser and a flow.
func (s *site) trojans(u *pintle.User) {
	s.t.Helper()
	s.addTOTP(u.ID)
	created := time.Now().UTC().Truncate(time.Millisecond)
	for _, kind := range []string{"recovery", "device"} {
		err := s.rows.AddFactor(s.t.Context(), &accountstore.Factor{UserID: u.ID, Kind: kind, ID: kind + "s", Secret: "hash", Created: created})
		if err != nil {
			s.t.Fatal(err)
		}
	}
	flow := &accountstore.Flow{ID: accountstore.Hash{1, 2, 3}, Kind: "totp", Subject: u.ID, Created: created, Expires: created.Add(time.Hour)}
	if err := s.rows.CreateFlow(s.t.Context(), flow); err != nil {
		s.t.Fatal(err)
	}
}

// storedKinds are those of the factors of a user that can be used, and "flow" if there is one.
func (s *site) storedKinds(u *pintle.User) string {
	s.t.Helper()
	factors, err := s.rows.Factors(s.t.Context(), u.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	var kinds []string
	for _, f := range factors {
		if f.Secret != "" {
			kinds = append(kinds, f.Kind)
		}
	}
	if _, err := s.rows.Flow(s.t.Context(), accountstore.Hash{1, 2, 3}); err == nil {
		kinds = append(kinds, "flow")
	}
	return strings.Join(kinds, " ")
}

// tellsOf checks the notice of the last mail.
func (s *site) tellsOf(what string) {
	s.t.Helper()
	m := s.wantMail(ada, "Your address is confirmed")
	if !strings.Contains(m.Text, "removed: "+what+".") {
		s.t.Errorf("the notice does not list %q: %s", what, m.Text)
	}
}

// AC-61, AC-86: the tokens of an account that is taken from another person end at the provider.
func TestTheTokensOfAnAccountThatIsTakenFromAUserEndAtTheProvider(t *testing.T) {
	for name, fails := range map[string]bool{"the provider answers": false, "the provider fails": true} {
		t.Run(name, func(t *testing.T) {
			var revoked []string
			provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				revoked = append(revoked, r.PostFormValue("token"))
				if fails {
					w.WriteHeader(http.StatusInternalServerError)
				}
			}))
			t.Cleanup(provider.Close)
			s := newSite(t, false, func(c *pintle.Config, _ *account.Options) {
				c.HTTPClient = provider.Client()
				c.Providers = append(c.Providers, &pintle.OAuth{
					ID: "acme", Name: "Acme", ClientID: "id", ClientSecret: "secret", Protocol: oauth.OAuth2,
					Authorization: oauth.Endpoint{URL: provider.URL + "/authorize"}, Token: oauth.Endpoint{URL: provider.URL + "/token"},
					UserInfo: oauth.Endpoint{URL: provider.URL + "/user"}, Revocation: oauth.Endpoint{URL: provider.URL + "/revoke"},
					RevokeAtUnlink: true,
				})
			})
			linked := func(u *pintle.User) {
				t.Helper()
				err := s.store.LinkAccount(t.Context(), &pintle.Account{
					UserID: u.ID, Type: pintle.TypeOAuth, Provider: "acme", ProviderAccountID: u.ID, AccessToken: "access of " + u.ID,
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			unproven, u := s.seed("eve@example.com", "", false), s.seed(ada, goodPassword, true)
			linked(unproven)
			b := s.browser().startSession(unproven, 0, "pwd").get("/auth/account/prove").post("/auth/account/prove", "again", "1")
			b.post("/auth/account/prove", "code", s.code()).isSignedInAs("eve@example.com")
			s.browser().signIn(ada, goodPassword).movesAddress(newAddress)
			linked(u)
			s.undoes(s.mailOf("address-changed-undo")).isAt("/auth/signin")
			if want := []string{"access of " + unproven.ID, "access of " + u.ID}; !slices.Equal(revoked, want) {
				t.Errorf("the provider was asked to end %q, want %q", revoked, want)
			}
			for _, owner := range []*pintle.User{unproven, u} {
				if all, err := s.store.UserAccounts(t.Context(), owner.ID); len(all) != 0 || err != nil {
					t.Errorf("%s still has %d accounts, %v", owner.Email, len(all), err)
				}
			}
			if logged := strings.Contains(s.log(), "may still work at the provider"); logged != fails {
				t.Errorf("the operator is told: %t", logged)
			}
		})
	}
}

// AC-61, AT-11, AT-12: the app of another person would keep the owner of the address out.
func TestTheFirstProofAtASignInEvictsWhatWasThereBefore(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		u := s.seed(ada, goodPassword, false)
		thief := s.browser().startSession(u, time.Minute, "pwd", "otp").isSignedInAs(ada)
		s.trojans(u)
		b := s.browser().signIn(ada, goodPassword).isAt("/auth/account/prove").isSignedInAs("")
		if kinds := s.storedKinds(u); !strings.Contains(kinds, "totp") {
			t.Errorf("before the proof the user has %q", kinds)
		}
		b.post("/auth/account/prove", "code", "0000 0000").want(http.StatusUnprocessableEntity)
		if kinds := s.storedKinds(u); !strings.Contains(kinds, "totp") {
			t.Errorf("a wrong code evicts: the user has %q", kinds)
		}
		b.get("/auth/account/prove").post("/auth/account/prove", "code", s.code()).isAt("/").isSignedInAs(ada)
		if kinds := s.storedKinds(u); kinds != "password" {
			t.Errorf("after the proof the user has %q", kinds)
		}
		s.tellsOf("Second factor")
		thief.isSignedInAs("")
		s.browser().signIn(ada, goodPassword).isAt("/").isSignedInAs(ada)
	})
}

// AC-61: a password that the session has not shown may be that of another person.
func TestTheFirstProofOfASignedInUserEvictsThePassword(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		for _, c := range []struct{ method, kinds, notice string }{
			{"fed", "", "Second factor, Password"}, {"pwd", "password", "Second factor"},
		} {
			s := newSite(t, tokens)
			u := s.seed(ada, goodPassword, false)
			s.trojans(u)
			thief := s.browser().startSession(u, time.Minute, "pwd", "otp")
			b := s.browser().startSession(u, 0, c.method).get("/auth/account/prove").post("/auth/account/prove", "again", "1")
			b.post("/auth/account/prove", "code", s.code()).isSignedInAs(ada)
			if kinds := s.storedKinds(u); kinds != c.kinds {
				t.Errorf("by %q: after the proof the user has %q, want %q", c.method, kinds, c.kinds)
			}
			s.tellsOf(c.notice)
			thief.isSignedInAs("")
			signedIn := map[bool]string{true: ada, false: ""}[c.method == "pwd"]
			s.browser().signIn(ada, goodPassword).isSignedInAs(signedIn)
		}
	})
}

// AC-61: by a mail link, of which no other person can read the mail.
func TestTheFirstMailLinkEvictsWhatWasThereBefore(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		var s *site
		s = newSite(t, tokens, withMailLinks(&s))
		u := s.seed(ada, "", false)
		s.trojans(u)
		thief := s.browser().startSession(u, time.Minute, "pwd", "otp").isSignedInAs(ada)
		b := s.browser().get("/auth/signin").post("/auth/signin/email", "email", ada)
		link := s.lastMail().URL
		b.get(link)
		if kinds := s.storedKinds(u); !strings.Contains(kinds, "totp") {
			t.Errorf("a link that is only opened evicts: the user has %q", kinds)
		}
		b.post(strings.TrimPrefix(link, s.server.URL)).isSignedInAs(ada)
		if kinds := s.storedKinds(u); kinds != "" {
			t.Errorf("after the proof the user has %q", kinds)
		}
		s.tellsOf("Second factor")
		thief.isSignedInAs("")
		if s.user(ada).EmailVerified.IsZero() {
			t.Error("the address is not proven")
		}
		// The second mail evicts nothing.
		if tokens { // lists of ended token sessions count in seconds
			time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
		}
		code := s.app(u)
		again := s.browser().get("/auth/signin").post("/auth/signin/email", "email", ada)
		again.get(s.lastMail().URL).post(strings.TrimPrefix(s.lastMail().URL, s.server.URL)).isAt(secondFactor).post(secondFactor, "code", code()).isSignedInAs(ada)
	})
}

// AC-61: two proofs agree, a mail and a sign-in as before.
func TestAMailAndASignInEvictWhatWasThereBefore(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		var s *site
		s = withAcme(t, tokens, authtest.Person{Subject: "ada", Email: ada}, withMailLinks(&s))
		u := s.seed(ada, goodPassword, false)
		err := s.store.LinkAccount(t.Context(), &pintle.Account{UserID: u.ID, Type: pintle.TypeOIDC, Provider: "acme", ProviderAccountID: "ada"})
		if err != nil {
			t.Fatal(err)
		}
		s.trojans(u)
		thief := s.browser().startSession(u, time.Minute, "pwd", "otp")
		b := s.browser().get("/auth/signin").post("/auth/signin/email", "email", ada)
		b.get(s.lastMail().URL).post(strings.TrimPrefix(s.lastMail().URL, s.server.URL)).isSignedInAs("").says("acme")
		if kinds := s.storedKinds(u); !strings.Contains(kinds, "totp") {
			t.Errorf("the mail alone evicts: the user has %q", kinds)
		}
		b.post("/auth/signin/acme").isSignedInAs(ada)
		if kinds := s.storedKinds(u); kinds != "" {
			t.Errorf("after the proof the user has %q", kinds)
		}
		s.tellsOf("Second factor, Password")
		thief.isSignedInAs("")
		if accounts, err := s.store.UserAccounts(t.Context(), u.ID); err != nil || len(accounts) != 1 {
			t.Errorf("the user has the accounts %v, %v, want the one of the sign-in", accounts, err)
		}
	})
}

// AC-61: a sign-up becomes the user whom an operator has made.
func TestASignUpEvictsWhatTheUserOfTheAddressHad(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		u := s.seed(ada, "", false)
		s.trojans(u)
		b := s.browser().signUp(ada).get(s.lastMail().URL)
		b.post("/auth/account/sign-up-finish", "password", goodPassword).isAt("/").isSignedInAs(ada)
		if kinds := s.storedKinds(u); kinds != "password" || s.user(ada).ID != u.ID {
			t.Errorf("the user has %q", kinds)
		}
		s.tellsOf("Second factor")
	})
}

// AC-61, AT-7: what could not be removed is no proof either.
func TestAnAddressStaysUnprovenIfTheEvictionFails(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		f := &fault{}
		var s *site
		s = newSite(t, tokens, withMailLinks(&s), func(c *pintle.Config, _ *account.Options) { c.Store = faultyStore{c.Store, f} })
		u := s.seed(ada, "", false)
		s.trojans(u)
		for call := 1; ; call++ {
			f.arm(0)
			b := s.browser().get("/auth/signin").post("/auth/signin/email", "email", ada)
			link := s.lastMail().URL
			b.get(link)
			f.arm(call)
			b.post(strings.TrimPrefix(link, s.server.URL))
			hit := f.hit.Load()
			f.arm(0)
			if !s.user(ada).EmailVerified.IsZero() {
				if kinds := s.storedKinds(u); kinds != "" {
					t.Fatalf("call %d: the address is proven, and the user has %q", call, kinds)
				}
				break
			}
			if !hit {
				t.Fatalf("the address is not proven: %d %s", b.status, b.text())
			}
			b.isSignedInAs("")
		}
	})
}

// AC-61: Auth.js adds passkeys to users whose address is not proven.
func TestTheFirstProofEvictsPasskeysThatWereNotUsed(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		for method, left := range map[string]int{"fed": 0, "pop": 1} {
			s := newSite(t, tokens, withPasskeys(&echo{}), withGitHub)
			u := s.seed(ada, "", false)
			s.passkey(u)
			s.link(u, "github")
			b := s.browser().startSession(u, 0, method).get("/auth/account/prove").post("/auth/account/prove", "again", "1")
			b.post("/auth/account/prove", "code", s.code()).isSignedInAs(ada)
			keys, err := s.store.UserPasskeys(t.Context(), u.ID)
			if err != nil || len(keys) != left {
				t.Errorf("by %q: the user has %d passkeys, %v, want %d", method, len(keys), err, left)
			}
			accounts, err := s.store.UserAccounts(t.Context(), u.ID)
			if err != nil || len(accounts) != left {
				t.Errorf("by %q: the user has %d accounts, %v, want %d", method, len(accounts), err, left)
			}
			s.tellsOf(map[int]string{0: "Passkey, GitHub", 1: "GitHub"}[left])
		}
	})
}

// AC-61: what a session has proven long ago may be that of another person.
func TestTheFirstProofKeepsWhatTheSessionHasProvenLately(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		for ago, kept := range map[time.Duration]string{9 * time.Minute: "password", 11 * time.Minute: ""} {
			s := newSite(t, tokens, withPasskeys(&echo{}))
			u := s.seed(ada, goodPassword, false)
			s.passkey(u)
			b := s.browser().startSession(u, ago, "pwd", "pop").get("/auth/account/prove").post("/auth/account/prove", "again", "1")
			b.post("/auth/account/prove", "code", s.code()).isSignedInAs(ada)
			if kinds := s.storedKinds(u); kinds != kept {
				t.Errorf("after %v the user has %q, want %q", ago, kinds, kept)
			}
			keys, err := s.store.UserPasskeys(t.Context(), u.ID)
			if want := len(strings.Fields(kept)); err != nil || len(keys) != want {
				t.Errorf("after %v the user has %d passkeys, %v, want %d", ago, len(keys), err, want)
			}
		}
	})
}

// AC-61, AT-10, AT-14: an account of a provider that a person linked who used the address
// before its owner did.
func TestTheFirstProofUnlinksAccountsThatAreNotOfTheOwner(t *testing.T) {
	linked := func(s *site, u *pintle.User, id, verified string) {
		t.Helper()
		err := s.store.LinkAccount(t.Context(), &pintle.Account{
			UserID: u.ID, Type: pintle.TypeOIDC, Provider: "acme", ProviderAccountID: id, VerifiedEmail: verified,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	left := func(s *site, u *pintle.User) string {
		t.Helper()
		accounts, err := s.store.UserAccounts(t.Context(), u.ID)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, a := range accounts {
			ids = append(ids, a.ProviderAccountID)
		}
		return strings.Join(ids, " ")
	}
	inBothKinds(t, func(t *testing.T, tokens bool) {
		for name, c := range map[string]struct {
			accounts map[string]string // with the address that the provider had verified
			by       pintle.Authentication
			left     string
		}{
			"by a password":                      {map[string]string{"a": ""}, pintle.Authentication{Methods: []string{"pwd"}}, ""},
			"by the account":                     {map[string]string{"a": ""}, pintle.Authentication{Provider: "acme", Methods: []string{"fed"}}, "a"},
			"by one of two accounts":             {map[string]string{"a": "", "b": ""}, pintle.Authentication{Provider: "acme", Methods: []string{"fed"}}, ""},
			"by another provider":                {map[string]string{"a": ""}, pintle.Authentication{Provider: "other", Methods: []string{"fed"}}, ""},
			"by the account, long ago":           {map[string]string{"a": ""}, pintle.Authentication{Time: time.Now().Add(-time.Hour), Provider: "acme", Methods: []string{"fed"}}, ""},
			"a verified address":                 {map[string]string{"a": ada}, pintle.Authentication{Methods: []string{"pwd"}}, "a"},
			"another verified address":           {map[string]string{"a": "eve@example.com"}, pintle.Authentication{Methods: []string{"pwd"}}, ""},
			"a verified address and another one": {map[string]string{"a": ada, "b": ""}, pintle.Authentication{Methods: []string{"pwd"}}, "a"},
		} {
			t.Run(name, func(t *testing.T) {
				s := withAcme(t, tokens, authtest.Person{Subject: "a", Email: ada})
				s.t = t
				u := s.seed(ada, "", false)
				for id, verified := range c.accounts {
					linked(s, u, id, verified)
				}
				b, w := s.browser(), httptest.NewRecorder()
				if _, _, err := s.auth.StartSession(w, b.request(http.MethodGet, "/", nil), u, pintle.StartOptions{Authentication: c.by}); err != nil {
					t.Fatal(err)
				}
				b.client.Jar.SetCookies(b.home(), w.Result().Cookies())
				b.get("/auth/account/prove").post("/auth/account/prove", "again", "1")
				b.post("/auth/account/prove", "code", s.code()).isSignedInAs(ada)
				if got := left(s, u); got != c.left {
					t.Errorf("the user has the accounts %q, want %q", got, c.left)
				}
			})
		}
		// At a sign-in with a password that waits for the proof.
		s := withAcme(t, tokens, authtest.Person{Subject: "a", Email: ada})
		u := s.seed(ada, goodPassword, false)
		linked(s, u, "a", "")
		s.browser().signIn(ada, goodPassword).isAt("/auth/account/prove").post("/auth/account/prove", "code", s.code()).isSignedInAs(ada)
		if got := left(s, u); got != "" {
			t.Errorf("the user has the accounts %q", got)
		}
		s.tellsOf("Test identity provider")
		s.browser().get("/auth/signin").post("/auth/signin/acme").isSignedInAs("")
	})
}
