package docs_test

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	update  = flag.Bool("update", false, "rewrite the test columns in docs")
	results = flag.String("results", "", "the results of all tests, as make race writes them")
)

// registers are the documents whose tables name tests by identifier.
var registers = []string{"docs/compatibility.md", "docs/security.md"}

const (
	noTest        = "—"
	notApplicable = "n/a"
)

// otherClients are relying parties written by others. A test that runs one of
// them shows what authtest does and nothing about Pintle.
var otherClients = []string{"github.com/coreos/go-oidc", "golang.org/x/oauth2", "github.com/dghubble/oauth1"}

// With -results a row lists exactly the functions that ran and name its
// identifier: in their own name, in that of a subtest, in their comment or in
// their body. A test that failed counts: the run has reported it, and the row would
// otherwise lose it at the next -update. Without -results the functions have to
// exist, in order, those without subtests have to name the identifier, and all whose
// source names it have to be among them, so that most mistakes are found before all
// tests have run.
func TestRegistersListTheTestsThatHoldTheirEntries(t *testing.T) {
	functions := testFunctions(t)
	if len(functions) == 0 {
		t.Fatal("found no test in the repository")
	}
	var run []result
	if *results != "" {
		run = readResults(t)
	} else if *update {
		t.Fatal("-update needs -results: run make race, then make docs")
	}
	for _, doc := range registers {
		rows := 0
		written := mapRows(read(t, doc), func(ids []string, column string) string {
			rows++
			for _, name := range listed(column) {
				if functions[name] == nil && !*update {
					t.Errorf("%s: %s lists %s, which does not exist; run make docs", doc, ids[0], name)
				}
			}
			if *results == "" {
				checkBySource(t, functions, doc, ids, listed(column))
				return column
			}
			want := testsColumn(holding(functions, run, ids), column)
			if want != column && !*update {
				t.Errorf("%s: %s lists\n    %s\nand these ran and name it:\n    %s\nrun make docs", doc, ids[0], column, want)
			}
			return want
		})
		if rows == 0 {
			t.Errorf("%s: no table with a column of tests", doc)
		}
		if *update {
			if err := os.WriteFile(filepath.Join(root, doc), []byte(written), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func checkBySource(t *testing.T, functions map[string]*testFunction, doc string, ids, column []string) {
	t.Helper()
	if !slices.IsSorted(column) {
		t.Errorf("%s: %s lists its tests in another order than %q", doc, ids[0], slices.Sorted(slices.Values(column)))
	}
	for _, name := range column {
		// The subtests of others have names that the source does not show.
		f := functions[name]
		if f != nil && !mentionsAny(f.text, ids) && !strings.Contains(f.text, "t.Run(") && !strings.Contains(f.text, "storetest.") {
			t.Errorf("%s: %s lists %s, which does not name it", doc, ids[0], name)
		}
	}
	for name, f := range functions {
		if f.ours && f.dir != "docs" && mentionsAny(f.text, ids) && !slices.Contains(column, name) {
			t.Errorf("%s: %s does not list %s, which names it", doc, ids[0], name)
		}
	}
}

func TestTestsNameEntriesTheRegistersKnow(t *testing.T) {
	known := make(map[string]string)
	held := map[string]bool{} // the ids whose row lists tests, until a test names them
	for _, doc := range registers {
		mapRows(read(t, doc), func(ids []string, tests string) string {
			if len(ids) == 1 && len(listed(tests)) > 0 && numbered.MatchString(ids[0]) {
				held[ids[0]] = true
			}
			for _, id := range ids {
				if other, twice := known[id]; twice {
					t.Errorf("%s is in %s and in %s", id, other, doc)
				}
				known[id] = doc
			}
			return tests
		})
	}
	for _, file := range files(t, ".go", ".txtar", ".mjs", ".ts") {
		if strings.HasPrefix(file, "docs/") {
			continue
		}
		for _, match := range numbered.FindAllStringSubmatch(read(t, file), -1) {
			id := match[1]
			if known[id] == "" {
				t.Errorf("%s names %s, which no document explains", file, id)
			}
			delete(held, id)
		}
	}
	for id := range held {
		t.Errorf("%s: the row of %s lists tests, and no test names it", known[id], id)
	}
}

func TestAnIdentifierIsFoundAsAWholeOnly(t *testing.T) {
	tests := []struct {
		name, text, id string
		want           bool
	}{
		{"in a test's name", `t.Run("W-10 stray cookie", …)`, "W-10", true},
		{"in a subtest's name as it runs", `TestCookies/W-10_stray_cookie`, "W-10", true},
		{"at the end of a sentence", "// Guards fail closed, SH-04.", "SH-04", true},
		{"beside another", "// W-9/Q16", "Q16", true},
		{"the beginning of a longer one", "// W-10", "W-1", false},
		{"a section below it", "// ASVS-6.5.12", "ASVS-6.5.1", false},
		{"a longer name", "// oidcc-client-test-nonce-invalid", "oidcc-client-test", false},
		{"inside a token", `"eyJhbGciOi.Q2-x"`, "Q2", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := mentionsAny(tt.text, []string{tt.id}); got != tt.want {
				t.Errorf("mentionsAny(%q, %s) = %t, want %t", tt.text, tt.id, got, tt.want)
			}
		})
	}
}

// numbered finds identifiers whose form cannot be mistaken for anything else.
var numbered = regexp.MustCompile(`(?m)(?:^|[\s"'` + "`" + `(\[,/:;])((?:SH|BCP|RP|CK|WA|W|AT)-\d+|SA-[HML]\d+)\b`)

// mapRows returns text with the last cell of each table row replaced by what f
// makes of it, in the tables whose last column is headed "Tests".
func mapRows(text string, f func(ids []string, tests string) string) string {
	var b strings.Builder
	inTable := false
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), " | ")
		last := strings.TrimSuffix(cells[len(cells)-1], " |")
		switch {
		case !strings.HasPrefix(line, "| "):
			inTable = false
		case last == "Tests":
			inTable = true
		case inTable && !strings.HasPrefix(line, "| ---"):
			ids := strings.Split(strings.TrimPrefix(cells[0], "| "), ", ")
			cells[len(cells)-1] = f(ids, last) + " |"
			line = strings.Join(cells, " | ") + "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// listed returns the test functions that a column names.
func listed(column string) []string {
	if column == noTest || column == notApplicable {
		return nil
	}
	names := strings.Split(column, ", ")
	for i, name := range names {
		names[i] = strings.Trim(name, "`")
	}
	return names
}

func testsColumn(names []string, before string) string {
	switch {
	case len(names) > 0:
		return "`" + strings.Join(names, "`, `") + "`"
	case before == notApplicable:
		return notApplicable
	default:
		return noTest
	}
}

// A testFunction is one test of the repository. Its name in the registers is
// TestX in the root package and dir.TestX elsewhere.
type testFunction struct {
	dir, name string

	// text is its comment and body.
	text string

	// ours is false where the test runs another relying party.
	ours bool
}

// testFunctions returns the tests by the names they have in the registers.
func testFunctions(t *testing.T) map[string]*testFunction {
	t.Helper()
	functions := make(map[string]*testFunction)
	for _, file := range files(t, "_test.go") {
		text := read(t, file)
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			f, isFunc := decl.(*ast.FuncDecl)
			if !isFunc || f.Recv != nil || !isTest.MatchString(f.Name.Name) {
				continue
			}
			from := f.Pos()
			if f.Doc != nil {
				from = f.Doc.Pos()
			}
			tf := &testFunction{
				dir: path.Dir(file), name: f.Name.Name,
				text: text[set.Position(from).Offset:set.Position(f.End()).Offset],
				ours: !importsAny(parsed, otherClients),
			}
			functions[registered(tf.dir, tf.name)] = tf
		}
	}
	return functions
}

var isTest = regexp.MustCompile(`^(Test|Fuzz|Example)([^a-z]|$)`)

func registered(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "." + name
}

func importsAny(file *ast.File, prefixes []string) bool {
	return slices.ContainsFunc(file.Imports, func(spec *ast.ImportSpec) bool {
		imported := strings.Trim(spec.Path.Value, `"`)
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(imported, p) })
	})
}

