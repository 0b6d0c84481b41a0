package sqlstore_test

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/internal/integration/services"
	"github.com/pintleauth/pintle/internal/integration/twoinstances"
	"github.com/pintleauth/pintle/sharedstate"
	"github.com/pintleauth/pintle/store/sqlstore"
	"github.com/pintleauth/pintle/storetest"
)

// RPT-4: each process has its own connections.
func TestTheSharedStateOfTwoProcessesKeepsEveryPromise(t *testing.T) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			db := migrated(t, d)
			second := opened(t, db, db.DSN)
			storetest.RunSharedState(t, func(*testing.T) sharedstate.Store {
				return twoinstances.SharedState(sqlstore.NewSharedState(db.DB, d.dialect), sqlstore.NewSharedState(second, d.dialect))
			})
		})
	}
}

func opened(t *testing.T, db *services.Database, dsn string) *sql.DB {
	t.Helper()
	process, err := sql.Open(db.Driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = process.Close() })
	return process
}

// A driver of MySQL may count the rows that a statement found instead of those that it
// changed.
func TestTheSharedStateIsTheSameWhateverTheDriverCounts(t *testing.T) {
	db := migrated(t, databases[2])
	counting := opened(t, db, db.DSN+"?clientFoundRows=true")
	storetest.RunSharedState(t, func(*testing.T) sharedstate.Store {
		return sqlstore.NewSharedState(counting, sqlstore.MySQL)
	})
}

// RPT-85: sessions of the database in different time zones have one clock.
func TestALeaseIsHeldInEachTimeZone(t *testing.T) {
	for _, d := range databases[1:] {
		t.Run(d.name, func(t *testing.T) {
			db := migrated(t, d)
			east, west := withZone(t, db, d.dialect, "+12:00"), withZone(t, db, d.dialect, "-12:00")
			for i, zones := range [][2]*sql.DB{{east, west}, {west, east}} {
				key := sharedstate.Key{byte(i)}
				first, second := sqlstore.NewSharedState(zones[0], d.dialect), sqlstore.NewSharedState(zones[1], d.dialect)
				if held, err := first.Lease(t.Context(), key, sharedstate.Owner{1}, time.Hour); !held || err != nil {
					t.Fatalf("Lease() = %t, %v, want the lease", held, err)
				}
				if held, err := second.Lease(t.Context(), key, sharedstate.Owner{2}, time.Hour); held || err != nil {
					t.Errorf("Lease() in another time zone = %t, %v, want a lease that is held", held, err)
				}
				hourly := sharedstate.Rate{Burst: 1, Every: time.Hour}
				if wait, err := first.Take(t.Context(), key, hourly); wait != 0 || err != nil {
					t.Fatalf("Take() = %v, %v, want an attempt that is allowed", wait, err)
				}
				if wait, err := second.Take(t.Context(), key, hourly); err != nil || wait < 50*time.Minute || wait > time.Hour {
					t.Errorf("Take() in another time zone = %v, %v, want an hour to wait", wait, err)
				}
				if used, err := first.Once(t.Context(), key, time.Now().Add(time.Hour)); err != nil || !used {
					t.Fatalf("Once() = %t, %v, want the first", used, err)
				}
				if again, err := second.Once(t.Context(), key, time.Now().Add(time.Hour)); err != nil || again {
					t.Errorf("Once() in another time zone = %t, %v, want a key that was used", again, err)
				}
			}
		})
	}
}

func withZone(t *testing.T, db *services.Database, d sqlstore.Dialect, zone string) *sql.DB {
	t.Helper()
	process := opened(t, db, db.DSN)
	process.SetMaxOpenConns(1)
	statement := "SET time_zone = '" + zone + "'"
	if d == sqlstore.PostgreSQL {
		statement = "SET TIME ZONE '" + zone + "'"
	}
	execute(t, process, statement)
	return process
}

// Without its table a shared state lets no value through, and no work begin.
func TestASharedStateWithoutItsTablesDecidesNothing(t *testing.T) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			state := sqlstore.NewSharedState(d.open(t).DB, d.dialect)
			first, err := state.Once(t.Context(), sharedstate.Key{}, time.Now())
			if first || err == nil || !strings.Contains(err.Error(), "sqlstore: use a key once") || !strings.Contains(err.Error(), "pintle migrate") {
				t.Errorf("Once() = %t, %v, want an error with its remedy", first, err)
			}
			held, err := state.Lease(t.Context(), sharedstate.Key{}, sharedstate.Owner{}, time.Minute)
			if held || err == nil {
				t.Errorf("Lease() = %t, %v, want an error", held, err)
			}
			if _, err := state.Take(t.Context(), sharedstate.Key{}, sharedstate.Rate{}); err == nil || !strings.Contains(err.Error(), "pintle migrate") {
				t.Errorf("Take() returned %v, want an error with its remedy", err)
			}
			if err := state.Release(t.Context(), sharedstate.Key{}, sharedstate.Owner{}); err == nil {
				t.Error("Release() returned no error")
			}
		})
	}
}

func TestASweepOfTheSharedStateKeepsToItsLimit(t *testing.T) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			db := migrated(t, d)
			state := sqlstore.NewSharedState(db.DB, d.dialect)
			past := time.Now().Add(-time.Hour)
			for i := range byte(4) {
				if _, err := state.Once(t.Context(), sharedstate.Key{i}, past); err != nil {
					t.Fatal(err)
				}
				if _, err := state.Lease(t.Context(), sharedstate.Key{i}, sharedstate.Owner{i}, time.Millisecond); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(50 * time.Millisecond) // until the leases have expired by the clock of the database
			for _, want := range []int{3, 3, 2, 0} {
				if n, err := state.Sweep(t.Context(), time.Now().Add(time.Hour), 3); n != want || err != nil {
					t.Fatalf("a sweep of at most 3 removed %d, %v, want %d", n, err, want)
				}
			}
		})
	}
}
