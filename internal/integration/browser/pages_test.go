package browser_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/pages"
)

// ownPages is a site with a custom style sheet, in two languages, and with a
// sign-in page that is no Go program, as docs/sign-in-page.md has it.
func ownPages(t *testing.T) string {
	t.Helper()
	auth, err := pintle.New(pintle.Config{
		Providers: []pintle.Provider{&pintle.Credentials{Authorize: func(_ context.Context, s *pintle.Submission) (*pintle.User, error) {
			if s.Text("password") != "fossils" {
				return nil, nil // which is wrong
			}
			return &pintle.User{ID: "1", Name: "Mary Anning"}, nil
		}}},
		Secrets: []string{"a secret of at least 32 characters"},
		Getenv:  func(string) string { return "" },
		// Line breaks as an editor on Windows writes them.
		Theme:     pages.Theme{CSS: "@media (0px <= width) {\r\n  h1 { color: rgb(1, 2, 3) }\r\n  .card > h1 { letter-spacing: 7px }\r\n}\r\n"},
		Languages: []pages.Texts{{Lang: "de", SignInHeading: "Anmelden", Forbidden: pages.ErrorText{Heading: "Gesperrt"}}},
		Language: func(r *http.Request) string {
			if strings.HasSuffix(r.URL.Path, "/closed") || r.URL.Query().Get("error") == "german" {
				return "de"
			}
			return "en"
		},
		Callbacks: pintle.Callbacks{Authorized: func(*http.Request, *pintle.Session) (pintle.Access, error) { return pintle.Access{}, nil }},
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/auth/", auth)
	mux.Handle("/closed", auth.Require(http.NotFoundHandler()))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		session, err := auth.Session(r)
		if err != nil {
			t.Error(err)
		}
		name := "guest"
		if session != nil {
			name = session.User.Name
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><p>Hello %s</p>
<form method="post" action="/auth/callback/credentials">
  <input type="hidden" name="csrfToken"><input type="hidden" name="callbackUrl" value="/">
  <label for="p">Password</label> <input id="p" name="password" type="password"><button>Enter</button>
</form>
<form method="post" action="/auth/signout">
  <input type="hidden" name="csrfToken"><input type="hidden" name="callbackUrl" value="/"><button>Leave</button>
</form>
<script type="module">
  const { csrfToken } = await (await fetch("/auth/csrf")).json()
  for (const input of document.querySelectorAll("input[name=csrfToken]")) input.value = csrfToken
  document.body.dataset.ready = "yes"
</script>`, name)
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv.URL
}

// A browser takes the style sheet of the host, which the policy of the page allows
// by its hash, and no other.
func TestAStyleSheetOfTheHostIsObeyed(t *testing.T) {
	v := newBrowserUser(t)
	v.open(ownPages(t) + "/auth/signin")
	for property, want := range map[string]string{"color": "rgb(1, 2, 3)", "letterSpacing": "7px"} {
		if got := read(v, chromedp.Evaluate[string](`getComputedStyle(document.querySelector("h1")).`+property)); got != want {
			t.Errorf("the %s of the heading is %s, want %s", property, got, want)
		}
	}
}

func TestPagesAreInTheLanguageOfTheUser(t *testing.T) {
	site := ownPages(t)
	v := newBrowserUser(t)
	v.open(site + "/auth/signin?error=german")
	v.sees("Anmelden")
	if got := read(v, chromedp.Evaluate[string]("document.documentElement.lang")); got != "de" {
		t.Errorf("the page is in %q", got)
	}
	v.open(site + "/auth/signin")
	v.sees("Sign in")
}

// A page of the application posts to the routes with the form token, and a
// guard shows a signed-in user why they may not.
func TestAFormOfTheApplicationSignsInAndOut(t *testing.T) {
	site := ownPages(t)
	v := newBrowserUser(t)
	enter := func() {
		v.open(site + "/")
		v.do("wait for the form token", chromedp.WaitVisible(`body[data-ready=yes]`))
	}
	enter()
	v.sees("Hello guest")
	v.fill("Password", "fossils")
	v.press("Enter")
	v.sees("Hello Mary Anning")
	if r := v.open(site + "/closed"); r.Status != http.StatusForbidden {
		t.Errorf("the guard answers with status %d", r.Status)
	}
	v.sees("Gesperrt")
	enter()
	v.press("Leave")
	v.sees("Hello guest")
}
