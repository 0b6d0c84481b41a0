package xatastore_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/xatatest"
	"github.com/pintleauth/pintle/store/xatastore"
)

func checked(t *testing.T, schema []byte, change func(*xatastore.Options)) []string {
	t.Helper()
	_, o := newDatabase(t, schema)
	if change != nil {
		change(&o)
	}
	problems, err := newStore(t, o).Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, p := range problems {
		if p.Text == "" || p.Fix == "" {
			t.Errorf("the problem %+v does not say all", p)
		}
		texts = append(texts, p.Text)
	}
	return texts
}

func plain(o *xatastore.Options) { o.Extended = false }

func TestCheckFindsNothingWrongWithSchema(t *testing.T) {
	for _, prefix := range []string{"", "authjs"} {
		if found := checked(t, xatastore.Schema(prefix), func(o *xatastore.Options) { o.Prefix = prefix }); len(found) > 0 {
			t.Errorf("Check() with the prefix %q = %q", prefix, found)
		}
	}
	if found := checked(t, xatastore.Schema(""), plain); len(found) > 0 {
		t.Errorf("Check() of a store that is not extended = %q", found)
	}
}

// What Auth.js's adapter publishes has no unique columns.
func TestCheckFindsWhatAuthJSLeavesOut(t *testing.T) {
	found := checked(t, published(t, nil), plain)
	for _, want := range []string{
		"the column email of nextauth_users is not unique: two sign-ins at once can make two users with one address",
		"the column sessionToken of nextauth_sessions is not unique: each request of a signed-in browser may read the whole table",
		"the column image of nextauth_users is of type string: it ends at 2048 characters, and a longer one is refused",
		"the column access_token of nextauth_accounts is of type string: it ends at 2048 characters, and a longer one is refused",
	} {
		if !slices.Contains(found, want) {
			t.Errorf("Check() does not say %q, but %q", want, found)
		}
	}
	if slices.Contains(found, "there is no table nextauth_authenticators") {
		t.Error("Check() wants the table for passkeys of a store without them")
	}
	extended := checked(t, published(t, nil), nil)
	for _, want := range []string{
		"there is no table nextauth_authenticators",
		"the table nextauth_sessions has no column data",
		"the table nextauth_accounts has no column oauth_token",
	} {
		if !slices.Contains(extended, want) {
			t.Errorf("Check() of an extended store does not say %q, but %q", want, extended)
		}
	}
}

func TestCheckFindsWhatIsNotAsItShouldBe(t *testing.T) {
	schema := published(t, func(table, column string, is map[string]any) {
		switch table + "." + column {
		case "nextauth_users.name":
			is["type"] = "int"
		case "nextauth_users_sessions.session":
			is["link"] = map[string]any{"table": "nextauth_users"}
		case "nextauth_sessions.expires":
			is["name"] = "ends"
		}
	})
	found := checked(t, schema, func(o *xatastore.Options) { o.Extended, o.UserColumns = false, []string{"role"} })
	for _, want := range []string{
		"the column name of nextauth_users is of type int and not string",
		"the column session of nextauth_users_sessions does not link to nextauth_sessions",
		"the table nextauth_sessions has no column expires",
		"the table nextauth_users has no column role, which Options.UserColumns names",
	} {
		if !slices.Contains(found, want) {
			t.Errorf("Check() does not say %q, but %q", want, found)
		}
	}
	if found := checked(t, []byte(`{"tables": []}`), plain); len(found) != 6 {
		t.Errorf("Check() of an empty database = %q, want six tables", found)
	}
}

func TestCheckFailsWithoutADatabase(t *testing.T) {
	for name, change := range map[string]func(*xatastore.Options){
		"another key":    func(o *xatastore.Options) { o.APIKey = "wrong" },
		"another branch": func(o *xatastore.Options) { o.Branch = "other" },
		"another name":   func(o *xatastore.Options) { o.DatabaseURL += "2" },
	} {
		t.Run(name, func(t *testing.T) {
			_, o := newDatabase(t, xatastore.Schema(""))
			change(&o)
			s := newStore(t, o)
			if _, err := s.Check(t.Context()); !isRefusal(err) {
				t.Errorf("Check() = %v, want a refusal", err)
			}
		})
	}
	if _, err := reached(t, answer(200, `{}`)).Check(t.Context()); err == nil {
		t.Error("Check() found nothing wrong with an answer that has no schema")
	}
}

func isRefusal(err error) bool {
	_, ok := errors.AsType[*xatastore.Error](err)
	return ok
}

// Without a table the service answers 404, as without a record.
func TestAMissingTableIsNotAMissingRecord(t *testing.T) {
	db, err := xatatest.New([]byte(`{"tables": []}`))
	if err != nil {
		t.Fatal(err)
	}
	_, o := newDatabase(t, xatastore.Schema(""))
	o.HTTPClient.Transport = db
	s := newStore(t, o)
	if _, err := s.UserByEmail(t.Context(), "ada@example.org"); err == nil || errors.Is(err, pintle.ErrNotFound) || !isRefusal(err) {
		t.Errorf("UserByEmail() = %v, want the service's refusal", err)
	}
}

func TestSchemaHasTheTablesOfAuthJS(t *testing.T) {
	var ours, theirs struct {
		Tables []struct {
			Name    string
			Columns []struct {
				Name, Type string
				Link       struct{ Table string }
			}
		}
	}
	for schema, into := range map[string]any{string(xatastore.Schema("")): &ours, string(published(t, nil)): &theirs} {
		if err := json.Unmarshal([]byte(schema), into); err != nil {
			t.Fatal(err)
		}
	}
	have := map[string]string{}
	for _, table := range ours.Tables {
		for _, c := range table.Columns {
			have[table.Name+"."+c.Name] = c.Type + c.Link.Table
		}
	}
	for _, table := range theirs.Tables {
		for _, c := range table.Columns {
			name, kind := table.Name+"."+c.Name, c.Type+c.Link.Table
			// All three are texts to Auth.js, with more room or less.
			if got := have[name]; got != kind && (kind != "string" && kind != "email" || got != "text" && got != "string") {
				t.Errorf("the column %s is %q, want %q", name, got, kind)
			}
		}
	}
	if strings.Contains(string(xatastore.Schema("authjs")), "nextauth") {
		t.Error("Schema() with another prefix names the default")
	}
}
