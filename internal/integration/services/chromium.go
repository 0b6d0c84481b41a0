package services

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// browserTimeout ends a browser whose page waits for something that never comes.
const browserTimeout = 2 * time.Minute

// Chromium starts a headless Chromium with an empty profile for this test and
// returns the context for [chromedp.Do]. Further options are applied last, for
// example
//
//	chromedp.Flag("ignore-certificate-errors", true) // httptest's certificate
//	chromedp.Flag("host-resolver-rules", "MAP *.example.test 127.0.0.1")
func Chromium(t testing.TB, options ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), browserTimeout)
	t.Cleanup(cancel)
	c, err := startChromium(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.close(); err != nil {
			t.Log(err)
		}
	})
	return c.ctx
}

// SharedChromium returns the browser that the tests of this binary share. Each test
// makes its own profile in it, with [chromedp.WithNewBrowserContext].
func SharedChromium(t testing.TB) context.Context {
	t.Helper()
	once.Lock()
	defer once.Unlock()
	if !once.running {
		t.Fatal("services: a shared browser needs a TestMain that calls services.Run")
	}
	if once.chromium == nil {
		c, err := startChromium(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		once.chromium = c
	}
	return once.chromium.ctx
}

// A chromium is a browser that runs.
type chromium struct {
	ctx     context.Context // it is how chromedp calls a browser
	profile string
	end     context.CancelFunc
}

func startChromium(ctx context.Context, options []chromedp.ExecAllocatorOption) (*chromium, error) {
	path, err := browser()
	if err != nil {
		return nil, err
	}
	profile, err := os.MkdirTemp("", "pintle-chromium-")
	if err != nil {
		return nil, fmt.Errorf("services: %w", err)
	}
	all := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.UserDataDir(profile),
		chromedp.WSURLReadTimeout(startTimeout),
		// The tests are its only network: other requests are unwanted.
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-domain-reliability", true),
		chromedp.Flag("disable-quic", true),
		chromedp.DisableGPU,
	)
	if os.Geteuid() == 0 {
		all = append(all, chromedp.NoSandbox) // the sandbox does not run as root
	}

	ctx, endAllocator := chromedp.NewExecAllocator(ctx, append(all, options...)...)
	ctx, endBrowser := chromedp.NewContext(ctx)
	c := &chromium{ctx, profile, func() { endBrowser(); endAllocator() }}
	if err := chromedp.Do(ctx); err != nil {
		c.end()
		_ = os.RemoveAll(profile)
		return nil, fmt.Errorf("services: start %s: %w", path, err)
	}
	return c, nil
}

// close ends the browser and removes its profile.
func (c *chromium) close() error {
	// Closing it, not killing it, lets go of the profile first.
	err := chromedp.Cancel(c.ctx)
	c.end()
	if err = errors.Join(err, os.RemoveAll(c.profile)); err != nil {
		return fmt.Errorf("services: close Chromium: %w", err)
	}
	return nil
}

// ChromiumPath returns the program that [Chromium] starts, for tests that drive
// it with something other than chromedp.
func ChromiumPath(t testing.TB) string {
	t.Helper()
	path, err := browser()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func browser() (string, error) {
	for _, name := range []string{"chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return program("chromium")
}
