package services

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

// once holds the servers and the browser that the tests of one binary share. A process-wide
// variable is right here: the thing it describes is the test process.
var once struct {
	sync.Mutex
	running  bool
	servers  map[string]*Server
	chromium *chromium // nil until a test needs it
}

// Run runs the tests of m, stops the servers that they shared and returns the exit
// code for [os.Exit].
func Run(m *testing.M) int {
	once.Lock()
	once.running = true
	once.servers = make(map[string]*Server)
	once.Unlock()

	code := m.Run()

	once.Lock()
	defer once.Unlock()
	once.running = false
	var errs []error
	if once.chromium != nil {
		errs = append(errs, once.chromium.close())
		once.chromium = nil
	}
	for _, s := range once.servers {
		errs = append(errs, s.close())
	}
	if err := errors.Join(errs...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// shared returns the binary's server of that name, started on first use.
func shared(t testing.TB, name string, start func() (*Server, error)) *Server {
	t.Helper()
	once.Lock()
	defer once.Unlock()
	if !once.running {
		t.Fatal("services: a shared server needs a TestMain that calls services.Run")
	}
	if s := once.servers[name]; s != nil {
		return s
	}
	s, err := start()
	if err != nil {
		t.Fatal(err)
	}
	once.servers[name] = s
	return s
}
