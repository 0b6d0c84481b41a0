package pintle_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/internal/handshake"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/store/memstore"
)

// refreshSite is a site whose provider gives refresh tokens that it takes once.
// store may be nil. The token endpoint takes a second, so that many are waiting
// for it at a time.
func refreshSite(t *testing.T, store pintle.Store, changes ...func(*site)) *site {
	t.Helper()
	return newSite(t, append([]func(*site){func(s *site) {
		acme := s.idp.OIDC("acme")
		acme.Authorization.Params = map[string]string{"scope": "openid profile email offline_access"}
		s.Providers = []pintle.Provider{acme}
		s.Store, s.Session.Strategy = store, pintle.StrategyJWT
		s.net["idp.example"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == string(authtest.TokenEndpoint) {
				time.Sleep(time.Second)
			}
			s.idp.ServeHTTP(w, r)
		})
	}}, changes...)...)
}

// account signs a user in and returns the account with its tokens.
func (s *site) account() *pintle.Account {
	s.t.Helper()
	s.browser().signInWith("acme").goesTo(s.url)
	a := lastEvent[*pintle.SignInEvent](s, "signIn").Account
	if a.RefreshToken == "" || a.ExpiresAt == 0 {
		s.t.Fatalf("the account has nothing to refresh it with: %v", a)
	}
	return a
}

// exchanges counts the refresh tokens the provider was sent.
func (s *site) exchanges() (n int) {
	for _, r := range s.idp.Requests(authtest.TokenEndpoint) {
		if r.Form.Get("grant_type") == "refresh_token" {
			n++
		}
	}
	return n
}

func TestATokenThatIsGoodIsNotRefreshed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := refreshSite(t, nil)
		a := s.account()
		time.Sleep(58 * time.Minute)
		if same, err := s.auth.Refresh(t.Context(), a); err != nil || same != a || s.exchanges() != 0 {
			t.Errorf("Refresh = %v, %v after %d exchanges", same, err, s.exchanges())
		}
		time.Sleep(90 * time.Second) // half a minute is left
		renewed, err := s.auth.Refresh(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		if renewed.AccessToken == a.AccessToken || renewed.RefreshToken == a.RefreshToken || time.Until(time.Unix(renewed.ExpiresAt, 0)) < 59*time.Minute {
			t.Errorf("the token was not replaced: it lasts %s", time.Until(time.Unix(renewed.ExpiresAt, 0)))
		}
		if renewed.Provider != a.Provider || renewed.ProviderAccountID != a.ProviderAccountID || renewed.Scope == "" {
			t.Errorf("the account became %v", renewed)
		}
		if forever := (&pintle.Account{Provider: "acme", AccessToken: "x"}); forever != first(s.auth.Refresh(t.Context(), forever)) {
			t.Error("a token without an end was refreshed")
		}
	})
}

func first[T any](value T, _ error) T { return value }

// RPT-52. A token that lives for half a minute is good for most of that.
func TestATokenOfAShortLifeIsNotRefreshedByEveryCall(t *testing.T) {
	for name, store := range map[string]func() pintle.Store{
		"held by the caller": func() pintle.Store { return nil },
		"stored":             func() pintle.Store { return memstore.New() },
	} {
		t.Run("RPT-52 "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := refreshSite(t, store())
				s.idp.Tamper(authtest.Tamper{Token: func(body map[string]any) { body["expires_in"] = 30 }})
				a := s.account()
				for range 1000 {
					var err error
					if a, err = s.auth.Refresh(t.Context(), a); err != nil {
						t.Fatal(err)
					}
					if left := time.Until(time.Unix(a.ExpiresAt, 0)); left < 2*time.Second {
						t.Fatalf("a token with %s left was returned", left)
					}
					time.Sleep(20 * time.Millisecond)
				}
				if n := s.exchanges(); n > 2 {
					t.Errorf("1000 calls in 20 seconds made %d exchanges", n)
				}
				time.Sleep(8 * time.Second)
				if renewed := first(s.auth.Refresh(t.Context(), a)); renewed.AccessToken == a.AccessToken {
					t.Error("a token that was about to expire was not replaced")
				}
			})
		})
	}
}

