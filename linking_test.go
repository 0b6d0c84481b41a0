package pintle_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
)

// The users of the provider, by subject.
var (
	adaElsewhere   = authtest.Person{Subject: "1001", Name: "Ada Lovelace", Email: "Ada@Example.com", EmailVerified: true}
	graceElsewhere = authtest.Person{Subject: "1002", Name: "Grace Hopper", Email: "grace@example.com", EmailVerified: true}
	noAddress      = authtest.Person{Subject: "1003", Name: "No Address"}
)

// A linkingCase is a row of the table that decides which user has come back
// from a provider.
type linkingCase struct {
	row string

	owner    string // who has the account: "", "ada" or "grace"
	signedIn string // who is signed in: "", "ada" or "grace"
	known    bool   // whether a user with the address exists who has no account
	trusted  bool   // DangerouslyLinkByEmail
	person   authtest.Person

	// tokens and database are the expected calls of the store, beginning with
	// the callback, and the events.
	tokens, database []string

	signsInAs string // the user of the session afterwards: "", "ada", "grace" or "new"
	code      string // of an error
}

var linkingTable = []linkingCase{
	{
		row: "O1 the account of the user who is signed in", owner: "ada", signedIn: "ada", person: adaElsewhere, signsInAs: "ada",
		tokens:   []string{"getUserByAccount", "getUser", "begin", "getUserByAccount", "commit", "event signIn"},
		database: []string{"getUserByAccount", "getSessionAndUser", "begin", "getUserByAccount", "commit", "event signIn"},
	},
	{
		row: "O2 the account of another user", owner: "grace", signedIn: "ada", person: adaElsewhere, signsInAs: "ada", code: "OAuthAccountNotLinked",
		tokens:   []string{"getUserByAccount", "getUser", "begin", "getUserByAccount", "rollback"},
		database: []string{"getUserByAccount", "getSessionAndUser", "begin", "getUserByAccount", "rollback"},
	},
	{
		row: "O3 the account of a user", owner: "ada", person: adaElsewhere, signsInAs: "ada",
		tokens:   []string{"getUserByAccount", "begin", "getUserByAccount", "commit", "event signIn"},
		database: []string{"getUserByAccount", "begin", "getUserByAccount", "createSession", "commit", "event signIn"},
	},
	{
		row: "O4 a new account of the user who is signed in", signedIn: "grace", person: adaElsewhere, signsInAs: "grace",
		tokens:   []string{"getUserByAccount", "getUser", "begin", "getUserByAccount", "linkAccount", "getUser", "commit", "event linkAccount", "event signIn"},
		database: []string{"getUserByAccount", "getSessionAndUser", "begin", "getUserByAccount", "getSessionAndUser", "linkAccount", "getUser", "commit", "event linkAccount", "event signIn"},
	},
	{
		row: "O4 a new account, whose address is another user's", signedIn: "grace", known: true, person: adaElsewhere, signsInAs: "grace",
		tokens:   []string{"getUserByAccount", "getUser", "begin", "getUserByAccount", "linkAccount", "getUser", "commit", "event linkAccount", "event signIn"},
		database: []string{"getUserByAccount", "getSessionAndUser", "begin", "getUserByAccount", "getSessionAndUser", "linkAccount", "getUser", "commit", "event linkAccount", "event signIn"},
	},
	{
		row: "O5 SH-15 SH-82 a new account with the address of a user", known: true, person: adaElsewhere, code: "OAuthAccountNotLinked",
		tokens:   []string{"getUserByAccount", "begin", "getUserByAccount", "getUserByEmail", "getUserByAccount", "rollback"},
		database: []string{"getUserByAccount", "begin", "getUserByAccount", "getUserByEmail", "getUserByAccount", "rollback"},
	},
	{
		row: "O6 Q2 W-34 the same, of a provider that is trusted", known: true, trusted: true, person: adaElsewhere, signsInAs: "ada",
		tokens:   []string{"getUserByAccount", "begin", "getUserByAccount", "getUserByEmail", "userAccounts", "linkAccount", "commit", "event linkAccount", "event signIn"},
		database: []string{"getUserByAccount", "begin", "getUserByAccount", "getUserByEmail", "userAccounts", "endUserSessions", "linkAccount", "createSession", "commit", "event linkAccount", "event signIn"},
	},
	{
		row: "O7 a new user", person: adaElsewhere, signsInAs: "new",
		tokens:   []string{"getUserByAccount", "begin", "getUserByAccount", "getUserByEmail", "createUser", "linkAccount", "commit", "event createUser", "event linkAccount", "event signIn"},
		database: []string{"getUserByAccount", "begin", "getUserByAccount", "getUserByEmail", "createUser", "linkAccount", "createSession", "commit", "event createUser", "event linkAccount", "event signIn"},
	},
	{
		row: "O7 a new user without an address", person: noAddress, signsInAs: "new",
		tokens:   []string{"getUserByAccount", "begin", "getUserByAccount", "createUser", "linkAccount", "commit", "event createUser", "event linkAccount", "event signIn"},
		database: []string{"getUserByAccount", "begin", "getUserByAccount", "createUser", "linkAccount", "createSession", "commit", "event createUser", "event linkAccount", "event signIn"},
	},
	{
		row: "O7 a new user of a trusted provider", trusted: true, person: adaElsewhere, signsInAs: "new",
		tokens:   []string{"getUserByAccount", "begin", "getUserByAccount", "getUserByEmail", "createUser", "linkAccount", "commit", "event createUser", "event linkAccount", "event signIn"},
		database: []string{"getUserByAccount", "begin", "getUserByAccount", "getUserByEmail", "createUser", "linkAccount", "createSession", "commit", "event createUser", "event linkAccount", "event signIn"},
	},
}

