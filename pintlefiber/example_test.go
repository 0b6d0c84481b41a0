package pintlefiber_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/utils/v2"
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/pintlefiber"
)

// checkPassword is the application's check of a user name and password.
func checkPassword(_ context.Context, s *pintle.Submission) (*pintle.User, error) {
	if s.Text("username") != "kim" || s.Text("password") != "correct horse" {
		return nil, nil
	}
	return &pintle.User{ID: "1", Name: "Kim"}, nil
}

func Example() {
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}},
		Secrets:   []string{"the output of: openssl rand -base64 33"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	app := fiber.New()
	app.Use(pintlefiber.Load(auth))
	pintlefiber.Mount(app, "/auth", auth)
	app.Get("/account", pintlefiber.Require(auth), func(c fiber.Ctx) error {
		return c.SendString("Hello, " + pintlefiber.Session(c).User.Name)
	})

	r := httptest.NewRequest(http.MethodGet, "http://localhost/account", http.NoBody)
	r.Header.Set("Accept", "text/html")
	resp, err := app.Test(r)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	fmt.Println(resp.StatusCode, resp.Header.Get("Location"))
	// Output: 302 /auth/signin?callbackUrl=%2Faccount
}

// A form of the application signs a user in.
func ExampleSignIn() {
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}},
		Secrets:   []string{"the output of: openssl rand -base64 33"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	app := fiber.New()
	app.Post("/login", func(c fiber.Ctx) error {
		next, err := pintlefiber.SignIn(c, auth, "credentials", pintle.SignInOptions{
			RedirectTo: "/account",
			Fields:     map[string]any{"username": "kim", "password": "correct horse"}, // of the form
		})
		if err != nil {
			return c.Status(fiber.StatusUnauthorized).SendString("wrong name or password")
		}
		return c.Redirect().Status(fiber.StatusSeeOther).To(next)
	})

	resp, err := app.Test(httptest.NewRequest(http.MethodPost, "http://localhost/login", http.NoBody))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	fmt.Println(resp.StatusCode, resp.Header.Get("Location"))
	// Output: 303 http://localhost/account
}

// The configuration can depend on Fiber's context of the request.
func ExampleContext() {
	auth := pintle.NewFunc(
		func(r *http.Request) string {
			return utils.CopyString(pintlefiber.Context(r.Context()).Params("tenant"))
		},
		func(_ context.Context, tenant string) (pintle.Config, error) {
			if tenant != "blue" {
				return pintle.Config{}, fmt.Errorf("there is no tenant %q", tenant)
			}
			return pintle.Config{
				BasePath:  "/" + tenant + "/auth",
				Providers: []pintle.Provider{&pintle.Credentials{Name: "Blue Inc.", Authorize: checkPassword}},
				Secrets:   []string{"blue's output of: openssl rand -base64 33"},
			}, nil
		},
	)
	app := fiber.New()
	pintlefiber.Mount(app.Group("/:tenant"), "/auth", auth)

	resp, err := app.Test(httptest.NewRequest(http.MethodGet, "http://localhost/blue/auth/providers", http.NoBody))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	fmt.Println(resp.StatusCode, string(body), err)
	// Output: 200 {"credentials":{"id":"credentials","name":"Blue Inc.","type":"credentials","signinUrl":"http://localhost/blue/auth/signin/credentials","callbackUrl":"http://localhost/blue/auth/callback/credentials"}} <nil>
}
