package adapters_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A peer is a Node.js process with an adapter. Its calls may be concurrent.
type peer struct {
	calls []string // that there are

	mu      sync.Mutex
	in      io.Writer
	last    int
	waiting map[int]chan<- said
}

// said is the result of a call.
type said struct {
	ID    int
	Value any
	Error string
}

// undefined is the undefined of JavaScript, which is not null.
type undefined struct{}

// startPeer starts a process, which ends with the test, and waits until its
// database is ready.
func startPeer(t *testing.T, adapter string, settings map[string]string) *peer {
	t.Helper()
	given, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "peer.mjs", adapter, string(given))
	// A time that goes through a wrong zone comes out wrong only where the
	// machine's own is not UTC.
	cmd.Env = append(os.Environ(), "NODE_ENV=production", "TZ=Asia/Kolkata")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaints strings.Builder
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		t.Fatalf("start node: %v: scripts/setup installs what it needs", err)
	}
	p := &peer{in: in, waiting: map[int]chan<- said{}}
	ready := make(chan said, 1)
	p.waiting[0] = ready
	read := make(chan struct{})
	go func() {
		defer close(read)
		p.listen(out)
	}()
	t.Cleanup(func() {
		_ = in.Close()
		patience := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		defer patience.Stop()
		<-read
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Logf("node: %v\n%s", err, complaints.String())
		}
	})
	greeting, ok := <-ready
	if !ok {
		t.Fatal("node ended while it started: scripts/setup installs what it needs")
	}
	for _, name := range greeting.Value.([]any) {
		p.calls = append(p.calls, name.(string))
	}
	return p
}

// listen hands on the answers until there are no more.
func (p *peer) listen(out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		p.mu.Lock()
		if err != nil {
			for id, answer := range p.waiting {
				delete(p.waiting, id)
				close(answer)
			}
			p.waiting = nil
			p.mu.Unlock()
			return
		}
		var s said
		d := json.NewDecoder(strings.NewReader(string(line)))
		d.UseNumber()
		if err := d.Decode(&s); err != nil {
			s.Error = "the output of node is not JSON: " + string(line)
		}
		s.Value = revived(s.Value)
		if answer := p.waiting[s.ID]; answer != nil {
			delete(p.waiting, s.ID)
			answer <- s
		}
		p.mu.Unlock()
	}
}

// revived decodes the encoded forms of dates and of undefined.
func revived(value any) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = revived(v[i])
		}
	case map[string]any:
		if text, ok := v["$date"].(string); ok {
			if date, err := time.Parse(time.RFC3339Nano, text); err == nil {
				return date
			}
		}
		if v["$undefined"] == true {
			return undefined{}
		}
		for name := range v {
			v[name] = revived(v[name])
		}
	}
	return value
}

// date encodes a time for a peer.
func date(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return map[string]string{"$date": t.UTC().Format("2006-01-02T15:04:05.000Z")}
}

func (p *peer) has(call string) bool { return slices.Contains(p.calls, call) }

// start calls a function of the adapter and returns where its answer will be.
// It may be called from every goroutine.
func (p *peer) start(call string, args ...any) <-chan said {
	answer := make(chan said, 1)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting == nil {
		close(answer)
		return answer
	}
	p.last++
	p.waiting[p.last] = answer
	err := json.NewEncoder(p.in).Encode(map[string]any{"id": p.last, "call": call, "args": args})
	if err != nil {
		delete(p.waiting, p.last)
		close(answer)
	}
	return answer
}

// call calls a function of the adapter and returns its answer.
func (p *peer) call(t *testing.T, call string, args ...any) any {
	t.Helper()
	answer, ok := <-p.start(call, args...)
	if !ok {
		t.Fatalf("%s: node has ended", call)
	}
	if answer.Error != "" {
		t.Fatalf("%s: %s", call, answer.Error)
	}
	return answer.Value
}

// nothing reports whether a result is null or undefined.
func nothing(value any) bool { return value == nil || value == undefined{} }
