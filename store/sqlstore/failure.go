package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/pintleauth/pintle"
)

// Fixes for the features that a layout lacks.
const (
	fixTable = "name a table of the database in Layout.Authenticators"
	fixName  = `list a column of the table as "name" in Layout.Authenticators.Columns`
)

var (
	errNotText = errors.New("it has a NUL character or is not UTF-8, which databases cannot keep as text")
	errNoTable = fmt.Errorf("the layout has no table for it: %s: %w", fixTable, errors.ErrUnsupported)
	errNoName  = fmt.Errorf("the layout has no column for it: %s: %w", fixName, errors.ErrUnsupported)
	errNested  = fmt.Errorf("sqlstore: a transaction in a transaction: %w", errors.ErrUnsupported)
)

// fail converts an error to the errors of package pintle.
//
// The driver's message about a conflict is left out: MySQL quotes the value, which
// in a shared table may be a session token.
func (r records) fail(ctx context.Context, operation string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrNoRows):
		return pintle.ErrNotFound
	case errors.Is(err, pintle.ErrNotFound), errors.Is(err, pintle.ErrConflict):
		return err
	case r.tx && isRace(err):
		return fmt.Errorf("sqlstore: %s: %w", operation, errLostRace)
	case isDuplicate(err):
		return fmt.Errorf("sqlstore: %s: %w", operation, pintle.ErrConflict)
	}
	if !r.tx {
		r.afterReadOnly(ctx, err)
	}
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		// Some drivers report the interruption with another error.
		return fmt.Errorf("sqlstore: %s: %w: %w", operation, ended, err)
	}
	return fmt.Errorf("sqlstore: %s: %w%s", operation, err, r.remedy(err))
}

// remedy returns a hint for an error that the operator can repair, or "".
func (r records) remedy(err error) string {
	own := r.tables == nil || r.tables.hashed // revocations are in a table of our own
	switch {
	case isAway(err):
		return ": check that the database runs, and the address in its URL"
	case !lacksTable(err):
		return ""
	case own:
		return ": the database was not migrated: run pintle migrate, or call sqlstore.Migrate"
	}
	return ": the database does not have what the layout names: pintle doctor compares the two"
}

// isAway reports whether the database could not be reached or is going down.
func isAway(err error) bool {
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return true
	}
	state := sqlState(err)
	// Class 08 is connection exceptions; 57P01 to 57P03 are shutdowns and starts.
	return strings.HasPrefix(state, "08") || strings.HasPrefix(state, "57P0") || errors.Is(err, driver.ErrBadConn)
}

// lacksTable reports whether a statement named a table or a column that the
// database does not have.
func lacksTable(err error) bool {
	switch sqlState(err) {
	case "42P01", "42703": // undefined_table, undefined_column
		return true
	}
	if isMySQLError(err, 1146) || isMySQLError(err, 1054) { // ER_NO_SUCH_TABLE, ER_BAD_FIELD_ERROR
		return true
	}
	text := err.Error()
	return sqlState(err) == "" && !isMySQL(err) && (strings.Contains(text, "no such table: ") || strings.Contains(text, "no such column: ") || strings.Contains(text, "has no column named "))
}

// absent returns the error for a key that no row can have: that of the context
// if it has ended, and [pintle.ErrNotFound] otherwise.
func (r records) absent(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return pintle.ErrNotFound
}

// isDuplicate reports whether a unique index refused a row. It recognises the
// errors of the drivers without importing them.
func isDuplicate(err error) bool {
	return sqlState(err) == "23505" || // unique_violation
		isMySQLError(err, 1062) || // ER_DUP_ENTRY
		isMySQLError(err, 1586) || // ER_DUP_ENTRY_WITH_KEY_NAME
		// The error of every SQLite driver holds the message of the library. It
		// names tables and columns but quotes no value, so a client cannot forge
		// it.
		strings.Contains(err.Error(), "UNIQUE constraint failed: ") && sqlState(err) == "" && !isMySQL(err)
}

// isRace reports whether the database gave a transaction up because of another
// one. The other was faster by a moment, as with a duplicate.
func isRace(err error) bool {
	switch sqlState(err) {
	case "40001", "40P01": // serialization_failure, deadlock_detected
		return true
	}
	return isMySQLError(err, 1213) // ER_LOCK_DEADLOCK
}

// sqlState returns the code of a PostgreSQL error, which both its drivers have
// a method for.
func sqlState(err error) string {
	if e, ok := errors.AsType[interface {
		error
		SQLState() string
	}](err); ok {
		return e.SQLState()
	}
	return ""
}

// isMySQLError reports whether err is the numbered error of a MySQL server.
// The driver has the number in a field only, but begins its message with it,
// before anything that could have come from a value.
func isMySQLError(err error, number int) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		text := err.Error()
		if strings.HasPrefix(text, fmt.Sprintf("Error %d (", number)) || strings.HasPrefix(text, fmt.Sprintf("Error %d: ", number)) {
			return true
		}
	}
	return false
}

func isMySQL(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if strings.HasPrefix(err.Error(), "Error ") {
			return true
		}
	}
	return false
}
