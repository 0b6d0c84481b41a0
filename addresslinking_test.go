package pintle_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

// trusting is a site that links accounts of the provider "careful", and of
// "partner", by their address. "acme" reports addresses, too, and is not trusted
// with them.
func trusting(t *testing.T, verified func(pintle.Profile) bool, changes ...func(*site)) (s *site, k *recordingTxStore, careful *authtest.IdentityProvider) {
	t.Helper()
	changes = append([]func(*site){func(s *site) {
		careful = s.net["careful.example"].(*authtest.IdentityProvider)
		careful.SignInAs(adaElsewhere)
		provider := careful.OIDC("careful")
		provider.DangerouslyLinkByEmail, provider.EmailVerified = true, verified
		s.Providers[1] = provider
		partner := s.newIdentityProvider("https://partner.example")
		partner.SignInAs(adaElsewhere)
		other := partner.OIDC("partner")
		other.DangerouslyLinkByEmail = true
		s.Providers = append(s.Providers, other)
	}}, changes...)
	s, k = hijackSite(t, pintle.StrategyDatabase, changes...)
	s.idp.SignInAs(adaElsewhere)
	return s, k, careful
}

func (b *browser) isRefused(r *reply) {
	b.t.Helper()
	r.fails("/auth/signin", "OAuthAccountNotLinked")
	if b.sub() != "" {
		b.t.Error("the browser is signed in all the same")
	}
}

// A provider that is trusted with addresses may say that it has not verified this
// one.
func TestLinkingByAddressListensToTheProvider(t *testing.T) {
	tests := []struct {
		name     string
		verified func(pintle.Profile) bool
		fault    authtest.Fault
		links    bool
	}{
		{"the claim is true", nil, "", true},
		{"the claim is the text true", nil, authtest.EmailVerifiedText, true},
		{"there is no claim", nil, authtest.EmailVerifiedMissing, true},
		{"the claim is false", nil, authtest.EmailUnverified, false},
		{"the claim is the text false", nil, authtest.EmailUnverifiedText, false},
		{"the claim is a number", nil, authtest.EmailVerifiedNumber, false},
		{"the function says yes", verifiedClaim, "", true},
		{"the function says no", verifiedClaim, authtest.EmailUnverified, false},
		{"the function finds no claim", verifiedClaim, authtest.EmailVerifiedMissing, false},
		{"the function knows another member", func(p pintle.Profile) bool { return p.Bool("verified") }, "", false},
		{"the function says that the provider always verifies", func(pintle.Profile) bool { return true }, authtest.EmailVerifiedMissing, true},
	}
	for _, tt := range tests {
		t.Run("W-56 SA-M1 SH-15 SH-83 "+tt.name, func(t *testing.T) {
			s, k, careful := trusting(t, tt.verified)
			ada := people["ada"].user
			ada.EmailVerified = time.Now()
			user := k.seedUser(t, ada)
			if tt.fault != "" {
				careful.Break(tt.fault)
			}
			b := s.browser()
			r := b.signInWith("careful")
			if !tt.links {
				b.isRefused(r)
				if k.owner(t, "careful", adaElsewhere.Subject) != nil {
					t.Error("the account was linked")
				}
				return
			}
			r.goesTo(s.url)
			if b.sub() != user.ID {
				t.Errorf("signed in as %q, want %q", b.sub(), user.ID)
			}
		})
	}
}

