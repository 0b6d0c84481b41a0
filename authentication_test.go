package pintle_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
)

// recording makes a site record authentications.
func recording(s *site) { s.Session.RecordAuthentication = true }

// showFacts adds a page that shows what the session of the request records.
func showFacts(s *site) {
	s.net["localhost:3000"] = mountedAt(s, "/facts", s.auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var recorded pintle.Authentication
		if session := pintle.SessionFrom(r.Context()); session != nil {
			recorded = session.Authentication
		}
		_ = json.NewEncoder(w).Encode(recorded)
	})))
}

// recorded is what the session of a browser records, as the page /facts shows it.
func (b *browser) recorded() (a pintle.Authentication) {
	b.t.Helper()
	b.get("/facts").want(http.StatusOK).json(&a)
	return a
}

// wantRecorded compares what the session of a browser records. Without Started and
// Proofs it wants one in which everything was proven at Time. Sessions record whole
// seconds.
func (b *browser) wantRecorded(want pintle.Authentication) {
	b.t.Helper()
	if want.Started.IsZero() {
		want.Started = want.Time
	}
	if want.Proofs == nil && want.Methods != nil {
		want.Proofs = map[string]time.Time{}
		for _, method := range want.Methods {
			want.Proofs[method] = want.Time
		}
	}
	seconds := cmp.Comparer(func(a, b time.Time) bool { return a.Unix() == b.Unix() })
	if diff := cmp.Diff(want, b.recorded(), seconds); diff != "" {
		b.t.Errorf("the session records (-want +got):\n%s", diff)
	}
}

func TestASessionRecordsHowItsUserSignedIn(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				amr := []any{}
				for i := range 12 {
					amr = append(amr, fmt.Sprintf("m%d", i))
				}
				long := strings.Repeat("x", 33)
				synced := pintle.Passkey{CredentialID: "AAAA", DeviceType: "multiDevice"}
				bound := pintle.Passkey{CredentialID: "BBBB", DeviceType: "singleDevice", UserVerified: true}
				s, k := hijackSite(t, strategy, recording, func(s *site) {
					s.Session.Revocation = nil
					s.Providers[3] = &pintle.WebAuthn{Ceremony: anyCeremony{is: synced}}
					s.Providers = append(s.Providers, &pintle.WebAuthn{ID: "bound", DisableAutofill: true, Ceremony: anyCeremony{is: bound}})
				})
				showFacts(s)
				k.seedUser(t, pintle.User{ID: "user-ada", Name: "Ada Lovelace", Email: "ada@example.com"})

				withAMR := func(amr any) func(b *browser) {
					return func(b *browser) {
						s.idp.SignInAs(authtest.Person{Subject: "9", Name: "Emmy", Email: "emmy@example.com", Claims: map[string]any{"amr": amr}})
						b.signInWith("acme").goesTo(s.url)
					}
				}
				passkey := func(provider, id string) func(b *browser) {
					return func(b *browser) {
						b.get("/auth/webauthn-options/" + provider + "?email=" + provider + "@example.com").want(http.StatusOK)
						b.post("/auth/callback/"+provider, "action", "register", "data", `{"id":"`+id+`"}`).goesTo(s.url)
					}
				}
				for _, tt := range []struct {
					name    string
					signIn  func(b *browser)
					by      string
					methods []string
				}{
					{"a password", func(b *browser) { b.signIn("ada").goesTo(s.url) }, "credentials", []string{"pwd"}},
					{"a mail", func(b *browser) { b.get(b.mailTo("grace@example.com").URL).goesTo(s.url) }, "email", []string{"mail"}},
					{"a passkey that may be synchronised", passkey("passkey", "AAAA"), "passkey", []string{"pop", "user"}},
					{"a passkey of one device", passkey("bound", "BBBB"), "bound", []string{"pop", "user", "mfa"}},
					{"a provider without amr", func(b *browser) { b.signInWith("careful").goesTo(s.url) }, "careful", []string{"fed"}},
					{"a provider with amr", withAMR([]any{"pwd", "otp", "mfa"}), "acme", []string{"fed", "fed:pwd", "fed:otp", "fed:mfa"}},
					{"a provider with odd values in amr", withAMR([]any{"pwd", 7, "", long, nil, "otp"}), "acme", []string{"fed", "fed:pwd", "fed:otp"}},
					{"a provider with too many values in amr", withAMR(amr), "acme", []string{"fed", "fed:m0", "fed:m1", "fed:m2", "fed:m3", "fed:m4", "fed:m5", "fed:m6", "fed:m7"}},
					{"a provider with a text in amr", withAMR("pwd"), "acme", []string{"fed"}},
				} {
					b := s.browser()
					time.Sleep(time.Minute)
					began := time.Now()
					tt.signIn(b)
					want := pintle.Authentication{Time: began, Provider: tt.by, Methods: tt.methods}
					t.Log(tt.name)
					b.wantRecorded(want)
					time.Sleep(48 * time.Hour) // another token by then
					b.get("/")
					b.wantRecorded(want)
				}
				keys, err := k.Store.Passkey(t.Context(), "BBBB")
				if err != nil || keys.UserVerified {
					t.Errorf("what one ceremony verified is stored: %+v, %v", keys, err)
				}
			})
		})
	}
}

