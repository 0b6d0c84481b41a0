package sqlstore

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestMigrationsAreWholeStatementsInOrder(t *testing.T) {
	for _, d := range []Dialect{PostgreSQL, MySQL, SQLite} {
		steps, err := readMigrations(Migrations(d))
		if err != nil || len(steps) == 0 {
			t.Fatalf("%v: %v, %v", d, steps, err)
		}
		for i, step := range steps {
			if step.version != i+1 {
				t.Errorf("%v: step %d has the version %d", d, i+1, step.version)
			}
			for _, statement := range step.statements {
				if strings.Count(statement, "(") != strings.Count(statement, ")") || strings.HasSuffix(statement, ";") {
					t.Errorf("%v: not one statement:\n%s", d, statement)
				}
			}
		}
	}
}

func TestAMigrationWithoutANumberIsRefused(t *testing.T) {
	if _, err := readMigrations(fstest.MapFS{"tables.sql": {Data: []byte("SELECT 1;\n")}}); err == nil {
		t.Error("readMigrations accepted a file without a version")
	}
}
