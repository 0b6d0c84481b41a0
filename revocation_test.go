package pintle_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/store/memstore"
)

const notRevoked = pintle.Code("NotRevoked")

// revokingSite is a site at which Ada has signed in with acme, and has another account
// there. answer, if it is not nil, answers for the revocation endpoint.
func revokingSite(t *testing.T, answer http.HandlerFunc, changes ...func(*pintle.OAuth)) (*site, *pintle.Account) {
	t.Helper()
	store := memstore.New()
	s := newSite(t, func(s *site) {
		acme := s.idp.OIDC("acme")
		acme.Authorization.Params = map[string]string{"scope": "openid profile email offline_access"}
		acme.RevokeAtUnlink = true
		for _, change := range changes {
			change(acme)
		}
		s.Providers = []pintle.Provider{acme}
		s.Store, s.Session.Strategy, s.SealAccountTokens = store, pintle.StrategyJWT, true
		s.net["idp.example"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if answer != nil && r.URL.Path == string(authtest.RevocationEndpoint) {
				answer(w, r)
				return
			}
			s.idp.ServeHTTP(w, r)
		})
	})
	a := s.account()
	owner, err := store.UserByAccount(t.Context(), a.Provider, a.ProviderAccountID)
	if err != nil {
		t.Fatal(err)
	}
	a.UserID = owner.ID
	err = store.LinkAccount(t.Context(), &pintle.Account{UserID: a.UserID, Type: pintle.TypeOIDC, Provider: "acme", ProviderAccountID: "another"})
	if err != nil {
		t.Fatal(err)
	}
	return s, a
}

// works reports whether the provider still takes the tokens of an account.
func (s *site) works(a *pintle.Account) (access, refresh bool) {
	s.t.Helper()
	if _, err := s.auth.Refresh(s.t.Context(), &pintle.Account{Provider: "acme", ProviderAccountID: "of no user", RefreshToken: a.RefreshToken}); err == nil {
		refresh = true
	}
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.idp.URL(authtest.UserInfoEndpoint), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+a.AccessToken)
	resp, err := (&http.Client{Transport: s.net}).Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK, refresh
}

// RPX-49: what is removed here ends at the provider, too.
func TestTheTokensOfARemovedAccountAreRevoked(t *testing.T) {
	removals := map[string]func(*site, *pintle.Account) error{
		"unlinked": func(s *site, a *pintle.Account) error {
			return s.auth.Unlink(s.t.Context(), signedInAs(&pintle.User{ID: a.UserID}), a.Provider, a.ProviderAccountID)
		},
		"with its user": func(s *site, a *pintle.Account) error { return s.auth.DeleteUser(s.t.Context(), a.UserID) },
	}
	for name, remove := range removals {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, a := revokingSite(t, nil)
				if err := remove(s, a); err != nil {
					t.Fatal(err)
				}
				if access, refresh := s.works(a); access || refresh {
					t.Errorf("the access token works: %t, the refresh token: %t", access, refresh)
				}
				if n := len(s.idp.Requests(authtest.RevocationEndpoint)); n != 2 {
					t.Errorf("%d tokens were revoked, want the two of the one account that has some", n)
				}
			})
		})
		t.Run(name+", without the option", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, a := revokingSite(t, nil, func(p *pintle.OAuth) { p.RevokeAtUnlink = false })
				if err := remove(s, a); err != nil || len(s.idp.Requests(authtest.RevocationEndpoint)) != 0 {
					t.Errorf("%v, and %d requests", err, len(s.idp.Requests(authtest.RevocationEndpoint)))
				}
			})
		})
	}
}

