package pintle_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/testsite"
)

// clients is the number of clients that send a request at the same moment.
const clients = 64

// inParallel runs f concurrently for each client and returns the results.
func inParallel[T any](f func(i int) T) []T {
	return testsite.InParallel(clients, f)
}

// outcomes counts the answers by where they lead.
func outcomes(replies []*reply) map[string]int {
	counts := map[string]int{}
	for _, r := range replies {
		counts[r.location()]++
	}
	return counts
}

func occurrences(list []string, entry string) (n int) {
	for _, e := range list {
		if e == entry {
			n++
		}
	}
	return n
}

// One person in many tabs, who has never been here before, is one user: Q20.
func TestManyFirstSignInsOfOnePersonMakeOneUser(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			k := newRecordingStore()
			s := newSite(t, withRecordingStore(k, strategy))
			s.idp.SignInAs(adaElsewhere)
			tabs, backs := make([]*browser, clients), make([]string, clients)
			for i := range tabs {
				tabs[i] = s.browser()
				backs[i] = tabs[i].consent(tabs[i].leave("acme"))
			}
			s.eventNames()
			got := outcomes(inParallel(func(i int) *reply { return tabs[i].get(backs[i]) }))
			if got[s.url] != clients {
				t.Errorf("the tabs are sent to %v; log:\n%.2000s", got, s.log)
			}
			names := s.eventNames()
			if occurrences(names, "createUser") != 1 || occurrences(names, "linkAccount") != 1 || occurrences(names, "signIn") != clients {
				t.Errorf("the events are %q", names)
			}
			ada := k.owner(t, "acme", adaElsewhere.Subject)
			if ada == nil || k.byEmail(t, ada.Email).ID != ada.ID {
				t.Fatalf("the account belongs to %+v", ada)
			}
			for _, tab := range tabs {
				if is := tab.session()["user"].(map[string]any)["email"]; is != ada.Email {
					t.Errorf("a tab is %v", is)
				}
			}
		})
	}
}

// Without transactions a tab may see the other's user before the other's
// account, and the page says to try again. There is still only one user, and it is
// complete.
func TestManyFirstSignInsWithoutTransactionsMakeOneUser(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, with(k.recordingStore, k.callLog, pintle.StrategyDatabase))
	s.idp.SignInAs(adaElsewhere)
	tabs, backs := make([]*browser, clients), make([]string, clients)
	for i := range tabs {
		tabs[i] = s.browser()
		backs[i] = tabs[i].consent(tabs[i].leave("acme"))
	}
	got := outcomes(inParallel(func(i int) *reply { return tabs[i].get(backs[i]) }))
	refused := got[s.url+"/auth/signin?error=OAuthAccountNotLinked"]
	if got[s.url] == 0 || got[s.url]+refused != clients {
		t.Errorf("the tabs are sent to %v; log:\n%.2000s", got, s.log)
	}
	ada := k.owner(t, "acme", adaElsewhere.Subject)
	if ada == nil || k.byEmail(t, "ada@example.com").ID != ada.ID {
		t.Errorf("the account belongs to %+v", ada)
	}
	s.browser().signInWith("acme").goesTo(s.url)
}

// A mail scanner, a curious colleague and the person open a link at the same
// time: one of them is signed in.
func TestALinkThatManyOpenAtOnceWorksOnce(t *testing.T) {
	for i, strategy := range append(strategies, strategies...) {
		asks := i >= len(strategies)
		t.Run(fmt.Sprintf("SH-19 SH-20 ASVS-6.5.1 %s, the host is asked: %t", strategy, asks), func(t *testing.T) {
			s, k := mailSite(t, strategy, func(s *site, _ *pintle.Email) {
				if asks {
					s.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) { return "", nil }
				}
			})
			m := s.browser().mailTo("ada@example.com")
			browsers := make([]*browser, clients)
			for i := range browsers {
				browsers[i] = s.browser()
			}
			got := outcomes(inParallel(func(i int) *reply { return browsers[i].get(m.URL) }))
			if got[s.url] != 1 || got[s.url+"/auth/error?error=Verification"] != clients-1 {
				t.Errorf("the browsers are sent to %v", got)
			}
			in := 0
			for _, b := range browsers {
				if b.session() != nil {
					in++
				}
			}
			if in != 1 {
				t.Errorf("SH-19 %d browsers are signed in", in)
			}
			if strategy == pintle.StrategyDatabase && k.sessions(t, k.byEmail(t, "ada@example.com").ID) != 1 {
				t.Error("SH-19 there are several sessions")
			}
		})
	}
}

