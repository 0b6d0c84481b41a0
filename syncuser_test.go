package pintle_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
)

// A roleSite is a site of which the provider "acme" decides what role its users
// have, at each sign-in. Its providers are those of hijackSite; "careful" may also
// link accounts by their address.
type roleSite struct {
	*site
	*recordingTxStore

	mu    sync.Mutex
	calls []*pintle.SignInAttempt // of Callbacks.SyncUser

	// sync answers Callbacks.SyncUser.
	sync func(*pintle.SignInAttempt) (pintle.UserUpdate, error)
}

// A variant is where a site keeps its sessions, and whether its store has
// transactions.
type variant struct {
	strategy     pintle.SessionStrategy
	transactions bool
}

func (v variant) String() string {
	return fmt.Sprintf("%s, transactions %t", v.strategy, v.transactions)
}

var variants = []variant{
	{pintle.StrategyDatabase, true}, {pintle.StrategyDatabase, false}, {pintle.StrategyJWT, true}, {pintle.StrategyJWT, false},
}

func newRoleSite(t *testing.T, v variant, changes ...func(*site)) *roleSite {
	t.Helper()
	r := &roleSite{sync: roleOfProfile}
	changes = append([]func(*site){func(s *site) {
		if !v.transactions {
			s.Store = s.Store.(*recordingTxStore).recordingStore
		}
		careful := s.Providers[1].(*pintle.OAuth)
		careful.DangerouslyLinkByEmail = true
		s.Callbacks.SyncUser = func(_ context.Context, a *pintle.SignInAttempt) (pintle.UserUpdate, error) {
			r.note("syncUser")
			r.mu.Lock()
			r.calls = append(r.calls, a)
			r.mu.Unlock()
			return r.sync(a)
		}
		s.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
			if c.User != nil {
				c.Claims["role"] = c.User.Extra["role"]
			}
			return c.Claims, nil
		}
		s.Callbacks.Session = func(_ context.Context, v *pintle.SessionView) (any, error) {
			if v.User != nil {
				return map[string]any{"name": v.User.Name, "role": v.User.Extra["role"]}, nil
			}
			return map[string]any{"name": v.Session.User.Name, "role": v.Claims["role"]}, nil
		}
	}}, changes...)
	r.site, r.recordingTxStore = hijackSite(t, v.strategy, changes...)
	r.becomesAtProvider("admin")
	return r
}

// roleOfProfile takes over the role that "acme" reports.
func roleOfProfile(a *pintle.SignInAttempt) (pintle.UserUpdate, error) {
	if a.Account.Provider != "acme" {
		return pintle.UserUpdate{}, nil
	}
	return pintle.UserUpdate{Extra: map[string]any{"role": a.Profile["role"]}}, nil
}

// note writes into the call log. Both embedded types have a method of the name.
func (r *roleSite) note(entry string) { r.recordingTxStore.note(entry) }

// becomesAtProvider gives Ada a role at the provider.
func (r *roleSite) becomesAtProvider(role any) {
	ada := adaElsewhere
	ada.Claims = map[string]any{"role": role}
	r.idp.SignInAs(ada)
}

// lastCall returns what the callback was called with, and forgets it.
func (r *roleSite) lastCall(t *testing.T) *pintle.SignInAttempt {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.calls) != 1 {
		t.Fatalf("the callback was called %d times", len(r.calls))
	}
	call := r.calls[0]
	r.calls = nil
	return call
}

// role is the browser's role in the answer of the session route.
func (b *browser) role() string {
	b.t.Helper()
	role, _ := b.session()["role"].(string)
	return role
}

