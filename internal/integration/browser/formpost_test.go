package browser_test

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
)

// A linker is a site on https whose users can link an account of a provider that
// responds with a form from another site, as Apple does.
type linker struct {
	url   string
	store *memstore.Store
	mary  *pintle.User
}

func newLinker(t *testing.T) *linker {
	t.Helper()
	l := &linker{store: memstore.New()}
	mary, err := l.store.CreateUser(t.Context(), &pintle.User{Name: "Mary Anning", Email: "mary@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	l.mary = mary
	idp := authtest.Start(t, authtest.Options{})
	acme := idp.OIDC("acme")
	acme.Authorization.Params = map[string]string{"response_mode": "form_post"}
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{acme, &pintle.Credentials{Authorize: func(context.Context, *pintle.Submission) (*pintle.User, error) {
			return l.mary, nil
		}}},
		Store:     l.store,
		Session:   pintle.SessionConfig{Strategy: pintle.StrategyJWT},
		Secrets:   []string{"a secret of at least 32 characters"},
		Getenv:    func(string) string { return "" },
		TrustHost: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.HandleFunc("/link", func(w http.ResponseWriter, r *http.Request) {
		next, err := auth.SignIn(w, r, "acme", pintle.SignInOptions{RedirectTo: "/account?done=linked"})
		if err != nil {
			t.Error(err)
		}
		http.Redirect(w, r, next, http.StatusFound)
	})
	mux.Handle("/", auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := "guest"
		if s := pintle.SessionFrom(r.Context()); s != nil {
			name = s.User.Name
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><p id="account">Hello %s at %s</p>`, html.EscapeString(name), html.EscapeString(r.URL.String()))
	})))
	srv := httptest.NewTLSServer(mux)
	t.Cleanup(srv.Close)
	// The provider is at http://127.0.0.1, which is another site.
	l.url = strings.Replace(srv.URL, "127.0.0.1", "localhost", 1)
	return l
}

// SA-L8: Chromium keeps the session back when a page of another site posts the
// response, and the account is linked all the same.
func TestAResponseByFormLinksTheAccount(t *testing.T) {
	for _, scripts := range []bool{true, false} {
		t.Run(fmt.Sprintf("SA-L8 with scripts: %t", scripts), func(t *testing.T) {
			l := newLinker(t)
			v := newBrowserUser(t, chromedp.IgnoreCertErrors)
			v.open(l.url + "/auth/signin")
			v.press("Sign in with Credentials")
			v.sees("Hello Mary Anning")

			if !scripts {
				v.withoutScripts()
			}
			v.open(l.url + "/link")
			v.press("Ada Lovelace")
			if !scripts {
				v.press("Continue") // of the provider's page
				v.press("Continue") // of the site's own
			}
			v.do("wait for the account page", chromedp.WaitVisible("#account"))
			v.sees("Hello Mary Anning at /account?done=linked")

			accounts, err := l.store.UserAccounts(t.Context(), l.mary.ID)
			if err != nil || len(accounts) != 1 || accounts[0].Provider != "acme" {
				t.Errorf("Mary has %+v (%v)", accounts, err)
			}
		})
	}
}

// SA-L8: a signed-out browser cannot link, and returns to the page where it began.
func TestAResponseByFormEndsWhereItBegan(t *testing.T) {
	l := newLinker(t)
	v := newBrowserUser(t, chromedp.IgnoreCertErrors)
	v.open(l.url + "/link")
	v.press("Ada Lovelace")
	v.do("wait for the account page", chromedp.WaitVisible("#account"))
	v.sees("Hello Ada Lovelace at /account?done=linked")
}

// SA-H2: a site that opens the sign-in page in a window loses hold of it, and
// cannot send it to a callback URL once the user has begun a flow there.
func TestTheSignInPageHasNoOpenerOfAnotherSite(t *testing.T) {
	l := newLinker(t)
	v := newBrowserUser(t, chromedp.IgnoreCertErrors)
	v.open(l.url + "/auth/signin")
	v.sees("Sign in")
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><button onclick="win = window.open('%s/auth/signin')">Win a prize</button>
<button onclick="result.textContent = win.closed ? 'the window is out of reach' : 'the window is mine'">Look</button><p id="result">`, l.url)
	}))
	defer evil.Close()
	v.open(evil.URL)
	v.do("open the window", chromedp.Click(`//button[1]`))
	for patient := time.Now().Add(pageTimeout); !read(v, chromedp.Evaluate[bool](`!!window.win && win.closed`)); {
		if time.Now().After(patient) {
			t.Fatal("SA-H2 the other site keeps hold of the window")
		}
	}
	v.do("look", chromedp.Click(`//button[2]`))
	v.sees("the window is out of reach")
}
