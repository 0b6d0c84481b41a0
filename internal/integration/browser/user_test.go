package browser_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/pintleauth/pintle/internal/integration/services"
)

// pageTimeout is how long a user waits for a page.
const pageTimeout = 30 * time.Second

// A browserUser is a user with a new browser profile. A step that fails ends the
// test.
type browserUser struct {
	t   *testing.T
	ctx context.Context
}

func newBrowserUser(t *testing.T, options ...chromedp.ExecAllocatorOption) *browserUser {
	t.Helper()
	v := &browserUser{t: t, ctx: services.Chromium(t, options...)}
	v.listen()
	return v
}

// listen makes the test fail if a page breaks its own security policy or a
// script does not work.
func (v *browserUser) listen() {
	var mu sync.Mutex
	var complaints []string
	messages := chromedp.Console(v.ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return // the browser has been closed
			}
			if m.Type == "error" && m.Source != "network" || m.IsException() {
				mu.Lock()
				complaints = append(complaints, m.Text)
				mu.Unlock()
			}
		}
	}()
	v.t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range complaints {
			v.t.Errorf("the browser complains: %s", c)
		}
	})
}

// do takes steps that do not navigate.
func (v *browserUser) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	v.t.Helper()
	_, err := retryStaleNodes(v, func(ctx context.Context) (chromedp.Void, error) {
		return chromedp.Void{}, chromedp.Do(ctx, steps...)
	})
	if err != nil {
		v.t.Fatalf("%s: %v; the page at %s shows:\n%s", what, err, v.address(), v.text())
	}
}

// leave takes steps that navigate to another page and returns its response.
func (v *browserUser) leave(what string, steps ...chromedp.Action[chromedp.Void]) *network.Response {
	v.t.Helper()
	resp, err := retryStaleNodes(v, func(ctx context.Context) (*network.Response, error) {
		return chromedp.RunResponse(ctx, steps...)
	})
	if err != nil {
		v.t.Fatalf("%s: %v; the page at %s shows:\n%s", what, err, v.address(), v.text())
	}
	return resp
}

// read returns something of the page.
func read[T any](v *browserUser, a chromedp.Action[T]) T {
	v.t.Helper()
	value, err := retryStaleNodes(v, func(ctx context.Context) (T, error) { return chromedp.Run(ctx, a) })
	if err != nil {
		v.t.Fatal(err)
	}
	return value
}

// retryStaleNodes repeats a step whose element got another id before it was used: chromedp
// assigns new ids while it reads a new page.
func retryStaleNodes[T any](v *browserUser, step func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(v.ctx, pageTimeout)
	defer cancel()
	for {
		value, err := step(ctx)
		if e, ok := errors.AsType[*cdproto.Error](err); ok && strings.Contains(e.Message, "node with given id") && ctx.Err() == nil {
			continue
		}
		return value, err
	}
}

func (v *browserUser) open(address string) *network.Response {
	v.t.Helper()
	return v.leave("open "+address, chromedp.Navigate(address))
}

// press presses the link or button with a label, and waits for the next page.
func (v *browserUser) press(label string) *network.Response {
	v.t.Helper()
	return v.leave("press "+label, chromedp.Click(fmt.Sprintf(`//*[self::a or self::button][contains(normalize-space(.), %q)]`, label)))
}

// fill types into the field with a label. SendKeys of chromedp reads the attributes of the
// field without the lock under which it changes them: scripts change them.
func (v *browserUser) fill(label, text string) {
	v.t.Helper()
	field := fmt.Sprintf(`//input[@id = //label[normalize-space(.) = %[1]q]/@for or @aria-label = %[1]q]`, label)
	v.do("fill in "+label, chromedp.Clear(field), chromedp.Focus(field, chromedp.NodeVisible), chromedp.KeyEvent(text))
}

func (v *browserUser) text() string {
	return read(v, chromedp.EvaluateAsDevTools[string]("document.body.innerText"))
}
func (v *browserUser) address() string { return read(v, chromedp.Location()) }

// sees checks that the page shows a text.
func (v *browserUser) sees(want ...string) {
	v.t.Helper()
	got := v.text()
	for _, w := range want {
		if !strings.Contains(got, w) {
			v.t.Errorf("the page at %s does not show %q; it shows:\n%s", v.address(), w, got)
		}
	}
}

// isAt checks the path of the page.
func (v *browserUser) isAt(path string) {
	v.t.Helper()
	u, err := url.Parse(v.address())
	if err != nil {
		v.t.Fatal(err)
	}
	if u.Path != path {
		v.t.Fatalf("the browser is at %s, want %s; the page shows:\n%s", u, path, v.text())
	}
}

// cookies returns the cookies of a site.
func (v *browserUser) cookies(site string) map[string]*network.Cookie {
	v.t.Helper()
	got, err := chromedp.Call(v.ctx, network.GetCookies, network.GetCookiesParams{URLs: []string{site}})
	if err != nil {
		v.t.Fatal(err)
	}
	named := map[string]*network.Cookie{}
	for _, c := range got.Cookies {
		named[c.Name] = c
	}
	return named
}

// session requests the session route, as a script of the site would. It returns nil
// if the browser is signed out.
func (v *browserUser) session(site string) map[string]any {
	v.t.Helper()
	before := v.address()
	v.open(site + "/auth/session")
	var session map[string]any
	if err := json.Unmarshal([]byte(v.text()), &session); err != nil {
		v.t.Fatalf("the session route returns %q: %v", v.text(), err)
	}
	v.open(before)
	return session
}

func (v *browserUser) emulate(width int64, scheme string) {
	v.t.Helper()
	v.do("resize the window", chromedp.EmulateViewport(width, 800))
	v.prefers(scheme)
}

// prefers sets the colour scheme of the user.
func (v *browserUser) prefers(scheme string) {
	v.t.Helper()
	setting(v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme},
			{Name: "prefers-reduced-motion", Value: "reduce"}, // a picture is no place for a transition
		},
	})
}

// withoutScripts turns JavaScript off.
func (v *browserUser) withoutScripts() *browserUser {
	v.t.Helper()
	setting(v, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	return v
}

func setting[P any](v *browserUser, command cdp.Command[P, cdp.Empty], params P) {
	v.t.Helper()
	if _, err := chromedp.Call(v.ctx, command, params); err != nil {
		v.t.Fatal(err)
	}
}

// picture writes the page as it looks now to a file, if someone wants to see it.
func (v *browserUser) picture(name string) {
	v.t.Helper()
	dir := os.Getenv("PINTLE_SCREENSHOTS")
	if dir == "" {
		return // a picture takes longer than all else that a test does with a page
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		v.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), read(v, chromedp.FullScreenshot(100)), 0o644); err != nil {
		v.t.Fatal(err)
	}
}
