package account_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// An operator who is to act on a record finds it by its code. Records at INFO are of what clients
// cause, and the lines of the activity have a kind.
func TestEveryRecordForTheOperatorHasACode(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	records := 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is {
				return true
			}
			method, is := call.Fun.(*ast.SelectorExpr)
			if !is || method.Sel.Name != "ErrorContext" && method.Sel.Name != "WarnContext" && method.Sel.Name != "Log" {
				return true
			}
			records++
			for _, arg := range call.Args {
				attribute, is := arg.(*ast.CallExpr)
				if !is || len(attribute.Args) != 2 {
					continue
				}
				if key, is := attribute.Args[0].(*ast.BasicLit); is && key.Value == `"code"` {
					return true
				}
			}
			t.Errorf("%s: the record has no code", files.Position(call.Pos()))
			return true
		})
	}
	if records < 30 {
		t.Errorf("%d records were found", records)
	}
}
