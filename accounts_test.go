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
	"github.com/pintleauth/pintle/store/memstore"
)

// A copy of the database has no usable tokens of the providers.
func TestTokensAreSealedBeforeTheyAreStored(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase), func(s *site) {
		acme := s.idp.OIDC("acme")
		acme.Authorization.Params = map[string]string{"scope": "openid profile email offline_access"}
		s.Providers = []pintle.Provider{acme}
		s.SealAccountTokens = true
	})
	s.browser().signInWith("acme").goesTo(s.url)
	plain := lastEvent[*pintle.SignInEvent](s, "signIn").Account
	stored, err := k.Store.Account(t.Context(), "acme", "1001")
	if err != nil {
		t.Fatal(err)
	}
	row := fmt.Sprintf("%s %s %s %s %v", stored.AccessToken, stored.RefreshToken, stored.IDToken, stored.Scope, stored.Extra)
	for name, secret := range map[string]string{"access token": plain.AccessToken, "refresh token": plain.RefreshToken, "ID token": plain.IDToken} {
		if secret == "" || strings.Contains(row, secret) {
			t.Errorf("the row holds the %s %q: %s", name, secret, row)
		}
	}
	if stored.Scope != plain.Scope || stored.ExpiresAt != plain.ExpiresAt || stored.TokenType != "bearer" {
		t.Errorf("what is no secret changed: %+v", stored)
	}
	if e := lastEvent[*pintle.LinkAccountEvent](s, "linkAccount"); e.Account.AccessToken != plain.AccessToken {
		t.Error("the event has sealed tokens")
	}
	opened, err := s.auth.Account(t.Context(), "acme", "1001")
	if err != nil || opened.AccessToken != plain.AccessToken || opened.RefreshToken != plain.RefreshToken || opened.IDToken != plain.IDToken {
		t.Errorf("opened is %+v (%v)", opened, err)
	}

	// ASVS-13.3.4: a new secret seals, earlier ones still open, a removed one
	// does not.
	with := func(secrets ...string) *pintle.Auth {
		c := s.Config
		c.Secrets = secrets
		auth, err := pintle.New(c)
		if err != nil {
			t.Fatal(err)
		}
		return auth
	}
	const next = "the next secret, of more than 32 characters"
	if opened, err := with(next, secret).Account(t.Context(), "acme", "1001"); err != nil || opened.AccessToken != plain.AccessToken {
		t.Errorf("after a new secret opened is %v (%v)", opened, err)
	}
	if opened, err := with(next).Account(t.Context(), "acme", "1001"); !errors.Is(err, pintle.CodeConfiguration) || !strings.Contains(err.Error(), "Config.Secrets") {
		t.Errorf("without its secret opened is %v (%v)", opened, err)
	}
}

// A sealed token opens in the account and the column it was sealed for only.
func TestSealedTokensCannotBeMoved(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase), func(s *site) { s.SealAccountTokens = true })
	s.browser().signInWith("acme").goesTo(s.url)
	victim, err := k.Store.Account(t.Context(), "acme", "1001")
	if err != nil {
		t.Fatal(err)
	}
	mallory := k.seedUser(t, people["grace"].user)
	for _, tt := range []struct {
		name string
		row  pintle.Account
		ok   bool
	}{
		{"SA-L16 to another account of the provider", pintle.Account{Provider: "acme", ProviderAccountID: "666", AccessToken: victim.AccessToken}, false},
		{"SA-L16 to another provider", pintle.Account{Provider: "hub", ProviderAccountID: "1001", AccessToken: victim.AccessToken}, false},
		{"SA-L16 to an id that reads alike", pintle.Account{Provider: "acme 4:1001", ProviderAccountID: "", AccessToken: victim.AccessToken}, false},
		{"SA-L16 to another column", pintle.Account{Provider: "acme", ProviderAccountID: "1001", RefreshToken: victim.AccessToken}, false},
		{"to where it was", pintle.Account{Provider: "acme", ProviderAccountID: "1001", AccessToken: victim.AccessToken}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			row := tt.row
			row.UserID, row.Type = mallory.ID, "oidc"
			store := memstore.New()
			if _, err := store.CreateUser(t.Context(), mallory); err != nil {
				t.Fatal(err)
			}
			if err := store.LinkAccount(t.Context(), &row); err != nil {
				t.Fatal(err)
			}
			cfg := s.Config
			cfg.Store = store
			auth, err := pintle.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			opened, err := auth.Account(t.Context(), row.Provider, row.ProviderAccountID)
			if (err == nil) != tt.ok || err != nil && (!errors.Is(err, pintle.CodeConfiguration) || opened != nil) {
				t.Errorf("Account returns %v, %v", opened, err)
			}
		})
	}
}

