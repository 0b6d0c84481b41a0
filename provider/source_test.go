package provider_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

// A documented function makes a provider and documents how to use it.
type documented struct {
	Func    string
	Doc     string
	Options string // the type of its parameter
	File    string
	Lines   int
	Mail    bool // whether it makes an *pintle.Email
}

// readSource returns the functions of the package that make providers, by name,
// and the fields that option types have beyond the common ones.
func readSource(t *testing.T) (functions map[string]documented, fields map[string][]string) {
	t.Helper()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	functions, fields = map[string]documented{}, map[string][]string{}
	set := token.NewFileSet()
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, f.Name(), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if made := makes(d); made != "" {
					functions[d.Name.Name] = documented{
						Func: d.Name.Name, Doc: d.Doc.Text(), Options: d.Type.Params.List[0].Type.(*ast.Ident).Name,
						File: f.Name(), Lines: set.Position(file.End()).Line, Mail: made == "Email",
					}
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					readFields(spec, fields)
				}
			}
		}
	}
	return functions, fields
}

// makes returns the type a function makes a provider of, if it does.
func makes(d *ast.FuncDecl) string {
	if d.Recv != nil || !d.Name.IsExported() || d.Type.Results == nil || len(d.Type.Results.List) != 1 {
		return ""
	}
	pointer, ok := d.Type.Results.List[0].Type.(*ast.StarExpr)
	if !ok {
		return ""
	}
	if of, ok := pointer.X.(*ast.SelectorExpr); ok {
		return of.Sel.Name
	}
	return ""
}

func readFields(spec ast.Spec, fields map[string][]string) {
	of, ok := spec.(*ast.TypeSpec)
	if !ok || !strings.HasSuffix(of.Name.Name, "Options") || of.Name.Name == "Options" || of.Name.Name == "MailOptions" {
		return
	}
	for _, field := range of.Type.(*ast.StructType).Fields.List {
		for _, name := range field.Names {
			fields[of.Name.Name] = append(fields[of.Name.Name], name.Name)
		}
	}
}

var (
	linkLine  = regexp.MustCompile(`(?m)^https://\S+[^.\s]$`)
	variables = regexp.MustCompile(`AUTH_[A-Z0-9_]+`)
)

// deprecation returns why a function should no longer be used.
func (d documented) deprecation() string {
	_, why, _ := strings.Cut(d.Doc, "\nDeprecated: ")
	return strings.Join(strings.Fields(why), " ")
}
