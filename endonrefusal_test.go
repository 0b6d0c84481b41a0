package pintle_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/store/memstore"
)

// A refusalSite is a site at which the refusals of the provider "acme" end sessions, and those of
// "plain" do not.
type refusalSite struct {
	*site
	held map[string]*pintle.Account // by the name of the user, of the last sign-in with acme
}

// refusalKind is how such a site keeps sessions and tokens, and how its provider names users.
type refusalKind struct {
	strategy pintle.SessionStrategy
	plain    bool // the provider speaks OAuth 2 alone
	own      bool // the application keeps the tokens
}

func (k refusalKind) String() string {
	name := string(k.strategy) + " OpenID Connect"
	if k.plain {
		name = string(k.strategy) + " OAuth 2"
	}
	if k.own {
		name += " tokens of the application"
	}
	return name
}

// inEveryKind runs a test for each kind of site, by a clock that stands while it works.
func inEveryKind(t *testing.T, test func(t *testing.T, k refusalKind)) {
	t.Helper()
	for _, strategy := range strategies {
		for _, plain := range []bool{false, true} {
			for _, own := range []bool{false, true} {
				k := refusalKind{strategy, plain, own}
				t.Run(k.String(), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { test(t, k) }) })
			}
		}
	}
}

// withoutTokens is a store with users and sessions whose accounts cannot be read.
type withoutTokens struct{ *memstore.Store }

func (s withoutTokens) Features() pintle.Features {
	return lacking(s.Store, func(f *pintle.Features) { f.Accounts, f.AccountSwap = false, false })
}

func newRefusalSite(t *testing.T, k refusalKind, changes ...func(*site)) *refusalSite {
	t.Helper()
	r := &refusalSite{held: map[string]*pintle.Account{}}
	r.site = newSite(t, append([]func(*site){func(s *site) {
		acme, plain := s.idp.OIDC("acme"), s.idp.OIDC("plain")
		if k.plain {
			acme, plain = s.idp.OAuth2("acme"), s.idp.OAuth2("plain")
		}
		acme.EndSessionsOnRefusal = true
		for _, p := range []*pintle.OAuth{acme, plain} {
			p.Authorization.Params = map[string]string{"scope": "openid profile email offline_access"}
		}
		s.Providers = []pintle.Provider{acme, plain}
		s.Session.Strategy = k.strategy
		if k.strategy == pintle.StrategyJWT {
			s.Session.Revocation = &memstore.Revocations{}
		}
		switch {
		case !k.own:
			s.Store = memstore.New()
		case k.strategy == pintle.StrategyDatabase:
			s.Store = withoutTokens{memstore.New()}
		}
		s.Events.ProviderSignOut = func(_ context.Context, e *pintle.SignOutEvent) error { return s.note("providerSignOut", e) }
		signedIn := s.Events.SignIn
		s.Events.SignIn = func(ctx context.Context, e *pintle.SignInEvent) error {
			if e.Account.Provider == "acme" {
				r.held[e.User.Name] = e.Account
			}
			return signedIn(ctx, e)
		}
	}}, changes...)...)
	return r
}

// of returns what the application knows of the account of a user: its name, or all of it.
func (r *refusalSite) of(name string) *pintle.Account {
	a := *r.held[name]
	if r.Store == nil || !r.Store.Features().Accounts {
		a.ExpiresAt = 1
		return &a
	}
	return &pintle.Account{Provider: a.Provider, ProviderAccountID: a.ProviderAccountID}
}

// asks calls Auth.Refresh for the account of a user when its access token has ended.
func (r *refusalSite) asks(name string) error {
	_, err := r.auth.Refresh(r.t.Context(), r.of(name))
	return err
}

func (r *refusalSite) isRefused(name string) {
	r.t.Helper()
	if err := r.asks(name); !errors.Is(err, pintle.ErrNoRefresh) {
		r.t.Fatalf("Refresh returns %v; log:\n%s", err, r.log)
	}
}

