package pintle_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

// writes are the operations of the call log that change something.
var writes = []string{
	"createUser", "updateUser", "linkAccount", "createAuthenticator", "createSession", "deleteSession",
	"createVerificationToken", "useVerificationToken", "endUserSessions", "deleteUser",
}

// stopAfter makes everything fail that comes after the n-th write from now on, as
// if the process had died there. It reports whether it came to that.
func (d *callLog) stopAfter(n int) (stopped func() bool) {
	done, dead := 0, false
	d.before = func(operation string) {
		if dead || done == n {
			dead = true
			d.fail(operation)
			return
		}
		if slices.Contains(writes, operation) {
			done++
		}
	}
	return func() bool { return dead }
}

// goOn ends what stopAfter began.
func (d *callLog) goOn() {
	d.before = nil
	d.fail()
}

// A process without transactions may die after each write of a first sign-in.
// The same person signs in all the same when they try again, as one user, and
// another provider's report of their address does not let its reader in.
func TestAnInterruptedFirstSignInCanBeRepeated(t *testing.T) {
	ways := []struct {
		name  string
		setUp func(*browser)
		first func(*browser) *reply

		// again is what the person does next. A device may have made a passkey that
		// was never stored, so they make another.
		again func(*browser) *reply
	}{
		{name: "provider", first: byAcme, again: byAcme},
		{name: "mail", first: byMail, again: byMail},
		{
			name: "passkey",
			first: func(b *browser) *reply {
				b.get("/auth/webauthn-options/passkey?email=ada@example.com")
				return b.post("/auth/callback/passkey", "action", "register", "data", `{"id":"AAAA"}`)
			},
			again: func(b *browser) *reply {
				for _, id := range []string{"AAAA", "BBBB"} {
					if r := b.passkey("authenticate", id); r.errorCode() == "" {
						return r
					}
				}
				return b.passkey("register", "BBBB", "email", "ada@example.com")
			},
		},
		{
			name: "password",
			first: func(b *browser) *reply {
				return b.post("/auth/callback/credentials", "username", "grace", "password", people["grace"].password)
			},
			again: func(b *browser) *reply { return b.signIn("grace") },
		},
		{
			name:  "mail for an address of another user",
			setUp: func(b *browser) { b.signInWith("evil").goesTo(b.site.url) },
			first: goesOnWithout, again: goesOnWithout,
		},
	}
	for i, way := range slices.Concat(ways, ways) {
		syncs := i >= len(ways)
		for _, strategy := range strategies {
			for n, completed := 0, false; !completed; n++ {
				t.Run(fmt.Sprintf("%s, %s, syncs %t, stopped after write %d", way.name, strategy, syncs, n), func(t *testing.T) {
					k := newRecordingStore()
					s, _ := hijackSite(t, strategy, func(s *site) {
						s.Store = k.recordingStore
						evil := s.newIdentityProvider("https://evil.example")
						evil.SignInAs(authtest.Person{Subject: "666", Name: "Mallory", Email: "ada@example.com", EmailVerified: true})
						s.Providers = append(s.Providers, evil.OIDC("evil"))
						if syncs {
							s.Callbacks.SyncUser = func(context.Context, *pintle.SignInAttempt) (pintle.UserUpdate, error) {
								return pintle.UserUpdate{Extra: map[string]any{"role": "member"}}, nil
							}
						}
					})
					s.idp.SignInAs(adaElsewhere)
					k.seedUser(t, people["grace"].user)

					if way.setUp != nil {
						way.setUp(s.browser())
					}
					stopped := k.stopAfter(n)
					way.first(s.browser())
					completed = !stopped()
					k.goOn()
					b := s.browser()
					way.again(b)
					is := b.sub()
					if is == "" {
						t.Fatalf("the second attempt does not sign the user in; log:\n%s", s.log)
					}
					user, err := k.Store.User(t.Context(), is)
					if err != nil {
						t.Fatal(err)
					}
					if way.name == "provider" && user.Email != "ada@example.com" {
						t.Errorf("the user is %+v", user)
					}
					if role := user.Extra["role"]; syncs && way.name != "password" && role != "member" {
						t.Errorf("the user is %v", role)
					}
					later := s.browser()
					way.again(later)
					if later.sub() != is {
						t.Errorf("the third attempt signs in as %q, the second did as %q", later.sub(), is)
					}
					mallory := s.browser()
					mallory.signInWith("evil")
					if mallory.sub() == is {
						t.Error("another account with the address signs in as the same user")
					}
				})
			}
		}
	}
}

