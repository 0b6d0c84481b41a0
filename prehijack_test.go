package pintle_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/provider"
	"github.com/pintleauth/pintle/store/memstore"
)

// The tests of this file are about an attacker who uses an address before its
// owner does. They follow the classes of Sudhodanan and Paverd:
//
// https://www.usenix.org/conference/usenixsecurity22/presentation/sudhodanan
//
// Of the five, the unexpired change of an address does not exist here: no route
// and no method changes the address of a user.

const (
	victimAddress = "victim@example.com"
	proofCookie   = "authjs.address-proof"
	addressPage   = "/auth/callback/email"
)

// attackerElsewhere is the attacker's profile at the provider, with the address of
// the victim.
var attackerElsewhere = authtest.Person{Subject: "666", Name: "Mallory", Email: victimAddress}

// anyPasskey is a ceremony that lets every answer through as the passkey whose id
// it has.
type anyPasskey struct{ noCeremony }

func passkeyOf(r *pintle.CeremonyRequest) (*pintle.Passkey, error) {
	var answer struct{ ID string }
	if err := json.Unmarshal(r.Answer, &answer); err != nil {
		return nil, err
	}
	id, err := base64.RawURLEncoding.DecodeString(answer.ID)
	return &pintle.Passkey{CredentialID: base64.StdEncoding.EncodeToString(id)}, err
}

func (anyPasskey) VerifyRegistration(_ context.Context, r *pintle.CeremonyRequest) (*pintle.Passkey, error) {
	return passkeyOf(r)
}

func (anyPasskey) VerifyAuthentication(_ context.Context, r *pintle.CeremonyRequest) (*pintle.Passkey, error) {
	used, err := passkeyOf(r)
	if err == nil {
		used.Counter = r.Passkeys[0].Counter + 1
	}
	return used, err
}

// passkey does a ceremony with the credential id, and returns the answer to it.
func (b *browser) passkey(action, id string, typed ...string) *reply {
	b.t.Helper()
	form := url.Values{"action": {action}}
	for i := 0; i < len(typed); i += 2 {
		form.Set(typed[i], typed[i+1])
	}
	b.get("/auth/webauthn-options/passkey?" + form.Encode()).want(http.StatusOK)
	return b.post("/auth/callback/passkey", "action", action, "data", `{"id":"`+id+`"}`)
}

// hijackSite has a provider that reports addresses without verifying them
// ("acme"), one that verifies them ("careful"), mails, passkeys, and passwords of
// which checkPassword knows.
func hijackSite(t *testing.T, strategy pintle.SessionStrategy, changes ...func(*site)) (*site, *recordingTxStore) {
	t.Helper()
	k := newRecordingStore()
	changes = append([]func(*site){withRecordingStore(k, strategy), func(s *site) {
		careful := s.newIdentityProvider("https://careful.example")
		verifying := careful.OIDC("careful")
		verifying.EmailVerified = verifiedClaim
		careful.SignInAs(authtest.Person{Subject: "1", Name: "Mallory", Email: "mallory@example.com", EmailVerified: true})
		s.ExperimentalPasskeys = true
		s.Session.Revocation = &memstore.Revocations{}
		s.Providers = []pintle.Provider{
			s.idp.OIDC("acme"), verifying, s.mailProvider(), &pintle.WebAuthn{Ceremony: anyPasskey{}},
			&pintle.Credentials{Authorize: checkPassword, CanSignIn: knowsNoUser},
		}
	}}, changes...)
	s := newSite(t, changes...)
	s.idp.SignInAs(attackerElsewhere)
	return s, k
}

// isAsked fails the test unless the browser is signed out and sees the page
// that asks who owns the account.
func (b *browser) isAsked(r *reply) *reply {
	b.t.Helper()
	r.goesTo(b.site.url + addressPage + "?error=OAuthAccountNotLinked")
	if set := r.cookies()[sessionCookie]; set != nil && set.Value != "" {
		b.t.Errorf("SA-H1 the answer signs the browser in")
	}
	return b.get(r.location()).want(http.StatusOK)
}

// tail is what a page shows.
func tail(body string) string {
	_, shown, _ := strings.Cut(body, "<main")
	return shown
}

// makesNew presses the button that goes on without the account.
func (b *browser) makesNew() *reply {
	b.t.Helper()
	return b.post(addressPage, "choice", "new")
}

// sub returns the id of the signed-in user, or "".
func (b *browser) sub() string {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.site.url+"/", nil)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range b.client.Jar.Cookies(b.address()) {
		r.AddCookie(c)
	}
	session, err := b.site.auth.Session(r)
	if err != nil {
		b.t.Fatal(err)
	}
	if session == nil {
		return ""
	}
	return session.User.ID
}

func TestAMailDoesNotJoinAUserOfAnAttacker(t *testing.T) {
	attacks := []struct {
		name string

		// come signs the attacker in as a user with the victim's address.
		come func(*browser)

		// again signs the attacker in another time.
		again func(*browser)

		names string // on the page
	}{
		{
			"classic-federated merge, a non-verifying provider first",
			func(b *browser) { b.signInWith("acme").goesTo(b.site.url) },
			func(b *browser) { b.signInWith("acme").goesTo(b.site.url) },
			`/auth/signin/acme"`,
		},
		{
			"classic-federated merge, a passkey first",
			func(b *browser) { b.passkey("register", "AAAA", "email", victimAddress).goesTo(b.site.url) },
			func(b *browser) { b.passkey("authenticate", "AAAA").goesTo(b.site.url) },
			"Sign in another way",
		},
		{
			"trojan identifier, the attacker links their own account of a verifying provider",
			func(b *browser) {
				b.signInWith("acme").goesTo(b.site.url)
				b.signInWith("careful").goesTo(b.site.url)
			},
			func(b *browser) { b.signInWith("careful").goesTo(b.site.url) },
			`/auth/signin/careful"`,
		},
		{
			"trojan identifier, the attacker adds a passkey",
			func(b *browser) {
				b.signInWith("acme").goesTo(b.site.url)
				b.passkey("register", "AAAA").goesTo(b.site.url)
			},
			func(b *browser) { b.passkey("authenticate", "AAAA").goesTo(b.site.url) },
			"Sign in another way",
		},
	}
	for _, tt := range attacks {
		for _, strategy := range strategies {
			t.Run("W-55 SA-H1 SH-15 SH-82 "+tt.name+" with sessions as "+string(strategy), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, k := hijackSite(t, strategy)
					mallory := s.browser()
					tt.come(mallory)
					trap := k.byEmail(t, victimAddress)

					victim := s.browser()
					page := victim.isAsked(victim.get(victim.mailTo(victimAddress).URL))
					if victim.sub() != "" {
						t.Fatal("the victim is signed in as the attacker's user")
					}
					if !strings.Contains(page.body, tt.names) || !strings.Contains(page.body, victimAddress) || strings.Contains(page.body, "token=") {
						t.Errorf("the page does not offer %q: %s", tt.names, tail(page.body))
					}
					linked, err := k.UserAccounts(t.Context(), trap.ID)
					if err != nil {
						t.Fatal(err)
					}
					for _, id := range []string{"acme", "careful"} {
						has := slices.ContainsFunc(linked, func(a *pintle.Account) bool { return a.Provider == id })
						if strings.Contains(page.body, "/auth/signin/"+id+`"`) != has {
							t.Errorf("the user has an account of %s: %t; the page says otherwise: %s", id, has, tail(page.body))
						}
					}
					if got := page.header.Get("Cache-Control"); !strings.Contains(got, "no-store") {
						t.Errorf("Cache-Control is %q", got)
					}
					if now := k.byEmail(t, victimAddress); now.ID != trap.ID || !now.EmailVerified.IsZero() {
						t.Errorf("the question changed the user to %+v", now)
					}

					s.eventNames()
					victim.makesNew().goesTo(s.url)
					own := k.byEmail(t, victimAddress)
					if own == nil || own.ID == trap.ID || own.EmailVerified.IsZero() || victim.sub() != own.ID {
						t.Fatalf("the victim is %q, the address belongs to %+v", victim.sub(), own)
					}
					if names := s.eventNames(); !slices.Equal(names, []string{"updateUser", "createUser", "signIn"}) {
						t.Errorf("the events are %q", names)
					}
					if victim.cookie(proofCookie) != "" {
						t.Error("the proof stays in the browser")
					}

					// The attacker keeps what is theirs, and nothing of the victim's.
					old, err := k.Store.User(t.Context(), trap.ID)
					if err != nil || old.Email != "" {
						t.Errorf("the attacker's user is %+v (%v)", old, err)
					}
					time.Sleep(time.Second) // tokens say in whole seconds when they began
					again := s.browser()
					tt.again(again)
					if again.sub() != trap.ID {
						t.Errorf("the attacker is %q, want %q", again.sub(), trap.ID)
					}
					if now := k.byEmail(t, victimAddress); now.ID != own.ID {
						t.Errorf("the address went back to %+v", now)
					}
					later := s.browser()
					later.get(later.mailTo(victimAddress).URL).goesTo(s.url)
					if later.sub() != own.ID {
						t.Errorf("the next mail signs in as %q, want %q", later.sub(), own.ID)
					}
				})
			})
		}
	}
}