func (k *recordingStore) stored(t *testing.T, id string) *pintle.User {
	t.Helper()
	u, err := k.Store.User(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestARoleFollowsTheProviderAtEachSignIn(t *testing.T) {
	for _, v := range variants {
		t.Run(v.String(), func(t *testing.T) {
			r := newRoleSite(t, v)
			first := r.browser()
			first.signInWith("acme").goesTo(r.url)
			id := first.sub()
			if got := first.role(); got != "admin" {
				t.Errorf("a new user is %q, want admin", got)
			}
			for _, role := range []any{"member", "admin", nil, "member"} {
				r.becomesAtProvider(role)
				b := r.browser()
				b.signInWith("acme").goesTo(r.url)
				want, _ := role.(string)
				if got := b.role(); got != want || b.sub() != id {
					t.Errorf("after the provider says %v the user %q is %q", role, b.sub(), got)
				}
				if got, _ := r.stored(t, id).Extra["role"].(string); got != want {
					t.Errorf("after the provider says %v the store has %q", role, got)
				}
				if v.strategy == pintle.StrategyDatabase && first.role() != want {
					t.Errorf("after the provider says %v an older session is %q", role, first.role())
				}
			}
		})
	}
}

// The change is written in the transaction of the sign-in and before the session
// is made, and the callback runs outside of it: a look-up in the same database
// would wait for the transaction.
func TestARoleIsWrittenWhereItDiffers(t *testing.T) {
	tests := []struct {
		name string
		do   func(*roleSite)
		want map[pintle.SessionStrategy]string // with transactions
		bare string                            // of database sessions without
	}{
		{
			"it is as before", func(*roleSite) {},
			map[pintle.SessionStrategy]string{
				pintle.StrategyDatabase: "getUserByAccount, begin, getUserByAccount, rollback, syncUser, begin, getUserByAccount, createSession, commit, event signIn",
				pintle.StrategyJWT:      "getUserByAccount, begin, getUserByAccount, rollback, syncUser, begin, getUserByAccount, commit, event signIn",
			},
			"getUserByAccount, getUserByAccount, syncUser, getUserByAccount, createSession, event signIn",
		},
		{
			"it is another", func(r *roleSite) { r.becomesAtProvider("member") },
			map[pintle.SessionStrategy]string{
				pintle.StrategyDatabase: "getUserByAccount, begin, getUserByAccount, rollback, syncUser, begin, getUserByAccount, updateUser, createSession, commit, event updateUser, event signIn",
				pintle.StrategyJWT:      "getUserByAccount, begin, getUserByAccount, rollback, syncUser, begin, getUserByAccount, updateUser, commit, event updateUser, event signIn",
			},
			"getUserByAccount, getUserByAccount, syncUser, getUserByAccount, updateUser, event updateUser, createSession, event signIn",
		},
		{
			"nothing is said", func(r *roleSite) {
				r.sync = func(*pintle.SignInAttempt) (pintle.UserUpdate, error) { return pintle.UserUpdate{}, nil }
			},
			map[pintle.SessionStrategy]string{
				pintle.StrategyDatabase: "getUserByAccount, begin, getUserByAccount, rollback, syncUser, begin, getUserByAccount, createSession, commit, event signIn",
				pintle.StrategyJWT:      "getUserByAccount, begin, getUserByAccount, rollback, syncUser, begin, getUserByAccount, commit, event signIn",
			},
			"getUserByAccount, getUserByAccount, syncUser, getUserByAccount, createSession, event signIn",
		},
		{
			"what is stored already is said in other types", func(r *roleSite) {
				r.sync = func(*pintle.SignInAttempt) (pintle.UserUpdate, error) {
					name, image := "Ada Lovelace", ""
					return pintle.UserUpdate{Name: &name, Image: &image, Extra: map[string]any{"role": json.RawMessage(`"admin"`), "groups": []string(nil)}}, nil
				}
			},
			map[pintle.SessionStrategy]string{
				pintle.StrategyDatabase: "getUserByAccount, begin, getUserByAccount, rollback, syncUser, begin, getUserByAccount, createSession, commit, event signIn",
				pintle.StrategyJWT:      "getUserByAccount, begin, getUserByAccount, rollback, syncUser, begin, getUserByAccount, commit, event signIn",
			},
			"getUserByAccount, getUserByAccount, syncUser, getUserByAccount, createSession, event signIn",
		},
	}
	for _, tt := range tests {
		for _, v := range variants {
			want := tt.want[v.strategy]
			if !v.transactions {
				want = tt.bare
				if v.strategy == pintle.StrategyJWT {
					want = strings.Replace(want, "createSession, ", "", 1)
				}
			}
			t.Run(tt.name+", "+v.String(), func(t *testing.T) {
				r := newRoleSite(t, v)
				r.browser().signInWith("acme").goesTo(r.url)
				b := r.browser()
				tt.do(r)
				back := b.consent(b.leave("acme"))
				r.takeCalls()
				b.get(back).goesTo(r.url)
				r.wantCalls(t, strings.Split(want, ", ")...)
			})
		}
	}
	t.Run("a new user is written once", func(t *testing.T) {
		r := newRoleSite(t, variants[0])
		b := r.browser()
		back := b.consent(b.leave("acme"))
		r.takeCalls()
		b.get(back).goesTo(r.url)
		r.wantCalls(t, "getUserByAccount", "begin", "getUserByAccount", "getUserByEmail", "rollback", "syncUser", "begin", "getUserByAccount", "getUserByEmail",
			"createUser", "linkAccount", "createSession", "commit", "event createUser", "event linkAccount", "event signIn")
	})
}

// Every way to sign in as a stored user but by password has the callback called
// once, with the user who then is signed in.
func TestEveryWayToSignInSyncsTheUser(t *testing.T) {
	byAcme := func(b *browser) *reply { return b.signInWith("acme") }
	byCareful := func(b *browser) *reply { return b.signInWith("careful") }
	byMail := func(b *browser) *reply { return b.get(b.mailTo("ada@example.com").URL) }
	register := func(b *browser) *reply { return b.passkey("register", "AAAA", "email", "ada@example.com") }
	ways := []struct {
		name     string
		before   func(*roleSite, *browser)
		do       func(*browser) *reply
		provider string
		profile  bool
		linking  bool
	}{
		{name: "a new account of a provider", do: byAcme, provider: "acme", profile: true},
		{name: "an account of a provider", before: func(_ *roleSite, b *browser) { b.site.browser().signInWith("acme") }, do: byAcme, provider: "acme", profile: true},
		{name: "the account of the signed-in user", before: func(_ *roleSite, b *browser) { b.signInWith("acme") }, do: byAcme, provider: "acme", profile: true},
		{name: "an account that is linked", before: func(_ *roleSite, b *browser) { b.signInWith("acme") }, do: byCareful, provider: "careful", profile: true, linking: true},
		{
			name: "an account that is linked by its address", do: byCareful, provider: "careful", profile: true,
			before: func(r *roleSite, b *browser) {
				b.get(b.mailTo("ada@example.com").URL)
				b.post("/auth/signout")
				r.net["careful.example"].(*authtest.IdentityProvider).SignInAs(adaElsewhere)
			},
		},
		{name: "a mail to a new user", do: byMail, provider: "email"},
		{name: "a mail to a known user", before: func(_ *roleSite, b *browser) { b.site.browser().get(b.mailTo("ada@example.com").URL) }, do: byMail, provider: "email"},
		{
			name: "the first mail to a known user", do: byMail, provider: "email",
			before: func(r *roleSite, b *browser) { r.seedUser(b.t, people["ada"].user) },
		},
		{
			name: "a mail for an address of another user", do: goesOnWithout, provider: "email",
			before: func(_ *roleSite, b *browser) { b.site.browser().signInWith("acme") },
		},
		{name: "a passkey of a new user", do: register, provider: "passkey"},
		{
			name: "a passkey", provider: "passkey", before: func(_ *roleSite, b *browser) { register(b.site.browser()) },
			do: func(b *browser) *reply { return b.passkey("authenticate", "AAAA") },
		},
		{
			name: "a passkey that the signed-in user adds", provider: "passkey", linking: true, before: func(_ *roleSite, b *browser) { b.signInWith("acme") },
			do: func(b *browser) *reply { return b.passkey("register", "AAAA") },
		},
		{
			name: "a passkey whose registration had stopped half-way", provider: "passkey", linking: true,
			before: func(r *roleSite, b *browser) {
				b.signInWith("acme")
				r.seedAccount(b.t, r.stored(b.t, b.sub()), "passkey", "AAAA")
			},
			do: func(b *browser) *reply { return b.passkey("register", "AAAA") },
		},
	}
	for _, way := range ways {
		for _, v := range variants {
			t.Run(way.name+", "+v.String(), func(t *testing.T) {
				r := newRoleSite(t, v)
				b := r.browser()
				if way.before != nil {
					way.before(r, b)
				}
				r.calls = nil
				name := "Countess"
				r.sync = func(a *pintle.SignInAttempt) (pintle.UserUpdate, error) {
					// Changes that the callback makes to its argument have no effect.
					defer func() {
						a.User.Email, a.User.Name, a.Account.ProviderAccountID = "mallory@example.com", "Mallory", "666"
						a.User.ID, a.User.Extra = "666", map[string]any{"role": "root"}
					}()
					copied := *a
					copied.User, copied.Account = new(*a.User), new(*a.Account)
					r.calls[len(r.calls)-1] = &copied
					return pintle.UserUpdate{Name: &name, Extra: map[string]any{"role": "captain"}}, nil
				}
				r.eventNames()
				way.do(b).goesTo(r.url)
				user := r.stored(t, b.sub())
				if user.Name != name || user.Extra["role"] != "captain" || b.role() != "captain" || user.Email != "ada@example.com" && user.Email != "" {
					t.Errorf("the stored user is %+v, and the session says %q", user, b.role())
				}
				a := r.lastCall(t)
				if a.Account.Provider != way.provider || (a.Profile != nil) != way.profile || a.Submission != nil || a.VerificationRequest {
					t.Errorf("the callback was called with %+v of %+v", a, a.Account)
				}
				if way.profile && a.Account.AccessToken == "" {
					t.Error("the account has no token to ask the provider with")
				}
				if a.User.ID != user.ID {
					t.Errorf("the callback was called for %q, and %q is signed in", a.User.ID, user.ID)
				}
				if (a.LinkTo != nil) != way.linking || a.LinkTo != nil && a.LinkTo.ID != user.ID {
					t.Errorf("LinkTo is %+v", a.LinkTo)
				}
				if e := lastEvent[*pintle.SignInEvent](r.site, "signIn"); e.User.Name != name || e.User.Extra["role"] != "captain" {
					t.Errorf("the event has %+v", e.User)
				}
				// Again: nothing has changed since.
				r.eventNames()
				if way.linking || way.name == "a passkey of a new user" || way.provider == "email" {
					return
				}
				way.do(b).goesTo(r.url)
				if names := r.eventNames(); slices.Contains(names, "updateUser") {
					t.Errorf("the second sign-in tells of %q", names)
				}
			})
		}
	}
}

// Only a user who is about to be signed in as a stored user is synced.
func TestNoOtherSignInIsSynced(t *testing.T) {
	tests := []struct {
		name   string
		change func(*site)
		do     func(*roleSite, *browser)
	}{
		{"a sign-in that is refused", func(s *site) { s.Callbacks.SignIn = refusing(errBroken) }, func(_ *roleSite, b *browser) { b.signInWith("acme") }},
		{"a mail that is asked for", nil, func(_ *roleSite, b *browser) { b.mailTo("ada@example.com") }},
		{"an account whose address is another user's", nil, func(r *roleSite, b *browser) {
			r.seedUser(r.t, people["ada"].user)
			b.signInWith("acme").fails("/auth/signin", "OAuthAccountNotLinked")
		}},
		{"an account of another user than the one signed in", nil, func(r *roleSite, b *browser) {
			r.seedAccount(r.t, r.seedUser(r.t, people["grace"].user), "acme", adaElsewhere.Subject)
			b.signInWith("careful")
			r.calls = nil
			b.signInWith("acme").fails("/auth/signin", "OAuthAccountNotLinked")
		}},
		{"a mail that asks whose the address is", nil, func(_ *roleSite, b *browser) {
			b.signInWith("acme")
			b.site.eventNames()
			other := b.site.browser()
			m := other.mailTo("ada@example.com")
			b.site.net["careful.example"].(*authtest.IdentityProvider).SignInAs(graceElsewhere)
			other.isAsked(other.get(m.URL))
		}},
		{"a password", nil, func(r *roleSite, b *browser) {
			r.seedUser(r.t, people["ada"].user)
			b.signIn("ada")
			if b.sub() != "user-ada" {
				b.t.Errorf("the browser is %q", b.sub())
			}
		}},
	}
	for _, tt := range tests {
		for _, v := range variants {
			t.Run(tt.name+", "+v.String(), func(t *testing.T) {
				r := newRoleSite(t, v, func(s *site) {
					if tt.change != nil {
						tt.change(s)
					}
				})
				calls := 0
				tt.do(r, r.browser())
				for _, a := range r.calls {
					if tt.name != "a mail that asks whose the address is" || a.Account.Provider != "acme" {
						calls++
					}
				}
				if calls > 0 {
					t.Errorf("the callback was called %d times, for %+v", calls, r.calls[0].User)
				}
			})
		}
	}
}

// A callback that fails, or returns what it must not, ends the sign-in and
// leaves the store as it was.
func TestASyncThatFailsRefusesTheSignIn(t *testing.T) {
	address, name := "mallory@example.com", "Mallory"
	answer := func(change pintle.UserUpdate) func(*pintle.SignInAttempt) (pintle.UserUpdate, error) {
		return func(*pintle.SignInAttempt) (pintle.UserUpdate, error) { return change, nil }
	}
	fail := func(err error) func(*pintle.SignInAttempt) (pintle.UserUpdate, error) {
		return func(*pintle.SignInAttempt) (pintle.UserUpdate, error) {
			return pintle.UserUpdate{Name: &name, Extra: map[string]any{"role": "root"}}, err
		}
	}
	member := func(key string, value any) func(*pintle.SignInAttempt) (pintle.UserUpdate, error) {
		return answer(pintle.UserUpdate{Name: &name, Extra: map[string]any{key: value}})
	}
	tests := []struct {
		name      string
		sync      func(*pintle.SignInAttempt) (pintle.UserUpdate, error)
		code, log string
		level     string
	}{
		{"an error", fail(errBroken), "Configuration", "CallbackRouteError", "ERROR"},
		{"an error of the host's own store", fail(fmt.Errorf("find the role: %w", pintle.ErrNotFound)), "Configuration", "CallbackRouteError", "ERROR"},
		{"an error that looks like a conflict of the store", fail(pintle.ErrConflict), "Configuration", "CallbackRouteError", "ERROR"},
		{"a refusal", fail(fmt.Errorf("no role: %w", pintle.CodeAccessDenied)), "AccessDenied", "AccessDenied", "WARN"},
		{"a change of the address", answer(pintle.UserUpdate{Name: &name, Email: &address}), "Configuration", "Configuration", "ERROR"},
		{"an address that is verified", answer(pintle.UserUpdate{Name: &name, EmailVerified: new(time.Now())}), "Configuration", "Configuration", "ERROR"},
		{"a member named id", member("id", "1"), "Configuration", "Configuration", "ERROR"},
		{"a member named name", member("name", "x"), "Configuration", "Configuration", "ERROR"},
		{"a member named email", member("email", address), "Configuration", "Configuration", "ERROR"},
		{"a member named emailVerified", member("emailVerified", nil), "Configuration", "Configuration", "ERROR"},
		{"a member named image", member("image", "x"), "Configuration", "Configuration", "ERROR"},
		{"a value that is no JSON", member("role", func() {}), "Configuration", "Configuration", "ERROR"},
	}
	for _, tt := range tests {
		for _, v := range variants {
			for _, known := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, %s, known %t", tt.name, v, known), func(t *testing.T) {
					r := newRoleSite(t, v)
					if known {
						r.browser().signInWith("acme").goesTo(r.url)
					}
					before := r.owner(t, "acme", adaElsewhere.Subject)
					b := r.browser()
					back := b.consent(b.leave("acme"))
					r.sync = tt.sync
					r.takeCalls()
					b.get(back).fails("/auth/error", tt.code)
					for _, entry := range r.takeCalls() {
						if slices.Contains(writes, entry) || strings.HasPrefix(entry, "event ") {
							t.Errorf("the call log has %q", entry)
						}
					}
					if b.sub() != "" {
						t.Errorf("the browser is signed in as %q", b.sub())
					}
					after := r.owner(t, "acme", adaElsewhere.Subject)
					if mustJSON(t, before) != mustJSON(t, after) {
						t.Errorf("the user was %+v and is %+v", before, after)
					}
					if level := r.log.level(t, tt.log); level != tt.level || !strings.Contains(r.log.String(), "Callbacks.SyncUser") && tt.code != "AccessDenied" {
						t.Errorf("the log has %s at level %q:\n%s", tt.log, level, r.log)
					}
				})
			}
		}
	}
}

