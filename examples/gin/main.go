// Command gin shows sign-in in an application that is written with Gin:
//
//	go run ./examples/gin
//
// Sign in as kim with the password "open sesame", or with the identity provider
// it brings.
package main

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"html"
	"log"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/pintlegin"
	"github.com/pintleauth/pintle/store/memstore"
	"github.com/pintleauth/pintle/throttle"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:3000", "loopback `address` to listen on")
	flag.Parse()
	idp := authtest.NewIdentityProvider(authtest.Options{Name: "Local identity provider"})
	if err := idp.Listen(); err != nil {
		log.Fatal(err)
	}
	auth, err := pintle.New(config(idp))
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("open http://%s", *addr)
	server := &http.Server{
		Addr: *addr, Handler: site(auth),
		// A client that sends or reads slowly must not hold a connection forever.
		ReadTimeout: 20 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
	}
	log.Fatal(server.ListenAndServe())
}

// site is the application.
func site(auth *pintle.Auth) *gin.Engine {
	router := gin.New()
	_ = router.SetTrustedProxies(nil) // no proxies, so there is no error
	router.Use(pintlegin.Load(auth))
	pintlegin.Mount(router, "/auth", auth)
	router.GET("/", func(c *gin.Context) { page(c, home) })
	router.GET("/account", pintlegin.Require(auth), func(c *gin.Context) {
		page(c, fmt.Sprintf(account, html.EscapeString(pintlegin.Session(c).User.Name)))
	})
	return router
}

func page(c *gin.Context, text string) {
	c.Data(http.StatusOK, "text/html; charset=utf-8", []byte(text))
}

const home = `<!DOCTYPE html><title>Home</title><p>Hello, guest. <a href="/account">Your account</a>`

const account = `<!DOCTYPE html><title>Account</title><p>Hello, %s. <a href="/auth/signout">Sign out</a>`

// config signs in kim with a password, and any user with the local identity
// provider.
func config(idp *authtest.IdentityProvider) pintle.Config {
	guard := &throttle.Guard{} // limits guesses
	return pintle.Config{
		Providers: []pintle.Provider{
			guard.Credentials(&pintle.Credentials{Name: "a password", Authorize: checkPassword}, "username"),
			idp.OIDC("local"),
		},
		Secrets: []string{rand.Text() + rand.Text()}, // sessions end with the program
		Store:   memstore.New(),
		Session: pintle.SessionConfig{Strategy: pintle.StrategyJWT},
	}
}

// checkPassword stands for a table of users and their hashes; see package
// password.
func checkPassword(_ context.Context, s *pintle.Submission) (*pintle.User, error) {
	if s.Text("username") != "kim" || s.Text("password") != "open sesame" {
		return nil, nil // wrong credentials
	}
	return &pintle.User{ID: "1", Name: "Kim"}, nil
}
