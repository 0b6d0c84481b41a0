package sqlstore_test

import (
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/store/sqlstore"
)

func TestATransactionThatLosesItsDatabaseLeavesNothing(t *testing.T) {
	server := services.PostgreSQL(t)
	db, err := sql.Open("pgx", server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := sqlstore.Migrate(t.Context(), db, sqlstore.PostgreSQL); err != nil {
		t.Fatal(err)
	}
	s := sqlstore.New(db, sqlstore.PostgreSQL)
	var one people
	err = s.InTx(t.Context(), func(tx pintle.Store) error {
		if err := one.create(t, tx, "000001"); err != nil {
			return err
		}
		server.Stop(t)
		server.Start(t)
		return nil
	})
	if err == nil {
		t.Error("InTx succeeded although the database went away")
	}
	for deadline := time.Now().Add(10 * time.Second); ; {
		_, err := s.User(t.Context(), one.user.ID)
		if errors.Is(err, pintle.ErrNotFound) {
			break
		}
		if err == nil || time.Now().After(deadline) {
			t.Fatalf("User() = %v, want pintle.ErrNotFound", err)
		}
	}
}
