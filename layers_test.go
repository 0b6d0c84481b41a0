package pintle_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// upward are the references that point to a higher layer, and why each stays.
var upward = map[string]string{
	"Accounts -> Auth":                       "an extension calls what a host calls, in the requests that it answers",
	"Session -> settings":                    "a session remembers the configuration that read it, so that no other Auth uses it for one of its users",
	"Submission -> exchange":                 "the cookies that a submission sets belong to the answer of its request",
	"Refusal -> settings":                    "a refusal can write the default answer, in the language and the look of the configuration",
	"dbSessions.revokeLeft -> revoke":        "the last session that ends takes the tokens of its account along, as their removal does",
	"settings.confirmThere -> confirmTokens": "a session that follows its provider lasts as long as its refresh token is accepted",
	"settings -> tenants":                    "a tenant finds its siblings, whose sessions it must not mistake for its own",
}

// A place is where docs/architecture.md lists a file: its layer, and its turn among
// the files of the layer.
type place struct{ layer, turn int }

// steps is the layer whose files are in order.
const steps = 3

// documentedFiles returns the places of the files that docs/architecture.md lists.
func documentedFiles(t *testing.T) map[string]place {
	t.Helper()
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## The files of the root\n")
	section, _, closed := strings.Cut(section, "\n## ")
	if !found || !closed {
		t.Fatal("docs/architecture.md has no section about the files of the root")
	}
	layer, turn := -1, 0
	places := map[string]place{}
	row := regexp.MustCompile("^\\| `([a-z]+\\.go)` \\|")
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "**") {
			layer++
		}
		if found := row.FindStringSubmatch(line); found != nil {
			turn++
			if _, twice := places[found[1]]; twice {
				t.Errorf("docs/architecture.md lists %s twice", found[1])
			}
			places[found[1]] = place{layer, turn}
		}
	}
	return places
}

// below reports whether code in one place may refer to code in another: to its own
// layer and to lower ones, and in a step to later steps.
func (from place) below(to place) bool {
	if from.layer == steps && to.layer == steps {
		return to.turn >= from.turn
	}
	return to.layer <= from.layer
}

// Who reads a file needs only what is below it. Fields belong to their type, and
// methods of an interface to the interface: what is called through it may be
// anywhere.
func TestDeclarationsReferDownwards(t *testing.T) {
	places := documentedFiles(t)
	seen := map[string]bool{}
	root := checkRoot(t)
	for _, file := range root.files {
		name := filepath.Base(root.set.Position(file.Pos()).Filename)
		from, listed := places[name]
		if !listed {
			t.Errorf("docs/architecture.md does not list %s", name)
			continue
		}
		seen[name] = true
		for _, decl := range file.Decls {
			for to, at := range root.references(decl) {
				in := filepath.Base(root.set.Position(to.Pos()).Filename)
				if from.below(places[in]) {
					continue
				}
				reference := declared(decl) + " -> " + to.Name()
				if upward[reference] == "" {
					t.Errorf("%s: %s, which is in %s: move one of them, or say why it stays", root.set.Position(at), reference, in)
				}
				seen[reference] = true
			}
		}
	}
	for _, wanted := range slices.Concat(slices.Collect(maps.Keys(places)), slices.Collect(maps.Keys(upward))) {
		if !seen[wanted] {
			t.Errorf("there is no %s", wanted)
		}
	}
	if len(places) > 58 || len(upward) > 10 {
		t.Errorf("the root has %d files and %d references upwards", len(places), len(upward))
	}
}

// A checkedRoot is the code of the root package with its types.
type checkedRoot struct {
	set   *token.FileSet
	files []*ast.File
	info  types.Info
	pkg   *types.Package
}

// checkRoot type-checks the root package from its source.
func checkRoot(t *testing.T) *checkedRoot {
	t.Helper()
	root := &checkedRoot{info: types.Info{Uses: map[*ast.Ident]types.Object{}}}
	for _, s := range sources(t) {
		if s.inRoot() && !s.isTest() {
			root.set = s.fset
			root.files = append(root.files, s.file)
		}
	}
	config := types.Config{Importer: exportData(t, "."), Error: func(err error) { t.Error(err) }}
	root.pkg, _ = config.Check(module, root.set, root.files, &root.info)
	return root
}

// references returns the declarations of the root that a declaration refers to, and
// one place of each reference.
func (c *checkedRoot) references(decl ast.Decl) map[types.Object]token.Pos {
	found := map[types.Object]token.Pos{}
	ast.Inspect(decl, func(n ast.Node) bool {
		name, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		object := c.info.Uses[name]
		if object == nil || object.Pkg() != c.pkg {
			return true
		}
		if v, ok := object.(*types.Var); ok && v.IsField() {
			return true
		}
		f, isFunc := object.(*types.Func)
		if object.Parent() == c.pkg.Scope() || isFunc && f.Signature().Recv() != nil {
			found[object] = name.Pos()
		}
		return true
	})
	return found
}

// declared is what a declaration is called.
func declared(decl ast.Decl) string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil {
			return strings.TrimPrefix(types.ExprString(d.Recv.List[0].Type), "*") + "." + d.Name.Name
		}
		return d.Name.Name
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				return s.Name.Name
			case *ast.ValueSpec:
				return s.Names[0].Name
			}
		}
	}
	return fmt.Sprintf("%T", decl)
}