func TestTheTableDecidesWhichUserSignsIn(t *testing.T) {
	for _, tt := range linkingTable {
		for _, strategy := range strategies {
			t.Run(tt.row+" with sessions as "+string(strategy), func(t *testing.T) { tt.run(t, strategy) })
		}
	}
}

// run goes to the provider and comes back, and checks everything that the row
// lists.
func (tt linkingCase) run(t *testing.T, strategy pintle.SessionStrategy) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, strategy), func(s *site) {
		acme := s.idp.OIDC("acme")
		acme.DangerouslyLinkByEmail = tt.trusted
		s.Providers = []pintle.Provider{acme}
	})
	s.idp.SignInAs(tt.person)

	users := map[string]*pintle.User{}
	user := func(name string) *pintle.User {
		if users[name] == nil {
			users[name] = k.seedUser(t, people[name].user)
		}
		return users[name]
	}
	if tt.owner != "" {
		k.seedAccount(t, user(tt.owner), "acme", tt.person.Subject)
	}
	if tt.known {
		user("ada")
	}
	b := s.browser()
	held := ""
	if tt.signedIn != "" {
		held = b.signInAs(k, user(tt.signedIn), strategy)
	}
	back := b.consent(b.leave("acme"))
	k.takeCalls()
	s.eventNames()
	r := b.get(back)

	want := tt.tokens
	if strategy == pintle.StrategyDatabase {
		want = tt.database
	}
	k.wantCalls(t, want...)
	if tt.code != "" {
		r.fails("/auth/signin", tt.code)
		if held != "" && b.cookie(sessionCookie) != held {
			t.Error("a refusal changed the session")
		}
		if k.owner(t, "acme", tt.person.Subject) != users[tt.owner] && tt.owner == "" {
			t.Error("the account was linked all the same")
		}
		return
	}
	r.goesTo(s.url)

	is := k.owner(t, "acme", tt.person.Subject)
	if is == nil {
		t.Fatal("the account belongs to no user")
	}
	if tt.signsInAs == "new" {
		if is.Name != tt.person.Name || is.Email != strings.ToLower(tt.person.Email) || !is.EmailVerified.IsZero() {
			t.Errorf("the new user is %+v", is)
		}
		if is.ID == tt.person.Subject {
			t.Error("the user has the provider's id")
		}
	} else if is.ID != users[tt.signsInAs].ID {
		t.Errorf("the account belongs to %s, want %s", is.ID, users[tt.signsInAs].ID)
	} else if !sameUser(is, users[tt.signsInAs]) {
		t.Errorf("the sign-in changed the user to %+v", is)
	}
	s.checkSignedIn(b, k, is, strategy, tt.signsInAs == "new")

	reused := strategy == pintle.StrategyDatabase && tt.signedIn != ""
	if now := b.cookie(sessionCookie); reused != (now == held) {
		t.Errorf("the session went on: %t, want %t", now == held, reused)
	}
}

