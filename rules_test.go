package pintle_test

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/pintleauth/pintle"
)

// The rules of docs/architecture.md, kept by tests so that they are not
// memories.

const module = "github.com/pintleauth/pintle"

// A source is a Go file of the repository.
type source struct {
	name string // slash-separated, from the root
	fset *token.FileSet
	file *ast.File
}

func (s source) dir() string  { return path.Dir(s.name) }
func (s source) isTest() bool { return strings.HasSuffix(s.name, "_test.go") }
func (s source) inRoot() bool { return s.dir() == "." }
func (s source) under(dirs ...string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return s.dir() == dir || strings.HasPrefix(s.name, dir+"/") })
}

func (s source) at(n ast.Node) string {
	return s.name + ":" + strconv.Itoa(s.fset.Position(n.Pos()).Line)
}

func (s source) imports() []string {
	var paths []string
	for _, spec := range s.file.Imports {
		unquoted, err := strconv.Unquote(spec.Path.Value)
		if err == nil {
			paths = append(paths, unquoted)
		}
	}
	return paths
}

// sources returns every Go file, of all modules.
func sources(t *testing.T) []source {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 100 {
		t.Fatalf("only %d files were found", len(all))
	}
	return all
}

var parsed = sync.OnceValues(func() (all []source, err error) {
	fset := token.NewFileSet()
	err = filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch base := path.Base(filepath.ToSlash(name)); {
		case err != nil:
			return err
		case d.IsDir() && base != "." && (strings.HasPrefix(base, ".") || base == "node_modules" || base == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		all = append(all, source{filepath.ToSlash(name), fset, file})
		return err
	})
	return all, err
})

// Arrows point to the root. Leaves know bytes, not people.
func TestLeavesDoNotImportTheRoot(t *testing.T) {
	for _, s := range sources(t) {
		if s.isTest() || s.under("internal/integration") || !s.under("internal", "token", "password", "oauth", "pages", "connection", "sharedstate") {
			continue
		}
		for _, imported := range s.imports() {
			below, ours := strings.CutPrefix(imported, module)
			if ours && !strings.HasPrefix(below, "/internal/") && !slices.Contains([]string{"/token", "/oauth", "/pages", "/connection", "/sharedstate"}, below) {
				t.Errorf("%s imports %s: pass it the fields it uses", s.name, imported)
			}
		}
	}
}

// Providers, stores, senders and frameworks speak to each other in the words of
// the root, and never import one another.
func TestNeighboursDoNotImportOneAnother(t *testing.T) {
	neighbours := []string{
		"provider", "store/memstore", "store/sqlstore", "store/redisstore", "store/mongostore", "store/xatastore", "smtp", "passkey", "ldapauth", "apiclient",
		"pintlegin", "pintleecho", "pintlefiber", "pintleotel",
	}
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		for _, own := range neighbours {
			if !s.under(own) {
				continue
			}
			for _, imported := range s.imports() {
				for _, other := range neighbours {
					if below := strings.TrimPrefix(imported, module+"/"); other != own && (below == other || strings.HasPrefix(below, other+"/")) {
						t.Errorf("%s imports %s", s.name, imported)
					}
				}
			}
		}
	}
}

// SH-80: what is random comes from crypto/rand. Test helpers and mail stay out of
// programs that embed the library.
func TestForbiddenImports(t *testing.T) {
	forbidden := map[string]string{
		"math/rand":    "tokens come from crypto/rand",
		"math/rand/v2": "tokens come from crypto/rand",
		"net/smtp":     "mail belongs to the module smtp",
		"log":          "a library logs through the slog.Logger it was given",
		"unsafe":       "nothing here is worth it",
		"testing":      "links the testing flags into the host program",
	}
	mayTest := []string{"storetest", "passkey/passkeytest", "connection/connectiontest", "internal/integration"}
	for _, s := range sources(t) {
		if s.isTest() || s.under("internal/integration", "examples", "cmd") {
			continue
		}
		for _, imported := range s.imports() {
			why, denied := forbidden[imported]
			if denied && (imported != "testing" || !s.under(mayTest...)) {
				t.Errorf("%s imports %s: %s", s.name, imported, why)
			}
		}
	}
}