// refusals returns the events of refusals.
func (r *refusalSite) refusals() (all []*pintle.SignOutEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.name == "providerSignOut" {
			all = append(all, e.of.(*pintle.SignOutEvent))
		}
	}
	return all
}

func (r *refusalSite) wantRefusals(n int) {
	r.t.Helper()
	if all := r.refusals(); len(all) != n {
		r.t.Errorf("there were %d events of refusals, want %d", len(all), n)
	}
}

// answering has the token endpoint answer with a status and a body. refused counts the answers.
func (s *site) answering(status int, body string) (refused *int) {
	refused = new(int)
	s.net["idp.example"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != string(authtest.TokenEndpoint) {
			s.idp.ServeHTTP(w, r)
			return
		}
		*refused++
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
	return refused
}

const invalidGrant = `{"error":"invalid_grant"}`

var graceHopper = authtest.Person{Subject: "grace", Name: "Grace Hopper"}

// arriveAll has Ada sign in twice with acme and once with plain, and Grace with acme.
func (r *refusalSite) arriveAll() (ada []*browser, other, grace *browser) {
	ada = []*browser{r.browser(), r.browser()}
	other, grace = r.browser(), r.browser()
	r.idp.SignInAs(graceHopper)
	grace.arrivesBy("acme")
	r.idp.SignInAs(authtest.DefaultPeople()[1])
	other.arrivesBy("plain")
	r.idp.SignInAs(authtest.DefaultPeople()[0])
	for _, b := range ada {
		b.arrivesBy("acme")
	}
	return ada, other, grace
}

// RPX-46, RPT-28: the call of one process ends the sessions of the user in all of them, with
// that provider alone, and the user can sign in again.
func TestTheSessionsOfAUserEndWhenACallIsRefused(t *testing.T) {
	inEveryKind(t, func(t *testing.T, k refusalKind) {
		r := newRefusalSite(t, k)
		ada, other, grace := r.arriveAll()
		others := other.who()
		time.Sleep(time.Hour)
		copied, here, there := ada[0].copied(), r.auth, r.process()
		for _, process := range []*pintle.Auth{there, here} {
			r.serve(process)
			ada[0].is("Ada Lovelace")
		}
		r.answering(http.StatusBadRequest, invalidGrant)
		r.isRefused("Ada Lovelace")
		for _, process := range []*pintle.Auth{there, here} {
			r.serve(process)
			for _, b := range ada {
				b.is("anonymous")
			}
			copied.is("anonymous")
			other.is(others)
			grace.is("Grace Hopper")
		}
		r.wantRefusals(1)
		e := r.refusals()[0]
		if !e.Refused || e.Provider != "acme" || e.ProviderUser != authtest.DefaultPeople()[0].Subject || e.ProviderSession != "" {
			t.Errorf("the event is %+v", e)
		}
		if stored := k.strategy == pintle.StrategyDatabase; stored && e.Ended != 2 || !stored && e.Ended != 0 || (stored || !k.own) && e.UserID == "" {
			t.Errorf("the event has the user %q and %d sessions", e.UserID, e.Ended)
		}
		r.isRefused("Ada Lovelace") // as a second request is
		r.wantRefusals(1)

		r.net["idp.example"] = r.idp
		time.Sleep(2 * time.Second)
		ada[0].arrivesBy("acme")
		ada[0].is("Ada Lovelace")
		copied.is("anonymous")
		time.Sleep(time.Hour)
		if err := r.asks("Ada Lovelace"); err != nil {
			t.Errorf("after another sign-in Refresh returns %v", err)
		}
		ada[0].is("Ada Lovelace")
	})
}

// RPX-46: without the field the application decides what follows from the error.
func TestACallThatIsRefusedEndsNothingByItself(t *testing.T) {
	inEveryKind(t, func(t *testing.T, k refusalKind) {
		r := newRefusalSite(t, k, func(s *site) { s.Providers[0].(*pintle.OAuth).EndSessionsOnRefusal = false })
		b := r.browser()
		b.arrivesBy("acme")
		time.Sleep(time.Hour)
		r.answering(http.StatusBadRequest, invalidGrant)
		r.isRefused("Ada Lovelace")
		b.is("Ada Lovelace")
		r.wantRefusals(0)
	})
}

// RPX-46: an answer that says nothing of the user ends no session.
func TestAnAnswerThatSaysNothingOfTheUserEndsNoSession(t *testing.T) {
	code := func(code string) string { return `{"error":"` + code + `"}` }
	for name, tt := range map[string]struct {
		status int
		body   string
		ends   bool
	}{
		"invalid_grant":                   {400, invalidGrant, true},
		"login_required":                  {400, code("login_required"), true},
		"consent_required":                {400, code("consent_required"), true},
		"interaction_required":            {400, code("interaction_required"), true},
		"bad_refresh_token":               {200, code("bad_refresh_token"), true},
		"invalid_grant with a status 500": {500, invalidGrant, false},
		"invalid_grant with a status 503": {503, invalidGrant, false},
		"a page of a proxy":               {400, "<html>Bad Request</html>", false},
		"no body":                         {400, "", false},
		"not available":                   {503, "", false},
		"too many requests":               {429, "", false},
		"invalid_request":                 {400, code("invalid_request"), false},
		"invalid_scope":                   {400, code("invalid_scope"), false},
		"invalid_target":                  {400, code("invalid_target"), false},
		"invalid_client":                  {401, code("invalid_client"), false},
		"unauthorized_client":             {400, code("unauthorized_client"), false},
		"temporarily_unavailable":         {400, code("temporarily_unavailable"), false},
		"no token":                        {200, "{}", false},
	} {
		for _, own := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " ", own), func(t *testing.T) {
				inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
					r := newRefusalSite(t, refusalKind{strategy: strategy, own: own})
					b := r.browser()
					b.arrivesBy("acme")
					time.Sleep(time.Hour)
					asked := r.answering(tt.status, tt.body)
					for range 2 { // the answer, and what is remembered of it
						if err := r.asks("Ada Lovelace"); err == nil || *asked == 0 {
							t.Errorf("Refresh returns %v after %d exchanges", err, *asked)
						}
					}
					if b.who() == "anonymous" != tt.ends {
						t.Errorf("the session ends: %t, want %t", !tt.ends, tt.ends)
					}
				})
			})
		}
	}
}