// A password that only the host knows cannot be taken away here, so the victim
// does not get into the user it belongs to.
func TestAMailDoesNotJoinAUserWithAPassword(t *testing.T) {
	passwords := map[string]func(context.Context, *pintle.User) (bool, error){
		"that the host knows of": func(_ context.Context, u *pintle.User) (bool, error) { return u.Email == victimAddress, nil },
		"that may exist":         nil,
	}
	for name, knows := range passwords {
		for _, strategy := range strategies {
			t.Run("SA-H1 classic-federated merge, a password "+name+" with sessions as "+string(strategy), func(t *testing.T) {
				s, k := hijackSite(t, strategy, func(s *site) {
					s.Providers[4] = &pintle.Credentials{Authorize: checkPassword, CanSignIn: knows}
				})
				ada := people["ada"].user
				ada.Email = victimAddress
				trap := k.seedUser(t, ada)
				mallory := s.browser()
				mallory.signIn("ada")

				victim := s.browser()
				page := victim.isAsked(victim.get(victim.mailTo(victimAddress).URL))
				if !strings.Contains(page.body, "Sign in another way") {
					t.Errorf("the page does not lead to the form: %s", tail(page.body))
				}
				victim.makesNew().goesTo(s.url)
				if own := k.byEmail(t, victimAddress); own.ID == trap.ID || victim.sub() != own.ID {
					t.Errorf("the victim is %q, the address belongs to %+v", victim.sub(), own)
				}
				// The password stays. A token session, which has the address in it, ends.
				want := trap.ID
				if strategy == pintle.StrategyJWT {
					want = ""
				}
				if mallory.sub() != want {
					t.Errorf("the owner of the password is %q, want %q", mallory.sub(), want)
				}
			})
		}
	}
	t.Run("SA-H1 a host that does not know fails closed", func(t *testing.T) {
		s, k := hijackSite(t, pintle.StrategyDatabase, func(s *site) {
			s.Providers[4] = &pintle.Credentials{Authorize: checkPassword, CanSignIn: func(context.Context, *pintle.User) (bool, error) { return false, errBroken }}
		})
		k.seedUser(t, pintle.User{Email: victimAddress})
		victim := s.browser()
		victim.get(victim.mailTo(victimAddress).URL).fails("/auth/error", "Configuration")
	})
}

// SA-H1: Two configurations share a store. One has passwords, the other mails, and
// cannot see that a password at the first lets the attacker into the user.
func TestAMailDoesNotJoinAUserWithAPasswordElsewhere(t *testing.T) {
	for _, strategy := range strategies {
		for name, tt := range map[string]struct {
			has   func(context.Context, *pintle.User) (bool, error)
			asked bool
		}{
			"a user with one":    {func(_ context.Context, u *pintle.User) (bool, error) { return u.Email == victimAddress, nil }, true},
			"a user without one": {knowsNoUser, false},
		} {
			t.Run(name+" with sessions as "+string(strategy), func(t *testing.T) {
				s, k := mailSite(t, strategy, func(s *site, _ *pintle.Email) { s.Callbacks.HasPassword = tt.has })
				trap := k.seedUser(t, pintle.User{Name: "Mallory", Email: victimAddress})
				victim := s.browser()
				opened := victim.get(victim.mailTo(victimAddress).URL)
				if !tt.asked {
					if opened.goesTo(s.url); victim.sub() != trap.ID {
						t.Errorf("the reader of the mail is %q, want %q", victim.sub(), trap.ID)
					}
					return
				}
				victim.isAsked(opened)
				victim.makesNew().goesTo(s.url)
				if own := k.byEmail(t, victimAddress); own.ID == trap.ID || victim.sub() != own.ID {
					t.Errorf("the victim is %q, the address belongs to %+v", victim.sub(), own)
				}
			})
		}
	}
	t.Run("a host that does not know fails closed", func(t *testing.T) {
		s, k := mailSite(t, pintle.StrategyDatabase, func(s *site, _ *pintle.Email) {
			s.Callbacks.HasPassword = func(context.Context, *pintle.User) (bool, error) { return false, errBroken }
		})
		k.seedUser(t, pintle.User{Email: victimAddress})
		victim := s.browser()
		victim.get(victim.mailTo(victimAddress).URL).fails("/auth/error", "Configuration")
		if !strings.Contains(s.log.String(), "Callbacks.HasPassword") {
			t.Errorf("the log says %s", s.log)
		}
	})
	for name, tt := range map[string]struct {
		elsewhere, here func(context.Context, *pintle.User) (bool, error)
	}{
		"a password elsewhere and none here":                                {func(context.Context, *pintle.User) (bool, error) { return true, nil }, knowsNoUser},
		"none elsewhere and a password here that the host does not know of": {knowsNoUser, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, k := hijackSite(t, pintle.StrategyDatabase, func(s *site) {
				s.Callbacks.HasPassword = tt.elsewhere
				s.Providers[4] = &pintle.Credentials{Authorize: checkPassword, CanSignIn: tt.here}
			})
			k.seedUser(t, pintle.User{Email: victimAddress})
			victim := s.browser()
			victim.isAsked(victim.get(victim.mailTo(victimAddress).URL))
		})
	}
}

