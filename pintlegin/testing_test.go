package pintlegin_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/pintlegin"
)

// newRouter returns an application, as its main function and its tests make it.
func newRouter(cfg pintle.Config) (*gin.Engine, error) {
	auth, err := pintle.New(cfg)
	if err != nil {
		return nil, err
	}
	router := gin.New()
	router.Use(pintlegin.Load(auth))
	pintlegin.Mount(router, "/auth", auth)
	router.GET("/account", pintlegin.Require(auth), func(c *gin.Context) {
		c.String(http.StatusOK, "Hello, %s", pintlegin.Session(c).User.Name)
	})
	return router, nil
}

// In the tests of an application one line signs a user in.
func TestSignedInUsersAreGreeted(t *testing.T) {
	gin.SetMode(gin.TestMode)
	cfg := pintle.Config{
		Providers: []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}},
		Secrets:   []string{"the output of: openssl rand -base64 33"},
	}
	router, err := newRouter(cfg)
	if err != nil {
		t.Fatal(err)
	}

	r := httptest.NewRequest(http.MethodGet, "http://localhost/account", nil)
	authtest.SignIn(t, cfg, r, &pintle.User{Name: "Kim"})
	w := httptest.NewRecorder()
	router.ServeHTTP(w, r)
	if got := w.Body.String(); got != "Hello, Kim" {
		t.Errorf("Kim sees %q", got)
	}

	w = httptest.NewRecorder()
	router.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/account", nil))
	if w.Code != http.StatusUnauthorized {
		t.Errorf("an anonymous request gets status %d", w.Code)
	}
}