// signInAs signs a stored user in, and returns the session's token.
func (b *browser) signInAs(k *recordingTxStore, u *pintle.User, strategy pintle.SessionStrategy) string {
	b.t.Helper()
	held := ""
	if strategy == pintle.StrategyDatabase {
		held = k.seedSession(b.t, u, time.Hour)
	} else {
		claims := claimsFor("ada")
		claims["sub"], claims["name"], claims["email"] = u.ID, u.Name, u.Email
		held = sealed(b.t, sessionCookie, claims)
	}
	b.plant(sessionCookie, held)
	return held
}

func sameUser(a, b *pintle.User) bool {
	return a.ID == b.ID && a.Name == b.Name && a.Email == b.Email && a.Image == b.Image && a.EmailVerified.Equal(b.EmailVerified)
}

// checkSignedIn looks at the session, and at what the events were told.
func (s *site) checkSignedIn(b *browser, k *recordingTxStore, u *pintle.User, strategy pintle.SessionStrategy, isNew bool) {
	s.t.Helper()
	e := lastEvent[*pintle.SignInEvent](s, "signIn")
	if e.User.ID != u.ID || e.NewUser == nil || *e.NewUser != isNew || e.Account.AccessToken == "" || e.Profile.ID("sub") == "" {
		s.t.Errorf("the event is of %+v with %+v and %+v", e.User, e.Account, e.Profile)
	}
	if strategy == pintle.StrategyDatabase {
		_, holder, err := k.Store.SessionAndUser(s.t.Context(), b.cookie(sessionCookie))
		if err != nil || holder.ID != u.ID {
			s.t.Errorf("the session is of %v (%v), want %s", holder, err, u.ID)
		}
		return
	}
	if sub := unsealed(s.t, sessionCookie, b.cookie(sessionCookie))["sub"]; sub != u.ID {
		s.t.Errorf("the session is of %v, want %s", sub, u.ID)
	}
}

// The event tells what was stored, with its owner (Q3), and what the provider
// said about the person.
func TestTheLinkEventHasTheStoredAccount(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase), func(s *site) {
		acme := s.idp.OIDC("acme")
		acme.StoreAccount = func(a *pintle.Account) *pintle.Account {
			return &pintle.Account{RefreshToken: a.RefreshToken, Scope: a.Scope, UserID: "another user", Provider: "another", ProviderAccountID: "other"}
		}
		s.Providers = []pintle.Provider{acme}
	})
	s.browser().signInWith("acme").goesTo(s.url)
	e := lastEvent[*pintle.LinkAccountEvent](s, "linkAccount")
	owner := k.owner(t, "acme", "1001")
	if owner == nil || e.User.ID != owner.ID || e.Account.UserID != owner.ID {
		t.Errorf("Q3 the event is of %+v with the account of %q", e.User, e.Account.UserID)
	}
	if e.Account.Provider != "acme" || e.Account.ProviderAccountID != "1001" || e.Account.Type != pintle.TypeOIDC {
		t.Errorf("SH-31 the Account function gave the account away: %+v", e.Account)
	}
	stored, err := k.Store.Account(t.Context(), "acme", "1001")
	if err != nil || stored.AccessToken != "" || stored.IDToken != "" || stored.Scope == "" || e.Account.AccessToken != "" {
		t.Errorf("stored is %+v (%v), which the Account function did not let through", stored, err)
	}
	if e.ProviderUser.Email != "ada@example.com" || e.ProviderUser.ID == "1001" {
		t.Errorf("the event's profile is %+v", e.ProviderUser)
	}
	if signIn := lastEvent[*pintle.SignInEvent](s, "signIn"); signIn.Account.AccessToken == "" {
		t.Error("the sign-in event has the filtered account")
	}
}

func TestWhatIsStoredOfAnAccountByDefault(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyJWT))
	s.browser().signInWith("acme").goesTo(s.url)
	stored, err := k.Store.Account(t.Context(), "acme", "1001")
	if err != nil {
		t.Fatal(err)
	}
	if stored.AccessToken == "" || stored.IDToken == "" || stored.TokenType != "bearer" || stored.ExpiresAt < time.Now().Unix() || len(stored.Extra) != 0 {
		t.Errorf("stored is %+v", stored)
	}
}

// With a provider whose accounts lack an id, every account would belong to the
// first user: SH-37, Q11, Q12. Users without an address must not become one
// user.
func TestTwoPeopleAreTwoUsers(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase))
	s.idp.Break(authtest.EmailMissing)
	for _, person := range []authtest.Person{adaElsewhere, graceElsewhere} {
		s.idp.SignInAs(person)
		s.browser().signInWith("acme").goesTo(s.url)
	}
	ada, grace := k.owner(t, "acme", adaElsewhere.Subject), k.owner(t, "acme", graceElsewhere.Subject)
	if ada == nil || grace == nil || ada.ID == grace.ID {
		t.Errorf("SH-37 the users are %+v and %+v", ada, grace)
	}
}

