package main

import (
	"database/sql"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/seal"
	"github.com/pintleauth/pintle/store/sqlstore"
)

var oldSecret, newSecret = strings.Repeat("old ", 10), strings.Repeat("new ", 10)

// apps is a database with authenticator apps: three that the old secret has sealed, one of
// them of a tenant, and one that the new secret has.
func apps(t *testing.T) (address string, rows accountstore.Store) {
	t.Helper()
	file := t.TempDir() + "/app.db"
	address = "sqlite:" + file
	execute(t, 0, "migrate", address)
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	rows = sqlstore.New(db, sqlstore.SQLite).AccountStore()
	for user, by := range map[string][2]string{
		"ada": {oldSecret, ""}, "bob": {oldSecret, ""}, "grace": {newSecret, ""}, "eve": {oldSecret, " of shop"},
	} {
		keys, err := seal.New([]string{by[0]}, "pintle totp secret"+by[1])
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(map[string]any{"user": user, "row": "1", "secret": []byte("key of " + user)})
		if err != nil {
			t.Fatal(err)
		}
		err = rows.AddFactor(t.Context(), &accountstore.Factor{
			UserID: user, Kind: "totp", ID: "1", Secret: string(keys.AppendSeal(nil, text)), Created: time.Now(),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return address, rows
}

// execute runs the command and returns what it prints.
func execute(t *testing.T, status int, args ...string) string {
	t.Helper()
	var out strings.Builder
	if got := run(args, &out, &out); got != status {
		t.Fatalf("pintle %s returned %d, want %d: %s", strings.Join(args, " "), got, status, &out)
	}
	return out.String()
}

func says(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("the output does not say %q:\n%s", want, text)
		}
	}
}

// AC-107
func TestResealSealsEveryAppWithTheFirstSecret(t *testing.T) {
	address, rows := apps(t)
	t.Setenv("AUTH_SECRET", oldSecret)
	t.Setenv("AUTH_SECRET_1", newSecret)
	says(t, execute(t, 0, "doctor", "-tenant", "", "-tenant", "shop", address), "note     only an old secret opens 3 of 4 secrets of authenticator apps")
	says(t, execute(t, 1, "doctor", address), "problem  1 of 4 secrets of authenticator apps do not open")
	says(t, execute(t, 1, "reseal", address), "sealed anew: 2; sealed with the first secret: 3", "user eve, factor 1")
	says(t, execute(t, 0, "reseal", "-tenant", "", "-tenant", "shop", address), "sealed anew: 1; sealed with the first secret: 4")
	says(t, execute(t, 0, "reseal", "-tenant", "", "-tenant", "shop", address), "sealed anew: 0; sealed with the first secret: 4")
	t.Setenv("AUTH_SECRET", newSecret)
	t.Setenv("AUTH_SECRET_1", "")
	says(t, execute(t, 0, "doctor", "-tenant", "", "-tenant", "shop", address), "ok       the first secret opens the secrets of all 4")
	for user, tenant := range map[string]string{"ada": "", "bob": "", "grace": "", "eve": " of shop"} {
		keys, err := seal.New([]string{newSecret}, "pintle totp secret"+tenant)
		if err != nil {
			t.Fatal(err)
		}
		factors, err := rows.Factors(t.Context(), user)
		if err != nil || len(factors) != 1 {
			t.Fatalf("%s has %d factors, %v", user, len(factors), err)
		}
		text, err := keys.Open(nil, factors[0].Secret)
		var s struct{ Secret []byte }
		if err != nil || json.Unmarshal(text, &s) != nil || string(s.Secret) != "key of "+user {
			t.Errorf("the new secret opens %q of %s, %v", text, user, err)
		}
	}
}

func TestTheDoctorChangesNoApp(t *testing.T) {
	address, rows := apps(t)
	t.Setenv("AUTH_SECRET", oldSecret)
	t.Setenv("AUTH_SECRET_1", newSecret)
	before, err := rows.Factors(t.Context(), "ada")
	if err != nil {
		t.Fatal(err)
	}
	execute(t, 0, "doctor", "-tenant", "", "-tenant", "shop", address)
	after, err := rows.Factors(t.Context(), "ada")
	if err != nil || *after[0] != *before[0] {
		t.Errorf("the doctor has changed %+v to %+v, %v", before[0], after[0], err)
	}
}

func TestResealNeedsASecretAndADatabase(t *testing.T) {
	address, _ := apps(t)
	for _, name := range []string{"AUTH_SECRET", "AUTH_SECRET_1", "AUTH_SECRET_2", "AUTH_SECRET_3", "NEXTAUTH_SECRET", "DATABASE_URL"} {
		t.Setenv(name, "")
	}
	says(t, execute(t, 2, "reseal", address), "set AUTH_SECRET")
	t.Setenv("AUTH_SECRET", oldSecret)
	says(t, execute(t, 2, "reseal"), "which database?")
	says(t, execute(t, 1, "reseal", "sqlite:"+t.TempDir()+"/none.db"), "there is no database yet")
}
