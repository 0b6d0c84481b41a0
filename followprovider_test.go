package pintle_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/providersession"
	"github.com/pintleauth/pintle/store/memstore"
)

// followingSite is a site whose sessions follow the provider "acme" every quarter of an hour.
func followingSite(t *testing.T, strategy pintle.SessionStrategy, changes ...func(*site)) *site {
	t.Helper()
	return newSite(t, append([]func(*site){func(s *site) {
		acme := s.idp.OIDC("acme")
		acme.Authorization.Params = map[string]string{"scope": "openid profile email offline_access"}
		acme.FollowProvider = 15 * time.Minute
		s.Providers = []pintle.Provider{acme, s.idp.OIDC("plain")}
		s.Store, s.Session.Strategy = memstore.New(), strategy
		if strategy == pintle.StrategyJWT {
			s.Session.Revocation = &memstore.Revocations{}
		}
		s.Events.ProviderSignOut = func(_ context.Context, e *pintle.SignOutEvent) error { return s.note("providerSignOut", e) }
	}}, changes...)...)
}

// unanswered has the provider answer no token request. It returns their number.
func (s *site) unanswered() *int {
	n := new(int)
	s.net["idp.example"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != string(authtest.TokenEndpoint) {
			s.idp.ServeHTTP(w, r)
			return
		}
		*n++
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	return n
}

// RPT-28: the provider no longer accepts the user.
func TestASessionEndsWhenItsProviderRefusesTheUser(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := followingSite(t, strategy)
		b, plain := s.browser(), s.browser()
		b.arrivesBy("acme")
		s.idp.SignInAs(authtest.Person{Subject: "grace", Name: "Grace Hopper"})
		plain.arrivesBy("plain")
		time.Sleep(14 * time.Minute)
		b.is("Ada Lovelace")
		if n := s.exchanges(); n != 0 {
			t.Fatalf("there were %d exchanges before the time", n)
		}
		copied := b.copied()
		s.idp.Break(authtest.TokenInvalidGrant)
		time.Sleep(2 * time.Minute)
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { b.copied().is("anonymous") })
		}
		all.Wait()
		if n := s.exchanges(); n != 1 {
			t.Errorf("RPT-28 there were %d exchanges, want one", n)
		}
		if b.session() != nil || b.cookie(sessionCookie) != "" {
			t.Errorf("RPT-28 the cookie is %q", b.cookie(sessionCookie))
		}
		e := lastEvent[*pintle.SignOutEvent](s, "providerSignOut")
		if !e.Refused || e.Provider != "acme" || e.UserID == "" || e.Ended != 1 {
			t.Errorf("RPX-43 the event is %+v", e)
		}
		plain.is("Grace Hopper")

		// What is left of the session is not good again when the provider accepts the user.
		s.idp.Repair()
		s.idp.SignInAs(authtest.DefaultPeople()[0])
		b.arrivesBy("acme")
		b.is("Ada Lovelace")
		copied.is("anonymous")
	})
}

// RPX-44: the time of the last confirmation is kept where the session is, and moves with an
// exchange only.
func TestASessionIsConfirmedOnceInTheTime(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := followingSite(t, strategy)
		b := s.browser()
		b.arrivesBy("acme")
		for round := range 4 {
			time.Sleep(16 * time.Minute)
			for range 3 {
				b.is("Ada Lovelace")
			}
			// Another process knows of it by the cookie or the row.
			other := s.process()
			s.serve(other)
			b.is("Ada Lovelace")
			if n := s.exchanges(); n != round+1 {
				t.Fatalf("round %d: there were %d exchanges", round, n)
			}
		}
	})
}

