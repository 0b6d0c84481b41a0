package sqlstore

import (
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
