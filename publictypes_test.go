package pintle_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// adapters are the packages whose purpose is to connect a program with a library
// that it uses already. They name the types of that library, and why.
var adapters = map[string]struct{ library, why string }{
	"pintlegin":        {"github.com/gin-gonic/gin", "the handlers and contexts of the framework"},
	"pintleecho":       {"github.com/labstack/echo/v5", "the handlers and contexts of the framework"},
	"pintlefiber":      {"github.com/gofiber/fiber/v3", "the handlers and contexts of the framework"},
	"pintleotel":       {"go.opentelemetry.io/otel", "the providers of spans and metrics that the program has set up"},
	"apiclient":        {"golang.org/x/oauth2", "the token source that libraries for APIs ask for"},
	"store/redisstore": {"github.com/redis/go-redis/v9", "the client of the program"},
	"store/mongostore": {"go.mongodb.org/mongo-driver/v2", "the database of the program"},
	"passkey/mds":      {"github.com/go-webauthn/webauthn", "the metadata providers of the library"},
}

// A break of a library that this one uses inside is not a break of this one.
func TestThePublicInterfaceNamesNoTypeOfAnotherModule(t *testing.T) {
	used := map[string]bool{}
	seen := 0
	for _, pkg := range publicPackages(t) {
		dir := strings.TrimPrefix(strings.TrimPrefix(pkg.Path(), module), "/")
		adapter, isAdapter := adapters[dir]
		for name, named := range foreignTypes(pkg) {
			if isAdapter && strings.HasPrefix(named, adapter.library) {
				used[dir] = true
				continue
			}
			t.Errorf("%s: %s names %s", pkg.Path(), name, named)
		}
		seen += len(pkg.Scope().Names())
	}
	if seen < 300 {
		t.Errorf("only %d declarations were looked at", seen)
	}
	for dir := range adapters {
		if !used[dir] {
			t.Errorf("%s names no type of %s for %s: it is no exception", dir, adapters[dir].library, adapters[dir].why)
		}
	}
}

// publicPackages type-checks the packages of this repository that a program can
// import.
func publicPackages(t *testing.T) []*types.Package {
	t.Helper()
	var patterns []string
	for _, dir := range installable(t) {
		patterns = append(patterns, "./"+dir+"/...")
	}
	from := exportData(t, patterns...)
	var paths []string
	for path, name := range from.names {
		if isOurs(path) && name != "main" && !strings.Contains(path+"/", "/internal/") {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	var packages []*types.Package
	for _, path := range paths {
		pkg, err := from.Import(path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		packages = append(packages, pkg)
	}
	return packages
}

// A packageLoader imports packages from what the compiler has written about them.
type packageLoader struct {
	types.Importer
	names map[string]string // of the packages, by their paths
}

// exportData compiles packages and those that they import.
func exportData(t *testing.T, patterns ...string) packageLoader {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Name,Export"}, patterns...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	names, exports := map[string]string{}, map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Name, Export string }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p.Export != "" {
			names[p.ImportPath], exports[p.ImportPath] = p.Name, p.Export
		}
	}
	return packageLoader{
		importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }),
		names,
	}
}

func isOurs(path string) bool { return path == module || strings.HasPrefix(path, module+"/") }

// foreignTypes returns the types of other modules that the exported names of a
// package lead to, by such a name.
func foreignTypes(pkg *types.Package) map[string]string {
	f := &foreign{found: map[string]string{}, seen: map[types.Type]bool{}}
	for _, name := range pkg.Scope().Names() {
		object := pkg.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		typ := object.Type()
		if _, isType := object.(*types.TypeName); isType {
			f.declared(name, typ)
		} else {
			f.named(name, typ)
		}
	}
	return f.found
}

type foreign struct {
	found map[string]string
	seen  map[types.Type]bool
}

// declared looks at what a type of ours shows: its fields and methods.
func (f *foreign) declared(where string, typ types.Type) {
	if f.seen[typ] {
		return
	}
	f.seen[typ] = true
	if alias, ok := typ.(*types.Alias); ok {
		f.named(where, alias.Rhs())
		return
	}
	f.named(where, typ.Underlying())
	if of, ok := typ.(*types.Named); ok {
		f.parameters(where, of.TypeParams())
		for method := range of.Methods() {
			if method.Exported() {
				f.named(where+"."+method.Name(), method.Type())
			}
		}
	}
}