// RPX-47: a refresh replaces what its ID token says of the session, and nothing else. The ID
// token of another session says nothing of this one.
func TestARefreshReplacesWhatItSaysOfTheSession(t *testing.T) {
	for name, tt := range map[string]struct {
		changes map[string]any
		acr     string
		amr     string
		later   bool
	}{
		"everything":        {map[string]any{"acr": "gold", "amr": []string{"hwk"}}, "gold", "[hwk]", true},
		"a class":           {map[string]any{"acr": "gold", "amr": nil, "auth_time": nil}, "gold", "[pwd otp]", false},
		"methods":           {map[string]any{"acr": nil, "amr": []string{"hwk"}, "auth_time": nil}, "silver", "[hwk]", false},
		"nothing":           {map[string]any{"acr": nil, "amr": nil, "auth_time": nil}, "silver", "[pwd otp]", false},
		"nothing in them":   {map[string]any{"acr": "", "amr": []string{}, "auth_time": "x"}, "silver", "[pwd otp]", false},
		"another session":   {map[string]any{"sid": "sid-2", "acr": "gold", "amr": []string{"hwk"}}, "silver", "[pwd otp]", false},
		"no session":        {map[string]any{"sid": nil, "acr": "gold", "amr": []string{"hwk"}}, "silver", "[pwd otp]", false},
		"no sessions there": {map[string]any{"sid": nil, "acr": "gold", "amr": []string{"hwk"}}, "silver", "[pwd otp]", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				says := map[string]any{"sid": "sid-1", "acr": "silver", "amr": []string{"pwd", "otp"}}
				s := followingSite(t, pintle.StrategyDatabase, func(s *site) {
					s.idp.Tamper(authtest.Tamper{IDToken: func(header, claims map[string]any) {
						claims["auth_time"] = time.Now().Unix()
						claiming(says)(header, claims)
					}})
				})
				if name == "no sessions there" {
					says["sid"] = nil // nor in the ID token of the sign-in
				}
				b := s.browser()
				b.arrivesBy("acme")
				began := time.Now().Truncate(time.Second)
				maps.Copy(says, tt.changes)
				time.Sleep(16 * time.Minute)
				b.is("Ada Lovelace")
				all, err := s.Store.ProviderSessions().Of(t.Context(), providersession.KeyOf(b.cookie(sessionCookie)))
				if err != nil || len(all) != 1 {
					t.Fatalf("the records are %v, %v", all, err)
				}
				r := all[0]
				if r.ACR != tt.acr || fmt.Sprint(r.AMR) != tt.amr || r.AuthTime.After(began) != tt.later || r.AuthTime.Before(began) {
					t.Errorf("the record has %q, %q and %s", r.ACR, r.AMR, r.AuthTime)
				}
				if r.Proof.IsZero() {
					t.Error("the provider has not confirmed the session")
				}
			})
		})
	}
}

// RPT-29: the provider does not answer.
func TestASessionGoesOnForAWhileWithoutItsProvider(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := followingSite(t, strategy)
		b := s.browser()
		b.arrivesBy("acme")
		asked := s.unanswered()
		for range 3 {
			time.Sleep(14 * time.Minute)
			b.is("Ada Lovelace")
		}
		before := *asked
		for range 10 {
			b.is("Ada Lovelace")
		}
		if n := *asked - before; n != 0 || before == 0 {
			t.Errorf("RPT-29 the provider was asked %d times more in one moment", n)
		}
		s.net["idp.example"] = s.idp
		time.Sleep(2 * time.Minute)
		b.is("Ada Lovelace")
		s.unanswered()
		time.Sleep(61 * time.Minute)
		b.is("anonymous")
		if r := b.get("/members"); r.status == http.StatusOK {
			t.Errorf("RPT-29 a guarded page is answered %d", r.status)
		}
		s.net["idp.example"] = s.idp
		time.Sleep(2 * time.Minute)
		b.arrivesBy("acme")
		b.is("Ada Lovelace")
	})
}

// A provider that hangs delays one request for five seconds, and not each.
func TestAProviderThatHangsDelaysOneRequest(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := followingSite(t, strategy)
		b := s.browser()
		b.arrivesBy("acme")
		time.Sleep(16 * time.Minute)
		s.net["idp.example"] = hanging{}
		for i, most := range []time.Duration{5 * time.Second, 0, 0} {
			began := time.Now()
			b.is("Ada Lovelace")
			if took := time.Since(began); took > most {
				t.Errorf("request %d takes %v", i, took)
			}
		}
		time.Sleep(time.Minute) // until the exchange is given up
	})
}