// Two equal tokens do not look equal, and what was stored before sealing was
// turned on is read as it is.
func TestSealingCanBeTurnedOnLater(t *testing.T) {
	k := newRecordingStore()
	plain := newSite(t, withRecordingStore(k, pintle.StrategyDatabase))
	plain.browser().signInWith("acme").goesTo(plain.url)
	before := lastEvent[*pintle.SignInEvent](plain, "signIn").Account

	later := newSite(t, withRecordingStore(k, pintle.StrategyDatabase), func(s *site) { s.SealAccountTokens = true })
	if got, err := later.auth.Account(t.Context(), "acme", "1001"); err != nil || got.AccessToken != before.AccessToken {
		t.Errorf("the account of before is %v (%v)", got, err)
	}
	rows := map[string]bool{}
	for range 3 {
		if err := later.auth.UpdateAccount(t.Context(), before); err != nil {
			t.Fatal(err)
		}
		row, err := k.Store.Account(t.Context(), "acme", "1001")
		if err != nil || row.AccessToken == before.AccessToken {
			t.Fatalf("the row is %v (%v)", row, err)
		}
		rows[row.AccessToken] = true
	}
	if len(rows) != 3 {
		t.Error("equal tokens look equal in the database")
	}
	if got, err := plain.auth.Account(t.Context(), "acme", "1001"); err != nil || got.AccessToken != before.AccessToken {
		t.Errorf("with sealing turned off again the account is %v (%v)", got, err)
	}
}

// A sign-in of a known person leaves the stored tokens as they are (Q27), unless
// the host takes them.
func TestTheHostTakesTheTokensOfEverySignIn(t *testing.T) {
	k := newRecordingStore()
	take := false
	var s *site
	s = newSite(t, withRecordingStore(k, pintle.StrategyDatabase), func(s2 *site) {
		acme := s2.idp.OIDC("acme")
		acme.Authorization.Params = map[string]string{"scope": "openid profile email offline_access"}
		s2.Providers = []pintle.Provider{acme, s2.mailProvider()}
		remember := s2.Events.SignIn
		s2.Events.SignIn = func(ctx context.Context, e *pintle.SignInEvent) error {
			if take {
				if err := s.auth.UpdateAccount(ctx, e.Account); err != nil {
					t.Errorf("UpdateAccount: %v", err)
				}
			}
			return remember(ctx, e)
		}
	})
	stored := func() *pintle.Account {
		a, err := s.auth.Account(t.Context(), "acme", "1001")
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	s.browser().signInWith("acme").goesTo(s.url)
	first := stored()
	s.browser().signInWith("acme").goesTo(s.url)
	if stored().AccessToken != first.AccessToken {
		t.Error("Q27 the tokens changed")
	}
	take = true
	s.browser().signInWith("acme").goesTo(s.url)
	second := stored()
	if second.AccessToken == first.AccessToken || second.AccessToken != lastEvent[*pintle.SignInEvent](s, "signIn").Account.AccessToken || second.UserID != first.UserID {
		t.Errorf("Q27 the tokens are %+v", second)
	}
	// Many providers send a refresh token the first time only.
	s.idp.Break(authtest.RefreshTokenMissing)
	s.browser().signInWith("acme").goesTo(s.url)
	if third := stored(); third.AccessToken == second.AccessToken || third.RefreshToken != second.RefreshToken {
		t.Errorf("without a refresh token the tokens are %+v", third)
	}
	b := s.browser()
	b.get(b.mailTo("mail-only@example.com").URL).goesTo(s.url) // has no tokens, and no fault
	if err := s.auth.UpdateAccount(t.Context(), &pintle.Account{Provider: "acme", ProviderAccountID: "unknown", AccessToken: "x"}); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("an unknown account: %v", err)
	}
}