// A result is how one test or subtest ended.
type result struct{ dir, outcome, name string }

func readResults(t *testing.T) []result {
	t.Helper()
	text, err := os.ReadFile(*results)
	if err != nil {
		t.Fatal(err)
	}
	var all []result
	for line := range strings.Lines(string(text)) {
		dir, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		outcome, name, ok := strings.Cut(rest, "\t")
		if !ok {
			t.Fatalf("%s: %q is no result", *results, line)
		}
		all = append(all, result{dir, outcome, name})
	}
	return all
}

// holding returns the functions that ran and name one of ids.
func holding(functions map[string]*testFunction, run []result, ids []string) []string {
	found := make(map[string]bool)
	for _, r := range run {
		function, _, _ := strings.Cut(r.name, "/")
		name := registered(r.dir, function)
		f := functions[name]
		// The tests of the registers have identifiers as examples.
		if f == nil || !f.ours || r.outcome == "skip" || f.dir == "docs" {
			continue
		}
		if mentionsAny(r.name, ids) || r.name == function && mentionsAny(f.text, ids) {
			found[name] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// mentionsAny reports whether text names one of the identifiers as a word, and
// not by chance inside a token or a longer identifier.
func mentionsAny(text string, ids []string) bool {
	for _, id := range ids {
		for before, rest := "", text; ; {
			skipped, after, found := strings.Cut(rest, id)
			if !found {
				break
			}
			before += skipped
			// Only its last character matters, and matching all of it takes seconds.
			if beginsWord.MatchString(before[max(0, len(before)-1):]) && !continues.MatchString(after) {
				return true
			}
			before, rest = id, after
		}
	}
	return false
}

// The names of subtests have "_" where the test wrote a space.
var (
	beginsWord = regexp.MustCompile("(?:^|[\\s\"'`(\\[,/:;_])$")
	continues  = regexp.MustCompile(`^(?:[A-Za-z0-9\-+=]|\.\w)`)
)
