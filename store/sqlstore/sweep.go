package sqlstore

import (
	"context"
	"time"
)

// Sweep implements [pintle.Store]. It removes flows, factors, events, data of sessions, sign-ins at providers, and keys,
// leases and counts of the shared state as well, if the layout has their tables. Rows are removed in the order in which
// they expired, in one statement per table: call it with a few hundred at a
// time, so that requests need not wait for it. Several processes may sweep at
// once.
//
// At the end it reads the ids of all users with a state or a factor, 500 at a time, to find
// those who are gone.
func (r records) Sweep(ctx context.Context, before time.Time, limit int) (int, error) {
	total, sessions := 0, 0
	end := r.tables.Times.column(r.dialect, before)
	for _, sweep := range []struct {
		*statement
		end any
	}{
		{r.sql.sweepSessions, end},
		{r.sql.sweepVerifications, end},
		{r.sql.sweepFlows, before.UnixMilli()},
		{r.sql.sweepFactors, before.UnixMilli()},
		{r.sql.sweepActivity, before.UnixMilli()},
		{r.sql.sweepSignIns, before.UnixMilli()},
		{r.sql.sweepEnds, before.UnixMilli()},
		{r.sql.sweepOnce, before.UnixMilli()},
		{r.sql.sweepLeases, before.UnixMilli()},
		{r.sql.sweepCounts, before.UnixMilli()},
	} {
		if total >= limit {
			break
		}
		if sweep.statement == nil {
			continue
		}
		result, err := r.repeat(ctx, sweep.statement, sweep.end, limit-total) // for as long as the context of the host allows
		if err != nil {
			return total, r.fail(ctx, "sweep", err)
		}
		n, err := result.RowsAffected()
		if err != nil {
			return total, r.fail(ctx, "sweep", err)
		}
		total += int(n)
		if sweep.statement == r.sql.sweepSessions {
			sessions = int(n)
		}
	}
	if r.tables.facts != nil && limit > 0 {
		// The data of the sessions that were removed counts as part of them.
		n, err := r.sweepFacts(ctx, before, limit-total+sessions)
		if total += max(0, n-sessions); err != nil {
			return total, r.fail(ctx, "sweep", err)
		}
	}
	n, err := r.sweepOrphans(ctx, before, limit-total)
	return total + n, r.fail(ctx, "sweep", err)
}