// The surface of the root stays small, and every name in it is documented.
func TestTheSurfaceIsSmallAndDocumented(t *testing.T) {
	names := map[string]bool{}
	for _, s := range sources(t) {
		if s.isTest() || !s.inRoot() {
			continue
		}
		for _, decl := range s.file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if !d.Name.IsExported() {
					continue
				}
				if d.Recv == nil {
					names[d.Name.Name] = true
				}
				if d.Doc == nil && (d.Recv == nil || receiverIsExported(d)) && !isInterfaceMethod(d.Name.Name) {
					t.Errorf("%s: %s has no comment", s.at(d), d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						if spec.Name.IsExported() {
							names[spec.Name.Name] = true
							if d.Doc == nil && spec.Doc == nil && spec.Comment == nil {
								t.Errorf("%s: %s has no comment", s.at(spec), spec.Name.Name)
							}
						}
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							if !name.IsExported() {
								continue
							}
							names[name.Name] = true
							if d.Doc == nil && spec.Doc == nil && spec.Comment == nil {
								t.Errorf("%s: %s has no comment", s.at(spec), name.Name)
							}
						}
					}
				}
			}
		}
	}
	// A reader of the package's documentation has to find their way: each name
	// that makes the list longer needs a good reason.
	if len(names) > 99 {
		t.Errorf("the root exports %d names", len(names))
	}
}

func receiverIsExported(d *ast.FuncDecl) bool {
	receiver := d.Recv.List[0].Type
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	if index, ok := receiver.(*ast.IndexExpr); ok {
		receiver = index.X
	}
	name, ok := receiver.(*ast.Ident)
	return ok && name.IsExported()
}

// A host can name every type of the public interface, and its documentation shows
// the fields.
func TestThePublicInterfaceNamesNoInternalType(t *testing.T) {
	seen := 0
	for _, s := range sources(t) {
		if s.isTest() || s.file.Name.Name == "main" || s.under("internal", "examples") {
			continue
		}
		hidden := map[string]bool{} // the names of the internal packages it imports
		for _, imported := range s.imports() {
			if strings.HasPrefix(imported, module+"/") && strings.Contains(imported+"/", "/internal/") {
				hidden[path.Base(imported)] = true
			}
		}
		for _, public := range publicTypes(s.file) {
			seen++
			ast.Inspect(public, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.Field:
					// A field may be embedded; a parameter has no name that matters.
					return len(n.Names) == 0 || n.Names[0].IsExported() || !inStruct(public, n)
				case *ast.SelectorExpr:
					if pkg, ok := n.X.(*ast.Ident); ok && hidden[pkg.Name] {
						t.Errorf("%s: the public interface names %s.%s", s.at(n), pkg.Name, n.Sel.Name)
					}
				}
				return true
			})
		}
	}
	if seen < 200 {
		t.Errorf("only %d declarations were looked at", seen)
	}
}

// publicTypes returns the types of the exported declarations of a file.
func publicTypes(file *ast.File) []ast.Expr {
	var public []ast.Expr
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || receiverIsExported(d)) {
				public = append(public, d.Type)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if spec.Name.IsExported() {
						public = append(public, spec.Type)
					}
				case *ast.ValueSpec:
					if spec.Names[0].IsExported() && spec.Type != nil {
						public = append(public, spec.Type)
					}
				}
			}
		}
	}
	return public
}

// inStruct reports whether a field is one of the struct that typ is.
func inStruct(typ ast.Expr, field *ast.Field) bool {
	of, ok := typ.(*ast.StructType)
	return ok && slices.Contains(of.Fields.List, field)
}

// isInterfaceMethod reports whether the name says by itself what the method does.
func isInterfaceMethod(name string) bool {
	return slices.Contains([]string{"Error", "String", "Unwrap", "Is"}, name)
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	documented := map[string]bool{}
	for _, s := range sources(t) {
		if s.isTest() || s.file.Name.Name == "main" && s.under("internal/integration") {
			continue
		}
		documented[s.dir()] = documented[s.dir()] || s.file.Doc != nil
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("no file of %s has a package comment", dir)
		}
	}
}