// A user with an unproven address may belong to anyone, and the owner of the
// address must not be signed in as that user.
func TestLinkingByAddressNeedsAProvenUser(t *testing.T) {
	type world struct {
		s    *site
		k    *recordingTxStore
		user *pintle.User
	}
	signUp := func(provider string) func(*testing.T, world) {
		return func(_ *testing.T, w world) { w.s.browser().signInWith(provider).goesTo(w.s.url) }
	}
	seed := func(change func(*testing.T, world)) func(*testing.T, world) {
		return func(t *testing.T, w world) {
			w.user = w.k.seedUser(t, people["ada"].user)
			change(t, w)
		}
	}
	account := func(a pintle.Account) func(*testing.T, world) {
		return seed(func(t *testing.T, w world) {
			a.UserID = w.user.ID
			if err := w.k.Store.LinkAccount(t.Context(), &a); err != nil {
				t.Fatal(err)
			}
		})
	}
	partnerVerifies := func(s *site) { s.provider("partner").EmailVerified = verifiedClaim }
	tests := []struct {
		name   string
		first  func(*testing.T, world)
		knows  func(context.Context, *pintle.User) (bool, error)
		change func(*site)
		links  bool
	}{
		{name: "of a careless provider", first: signUp("acme")},
		{name: "of a passkey", first: func(_ *testing.T, w world) {
			w.s.browser().passkey("register", "AAAA", "email", "ada@example.com").goesTo(w.s.url)
		}},
		{name: "of a password", first: seed(func(*testing.T, world) {}), knows: func(context.Context, *pintle.User) (bool, error) { return true, nil }},
		{name: "of a careless provider and a trusted one", first: func(t *testing.T, w world) {
			b := w.s.browser()
			b.signInWith("acme").goesTo(w.s.url)
			b.signInWith("partner").goesTo(w.s.url)
		}}, // the session in which the owner of the trusted one linked it may have been planted
		{name: "of a trusted provider, with a password", first: signUp("partner"), knows: func(context.Context, *pintle.User) (bool, error) { return true, nil }, links: true},
		{name: "of a trusted provider for another address", first: account(pintle.Account{Type: pintle.TypeOIDC, Provider: "partner", ProviderAccountID: "1", VerifiedEmail: "mallory@example.com"})},
		{name: "of a trusted provider that said nothing of the address", first: account(pintle.Account{Type: pintle.TypeOIDC, Provider: "partner", ProviderAccountID: "1"})},
		{name: "of a provider that verified another address", first: account(pintle.Account{Type: pintle.TypeOIDC, Provider: "acme", ProviderAccountID: "1", VerifiedEmail: "mallory@example.com"})},
		{name: "of a provider that is no longer there", first: account(pintle.Account{Type: pintle.TypeOIDC, Provider: "gone", ProviderAccountID: "1"})},

		{name: "of a trusted provider that verified another address", first: account(pintle.Account{Type: pintle.TypeOIDC, Provider: "partner", ProviderAccountID: "1", VerifiedEmail: "mallory@example.com"}), change: partnerVerifies},
		{name: "of a trusted provider that verified no address", first: account(pintle.Account{Type: pintle.TypeOIDC, Provider: "partner", ProviderAccountID: "1"}), change: partnerVerifies},

		{name: "of a trusted provider", first: signUp("partner"), links: true},
		{name: "of a trusted provider that verified the address", first: signUp("partner"), change: partnerVerifies, links: true},
		{name: "of a provider that had verified the address", first: account(pintle.Account{Type: pintle.TypeOIDC, Provider: "acme", ProviderAccountID: "1", VerifiedEmail: "ada@example.com"}), links: true},
		{name: "of a password elsewhere", first: seed(func(*testing.T, world) {}), change: func(s *site) {
			s.Callbacks.HasPassword = func(context.Context, *pintle.User) (bool, error) { return true, nil }
			s.Providers = slices.DeleteFunc(s.Providers, func(p pintle.Provider) bool { _, oauth := p.(*pintle.OAuth); return !oauth })
		}},
		{name: "without a way in", first: seed(func(*testing.T, world) {}), links: true},
		{name: "proven by mail", first: func(_ *testing.T, w world) {
			b := w.s.browser()
			b.get(b.mailTo("ada@example.com").URL).goesTo(w.s.url)
		}, links: true},
	}
	for _, tt := range tests {
		t.Run("SA-M1 SH-15 SH-82 a user "+tt.name, func(t *testing.T) {
			knows := tt.knows
			if knows == nil {
				knows = knowsNoUser
			}
			s, k, _ := trusting(t, nil, func(s *site) {
				s.Providers[4] = &pintle.Credentials{Authorize: checkPassword, CanSignIn: knows}
				if tt.change != nil {
					tt.change(s)
				}
			})
			tt.first(t, world{s: s, k: k})
			user := k.byEmail(t, "ada@example.com")
			b := s.browser()
			r := b.signInWith("careful")
			if !tt.links {
				b.isRefused(r)
				if k.owner(t, "careful", adaElsewhere.Subject) != nil {
					t.Error("the account was linked")
				}
				return
			}
			r.goesTo(s.url)
			if b.sub() != user.ID {
				t.Errorf("signed in as %q, want %q", b.sub(), user.ID)
			}
		})
	}
	t.Run("SA-M1 a session from before the first proof ends", func(t *testing.T) {
		s, k, _ := trusting(t, nil)
		user := k.seedUser(t, people["ada"].user)
		mallory := s.browser()
		mallory.signInAs(k, user, pintle.StrategyDatabase)
		b := s.browser()
		b.signInWith("careful").goesTo(s.url)
		if mallory.sub() != "" || b.sub() != user.ID {
			t.Errorf("the old session is of %q, the new one of %q", mallory.sub(), b.sub())
		}
	})
}

