package main

import (
	"crypto/sha256"
	"database/sql"
	"net/http"
	"net/url"
	"time"
)

// A byHand answers /protected as the floor does, but reads what a session of Pintle
// has: the stored token is a hash, and the row has all columns of the user and of the
// session, not two of them. What Pintle takes beyond it is the cost of the library.
// BENCH_MODE sqlite-by-hand puts it in the place of Pintle.
type byHand struct{ find *sql.Stmt }

// newByHand uses the tables that a SQL store has made and filled.
func newByHand(db *sql.DB) (*byHand, error) {
	find, err := db.Prepare(`SELECT s.expires, s.created, s.data, u.id, u.name, u.email, u.email_verified, u.image, u.extra
		FROM pintle_sessions s JOIN pintle_users u ON u.id = s.user_id WHERE s.token_hash = ?`)
	return &byHand{find}, err
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
	// Without the context of the request, as the floor.
	err = b.find.QueryRow(hash[:]).Scan(&s.expires, &s.created, &s.data, &u.id, &u.name, &u.email, &u.verified, &u.image, &u.extra)
	if err != nil || s.expires < time.Now().UnixMilli() {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	text(w, u.name.String)
}
