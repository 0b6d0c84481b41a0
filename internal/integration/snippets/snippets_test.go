// Package snippets_test checks the code in README.md and the guides: Go and
// TypeScript by their types, commands by what they name.
package snippets_test

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
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../../.."

func (s snippet) String() string { return fmt.Sprintf("%s:%d", s.file, s.line) }

func TestEverySnippetCompiles(t *testing.T) {
	found := snippets(t, "go")
	if len(found) < 80 {
		t.Fatalf("found %d snippets", len(found))
	}
	c := newChecker(t)
	for _, s := range found {
		t.Run(s.String(), func(t *testing.T) {
			if err := c.check(s.code); err != nil {
				t.Errorf("%s: %v", s, err)
			}
		})
	}
}

func TestTheCheckFindsWhatDoesNotCompile(t *testing.T) {
	c := newChecker(t)
	for name, code := range map[string]string{
		"a name that does not exist":   "auth.SignInn(w, r, \"x\", pintle.SignInOptions{})",
		"a field that does not exist":  "_ = pintle.Config{Provider: nil}",
		"a field of a fragment":        "Profil: func(p pintle.Profile, a *pintle.Account) (*pintle.User, error) { return nil, nil },",
		"an argument too many":         "auth.Load(mux, mux)",
		"a function of another type":   "SignIn: func(ctx context.Context) error { return nil },",
		"one name declared twice":      "a := 1\na := \"x\"\n_ = a",
		"a package that lacks a name":  "_ = sqlstore.Oracle",
		"code that is cut in a middle": "for range 3 {",
	} {
		if c.check(code) == nil {
			t.Errorf("%s: the check accepts\n%s", name, code)
		}
	}
}

// A checker type-checks code against the packages of the workspace.
type checker struct {
	set      *token.FileSet
	importer types.Importer
	paths    map[string]string // by the name a snippet uses
}

// The packages that guides use, with their import paths.
var imported = []string{
	"cmp", "context", "crypto", "database/sql", "embed", "encoding/json", "errors", "fmt", "html/template", "io", "log", "log/slog", "maps", "net",
	"net/http", "net/http/cookiejar", "net/http/httptest", "net/url", "os", "slices", "strconv", "strings", "testing", "time",
	"golang.org/x/text/language",
	"github.com/chromedp/cdproto/network", "github.com/chromedp/chromedp", "github.com/gin-gonic/gin", "github.com/go-chi/chi/v5",
	"github.com/go-webauthn/webauthn/metadata/providers/cached", "github.com/gofiber/fiber/v3", "github.com/labstack/echo/v5", "github.com/redis/go-redis/v9",
	"go.mongodb.org/mongo-driver/v2/mongo", "go.mongodb.org/mongo-driver/v2/mongo/options",
	"github.com/pintleauth/pintle", "github.com/pintleauth/pintle/account", "github.com/pintleauth/pintle/accountstore", "github.com/pintleauth/pintle/apiclient", "github.com/pintleauth/pintle/authtest", "github.com/pintleauth/pintle/ldapauth",
	"github.com/pintleauth/pintle/connection", "github.com/pintleauth/pintle/connection/connectiontest",
	"github.com/pintleauth/pintle/passkey", "github.com/pintleauth/pintle/passkey/mds", "github.com/pintleauth/pintle/passkey/passkeytest",
	"github.com/pintleauth/pintle/native", "github.com/pintleauth/pintle/oauth", "github.com/pintleauth/pintle/pages", "github.com/pintleauth/pintle/pages/translation", "github.com/pintleauth/pintle/password",
	"github.com/pintleauth/pintle/pintleecho", "github.com/pintleauth/pintle/pintlefiber", "github.com/pintleauth/pintle/pintlegin", "github.com/pintleauth/pintle/pintleotel",
	"github.com/pintleauth/pintle/provider", "github.com/pintleauth/pintle/smtp", "github.com/pintleauth/pintle/store/memstore",
	"github.com/pintleauth/pintle/store/mongostore", "github.com/pintleauth/pintle/store/redisstore",
	"github.com/pintleauth/pintle/store/sqlstore", "github.com/pintleauth/pintle/store/xatastore", "github.com/pintleauth/pintle/storetest",
	"github.com/pintleauth/pintle/throttle", "github.com/pintleauth/pintle/token",
}

func newChecker(t *testing.T) *checker {
	t.Helper()
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Name,Export"}, imported...)
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	c := &checker{set: token.NewFileSet(), paths: map[string]string{}}
	exports := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Name, Export string }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if slices.Contains(imported, p.ImportPath) {
			c.paths[p.Name] = p.ImportPath
		}
	}
	c.importer = importer.ForCompiler(c.set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return c
}

