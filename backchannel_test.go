package pintle_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/providersession"
	"github.com/pintleauth/pintle/sharedstate"
	"github.com/pintleauth/pintle/store/memstore"
)

// endedBy is a site at which the providers "acme" and "other" end sessions, and "plain" does
// not. Each sign-in at acme begins another session there: sid-1, sid-2 and so on.
func endedBy(strategy pintle.SessionStrategy, changes ...func(*site)) func(*site) {
	return func(s *site) {
		acme, plain := s.idp.OIDC("acme"), s.idp.OIDC("plain")
		op := s.newIdentityProvider("https://other.example")
		op.SignInAs(authtest.Person{Subject: "other-1", Name: "Ada Lovelace"})
		other := op.OIDC("other")
		acme.BackChannelLogout, other.BackChannelLogout = true, true
		s.Providers = []pintle.Provider{acme, plain, other}
		signIns := 0
		s.idp.Tamper(authtest.Tamper{IDToken: func(_, claims map[string]any) {
			signIns++
			claims["sid"] = fmt.Sprint("sid-", signIns)
		}})
		s.Session.Strategy = strategy
		if strategy == pintle.StrategyDatabase {
			s.Store = memstore.New()
		} else {
			s.Session.Revocation = &memstore.Revocations{}
		}
		s.Events.ProviderSignOut = func(_ context.Context, e *pintle.SignOutEvent) error { return s.note("providerSignOut", e) }
		for _, change := range changes {
			change(s)
		}
	}
}

// inTime runs a test for both kinds of sessions, by a clock that stands while it works.
func inTime(t *testing.T, test func(t *testing.T, strategy pintle.SessionStrategy)) {
	t.Helper()
	inBothStrategies(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		synctest.Test(t, func(t *testing.T) { test(t, strategy) })
	})
}

// claiming changes claims of a logout token. A nil value removes one.
func claiming(changes map[string]any) func(_, claims map[string]any) {
	return func(_, claims map[string]any) {
		for name, value := range changes {
			if claims[name] = value; value == nil {
				delete(claims, name)
			}
		}
	}
}

// ofSession makes a logout token one of a session of the provider, and of no user.
func ofSession(sid string) func(_, claims map[string]any) {
	return claiming(map[string]any{"sid": sid, "sub": nil})
}

// backChannel posts a logout token as a provider does.
func (s *site) backChannel(provider, token string) *reply {
	s.t.Helper()
	return s.browser().postForm("/auth/backchannel-logout/"+provider, url.Values{"logout_token": {token}})
}

// loggedOutBy has acme end sessions, and fails the test unless the site accepts it.
func (s *site) loggedOutBy(change func(_, claims map[string]any)) {
	s.t.Helper()
	if r := s.backChannel("acme", s.idp.LogoutToken("acme", change)); r.status != http.StatusOK || r.body != "" {
		s.t.Fatalf("the logout token is answered %d %s; log:\n%s", r.status, r.body, s.log)
	}
}

// refusesLogout fails the test unless an answer has a status and an error.
func (r *reply) refusesLogout(status int, code string) {
	r.t.Helper()
	var said struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	r.want(status).json(&said)
	if said.Error != code || said.Description == "" {
		r.t.Errorf("the answer is %s", r.body)
	}
	r.isNotStored()
}

func (r *reply) isNotStored() {
	r.t.Helper()
	if r.header.Get("Cache-Control") != "no-store" || r.header.Get("Pragma") != "no-cache" || len(r.header["Set-Cookie"]) > 0 {
		r.t.Errorf("the headers are %v", r.header)
	}
}

// is fails the test unless a user is signed in in the browser.
func (b *browser) is(name string) {
	b.t.Helper()
	if who := b.who(); who != name {
		b.t.Errorf("the browser is that of %q, want %q", who, name)
	}
}

// RP-19: a provider ends one session by its id, and all of a user by the subject.
func TestAProviderEndsItsSessions(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := newSite(t, endedBy(strategy))
		first, second := s.browser(), s.browser()
		first.arrivesBy("acme")
		second.arrivesBy("acme")
		other := s.browser()
		s.idp.SignInAs(authtest.Person{Subject: "grace", Name: "Grace Hopper"})
		other.arrivesBy("acme")
		copied := first.copied()
		r := s.backChannel("acme", s.idp.LogoutToken("acme", ofSession("sid-1")))
		if r.want(http.StatusOK); r.body != "" {
			t.Errorf("the answer has the body %q", r.body)
		}
		r.isNotStored()
		first.is("anonymous")
		copied.is("anonymous")
		second.is("Ada Lovelace")
		other.is("Grace Hopper")
		e := lastEvent[*pintle.SignOutEvent](s, "providerSignOut")
		if e.Provider != "acme" || e.ProviderSession != "sid-1" || e.ProviderUser != "" || e.Claims != nil || e.Session != nil {
			t.Errorf("the event is %+v", e)
		}
		if stored := strategy == pintle.StrategyDatabase; stored && (e.UserID == "" || e.Ended != 1) || !stored && (e.UserID != "" || e.Ended != 0) {
			t.Errorf("the event has the user %q and %d sessions", e.UserID, e.Ended)
		}
		time.Sleep(2 * time.Second)
		third := s.browser()
		s.idp.SignInAs(authtest.DefaultPeople()[0])
		third.arrivesBy("acme")
		s.loggedOutBy(nil)
		for _, b := range []*browser{first, second, third} {
			b.is("anonymous")
		}
		other.is("Grace Hopper")
		time.Sleep(2 * time.Second)
		third.arrivesBy("acme")
		third.is("Ada Lovelace")
	})
}

// RPX-30: where the token names a session and a user, both have to fit.
func TestALogoutTokenWithBothClaimsEndsWhatFitsBoth(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := newSite(t, endedBy(strategy))
		b := s.browser()
		b.arrivesBy("acme")
		s.loggedOutBy(claiming(map[string]any{"sid": "sid-1", "sub": "another"}))
		s.loggedOutBy(claiming(map[string]any{"sid": "another"}))
		b.is("Ada Lovelace")
		s.loggedOutBy(claiming(map[string]any{"sid": "sid-1"}))
		b.is("anonymous")
	})
}