// ASVS-6.8.1: a provider and its subject identify a user.
func TestOneSubjectOfTwoProvidersIsTwoPeople(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase), func(s *site) {
		other := s.newIdentityProvider("https://other.example")
		s.Providers = append(s.Providers, other.OIDC("other"))
		other.SignInAs(authtest.Person{Subject: adaElsewhere.Subject, Name: "Eve", Email: "eve@example.com"})
	})
	s.idp.SignInAs(adaElsewhere)
	s.browser().signInWith("acme").goesTo(s.url)
	s.browser().signInWith("other").goesTo(s.url)
	if k.owner(t, "acme", adaElsewhere.Subject).ID == k.owner(t, "other", adaElsewhere.Subject).ID {
		t.Error("ASVS-6.8.1 they are one user")
	}
}

// ASVS-10.5.2, SH-82: a new address at the provider does not change the owner
// of the account, even if another user here has the address.
func TestAnAddressThatChangesMovesNoAccount(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase))
	s.idp.SignInAs(adaElsewhere)
	s.browser().signInWith("acme").goesTo(s.url)
	ada := k.owner(t, "acme", adaElsewhere.Subject)
	k.seedUser(t, people["grace"].user)

	moved := adaElsewhere
	moved.Email = "grace@example.com"
	s.idp.SignInAs(moved)
	b := s.browser()
	b.signInWith("acme").goesTo(s.url)
	s.checkSignedIn(b, k, ada, pintle.StrategyDatabase, false)
	if now := k.owner(t, "acme", adaElsewhere.Subject); now.Email != ada.Email {
		t.Errorf("SH-82 the user's address became %s", now.Email)
	}
}

// A provider's statement that it verified an address decides nothing by itself:
// SH-15, SH-83. Linking by address is the host's decision.
func TestAVerifiedAddressLinksNothing(t *testing.T) {
	for _, fault := range []authtest.Fault{"", authtest.EmailUnverified, authtest.EmailUnverifiedText, authtest.EmailVerifiedText, authtest.EmailVerifiedNumber, authtest.EmailVerifiedMissing} {
		for _, verifiedHere := range []bool{false, true} {
			k := newRecordingStore()
			s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase))
			user := people["ada"].user
			if verifiedHere {
				user.EmailVerified = time.Now()
			}
			k.seedUser(t, user)
			s.idp.Break(fault)
			s.idp.SignInAs(adaElsewhere)
			b := s.browser()
			b.signInWith("acme").fails("/auth/signin", "OAuthAccountNotLinked")
			if k.owner(t, "acme", adaElsewhere.Subject) != nil || b.session() != nil {
				t.Errorf("SH-15 the account was linked (verified here: %t, provider: %s)", verifiedHere, fault)
			}
		}
	}
}

