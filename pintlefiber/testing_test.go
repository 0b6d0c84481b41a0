package pintlefiber_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gofiber/fiber/v3"
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/pintlefiber"
)

// newApp returns an application, as its main function and its tests make it.
func newApp(auth *pintle.Auth) *fiber.App {
	app := fiber.New()
	app.Use(pintlefiber.Load(auth))
	pintlefiber.Mount(app, "/auth", auth)
	app.Get("/account", pintlefiber.Require(auth), func(c fiber.Ctx) error {
		return c.SendString("Hello, " + pintlefiber.Session(c).User.Name)
	})
	return app
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
	app := newApp(auth)

	r := httptest.NewRequest(http.MethodGet, "http://localhost/account", nil)
	authtest.SignIn(t, auth, r, &pintle.User{Name: "Kim"})
	resp, err := app.Test(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, err := io.ReadAll(resp.Body); string(got) != "Hello, Kim" {
		t.Errorf("Kim sees %q, %v", got, err)
	}

	resp, err = app.Test(httptest.NewRequest(http.MethodGet, "http://localhost/account", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("an anonymous request gets %s", resp.Status)
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
	app := fiber.New()
	app.Use(pintlefiber.Load(customers), func(c fiber.Ctx) error {
		if s := pintlefiber.Session(c); s == nil || s.User.Name != "Kim" {
			t.Errorf("the customers have the session %v", s)
		}
		c.Request().Header.Del(fiber.HeaderCookie)
		return c.Next()
	}, pintlefiber.Load(staff))
	app.Get("/", func(c fiber.Ctx) error {
		if s := pintlefiber.Session(c); s != nil {
			t.Errorf("the staff have the session %v", s)
		}
		return nil
	})

	r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
	authtest.SignIn(t, customers, r, &pintle.User{Name: "Kim"})
	resp, err := app.Test(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("status %s", resp.Status)
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
	app := fiber.New()
	app.Use(pintlefiber.Load(auth))
	app.Post("/pay", func(fiber.Ctx) error {
		t.Error("the handler was called")
		return nil
	})
	r := httptest.NewRequest(http.MethodPost, "http://localhost/pay", nil)
	r.Header.Set("Cookie", "pintle.acting=grant")
	w, err := app.Test(r, fiber.TestConfig{Timeout: 0})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	if w.StatusCode != http.StatusConflict {
		t.Errorf("the status is %d", w.StatusCode)
	}
}