// RPT-15: each check by itself, in a token that is good otherwise. Those of signatures, of
// times and of claims are in internal/handshake, too.
func TestALogoutTokenThatIsNotGoodEndsNothing(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := newSite(t, endedBy(strategy))
		b := s.browser()
		b.arrivesBy("acme")
		now := time.Now().Unix()
		good := s.idp.LogoutToken("acme", nil)
		head, rest, _ := strings.Cut(good, ".")
		payload, signature, _ := strings.Cut(rest, ".")
		signed := func(change func(header, claims map[string]any)) string { return s.idp.LogoutToken("acme", change) }
		header := func(name string, value any) string {
			return signed(func(header, _ map[string]any) { header[name] = value })
		}
		claim := func(name string, value any) string { return signed(claiming(map[string]any{name: value})) }
		none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`))
		for name, token := range map[string]string{
			"1 no token":              "x",
			"1 two parts":             head + "." + payload,
			"1 five parts":            head + "." + payload + ".." + "." + signature,
			"1 17 KiB":                claim("trace", strings.Repeat("x", 17<<10)),
			"2 alg none":              none + "." + payload + ".",
			"2 another algorithm":     header("alg", "HS256"),
			"3 typ":                   header("typ", "at+jwt"),
			"4 crit":                  header("crit", []string{"exp"}),
			"5 no signature":          head + "." + payload + ".",
			"5 signature of others":   head + "." + payload + "." + strings.Repeat("A", len(signature)),
			"6 issuer":                claim("iss", "https://issuer.example"),
			"7 audience":              claim("aud", "plain"),
			"7 further audience":      claim("aud", []string{"acme", "plain"}),
			"8 no iat":                claim("iat", nil),
			"8 iat in the future":     claim("iat", now+60),
			"8 old":                   signed(claiming(map[string]any{"iat": now - 600, "exp": nil})),
			"9 expired":               signed(claiming(map[string]any{"iat": now - 600, "exp": now - 60})),
			"9 exp in a week":         claim("exp", now+7*24*3600),
			"10 no events":            claim("events", nil),
			"10 another event":        claim("events", map[string]any{"https://example.com/event": map[string]any{}}),
			"11 nonce":                claim("nonce", "n"),
			"12 neither sub nor sid":  claim("sub", nil),
			"12 sub that is a number": claim("sub", 1),
			"13 no jti":               claim("jti", nil),
		} {
			r := s.backChannel("acme", token)
			r.refusesLogout(http.StatusBadRequest, "invalid_request")
			if check, _, _ := strings.Cut(name, " "); !strings.Contains(s.log.String(), `"check":`+check+",") {
				t.Errorf("%s: the log does not name the check", name)
			}
			b.is("Ada Lovelace")
		}
		if names := s.eventNames(); slices.Contains(names, "providerSignOut") {
			t.Errorf("there were the events %q", names)
		}
		s.again(t, func(c *pintle.Config) {
			strict := *c.Providers[0].(*pintle.OAuth)
			strict.RequireLogoutTokenType = true
			c.Providers[0] = &strict
		})
		s.backChannel("acme", header("typ", "JWT")).refusesLogout(http.StatusBadRequest, "invalid_request")
		b.is("Ada Lovelace")
		s.loggedOutBy(nil)
		b.is("anonymous")
	})
}

// RPT-16
func TestAnIDTokenAndALogoutTokenAreNotInterchangeable(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		idToken := ""
		s := newSite(t, endedBy(strategy), func(s *site) {
			s.Callbacks.SignIn = func(_ context.Context, a *pintle.SignInAttempt) (string, error) {
				idToken = a.Account.IDToken
				return "", nil
			}
		})
		b := s.browser()
		b.arrivesBy("acme")
		s.backChannel("acme", idToken).refusesLogout(http.StatusBadRequest, "invalid_request")
		b.is("Ada Lovelace")
		s.idp.Tamper(authtest.Tamper{Token: func(body map[string]any) { body["id_token"] = s.idp.LogoutToken("acme", nil) }})
		other := s.browser()
		other.signInWith("acme")
		other.is("anonymous")
	})
}

// RPT-17, RPT-18: the route names the provider, and nothing in the token names another one.
func TestAProviderEndsNoSessionsOfAnother(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		var other *authtest.IdentityProvider
		s := newSite(t, endedBy(strategy), func(s *site) {
			other = authtest.NewIdentityProvider(authtest.Options{AutoConsent: true})
			other.Issuer = "https://third.example"
			s.net["third.example"] = other
			p := other.OIDC("third")
			p.ClientID, p.BackChannelLogout = "acme", true
			s.Providers = append(s.Providers, p)
		})
		b := s.browser()
		b.arrivesBy("acme")
		s.backChannel("acme", other.LogoutToken("acme", ofSession("sid-1"))).refusesLogout(http.StatusBadRequest, "invalid_request")
		s.backChannel("acme", s.idp.LogoutToken("acme", claiming(map[string]any{"iss": "https://third.example"}))).refusesLogout(http.StatusBadRequest, "invalid_request")
		for _, change := range []func(_, claims map[string]any){ofSession("sid-1"), claiming(map[string]any{"sub": authtest.DefaultPeople()[0].Subject})} {
			s.backChannel("third", other.LogoutToken("acme", change)).want(http.StatusOK)
		}
		b.is("Ada Lovelace")
		s.loggedOutBy(nil)
		b.is("anonymous")
	})
}

// RPT-19
func TestADelayedLogoutTokenEndsNoLaterSession(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := newSite(t, endedBy(strategy))
		var before []*browser
		for range 3 {
			b := s.browser()
			b.arrivesBy("acme")
			before = append(before, b)
		}
		iat := time.Now().Unix()
		time.Sleep(time.Minute)
		later := s.browser()
		later.arrivesBy("acme")
		s.idp.SignInAs(authtest.Person{Subject: "grace", Name: "Grace Hopper"})
		grace := s.browser()
		grace.arrivesBy("acme")
		s.loggedOutBy(claiming(map[string]any{"iat": iat, "sub": authtest.DefaultPeople()[0].Subject}))
		for _, b := range before {
			b.is("anonymous")
		}
		later.is("Ada Lovelace")
		grace.is("Grace Hopper")
	})
}

// RPT-20
func TestALogoutTokenWorksOnce(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := newSite(t, endedBy(strategy))
		b := s.browser()
		b.arrivesBy("acme")
		token := s.idp.LogoutToken("acme", nil)
		statuses := make(chan int, 50)
		var all sync.WaitGroup
		for range cap(statuses) {
			all.Go(func() { statuses <- s.backChannel("acme", token).status })
		}
		all.Wait()
		close(statuses)
		counts := map[int]int{}
		for status := range statuses {
			counts[status]++
		}
		if counts[http.StatusOK] == 0 || counts[http.StatusOK]+counts[http.StatusBadRequest]+counts[http.StatusServiceUnavailable] != 50 {
			t.Errorf("the answers are %v", counts)
		}
		b.is("anonymous")
		// Within the half minute for which clocks may differ, and after the lease of the
		// request that was at work.
		time.Sleep(15 * time.Second)
		b.arrivesBy("acme")
		s.backChannel("acme", token).refusesLogout(http.StatusBadRequest, "invalid_request")
		b.is("Ada Lovelace")
	})
}

// RPX-123: a logout token that a slow clock here accepts long after its exp is remembered as
// long, and ends what began until its iat by that clock.
func TestALogoutTokenWorksOnceWhileTheClockSkewAcceptsIt(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := newSite(t, endedBy(strategy, func(s *site) { s.Providers[0].(*pintle.OAuth).ClockSkew = 2 * time.Minute }))
		b := s.browser()
		b.arrivesBy("acme")
		// By the clock of the provider this is the moment of the sign-in: it is behind.
		now := time.Now()
		token := s.idp.LogoutToken("acme", claiming(map[string]any{"iat": now.Add(-100 * time.Second).Unix(), "exp": now.Add(200 * time.Second).Unix()}))
		s.backChannel("acme", token).want(http.StatusOK)
		b.is("anonymous")
		time.Sleep(2 * time.Second)
		b.arrivesBy("acme")
		time.Sleep(200*time.Second + 2*time.Minute - 4*time.Second)
		s.backChannel("acme", token).refusesLogout(http.StatusBadRequest, "invalid_request")
		b.is("Ada Lovelace")
		if !strings.Contains(s.log.String(), "was used before") {
			t.Errorf("the token was refused for another reason: %s", s.log)
		}
		other := s.idp.LogoutToken("acme", claiming(map[string]any{"exp": time.Now().Add(-119 * time.Second).Unix()}))
		s.backChannel("acme", other).want(http.StatusOK)
		time.Sleep(2 * time.Second)
		s.backChannel("acme", s.idp.LogoutToken("acme", claiming(map[string]any{"exp": time.Now().Add(-121 * time.Second).Unix()}))).
			refusesLogout(http.StatusBadRequest, "invalid_request")
	})
}

// An endStore fails in chosen operations of a provider's end, before or after they have had
// their effect.
type endStore struct {
	*memstore.Store
	fails map[string]bool
	calls map[string]int
	after func(operation string)

	// during runs in the next call of EndBy.
	during func()
}

func newEndStore() *endStore {
	return &endStore{Store: memstore.New(), fails: map[string]bool{}, calls: map[string]int{}, after: func(string) {}}
}

func (s *endStore) call(operation string, run func() error) error {
	s.calls[operation]++
	if operation == "EndBy" && s.during != nil {
		s.during()
	}
	if s.fails["before "+operation] {
		return errBroken
	}
	err := run()
	if s.after(operation); s.fails["after "+operation] {
		return errBroken
	}
	return err
}

// Features leaves transactions out, so that each write can be seen by others at once.
func (s *endStore) Features() pintle.Features {
	can := s.Store.Features()
	can.Transactions = false
	return can
}

func (s *endStore) CreateSession(ctx context.Context, row *pintle.StoredSession) error {
	return s.call("CreateSession", func() error { return s.Store.CreateSession(ctx, row) })
}

func (s *endStore) UpdateSession(ctx context.Context, token string, change pintle.SessionUpdate) error {
	return s.call("UpdateSession", func() error { return s.Store.UpdateSession(ctx, token, change) })
}

func (s *endStore) ProviderSessions() providersession.Store {
	return endSessions{s.Store.ProviderSessions(), s}
}
func (s *endStore) SharedState() sharedstate.Store { return endState{s.Store.SharedState(), s} }

type endSessions struct {
	providersession.Store
	of *endStore
}

func (s endSessions) Put(ctx context.Context, r *providersession.Record, flowBegan time.Time) error {
	return s.of.call("Put", func() error { return s.Store.Put(ctx, r, flowBegan) })
}

func (s endSessions) Of(ctx context.Context, session providersession.Key) (all []*providersession.Record, err error) {
	err = s.of.call("Of", func() error { all, err = s.Store.Of(ctx, session); return err })
	return all, err
}

func (s endSessions) Move(ctx context.Context, session providersession.Key, expires time.Time) error {
	return s.of.call("Move", func() error { return s.Store.Move(ctx, session, expires) })
}

func (s endSessions) EndBy(ctx context.Context, sid, sub providersession.Key, before time.Time) (ended []*providersession.Record, err error) {
	err = s.of.call("EndBy", func() error { ended, err = s.Store.EndBy(ctx, sid, sub, before); return err })
	if err != nil {
		return nil, err
	}
	return ended, nil
}

type endState struct {
	sharedstate.Store
	of *endStore
}

func (s endState) Lease(ctx context.Context, key sharedstate.Key, owner sharedstate.Owner, d time.Duration) (held bool, err error) {
	operation := "Lease"
	if d > 10*time.Second {
		operation = "last Lease"
	}
	err = s.of.call(operation, func() error { held, err = s.Store.Lease(ctx, key, owner, d); return err })
	return held && err == nil, err
}

func (s endState) Release(ctx context.Context, key sharedstate.Key, owner sharedstate.Owner) error {
	return s.of.call("Release", func() error { return s.Store.Release(ctx, key, owner) })
}

// An endList does the same with a list of ended sessions.
type endList struct {
	*memstore.Revocations
	fails map[string]bool
	calls int
}

func (l *endList) Revoked(ctx context.Context, s pintle.TokenSession) (bool, error) {
	l.calls++
	if l.fails["before Revoked"] {
		return true, errBroken
	}
	return l.Revocations.Revoked(ctx, s)
}

func (l *endList) EndMarked(ctx context.Context, m providersession.Mark, ended, until time.Time) error {
	if l.fails["before EndMarked"] {
		return errBroken
	}
	if err := l.Revocations.EndMarked(ctx, m, ended, until); err != nil || l.fails["after EndMarked"] {
		return errors.Join(err, errBroken)
	}
	return nil
}

func (l *endList) Revoke(ctx context.Context, s pintle.TokenSession, until time.Time) error {
	if l.fails["before Revoke"] {
		return errBroken
	}
	return l.Revocations.Revoke(ctx, s, until)
}

// RPT-21
func TestALogoutTokenCanBeSentAgainAfterAFailure(t *testing.T) {
	for strategy, failures := range map[pintle.SessionStrategy][]string{
		pintle.StrategyDatabase: {"before Lease", "before EndBy", "after EndBy", "before last Lease", "after last Lease"},
		pintle.StrategyJWT:      {"before Revoked", "before EndMarked", "after EndMarked", "before Revoke"},
	} {
		for _, failure := range failures {
			t.Run(string(strategy)+" "+failure, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					store, list := newEndStore(), &endList{Revocations: &memstore.Revocations{}, fails: map[string]bool{}}
					s := newSite(t, endedBy(strategy, func(s *site) {
						if s.Store != nil {
							s.Store = store
						} else {
							s.Session.Revocation = list
						}
					}))
					b := s.browser()
					b.arrivesBy("acme")
					time.Sleep(time.Second)
					token := s.idp.LogoutToken("acme", nil)
					store.fails[failure], list.fails[failure] = true, true
					s.backChannel("acme", token).refusesLogout(http.StatusBadRequest, "server_error")
					if !s.log.has("AdapterError") {
						t.Errorf("the log has: %s", s.log)
					}
					clear(store.fails)
					clear(list.fails)
					s.backChannel("acme", token).want(http.StatusOK)
					b.is("anonymous")
					if !slices.Contains(s.eventNames(), "providerSignOut") {
						t.Error("there is no event")
					}
				})
			})
		}
	}
	// A store that is gone for a while cannot take the lease back.
	synctest.Test(t, func(t *testing.T) {
		store := newEndStore()
		s := newSite(t, endedBy(pintle.StrategyDatabase, func(s *site) { s.Store = store }))
		b := s.browser()
		b.arrivesBy("acme")
		token := s.idp.LogoutToken("acme", nil)
		store.fails["before EndBy"], store.fails["before Release"] = true, true
		s.backChannel("acme", token).refusesLogout(http.StatusBadRequest, "server_error")
		clear(store.fails)
		time.Sleep(11 * time.Second)
		s.backChannel("acme", token).want(http.StatusOK)
		b.is("anonymous")
	})
}

// RPT-21: the provider sends the token again while the request before is at work, which then
// fails.
func TestALogoutTokenThatIsSentAgainInTimeIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newEndStore()
		s := newSite(t, endedBy(pintle.StrategyDatabase, func(s *site) { s.Store = store }))
		b := s.browser()
		b.arrivesBy("acme")
		token := s.idp.LogoutToken("acme", nil)
		store.fails["before EndBy"] = true
		store.during = func() {
			store.during = nil
			again := s.backChannel("acme", token)
			if again.refusesLogout(http.StatusServiceUnavailable, "server_error"); again.header.Get("Retry-After") == "" {
				t.Error("the answer does not say when to try again")
			}
		}
		s.backChannel("acme", token).refusesLogout(http.StatusBadRequest, "server_error")
		clear(store.fails)
		s.backChannel("acme", token).want(http.StatusOK)
		b.is("anonymous")
		s.backChannel("acme", token).refusesLogout(http.StatusBadRequest, "invalid_request")
	})
}

// RPT-22: a logout that comes while a sign-in is under way, at any of its steps.
func TestALogoutDuringASignInIsNotMissed(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		for _, change := range []func(_, claims map[string]any){ofSession("sid-1"), nil} {
			s := newSite(t, endedBy(strategy))
			b := s.browser()
			at := b.leave("acme")
			time.Sleep(time.Second)
			back := b.consent(at)
			s.Callbacks.SignIn = func(context.Context, *pintle.SignInAttempt) (string, error) {
				time.Sleep(time.Second)
				s.loggedOutBy(change)
				time.Sleep(time.Second)
				return "", nil
			}
			s.again(t, func(*pintle.Config) {})
			if code := b.get(back).errorCode(); code != "AccessDenied" {
				t.Errorf("the sign-in ends with the error %q", code)
			}
			b.is("anonymous")
			if b.cookie(sessionCookie) != "" {
				t.Error("the browser has a session")
			}
		}
	})
	for _, operation := range []string{"CreateSession", "Put"} {
		t.Run("after "+operation, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newEndStore()
				s := newSite(t, endedBy(pintle.StrategyDatabase, func(s *site) { s.Store = store }))
				b := s.browser()
				at := b.leave("acme")
				time.Sleep(time.Second)
				back := b.consent(at)
				time.Sleep(time.Second)
				store.after = func(of string) {
					if of == operation {
						time.Sleep(time.Second)
						s.loggedOutBy(nil)
					}
				}
				b.get(back)
				b.is("anonymous")
				for row, err := range store.UserSessions(t.Context(), lastEvent[*pintle.User](s, "createUser").ID) {
					t.Errorf("the user has the session %v, %v", row, err)
				}
			})
		})
	}
}

// A sign-in that began after the logout is another one.
func TestASignInAfterALogoutIsNotRefused(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := newSite(t, endedBy(strategy))
		s.loggedOutBy(nil)
		time.Sleep(time.Second)
		b := s.browser()
		b.arrivesBy("acme")
		b.is("Ada Lovelace")
	})
}

// RPT-24
func TestAFloodOfLogoutTokensDoesNotStopSignIns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, endedBy(pintle.StrategyDatabase))
		s.browser().arrivesBy("acme")
		time.Sleep(10 * time.Minute)
		fetched := func() (n int) {
			for _, r := range s.idp.Requests() {
				if r.Endpoint == authtest.JWKSEndpoint {
					n++
				}
			}
			return n
		}
		before := fetched()
		flood := func(from int) {
			for i := range 500 {
				token := s.idp.LogoutToken("acme", func(header, _ map[string]any) { header["kid"] = fmt.Sprint("made up ", from, i) })
				token = token[:strings.LastIndexByte(token, '.')+1] + strings.Repeat("A", 86)
				if r := s.backChannel("acme", token); r.status != http.StatusBadRequest {
					t.Fatalf("a forged token is answered %d %s", r.status, r.body)
				}
			}
		}
		flood(0)
		s.idp.Break(authtest.KeysRotateBeforeSigning)
		b := s.browser()
		b.arrivesBy("acme")
		b.is("Ada Lovelace")
		s.idp.Break()
		flood(1)
		if n := fetched() - before; n > 2 {
			t.Errorf("the keys were fetched %d times, want once for the sign-in and at most once for the flood", n)
		}
		if strings.Contains(s.log.String(), `"level":"ERROR"`) {
			t.Errorf("forged tokens are errors in the log: %s", s.log)
		}
	})
}

// RPX-121: keys are not fetched for each token that anyone can send. A token with a key that
// is new meanwhile is not called invalid: the provider would not send it again.
func TestALogoutTokenWithANewKeyIsNotCalledInvalidAfterAForgedOne(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := newSite(t, endedBy(strategy))
		b := s.browser()
		b.arrivesBy("acme")
		time.Sleep(2 * time.Minute)
		token := s.idp.LogoutToken("acme", func(header, _ map[string]any) { header["kid"] = "made up" })
		s.backChannel("acme", token[:strings.LastIndexByte(token, '.')+1]+strings.Repeat("A", 86)).
			refusesLogout(http.StatusBadRequest, "invalid_request")
		s.idp.RotateKeys()
		good := s.idp.LogoutToken("acme", nil)
		s.backChannel("acme", good).refusesLogout(http.StatusBadRequest, "server_error")
		b.is("Ada Lovelace")
		time.Sleep(time.Minute)
		s.backChannel("acme", good).want(http.StatusOK)
		b.is("anonymous")
	})
}

// RPT-25
func TestAnAnswerToAProviderDoesNotTellWhoIsSignedIn(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := newSite(t, endedBy(strategy), func(s *site) { s.Debug = false })
		s.browser().arrivesBy("acme")
		var answers []string
		for _, sid := range []string{"sid-1", "unknown-sid"} {
			r := s.backChannel("acme", s.idp.LogoutToken("acme", ofSession(sid)))
			headers := maps.Clone(r.header)
			delete(headers, "Date")
			answers = append(answers, fmt.Sprint(r.status, headers, r.body))
		}
		if answers[0] != answers[1] {
			t.Errorf("the answers are %q", answers)
		}
		secret := "canary-of-the-token"
		for _, change := range []func(header, claims map[string]any){
			nil, ofSession("sid-1"), claiming(map[string]any{"sub": secret}), claiming(map[string]any{"iss": secret}), claiming(map[string]any{"aud": secret}),
			claiming(map[string]any{"jti": secret, "nonce": secret}), claiming(map[string]any{"events": map[string]any{secret: 1}}),
			func(header, _ map[string]any) { header["kid"], header["typ"] = secret, secret },
		} {
			token := s.idp.LogoutToken("acme", change)
			r := s.backChannel("acme", token)
			for line := range strings.Lines(s.log.String()) {
				if !strings.Contains(line, `"level":"DEBUG"`) && (strings.Contains(line, secret) || strings.Contains(line, token) || strings.Contains(line, authtest.DefaultPeople()[0].Subject+`"`)) {
					t.Errorf("the log has %s", line)
				}
			}
			if strings.Contains(r.body, secret) {
				t.Errorf("the answer is %s", r.body)
			}
		}
	})
}