// Without the switch tokens are those of Auth.js.
func TestTokensOfAuthJSRecordNothing(t *testing.T) {
	s := newSite(t)
	showFacts(s)
	b := s.browser()
	b.signIn("ada")
	claims := unsealed(t, sessionCookie, b.cookie(sessionCookie))
	names := slices.Sorted(maps.Keys(claims))
	if want := []string{"email", "exp", "iat", "jti", "name", "sub"}; !slices.Equal(names, want) {
		t.Errorf("the token has the claims %q, want %q", names, want)
	}
	if got := b.recorded(); !cmp.Equal(got, pintle.Authentication{}) {
		t.Errorf("the session records %+v", got)
	}
}

// The time is known where something else needs it.
func TestTheTimeIsRecordedWhereSessionsAreLimited(t *testing.T) {
	for name, limit := range map[string]func(*site){
		"an absolute lifetime":  func(s *site) { s.Session.AbsoluteMaxAge = day },
		"a revocation list":     func(s *site) { s.Session.Revocation = &memstore.Revocations{} },
		"sessions in the store": func(s *site) { withRecordingStore(newRecordingStore(), pintle.StrategyDatabase)(s) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, limit)
			showFacts(s)
			b := s.browser()
			began := time.Now()
			b.signInWith("acme").goesTo(s.url)
			if got := b.recorded(); got.Time.Sub(began) < -time.Second || got.Time.After(time.Now()) || got.Provider != "" || got.Methods != nil {
				t.Errorf("the session records %+v", got)
			}
			if name == "sessions in the store" {
				return
			}
			for claim, value := range unsealed(t, sessionCookie, b.cookie(sessionCookie)) {
				if value == nil || claim == "started" || claim == "auth_provider" {
					t.Errorf("the token has the claim %s: %v", claim, value)
				}
			}
		})
	}
}

// forgery are claims that a client sends. If they were believed, the session would
// record that a passkey was used just now.
func forgery() map[string]any {
	return map[string]any{
		"auth_time": time.Now().Unix(), "started": time.Now().Unix(),
		"amr": []any{"hwk", "user"}, "auth_provider": "passkey",
		"proofs": map[string]any{"hwk": time.Now().Unix(), "user": time.Now().Unix(), "pwd": time.Now().Unix(), "fed": time.Now().Unix()},
	}
}