// RPX-46: only an answer of the provider is a refusal.
func TestACallThatAsksNothingEndsNoSession(t *testing.T) {
	inEveryKind(t, func(t *testing.T, k refusalKind) {
		r := newRefusalSite(t, k)
		b := r.browser()
		b.arrivesBy("acme")
		r.idp.Break(authtest.TokenInvalidGrant)
		account := r.of("Ada Lovelace")
		for name, a := range map[string]*pintle.Account{
			"an account that nobody has": {Provider: "acme", ProviderAccountID: "no one"},
			"one of another user":        {Provider: "acme", ProviderAccountID: account.ProviderAccountID, UserID: "another"},
			"one without refresh token":  {Provider: "acme", ProviderAccountID: account.ProviderAccountID, IDToken: r.held["Ada Lovelace"].IDToken},
		} {
			if k.own || name != "one without refresh token" {
				if _, err := r.auth.Refresh(t.Context(), a); err == nil {
					t.Errorf("%s: there is no error", name)
				}
			}
			b.is("Ada Lovelace")
		}
		if !k.own {
			stored := r.heldTokens()
			stored.RefreshToken, stored.ExpiresAt = "", 1
			if err := r.Store.UpdateAccount(t.Context(), stored); err != nil {
				t.Fatal(err)
			}
			r.isRefused("Ada Lovelace")
			b.is("Ada Lovelace")
		}
		r.wantRefusals(0)
	})
}