// RPT-26
func TestAnAccountThatWasLinkedDoesNotEndTheSession(t *testing.T) {
	for name, rotates := range map[string]bool{"in one row": false, "in another row": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, endedBy(pintle.StrategyDatabase, func(s *site) { s.Session.RotateAtSignIn = rotates }))
				b := s.browser()
				b.arrivesBy("other")
				time.Sleep(time.Second)
				before := b.cookie(sessionCookie)
				b.arrivesBy("acme") // linked to the user who is signed in
				if changed := b.cookie(sessionCookie) != before; changed != rotates {
					t.Fatalf("the session has another token: %v", changed)
				}
				records := func() (names []string) {
					all, err := s.Store.ProviderSessions().Of(t.Context(), providersession.KeyOf(b.cookie(sessionCookie)))
					for _, r := range all {
						names = append(names, r.Provider+" "+string(r.Role))
					}
					if err != nil {
						t.Fatal(err)
					}
					return names
				}
				if got := records(); !slices.Equal(got, []string{"other began", "acme linked"}) {
					t.Errorf("the records are %q", got)
				}
				s.loggedOutBy(nil)
				b.is("Ada Lovelace")
				if got := records(); !slices.Equal(got, []string{"other began"}) {
					t.Errorf("after the logout the records are %q", got)
				}
				if e := lastEvent[*pintle.SignOutEvent](s, "providerSignOut"); e.Ended != 0 {
					t.Errorf("the event is %+v", e)
				}
				op := s.net["other.example"].(*authtest.IdentityProvider)
				s.backChannel("other", op.LogoutToken("other", nil)).want(http.StatusOK)
				b.is("anonymous")
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, endedBy(pintle.StrategyJWT, func(s *site) { s.Store = memstore.New() }))
		b := s.browser()
		b.arrivesBy("other")
		time.Sleep(time.Second)
		b.arrivesBy("acme")
		s.loggedOutBy(nil)
		b.is("Ada Lovelace")
		op := s.net["other.example"].(*authtest.IdentityProvider)
		s.backChannel("other", op.LogoutToken("other", nil)).want(http.StatusOK)
		b.is("anonymous")
	})
}

