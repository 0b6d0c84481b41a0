package authtest_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestPackageCommentNamesRealFaults keeps the table in doc.go true.
func TestPackageCommentNamesRealFaults(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	sources := ""
	for _, name := range []string{
		"discoveryfault.go", "responsefault.go", "tokenfault.go", "idtokenfault.go", "profilefault.go", "logoutfault.go",
	} {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sources += string(source)
	}
	rows := regexp.MustCompile(`(?m)^//\toidcc\S+ +(.*)$`).FindAllStringSubmatch(string(text), -1)
	if len(rows) < 30 {
		t.Fatalf("%d rows in the table of the package comment", len(rows))
	}
	for _, row := range rows {
		for _, name := range regexp.MustCompile(`\b(?:IDToken|JWKS|UserInfo|Response|Discovery|Keys|RefreshedIDToken|Logout)[A-Z]\w+`).FindAllString(row[1], -1) {
			if !strings.Contains(sources, "\t"+name+" ") {
				t.Errorf("the package comment names %s, which does not exist", name)
			}
		}
	}
}
