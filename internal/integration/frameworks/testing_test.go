package frameworks_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-chi/chi/v5"
	echo4 "github.com/labstack/echo/v4"
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

// The routers that need no module of ours are tested as net/http is. Those that
// have one show it there.
func TestMembersOfAnApplicationUnderTestAreGreeted(t *testing.T) {
	cfg := config()
	auth := must(pintle.New(cfg))
	greet := func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "Hello, "+pintle.SessionFrom(r.Context()).User.Name)
	}

	router := chi.NewRouter()
	router.Use(auth.Load)
	router.Handle("/auth/*", auth)
	router.With(auth.Require).Get("/account", greet)

	e := echo4.New()
	e.Use(echo4.WrapMiddleware(auth.Load))
	e.Any("/auth/*", echo4.WrapHandler(auth))
	e.GET("/account", echo4.WrapHandler(http.HandlerFunc(greet)), echo4.WrapMiddleware(auth.Require))

	for name, app := range map[string]http.Handler{"chi": router, "Echo 4": e} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "http://localhost/account", nil)
			authtest.SignIn(t, auth, r, &pintle.User{Name: "Kim"})
			w := httptest.NewRecorder()
			app.ServeHTTP(w, r)
			if got := w.Body.String(); got != "Hello, Kim" {
				t.Errorf("Kim sees %q", got)
			}
			w = httptest.NewRecorder()
			app.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/account", nil))
			if w.Code != http.StatusUnauthorized {
				t.Errorf("an anonymous request gets status %d", w.Code)
			}
		})
	}
}