// A user who signs in again with the same account is in a new session of the provider.
func TestAFurtherSignInMovesTheSessionToThatOfTheProvider(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := newSite(t, endedBy(strategy))
		b := s.browser()
		b.arrivesBy("acme")
		time.Sleep(time.Second)
		b.arrivesBy("acme")
		s.loggedOutBy(ofSession("sid-1"))
		b.is("Ada Lovelace")
		s.loggedOutBy(ofSession("sid-2"))
		b.is("anonymous")
	})
}

// RPT-27
func TestARequestThatIsNoLogoutIsRefusedBeforeAnyWork(t *testing.T) {
	s := newSite(t, endedBy(pintle.StrategyDatabase))
	b := s.browser()
	b.arrivesBy("acme")
	fetched := len(s.idp.Requests())
	token := s.idp.LogoutToken("acme", nil)
	form := "application/x-www-form-urlencoded"
	post := func(body, kind string) *reply {
		return s.browser().do(http.MethodPost, "/auth/backchannel-logout/acme", strings.NewReader(body), "Content-Type", kind)
	}
	post("logout_token="+token+"&logout_token="+token, form).refusesLogout(http.StatusBadRequest, "invalid_request")
	post("", form).refusesLogout(http.StatusBadRequest, "invalid_request")
	post("token="+token, form).refusesLogout(http.StatusBadRequest, "invalid_request")
	post("logout_token="+token, "text/plain").refusesLogout(http.StatusBadRequest, "invalid_request")
	post(`{"logout_token":"`+token+`"}`, "application/json").refusesLogout(http.StatusBadRequest, "invalid_request")
	post("--x\r\nContent-Disposition: form-data; name=\"logout_token\"\r\n\r\n"+token+"\r\n--x--\r\n", "multipart/form-data; boundary=x").refusesLogout(http.StatusBadRequest, "invalid_request")
	post("logout_token="+strings.Repeat("x", 17<<10), form).refusesLogout(http.StatusBadRequest, "invalid_request")
	post("logout_token="+token+"&more="+strings.Repeat("x", 65<<10), form).refusesLogout(http.StatusRequestEntityTooLarge, "invalid_request")
	unsized := s.browser().do(http.MethodPost, "/auth/backchannel-logout/acme", io.MultiReader(strings.NewReader("more="+strings.Repeat("x", 65<<10))), "Content-Type", form)
	unsized.refusesLogout(http.StatusRequestEntityTooLarge, "invalid_request")
	s.browser().get("/auth/backchannel-logout/acme?logout_token="+token).refusesLogout(http.StatusBadRequest, "invalid_request")
	s.browser().do(http.MethodHead, "/auth/backchannel-logout/acme", nil).want(http.StatusBadRequest)
	s.browser().do(http.MethodPut, "/auth/backchannel-logout/acme", strings.NewReader("logout_token="+token), "Content-Type", form).want(http.StatusBadRequest)
	for _, path := range []string{"/auth/backchannel-logout", "/auth/backchannel-logout/plain", "/auth/backchannel-logout/nobody", "/auth/backchannel-logout/acme/x", "/auth/backchannel-logout/%61cme"} {
		r := s.browser().postForm(path, url.Values{"logout_token": {token}})
		if r.status != http.StatusBadRequest || r.body != `"Bad request."` {
			t.Errorf("%s is answered %d %s", path, r.status, r.body)
		}
	}
	if n := len(s.idp.Requests()) - fetched; n != 0 {
		t.Errorf("%d requests were made to the provider", n)
	}
	b.is("Ada Lovelace")
	// Cookies, the query and the site that the request says it comes from have no effect.
	r := b.postForm("/auth/backchannel-logout/acme?%zz&logout_token=x", url.Values{"logout_token": {token}}, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site")
	r.want(http.StatusOK).isNotStored()
	b.is("anonymous")
}

// RPX-35
func TestLogoutTokensAreVerifiedAFewAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, endedBy(pintle.StrategyDatabase))
		s.net["idp.example"] = hanging{}
		token := s.idp.LogoutToken("acme", nil)
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() { s.backChannel("acme", token).refusesLogout(http.StatusBadRequest, "server_error") })
		}
		synctest.Wait()
		r := s.backChannel("acme", token)
		r.refusesLogout(http.StatusServiceUnavailable, "server_error")
		if r.header.Get("Retry-After") != "1" {
			t.Errorf("the headers are %v", r.header)
		}
		s.backChannel("other", "x").refusesLogout(http.StatusBadRequest, "invalid_request") // which has places of its own
		all.Wait()
		time.Sleep(time.Minute)
		synctest.Wait() // for the requests to the provider, which outlive those that wanted them
		s.net["idp.example"] = s.idp
		s.loggedOutBy(nil)
	})
}