// The page leads to the sign-in page only where the user has something to show there.
func TestTheQuestionLeadsToPasskeys(t *testing.T) {
	for has, come := range map[bool]func(*browser){
		true:  func(b *browser) { b.passkey("register", "AAAA").goesTo(b.site.url) },
		false: func(*browser) {},
	} {
		t.Run(fmt.Sprintf("SA-H1 a passkey: %t", has), func(t *testing.T) {
			s, k := hijackSite(t, pintle.StrategyDatabase, func(s *site) { s.Providers = s.Providers[:4] })
			mallory := s.browser()
			mallory.signInWith("acme").goesTo(s.url)
			come(mallory)
			k.seedAccount(t, k.byEmail(t, victimAddress), "email", victimAddress) // a mail is no second proof
			victim := s.browser()
			page := victim.isAsked(victim.get(victim.mailTo(victimAddress).URL))
			if got := strings.Contains(page.body, "Sign in another way"); got != has {
				t.Errorf("the page leads to the sign-in page: %t, want %t: %s", got, has, tail(page.body))
			}
		})
	}
}

// A user without another way in belongs to the reader of the mail. A session
// from before does not.
func TestTheFirstProofEndsOtherSessions(t *testing.T) {
	for _, strategy := range strategies {
		t.Run("SA-H1 unexpired session as "+string(strategy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, k := hijackSite(t, strategy)
				mallory := s.browser()
				mallory.signInWith("acme").goesTo(s.url)
				trap := k.byEmail(t, victimAddress)
				if mallory.sub() != trap.ID {
					t.Fatal("the attacker is not signed in")
				}
				if err := k.Store.UnlinkAccount(t.Context(), trap.ID, "acme", attackerElsewhere.Subject, nil); err != nil {
					t.Fatal(err)
				}
				victim := s.browser()
				victim.get(victim.mailTo(victimAddress).URL).goesTo(s.url)
				if mallory.sub() != "" {
					t.Error("the session of the attacker goes on")
				}
				if victim.sub() != trap.ID || k.byEmail(t, victimAddress).EmailVerified.IsZero() {
					t.Errorf("the victim is %q, want %q", victim.sub(), trap.ID)
				}
				// Later proofs end nothing: the first one is what counts. Tokens say in
				// whole seconds when they began.
				time.Sleep(time.Second)
				other := s.browser()
				other.get(other.mailTo(victimAddress).URL).goesTo(s.url)
				if victim.sub() != trap.ID || other.sub() != trap.ID {
					t.Error("a second mail ended a session")
				}
			})
		})
	}
	t.Run("SA-H1 a session that the attacker planted in this browser", func(t *testing.T) {
		s, k := hijackSite(t, pintle.StrategyDatabase)
		trap := k.seedUser(t, pintle.User{Email: victimAddress})
		held := k.seedSession(t, trap, time.Hour)
		victim := s.browser()
		m := victim.mailTo(victimAddress)
		victim.plant(sessionCookie, held)
		victim.get(m.URL).goesTo(s.url)
		mallory := s.browser()
		mallory.plant(sessionCookie, held)
		if mallory.sub() != "" || victim.sub() != trap.ID {
			t.Errorf("the planted session is of %q, the victim's of %q", mallory.sub(), victim.sub())
		}
	})
	for _, strategy := range strategies {
		t.Run("SA-H1 an account that is linked at the same moment, sessions as "+string(strategy), func(t *testing.T) {
			s, k := hijackSite(t, strategy)
			trap := k.seedUser(t, pintle.User{Email: victimAddress})
			mallory, victim := s.browser(), s.browser()
			mallory.signInAs(k, trap, strategy)
			back := mallory.consent(mallory.leave("careful"))
			m := victim.mailTo(victimAddress)
			k.before = func(operation string) {
				if operation == "begin" { // the session was read
					k.before = nil
					victim.get(m.URL).goesTo(s.url)
				}
			}
			mallory.get(back)
			if owner := k.owner(t, "careful", "1"); owner != nil {
				t.Errorf("the attacker's account signs in as %+v", owner)
			}
			if mallory.sub() != "" || victim.sub() != trap.ID {
				t.Errorf("the attacker is %q, the victim %q", mallory.sub(), victim.sub())
			}
		})
	}
	t.Run("SA-H1 a list of ended sessions that does not answer", func(t *testing.T) {
		s, k := hijackSite(t, pintle.StrategyJWT, func(s *site) { s.Session.Revocation = brokenRevocation{} })
		k.seedUser(t, pintle.User{Email: victimAddress})
		victim := s.browser()
		victim.get(victim.mailTo(victimAddress).URL).fails("/auth/error", "Configuration")
		if !k.byEmail(t, victimAddress).EmailVerified.IsZero() {
			t.Error("the address counts as proven although sessions could not be ended")
		}
	})
}

type brokenRevocation struct{}

func (brokenRevocation) RevokeUser(context.Context, string, time.Time) error { return errBroken }

func (brokenRevocation) Revoked(context.Context, pintle.TokenSession) (bool, error) {
	return false, nil
}

func (brokenRevocation) Revoke(context.Context, pintle.TokenSession, time.Time) error { return nil }

// A user of a provider that verifies addresses has proven theirs.
func TestAVerifyingProviderCountsAsAProof(t *testing.T) {
	for _, strategy := range strategies {
		for name, tt := range map[string]struct {
			provider string
			fault    authtest.Fault
			asked    bool
		}{
			"a provider that verifies":                              {"careful", "", false},
			"a provider that verifies, with an address in capitals": {"careful", authtest.EmailUppercase, false},
			"a provider that says that it has not":                  {"careful", authtest.EmailUnverified, true},
			"a provider that says so in text":                       {"careful", authtest.EmailUnverifiedText, true},
			"a provider that does not say":                          {"careful", authtest.EmailVerifiedMissing, true},
			"a non-verifying provider that says that it has":        {"acme", "", true},
		} {
			t.Run("SA-H1 "+name+" with sessions as "+string(strategy), func(t *testing.T) {
				var careful *authtest.IdentityProvider
				s, k := hijackSite(t, strategy, func(s *site) {
					careful = s.net["careful.example"].(*authtest.IdentityProvider)
				})
				ada := adaElsewhere
				careful.SignInAs(ada)
				s.idp.SignInAs(ada)
				if tt.fault != "" {
					careful.Break(tt.fault)
				}
				first := s.browser()
				first.signInWith(tt.provider).goesTo(s.url)
				user := k.byEmail(t, "ada@example.com")

				b := s.browser()
				r := b.get(b.mailTo("ada@example.com").URL)
				if tt.asked {
					b.isAsked(r)
					return
				}
				r.goesTo(s.url)
				now := k.byEmail(t, "ada@example.com")
				if b.sub() != user.ID || now.ID != user.ID || now.EmailVerified.IsZero() {
					t.Errorf("signed in as %q; the user is %+v", b.sub(), now)
				}
				if first.sub() != user.ID {
					t.Error("the first session ended")
				}
				again := s.browser()
				again.signInWith(tt.provider).goesTo(s.url)
				if again.sub() != user.ID {
					t.Error("the provider signs in as another user")
				}
			})
		}
	}
}