// RPX-46: the user has signed in again while an exchange was under way.
func TestASignInThatStoresOtherTokensMeanwhileEndsNothing(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		r := newRefusalSite(t, refusalKind{strategy: strategy})
		first, second := r.browser(), r.browser()
		first.arrivesBy("acme")
		time.Sleep(time.Hour)
		r.net["idp.example"] = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.URL.Path == string(authtest.TokenEndpoint) && req.FormValue("grant_type") == "refresh_token" {
				second.arrivesBy("acme")
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, invalidGrant)
				return
			}
			r.idp.ServeHTTP(w, req)
		})
		if err := r.asks("Ada Lovelace"); err != nil {
			t.Errorf("Refresh returns %v", err)
		}
		time.Sleep(time.Second)
		first.is("Ada Lovelace")
		second.is("Ada Lovelace")
		r.wantRefusals(0)
	})
}

// RPX-46: a session that began after the exchange says that the provider accepts the user.
func TestASessionThatBeganAfterTheExchangeGoesOn(t *testing.T) {
	inEveryKind(t, func(t *testing.T, k refusalKind) {
		r := newRefusalSite(t, k)
		first, second := r.browser(), r.browser()
		first.arrivesBy("acme")
		account := r.of("Ada Lovelace")
		r.idp.Tamper(authtest.Tamper{Token: func(body map[string]any) { delete(body, "refresh_token"); delete(body, "access_token") }})
		time.Sleep(time.Hour)
		r.net["idp.example"] = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.URL.Path == string(authtest.TokenEndpoint) && req.FormValue("grant_type") == "refresh_token" {
				time.Sleep(2 * time.Second)
				r.idp.Tamper(authtest.Tamper{Token: func(body map[string]any) { delete(body, "refresh_token"); body["expires_in"] = 1 }})
				second.arrivesBy("acme")
				time.Sleep(2 * time.Second)
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, invalidGrant)
				return
			}
			r.idp.ServeHTTP(w, req)
		})
		if _, err := r.auth.Refresh(t.Context(), account); !errors.Is(err, pintle.ErrNoRefresh) {
			t.Errorf("Refresh returns %v", err)
		}
		first.is("anonymous")
		second.is("Ada Lovelace")
	})
}

// RPX-46: the calls of two processes that are refused at one moment are one end, and one event.
func TestCallsThatAreRefusedAtOneMomentAreOneEnd(t *testing.T) {
	for _, plain := range []bool{false, true} {
		inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
			r := newRefusalSite(t, refusalKind{strategy: strategy, plain: plain}, func(s *site) { s.SealAccountTokens = true })
			b := r.browser()
			b.arrivesBy("acme")
			time.Sleep(time.Hour)
			r.answering(http.StatusBadRequest, invalidGrant)
			processes := []*pintle.Auth{r.auth, r.process()}
			for _, err := range inParallel(func(i int) error {
				_, err := processes[i%2].Refresh(t.Context(), r.of("Ada Lovelace"))
				return err
			}) {
				if !errors.Is(err, pintle.ErrNoRefresh) {
					t.Errorf("a caller gets %v", err)
				}
			}
			b.is("anonymous")
			r.wantRefusals(1)
		})
	}
	// Where the application keeps the tokens, the calls of one process wait for one another.
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		r := newRefusalSite(t, refusalKind{strategy: strategy, own: true})
		b := r.browser()
		b.arrivesBy("acme")
		r.answering(http.StatusBadRequest, invalidGrant)
		for _, err := range inParallel(func(int) error { return r.asks("Ada Lovelace") }) {
			if !errors.Is(err, pintle.ErrNoRefresh) {
				t.Errorf("a caller gets %v", err)
			}
		}
		b.is("anonymous")
		r.wantRefusals(1)
	})
}