func byAcme(b *browser) *reply { return b.signInWith("acme") }

// byMail asks for a mail and opens the link, if one came.
func byMail(b *browser) *reply {
	before := b.site.mailsSent()
	r := b.post("/auth/signin/email", "email", "ada@example.com")
	if b.site.mailsSent() == before {
		return r
	}
	return b.get(b.site.lastMail().URL)
}

// goesOnWithout makes a new account with an address that another user has, unless
// that was done before.
func goesOnWithout(b *browser) *reply {
	if r := byMail(b); r.errorCode() != "OAuthAccountNotLinked" {
		return r
	}
	return b.makesNew()
}

// The address of a half-made user is not theirs for another account to take over.
func TestAHalfMadeUserIsNotGivenAway(t *testing.T) {
	for n := range 4 {
		k := newRecordingStore()
		s, _ := hijackSite(t, pintle.StrategyDatabase, func(s *site) {
			s.Store = k.recordingStore
			evil := s.newIdentityProvider("https://evil.example")
			evil.SignInAs(authtest.Person{Subject: "666", Name: "Mallory", Email: "ada@example.com"})
			s.Providers = append(s.Providers, evil.OIDC("evil"))
		})
		s.idp.SignInAs(adaElsewhere)
		k.stopAfter(n)
		s.browser().signInWith("acme")
		k.goOn()
		mallory := s.browser()
		mallory.signInWith("evil")
		ada := s.browser()
		ada.signInWith("acme")
		if mallory.sub() != "" && mallory.sub() == ada.sub() {
			t.Errorf("stopped after write %d: both are the user %q", n, ada.sub())
		}
		if owner := k.owner(t, "acme", adaElsewhere.Subject); owner != nil && k.owner(t, "evil", "666") != nil && owner.ID == k.owner(t, "evil", "666").ID {
			t.Errorf("stopped after write %d: one user has both accounts", n)
		}
	}
}

// One answer to one challenge reaches two instances, each of which remembers only
// the challenges it has seen itself. Whichever order their steps have, the user
// that one of them signs in stays.
func TestAPasskeyThatTwoInstancesRegisterKeepsItsUser(t *testing.T) {
	steps := []string{"getUserByAccount", "getUserByEmail", "createUser", "linkAccount", "createAuthenticator", "updateUser"}
	for _, strategy := range strategies {
		for _, first := range steps {
			for _, second := range steps {
				t.Run(fmt.Sprintf("%s, one waits before %s and the other before %s", strategy, first, second), func(t *testing.T) {
					kept := newRecordingStore()
					k := []*recordingStore{kept.recordingStore, {kept.Store, &callLog{}}}
					var sites []*site
					var browsers []*browser
					for _, k := range k {
						s, _ := hijackSite(t, strategy, func(s *site) { s.Store = k })
						sites, browsers = append(sites, s), append(browsers, s.browser())
					}
					a, b := browsers[0], browsers[1]
					a.get("/auth/webauthn-options/passkey?email=ada@example.com").want(http.StatusOK)
					form := url.Values{"csrfToken": {a.csrf()}, "action": {"register"}, "data": {`{"id":"AAAA"}`}}
					b.client.Jar.SetCookies(a.address(), a.client.Jar.Cookies(a.address()))

					one, answered := postUntil(a, k[0].callLog, first, form)
					other, answeredToo := postUntil(b, k[1].callLog, second, form)
					close(one)
					<-answered
					close(other)
					<-answeredToo

					in := 0
					for _, browser := range browsers {
						is := browser.sub()
						if is == "" {
							continue
						}
						in++
						user, err := kept.Store.User(t.Context(), is)
						if err != nil || user.Email != "ada@example.com" {
							t.Fatalf("who is signed in is %+v (%v)", user, err)
						}
						if keys, err := kept.UserPasskeys(t.Context(), is); err != nil || len(keys) != 1 {
							t.Errorf("their passkeys are %v (%v)", keys, err)
						}
					}
					if in != 1 {
						t.Errorf("%d are signed in, want 1; logs:\n%s%s", in, sites[0].log, sites[1].log)
					}
					sites[0].browser().passkey("authenticate", "AAAA").goesTo(sites[0].url)
				})
			}
		}
	}
}

