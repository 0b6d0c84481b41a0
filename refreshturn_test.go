package pintle_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/sharedstate"
	"github.com/pintleauth/pintle/store/memstore"
)

// withoutLeases is a store whose processes cannot agree on anything.
type withoutLeases struct{ pintle.Store }

func (withoutLeases) SharedState() sharedstate.Store { return nil }

func (s withoutLeases) Features() pintle.Features {
	return lacking(s.Store, func(f *pintle.Features) { f.InMemory = false })
}

// leasing is a store whose leases do something else.
type leasing struct {
	pintle.Store
	lease func(state sharedstate.Store, key sharedstate.Key, owner sharedstate.Owner, d time.Duration) (bool, error)
}

type leases struct {
	sharedstate.Store
	of leasing
}

func (s leasing) SharedState() sharedstate.Store { return leases{s.Store.SharedState(), s} }

func (l leases) Lease(_ context.Context, key sharedstate.Key, owner sharedstate.Owner, d time.Duration) (bool, error) {
	return l.of.lease(l.Store, key, owner, d)
}

// process returns another process of a site.
func (s *site) process() *pintle.Auth {
	s.t.Helper()
	auth, err := pintle.New(s.Config)
	if err != nil {
		s.t.Fatal(err)
	}
	return auth
}

// wantGrant fails the test unless the provider still takes the refresh token that is
// stored.
func (s *site) wantGrant(a *pintle.Account) {
	s.t.Helper()
	time.Sleep(time.Hour)
	if _, err := s.process().Refresh(s.t.Context(), &pintle.Account{Provider: a.Provider, ProviderAccountID: a.ProviderAccountID}); err != nil {
		s.t.Errorf("RPT-46 the grant is lost: %v", err)
	}
}

// RPT-46. The provider ends the grant when a refresh token comes a second time.
func TestOfSeveralProcessesOneExchangesARefreshToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := refreshSite(t, memstore.New())
		a := s.account()
		processes := []*pintle.Auth{s.auth, s.process(), s.process(), s.process()}
		for round := range 3 {
			time.Sleep(time.Hour)
			tokens := inParallel(func(i int) string {
				got, err := processes[i%len(processes)].Refresh(t.Context(), a)
				if err != nil {
					return err.Error()
				}
				return got.AccessToken
			})
			for _, token := range tokens {
				if token != tokens[0] || token == a.AccessToken {
					t.Fatalf("RPT-46 round %d: the answers are %q and %q", round, token, tokens[0])
				}
			}
			if n := s.exchanges(); n != round+1 {
				t.Fatalf("RPT-46 round %d: the provider was asked %d times", round, n)
			}
		}
		s.wantGrant(a)
	})
}

// RPT-47. A process waits as long as one request to the provider takes at most.
func TestOtherProcessesWaitForASlowExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := refreshSite(t, memstore.New())
		a := s.account()
		time.Sleep(time.Hour)
		s.idp.Tamper(authtest.Tamper{Token: func(map[string]any) { time.Sleep(8900 * time.Millisecond) }})
		processes := []*pintle.Auth{s.auth, s.process()}
		tokens := inParallel(func(i int) string {
			time.Sleep(time.Duration(i) * 10 * time.Millisecond)
			got, err := processes[i%2].Refresh(t.Context(), a)
			if err != nil {
				return err.Error()
			}
			return got.AccessToken
		})
		for _, token := range tokens {
			if token != tokens[0] || s.exchanges() != 1 {
				t.Fatalf("RPT-47 the answers are %q and %q after %d exchanges", token, tokens[0], s.exchanges())
			}
		}
		s.wantGrant(a)
	})
}