// An account is linked to the user who was signed in when the flow began, Q25
// and W-22. An expired session counts as signed out, Q6 and W-20.
func TestAnAccountIsLinkedOnlyForWhoStartedTheFlow(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			setUp := func(t *testing.T) (*site, *recordingTxStore, *pintle.User, *pintle.User) {
				k := newRecordingStore()
				s := newSite(t, withRecordingStore(k, strategy))
				s.idp.SignInAs(noAddress)
				return s, k, k.seedUser(t, people["ada"].user), k.seedUser(t, people["grace"].user)
			}
			newUser := func(t *testing.T, k *recordingTxStore, s *site, b *browser, others ...*pintle.User) {
				t.Helper()
				is := k.owner(t, "acme", noAddress.Subject)
				if is == nil || slices.ContainsFunc(others, func(u *pintle.User) bool { return u.ID == is.ID }) {
					t.Fatalf("Q25 W-22 the account went to %+v", is)
				}
				s.checkSignedIn(b, k, is, strategy, true)
			}
			t.Run("a session planted on the way", func(t *testing.T) {
				s, k, ada, grace := setUp(t)
				b := s.browser()
				back := b.consent(b.leave("acme"))
				b.signInAs(k, grace, strategy)
				b.get(back).goesTo(s.url)
				newUser(t, k, s, b, ada, grace)
			})
			t.Run("another session than the one that left", func(t *testing.T) {
				s, k, ada, grace := setUp(t)
				b := s.browser()
				b.signInAs(k, ada, strategy)
				back := b.consent(b.leave("acme"))
				b.signInAs(k, grace, strategy)
				b.get(back).goesTo(s.url)
				newUser(t, k, s, b, ada, grace)
			})
			t.Run("signed out on the way", func(t *testing.T) {
				s, k, ada, _ := setUp(t)
				b := s.browser()
				b.signInAs(k, ada, strategy)
				back := b.consent(b.leave("acme"))
				b.plant(sessionCookie, "")
				b.get(back).goesTo(s.url)
				newUser(t, k, s, b, ada)
			})
			t.Run("an expired session", func(t *testing.T) {
				s, k, ada, _ := setUp(t)
				b := s.browser()
				if strategy == pintle.StrategyDatabase {
					b.plant(sessionCookie, k.seedSession(t, ada, -time.Hour))
				} else {
					claims := claimsFor("ada")
					claims["sub"], claims["exp"] = ada.ID, time.Now().Add(-time.Hour).Unix()
					b.plant(sessionCookie, sealed(t, sessionCookie, claims))
				}
				b.get(b.consent(b.leave("acme"))).goesTo(s.url)
				newUser(t, k, s, b, ada) // Q6 W-20
			})
			t.Run("a session that renews on the way", func(t *testing.T) {
				s, k, ada, _ := setUp(t)
				b := s.browser()
				b.signInAs(k, ada, strategy)
				back := b.consent(b.leave("acme"))
				b.session()
				b.get(back).goesTo(s.url)
				if is := k.owner(t, "acme", noAddress.Subject); is == nil || is.ID != ada.ID {
					t.Errorf("the account went to %+v, want Ada", is)
				}
			})
			t.Run("a flow that began at Auth.js", func(t *testing.T) {
				s, k, ada, _ := setUp(t)
				b := s.browser()
				at := b.leave("acme")
				for _, name := range []string{stateCookie, pkceCookie, nonceCookie} {
					check := unsealed(t, name, b.cookie(name))
					check["jti"], _, _ = strings.Cut(check["jti"].(string), ".")
					b.plant(name, sealed(t, name, check))
				}
				b.signInAs(k, ada, strategy)
				b.get(b.consent(at)).goesTo(s.url)
				if is := k.owner(t, "acme", noAddress.Subject); is == nil || is.ID != ada.ID {
					t.Errorf("the account went to %+v, want Ada", is)
				}
			})
		})
	}
}

// A user whose account cannot be stored would block the same person's next
// attempt: Q20. So no such user stays, with transactions, and without them if
// the store can remove users.
func TestNoHalfMadeUserStays(t *testing.T) {
	tests := []struct {
		name  string
		store func(*recordingTxStore) pintle.Store
		fails string
		wants []string
		stays bool
	}{
		{
			"LinkAccount fails in a transaction", func(k *recordingTxStore) pintle.Store { return k }, "linkAccount",
			[]string{"getUserByAccount", "begin", "getUserByAccount", "getUserByEmail", "createUser", "linkAccount", "rollback"},
			false,
		},
		{
			"CreateSession fails in a transaction", func(k *recordingTxStore) pintle.Store { return k }, "createSession",
			[]string{"getUserByAccount", "begin", "getUserByAccount", "getUserByEmail", "createUser", "linkAccount", "createSession", "rollback"},
			false,
		},
		{
			"the commit fails", func(k *recordingTxStore) pintle.Store { return k }, "commit",
			[]string{"getUserByAccount", "begin", "getUserByAccount", "getUserByEmail", "createUser", "linkAccount", "createSession", "commit", "rollback"},
			false,
		},
		{
			"LinkAccount fails without transactions", func(k *recordingTxStore) pintle.Store { return k.recordingStore }, "linkAccount",
			[]string{"getUserByAccount", "getUserByAccount", "getUserByEmail", "createUser", "linkAccount", "deleteUser"},
			false,
		},
		{
			"LinkAccount fails in a store that cannot remove users", func(k *recordingTxStore) pintle.Store { return plainRecordingStore{plain: k.recordingStore} }, "linkAccount",
			[]string{"getUserByAccount", "getUserByAccount", "getUserByEmail", "createUser", "event createUser", "linkAccount"},
			true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := newRecordingStore()
			s := newSite(t, with(tt.store(k), k.callLog, pintle.StrategyDatabase))
			s.idp.SignInAs(adaElsewhere)
			b := s.browser()
			back := b.consent(b.leave("acme"))
			k.takeCalls()
			k.fail(tt.fails)
			b.get(back).fails("/auth/error", "Configuration")
			k.wantCalls(t, tt.wants...)
			if stays := k.byEmail(t, "ada@example.com") != nil; stays != tt.stays {
				t.Errorf("Q20 the half-made user stays: %t, want %t", stays, tt.stays)
			}
			if !s.log.has("AdapterError") {
				t.Errorf("the log does not say what failed:\n%s", s.log)
			}
			k.fail()
			again := s.browser().signInWith("acme")
			if tt.stays {
				again.fails("/auth/signin", "OAuthAccountNotLinked") // what README and docs warn of
				return
			}
			again.goesTo(s.url)
			if k.owner(t, "acme", adaElsewhere.Subject) == nil {
				t.Error("the second attempt does not work")
			}
		})
	}
}

