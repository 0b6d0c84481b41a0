package wire

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Time writes t as Date.prototype.toISOString does: in UTC, with milliseconds.
//
// https://tc39.es/ecma262/#sec-date.prototype.toisostring
func Time(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// ParseTime reads a time in any form of RFC 3339. Null is the zero time.
func ParseTime(value any) (time.Time, error) {
	switch v := value.(type) {
	case nil:
		return time.Time{}, nil
	case string:
		t, err := time.Parse(time.RFC3339Nano, v)
		if err != nil {
			return time.Time{}, fmt.Errorf("time %q is not in RFC 3339 form", v)
		}
		return t, nil
	case time.Time:
		return v, nil
	}
	return time.Time{}, fmt.Errorf("time is %T, not text", value)
}

// Seconds reads a number of seconds, such as the time in a claim. The fraction of a
// float64 is cut off. One beyond the range of an int64 is no number here: converted,
// it could be any, and a time in the far future one in the past.
func Seconds(value any) (seconds int64, ok bool) {
	switch v := value.(type) {
	case int64:
		return v, true
	case int:
		return int64(v), true
	case float64:
		return int64(v), -1<<63 <= v && v < 1<<63
	case json.Number:
		n, err := v.Int64()
		return n, err == nil
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		return n, err == nil
	}
	return 0, false
}