// A person who goes on without a user that has their address takes the address
// only if they can be signed in.
func TestASyncThatFailsTakesNoAddress(t *testing.T) {
	for _, v := range variants {
		t.Run(v.String(), func(t *testing.T) {
			r := newRoleSite(t, v)
			other := r.browser()
			other.signInWith("acme").goesTo(r.url)
			b := r.browser()
			b.isAsked(b.get(b.mailTo("ada@example.com").URL))
			r.sync = func(*pintle.SignInAttempt) (pintle.UserUpdate, error) { return pintle.UserUpdate{}, errBroken }
			b.makesNew().fails("/auth/error", "Configuration")
			if u := r.byEmail(t, "ada@example.com"); u == nil || u.ID != other.sub() || b.sub() != "" {
				t.Errorf("the address belongs to %+v, and the browser is %q", u, b.sub())
			}
		})
	}
}

// The first proof of an address ends the sessions of its user only if the person
// can be signed in.
func TestASyncThatFailsEndsNoSession(t *testing.T) {
	ways := map[string]func(*roleSite, *browser) *reply{
		"by mail": func(_ *roleSite, b *browser) *reply { return b.get(b.mailTo("ada@example.com").URL) },
		"by address": func(r *roleSite, b *browser) *reply {
			r.net["careful.example"].(*authtest.IdentityProvider).SignInAs(adaElsewhere)
			return b.signInWith("careful")
		},
	}
	for name, way := range ways {
		for _, v := range variants {
			t.Run(name+", "+v.String(), func(t *testing.T) {
				r := newRoleSite(t, v)
				user := r.seedUser(t, people["ada"].user)
				earlier := r.browser()
				if v.strategy == pintle.StrategyDatabase {
					earlier.plant(sessionCookie, r.seedSession(t, user, time.Hour))
				} else {
					earlier.plantSession("ada")
				}
				r.sync = func(*pintle.SignInAttempt) (pintle.UserUpdate, error) { return pintle.UserUpdate{}, errBroken }
				way(r, r.browser()).fails("/auth/error", "Configuration")
				if earlier.sub() != user.ID {
					t.Error("the earlier session ended")
				}
				r.sync = roleOfProfile
				way(r, r.browser()).goesTo(r.url)
				if earlier.sub() != "" {
					t.Error("the earlier session goes on after the proof")
				}
			})
		}
	}
}

