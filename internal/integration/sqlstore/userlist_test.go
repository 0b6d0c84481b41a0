package sqlstore_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/integration/recorder"
	"github.com/pintleauth/pintle/store/sqlstore"
)

// listQueries are the lists that operators ask for. Those that sort find few users by what they
// have in common first.
var listQueries = []struct {
	name  string
	query accountstore.UserQuery
	sorts bool
}{
	{"the newest", accountstore.UserQuery{}, false},
	{"of an address", accountstore.UserQuery{EmailPrefix: "user-4"}, false},
	{"of a name", accountstore.UserQuery{NamePrefix: "Ada 4"}, false},
	{"of an id", accountstore.UserQuery{ID: "00000000-0000-4000-8000-000000000042"}, true},
	{"of a role", accountstore.UserQuery{Role: "support"}, true},
	{"banned", accountstore.UserQuery{Banned: new(true)}, true},
	{"not banned", accountstore.UserQuery{Banned: new(false)}, false},
	{"deleting", accountstore.UserQuery{Deleting: new(true)}, true},
	{"unproven", accountstore.UserQuery{Unproved: new(true)}, false},
	{"with a second factor", accountstore.UserQuery{SecondFactor: new(true)}, true},
	{"of an address, unproven, without a second factor", accountstore.UserQuery{EmailPrefix: "user-4", Unproved: new(true), SecondFactor: new(false)}, false},
}

// manyUsers fills the tables, without the store, which would take longer: each hundredth user has
// a state, of which some have a role, a ban, or are to be deleted, and some have a second factor.
func manyUsers(t testing.TB, db *sql.DB, d sqlstore.Dialect, n int) {
	t.Helper()
	const batch = 500
	now := time.Now().UnixMilli()
	insert := func(table, columns string, rows []string) {
		t.Helper()
		if len(rows) == 0 {
			return
		}
		if _, err := db.ExecContext(t.Context(), "INSERT INTO "+table+" ("+columns+") VALUES "+strings.Join(rows, ", ")); err != nil {
			t.Fatal(err)
		}
	}
	truth := map[bool]string{true: "TRUE", false: "FALSE"}
	if d == sqlstore.SQLite {
		truth = map[bool]string{true: "1", false: "0"}
	}
	for begin := 0; begin < n; begin += batch {
		var users, states, factors []string
		for i := begin; i < min(begin+batch, n); i++ {
			id := fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
			verified := "NULL"
			if i%7 != 0 {
				verified = fmt.Sprint(now)
			}
			users = append(users, fmt.Sprintf("('%s', 'Ada %d', 'user-%d@example.org', %s, %d)", id, i, i, verified, now-int64(n-i)))
			if i%100 == 42 {
				roles, banned, deleted := "NULL", "NULL", "NULL"
				switch i / 100 % 4 {
				case 0:
					roles = `'["support"]'`
				case 1:
					banned = fmt.Sprint(now + 1e9)
				case 2:
					deleted = fmt.Sprint(now + 1e9)
				}
				states = append(states, fmt.Sprintf("('%s', 1, %s, %s, %s, %s, 0)", id, roles, banned, deleted, truth[false]))
				factors = append(factors, fmt.Sprintf("('%s', 'totp', '1', 1, 's', 0, 'app')", id))
			}
			factors = append(factors, fmt.Sprintf("('%s', 'password', '', 1, 's', 0, '')", id))
		}
		insert("pintle_users", "id, name, email, email_verified, created", users)
		insert("pintle_states", "user_id, version, roles, banned_until, delete_at, suspended, streak", states)
		insert("pintle_factors", "user_id, kind, id, version, secret, step, name", factors)
	}
	execute(t, db, map[sqlstore.Dialect]string{
		sqlstore.PostgreSQL: "ANALYZE", sqlstore.SQLite: "ANALYZE", sqlstore.MySQL: "ANALYZE TABLE pintle_users, pintle_states, pintle_factors",
	}[d])
}

// The bar of operators' lists: one indexed query a page.
func TestAPageOfUsersIsOneIndexedQuery(t *testing.T) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			db := migrated(t, d)
			manyUsers(t, db.DB, d.dialect, 2000)
			recorded, r := recorder.Open(t, db)
			rows := sqlstore.New(recorded, d.dialect).AccountStore()
			for _, l := range listQueries {
				q := l.query
				q.At, q.Limit = time.Now(), 2
				for page := range 2 {
					r.Take()
					users, next, err := rows.Users(t.Context(), q)
					if err != nil || len(users) == 0 {
						t.Fatalf("users %s: %d, %v", l.name, len(users), err)
					}
					sent := r.Take()
					if len(sent) != 1 {
						t.Fatalf("page %d of users %s took %d statements", page, l.name, len(sent))
					}
					plan := explain(t, db, d.dialect, sent[0])
					if !indexed(d.dialect, withoutSmall(plan)) {
						t.Errorf("users %s, page %d: %s\nreads a whole table:\n%s", l.name, page, sent[0].Text, plan)
					}
					if !l.sorts && sorts(d.dialect, plan) {
						t.Errorf("users %s, page %d: %s\nsorts all users:\n%s", l.name, page, sent[0].Text, plan)
					}
					if q.After = next; next == "" {
						break
					}
				}
			}
		})
	}
}

// withoutSmall is a plan without the steps that read all of something small: the index of the
// users who have roles, the roles of one user, and what an index has found already.
func withoutSmall(plan string) string {
	for _, small := range []string{"SCAN s USING INDEX pintle_states_roles", "SCAN r EXISTS", "table=<subquery3> type=ALL "} {
		plan = strings.ReplaceAll(plan, small, "")
	}
	return plan
}

// sorts reports whether a plan sorts rows instead of reading them in their order.
func sorts(d sqlstore.Dialect, plan string) bool {
	return strings.Contains(plan, map[sqlstore.Dialect]string{
		sqlstore.PostgreSQL: "Sort", sqlstore.MySQL: "filesort", sqlstore.SQLite: "USE TEMP B-TREE",
	}[d])
}

// BenchmarkUsersAmong measures a page of 50 users among a million:
//
//	go test -run '^$' -bench UsersAmong ./sqlstore
func BenchmarkUsersAmong(b *testing.B) {
	for _, d := range databases {
		b.Run(d.name, func(b *testing.B) {
			db := migrated(b, d)
			manyUsers(b, db.DB, d.dialect, 1_000_000)
			rows := sqlstore.New(db.DB, d.dialect).AccountStore()
			for _, l := range listQueries {
				b.Run(strings.ReplaceAll(l.name, " ", "-"), func(b *testing.B) {
					q := l.query
					q.At, q.Limit = time.Now(), 50
					for b.Loop() {
						_, next, err := rows.Users(b.Context(), q)
						if err != nil {
							b.Fatal(err)
						}
						q.After = next
					}
				})
			}
		})
	}
}
