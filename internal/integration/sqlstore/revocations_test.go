package sqlstore_test

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/integration/recorder"
	"github.com/pintleauth/pintle/store/sqlstore"
	"github.com/pintleauth/pintle/storetest"
)

func TestRevocationsKeepEveryPromise(t *testing.T) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			db := migrated(t, d)
			storetest.RunRevocation(t, func(*testing.T) pintle.RevocationStore { return sqlstore.NewRevocations(db.DB, d.dialect) })
		})
	}
}

// A list is read for every request.
func TestALookForARevocationReadsAnIndex(t *testing.T) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			db := migrated(t, d)
			recorded, r := recorder.Open(t, db)
			list := sqlstore.NewRevocations(recorded, d.dialect)
			until := time.Now().Add(time.Hour)
			for range 200 {
				if err := list.Revoke(t.Context(), pintle.TokenSession{UserID: rand.Text(), ID: rand.Text()}, until); err != nil {
					t.Fatal(err)
				}
			}
			execute(t, db.DB, map[sqlstore.Dialect]string{sqlstore.PostgreSQL: "ANALYZE", sqlstore.SQLite: "ANALYZE", sqlstore.MySQL: "DO 0"}[d.dialect])
			r.Take()
			if ended, err := list.Revoked(t.Context(), pintle.TokenSession{UserID: rand.Text(), ID: rand.Text(), SignedIn: time.Now()}); ended || err != nil {
				t.Fatalf("Revoked returned %t, %v", ended, err)
			}
			asked := r.Take()
			if len(asked) != 1 {
				t.Errorf("Revoked took %d statements, want 1", len(asked))
			}
			if _, err := list.Sweep(t.Context(), time.Now(), 10); err != nil {
				t.Fatal(err)
			}
			for _, sent := range append(asked, r.Take()...) {
				if plan := explain(t, db, d.dialect, sent); !indexed(d.dialect, plan) {
					t.Errorf("%s\nreads a whole table:\n%s", sent.Text, plan)
				}
			}
		})
	}
}

// SH-04: a token is not accepted if the table is missing.
func TestARevocationListWithoutItsTableRejectsTokens(t *testing.T) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			list := sqlstore.NewRevocations(d.open(t).DB, d.dialect)
			ended, err := list.Revoked(t.Context(), pintle.TokenSession{UserID: "ada", ID: "1", SignedIn: time.Now()})
			if !ended || err == nil || !strings.Contains(err.Error(), "sqlstore: look for a revocation") {
				t.Errorf("Revoked returned %t, %v", ended, err)
			}
			if err := list.RevokeUser(t.Context(), "ada", time.Now()); err == nil {
				t.Error("RevokeUser returned no error")
			}
		})
	}
}