// A button that is pressed many times sends many mails; the links are all good
// and all one person's.
func TestManyLinksOfOnePersonMakeOneUser(t *testing.T) {
	s, k := mailSite(t, pintle.StrategyDatabase)
	browsers := make([]*browser, clients)
	links := make([]string, clients)
	for i := range browsers {
		browsers[i] = s.browser()
		links[i] = browsers[i].mailTo("ada@example.com").URL
	}
	s.eventNames()
	got := outcomes(inParallel(func(i int) *reply { return browsers[i].get(links[i]) }))
	if got[s.url] != clients {
		t.Errorf("the browsers are sent to %v; log:\n%.2000s", got, s.log)
	}
	if n := k.sessions(t, k.byEmail(t, "ada@example.com").ID); n != clients {
		t.Errorf("there are %d sessions, want one for each browser", n)
	}
	names := s.eventNames()
	if occurrences(names, "createUser") != 1 || occurrences(names, "updateUser") != 0 {
		t.Errorf("the events are %q", names)
	}
}

// An authorization code is good for one session, however often the browser comes
// back with it: SH-17, SH-77.
func TestACallbackThatIsRepeatedSignsInOnce(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase))
	s.idp.SignInAs(adaElsewhere)
	b := s.browser()
	back := b.consent(b.leave("acme"))
	twins := make([]*browser, clients)
	for i := range twins {
		twins[i] = s.browser()
		twins[i].client.Jar.SetCookies(b.address(), b.client.Jar.Cookies(b.address()))
	}
	got := outcomes(inParallel(func(i int) *reply { return twins[i].get(back) }))
	if got[s.url] != 1 || got[s.url+"/auth/error?error=Configuration"]+got[s.url+"/auth/signin?error=OAuthCallbackError"] != clients-1 {
		t.Errorf("the browsers are sent to %v", got)
	}
	if n := k.sessions(t, k.owner(t, "acme", adaElsewhere.Subject).ID); n != 1 {
		t.Errorf("SH-17 there are %d sessions", n)
	}
}

// One account can be linked by one user, however many hold it out at a time.
func TestAnAccountThatManyLinkAtOnceHasOneOwner(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			k := newRecordingStore()
			s := newSite(t, withRecordingStore(k, strategy))
			s.idp.SignInAs(noAddress)
			browsers, backs, users := make([]*browser, clients), make([]string, clients), make([]*pintle.User, clients)
			for i := range browsers {
				users[i] = k.seedUser(t, pintle.User{Name: "Person", Email: fmt.Sprintf("person-%d@example.com", i)})
				browsers[i] = s.browser()
				browsers[i].signInAs(k, users[i], strategy)
				backs[i] = browsers[i].consent(browsers[i].leave("acme"))
			}
			s.eventNames()
			got := outcomes(inParallel(func(i int) *reply { return browsers[i].get(backs[i]) }))
			if got[s.url] != 1 || got[s.url+"/auth/signin?error=OAuthAccountNotLinked"] != clients-1 {
				t.Errorf("the browsers are sent to %v", got)
			}
			if n := occurrences(s.eventNames(), "linkAccount"); n != 1 {
				t.Errorf("%d links were told of", n)
			}
		})
	}
}

// A page that asks for the session in many places extends it once, in effect: the
// session stays one, and no answer takes it away.
func TestASessionThatManyRequestsRenewStaysOne(t *testing.T) {
	t.Run("database", func(t *testing.T) {
		k := newRecordingStore()
		s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase))
		ada := k.seedUser(t, people["ada"].user)
		held := k.seedSession(t, ada, 20*24*time.Hour) // of 30, so it is due
		replies := inParallel(func(i int) *reply {
			b := s.browser()
			b.plant(sessionCookie, held)
			if i%2 == 0 {
				return b.get("/auth/session")
			}
			return b.get("/")
		})
		for i, r := range replies {
			if set := r.cookies()[sessionCookie]; r.status != http.StatusOK || set != nil && set.Value != held || i%2 == 1 && r.body != "hello, Ada Lovelace" {
				t.Errorf("request %d was answered %d %q with the cookie %v", i, r.status, r.body, set)
			}
		}
		stored, _, err := k.Store.SessionAndUser(t.Context(), held)
		if err != nil || k.sessions(t, ada.ID) != 1 {
			t.Fatalf("%v; there are %d sessions", err, k.sessions(t, ada.ID))
		}
		if left := time.Until(stored.Expires); left.Round(time.Hour) != 30*24*time.Hour {
			t.Errorf("the session lasts %s more", left)
		}
	})
	t.Run("token", func(t *testing.T) {
		s := newSite(t)
		claims := claimsFor("ada")
		claims["iat"] = time.Now().Add(-48 * time.Hour).Unix()
		held := sealed(t, sessionCookie, claims)
		for i, r := range inParallel(func(int) *reply {
			b := s.browser()
			b.plant(sessionCookie, held)
			return b.get("/")
		}) {
			set := r.cookies()[sessionCookie]
			if r.body != "hello, Ada Lovelace" || set == nil || unsealed(t, sessionCookie, set.Value)["sub"] != "user-ada" {
				t.Errorf("request %d was answered %q with the cookie %v", i, r.body, set)
			}
		}
	})
}