// No global effects: no init, no goroutine that the host did not start, no
// environment read outside env.go.
func TestTheLibraryDoesNothingByItself(t *testing.T) {
	for _, s := range sources(t) {
		if s.isTest() || s.under("internal/check", "internal/integration", "internal/release", "examples", "cmd", "authtest", "storetest") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil && n.Name.Name == "init" {
					t.Errorf("%s: an init function", s.at(n))
				}
			case *ast.GoStmt:
				if s.inRoot() {
					t.Errorf("%s: a goroutine", s.at(n))
				}
			case *ast.SelectorExpr:
				if pkg, ok := n.X.(*ast.Ident); ok && pkg.Name == "os" && s.name != "env.go" {
					switch n.Sel.Name {
					case "Getenv", "LookupEnv", "Environ", "ExpandEnv", "Exit":
						t.Errorf("%s: os.%s outside env.go", s.at(n), n.Sel.Name)
					}
				}
				if pkg, ok := n.X.(*ast.Ident); ok && pkg.Name == "http" && n.Sel.Name == "DefaultClient" {
					t.Errorf("%s: http.%s: take the client from the configuration", s.at(n), n.Sel.Name)
				}
			}
			return true
		})
	}
}

// Responses are written in two places: the answer of a route, and the refusal of
// a guard. Users and accounts are written in one. Every session begins in one. The
// store of the host is called in one, which logs every call.
func TestEachThingIsDoneInOnePlace(t *testing.T) {
	places := map[string][]string{
		"WriteHeader":   {"exchange.go", "require.go"},
		"createUser":    {"unitofwork.go", "login.go"},
		"linkAccount":   {"unitofwork.go", "login.go"},
		"updateUser":    {"unitofwork.go", "addressproof.go"},
		"createSession": {"dbsessions.go"},
		"create":        {"issue.go"},
	}
	for method := range reflect.TypeFor[pintle.Store]().Methods() {
		places[method.Name] = []string{"records.go"}
	}
	for _, s := range sources(t) {
		if s.isTest() || !s.inRoot() {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if method, ok := call.Fun.(*ast.SelectorExpr); ok {
				if files := places[method.Sel.Name]; files != nil && !slices.Contains(files, s.name) {
					t.Errorf("%s calls %s, which belongs to %s", s.at(call), method.Sel.Name, files[0])
				}
			}
			return true
		})
	}
}

// One constructor knows the kinds of provider. Everything else reads the facts of a
// provider, or what an arrival says, so that another way in is one file.
func TestOneConstructorKnowsTheKinds(t *testing.T) {
	kinds := map[string][]string{ // the files that may name a kind
		"OAuth": {"oauth.go", "oauthflow.go", "oauthsetup.go", "provider.go", "env.go"}, "Email": {"email.go", "mailflow.go", "env.go"},
		"Credentials": {"credentials.go", "formflow.go"}, "WebAuthn": {"passkey.go", "passkeyflow.go"},
		"oauthFlow": {"oauthflow.go", "oauthsetup.go", "lostflow.go", "checks.go", "redirect.go"}, "mailFlow": {"mailflow.go"},
		"formFlow": {"formflow.go"}, "passkeyFlow": {"passkeyflow.go"},
	}
	seen := map[string]bool{}
	for _, s := range sources(t) {
		if s.isTest() || !s.inRoot() {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if f, ok := n.(*ast.FuncDecl); ok && f.Name.Name == "newProvider" {
				return false
			}
			pointer, ok := n.(*ast.StarExpr)
			if !ok {
				return true
			}
			if kind, ok := pointer.X.(*ast.Ident); ok && kinds[kind.Name] != nil {
				seen[kind.Name] = true
				if !slices.Contains(kinds[kind.Name], s.name) {
					t.Errorf("%s names the kind %s: add to the facts of a provider what has to be known of it", s.at(n), kind.Name)
				}
			}
			return true
		})
	}
	if len(seen) != len(kinds) {
		t.Errorf("only the kinds %v were found", seen)
	}
}

// Where sessions live is chosen once, and the rest of the package calls methods of
// what was chosen.
func TestSessionsAreChosenOnce(t *testing.T) {
	places := map[string][]string{
		"Strategy":      {"resolve.go", "config.go"},
		"dbSessions":    {"resolve.go", "settings.go", "dbsessions.go"},
		"tokenSessions": {"resolve.go", "settings.go", "tokensessions.go", "sessionmarks.go", "sessiontoken.go"},
	}
	for _, s := range sources(t) {
		if s.isTest() || !s.inRoot() {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if name, ok := n.(*ast.Ident); ok && places[name.Name] != nil && !slices.Contains(places[name.Name], s.name) {
				t.Errorf("%s names %s: call a method of settings.sessions", s.at(name), name.Name)
			}
			return true
		})
	}
}

