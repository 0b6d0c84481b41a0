package pintleecho_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v5"
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/pintleecho"
)

// BenchmarkLoad measures the cost of Load for each request to the application.
func BenchmarkLoad(b *testing.B) {
	cfg := pintle.Config{
		Providers: []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}},
		Secrets:   []string{"a secret for tests, 32 characters or more"},
	}
	auth, err := pintle.New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	e := echo.New()
	e.GET("/", func(c *echo.Context) error { return nil }, pintleecho.Load(auth))
	for _, user := range []string{"anonymous", "Kim"} {
		b.Run(user, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, "http://localhost/", http.NoBody)
			if user == "Kim" {
				authtest.SignIn(b, auth, r, &pintle.User{Name: "Kim"})
			}
			w := httptest.NewRecorder()
			b.ReportAllocs()
			for b.Loop() {
				e.ServeHTTP(w, r)
			}
		})
	}
}
