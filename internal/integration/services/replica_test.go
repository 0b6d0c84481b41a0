package services_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/pintleauth/pintle/internal/integration/services"
)

func open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestAReplicaHasWhatItsServerAcknowledged(t *testing.T) {
	primary := services.PostgreSQL(t)
	replica := services.PostgreSQLReplica(t, primary)
	db := open(t, primary.URL+"&synchronous_commit=on")
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE people AS SELECT 'Ada' AS name"); err != nil {
		t.Fatal(err)
	}
	primary.Kill(t)
	replica.Promote(t)
	after := open(t, replica.URL)
	if got := onePerson(t, after); got != "Ada" {
		t.Errorf("the replica has %q, want Ada", got)
	}
	if _, err := after.ExecContext(t.Context(), "INSERT INTO people VALUES ('Zoë')"); err != nil {
		t.Errorf("the promoted replica takes no write: %v", err)
	}
}

func TestAPausedServerAnswersNothingAndGoesOn(t *testing.T) {
	server := services.PostgreSQL(t)
	db := open(t, server.URL)
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE people AS SELECT 'Ada' AS name"); err != nil {
		t.Fatal(err)
	}
	server.Pause(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := db.QueryRowContext(ctx, "SELECT name FROM people").Scan(new(string)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a paused server answers %v", err)
	}
	server.Resume(t)
	if got := onePerson(t, db); got != "Ada" {
		t.Errorf("read %q, want Ada", got)
	}
}