// RPT-46. A process that holds the lease has ended without a word.
func TestARefreshGoesOnWhenTheLeaseOfALostProcessEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		var lost time.Time
		s := refreshSite(t, leasing{store, func(state sharedstate.Store, key sharedstate.Key, owner sharedstate.Owner, d time.Duration) (bool, error) {
			if lost.IsZero() {
				lost = time.Now()
				if held, err := state.Lease(context.Background(), key, sharedstate.Owner{1}, d); !held || err != nil {
					return false, errors.Join(errors.New("the lease was not free"), err)
				}
			}
			return state.Lease(context.Background(), key, owner, d)
		}})
		a := s.account()
		time.Sleep(time.Hour)
		begun := time.Now()
		_, err := s.auth.Refresh(t.Context(), a)
		if took := time.Since(begun); err == nil || errors.Is(err, pintle.ErrNoRefresh) || took < 10*time.Second || took > 14*time.Second {
			t.Errorf("the error after %s is %v", took, err)
		}
		if s.exchanges() != 0 {
			t.Error("RPT-46 the token was exchanged without the lease")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.auth.Refresh(ctx, a); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("an impatient caller got %v", err)
		}
		time.Sleep(time.Until(lost.Add(31 * time.Second)))
		if _, err := s.auth.Refresh(t.Context(), a); err != nil || s.exchanges() != 1 {
			t.Errorf("RPT-46 after the lease has ended: %v after %d exchanges", err, s.exchanges())
		}
	})
}

// An error of the lease says nothing about who has it.
func TestNoTokenIsExchangedIfTheLeaseFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := refreshSite(t, leasing{memstore.New(), func(sharedstate.Store, sharedstate.Key, sharedstate.Owner, time.Duration) (bool, error) {
			return true, errBroken
		}})
		a := s.account()
		time.Sleep(time.Hour)
		if _, err := s.auth.Refresh(t.Context(), a); !errors.Is(err, pintle.CodeStore) || !errors.Is(err, errBroken) || s.exchanges() != 0 {
			t.Errorf("RPX-75 %v after %d exchanges", err, s.exchanges())
		}
	})
}

// RPX-76: what another process stored before the lease was free is what counts.
func TestTheAccountIsReadAgainWithTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		var s *site
		faster, racing := (*pintle.Auth)(nil), false
		s = refreshSite(t, leasing{store, func(state sharedstate.Store, key sharedstate.Key, owner sharedstate.Owner, d time.Duration) (bool, error) {
			if !racing {
				racing = true
				if _, err := faster.Refresh(context.Background(), &pintle.Account{Provider: "acme", ProviderAccountID: "1001"}); err != nil {
					return false, err
				}
			}
			return state.Lease(context.Background(), key, owner, d)
		}})
		plain := s.Config
		plain.Store = store
		var err error
		if faster, err = pintle.New(plain); err != nil {
			t.Fatal(err)
		}
		a := s.account()
		if a.ProviderAccountID != "1001" {
			t.Fatalf("the account is %s", a.ProviderAccountID)
		}
		time.Sleep(time.Hour)
		got, err := s.auth.Refresh(t.Context(), a)
		if err != nil || got.AccessToken == a.AccessToken || s.exchanges() != 1 {
			t.Errorf("RPX-76 %v (%v) after %d exchanges", got, err, s.exchanges())
		}
		s.wantGrant(a)
	})
}

// RPX-76: tokens that were stored during the exchange, by a sign-in for example, are
// newer than what it brings.
func TestNewerTokensAreNotStoredOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := refreshSite(t, memstore.New())
		a := s.account()
		time.Sleep(time.Hour)
		newer := *a
		newer.AccessToken, newer.RefreshToken, newer.ExpiresAt = "newer", "newer refresh", time.Now().Add(time.Hour).Unix()
		s.idp.Tamper(authtest.Tamper{Token: func(map[string]any) {
			if err := s.auth.UpdateAccount(context.Background(), &newer); err != nil {
				t.Error(err)
			}
		}})
		got, err := s.auth.Refresh(t.Context(), a)
		if err != nil || got.AccessToken != "newer" {
			t.Errorf("RPX-76 Refresh = %v (%v)", got, err)
		}
		if stored := first(s.auth.Account(t.Context(), "acme", a.ProviderAccountID)); stored.RefreshToken != "newer refresh" {
			t.Errorf("RPX-76 the refresh token %q is stored", stored.RefreshToken)
		}
	})
}

