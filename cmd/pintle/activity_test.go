package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/store/sqlstore"
)

// diary is a database with 1200 sign-ins of one user and some other events.
func diary(t *testing.T) (address string) {
	t.Helper()
	file := t.TempDir() + "/app.db"
	address = "sqlite:" + file
	execute(t, 0, "migrate", address)
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	rows, noon := sqlstore.New(db, sqlstore.SQLite).AccountStore(), time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	events := []*accountstore.Event{
		{ID: "failed", At: noon.Add(time.Hour), Kind: "sign_in_failed", Outcome: "failed", Subject: accountstore.Hash{1}, Count: 7, Detail: map[string]string{"network": "192.0.2.0/24"}},
		{ID: "ban", At: noon.Add(2 * time.Hour), Kind: "op_ban", Outcome: "ok", UserID: "bob", Actor: "operator:cli", Detail: map[string]string{"reason": "spam\x1b[2J\u202e", "operator": "root"}},
	}
	for i := range 1200 {
		events = append(events, &accountstore.Event{ID: fmt.Sprintf("%04d", i), At: noon.Add(time.Duration(-i) * time.Minute), Kind: "sign_in", Outcome: "ok", UserID: "ada"})
	}
	for _, e := range events {
		e.Expires = accountstore.Forever
		if err := rows.Record(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	return address
}

// AC-184
func TestActivityIsListedAsATable(t *testing.T) {
	address := diary(t)
	out := execute(t, 0, "activity", address)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 101 || !strings.HasPrefix(lines[0], "TIME") || !strings.Contains(lines[1], "op_ban") || !strings.Contains(lines[2], "sign_in_failed") {
		t.Errorf("the table has %d lines, which begin with %q", len(lines), lines[:3])
	}
	says(t, lines[1], "2026-01-02T14:00:00Z", "bob", "operator:cli", "operator=root", "reason=spam")
	says(t, lines[2], "failed", " 7 ", "#AQAAAAAAAAAA", "network=192.0.2.0/24")
	if strings.ContainsAny(out, "\x1b\u202e") {
		t.Error("the table has characters that change the terminal")
	}
	for want, args := range map[int][]string{
		1200: {"-user", "ada", "-limit", "0"}, 700: {"-user", "ada", "-limit", "700"}, 1: {"-actor", "operator:cli"}, 0: {"-user", "ada", "-kind", "op_ban"},
		2: {"-since", "2026-01-02T12:30:00Z"}, 11: {"-until", "2026-01-02T12:00:00Z", "-since", "2026-01-02T11:49:00Z"}, 1202: {"-limit", "0"},
	} {
		got := strings.Count(execute(t, 0, append(append([]string{"activity"}, args...), address)...), "\n") - 1
		if got != want {
			t.Errorf("pintle activity %s lists %d events, want %d", strings.Join(args, " "), got, want)
		}
	}
	says(t, execute(t, 0, "activity", "-outcome", "failed", "-since", "2026-01-01", address), "sign_in_failed")
	if got := execute(t, 0, "activity", "-since", "1h", "-until", "0s", address); strings.Count(got, "\n") != 1 {
		t.Errorf("the last hour has %q", got)
	}

	t.Setenv("AUTH_SECRET", strings.Repeat("secret ", 6))
	execute(t, 0, "users", "create", "-database", address, "grace@example.com")
	if got := strings.Count(execute(t, 0, "activity", "-user", "Grace@example.com", address), "\n") - 1; got == 0 {
		t.Error("the user of an address has no event, and was created")
	}
	execute(t, 1, "activity", "-user", "nobody@example.com", address)
}

func TestActivityIsListedAsJSONLines(t *testing.T) {
	out := execute(t, 0, "activity", "-json", "-limit", "3", diary(t))
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 3 {
		t.Fatalf("there are %d lines: %s", len(lines), out)
	}
	var ban, failed map[string]any
	if err := json.Unmarshal([]byte(lines[0]), &ban); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(lines[1]), &failed); err != nil {
		t.Fatal(err)
	}
	if ban["kind"] != "op_ban" || ban["user"] != "bob" || ban["actor"] != "operator:cli" || ban["at"] != "2026-01-02T14:00:00Z" ||
		ban["detail"].(map[string]any)["reason"] != "spam\x1b[2J\u202e" {
		t.Errorf("the act is %v", ban)
	}
	if failed["count"] != 7.0 || len(failed["subject"].(string)) != 43 || failed["user"] != nil {
		t.Errorf("the failure is %v", failed)
	}
}

func TestActivityRefusesWhatItDoesNotUnderstand(t *testing.T) {
	for want, args := range map[string][]string{
		"-limit is negative": {"-limit", "-1"}, "-until is not after -since": {"-since", "1h", "-until", "2h"}, "24h for a day ago": {"-since", "yesterday"}, "-until": {"-until", "-3h"}, "want ok, refused, failed or begun": {"-outcome", "bad"},
	} {
		says(t, execute(t, 2, append([]string{"activity"}, append(args, "sqlite:app.db")...)...), want)
	}
	// An empty list would say that no sign-in has failed.
	says(t, execute(t, 2, "activity", "-kind", "signin_failed", "sqlite:app.db"), "did you mean sign_in_failed?", "address_change_cancelled", "op_ban", "acting_request")
	execute(t, 1, "activity", "sqlite:"+t.TempDir()+"/none.db")
}
