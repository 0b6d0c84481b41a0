package sqlstore_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/sqlstore"
)

func Example() {
	db, err := sql.Open("pgx", "postgres://localhost/app")
	if err != nil {
		log.Fatal(err)
	}
	if err := sqlstore.Migrate(context.Background(), db, sqlstore.PostgreSQL); err != nil {
		log.Fatal(err)
	}
	auth, err := pintle.New(pintle.Config{Store: sqlstore.New(db, sqlstore.PostgreSQL)})
	if err != nil {
		log.Fatal(err)
	}
	_ = auth
}

func ExampleNewShared() {
	db, err := sql.Open("mysql", "app@tcp(localhost)/app")
	if err != nil {
		log.Fatal(err)
	}
	layout := sqlstore.Drizzle(sqlstore.MySQL)
	layout.Users.Name = "app_user"
	layout.Users.Extra = []string{"role"}
	store, err := sqlstore.NewShared(db, layout)
	if err != nil {
		log.Fatal(err)
	}
	problems, err := store.Check(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range problems {
		fmt.Println(p.Text, p.Fix)
	}
}

// Passwords and second factors are kept in tables beside those of Auth.js.
func ExampleMigrateShared() {
	db, err := sql.Open("pgx", "postgres://localhost/app")
	if err != nil {
		log.Fatal(err)
	}
	layout := sqlstore.Drizzle(sqlstore.PostgreSQL)
	layout.AccountTables = true
	if err := sqlstore.MigrateShared(context.Background(), db, layout); err != nil {
		log.Fatal(err)
	}
	store, err := sqlstore.NewShared(db, layout)
	if err != nil {
		log.Fatal(err)
	}
	auth, err := pintle.New(pintle.Config{Store: store})
	if err != nil {
		log.Fatal(err)
	}
	_ = auth
}

// A host sweeps when it likes, a few hundred rows at a time.
func ExampleStore_Sweep() {
	sweep := func(ctx context.Context, store *sqlstore.Store) error {
		const batch = 500
		for {
			n, err := store.Sweep(ctx, time.Now(), batch)
			if err != nil || n < batch {
				return err
			}
		}
	}
	_ = sweep
}