// Names that a guide uses without declaring them have the types that a reader
// expects. Other names of the reader's program, which begin in lower case, may
// have any.
const assumed = `
var (
	auth    *pintle.Auth
	cfg     pintle.Config
	session *pintle.Session
	mux     *http.ServeMux
	w       http.ResponseWriter
	r       *http.Request
	ctx     context.Context
	db      *sql.DB
	t       *testing.T
)
`

// structs are the types to which a fragment of fields may belong.
var structs = []string{
	"pintle.Config", "pintle.Callbacks", "pintle.Events", "pintle.SessionConfig", "pintle.JWTConfig", "pintle.Cookies", "pintle.Pages",
	"pages.Theme", "pages.Texts", "pintle.OAuth", "oauth.Quirks", "pintle.Email", "pintle.Credentials", "pintle.WebAuthn",
	"[]pintle.Provider", "throttle.Options", "smtp.Options", "apiclient.Options", "passkey.Options", "provider.Options",
}

// check type-checks code as a file, as declarations, as statements, or as
// fields of one of structs.
func (c *checker) check(code string) error {
	// "…" stands for code of the reader.
	code = strings.ReplaceAll(strings.ReplaceAll(code, ", …", ""), "…", "")
	if strings.HasPrefix(strings.TrimSpace(code), "package ") {
		return c.types(code)
	}
	if c.parses("package p\n" + code) {
		return c.types(c.file(code, code))
	}
	if value := "var _ = " + code; strings.HasPrefix(code, "&") && c.parses("package p\n"+value) {
		return c.types(c.file(code, assumed+value))
	}
	body := "func _() error {\n" + code + "\n}\n"
	if c.parses("package p\n" + body) {
		return c.types(c.file(code, assumed+body))
	}
	imports, rest := cutImports(code)
	body = imports + assumed + "func _() error {\n" + rest + "\n}\n"
	if imports != "" && c.parses("package p\n"+body) {
		return c.types(c.file(rest, body))
	}
	// A declaration may go before the fields that use it.
	decls, fragment, two := strings.Cut(code, "\n\n")
	if !two || !c.parses("package p\n"+decls) {
		decls, fragment = "", code
	}
	var first error
	for _, name := range structs {
		fields := decls + "\nvar _ = " + name + "{\n" + fragment + "\n}\n"
		if !c.parses("package p\n" + fields) {
			return errors.New("it is no Go code: neither declarations nor statements nor fields")
		}
		err := c.types(c.file(code+name, assumed+fields))
		if err == nil {
			return nil
		}
		if first == nil || strings.Contains(first.Error(), "unknown field") {
			first = err
		}
	}
	return first
}

func cutImports(code string) (imports, rest string) {
	for line := range strings.Lines(code) {
		if strings.HasPrefix(line, "import ") {
			imports += line
		} else {
			rest += line
		}
	}
	return imports, rest
}

func (c *checker) parses(src string) bool {
	_, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
	return err == nil
}

// file adds the package clause and the imports that code needs.
func (c *checker) file(code, decls string) string {
	var b strings.Builder
	b.WriteString("package p\n")
	needed := code
	if strings.Contains(decls, assumed) {
		needed += assumed
	}
	for name, path := range c.paths {
		if regexp.MustCompile(`(^|[^\w.])`+name+`\.`).MatchString(needed) && !strings.Contains(decls, `"`+path+`"`) {
			fmt.Fprintf(&b, "import %s %q\n", name, path)
		}
	}
	imports, rest := cutImports(decls)
	return b.String() + imports + rest
}

// types returns the type errors of a file, except for those that a snippet may
// have: names of the reader's program, and unused variables.
func (c *checker) types(src string) error {
	file, err := parser.ParseFile(c.set, "", src, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	var wrong []error
	conf := types.Config{Importer: c.importer, Error: func(err error) {
		te, ok := errors.AsType[types.Error](err)
		if ok && (te.Soft || leftOut.MatchString(te.Msg)) {
			return
		}
		wrong = append(wrong, err)
	}}
	_, _ = conf.Check("p", c.set, []*ast.File{file}, nil) // the error was passed to Error
	return errors.Join(wrong...)
}

var leftOut = regexp.MustCompile(`^undefined: [\p{Ll}_][\w]*$|^missing return$|^not enough return values|^too many return values`)