// provider returns an OAuth provider of the site.
func (s *site) provider(id string) *pintle.OAuth {
	for _, p := range s.Providers {
		if o, ok := p.(*pintle.OAuth); ok && o.ID == id {
			return o
		}
	}
	return nil
}

// A trusted provider that denies an address makes no user who waits for the owner
// of the address.
func TestATrustedProviderThatDeniesAnAddressMakesNoTrap(t *testing.T) {
	for name, verified := range map[string]func(pintle.Profile) bool{"by the standard claim": nil, "by its own words": verifiedClaim} {
		for _, transactions := range []bool{true, false} {
			t.Run(fmt.Sprintf("W-56 SA-M1 %s, transactions %t", name, transactions), func(t *testing.T) {
				var judged string
				s, k, careful := trusting(t, verifiedClaim, func(s *site) {
					s.provider("partner").EmailVerified = verified
					if k, ok := s.Store.(*recordingTxStore); ok && !transactions {
						s.Store = k.recordingStore
					}
					s.Callbacks.SignIn = func(_ context.Context, a *pintle.SignInAttempt) (string, error) {
						judged = a.User.Email
						return "", nil
					}
				})
				partner := s.net["partner.example"].(*authtest.IdentityProvider)
				partner.SignInAs(authtest.Person{Subject: "666", Name: "Mallory", Email: victimAddress})
				mallory := s.browser()
				mallory.signInWith("partner").goesTo(s.url)
				if judged != victimAddress {
					t.Errorf("the callback saw the address %q, want what the provider reports", judged)
				}
				trap := mallory.sub()
				again := s.browser()
				again.signInWith("partner").goesTo(s.url)
				if again.sub() != trap {
					t.Errorf("the second sign-in is of %q, want %q", again.sub(), trap)
				}
				if user := k.byEmail(t, victimAddress); user != nil {
					t.Errorf("the address, which the provider denied, belongs to %+v", user)
				}

				careful.SignInAs(authtest.Person{Subject: "7", Name: "Victim", Email: victimAddress, EmailVerified: true})
				victim := s.browser()
				victim.signInWith("careful").goesTo(s.url)
				if victim.sub() == trap || victim.sub() == "" {
					t.Errorf("the victim is %q, the user of the attacker %q", victim.sub(), trap)
				}
				mail := s.browser()
				mail.get(mail.mailTo(victimAddress).URL).goesTo(s.url)
				if mail.sub() != victim.sub() {
					t.Errorf("a mail signs in as %q, want %q", mail.sub(), victim.sub())
				}
			})
		}
	}
}

// Letters beyond ASCII whose lower case is in ASCII make no address of ours out
// of an address at another domain.
func TestAddressesOfProvidersAreFoldedInASCIIOnly(t *testing.T) {
	for sent, want := range map[string]string{
		"CEO@Microsoft.com":      "ceo@microsoft.com",
		"ceo@m\u0130crosoft.com": "ceo@m\u0130crosoft.com",
		"ceo@\u212Aernel.org":    "ceo@\u212Aernel.org",
		"\u00c4DA@example.com":   "\u00c4da@example.com",
	} {
		t.Run("W-57 SA-M5 "+sent, func(t *testing.T) {
			var judged string
			s, k, careful := trusting(t, verifiedClaim, func(s *site) {
				s.Callbacks.SignIn = func(_ context.Context, a *pintle.SignInAttempt) (string, error) {
					judged = a.User.Email
					return "", nil
				}
			})
			victims := map[string]bool{}
			for _, address := range []string{"ceo@microsoft.com", "ceo@kernel.org", "\u00e4da@example.com"} {
				victims[k.seedUser(t, pintle.User{Email: address, EmailVerified: time.Now()}).ID] = true
			}
			careful.SignInAs(authtest.Person{Subject: "666", Name: "Mallory", Email: sent, EmailVerified: true})
			b := s.browser()
			b.signInWith("careful").goesTo(s.url)
			if judged != want {
				t.Errorf("the callback saw %q, want %q", judged, want)
			}
			if ours := want == "ceo@microsoft.com"; victims[b.sub()] != ours {
				t.Errorf("signed in as a user with an address of ours: %t, want %t", !ours, ours)
			}
			stored, err := k.Store.Account(t.Context(), "careful", "666")
			if err != nil || stored.VerifiedEmail != want {
				t.Errorf("the verified address is %q (%v)", stored.VerifiedEmail, err)
			}
		})
	}
	// A typed address is folded too, and the mail goes to the folded address: no
	// mail for another domain arrives.
	t.Run("SA-M5 the mail goes where the address was folded to", func(t *testing.T) {
		s, _ := mailSite(t, pintle.StrategyDatabase)
		for typed, want := range map[string]string{"ceo@\u212Aernel.org": "ceo@kernel.org", "ceo@m\u0130crosoft.com": "ceo@microsoft.com"} {
			if m := s.browser().mailTo(typed); m.To != want {
				t.Errorf("the mail for %q goes to %q, want %q", typed, m.To, want)
			}
		}
	})
}

