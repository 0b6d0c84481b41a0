package browser_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/pages"
)

// views are the windows in which every page has to be in order.
var views = []struct {
	name   string
	width  int64
	scheme string
}{
	{"wide-light", 1100, "light"},
	{"wide-dark", 1100, "dark"},
	{"narrow-light", 360, "light"},
	{"narrow-dark", 360, "dark"},
}

// looks takes a screenshot of the page in every view, and checks that nothing
// overflows to the side and that the page follows the colour scheme.
func (v *browserUser) looks(name string) {
	v.t.Helper()
	grounds := map[string]string{}
	for _, view := range views {
		v.emulate(view.width, view.scheme)
		v.picture(name + "-" + view.name)
		if over := read(v, chromedp.Evaluate[float64]("document.documentElement.scrollWidth - document.documentElement.clientWidth")); over > 0 {
			v.t.Errorf("%s is %.0f pixels wider than the window in %s", name, over, view.name)
		}
		grounds[view.scheme] = read(v, chromedp.Evaluate[string]("getComputedStyle(document.body).backgroundColor"))
	}
	if grounds["light"] == grounds["dark"] {
		v.t.Errorf("%s is %s in a light and in a dark window", name, grounds["light"])
	}
}

func TestPagesFitTheWindowAndTheColorScheme(t *testing.T) {
	q := startQuickstart(t, "database")
	v := newBrowserUser(t)
	v.open(q.url)
	v.looks("1-home")
	v.open(q.url + "/account")
	v.looks("2-sign-in")
	v.fill("Email", "mary@example.com")
	v.fill("Password", "wrong")
	v.press("Sign in with password")
	v.looks("3-wrong-password")
	v.press("Sign in with Local identity provider")
	v.looks("4-identity-provider")
	v.press("Emmy Noether")
	v.looks("5-account")
	v.open(q.url)
	v.looks("6-home-signed-in")
	v.open(q.url + "/auth/signout")
	v.looks("7-sign-out")
	v.open(q.url + "/auth/error?error=Verification")
	v.looks("8-error")
}

func TestTheAccountPageFitsTheWindowAndTheColorScheme(t *testing.T) {
	v, _ := inSettings(t, pages.Texts(page.English()))
	v.goes("/auth/account")
	v.looks("9-settings")
}
