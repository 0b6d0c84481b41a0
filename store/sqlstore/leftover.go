package sqlstore

import (
	"context"
	"fmt"
)

// checkOwners looks for accounts whose user is gone. Tables that do not refer to
// users, as those of Auth.js's adapters for pg and D1, keep them when an operator
// deletes users by hand. Auth.js ignores them: there a person may have a
// second account of the same name, which the unique index forbids.
func (s *Store) checkOwners(ctx context.Context) ([]Problem, error) {
	a, u := s.tables.accounts, s.tables.users
	ownerless := fmt.Sprintf("FROM %[1]s WHERE NOT EXISTS (SELECT 1 FROM %[2]s WHERE %[2]s.%[3]s = %[1]s.%[4]s)",
		a.quoted, u.quoted, u.columns["id"], a.columns["userId"])
	var n int
	if err := s.one(ctx, []any{&n}, s.dialect.statement("SELECT COUNT(*) "+ownerless)); err != nil {
		// Check has reported a table that differs from the layout already.
		return nil, ctx.Err()
	}
	if n == 0 {
		return nil, nil
	}
	return []Problem{{
		Text: fmt.Sprintf("the table %s has accounts of users who are gone, %d of them: whose they are cannot sign in with them", a.Name, n),
		Fix:  "DELETE " + ownerless,
	}}, nil
}