// A store that has no place for the life of a token does not make it short: what
// was seen of it counts.
func TestALongLifeIsKnownFromWhatWasSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := refreshSite(t, memstore.New())
		stored := &pintle.Account{Provider: "acme", ProviderAccountID: s.account().ProviderAccountID}
		seen := first(s.auth.Refresh(t.Context(), stored))
		time.Sleep(time.Until(time.Unix(seen.ExpiresAt, 0)) - 50*time.Second)
		if renewed := first(s.auth.Refresh(t.Context(), stored)); renewed.AccessToken == seen.AccessToken {
			t.Error("RPT-52 a token of an hour was returned with 50 seconds left")
		}
		s.idp.Tamper(authtest.Tamper{Token: func(body map[string]any) { body["expires_in"] = 30 }})
		time.Sleep(time.Hour)
		seen = first(s.auth.Refresh(t.Context(), stored))
		time.Sleep(20 * time.Second)
		if same := first(s.auth.Refresh(t.Context(), stored)); same.AccessToken != seen.AccessToken {
			t.Error("RPT-52 the life of the token before it counted")
		}
	})
}

// However many requests find the token expired, one request goes to the
// provider: it accepts the refresh token once, and ends the grant if it comes
// again. SH-18.
func TestManyWhoRefreshAreAnsweredByOneExchange(t *testing.T) {
	for name, store := range map[string]func() pintle.Store{
		"held by the caller": func() pintle.Store { return nil },
		"stored":             func() pintle.Store { return memstore.New() },
	} {
		t.Run("SH-18 BCP-14 "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := refreshSite(t, store())
				a := s.account()
				for round := range 3 {
					time.Sleep(time.Hour)
					tokens := inParallel(func(i int) string {
						ask := a
						if s.Store != nil && i%2 == 0 {
							ask = &pintle.Account{Provider: "acme", ProviderAccountID: a.ProviderAccountID}
						}
						renewed, err := s.auth.Refresh(t.Context(), ask)
						if err != nil {
							return err.Error()
						}
						renewed.AccessToken += " changed by " + string(rune('a'+i%26)) // differs for each caller
						return strings.Fields(renewed.AccessToken)[0]
					})
					for _, token := range tokens {
						if token != tokens[0] {
							t.Fatalf("round %d: the answers differ: %q, %q", round, token, tokens[0])
						}
					}
					if n := s.exchanges(); n != round+1 {
						t.Fatalf("round %d: the provider was asked %d times", round, n)
					}
					renewed, err := s.auth.Refresh(t.Context(), a) // a late one, with the old token
					if err != nil || renewed.AccessToken != tokens[0] || s.exchanges() != round+1 {
						t.Fatalf("round %d: a late request got %v, %v after %d exchanges", round, renewed, err, s.exchanges())
					}
					a = renewed
				}
			})
		})
	}
}

// Two minutes later no request with the old token is still on the way, and a
// request with it comes from an attacker.
func TestTheOutcomeOfARefreshIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := refreshSite(t, nil)
		a := s.account()
		time.Sleep(time.Hour)
		if _, err := s.auth.Refresh(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		time.Sleep(119 * time.Second)
		if _, err := s.auth.Refresh(t.Context(), a); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Second)
		if _, err := s.auth.Refresh(t.Context(), a); !errors.Is(err, pintle.ErrNoRefresh) {
			t.Errorf("an old refresh token is answered with %v", err)
		}
	})
}

// An account of a provider that issues no refresh tokens cannot be refreshed.
func TestAProviderWithoutRefreshTokens(t *testing.T) {
	s := newSite(t)
	s.Providers = []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}}
	auth, err := pintle.New(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = auth.Refresh(t.Context(), &pintle.Account{Provider: "credentials", ProviderAccountID: "1", RefreshToken: "a"})
	if !errors.Is(err, pintle.ErrNoRefresh) {
		t.Errorf("the error is %v", err)
	}
}

// The id of an account alone does not give access to its tokens.
func TestAnotherRefreshTokenIsNotAnsweredFromMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := refreshSite(t, nil)
		a := s.account()
		time.Sleep(time.Hour)
		if _, err := s.auth.Refresh(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		guess := *a
		guess.RefreshToken = "a guess"
		if got, err := s.auth.Refresh(t.Context(), &guess); err == nil {
			t.Errorf("a guess got %v", got)
		}
	})
}

