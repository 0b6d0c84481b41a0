package browser_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/internal/integration/services"
)

// The tests of an application in a browser need not sign in by hand.
func TestABrowserStartsSignedIn(t *testing.T) {
	cfg := pintle.Config{
		Providers: []pintle.Provider{authtest.Start(t, authtest.Options{}).OIDC("acme")},
		Secrets:   []string{"a secret of at least 32 characters"},
	}
	auth, err := pintle.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(auth.Load(auth.Require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte("Hello, " + pintle.SessionFrom(r.Context()).User.Name))
	}))))
	defer srv.Close()
	ctx := services.Chromium(t) // as chromedp.NewContext gives one

	for _, c := range authtest.Cookies(t, auth, srv.URL, &pintle.User{Name: "Kim"}) {
		cookie := network.SetCookieParams{Name: c.Name, Value: c.Value, URL: srv.URL, HTTPOnly: new(c.HttpOnly), Secure: new(c.Secure)}
		if _, err := chromedp.Call(ctx, network.SetCookie, cookie); err != nil {
			t.Fatal(err)
		}
	}
	if err := chromedp.Do(ctx, chromedp.Navigate(srv.URL)); err != nil {
		t.Fatal(err)
	}
	if got, err := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body.innerText")); got != "Hello, Kim" {
		t.Errorf("the page shows %q, %v", got, err)
	}
}