// RPT-28, RPX-100: the session of an application belongs to the provider as that of the
// browser does.
func TestTheSessionOfAnApplicationFollowsTheProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := followingSite(t, pintle.StrategyDatabase, withApplicationsToo)
		b, app := s.browser(), application{s}
		b.arrivesBy("acme")
		token := s.bearerOf(b.code(asking(nil)), nil)
		time.Sleep(16 * time.Minute)
		if who := app.who(token); who != "Ada Lovelace" || s.exchanges() != 1 {
			t.Errorf("the application is signed in as %s after %d exchanges, want one", who, s.exchanges())
		}
		s.idp.Break(authtest.TokenInvalidGrant)
		time.Sleep(16 * time.Minute)
		if who := app.who(token); who != "anonymous" {
			t.Errorf("the provider has refused the user, and the application is signed in as %s", who)
		}
	})
}

// slowAccounts are in a database that takes a while to answer.
type slowAccounts struct{ *memstore.Store }

func (s slowAccounts) Account(ctx context.Context, provider, id string) (*pintle.Account, error) {
	time.Sleep(100 * time.Millisecond)
	return s.Store.Account(ctx, provider, id)
}

// RPX-44: calls of Refresh that are under way read the store, where the access token is good.
// What they return is no confirmation.
func TestACallThatReadsTheStoreConfirmsNothing(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := followingSite(t, strategy, func(s *site) {
			s.Store = slowAccounts{memstore.New()}
			s.Providers[0].(*pintle.OAuth).FollowGrace = 20 * time.Minute
		})
		underWay := func(f func()) {
			var over atomic.Bool
			var calls sync.WaitGroup
			for range 50 {
				calls.Go(func() {
					for !over.Load() {
						_, _ = s.auth.Refresh(t.Context(), &pintle.Account{Provider: "acme", ProviderAccountID: "1001"})
					}
				})
			}
			f()
			over.Store(true)
			calls.Wait()
		}
		b := s.browser()
		b.arrivesBy("acme")
		s.idp.Break(authtest.TokenInvalidGrant)
		for range 2 {
			time.Sleep(18 * time.Minute)
			underWay(func() { b.who() })
		}
		b.is("anonymous") // it has ended, or FollowGrace has
	})
}

// RPX-43: an answer that says nothing of the user ends no session.
func TestAFaultAtTheTokenEndpointEndsNoSession(t *testing.T) {
	code := func(code string) string { return `{"error":"` + code + `"}` }
	for name, tt := range map[string]struct {
		body string
		ends bool
	}{
		"a proxy":          {"<html>Bad Request</html>", false},
		"no body":          {"", false},
		"invalid_request":  {code("invalid_request"), false},
		"invalid_scope":    {code("invalid_scope"), false},
		"invalid_target":   {code("invalid_target"), false},
		"login_required":   {code("login_required"), true},
		"consent_required": {code("consent_required"), true},
	} {
		t.Run(name, func(t *testing.T) {
			inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
				s := followingSite(t, strategy)
				b := s.browser()
				b.arrivesBy("acme")
				s.net["idp.example"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path != string(authtest.TokenEndpoint) {
						s.idp.ServeHTTP(w, r)
						return
					}
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(http.StatusBadRequest)
					_, _ = io.WriteString(w, tt.body)
				})
				time.Sleep(16 * time.Minute)
				if b.who() == "anonymous" != tt.ends {
					t.Errorf("the session ends: %t, want %t", !tt.ends, tt.ends)
				}
				time.Sleep(50 * time.Minute)
				b.is("anonymous")
				s.net["idp.example"] = s.idp
				time.Sleep(3 * time.Minute)
				if b.who() == "anonymous" != tt.ends {
					t.Errorf("when the provider answers again, the session is over: %t, want %t", !tt.ends, tt.ends)
				}
			})
		})
	}
}

// There is nothing left to ask the provider with.
func TestASessionEndsWithItsRefreshToken(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := followingSite(t, strategy)
		b := s.browser()
		b.arrivesBy("acme")
		if err := s.auth.RevokeTokens(t.Context(), &pintle.Account{Provider: "acme", ProviderAccountID: "1001"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(16 * time.Minute)
		b.is("anonymous")
		if e := lastEvent[*pintle.SignOutEvent](s, "providerSignOut"); !e.Refused {
			t.Errorf("the event is %+v", e)
		}
	})
}