// AT-5, AT-78, AC-14: what a client posts never becomes what a session records, whatever the
// callbacks of the host copy.
func TestNoClientChangesWhatASessionRecords(t *testing.T) {
	for name, callback := range fromScratch {
		t.Run("claims "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, recording, func(s *site) {
					s.Session.UpdateAge = -1
					s.Callbacks.JWT = callback
					s.Callbacks.Session = func(_ context.Context, v *pintle.SessionView) (any, error) {
						v.Session.Authentication = pintle.Authentication{Time: time.Now(), Provider: "passkey", Methods: []string{"hwk"}}
						return v.Session, nil
					}
					s.Session.Describe = func(*http.Request) map[string]any { return forgery() }
				})
				showFacts(s)
				b := s.browser()
				want := pintle.Authentication{Time: time.Now(), Provider: "credentials", Methods: []string{"pwd"}}
				b.signIn("ada")
				b.wantRecorded(want)
				time.Sleep(time.Hour)
				b.postJSON("/auth/session", map[string]any{"csrfToken": b.csrf(), "data": forgery()}).want(http.StatusOK)
				b.wantRecorded(want)
			})
		})
	}
	t.Run("sessions in the store", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, withRecordingStore(newRecordingStore(), pintle.StrategyDatabase), recording, func(s *site) {
				s.Session.Describe = func(*http.Request) map[string]any { return forgery() }
			})
			showFacts(s)
			b := s.browser()
			want := pintle.Authentication{Time: time.Now(), Provider: "acme", Methods: []string{"fed"}}
			b.signInWith("acme").goesTo(s.url)
			b.wantRecorded(want)
			time.Sleep(time.Hour)
			b.postJSON("/auth/session", map[string]any{"csrfToken": b.csrf(), "data": forgery()}).want(http.StatusOK)
			b.wantRecorded(want)
		})
	})
}

// A client may post its forgery before the application records anything.
func TestAForgeryFromBeforeTheSwitchCountsAsNothing(t *testing.T) {
	copying := fromScratch["with what a client sent"]
	for name, forge := range map[string]func(s *site, b *browser){
		"posted": func(s *site, b *browser) {
			b.postJSON("/auth/session", map[string]any{"csrfToken": b.csrf(), "data": forgery()}).want(http.StatusOK)
		},
		"described": func(*site, *browser) {},
	} {
		for _, strategy := range strategies {
			t.Run(name+" "+string(strategy), func(t *testing.T) {
				s := newSite(t, withRecordingStore(newRecordingStore(), strategy), func(s *site) {
					s.Callbacks.JWT = copying
					if name == "described" {
						s.Session.Describe = func(*http.Request) map[string]any { return forgery() }
					}
				})
				b := s.browser()
				b.signInWith("acme").goesTo(s.url)
				forge(s, b)
				recording(s)
				auth, err := pintle.New(s.Config)
				if err != nil {
					t.Fatal(err)
				}
				s.serve(auth)
				showFacts(s)
				if got := b.recorded(); got.Provider != "" || got.Methods != nil || strategy == pintle.StrategyJWT && !got.Time.IsZero() {
					t.Errorf("the session records %+v", got)
				}
			})
		}
	}
}

func TestWithoutTheSwitchOnlyTheTimeIsKnown(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s := newSite(t, withRecordingStore(newRecordingStore(), strategy), recording)
			b := s.browser()
			b.signInWith("acme").goesTo(s.url)
			s.Session.RecordAuthentication = false
			auth, err := pintle.New(s.Config)
			if err != nil {
				t.Fatal(err)
			}
			s.serve(auth)
			showFacts(s)
			if got := b.recorded(); got.Provider != "" || got.Time.IsZero() != (strategy == pintle.StrategyJWT) {
				t.Errorf("the session records %+v", got)
			}
		})
	}
}