// RPX-46: a job tries a refused token again and again. It keeps nobody from signing in, and fills
// no log of events.
func TestATokenThatIsRefusedAgainCountsOnceInHalfAnHour(t *testing.T) {
	inEveryKind(t, func(t *testing.T, k refusalKind) {
		r := newRefusalSite(t, k)
		b := r.browser()
		b.arrivesBy("acme")
		account := r.of("Ada Lovelace")
		// The application gives an account that it keeps itself each time as it likes.
		refused := func() {
			t.Helper()
			account.ExpiresAt++
			if _, err := r.process().Refresh(t.Context(), account); !errors.Is(err, pintle.ErrNoRefresh) {
				t.Fatalf("Refresh returns %v", err)
			}
		}
		time.Sleep(time.Hour)
		r.idp.Break(authtest.TokenInvalidGrant)
		refused()
		r.wantRefusals(1)
		b.is("anonymous")
		time.Sleep(5 * time.Second)
		r.idp.Repair()
		r.idp.Tamper(authtest.Tamper{Token: func(body map[string]any) {
			time.Sleep(2 * time.Second) // the browser is on its way
			delete(body, "refresh_token")
			delete(body, "expires_in")
			refusedNow := r.net["idp.example"]
			r.answering(http.StatusBadRequest, invalidGrant)
			refused()
			r.net["idp.example"] = refusedNow
		}})
		b.arrivesBy("acme")
		b.is("Ada Lovelace")
		r.wantRefusals(1)
	})
}

// RPX-46: tokens that work again are refused again, however soon.
func TestTokensThatCameSinceARefusalAreRefusedAnew(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		r := newRefusalSite(t, refusalKind{strategy: strategy})
		b := r.browser()
		b.arrivesBy("acme")
		time.Sleep(time.Hour)
		keep := authtest.Tamper{Token: func(body map[string]any) { delete(body, "refresh_token"); body["expires_in"] = 60 }}
		for round := range 3 {
			r.idp.Break(authtest.TokenInvalidGrant)
			r.isRefused("Ada Lovelace")
			b.is("anonymous")
			r.wantRefusals(round + 1)
			r.idp.Repair() // the administrator has enabled the user again
			r.idp.Tamper(keep)
			time.Sleep(3 * time.Minute)
			b.arrivesBy("acme")
			b.is("Ada Lovelace")
			time.Sleep(3 * time.Minute)
		}
	})
}

// RPX-46: what the store has not taken is tried again by the next call, without another exchange,
// and is no reason to give up the account.
func TestAnEndThatFailsIsTriedAgain(t *testing.T) {
	for strategy, failures := range map[pintle.SessionStrategy][]string{
		pintle.StrategyDatabase: {"before EndBy", "after EndBy", "before last Lease", "after last Lease"},
		pintle.StrategyJWT:      {"before Revoked", "before EndMarked", "after EndMarked", "before Revoke"},
	} {
		for _, failure := range failures {
			for _, own := range []bool{false, true} {
				if own && strategy == pintle.StrategyDatabase {
					continue // a store without accounts fails alike
				}
				t.Run(fmt.Sprint(string(strategy), " ", failure, " ", own), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						store, list := newEndStore(), &endList{Revocations: &memstore.Revocations{}, fails: map[string]bool{}}
						r := newRefusalSite(t, refusalKind{strategy: strategy, own: own}, func(s *site) {
							if strategy == pintle.StrategyDatabase {
								s.Store = store
							} else {
								s.Session.Revocation = list
							}
						})
						b := r.browser()
						b.arrivesBy("acme")
						time.Sleep(time.Hour)
						asked := r.answering(http.StatusBadRequest, invalidGrant)
						if failure == "before last Lease" || failure == "after last Lease" {
							// The turn of the exchange is a long lease, too.
							store.during = func() { store.fails[failure] = true }
						} else {
							store.fails[failure] = true
						}
						list.fails[failure] = true
						if err := r.asks("Ada Lovelace"); err == nil || errors.Is(err, pintle.ErrNoRefresh) || !errors.Is(err, pintle.CodeStore) {
							t.Errorf("Refresh returns %v", err)
						}
						store.during = nil
						clear(store.fails)
						clear(list.fails)
						if strategy == pintle.StrategyDatabase {
							time.Sleep(10 * time.Second) // for the lease of the attempt
						}
						r.isRefused("Ada Lovelace")
						b.is("anonymous")
						if *asked != 1 {
							t.Errorf("there were %d exchanges, want one", *asked)
						}
						r.wantRefusals(1)
						r.isRefused("Ada Lovelace")
						r.wantRefusals(1)
					})
				})
			}
		}
	}
}