// RPT-30: a confirmation that is not in the past counts as none.
func TestAClockThatWasSetBackConfirmsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := followingSite(t, pintle.StrategyJWT)
		b := s.browser()
		b.arrivesBy("acme")
		claims := unsealed(t, sessionCookie, b.cookie(sessionCookie))
		claims["op"].(map[string]any)["proof"] = float64(time.Now().Add(time.Hour).Unix())
		b.plant(sessionCookie, sealed(t, sessionCookie, claims))
		s.unanswered()
		b.is("anonymous")
		s.net["idp.example"] = s.idp
		s.idp.Break(authtest.TokenInvalidGrant)
		time.Sleep(2 * time.Minute)
		b.is("anonymous")
	})
	synctest.Test(t, func(t *testing.T) {
		s := followingSite(t, pintle.StrategyJWT, func(s *site) {
			s.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
				c.Claims["op"] = map[string]any{"proof": time.Now().Add(-time.Second).Unix()}
				return c.Claims, nil
			}
		})
		b := s.browser()
		b.arrivesBy("acme")
		s.idp.Break(authtest.TokenInvalidGrant)
		time.Sleep(16 * time.Minute)
		b.is("anonymous")
	})
}

// A request that does not come through Load cannot use the session either: the user could
// add another way in.
func TestAUserWhomTheProviderRefusesLinksNothing(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := followingSite(t, strategy)
		b := s.browser()
		b.arrivesBy("acme")
		id := lastEvent[*pintle.SignInEvent](s, "signIn").User.ID
		s.idp.Break(authtest.TokenInvalidGrant)
		time.Sleep(16 * time.Minute)
		at := b.leave("plain")
		s.idp.Repair()
		s.idp.SignInAs(authtest.Person{Subject: "grace", Name: "Grace Hopper"})
		b.get(b.consent(at))
		accounts, err := s.Store.UserAccounts(t.Context(), id)
		if err != nil || len(accounts) != 1 {
			t.Errorf("the user has %d accounts (%v)", len(accounts), err)
		}
	})
}

// RPX-45
func TestASessionWithoutARefreshTokenDoesNotBegin(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := followingSite(t, strategy, func(s *site) { s.Providers[0].(*pintle.OAuth).AllowInitiated = true })
		drop := authtest.Tamper{Token: func(body map[string]any) { delete(body, "refresh_token") }}
		s.idp.Tamper(drop)
		b := s.browser()
		if r := b.signInWith("acme"); !strings.Contains(r.header.Get("Location"), "error=Configuration") {
			t.Errorf("RPX-45 the browser is sent to %s", r.header.Get("Location"))
		}
		b.is("anonymous")
		if !strings.Contains(s.log.String(), "offline_access") {
			t.Errorf("RPX-45 the log has %s", s.log)
		}
		for _, begin := range []func() *reply{
			func() *reply { return b.isInitiated(initiateAcme) },
			func() *reply { return b.get(b.consent(b.asks("acme", pintle.SignInOptions{MaxAge: time.Hour}))) },
		} {
			if r := begin(); !strings.Contains(r.header.Get("Location"), "error=Configuration") {
				t.Errorf("RPX-45 the browser is sent to %s", r.header.Get("Location"))
			}
			b.is("anonymous")
		}
		s.idp.Tamper(authtest.Tamper{})
		b.arrivesBy("acme")
		s.idp.Tamper(drop) // as Google does after the first time
		again := s.browser()
		again.arrivesBy("acme")
		again.is("Ada Lovelace")
	})
}

