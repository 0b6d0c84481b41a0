package services

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	startTimeout = 60 * time.Second // MariaDB under the race detector on a busy machine
	stopTimeout  = 20 * time.Second
)

// A Server is a running server. It keeps its data directory and its loopback port
// when it is stopped and started again. Its methods must not be called
// concurrently.
type Server struct {
	// Addr is the host and port it listens on.
	Addr string
	// URL is the address for clients, in the form of the usual driver.
	URL string

	name string
	dir  string
	// command prepares the process for one run.
	command func(port string) *exec.Cmd
	// ready reports whether the server answers.
	ready func(ctx context.Context) error
	// goodbye is the signal for an orderly shutdown.
	goodbye syscall.Signal

	cmd    *exec.Cmd
	output *tail
	exited chan struct{}
}

// Stop shuts the server down, as its operator would, and waits. Stopping a stopped
// server does nothing.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if err := s.stop(s.goodbye); err != nil {
		t.Fatal(err)
	}
}

// Kill ends the server at once, as a power cut would.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	if err := s.stop(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// Start runs a stopped server again, with the same data on the same port, and waits
// until it responds. Another connection may use the port meanwhile, so it tries
// more than once.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	var errs []error
	for range 3 {
		err := s.start()
		if err == nil {
			return
		}
		errs = append(errs, err)
		time.Sleep(time.Second)
	}
	t.Fatal(errors.Join(errs...))
}

// Restart stops the server and starts it again.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.Stop(t)
	s.Start(t)
}

// open starts a server for the first time, on a port found free.
//
// Another process may take the port before the server does, so a failed start
// is tried again on another one.
func (s *Server) open(url func(addr string) string) error {
	var errs []error
	for range 3 {
		addr, err := freeAddr()
		if err != nil {
			return errors.Join(err, s.close())
		}
		s.Addr, s.URL = addr, url(addr)
		if err = s.start(); err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(append(errs, s.close())...)
}

// ownedBy ends the server and removes its files when the test ends.
func (s *Server) ownedBy(t testing.TB) *Server {
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *Server) close() error {
	return errors.Join(s.stop(s.goodbye), os.RemoveAll(s.dir))
}

func (s *Server) start() error {
	_, port, err := net.SplitHostPort(s.Addr)
	if err != nil {
		return fmt.Errorf("services: start %s: %w", s.name, err)
	}
	s.cmd = s.command(port)
	s.output = &tail{}
	s.cmd.Stdout, s.cmd.Stderr = s.output, s.output
	if err := s.cmd.Start(); err != nil {
		return fmt.Errorf("services: start %s: %w", s.name, err)
	}
	exited := make(chan struct{})
	s.exited = exited
	go func() {
		// The errors below have the server's output, with the reason.
		_ = s.cmd.Wait()
		close(exited)
	}()

	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for {
		err := s.ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-s.exited:
			return fmt.Errorf("services: %s ended while starting; it printed:\n%s", s.name, s.output)
		case <-ctx.Done():
			return errors.Join(
				fmt.Errorf("services: %s does not answer after %s: %w; it printed:\n%s", s.name, startTimeout, err, s.output),
				s.stop(syscall.SIGKILL))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *Server) stop(sig syscall.Signal) error {
	if s.exited == nil {
		return nil
	}
	defer func() { s.exited = nil }()
	if err := s.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("services: stop %s: %w", s.name, err)
	}
	select {
	case <-s.exited:
		return nil
	case <-time.After(stopTimeout):
	}
	if err := s.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("services: kill %s: %w", s.name, err)
	}
	<-s.exited
	return fmt.Errorf("services: %s did not stop within %s; it printed:\n%s", s.name, stopTimeout, s.output)
}

// run runs a program to its end, for the steps that prepare a data directory.
func run(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("services: %s: %w; it printed:\n%s", filepath.Base(cmd.Path), err, out)
	}
	return nil
}

// freeAddr returns a loopback address with a free port.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("services: find a free port: %w", err)
	}
	return l.Addr().String(), l.Close()
}

// freePort is the port of [freeAddr].
func freePort() (string, error) {
	addr, err := freeAddr()
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(addr)
	return port, err
}

// tail keeps the end of a server's output.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailSize = 8 << 10

func (b *tail) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.buf = append(b.buf, p...)
	if over := len(b.buf) - tailSize; over > 0 {
		b.buf = b.buf[over:]
	}
	return len(p), nil
}

func (b *tail) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(bytes.TrimSpace(b.buf))
}
