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
// Auth.js may use at the same time. They have to be there. Since they are not
// this server's alone, a reset leaves them as they are, and neither state nor
// records tell of them.
func shared(url string) (pintle.Store, error) {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return nil, fmt.Errorf("open the shared database: %w", err)
	}
	return sqlstore.NewShared(db, sqlstore.PG())
}
