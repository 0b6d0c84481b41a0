package pintle_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

// once runs f before the next operation of that name, and then never again.
func (k *recordingStore) once(operation string, f func()) {
	var mu sync.Mutex
	done := false
	k.before = func(op string) {
		mu.Lock()
		due := op == operation && !done
		done = done || due
		mu.Unlock()
		if due {
			f()
		}
	}
}

const attackersOwn = "mallory@evil.example"

// SA-H1: The attacker reads mail at the attacker's own address, and has two
// browsers with a proof each. One takes the address away from the attacker's
// first user while the other confirms it for that user: the first user is left
// with EmailVerified and without an address. Without transactions a provider
// that verifies no addresses then fills in the victim's address.
func TestAProvenMarkIsWrittenWithItsAddress(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { fillIn(t, strategy) })
		})
	}
}

func fillIn(t *testing.T, strategy pintle.SessionStrategy) {
	k := newRecordingStore()
	s, _ := hijackSite(t, strategy, with(k.recordingStore, k.callLog, strategy)) // no transactions, as Redis, MongoDB and Xata
	s.idp.SignInAs(authtest.Person{Subject: "666", Name: "Mallory", Email: attackersOwn})
	s.browser().signInWith("acme").goesTo(s.url)
	trap := k.byEmail(t, attackersOwn)

	one, two := s.browser(), s.browser()
	one.isAsked(one.get(one.mailTo(attackersOwn).URL))
	two.isAsked(two.get(two.mailTo(attackersOwn).URL))
	back := one.consent(one.leave("acme"))
	k.once("updateUser", func() { one.get(back).goesTo(s.url) })
	two.makesNew()
	k.before = nil

	now, err := k.Store.User(t.Context(), trap.ID)
	if err != nil {
		t.Fatal(err)
	}
	if now.Email == "" && !now.EmailVerified.IsZero() {
		t.Errorf("the attacker's user has no address, which was proven at %v", now.EmailVerified)
	}

	time.Sleep(2 * time.Second)
	s.idp.SignInAs(attackerElsewhere) // acme does not verify addresses
	s.browser().signInWith("acme").goesTo(s.url)
	victim := s.browser()
	r := victim.get(victim.mailTo(victimAddress).URL)
	if victim.sub() == trap.ID {
		t.Errorf("the victim's first mail signs them in as the attacker's user without a question (%s)", r.location())
		again := s.browser()
		again.signInWith("acme").goesTo(s.url)
		if again.sub() == trap.ID {
			t.Error("and the attacker still signs in as that user")
		}
	}
}

// SA-H1: The host lets users change their address, and does it right: the new address
// is not verified. A change between the look at the user and the mark marks the
// new address, although no mail was read there.
func TestAnAddressThatChangesWhileItIsProvenStaysUnproven(t *testing.T) {
	for name, way := range map[string]struct {
		seed func(t *testing.T, s *site, k *recordingTxStore) *pintle.User
		come func(b *browser)
	}{
		"a mail to a user whom only mail signs in": {
			func(t *testing.T, _ *site, k *recordingTxStore) *pintle.User {
				return k.seedUser(t, pintle.User{Name: "Mallory", Email: attackersOwn})
			},
			func(b *browser) { b.get(b.mailTo(attackersOwn).URL) },
		},
		"a second proof": {
			func(t *testing.T, s *site, k *recordingTxStore) *pintle.User {
				s.idp.SignInAs(authtest.Person{Subject: "666", Name: "Mallory", Email: attackersOwn})
				s.browser().signInWith("acme").goesTo(s.url)
				return k.byEmail(t, attackersOwn)
			},
			func(b *browser) {
				b.isAsked(b.get(b.mailTo(attackersOwn).URL))
				b.signInWith("acme")
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newRecordingStore()
			s, _ := hijackSite(t, pintle.StrategyDatabase, with(k.recordingStore, k.callLog, pintle.StrategyDatabase))
			mallory := way.seed(t, s, k)
			k.once("updateUser", func() {
				address, never := victimAddress, mallory.EmailVerified
				if _, err := k.Store.UpdateUser(context.Background(), mallory.ID, pintle.UserUpdate{Email: &address, EmailVerified: &never}); err != nil {
					t.Error(err)
				}
			})
			way.come(s.browser())
			k.before = nil
			now, err := k.Store.User(t.Context(), mallory.ID)
			if err != nil {
				t.Fatal(err)
			}
			if now.Email == victimAddress && !now.EmailVerified.IsZero() {
				t.Errorf("%q counts as proven for the attacker's user, who read mail at %q", now.Email, attackersOwn)
			}
			victim := s.browser()
			victim.get(victim.mailTo(victimAddress).URL)
			if victim.sub() == mallory.ID {
				t.Errorf("the victim's first mail signs them in as the attacker's user")
			}
		})
	}
}

// SA-H1: A host lets a user remove their address and does not clear
// EmailVerified. The next sign-in fills in the address that a provider reports,
// which is unproven.
func TestAnAddressThatIsFilledInIsUnproven(t *testing.T) {
	k := newRecordingStore()
	s, _ := hijackSite(t, pintle.StrategyDatabase, with(k.recordingStore, k.callLog, pintle.StrategyDatabase))
	mallory := k.seedUser(t, pintle.User{Name: "Mallory", Email: attackersOwn, EmailVerified: time.Now()})
	k.seedAccount(t, mallory, "acme", attackerElsewhere.Subject)
	none := ""
	if _, err := k.Store.UpdateUser(t.Context(), mallory.ID, pintle.UserUpdate{Email: &none}); err != nil {
		t.Fatal(err)
	}
	s.browser().signInWith("acme").goesTo(s.url)
	victim := s.browser()
	victim.get(victim.mailTo(victimAddress).URL)
	if victim.sub() == mallory.ID {
		t.Error("the victim's mail signs them in as the attacker's user")
	}
}

// SA-H1: Without transactions a new user gets the address last. A mark that the user
// was given meanwhile, for no address, must not count for the one that a provider
// reports without having verified it.
func TestAnAddressThatIsWrittenLastIsUnproven(t *testing.T) {
	k := newRecordingStore()
	s, _ := hijackSite(t, pintle.StrategyDatabase, with(k.recordingStore, k.callLog, pintle.StrategyDatabase))
	k.once("updateUser", func() {
		owner, now := k.owner(t, "acme", attackerElsewhere.Subject), time.Now()
		if owner.Email != "" {
			t.Errorf("the address was written before: %q", owner.Email)
		}
		if _, err := k.Store.UpdateUser(context.Background(), owner.ID, pintle.UserUpdate{EmailVerified: &now}); err != nil {
			t.Error(err)
		}
	})
	s.browser().signInWith("acme").goesTo(s.url)
	k.before = nil
	if user := k.byEmail(t, victimAddress); user == nil || !user.EmailVerified.IsZero() {
		t.Errorf("the user is %+v", user)
	}
}