// RPX-46: whether the user has signed in meanwhile is not known while the account cannot be read.
func TestARefusalWaitsForTheStoreToTellOfALaterSignIn(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		store := &lostAccounts{Store: memstore.New()}
		r := newRefusalSite(t, refusalKind{strategy: strategy}, func(s *site) { s.Store = store })
		b := r.browser()
		b.arrivesBy("acme")
		time.Sleep(time.Hour)
		asked := r.answering(http.StatusBadRequest, invalidGrant)
		answers := r.net["idp.example"]
		r.net["idp.example"] = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			store.broken = true
			answers.ServeHTTP(w, req)
		})
		if err := r.asks("Ada Lovelace"); errors.Is(err, pintle.ErrNoRefresh) || !errors.Is(err, pintle.CodeStore) {
			t.Errorf("Refresh returns %v", err)
		}
		store.broken = false
		b.is("Ada Lovelace")
		r.isRefused("Ada Lovelace")
		b.is("anonymous")
		if r.wantRefusals(1); *asked != 1 {
			t.Errorf("there were %d exchanges, want one", *asked)
		}
	})
}

// RPX-46, RPX-43: a session that follows its provider is ended by the refusal that ends the others.
func TestARefusalOfASessionThatFollowsIsOneEvent(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		r := newRefusalSite(t, refusalKind{strategy: strategy}, func(s *site) { s.Providers[0].(*pintle.OAuth).FollowProvider = 15 * time.Minute })
		all := []*browser{r.browser(), r.browser()}
		for _, b := range all {
			b.arrivesBy("acme")
		}
		time.Sleep(16 * time.Minute)
		r.answering(http.StatusBadRequest, invalidGrant)
		var requests sync.WaitGroup
		for i := range 20 {
			requests.Go(func() { all[i%2].copied().is("anonymous") })
		}
		requests.Wait()
		r.wantRefusals(1)
	})
}

// RPX-46: a user who was disabled cannot save the session by hanging up.
func TestARefusalOfACallerWhoHasLeftEndsTheSessions(t *testing.T) {
	inEveryKind(t, func(t *testing.T, k refusalKind) {
		r := newRefusalSite(t, k)
		b := r.browser()
		b.arrivesBy("acme")
		time.Sleep(time.Hour)
		r.answering(http.StatusBadRequest, invalidGrant)
		answers := r.net["idp.example"]
		r.net["idp.example"] = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			time.Sleep(5 * time.Second)
			answers.ServeHTTP(w, req)
		})
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		if _, err := r.auth.Refresh(ctx, r.of("Ada Lovelace")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Refresh returns %v", err)
		}
		time.Sleep(10 * time.Second)
		r.wantRefusals(1)
		b.is("anonymous")
	})
}

// RPX-46: a handler may use the account of which it learns.
func TestAHandlerOfARefusalMayRefresh(t *testing.T) {
	inEveryKind(t, func(t *testing.T, k refusalKind) {
		var r *refusalSite
		called := 0
		r = newRefusalSite(t, k, func(s *site) {
			s.Events.ProviderSignOut = func(context.Context, *pintle.SignOutEvent) error {
				called++
				return r.asks("Ada Lovelace")
			}
		})
		b := r.browser()
		b.arrivesBy("acme")
		time.Sleep(time.Hour)
		r.answering(http.StatusBadRequest, invalidGrant)
		began := time.Now()
		r.isRefused("Ada Lovelace")
		if took := time.Since(began); took != 0 || called != 1 {
			t.Errorf("the call takes %v, and the handler is called %d times", took, called)
		}
		b.is("anonymous")
	})
}