// RPX-44: a copy of the session from before the confirmation, and another process that has read
// the session before it, ask the provider no second time.
func TestAConfirmationCountsForEveryCopyAndProcess(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := followingSite(t, strategy)
		b := s.browser()
		b.arrivesBy("acme")
		first, other := s.auth, s.process()
		s.serve(other)
		b.is("Ada Lovelace")
		s.serve(first)
		copied := b.copied()
		time.Sleep(16 * time.Minute)
		for range 3 {
			b.is("Ada Lovelace")
			copied.copied().is("Ada Lovelace")
		}
		s.serve(other)
		for range 3 {
			b.is("Ada Lovelace")
		}
		if n := s.exchanges(); n != 1 {
			t.Errorf("there were %d exchanges, want one", n)
		}
	})
}

// The provider ends its session while it confirms that of the site.
func TestASessionThatEndsDuringItsConfirmationIsNotUsed(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := followingSite(t, strategy, func(s *site) {
			s.Providers[0].(*pintle.OAuth).BackChannelLogout = true
			s.idp.Tamper(authtest.Tamper{IDToken: func(_, claims map[string]any) { claims["sid"] = "sid-1" }})
		})
		b := s.browser()
		b.arrivesBy("acme")
		time.Sleep(16 * time.Minute)
		s.net["idp.example"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == string(authtest.TokenEndpoint) {
				s.loggedOutBy(ofSession("sid-1"))
			}
			s.idp.ServeHTTP(w, r)
		})
		request := b.copied()
		if who := request.who(); strategy == pintle.StrategyDatabase && who != "anonymous" {
			t.Errorf("the request is that of %q", who)
		}
		b.is("anonymous") // a token is looked up in the list at the next request
	})
}

// undying is a store that cannot delete sessions while it is broken.
type undying struct {
	pintle.Store
	broken bool
}

func (s *undying) DeleteSession(ctx context.Context, token string) (*pintle.StoredSession, error) {
	if s.broken {
		return nil, errBroken
	}
	return s.Store.DeleteSession(ctx, token)
}

// A session that the provider refuses is not used either while it cannot be ended. It ends, and is
// reported, when the store is back.
func TestASessionThatCannotBeEndedIsNotUsed(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		store, list := &undying{Store: memstore.New()}, &failingList{}
		s := followingSite(t, strategy, func(s *site) {
			if s.Store = store; strategy == pintle.StrategyJWT {
				s.Session.Revocation = list
			}
		})
		b := s.browser()
		b.arrivesBy("acme")
		s.idp.Break(authtest.TokenInvalidGrant)
		time.Sleep(16 * time.Minute)
		store.broken, list.fails = true, true
		b.copied().is("anonymous")
		if names := s.eventNames(); slices.Contains(names, "providerSignOut") {
			t.Errorf("the events are %q, and the session has not ended", names)
		}
		if !strings.Contains(s.log.String(), "not ended yet") {
			t.Errorf("the log has %s", s.log)
		}
		store.broken, list.fails = false, false
		copied := b.copied()
		copied.copied().is("anonymous")
		lastEvent[*pintle.SignOutEvent](s, "providerSignOut")
		s.idp.Repair()
		copied.is("anonymous")
	})
}

// Each provider is followed by its own setting, also for sessions from before it changed.
func TestASessionGoesOnWhenItsProviderIsNoLongerFollowed(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := followingSite(t, strategy)
		b := s.browser()
		b.arrivesBy("acme")
		s.again(t, func(c *pintle.Config) {
			acme, plain := *c.Providers[0].(*pintle.OAuth), *c.Providers[1].(*pintle.OAuth)
			acme.FollowProvider, plain.FollowProvider = 0, 15*time.Minute
			c.Providers = []pintle.Provider{&acme, &plain}
		})
		s.idp.Break(authtest.TokenInvalidGrant)
		time.Sleep(16 * time.Minute)
		b.is("Ada Lovelace")
	})
}