// Another host of the domain can plant a session of the attacker's user. An
// account that the victim links in it does not prove who owns the address of
// that user.
func TestAnAccountLinkedToAnUnprovenUserDoesNotVouch(t *testing.T) {
	linked := func(t *testing.T, strategy pintle.SessionStrategy, seed pintle.User) (*site, *recordingTxStore, *pintle.User) {
		t.Helper()
		s, k := hijackSite(t, strategy)
		s.net["careful.example"].(*authtest.IdentityProvider).SignInAs(authtest.Person{Subject: "7", Name: "Victim", Email: victimAddress, EmailVerified: true})
		trap := k.seedUser(t, seed)
		k.seedAccount(t, trap, "acme", attackerElsewhere.Subject)
		b := s.browser()
		b.signInAs(k, trap, strategy)
		b.signInWith("careful").goesTo(s.url)
		if owner := k.owner(t, "careful", "7"); owner == nil || owner.ID != trap.ID {
			t.Fatalf("the account is linked to %v", owner)
		}
		return s, k, trap
	}
	for _, strategy := range strategies {
		t.Run("SA-H1 when the question about the address is over, "+string(strategy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, k, victim, trap := askedSite(t, strategy)
				s.net["careful.example"].(*authtest.IdentityProvider).SignInAs(authtest.Person{Subject: "7", Name: "Victim", Email: victimAddress, EmailVerified: true})
				time.Sleep(16 * time.Minute)
				victim.signInAs(k, trap, strategy)
				victim.signInWith("careful").goesTo(s.url)
				mail := s.browser()
				mail.isAsked(mail.get(mail.mailTo(victimAddress).URL))
			})
		})
		t.Run("SA-H1 when the attacker's user is given the address later, "+string(strategy), func(t *testing.T) {
			s, k, trap := linked(t, strategy, pintle.User{Name: "Mallory", Email: attackersOwn, EmailVerified: time.Now()})
			address, never := victimAddress, time.Time{}
			if _, err := k.Store.UpdateUser(t.Context(), trap.ID, pintle.UserUpdate{Email: &address, EmailVerified: &never}); err != nil {
				t.Fatal(err)
			}
			mail := s.browser()
			mail.isAsked(mail.get(mail.mailTo(victimAddress).URL))
		})
		t.Run("SA-H1 the account of a user who has proven the address vouches, "+string(strategy), func(t *testing.T) {
			_, k, _ := linked(t, strategy, pintle.User{Name: "Victim", Email: victimAddress, EmailVerified: time.Now()})
			stored, err := k.Store.Account(t.Context(), "careful", "7")
			if err != nil || stored.VerifiedEmail != victimAddress {
				t.Errorf("the account is %+v (%v)", stored, err)
			}
		})
	}
}

// Two proofs agree: the mail, and a sign-in as the user in this browser.
func TestSigningInAsBeforeConfirmsTheAddress(t *testing.T) {
	ways := []struct {
		name string
		come func(*browser)
	}{
		{"with the provider", func(b *browser) { b.signInWith("acme").goesTo(b.site.url) }},
		{"with a passkey", func(b *browser) { b.passkey("authenticate", "AAAA").goesTo(b.site.url) }},
		{"with a password", func(b *browser) { b.signIn("ada") }},
	}
	for _, way := range ways {
		for _, strategy := range strategies {
			t.Run("SA-H1 "+way.name+" and sessions as "+string(strategy), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, k := hijackSite(t, strategy)
					ada := people["ada"].user
					ada.Email = victimAddress
					user := k.seedUser(t, ada)
					k.seedAccount(t, user, "acme", attackerElsewhere.Subject)
					if err := errors.Join(
						k.Store.LinkAccount(t.Context(), &pintle.Account{UserID: user.ID, Type: pintle.TypeWebAuthn, Provider: "passkey", ProviderAccountID: "AAAA"}),
						k.CreatePasskey(t.Context(), &pintle.Passkey{CredentialID: "AAAA", ProviderAccountID: "AAAA", UserID: user.ID}),
					); err != nil {
						t.Fatal(err)
					}
					elsewhere, b := s.browser(), s.browser()
					way.come(elsewhere)

					b.isAsked(b.get(b.mailTo(victimAddress).URL))
					way.come(elsewhere) // in another browser it proves nothing
					if !k.byEmail(t, victimAddress).EmailVerified.IsZero() {
						t.Fatal("a sign-in in another browser confirmed the address")
					}
					proof := b.cookie(proofCookie)
					s.eventNames()
					way.come(b)
					now := k.byEmail(t, victimAddress)
					if b.sub() != user.ID || now.ID != user.ID || now.EmailVerified.IsZero() {
						t.Fatalf("signed in as %q; the user is %+v", b.sub(), now)
					}
					if e := lastEvent[*pintle.SignInEvent](s, "signIn"); strategy == pintle.StrategyJWT && way.name == "with a password" && e.User.Email != people["ada"].user.Email {
						t.Errorf("the session is of %q, not of the user that Authorize returned", e.User.Email)
					}
					if names := s.eventNames(); !slices.Equal(names, []string{"updateUser", "signIn"}) {
						t.Errorf("the events are %q", names)
					}
					if b.cookie(proofCookie) != "" {
						t.Error("the proof stays in the browser")
					}
					if elsewhere.sub() != "" {
						t.Error("a session from before the proof goes on")
					}
					// The proof is used up: it takes the address from no user.
					b.plant(proofCookie, proof)
					b.makesNew().fails("/auth/error", "Verification")
					time.Sleep(time.Second)
					mail := s.browser()
					mail.get(mail.mailTo(victimAddress).URL).goesTo(s.url)
					if mail.sub() != user.ID {
						t.Errorf("the next mail signs in as %q", mail.sub())
					}
				})
			})
		}
	}
	t.Run("SA-H1 with a provider that answers with a form from its own site", func(t *testing.T) {
		k := newRecordingStore()
		s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase), withFormPost, func(s *site) { s.Providers = append(s.Providers, s.mailProvider()) })
		s.idp.SignInAs(attackerElsewhere)
		signIn := func(b *browser) {
			action, fields := b.leaveFor("/")
			b.postForm(action, fields).goesTo(s.url + "/")
		}
		signIn(s.browser())
		b := s.browser()
		r := b.get(b.mailTo(victimAddress).URL)
		if proof := r.cookies()["__Host-"+proofCookie]; proof == nil || proof.SameSite != http.SameSiteNoneMode || !proof.Secure || !proof.HttpOnly || proof.Domain != "" || proof.Path != "/" {
			t.Errorf("the proof does not come along with the form: %v", proof)
		}
		b.isAsked(r)
		signIn(b)
		if k.byEmail(t, victimAddress).EmailVerified.IsZero() {
			t.Error("the address is not proven")
		}
	})
	t.Run("SA-H1 an address that was changed meanwhile is not the one that was proven", func(t *testing.T) {
		_, k, victim, user := askedSite(t, pintle.StrategyDatabase)
		other := "other@example.com"
		if _, err := k.Store.UpdateUser(t.Context(), user.ID, pintle.UserUpdate{Email: &other}); err != nil {
			t.Fatal(err)
		}
		victim.signInWith("acme").goesTo(victim.site.url)
		if now := k.byEmail(t, other); !now.EmailVerified.IsZero() {
			t.Errorf("the new address counts as proven: %+v", now)
		}
	})
	t.Run("SA-H1 signing in as another user proves nothing", func(t *testing.T) {
		s, k := hijackSite(t, pintle.StrategyDatabase)
		trap := k.seedUser(t, pintle.User{Email: victimAddress})
		k.seedAccount(t, trap, "acme", "the attacker's")
		victim := s.browser()
		victim.isAsked(victim.get(victim.mailTo(victimAddress).URL))
		victim.signInWith("careful").goesTo(s.url)
		if !k.byEmail(t, victimAddress).EmailVerified.IsZero() || victim.sub() == trap.ID {
			t.Error("the address counts as proven for the attacker's user")
		}
	})
}