// What a provider had verified is kept with the account, and nothing else.
func TestTheVerifiedAddressIsKeptWithTheAccount(t *testing.T) {
	s, k, _ := trusting(t, verifiedClaim, func(s *site) {
		s.Providers[1].(*pintle.OAuth).StoreAccount = func(*pintle.Account) *pintle.Account { return nil }
	})
	b := s.browser()
	b.signInWith("careful").goesTo(s.url)
	stored, err := k.Store.Account(t.Context(), "careful", adaElsewhere.Subject)
	if err != nil || stored.VerifiedEmail != "ada@example.com" {
		t.Errorf("the account is %+v (%v)", stored, err)
	}
	b.signInWith("acme").goesTo(s.url)
	if stored, err = k.Store.Account(t.Context(), "acme", adaElsewhere.Subject); err != nil || stored.VerifiedEmail != "" {
		t.Errorf("the account of a provider that verifies nothing is %+v (%v)", stored, err)
	}
	text, err := json.Marshal(lastEvent[*pintle.SignInEvent](s, "signIn").Account)
	if err != nil || string(text) == "" || strings.Contains(string(text), "erified") {
		t.Errorf("the JSON of an account is %s (%v)", text, err)
	}
	if err := s.auth.UpdateAccount(t.Context(), &pintle.Account{Provider: "careful", ProviderAccountID: adaElsewhere.Subject, AccessToken: "new", VerifiedEmail: "mallory@example.com"}); err != nil {
		t.Fatal(err)
	}
	if stored, err = k.Store.Account(t.Context(), "careful", adaElsewhere.Subject); err != nil || stored.VerifiedEmail != "ada@example.com" {
		t.Errorf("an update of the tokens changed the verified address to %q (%v)", stored.VerifiedEmail, err)
	}
}

// The callback runs before the decision. What it did not see must not
// be done.
func TestTheDecisionIsTheOneTheCallbackWasAskedAbout(t *testing.T) {
	for _, strategy := range strategies {
		t.Run("SA-L11 the account is unlinked while the callback runs, sessions as "+string(strategy), func(t *testing.T) {
			var during func()
			s, k := hijackSite(t, strategy, func(s *site) {
				s.Callbacks.SignIn = func(_ context.Context, a *pintle.SignInAttempt) (string, error) {
					if a.LinkTo != nil {
						return "", errors.New("sign in again")
					}
					if during != nil {
						during()
					}
					return "", nil
				}
			})
			victim := k.seedUser(t, pintle.User{Email: "ada@example.com", EmailVerified: time.Now()})
			own := k.seedUser(t, pintle.User{Email: "mallory@example.com", EmailVerified: time.Now()})
			k.seedAccount(t, own, "careful", "1")
			during = func() { // on an account page, in another browser
				if err := s.auth.Unlink(t.Context(), &pintle.Session{User: *own}, "careful", "1"); err != nil {
					t.Fatal(err)
				}
			}
			borrowed := s.browser()
			borrowed.signInAs(k, victim, strategy)
			borrowed.signInWith("careful").fails("/auth/signin", "OAuthAccountNotLinked")
			if owner := k.owner(t, "careful", "1"); owner != nil {
				t.Errorf("the attacker's account was linked to %+v", owner)
			}
			// The next attempt is one of an account without an owner, and asks.
			during = nil
			borrowed.signInWith("careful").fails("/auth/error", "AccessDenied")
		})
	}
}

