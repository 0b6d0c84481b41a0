package sqlstore

import (
	"encoding/json"
	"regexp"
	"testing"
	"time"
)

func TestTimesAreReadInEveryFormThereIs(t *testing.T) {
	want := time.Date(2026, 3, 1, 12, 30, 45, 123e6, time.UTC)
	kolkata := time.FixedZone("", 5*3600+1800)
	tests := []struct {
		name  string
		value any
	}{
		{"integer", int64(1772368245123)},
		{"decimal text", "1772368245123"},
		{"decimal bytes", []byte("1772368245123")},
		{"float", float64(1772368245123)},
		{"ISO 8601", "2026-03-01T12:30:45.123Z"},
		{"ISO 8601 with an offset", "2026-03-01T18:00:45.123+05:30"},
		{"ISO 8601 as Prisma's drivers write it", "2026-03-01T12:30:45.123+00:00"},
		{"as MySQL writes it", []byte("2026-03-01 12:30:45.123")},
		{"microseconds of MySQL", []byte("2026-03-01 12:30:45.123000")},
		{"as PostgreSQL writes it", "2026-03-01 12:30:45.123+00"},
		{"PostgreSQL in another zone", "2026-03-01 18:00:45.123+05:30"},
		{"a time", want},
		{"a time elsewhere", want.In(kolkata)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got instant
			if err := got.Scan(tt.value); err != nil || !got.Equal(want) || got.Location() != time.UTC {
				t.Errorf("Scan(%v) = %v, %v, want %v", tt.value, got.Time, err, want)
			}
		})
	}
	t.Run("a MySQL driver that assumes another zone", func(t *testing.T) {
		got := instant{wallClock: true}
		if err := got.Scan(time.Date(2026, 3, 1, 12, 30, 45, 123e6, kolkata)); err != nil || !got.Equal(want) {
			t.Errorf("Scan() = %v, %v, want %v", got.Time, err, want)
		}
	})
	for _, none := range []any{nil, "0000-00-00 00:00:00"} {
		got := instant{Time: want}
		if err := got.Scan(none); err != nil || !got.IsZero() {
			t.Errorf("Scan(%v) = %v, %v, want no time", none, got.Time, err)
		}
	}
	for _, bad := range []any{"yesterday", "", true, []byte{}} {
		var got instant
		if err := got.Scan(bad); err == nil {
			t.Errorf("Scan(%v) = %v, want an error", bad, got.Time)
		}
	}
}

func TestTimesAreWrittenAsTheLayoutSays(t *testing.T) {
	at := time.Date(2026, 3, 1, 18, 0, 45, 123456789, time.FixedZone("", 5*3600+1800))
	tests := []struct {
		format TimeFormat
		d      Dialect
		want   any
	}{
		{Milliseconds, SQLite, int64(1772368245123)},
		{MillisecondText, MySQL, "1772368245123"},
		{ISOText, SQLite, "2026-03-01T12:30:45.123Z"},
		{Timestamp, MySQL, "2026-03-01 12:30:45.123"},
		{Timestamp, PostgreSQL, time.Date(2026, 3, 1, 12, 30, 45, 123e6, time.UTC)},
	}
	for _, tt := range tests {
		if got := tt.format.column(tt.d, at); got != tt.want {
			t.Errorf("format %d on %v: %v, want %v", tt.format, tt.d, got, tt.want)
		}
		if got := tt.format.column(tt.d, time.Time{}); got != nil {
			t.Errorf("format %d on %v: no time is %v, want NULL", tt.format, tt.d, got)
		}
	}
}

func TestIDsAreWhatTheyLookLike(t *testing.T) {
	const uuid = "0b8ec6a1-6d5c-4b1a-9d5e-3f8a4b2c1d0e"
	tests := []struct {
		format IDFormat
		id     string
		want   bool
	}{
		{Integer, "7", true},
		{Integer, "-7", true},
		{Integer, "+7", false},
		{Integer, "07", false},
		{Integer, "7.0", false},
		{Integer, " 7", false},
		{Integer, "", false},
		{Integer, "0x7", false},
		{Integer, "9223372036854775807", true},
		{Integer, "9223372036854775808", false},
		{Integer, uuid, false},
		{Integer, "7 OR 1=1", false},
		{UUID, uuid, true},
		{UUID, "0B8EC6A1-6D5C-4B1A-9D5E-3F8A4B2C1D0E", false},
		{UUID, "{" + uuid + "}", false},
		{UUID, uuid[:35], false},
		{UUID, "", false},
		{UUID, "0b8ec6a16d5c4b1a9d5e3f8a4b2c1d0e", false},
		{UUID, uuid[:35] + "g", false},
		{TextID, uuid, true},
		{TextID, "anything", true},
		{TextID, "nul\x00", false},
		{TextID, "\xff", false},
	}
	for _, tt := range tests {
		if _, got := tt.format.column(tt.id); got != tt.want {
			t.Errorf("format %d can be %q: %t, want %t", tt.format, tt.id, got, tt.want)
		}
	}
}

func TestIDsOfNewRows(t *testing.T) {
	const uuid = "0b8ec6a1-6d5c-4b1a-9d5e-3f8a4b2c1d0e"
	cuid := regexp.MustCompile(`^c[0-9a-z]{24}$`)
	for range 100 {
		if id, _ := CUID.propose(uuid).(string); !cuid.MatchString(id) {
			t.Fatalf("CUID %q", id)
		}
	}
	if a, b := newCUID(time.Now()), newCUID(time.Now()); a == b {
		t.Errorf("two ids are %q", a)
	}
	if got := TextID.propose("mine"); got != "mine" {
		t.Errorf("TextID replaced the proposed id by %v", got)
	}
	if got := UUID.propose(uuid); got != uuid {
		t.Errorf("UUID replaced the proposed id by %v", got)
	}
	for _, f := range []IDFormat{TextID, UUID} {
		if id, _ := f.propose("").(string); !isUUID(id) {
			t.Errorf("format %d made the id %q", f, id)
		}
	}
	if id, _ := UUID.propose("mine").(string); !isUUID(id) {
		t.Errorf("UUID kept the id %q", id)
	}
	for _, f := range []IDFormat{Integer, NoID} {
		if got := f.propose("7"); got != nil {
			t.Errorf("format %d proposes %v: the database makes it", f, got)
		}
	}
}

func TestExtraFieldsGoToTheirColumns(t *testing.T) {
	fields := map[string]any{"role": "admin", "level": 7, "tags": []any{"a"}, "badge": json.Number("9007199254740993"), "share": json.Number("0.5"), "rest": true}
	rest, values := withoutColumns(fields, []string{"role", "level", "tags", "badge", "share", "none"})
	if len(rest) != 1 || rest["rest"] != true {
		t.Errorf("rest = %v, want the field without a column", rest)
	}
	for i, want := range []any{"admin", int64(7), `["a"]`, int64(9007199254740993), "0.5", nil} {
		if values[i] != want {
			t.Errorf("column %d holds %v, want %v", i, values[i], want)
		}
	}
	if len(fields) != 6 {
		t.Error("the caller's map was changed")
	}
	back := withColumns(nil, []string{"role", "level", "none", "since"}, []any{[]byte("admin"), int64(7), nil, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)})
	if len(back) != 3 || back["role"] != "admin" || back["since"] != "2026-03-01T00:00:00.000Z" {
		t.Errorf("read back %v", back)
	}
}