// Another host of the domain can plant every cookie but the proof, whose name
// begins with __Host- if the site has https.
func TestWhatANeighbourPlantsIsNoSecondProof(t *testing.T) {
	unproven := func(t *testing.T, k *recordingTxStore, trap *pintle.User) {
		t.Helper()
		if now := k.byEmail(t, victimAddress); now == nil || now.ID != trap.ID || !now.EmailVerified.IsZero() {
			t.Errorf("the address belongs to %+v, want it unproven", now)
		}
	}
	for _, strategy := range strategies {
		t.Run("SA-H1 the cookies of a flow of the attacker's, sessions as "+string(strategy), func(t *testing.T) {
			s, k, victim, trap := askedSite(t, strategy)
			attacker := s.browser()
			back := attacker.consent(attacker.leave("acme"))
			for _, name := range checkCookies {
				victim.plant(name, attacker.cookie(name))
			}
			victim.get(back).goesTo(s.url)
			unproven(t, k, trap)
		})
		t.Run("SA-H1 the cookies of a flow of the attacker's with another proof, sessions as "+string(strategy), func(t *testing.T) {
			s, k, victim, trap := askedSite(t, strategy)
			attacker := s.browser()
			other := k.seedUser(t, pintle.User{Email: "other@example.com"})
			k.seedAccount(t, other, "acme", "other")
			attacker.isAsked(attacker.get(attacker.mailTo("other@example.com").URL))
			back := attacker.consent(attacker.leave("acme"))
			for _, name := range checkCookies {
				victim.plant(name, attacker.cookie(name))
			}
			victim.get(back).goesTo(s.url)
			unproven(t, k, trap)
		})
		t.Run("SA-H1 the challenge of a ceremony of the attacker's, sessions as "+string(strategy), func(t *testing.T) {
			s, k := hijackSite(t, strategy)
			s.browser().passkey("register", "AAAA", "email", victimAddress).goesTo(s.url)
			trap := k.byEmail(t, victimAddress)
			victim, attacker := s.browser(), s.browser()
			victim.isAsked(victim.get(victim.mailTo(victimAddress).URL))
			attacker.get("/auth/webauthn-options/passkey?action=authenticate").want(http.StatusOK)
			victim.plant("authjs.challenge", attacker.cookie("authjs.challenge"))
			victim.postForm("/auth/callback/passkey", url.Values{"action": {"authenticate"}, "data": {`{"id":"AAAA"}`}}).goesTo(s.url)
			unproven(t, k, trap)
		})
		t.Run("SA-H1 a session, to which the victim's account is linked, as "+string(strategy), func(t *testing.T) {
			s, k, victim, trap := askedSite(t, strategy)
			s.net["careful.example"].(*authtest.IdentityProvider).SignInAs(authtest.Person{Subject: "7", Name: "Victim", Email: victimAddress, EmailVerified: true})
			victim.signInAs(k, trap, strategy)
			for range 2 {
				victim.signInWith("careful").fails("/auth/signin", "OAuthAccountNotLinked")
				unproven(t, k, trap)
			}
			if owner := k.owner(t, "careful", "7"); owner != nil {
				t.Errorf("the victim's account signs in as %+v", owner)
			}
			victim.passkey("register", "AAAA").fails("/auth/signin", "AccountNotLinked")
			mail := s.browser()
			mail.isAsked(mail.get(mail.mailTo(victimAddress).URL))
		})
		t.Run("SA-H1 a session, in which the attacker's account signs in, as "+string(strategy), func(t *testing.T) {
			s, k, victim, trap := askedSite(t, strategy)
			victim.signInAs(k, trap, strategy)
			victim.signInWith("acme").goesTo(s.url)
			unproven(t, k, trap)
		})
		t.Run("SA-H1 a session that the browser had before confirms the address, as "+string(strategy), func(t *testing.T) {
			s, k := hijackSite(t, strategy)
			b := s.browser()
			b.signInWith("acme").goesTo(s.url)
			user := k.byEmail(t, victimAddress)
			b.isAsked(b.get(b.mailTo(victimAddress).URL))
			b.signInWith("acme").goesTo(s.url)
			if now := k.byEmail(t, victimAddress); now.ID != user.ID || now.EmailVerified.IsZero() {
				t.Errorf("the user is %+v", now)
			}
		})
	}
	t.Run("SA-H1 a password that a form of another site sends, where no form token is checked", func(t *testing.T) {
		s, k := hijackSite(t, pintle.StrategyDatabase, func(s *site) { s.DangerouslySkipCSRFCheck = true })
		ada := people["ada"].user
		ada.Email = victimAddress
		trap := k.seedUser(t, ada)
		k.seedAccount(t, trap, "acme", attackerElsewhere.Subject)
		victim := s.browser()
		mail := func() string {
			victim.postForm("/auth/signin/email", url.Values{"email": {victimAddress}}).want(http.StatusFound)
			return victim.site.lastMail().URL
		}
		victim.isAsked(victim.get(mail()))
		victim.postForm("/auth/callback/credentials", url.Values{"username": {"ada"}, "password": {people["ada"].password}}).goesTo(s.url)
		unproven(t, k, trap)
	})
}