// postUntil posts the answer of a ceremony and returns when the request comes to
// an operation, where it waits until goOn is closed, or when it is answered.
func postUntil(b *browser, d *callLog, operation string, form url.Values) (goOn, answered chan struct{}) {
	goOn, answered = make(chan struct{}), make(chan struct{})
	there := make(chan struct{})
	var once sync.Once
	d.before = func(now string) {
		if now == operation {
			once.Do(func() {
				close(there)
				<-goOn
			})
		}
	}
	go func() {
		defer close(answered)
		b.postForm("/auth/callback/passkey", form)
	}()
	select {
	case <-there:
	case <-answered:
	}
	return goOn, answered
}

// A user who is deleted while they sign in does not come back: tokens, rows of
// the host and lists of ended sessions still name the id.
func TestADeletedUserDoesNotComeBack(t *testing.T) {
	ada := pintle.User{Name: "Ada Lovelace", Email: "ada@example.com", Image: "https://example.com/ada.png"}
	for _, strategy := range strategies {
		for _, tt := range []struct {
			name         string
			transactions bool
			at           string // before what they are deleted
		}{
			{"before the transaction", true, "begin"},
			{"before the user is looked up again", false, "getUserByEmail"},
			{"before the user is updated", false, "updateUser"},
		} {
			t.Run(fmt.Sprintf("by mail, %s, %s", strategy, tt.name), func(t *testing.T) {
				k := newRecordingStore()
				s, _ := hijackSite(t, strategy, func(s *site) {
					s.Store = k.recordingStore
					if tt.transactions {
						s.Store = k
					}
				})
				user := k.seedUser(t, ada)
				b := s.browser()
				m := b.mailTo(ada.Email)
				looked := 0
				k.before = func(operation string) {
					if operation == "getUserByEmail" {
						looked++
					}
					if operation == tt.at && (operation != "getUserByEmail" || looked == 2) {
						k.before = nil
						if err := k.Store.DeleteUser(t.Context(), user.ID); err != nil {
							t.Fatal(err)
						}
					}
				}
				b.get(m.URL).goesTo(s.url)
				now := k.byEmail(t, ada.Email)
				if _, err := k.Store.User(t.Context(), user.ID); !errors.Is(err, pintle.ErrNotFound) {
					t.Errorf("the deleted user is there again (%v)", err)
				}
				if now == nil || now.ID == user.ID || now.Name != "" || now.Image != "" || b.sub() != now.ID {
					t.Errorf("the new user is %+v, signed in is %q", now, b.sub())
				}
			})
		}
		for _, at := range []string{"begin", "getUserByAccount"} {
			t.Run(fmt.Sprintf("by passkey, %s, before %s", strategy, at), func(t *testing.T) {
				k := newRecordingStore()
				s, _ := hijackSite(t, strategy, func(s *site) {
					s.Store = k
					if at != "begin" {
						s.Store = k.recordingStore
					}
				})
				b := s.browser()
				b.passkey("register", "AAAA", "email", ada.Email).goesTo(s.url)
				user := k.byEmail(t, ada.Email)
				k.before = func(operation string) {
					if operation == at {
						k.before = nil
						if err := k.Store.DeleteUser(t.Context(), user.ID); err != nil {
							t.Fatal(err)
						}
					}
				}
				other := s.browser()
				other.passkey("authenticate", "AAAA").fails("/auth/error", "WebAuthnVerificationError")
				if _, err := k.Store.User(t.Context(), user.ID); !errors.Is(err, pintle.ErrNotFound) || other.sub() != "" || k.byEmail(t, ada.Email) != nil {
					t.Errorf("the deleted user is there again (%v)", err)
				}
			})
		}
	}
}
