package sqlstore

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// storable reports whether a database can keep the text. One that it cannot
// keep is in no row, and is not looked for: PostgreSQL answers with an error
// where others find nothing.
func storable(texts ...string) bool {
	for _, text := range texts {
		if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
			return false
		}
	}
	return true
}

// nullable is text whose absence is NULL, so that unique indices ignore it.
func nullable(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// A TimeFormat says what a column holds as a time.
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
		// As text, whatever time zone the driver was told to convert to.
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
			// The driver parsed the text in the zone it was told to assume.
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
		return nil // how an old MySQL says NULL
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

// An IDFormat says what a column holds as an id, and who makes it.
type IDFormat int

// The formats of ids.
const (
	// NoID is a table without a column for ids, or whose database fills it.
	// Users cannot have it.
	NoID IDFormat = iota

	// TextID is text. The store makes a UUID where none is proposed.
	TextID

	// UUID is the type uuid of PostgreSQL.
	UUID

	// Integer is a number that the database makes.
	Integer

	// CUID is text that the store makes as Prisma does.
	CUID
)

// column returns what a column holds as an id, if it can hold it. Ids are
// compared as texts: "+7" and "07" are not 7.
func (f IDFormat) column(id string) (value any, ok bool) {
	switch f {
	case Integer:
		n, err := strconv.ParseInt(id, 10, 64)
		return n, err == nil && strconv.FormatInt(n, 10) == id
	case UUID:
		return id, isUUID(id)
	}
	return id, storable(id)
}

// propose returns the id of a new row, nil if the database makes it.
func (f IDFormat) propose(id string) any {
	switch {
	case f == Integer, f == NoID:
		return nil
	case f == CUID:
		return newCUID(time.Now())
	case f == UUID && !isUUID(id), id == "":
		return newUUID()
	}
	return id
}

// isUUID reports whether id is a UUID in the form PostgreSQL writes.
func isUUID(id string) bool {
	if len(id) != 36 {
		return false
	}
	for i := range len(id) {
		c := id[i]
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
				return false
			}
		}
	}
	return true
}

// newUUID returns a random UUID.
//
// https://www.rfc-editor.org/rfc/rfc9562#section-5.4
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// newCUID returns an id of the form Prisma's client makes: a c, the time in
// base 36, and sixteen more digits, which there count and name the machine and
// here are random.
//
// https://github.com/paralleldrive/cuid
func newCUID(now time.Time) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	id := make([]byte, 0, 25)
	id = append(id, 'c')
	id = strconv.AppendInt(id, now.UnixMilli(), 36)
	var random [32]byte
	for len(id) < cap(id) {
		_, _ = rand.Read(random[:]) // never fails
		for _, b := range random {
			// 252 is the largest multiple of 36 in a byte.
			if b < 252 && len(id) < cap(id) {
				id = append(id, digits[b%36])
			}
		}
	}
	return string(id)
}

// An idText is an id as it is read, from whichever type the column has.
type idText string

// Scan implements [sql.Scanner].
func (t *idText) Scan(value any) error {
	switch v := value.(type) {
	case string:
		*t = idText(v)
	case []byte:
		*t = idText(v)
	case int64:
		*t = idText(strconv.FormatInt(v, 10))
	default:
		return fmt.Errorf("an id is a %T", value)
	}
	return nil
}

// An object is a JSON object as a column holds it. None is NULL.
type object map[string]any

func (o object) column() (any, error) {
	if len(o) == 0 {
		return nil, nil //nolint:nilnil // nil is the column's NULL
	}
	text, err := json.Marshal(map[string]any(o))
	return string(text), err
}

// Scan implements [sql.Scanner].
func (o *object) Scan(value any) error {
	var text string
	switch v := value.(type) {
	case nil:
	case string:
		text = v
	case []byte:
		text = string(v)
	default:
		return fmt.Errorf("JSON is a %T", value)
	}
	*o = nil
	if text == "" {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber() // ids beyond 2^53 keep their digits
	return d.Decode((*map[string]any)(o))
}
