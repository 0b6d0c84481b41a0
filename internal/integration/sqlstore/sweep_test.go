package sqlstore_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/sharedstate"
	"github.com/pintleauth/pintle/store/sqlstore"
)

// PostgreSQL may run a subquery again for each row of a table, which then finds other
// rows than before. The settings make such a plan the only one.
func TestASweepKeepsToItsLimitWhateverThePlan(t *testing.T) {
	db := migrated(t, databases[1])
	loops := withSetting(t, db, func(dsn string) string {
		return dsn + "&enable_hashjoin=off&enable_mergejoin=off&enable_material=off&enable_hashagg=off&enable_sort=off"
	})
	s, list := sqlstore.New(loops, sqlstore.PostgreSQL), sqlstore.NewRevocations(loops, sqlstore.PostgreSQL)
	u, err := s.CreateUser(t.Context(), &pintle.User{})
	if err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-time.Hour)
	for _, kind := range []struct {
		name   string
		create func(name string) error
		sweep  func(limit int) (int, error)
	}{
		{"sessions", func(name string) error {
			return s.CreateSession(t.Context(), &pintle.StoredSession{Token: name, UserID: u.ID, Expires: past})
		}, nil},
		{"mail links", func(name string) error {
			return s.CreateVerification(t.Context(), &pintle.Verification{Identifier: "ada@example.org", Token: name, Expires: past})
		}, nil},
		{"factors", func(name string) error {
			return s.AccountStore().AddFactor(t.Context(), &accountstore.Factor{UserID: u.ID, Kind: "device", ID: name, Expires: past})
		}, nil},
		{"flows", func(name string) error {
			return s.AccountStore().CreateFlow(t.Context(), &accountstore.Flow{ID: accountstore.Hash([]byte(fmt.Sprintf("%32s", name))), Kind: "reset", Expires: past})
		}, nil},
		{"used keys", func(name string) error {
			_, err := s.SharedState().Once(t.Context(), sharedstate.Key([]byte(fmt.Sprintf("%32s", name))), past)
			return err
		}, nil},
		{"counts", func(name string) error {
			key, rate := sharedstate.Key([]byte(fmt.Sprintf("%32s", name))), sharedstate.Rate{Every: time.Hour}
			if _, err := s.SharedState().Take(t.Context(), key, rate); err != nil {
				return err
			}
			// Once more than it was taken, so that the count is past.
			return errors.Join(s.SharedState().GiveBack(t.Context(), key, rate), s.SharedState().GiveBack(t.Context(), key, rate))
		}, nil},
		{"revocations", func(name string) error {
			return list.Revoke(t.Context(), pintle.TokenSession{UserID: u.ID, ID: name}, past)
		}, func(limit int) (int, error) { return list.Sweep(t.Context(), time.Now(), limit) }},
	} {
		t.Run(kind.name, func(t *testing.T) {
			for i := range 10 {
				if err := kind.create(fmt.Sprint(i)); err != nil {
					t.Fatal(err)
				}
			}
			sweep := kind.sweep
			if sweep == nil {
				sweep = func(limit int) (int, error) { return s.Sweep(t.Context(), time.Now(), limit) }
			}
			for _, want := range []int{3, 3, 3, 1} {
				if n, err := sweep(3); n != want || err != nil {
					t.Fatalf("a sweep of at most 3 removed %d, %v, want %d", n, err, want)
				}
			}
		})
	}
}
