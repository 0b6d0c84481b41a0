package main

import (
	"database/sql"
	"fmt"

	_ "github.com/jackc/pgx/v5/stdlib" // the database/sql driver "pgx"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/sqlstore"
)

// shared is the store for {"kind": "postgres", "url": …}, which is not in the
// contract: the tables of @auth/pg-adapter in a database that a server of
// Auth.js may use at the same time. The tables must exist. Since the server shares
// them, a reset leaves them unchanged, and state and records do not include them.
func shared(url string) (pintle.Store, error) {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return nil, fmt.Errorf("open the shared database: %w", err)
	}
	return sqlstore.NewShared(db, sqlstore.PG())
}
