package clients_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	window "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"

	"github.com/pintleauth/pintle/internal/integration/services"
)

// pageTimeout is how long a user waits for a change of a page.
const pageTimeout = 30 * time.Second

// A tab is one tab of a browser. A step that does not succeed ends the test.
type tab struct {
	t        *testing.T
	name     string
	ctx      context.Context
	*traffic // of all tabs of the user
}

func TestMain(m *testing.M) { os.Exit(services.Run(m)) }

// A browser is started once and used by one user after another.
type browser struct{ ctx context.Context }

func newBrowser(t *testing.T) *browser {
	t.Helper()
	return &browser{services.SharedChromium(t)}
}

// openTab opens a tab with a new profile.
func (b *browser) openTab(t *testing.T, name string) *tab {
	t.Helper()
	return (&tab{t: t, ctx: b.ctx, traffic: &traffic{}}).beside(name, chromedp.WithNewBrowserContext())
}

// beside opens another tab, which shares cookies with this one.
func (p *tab) beside(name string, options ...chromedp.ContextOption) *tab {
	p.t.Helper()
	ctx, cancel := chromedp.NewContext(p.ctx, options...)
	p.t.Cleanup(cancel)
	// The context of the first call is the life of the tab.
	if err := chromedp.Do(ctx); err != nil {
		p.t.Fatalf("%s: open a tab: %v", name, err)
	}
	if err := p.watch(ctx); err != nil {
		p.t.Fatalf("%s: %v", name, err)
	}
	return &tab{p.t, name, ctx, p.traffic}
}

func (p *tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, pageTimeout)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.t.Fatalf("%s: %s: %v", p.name, what, err)
	}
}

func (p *tab) open(address string) {
	p.t.Helper()
	p.do("open "+address, chromedp.Navigate(address))
}

func (p *tab) press(label string) {
	p.t.Helper()
	p.waitUntilQuiet()
	p.do("press "+label, chromedp.Click(fmt.Sprintf(`//button[normalize-space(.) = %q]`, label)))
}

// fill types into the field with a name.
func (p *tab) fill(field, text string) {
	p.t.Helper()
	css := chromedp.CSS(fmt.Sprintf("[name=%s]", field))
	p.do("fill in "+field, chromedp.Clear(css), chromedp.Focus(css, chromedp.NodeVisible), chromedp.KeyEvent(text))
}

// pick chooses a person on the page of the local identity provider.
func (p *tab) pick(person string) {
	p.t.Helper()
	p.do("be "+person, chromedp.Click(fmt.Sprintf(`//button[@name="person"][contains(., %q)]`, person)))
}

// hasTitle waits until the page has a heading.
func (p *tab) hasTitle(text string) {
	p.t.Helper()
	encoded, err := json.Marshal(text)
	if err != nil {
		p.t.Fatal(err)
	}
	p.waitFor("headed "+text, fmt.Sprintf(`document.querySelector("h1")?.textContent === %s`, encoded))
}

// waitFor waits until a condition, written in JavaScript, is true. It fails on a
// page that is being left, and is evaluated again on the next one.
func (p *tab) waitFor(what, condition string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, pageTimeout)
	defer cancel()
	var err error
	for ctx.Err() == nil {
		// Pages in the background draw nothing, so the condition cannot be polled by
		// animation frames.
		if _, err = chromedp.Run(ctx, chromedp.Poll[bool]("!!("+condition+")", chromedp.WithPollingInterval(10*time.Millisecond), chromedp.WithPollingTimeout(pageTimeout))); err == nil {
			return
		}
	}
	p.picture("failed")
	p.t.Fatalf("%s: never %s: %v; the page at %s shows:\n%s", p.name, what, err, p.evaluate("location.href"), p.evaluate("document.body.innerText"))
}

// isSignedIn waits until the page shows that the named user is signed in.
func (p *tab) isSignedIn(name string) {
	p.t.Helper()
	encoded, err := json.Marshal(name)
	if err != nil {
		p.t.Fatal(err)
	}
	p.waitFor("signed in as "+name, fmt.Sprintf(`document.querySelector("#status")?.textContent === "authenticated" &&
		JSON.parse(document.querySelector("#session").textContent).user.name === %s`, encoded))
}

func (p *tab) isSignedOut() {
	p.t.Helper()
	p.waitFor("signed out", `document.querySelector("#status")?.textContent === "unauthenticated"`)
}

// canBeHeard waits until other tabs can notice a message of this one. Version 4 of
// next-auth sends messages through the storage, stamped with the second, and two
// equal texts in one second are one.
func (p *tab) canBeHeard() {
	p.t.Helper()
	p.waitFor("a second later", `(JSON.parse(localStorage.getItem("nextauth.message"))?.timestamp ?? 0) < Math.floor(Date.now() / 1000)`)
}

// result waits for the result of the call behind the last button.
func (p *tab) result() map[string]any {
	p.t.Helper()
	p.waitFor("done", `document.documentElement.dataset.result`)
	var result map[string]any
	if err := json.Unmarshal([]byte(p.evaluate(`document.documentElement.dataset.result`)), &result); err != nil {
		p.t.Fatal(err)
	}
	return result
}

func (p *tab) evaluate(expression string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, pageTimeout)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](expression))
	if err != nil {
		p.t.Errorf("%s: %s: %v", p.name, expression, err)
	}
	return text
}

// lookAway minimizes the window of the tab, and lookBack restores it. Headless
// browsers show all their other tabs at once.
func (p *tab) lookAway() {
	p.t.Helper()
	p.resize("minimized")
	p.waitFor("hidden", `document.visibilityState === "hidden"`)
}

func (p *tab) lookBack() {
	p.t.Helper()
	p.resize("normal")
	p.waitFor("visible", `document.visibilityState === "visible"`)
}

func (p *tab) resize(state window.WindowState) {
	p.t.Helper()
	w := setting(p, window.GetWindowForTarget, window.GetWindowForTargetParams{})
	setting(p, window.SetWindowBounds, window.SetWindowBoundsParams{WindowID: w.WindowID, Bounds: &window.Bounds{WindowState: state}})
}

func setting[P, R any](p *tab, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, pageTimeout)
	defer cancel()
	result, err := chromedp.Call(ctx, command, params)
	if err != nil {
		p.t.Fatalf("%s: %v", p.name, err)
	}
	return result
}

// picture writes the page as it looks now to a file.
func (p *tab) picture(what string) {
	p.t.Helper()
	dir := os.Getenv("PINTLE_SCREENSHOTS")
	if dir == "" {
		return
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(p.ctx, pageTimeout)
	defer cancel()
	image, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		p.t.Fatal(err)
	}
	name := strings.NewReplacer("/", "-", " ", "-").Replace(p.t.Name() + "-" + p.name + "-" + what + ".png")
	if err := os.WriteFile(filepath.Join(dir, name), image, 0o644); err != nil {
		p.t.Fatal(err)
	}
}
