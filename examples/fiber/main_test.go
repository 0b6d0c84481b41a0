package main

import (
	"net"
	"testing"
	"time"

	"github.com/gofiber/fiber/v3"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/examples/e2eclient"
)

func TestSignInAndOut(t *testing.T) {
	idp := authtest.Start(t, authtest.Options{AutoConsent: true})
	idp.SignInAs(authtest.Person{Subject: "42", Name: "Ada <3"})
	auth, err := pintle.New(config(idp))
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	app := site(auth)
	go func() { _ = app.Listener(ln, fiber.ListenConfig{DisableStartupMessage: true}) }()
	t.Cleanup(func() { _ = app.ShutdownWithTimeout(100 * time.Millisecond) }) // the client may hold connections
	e2eclient.SignsInAndOut(t, auth, "http://"+ln.Addr().String())
}

func TestOnlyKimHasAPassword(t *testing.T) {
	auth, err := pintle.New(config(authtest.Start(t, authtest.Options{})))
	if err != nil {
		t.Fatal(err)
	}
	e2eclient.HasOnlyKimsPassword(t, auth)
}