// A logged account shows no token: SH-13.
func TestAnAccountKeepsItsTokensToItself(t *testing.T) {
	s := newSite(t, func(s *site) { s.Store, s.Session.Strategy = memstore.New(), pintle.StrategyJWT })
	s.browser().signInWith("acme").goesTo(s.url)
	a := lastEvent[*pintle.SignInEvent](s, "signIn").Account
	s.log.logger().Info("an account", "account", a, "pointed", *a)
	if log := s.log.String(); strings.Contains(log, a.AccessToken) || strings.Contains(log, a.IDToken) {
		t.Error("SH-13 the log holds the tokens")
	}
}

// Every device of the user is signed out, and no other user's: ASVS-7.4.5,
// SH-86.
func TestAPersonIsSignedOutEverywhere(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			k := newRecordingStore()
			s := newSite(t, withRecordingStore(k, strategy), func(s *site) { s.Session.Revocation = &memstore.Revocations{} })
			grace := k.seedUser(t, people["grace"].user)
			s.idp.SignInAs(adaElsewhere)
			devices := []*browser{s.browser(), s.browser(), s.browser()}
			for _, b := range devices {
				b.signInWith("acme").goesTo(s.url)
			}
			other := s.browser()
			other.signInAs(k, grace, strategy)

			ada := k.owner(t, "acme", adaElsewhere.Subject)
			if err := s.auth.SignOutEverywhere(t.Context(), ada.ID); err != nil {
				t.Fatal(err)
			}
			for _, b := range devices {
				if b.who() != "anonymous" || b.session() != nil {
					t.Error("SH-86 a device is still signed in")
				}
			}
			if who := other.who(); who != grace.Name {
				t.Errorf("the session of the other user is of %s", who)
			}
		})
	}
}

// SH-16, ASVS-7.4.2: a user who is removed is signed in nowhere.
func TestAUserWhoIsRemovedIsSignedInNowhere(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newRecordingStore()
				s := newSite(t, withRecordingStore(k, strategy), func(s *site) { s.Session.Revocation = &memstore.Revocations{} })
				s.idp.SignInAs(adaElsewhere)
				b := s.browser()
				b.signInWith("acme").goesTo(s.url)
				ada := k.owner(t, "acme", adaElsewhere.Subject)
				if err := s.auth.DeleteUser(t.Context(), ada.ID); err != nil {
					t.Fatal(err)
				}
				if b.who() != "anonymous" || b.session() != nil {
					t.Error("SH-16 the user is still signed in")
				}
				if k.owner(t, "acme", adaElsewhere.Subject) != nil || k.byEmail(t, ada.Email) != nil {
					t.Error("something of the user is left")
				}
				if err := s.auth.DeleteUser(t.Context(), ada.ID); !errors.Is(err, pintle.ErrNotFound) {
					t.Errorf("a second removal is %v", err)
				}
				time.Sleep(time.Second) // tokens count in seconds
				again := s.browser()
				again.signInWith("acme").goesTo(s.url)
				if again.session() == nil {
					t.Error("the person cannot come back")
				}
			})
		})
	}
}

// Tokens go first: a failure between the two leaves a user who can sign in again
// and not one who is signed in without existing.
func TestRemovingAUserFailsClosed(t *testing.T) {
	k := newRecordingStore()
	revocations := &failingRevocations{}
	s := newSite(t, withRecordingStore(k, pintle.StrategyJWT), func(s *site) { s.Session.Revocation = revocations })
	ada := k.seedUser(t, people["ada"].user)
	revocations.fails = true
	if err := s.auth.DeleteUser(t.Context(), ada.ID); !errors.Is(err, pintle.CodeStore) || !errors.Is(err, errBroken) {
		t.Errorf("the error is %v", err)
	}
	k.wantCalls(t)
	if err := s.auth.SignOutEverywhere(t.Context(), ada.ID); !errors.Is(err, pintle.CodeStore) || !errors.Is(err, errBroken) {
		t.Errorf("the error is %v", err)
	}
	revocations.fails = false
	k.fail("deleteUser")
	if err := s.auth.DeleteUser(t.Context(), ada.ID); !errors.Is(err, pintle.CodeStore) {
		t.Errorf("the error is %v", err)
	}
	if ended, err := revocations.Revoked(t.Context(), pintle.TokenSession{UserID: ada.ID, ID: "", SignedIn: time.Time{}}); !ended || err != nil {
		t.Error("the sessions were not ended first")
	}
}

