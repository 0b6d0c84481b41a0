package services

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

// A Database is an empty database, open, that belongs to one test.
type Database struct {
	*sql.DB

	// Driver and DSN open it again: sql.Open(Driver, DSN).
	Driver, DSN string
}

// databases numbers the databases made by this process.
var databases atomic.Int64

func databaseName() string {
	return "pintle_" + strconv.FormatInt(databases.Add(1), 10)
}

func openDatabase(t testing.TB, driver, dsn string) *Database {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatalf("services: open a %s database: %v", driver, err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("services: close the %s database: %v", driver, err)
		}
	})
	return &Database{DB: db, Driver: driver, DSN: dsn}
}

// execute runs one statement on a new connection.
func execute(ctx context.Context, driver, dsn, statement string) error {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return fmt.Errorf("services: open %s: %w", driver, err)
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if _, err := db.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("services: %s: %w", statement, err)
	}
	return nil
}

// ping reports whether a database server answers a query.
func ping(driver, dsn string) func(context.Context) error {
	return func(ctx context.Context) error {
		db, err := sql.Open(driver, dsn)
		if err != nil {
			return err
		}
		defer db.Close()
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		return db.PingContext(ctx)
	}
}
