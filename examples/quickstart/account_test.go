package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/examples/e2eclient"
)

func TestAnAccountIsDeletedOnlyIfItsOwnerMeansIt(t *testing.T) {
	for _, strategy := range []pintle.SessionStrategy{pintle.StrategyDatabase, pintle.StrategyJWT} {
		t.Run(string(strategy), func(t *testing.T) {
			srv, auth := startSite(t, strategy)
			kim := authtest.HTTPClient(t, auth, srv.URL, &pintle.User{Name: "Kim", Email: "kim@example.com"})
			page := e2eclient.Read(t)(kim.PostForm(srv.URL+"/account/delete", nil))
			if !strings.Contains(page, "Nothing was deleted") || !strings.Contains(page, "Kim") {
				t.Errorf("without a tick the page is:\n%s", page)
			}
			site, err := url.Parse(srv.URL)
			if err != nil {
				t.Fatal(err)
			}
			copied := kim.Jar.Cookies(site)
			page = e2eclient.Read(t)(kim.PostForm(srv.URL+"/account/delete", url.Values{"confirmed": {"yes"}}))
			if !strings.Contains(page, "Your account is deleted") || !strings.Contains(page, "You are not signed in") {
				t.Errorf("after the end the page is:\n%s", page)
			}
			kim.Jar.SetCookies(site, copied)
			if page := e2eclient.Read(t)(kim.Get(srv.URL + "/account")); page != "Unauthorized\n" {
				t.Errorf("with a copy of the cookie the page is:\n%s", page)
			}
		})
	}
}

// The session determines the account. The fields of a form only select the object
// to change in it.
func TestAFormCannotChangeAnotherAccount(t *testing.T) {
	srv, auth := startSite(t, pintle.StrategyDatabase)
	lee := authtest.HTTPClient(t, auth, srv.URL, nil)
	e2eclient.Read(t)(authtest.SignInWith(t, lee, srv.URL+"/auth", localProvider), nil)
	kim := authtest.HTTPClient(t, auth, srv.URL, &pintle.User{Name: "Kim", Email: "kim@example.com"})
	for path, form := range map[string]url.Values{
		"/account/unlink":      {"provider": {localProvider}, "id": {"1001"}},
		"/account/devices/end": {"device": {"a guess"}},
	} {
		if page := e2eclient.Read(t)(kim.PostForm(srv.URL+path, form)); !strings.Contains(page, "That is gone already.") {
			t.Errorf("after %s the page is:\n%s", path, page)
		}
	}
	if page := e2eclient.Read(t)(lee.Get(srv.URL + "/account")); !strings.Contains(page, "1001") {
		t.Errorf("Lee sees:\n%s", page)
	}
}

// An attacker can make a link to the page. The page shows only its own texts.
func TestNoticesAreOurs(t *testing.T) {
	for query, want := range map[string]string{
		"":                            "",
		"done=linked":                 "You can sign in with that account from now on.",
		"done=<b>":                    "",
		"error=OAuthAccountNotLinked": "Another user signs in here with that account, so it cannot be linked to yours.",
		"error=Configuration":         "That did not work. Try again later.",
		"error=Call+us+at+0123":       "That did not work. Try again later.",
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if n := noticeFor(values); n != nil {
			got = n.Text
		}
		if got != want {
			t.Errorf("for %q the page shows %q, want %q", query, got, want)
		}
	}
}

func TestDevicesAreCalledAfterTheirBrowser(t *testing.T) {
	for header, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0":                                                          "Firefox on Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/139.0.0.0 Safari/537.36 Edg/139.0.0.0":   "Edge on Windows",
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/139.0.0.0 Mobile Safari/537.36":                 "Chrome on Android",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15":           "Safari on macOS",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/139.0 Mobile Safari/604.1": "Chrome on iPhone",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36 OPR/122.0.0.0":   "Opera on Windows",
		"curl/8.5.0": "A browser",
		"":           "A browser",
		"Firefox/1":  "Firefox",
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("User-Agent", header)
		if got, _ := browserName.In(describe(r)); got != want {
			t.Errorf("%q is called %q, want %q", header, got, want)
		}
	}
}
