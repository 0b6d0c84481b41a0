package userimport

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/pintleauth/pintle/accountstore"
)

// errScalar is the error of a value of another kind. It has no part of the value.
var errScalar = errors.New("another kind of value than expected")

// A flag is a truth value as databases and programs write it.
type flag bool

// parseFlag reads true and false, t and f, yes and no, 1 and 0. Nothing is false. Any other
// text is an error, since it may mean that a user is banned.
func parseFlag(text string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "t", "1", "yes", "y":
		return true, nil
	case "false", "f", "0", "no", "n", "", "null", `\n`:
		return false, nil
	}
	return false, errScalar
}

// UnmarshalJSON reads a truth value, a number or a text.
func (f *flag) UnmarshalJSON(data []byte) error {
	on, err := parseFlag(unquote(data))
	*f = flag(on)
	return err
}

// unquote returns the text of a JSON value that is a text, and other values as they are.
func unquote(data []byte) string {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return text
	}
	return string(data)
}

// timeForms are the texts of times: of JSON, PostgreSQL, MySQL, SQLite, SQL Server, Ruby.
var timeForms = []string{
	time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999Z07", "2006-01-02 15:04:05.999999999 Z07:00",
	"2006-01-02 15:04:05.999999999 -0700", "2006-01-02 15:04:05.999999999 UTC", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999",
	"2006-01-02 15:04", "2006-01-02",
}

// parseTime reads a time, or a number of seconds or milliseconds since 1970. A text without a
// zone is in UTC. No text is no time.
func parseTime(text string) (time.Time, error) {
	text = strings.TrimSpace(text)
	switch text {
	case "", "null", "NULL", `\N`, "0000-00-00 00:00:00":
		return time.Time{}, nil
	case "infinity":
		return accountstore.Forever, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		switch {
		case n == 0:
			return time.Time{}, nil
		case n < 0 || n > 1<<53-1:
			return time.Time{}, errScalar
		case n < 1e11: // the year 5138
			return time.Unix(n, 0).UTC(), nil
		}
		return time.UnixMilli(n).UTC(), nil
	}
	for _, form := range timeForms {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, errScalar
}

// A moment is a time in JSON.
type moment struct{ time.Time }

// UnmarshalJSON reads a text, a number, or the {"$date": …} of MongoDB.
func (m *moment) UnmarshalJSON(data []byte) error {
	var dated struct {
		Date json.RawMessage `json:"$date"`
	}
	if len(data) > 0 && data[0] == '{' && json.Unmarshal(data, &dated) == nil {
		data = dated.Date
	}
	t, err := parseTime(unquote(data))
	m.Time = t
	return err
}

// A verified is whether or when an address was verified.
type verified struct {
	on bool
	at time.Time
	no bool // the source says that it was not
}

// UnmarshalJSON reads a truth value or a time.
func (v *verified) UnmarshalJSON(data []byte) error {
	text := unquote(data)
	if on, err := parseFlag(text); err == nil {
		v.on, v.no = on, !on && string(data) != "null" && text != ""
		return nil
	}
	t, err := parseTime(text)
	v.on, v.at = !t.IsZero(), t
	return err
}

// since is when an address was verified that was: at a time, or when the user was created.
func (v verified) since(created time.Time) time.Time {
	switch {
	case !v.on:
		return time.Time{}
	case !v.at.IsZero():
		return v.at
	case !created.IsZero():
		return created
	}
	return time.Now().UTC()
}

// A word is the text of an id, which may be a number.
type word string

// UnmarshalJSON reads a text or a number.
func (w *word) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && (data[0] == '{' || data[0] == '[') {
		return errScalar
	}
	if *w = word(unquote(data)); string(data) == "null" {
		*w = ""
	}
	return nil
}

// forever returns the end of a ban that has none, if there is a ban.
func forever(banned bool) time.Time {
	if banned {
		return accountstore.Forever
	}
	return time.Time{}
}
