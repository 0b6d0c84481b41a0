package pintle_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/pintleauth/pintle"
)

// A linkSite is a site with mail links whose store has transactions or not.
func linkSite(t *testing.T, strategy pintle.SessionStrategy, transactions bool, change func(*site)) (*site, *recordingTxStore) {
	t.Helper()
	return mailSite(t, strategy, func(s *site, _ *pintle.Email) {
		if !transactions {
			s.Store = s.Store.(*recordingTxStore).recordingStore
		}
		change(s)
	})
}

// A store that fails for a moment costs the user no link, whatever the sign-in was doing.
func TestALinkWorksAgainAfterTheStoreFailed(t *testing.T) {
	for _, strategy := range strategies {
		for _, transactions := range []bool{true, false} {
			for _, asks := range []bool{true, false} {
				for n, failed := 0, true; failed; n++ {
					t.Run(fmt.Sprintf("%s, transactions %t, the host is asked %t, call %d", strategy, transactions, asks, n), func(t *testing.T) {
						s, k := linkSite(t, strategy, transactions, func(s *site) {
							if asks {
								s.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) { return "", nil }
							}
						})
						m := s.browser().mailTo("ada@example.com")
						calls := 0
						failed = false
						k.before = func(operation string) {
							if calls == n && operation != "begin" {
								failed = true
								k.fail(operation)
							} else {
								k.fail()
							}
							if operation != "begin" {
								calls++
							}
						}
						b := s.browser()
						r := b.get(m.URL)
						k.before = nil
						k.fail()
						if failed {
							r.fails("/auth/error", "Configuration")
							if b.session() != nil {
								t.Error("the browser is signed in although the sign-in failed")
							}
							b = s.browser()
							b.get(m.URL).goesTo(s.url)
						}
						if is := b.session()["user"].(map[string]any)["email"]; is != "ada@example.com" {
							t.Errorf("%v is signed in", is)
						}
						s.browser().get(m.URL).fails("/auth/error", "Verification")
					})
				}
			}
		}
	}
}

// The page that a sign-in waits for cannot be shown either while the store fails.
func TestALinkWorksAgainIfTheSignInCannotWait(t *testing.T) {
	for _, transactions := range []bool{true, false} {
		s, k := linkSite(t, pintle.StrategyJWT, transactions, func(s *site) {
			s.Callbacks.Hold = func(context.Context, *pintle.PendingSignIn) (string, error) { return "/second-factor", nil }
		})
		m := s.browser().mailTo("ada@example.com")
		writes := 0
		k.before = func(operation string) {
			k.fail()
			if operation == "createVerificationToken" {
				if writes++; writes == 1 { // the row of the sign-in that waits
					k.fail(operation)
				}
			}
		}
		s.browser().get(m.URL).fails("/auth/error", "Configuration")
		s.browser().get(m.URL).goesTo(s.url + "/second-factor")
		s.browser().get(m.URL).fails("/auth/error", "Verification")
	}
}

// A mail program may close the connection, and the user then opens the link again.
func TestALinkWorksAgainIfTheClientLeft(t *testing.T) {
	for _, transactions := range []bool{true, false} {
		var leave context.CancelFunc
		s, k := linkSite(t, pintle.StrategyJWT, transactions, func(*site) {})
		m := s.browser().mailTo("ada@example.com")
		k.once("createUser", func() { leave() })
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		leave = cancel
		s.auth.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, m.URL, http.NoBody))
		if ctx.Err() == nil {
			t.Fatal("the client did not leave")
		}
		s.browser().get(m.URL).goesTo(s.url)
		s.browser().get(m.URL).fails("/auth/error", "Verification")
	}
}

// A link signs in once: a refusal is its one use.
func TestALinkThatTheHostRefusesIsUsedUp(t *testing.T) {
	for name, tt := range map[string]struct {
		goTo string
		err  error
		to   string
	}{
		"refused":        {"", pintle.CodeAccessDenied, "/auth/error?error=AccessDenied"},
		"sent elsewhere": {"/apply", nil, "/apply"},
		"failed":         {"", errors.New("no answer"), "/auth/error?error=AccessDenied"},
	} {
		for _, transactions := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, transactions %t", name, transactions), func(t *testing.T) {
				asked := 0
				s, _ := linkSite(t, pintle.StrategyDatabase, transactions, func(s *site) {
					s.Callbacks.SignIn = func(_ context.Context, a *pintle.SignInAttempt) (string, error) {
						if a.VerificationRequest {
							return "", nil
						}
						asked++
						return tt.goTo, tt.err
					}
				})
				m := s.browser().mailTo("ada@example.com")
				s.browser().get(m.URL).goesTo(s.url + tt.to)
				s.browser().get(m.URL).fails("/auth/error", "Verification")
				if asked != 1 {
					t.Errorf("the callback was called %d times, want once", asked)
				}
			})
		}
	}
}

