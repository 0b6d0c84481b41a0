package main

import (
	"database/sql"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/sqlstore"
	"github.com/pintleauth/pintle/userimport"
)

// A name that a user or a provider has chosen does not write to the terminal of an operator: U+009B
// begins a sequence as ESC does, U+202E turns the direction, and U+E0041 is not seen.
func TestNoOutputHasASequenceForATerminal(t *testing.T) {
	const name = "Ada\x1b[2J\u009b31m\x7f\u202e\U000e0041\t"
	file := t.TempDir() + "/app.db"
	address := "sqlite:" + file
	t.Setenv("AUTH_SECRET", "a secret of at least 32 characters")
	execute(t, 0, "migrate", address)
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := sqlstore.New(db, sqlstore.SQLite).CreateUser(t.Context(), &pintle.User{ID: "ada", Name: name}); err != nil {
		t.Fatal(err)
	}
	safe := func(what, out string) {
		t.Helper()
		if !strings.Contains(out, "Ada") || strings.ContainsFunc(out, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
			t.Errorf("%s prints %q", what, out)
		}
	}
	for _, args := range [][]string{{"list"}, {"list", "-json"}, {"show", "ada"}, {"show", "-json", "ada"}, {"export", "ada"}} {
		command := append([]string{"users", args[0], "-database", address}, args[1:]...)
		safe(strings.Join(args, " "), execute(t, 0, command...))
	}
	var shown struct{ Name string }
	if err := json.Unmarshal([]byte(execute(t, 0, "users", "show", "-json", "-database", address, "ada")), &shown); err != nil || shown.Name != name {
		t.Errorf("the JSON has the name %q, %v", shown.Name, err)
	}
	for _, asJSON := range []bool{true, false} {
		var out strings.Builder
		printOutcome(&out, userimport.Outcome{Number: 1, Status: userimport.Refused, Reason: "no address: " + name}, asJSON)
		safe("an import", out.String())
	}
	var out strings.Builder
	printNames(&out, "roles left out", "-role", map[string]int{name: 1})
	safe("the names of an import", out.String())
}