// named looks at a type where it is written.
func (f *foreign) named(where string, typ types.Type) {
	switch typ := typ.(type) {
	case *types.Alias:
		f.object(where, typ.Obj(), typ, typ.TypeArgs())
	case *types.Named:
		f.object(where, typ.Obj(), typ, typ.TypeArgs())
	case *types.Struct:
		for field := range typ.Fields() {
			if field.Exported() || field.Embedded() {
				f.named(where+"."+field.Name(), field.Type())
			}
		}
	case *types.Interface:
		for embedded := range typ.EmbeddedTypes() {
			f.named(where, embedded)
		}
		for method := range typ.ExplicitMethods() {
			if method.Exported() {
				f.named(where+"."+method.Name(), method.Type())
			}
		}
	case *types.Union:
		for term := range typ.Terms() {
			f.named(where, term.Type())
		}
	case *types.Signature:
		f.parameters(where, typ.TypeParams())
		for _, tuple := range []*types.Tuple{typ.Params(), typ.Results()} {
			for variable := range tuple.Variables() {
				f.named(where, variable.Type())
			}
		}
	case *types.Map:
		f.named(where, typ.Key())
		f.named(where, typ.Elem())
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		f.named(where, typ.Elem())
	case *types.Basic, *types.TypeParam:
	default:
		panic(fmt.Sprintf("%s is of an unknown kind, %T", where, typ))
	}
}

func (f *foreign) parameters(where string, list *types.TypeParamList) {
	for parameter := range list.TypeParams() {
		f.named(where, parameter.Constraint())
	}
}

// object looks at a type that has a name. One that is exported by a package of
// ours is looked at there.
func (f *foreign) object(where string, object *types.TypeName, typ types.Type, arguments *types.TypeList) {
	for argument := range arguments.Types() {
		f.named(where, argument)
	}
	pkg := object.Pkg()
	switch {
	case pkg == nil: // error, any
	case isOurs(pkg.Path()):
		if !object.Exported() {
			f.declared(where, typ)
		}
	case strings.Contains(strings.Split(pkg.Path(), "/")[0], "."):
		f.found[where] = pkg.Path() + "." + object.Name()
	}
}

func TestTypesOfOtherModulesAreFound(t *testing.T) {
	lib := checked(t, "example.com/lib", nil, `package lib
		type T struct{}
		type I interface{ M() }
		const C T2 = 1
		type T2 int`)
	for code, where := range map[string]string{
		`type A = lib.T`:                                              "A",
		`type A []lib.T`:                                              "A",
		`type A map[lib.T]int`:                                        "A",
		`type A interface{ int | lib.T2 }`:                            "A",
		`type A struct{ F map[string]*lib.T }`:                        "A.F",
		`type A struct{ lib.T }`:                                      "A.T",
		`type A struct{ b }; type b struct{ F lib.T }`:                "A.b.F",
		`type A struct{}; func (*A) F() lib.T { panic(0) }`:           "A.F",
		`type A struct{ b }; type b int; func (b) F(lib.T) {}`:        "A.b.F",
		`type A interface{ F(...lib.T) }`:                             "A.F",
		`type A interface{ lib.I }`:                                   "A",
		`type A[P lib.I] struct{}`:                                    "A",
		`type B[P any] struct{ F P }; var A B[lib.T]`:                 "A",
		`type b = lib.T; type A func(b)`:                              "A",
		`func A[P lib.I](P) {}`:                                       "A",
		`func A() func(chan lib.T) { return nil }`:                    "A",
		`func A() *b { return nil }; type b struct{ F lib.T }`:        "A.F",
		`var A = []any{lib.T{}}; var B = lib.T{}`:                     "B",
		`const A = lib.C`:                                             "A",
		`type A struct{ f lib.T }; func (A) f2(lib.T) {}`:             "",
		`type a struct{ F lib.T }; func b(lib.T) {}; var c = lib.T{}`: "",
		`type A struct{ F func(int) (string, error) }`:                "",
	} {
		found := foreignTypes(checked(t, module+"/x", lib, "package x; import \"example.com/lib\"; var _ lib.T; "+code))
		if _, ok := found[where]; len(found) > 1 || ok != (where != "") {
			t.Errorf("%s: found %q, want %q", code, found, where)
		}
	}
}

// checked type-checks the file of a package that imports at most one other.
func checked(t *testing.T, path string, imported *types.Package, code string) *types.Package {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "x.go", code, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	config := types.Config{Importer: importing(func(string) (*types.Package, error) { return imported, nil })}
	pkg, err := config.Check(path, fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatalf("%s: %v", code, err)
	}
	return pkg
}

type importing func(path string) (*types.Package, error)

func (i importing) Import(path string) (*types.Package, error) { return i(path) }
