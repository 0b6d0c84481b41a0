package userimport

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"
	"unicode/utf8"
)

// maxRow is how many bytes a row of CSV may have. If a quotation mark is missing, a row goes
// on to the next one, and has thousands of users.
const maxRow = 64 << 10

// A row is a row of a table, by the names of its columns.
type row struct {
	number int
	value  func(column string) (text string, found bool)
	reason string // why there are no values
	wrong  string // the first column whose value was of another kind
}

// plainName is a name of a column without the differences of emailVerified, email_verified
// and EmailVerified.
func plainName(column string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimSpace(column), "_", ""))
}

// text returns the value of a column, or "" if it has none.
func (r *row) text(column string) string {
	text, _ := r.value(column)
	if text == "NULL" || text == `\N` {
		return ""
	}
	return text
}

func (r *row) has(column string) bool {
	_, found := r.value(column)
	return found
}

func (r *row) flag(column string) bool {
	on, err := parseFlag(r.text(column))
	r.note(column, err)
	return on
}

func (r *row) time(column string) time.Time {
	t, err := parseTime(r.text(column))
	r.note(column, err)
	return t
}

// verified reads a column that has whether an address was verified, or when.
func (r *row) verified(column string, created time.Time) time.Time {
	var v verified
	text, err := json.Marshal(r.text(column))
	if err == nil {
		err = v.UnmarshalJSON(text)
	}
	r.note(column, err)
	return v.since(created)
}

// unverified reports that a column has for the address that it was not verified. An empty value
// of a column that is there says so, too.
func (r *row) unverified(column string) bool {
	return r.has(column) && r.verified(column, time.Time{}).IsZero()
}

func (r *row) note(column string, err error) {
	if err != nil && r.wrong == "" {
		r.wrong = column
	}
}

// problem is the error of the row, or nil.
func (r *row) problem() *LineError {
	switch {
	case r.reason != "":
		return &LineError{r.number, r.reason}
	case r.wrong != "":
		return &LineError{r.number, "another kind of value than expected: " + r.wrong}
	}
	return nil
}

// rows yields the rows of CSV with a header, or the objects of JSON. Each column in need has
// to be in the header. An object that lacks one of them is refused.
func rows(r io.Reader, need ...string) iter.Seq2[*row, error] {
	return func(yield func(*row, error) bool) {
		text, err := textReader(r)
		if err != nil {
			yield(nil, err)
			return
		}
		start, _ := text.Peek(4096) // a shorter file is one, too
		if start = bytes.TrimSpace(start); len(start) == 0 {
			return
		}
		if start[0] == '[' || start[0] == '{' {
			objects(text, need, yield)
			return
		}
		if err := csvRows(text, start, need, yield); err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

// objects yields the objects of JSON as rows.
func objects(text io.Reader, need []string, yield func(*row, error) bool) {
	for rec, err := range records(text, "") {
		if err != nil {
			yield(nil, err)
			return
		}
		var members map[string]json.RawMessage
		r := &row{number: rec.number}
		if line := rec.decode(&members); line != nil {
			r.reason = line.Reason
		} else {
			r.value = valuesOf(members)
			for _, column := range need {
				if !r.has(column) && r.reason == "" {
					r.reason = "no member " + column
				}
			}
		}
		if !yield(r, nil) {
			return
		}
	}
}

// valuesOf returns the members of an object as the values of a row.
func valuesOf(members map[string]json.RawMessage) func(string) (string, bool) {
	values := make(map[string]string, len(members))
	for name, data := range members {
		switch {
		case len(data) == 0 || data[0] == '{' || data[0] == '[':
		case string(data) == "null":
			values[plainName(name)] = ""
		default:
			values[plainName(name)] = unquote(data)
		}
	}
	return func(column string) (string, bool) {
		text, found := values[plainName(column)]
		return text, found
	}
}

// A limitedReader fails after left bytes.
type limitedReader struct {
	r    io.Reader
	left int
}

var errLongRow = errors.New("more than 64 KiB")

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errLongRow
	}
	n, err := l.r.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}

// csvRows yields the rows of CSV with commas, semicolons or tabs.
//
// https://www.rfc-editor.org/rfc/rfc4180
func csvRows(text *bufio.Reader, start []byte, need []string, yield func(*row, error) bool) error {
	limited := &limitedReader{r: text, left: maxRow}
	table := csv.NewReader(limited)
	table.ReuseRecord = true
	first, _, _ := bytes.Cut(start, []byte("\n"))
	for _, comma := range []rune{',', ';', '\t'} {
		if bytes.Count(first, []byte(string(comma))) > bytes.Count(first, []byte(string(table.Comma))) {
			table.Comma = comma
		}
	}
	header, err := table.Read()
	if err != nil {
		return fmt.Errorf("the header: %w", withoutText(err))
	}
	places := map[string]int{}
	for i, name := range header {
		if _, twice := places[plainName(name)]; twice {
			return fmt.Errorf("the header has a column twice: %q", plainName(name))
		}
		places[plainName(name)] = i
	}
	for _, column := range need {
		if _, found := places[plainName(column)]; !found {
			return fmt.Errorf("the header has no column %s", column)
		}
	}
	for last := 1; ; {
		limited.left = maxRow
		values, err := table.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		r := &row{value: func(column string) (string, bool) {
			i, found := places[plainName(column)]
			if !found {
				return "", false
			}
			return values[i], true
		}}
		var wrong *csv.ParseError
		switch {
		case errors.As(err, &wrong) && wrong.StartLine == wrong.Line && !errors.Is(wrong.Err, errLongRow):
			r.number, r.reason = wrong.StartLine, "not a row of CSV with as many columns as the header"
		case errors.As(err, &wrong), errors.Is(err, errLongRow):
			// The users of the lines in between would be lost.
			return fmt.Errorf("a row after line %d does not end, or has more than 64 KiB: is a quotation mark missing?", last)
		case err != nil:
			return withoutText(err)
		default:
			r.number, _ = table.FieldPos(0)
			for _, value := range values {
				if !utf8.ValidString(value) {
					r.reason = "not UTF-8"
				}
			}
		}
		last = r.number
		if !yield(r, nil) {
			return errStopped
		}
	}
}

// withoutText returns an error that has no part of the file.
func withoutText(err error) error {
	if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
		return fmt.Errorf("line %d: not CSV", wrong.StartLine)
	}
	return err
}