// ErrNoRefresh means that the user must sign in again; other errors may be
// temporary.
func TestARefreshThatFailsSaysWhetherToTryAgain(t *testing.T) {
	tests := []struct {
		name  string
		fault authtest.Fault
		again bool // the error may pass
		spent bool // the provider has taken the token for good
	}{
		{"BCP-14 the provider no longer takes the token", authtest.TokenInvalidGrant, false, false},
		{"the provider is down", authtest.At(authtest.TokenEndpoint, authtest.Unavailable), true, false},
		{"the provider hangs", authtest.At(authtest.TokenEndpoint, authtest.Hangs), true, false},
		{"the provider sends no token", authtest.AccessTokenMissing, true, true},
		{"RP-15 oidcc-client-test-refresh-token-invalid-issuer the ID token is of another issuer", authtest.RefreshedIDTokenWrongIssuer, true, true},
		{"RP-15 oidcc-client-test-refresh-token-invalid-sub the ID token is about another user", authtest.RefreshedIDTokenWrongSubject, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := refreshSite(t, nil)
				a := s.account()
				time.Sleep(time.Hour)
				s.idp.Break(tt.fault)
				got, err := s.auth.Refresh(t.Context(), a)
				if err == nil {
					t.Fatalf("Refresh = %v", got)
				}
				if errors.Is(err, pintle.ErrNoRefresh) == tt.again || !errors.Is(err, pintle.Code("OAuthCallbackError")) {
					t.Errorf("the error is %v", err)
				}
				for _, secret := range []string{a.AccessToken, a.RefreshToken, a.IDToken} {
					if strings.Contains(err.Error(), secret) {
						t.Errorf("SH-13 the error repeats a token: %v", err)
					}
				}
				s.idp.Repair()
				if e, ok := errors.AsType[*pintle.Error](err); ok {
					time.Sleep(e.RetryAfter)
				}
				_, err = s.auth.Refresh(t.Context(), a)
				switch n := s.exchanges(); {
				case !tt.again && (n != 1 || !errors.Is(err, pintle.ErrNoRefresh)):
					t.Errorf("BCP-14 the provider was sent a refused token %d times: %v", n, err)
				case tt.again && n != 2, tt.again && !tt.spent && err != nil:
					t.Errorf("after the repair it was asked %d times: %v", n, err)
				}
			})
		})
	}
}

// Servers refuse a refresh token in other ways than RFC 6749 has: dex with
// invalid_request, Glewlwyd without a code, GitHub with status 200, and Microsoft
// in a form that its provider turns into another error.
func TestRefreshRecognisesARefusedToken(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		again  bool // the error may pass
		quirk  func(*oauth.TokenResponse) error
	}{
		{name: "dex", status: 400, body: `{"error":"invalid_request","error_description":"Refresh token is invalid or has already been claimed by another client."}`},
		{name: "dex an expired token", status: 400, body: `{"error":"invalid_request","error_description":"Refresh token expired."}`},
		{name: "Glewlwyd", status: 400, body: ``},
		{name: "an object without a code", status: 400, body: `{}`},
		{name: "a page", status: 400, body: `<html>Bad Request</html>`},
		{name: "GitHub", status: 200, body: `{"error":"bad_refresh_token","error_description":"The refresh token passed is incorrect or expired."}`},
		{name: "RFC 6749", status: 400, body: `{"error":"invalid_grant"}`},
		{
			name: "Microsoft", status: 400, body: `{"error":"invalid_grant","error_description":"AADSTS700082: The refresh token has expired"}`,
			quirk: func(r *oauth.TokenResponse) error {
				code, _ := r.Body["error"].(string)
				return &handshake.ResponseError{Code: code}
			},
		},
		{name: "the grant type is unknown", status: 400, body: `{"error":"unsupported_grant_type"}`, again: true},
		{name: "invalid_request of a gateway", status: 502, body: `{"error":"invalid_request"}`, again: true},
		{name: "a server that is down", status: 503, body: ``, again: true},
		{name: "too many requests", status: 429, body: ``, again: true},
		{name: "a wrong address", status: 404, body: ``, again: true},
		{name: "an answer without a token", status: 200, body: `{}`, again: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				refusing, sent := false, 0
				s := refreshSite(t, nil, func(s *site) {
					next := s.net["idp.example"]
					s.net["idp.example"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						if !refusing || r.URL.Path != string(authtest.TokenEndpoint) {
							next.ServeHTTP(w, r)
							return
						}
						sent++
						w.Header().Set("Content-Type", "application/json")
						w.WriteHeader(tt.status)
						_, _ = io.WriteString(w, tt.body)
					})
					if tt.quirk != nil {
						s.Providers[0].(*pintle.OAuth).Quirks.TokenResponse = func(r *oauth.TokenResponse) error {
							if !refusing {
								return nil
							}
							return tt.quirk(r)
						}
					}
				})
				a := s.account()
				time.Sleep(time.Hour)
				refusing = true
				for range 5 {
					if _, err := s.auth.Refresh(t.Context(), a); err == nil || errors.Is(err, pintle.ErrNoRefresh) == tt.again {
						t.Fatalf("the error is %v", err)
					}
				}
				if want := map[bool]int{false: 1, true: 5}[tt.again]; sent != want {
					t.Errorf("the token was sent %d times in 5 requests, want %d", sent, want)
				}
			})
		})
	}
}