// Concurrent requests find an expired session: it is removed, and none of them
// fails.
func TestASessionThatManyFindExpiredIsGone(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase))
	ada := k.seedUser(t, people["ada"].user)
	held := k.seedSession(t, ada, -time.Second)
	for i, r := range inParallel(func(int) *reply {
		b := s.browser()
		b.plant(sessionCookie, held)
		return b.get("/auth/session")
	}) {
		if r.status != http.StatusOK || r.body != "null" || !r.clears(sessionCookie) {
			t.Errorf("request %d was answered %d %q", i, r.status, r.body)
		}
	}
	if _, _, err := k.Store.SessionAndUser(t.Context(), held); err == nil {
		t.Error("the session is still there")
	}
}

// A secret is replaced in use, in three steps, during each of which servers
// with the old and the new configuration answer in turn: ASVS-13.3.4. No user
// is signed out, and no flow or form under way breaks, except forms in the
// first and the last step: the hash of a form token covers the list of its
// server, and a server with one of two secrets cannot check it (W-12).
func TestASecretIsReplacedWhilePeopleAreAtWork(t *testing.T) {
	const next = "the next secret, of more than 32 characters"
	steps := [][]string{{secret}, {secret, next}, {next, secret}, {next}}
	for i := range steps[1:] {
		old, renewed := steps[i], steps[i+1]
		t.Run(fmt.Sprintf("step %d", i+1), func(t *testing.T) {
			var servers [2]http.Handler
			s := newSite(t, func(s *site) { s.Session.UpdateAge, s.DangerouslySkipCSRFCheck = -1, i != 1 })
			for i, secrets := range [][]string{old, renewed} {
				s.Secrets = secrets
				auth, err := pintle.New(s.Config)
				if err != nil {
					t.Fatal(err)
				}
				servers[i] = (&site{Config: s.Config, auth: auth}).handler()
			}
			var mu sync.Mutex
			turn := 0
			s.net["localhost:3000"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				turn++
				server := servers[turn%2]
				mu.Unlock()
				server.ServeHTTP(w, r)
			})
			failed := inParallel(func(int) string {
				b := s.browser()
				form := func() url.Values {
					if i != 1 {
						return nil
					}
					return url.Values{"csrfToken": {b.csrf()}}
				}
				at := b.postForm("/auth/signin/acme", form()).location()
				if r := b.get(b.get(at).location()); r.location() != s.url {
					return "the flow ended at " + r.location()
				}
				for range 8 {
					if who := b.who(); who != "Ada Lovelace" {
						return "a page says " + who
					}
					if r := b.get("/auth/session"); r.body == "null" {
						return "the session route returns null"
					}
				}
				if r := b.postForm("/auth/signout", form()); r.location() != s.url {
					return "signing out ended at " + r.location()
				}
				return ""
			})
			failed = slices.DeleteFunc(failed, func(f string) bool { return f == "" })
			if len(failed) > 0 {
				t.Errorf("%d of %d people were disturbed: %s; log:\n%.1500s", len(failed), clients, failed[0], s.log)
			}
		})
	}
}

// Concurrent requests of many users each get their own user.
func TestConcurrentUsersKeepTheirSessions(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase), func(s *site) {
		s.Providers = append(s.Providers, s.mailProvider())
	})
	wrong := inParallel(func(i int) string {
		address := fmt.Sprintf("person-%d@example.com", i)
		b := s.browser()
		if code := b.askForMail(address).errorCode(); code != "" {
			return code
		}
		b.get(s.mailFor(address).URL)
		for range 4 {
			session := b.session()
			user, _ := session["user"].(map[string]any)
			if user["email"] != address {
				return fmt.Sprintf("%s is %v", address, user["email"])
			}
		}
		return ""
	})
	for _, w := range wrong {
		if w != "" {
			t.Error(w)
		}
	}
}

// mailFor returns the latest mail to an address.
func (s *site) mailFor(address string) *pintle.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range slices.Backward(s.mails) {
		if m.To == address {
			return m
		}
	}
	return &pintle.Message{}
}