// A sign-in whose later writes fail leaves the role as it was where the store has
// transactions; where it has none the role is written before the session.
func TestARoleIsNotOlderThanASession(t *testing.T) {
	for _, v := range variants {
		for n, stopped := 0, true; stopped; n++ {
			t.Run(fmt.Sprintf("%s, stopped after write %d", v, n), func(t *testing.T) {
				r := newRoleSite(t, v)
				first := r.browser()
				first.signInWith("acme").goesTo(r.url)
				id := first.sub()
				r.becomesAtProvider("member")
				over := r.stopAfter(n)
				b := r.browser()
				b.signInWith("acme")
				stopped = over()
				r.goOn()
				role := r.stored(t, id).Extra["role"]
				switch {
				case b.sub() != "" && (b.role() != "member" || role != "member"):
					t.Errorf("the session says %q, and the store %q", b.role(), role)
				case stopped && v.transactions && role != "admin":
					t.Errorf("the sign-in failed, and the store has %q", role)
				case stopped && b.sub() != "":
					t.Error("the sign-in failed, and the browser is signed in")
				}
				again := r.browser()
				again.signInWith("acme").goesTo(r.url)
				if again.sub() != id || again.role() != "member" {
					t.Errorf("the next sign-in is %q, %q", again.sub(), again.role())
				}
			})
		}
	}
}

