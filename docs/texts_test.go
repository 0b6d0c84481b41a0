package docs_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle/internal/page"
)

// A host that translates the pages of accounts finds every name of a text in the guide.
func TestTheGuideNamesEveryTextOfAccounts(t *testing.T) {
	guide, err := os.ReadFile("sign-up.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(guide), "\n## Texts\n")
	if !found {
		t.Fatal("the guide has no section on texts")
	}
	texts := page.English().Account
	for field, names := range map[string][]string{
		"Pages": slices.Sorted(maps.Keys(texts.Pages)), "Mails": slices.Sorted(maps.Keys(texts.Mails)),
		"Problems": slices.Sorted(maps.Keys(texts.Problems)), "Notices": slices.Sorted(maps.Keys(texts.Notices)),
		"Words": slices.Sorted(maps.Keys(texts.Words)),
	} {
		_, row, _ := strings.Cut(section, "\n| `"+field+"` | ")
		row, _, _ = strings.Cut(row, "\n")
		for _, name := range names {
			if name != "" && !strings.Contains(row, "`"+name+"`") {
				t.Errorf("%s has no %q", field, name)
			}
		}
	}
}
