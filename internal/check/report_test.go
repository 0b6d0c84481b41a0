package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAReportOfPassingTestsIsShort(t *testing.T) {
	r, out := reported(t,
		`{"Action":"output","Package":"`+module+`/token","Test":"TestA","Output":"=== RUN   TestA\n"}`,
		`{"Action":"pass","Package":"`+module+`/token","Test":"TestA/SH-01_a_sub"}`,
		`{"Action":"pass","Package":"`+module+`/token","Test":"TestA"}`,
		`{"Action":"output","Package":"`+module+`/token","Output":"PASS\n"}`,
		`{"Action":"output","Package":"`+module+`/token","Output":"ok  \tgithub.com/pintleauth/pintle/token\t0.1s\n"}`,
		`{"Action":"pass","Package":"`+module+`/token"}`,
	)
	if r.failure() != nil || out != "ok  \tgithub.com/pintleauth/pintle/token\t0.1s\n" || r.counts() != "2 passed, 0 failed, 0 skipped" {
		t.Errorf("%v, %s, printed:\n%s", r.failure(), r.counts(), out)
	}
	if text := written(t, r); text != "token\tpass\tTestA\ntoken\tpass\tTestA/SH-01_a_sub\n" {
		t.Errorf("the results are %q", text)
	}
}

func TestAReportShowsWhatAFailingTestPrinted(t *testing.T) {
	r, out := reported(t,
		`{"Action":"output","Package":"`+module+`","Test":"TestA","Output":"    a_test.go:1: wrong\n"}`,
		`{"Action":"fail","Package":"`+module+`","Test":"TestA"}`,
		`{"Action":"output","Package":"`+module+`","Test":"TestB","Output":"panic: gone\n"}`,
		`{"Action":"output","Package":"`+module+`","Output":"FAIL\tgithub.com/pintleauth/pintle\t0.1s\n"}`,
		`{"Action":"fail","Package":"`+module+`"}`,
	)
	for _, want := range []string{"a_test.go:1: wrong", "panic: gone", "FAIL\t"} {
		if !strings.Contains(out, want) {
			t.Errorf("the report lacks %q:\n%s", want, out)
		}
	}
	if r.failure() == nil || r.counts() != "0 passed, 1 failed, 0 skipped" {
		t.Errorf("%v, %s", r.failure(), r.counts())
	}
	if r.again() != nil {
		t.Errorf("after a panic %v are run again", r.again())
	}
}

func TestAReportEndsWithTheTestsThatFailed(t *testing.T) {
	r, _ := reported(t, append(failing("TestA", "    a_test.go:1: wrong"), `{"Action":"fail","Package":"`+module+`/token"}`)...)
	if err := r.failure(); err == nil || !strings.Contains(err.Error(), "TestA in token failed:\n    a_test.go:1: wrong") {
		t.Errorf("the run ends with %v", err)
	}
}

func TestAReportShowsWhyABuildFailed(t *testing.T) {
	r, out := reported(t,
		`{"ImportPath":"x","Action":"build-output","Output":"a.go:1: undefined: b\n"}`,
		`{"ImportPath":"x","Action":"build-fail"}`,
		`go: something that is no event`,
	)
	if r.failure() == nil || !strings.Contains(out, "undefined: b") || !strings.Contains(out, "no event") {
		t.Errorf("%v, printed:\n%s", r.failure(), out)
	}
}

func TestFewTestsThatFailAreRunAgain(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  int
	}{
		"one of many":              {failing("TestA", "late"), 1},
		"a subtest and its parent": {append(failing("TestA/sub", "late"), failing("TestA", "")...), 1},
		"a data race":              {failing("TestA", "testing.go:1: race detected during execution of test"), 0},
		"a report of a data race":  {append(failing("TestA/sub", "WARNING: DATA RACE"), failing("TestA", "")...), 0},
		"many": {append(append(failing("TestA", ""), failing("TestB", "")...),
			append(failing("TestC", ""), failing("TestD", "")...)...), 0},
		"a package that ended early": {[]string{`{"Action":"fail","Package":"` + module + `/token"}`}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := reported(t, c.lines...)
			if got := r.again(); len(got) != c.want {
				t.Errorf("%v are run again", got)
			}
			if r.failure() == nil {
				t.Error("the run counts as passed")
			}
		})
	}
}

func TestATestThatPassesAloneCountsAsPassed(t *testing.T) {
	r, _ := reported(t, append(append(failing("TestA/sub", "late"), failing("TestA", "")...), failing("TestAB", "")...)...)
	second, _ := reported(t, `{"Action":"pass","Package":"`+module+`/token","Test":"TestA/sub"}`,
		`{"Action":"pass","Package":"`+module+`/token","Test":"TestA"}`)
	r.replace(key{module + "/token", "TestA"}, second)
	if text := written(t, r); text != "token\tfail\tTestAB\ntoken\tpass\tTestA\ntoken\tpass\tTestA/sub\n" {
		t.Errorf("the results are %q", text)
	}
}

func TestATestThatIsUnsteadyIsNamedAndOneThatFailsStaysFailed(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module " + module + "/once\n\ngo 1.25\n",
		"once_test.go": `package once

import (
	"os"
	"testing"
)

func TestOnce(t *testing.T) {
	_, err := os.Stat("ran")
	if os.WriteFile("ran", nil, 0o600); err != nil {
		t.Error("the first run")
	}
}

func TestAlways(t *testing.T) { t.Error("always") }
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	c := &check{dir: dir, out: &out}
	r, err := c.test(t.Context(), nil, "./...")
	if err != nil || len(r.again()) != 2 {
		t.Fatalf("%v, %v are run again:\n%s", err, r.again(), &out)
	}
	for _, k := range r.again() {
		if err := c.testAgain(t.Context(), nil, r, k); err != nil {
			t.Fatal(err)
		}
	}
	if text := written(t, r); text != "once\tfail\tTestAlways\nonce\tpass\tTestOnce\n" {
		t.Errorf("the results are %q", text)
	}
	if !strings.Contains(out.String(), "UNSTEADY: TestOnce in once") || strings.Contains(out.String(), "UNSTEADY: TestAlways") {
		t.Errorf("printed:\n%s", &out)
	}
}

func TestAReportListsTheSlowestTests(t *testing.T) {
	r, _ := reported(t,
		`{"Action":"pass","Package":"`+module+`/token","Test":"TestA","Elapsed":1.5}`,
		`{"Action":"pass","Package":"`+module+`/token","Test":"TestB/sub","Elapsed":30}`,
		`{"Action":"pass","Package":"`+module+`/token","Test":"TestB","Elapsed":31}`,
		`{"Action":"pass","Package":"`+module+`","Test":"TestC","Elapsed":0.1}`,
	)
	if got := r.slowest(2); got != "   31.0 s  TestB in token\n    1.5 s  TestA in token\n" {
		t.Errorf("the slowest are\n%s", got)
	}
}

func failing(test, said string) []string {
	return []string{
		`{"Action":"output","Package":"` + module + `/token","Test":"` + test + `","Output":"` + said + `\n"}`,
		`{"Action":"fail","Package":"` + module + `/token","Test":"` + test + `"}`,
	}
}

func reported(t *testing.T, lines ...string) (r *report, out string) {
	t.Helper()
	var b strings.Builder
	r, err := readTests(strings.NewReader(strings.Join(lines, "\n")+"\n"), &b)
	if err != nil {
		t.Fatal(err)
	}
	return r, b.String()
}

func written(t *testing.T, r *report) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tmp", "tests.tsv")
	if err := r.write(file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