// docs/architecture.md lists the leaves, so that what exists is found before it is
// written again.
func TestTheArchitectureListsTheLeaves(t *testing.T) {
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## The leaves\n")
	section, _, _ = strings.Cut(section, "\n## ")
	listed := map[string]bool{}
	for _, match := range regexp.MustCompile("(?m)^\\| (`[^|]*`) \\|").FindAllStringSubmatch(section, -1) {
		for name := range strings.SplitSeq(match[1], ", ") {
			listed["internal/"+strings.Trim(name, "`")] = true
		}
	}
	there := map[string]bool{}
	for _, s := range sources(t) {
		if !s.isTest() && s.under("internal") && !s.under("internal/check", "internal/integration", "internal/release", "internal/tools", "internal/xatatest") {
			there[s.dir()] = true
		}
	}
	for dir := range there {
		if !listed[dir] {
			t.Errorf("docs/architecture.md does not list %s", dir)
		}
	}
	for dir := range listed {
		if !there[dir] {
			t.Errorf("docs/architecture.md lists %s, which does not exist", dir)
		}
	}
}

// A rule that decides about trust exists once: whether a host is this machine, and
// which letters of an address may change. Modules that are released on their own do not
// import the leaves, and have a copy of the function.
func TestCopiesOfARuleAreTheSame(t *testing.T) {
	rules := map[string][]string{ // by directory and name, the original and its copies
		"internal/loopback.Host":      {"smtp.isLoopback", "ldapauth.isLoopback", "apiclient.isLoopback", "cmd/pintle.isLoopback"},
		"internal/address.LowerASCII": {"ldapauth.lowerASCII"},
	}
	bodies := map[string]string{}
	for _, s := range sources(t) {
		for _, decl := range s.file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && !s.isTest() {
				var body strings.Builder
				if err := format.Node(&body, s.fset, f.Body); err != nil {
					t.Fatal(err)
				}
				bodies[s.dir()+"."+f.Name.Name] = body.String()
			}
		}
	}
	for original, copies := range rules {
		for _, name := range copies {
			if bodies[name] == "" || bodies[name] != bodies[original] {
				t.Errorf("%s is\n%s\nand %s is\n%s", original, bodies[original], name, bodies[name])
			}
		}
	}
}

// Whether a host is this machine decides what may be sent there without TLS.
func TestOneRuleSaysWhatIsThisMachine(t *testing.T) {
	for _, s := range sources(t) {
		if s.isTest() || s.under("internal/loopback", "internal/integration", "examples") || path.Base(s.name) == "loopback.go" || s.name == "authtest/listen.go" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if name, ok := n.(*ast.SelectorExpr); ok && name.Sel.Name == "IsLoopback" {
				t.Errorf("%s: IsLoopback: call loopback.Host", s.at(n))
			}
			return true
		})
	}
}

// SH-81: nothing here turns the verification of certificates off.
func TestCertificatesAreVerified(t *testing.T) {
	for _, s := range sources(t) {
		if s.isTest() || s.name == "internal/handshake/fapi.go" { // which rejects clients that do
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if name, ok := n.(*ast.Ident); ok && name.Name == "InsecureSkipVerify" {
				t.Errorf("%s: InsecureSkipVerify", s.at(n))
			}
			return true
		})
	}
}

var unfinished = regexp.MustCompile(`\b(TODO|FIXME|XXX)\b`)

// A file is named for what is in it.
func TestFilesAreNamedForWhatIsInThem(t *testing.T) {
	for _, s := range sources(t) {
		switch strings.TrimSuffix(path.Base(s.name), ".go") {
		case "util", "utils", "common", "types", "models", "helpers", "helper", "misc", "constants", "interfaces", "core":
			t.Errorf("%s is named for nothing", s.name)
		}
		switch path.Base(s.dir()) {
		case "util", "utils", "common", "types", "models", "helpers", "misc", "core", "pkg":
			t.Errorf("%s is in a directory that is named for nothing", s.name)
		}
		for _, group := range s.file.Comments {
			if word := unfinished.FindString(group.Text()); word != "" {
				t.Errorf("%s: a comment says %s", s.at(group), word)
			}
		}
	}
}
