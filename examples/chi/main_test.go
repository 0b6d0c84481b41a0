package main

import (
	"net/http/httptest"
	"testing"

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
	srv := httptest.NewServer(site(auth))
	defer srv.Close()
	e2eclient.SignsInAndOut(t, auth, srv.URL)
}

func TestOnlyKimHasAPassword(t *testing.T) {
	auth, err := pintle.New(config(authtest.Start(t, authtest.Options{})))
	if err != nil {
		t.Fatal(err)
	}
	e2eclient.HasOnlyKimsPassword(t, auth)
}
