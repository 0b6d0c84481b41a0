package sqlstore_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/sqlstore"
	"github.com/pintleauth/pintle/sweep"
)

// expire makes sessions of a user that expired an hour ago.
func expire(t *testing.T, db *services.Database, d sqlstore.Dialect, userID string, n int) {
	t.Helper()
	statement := map[sqlstore.Dialect]string{
		sqlstore.PostgreSQL: "SELECT sha256(convert_to(n::text, 'UTF8')), '%s', %d + n %% 1000 FROM generate_series(1, %d) n",
		sqlstore.MySQL:      "SELECT UNHEX(SHA2(seq, 256)), '%s', %d + seq %% 1000 FROM seq_1_to_%d",
		sqlstore.SQLite:     "WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s) SELECT randomblob(32), '%s', %d + n %% 1000 FROM s LIMIT %d",
	}[d]
	execute(t, db.DB, "INSERT INTO pintle_sessions (token_hash, user_id, expires) "+
		fmt.Sprintf(statement, userID, time.Now().Add(-time.Hour).UnixMilli(), n))
}

// latency is the median and the 99th percentile of durations.
func latency(all []time.Duration) string {
	slices.Sort(all)
	at := func(part float64) time.Duration { return all[int(part*float64(len(all)-1))].Round(time.Microsecond) }
	return fmt.Sprintf("%d checks, median %v, 99%% within %v, all within %v", len(all), at(0.5), at(0.99), at(1))
}

// Two processes sweep at once while sessions are checked: each expired session is removed once, and no
// check fails. PINTLE_SWEEP_SESSIONS=1000000 measures it; the log has how long checks took.
func TestExpiredSessionsAreRemovedWhileSessionsAreChecked(t *testing.T) {
	expired, _ := strconv.Atoi(cmp.Or(os.Getenv("PINTLE_SWEEP_SESSIONS"), "3000"))
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			db := migrated(t, d)
			store := sqlstore.New(db.DB, d.dialect)
			user, err := store.CreateUser(t.Context(), &pintle.User{})
			if err != nil {
				t.Fatal(err)
			}
			const live = 100
			for i := range live {
				session := &pintle.StoredSession{Token: fmt.Sprint("live ", i), UserID: user.ID, Expires: time.Now().Add(24 * time.Hour)}
				if err := store.CreateSession(t.Context(), session); err != nil {
					t.Fatal(err)
				}
			}
			expire(t, db, d.dialect, user.ID, expired)

			// check looks sessions up, two at a time, a hundred a second each, until a function says
			// that it is enough.
			check := func(enough func(n int) bool) (took []time.Duration) {
				var mu sync.Mutex
				var all sync.WaitGroup
				for worker := range 2 {
					all.Go(func() {
						for i := 0; !enough(i); i++ {
							began := time.Now()
							_, _, err := store.SessionAndUser(t.Context(), fmt.Sprint("live ", (worker+2*i)%live))
							mu.Lock()
							took = append(took, time.Since(began))
							mu.Unlock()
							if err != nil {
								t.Errorf("a check: %v", err)
								return
							}
							time.Sleep(10 * time.Millisecond)
						}
					})
				}
				all.Wait()
				return took
			}
			before := check(func(n int) bool { return n >= min(1000, expired/100) })

			var removed, sweeping atomic.Int64
			var all sync.WaitGroup
			began := time.Now()
			for range 2 {
				sweeping.Add(1)
				all.Go(func() {
					defer sweeping.Add(-1)
					n, err := sweep.New(pintle.Config{Store: sqlstore.New(db.DB, d.dialect)}).Once(t.Context())
					if err != nil {
						t.Error(err)
					}
					removed.Add(int64(n))
				})
			}
			during := check(func(n int) bool { return n > 0 && sweeping.Load() == 0 })
			all.Wait()
			t.Logf("%d sessions went in %v; before: %s; meanwhile: %s", expired, time.Since(began).Round(time.Second/10), latency(before), latency(during))
			if n := removed.Load(); n != int64(expired) {
				t.Errorf("the two removed %d sessions, want %d", n, expired)
			}
			var left int
			if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM pintle_sessions").Scan(&left); err != nil || left != live {
				t.Errorf("%d sessions are left, %v, want %d", left, err, live)
			}
		})
	}
}