// RPX-25: what could not end a session is no configuration.
func TestABackChannelNeedsWhatEndsSessions(t *testing.T) {
	idp := authtest.NewIdentityProvider(authtest.Options{})
	idp.Issuer = "https://idp.example"
	with := func(change func(*pintle.Config, *pintle.OAuth)) error {
		p := idp.OIDC("acme")
		p.BackChannelLogout = true
		c := pintle.Config{Secrets: []string{secret}, Getenv: func(string) string { return "" }, Providers: []pintle.Provider{p}}
		change(&c, p)
		_, err := pintle.New(c)
		return err
	}
	for name, tt := range map[string]struct {
		change func(*pintle.Config, *pintle.OAuth)
		want   string
	}{
		"a list that does not know marks": {func(c *pintle.Config, _ *pintle.OAuth) {
			c.Session.Revocation = struct{ pintle.RevocationStore }{&memstore.Revocations{}}
		}, "providersession.Marker"},
		"no list":                      {func(*pintle.Config, *pintle.OAuth) {}, "Config.Session.Revocation"},
		"a store without records":      {func(c *pintle.Config, _ *pintle.OAuth) { c.Store = withoutRecords{memstore.New()} }, "ProviderSessions"},
		"a store without shared state": {func(c *pintle.Config, _ *pintle.OAuth) { c.Store = withoutState{memstore.New()} }, "SharedState"},
		"no store":                     {func(c *pintle.Config, _ *pintle.OAuth) { c.Session.Strategy = pintle.StrategyDatabase }, "Config.Store"},
		"a provider without ID tokens": {func(_ *pintle.Config, p *pintle.OAuth) { p.Protocol = 0 }, "OpenID Connect"},
		"a provider without an issuer": {func(_ *pintle.Config, p *pintle.OAuth) { p.Issuer = "" }, "Issuer"},
	} {
		if err := with(tt.change); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, change := range map[string]func(*pintle.Config, *pintle.OAuth){
		"a list":  func(c *pintle.Config, _ *pintle.OAuth) { c.Session.Revocation = &memstore.Revocations{} },
		"a store": func(c *pintle.Config, _ *pintle.OAuth) { c.Store = memstore.New() },
	} {
		if err := with(change); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type withoutRecords struct{ *memstore.Store }

func (withoutRecords) ProviderSessions() providersession.Store { return nil }

type withoutState struct{ *memstore.Store }

func (withoutState) SharedState() sharedstate.Store { return nil }

// RPX-1: without the field there is no route, no claim, and no call of the store.
func TestABackChannelThatIsOffCostsNothing(t *testing.T) {
	inBothStrategies(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		store := newEndStore()
		s := newSite(t, endedBy(strategy), func(s *site) {
			for _, name := range []int{0, 2} {
				s.Providers[name].(*pintle.OAuth).BackChannelLogout = false
			}
			s.Store = store
			s.Session.UpdateAge = -1
		})
		b := s.browser()
		b.arrivesBy("acme")
		b.is("Ada Lovelace")
		b.is("Ada Lovelace")
		s.again(t, func(c *pintle.Config) { c.Store, c.Session.UpdateAge = sharedRows{store}, 0 })
		b.is("Ada Lovelace")
		for operation, n := range store.calls {
			if operation != "CreateSession" && operation != "UpdateSession" {
				t.Errorf("%d calls of %s", n, operation)
			}
		}
		if strategy == pintle.StrategyJWT {
			if claims := unsealed(t, sessionCookie, b.cookie(sessionCookie)); claims["op"] != nil {
				t.Errorf("the claims are %v", claims)
			}
		}
		r := s.backChannel("acme", s.idp.LogoutToken("acme", nil))
		if r.status != http.StatusBadRequest || r.body != `"Bad request."` {
			t.Errorf("the answer is %d %s", r.status, r.body)
		}
	})
}

// RPT-3, RPX-5: what finds the session lasts as long as the session.
func TestASessionThatIsExtendedCanStillBeEnded(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := newSite(t, endedBy(strategy, func(s *site) {
			s.Session.MaxAge, s.Session.UpdateAge = 2*time.Hour, time.Minute
			s.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
				return pintle.Claims{"sub": c.Claims["sub"], "name": c.Claims["name"], "op": "of the host"}, nil
			}
		}))
		b := s.browser()
		b.arrivesBy("acme")
		for range 5 {
			time.Sleep(time.Hour)
			b.is("Ada Lovelace")
			if s.Store != nil {
				if _, err := s.Store.Sweep(t.Context(), time.Now(), 100); err != nil {
					t.Fatal(err)
				}
			}
		}
		s.loggedOutBy(ofSession("sid-1"))
		b.is("anonymous")
	})
}

