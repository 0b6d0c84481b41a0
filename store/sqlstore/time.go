package sqlstore

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A TimeFormat is the form of the times in a column.
type TimeFormat int

// The formats of times.
const (
	// Timestamp is the database's own type, in UTC. PostgreSQL and MySQL only.
	Timestamp TimeFormat = iota + 1

	// Milliseconds is an integer, the milliseconds since 1970.
	Milliseconds

	// MillisecondText is the same in decimal digits, as text.
	MillisecondText

	// ISOText is text of the form 2006-01-02T15:04:05.000Z.
	ISOText
)

const (
	isoTime   = "2006-01-02T15:04:05.000Z"
	mysqlTime = "2006-01-02 15:04:05.000"
)

// column returns what a column holds as t. The zero time is NULL.
func (f TimeFormat) column(d Dialect, t time.Time) any {
	if t.IsZero() {
		return nil
	}
	switch {
	case f == Milliseconds:
		return t.UnixMilli()
	case f == MillisecondText:
		return strconv.FormatInt(t.UnixMilli(), 10)
	case f == ISOText:
		return t.UTC().Format(isoTime)
	case d == MySQL:
		// As text, whatever time zone the driver would convert to.
		return t.UTC().Format(mysqlTime)
	}
	return t.UTC().Truncate(time.Millisecond)
}

// An instant is a time as it is read. Other programs may have written it, and
// SQLite lets each row hold a different type, so it takes every form there is.
type instant struct {
	time.Time
	wallClock bool // a time.Time is UTC whatever zone it claims
}

// Scan implements [sql.Scanner].
func (i *instant) Scan(value any) error {
	i.Time = time.Time{}
	switch v := value.(type) {
	case nil:
	case int64:
		i.Time = time.UnixMilli(v).UTC()
	case float64:
		i.Time = time.UnixMilli(int64(v)).UTC()
	case time.Time:
		if i.wallClock {
			// The driver parsed the text in the zone of its configuration.
			v = time.Date(v.Year(), v.Month(), v.Day(), v.Hour(), v.Minute(), v.Second(), v.Nanosecond(), time.UTC)
		}
		i.Time = v.UTC()
	case []byte:
		return i.parse(string(v))
	case string:
		return i.parse(v)
	default:
		return fmt.Errorf("a time is a %T", value)
	}
	return nil
}

func (i *instant) parse(text string) error {
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil {
		i.Time = time.UnixMilli(ms).UTC()
		return nil
	}
	if strings.HasPrefix(text, "0000-00-00") {
		return nil // the NULL of an old MySQL
	}
	for _, form := range []string{
		time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999Z07",
		"2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999",
	} {
		if t, err := time.Parse(form, text); err == nil {
			i.Time = t.UTC()
			return nil
		}
	}
	return fmt.Errorf("a time is the text %q", text)
}
