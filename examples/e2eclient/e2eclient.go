// Package e2eclient tests the sites of the examples end to end. They all show
// the same pages.
package e2eclient

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
)

// SignsInAndOut requests the pages of the site at an address as the user of the
// identity provider "local" with the name "Ada <3".
func SignsInAndOut(t *testing.T, auth *pintle.Auth, address string) {
	t.Helper()
	ada := authtest.HTTPClient(t, auth, address, nil)
	if text := Read(t)(ada.Get(address)); !strings.Contains(text, "Hello, guest") {
		t.Errorf("an anonymous client sees %s", text)
	}
	if text := Read(t)(ada.Get(address + "/account")); text != "Unauthorized\n" {
		t.Errorf("the account page of an anonymous client is %s", text)
	}
	Read(t)(authtest.SignInWith(t, ada, address+"/auth", "local"), nil)
	if text := Read(t)(ada.Get(address + "/account")); !strings.Contains(text, "Hello, Ada &lt;3.") {
		t.Errorf("Ada's account is %s", text)
	}
	form := regexp.MustCompile(`name="csrfToken" value="(\w+)"`).FindStringSubmatch(Read(t)(ada.Get(address + "/auth/signout")))
	if form == nil {
		t.Fatal("the page to sign out has no form")
	}
	Read(t)(ada.PostForm(address+"/auth/signout", url.Values{"csrfToken": form[1:]}))
	if text := Read(t)(ada.Get(address + "/account")); text != "Unauthorized\n" {
		t.Errorf("after signing out Ada's account is %s", text)
	}
}

// HasOnlyKimsPassword tries the password of Kim, and another.
func HasOnlyKimsPassword(t *testing.T, auth *pintle.Auth) {
	t.Helper()
	for word, want := range map[string]string{"open sesame": "http://localhost/", "open barley": ""} {
		r := httptest.NewRequest(http.MethodPost, "http://localhost/", http.NoBody)
		next, err := auth.SignIn(httptest.NewRecorder(), r, "credentials", pintle.SignInOptions{
			RedirectTo: "/", Fields: map[string]any{"username": "kim", "password": word},
		})
		if next != want || (err == nil) != (want != "") {
			t.Errorf("%q leads to %q, %v", word, next, err)
		}
	}
}

// Read returns a function that reads a response to the end.
func Read(t *testing.T) func(*http.Response, error) string {
	t.Helper()
	return func(resp *http.Response, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}
