package twoprocesses

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/sharedstate"
)

// envStore has the store that a second process of this binary opens, as JSON.
const envStore = "TWO_PROCESSES_STORE"

// TestMain makes a process that has a store an instance of an application.
func TestMain(m *testing.M) {
	given, site := os.Getenv(envStore), os.Getenv(envSite)
	if given == "" && site == "" {
		os.Exit(services.Run(m))
	}
	var err error
	if site != "" {
		err = serve(site)
	} else {
		err = work(given)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// goroutines is how many requests each process serves at once.
const goroutines = 32

// callTimeout is for one call among 64. FerretDB needs seconds on a busy machine.
const callTimeout = 2 * time.Minute

// An order is a call that all goroutines of a process make at once.
type order struct {
	Call string

	Flow   accountstore.Hash
	Kind   string
	UserID string
	Key    sharedstate.Key
	ID     string // of a factor
	Step   int64
	Limit  int
	At     time.Time
}

// A result is what one call returned: Fault is "" for success, "conflict", "not found",
// or the text of another error.
type result struct {
	Fault   string
	Number  int    // of attempts, or of recent failures
	Payload string // of a flow
}

const (
	conflict = "conflict"
	notFound = "not found"
)

// work makes the calls that come in on standard input. It answers a first line when its
// goroutines are ready, waits for a line, and answers their results.
func work(given string) error {
	var where place
	if err := json.Unmarshal([]byte(given), &where); err != nil {
		return err
	}
	if where.Provider != "" {
		return refreshAll(where)
	}
	rows, err := where.open(context.Background())
	if err != nil {
		return err
	}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var o order
		if err := in.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		begin := prepare(rows, o)
		if err := out.Encode("ready"); err != nil {
			return err
		}
		var said string
		if err := in.Decode(&said); err != nil {
			return err
		}
		if err := out.Encode(begin()); err != nil {
			return err
		}
	}
}

// prepare starts the goroutines of a process. They make their calls once begin is called,
// which returns the results.
func prepare(rows accountstore.Store, o order) (begin func() []result) {
	results := make([]result, goroutines)
	start := make(chan struct{})
	var ready, all sync.WaitGroup
	ready.Add(goroutines)
	for i := range results {
		all.Go(func() {
			ready.Done()
			<-start
			results[i] = call(rows, o)
		})
	}
	ready.Wait()
	return func() []result {
		close(start)
		all.Wait()
		return results
	}
}

// here makes the goroutines of this process call at the same moment.
func here(rows accountstore.Store) func(order) []result {
	return func(o order) []result { return prepare(rows, o)() }
}

func call(rows accountstore.Store, o order) (r result) {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	var err error
	switch o.Call {
	case "UseFlow":
		var f *accountstore.Flow
		if f, err = rows.UseFlow(ctx, o.Flow, o.Kind); err == nil {
			r.Payload = f.Payload
		}
	case "AttemptFlow":
		r.Number, err = rows.AttemptFlow(ctx, o.Flow, o.Limit)
	case "AdvanceFactor":
		err = rows.AdvanceFactor(ctx, o.UserID, o.Kind, o.ID, o.Step, o.At)
	case "DeleteFactor":
		err = rows.DeleteFactor(ctx, o.UserID, o.Kind, o.ID)
	case "CountFailure":
		var f accountstore.Failures
		f, err = rows.CountFailure(ctx, o.UserID, o.At, time.Hour, o.Limit)
		if r.Number = f.Recent; err == nil && !f.Counted {
			err = pintle.ErrConflict
		}
	case "Once", "Lease", "Take":
		var won bool
		if won, err = decide(ctx, rows.(sharing).shared, o); err == nil && !won {
			err = pintle.ErrConflict
		}
	default:
		err = fmt.Errorf("there is no call %q", o.Call)
	}
	switch {
	case errors.Is(err, pintle.ErrConflict):
		r.Fault = conflict
	case errors.Is(err, pintle.ErrNotFound):
		r.Fault = notFound
	case err != nil:
		r.Fault = err.Error()
	}
	return r
}

// A process is an instance of the application.
type process struct {
	t   *testing.T
	in  io.Writer
	out *json.Decoder
}

// start runs a process, which ends with the test.
func start(t *testing.T, where place) *process {
	t.Helper()
	in, out := spawn(t, envStore, where)
	return &process{t, in, json.NewDecoder(out)}
}

// spawn runs this program with a value in a variable of its environment, as JSON. The
// process ends with the test, when its input is closed.
func spawn(t *testing.T, variable string, value any) (in io.Writer, out *bufio.Reader) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	given, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env, cmd.Stderr = append(os.Environ(), variable+"="+string(given)), os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("a process: %v", err)
		}
	})
	return stdin, bufio.NewReader(stdout)
}

func (p *process) send(v any) {
	p.t.Helper()
	if err := json.NewEncoder(p.in).Encode(v); err != nil {
		p.t.Fatal(err)
	}
}

func (p *process) receive(v any) {
	p.t.Helper()
	if err := p.out.Decode(v); err != nil {
		p.t.Fatalf("a process ended: %v", err)
	}
}

// both makes two processes call at the same moment. It returns what each call returned,
// those of the first process before the others.
func both(first, second *process) func(order) []result {
	return func(o order) []result {
		var said string
		for _, p := range []*process{first, second} {
			p.send(o)
			p.receive(&said)
		}
		first.send("begin")
		second.send("begin")
		var mine, others []result
		first.receive(&mine)
		second.receive(&others)
		return append(mine, others...)
	}
}
