package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "github.com/mattn/go-sqlite3"    // the driver "sqlite3", which the floor uses

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/sqlstore"
)

const (
	sqliteConnections     = 4
	postgreSQLConnections = 10

	// batch is how many users are made in one transaction.
	batch = 1000
)

func openSQLite(path string) (*sessions, error) {
	db, err := sql.Open("sqlite3", "file:"+path+"?_busy_timeout=5000&_journal_mode=WAL&_synchronous=NORMAL&_foreign_keys=1")
	if err != nil {
		return nil, err
	}
	s, err := openSQL(db, sqlstore.SQLite, sqliteConnections)
	if err != nil {
		return nil, err
	}
	s.seed = func(ctx context.Context, n, sample, pad int) ([]string, error) {
		return seedSQLite(ctx, db, n, sample, pad)
	}
	return s, nil
}

func openPostgreSQL(url string) (*sessions, error) {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return nil, err
	}
	s, err := openSQL(db, sqlstore.PostgreSQL, postgreSQLConnections)
	if err != nil {
		return nil, err
	}
	s.seed = func(ctx context.Context, n, sample, pad int) ([]string, error) {
		return seedPostgreSQL(ctx, db, n, sample, pad)
	}
	return s, nil
}

func openSQL(db *sql.DB, d sqlstore.Dialect, connections int) (*sessions, error) {
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	if err := sqlstore.Migrate(context.Background(), db, d); err != nil {
		return nil, err
	}
	s := stored(sqlstore.New(db, d))
	s.db = db
	return s, nil
}

// stored keeps sessions in a store and seeds them through it.
func stored(store pintle.Store) *sessions {
	s := &sessions{store: store}
	s.seed = func(ctx context.Context, n, sample, pad int) ([]string, error) {
		var cookies []string
		for first := 0; first < n; first += batch {
			err := store.InTx(ctx, func(tx pintle.Store) error {
				for i := first; i < min(first+batch, n); i++ {
					token, err := signIn(ctx, tx, i, pad)
					if err != nil {
						return err
					}
					if len(cookies) < sample {
						cookies = append(cookies, cookieName+"="+token)
					}
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
		return cookies, nil
	}
	return s
}

// signIn stores a user with a session, as a first sign-in does.
func signIn(ctx context.Context, store pintle.Store, i, pad int) (token string, err error) {
	user, err := store.CreateUser(ctx, person(i, pad))
	if err != nil {
		return "", err
	}
	token = rand.Text()
	return token, store.CreateSession(ctx, &pintle.StoredSession{
		Token: token, UserID: user.ID, Created: time.Now(), Expires: time.Now().Add(maxAge),
	})
}

// seedSQLite writes the rows with statements of its own, as the floor does. Thousands of
// sign-ins in a row would leave thousands of descriptors of goroutines: each statement whose
// context can end starts one, and with a single processor none of them ends before the last
// statement. The runtime keeps the descriptors, 1.8 MB of them, and every garbage collection
// of the measurement would mark them.
func seedSQLite(ctx context.Context, db *sql.DB, n, sample, pad int) ([]string, error) {
	ctx = context.WithoutCancel(ctx)
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	user, err := tx.PrepareContext(ctx, "INSERT INTO pintle_users (id, name, email, image) VALUES (?, ?, ?, ?)")
	if err != nil {
		return nil, err
	}
	defer func() { _ = user.Close() }()
	session, err := tx.PrepareContext(ctx, "INSERT INTO pintle_sessions (token_hash, user_id, expires, created) VALUES (?, ?, ?, ?)")
	if err != nil {
		return nil, err
	}
	defer func() { _ = session.Close() }()
	var cookies []string
	now := time.Now()
	for i := range n {
		u, token := person(i, pad), rand.Text()
		if _, err := user.ExecContext(ctx, u.ID, u.Name, u.Email, u.Image); err != nil {
			return nil, fmt.Errorf("seed users: %w", err)
		}
		hash := sha256.Sum256([]byte(token))
		if _, err := session.ExecContext(ctx, hash[:], u.ID, now.Add(maxAge).UnixMilli(), now.UnixMilli()); err != nil {
			return nil, fmt.Errorf("seed sessions: %w", err)
		}
		if len(cookies) < sample {
			cookies = append(cookies, cookieName+"="+token)
		}
	}
	if err := tx.Commit(); err != nil {
		return nil, err
	}
	// No read looks in the write-ahead log.
	_, err = db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return cookies, err
}

// seedPostgreSQL writes the rows in two statements: a million single statements
// would take longer than the benchmark.
func seedPostgreSQL(ctx context.Context, db *sql.DB, n, sample, pad int) ([]string, error) {
	_, err := db.ExecContext(ctx, `INSERT INTO pintle_users (id, name, email, image)
		SELECT 'user-' || lpad(i::text, 6, '0'), 'Ada Lovelace ' || i, 'ada' || i || '@example.com', 'https://example.com/ada.png' || repeat('x', $2)
		FROM generate_series(0, $1::int - 1) i`, n, pad)
	if err != nil {
		return nil, fmt.Errorf("seed users: %w", err)
	}
	_, err = db.ExecContext(ctx, `INSERT INTO pintle_sessions (token_hash, user_id, expires, created)
		SELECT sha256(convert_to('session-token-of-' || id, 'UTF8')), id, $1, $2 FROM pintle_users`,
		time.Now().Add(maxAge).UnixMilli(), time.Now().UnixMilli())
	if err != nil {
		return nil, fmt.Errorf("seed sessions: %w", err)
	}
	if _, err := db.ExecContext(ctx, "ANALYZE"); err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, "SELECT id FROM pintle_users ORDER BY random() LIMIT $1", sample)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var cookies []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		cookies = append(cookies, cookieName+"=session-token-of-"+id)
	}
	return cookies, rows.Err()
}