// Other servers write tokens with the same secret.
func TestOddClaimsCountAsNotRecorded(t *testing.T) {
	good := map[string]any{"auth_time": time.Now().Unix(), "auth_provider": "acme", "amr": []string{"pwd"}}
	many := slices.Repeat([]string{"x"}, 17)
	for _, tt := range []struct {
		name   string
		change map[string]any
		want   pintle.Authentication // without its time
		timed  bool
	}{
		{"good", nil, pintle.Authentication{Provider: "acme", Methods: []string{"pwd"}}, true},
		{"no methods", map[string]any{"amr": nil}, pintle.Authentication{Provider: "acme"}, true},
		{"methods that are a text", map[string]any{"amr": "pwd"}, pintle.Authentication{Provider: "acme"}, true},
		{"a method that is a number", map[string]any{"amr": []any{"pwd", 1}}, pintle.Authentication{Provider: "acme"}, true},
		{"a method that is too long", map[string]any{"amr": []any{strings.Repeat("x", 65)}}, pintle.Authentication{Provider: "acme"}, true},
		{"too many methods", map[string]any{"amr": many}, pintle.Authentication{Provider: "acme"}, true},
		{"a provider that is a number", map[string]any{"auth_provider": 1}, pintle.Authentication{}, false},
		{"a provider that is too long", map[string]any{"auth_provider": strings.Repeat("x", 257)}, pintle.Authentication{}, false},
		{"no provider", map[string]any{"auth_provider": nil}, pintle.Authentication{}, false},
		{"a time that is a list", map[string]any{"auth_time": []int{1}}, pintle.Authentication{}, false},
		{"a time to come", map[string]any{"auth_time": time.Now().Add(time.Hour).Unix()}, pintle.Authentication{}, false},
		{"a time that is negative", map[string]any{"auth_time": -1}, pintle.Authentication{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, recording)
			showFacts(s)
			claims := claimsFor("ada")
			maps.Copy(claims, good)
			maps.Copy(claims, tt.change)
			b := s.browser()
			b.plant(sessionCookie, sealed(t, sessionCookie, claims))
			got := b.recorded()
			if got.Time.IsZero() == tt.timed {
				t.Errorf("the time is %v", got.Time)
			}
			got.Time, got.Started, got.Proofs = time.Time{}, time.Time{}, nil
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("the session records (-want +got):\n%s", diff)
			}
		})
	}
}

// A copied session and an account of the attacker's own prove nothing about the user.
func TestALinkedAccountDoesNotMakeASessionFresh(t *testing.T) {
	for _, strategy := range strategies {
		for _, with := range []string{"an account", "a passkey", "a passkey whose account is stored"} {
			t.Run(string(strategy)+" "+with, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var attempt *pintle.SignInAttempt
					s, k := hijackSite(t, strategy, recording, func(s *site) {
						s.Callbacks.SignIn = func(_ context.Context, a *pintle.SignInAttempt) (string, error) {
							attempt = a
							return "", nil
						}
					})
					showFacts(s)
					b := s.browser()
					want := pintle.Authentication{Time: time.Now(), Provider: "acme", Methods: []string{"fed"}}
					b.signInWith("acme").goesTo(s.url)
					time.Sleep(time.Hour)
					if with == "an account" {
						b.signInWith("careful").goesTo(s.url)
					} else {
						if with != "a passkey" {
							k.seedAccount(t, &pintle.User{ID: b.sub()}, "passkey", "AAAA")
						}
						b.get("/auth/webauthn-options/passkey?action=register").want(http.StatusOK)
						b.post("/auth/callback/passkey", "action", "register", "data", `{"id":"AAAA"}`).goesTo(s.url)
					}
					if attempt.LinkTo == nil || want.Time.Sub(attempt.SignedInAt) >= time.Second || attempt.SignedInAt.After(want.Time) {
						t.Errorf("SignInAttempt.SignedInAt is %v, want %v or less than a second before", attempt.SignedInAt, want.Time)
					}
					if got := attempt.Authentication; !got.Time.Equal(attempt.SignedInAt) || got.Provider != "acme" || !slices.Equal(got.Methods, want.Methods) {
						t.Errorf("Callbacks.SignIn is told of %+v, want the proofs of the session", got)
					}
					b.wantRecorded(want)
					time.Sleep(time.Hour)
					again := pintle.Authentication{Time: time.Now(), Provider: "careful", Methods: []string{"fed"}}
					if with != "an account" {
						again.Provider = "acme"
					}
					b.signInWith(again.Provider).goesTo(s.url)
					b.wantRecorded(again)
				})
			})
		}
	}
}

// A token that does not record its sign-in still ends: its session began when it was
// issued, which is no sign-in.
func TestALinkKeepsTheBeginOfASession(t *testing.T) {
	for _, record := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) { linkToUnrecorded(t, record) })
	}
}

