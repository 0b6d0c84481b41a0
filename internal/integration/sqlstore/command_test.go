package sqlstore_test

import (
	"cmp"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/pintleauth/pintle/internal/integration/services"
)

// The command makes tables in which the doctor finds no problem, and names what the
// tables of an adapter of Auth.js lack.
func TestTheCommandKnowsEveryDatabase(t *testing.T) {
	command := buildCommand(t)
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			address := urlOf(t, d.open(t))
			run := func(args ...string) (string, error) {
				pintle := exec.CommandContext(t.Context(), command, args...)
				pintle.Env = append(pintle.Environ(), "DATABASE_URL="+address)
				out, err := pintle.CombinedOutput()
				return string(out), err
			}
			if out, err := run("doctor", address); err == nil || !strings.Contains(out, "run pintle migrate") {
				t.Errorf("doctor of an empty database: %v\n%s", err, out)
			}
			for range 2 {
				if out, err := run("migrate"); err != nil {
					t.Fatalf("migrate: %v\n%s", err, out)
				}
			}
			if out, err := run("doctor", address); err != nil || !strings.HasPrefix(out, "ok ") || strings.Count(out, "\n") != 1 {
				t.Errorf("doctor: %v\n%s", err, out)
			}
			if out, err := run("doctor", "-layout", "prisma", address); err == nil || !strings.Contains(out, "not even User") {
				t.Errorf("doctor of tables that are not there: %v\n%s", err, out)
			}
		})
	}
}

// The doctor without -layout names the adapter that made the tables, or those whose tables
// are alike.
func TestTheCommandNamesTheAdapterOfTables(t *testing.T) {
	command := buildCommand(t)
	for _, l := range sharedLayouts {
		t.Run(l.file, func(t *testing.T) {
			adapter, _, _ := strings.Cut(l.file, "-")
			out, err := exec.CommandContext(t.Context(), command, "doctor", urlOf(t, l.create(t))).CombinedOutput()
			want := cmp.Or(alike[l.file], adapter)
			if err == nil || !strings.Contains(string(out), "the database has tables of Auth.js ("+want+"): use -layout ") {
				t.Errorf("doctor: %v, want the layouts %s:\n%s", err, want, out)
			}
		})
	}
}

// alike has the adapters whose tables have the same names and columns.
var alike = map[string]string{"pg-postgresql": "neon, pg"}

// buildCommand returns the path of the command.
func buildCommand(t *testing.T) string {
	t.Helper()
	command := filepath.Join(t.TempDir(), "pintle")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", command, "github.com/pintleauth/pintle/cmd/pintle")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the command: %v\n%s", err, out)
	}
	return command
}

// urlOf returns the URL of a database in the form of other tools.
func urlOf(t *testing.T, db *services.Database) string {
	switch db.Driver {
	case "sqlite":
		return db.DSN // file:…
	case "mysql":
		c, err := mysql.ParseDSN(db.DSN)
		if err != nil {
			t.Fatal(err)
		}
		u := url.URL{Scheme: "mysql", User: url.UserPassword(c.User, c.Passwd), Host: c.Addr, Path: c.DBName}
		return u.String()
	}
	return db.DSN // postgres:…
}