// The mark of a proof is in the ids of flows that begin in a browser with a proof,
// and nothing else of a flow changes.
func TestTheIDOfAFlowNamesTheProof(t *testing.T) {
	s, _, victim, _ := askedSite(t, pintle.StrategyDatabase)
	const challengeCookie = "authjs.challenge"
	for name, tt := range map[string]struct {
		b               *browser
		flow, challenge int // dots
	}{
		"without a proof": {s.browser(), 1, 1},
		"with a proof":    {victim, 2, 2},
	} {
		t.Run("SA-H1 "+name, func(t *testing.T) {
			tt.b.leave("acme")
			tt.b.get("/auth/webauthn-options/passkey?action=authenticate").want(http.StatusOK)
			for cookie, want := range map[string]int{stateCookie: tt.flow, challengeCookie: tt.challenge} {
				id, _ := unsealed(t, cookie, tt.b.cookie(cookie))["jti"].(string)
				if got := strings.Count(id, "."); id == "" || got != want {
					t.Errorf("the id in %s is %q, want %d dots", cookie, id, want)
				}
			}
		})
	}
}

// The old user's tokens go on to say the address until they end.
func TestAUserWhoLosesTheAddressDoesNotShowIt(t *testing.T) {
	for _, strategy := range strategies {
		t.Run("SA-H1 with sessions as "+string(strategy), func(t *testing.T) {
			s, k := hijackSite(t, strategy)
			mallory := s.browser()
			mallory.signInWith("acme").goesTo(s.url)
			trap := k.byEmail(t, victimAddress)
			victim := s.browser()
			victim.isAsked(victim.get(victim.mailTo(victimAddress).URL))
			victim.makesNew().goesTo(s.url)
			if own := k.byEmail(t, victimAddress); own.ID == trap.ID || own.ID != victim.sub() {
				t.Fatalf("the address belongs to %+v", own)
			}
			if user, _ := mallory.session()["user"].(map[string]any); user["email"] == victimAddress {
				t.Errorf("the session of the old user goes on to say %v", user)
			}
			if strategy == pintle.StrategyDatabase && mallory.sub() != trap.ID {
				t.Error("the session in the database, which shows no address any more, ended")
			}
		})
	}
}

// askedSite is a site with a victim who sees the page that asks who owns the
// account.
func askedSite(t *testing.T, strategy pintle.SessionStrategy, changes ...func(*site)) (*site, *recordingTxStore, *browser, *pintle.User) {
	t.Helper()
	s, k := hijackSite(t, strategy, changes...)
	s.browser().signInWith("acme").goesTo(s.url)
	victim := s.browser()
	victim.isAsked(victim.get(victim.mailTo(victimAddress).URL))
	return s, k, victim, k.byEmail(t, victimAddress)
}

func TestTheProofIsUsedOnce(t *testing.T) {
	for _, strategy := range strategies {
		t.Run("SA-H1 a button that is pressed many times makes one user, "+string(strategy), func(t *testing.T) {
			s, k, victim, trap := askedSite(t, strategy)
			token := victim.csrf()
			got := outcomes(inParallel(func(int) *reply {
				return victim.postForm(addressPage, url.Values{"csrfToken": {token}, "choice": {"new"}})
			}))
			if got[s.url] != 1 || got[s.url+"/auth/error?error=Verification"] != clients-1 {
				t.Errorf("the answers lead to %v", got)
			}
			if own := k.byEmail(t, victimAddress); own == nil || own.ID == trap.ID {
				t.Errorf("the address belongs to %+v", own)
			}
		})
	}
	t.Run("SA-H1 a copy of the proof, when no user has the address any more", func(t *testing.T) {
		s, k, victim, _ := askedSite(t, pintle.StrategyDatabase)
		proof := victim.cookie(proofCookie)
		victim.makesNew().goesTo(s.url)
		if err := k.Store.DeleteUser(t.Context(), victim.sub()); err != nil {
			t.Fatal(err)
		}
		thief := s.browser()
		thief.plant(proofCookie, proof)
		thief.makesNew().fails("/auth/error", "Verification")
		if now := k.byEmail(t, victimAddress); now != nil {
			t.Errorf("the address belongs to %+v", now)
		}
	})
	t.Run("SA-H1 both choices at once", func(t *testing.T) {
		s, k, victim, trap := askedSite(t, pintle.StrategyDatabase)
		twin := s.browser()
		back := victim.consent(victim.leave("acme"))
		token := victim.csrf()
		twin.client.Jar.SetCookies(victim.address(), victim.client.Jar.Cookies(victim.address()))
		done := inParallel(func(i int) *reply {
			if i == 0 {
				return victim.get(back)
			}
			return twin.postForm(addressPage, url.Values{"csrfToken": {token}, "choice": {"new"}})
		})
		done[0].goesTo(s.url) // the person is signed in as before in any case
		holder := k.byEmail(t, victimAddress)
		old, err := k.Store.User(t.Context(), trap.ID)
		if err != nil || holder == nil || holder.EmailVerified.IsZero() {
			t.Fatalf("the address belongs to %+v (%v)", holder, err)
		}
		if (holder.ID == trap.ID) == (old.Email == "") {
			t.Errorf("the address belongs to %+v, the old user is %+v", holder, old)
		}
	})
	t.Run("SA-H1 the question is asked for a quarter of an hour", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, k, victim, trap := askedSite(t, pintle.StrategyDatabase)
			proof := victim.cookie(proofCookie)
			time.Sleep(16 * time.Minute)
			victim.plant(proofCookie, proof)
			victim.makesNew().fails("/auth/error", "Verification")
			victim.signInWith("acme").goesTo(victim.site.url)
			if now := k.byEmail(t, victimAddress); now.ID != trap.ID || !now.EmailVerified.IsZero() {
				t.Errorf("the user is %+v", now)
			}
		})
	})
	t.Run("SA-H1 the address went to another user meanwhile", func(t *testing.T) {
		_, k, victim, trap := askedSite(t, pintle.StrategyDatabase)
		if err := k.Store.DeleteUser(t.Context(), trap.ID); err != nil {
			t.Fatal(err)
		}
		grace := k.seedUser(t, pintle.User{Email: victimAddress})
		victim.get(addressPage+"?error=x").fails("/auth/error", "Verification")
		victim.makesNew().fails("/auth/error", "Verification")
		if now := k.byEmail(t, victimAddress); now.ID != grace.ID {
			t.Errorf("the address belongs to %+v", now)
		}
	})
	t.Run("SA-H1 the user is gone meanwhile", func(t *testing.T) {
		s, k, victim, trap := askedSite(t, pintle.StrategyDatabase)
		if err := k.Store.DeleteUser(t.Context(), trap.ID); err != nil {
			t.Fatal(err)
		}
		victim.makesNew().goesTo(s.url)
		if own := k.byEmail(t, victimAddress); own.ID == trap.ID || victim.sub() != own.ID {
			t.Errorf("the address belongs to %+v", own)
		}
	})
}

