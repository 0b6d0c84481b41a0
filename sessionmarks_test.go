package pintle_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

// fromScratch are token callbacks that do not return the claims they are given.
var fromScratch = map[string]func(context.Context, *pintle.TokenChange) (pintle.Claims, error){
	"made from scratch": func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
		return pintle.Claims{"sub": c.Claims["sub"], "name": c.Claims["name"], "role": "member"}, nil
	},
	"with marks of the host's": func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
		return pintle.Claims{"sub": c.Claims["sub"], "name": c.Claims["name"], "auth_time": time.Now().Unix(), "sid": "same for all"}, nil
	},
	"with what a client sent": func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
		if sent, ok := c.Update.(map[string]any); ok {
			maps.Copy(c.Claims, sent)
		}
		return c.Claims, nil
	},
	"emptied": func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
		delete(c.Claims, "auth_time")
		delete(c.Claims, "sid")
		return c.Claims, nil
	},
}

// The sign-in time and the id of a token session are not the callback's to
// change: the absolute lifetime and the sign-out depend on them.
func TestTokenCallbackCannotExtendASession(t *testing.T) {
	for name, callback := range fromScratch {
		t.Run("SA-M7 claims "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, func(s *site) {
					s.Session.AbsoluteMaxAge, s.Session.UpdateAge = time.Hour, -1
					s.Session.Revocation = &memstore.Revocations{}
					s.Callbacks.JWT = callback
				})
				b := s.browser()
				b.signIn("ada")
				signedIn := time.Now()
				for range 11 {
					time.Sleep(5 * time.Minute)
					r := b.postJSON("/auth/session", map[string]any{"csrfToken": b.csrf(), "data": map[string]any{"auth_time": time.Now().Unix(), "sid": "chosen"}})
					r.want(http.StatusOK)
					b.get("/auth/session")
					if who := b.who(); who != "Ada Lovelace" {
						t.Fatalf("after %v %s is signed in", time.Since(signedIn), who)
					}
				}
				held := b.cookie(sessionCookie)
				if claims := unsealed(t, sessionCookie, held); claims["auth_time"] != float64(signedIn.Unix()) || claims["sid"] == "chosen" || claims["sid"] == "same for all" || claims["sid"] == nil {
					t.Errorf("the token holds %v", claims)
				}
				time.Sleep(5 * time.Minute)
				b.plant(sessionCookie, held)
				if who := b.who(); who != "anonymous" {
					t.Errorf("after its absolute lifetime %s is signed in", who)
				}
			})
		})
		t.Run("SA-M7 sign-out with claims "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, func(s *site) {
					s.Session.UpdateAge = -1
					s.Session.Revocation = &memstore.Revocations{}
					s.Callbacks.JWT = callback
				})
				b, copied := s.browser(), s.browser()
				b.signIn("ada")
				copied.plant(sessionCookie, b.cookie(sessionCookie))
				time.Sleep(time.Minute)
				b.get("/auth/session")
				b.post("/auth/signout")
				if who := copied.who(); who != "anonymous" {
					t.Errorf("with a copy from before the sign-out %s is signed in", who)
				}
			})
		})
	}
}

// Server code cannot change them by way of a typed claim either.
func TestTypedClaimCannotExtendASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, func(s *site) { s.Session.AbsoluteMaxAge = time.Hour })
		began := time.Now()
		role := pintle.NewClaim[string]("role")
		s.net["localhost:3000"] = mountedAt(s, "/touch", s.auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			role.Set(pintle.SessionFrom(r.Context()), "editor")
			if _, err := s.auth.UpdateSession(w, r, map[string]any{"auth_time": time.Now().Unix()}); err != nil {
				t.Error(err)
			}
		})))
		b := s.browser()
		b.signIn("ada")
		time.Sleep(time.Minute)
		b.get("/touch").want(http.StatusOK)
		if claims := unsealed(t, sessionCookie, b.cookie(sessionCookie)); claims["auth_time"] != float64(began.Unix()) || claims["role"] != "editor" {
			t.Errorf("SA-M7 the token holds %v", claims)
		}
	})
}

