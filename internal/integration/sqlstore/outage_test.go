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

// ASVS-16.5.2: a database that is down is an error, never an answer.
func TestADatabaseThatIsDownIsNoAnswerAndComesBack(t *testing.T) {
	servers := []struct {
		name, driver string
		dialect      sqlstore.Dialect
		start        func(testing.TB) *services.Server
	}{
		{"PostgreSQL", "pgx", sqlstore.PostgreSQL, services.PostgreSQL},
		{"MariaDB", "mysql", sqlstore.MySQL, services.MariaDB},
	}
	for _, tt := range servers {
		t.Run(tt.name, func(t *testing.T) {
			server := tt.start(t)
			db, err := sql.Open(tt.driver, server.URL)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if err := sqlstore.Migrate(t.Context(), db, tt.dialect); err != nil {
				t.Fatal(err)
			}
			s := sqlstore.New(db, tt.dialect)
			one := populate(t, s, 1)[0]
			look := func() error {
				_, _, err := s.SessionAndUser(t.Context(), one.session.Token)
				return err
			}
			if err := look(); err != nil {
				t.Fatal(err)
			}
			server.Stop(t)
			for range 3 {
				if err := look(); err == nil || errors.Is(err, pintle.ErrNotFound) {
					t.Errorf("SessionAndUser() = %v while the database is down, want another error", err)
				}
				if _, err := s.DeleteSession(t.Context(), one.session.Token); err == nil {
					t.Error("DeleteSession succeeded while the database is down")
				}
				if err := s.InTx(t.Context(), func(pintle.Store) error { return nil }); err == nil {
					t.Error("InTx succeeded while the database is down")
				}
			}
			server.Start(t)
			// A connection of before may be found dead by one more call.
			for deadline := time.Now().Add(10 * time.Second); look() != nil; {
				if time.Now().After(deadline) {
					t.Fatalf("SessionAndUser() = %v ten seconds after the database came back", look())
				}
			}
			if _, err := s.DeleteSession(t.Context(), one.session.Token); err != nil {
				t.Error(err)
			}
		})
	}
}

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
