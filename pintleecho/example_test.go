package pintleecho_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/labstack/echo/v5"
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/pintleecho"
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
	e := echo.New()
	e.Use(pintleecho.Load(auth))
	pintleecho.Mount(e, "/auth", auth)
	e.GET("/account", func(c *echo.Context) error {
		return c.String(http.StatusOK, "Hello, "+pintleecho.Session(c).User.Name)
	}, pintleecho.Require(auth))

	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "http://localhost/account", http.NoBody)
	r.Header.Set("Accept", "text/html")
	e.ServeHTTP(w, r)
	fmt.Println(w.Code, w.Header().Get("Location"))
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
	e := echo.New()
	e.POST("/login", func(c *echo.Context) error {
		next, err := pintleecho.SignIn(c, auth, "credentials", pintle.SignInOptions{
			RedirectTo: "/account",
			Fields:     map[string]any{"username": "kim", "password": "correct horse"}, // of the form
		})
		if err != nil {
			return c.String(http.StatusUnauthorized, "wrong name or password")
		}
		return c.Redirect(http.StatusSeeOther, next)
	})

	w := httptest.NewRecorder()
	e.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "http://localhost/login", http.NoBody))
	fmt.Println(w.Code, w.Header().Get("Location"))
	// Output: 303 http://localhost/account
}

// The configuration can depend on Echo's context of the request.
func ExampleContext() {
	auth := pintle.NewFunc(
		func(r *http.Request) string { return pintleecho.Context(r.Context()).Param("tenant") },
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
	e := echo.New()
	pintleecho.Mount(e.Group("/:tenant"), "/auth", auth)

	w := httptest.NewRecorder()
	e.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/blue/auth/providers", http.NoBody))
	fmt.Println(w.Code, w.Body)
	// Output: 200 {"credentials":{"id":"credentials","name":"Blue Inc.","type":"credentials","signinUrl":"http://localhost/blue/auth/signin/credentials","callbackUrl":"http://localhost/blue/auth/callback/credentials"}}
}