func TestTheQuestionBelongsToItsBrowser(t *testing.T) {
	t.Run("SA-H1 a form of another site", func(t *testing.T) {
		_, k, victim, trap := askedSite(t, pintle.StrategyDatabase)
		victim.postForm(addressPage, url.Values{"choice": {"new"}}).fails("/auth/signin", "MissingCSRF")
		if now := k.byEmail(t, victimAddress); now.ID != trap.ID {
			t.Error("a form without the token of the browser took the address")
		}
	})
	t.Run("SA-H1 another browser", func(t *testing.T) {
		s, _, _, _ := askedSite(t, pintle.StrategyDatabase)
		other := s.browser()
		other.get(addressPage+"?error=OAuthAccountNotLinked").fails("/auth/error", "Verification")
		other.makesNew().fails("/auth/error", "Verification")
	})
	t.Run("SA-H1 what is sealed for another purpose is no proof", func(t *testing.T) {
		s, _, _, _ := askedSite(t, pintle.StrategyDatabase)
		b := s.browser()
		b.leave("acme")
		b.plant(proofCookie, b.cookie(pkceCookie))
		b.get(addressPage+"?error=x").fails("/auth/error", "Verification")
		b.makesNew().fails("/auth/error", "Verification")
	})
	t.Run("SA-H1 the address was proven meanwhile", func(t *testing.T) {
		_, k, victim, trap := askedSite(t, pintle.StrategyDatabase)
		address, now := victimAddress, time.Now()
		if _, err := k.Store.UpdateUser(t.Context(), trap.ID, pintle.UserUpdate{Email: &address, EmailVerified: &now}); err != nil {
			t.Fatal(err)
		}
		victim.get(addressPage+"?error=x").fails("/auth/error", "Verification")
		victim.makesNew().fails("/auth/error", "Verification")
		if now := k.byEmail(t, victimAddress); now == nil || now.ID != trap.ID {
			t.Errorf("the address was taken from the user who has proven it: it belongs to %+v", now)
		}
	})
	t.Run("SA-H1 the callback route of another mail provider", func(t *testing.T) {
		_, k, victim, trap := askedSite(t, pintle.StrategyDatabase, func(s *site) {
			staff := s.mailProvider()
			staff.ID = "staff"
			s.Providers = append(s.Providers, staff)
		})
		victim.get("/auth/callback/staff?error=x").fails("/auth/error", "Verification")
		victim.post("/auth/callback/staff", "choice", "new").fails("/auth/error", "Verification")
		if now := k.byEmail(t, victimAddress); now.ID != trap.ID || victim.sub() != "" {
			t.Errorf("the address belongs to %+v, and %q is signed in", now, victim.sub())
		}
		victim.makesNew().goesTo(victim.site.url)
	})
	t.Run("SA-H1 no choice", func(t *testing.T) {
		_, _, victim, _ := askedSite(t, pintle.StrategyDatabase)
		victim.post(addressPage, "choice", "old").fails("/auth/error", "Verification")
		victim.makesNew().goesTo(victim.site.url)
	})
	t.Run("SA-H1 the row of the proof is no mail link", func(t *testing.T) {
		s, _, victim, _ := askedSite(t, pintle.StrategyDatabase)
		var check struct{ Value string }
		text, _ := json.Marshal(unsealed(t, proofCookie, victim.cookie(proofCookie)))
		_ = json.Unmarshal(text, &check)
		var proof struct{ Token string }
		if err := json.Unmarshal([]byte(check.Value), &proof); err != nil || proof.Token == "" {
			t.Fatal(err)
		}
		link := url.Values{"token": {proof.Token}, "email": {victimAddress}}
		s.browser().get(addressPage+"?"+link.Encode()).fails("/auth/error", "Verification")
	})
	t.Run("SA-H1 a script is told that the account is not linked", func(t *testing.T) {
		s, _ := hijackSite(t, pintle.StrategyDatabase)
		s.browser().signInWith("acme").goesTo(s.url)
		b := s.browser()
		var answer struct{ URL string }
		b.get(b.mailTo(victimAddress).URL, "X-Auth-Return-Redirect", "1").want(http.StatusOK).json(&answer)
		if code := mustParse(t, answer.URL).Query().Get("error"); code != "OAuthAccountNotLinked" || b.sub() != "" {
			t.Errorf("the script is told %q", answer.URL)
		}
	})
	t.Run("the way back is kept", func(t *testing.T) {
		s, _ := hijackSite(t, pintle.StrategyDatabase)
		s.browser().signInWith("acme").goesTo(s.url)
		b := s.browser()
		b.isAsked(b.get(b.mailTo(victimAddress, "callbackUrl", "/inbox").URL))
		b.makesNew().goesTo(s.url + "/inbox")
	})
}

// The callback is called for each user that would be signed in, before anything
// is written.
func TestTheCallbackIsAskedAboutBothUsers(t *testing.T) {
	var judged []string
	allowed := ""
	s, k := hijackSite(t, pintle.StrategyDatabase, func(s *site) {
		s.Callbacks.SignIn = func(_ context.Context, a *pintle.SignInAttempt) (string, error) {
			judged = append(judged, a.User.ID)
			if a.User.ID != allowed && allowed != "" {
				return "", pintle.CodeAccessDenied
			}
			return "", nil
		}
	})
	s.browser().signInWith("acme").goesTo(s.url)
	trap := k.byEmail(t, victimAddress)
	victim := s.browser()
	m := victim.mailTo(victimAddress)
	judged = nil
	victim.isAsked(victim.get(m.URL))
	allowed = trap.ID // every other user is refused
	k.takeCalls()
	victim.makesNew().fails("/auth/error", "AccessDenied")
	if len(judged) != 2 || judged[0] != trap.ID || judged[1] == trap.ID {
		t.Errorf("the callback was asked about %q, want the user %q and a new one", judged, trap.ID)
	}
	k.wantCalls(t, "begin", "useVerificationToken", "rollback", "useVerificationToken")
	if now := k.byEmail(t, victimAddress); now.ID != trap.ID {
		t.Errorf("a refusal took the address: it belongs to %+v", now)
	}
}

// A column that cannot be null gets an address to which no mail goes.
func TestAnAddressThatCannotBeNull(t *testing.T) {
	for _, transactions := range []bool{true, false} {
		k := newRecordingStore()
		strict := &strictStore{k.recordingStore}
		var store pintle.Store = strict
		if transactions {
			store = &strictTxStore{strict, k}
		}
		s, _ := hijackSite(t, pintle.StrategyDatabase, func(s *site) { s.Store = store })
		s.browser().signInWith("acme").goesTo(s.url)
		trap := k.byEmail(t, victimAddress)
		victim := s.browser()
		victim.isAsked(victim.get(victim.mailTo(victimAddress).URL))
		victim.makesNew().goesTo(s.url)
		old, err := k.Store.User(t.Context(), trap.ID)
		if err != nil || old.Email != "taken+"+trap.ID+"@invalid" {
			t.Errorf("SA-H1 transactions %t: the old user is %+v (%v)", transactions, old, err)
		}
		if own := k.byEmail(t, victimAddress); own.ID == trap.ID || victim.sub() != own.ID {
			t.Errorf("SA-H1 transactions %t: the address belongs to %+v", transactions, own)
		}
	}
}

// A strictStore refuses to take an address away, as a column does that is NOT
// NULL. New users may be without, so that it can do without transactions.
type strictStore struct{ *recordingStore }

