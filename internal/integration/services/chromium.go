package services

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// browserTimeout ends a browser whose page waits for something that never comes.
const browserTimeout = 2 * time.Minute

// Chromium starts a headless Chromium with an empty profile for this test and
// returns the context that [chromedp.Do] wants. Further options are applied
// last, for example
//
//	chromedp.Flag("ignore-certificate-errors", true) // httptest's certificate
//	chromedp.Flag("host-resolver-rules", "MAP *.example.test 127.0.0.1")
func Chromium(t testing.TB, options ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	path, err := browser()
	if err != nil {
		t.Fatal(err)
	}
	all := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.UserDataDir(t.TempDir()),
		chromedp.WSURLReadTimeout(startTimeout),
		// The tests are its only network: anything else it asks for is noise.
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-domain-reliability", true),
		chromedp.Flag("disable-quic", true),
		chromedp.DisableGPU,
	)
	if os.Geteuid() == 0 {
		all = append(all, chromedp.NoSandbox) // the sandbox refuses root
	}

	ctx, cancel := context.WithTimeout(context.Background(), browserTimeout)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, append(all, options...)...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("services: start %s: %v", path, err)
	}
	// Closing it, not killing it, lets go of the profile directory first.
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Logf("services: close %s: %v", path, err)
		}
	})
	return ctx
}

func browser() (string, error) {
	for _, name := range []string{"chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return program("chromium")
}
