package pintle

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TM-02. Each value of an attribute costs the operator of a metric, and hosts make codes of any text.
func TestAnObserverSeesTheCodesOfThisPackageOnly(t *testing.T) {
	source, err := os.ReadFile("errors.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`Code = "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	if len(codes) < 50 {
		t.Errorf("errors.go has %d codes", len(codes))
	}
	for _, match := range codes {
		if code := Code(match[1]); code.bounded() != code {
			t.Errorf("an observer sees %q for %q", code.bounded(), code)
		}
	}
	for _, code := range []Code{"ada@example.com", "", "access_denied"} {
		if seen := code.bounded(); seen != "other" {
			t.Errorf("an observer sees %q for %q", seen, code)
		}
	}
}

// A host compares outcomes with texts, and metrics have them: one that no list has is a case
// that no switch and no alert has.
func TestTheListsOfOutcomesAreComplete(t *testing.T) {
	guide, err := os.ReadFile("docs/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("observe.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		field, row string
		returned   []string // by the functions that have no other texts
	}{
		{"Result string", "sessions", append(textsIn(t, "sessions.go", "name"), textsIn(t, "sessions.go", "observeSession")...)},
		{"Outcome string", "sign-ins", slices.Concat(textsIn(t, "exchange.go", "outcomeOf"), textsIn(t, "exchange.go", "failureOf"), observedAs(t))},
	} {
		comment, _, _ := strings.Cut(string(source), "\t"+c.field)
		comment = comment[strings.LastIndex(comment, "is what came of it:"):]
		row := regexp.MustCompile(`(?m)^\| ` + c.row + ` \|.*$`).FindString(string(guide))
		want := sorted(c.returned)
		if got := sorted(wordsOf(`- "(\w+)":`, comment)); !slices.Equal(got, want) {
			t.Errorf("observe.go lists %q of %s, want %q", got, c.field, want)
		}
		if got := sorted(wordsOf("`([a-z_]+)`", row)); !slices.Equal(got, want) {
			t.Errorf("docs/observability.md lists %q of %s, want %q", got, c.row, want)
		}
	}
}

func wordsOf(expression, text string) (all []string) {
	for _, match := range regexp.MustCompile(expression).FindAllStringSubmatch(text, -1) {
		all = append(all, match[1])
	}
	return all
}

func sorted(all []string) []string {
	slices.Sort(all)
	return slices.Compact(all)
}

// textsIn are the texts in a function of a file.
func textsIn(t *testing.T, file, function string) (all []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range parsed.Decls {
		if f, is := d.(*ast.FuncDecl); is && f.Name.Name == function {
			ast.Inspect(f, func(n ast.Node) bool {
				if text, is := n.(*ast.BasicLit); is && text.Kind == token.STRING && text.Value != `""` {
					all = append(all, strings.Trim(text.Value, `"`))
				}
				return true
			})
		}
	}
	if len(all) == 0 {
		t.Fatalf("%s has no function %s with texts", file, function)
	}
	return all
}

// observedAs are the outcomes that callers of observeSignIn name.
func observedAs(t *testing.T) (all []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(file, "_test.go") {
			all = append(all, wordsOf(`observeSignIn\("(\w+)"`, string(source))...)
		}
	}
	return all
}
