package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/pintleauth/pintle"
)

type postgreSQLError struct{ state string }

func (e postgreSQLError) Error() string    { return "ERROR: UNIQUE constraint failed: in a quoted value" }
func (e postgreSQLError) SQLState() string { return e.state }

func TestWhatDriversSayIsUnderstood(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want error
	}{
		{"no rows", sql.ErrNoRows, pintle.ErrNotFound},
		{"PostgreSQL, unique", postgreSQLError{"23505"}, pintle.ErrConflict},
		{"PostgreSQL, wrapped", fmt.Errorf("insert: %w", postgreSQLError{"23505"}), pintle.ErrConflict},
		{"PostgreSQL, foreign key", postgreSQLError{"23503"}, nil},
		{"MySQL, duplicate", errors.New("Error 1062 (23000): Duplicate entry 'secret' for key 'email'"), pintle.ErrConflict},
		{"MySQL, duplicate, old driver", errors.New("Error 1062: Duplicate entry 'secret' for key 'email'"), pintle.ErrConflict},
		{"MySQL, foreign key", errors.New("Error 1452 (23000): Cannot add or update a child row"), nil},
		{"MySQL, another number with the same digits", errors.New("Error 10620 (HY000): other"), nil},
		{"MySQL, words of a value", errors.New("Error 1366 (22007): Incorrect string value: 'UNIQUE constraint failed: x'"), nil},
		{"modernc", errors.New("constraint failed: UNIQUE constraint failed: pintle_users.email (2067)"), pintle.ErrConflict},
		{"mattn", errors.New("UNIQUE constraint failed: pintle_users.email"), pintle.ErrConflict},
		{"SQLite, foreign key", errors.New("constraint failed: FOREIGN KEY constraint failed (787)"), nil},
		{"a deadlock, outside a transaction", postgreSQLError{"40P01"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := records{database: &database{}}.fail(t.Context(), "test", tt.err)
			for _, answer := range []error{pintle.ErrNotFound, pintle.ErrConflict} {
				if errors.Is(got, answer) != errors.Is(tt.want, answer) {
					t.Errorf("fail() = %v, want %v", got, tt.want)
				}
			}
			if tt.want == nil && !errors.Is(got, tt.err) {
				t.Errorf("fail() = %v, want the cause in it", got)
			}
			if tt.want != nil && strings.Contains(got.Error(), "secret") {
				t.Errorf("fail() = %v, which quotes the value", got)
			}
		})
	}
}

func TestWhatTheOperatorCanRepairIsSaid(t *testing.T) {
	const migrate, doctor, start = "run pintle migrate, or call sqlstore.Migrate", "pintle doctor", "check that the database runs"
	own, shared := records{database: &database{tables: &tables{Layout: Layout{hashed: true}}}}, records{database: &database{tables: &tables{}}}
	for _, tt := range []struct {
		name string
		err  error
		r    records
		says string // empty for nothing
	}{
		{"PostgreSQL without the table", postgreSQLError{"42P01"}, own, migrate},
		{"PostgreSQL without the column", postgreSQLError{"42703"}, own, migrate},
		{"MySQL without the table", errors.New("Error 1146 (42S02): Table 'app.pintle_users' doesn't exist"), own, migrate},
		{"MySQL without the column", errors.New("Error 1054 (42S22): Unknown column 'x' in 'field list'"), own, migrate},
		{"SQLite without the table", errors.New("SQL logic error: no such table: pintle_users (1)"), own, migrate},
		{"SQLite without the column", errors.New("table pintle_users has no column named x"), own, migrate},
		{"tables shared with Auth.js", postgreSQLError{"42P01"}, shared, doctor},
		{"a database that is away", fmt.Errorf("connect: %w", &net.OpError{Op: "dial", Err: errors.New("connection refused")}), own, start},
		{"a database that is shutting down", postgreSQLError{"57P01"}, own, start},
		{"a connection that was lost", driver.ErrBadConn, own, start},
		{"words of a value", errors.New("Error 1366 (22007): Incorrect string value: 'no such table: x'"), own, ""},
		{"anything else", errors.New("disk full"), own, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.r.fail(t.Context(), "test", tt.err)
			if !errors.Is(got, tt.err) {
				t.Errorf("fail() = %v, want the cause in it", got)
			}
			for _, remedy := range []string{migrate, doctor, start} {
				if strings.Contains(got.Error(), remedy) != (remedy == tt.says) {
					t.Errorf("fail() = %v, want %q in it", got, tt.says)
				}
			}
		})
	}
}

func TestALostRaceInATransactionIsAConflict(t *testing.T) {
	for _, err := range []error{postgreSQLError{"40001"}, postgreSQLError{"40P01"}, errors.New("Error 1213 (40001): Deadlock found when trying to get lock")} {
		if got := (records{database: &database{}, tx: true}).fail(t.Context(), "test", err); !errors.Is(got, pintle.ErrConflict) {
			t.Errorf("fail(%v) = %v, want pintle.ErrConflict", err, got)
		}
	}
}

func TestAnInterruptionIsReportedAsTheErrorOfTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cause := errors.New("interrupted (9)")
	got := records{database: &database{}}.fail(ctx, "test", cause)
	if !errors.Is(got, context.Canceled) || !errors.Is(got, cause) {
		t.Errorf("fail() = %v, want context.Canceled and the cause", got)
	}
}