// In tables that have when a session began nothing extends it without its record: a read costs
// no write.
func TestASessionThatIsReadMovesNoRecord(t *testing.T) {
	store := newEndStore()
	s := newSite(t, endedBy(pintle.StrategyDatabase, func(s *site) { s.Store = store }))
	b := s.browser()
	b.arrivesBy("acme")
	for range 3 {
		b.is("Ada Lovelace")
	}
	if n := store.calls["Move"]; n != 0 {
		t.Errorf("the record was moved %d times", n)
	}
}

// A record that cannot be extended leaves the session as it is.
func TestASessionThatAuthJSExtendsCanStillBeEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := sharedRows{newEndStore()}
		s := newSite(t, endedBy(pintle.StrategyDatabase, func(s *site) { s.Store = store }))
		b := s.browser()
		b.arrivesBy("acme")
		time.Sleep(29 * 24 * time.Hour)
		if err := store.Store.UpdateSession(t.Context(), b.cookie(sessionCookie), pintle.SessionUpdate{Expires: time.Now().Add(30 * 24 * time.Hour)}); err != nil {
			t.Fatal(err)
		}
		b.is("Ada Lovelace")
		moved := store.calls["Move"]
		for range 3 {
			b.is("Ada Lovelace")
		}
		if n := store.calls["Move"]; moved == 0 || n != moved {
			t.Errorf("the record was moved %d times, and then %d times", moved, n-moved)
		}
		time.Sleep(20 * 24 * time.Hour)
		if _, err := store.Sweep(t.Context(), time.Now(), 100); err != nil {
			t.Fatal(err)
		}
		s.loggedOutBy(ofSession("sid-1"))
		b.is("anonymous")
	})
}

