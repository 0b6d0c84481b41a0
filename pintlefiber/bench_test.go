package pintlefiber_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gofiber/fiber/v3"
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/pintlefiber"
	"github.com/valyala/fasthttp"
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
	app := fiber.New()
	app.Get("/", pintlefiber.Load(auth), func(fiber.Ctx) error { return nil })
	handler := app.Handler()
	for _, user := range []string{"anonymous", "Kim"} {
		b.Run(user, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, "http://localhost/", http.NoBody)
			if user == "Kim" {
				authtest.SignIn(b, auth, r, &pintle.User{Name: "Kim"})
			}
			ctx := new(fasthttp.RequestCtx)
			ctx.Request.SetRequestURI("/")
			ctx.Request.Header.SetHost(r.Host)
			ctx.Request.Header.Set("Cookie", r.Header.Get("Cookie"))
			b.ReportAllocs()
			for b.Loop() {
				handler(ctx)
			}
		})
	}
}