// A link that fails changes nothing: the role that an account would bring is not
// left with a user who does not get the account.
func TestARoleIsNotTakenFromAnAccountThatIsNotLinked(t *testing.T) {
	for _, v := range variants {
		for _, moment := range []string{"syncUser", "linkAccount"} {
			if v.transactions && moment == "linkAccount" {
				continue // memstore has one transaction at a time
			}
			t.Run("another user links it before "+moment+", "+v.String(), func(t *testing.T) {
				r := newRoleSite(t, v)
				ada := r.browser()
				ada.signInWith("careful").goesTo(r.url)
				id := ada.sub()
				other := r.seedUser(t, people["grace"].user)
				back := ada.consent(ada.leave("acme"))
				taken := false
				take := func(now string) {
					if now == moment && !taken {
						taken = true
						r.seedAccount(t, other, "acme", adaElsewhere.Subject)
					}
				}
				r.before = take
				r.sync = func(a *pintle.SignInAttempt) (pintle.UserUpdate, error) {
					take("syncUser")
					return roleOfProfile(a)
				}
				ada.get(back).fails("/auth/signin", "OAuthAccountNotLinked")
				for _, id := range []string{id, other.ID} {
					if role := r.stored(t, id).Extra["role"]; role != nil {
						t.Errorf("the user %s is %v", id, role)
					}
				}
			})
		}
	}
}

