package clients_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
)

// The application guards a page with its own middleware, reads the session in
// a server component and changes it in the browser, all with next-auth, while
// Pintle answers /api/auth.
func TestANextApplicationReadsTheSessionsPintleMakes(t *testing.T) {
	const secret = "the secret of the application and its server"
	cfg := config(t, secret)
	cfg.TrustHost = true // Next.js says in X-Forwarded-Host where it is
	srv := httptest.NewServer(newAuth(t, cfg))
	t.Cleanup(srv.Close)
	app := nextApp(t, "AUTH_SECRET="+secret, "PINTLE_URL="+srv.URL)

	p := newBrowser(t).visitor(t, "next")
	p.open(app)
	p.becomes("empty", `document.querySelector("h1")?.textContent === "Nobody is here"`)

	p.open(app + "/members")
	p.becomes("at the sign-in page of Pintle", `location.pathname === "/api/auth/signin" && document.querySelector("[name=username]")`)
	if host := p.evaluate("location.origin"); host != app {
		t.Errorf("the sign-in page is at %s, want it at the application, %s", host, app)
	}
	p.picture("sign-in")
	p.do("sign in",
		chromedp.SendKeys(chromedp.CSS("[name=username]"), "mary"),
		chromedp.SendKeys(chromedp.CSS("[name=password]"), "ammonite and belemnite\r"))

	p.becomes("greeted by the server", `document.querySelector("h1")?.textContent === "Hello from the server, Mary Anning"`)
	p.isSignedIn("Mary Anning")
	p.picture("members")

	p.press("Rename")
	p.isSignedIn(renamed)
	p.open(app + "/members")
	p.becomes("greeted by the new name", `document.querySelector("h1")?.textContent === "Hello from the server, `+renamed+`"`)

	p.open(app + "/token")
	if token := p.evaluate("document.body.innerText"); !strings.Contains(token, `"email":"mary@example.com"`) {
		t.Errorf("getToken gives %s, want the claims of Mary", token)
	}

	p.open(app + "/members")
	p.isSignedIn(renamed)
	p.press("Sign out")
	p.becomes("empty again", `location.pathname === "/" && document.querySelector("h1")?.textContent === "Nobody is here"`)
}

// nextApp builds the application, starts it on a free port and returns where it
// is.
func nextApp(t *testing.T, env ...string) string {
	t.Helper()
	env = append(append(os.Environ(), "NEXT_TELEMETRY_DISABLED=1", "NODE_ENV=production"), env...)
	next := func(args ...string) *exec.Cmd {
		cmd := exec.Command("node", append([]string{"node_modules/next/dist/bin/next"}, args...)...)
		cmd.Dir, cmd.Env = "next-app", env
		// Next.js starts processes of its own, which have to end with it.
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		return cmd
	}
	if out, err := next("build").CombinedOutput(); err != nil {
		t.Fatalf("next build: %v: scripts/setup installs what it needs\n%s", err, out)
	}
	cmd := next("start", "--hostname", "localhost", "--port", "0")
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("next printed:\n%s", &complaints)
		}
	})
	address := regexp.MustCompile(`http://localhost:[1-9]\d*`)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if found := address.FindString(lines.Text()); found != "" {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return found
		}
	}
	t.Fatalf("next did not say where it is: %v\n%s", lines.Err(), &complaints)
	return ""
}
