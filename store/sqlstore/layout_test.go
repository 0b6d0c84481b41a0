package sqlstore

import (
	"strings"
	"testing"
)

func TestALayoutThatCannotBeSaysWhy(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Layout)
		want   string
	}{
		{"no dialect", func(l *Layout) { l.Dialect = 0 }, "use PostgreSQL, MySQL or SQLite"},
		{"no table", func(l *Layout) { l.Sessions.Name = "" }, "Layout.Sessions: the table has no name"},
		{"unknown column", func(l *Layout) { l.Users.Columns = map[string]string{"email_verified": "x"} }, `no column "email_verified"`},
		{"required column missing", func(l *Layout) { l.Users.Columns = map[string]string{"email": ""} }, `"email" must not be missing`},
		{"no format of times", func(l *Layout) { l.Times = 0 }, "say how times are kept"},
		{"no ids", func(l *Layout) { l.Users.ID = NoID }, "users need one"},
		{"a type SQLite has not", func(l *Layout) { l.Dialect, l.Times = SQLite, Timestamp }, "SQLite has no type for times"},
		{"a type MySQL has not", func(l *Layout) { l.Dialect, l.Users.ID = MySQL, UUID }, "only PostgreSQL has"},
		{"a parameter in a name", func(l *Layout) { l.Users.Name = "users$1" }, "names cannot have"},
		{"a NUL in a name", func(l *Layout) { l.Users.Extra = []string{"a\x00b"} }, "names cannot have"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := Drizzle(PostgreSQL)
			tt.change(&l)
			_, err := NewShared(nil, l)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("NewShared() = %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestOptionalColumnsMayBeMissing(t *testing.T) {
	l := Drizzle(PostgreSQL)
	l.Users.Columns = map[string]string{"image": ""}
	l.Accounts.Columns = map[string]string{"session_state": ""}
	tables, err := l.tables()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{newQueries(tables).user.text, newQueries(tables).account.text} {
		if strings.Contains(text, "image") || strings.Contains(text, "session_state") {
			t.Errorf("%s\nreads a column that is missing", text)
		}
	}
}

func TestNewWantsADialect(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New accepted a dialect that does not exist")
		}
	}()
	New(nil, 0)
}
