// Command fiber shows sign-in in an application that is written with Fiber:
//
//	go run ./examples/fiber
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
	"time"

	"github.com/gofiber/fiber/v3"
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/pintlefiber"
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
	log.Fatal(site(auth).Listen(*addr))
}

// site is the application.
func site(auth *pintle.Auth) *fiber.App {
	app := fiber.New(fiber.Config{
		ReadBufferSize: 16 << 10, // a session may be several cookies
		// A client that sends or reads slowly must not hold a connection forever.
		ReadTimeout: 20 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
	})
	app.Use(pintlefiber.Load(auth))
	pintlefiber.Mount(app, "/auth", auth)
	app.Get("/", func(c fiber.Ctx) error { return page(c, home) })
	app.Get("/account", pintlefiber.Require(auth), func(c fiber.Ctx) error {
		return page(c, fmt.Sprintf(account, html.EscapeString(pintlefiber.Session(c).User.Name)))
	})
	return app
}

func page(c fiber.Ctx, text string) error {
	c.Set(fiber.HeaderContentType, "text/html; charset=utf-8")
	return c.SendString(text)
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