// Auth.js writes neither mark. Its tokens, and those from before the marks were
// needed, get them at their next renewal.
func TestTokensWithoutMarks(t *testing.T) {
	for name, callback := range map[string]func(context.Context, *pintle.TokenChange) (pintle.Claims, error){
		"no callback":  nil,
		"a callback":   func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) { return c.Claims, nil },
		"from scratch": fromScratch["made from scratch"],
	} {
		t.Run("SA-M7 with "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, func(s *site) {
					s.Session.AbsoluteMaxAge = 3 * day
					s.Session.Revocation = &memstore.Revocations{}
					s.Callbacks.JWT = callback
				})
				issued := claimsFor("ada")
				first := sealed(t, sessionCookie, issued)
				b, copied := s.browser(), s.browser()
				b.plant(sessionCookie, first)
				copied.plant(sessionCookie, first)
				if r := b.get("/"); name != "from scratch" && len(r.header["Set-Cookie"]) > 0 {
					t.Errorf("a token without marks is renewed before that is due: %q", r.header["Set-Cookie"])
				}
				time.Sleep(25 * time.Hour)
				if who := b.who(); who != "Ada Lovelace" {
					t.Fatalf("%s is signed in", who)
				}
				claims := unsealed(t, sessionCookie, b.cookie(sessionCookie))
				began := issued["iat"].(int64)
				if claims["started"] != float64(began) || claims["auth_time"] != nil || claims["sid"] != issued["jti"] || claims["jti"] == issued["jti"] {
					t.Errorf("the renewed token holds %v", claims)
				}
				if claims["exp"].(float64) > float64(began)+(3*day).Seconds() {
					t.Errorf("the renewed token outlives the session: %v", claims)
				}
				b.post("/auth/signout")
				if who := copied.who(); who != "anonymous" {
					t.Errorf("with the token from before the renewal %s is signed in", who)
				}
			})
		})
	}
	t.Run("SA-M7 at the end of the absolute lifetime", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, func(s *site) { s.Session.AbsoluteMaxAge = time.Hour })
			b := s.browser()
			b.plantSession("ada")
			time.Sleep(time.Hour - time.Second)
			if who := b.who(); who != "Ada Lovelace" {
				t.Errorf("before it %s is signed in", who)
			}
			time.Sleep(time.Second)
			if who := b.who(); who != "anonymous" {
				t.Errorf("after it %s is signed in", who)
			}
		})
	})
	t.Run("SA-M7 when it is not known when the token was issued", func(t *testing.T) {
		s := newSite(t, func(s *site) { s.Session.AbsoluteMaxAge = time.Hour })
		claims := claimsFor("ada")
		delete(claims, "iat")
		b := s.browser()
		b.plant(sessionCookie, sealed(t, sessionCookie, claims))
		if who := b.who(); who != "anonymous" {
			t.Errorf("%s is signed in", who)
		}
	})
	// Auth.js writes another iat at every renewal, which must not outdate the end
	// of all sessions of a user.
	t.Run("SA-M7 after signing out everywhere", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t, func(s *site) { s.Session.Revocation = &memstore.Revocations{} })
			if err := s.auth.SignOutEverywhere(t.Context(), "user-ada"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			b := s.browser()
			b.plantSession("ada") // as Auth.js renews the token of before
			if who := b.who(); who != "anonymous" {
				t.Errorf("%s is signed in", who)
			}
		})
	})
}

// A callback may return one map for all users.
func TestTokenCallbackKeepsItsMap(t *testing.T) {
	shared := pintle.Claims{"sub": "guest", "name": "Guest"}
	s := newSite(t, func(s *site) {
		s.Session.Revocation = &memstore.Revocations{}
		s.Callbacks.JWT = func(context.Context, *pintle.TokenChange) (pintle.Claims, error) { return shared, nil }
	})
	b, other := s.browser(), s.browser()
	b.signIn("ada")
	other.signIn("grace")
	if len(shared) != 2 {
		t.Errorf("SA-M7 the callback's map is now %v", shared)
	}
	if a, c := unsealed(t, sessionCookie, b.cookie(sessionCookie)), unsealed(t, sessionCookie, other.cookie(sessionCookie)); a["sid"] == c["sid"] {
		t.Errorf("SA-M7 both sessions have the id %v", a["sid"])
	}
}

// beginsLater runs a test with tokens that say that their session begins later than
// they were issued: in years, or soon, so that the time comes while they are good.
func beginsLater(t *testing.T, test func(t *testing.T, s *site, b *browser), changes ...func(*site)) {
	t.Helper()
	for _, claim := range []string{"auth_time", "started"} {
		for name, ahead := range map[string]time.Duration{"in ten years": 3650 * day, "in three days": 3 * day} {
			for _, record := range []bool{false, true} {
				t.Run(fmt.Sprintf("SA-M7 %s %s, recorded %t", claim, name, record), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						s := newSite(t, append(changes, func(s *site) { s.Session.RecordAuthentication = record })...)
						showFacts(s)
						claims := claimsFor("ada")
						claims[claim], claims["auth_provider"] = time.Now().Add(ahead).Unix(), "acme"
						b := s.browser()
						b.plant(sessionCookie, sealed(t, sessionCookie, claims))
						test(t, s, b)
					})
				})
			}
		}
	}
}

