package xatastore_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/xatatest"
	"github.com/pintleauth/pintle/store/xatastore"
	"github.com/pintleauth/pintle/storetest"
)

// newDatabase returns a database with the tables of a schema, and what is
// needed to reach it without a socket.
func newDatabase(t *testing.T, schema []byte) (*xatatest.Server, xatastore.Options) {
	t.Helper()
	db, err := xatatest.New(schema)
	if err != nil {
		t.Fatal(err)
	}
	return db, xatastore.Options{
		APIKey:      xatatest.Key,
		DatabaseURL: "https://workspace.region.xata.sh/db/" + xatatest.Database,
		Extended:    true,
		HTTPClient:  &http.Client{Transport: db},
	}
}

func newStore(t *testing.T, o xatastore.Options) *xatastore.Store {
	t.Helper()
	s, err := xatastore.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) pintle.Store {
		db, o := newDatabase(t, xatastore.Schema(""))
		srv := httptest.NewServer(db)
		t.Cleanup(srv.Close)
		o.DatabaseURL, o.HTTPClient = srv.URL+"/db/"+xatatest.Database, nil
		return newStore(t, o)
	})
}

// What the service does in these cases is not documented: the promises are kept
// with each.
func TestStoreWhicheverWayTheServiceGoes(t *testing.T) {
	t.Run("links hold what they lead to, and null is said", func(t *testing.T) {
		t.Parallel()
		storetest.Run(t, func(t *testing.T) pintle.Store {
			db, o := newDatabase(t, xatastore.Schema(""))
			db.Restrict, db.Nulls, db.Conflict = true, true, http.StatusUnprocessableEntity
			return newStore(t, o)
		})
	})
}

// The six tables that Auth.js's adapter publishes, with the one column changed
// without which two users may have one address.
func TestStoreWithTheTablesOfAuthJS(t *testing.T) {
	t.Parallel()
	schema := published(t, func(table, column string, is map[string]any) {
		if table == "nextauth_users" && column == "email" {
			is["type"], is["unique"] = "string", true
		}
	})
	storetest.Run(t, func(t *testing.T) pintle.Store {
		_, o := newDatabase(t, schema)
		o.Extended = false
		return newStore(t, o)
	}, storetest.NarrowColumns, storetest.AuthJSAccounts)
}

// published returns the schema that Auth.js's adapter is documented with.
func published(t *testing.T, change func(table, column string, is map[string]any)) []byte {
	t.Helper()
	text := func(names ...string) (columns []any) {
		for _, name := range names {
			columns = append(columns, map[string]any{"name": name, "type": "string"})
		}
		return columns
	}
	typed := func(name, kind string) any { return map[string]any{"name": name, "type": kind} }
	link := func(name, table string) any {
		return map[string]any{"name": name, "type": "link", "link": map[string]any{"table": table}}
	}
	tables := map[string][]any{
		"nextauth_users": append(text("name", "image"), typed("email", "email"), typed("emailVerified", "datetime")),
		"nextauth_accounts": append(text("type", "provider", "providerAccountId", "refresh_token", "access_token", "token_type", "scope", "session_state"),
			typed("id_token", "text"), typed("expires_at", "int"), link("user", "nextauth_users")),
		"nextauth_verificationTokens": append(text("identifier", "token"), typed("expires", "datetime")),
		"nextauth_users_accounts":     {link("user", "nextauth_users"), link("account", "nextauth_accounts")},
		"nextauth_users_sessions":     {link("user", "nextauth_users"), link("session", "nextauth_sessions")},
		"nextauth_sessions":           append(text("sessionToken"), typed("expires", "datetime"), link("user", "nextauth_users")),
	}
	var list []any
	for name, columns := range tables {
		for _, column := range columns {
			is := column.(map[string]any)
			if change != nil {
				change(name, is["name"].(string), is)
			}
		}
		list = append(list, map[string]any{"name": name, "columns": columns})
	}
	schema, err := json.Marshal(map[string]any{"tables": list})
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// What the client itself costs, without the way to the service.
func BenchmarkSessionAndUser(b *testing.B) {
	db, err := xatatest.New(xatastore.Schema(""))
	if err != nil {
		b.Fatal(err)
	}
	srv := httptest.NewServer(db)
	defer srv.Close()
	s, err := xatastore.New(xatastore.Options{APIKey: xatatest.Key, DatabaseURL: srv.URL + "/db/" + xatatest.Database, Extended: true})
	if err != nil {
		b.Fatal(err)
	}
	u, err := s.CreateUser(b.Context(), &pintle.User{Email: "ada@example.org"})
	if err != nil {
		b.Fatal(err)
	}
	if err := s.CreateSession(b.Context(), &pintle.StoredSession{Token: "token", UserID: u.ID, Expires: time.Now().Add(time.Hour)}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := s.SessionAndUser(b.Context(), "token"); err != nil {
			b.Fatal(err)
		}
	}
}