// RPX-84: a user grants more, and the provider sends no other refresh token. The outcome of an
// exchange from before does not take the place of the tokens with more scopes.
func TestAnExchangeFromBeforeAGrantDoesNotReplaceItsTokens(t *testing.T) {
	grant := func(s *site, a *pintle.Account, ends time.Time) {
		more := *a
		more.AccessToken, more.RefreshToken, more.Scope, more.ExpiresAt = "granted", "", a.Scope+" calendar", ends.Unix()
		if err := s.auth.UpdateAccount(context.Background(), &more); err != nil {
			s.t.Error(err)
		}
	}
	t.Run("under way", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := refreshSite(t, memstore.New())
			a := s.account()
			time.Sleep(time.Hour)
			s.idp.Tamper(authtest.Tamper{Token: func(map[string]any) { grant(s, a, time.Now().Add(time.Hour)) }})
			got, err := s.auth.Refresh(t.Context(), a)
			if err != nil || got.AccessToken != "granted" {
				t.Errorf("Refresh = %v (%v)", got, err)
			}
			stored := first(s.auth.Account(t.Context(), "acme", a.ProviderAccountID))
			if stored.AccessToken != "granted" || stored.RefreshToken == a.RefreshToken {
				t.Errorf("stored are %q and %q, want the granted token and the next refresh token", stored.AccessToken, stored.RefreshToken)
			}
			s.idp.Tamper(authtest.Tamper{})
			s.wantGrant(a)
		})
	})
	t.Run("remembered", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := refreshSite(t, memstore.New())
			a := s.account()
			s.idp.Break(authtest.RefreshTokenReuseAllowed)
			s.answers("", false)
			time.Sleep(time.Hour)
			narrow, err := s.auth.Refresh(t.Context(), a)
			if err != nil {
				t.Fatal(err)
			}
			grant(s, a, time.Now())
			got, err := s.auth.Refresh(t.Context(), a)
			if err != nil || got.AccessToken == narrow.AccessToken || !strings.HasSuffix(got.Scope, " calendar") {
				t.Errorf("Refresh = %v with the scope %q (%v)", got, got.Scope, err)
			}
			if n := s.exchanges(); n != 2 {
				t.Errorf("there were %d exchanges", n)
			}
		})
	})
}

// A sign-in at which the provider sends no refresh token keeps the stored one: the one
// that is stored at that moment.
func TestAnUpdateDoesNotBringAUsedTokenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecordingStore()
		s := refreshSite(t, k)
		a := s.account()
		time.Sleep(time.Hour)
		other, once := s.process(), true
		k.before = func(operation string) {
			if operation == "swapAccount" && once {
				once = false
				if _, err := other.Refresh(context.Background(), a); err != nil {
					t.Error(err)
				}
			}
		}
		signedIn := *a
		signedIn.AccessToken, signedIn.RefreshToken = "of a sign-in", ""
		if err := s.auth.UpdateAccount(t.Context(), &signedIn); err != nil {
			t.Fatal(err)
		}
		stored := first(s.auth.Account(t.Context(), "acme", a.ProviderAccountID))
		if stored.AccessToken != "of a sign-in" || stored.RefreshToken == a.RefreshToken || stored.RefreshToken == "" {
			t.Errorf("RPX-76 stored are %q and %q", stored.AccessToken, stored.RefreshToken)
		}
		s.wantGrant(a)
	})
}

// RPT-48. The process that has new tokens keeps the others from the old ones.
func TestNoProcessUsesATokenAgainWhoseSuccessorIsNotStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecordingStore()
		s := refreshSite(t, k)
		a := s.account()
		other := s.process()
		time.Sleep(time.Hour)
		k.fail("swapAccount")
		if _, err := s.auth.Refresh(t.Context(), a); !errors.Is(err, pintle.CodeStore) {
			t.Errorf("the error is %v", err)
		}
		k.fail()
		time.Sleep(time.Minute)
		if got, err := other.Refresh(t.Context(), a); err == nil || errors.Is(err, pintle.ErrNoRefresh) || s.exchanges() != 1 {
			t.Errorf("RPT-48 another process got %v (%v) after %d exchanges", got, err, s.exchanges())
		}
		renewed, err := s.auth.Refresh(t.Context(), a)
		if err != nil || s.exchanges() != 1 {
			t.Fatalf("RPT-48 %v after %d exchanges", err, s.exchanges())
		}
		if got, err := other.Refresh(t.Context(), a); err != nil || got.AccessToken != renewed.AccessToken || s.exchanges() != 1 {
			t.Errorf("RPT-48 another process got %v (%v) after %d exchanges", got, err, s.exchanges())
		}
		rejected := *renewed
		rejected.ExpiresAt = 1
		begun := time.Now()
		if got, err := other.Refresh(t.Context(), &rejected); err != nil || got.AccessToken == renewed.AccessToken || time.Since(begun) > 3*time.Second {
			t.Errorf("RPT-48 the lease is held on: %v (%v) after %s", got, err, time.Since(begun))
		}
		s.wantGrant(a)
	})
}

