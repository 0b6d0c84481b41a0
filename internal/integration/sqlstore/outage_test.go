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

// ASVS-16.5.2: without a database there is no result.
func TestAClosedDatabaseIsNoAnswer(t *testing.T) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			made := migrated(t, d)
			db, err := sql.Open(made.Driver, made.DSN)
			if err != nil {
				t.Fatal(err)
			}
			s := sqlstore.New(db, d.dialect)
			one := populate(t, s, 1)[0]
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			calls := map[string]func() error{
				"SessionAndUser": func() error { _, _, err := s.SessionAndUser(t.Context(), one.session.Token); return err },
				"User":           func() error { _, err := s.User(t.Context(), one.user.ID); return err },
				"UserByEmail":    func() error { _, err := s.UserByEmail(t.Context(), "unknown@example.org"); return err },
				"UserByAccount":  func() error { _, err := s.UserByAccount(t.Context(), "github", "unknown"); return err },
				"DeleteSession":  func() error { _, err := s.DeleteSession(t.Context(), one.session.Token); return err },
				"UseVerification": func() error {
					_, err := s.UseVerification(t.Context(), one.link.Identifier, one.link.Token)
					return err
				},
				"LinkAccount": func() error { return s.LinkAccount(t.Context(), one.account) },
				"InTx":        func() error { return s.InTx(t.Context(), func(pintle.Store) error { return nil }) },
			}
			for name, call := range calls {
				if err := call(); err == nil || errors.Is(err, pintle.ErrNotFound) || errors.Is(err, pintle.ErrConflict) {
					t.Errorf("%s on a closed database: %v, want an error other than a result", name, err)
				}
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