func TestWhatCannotBeRefreshed(t *testing.T) {
	s := newSite(t)
	s.idp.Register(authtest.Client{ID: "old", Secret: "s3cret of the client", RedirectURIs: []string{s.url + "/auth/callback/old"}})
	s = newSite(t, func(other *site) { other.Providers = append(other.Providers, s.idp.OAuth1("old")) })
	for name, a := range map[string]*pintle.Account{
		"an account without a refresh token": {Provider: "acme", ExpiresAt: 1},
		"an account over OAuth 1.0a":         {Provider: "old", OAuthToken: "x"},
		"an account of a password":           {Provider: "credentials", Type: pintle.TypeCredentials},
	} {
		if _, err := s.auth.Refresh(t.Context(), a); !errors.Is(err, pintle.ErrNoRefresh) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	if _, err := s.auth.Refresh(t.Context(), &pintle.Account{Provider: "unknown"}); !errors.Is(err, pintle.CodeConfiguration) {
		t.Errorf("an unknown provider: the error is %v", err)
	}
}

// A caller that gives up does not stop the exchange for which other callers wait.
func TestARefreshOutlivesTheRequestThatBeganIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := refreshSite(t, memstore.New())
		a := s.account()
		time.Sleep(time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := s.auth.Refresh(ctx, a); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, pintle.Code("OAuthCallbackError")) {
			t.Errorf("the impatient one got %v", err)
		}
		if _, err := s.auth.Refresh(t.Context(), a); err != nil || s.exchanges() != 1 {
			t.Errorf("the patient one got %v after %d exchanges", err, s.exchanges())
		}
	})
}

// A hook of the provider that panics runs in a goroutine that is no request's.
func TestAPanicDuringARefreshDoesNotEndTheProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := false
		s := refreshSite(t, nil, func(s *site) {
			s.Providers[0].(*pintle.OAuth).Quirks.TokenResponse = func(*oauth.TokenResponse) error {
				if broken {
					panic("no such member")
				}
				return nil
			}
		})
		a := s.account()
		time.Sleep(time.Hour)
		broken = true
		if _, err := s.auth.Refresh(t.Context(), a); !errors.Is(err, pintle.CodeConfiguration) || !strings.Contains(err.Error(), "no such member") {
			t.Errorf("the error is %v", err)
		}
	})
}

// A stored account is refreshed where it is stored, and the new tokens are there
// for all callers, other processes included.
func TestAStoredAccountIsRefreshedInTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		s := refreshSite(t, store)
		a := s.account()
		time.Sleep(time.Hour)
		renewed, err := s.auth.Refresh(t.Context(), &pintle.Account{Provider: "acme", ProviderAccountID: a.ProviderAccountID})
		if err != nil {
			t.Fatal(err)
		}
		stored, err := s.auth.Account(t.Context(), "acme", a.ProviderAccountID)
		if err != nil || stored.AccessToken != renewed.AccessToken || stored.RefreshToken != renewed.RefreshToken || stored.UserID == "" {
			t.Errorf("stored is %+v (%v)", stored, err)
		}
		other, err := pintle.New(s.Config) // another process
		if err != nil {
			t.Fatal(err)
		}
		if got, err := other.Refresh(t.Context(), a); err != nil || got.AccessToken != renewed.AccessToken || s.exchanges() != 1 {
			t.Errorf("another process got %v (%v) after %d exchanges", got, err, s.exchanges())
		}
	})
}

