package provider_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/oauth"
	"github.com/pintleauth/pintle/provider"
)

var update = flag.Bool("update", false, "rewrite the files that are generated from the catalogue")

// An entry is the row of a provider in the documents.
type entry struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Func       string   `json:"func"`
	Options    string   `json:"options"`
	Fields     []string `json:"fields,omitempty"`
	Protocol   string   `json:"protocol"`
	Issuer     string   `json:"issuer,omitempty"`
	Scope      string   `json:"scope,omitempty"`
	Checks     []string `json:"checks,omitempty"`
	Verified   string   `json:"verified,omitempty"` // the member that marks the address as verified
	Variables  []string `json:"variables"`
	Link       string   `json:"link"`
	Doc        string   `json:"doc"`
	Deprecated string   `json:"deprecated,omitempty"`
}

// catalogue returns an entry for every constructor, in the order of ids.
func catalogue(t *testing.T) []entry {
	t.Helper()
	functions, fields := readSource(t)
	facts := readFacts(t)
	var entries []entry
	add := func(e entry) {
		d := functions[e.Func]
		e.Options, e.Fields = d.Options, fields[d.Options]
		e.Link, e.Doc, e.Deprecated = linkLine.FindString(d.Doc), prose(d.Doc), d.deprecation()
		entries = append(entries, e)
	}
	for id, create := range constructors {
		p := create(provider.Options{})
		e := entry{ID: id, Name: p.Name, Func: functionOf(functions, id), Protocol: protocol(p), Issuer: p.Issuer, Scope: p.Authorization.Params["scope"]}
		if p.Protocol == oauth.OIDC && p.Authorization.Params["scope"] == "" {
			e.Scope = "openid profile email"
		}
		if f := facts[id]; f != nil {
			e.Verified = f.EmailVerified.text()
		}
		for _, check := range checks(p) {
			e.Checks = append(e.Checks, string(check))
		}
		endings := []string{"ID", "SECRET", "ISSUER"}
		if p.Issuer != "" {
			endings = endings[:2] // a variable never replaces a set value
		}
		for _, ending := range endings {
			e.Variables = append(e.Variables, variable(id, ending))
		}
		doc := functions[e.Func].Doc
		e.Variables = slices.DeleteFunc(e.Variables, func(v string) bool { return !strings.Contains(doc, v) })
		add(e)
	}
	for name, d := range functions {
		if d.Mail {
			id := strings.ToLower(name)
			add(entry{ID: id, Name: mailName(name), Func: name, Protocol: "mail over HTTP", Variables: []string{variable(id, "KEY")}})
		}
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.ID, b.ID) })
	return entries
}

func variable(id, ending string) string {
	return "AUTH_" + strings.ReplaceAll(strings.ToUpper(id), "-", "_") + "_" + ending
}

// functionOf returns the name of the function that makes the provider of an id:
// the one whose documentation has its callback URL.
func functionOf(functions map[string]documented, id string) string {
	url := regexp.MustCompile(`/auth/callback/` + regexp.QuoteMeta(id) + `(\W|$)`)
	names := regexp.MustCompile(`AUTH_` + strings.ReplaceAll(strings.ToUpper(id), "-", "_") + `_SECRET`)
	for name, d := range functions {
		if !d.Mail && (url.MatchString(strings.Join(strings.Fields(d.Doc), " ")) || id == "steam" && names.MatchString(d.Doc)) && longer(id, d.Doc) {
			return name
		}
	}
	return ""
}

// longer keeps "vk" from being found in the documentation of "vk-id".
func longer(id, doc string) bool {
	return !strings.Contains(doc, "/auth/callback/"+id+"-")
}

func mailName(name string) string {
	if create := mailServices[strings.ToLower(name)]; create != nil {
		return create(provider.MailOptions{}).Name
	}
	return name
}

func protocol(p *pintle.OAuth) string {
	switch {
	case p.Quirks.Leave != nil:
		return "its own"
	case p.Protocol == oauth.OIDC:
		return "OpenID Connect"
	case p.Protocol == oauth.OAuth1:
		return "OAuth 1.0a"
	case p.Protocol == oauth.OpenID2:
		return "OpenID 2.0"
	}
	return "OAuth 2"
}

// checks protect the flow: those that the entry lists, and the state that every
// flow has.
func checks(p *pintle.OAuth) []oauth.Check {
	if p.Protocol == oauth.OAuth1 || p.Protocol == oauth.OpenID2 {
		return nil
	}
	listed := p.Checks
	if listed == nil {
		listed = []oauth.Check{oauth.CheckPKCE}
	}
	var all []oauth.Check
	for _, check := range []oauth.Check{oauth.CheckPKCE, oauth.CheckState, oauth.CheckNonce} {
		if check == oauth.CheckState || slices.Contains(listed, check) {
			all = append(all, check)
		}
	}
	return all
}

// prose is a documentation without its link and its deprecation, a paragraph a
// line.
func prose(doc string) string {
	var kept []string
	for paragraph := range strings.SplitSeq(doc, "\n\n") {
		text := strings.Join(strings.Fields(paragraph), " ")
		if text != "" && !linkLine.MatchString(text) && !strings.HasPrefix(text, "Deprecated: ") {
			kept = append(kept, text)
		}
	}
	return strings.Join(kept, "\n")
}

const (
	tableBegin = "<!-- the table is written by go test ./provider -update -->\n"
	tableEnd   = "<!-- end of the table -->\n"
)

func TestDocumentsHaveTheCatalogue(t *testing.T) {
	entries := catalogue(t)
	var table bytes.Buffer
	table.WriteString(tableBegin + "| Id | Function | Protocol | Checks | Scopes | Verified address | Variables |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, e := range entries {
		function := fmt.Sprintf("[`%s`](%s)", e.Func, e.Link)
		if e.Options != "Options" && e.Options != "MailOptions" {
			function += " with `" + e.Options + "`"
		}
		if e.Deprecated != "" {
			function += " (deprecated)"
		}
		endings := make([]string, len(e.Variables))
		for i, v := range e.Variables {
			endings[i] = v[strings.LastIndex(v, "_")+1:]
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s | %s | %s | %s |\n", e.ID, function, e.Protocol,
			strings.Join(e.Checks, ", "), code1(e.Scope), e.Verified, code1(strings.Join(endings, " ")))
	}
	table.WriteString(tableEnd)

	const document = "../docs/providers.md"
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found1 := strings.Cut(string(text), tableBegin)
	_, after, found2 := strings.Cut(rest, tableEnd)
	if !found1 || !found2 {
		t.Fatalf("%s has no place for the table", document)
	}
	generated(t, document, []byte(before+table.String()+after))

	list, err := json.MarshalIndent(entries, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	generated(t, "../cmd/pintle/providers.json", append(list, '\n'))
}

func code1(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// generated checks a file, or with -update writes it.
func generated(t *testing.T, file string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s is of another module, which is not here", file)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n")), want) {
		t.Errorf("%s does not match the catalogue: run go test ./provider -update", file)
	}
}
