package clients_test

import (
	"bufio"
	"bytes"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
)

// examples is the folder of the programs to start from.
const examples = "../../../examples"

// startExample starts a program on a free port, as a person does who reads its
// README, and returns where it is. It ends with the test, as Ctrl-C ends it.
func startExample(t *testing.T, name string) (address string) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), name)
	run(t, examples, "go", "build", "-o", binary, "./"+name)
	cmd := exec.Command(binary, "-addr", "localhost:0")
	cmd.Dir = filepath.Join(examples, "..")
	said, log, err := startAndListen(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Errorf("end %s: %v", name, err)
		}
		_ = cmd.Wait() // a program that is interrupted may say so
		if t.Failed() {
			t.Logf("%s printed:\n%s", name, log)
		}
	})
	if said == "" {
		t.Fatalf("%s did not say where it is:\n%s", name, log)
	}
	return said
}

// startAndListen starts a program and returns the address that it tells people
// to open, or "" when it ends without one.
func startAndListen(cmd *exec.Cmd) (address string, log *bytes.Buffer, err error) {
	log = new(bytes.Buffer)
	out, err := cmd.StderrPipe()
	if err != nil {
		return "", log, err
	}
	if err := cmd.Start(); err != nil {
		return "", log, err
	}
	lines := bufio.NewScanner(io.TeeReader(out, log))
	for lines.Scan() {
		if found := regexp.MustCompile(`open (http://\S+)`).FindStringSubmatch(lines.Text()); found != nil {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return found[1], log, nil
		}
	}
	return "", log, lines.Err()
}