// A shared state of an earlier version has no leases.
func TestASharedStateWithoutLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := refreshSite(t, leasing{memstore.New(), func(sharedstate.Store, sharedstate.Key, sharedstate.Owner, time.Duration) (bool, error) {
			return sharedstate.Unimplemented{}.Lease(context.Background(), sharedstate.Key{}, sharedstate.Owner{}, 0)
		}})
		a := s.account()
		time.Sleep(time.Hour)
		if got, err := s.auth.Refresh(t.Context(), a); err != nil || got.AccessToken == a.AccessToken {
			t.Errorf("RPX-77 %v (%v)", got, err)
		}
	})
}

// RPT-48. After two minutes nobody could have the tokens but the log says so.
func TestTokensThatAreLostAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecordingStore()
		s := refreshSite(t, k)
		a := s.account()
		time.Sleep(time.Hour)
		k.fail("swapAccount")
		_, _ = s.auth.Refresh(t.Context(), a)
		time.Sleep(3 * time.Minute)
		k.fail()
		if strings.Contains(s.log.String(), "are lost") {
			t.Error("a loss was logged before it happened")
		}
		if _, err := s.auth.Refresh(t.Context(), a); !errors.Is(err, pintle.ErrNoRefresh) {
			t.Errorf("the error is %v", err)
		}
		if !strings.Contains(s.log.String(), "level\":\"ERROR\",\"msg\":\"pintle: new tokens of an account are lost") {
			t.Errorf("RPT-48 the loss is not in the log:\n%s", s.log)
		}
	})
}

// Tokens that live for less than the outcome is remembered are exchanged from the
// newest refresh token on.
func TestARememberedTokenThatHasExpiredLeadsToTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := refreshSite(t, nil)
		s.idp.Tamper(authtest.Tamper{Token: func(body map[string]any) { body["expires_in"] = 20 }})
		a := s.account()
		for round := range 4 {
			time.Sleep(25 * time.Second)
			if _, err := s.auth.Refresh(t.Context(), a); err != nil || s.exchanges() != round+1 {
				t.Fatalf("RPX-79 round %d: %v after %d exchanges", round, err, s.exchanges())
			}
		}
	})
}

