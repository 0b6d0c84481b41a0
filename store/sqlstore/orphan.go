package sqlstore

import (
	"context"
	"strings"
	"time"
)

// orphanPage is how many ids of users a sweep compares at a time.
const orphanPage = 500

// sweepOrphans removes at most limit states and factors that were made before a time and
// whose user is gone: Auth.js, or an operator by hand, deletes users without them. Flows
// expire by themselves.
//
// It compares ids here, byte by byte. The columns of users differ in type and collation
// from layout to layout, and most databases could not use an index to join them.
func (r records) sweepOrphans(ctx context.Context, before time.Time, limit int) (removed int, err error) {
	if r.tables.states == nil {
		return 0, nil
	}
	for _, owners := range []*statement{r.sql.stateOwners, r.sql.factorOwners} {
		after := ""
		for removed < limit {
			page, err := r.ids(ctx, owners, after, before.UnixMilli(), orphanPage)
			if err != nil || len(page) == 0 {
				if err != nil {
					return removed, err
				}
				break
			}
			after = page[len(page)-1]
			gone, err := r.without(ctx, page)
			if err != nil {
				return removed, err
			}
			for _, id := range gone {
				n, err := r.dropOrphan(ctx, id, before, limit-removed)
				if removed += n; err != nil {
					return removed, err
				}
			}
		}
	}
	return removed, nil
}

// ids reads a column of ids.
func (r records) ids(ctx context.Context, s *statement, args ...any) (ids []string, err error) {
	err = r.each(ctx, func(scan func(...any) error) error {
		var id idText
		err := scan(&id)
		ids = append(ids, string(id))
		return err
	}, s, args...)
	return ids, err
}

// without returns those ids that no user has.
func (r records) without(ctx context.Context, ids []string) (gone []string, err error) {
	var keys []any
	for _, id := range ids {
		if key, ok := r.tables.Users.ID.column(id); ok {
			keys = append(keys, key)
		}
	}
	there := map[string]bool{}
	if len(keys) > 0 {
		found, err := r.ids(ctx, builder{r.tables}.usersAmong(len(keys)), keys...)
		if err != nil {
			return nil, err
		}
		for _, id := range found {
			there[id] = true
		}
	}
	for _, id := range ids {
		if !there[id] {
			gone = append(gone, id)
		}
	}
	return gone, nil
}

// dropOrphan removes at most limit rows of a user who is gone. The rows of a user who
// receives the id meanwhile are younger.
func (r records) dropOrphan(ctx context.Context, id string, before time.Time, limit int) (removed int, err error) {
	factors, err := accountRows{r}.Factors(ctx, id)
	if err != nil {
		return 0, err
	}
	for _, f := range factors {
		if removed >= limit || !f.Created.Before(before) {
			continue
		}
		n, err := r.exec(ctx, r.sql.deleteFactor, id, f.Kind, f.ID)
		if removed += n; err != nil {
			return removed, err
		}
	}
	if removed >= limit {
		return removed, nil
	}
	n, err := r.exec(ctx, r.sql.dropState, id, before.UnixMilli())
	return removed + n, err
}

// orphanRows adds the statements for the rows of users who are gone.
func (b builder) orphanRows(q *queries) {
	s, f := b.states, b.factors
	owner, created := s.columns["user_id"], s.columns["created"]
	old := "(" + created + " IS NULL OR " + created + " < $2)"
	q.stateOwners = b.statement("SELECT %[1]s FROM %[2]s WHERE %[1]s > $1 AND %[3]s ORDER BY %[1]s LIMIT $3", owner, s.quoted, old)
	q.dropState = b.statement("DELETE FROM %s WHERE %s = $1 AND %s", s.quoted, owner, old)
	q.factorOwners = b.statement("SELECT DISTINCT %[1]s FROM %[2]s WHERE %[1]s > $1 AND %[3]s < $2 ORDER BY %[1]s LIMIT $3",
		f.columns["user_id"], f.quoted, f.columns["created"])
}

// usersAmong finds which of n ids users have.
func (b builder) usersAmong(n int) *statement {
	u := b.tables.users
	id := u.columns["id"]
	is := make([]string, n)
	for i := range is {
		is[i] = b.isID(id, i+1)
	}
	s := b.statement("SELECT %s FROM %s WHERE %s", id, u.quoted, strings.Join(is, " OR "))
	s.once = true
	return s
}
