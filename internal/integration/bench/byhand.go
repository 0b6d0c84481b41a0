package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"net/http"
	"net/url"
	"time"
)

// A byHand answers /protected as the floor does, but reads what a session of Pintle
// has: the stored token is a hash, and the row has all columns of the user and of the
// session, not two of them. What Pintle takes beyond it is the cost of the library.
// BENCH_MODE sqlite-by-hand and pg-by-hand put it in the place of Pintle.
type byHand struct {
	row func(ctx context.Context, hash []byte) *sql.Row
}

// newByHand uses the tables that a SQL store has made and filled.
func newByHand(db *sql.DB, mode string) (*byHand, error) {
	const query = `SELECT s.expires, s.created, s.data, u.id, u.name, u.email, u.email_verified, u.image, u.extra
		FROM pintle_sessions s JOIN pintle_users u ON u.id = s.user_id WHERE s.token_hash = `
	if mode == "pg-by-hand" {
		return &byHand{func(ctx context.Context, hash []byte) *sql.Row {
			return db.QueryRowContext(ctx, query+"$1", hash) // which the driver prepares
		}}, nil
	}
	find, err := db.Prepare(query + "?") //nolint:sqlclosecheck // it is used until the program ends
	return &byHand{func(_ context.Context, hash []byte) *sql.Row {
		return find.QueryRow(hash) // without the context of the request, as the floor
	}}, err
}

func (b *byHand) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	value, err := url.QueryUnescape(cookie.Value)
	if err != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var (
		s struct {
			expires, created int64
			data             []byte
		}
		u struct {
			id, name, email, image sql.NullString
			verified               sql.NullInt64
			extra                  []byte
		}
		hash = sha256.Sum256([]byte(value))
	)
	err = b.row(r.Context(), hash[:]).Scan(&s.expires, &s.created, &s.data, &u.id, &u.name, &u.email, &u.verified, &u.image, &u.extra)
	if err != nil || s.expires < time.Now().UnixMilli() {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	text(w, u.name.String)
}
