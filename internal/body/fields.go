package body

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/pintleauth/pintle/internal/query"
)

// ErrMalformed is matched by errors about a body that is not the JSON it
// claims to be.
var ErrMalformed = errors.New("request body is not valid JSON")

// Fields are the members of a request body. The zero value has none.
type Fields struct {
	members map[string]any // nil without any
}

// Read reads the body of r, at most max bytes of it, and parses it by its
// Content-Type:
//
//   - containing application/json: JSON of any type. Numbers become float64,
//     as in Auth.js. If a name is repeated, the last value counts. An empty
//     body and null count as no body, and values other than objects have no
//     members. [encoding/json] bounds the nesting.
//   - containing application/x-www-form-urlencoded: text values. If a name is
//     repeated, the last value counts. Malformed escapes are no error. The
//     limits of [query.Parse] apply as well.
//   - anything else: not read, no members. [Multipart] parses multipart/form-data.
//
// Errors match [ErrTooLarge] or [ErrMalformed] or come from the connection;
// the Fields are then empty.
func Read(r *http.Request, max int64) (Fields, error) {
	contentType := strings.ToLower(r.Header.Get("Content-Type"))
	isJSON := strings.Contains(contentType, "application/json")
	if !isJSON && !strings.Contains(contentType, "application/x-www-form-urlencoded") {
		return Fields{}, nil
	}
	data, err := Bytes(r, max)
	if err != nil {
		return Fields{}, err
	}
	if isJSON {
		return parseJSON(data)
	}
	return parseForm(string(data))
}

func parseJSON(body []byte) (Fields, error) {
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	if len(body) == 0 {
		return Fields{}, nil
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		// The cause is not wrapped, so that it reaches no log: it may quote a
		// piece of a password.
		return Fields{}, fmt.Errorf("parse body: %w", ErrMalformed)
	}
	members, _ := value.(map[string]any)
	return Fields{members}, nil
}

func parseForm(body string) (Fields, error) {
	v, err := query.Parse(body)
	if err != nil {
		return Fields{}, fmt.Errorf("read body: %w: %w", ErrTooLarge, err)
	}
	if len(v) == 0 {
		return Fields{}, nil
	}
	members := make(map[string]any, len(v))
	for _, p := range v {
		members[p.Key] = p.Value
	}
	return Fields{members}, nil
}

// String returns the text of a member. A member that is absent or null is not
// present. A member of another type, which only JSON can send, is present, is
// not text and has the value "".
func (f Fields) String(name string) (value string, present, isText bool) {
	v, ok := f.members[name]
	if !ok || v == nil {
		return "", false, false
	}
	value, isText = v.(string)
	return value, true, isText
}

// Raw returns a member as [encoding/json] represents it: nil, bool, float64,
// string, []any or map[string]any. Unlike in [Fields.String], null is present.
func (f Fields) Raw(name string) (value any, present bool) {
	value, present = f.members[name]
	return value, present
}

// All returns the members, or nil for an empty body. It is not a copy: changes
// to the map change the Fields.
func (f Fields) All() map[string]any { return f.members }