// RPT-31: the removal is finished whatever the provider answers, and the error says that
// the tokens may still work. It takes five seconds at most, and no token is in the log.
func TestARevocationThatFailsLeavesTheAccountRemoved(t *testing.T) {
	answers := map[string]http.HandlerFunc{
		"an error":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"no answer": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"sent to another host": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://evil.example/", http.StatusFound)
		},
		"an error with status 200": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"error":"temporarily_unavailable"}`)
		},
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, a := revokingSite(t, answer)
				s.net["evil.example"] = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") })
				began := time.Now()
				err := s.auth.Unlink(t.Context(), signedInAs(&pintle.User{ID: a.UserID}), a.Provider, a.ProviderAccountID)
				if !errors.Is(err, notRevoked) || time.Since(began) > 5*time.Second {
					t.Errorf("Unlink is %v after %s, want NotRevoked", err, time.Since(began))
				}
				if _, err := s.auth.Account(t.Context(), a.Provider, a.ProviderAccountID); !errors.Is(err, pintle.ErrNotFound) {
					t.Errorf("the account is %v, want none", err)
				}
				for _, secret := range []string{a.AccessToken, a.RefreshToken} {
					if strings.Contains(err.Error()+s.log.String(), secret) {
						t.Errorf("a token is in the error or the log: %v", err)
					}
				}
			})
		})
	}
	t.Run("a hook that crashes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			crash := false
			s, a := revokingSite(t, nil, func(p *pintle.OAuth) {
				p.Quirks.ClientSecret = func(context.Context) (string, error) {
					if crash {
						panic("the vault is closed")
					}
					return "secret", nil
				}
			})
			crash = true
			if err := s.auth.DeleteUser(t.Context(), a.UserID); !errors.Is(err, notRevoked) {
				t.Errorf("DeleteUser is %v, want NotRevoked", err)
			}
		})
	})
}

// RPT-32: the account of another user is neither removed nor revoked.
func TestTheTokensOfAnotherUserAreNotRevoked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := revokingSite(t, nil)
		grace, err := s.Store.CreateUser(t.Context(), &pintle.User{Name: "Grace", Email: "grace@example.com"})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.auth.Unlink(t.Context(), signedInAs(grace), a.Provider, a.ProviderAccountID); !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("Unlink is %v, want ErrNotFound", err)
		}
		err = s.auth.RevokeTokens(t.Context(), &pintle.Account{UserID: grace.ID, Provider: a.Provider, ProviderAccountID: a.ProviderAccountID})
		if !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("RevokeTokens is %v, want ErrNotFound", err)
		}
		if n := len(s.idp.Requests(authtest.RevocationEndpoint)); n != 0 {
			t.Errorf("%d requests were sent to the provider", n)
		}
	})
}

// RPX-48: an account may stay when its tokens end.
func TestTokensThatAreRevokedLeaveTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := revokingSite(t, nil)
		if err := s.auth.RevokeTokens(t.Context(), &pintle.Account{Provider: a.Provider, ProviderAccountID: a.ProviderAccountID}); err != nil {
			t.Fatal(err)
		}
		if access, refresh := s.works(a); access || refresh {
			t.Errorf("the access token works: %t, the refresh token: %t", access, refresh)
		}
		stored, err := s.auth.Account(t.Context(), a.Provider, a.ProviderAccountID)
		if err != nil || stored.UserID != a.UserID || stored.AccessToken+stored.RefreshToken != "" {
			t.Errorf("the account is %+v, %v, want one without tokens", stored, err)
		}
		if err := s.auth.RevokeTokens(t.Context(), &pintle.Account{Provider: "acme", ProviderAccountID: "unknown"}); !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("RevokeTokens is %v, want ErrNotFound", err)
		}
	})
}

// RPX-51: tokens that no secret opens are named.
func TestTokensThatCannotBeOpenedAreNotRevoked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a := revokingSite(t, nil)
		broken := *a
		broken.AccessToken, broken.RefreshToken = "", "pintle:AAAA"
		if err := s.Store.UpdateAccount(t.Context(), &broken); err != nil {
			t.Fatal(err)
		}
		err := s.auth.Unlink(t.Context(), signedInAs(&pintle.User{ID: a.UserID}), a.Provider, a.ProviderAccountID)
		if !errors.Is(err, notRevoked) || len(s.idp.Requests(authtest.RevocationEndpoint)) > 0 {
			t.Errorf("Unlink is %v, want NotRevoked", err)
		}
	})
}

func TestRevocationNeedsAnEndpoint(t *testing.T) {
	for name, change := range map[string]func(*pintle.OAuth){
		"OAuth 1.0a":         func(p *pintle.OAuth) { p.Protocol = oauth.OAuth1 },
		"neither of the two": func(p *pintle.OAuth) { p.Issuer, p.WellKnown = "", "" },
	} {
		p := &pintle.OAuth{
			ID: "acme", ClientID: "id", ClientSecret: "secret", RevokeAtUnlink: true,
			Authorization: oauth.Endpoint{URL: "https://idp.example/a"}, Token: oauth.Endpoint{URL: "https://idp.example/t"}, UserInfo: oauth.Endpoint{URL: "https://idp.example/u"},
		}
		change(p)
		_, err := pintle.New(pintle.Config{Providers: []pintle.Provider{p}, Secrets: []string{"a secret of at least 32 characters"}})
		if err == nil || !strings.Contains(err.Error(), "RevokeAtUnlink") {
			t.Errorf("%s: New is %v", name, err)
		}
	}
}

// The tokens are nowhere else by then.
func TestAClientThatGoesAwayDoesNotEndTheRevocation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		requests := 0
		s, a := revokingSite(t, func(w http.ResponseWriter, _ *http.Request) {
			requests++
			leave()
			w.WriteHeader(http.StatusOK)
		})
		err := s.auth.Unlink(ctx, signedInAs(&pintle.User{ID: a.UserID}), a.Provider, a.ProviderAccountID)
		if err != nil || requests != 2 {
			t.Errorf("Unlink is %v after %d requests", err, requests)
		}
	})
}

// RPX-48: the end of the refresh token may fail, and that of the access token succeed.
func TestBothTokensAreRevokedIfTheFirstIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hints []string
		s, a := revokingSite(t, func(w http.ResponseWriter, r *http.Request) {
			hints = append(hints, r.FormValue("token_type_hint"))
			if len(hints) == 1 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		})
		err := s.auth.Unlink(t.Context(), signedInAs(&pintle.User{ID: a.UserID}), a.Provider, a.ProviderAccountID)
		if !errors.Is(err, notRevoked) || strings.Join(hints, " ") != "refresh_token access_token" {
			t.Errorf("Unlink is %v, and the provider was sent %q", err, hints)
		}
	})
}

// RPX-76: what a refresh has stored or received meanwhile ends, too.
func TestTokensOfARefreshThatIsUnderWayAreRevoked(t *testing.T) {
	ends := map[string]func(*site, *pintle.Account) error{
		"unlinked": func(s *site, a *pintle.Account) error {
			return s.auth.Unlink(s.t.Context(), signedInAs(&pintle.User{ID: a.UserID}), a.Provider, a.ProviderAccountID)
		},
		"with its user": func(s *site, a *pintle.Account) error { return s.auth.DeleteUser(s.t.Context(), a.UserID) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, a := revokingSite(t, nil)
				time.Sleep(time.Hour)
				var renewed pintle.Account
				s.idp.Tamper(authtest.Tamper{Token: func(body map[string]any) {
					renewed.AccessToken, _ = body["access_token"].(string)
					renewed.RefreshToken, _ = body["refresh_token"].(string)
					if err := end(s, a); err != nil {
						t.Error(err)
					}
				}})
				if _, err := s.auth.Refresh(t.Context(), &pintle.Account{Provider: a.Provider, ProviderAccountID: a.ProviderAccountID}); err == nil {
					t.Error("the account is gone, and Refresh returns it")
				}
				s.idp.Tamper(authtest.Tamper{})
				if renewed.RefreshToken == "" {
					t.Fatal("there was no refresh")
				}
				if revoked := s.revokedTokens(); !slices.Contains(revoked, renewed.RefreshToken) || !slices.Contains(revoked, renewed.AccessToken) {
					t.Error("the new tokens were not revoked")
				}
			})
		})
	}
	t.Run("that stay linked", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			newer := pintle.Account{AccessToken: "newer access", RefreshToken: "newer refresh"}
			var s *site
			var a *pintle.Account
			var sent []string
			s, a = revokingSite(t, func(_ http.ResponseWriter, r *http.Request) {
				if sent = append(sent, r.FormValue("token")); len(sent) == 1 {
					stored := *a
					stored.AccessToken, stored.RefreshToken = newer.AccessToken, newer.RefreshToken
					if err := s.Store.UpdateAccount(t.Context(), &stored); err != nil {
						t.Error(err)
					}
				}
			})
			if err := s.auth.RevokeTokens(t.Context(), &pintle.Account{Provider: a.Provider, ProviderAccountID: a.ProviderAccountID}); err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(sent, newer.AccessToken) || !slices.Contains(sent, newer.RefreshToken) {
				t.Errorf("%d tokens were revoked, and not the newer ones", len(sent))
			}
			if stored, err := s.auth.Account(t.Context(), a.Provider, a.ProviderAccountID); err != nil || stored.AccessToken+stored.RefreshToken != "" {
				t.Errorf("the account is %v, %v, want one without tokens", stored, err)
			}
		})
	})
}

// revokedTokens are the tokens that the provider was asked to end.
func (s *site) revokedTokens() (tokens []string) {
	for _, r := range s.idp.Requests(authtest.RevocationEndpoint) {
		tokens = append(tokens, r.Form.Get("token"))
	}
	return tokens
}

// RPX-50
func TestTheLastSignOutRevokesTheTokens(t *testing.T) {
	leaving := func(t *testing.T, changes ...func(*site)) *site {
		return newSite(t, append([]func(*site){func(s *site) {
			acme := s.idp.OIDC("acme")
			acme.Authorization.Params = map[string]string{"scope": "openid profile email offline_access"}
			acme.RevokeAtSignOut, acme.StoreTokensAtSignIn = true, true
			s.Providers = []pintle.Provider{acme, s.idp.OIDC("plain")}
			s.Store, s.Session.Strategy, s.SealAccountTokens = memstore.New(), pintle.StrategyDatabase, true
		}}, changes...)...)
	}
	t.Run("of two sessions", func(t *testing.T) {
		s := leaving(t)
		first, second := s.browser(), s.browser()
		first.arrivesBy("acme")
		second.arrivesBy("acme")
		first.signOut()
		if n := len(s.revokedTokens()); n != 0 {
			t.Errorf("the first sign-out ended %d tokens", n)
		}
		second.is("Ada Lovelace")
		held := s.heldTokens()
		second.signOut()
		if got := s.revokedTokens(); !slices.Equal(got, []string{held.RefreshToken, held.AccessToken}) {
			t.Errorf("the last sign-out ended %q", got)
		}
		if left := s.heldTokens(); left.AccessToken != "" || left.RefreshToken != "" {
			t.Errorf("the store has %q and %q", left.AccessToken, left.RefreshToken)
		}
		first.arrivesBy("acme")
		first.is("Ada Lovelace")
	})
	t.Run("the session of an application", func(t *testing.T) {
		s := leaving(t, withApplicationsToo)
		b := s.browser()
		b.arrivesBy("acme")
		token := s.bearerOf(b.code(asking(nil)), nil)
		b.signOut()
		if n := len(s.revokedTokens()); n != 0 || (application{s}).who(token) != "Ada Lovelace" {
			t.Errorf("an application goes on with the account, and %d tokens were ended", n)
		}
	})
	t.Run("a session that was confirmed a moment ago", func(t *testing.T) {
		s := leaving(t, recording)
		b := s.browser()
		b.arrivesBy("acme")
		b.get(b.consent(b.asks("acme", confirm))).goesTo(s.url + "/confirm?for=keys")
		b.signOut()
		if n := len(s.revokedTokens()); n != 2 {
			t.Errorf("%d tokens were ended, want both", n)
		}
	})
	t.Run("an account that is another user's now", func(t *testing.T) {
		s := leaving(t)
		b, other := s.browser(), s.browser()
		b.arrivesBy("acme")
		b.arrivesBy("plain") // linked
		if err := s.auth.Unlink(t.Context(), b.held(), "acme", "1001"); err != nil {
			t.Fatal(err)
		}
		s.idp.SignInAs(authtest.Person{Subject: "1001", Name: "Grace Hopper", Email: "grace@example.com"})
		other.arrivesBy("acme")
		b.signOut()
		if n := len(s.revokedTokens()); n != 0 || s.heldTokens().RefreshToken == "" {
			t.Errorf("a sign-out has ended %d tokens of another user", n)
		}
		other.signOut()
		if n := len(s.revokedTokens()); n != 2 {
			t.Errorf("the user of the account has ended %d tokens, want both", n)
		}
	})
	t.Run("a session of another provider", func(t *testing.T) {
		s := leaving(t)
		b := s.browser()
		b.arrivesBy("plain")
		b.arrivesBy("acme") // linked
		b.signOut()
		if n := len(s.revokedTokens()); n != 0 {
			t.Errorf("%d tokens were ended", n)
		}
	})
	t.Run("a provider that fails", func(t *testing.T) {
		s := leaving(t, func(s *site) {
			s.net["idp.example"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == string(authtest.RevocationEndpoint) {
					w.WriteHeader(http.StatusInternalServerError)
					return
				}
				s.idp.ServeHTTP(w, r)
			})
		})
		b := s.browser()
		b.arrivesBy("acme")
		b.signOut()
		b.is("anonymous")
		if !strings.Contains(s.log.String(), "not revoked") || s.heldTokens().RefreshToken == "" {
			t.Errorf("the log has %s", s.log)
		}
	})
	t.Run("sessions that began otherwise", func(t *testing.T) {
		for name, tt := range map[string]struct {
			begin func(s *site, other *browser)
			last  bool
		}{
			"with another provider, and the same id there": {func(_ *site, other *browser) { other.arrivesBy("plain") }, true},
			"with another account at the provider": {func(s *site, other *browser) {
				s.idp.SignInAs(authtest.Person{Subject: "1002", Name: "Ada at work"})
				other.arrivesBy("acme")
			}, true},
			"with the account": {func(_ *site, other *browser) { other.arrivesBy("acme") }, false},
			"more than are looked at": {func(s *site, other *browser) {
				for i := range 101 {
					row := &pintle.StoredSession{
						Token: fmt.Sprint("token ", i), UserID: lastEvent[*pintle.SignInEvent](s, "signIn").User.ID,
						Created: time.Now(), Expires: time.Now().Add(time.Hour),
					}
					if err := s.Store.CreateSession(t.Context(), row); err != nil {
						t.Fatal(err)
					}
				}
			}, false},
		} {
			t.Run(name, func(t *testing.T) {
				s := leaving(t, func(s *site) { s.Providers[1].(*pintle.OAuth).BackChannelLogout = true }) // which keeps records
				b := s.browser()
				b.arrivesBy("acme")
				b.arrivesBy("plain") // linked
				s.idp.SignInAs(authtest.Person{Subject: "1002", Name: "Ada at work"})
				b.arrivesBy("acme") // linked
				b.signOut()
				s.idp.SignInAs(authtest.DefaultPeople()[0])
				b.arrivesBy("acme")
				before := len(s.revokedTokens())
				tt.begin(s, s.browser())
				b.signOut()
				if n := len(s.revokedTokens()) - before; (n > 0) != tt.last {
					t.Errorf("%d tokens were ended; it was the last: %v", n, tt.last)
				}
			})
		}
	})
	t.Run("a provider that does not ask for it", func(t *testing.T) {
		s := leaving(t, func(s *site) { s.Providers[1].(*pintle.OAuth).BackChannelLogout = true })
		b := s.browser()
		b.arrivesBy("plain")
		b.signOut()
		if n := len(s.revokedTokens()); n != 0 {
			t.Errorf("%d tokens were ended", n)
		}
	})
	t.Run("a store that does not say how the other session began", func(t *testing.T) {
		store := newEndStore()
		s := leaving(t, func(s *site) { s.Store = store })
		b, other := s.browser(), s.browser()
		b.arrivesBy("acme")
		other.arrivesBy("acme")
		store.after = func(operation string) {
			if operation == "Of" {
				store.fails["before Of"] = true
			}
		}
		b.signOut()
		if n := len(s.revokedTokens()); n != 0 || !strings.Contains(s.log.String(), "not revoked") {
			t.Errorf("%d tokens were ended; the log has %s", n, s.log)
		}
	})
	t.Run("a sign-in that stores other tokens meanwhile", func(t *testing.T) {
		s := leaving(t)
		b := s.browser()
		b.arrivesBy("acme")
		s.net["idp.example"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == string(authtest.RevocationEndpoint) {
				newer := s.heldTokens()
				newer.RefreshToken = "of a newer sign-in"
				if err := s.auth.UpdateAccount(t.Context(), newer); err != nil {
					t.Error(err)
				}
			}
			s.idp.ServeHTTP(w, r)
		})
		b.signOut()
		if held := s.heldTokens().RefreshToken; held != "of a newer sign-in" || strings.Contains(s.log.String(), "not revoked") {
			t.Errorf("the store has %q, and the log %s", held, s.log)
		}
	})
	t.Run("token sessions", func(t *testing.T) {
		idp := authtest.NewIdentityProvider(authtest.Options{})
		idp.Issuer = "https://idp.example"
		p := idp.OIDC("acme")
		p.RevokeAtSignOut = true
		_, err := pintle.New(pintle.Config{
			Secrets: []string{secret}, Getenv: func(string) string { return "" }, Providers: []pintle.Provider{p}, Store: memstore.New(),
			Session: pintle.SessionConfig{Strategy: pintle.StrategyJWT},
		})
		if err == nil || !strings.Contains(err.Error(), "StrategyDatabase") {
			t.Errorf("New returns %v", err)
		}
	})
}