// RPX-45: what the store has of the account decides where the provider sends no refresh token. A
// confirmation needs none.
func TestARefreshTokenIsThatOfTheStoreIfNoneComes(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		store := &lostAccounts{Store: memstore.New()}
		s := followingSite(t, strategy, recording, func(s *site) { s.Store = store })
		b := s.browser()
		b.arrivesBy("acme")
		s.idp.Tamper(authtest.Tamper{Token: func(body map[string]any) { delete(body, "refresh_token") }})

		store.broken = true
		other := s.browser()
		other.signInWith("acme")
		other.is("anonymous")
		if strings.Contains(s.log.String(), "offline_access") {
			t.Error("a failure of the store is called a mistake of the configuration")
		}
		store.broken = false

		account := s.heldTokens()
		account.RefreshToken = ""
		if err := store.Store.UpdateAccount(t.Context(), account); err != nil {
			t.Fatal(err)
		}
		other.signInWith("acme")
		other.is("anonymous")
		if !strings.Contains(s.log.String(), "offline_access") {
			t.Error("a session begins that cannot follow")
		}

		b.get(b.consent(b.asks("acme", confirm))).goesTo(s.url + "/confirm?for=keys")
	})
}

// lostAccounts is a store that cannot read an account while it is broken.
type lostAccounts struct {
	pintle.Store
	broken bool
}

func (s *lostAccounts) Account(ctx context.Context, provider, id string) (*pintle.Account, error) {
	if s.broken {
		return nil, errBroken
	}
	return s.Store.Account(ctx, provider, id)
}

// A user whom the provider refuses confirms nothing.
func TestASessionThatItsProviderRefusesIsNotConfirmed(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := followingSite(t, strategy, recording)
		b := s.browser()
		b.arrivesBy("acme")
		s.idp.Break(authtest.TokenInvalidGrant)
		time.Sleep(16 * time.Minute)
		if _, _, err := b.confirms("pwd"); !errors.Is(err, pintle.CodeAccessDenied) {
			t.Errorf("Reauthenticate returns %v", err)
		}
	})
}

// RPX-43
func TestFollowingNeedsWhatEndsSessions(t *testing.T) {
	idp := authtest.NewIdentityProvider(authtest.Options{})
	idp.Issuer = "https://idp.example"
	with := func(change func(*pintle.Config, *pintle.OAuth)) error {
		p := idp.OIDC("acme")
		p.FollowProvider = 15 * time.Minute
		c := pintle.Config{
			Secrets: []string{secret}, Getenv: func(string) string { return "" }, Providers: []pintle.Provider{p}, Store: memstore.New(),
			Session: pintle.SessionConfig{Strategy: pintle.StrategyJWT, Revocation: &memstore.Revocations{}},
		}
		change(&c, p)
		_, err := pintle.New(c)
		return err
	}
	if err := with(func(*pintle.Config, *pintle.OAuth) {}); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		change func(*pintle.Config, *pintle.OAuth)
		want   string
	}{
		"no store":                  {func(c *pintle.Config, _ *pintle.OAuth) { c.Store = nil }, "Config.Store"},
		"a store without accounts":  {func(c *pintle.Config, _ *pintle.OAuth) { c.Store = noAccounts{c.Store} }, "Accounts"},
		"no list of ended sessions": {func(c *pintle.Config, _ *pintle.OAuth) { c.Session.Revocation = nil }, "Config.Session.Revocation"},
		"rows without records": {func(c *pintle.Config, _ *pintle.OAuth) {
			c.Session.Strategy, c.Store = pintle.StrategyDatabase, withoutRecords{memstore.New()}
		}, "ProviderSessions"},
		"less than a minute":  {func(_ *pintle.Config, p *pintle.OAuth) { p.FollowProvider = time.Second }, "minute"},
		"a short FollowGrace": {func(_ *pintle.Config, p *pintle.OAuth) { p.FollowGrace = time.Minute }, "FollowGrace"},
		"a long FollowGrace":  {func(_ *pintle.Config, p *pintle.OAuth) { p.FollowGrace = 25 * time.Hour }, "FollowGrace"},
		"FollowGrace alone":   {func(_ *pintle.Config, p *pintle.OAuth) { p.FollowProvider, p.FollowGrace = 0, time.Hour }, "FollowProvider"},
		"OAuth 1.0a": {func(c *pintle.Config, _ *pintle.OAuth) {
			c.Providers = []pintle.Provider{&pintle.OAuth{ID: "one", Protocol: oauth.OAuth1, FollowProvider: time.Hour}}
		}, "refresh tokens"},
	} {
		if err := with(tt.change); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: New returns %v", name, err)
		}
	}
}
