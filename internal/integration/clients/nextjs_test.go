package clients_test

import (
	"strings"
	"testing"
)

// The application guards a page with its own middleware, reads the session in
// server components and a route handler, and changes it in the browser, all with
// next-auth, while Pintle answers /api/auth.
func TestTheNextExample(t *testing.T) {
	site := startExample(t, "nextjs")
	one := newBrowser(t).openTab(t, "one")
	one.open(site)
	one.hasTitle("You are not signed in")
	one.open(site + "/whoami")
	if answer := one.evaluate("document.body.innerText"); answer != "Unauthorized" {
		t.Errorf("the route handler returns %s to an anonymous client", answer)
	}

	one.open(site + "/members")
	one.waitFor("at the sign-in page of Pintle", `location.pathname === "/api/auth/signin" && document.querySelector("[name=username]")`)
	if at := one.evaluate("location.origin"); at != site {
		t.Errorf("the sign-in page is at %s, want it at the application, %s", at, site)
	}
	one.picture("sign-in")
	one.fill("username", "kim")
	one.fill("password", "open sesame\r")
	one.hasTitle("Hello from the server, Kim")
	one.isSignedIn("Kim")
	one.picture("members")

	two := one.beside("two")
	two.open(site + "/members")
	two.isSignedIn("Kim")
	one.fill("name", renamed)
	one.press("Rename")
	one.isSignedIn(renamed)
	two.isSignedIn(renamed)
	two.open(site + "/members")
	two.hasTitle("Hello from the server, " + renamed)
	two.isSignedIn(renamed)
	two.open(site + "/whoami")
	if answer := two.evaluate("document.body.innerText"); !strings.Contains(answer, `"id":"1","name":"Mary of`) {
		t.Errorf("the route handler returns %s, want the id and the new name", answer)
	}

	two.open(site + "/members")
	two.isSignedIn(renamed)
	one.press("Sign out")
	one.hasTitle("You are not signed in")
	two.isSignedOut()

	two.open(site + "/members")
	two.press("Sign in with Local identity provider")
	two.pick("Grace Hopper")
	two.hasTitle("Hello from the server, Grace Hopper")
	two.isSignedIn("Grace Hopper")
}