// failingRevocations fails on demand.
type failingRevocations struct {
	memstore.Revocations
	fails bool
}

func (r *failingRevocations) RevokeUser(ctx context.Context, userID string, until time.Time) error {
	if r.fails {
		return errBroken
	}
	return r.Revocations.RevokeUser(ctx, userID, until)
}

// The error of an unsupported operation names what the configuration lacks.
func TestWhatAStoreCannotDoIsSaid(t *testing.T) {
	k := newRecordingStore()
	plain := newSite(t, with(plainRecordingStore{plain: k.recordingStore}, k.callLog, pintle.StrategyDatabase)).auth
	tokens := newSite(t, withRecordingStore(newRecordingStore(), pintle.StrategyJWT)).auth
	nothing := newSite(t).auth
	tenants := pintle.NewFunc(func(*http.Request) string { return "" }, func(context.Context, string) (pintle.Config, error) { return pintle.Config{}, nil })
	ctx := t.Context()
	account := func(a *pintle.Auth) error { _, err := a.Account(ctx, "acme", "1"); return err }
	update := func(a *pintle.Auth) error { return a.UpdateAccount(ctx, &pintle.Account{AccessToken: "x"}) }
	everywhere := func(a *pintle.Auth) error { return a.SignOutEverywhere(ctx, "1") }
	remove := func(a *pintle.Auth) error { return a.DeleteUser(ctx, "1") }
	tests := []struct {
		name string
		do   func(*pintle.Auth) error
		auth *pintle.Auth
		code pintle.Code
		want string
	}{
		{"Account", account, plain, "MissingAdapterMethods", "Features.Accounts"},
		{"Account", account, nothing, "Configuration", "Config.Store"},
		{"Account", account, tenants, "Configuration", "New"},
		{"UpdateAccount", update, plain, "MissingAdapterMethods", "Features.Accounts"},
		{"UpdateAccount", update, nothing, "Configuration", "Config.Store"},
		{"SignOutEverywhere", everywhere, plain, "MissingAdapterMethods", "Features.SessionList"},
		{"SignOutEverywhere", everywhere, tokens, "Configuration", "set Config.Session.Revocation, for example to sqlstore.NewRevocations"},
		{"SignOutEverywhere", everywhere, tenants, "Configuration", "New"},
		{"DeleteUser", remove, plain, "MissingAdapterMethods", "Features.DeleteUser"},
		{"DeleteUser", remove, nothing, "Configuration", "Config.Store"},
		{"DeleteUser", remove, tenants, "Configuration", "New"},
	}
	for _, tt := range tests {
		err := tt.do(tt.auth)
		if !errors.Is(err, tt.code) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), tt.name) {
			t.Errorf("%s: the error is %v, want %s about %s", tt.name, err, tt.code, tt.want)
		}
	}
	if _, err := tokens.Account(ctx, "acme", "unknown"); !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("an unknown account is %v", err)
	}
}

// Providers send session_state as they like, and the specification lets it be any
// JSON value.
func TestASessionStateThatIsNoTextIsShownAndStored(t *testing.T) {
	k := newRecordingStore()
	s := newSite(t, withRecordingStore(k, pintle.StrategyDatabase), func(s *site) {
		s.Providers = []pintle.Provider{s.idp.OIDC("acme")}
		s.idp.Tamper(authtest.Tamper{Token: func(body map[string]any) {
			body["session_state"] = map[string]any{"hash": "x", "at": []any{1, true, nil}}
		}})
	})
	s.browser().signInWith("acme").goesTo(s.url)
	const want = `{"at":[1,true,null],"hash":"x"}`
	event := lastEvent[*pintle.LinkAccountEvent](s, "linkAccount")
	if got := mustJSON(t, event.Account.SessionState); got != want {
		t.Errorf("the event has the state %s, want %s", got, want)
	}
	if got := mustJSON(t, event.Account); !strings.Contains(got, `"session_state":`+want) {
		t.Errorf("the JSON of the account is %s", got)
	}
	stored, err := s.auth.Account(t.Context(), "acme", "1001")
	if err != nil {
		t.Fatal(err)
	}
	if got := mustJSON(t, stored.SessionState); got != want {
		t.Errorf("stored is the state %s, want %s", got, want)
	}
	if stored.ID == "" {
		t.Error("the stored account has no id")
	}
}
