package services

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Pause stops the processes of the server, which keeps its connections and answers nothing
// until Resume, or until the test ends.
func (s *Server) Pause(t testing.TB) {
	t.Helper()
	t.Cleanup(func() { s.signalAll(syscall.SIGCONT) })
	s.signalAll(syscall.SIGSTOP)
}

// Resume lets the processes of a paused server go on.
func (s *Server) Resume(testing.TB) { s.signalAll(syscall.SIGCONT) }

// signalAll sends a signal to the server and then to its children: PostgreSQL has a process
// for each connection. Processes that have ended meanwhile are left out.
func (s *Server) signalAll(sig syscall.Signal) {
	if s.exited == nil {
		return
	}
	pid := s.cmd.Process.Pid
	_ = syscall.Kill(pid, sig)
	children, _ := exec.Command("pgrep", "-P", strconv.Itoa(pid)).Output() // fails if there are none
	for text := range strings.FieldsSeq(string(children)) {
		if child, err := strconv.Atoi(text); err == nil {
			_ = syscall.Kill(child, sig)
		}
	}
}
