package guides

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/pintleauth/pintle/internal/integration/services"
)

// timeout is how long a reader waits for one thing.
const timeout = time.Minute

// A reader opens the site in a browser that reaches no other host.
type reader struct {
	t   *testing.T
	ctx context.Context
	at  string
}

func newReader(t *testing.T) *reader {
	t.Helper()
	site := builtSite(t)
	server := httptest.NewServer(http.StripPrefix(strings.TrimSuffix(base, "/"), http.FileServerFS(site)))
	t.Cleanup(server.Close)

	// Requests to any other host go to a proxy, which notes them.
	var mu sync.Mutex
	var elsewhere []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		elsewhere = append(elsewhere, r.Method+" "+r.Host)
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(proxy.Close)
	ctx := services.Chromium(t, chromedp.ProxyServer(proxy.URL))
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		for _, request := range elsewhere {
			// Chromium has requests of its own to the services of its maker.
			if !strings.Contains(request, "google") {
				t.Errorf("the page requests %s", request)
			}
		}
	})
	return &reader{t, ctx, server.URL + strings.TrimSuffix(base, "/")}
}

func (r *reader) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.ctx, timeout)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		r.t.Fatalf("%s: %v", what, err)
	}
}

func (r *reader) open(page string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.ctx, timeout)
	defer cancel()
	if _, err := chromedp.RunResponse(ctx, chromedp.Navigate(r.at+page)); err != nil {
		r.t.Fatalf("open %s: %v", page, err)
	}
}

// waitFor waits until an expression of JavaScript is true.
func (r *reader) waitFor(what, expression string) {
	r.t.Helper()
	for end := time.Now().Add(timeout); !value[bool](r, expression); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("%s: not within %v; the page shows:\n%s", what, timeout, value[string](r, "document.body.innerText"))
		}
	}
}

// value returns what an expression of JavaScript is.
func value[T any](r *reader, expression string) T {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.ctx, timeout)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.EvaluateAsDevTools[T](expression))
	if err != nil {
		r.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

func set[P any](r *reader, command cdp.Command[P, cdp.Empty], params P) {
	r.t.Helper()
	if _, err := chromedp.Call(r.ctx, command, params); err != nil {
		r.t.Fatal(err)
	}
}

func (r *reader) prefers(scheme string) {
	r.t.Helper()
	set(r, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	})
}

// A reader opens the site without a network. One browser does all of it, since starting one
// takes seconds.
func TestAReaderOfTheGuides(t *testing.T) {
	r := newReader(t)
	for _, act := range []struct {
		name string
		do   func(reader, *testing.T)
	}{
		{"finds guides by the words people use", reader.searches},
		{"sees diagrams in light and dark", reader.seesDiagrams},
		{"reads on a phone", reader.readsOnAPhone},
		{"reads without scripts", reader.readsWithoutScripts},
	} {
		t.Run(act.name, func(t *testing.T) { act.do(reader{t, r.ctx, r.at}, t) })
	}
}

// searched are the words that newcomers look for, with the guide that has them.
var searched = map[string]string{
	"magic link": "/email.html", "rate limiting": "/rate-limiting.html", "two-factor": "/second-factor.html", "multi-tenancy": "/tenants.html",
	"mobile app": "/json-api.html", "own sign-in page": "/sign-in-page.html", "nginx": "/production.html", "writing a store": "/writing-a-store.html",
	"custom provider": "/custom-provider.html", "single sign-out": "/single-sign-out.html", "translate": "/translation.html", "roles": "/roles.html",
	"single-page": "/json-api.html", "goth": "/coming-from.html", "authboss": "/coming-from.html", "scs": "/coming-from.html",
	"sign out everywhere": "/sessions.html",
}

func (r reader) searches(t *testing.T) {
	r.open("/getting-started.html")
	r.waitFor("the button of the search", `!!document.querySelector(".VPNavBarSearch button")`)
	r.do("open the search", chromedp.Click(".VPNavBarSearch button"))
	const results = `[...document.querySelectorAll(".VPLocalSearchBox .result")]`
	r.waitFor("the field of the search", `!!document.querySelector(".VPLocalSearchBox input")`)
	for words, guide := range searched {
		for _, typed := range []string{"qqxxzz", words} {
			value[bool](&r, `(field => { field.value = "`+typed+`"; return field.dispatchEvent(new Event("input", { bubbles: true })) })(document.querySelector(".VPLocalSearchBox input"))`)
			if typed != words {
				r.waitFor("no results", results+`.length === 0`)
			}
		}
		r.waitFor(guide+" among the first results for "+words, results+`.slice(0, 5).some(a => new URL(a.href).pathname === "`+strings.TrimSuffix(base, "/")+guide+`")`)
	}
}

func (r reader) seesDiagrams(t *testing.T) {
	seen := map[string]string{}
	for _, scheme := range []string{"light", "dark"} {
		r.prefers(scheme)
		r.open("/getting-started.html")
		r.waitFor("the words of the diagram", `!!document.querySelector("pre.mermaid svg")?.textContent.includes("exchange the code for a token")`)
		seen[scheme] = value[string](&r, `getComputedStyle(document.body).backgroundColor + " " + getComputedStyle(document.querySelector("pre.mermaid svg .messageText")).fill`)
	}
	if seen["light"] == seen["dark"] {
		t.Errorf("the colours are %q both times", seen["light"])
	}
	total := 0
	for name, text := range filesOf(t, os.DirFS(filepath.Join(root, "docs")), ".md") {
		n := strings.Count(text, "\n```mermaid\n")
		if n == 0 {
			continue
		}
		total += n
		r.open("/" + strings.TrimSuffix(name, ".md") + ".html")
		r.waitFor(fmt.Sprintf("%d diagrams of %s", n, name), fmt.Sprintf(`document.querySelectorAll("pre.mermaid svg .messageText").length > 0 && document.querySelectorAll("pre.mermaid > svg").length === %d`, n))
	}
	if total < 8 {
		t.Errorf("the guides have %d diagrams", total)
	}
}

func (r reader) readsOnAPhone(t *testing.T) {
	r.do("take a phone", chromedp.EmulateViewport(390, 800))
	for _, page := range []string{"/index.html", "/getting-started.html", "/production.html", "/security.html", "/providers.html"} {
		r.open(page)
		if page == "/production.html" {
			r.waitFor("the diagram", `!!document.querySelector("pre.mermaid svg")`)
		}
		if width := value[int](&r, `document.documentElement.scrollWidth`); width > 390 {
			t.Errorf("%s is %d pixels wide", page, width)
		}
		if !value[bool](&r, `!!document.querySelector(".VPNavBarSearch button")`) {
			t.Errorf("%s has no search", page)
		}
	}
}

// A reader without scripts has the text and the menu.
func (r reader) readsWithoutScripts(t *testing.T) {
	set(&r, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	r.do("take a screen", chromedp.EmulateViewport(1400, 900))
	r.open("/production.html")
	text := value[string](&r, "document.body.innerText")
	for _, want := range []string{"Alerts", "Magic links by mail", "proxy_pass"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
}