// Without leases two processes may both be on their way with one refresh token. The
// slower one is refused, and finds what the faster one stored.
func TestTheSlowerProcessFindsWhatTheFasterStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := refreshSite(t, withoutLeases{memstore.New()})
		a := s.account()
		other, err := pintle.New(s.Config)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		done := make(chan *pintle.Account)
		for i, auth := range []*pintle.Auth{s.auth, other} {
			go func() {
				time.Sleep(time.Duration(i) * 10 * time.Millisecond)
				got, err := auth.Refresh(t.Context(), a)
				if err != nil {
					t.Error(err)
					got = &pintle.Account{}
				}
				done <- got
			}()
		}
		if one, two := <-done, <-done; one.AccessToken != two.AccessToken || s.exchanges() != 2 {
			t.Errorf("the processes have %q and %q after %d exchanges", one.AccessToken, two.AccessToken, s.exchanges())
		}
	})
}

// If the store fails after the exchange, the grant is not lost: the new tokens
// are remembered and stored with the next request.
func TestNewTokensAreNotLostToAStoreThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newRecordingStore()
		s := refreshSite(t, k)
		a := s.account()
		time.Sleep(time.Hour)
		k.fail("swapAccount")
		if _, err := s.auth.Refresh(t.Context(), a); !errors.Is(err, pintle.CodeStore) || !errors.Is(err, errBroken) {
			t.Errorf("the error is %v", err)
		}
		k.fail()
		renewed, err := s.auth.Refresh(t.Context(), a)
		if err != nil || s.exchanges() != 1 {
			t.Fatalf("%v after %d exchanges", err, s.exchanges())
		}
		if stored, err := s.auth.Account(t.Context(), "acme", a.ProviderAccountID); err != nil || stored.AccessToken != renewed.AccessToken {
			t.Errorf("stored is %v (%v)", stored, err)
		}
		k.fail("getAccount")
		if _, err := s.auth.Refresh(t.Context(), &pintle.Account{Provider: "acme", ProviderAccountID: "x"}); !errors.Is(err, pintle.CodeStore) {
			t.Errorf("the error is %v", err)
		}
	})
}

// A person without a store keeps the tokens in the session, and the callback
// that refreshes them runs in every request.
func TestACallbackKeepsATokenFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s *site
		account := pintle.NewClaim[pintle.Account]("account")
		s = refreshSite(t, nil, func(s2 *site) {
			s2.Callbacks.JWT = func(ctx context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
				if c.Account != nil {
					account.Put(c.Claims, *c.Account)
					return c.Claims, nil
				}
				held, ok := account.In(c.Claims)
				if !ok {
					return nil, errors.New("the session has no account")
				}
				renewed, err := s.auth.Refresh(ctx, &held)
				if errors.Is(err, pintle.ErrNoRefresh) {
					return nil, nil // the person has to sign in again
				}
				if err != nil {
					return nil, err
				}
				account.Put(c.Claims, *renewed)
				return c.Claims, nil
			}
		})
		b := s.browser()
		b.signInWith("acme").goesTo(s.url)
		for round := range 3 {
			time.Sleep(time.Hour)
			for range 3 {
				if who := b.who(); who != "Ada Lovelace" {
					t.Fatalf("round %d: %s is signed in; log:\n%s", round, who, s.log)
				}
			}
			if n := s.exchanges(); n != round+1 {
				t.Errorf("round %d: the provider was asked %d times", round, n)
			}
		}
		s.idp.Break(authtest.TokenInvalidGrant)
		time.Sleep(time.Hour)
		if who := b.who(); who != "anonymous" {
			t.Errorf("BCP-14 after the grant has ended %s is signed in", who)
		}
	})
}

func TestRefreshNeedsToKnowWhoseAccountItIs(t *testing.T) {
	tenants := pintle.NewFunc(func(*http.Request) string { return "" }, func(context.Context, string) (pintle.Config, error) {
		return pintle.Config{}, nil
	})
	if _, err := tenants.Refresh(t.Context(), &pintle.Account{}); !errors.Is(err, pintle.CodeConfiguration) {
		t.Errorf("the error is %v", err)
	}
}
