package xatastore

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// A record is a row as the service writes and reads it.
type record map[string]any

// A reader takes the columns of a record apart. It remembers the first that is
// not as it should be; missing and null are alike.
type reader struct {
	record record
	err    error
}

func (r *reader) wrong(column, want string, value any) {
	if r.err == nil {
		r.err = fmt.Errorf("the column %s of a record is %T, not %s", column, value, want)
	}
}

func (r *reader) text(column string) string {
	value := r.record[column]
	text, ok := value.(string)
	if !ok && value != nil {
		r.wrong(column, "text", value)
	}
	return text
}

func (r *reader) flag(column string) bool {
	value := r.record[column]
	flag, ok := value.(bool)
	if !ok && value != nil {
		r.wrong(column, "a truth value", value)
	}
	return flag
}

func (r *reader) integer(column string) int64 {
	value := r.record[column]
	if value == nil {
		return 0
	}
	number, ok := value.(json.Number)
	if !ok {
		r.wrong(column, "a number", value)
		return 0
	}
	n, err := number.Int64()
	if err != nil {
		r.wrong(column, "a whole number", value)
	}
	return n
}

func (r *reader) instant(column string) time.Time {
	text := r.text(column)
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		r.wrong(column, "a time", text)
		return time.Time{}
	}
	return at.UTC()
}

// object returns the object whose JSON a column holds.
func (r *reader) object(column string) (object map[string]any) {
	text := r.text(column)
	if text == "" {
		return nil
	}
	if err := decode([]byte(text), &object); err != nil {
		r.wrong(column, "an object in JSON", text)
	}
	return object
}

// link returns what a column links to, nil when that is nothing or gone.
func (r *reader) link(column string) record {
	switch value := r.record[column].(type) {
	case nil:
		return nil
	case map[string]any:
		if _, ok := value["id"].(string); ok {
			return value
		}
	}
	r.wrong(column, "a link", r.record[column])
	return nil
}

// metadata returns the members that the service keeps with every record.
func (r *reader) metadata() *reader {
	meta, ok := r.record["xata"].(map[string]any)
	if !ok && r.record["xata"] != nil {
		r.wrong("xata", "an object", r.record["xata"])
	}
	return &reader{record: meta}
}

func (r record) id() string {
	id, _ := r["id"].(string)
	return id
}

// version is what a condition on a record compares. A record without a version
// cannot be changed on a condition.
func (r record) version() (int64, error) {
	meta := (&reader{record: r}).metadata()
	if meta.record["version"] == nil {
		return 0, errors.New("the service did not say which version a record has")
	}
	n := meta.integer("version")
	return n, meta.err
}

var recordID = regexp.MustCompile(`^[a-zA-Z0-9_~:-]{1,255}$`)

// isID reports whether a record can have the id.
func isID(id string) bool { return recordID.MatchString(id) }

// idOf makes an id that only a record about exactly these texts has, so that
// the service lets only one of them be created. The lengths keep the border
// between two texts.
func idOf(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

const (
	maxString = 2048   // characters in a column of type string
	maxText   = 204800 // bytes in a column of type text
)

// storable reports the first of some short texts that would not read back as
// it is. A record that is looked up by another has none.
func storable(texts ...string) error {
	for _, text := range texts {
		if !isText(text) || utf8.RuneCountInString(text) > maxString {
			return errNotText
		}
	}
	return nil
}

// storableText does the same for texts that may be long.
func storableText(texts ...string) error {
	for _, text := range texts {
		if !isText(text) || len(text) > maxText {
			return errNotText
		}
	}
	return nil
}

func isText(text string) bool { return utf8.ValidString(text) && !strings.Contains(text, "\x00") }

// instantText writes a time as Auth.js does, null for never.
func instantText(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return at.UTC().Format("2006-01-02T15:04:05.000Z")
}

// objectText writes an object as the JSON that a column holds, null for none.
func objectText(object map[string]any) (any, error) {
	if object == nil {
		return nil, nil // null is the column's value
	}
	text, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encode what a column holds: %w", err)
	}
	return string(text), storableText(string(text))
}

// textOrNull writes a text, null for none.
func textOrNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}
