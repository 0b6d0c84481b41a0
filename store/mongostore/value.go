package mongostore

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// isoTime is how JavaScript writes a time in JSON.
const isoTime = "2006-01-02T15:04:05.000Z"

// millisecond cuts a time to the precision of a Date.
func millisecond(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// date is a Date, or null for the zero time.
func date(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return new(millisecond(t))
}

func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// nullable is a text, or null where it is not known.
func nullable(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func textOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// storableName returns an error if a document cannot have a field of that name.
// The next update would read a dot or a dollar sign as a path or an operator.
func storableName(name string) error {
	if !storable(name) || strings.HasPrefix(name, "$") || strings.ContainsAny(name, ".\x00") {
		return fmt.Errorf("a field cannot be named %q: leave it out, or name it without dots and without a dollar sign in front", name)
	}
	return nil
}

// toBSON turns a value of encoding/json into one of BSON. A number becomes an
// integer of 64 bits where it is one, and a double where not.
func toBSON(value any) (any, error) {
	switch v := value.(type) {
	case nil, bool, int, int32, int64, float64:
		return v, nil
	case string:
		if !storable(v) {
			return nil, errNotText
		}
		return v, nil
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, nil
		}
		return v.Float64()
	case []any:
		array := make(bson.A, len(v))
		for i, element := range v {
			var err error
			if array[i], err = toBSON(element); err != nil {
				return nil, err
			}
		}
		return array, nil
	case map[string]any:
		return toDocument(v)
	}
	// Other values of the host are converted as encoding/json does.
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	plain, err := decodeJSON[any](text)
	if err != nil {
		return nil, err
	}
	return toBSON(plain)
}

// toDocument turns an object of encoding/json into one of BSON, without the
// members that have a separate field.
func toDocument(object map[string]any, reserved ...string) (map[string]any, error) {
	document := make(map[string]any, len(object))
	for name, value := range object {
		if err := storableName(name); err != nil {
			return nil, err
		}
		member, err := toBSON(value)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", name, err)
		}
		document[name] = member
	}
	for _, name := range reserved {
		delete(document, name)
	}
	return document, nil
}

// fromBSON turns a value of BSON into one of encoding/json. What JSON has no
// form for becomes null.
func fromBSON(value any) any {
	switch v := value.(type) {
	case bool, string:
		return v
	case int32:
		return number(v)
	case int64:
		return number(v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return number(v)
	case bson.Decimal128:
		if n := json.Number(v.String()); isJSON(n) {
			return n
		}
	case bson.ObjectID:
		return v.Hex()
	case bson.DateTime:
		return v.Time().UTC().Format(isoTime)
	case time.Time:
		return v.UTC().Format(isoTime)
	case bson.Binary:
		return base64.StdEncoding.EncodeToString(v.Data)
	case bson.A:
		return fromArray(v)
	case []any:
		return fromArray(v)
	case bson.D:
		object := make(map[string]any, len(v))
		for _, member := range v {
			object[member.Key] = fromBSON(member.Value)
		}
		return object
	case bson.M:
		return fromDocument(v)
	case map[string]any:
		return fromDocument(v)
	}
	return nil
}

func fromArray(elements []any) []any {
	array := make([]any, len(elements))
	for i, element := range elements {
		array[i] = fromBSON(element)
	}
	return array
}

// fromDocument turns an object of BSON into one of encoding/json, without the
// members that have a separate field. One without members is nil.
func fromDocument(document map[string]any, reserved ...string) map[string]any {
	object := make(map[string]any, len(document))
	for name, value := range document {
		object[name] = fromBSON(value)
	}
	for _, name := range reserved {
		delete(object, name)
	}
	return object
}

// number is a number with all its digits.
func number(n any) json.Number {
	text, _ := json.Marshal(n) // a finite number
	return json.Number(text)
}

func isJSON(n json.Number) bool { return json.Valid([]byte(n)) }

// decodeJSON decodes JSON without changing the digits of numbers.
func decodeJSON[T any](text []byte) (value T, err error) {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	err = d.Decode(&value)
	return value, err
}