// Whoever makes a link up learns nothing, and the host is told nothing, of the user of its address.
func TestALinkThatIsMadeUpNamesNoUser(t *testing.T) {
	for _, asks := range []bool{true, false} {
		var users []*pintle.User
		asked := 0
		s, k := linkSite(t, pintle.StrategyDatabase, true, func(s *site) {
			s.Events.SignInFailed = func(_ context.Context, e *pintle.SignInFailedEvent) error {
				users = append(users, e.User)
				return nil
			}
			if asks {
				s.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) { asked++; return "", nil }
			}
		})
		ada := k.seedUser(t, pintle.User{Name: "Ada", Email: "ada@example.com"})
		s.browser().get("/auth/callback/email?token=made-up&email=ada@example.com").fails("/auth/error", "Verification")
		if !slices.Equal(users, []*pintle.User{nil}) || asked > 0 {
			t.Errorf("the event names %v, and the callback was called %d times", users, asked)
		}
		m := s.browser().mailTo(ada.Email)
		k.fail("createSession")
		s.browser().get(m.URL).fails("/auth/error", "Configuration")
		if len(users) != 2 || users[1] == nil || users[1].ID != ada.ID {
			t.Errorf("the events of a link that is good name %v, want the user", users)
		}
	}
}

// SA-H1. The question whose the address is comes of a link that is used up: the proof that it was
// opened is in the browser, and works once as well.
func TestALinkThatLeadsToAQuestionIsUsedUp(t *testing.T) {
	for _, asks := range []bool{true, false} {
		s, _ := hijackSite(t, pintle.StrategyDatabase, func(s *site) {
			if asks {
				s.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) { return "", nil }
			}
		})
		s.browser().signInWith("acme").goesTo(s.url)
		victim := s.browser()
		m := victim.mailTo(victimAddress)
		victim.isAsked(victim.get(m.URL))
		s.browser().get(m.URL).fails("/auth/error", "Verification")
		asked := *victim.client
		victim.makesNew().goesTo(s.url)
		victim.client = &asked
		victim.makesNew().fails("/auth/error", "Verification")
	}
}

// A client that leaves while the host refuses the sign-in would otherwise keep the link, and have
// the host asked about it again and again.
func TestALinkThatIsRefusedAfterTheClientLeftIsUsedUp(t *testing.T) {
	for _, transactions := range []bool{true, false} {
		var leave context.CancelFunc
		asked := 0
		s, _ := linkSite(t, pintle.StrategyJWT, transactions, func(s *site) {
			s.Callbacks.SignIn = func(_ context.Context, a *pintle.SignInAttempt) (string, error) {
				if a.VerificationRequest {
					return "", nil
				}
				asked++
				leave()
				return "", pintle.CodeAccessDenied
			}
		})
		m := s.browser().mailTo("ada@example.com")
		var ctx context.Context
		ctx, leave = context.WithCancel(t.Context())
		s.auth.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, m.URL, http.NoBody))
		left := ctx.Err() != nil
		leave()
		if !left {
			t.Fatal("the client did not leave")
		}
		s.browser().get(m.URL).fails("/auth/error", "Verification")
		if asked != 1 {
			t.Errorf("with transactions %t the callback was called %d times, want once", transactions, asked)
		}
	}
}

// A link that cannot be used up leads to no question: the proof in the browser would be good beside it.
func TestALinkThatCannotBeUsedUpLeadsToNoQuestion(t *testing.T) {
	s, k := hijackSite(t, pintle.StrategyDatabase)
	s.browser().signInWith("acme").goesTo(s.url)
	victim := s.browser()
	m := victim.mailTo(victimAddress)
	asked := false
	k.before = func(operation string) {
		if asked = asked || operation == "createVerificationToken"; asked { // the row of the question
			if operation != "createVerificationToken" {
				k.fail(operation)
			}
		}
	}
	victim.get(m.URL).fails("/auth/error", "Configuration")
	if !asked {
		t.Error("the row of the question was not written")
	}
	k.before = nil
	k.fail()
	victim.isAsked(victim.get(m.URL))
	s.browser().get(m.URL).fails("/auth/error", "Verification")
}
