package sqlstore

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

//go:embed migrations
var migrations embed.FS

// Migrations returns the files that make the tables of [New], for another
// migration tool: 0001_tables.sql and so on, statements ending in a semicolon at
// the end of a line. [Migrate] applies them.
func Migrations(d Dialect) fs.FS {
	files, err := fs.Sub(migrations, "migrations/"+d.String())
	if err != nil {
		panic("sqlstore: unreachable: " + err.Error()) // the path is valid
	}
	return files
}

// Migrate makes the tables of [New], or changes those of an earlier version.
// Which files were applied is kept in the table pintle_migrations. Any number
// of processes may call it at once: one works, the others wait and find nothing
// left to do. Tables made by a later version are left as they are.
//
// The user of the database needs the right to create tables. Where the
// application has it not, apply the files of [Migrations] as another user.
func Migrate(ctx context.Context, db *sql.DB, d Dialect) error {
	if !d.known() {
		return fmt.Errorf("sqlstore: migrate: there is no %v: use PostgreSQL, MySQL or SQLite", d)
	}
	steps, err := readMigrations(Migrations(d))
	if err == nil {
		err = d.migrate(ctx, db, func(ctx context.Context, run runner) error { return d.apply(ctx, run, steps) })
	}
	if err != nil {
		return fmt.Errorf("sqlstore: migrate: %w", err)
	}
	return nil
}

// latestMigration returns the version of the tables that [Migrate] makes.
func latestMigration(d Dialect) int {
	steps, err := readMigrations(Migrations(d))
	if err != nil {
		panic("sqlstore: unreachable: " + err.Error()) // the files are part of the program
	}
	return steps[len(steps)-1].version
}

// A migration is one file.
type migration struct {
	version    int
	statements []string
}

func readMigrations(files fs.FS) ([]migration, error) {
	entries, err := fs.ReadDir(files, ".") // in the order of their names
	if err != nil {
		return nil, err
	}
	var steps []migration
	for _, entry := range entries {
		number, _, _ := strings.Cut(entry.Name(), "_")
		version, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("%s: the name does not begin with a number", entry.Name())
		}
		text, err := fs.ReadFile(files, entry.Name())
		if err != nil {
			return nil, err
		}
		steps = append(steps, migration{version, splitStatements(string(text))})
	}
	return steps, nil
}

// splitStatements cuts a file after each semicolon at the end of a line: not
// every driver takes several statements at once.
func splitStatements(text string) []string {
	var statements []string
	for part := range strings.SplitSeq(text, ";\n") {
		if part = strings.TrimSpace(part); part != "" {
			statements = append(statements, part)
		}
	}
	return statements
}

const (
	createVersions = "CREATE TABLE IF NOT EXISTS pintle_migrations (version INTEGER NOT NULL PRIMARY KEY, applied BIGINT NOT NULL)"
	latestVersion  = "SELECT COALESCE(MAX(version), 0) FROM pintle_migrations"
)

// apply runs the steps that were not yet.
func (d Dialect) apply(ctx context.Context, run runner, steps []migration) error {
	if _, err := run.ExecContext(ctx, createVersions); err != nil {
		return err
	}
	rows, err := run.QueryContext(ctx, latestVersion)
	if err != nil {
		return err
	}
	defer rows.Close()
	applied := 0
	for rows.Next() {
		if err := rows.Scan(&applied); err != nil {
			return err
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	record, _ := d.compile("INSERT INTO pintle_migrations (version, applied) VALUES ($1, $2)")
	for _, step := range steps {
		if step.version <= applied {
			continue
		}
		for _, statement := range step.statements {
			if _, err := run.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("step %d: %w", step.version, err)
			}
		}
		if _, err := run.ExecContext(ctx, record, step.version, time.Now().UnixMilli()); err != nil {
			return fmt.Errorf("step %d: %w", step.version, err)
		}
	}
	return nil
}

// A change is what is done to the tables of a database.
type change func(ctx context.Context, run runner) error

// migrate changes tables while no other process does.
func (d Dialect) migrate(ctx context.Context, db *sql.DB, f change) error {
	switch d {
	case PostgreSQL:
		return d.migratePostgreSQL(ctx, db, f)
	case MySQL:
		return d.migrateMySQL(ctx, db, f)
	}
	return d.migrateSQLite(ctx, db, f)
}

// migratePostgreSQL changes tables in one transaction, whose lock ends with it.
// The number means nothing: it is this package's among the locks of the
// database.
func (d Dialect) migratePostgreSQL(ctx context.Context, db *sql.DB, f change) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // of what was committed it undoes nothing
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(7235419853017462)"); err != nil {
		return err
	}
	if err := f(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

const (
	lockMySQL   = "SELECT GET_LOCK(CONCAT('pintle_', MD5(DATABASE())), 5)"
	unlockMySQL = "SELECT RELEASE_LOCK(CONCAT('pintle_', MD5(DATABASE())))"
)

// migrateMySQL changes tables one by one, since there a transaction cannot hold
// such changes. Each can be repeated, for a run that broke off.
func (d Dialect) migrateMySQL(ctx context.Context, db *sql.DB, f change) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	for locked := false; !locked; {
		var got sql.NullInt64
		if err := conn.QueryRowContext(ctx, lockMySQL).Scan(&got); err != nil {
			_ = conn.Close()
			return err
		}
		locked = got.Int64 == 1
	}
	defer endConn(context.WithoutCancel(ctx), conn, unlockMySQL)
	return f(ctx, conn)
}

// migrateSQLite changes tables in one transaction. It waits for its turn even
// on a connection that has no busy timeout.
func (d Dialect) migrateSQLite(ctx context.Context, db *sql.DB, f change) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	for {
		_, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE")
		if err == nil {
			break
		}
		if !strings.Contains(err.Error(), "database is locked") {
			_ = conn.Close()
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			_ = conn.Close()
			return ctx.Err()
		}
	}
	if err := f(ctx, conn); err != nil {
		endConn(context.WithoutCancel(ctx), conn, "ROLLBACK")
		return err
	}
	if _, err := conn.ExecContext(ctx, "COMMIT"); err != nil {
		endConn(context.WithoutCancel(ctx), conn, "ROLLBACK")
		return err
	}
	return conn.Close()
}
