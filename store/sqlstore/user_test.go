package sqlstore

import (
	"encoding/json"
	"slices"
	"testing"
	"time"
)

func TestExtraFieldsGoToTheirColumns(t *testing.T) {
	fields := map[string]any{"role": "admin", "level": 7, "tags": []any{"a"}, "badge": json.Number("9007199254740993"), "share": json.Number("0.5"), "rest": true}
	rest, given, values := withoutColumns(fields, []string{"role", "level", "tags", "badge", "share", "none"})
	if len(rest) != 1 || rest["rest"] != true {
		t.Errorf("rest = %v, want the field without a column", rest)
	}
	if want := []int{0, 1, 2, 3, 4}; !slices.Equal(given, want) {
		t.Errorf("values for the columns %v, want %v", given, want)
	}
	for i, want := range []any{"admin", int64(7), `["a"]`, int64(9007199254740993), "0.5"} {
		if values[i] != want {
			t.Errorf("column %d holds %v, want %v", i, values[i], want)
		}
	}
	if len(fields) != 6 {
		t.Error("the caller's map was changed")
	}
	read := make([]anyColumn, 4)
	for i, value := range []any{[]byte("admin"), int64(7), nil, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)} {
		if err := read[i].Scan(value); err != nil {
			t.Fatal(err)
		}
	}
	back := withColumns(nil, []string{"role", "level", "none", "since"}, read)
	if len(back) != 3 || back["role"] != "admin" || back["since"] != "2026-03-01T00:00:00.000Z" {
		t.Errorf("read back %v", back)
	}
}