func (k *strictStore) UpdateUser(ctx context.Context, id string, change pintle.UserUpdate) (*pintle.User, error) {
	if change.Email != nil && *change.Email == "" {
		return nil, errBroken
	}
	return k.recordingStore.UpdateUser(ctx, id, change)
}

type strictTxStore struct {
	*strictStore
	k *recordingTxStore
}

func (k *strictTxStore) InTx(ctx context.Context, f func(pintle.Store) error) error {
	return k.k.InTx(ctx, func(s pintle.Store) error { return f(&strictStore{s.(*recordingStore)}) })
}

// A passkey may have lost its account, and may get it back.
func TestAPasskeyWithoutAnAccountIsAWayIn(t *testing.T) {
	s, k := hijackSite(t, pintle.StrategyDatabase)
	trap := k.seedUser(t, pintle.User{Email: victimAddress})
	if err := k.CreatePasskey(t.Context(), &pintle.Passkey{CredentialID: "AAAA", ProviderAccountID: "AAAA", UserID: trap.ID}); err != nil {
		t.Fatal(err)
	}
	b := s.browser()
	b.isAsked(b.get(b.mailTo(victimAddress).URL))
}

// A store that cannot say which accounts a user has may have some.
// SA-H1: a passkey signs in as the user of its account. Where the two name different
// users, as after a merge by hand, it signs in as neither.
func TestAPasskeyOfAnotherUsersAccountSignsNoUserIn(t *testing.T) {
	s, k := hijackSite(t, pintle.StrategyDatabase)
	ada, mallory := k.seedUser(t, people["ada"].user), k.seedUser(t, pintle.User{Name: "Mallory"})
	if err := errors.Join(
		k.Store.LinkAccount(t.Context(), &pintle.Account{UserID: ada.ID, Type: pintle.TypeWebAuthn, Provider: "passkey", ProviderAccountID: "AAAA"}),
		k.CreatePasskey(t.Context(), &pintle.Passkey{CredentialID: "AAAA", ProviderAccountID: "AAAA", UserID: mallory.ID}),
	); err != nil {
		t.Fatal(err)
	}
	b := s.browser()
	b.passkey("authenticate", "AAAA").fails("/auth/error", "WebAuthnVerificationError")
	if who := b.sub(); who != "" {
		t.Errorf("SA-H1 signed in as %q", who)
	}
}

// SA-H1: a passkey that was created for a signed-in user makes no user where the
// session has ended: here the user was removed, who must not come back.
func TestAPasskeyOfAUserWhoSignedOutIsNotStored(t *testing.T) {
	for _, strategy := range strategies {
		s, k := hijackSite(t, strategy)
		ada := k.seedUser(t, people["ada"].user)
		b := s.browser()
		b.signInAs(k, ada, strategy)
		b.get("/auth/webauthn-options/passkey?action=register").want(http.StatusOK)
		if err := k.Store.DeleteUser(t.Context(), ada.ID); err != nil {
			t.Fatal(err)
		}
		b.post("/auth/callback/passkey", "action", "register", "data", `{"id":"AAAA"}`)
		if owner := k.owner(t, "passkey", "AAAA"); owner != nil {
			t.Errorf("SA-H1 %s: the passkey is of %+v", strategy, owner)
		}
	}
}

func TestAStoreThatCannotListAccounts(t *testing.T) {
	k := newRecordingStore()
	k.seedUser(t, pintle.User{Email: victimAddress})
	mail := func(t *testing.T, providers ...string) (*browser, *reply) {
		s := newSite(t, with(plainRecordingStore{plain: k.recordingStore}, k.callLog, pintle.StrategyDatabase), func(s *site) {
			s.Providers = []pintle.Provider{s.mailProvider()}
			if len(providers) > 0 {
				s.Providers = append(s.Providers, s.idp.OIDC(providers[0]))
			}
		})
		b := s.browser()
		return b, b.get(b.mailTo(victimAddress).URL)
	}
	t.Run("SA-H1 beside a provider the reader is asked", func(t *testing.T) {
		b, r := mail(t, "acme")
		if page := b.isAsked(r); !strings.Contains(page.body, `/auth/signin/acme"`) {
			t.Errorf("the page is %s", tail(page.body))
		}
	})
	t.Run("with mail as the only provider there is no other user", func(t *testing.T) {
		b, r := mail(t)
		r.goesTo(b.site.url)
	})
}

// The administrator of an issuer that a customer entered can make it say that
// any address is verified.
func TestAnIssuerOfACustomerProvesNoAddress(t *testing.T) {
	for name, create := range map[string]func(provider.Options) *pintle.OAuth{
		"keycloak": provider.Keycloak, "okta": provider.Okta, "auth0": provider.Auth0, "zitadel": provider.ZITADEL,
		"authentik": provider.Authentik, "cognito": provider.Cognito, "openid-connect": provider.OpenIDConnect,
	} {
		t.Run("SA-H1 "+name, func(t *testing.T) {
			s, k := hijackSite(t, pintle.StrategyDatabase, func(s *site) {
				customer := s.newIdentityProvider("https://sso.customer.example")
				like := customer.OIDC("customer")
				own := create(provider.Options{ID: "customer", ClientID: like.ClientID, ClientSecret: like.ClientSecret, Issuer: like.Issuer})
				customer.SignInAs(authtest.Person{Subject: "666", Name: "Mallory", Email: victimAddress, EmailVerified: true})
				s.Providers = []pintle.Provider{own, s.mailProvider()}
			})
			s.browser().signInWith("customer").goesTo(s.url)
			trap := k.byEmail(t, victimAddress)
			victim := s.browser()
			victim.get(victim.mailTo(victimAddress).URL)
			if victim.sub() == trap.ID {
				t.Error("the victim's mail signs in to the user of the customer's administrator")
			}
		})
	}
}

// tableless is a store whose layout has no table for passkeys.
type tableless struct{ pintle.Store }

func (s tableless) Features() pintle.Features {
	return lacking(s.Store, func(f *pintle.Features) { f.Passkeys, f.PasskeyNames = false, false })
}

func (s tableless) InTx(ctx context.Context, f func(pintle.Store) error) error {
	return s.Store.InTx(ctx, func(tx pintle.Store) error { return f(tableless{tx}) })
}

func (s tableless) UserPasskeys(context.Context, string) ([]*pintle.Passkey, error) {
	return nil, fmt.Errorf("no table: %w", errors.ErrUnsupported)
}

func TestALayoutWithoutPasskeysHasNoOtherWaysInByPasskey(t *testing.T) {
	for _, strategy := range strategies {
		t.Run("SA-H1 "+string(strategy), func(t *testing.T) {
			store := memstore.New()
			s := newSite(t, func(s *site) {
				s.Store, s.Session.Strategy = tableless{store}, strategy
				s.Providers = []pintle.Provider{s.idp.OIDC("acme"), s.mailProvider()}
			})
			s.idp.SignInAs(attackerElsewhere)
			s.browser().signInWith("acme").goesTo(s.url)
			victim := s.browser()
			victim.isAsked(victim.get(victim.mailTo(victimAddress).URL))
		})
	}
}
