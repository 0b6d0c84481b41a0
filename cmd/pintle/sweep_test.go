package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/sharedstate"
	"github.com/pintleauth/pintle/store/sqlstore"
)

// expired is a database with rows that expired an hour ago: sessions, a mark of ended ones, and a key
// of the shared state. One session goes on.
func expired(t *testing.T, sessions int) (address string, db *sql.DB) {
	t.Helper()
	file := t.TempDir() + "/app.db"
	address = "sqlite:" + file
	execute(t, 0, "migrate", address)
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	store := sqlstore.New(db, sqlstore.SQLite)
	user, err := store.CreateUser(t.Context(), &pintle.User{})
	if err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-time.Hour)
	for i := range sessions {
		if err := store.CreateSession(t.Context(), &pintle.StoredSession{Token: fmt.Sprint(i), UserID: user.ID, Expires: past}); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.CreateSession(t.Context(), &pintle.StoredSession{Token: "in use", UserID: user.ID, Expires: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if err := sqlstore.NewRevocations(db, sqlstore.SQLite).Revoke(t.Context(), pintle.TokenSession{UserID: user.ID, ID: "1"}, past); err != nil {
		t.Fatal(err)
	}
	if _, err := store.SharedState().Once(t.Context(), sharedstate.Key{1}, past); err != nil {
		t.Fatal(err)
	}
	return address, db
}

func TestSweepRemovesWhatHasExpired(t *testing.T) {
	address, db := expired(t, 25)
	if out := execute(t, 0, "sweep", "-grace", "2h", address); out != "removed: 0\n" {
		t.Errorf("rows that expired an hour ago are removed within a grace of two:\n%s", out)
	}
	if out := execute(t, 0, "sweep", "-batch", "10", "-pause", "1ms", address); out != "removed: 27\n" {
		t.Errorf("the command prints:\n%s", out)
	}
	if _, _, err := sqlstore.New(db, sqlstore.SQLite).SessionAndUser(t.Context(), "in use"); err != nil {
		t.Errorf("the session in use: %v", err)
	}
	var result struct {
		Removed int
		Done    bool
	}
	out := execute(t, 0, "sweep", "-json", "-database", address)
	if err := json.Unmarshal([]byte(out), &result); err != nil || result.Removed != 0 || !result.Done {
		t.Errorf("a second sweep prints %s", out)
	}
}

func TestSweepRejectsWhatItCannotDo(t *testing.T) {
	for says, args := range map[string][]string{
		"-batch":              {"-batch", "0", "sqlite:app.db"},
		"cannot be negative":  {"-pause", "-1s", "sqlite:app.db"},
		"name the database":   {"mongodb://localhost"},
		"about tables":        {"-layout", "prisma", "redis://localhost"},
		"about keys in Redis": {"-prefix", "app:", "sqlite:app.db"},
		"which database":      {},
		"one URL is enough":   {"-database", "sqlite:a.db", "sqlite:b.db"},
	} {
		t.Setenv("DATABASE_URL", "")
		if out := execute(t, 2, append([]string{"sweep"}, args...)...); !strings.Contains(out, says) {
			t.Errorf("%q prints no %q:\n%s", args, says, out)
		}
	}
	if out := execute(t, 1, "sweep", "sqlite:none.db"); !strings.Contains(out, "run pintle migrate") {
		t.Errorf("a file that does not exist: %s", out)
	}
	if out := execute(t, 1, "sweep", "redis://:hidden@127.0.0.1:1"); strings.Contains(out, "hidden") || !strings.Contains(out, "refused") {
		t.Errorf("a server that does not answer: %s", out)
	}
}
