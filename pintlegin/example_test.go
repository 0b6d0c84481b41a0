package pintlegin_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/gin-gonic/gin"
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/pintlegin"
)

// checkPassword is the application's check of a user name and password.
func checkPassword(_ context.Context, s *pintle.Submission) (*pintle.User, error) {
	if s.Text("username") != "kim" || s.Text("password") != "correct horse" {
		return nil, nil
	}
	return &pintle.User{ID: "1", Name: "Kim"}, nil
}

func Example() {
	gin.SetMode(gin.ReleaseMode)
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}},
		Secrets:   []string{"the output of: openssl rand -base64 33"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	router := gin.New()
	router.Use(pintlegin.Load(auth))
	pintlegin.Mount(router, "/auth", auth)
	router.GET("/account", pintlegin.Require(auth), func(c *gin.Context) {
		c.String(http.StatusOK, "Hello, %s", pintlegin.Session(c).User.Name)
	})

	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "http://localhost/account", http.NoBody)
	r.Header.Set("Accept", "text/html")
	router.ServeHTTP(w, r)
	fmt.Println(w.Code, w.Header().Get("Location"))
	// Output: 302 /auth/signin?callbackUrl=%2Faccount
}

// A form of the application signs a user in.
func ExampleSignIn() {
	gin.SetMode(gin.ReleaseMode)
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}},
		Secrets:   []string{"the output of: openssl rand -base64 33"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	router := gin.New()
	router.POST("/login", func(c *gin.Context) {
		next, err := pintlegin.SignIn(c, auth, "credentials", pintle.SignInOptions{
			RedirectTo: "/account",
			Fields:     map[string]any{"username": "kim", "password": "correct horse"}, // of the form
		})
		if err != nil {
			c.String(http.StatusUnauthorized, "wrong name or password")
			return
		}
		c.Redirect(http.StatusSeeOther, next)
	})

	w := httptest.NewRecorder()
	router.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "http://localhost/login", http.NoBody))
	fmt.Println(w.Code, w.Header().Get("Location"))
	// Output: 303 http://localhost/account
}

// The configuration can depend on Gin's context of the request.
func ExampleContext() {
	gin.SetMode(gin.ReleaseMode)
	auth := pintle.NewFunc(
		func(r *http.Request) string { return pintlegin.Context(r.Context()).Param("tenant") },
		func(_ context.Context, tenant string) (pintle.Config, error) {
			if tenant != "blue" {
				return pintle.Config{}, fmt.Errorf("tenant %q: %w", tenant, pintle.ErrNotFound)
			}
			return pintle.Config{
				BasePath:  "/" + tenant + "/auth",
				Providers: []pintle.Provider{&pintle.Credentials{Name: "Blue Inc.", Authorize: checkPassword}},
				Secrets:   []string{"blue's output of: openssl rand -base64 33"},
			}, nil
		},
	)
	router := gin.New()
	pintlegin.Mount(router.Group("/:tenant"), "/auth", auth)

	w := httptest.NewRecorder()
	router.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/blue/auth/providers", http.NoBody))
	fmt.Println(w.Code, w.Body)
	// Output: 200 {"credentials":{"id":"credentials","name":"Blue Inc.","type":"credentials","signinUrl":"http://localhost/blue/auth/signin/credentials","callbackUrl":"http://localhost/blue/auth/callback/credentials"}}
}