// ASVS-7.5.1: a host can require a recent sign-in before another way in is added.
func TestTheCallbackKnowsWhomAnAccountIsLinkedTo(t *testing.T) {
	for _, strategy := range strategies {
		t.Run("SA-L11 with sessions as "+string(strategy), func(t *testing.T) {
			var last *pintle.SignInAttempt
			recent := true
			s, k := hijackSite(t, strategy, func(s *site) {
				s.Callbacks.SignIn = func(_ context.Context, a *pintle.SignInAttempt) (string, error) {
					last = a
					if a.LinkTo != nil && !recent {
						return "", errors.New("sign in again")
					}
					return "", nil
				}
			})
			b := s.browser()
			began := time.Now()
			b.get(b.mailTo("ada@example.com").URL).goesTo(s.url)
			user := k.byEmail(t, "ada@example.com")
			none := func(step string) {
				t.Helper()
				if last.LinkTo != nil || !last.SignedInAt.IsZero() {
					t.Errorf("%s is about to link to %+v", step, last.LinkTo)
				}
			}
			none("a mail")
			linked := func(step string) {
				t.Helper()
				if last.LinkTo == nil || last.LinkTo.ID != user.ID {
					t.Fatalf("%s is about to link to %+v", step, last.LinkTo)
				}
				// Tokens say in whole seconds when their session began, and the
				// first one of a user begins after those that were ended.
				if age := last.SignedInAt.Sub(began); age < -time.Second || age > time.Minute {
					t.Errorf("%s: the session began %s after the sign-in", step, age)
				}
			}
			recent = false
			b.signInWith("careful").fails("/auth/error", "AccessDenied")
			linked("a refused account")
			if k.owner(t, "careful", "1") != nil {
				t.Error("the account was linked")
			}
			b.passkey("register", "AAAA").fails("/auth/error", "AccessDenied")
			linked("a refused passkey")
			recent = true
			b.passkey("register", "AAAA").goesTo(s.url)
			linked("a passkey")
			b.signInWith("careful").goesTo(s.url)
			linked("an account")
			b.signInWith("careful").goesTo(s.url)
			none("an account that is linked already")
			b.passkey("authenticate", "AAAA").goesTo(s.url)
			none("a passkey that is registered already")
			s.browser().signInWith("acme").goesTo(s.url)
			none("a first sign-in")
		})
	}
}

// SA-M1: an attacker makes a user with the address of a victim, links an
// account of a trusted provider, and unlinks the one that made the user. The
// account that is left proves nothing about the address.
func TestUnlinkingTheAccountThatMadeAUserHidesNothing(t *testing.T) {
	tests := map[string]struct {
		come   func(*browser)
		unlink func(*browser, *site, *pintle.User) error
		person authtest.Person
	}{
		"careless provider, other address": {
			func(b *browser) { b.signInWith("acme") },
			func(_ *browser, s *site, u *pintle.User) error {
				return s.auth.Unlink(context.Background(), &pintle.Session{User: *u}, "acme", "666")
			},
			authtest.Person{Subject: "66", Name: "Mallory", Email: "mallory@example.com", EmailVerified: true},
		},
		"careless provider, address denied": {
			func(b *browser) { b.signInWith("acme") },
			func(_ *browser, s *site, u *pintle.User) error {
				return s.auth.Unlink(context.Background(), &pintle.Session{User: *u}, "acme", "666")
			},
			authtest.Person{Subject: "66", Name: "Mallory", Email: victimAddress, EmailVerified: false},
		},
		"passkey": {
			func(b *browser) { b.passkey("register", "AAAA", "email", victimAddress) },
			func(_ *browser, s *site, u *pintle.User) error {
				return s.auth.Unlink(context.Background(), &pintle.Session{User: *u}, "passkey", "AAAA")
			},
			authtest.Person{Subject: "66", Name: "Mallory", Email: "mallory@example.com", EmailVerified: true},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, k, careful := trusting(t, verifiedClaim)
			s.idp.SignInAs(attackerElsewhere)
			partner := s.net["partner.example"].(*authtest.IdentityProvider)
			partner.SignInAs(tt.person)
			mallory := s.browser()
			tt.come(mallory)
			trap := k.byEmail(t, victimAddress)
			if trap == nil {
				t.Fatal("no trap")
			}
			mallory.signInWith("partner").goesTo(s.url)
			if owner := k.owner(t, "partner", "66"); owner == nil || owner.ID != trap.ID {
				t.Fatal("partner was not linked to the trap")
			}
			if err := tt.unlink(mallory, s, trap); err != nil {
				t.Fatal(err)
			}
			careful.SignInAs(authtest.Person{Subject: "7", Name: "Victim", Email: victimAddress, EmailVerified: true})
			victim := s.browser()
			victim.signInWith("careful")
			if victim.sub() == trap.ID {
				t.Error("the victim was let into the user of the attacker")
			}
			mail := s.browser()
			mail.get(mail.mailTo(victimAddress).URL)
			if mail.sub() == trap.ID {
				t.Error("a mail of the victim signs in as the attacker's user, too")
			}
		})
	}
}