// Losing a race is no failure: what another request wrote is found.
func TestTheSlowerOfTwoSignInsFindsWhatTheOtherWrote(t *testing.T) {
	for _, store := range []string{"with transactions", "without"} {
		t.Run(store, func(t *testing.T) {
			k := newRecordingStore()
			var kept pintle.Store = k
			if store == "without" {
				kept = k.recordingStore
			}
			s := newSite(t, with(kept, k.callLog, pintle.StrategyDatabase))
			s.idp.SignInAs(adaElsewhere)
			b := s.browser()
			back := b.consent(b.leave("acme"))
			// Between the look-up and the transaction the person's other tab
			// completes the same sign-in.
			looked := 0
			k.before = func(operation string) {
				if looked++; operation == "getUserByEmail" && store == "without" || operation == "begin" {
					k.before = nil
					other := k.seedUser(t, people["ada"].user)
					k.seedAccount(t, other, "acme", adaElsewhere.Subject)
				}
			}
			b.get(back).goesTo(s.url)
			is := k.owner(t, "acme", adaElsewhere.Subject)
			s.checkSignedIn(b, k, is, pintle.StrategyDatabase, false)
		})
	}
}

// A store that refuses as existing what it does not find is at fault, and the
// flow does not go on for ever.
func TestAStoreThatContradictsItselfIsAFault(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase))
	k.callLog.failing = map[string]error{"linkAccount": pintle.ErrConflict}
	s.browser().signInWith("acme").fails("/auth/error", "Configuration")
	if !s.log.has("AdapterError") {
		t.Errorf("the log does not say so:\n%s", s.log)
	}
	if n := len(slices.DeleteFunc(k.takeCalls(), func(e string) bool { return e != "linkAccount" })); n != 2 {
		t.Errorf("it tried %d times, want 2", n)
	}
	if k.byEmail(t, "ada@example.com") != nil {
		t.Error("a half-made user stays")
	}
}

// Whichever part refuses the sign-in, nothing was written: SH-63.
func TestARefusalWritesNothing(t *testing.T) {
	for _, refusal := range []error{errBroken, pintle.CodeAccessDenied} {
		k := newRecordingStore()
		s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase), func(s *site) {
			s.Callbacks.SignIn = refusing(refusal)
		})
		b := s.browser()
		back := b.consent(b.leave("acme"))
		k.takeCalls()
		b.get(back).fails("/auth/error", "AccessDenied")
		k.wantCalls(t, "getUserByAccount")
		if b.session() != nil {
			t.Error("SH-63 the person is signed in")
		}
	}
}

// Without a store, no user is recognised at the next sign-in: Q23.
func TestWithoutAStoreTheTokenIsAllThereIs(t *testing.T) {
	s := newSite(t)
	subjects := map[any]bool{}
	for range 2 {
		b := s.browser()
		b.signInWith("acme").goesTo(s.url)
		claims := unsealed(t, sessionCookie, b.cookie(sessionCookie))
		subjects[claims["sub"]] = true
		if e := lastEvent[*pintle.SignInEvent](s, "signIn"); e.NewUser != nil {
			t.Error("S-30 the event says whether the user is new")
		}
	}
	if len(subjects) != 2 {
		t.Errorf("Q23 the subjects are %v", slices.Collect(maps.Keys(subjects)))
	}
	if names := s.eventNames(); slices.Contains(names, "createUser") || slices.Contains(names, "linkAccount") {
		t.Errorf("the events are %q", names)
	}
}