// The user whose session is held may have changed since the session was read.
func TestALinkedAccountChangesTheUserAsStored(t *testing.T) {
	for _, v := range variants {
		t.Run(v.String(), func(t *testing.T) {
			r := newRoleSite(t, v)
			b := r.browser()
			b.signInWith("careful").goesTo(r.url)
			id := b.sub()
			r.sync = func(a *pintle.SignInAttempt) (pintle.UserUpdate, error) {
				if _, err := r.recordingTxStore.Store.UpdateUser(t.Context(), id, pintle.UserUpdate{Extra: map[string]any{"role": "root", "team": "engines"}}); err != nil {
					t.Error(err)
				}
				if a.LinkTo == nil || a.User.Extra["role"] != nil {
					t.Errorf("the callback was called with %+v", a)
				}
				return pintle.UserUpdate{Extra: map[string]any{"role": nil}}, nil
			}
			b.signInWith("acme").goesTo(r.url)
			if u := r.stored(t, id); u.Extra["role"] != nil || u.Extra["team"] != "engines" {
				t.Errorf("the user is %+v", u)
			}
			if u := lastEvent[*pintle.SignInEvent](r.site, "signIn").User; u.Extra["team"] != "engines" {
				t.Errorf("the event has %+v", u)
			}
		})
	}
}

// A user who is deleted while the callback runs does not come back. The callback
// is called once more where the person is a new user then.
func TestAUserWhoIsDeletedDuringTheSyncDoesNotComeBack(t *testing.T) {
	for _, v := range variants {
		for _, way := range []string{"provider", "mail"} {
			t.Run("by "+way+", "+v.String(), func(t *testing.T) {
				r := newRoleSite(t, v)
				signIn := func(b *browser) *reply {
					if way == "mail" {
						return b.get(b.mailTo("ada@example.com").URL)
					}
					return b.signInWith("acme")
				}
				first := r.browser()
				signIn(first).goesTo(r.url)
				id := first.sub()
				var called []string
				r.sync = func(a *pintle.SignInAttempt) (pintle.UserUpdate, error) {
					called = append(called, a.User.ID)
					if err := r.recordingTxStore.Store.DeleteUser(t.Context(), id); err != nil && !errors.Is(err, pintle.ErrNotFound) {
						t.Error(err)
					}
					return pintle.UserUpdate{Extra: map[string]any{"role": "member"}}, nil
				}
				b := r.browser()
				answer := signIn(b)
				if _, err := r.recordingTxStore.Store.User(t.Context(), id); !errors.Is(err, pintle.ErrNotFound) {
					t.Errorf("the deleted user: %v", err)
				}
				if way == "provider" {
					answer.fails("/auth/signin", "OAuthAccountNotLinked")
					return
				}
				answer.goesTo(r.url)
				if b.sub() == id || b.role() != "member" || len(called) != 2 || called[0] != id || called[1] == id {
					t.Errorf("the browser is %q, %q; the callback was called for %q", b.sub(), b.role(), called)
				}
			})
		}
	}
}

