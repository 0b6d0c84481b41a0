package reverseproxy

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pintleauth/pintle/health"
	"github.com/pintleauth/pintle/internal/integration/services"
)

// A process is one of two that serve the site.
type process struct {
	*httptest.Server
	unready atomic.Bool
}

func startProcess(t *testing.T, name string) *process {
	p := &process{}
	mux := http.NewServeMux()
	mux.Handle("/ready", health.Handler([]health.Check{{Name: "sessions", Required: true, Keep: time.Millisecond, Run: func(context.Context) error {
		if p.unready.Load() {
			return errors.New("the database does not answer")
		}
		return nil
	}}}, health.Options{Logger: slog.New(slog.DiscardHandler)}))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, name) })
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

func (p *process) address() string { return p.Listener.Addr().String() }

// answers returns how many of twenty requests each process has answered, by its name. A request
// without the answer of a process fails the test.
func (a *application) answers(t *testing.T, method string) map[string]int {
	t.Helper()
	by := map[string]int{}
	for range 20 {
		resp, text := a.do(t, method, home, http.NoBody)
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s has status %d: %s", method, resp.StatusCode, text)
		}
		by[text]++
	}
	return by
}

// waitFor waits until only a process answers.
func (a *application) waitFor(t *testing.T, name string) {
	t.Helper()
	var by map[string]int
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if by = a.answers(t, http.MethodGet); by[name] == 20 {
			return
		}
	}
	t.Fatalf("the requests are answered by %v, want by %s alone", by, name)
}

func TestCaddyLeavesOutAProcessThatIsNotReady(t *testing.T) {
	t.Parallel()
	first, second := startProcess(t, "first"), startProcess(t, "second")
	config := replace(t, block(t, "caddy", 1), "127.0.0.1:3000 127.0.0.1:3001", first.address()+" "+second.address())
	config = replace(t, config, "health_interval 5s", "health_interval 200ms")
	a := &application{front: services.Caddy(t, "app.example.com", func(services.Site) string { return config })}
	if by := a.answers(t, http.MethodGet); by["first"] == 0 || by["second"] == 0 {
		t.Errorf("the requests are answered by %v, want by both", by)
	}
	second.unready.Store(true)
	a.waitFor(t, "first")
	second.unready.Store(false)
	first.unready.Store(true)
	a.waitFor(t, "second")
	first.unready.Store(false)
	second.Close() // the process ends, and no probe has seen it
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if by := a.answers(t, method); by["first"] != 20 {
			t.Errorf("after the end of a process %s is answered by %v", method, by)
		}
	}
}

func TestNginxLeavesOutAProcessThatHasEnded(t *testing.T) {
	t.Parallel()
	first, second := startProcess(t, "first"), startProcess(t, "second")
	upstream := replace(t, block(t, "nginx", 1), "127.0.0.1:3000", first.address())
	upstream = replace(t, upstream, "127.0.0.1:3001", second.address())
	config := replace(t, configuration(t, "nginx"), "proxy_pass         http://127.0.0.1:3000;", "proxy_pass http://app; proxy_connect_timeout 2s;")
	a := &application{front: startNginx(t, upstream+config, "")}
	if by := a.answers(t, http.MethodGet); by["first"] == 0 || by["second"] == 0 {
		t.Errorf("the requests are answered by %v, want by both", by)
	}
	second.Close()
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		if by := a.answers(t, method); by["first"] != 20 {
			t.Errorf("after the end of a process %s is answered by %v", method, by)
		}
	}
}
