package pintleecho_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v5"
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/pintleecho"
)

// newEcho returns an application, as its main function and its tests make it.
func newEcho(auth *pintle.Auth) *echo.Echo {
	e := echo.New()
	e.Use(pintleecho.Load(auth))
	pintleecho.Mount(e, "/auth", auth)
	e.GET("/account", func(c *echo.Context) error {
		return c.String(http.StatusOK, "Hello, "+pintleecho.Session(c).User.Name)
	}, pintleecho.Require(auth))
	return e
}

// In the tests of an application one line signs a user in.
func TestSignedInUsersAreGreeted(t *testing.T) {
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}},
		Secrets:   []string{"the output of: openssl rand -base64 33"},
	})
	if err != nil {
		t.Fatal(err)
	}
	e := newEcho(auth)

	r := httptest.NewRequest(http.MethodGet, "http://localhost/account", nil)
	authtest.SignIn(t, auth, r, &pintle.User{Name: "Kim"})
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	if got := w.Body.String(); got != "Hello, Kim" {
		t.Errorf("Kim sees %q", got)
	}

	w = httptest.NewRecorder()
	e.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/account", nil))
	if w.Code != http.StatusUnauthorized {
		t.Errorf("an anonymous request gets status %d", w.Code)
	}
}

// SA-M3: the Load of one Auth ends the session that the Load of another has found,
// also where the request has no cookies any more.
func TestTheSessionOfAnotherAuthEndsAtLoad(t *testing.T) {
	made := func(cfg pintle.Config) *pintle.Auth {
		auth, err := pintle.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		return auth
	}
	customers, staff := made(pintle.Config{
		Providers: []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}},
		Secrets:   []string{"the output of: openssl rand -base64 33"},
	}), made(pintle.Config{
		Providers: []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}},
		Secrets:   []string{"another output of: openssl rand -base64 33"},
	})
	e := echo.New()
	e.Use(pintleecho.Load(customers), func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c *echo.Context) error {
			if s := pintleecho.Session(c); s == nil || s.User.Name != "Kim" {
				t.Errorf("the customers have the session %v", s)
			}
			c.Request().Header.Del("Cookie")
			return next(c)
		}
	}, pintleecho.Load(staff))
	e.GET("/", func(c *echo.Context) error {
		if s := pintleecho.Session(c); s != nil {
			t.Errorf("the staff have the session %v", s)
		}
		return c.NoContent(http.StatusOK)
	})

	r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
	authtest.SignIn(t, customers, r, &pintle.User{Name: "Kim"})
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Errorf("status %d", w.Code)
	}
}

// AC-191, AT-105
func TestARequestThatLoadAnswersReachesNoHandler(t *testing.T) {
	cfg := pintle.Config{
		Providers: []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}},
		Secrets:   []string{"the output of: openssl rand -base64 33"},
	}
	cfg.Callbacks.Act = func(context.Context, *pintle.ActingRequest) (*pintle.Session, error) {
		return nil, pintle.CodeActingEnded
	}
	auth, err := pintle.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	e := echo.New()
	e.Use(pintleecho.Load(auth))
	e.POST("/pay", func(*echo.Context) error {
		t.Error("the handler was called")
		return nil
	})
	r, w := httptest.NewRequest(http.MethodPost, "http://localhost/pay", nil), httptest.NewRecorder()
	r.Header.Set("Cookie", "pintle.acting=grant")
	e.ServeHTTP(w, r)
	if w.Code != http.StatusConflict {
		t.Errorf("the status is %d", w.Code)
	}
}