func TestManySignInsOfOnePersonChangeTheRoleOnce(t *testing.T) {
	for _, v := range variants {
		t.Run(v.String(), func(t *testing.T) {
			r := newRoleSite(t, v)
			r.browser().signInWith("acme").goesTo(r.url)
			r.becomesAtProvider("member")
			tabs, backs := make([]*browser, clients), make([]string, clients)
			for i := range tabs {
				tabs[i] = r.browser()
				backs[i] = tabs[i].consent(tabs[i].leave("acme"))
			}
			r.eventNames()
			got := outcomes(inParallel(func(i int) *reply { return tabs[i].get(backs[i]) }))
			if got[r.url] != clients {
				t.Errorf("the tabs are sent to %v", got)
			}
			for _, tab := range tabs {
				if role := tab.role(); role != "member" {
					t.Fatalf("a tab is %q", role)
				}
			}
			names := r.eventNames()
			if n := occurrences(names, "updateUser"); occurrences(names, "signIn") != clients || n == 0 || n > 1 && v.transactions {
				t.Errorf("the events are %q", names)
			}
		})
	}
}

// A columnStore has a column for each member of Extra, which holds what column
// makes of the value: nil where there is no column.
type columnStore struct {
	pintle.Store
	column func(name string, value any) any
}

func newColumnStore(column func(name string, value any) any) columnStore {
	return columnStore{memstore.New(), column}
}

func (s columnStore) columns(extra map[string]any) map[string]any {
	written := map[string]any{}
	for name, value := range extra {
		written[name] = value
		if value != nil {
			written[name] = s.column(name, value)
		}
	}
	return written
}

func (s columnStore) CreateUser(ctx context.Context, u *pintle.User) (*pintle.User, error) {
	c := *u
	c.Extra = s.columns(u.Extra)
	maps.DeleteFunc(c.Extra, func(_ string, value any) bool { return value == nil })
	return s.Store.CreateUser(ctx, &c)
}

func (s columnStore) UpdateUser(ctx context.Context, id string, change pintle.UserUpdate) (*pintle.User, error) {
	change.Extra = s.columns(change.Extra)
	return s.Store.UpdateUser(ctx, id, change)
}

func (s columnStore) InTx(ctx context.Context, f func(pintle.Store) error) error {
	return s.Store.InTx(ctx, func(tx pintle.Store) error { return f(columnStore{tx, s.column}) })
}

func noRole(name string, value any) any {
	if name == "role" {
		return nil
	}
	return value
}

// A column of text gives a list back as its JSON. It is written at each sign-in,
// and the host hears of it when it has changed.
func TestTheHostHearsOfAChangeOnly(t *testing.T) {
	r := newRoleSite(t, variants[0], func(s *site) {
		s.Store = newColumnStore(func(_ string, value any) any {
			text, err := json.Marshal(value)
			if err != nil {
				t.Error(err)
			}
			return string(text)
		})
	})
	for _, step := range []struct {
		groups []string
		want   string
		event  bool
	}{
		{[]string{"engines"}, `["engines"]`, false}, {[]string{"engines"}, `["engines"]`, false}, {[]string{"engines", "looms"}, `["engines","looms"]`, true}, {nil, "", true},
	} {
		r.sync = func(*pintle.SignInAttempt) (pintle.UserUpdate, error) {
			return pintle.UserUpdate{Extra: map[string]any{"groups": step.groups}}, nil
		}
		r.eventNames()
		r.browser().signInWith("acme").goesTo(r.url)
		user := lastEvent[*pintle.SignInEvent](r.site, "signIn").User
		if got, _ := user.Extra["groups"].(string); got != step.want {
			t.Errorf("the groups are %v, want %s", user.Extra["groups"], step.want)
		}
		if told := slices.Contains(r.eventNames(), "updateUser"); told != step.event {
			t.Errorf("the host is told of %v: %t, want %t", step.groups, told, step.event)
		}
	}
}

// Another tab may link the same account while the callback runs: the result of
// the callback for a link is not used for a sign-in.
func TestASyncOfALinkIsNotThatOfASignIn(t *testing.T) {
	for _, v := range variants {
		t.Run(v.String(), func(t *testing.T) {
			r := newRoleSite(t, v)
			b := r.browser()
			b.signInWith("careful").goesTo(r.url)
			user := r.stored(t, b.sub())
			r.sync = func(a *pintle.SignInAttempt) (pintle.UserUpdate, error) {
				if a.LinkTo != nil {
					r.seedAccount(t, user, "acme", adaElsewhere.Subject)
					return pintle.UserUpdate{}, nil
				}
				return roleOfProfile(a)
			}
			b.signInWith("acme").goesTo(r.url)
			if role := b.role(); role != "admin" || b.sub() != user.ID {
				t.Errorf("the browser is %q, %q", b.sub(), role)
			}
		})
	}
}

