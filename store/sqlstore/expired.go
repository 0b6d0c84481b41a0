package sqlstore

import (
	"context"
	"fmt"
	"time"
)

const (
	// unswept is how long expired rows may stay before Check reports them, and
	// tooMany how many of them it counts.
	unswept = 24 * time.Hour
	tooMany = 1000
)

// checkExpired looks for expired sessions and mail links that are not removed.
func (s *Store) checkExpired(ctx context.Context) ([]Problem, error) {
	b := builder{s.tables}
	var problems []Problem
	for _, t := range []*table{s.tables.sessions, s.tables.verifications} {
		expires := t.columns["expires"]
		count := b.statement("SELECT COUNT(*) FROM (SELECT 1 AS one FROM %s WHERE %s < $1%s LIMIT %d) expired",
			t.quoted, expires, b.sameForm(expires), tooMany)
		var n int
		if err := s.one(ctx, []any{&n}, count, s.tables.Times.column(s.dialect, time.Now().Add(-unswept))); err != nil {
			// Check has reported a table that differs from the layout already.
			return problems, ctx.Err()
		}
		if n == tooMany {
			problems = append(problems, Problem{Text: fmt.Sprintf("the table %s has %d rows or more that expired over a day ago: call Store.Sweep from a schedule", t.Name, n)})
		}
	}
	return problems, nil
}
