package snippets_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A guide that uses these names without declaring them has them from our client.
const scriptNames = `import { connect, RequestError, type DefaultSession } from "@pintleauth/client"
`

// assumedClient is a client that a snippet uses without making it.
const assumedClient = `const auth = connect()
`

// inlineScript is a script in a page.
var inlineScript = regexp.MustCompile(`(?s)<script[^>]*>(.*?)</script>`)

func TestEveryScriptSnippetHasTypes(t *testing.T) {
	var sources []string
	found := snippets(t, "ts", "js", "html")
	for _, s := range found {
		sources = append(sources, script(s))
	}
	if len(found) < 8 {
		t.Fatalf("found %d snippets", len(found))
	}
	for i, problems := range checkScripts(t, found, sources) {
		for _, problem := range problems {
			t.Errorf("%s: %s", found[i], problem)
		}
	}
}

func TestTheCheckFindsScriptsThatAreWrong(t *testing.T) {
	for _, wrong := range [][]snippet{
		{
			{"a function that does not exist", 1, "ts", "auth.signInn(\"github\")"},
			{"an option that does not exist", 2, "ts", "await auth.signIn(\"github\", { redirekt: false })"},
			{"a result of another type", 3, "ts", "const { ok } = await auth.signIn(\"x\", { redirect: false })\nok.length"},
			{"an import that does not exist", 4, "ts", "import { konnect } from \"@pintleauth/client\""},
			{"an implicit any", 5, "ts", "function f(x) { return x }"},
			{"a package that does not exist", 6, "js", "import x from 'next-aut'"},
			{"a name that a package lacks", 7, "js", "import { getTokens } from 'next-auth/jwt'"},
			{"no argument", 8, "js", "import NextAuth from 'next-auth'\nexport const { auth } = NextAuth()"},
			{"a name that nothing declares", 9, "ts", "Connection.open()"},
		},
		// The compiler looks at types when the syntax is right.
		{
			{"a brace too many", 10, "js", "export default {}}"},
			{"a script of a page that ends too soon", 11, "html", "<p></p><script type=module>const a = await (</script>"},
		},
	} {
		var sources []string
		for _, s := range wrong {
			sources = append(sources, script(s))
		}
		for i, problems := range checkScripts(t, wrong, sources) {
			if len(problems) == 0 {
				t.Errorf("%s: the check accepts\n%s", wrong[i].file, wrong[i].code)
			}
		}
	}
}

// script returns a snippet as a module.
func script(s snippet) string {
	switch s.language {
	case "ts":
		code := s.code
		if !strings.Contains(code, "import ") {
			code = scriptNames + code
			if !regexp.MustCompile(`(?m)^const auth\b`).MatchString(code) {
				code = strings.Replace(code, scriptNames, scriptNames+assumedClient, 1)
			}
		}
		return code + "\nexport {}\n"
	case "html":
		var scripts strings.Builder
		for _, m := range inlineScript.FindAllStringSubmatch(s.code, -1) {
			scripts.WriteString(m[1] + "\n")
		}
		return scripts.String() + "export {}\n"
	}
	return s.code
}

// checkScripts compiles the snippets, and returns what is wrong with each. A
// script that imports something is checked by its types, any other by its syntax.
func checkScripts(t *testing.T, of []snippet, sources []string) [][]string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	repository, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	// The packages of Auth.js, with Next.js beside them.
	if err := os.Symlink(filepath.Join(repository, "examples", "nextjs", "web", "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	config, err := json.Marshal(map[string]any{
		"compilerOptions": map[string]any{
			"target": "ES2022", "module": "ESNext", "moduleResolution": "bundler", "lib": []string{"ES2022", "DOM", "DOM.Iterable"},
			"types": []string{}, "strict": true, "noEmit": true, "allowJs": true, "skipLibCheck": true,
			"paths": map[string][]string{
				"@pintleauth/client":         {filepath.Join(repository, "client", "src", "index.ts")},
				"@pintleauth/client/account": {filepath.Join(repository, "client", "src", "account.ts")},
			},
		},
		"include": []string{"snippet-*"},
	})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"tsconfig.json": string(config), "package.json": `{"type":"module"}`}
	for i, source := range sources {
		extension := "js"
		switch {
		case of[i].language == "ts":
			extension = "ts"
		case strings.Contains(source, "import "):
			source = "// @ts-check\n" + source
		}
		files[fmt.Sprintf("snippet-%d.%s", i, extension)] = source
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	compiler := filepath.Join(repository, "client", "node_modules", ".bin", "tsc")
	cmd := exec.CommandContext(t.Context(), compiler, "--pretty", "false", "-p", dir)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	problems := make([][]string, len(of))
	understood := err == nil
	for line := range strings.Lines(string(out)) {
		var number int
		if _, scan := fmt.Sscanf(line, "snippet-%d.", &number); scan != nil {
			continue
		}
		understood = true
		if line = strings.TrimSpace(line); !leftToTheReader.MatchString(line) {
			problems[number] = append(problems[number], line)
		}
	}
	if !understood {
		t.Fatalf("%s: %v: scripts/setup installs what it needs\n%s", cmd, err, out)
	}
	return problems
}

// Names that a guide uses without declaring them, which begin in lower case, are
// those of the reader's program.
var leftToTheReader = regexp.MustCompile(`TS(2304|2552|2580|2591): Cannot find name '[a-z]\w*'|TS18004: No value exists in scope for the shorthand property '[a-z]\w*'`)
