package pintlegin_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/pintlegin"
)

// newRouter returns an application, as its main function and its tests make it.
func newRouter(auth *pintle.Auth) *gin.Engine {
	router := gin.New()
	router.Use(pintlegin.Load(auth))
	pintlegin.Mount(router, "/auth", auth)
	router.GET("/account", pintlegin.Require(auth), func(c *gin.Context) {
		c.String(http.StatusOK, "Hello, %s", pintlegin.Session(c).User.Name)
	})
	return router
}

// In the tests of an application one line signs a user in.
func TestSignedInUsersAreGreeted(t *testing.T) {
	gin.SetMode(gin.TestMode)
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.Credentials{Authorize: checkPassword}},
		Secrets:   []string{"the output of: openssl rand -base64 33"},
	})
	if err != nil {
		t.Fatal(err)
	}
	router := newRouter(auth)

	r := httptest.NewRequest(http.MethodGet, "http://localhost/account", nil)
	authtest.SignIn(t, auth, r, &pintle.User{Name: "Kim"})
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

// SA-M3: the Load of one Auth ends the session that the Load of another has found,
// also where the request has no cookies any more.
func TestTheSessionOfAnotherAuthEndsAtLoad(t *testing.T) {
	gin.SetMode(gin.TestMode)
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
	router := gin.New()
	router.Use(pintlegin.Load(customers), func(c *gin.Context) {
		if s := pintlegin.Session(c); s == nil || s.User.Name != "Kim" {
			t.Errorf("the customers have the session %v", s)
		}
		c.Request.Header.Del("Cookie")
	}, pintlegin.Load(staff))
	router.GET("/", func(c *gin.Context) {
		if s := pintlegin.Session(c); s != nil {
			t.Errorf("the staff have the session %v", s)
		}
	})

	r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
	authtest.SignIn(t, customers, r, &pintle.User{Name: "Kim"})
	w := httptest.NewRecorder()
	router.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Errorf("status %d", w.Code)
	}
}

// AC-191, AT-105
func TestARequestThatLoadAnswersReachesNoHandler(t *testing.T) {
	gin.SetMode(gin.TestMode)
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
	router := gin.New()
	router.Use(pintlegin.Load(auth))
	router.POST("/pay", func(*gin.Context) { t.Error("the handler was called") })
	r, w := httptest.NewRequest(http.MethodPost, "http://localhost/pay", nil), httptest.NewRecorder()
	r.Header.Set("Cookie", "pintle.acting=grant")
	router.ServeHTTP(w, r)
	if w.Code != http.StatusConflict {
		t.Errorf("the status is %d", w.Code)
	}
}