// RPX-46: also if the caller has left meanwhile. The call that is under way does not wait for
// itself.
func TestAHandlerMayRefreshForACallerWhoHasLeft(t *testing.T) {
	inEveryKind(t, func(t *testing.T, k refusalKind) {
		var r *refusalSite
		done := make(chan struct{}, 1)
		r = newRefusalSite(t, k, func(s *site) {
			s.Events.ProviderSignOut = func(context.Context, *pintle.SignOutEvent) error {
				defer func() { done <- struct{}{} }()
				return r.asks("Ada Lovelace")
			}
		})
		b := r.browser()
		b.arrivesBy("acme")
		time.Sleep(time.Hour)
		r.answering(http.StatusBadRequest, invalidGrant)
		answers := r.net["idp.example"]
		r.net["idp.example"] = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			time.Sleep(5 * time.Second)
			answers.ServeHTTP(w, req)
		})
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		if _, err := r.auth.Refresh(ctx, r.of("Ada Lovelace")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Refresh returns %v", err)
		}
		select {
		case <-done:
		case <-time.After(time.Hour):
			t.Fatal("the handler waits for the call that has called it")
		}
		b.is("anonymous")
	})
}

// RPX-46: the ID token names the user. The id of the account does not: a user may be able to
// choose it, and would end the sessions of another one.
func TestTheIDTokenNamesTheUserWhoIsRefused(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		k := refusalKind{strategy: strategy}
		r := newRefusalSite(t, k, func(s *site) {
			s.Providers[0].(*pintle.OAuth).Profile = func(p pintle.Profile, _ *pintle.Account) (*pintle.User, error) {
				name, _ := p["name"].(string)
				if name == graceHopper.Name {
					return &pintle.User{ID: authtest.DefaultPeople()[0].Subject, Name: name}, nil
				}
				return &pintle.User{ID: "ada", Name: name}, nil
			}
		})
		ada, grace := r.browser(), r.browser()
		ada.arrivesBy("acme")
		r.idp.SignInAs(graceHopper)
		grace.arrivesBy("acme")
		time.Sleep(time.Hour)
		r.answering(http.StatusBadRequest, invalidGrant)
		r.isRefused("Grace Hopper")
		grace.is("anonymous")
		ada.is("Ada Lovelace")
	})
	dropped := func(s *site) {
		s.Providers[0].(*pintle.OAuth).StoreAccount = func(a *pintle.Account) *pintle.Account {
			a.IDToken = ""
			return a
		}
	}
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		r := newRefusalSite(t, refusalKind{strategy: strategy}, dropped)
		b := r.browser()
		if at := b.signInWith("acme").header.Get("Location"); !strings.Contains(at, "error=Configuration") || !strings.Contains(r.log.String(), "StoreAccount") {
			t.Errorf("the browser is sent to %s; log:\n%s", at, r.log)
		}
		b.is("anonymous")
	})
	// OAuth 2 alone has no ID token that could be dropped.
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		r := newRefusalSite(t, refusalKind{strategy: strategy, plain: true}, dropped)
		b := r.browser()
		b.arrivesBy("acme")
		b.is("Ada Lovelace")
	})
	// The application does not give it.
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		r := newRefusalSite(t, refusalKind{strategy: strategy, own: true})
		b := r.browser()
		b.arrivesBy("acme")
		account := r.of("Ada Lovelace")
		account.IDToken = ""
		r.answering(http.StatusBadRequest, invalidGrant)
		if _, err := r.auth.Refresh(t.Context(), account); !errors.Is(err, pintle.ErrNoRefresh) {
			t.Errorf("Refresh returns %v", err)
		}
		b.is("Ada Lovelace")
		if !strings.Contains(r.log.String(), "give it to Auth.Refresh") {
			t.Errorf("the log has:\n%s", r.log)
		}
	})
}

