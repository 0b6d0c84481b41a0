package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const module = "github.com/pintleauth/pintle"

// printTests prints what "go test -json" writes as "go test" prints it without
// that flag, and writes the result of each test to a file. A line of the file is a
// directory of the repository, "pass", "fail" or "skip", and the name of a test
// or subtest, separated by tabs. It reports whether a test or a build failed.
func printTests(in io.Reader, out io.Writer, results string) (failed bool, err error) {
	r := &report{out: out, output: map[key]string{}}
	if err := r.read(in); err != nil {
		return true, err
	}
	r.close()
	slices.Sort(r.lines)
	if err := os.MkdirAll(filepath.Dir(results), 0o755); err != nil {
		return true, err
	}
	return r.failed, os.WriteFile(results, []byte(strings.Join(r.lines, "")), 0o644)
}

// An event is one line of "go test -json": see "go doc test2json".
type event struct {
	Action     string
	Package    string
	ImportPath string
	Test       string
	Output     string
}

type key struct{ pkg, test string }

type report struct {
	out io.Writer

	// output is what running tests have printed. It is shown when a test fails.
	output                  map[key]string
	lines                   []string
	passed, missed, skipped int
	failed                  bool
}

func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) != nil {
				// Errors of the go command itself are no events.
				_, _ = io.WriteString(r.out, line)
			} else {
				r.add(e)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *report) add(e event) {
	k := key{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		_, _ = io.WriteString(r.out, e.Output)
	case "build-fail":
		r.failed = true
	case "output":
		if e.Test != "" || !isFraming(e.Output) {
			r.output[k] += e.Output
		}
	case "pass", "fail", "skip":
		if e.Test == "" {
			r.endPackage(e)
			return
		}
		r.endTest(e)
	}
}

// isFraming reports whether a line of a package only repeats its result.
func isFraming(line string) bool {
	return line == "PASS\n" || line == "FAIL\n"
}

func (r *report) endTest(e event) {
	dir := strings.TrimPrefix(strings.TrimPrefix(e.Package, module), "/")
	if dir == "" {
		dir = "."
	}
	r.lines = append(r.lines, dir+"\t"+e.Action+"\t"+e.Test+"\n")
	k := key{e.Package, e.Test}
	switch e.Action {
	case "pass":
		r.passed++
	case "skip":
		r.skipped++
	case "fail":
		r.missed++
		r.failed = true
		_, _ = io.WriteString(r.out, r.output[k])
	}
	delete(r.output, k)
}

func (r *report) endPackage(e event) {
	if e.Action == "fail" {
		r.failed = true
		// A test that a panic or a time-out ended has no result.
		var left []key
		for k := range r.output {
			if k.pkg == e.Package && k.test != "" {
				left = append(left, k)
			}
		}
		slices.SortFunc(left, func(a, b key) int { return strings.Compare(a.test, b.test) })
		for _, k := range left {
			_, _ = io.WriteString(r.out, r.output[k])
			delete(r.output, k)
		}
	}
	k := key{pkg: e.Package}
	if said := r.output[k]; e.Action == "fail" || !strings.Contains(said, "[no test files]") {
		_, _ = io.WriteString(r.out, said)
	}
	delete(r.output, k)
}

func (r *report) close() {
	_, _ = fmt.Fprintf(r.out, "%d passed, %d failed, %d skipped\n", r.passed, r.missed, r.skipped)
}
