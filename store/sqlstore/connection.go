package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
)

// endConn gives a connection back after a last statement. If that fails, the
// state of the connection is unknown, and it is closed.
func endConn(ctx context.Context, conn *sql.Conn, last string) {
	if _, err := conn.ExecContext(ctx, last); err != nil {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
	_ = conn.Close()
}
