package sqlstore

import (
	"fmt"
	"strconv"
	"strings"
)

// A Dialect is the SQL a database speaks.
type Dialect int

// The dialects. MySQL is that of MariaDB too.
const (
	PostgreSQL Dialect = iota + 1
	MySQL
	SQLite
)

// String returns the name in lower case.
func (d Dialect) String() string {
	switch d {
	case PostgreSQL:
		return "postgresql"
	case MySQL:
		return "mysql"
	case SQLite:
		return "sqlite"
	}
	return fmt.Sprintf("dialect %d", int(d))
}

func (d Dialect) known() bool { return d >= PostgreSQL && d <= SQLite }

// quote makes an identifier of a name, whose parts are separated by dots.
func (d Dialect) quote(name string) string {
	mark := `"`
	if d == MySQL {
		mark = "`"
	}
	parts := strings.Split(name, ".")
	for i, part := range parts {
		parts[i] = mark + strings.ReplaceAll(part, mark, mark+mark) + mark
	}
	return strings.Join(parts, ".")
}

// returning reports whether a statement that writes can return the rows it
// wrote. MariaDB could for some, MySQL for none.
func (d Dialect) returning() bool { return d != MySQL }

// compile rewrites the parameters $1, $2, … as the dialect has them. MySQL only
// knows them by position: order says which argument goes where.
func (d Dialect) compile(text string) (compiled string, order []int) {
	if d == PostgreSQL {
		return text, nil
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "$")
		b.WriteString(before)
		if !found {
			return b.String(), order
		}
		digits := len(after) - len(strings.TrimLeft(after, "0123456789"))
		number, err := strconv.Atoi(after[:digits])
		if err != nil {
			panic("sqlstore: unreachable: a $ without a number") // names with one are refused
		}
		if d == MySQL {
			b.WriteByte('?')
			order = append(order, number-1)
		} else {
			b.WriteString("?" + after[:digits])
		}
		text = after[digits:]
	}
}
