package xatastore

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAnIDStandsForTheseTextsAlone(t *testing.T) {
	lists := [][]string{{}, {""}, {"", ""}, {"a"}, {"a", "b"}, {"ab"}, {"b", "a"}, {"a", "b", ""}, {"1:a"}, {"a1:b"}, {"a", "1:b"}, {"A", "b"}, {"é"}, {"e\u0301"}}
	seen := map[string]int{}
	for i, texts := range lists {
		id := idOf(texts...)
		if other, twice := seen[id]; twice {
			t.Errorf("%q and %q have one id", lists[other], texts)
		}
		if !isID(id) {
			t.Errorf("%q has the id %q, which no record can have", texts, id)
		}
		if id != idOf(texts...) {
			t.Errorf("%q has two ids", texts)
		}
		seen[id] = i
	}
}

func TestIDs(t *testing.T) {
	for _, id := range []string{"rec_cd8rqcoavc42pi67lgd0", "0f8fad5b-d9cb-469f-a165-70867728950e", "a", "~:-_", strings.Repeat("a", 255)} {
		if !isID(id) {
			t.Errorf("%q can be the id of a record", id)
		}
	}
	for _, id := range []string{"", "a/b", "..", ".", "a b", "a\n", "é", "a?b", "a#b", "%2e", "a,b", strings.Repeat("a", 256)} {
		if isID(id) {
			t.Errorf("%q cannot be the id of a record", id)
		}
	}
}

// Ids are checked before, and escaped all the same.
func TestAnIDStaysOneSegmentOfThePath(t *testing.T) {
	c := &client{resolved: &resolved{base: "https://w.r.xata.sh/db/app:main"}}
	for _, id := range []string{"a", "a/../b", "a?x=y", "a#b", "a%2Fb", "..", "é b"} {
		u, err := url.Parse(c.address(call{table: "users", path: []string{"data", id}, query: url.Values{"columns": {"*"}}}))
		if err != nil {
			t.Fatal(err)
		}
		if u.Path != "/db/app:main/tables/users/data/"+id || u.RawQuery != "columns=%2A" || u.Fragment != "" {
			t.Errorf("the id %q leads to %s", id, u)
		}
	}
}

func TestColumnsOfTheWrongTypeAreErrors(t *testing.T) {
	for _, tt := range []struct {
		value string
		read  func(*reader)
		ok    bool
	}{
		{`"a"`, func(r *reader) { r.text("c") }, true},
		{`null`, func(r *reader) { r.text("c") }, true},
		{`1`, func(r *reader) { r.text("c") }, false},
		{`true`, func(r *reader) { r.flag("c") }, true},
		{`"true"`, func(r *reader) { r.flag("c") }, false},
		{`9223372036854775807`, func(r *reader) { r.integer("c") }, true},
		{`9223372036854775808`, func(r *reader) { r.integer("c") }, false},
		{`1.5`, func(r *reader) { r.integer("c") }, false},
		{`"1"`, func(r *reader) { r.integer("c") }, false},
		{`"2026-01-02T03:04:05.678Z"`, func(r *reader) { r.instant("c") }, true},
		{`"2026-01-02T03:04:05.678901+05:30"`, func(r *reader) { r.instant("c") }, true},
		{`"2026-01-02"`, func(r *reader) { r.instant("c") }, false},
		{`1767323045`, func(r *reader) { r.instant("c") }, false},
		{`{"id": "1"}`, func(r *reader) { r.link("c") }, true},
		{`null`, func(r *reader) { r.link("c") }, true},
		{`"1"`, func(r *reader) { r.link("c") }, false},
		{`{}`, func(r *reader) { r.link("c") }, false},
		{`{"id": 1}`, func(r *reader) { r.link("c") }, false},
		{`"{\"a\": 1}"`, func(r *reader) { r.object("c") }, true},
		{`"[1]"`, func(r *reader) { r.object("c") }, false},
		{`"{"`, func(r *reader) { r.object("c") }, false},
	} {
		var row record
		if err := decode([]byte(`{"c": `+tt.value+`}`), &row); err != nil {
			t.Fatal(err)
		}
		c := &reader{record: row}
		tt.read(c)
		if (c.err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.value, c.err)
		}
		if c.err != nil && !strings.Contains(c.err.Error(), "column c") {
			t.Errorf("%s: the error does not name the column: %v", tt.value, c.err)
		}
	}
}