// sharedRows is a store whose table of sessions is that of Auth.js.
type sharedRows struct{ *endStore }

func (s sharedRows) SessionAndUser(ctx context.Context, token string) (*pintle.StoredSession, *pintle.User, error) {
	row, u, err := s.endStore.SessionAndUser(ctx, token)
	if row != nil {
		row.Created = time.Time{}
	}
	return row, u, err
}

func TestASessionIsNotExtendedWithoutItsRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newEndStore()
		s := newSite(t, endedBy(pintle.StrategyDatabase, func(s *site) { s.Store, s.Session.UpdateAge = store, time.Minute }))
		b := s.browser()
		b.arrivesBy("acme")
		time.Sleep(time.Hour)
		store.fails["before Move"] = true
		b.is("Ada Lovelace")
		if n := store.calls["UpdateSession"]; n != 0 {
			t.Errorf("the row was extended %d times", n)
		}
	})
}

// RPT-3, RPX-8: a claim that this package did not write counts as none, and is shown to no browser.
func TestTheClaimOfAProviderSessionIsNotOfTheHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, endedBy(pintle.StrategyJWT, func(s *site) {
			s.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
				c.Claims["op"] = map[string]any{"provider": "acme", "sub": "x"}
				return c.Claims, nil
			}
		}))
		b := s.browser()
		b.arrivesBy("acme")
		claim, _ := unsealed(t, sessionCookie, b.cookie(sessionCookie))["op"].(map[string]any)
		sid, _ := claim["sid"].(string)
		sub, _ := claim["sub"].(string)
		if claim["provider"] != "acme" || len(sid) != 22 || len(sub) != 22 || len(claim) != 3 {
			t.Errorf("the claim is %v", claim)
		}
		if shown := fmt.Sprint(b.session()); strings.Contains(shown, sub) {
			t.Errorf("the browser is shown %s", shown)
		}
		plain := s.browser()
		plain.arrivesBy("plain")
		if claims := unsealed(t, sessionCookie, plain.cookie(sessionCookie)); claims["op"] != nil {
			t.Errorf("the session of another provider has the claim %v", claims["op"])
		}
		for name, forged := range map[string]any{
			"text": "x", "no sub": map[string]any{"provider": "acme"}, "a short sub": map[string]any{"provider": "acme", "sub": "AAAA"},
			"a sub that is no text": map[string]any{"provider": "acme", "sub": 1}, "no provider": map[string]any{"sub": sub},
		} {
			claims := claimsFor("ada")
			claims["op"] = forged
			b.plant(sessionCookie, sealed(t, sessionCookie, claims))
			if b.is("Ada Lovelace"); b.session() == nil {
				t.Errorf("%s: there is no session", name)
			}
			if after := unsealed(t, sessionCookie, b.cookie(sessionCookie)); after["op"] != nil {
				t.Errorf("%s: the claim is %v", name, after["op"])
			}
		}
	})
}

// A sign-in that waits for a second factor waits longer than a store remembers logouts.
func TestASignInThatWaitsEndsWithTheSessionAtTheProvider(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := newSite(t, endedBy(strategy), holdingAt("/second-factor"), func(s *site) {
			if s.Store == nil {
				s.Store = memstore.New()
			}
			s.Cookies.PendingSignIn.MaxAge = time.Hour
		})
		b, other := s.browser(), s.browser()
		b.arrivesBy("acme")
		other.arrivesBy("acme")
		time.Sleep(time.Minute)
		s.loggedOutBy(ofSession("sid-1"))
		b.isNotCompleted(pintle.CodeInvalidCheck, "otp")
		third := s.browser()
		third.arrivesBy("acme")
		s.loggedOutBy(ofSession("sid-3"))
		time.Sleep(40 * time.Minute)
		_, err := s.Store.Sweep(t.Context(), time.Now(), 100)
		if err != nil {
			t.Fatal(err)
		}
		b = third
		if p := b.pending(); p != nil {
			t.Error("the sign-in is still pending")
		}
		b.isNotCompleted(pintle.CodeInvalidCheck, "otp")
		// The other one goes on, and its session ends as any.
		if _, err := other.complete("otp"); err != nil {
			t.Fatal(err)
		}
		other.is("Ada Lovelace")
		time.Sleep(time.Second)
		s.loggedOutBy(ofSession("sid-2"))
		other.is("anonymous")
	})
}

// A session that was confirmed goes on under another token, and ends with the session at the
// provider in which its user has confirmed it. The one before has ended there, or says nothing
// about the browser any more.
func TestASessionThatWasReplacedEndsWithTheSessionAtTheProvider(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := newSite(t, endedBy(strategy), func(s *site) {
			s.Session.RecordAuthentication = true
			if s.Store == nil {
				s.Store = memstore.New()
			}
		})
		b := s.browser()
		b.arrivesBy("acme")
		time.Sleep(time.Minute)
		old := b.copied()
		b.get(b.consent(b.asks("acme", confirm))).goesTo(s.url + "/confirm?for=keys")
		if b.cookie(sessionCookie) == old.cookie(sessionCookie) {
			t.Fatal("the session has the token it had")
		}
		b.is("Ada Lovelace")
		old.is("Ada Lovelace") // for a moment
		time.Sleep(time.Second)
		s.loggedOutBy(ofSession("sid-1"))
		b.is("Ada Lovelace")
		s.loggedOutBy(ofSession("sid-2"))
		b.is("anonymous")
		time.Sleep(10 * time.Second)
		old.is("anonymous")
	})
}

// A grant of further scopes is a sign-in at the provider, too, and leaves the session here.
func TestAGrantMovesTheSessionToThatOfTheProvider(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := newSite(t, endedBy(strategy), func(s *site) {
			s.Providers[0].(*pintle.OAuth).EndSessionAtProvider = true
			if s.Store == nil {
				s.Store = memstore.New()
			}
		})
		b := s.browser()
		b.arrivesBy("acme")
		time.Sleep(time.Minute)
		more := pintle.SignInOptions{Scopes: []string{"calendar"}, RedirectTo: "/calendar"}
		b.get(b.consent(b.asks("acme", more)))
		b.is("Ada Lovelace")
		time.Sleep(time.Second)
		s.loggedOutBy(ofSession("sid-1"))
		b.is("Ada Lovelace")
		copied := b.copied()
		s.loggedOutBy(ofSession("sid-2"))
		b.is("anonymous")
		copied.is("anonymous")

		// What was ended in between stays ended.
		b = s.browser()
		b.arrivesBy("acme") // sid-3
		at := b.consent(b.asks("acme", more))
		time.Sleep(time.Second)
		s.loggedOutBy(ofSession("sid-4"))
		b.get(at)
		b.is("Ada Lovelace") // in sid-3
		time.Sleep(time.Second)
		s.loggedOutBy(ofSession("sid-3"))
		b.is("anonymous")
	})
}