func TestAProviderWithoutUsableAddressMakesAUserAllTheSame(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase))
	s.idp.Break(authtest.EmailNull)
	s.browser().signInWith("acme").goesTo(s.url)
	if is := k.owner(t, "acme", "1001"); is == nil || is.Email != "" {
		t.Errorf("the user is %+v", is)
	}
}

// Every failure of the store is a fault of the server, and no user is half
// signed in: ASVS-16.5.2.
func TestAFailingStoreSignsNoUserIn(t *testing.T) {
	for _, strategy := range strategies {
		for _, operation := range []string{"getUserByAccount", "begin", "getUserByEmail", "createUser", "linkAccount", "createSession", "commit"} {
			if operation == "createSession" && strategy == pintle.StrategyJWT {
				continue
			}
			t.Run(string(strategy)+" "+operation, func(t *testing.T) {
				k := newRecordingStore()
				s := newSite(t, withRecordingStore(k, strategy))
				b := s.browser()
				back := b.consent(b.leave("acme"))
				k.fail(operation)
				s.eventNames()
				b.get(back).fails("/auth/error", "Configuration")
				k.fail()
				if b.session() != nil || len(s.eventNames()) != 0 {
					t.Error("ASVS-16.5.2 something of the sign-in stays")
				}
				if strings.Contains(b.get("/auth/error?error=Configuration").body, errBroken.Error()) {
					t.Error("ASVS-16.5.1 the page tells the cause")
				}
			})
		}
	}
}

// A store that fails once must not make the callback judge the wrong person.
func TestTheSignInCallbackNeedsAReadableStore(t *testing.T) {
	k := newRecordingStore()
	asked := false
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase), func(s *site) {
		s.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) {
			asked = true
			return "", nil
		}
	})
	b := s.browser()
	back := b.consent(b.leave("acme"))
	k.fail("getUserByAccount")
	k.before = func(operation string) {
		if operation == "begin" {
			k.fail()
		}
	}
	b.get(back).fails("/auth/error", "Configuration")
	if asked {
		t.Error("it was asked")
	}
}

func TestAFailureToTellWhoIsSignedInLinksNothing(t *testing.T) {
	for _, strategy := range strategies {
		k := newRecordingStore()
		s := newSite(t, withRecordingStore(k, strategy))
		s.idp.SignInAs(noAddress)
		ada := k.seedUser(t, people["ada"].user)
		b := s.browser()
		b.signInAs(k, ada, strategy)
		back := b.consent(b.leave("acme"))
		k.fail("getUser", "getSessionAndUser")
		b.get(back).fails("/auth/error", "Configuration")
		if k.owner(t, "acme", noAddress.Subject) != nil {
			t.Errorf("%s: the account was given away", strategy)
		}
	}
}

// An outage is a revocation list that fails from a moment on.
type outage struct {
	memstore.Revocations
	down atomic.Bool
}

func (o *outage) Revoked(ctx context.Context, s pintle.TokenSession) (bool, error) {
	if o.down.Load() {
		return false, errBroken
	}
	return o.Revocations.Revoked(ctx, s)
}

// SA-L8: while the revocation list does not answer, it is not known whether the user
// who began to link an account is signed in. The account does not become that of a
// new user, and the user can link it afterwards.
func TestARevocationListThatFailsLinksNothingElsewhere(t *testing.T) {
	k, list := newRecordingStore(), &outage{}
	s := newSite(t, withRecordingStore(k, pintle.StrategyJWT), func(s *site) { s.Session.Revocation = list })
	s.idp.SignInAs(noAddress)
	ada := k.seedUser(t, people["ada"].user)
	b := s.browser()
	b.signInAs(k, ada, pintle.StrategyJWT)
	back := b.consent(b.leave("acme"))
	list.down.Store(true)
	b.get(back).fails("/auth/error", "Configuration")
	if owner := k.owner(t, "acme", noAddress.Subject); owner != nil {
		t.Errorf("the account is that of %s", owner.ID)
	}
	list.down.Store(false)
	b.signInWith("acme").goesTo(s.url)
	if owner := k.owner(t, "acme", noAddress.Subject); owner == nil || owner.ID != ada.ID {
		t.Errorf("after the outage the account is that of %v, want Ada", owner)
	}
}

func TestATokenOfADeletedUserCountsAsSignedOut(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyJWT))
	s.idp.SignInAs(noAddress)
	ada := k.seedUser(t, people["ada"].user)
	b := s.browser()
	b.signInAs(k, ada, pintle.StrategyJWT)
	back := b.consent(b.leave("acme"))
	if err := k.Store.DeleteUser(t.Context(), ada.ID); err != nil {
		t.Fatal(err)
	}
	b.get(back).goesTo(s.url)
	if is := k.owner(t, "acme", noAddress.Subject); is == nil || is.ID == ada.ID {
		t.Errorf("the account went to %+v", is)
	}
}

