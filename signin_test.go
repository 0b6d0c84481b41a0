package pintle_test

import (
	"net/http"
	"testing"
)

func TestSignInWithPassword(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	if who := b.who(); who != "anonymous" {
		t.Fatalf("before anything %s is signed in", who)
	}
	b.signIn("ada").goesTo(s.url)
	if who := b.who(); who != "Ada Lovelace" {
		t.Errorf("%s is signed in, want Ada", who)
	}
	user, _ := b.session()["user"].(map[string]any)
	if user["email"] != "ada@example.com" {
		t.Errorf("the session is of %v, want Ada", user)
	}
}

func TestSignInWithProvider(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	b.signInWith("acme").goesTo(s.url)
	if who := b.who(); who != "Ada Lovelace" {
		t.Errorf("%s is signed in, want Ada; log:\n%s", who, s.log)
	}
}

func TestAWrongPasswordIsShownOnTheSignInPage(t *testing.T) {
	s := newSite(t)
	b := s.browser()
	r := b.post("/auth/callback/credentials", "username", "ada", "password", "difference engine")
	r.fails("/auth/signin", "CredentialsSignin")
	b.get(r.location()).want(http.StatusOK)
	if b.session() != nil {
		t.Error("the browser is signed in")
	}
}