// RPX-17: the ID token that is sent at the sign-out is that of the last sign-in.
func TestTheHintIsThatOfTheLastConfirmation(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		s := newSite(t, endedBy(strategy), func(s *site) {
			s.Providers[0].(*pintle.OAuth).EndSessionAtProvider = true
			s.Session.RecordAuthentication = true
			if s.Store == nil {
				s.Store = memstore.New()
			}
		})
		b := s.browser()
		b.arrivesBy("acme")
		time.Sleep(time.Minute)
		b.get(b.consent(b.asks("acme", confirm))).goesTo(s.url + "/confirm?for=keys")
		hint := atEndSession(t, b.signOut(), "idp.example").Get("id_token_hint")
		payload, _ := base64.RawURLEncoding.DecodeString(strings.Split(hint+"..", ".")[1])
		if !strings.Contains(string(payload), `"sid-2"`) {
			t.Errorf("the hint is %s", payload)
		}
	})
}

// What a user ends here is over, and a provider has nothing left to end.
func TestASignOutForgetsTheSessionAtTheProvider(t *testing.T) {
	s := newSite(t, endedBy(pintle.StrategyDatabase))
	b := s.browser()
	b.arrivesBy("acme")
	key := providersession.KeyOf(b.cookie(sessionCookie))
	b.post("/auth/signout").want(http.StatusFound)
	all, err := s.Store.ProviderSessions().Of(t.Context(), key)
	if len(all) != 0 || err != nil {
		t.Errorf("the records are %v, %v", all, err)
	}
}

// RPT-82: what a provider calls its sessions and its users is compared as a hash. No character
// ends a name early or means anything to a store.
func TestIDsOfAProviderMayHaveAnyCharacters(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		var sid any
		s := newSite(t, endedBy(strategy), func(s *site) {
			s.idp.Tamper(authtest.Tamper{IDToken: func(_, claims map[string]any) { claims["sid"] = sid }})
		})
		for _, tt := range []struct{ name, other string }{
			{"a\x00b", "a"},
			{"\x00", "\x00\x00"},
			{"$where", "where"},
			{`{"$gt":""}`, ""},
			{`' OR '1'='1`, "1"},
			{`"\%_*`, `"\%__`},
			{"a:b", "a"},
			{"é", "e\u0301"},
			{"A", "a"},
			{" a", "a"},
			{strings.Repeat("x", 255), strings.Repeat("x", 254)},
		} {
			b := s.browser()
			sid = tt.name
			// PostgreSQL stores no NUL in a text, and the account has the subject as it is.
			subject := strings.ReplaceAll(tt.name, "\x00", "NUL")
			s.idp.SignInAs(authtest.Person{Subject: subject, Name: "Ada Lovelace"})
			b.arrivesBy("acme")
			if tt.other != "" {
				s.loggedOutBy(ofSession(tt.other))
				s.loggedOutBy(claiming(map[string]any{"sub": tt.other}))
			}
			b.is("Ada Lovelace")
			s.loggedOutBy(ofSession(tt.name))
			b.is("anonymous")

			time.Sleep(time.Minute)
			b.arrivesBy("acme")
			s.loggedOutBy(claiming(map[string]any{"sub": subject}))
			b.is("anonymous")
			time.Sleep(time.Minute)
		}
	})
}

// RPT-83: a reader of the database finds no sid, no subject and no token.
func TestARecordHasHashes(t *testing.T) {
	s := newSite(t, endedBy(pintle.StrategyDatabase), func(s *site) {
		s.idp.SignInAs(authtest.Person{Subject: "1", Name: "Ada Lovelace", Claims: map[string]any{"acr": "phr", "amr": []any{"pwd", "x\x00y", 1, strings.Repeat("x", 33)}}})
	})
	b := s.browser()
	began := time.Now()
	b.arrivesBy("acme")
	all, err := s.Store.ProviderSessions().Of(t.Context(), providersession.KeyOf(b.cookie(sessionCookie)))
	if err != nil || len(all) != 1 {
		t.Fatalf("the records are %v, %v", all, err)
	}
	r := all[0]
	if r.Provider != "acme" || r.ProviderAccountID != "1" || r.UserID == "" || r.Sid == (providersession.Key{}) || r.Sub == (providersession.Key{}) ||
		r.Hint != "" || r.ACR != "phr" || !slices.Equal(r.AMR, []string{"pwd"}) || r.AuthTime.IsZero() || r.Created.Before(began.Add(-time.Second)) {
		t.Errorf("the record is %+v", r)
	}
	// RPX-6: no logout token has such a sid.
	for name, sid := range map[string]any{"a long sid": strings.Repeat("x", 256), "a sid that is no text": 1, "an empty sid": ""} {
		s.idp.Tamper(authtest.Tamper{IDToken: func(_, claims map[string]any) { claims["sid"] = sid }})
		b := s.browser()
		b.arrivesBy("acme")
		all, err := s.Store.ProviderSessions().Of(t.Context(), providersession.KeyOf(b.cookie(sessionCookie)))
		if err != nil || len(all) != 1 || all[0].Sid != (providersession.Key{}) || all[0].Sub != r.Sub {
			t.Errorf("%s: the records are %v, %v", name, all, err)
		}
	}
}

// A hangingUp is a store beside which the provider hangs up while its logout is at work.
type hangingUp struct {
	pintle.Store
	hangUp func()
}

func (s hangingUp) ProviderSessions() providersession.Store {
	return hangingUpSessions{s.Store.ProviderSessions(), s.hangUp}
}

type hangingUpSessions struct {
	providersession.Store
	hangUp func()
}

func (s hangingUpSessions) EndBy(ctx context.Context, sid, sub providersession.Key, before time.Time) ([]*providersession.Record, error) {
	s.hangUp()
	if ctx.Err() != nil { // as a database says it
		return nil, ctx.Err()
	}
	return s.Store.EndBy(ctx, sid, sub, before)
}

type hangingUpList struct {
	*memstore.Revocations
	hangUp func()
}

func (l hangingUpList) EndMarked(ctx context.Context, m providersession.Mark, ended, until time.Time) error {
	l.hangUp()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return l.Revocations.EndMarked(ctx, m, ended, until)
}

// RPX-31: a provider that gives up waiting may not send the token again.
func TestALogoutGoesOnWhenTheProviderHangsUp(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		ctx, hangUp := context.WithCancel(t.Context())
		s := newSite(t, endedBy(strategy, func(s *site) {
			if s.Store != nil {
				s.Store = hangingUp{s.Store, hangUp}
			} else {
				s.Session.Revocation = hangingUpList{&memstore.Revocations{}, hangUp}
			}
		}))
		b := s.browser()
		b.arrivesBy("acme")
		time.Sleep(time.Second)
		form := url.Values{"logout_token": {s.idp.LogoutToken("acme", nil)}}
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, s.url+"/auth/backchannel-logout/acme", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		s.auth.ServeHTTP(httptest.NewRecorder(), r)
		if ctx.Err() == nil {
			t.Fatal("the provider did not hang up")
		}
		b.is("anonymous")
	})
}
