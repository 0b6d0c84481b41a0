package sqlstore

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"time"

	"github.com/pintleauth/pintle/internal/uuid"
)

// An IDFormat is the form of the ids in a column, and who makes them: the store or
// the database.
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
		return uuid.New()
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