// RPX-80, RPT-53: what an error tells a host, and how long the provider is left alone.
func TestAFailedRefreshHoldsBack(t *testing.T) {
	tests := []struct {
		name, body, retryAfter string
		status                 int
		code                   pintle.Code
		noRefresh              bool
		held                   time.Duration
		others                 bool // other accounts are held back, too
	}{
		{name: "invalid_grant", status: 400, body: "invalid_grant", code: "OAuthCallbackError", noRefresh: true, held: 2 * time.Minute},
		{name: "consent", status: 400, body: "consent_required", code: "ConsentRequired", noRefresh: true, held: 2 * time.Minute},
		{name: "interaction", status: 400, body: "interaction_required", code: "ConsentRequired", noRefresh: true, held: 2 * time.Minute},
		{name: "scope", status: 400, body: "invalid_scope", code: "ConsentRequired", noRefresh: true, held: 2 * time.Minute},
		{name: "target", status: 400, body: "invalid_target", code: "ConsentRequired", noRefresh: true, held: 2 * time.Minute},
		{name: "client", status: 401, body: "invalid_client", code: pintle.CodeConfiguration, held: time.Minute, others: true},
		{name: "client not allowed", status: 400, body: "unauthorized_client", code: pintle.CodeConfiguration, held: time.Minute, others: true},
		{name: "503", status: 503, code: "OAuthCallbackError"},
		{name: "429", status: 429, code: "OAuthCallbackError"},
		{name: "429 for ten seconds", status: 429, retryAfter: "10", code: "OAuthCallbackError", held: 10 * time.Second},
		{name: "503 for ten seconds", status: 503, retryAfter: "10", code: "OAuthCallbackError", held: 10 * time.Second},
		{name: "400 for ten seconds", status: 400, body: "temporarily_unavailable", retryAfter: "10", code: "OAuthCallbackError"},
		{name: "a day", status: 429, retryAfter: "86400", code: "OAuthCallbackError", held: 5 * time.Minute},
		{name: "for ever", status: 429, retryAfter: "99999999999999999999", code: "OAuthCallbackError", held: 5 * time.Minute},
		{name: "2^63 seconds", status: 429, retryAfter: "9223372036854775808", code: "OAuthCallbackError", held: 5 * time.Minute},
		{name: "negative", status: 429, retryAfter: "-10", code: "OAuthCallbackError"},
		{name: "garbage", status: 429, retryAfter: "soon", code: "OAuthCallbackError"},
		{name: "a date", status: 429, retryAfter: "date", code: "OAuthCallbackError", held: 90 * time.Second},
		{name: "a past date", status: 429, retryAfter: "Fri, 01 Jan 1999 00:00:00 GMT", code: "OAuthCallbackError"},
	}
	for _, tt := range tests {
		t.Run("RPT-53 "+tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sent := 0
				s := refreshSite(t, memstore.New(), func(s *site) {
					next := s.net["idp.example"]
					s.net["idp.example"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						if r.URL.Path != string(authtest.TokenEndpoint) || r.FormValue("grant_type") != "refresh_token" {
							next.ServeHTTP(w, r)
							return
						}
						sent++
						after := tt.retryAfter
						if after == "date" {
							after = time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat)
						}
						if after != "" {
							w.Header().Set("Retry-After", after)
						}
						w.WriteHeader(tt.status)
						_, _ = fmt.Fprintf(w, `{"error":%q}`, tt.body)
					})
				})
				a := s.account()
				s.idp.SignInAs(authtest.Person{Subject: "43", Name: "Kim"})
				second := s.account()
				time.Sleep(time.Hour)
				for range 3 {
					_, err := s.auth.Refresh(t.Context(), a)
					if !errors.Is(err, tt.code) || errors.Is(err, pintle.ErrNoRefresh) != tt.noRefresh {
						t.Fatalf("the error is %v", err)
					}
					e, ok := errors.AsType[*pintle.Error](err)
					waits := tt.held
					if tt.noRefresh {
						waits = 0 // it would not help
					}
					if !ok || e.RetryAfter > waits || e.RetryAfter < waits-time.Second {
						t.Errorf("RetryAfter is %v, want %v", e, waits)
					}
				}
				want := 1
				if tt.held == 0 {
					want = 3
				}
				if sent != want {
					t.Errorf("the provider was asked %d times in 3 calls, want %d", sent, want)
				}
				if _, err := s.auth.Refresh(t.Context(), second); err == nil || sent != want && tt.others || sent != want+1 && !tt.others {
					t.Errorf("with another account it was asked %d times: %v", sent, err)
				}
				before := sent
				time.Sleep(tt.held - 2*time.Second)
				_, _ = s.auth.Refresh(t.Context(), a)
				if tt.held > 0 && sent != before {
					t.Errorf("it was asked again before %s", tt.held)
				}
				time.Sleep(4 * time.Second)
				_, _ = s.auth.Refresh(t.Context(), a)
				if sent == before {
					t.Errorf("it is not asked again after %s", tt.held)
				}
			})
		})
	}
}