// SA-M7: another server with the secret may write any time into a token. The absolute lifetime
// does not wait for it.
func TestATokenThatBeginsLaterIsLimited(t *testing.T) {
	beginsLater(t, func(t *testing.T, _ *site, b *browser) {
		first := b.cookie(sessionCookie)
		if got := b.recorded(); !got.Time.IsZero() {
			t.Errorf("the user signed in at %v, and the token was issued at %v", got.Time, time.Now())
		}
		time.Sleep(12 * time.Hour)
		b.get("/auth/session") // renews it
		for range 5 {
			time.Sleep(12 * time.Hour)
			if sub := b.sub(); sub != "" {
				t.Fatalf("the session of %s goes on after AbsoluteMaxAge", sub)
			}
			copied := b.site.browser()
			copied.plant(sessionCookie, first)
			if sub := copied.sub(); sub != "" {
				t.Fatalf("with the first token %s is signed in after AbsoluteMaxAge", sub)
			}
		}
		time.Sleep(12 * time.Hour)
		copied := b.site.browser()
		copied.plant(sessionCookie, first)
		if sub := copied.sub(); sub != "" {
			t.Errorf("with the first token %s is signed in when its time has come", sub)
		}
	}, func(s *site) { s.Session.AbsoluteMaxAge = day })
}

// SA-M7: the end of all sessions covers it.
func TestATokenThatBeginsLaterIsEnded(t *testing.T) {
	beginsLater(t, func(t *testing.T, s *site, b *browser) {
		if err := s.auth.SignOutEverywhere(t.Context(), "user-ada"); err != nil {
			t.Fatal(err)
		}
		if sub := b.sub(); sub != "" {
			t.Errorf("the session of %s goes on after SignOutEverywhere", sub)
		}
		time.Sleep(4 * day)
		if sub := b.sub(); sub != "" {
			t.Errorf("the session of %s goes on when its time has come", sub)
		}
	}, func(s *site) { s.Session.Revocation = &memstore.Revocations{} })
}

// The time at which a token was issued is no better if it has not come yet.
func TestATokenThatIsIssuedLaterIsNotLimitedByThat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, func(s *site) { s.Session.AbsoluteMaxAge = day })
		claims := claimsFor("ada")
		claims["iat"] = time.Now().Add(3 * day).Unix()
		claims["auth_time"] = time.Now().Add(2 * day).Unix()
		b := s.browser()
		b.plant(sessionCookie, sealed(t, sessionCookie, claims))
		for range 5 {
			if sub := b.sub(); sub != "" {
				t.Fatalf("SA-M7 %s is signed in, by a token that does not say when it was issued", sub)
			}
			time.Sleep(12 * time.Hour)
		}
	})
}

// The application has no limits yet, and its callback copies what a client sent.
func TestAClientDoesNotChooseWhenItsSessionBegan(t *testing.T) {
	s := newSite(t, func(s *site) { s.Callbacks.JWT = fromScratch["with what a client sent"] })
	b := s.browser()
	b.signIn("ada")
	later := map[string]any{"auth_time": time.Now().AddDate(10, 0, 0).Unix()}
	b.postJSON("/auth/session", map[string]any{"csrfToken": b.csrf(), "data": later}).want(http.StatusOK)
	s.again(t, func(c *pintle.Config) {
		c.Session.Revocation = &memstore.Revocations{}
		c.Callbacks.JWT = nil
	})
	if err := s.auth.SignOutEverywhere(t.Context(), "user-ada"); err != nil {
		t.Fatal(err)
	}
	if sub := b.sub(); sub != "" {
		t.Errorf("SA-M7 the session of %s goes on after SignOutEverywhere", sub)
	}
}

// A callback may copy the claims of an ID token, with the time at which the provider
// issued it. The session is not older or younger for that.
func TestTheTimeOfAnIDTokenIsNotThatOfTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := pendingSite(t, pintle.StrategyJWT, recording, func(s *site) {
			s.Session.AbsoluteMaxAge = day
			s.Callbacks.JWT = func(_ context.Context, c *pintle.TokenChange) (pintle.Claims, error) {
				if c.Trigger == pintle.TriggerSignIn {
					c.Claims["iat"] = float64(time.Now().Add(-time.Hour).Unix())
				}
				return c.Claims, nil
			}
		})
		if err := s.auth.SignOutEverywhere(t.Context(), "user-ada"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		began := time.Now()
		b := s.browser()
		b.isHeld(b.byPassword())
		b.completes(s.url, "user-ada", "otp")
		if claims := unsealed(t, sessionCookie, b.cookie(sessionCookie)); claims["exp"].(float64) > float64(began.Add(day).Unix()) {
			t.Errorf("the token is good until %v", claims["exp"])
		}
		user := &pintle.User{ID: "user-ada"}
		_, session, err := s.auth.StartSession(nil, httptest.NewRequest(http.MethodGet, s.url, nil), user, pintle.StartOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if at := session.Authentication.Time; !at.Equal(began) {
			t.Errorf("the session records %v, want %v", at, began)
		}
		for device, err := range s.auth.Devices(t.Context(), session) {
			if err != nil || !device.Created.Equal(began) {
				t.Errorf("the device is %+v, %v", device, err)
			}
		}
	})
}
