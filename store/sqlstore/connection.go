package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"
	"time"
)

// endConn gives a connection back after a last statement. If that fails, the
// state of the connection is unknown, and it is closed.
func endConn(ctx context.Context, conn *sql.Conn, last string) {
	if _, err := conn.ExecContext(ctx, last); err != nil {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
	_ = conn.Close()
}

// maxRenewed bounds the connections that one failure closes.
const maxRenewed = 64

// afterReadOnly closes the connections that nothing uses if a write has failed because its
// connection only reads. SQLite opens a file that cannot be written so, and the connection stays
// so when the file can be written again. The next call opens another one.
//
// https://www.sqlite.org/c3ref/open.html
func (r records) afterReadOnly(ctx context.Context, err error) {
	if err == nil || r.dialect != SQLite || !strings.Contains(err.Error(), "attempt to write a readonly database") {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	for i := 0; i < maxRenewed && r.db.Stats().Idle > 0; i++ {
		conn, err := r.db.Conn(ctx)
		if err != nil {
			return
		}
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		_ = conn.Close() // it is closed already
	}
}
