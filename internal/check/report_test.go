package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAReportOfPassingTestsIsShort(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tests.tsv")
	out, failed := reported(t, file,
		`{"Action":"output","Package":"`+module+`/token","Test":"TestA","Output":"=== RUN   TestA\n"}`,
		`{"Action":"pass","Package":"`+module+`/token","Test":"TestA/SH-01_a_sub"}`,
		`{"Action":"pass","Package":"`+module+`/token","Test":"TestA"}`,
		`{"Action":"output","Package":"`+module+`/token","Output":"PASS\n"}`,
		`{"Action":"output","Package":"`+module+`/token","Output":"ok  \tgithub.com/pintleauth/pintle/token\t0.1s\n"}`,
		`{"Action":"pass","Package":"`+module+`/token"}`,
	)
	if failed || out != "ok  \tgithub.com/pintleauth/pintle/token\t0.1s\n2 passed, 0 failed, 0 skipped\n" {
		t.Errorf("failed = %t, printed:\n%s", failed, out)
	}
	text, err := os.ReadFile(file)
	if err != nil || string(text) != "token\tpass\tTestA\ntoken\tpass\tTestA/SH-01_a_sub\n" {
		t.Errorf("the results are %q, %v", text, err)
	}
}

func TestAReportShowsWhatAFailingTestPrinted(t *testing.T) {
	out, failed := reported(t, filepath.Join(t.TempDir(), "tests.tsv"),
		`{"Action":"output","Package":"`+module+`","Test":"TestA","Output":"    a_test.go:1: wrong\n"}`,
		`{"Action":"fail","Package":"`+module+`","Test":"TestA"}`,
		`{"Action":"output","Package":"`+module+`","Test":"TestB","Output":"panic: gone\n"}`,
		`{"Action":"output","Package":"`+module+`","Output":"FAIL\tgithub.com/pintleauth/pintle\t0.1s\n"}`,
		`{"Action":"fail","Package":"`+module+`"}`,
	)
	for _, want := range []string{"a_test.go:1: wrong", "panic: gone", "FAIL\t", "0 passed, 1 failed"} {
		if !strings.Contains(out, want) {
			t.Errorf("the report lacks %q:\n%s", want, out)
		}
	}
	if !failed {
		t.Error("the run counts as passed")
	}
}

func TestAReportShowsWhyABuildFailed(t *testing.T) {
	out, failed := reported(t, filepath.Join(t.TempDir(), "tests.tsv"),
		`{"ImportPath":"x","Action":"build-output","Output":"a.go:1: undefined: b\n"}`,
		`{"ImportPath":"x","Action":"build-fail"}`,
		`go: something that is no event`,
	)
	if !failed || !strings.Contains(out, "undefined: b") || !strings.Contains(out, "no event") {
		t.Errorf("failed = %t, printed:\n%s", failed, out)
	}
}

func reported(t *testing.T, file string, lines ...string) (out string, failed bool) {
	t.Helper()
	var b strings.Builder
	failed, err := printTests(strings.NewReader(strings.Join(lines, "\n")+"\n"), &b, file)
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), failed
}
