package sqlstore

import (
	"context"
	"time"
)

// Sweep implements [pintle.Store]. Rows are removed in the order in which
// they expired, in one statement per table: call it with a few hundred at a
// time, so that requests need not wait for it. Several processes may sweep at
// once.
func (r records) Sweep(ctx context.Context, before time.Time, limit int) (int, error) {
	total := 0
	end := r.tables.Times.column(r.dialect, before)
	for _, s := range []*statement{r.sql.sweepSessions, r.sql.sweepVerifications} {
		if total >= limit {
			break
		}
		result, err := r.repeat(ctx, s, end, limit-total) // for as long as the context of the host allows
		if err != nil {
			return total, r.fail(ctx, "sweep", err)
		}
		n, err := result.RowsAffected()
		if err != nil {
			return total, r.fail(ctx, "sweep", err)
		}
		total += int(n)
	}
	return total, nil
}
