package main

import (
	"database/sql"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/store/sqlstore"
)

// AC-93: the row of a picture stands among the factors of a user, and is not shown as one.
func TestThePictureOfALinkedAccountIsNoFactor(t *testing.T) {
	file := t.TempDir() + "/app.db"
	address := "sqlite:" + file
	t.Setenv("AUTH_SECRET", "a secret of at least 32 characters")
	execute(t, 0, "migrate", address)
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	store := sqlstore.New(db, sqlstore.SQLite)
	u, err := store.CreateUser(t.Context(), &pintle.User{ID: "ada", Email: "ada@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	for _, f := range []*accountstore.Factor{
		{UserID: u.ID, Kind: "password", Secret: "hash", Created: now},
		{UserID: u.ID, Kind: "picture", ID: "1", Name: "github", Secret: "https://pictures.example/ada", Created: now},
	} {
		if err := store.AccountStore().AddFactor(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	if out := execute(t, 0, "users", "show", "-database", address, u.ID); !strings.Contains(out, "password") || strings.Contains(out, "picture") {
		t.Errorf("the user is shown as\n%s", out)
	}
	var data struct{ Factors, Pictures []map[string]any }
	if err := json.Unmarshal([]byte(execute(t, 0, "users", "export", "-database", address, u.ID)), &data); err != nil {
		t.Fatal(err)
	}
	if len(data.Factors) != 1 || len(data.Pictures) != 1 || data.Pictures[0]["image"] != "https://pictures.example/ada" {
		t.Errorf("the export has %v", data)
	}
}
