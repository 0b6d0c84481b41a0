package pintle_test

import (
	"context"
	"maps"
	"net/http"
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
