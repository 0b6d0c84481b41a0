package sqlstore_test

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/sqlstore"
)

// BenchmarkSessionAmong checks twenty thousand sessions picked at random from those
// of a thousand and of a million users:
//
//	go test -run '^$' -bench SessionAmong ./sqlstore
//
// docs/sql.md has the result for a million: at most half more time on SQLite, and
// a third on PostgreSQL.
func BenchmarkSessionAmong(b *testing.B) {
	const most = 20_000
	for _, d := range databases {
		if d.dialect == sqlstore.MySQL {
			continue // docs/sql.md makes no promise for it
		}
		for _, n := range []int{1_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/%d", d.name, n), func(b *testing.B) {
				db := migrated(b, d)
				if d.dialect == sqlstore.SQLite {
					db.DB = cached(b, db)
				}
				fill(b, db.DB, d.dialect, n)
				s := sqlstore.New(db.DB, d.dialect)
				random := rand.New(rand.NewPCG(1, 2))
				visitors := make([]string, min(n, most))
				look := func(i int) {
					if _, _, err := s.SessionAndUser(b.Context(), visitors[i%len(visitors)]); err != nil {
						b.Fatal(err)
					}
				}
				for i := range visitors {
					visitors[i] = fmt.Sprint("session ", random.IntN(n))
					look(i)
				}
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					look(i)
				}
			})
		}
	}
}

// cached opens a SQLite database as docs/sql.md advises for many sessions.
func cached(b *testing.B, db *services.Database) *sql.DB {
	b.Helper()
	large, err := sql.Open(db.Driver, db.DSN+"&_pragma=cache_size(-262144)")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := large.Close(); err != nil {
			b.Error(err)
		}
	})
	large.SetMaxOpenConns(1) // each connection has its own cache
	return large
}

// fill makes n users with a session each. Their ids are in no order, as UUIDs
// are.
func fill(b *testing.B, db *sql.DB, d sqlstore.Dialect, n int) {
	b.Helper()
	ends := time.Now().Add(30 * 24 * time.Hour).UnixMilli()
	if d == sqlstore.PostgreSQL {
		run(b, db, `INSERT INTO pintle_users (id, name, email)
			SELECT md5(i::text), 'Ada Lovelace ' || i, 'ada' || i || '@example.com' FROM generate_series(0, $1::int - 1) i`, n)
		run(b, db, `INSERT INTO pintle_sessions (token_hash, user_id, expires)
			SELECT sha256(convert_to('session ' || i, 'UTF8')), md5(i::text), $2 FROM generate_series(0, $1::int - 1) i`, n, ends)
		run(b, db, "VACUUM ANALYZE")
		return
	}
	tx, err := db.BeginTx(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	for i := range n {
		id := fmt.Sprintf("%x", md5.Sum(fmt.Append(nil, i)))
		hash := sha256.Sum256(fmt.Append(nil, "session ", i))
		run(b, tx, "INSERT INTO pintle_users (id, name, email) VALUES (?, ?, ?)", id, fmt.Sprint("Ada Lovelace ", i), fmt.Sprintf("ada%d@example.com", i))
		run(b, tx, "INSERT INTO pintle_sessions (token_hash, user_id, expires) VALUES (?, ?, ?)", hash[:], id, ends)
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
	run(b, db, "ANALYZE")
}

func run(b *testing.B, db interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}, statement string, args ...any,
) {
	b.Helper()
	if _, err := db.ExecContext(b.Context(), statement, args...); err != nil {
		b.Fatal(err)
	}
}
