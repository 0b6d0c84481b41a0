package clients_test

import (
	"errors"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"

	"github.com/pintleauth/pintle"
)

// clients are the pages, one for each published client.
var clients = []struct {
	page string

	// watches: it reads the session by itself and shows every change.
	watches bool

	// announces: other tabs hear of a sign-in that did not leave the page.
	announces bool

	// explains: it hands on the code of wrong credentials.
	explains bool
}{
	{page: "next-auth-5", watches: true, explains: true},
	{page: "next-auth-4", watches: true},
	{page: "pintle", watches: true, announces: true, explains: true},
	{page: "solid", explains: true},
	{page: "svelte", explains: true},
}

const renamed = "Mary of <Lyme> & Regis"

func TestPublishedClientsWorkUnchanged(t *testing.T) {
	s := newSite(t)
	browser := newBrowser(t)
	for _, c := range clients {
		t.Run(c.page, func(t *testing.T) {
			page := s.url + "/" + c.page + ".html"
			one := browser.openTab(t, "one")
			one.open(page)
			one.isSignedOut()

			one.press("Wrong password")
			got := one.result()
			if got["error"] != "CredentialsSignin" || c.explains && got["code"] != "credentials" {
				t.Errorf("a wrong password gives %v, want the error CredentialsSignin with the code credentials", got)
			}
			one.isSignedOut()
			one.press("Password")
			if got := one.result(); got["ok"] != true || got["error"] != nil {
				t.Errorf("the right password gives %v, want ok and no error", got)
			}
			if !c.watches {
				one.open(page)
			}
			one.isSignedIn("Mary Anning")
			one.picture("by password")

			if c.watches {
				two := one.beside("two")
				two.open(page)
				two.isSignedIn("Mary Anning")

				one.canBeHeard()
				one.press("Rename")
				one.isSignedIn(renamed)
				two.isSignedIn(renamed)
				two.picture("renamed elsewhere")

				two.canBeHeard()
				two.press("Sign out")
				two.isSignedOut()
				one.isSignedOut()
				one.picture("signed out elsewhere")

				one.press("Password")
				one.isSignedIn("Mary Anning")
				if c.announces {
					two.isSignedIn("Mary Anning")
				}

				one.canBeHeard()
				one.press("Identity provider")
				one.isSignedIn("Grace Hopper")
				two.isSignedIn("Grace Hopper")

				// The session ends where no script sees it.
				one.waitUntilQuiet()
				setting(one, network.ClearBrowserCookies, cdp.Empty{})
				one.lookAway()
				one.lookBack()
				one.isSignedOut()
			} else {
				one.press("Identity provider")
				one.isSignedIn("Grace Hopper")
				one.press("Sign out and reload")
				one.isSignedOut()
			}

			one.press("Password, then welcome")
			one.waitFor("welcomed by the server", `document.querySelector("h1")?.textContent === "Welcome, Mary Anning"`)
			one.open(page)
			one.isSignedIn("Mary Anning")
			one.press("Sign out and reload")
			one.isSignedOut()
			one.open(s.url + "/welcome")
			one.waitFor("signed out", `document.querySelector("h1")?.textContent === "Welcome, guest"`)
		})
	}
}

// S-45: scripts get status 429.
func TestClientsReportAnAttemptBeyondTheLimit(t *testing.T) {
	s := newSite(t)
	guess := httptest.NewRequest("POST", s.url, nil)
	guess.RemoteAddr = "127.0.0.1:1"
	for range 10 {
		if _, err := s.auth.SignIn(httptest.NewRecorder(), guess, "credentials", pintle.SignInOptions{
			Fields: map[string]any{"username": "mary"},
		}); !errors.Is(err, pintle.CodeCredentials) {
			t.Fatal(err)
		}
	}
	browser := newBrowser(t)
	for _, c := range clients {
		t.Run(c.page, func(t *testing.T) {
			p := browser.openTab(t, "one")
			p.open(s.url + "/" + c.page + ".html")
			p.isSignedOut()
			p.press("Password")
			got := p.result()
			if c.page == "pintle" {
				if text, _ := got["thrown"].(string); !strings.HasPrefix(text, "RequestError") || !strings.HasSuffix(text, "status 429") {
					t.Errorf("the client gives %v, want a RequestError", got)
				}
			} else if got["error"] != "CredentialsSignin" || got["status"] != 429.0 || c.explains && got["code"] != "too_many_attempts" {
				t.Errorf("the client gives %v, want the error CredentialsSignin, status 429 and the code too_many_attempts", got)
			}
			p.isSignedOut()
		})
	}
}

func TestOurClientDoesNotTakeAFailureForASignOut(t *testing.T) {
	s := newSite(t)
	p := newBrowser(t).openTab(t, "one")
	p.open(s.url + "/pintle.html")
	p.press("Password")
	p.isSignedIn("Mary Anning")

	s.down.Store(true)
	p.press("Sign out")
	if got := p.result(); got["thrown"] != "RequestError: /api/auth/csrf: status 503" {
		t.Errorf("signing out at a server that is down gives %v, want a RequestError with the status", got)
	}
	p.lookAway()
	p.lookBack()
	p.isSignedIn("Mary Anning")

	s.down.Store(false)
	p.press("Sign out")
	p.isSignedOut()
}

func TestOurClientKeepsNoSessionWhereBrowsersWriteToDisk(t *testing.T) {
	s := newSite(t)
	p := newBrowser(t).openTab(t, "one")
	p.open(s.url + "/pintle.html")
	p.press("Password")
	p.isSignedIn("Mary Anning")
	kept := p.evaluate("JSON.stringify({...localStorage, ...sessionStorage}) + document.cookie")
	if !regexp.MustCompile(`^{"pintle":"-?\d+"}$`).MatchString(kept) {
		t.Errorf("the page keeps %s, want a fingerprint alone", kept)
	}
}
