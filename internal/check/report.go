package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const module = "github.com/pintleauth/pintle"

// A report is what a run of "go test -json" said.
type report struct {
	out io.Writer

	output map[key]string // what tests that have not ended have printed
	ends   []end          // of tests and subtests, in the order in which they ended
	broken bool           // a build failed, or a package without a test that failed
}

// A key names a test or a subtest, or a package if test is empty.
type key struct{ pkg, test string }

// An end is how a test or a subtest ended.
type end struct {
	key
	action  string  // "pass", "fail" or "skip"
	said    string  // what a test that failed has printed
	elapsed float64 // seconds
}

// An event is one line of "go test -json": see "go doc test2json".
type event struct {
	Action     string
	Package    string
	ImportPath string
	Test       string
	Output     string
	Elapsed    float64 // seconds
}

// readTests prints what "go test -json" writes as "go test" prints it without that flag.
func readTests(in io.Reader, out io.Writer) (*report, error) {
	r := &report{out: out, output: map[key]string{}}
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
			return r, nil
		}
		if err != nil {
			return r, err
		}
	}
}

func (r *report) add(e event) {
	k := key{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		_, _ = io.WriteString(r.out, e.Output)
	case "build-fail":
		r.broken = true
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
	n := end{key: key{e.Package, e.Test}, action: e.Action, elapsed: e.Elapsed}
	if e.Action == "fail" {
		n.said = r.output[n.key]
		_, _ = io.WriteString(r.out, n.said)
	}
	r.ends = append(r.ends, n)
	delete(r.output, n.key)
}

func (r *report) endPackage(e event) {
	if e.Action == "fail" {
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
		failed := slices.ContainsFunc(r.ends, func(n end) bool { return n.pkg == e.Package && n.action == "fail" })
		r.broken = r.broken || !failed || left != nil
	}
	k := key{pkg: e.Package}
	if said := r.output[k]; e.Action == "fail" || !strings.Contains(said, "[no test files]") {
		_, _ = io.WriteString(r.out, said)
	}
	delete(r.output, k)
}

// mostAgain is how many tests may fail for [report.again].
const mostAgain = 3

// again returns the tests that are worth running again: those of a run in which
// everything was built and few tests failed. A data race is a fault of the code, which
// is not always seen, and a test that met one has failed for good.
func (r *report) again() []key {
	if r.broken {
		return nil
	}
	var found []key
	for _, n := range r.ends {
		if n.action != "fail" {
			continue
		}
		if strings.Contains(n.said, "DATA RACE") || strings.Contains(n.said, "race detected") {
			return nil
		}
		if !strings.Contains(n.test, "/") {
			found = append(found, n.key)
		}
	}
	if len(found) > mostAgain {
		return nil
	}
	return found
}

func (r *report) passed(k key) bool {
	return slices.ContainsFunc(r.ends, func(n end) bool { return n.key == k && n.action == "pass" })
}

// replace takes the ends of a test and its subtests from another run.
func (r *report) replace(k key, by *report) {
	of := func(n end) bool { return n.pkg == k.pkg && (n.test == k.test || strings.HasPrefix(n.test, k.test+"/")) }
	r.ends = slices.DeleteFunc(r.ends, of)
	for _, n := range by.ends {
		if of(n) {
			r.ends = append(r.ends, n)
		}
	}
}

// write writes the ends to a file. A line of it is a directory of the repository,
// "pass", "fail" or "skip", and the name of a test or subtest, separated by tabs.
func (r *report) write(file string) error {
	var lines []string
	for _, n := range r.ends {
		lines = append(lines, n.dir()+"\t"+n.action+"\t"+n.test+"\n")
	}
	slices.Sort(lines)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strings.Join(slices.Compact(lines), "")), 0o644)
}

// dir is the directory of the package in the repository.
func (k key) dir() string {
	if dir := strings.TrimPrefix(strings.TrimPrefix(k.pkg, module), "/"); dir != "" {
		return dir
	}
	return "."
}

func (r *report) counts() string {
	counts := map[string]int{}
	for _, n := range r.ends {
		counts[n.action]++
	}
	return fmt.Sprintf("%d passed, %d failed, %d skipped", counts["pass"], counts["fail"], counts["skip"])
}

// slowest lists the tests without their subtests that took longest: where a run that
// has become too long can be cut. Tests that wait for each other are among them.
func (r *report) slowest(most int) string {
	tests := slices.DeleteFunc(slices.Clone(r.ends), func(n end) bool { return strings.Contains(n.test, "/") })
	slices.SortStableFunc(tests, func(a, b end) int { return cmp.Compare(b.elapsed, a.elapsed) })
	var b strings.Builder
	for _, n := range tests[:min(most, len(tests))] {
		fmt.Fprintf(&b, "%7.1f s  %s in %s\n", n.elapsed, n.test, n.dir())
	}
	return b.String()
}

// failure returns nil if everything passed. Otherwise it repeats which tests failed and
// the end of what they printed, because the log of a whole run is long.
func (r *report) failure() error {
	var errs []error
	for _, n := range r.ends {
		if n.action == "fail" {
			errs = append(errs, fmt.Errorf("%s in %s failed:\n%s", n.test, n.dir(), last(n.said, 8)))
		}
	}
	if r.broken {
		errs = append(errs, errors.New("a package could not be built or ended early: see above"))
	}
	return errors.Join(errs...)
}

// last returns the last lines of a text that say what went wrong.
func last(text string, most int) string {
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "=== ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-most):], "")
}