func TestARecordWithoutAVersionCannotBeChangedOnACondition(t *testing.T) {
	for text, want := range map[string]int64{
		`{"xata": {"version": 0}}`: 0, `{"xata": {"version": 7}}`: 7,
		`{}`: -1, `{"xata": null}`: -1, `{"xata": {}}`: -1, `{"xata": 5}`: -1, `{"xata": {"version": "7"}}`: -1,
	} {
		var row record
		if err := decode([]byte(text), &row); err != nil {
			t.Fatal(err)
		}
		got, err := row.version()
		if (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("the version of %s is %d, %v", text, got, err)
		}
	}
}

func TestPausesGrowAndDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBackoff()
		for _, ms := range []int{100, 200, 400, 800, 1600, 3200, 5000, 5000} {
			most := time.Duration(ms) * time.Millisecond
			began := time.Now()
			if !b.wait(t.Context(), 0) {
				t.Fatal("the pause was not worth it")
			}
			if took := time.Since(began); took < most/2 || took > most {
				t.Errorf("a pause of %s, want %s to %s", took, most/2, most)
			}
		}
	})
	seen := map[time.Duration]bool{}
	for range 100 {
		d := random(time.Second)
		if d < 0 || d > time.Second {
			t.Errorf("random(1s) = %s", d)
		}
		seen[d] = true
	}
	if len(seen) < 50 {
		t.Errorf("random() has %d values in 100", len(seen))
	}
}

// FuzzAsked: no header of a service makes a negative pause.
func FuzzAsked(f *testing.F) {
	for _, s := range []string{"", "1", "0.5", "-1", "1e300", "NaN", "Inf", "Wed, 21 Oct 2099 07:28:00 GMT", "soon"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, after, reset string) {
		d := asked(http.Header{"Retry-After": {after}, "X-Ratelimit-Reset": {reset}})
		if d < 0 || d > 0 && after == "" && reset == "" {
			t.Errorf("asked(%q, %q) = %s", after, reset, d)
		}
	})
}

// FuzzRecord: what is read from a record is what the JSON has, and nothing that
// it does not.
func FuzzRecord(f *testing.F) {
	for _, s := range []string{
		`{"id": "rec_1", "xata": {"version": 1, "createdAt": "2026-01-02T03:04:05Z"}, "email": "a@b.c", "emailVerified": null, "user": {"id": "2"}}`,
		`{"id": "1", "sessionToken": "t", "expires": "2026-01-02T03:04:05.678Z", "user": {"id": "2", "name": "Ada"}, "data": "{\"a\": 1}"}`,
		`{"id": "1", "credentialID": "AA==", "counter": 4294967296, "credentialBackedUp": true, "user": {"id": "2"}}`,
		`{"id": "1", "provider": "github", "providerAccountId": "42", "expires_at": 1700000000, "extra": "[]"}`,
		`[]`, `null`, `{"id": {}}`, `{"user": []}`,
	} {
		f.Add([]byte(s))
	}
	s := &Store{client: &client{resolved: &resolved{Options: Options{Extended: true, UserColumns: []string{"role"}}}}}
	f.Fuzz(func(t *testing.T, text []byte) {
		var row record
		if decode(text, &row) != nil {
			return
		}
		said := func(column, got string) {
			if want, _ := row[column].(string); got != want {
				t.Errorf("%s is %q, want %q", column, got, want)
			}
		}
		if u, err := s.user(row); err == nil {
			said("id", u.ID)
			said("email", u.Email)
			if !isID(u.ID) {
				t.Errorf("a user has the id %q", u.ID)
			}
		}
		if found, err := readSession(row); err == nil {
			said("sessionToken", found.Token)
			if found.UserID == "" || found.UserID != found.user.id() {
				t.Errorf("a session belongs to %q", found.UserID)
			}
		}
		if a, err := s.account(row, "1"); err == nil {
			said("provider", a.Provider)
			said("providerAccountId", a.ProviderAccountID)
		}
		if a, err := readPasskey(row); err == nil {
			said("credentialID", a.CredentialID)
			if number, ok := row["counter"].(json.Number); ok {
				if n, err := number.Int64(); err != nil || n != int64(a.Counter) {
					t.Errorf("the counter %s is read as %d", number, a.Counter)
				}
			}
			if a.UserID == "" {
				t.Error("a passkey has no user")
			}
		}
	})
}