func linkToUnrecorded(t *testing.T, record bool) {
	t.Helper()
	s, k := hijackSite(t, pintle.StrategyJWT, func(s *site) {
		s.Session.AbsoluteMaxAge, s.Session.UpdateAge = 3*time.Hour, -1
		s.Session.RecordAuthentication = record
	})
	showFacts(s)
	user := k.seedUser(t, pintle.User{Name: "Ada Lovelace", Email: "ada@example.com", EmailVerified: time.Now()})
	claims := claimsFor("ada")
	claims["sub"] = user.ID
	b := s.browser()
	b.plant(sessionCookie, sealed(t, sessionCookie, claims))
	time.Sleep(2 * time.Hour)
	b.signInWith("careful").goesTo(s.url)
	if got := b.recorded(); !got.Time.IsZero() {
		t.Errorf("the session records %v", got.Time)
	}
	if got, has := unsealed(t, sessionCookie, b.cookie(sessionCookie))["auth_provider"]; has {
		t.Errorf("the token has the provider %v", got)
	}
	time.Sleep(2 * time.Hour)
	if who := b.who(); who != "anonymous" {
		t.Errorf("after its absolute lifetime %s is signed in", who)
	}
}

// A user who signs in again gets a session that records it, and the one before ends.
func TestASignInAgainIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, withRecordingStore(newRecordingStore(), pintle.StrategyDatabase), recording)
		showFacts(s)
		b, copied := s.browser(), s.browser()
		b.signInWith("acme").goesTo(s.url)
		copied.plant(sessionCookie, b.cookie(sessionCookie))
		time.Sleep(time.Hour)
		again := pintle.Authentication{Time: time.Now(), Provider: "acme", Methods: []string{"fed"}}
		b.signInWith("acme").goesTo(s.url)
		b.wantRecorded(again)
		if got := copied.recorded(); !got.Time.IsZero() {
			t.Errorf("a copy of the session from before records %+v", got)
		}
	})
}

// Other code may put the claims of a session's begin into a token. None of them becomes a
// begin, and where both are there, the earlier one counts.
func TestOnlyASignInSaysWhenASessionBegan(t *testing.T) {
	t.Run("a callback", func(t *testing.T) {
		s := newSite(t, func(s *site) {
			s.Session.AbsoluteMaxAge = day
			s.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
				c.Claims["started"], c.Claims["auth_provider"] = time.Now().Add(time.Hour).Unix(), "passkey"
				return c.Claims, nil
			}
		})
		b := s.browser()
		b.signIn("ada").goesTo(s.url)
		claims := unsealed(t, sessionCookie, b.cookie(sessionCookie))
		for _, name := range []string{"started", "auth_provider"} {
			if value, has := claims[name]; has {
				t.Errorf("the token has the claim %s: %v", name, value)
			}
		}
	})
	t.Run("a token with both times", func(t *testing.T) {
		s := newSite(t, func(s *site) { s.Session.AbsoluteMaxAge = time.Hour })
		claims := claimsFor("ada")
		claims["auth_time"], claims["started"] = time.Now().Add(-2*time.Hour).Unix(), time.Now().Unix()
		b := s.browser()
		b.plant(sessionCookie, sealed(t, sessionCookie, claims))
		if who := b.who(); who != "anonymous" {
			t.Errorf("after its absolute lifetime %s is signed in", who)
		}
	})
}

// No callback changes what a session records, also not in place.
func TestACallbackThatWritesIntoTheMethodsChangesNothing(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s := newSite(t, withRecordingStore(newRecordingStore(), strategy), recording, func(s *site) {
				s.Callbacks.Session = func(_ context.Context, v *pintle.SessionView) (any, error) {
					for i := range v.Session.Authentication.Methods {
						v.Session.Authentication.Methods[i] = "mfa"
						v.Session.Authentication.Proofs["mfa"] = time.Now()
					}
					return v.Session, nil
				}
			})
			showFacts(s)
			b := s.browser()
			b.signInWith("acme").goesTo(s.url)
			if got := b.recorded(); !slices.Equal(got.Methods, []string{"fed"}) || len(got.Proofs) != 1 {
				t.Errorf("the session records %v at %v", got.Methods, got.Proofs)
			}
		})
	}
}