// A user who is deleted between two steps of a store without transactions is not
// signed in.
func TestAUserWhoIsDeletedBeforeTheirRoleIsWritten(t *testing.T) {
	for _, strategy := range strategies {
		t.Run("a known user, "+string(strategy), func(t *testing.T) {
			r := newRoleSite(t, variant{strategy, false})
			first := r.browser()
			first.get(first.mailTo("ada@example.com").URL).goesTo(r.url)
			id := first.sub()
			r.sync = func(*pintle.SignInAttempt) (pintle.UserUpdate, error) {
				return pintle.UserUpdate{Extra: map[string]any{"role": "member"}}, nil
			}
			b := r.browser()
			m := b.mailTo("ada@example.com")
			r.before = func(operation string) {
				if operation == "updateUser" {
					r.before = nil
					if err := r.recordingTxStore.Store.DeleteUser(t.Context(), id); err != nil && !errors.Is(err, pintle.ErrNotFound) {
						t.Error(err)
					}
				}
			}
			b.get(m.URL).goesTo(r.url)
			if b.sub() == "" || b.sub() == id || b.role() != "member" {
				t.Errorf("the browser is %q, %q", b.sub(), b.role())
			}
		})
		t.Run("the signed-in user, "+string(strategy), func(t *testing.T) {
			r := newRoleSite(t, variant{strategy, false})
			b := r.browser()
			b.signInWith("careful").goesTo(r.url)
			id := b.sub()
			back := b.consent(b.leave("acme"))
			linked := false
			r.before = func(operation string) {
				if linked && operation == "getUser" {
					r.before = nil
					if err := r.recordingTxStore.Store.DeleteUser(t.Context(), id); err != nil && !errors.Is(err, pintle.ErrNotFound) {
						t.Error(err)
					}
				}
				linked = linked || operation == "linkAccount"
			}
			r.eventNames()
			b.get(back)
			if names := r.eventNames(); slices.Contains(names, "signIn") || r.before != nil {
				t.Errorf("the events are %q", names)
			}
			if owner := r.owner(t, "acme", adaElsewhere.Subject); owner != nil {
				t.Errorf("the account belongs to %+v", owner)
			}
		})
	}
}

// A role without a column in the tables is not dropped silently: the
// application may read its own column, which keeps the role of yesterday.
func TestARoleWithoutAColumnRefusesTheSignIn(t *testing.T) {
	for _, way := range []string{"a new user", "a known user", "a new user by mail"} {
		t.Run(way, func(t *testing.T) {
			store := newColumnStore(noRole)
			r := newRoleSite(t, variants[0], func(s *site) { s.Store = store })
			r.sync = func(*pintle.SignInAttempt) (pintle.UserUpdate, error) {
				return pintle.UserUpdate{Extra: map[string]any{"role": "member"}}, nil
			}
			b := r.browser()
			switch way {
			case "a known user":
				ada, err := store.CreateUser(t.Context(), new(people["ada"].user))
				if err == nil {
					err = store.LinkAccount(t.Context(), &pintle.Account{UserID: ada.ID, Type: pintle.TypeOIDC, Provider: "acme", ProviderAccountID: adaElsewhere.Subject})
				}
				if err != nil {
					t.Fatal(err)
				}
				b.signInWith("acme").fails("/auth/error", "Configuration")
			case "a new user":
				b.signInWith("acme").fails("/auth/error", "Configuration")
			default:
				b.get(b.mailTo("ada@example.com").URL).fails("/auth/error", "Configuration")
			}
			if b.sub() != "" || !r.log.has("AdapterError") || !strings.Contains(r.log.String(), `no place for the member \"role\"`) {
				t.Errorf("the browser is %q; log:\n%s", b.sub(), r.log)
			}
		})
	}
	t.Run("a role that is removed needs no column", func(t *testing.T) {
		r := newRoleSite(t, variants[0], func(s *site) { s.Store = newColumnStore(noRole) })
		r.becomesAtProvider(nil)
		r.browser().signInWith("acme").goesTo(r.url)
	})
}

func TestSyncUserNeedsAStore(t *testing.T) {
	_, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.OAuth{ID: "acme", Issuer: "https://acme.example", ClientID: "app"}},
		Secrets:   []string{secret},
		Callbacks: pintle.Callbacks{SyncUser: func(context.Context, *pintle.SignInAttempt) (pintle.UserUpdate, error) {
			return pintle.UserUpdate{}, nil
		}},
	})
	if e, ok := errors.AsType[*pintle.Error](err); !ok || e.Code != "MissingAdapter" || !strings.Contains(err.Error(), "SyncUser") {
		t.Errorf("New() = %v, want MissingAdapter", err)
	}
}
