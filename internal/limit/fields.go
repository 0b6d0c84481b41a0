package limit

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
//     as they are for Auth.js; of a repeated name the last value counts. An
//     empty body and null are no body, and other values than objects have no
//     members. Nesting is bounded by [encoding/json].
//   - containing application/x-www-form-urlencoded: text values; of a repeated
//     name the last one counts. Malformed escapes are no error. The limits of
//     [query.Parse] apply as well.
//   - anything else, multipart/form-data among it: not read, no members.
//
// Errors match [ErrTooLarge] or [ErrMalformed] or come from the connection;
// the Fields are then empty.
func Read(r *http.Request, max int64) (Fields, error) {
	contentType := strings.ToLower(r.Header.Get("Content-Type"))
	isJSON := strings.Contains(contentType, "application/json")
	if !isJSON && !strings.Contains(contentType, "application/x-www-form-urlencoded") {
		return Fields{}, nil
	}
	body, err := Body(r, max)
	if err != nil {
		return Fields{}, err
	}
	if isJSON {
		return parseJSON(body)
	}
	return parseForm(string(body))
}

func parseJSON(body []byte) (Fields, error) {
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	if len(body) == 0 {
		return Fields{}, nil
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		// The cause is not wrapped, and its text is of no use to anyone but
		// whoever sent the body: it may quote a piece of a password.
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
// present; one that is present but no text, which only JSON can send, is not
// text and has the value "".
func (f Fields) String(name string) (value string, present, isText bool) {
	v, ok := f.members[name]
	if !ok || v == nil {
		return "", false, false
	}
	value, isText = v.(string)
	return value, true, isText
}

// Raw returns a member as [encoding/json] represents it: nil, bool, float64,
// string, []any or map[string]any. Unlike for [Fields.String], null is present.
func (f Fields) Raw(name string) (value any, present bool) {
	value, present = f.members[name]
	return value, present
}

// All returns the members, nil when there are none. The map belongs to the
// Fields: whoever changes it changes them.
func (f Fields) All() map[string]any { return f.members }
