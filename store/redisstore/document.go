package redisstore

import (
	"bytes"
	"encoding/json"
	"time"
)

// A date is a time as Date.prototype.toISOString writes it, with milliseconds
// in UTC. It reads every form of RFC 3339.
type date struct{ time.Time }

func (d date) MarshalJSON() ([]byte, error) {
	return []byte(d.UTC().Format(`"2006-01-02T15:04:05.000Z"`)), nil
}

// unmarshal is json.Unmarshal that keeps every digit of a number.
func unmarshal(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(v)
}
