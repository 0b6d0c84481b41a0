package docs_test

import (
	"html/template"
	"os"
	"regexp"
	"strings"
	"testing"
)

// Readers copy the page. A user who mistypes a password types the address only once.
func TestTheSignInPageOfTheGuideKeepsTheAddress(t *testing.T) {
	guide, err := os.ReadFile("sign-in-page.md")
	if err != nil {
		t.Fatal(err)
	}
	page := regexp.MustCompile("(?s)Parse\\(`(.*?)`\\)").FindSubmatch(guide)
	if page == nil {
		t.Fatal("the guide has no template")
	}
	var shown strings.Builder
	err = template.Must(template.New("").Parse(string(page[1]))).Execute(&shown, struct{ Next, Email, Problem string }{Email: `"ada"@example.com`})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(shown.String(), `value="&#34;ada&#34;@example.com"`) {
		t.Errorf("the page does not show what was typed:\n%s", shown.String())
	}
	if !strings.Contains(string(guide), `Email: r.PostFormValue("email")}`) {
		t.Error("the program of the guide does not read what was typed from the body of the request")
	}
}