// RPX-74: an API has ended an access token early. The caller gives it back.
func TestATokenThatTheAPIRejectsIsReplacedOnce(t *testing.T) {
	for name, reused := range map[string]bool{"with rotation": false, "with one refresh token": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := refreshSite(t, memstore.New())
				a := s.account()
				if reused {
					s.idp.Break(authtest.RefreshTokenReuseAllowed)
					s.idp.Tamper(authtest.Tamper{Token: func(body map[string]any) { delete(body, "refresh_token") }})
				}
				rejected := *a
				rejected.ExpiresAt = 1
				processes := []*pintle.Auth{s.auth, s.process()}
				tokens := inParallel(func(i int) string {
					got, err := processes[i%2].Refresh(t.Context(), &rejected)
					if err != nil {
						return err.Error()
					}
					return got.AccessToken
				})
				for _, token := range tokens {
					if token == a.AccessToken || token != tokens[0] || s.exchanges() != 1 {
						t.Fatalf("RPX-74 the answers are %q and %q after %d exchanges", token, tokens[0], s.exchanges())
					}
				}
				// An API that rejects each token.
				rejected.AccessToken = tokens[0]
				for _, auth := range processes {
					if got, err := auth.Refresh(t.Context(), &rejected); err != nil || got.AccessToken != tokens[0] || s.exchanges() != 1 {
						t.Errorf("RPX-74 a new token was replaced: %v (%v) after %d exchanges", got, err, s.exchanges())
					}
				}
				time.Sleep(40 * time.Second)
				if got, err := s.auth.Refresh(t.Context(), &rejected); err != nil || got.AccessToken == tokens[0] || s.exchanges() != 2 {
					t.Errorf("RPX-74 later %v (%v) after %d exchanges", got, err, s.exchanges())
				}
			})
		})
	}
}

// RPX-72: server jobs name the user, and RPT-51: an account id from a form may be another
// user's.
func TestTheAccountOfAUserIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := refreshSite(t, memstore.New())
		stored := func(a *pintle.Account) *pintle.Account {
			return first(s.auth.Account(t.Context(), a.Provider, a.ProviderAccountID))
		}
		a := stored(s.account())
		s.idp.SignInAs(authtest.Person{Subject: "43", Name: "Kim"})
		b := stored(s.account())
		if a.UserID == "" || a.UserID == b.UserID {
			t.Fatalf("the users are %q and %q", a.UserID, b.UserID)
		}
		time.Sleep(time.Hour)
		got, err := s.auth.Refresh(t.Context(), &pintle.Account{Provider: "acme", UserID: b.UserID})
		if err != nil || got.ProviderAccountID != b.ProviderAccountID || got.AccessToken == b.AccessToken {
			t.Errorf("RPX-72 Refresh = %v (%v)", got, err)
		}
		time.Sleep(time.Hour)
		before := s.exchanges()
		for name, ask := range map[string]*pintle.Account{
			"another user's account": {Provider: "acme", UserID: a.UserID, ProviderAccountID: b.ProviderAccountID},
			"an unknown user":        {Provider: "acme", UserID: "unknown"},
			"an unknown account":     {Provider: "acme", UserID: a.UserID, ProviderAccountID: "1"},
		} {
			if got, err := s.auth.Refresh(t.Context(), ask); !errors.Is(err, pintle.ErrNotFound) {
				t.Errorf("RPT-51 %s: %v (%v)", name, got, err)
			}
		}
		if n := s.exchanges() - before; n != 0 {
			t.Errorf("RPT-51 accounts of others caused %d exchanges", n)
		}
		s.idp.Break(authtest.TokenInvalidGrant)
		time.Sleep(time.Hour)
		if _, err := s.auth.Refresh(t.Context(), &pintle.Account{Provider: "acme", UserID: a.UserID, ProviderAccountID: b.ProviderAccountID}); !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("RPT-51 another user's dead grant: %v", err)
		}
		second := *b
		second.ProviderAccountID = "44"
		if err := s.Store.LinkAccount(t.Context(), &second); err != nil {
			t.Fatal(err)
		}
		if _, err := s.auth.Refresh(t.Context(), &pintle.Account{Provider: "acme", UserID: b.UserID}); !errors.Is(err, pintle.CodeConfiguration) || !strings.Contains(err.Error(), "ProviderAccountID") {
			t.Errorf("RPX-72 of two accounts: %v", err)
		}
	})
}

// RPX-77
func TestAStoreWithoutLeasesIsInTheLogOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := refreshSite(t, withoutLeases{memstore.New()}, func(s *site) { s.TrustHost = true }) // as behind a proxy
		a := s.account()
		for range 3 {
			time.Sleep(time.Hour)
			if _, err := s.auth.Refresh(t.Context(), a); err != nil {
				t.Fatal(err)
			}
		}
		if n := strings.Count(s.log.String(), "level\":\"INFO\",\"msg\":\"pintle: there is no shared state"); n != 1 {
			t.Errorf("RPX-77 the log has it %d times:\n%s", n, s.log)
		}
	})
}