// RPX-46: a session that goes on after the refusal of another user's tokens stays, and one of a
// user whose account was linked goes on, too: it ends where it began.
func TestARefusalEndsNoSessionThatBeganElsewhere(t *testing.T) {
	inTime(t, func(t *testing.T, strategy pintle.SessionStrategy) {
		r := newRefusalSite(t, refusalKind{strategy: strategy})
		b := r.browser()
		b.arrivesBy("plain")
		b.arrivesBy("acme") // which links the account
		time.Sleep(time.Hour)
		r.answering(http.StatusBadRequest, invalidGrant)
		r.isRefused("Ada Lovelace")
		b.is("Ada Lovelace")
		if strategy == pintle.StrategyDatabase {
			r.wantRefusals(0)
		}
	})
}

// RPX-46: what could not end a session is no configuration.
func TestEndsOnRefusalNeedWhatEndsSessions(t *testing.T) {
	idp := authtest.NewIdentityProvider(authtest.Options{})
	idp.Issuer = "https://idp.example"
	with := func(change func(*pintle.Config, *pintle.OAuth)) error {
		p := idp.OIDC("acme")
		p.EndSessionsOnRefusal = true
		c := pintle.Config{Secrets: []string{secret}, Getenv: func(string) string { return "" }, Providers: []pintle.Provider{p}}
		change(&c, p)
		_, err := pintle.New(c)
		return err
	}
	for name, tt := range map[string]struct {
		change func(*pintle.Config, *pintle.OAuth)
		want   []string
	}{
		"a list that does not know marks": {func(c *pintle.Config, _ *pintle.OAuth) {
			c.Session.Revocation = struct{ pintle.RevocationStore }{&memstore.Revocations{}}
		}, []string{"EndSessionsOnRefusal", "providersession.Marker"}},
		"no list": {func(*pintle.Config, *pintle.OAuth) {}, []string{"EndSessionsOnRefusal", "Config.Session.Revocation"}},
		"a store without records": {func(c *pintle.Config, _ *pintle.OAuth) {
			c.Store = withoutRecords{memstore.New()}
		}, []string{"EndSessionsOnRefusal", "ProviderSessions"}},
		"a store without shared state": {func(c *pintle.Config, _ *pintle.OAuth) {
			c.Store = withoutState{memstore.New()}
		}, []string{"EndSessionsOnRefusal", "SharedState"}},
		"no store": {func(c *pintle.Config, _ *pintle.OAuth) { c.Session.Strategy = pintle.StrategyDatabase }, []string{"Config.Store"}},
		"OAuth 1.0a": {func(c *pintle.Config, _ *pintle.OAuth) {
			c.Providers = []pintle.Provider{&pintle.OAuth{ID: "one", Protocol: oauth.OAuth1, EndSessionsOnRefusal: true}}
		}, []string{"EndSessionsOnRefusal", "refresh tokens"}},
		"OpenID 2.0": {func(c *pintle.Config, _ *pintle.OAuth) {
			c.Providers = []pintle.Provider{&pintle.OAuth{ID: "two", Protocol: oauth.OpenID2, EndSessionsOnRefusal: true}}
		}, []string{"EndSessionsOnRefusal", "refresh tokens"}},
	} {
		err := with(tt.change)
		if err == nil || slices.ContainsFunc(tt.want, func(text string) bool { return !strings.Contains(err.Error(), text) }) {
			t.Errorf("%s: New returns %v", name, err)
		}
	}
	for name, change := range map[string]func(*pintle.Config, *pintle.OAuth){
		"a list":                     func(c *pintle.Config, _ *pintle.OAuth) { c.Session.Revocation = &memstore.Revocations{} },
		"a store":                    func(c *pintle.Config, _ *pintle.OAuth) { c.Store = memstore.New() },
		"a store that has no tokens": func(c *pintle.Config, _ *pintle.OAuth) { c.Store = withoutTokens{memstore.New()} },
		"OAuth 2": func(c *pintle.Config, _ *pintle.OAuth) {
			p := idp.OAuth2("acme")
			p.EndSessionsOnRefusal = true
			c.Providers, c.Store = []pintle.Provider{p}, memstore.New()
		},
	} {
		if err := with(change); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
