package browser_test

import (
	"fmt"
	"html"
	"html/template"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/authtest"
	"github.com/pintleauth/pintle/store/memstore"
)

// A tapSite is a site on https with pages that do what the script of an SDK does. The
// provider's own page, on another site, posts a token there as Google's button does in its
// redirect mode.
type tapSite struct{ url, elsewhere string }

// formPage is the page of One Tap: its script sets a cookie and posts a form.
var formPage = template.Must(template.New("").Parse(`<!doctype html><button onclick="tap()">One Tap</button><p id="account">{{.Who}}</p>
<script>
function tap() {
  document.cookie = "g_csrf_token=0123456789abcdef; path=/; secure; samesite=none"
  const form = document.createElement("form")
  form.method = "post"; form.action = "/auth/idtoken/acme"
  for (const [name, value] of Object.entries({ credential: "{{.Token}}", g_csrf_token: "0123456789abcdef", select_by: "btn" })) {
    const input = document.createElement("input")
    input.type = "hidden"; input.name = name; input.value = value
    form.append(input)
  }
  document.body.append(form)
  form.submit()
}
</script>`))

// scriptPage is a page with a callback: the browser has shown the accounts (FedCM), and the
// page posts the token itself.
const scriptPage = `<!doctype html><button onclick="tap()">FedCM</button>
<script>
async function tap() {
  const { nonce } = await (await fetch("/auth/idtoken/acme")).json()
  const credential = await (await fetch("/sdk?nonce=" + encodeURIComponent(nonce))).text()
  const { csrfToken } = await (await fetch("/auth/csrf")).json()
  const response = await fetch("/auth/idtoken/acme", {
    method: "POST", headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ credential, csrfToken, callbackUrl: "/?by=script" }),
  })
  const text = await response.text()
  if (text.includes("access_token")) document.body.textContent = "a bearer token"
  else location.href = JSON.parse(text).url
}
</script>`

func newTapSite(t *testing.T) *tapSite {
	t.Helper()
	idp := authtest.Start(t, authtest.Options{})
	acme := idp.OIDC("acme")
	acme.AcceptIDTokens.Audiences = []string{"web"}
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{acme}, Store: memstore.New(), Secrets: []string{"a secret of at least 32 characters"},
		Session: pintle.SessionConfig{AllowBearer: true}, Getenv: func(string) string { return "" }, TrustHost: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &tapSite{}
	given := make(chan string, 1) // the token for the page elsewhere
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.HandleFunc("/sdk", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, idp.IDTokenFor("web", "web", r.FormValue("nonce"), nil))
	})
	mux.HandleFunc("/script", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, scriptPage)
	})
	mux.Handle("/{$}", auth.Load(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := "guest"
		if session := pintle.SessionFrom(r.Context()); session != nil {
			who = session.User.Name
		}
		nonce, err := auth.IDTokenNonce(w, r, "acme")
		if err != nil {
			t.Error(err)
		}
		token := idp.IDTokenFor("web", "web", nonce, nil)
		select {
		case <-given:
		default:
		}
		given <- token
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if err := formPage.Execute(w, map[string]string{"Who": "Hello " + who, "Token": token}); err != nil {
			t.Error(err)
		}
	})))
	srv := httptest.NewTLSServer(mux)
	t.Cleanup(srv.Close)
	s.url = strings.Replace(srv.URL, "127.0.0.1", "localhost", 1)
	// The cookie of Google's script has SameSite=None, and comes along.
	other := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := idp.IDTokenFor("web", "web", "", nil)
		if r.URL.Path == "/button" {
			token = <-given
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><form method="post" action="%s/auth/idtoken/acme"><input type="hidden" name="credential" value="%s">
<input type="hidden" name="g_csrf_token" value="0123456789abcdef"><button>Continue as Ada</button></form>`, s.url, html.EscapeString(token))
	}))
	t.Cleanup(other.Close)
	s.elsewhere = other.URL // https://127.0.0.1, which is another site than localhost
	return s
}

// setsGoogleCookie sets the cookie of Google's script, or plants it.
func (v *browserUser) setsGoogleCookie() {
	v.t.Helper()
	read(v, chromedp.Evaluate[string](`document.cookie = "g_csrf_token=0123456789abcdef; path=/; secure; samesite=none"`))
}

// RPX-89: the form that Google's script posts from a page of the site.
func TestOneTapSignsInByAForm(t *testing.T) {
	s := newTapSite(t)
	v := newBrowserUser(t, chromedp.IgnoreCertErrors)
	v.open(s.url + "/")
	v.sees("Hello guest")
	v.press("One Tap")
	v.sees("Hello Ada Lovelace")
}

// RPT-58: a page that posts the token itself gets a session cookie, and no bearer token.
func TestAScriptSignsInWithAnIDToken(t *testing.T) {
	s := newTapSite(t)
	v := newBrowserUser(t, chromedp.IgnoreCertErrors)
	v.open(s.url + "/script")
	v.press("FedCM")
	v.do("wait for the account page", chromedp.WaitVisible("#account"))
	v.sees("Hello Ada Lovelace")
	v.isAt("/")
}

// RPX-89: in the redirect mode of the button Google's site posts the form. Chromium keeps
// the form token back, and the page of this site posts once more.
func TestAPostFromTheSiteOfTheProviderSignsIn(t *testing.T) {
	s := newTapSite(t)
	v := newBrowserUser(t, chromedp.IgnoreCertErrors)
	v.open(s.url + "/")
	v.setsGoogleCookie()
	v.open(s.elsewhere + "/button")
	v.press("Continue as Ada")
	v.do("wait for the account page", chromedp.WaitVisible("#account"))
	v.sees("Hello Ada Lovelace")
}

// RPT-57: a page of another site posts a token of the attacker.
func TestAPageOfAnotherSiteCannotSignInWithAnIDToken(t *testing.T) {
	s := newTapSite(t)
	attacker := newBrowserUser(t, chromedp.IgnoreCertErrors)
	attacker.open(s.url + "/") // the token is for a nonce of the attacker's browser
	for _, path := range []string{"/button", "/without-a-nonce"} {
		victim := newBrowserUser(t, chromedp.IgnoreCertErrors)
		victim.open(s.url + "/auth/signin")
		victim.setsGoogleCookie()
		victim.open(s.elsewhere + path)
		victim.press("Continue as Ada")
		victim.do("wait for the error", chromedp.WaitVisible(`.error, [role="alert"]`))
		victim.open(s.url + "/")
		victim.sees("Hello guest")
	}
}