// Both accounts sign the user in.
func TestALinkedAccountSignsIn(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase), func(s *site) { s.Providers = append(s.Providers, s.mailProvider()) })
	b := s.browser()
	b.get(b.mailTo("ada@example.com").URL).goesTo(s.url)
	s.idp.SignInAs(noAddress)
	b.signInWith("acme").goesTo(s.url)
	other := s.browser()
	other.signInWith("acme").goesTo(s.url)
	if got := other.session()["user"].(map[string]any)["email"]; got != "ada@example.com" {
		t.Errorf("the account signs %v in", got)
	}
}

// The address a provider reports is one and the same in any case.
func TestAddressesOfProvidersAreInLowerCase(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase))
	k.seedUser(t, people["ada"].user)
	s.idp.Break(authtest.EmailUppercase)
	s.browser().signInWith("acme").fails("/auth/signin", "OAuthAccountNotLinked")
}

// A new session at every sign-in, where the host asks for it: W-42, SH-41.
func TestASignInCanRotateTheSession(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase), func(s *site) { s.Session.RotateAtSignIn = true })
	ada := k.seedUser(t, people["ada"].user)
	k.seedAccount(t, ada, "acme", adaElsewhere.Subject)
	s.idp.SignInAs(adaElsewhere)
	b := s.browser()
	held := b.signInAs(k, ada, pintle.StrategyDatabase)
	b.signInWith("acme").goesTo(s.url)
	if b.cookie(sessionCookie) == held || k.sessions(t, ada.ID) != 1 {
		t.Errorf("W-42 SH-41 there are %d sessions, and the token is the old one: %t", k.sessions(t, ada.ID), b.cookie(sessionCookie) == held)
	}
	stale := s.browser()
	stale.plant(sessionCookie, held)
	if stale.session() != nil {
		t.Error("SH-41 the token from before still works")
	}
}

func refusing(err error) func(context.Context, *pintle.SignInAttempt) (string, error) {
	return func(context.Context, *pintle.SignInAttempt) (string, error) { return "", err }
}

// The redirect to the provider does not depend on who may sign in: the callback
// is not called before the user is known.
func TestTheCallbackIsAskedWhenThePersonIsKnown(t *testing.T) {
	asked := 0
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase), func(s *site) {
		s.Callbacks.SignIn = func(_ context.Context, a *pintle.SignInAttempt) (string, error) {
			asked++
			if owner := k.owner(t, "acme", "1001"); owner != nil && a.User.ID != owner.ID {
				return "", errors.New("the callback is not asked about the stored user")
			}
			if a.Account.UserID != "" || a.Account.AccessToken == "" || a.Profile.Text("sub") != "1001" || a.VerificationRequest {
				return "", errors.New("the callback is asked about something else")
			}
			return "", nil
		}
	})
	b := s.browser()
	back := b.consent(b.leave("acme"))
	if asked != 0 {
		t.Error("the callback is asked before the person has said who they are")
	}
	b.get(back).goesTo(s.url)
	s.browser().signInWith("acme").goesTo(s.url)
	if asked != 2 {
		t.Errorf("the callback was asked %d times", asked)
	}
}

func TestASignInThatIsSentElsewhereLeavesNothingBehind(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase), func(s *site) {
		s.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) { return "/waiting-list?a=b", nil }
	})
	b := s.browser()
	back := b.consent(b.leave("acme"))
	k.takeCalls()
	r := b.get(back).goesTo(s.url + "/waiting-list?a=b")
	k.wantCalls(t, "getUserByAccount")
	for _, name := range []string{stateCookie, pkceCookie, nonceCookie} {
		if !r.clears(name) {
			t.Errorf("W-14 the cookie %s stays", name)
		}
	}
	if b.session() != nil {
		t.Error("the person is signed in")
	}
	// Not to another site, whatever the callback made of what a person typed.
	s2 := newSite(t, func(s *site) {
		s.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) { return "https://evil.example/", nil }
	})
	to, err := url.Parse(s2.browser().signInWith("acme").want(http.StatusFound).location())
	if err != nil || to.Host != "localhost:3000" {
		t.Errorf("SH-12 the browser is sent to %s", to)
	}
}
