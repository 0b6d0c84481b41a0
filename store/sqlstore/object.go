package sqlstore

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// An object is a JSON object as a column holds it. None is NULL.
type object map[string]any

func (o object) column() (any, error) {
	if len(o) == 0 {
		return nil, nil // nil is the column's NULL
	}
	text, err := json.Marshal(map[string]any(o))
	return string(text), err
}

// with returns the object with some members changed. Nil removes a member.
func (o object) with(changes map[string]any) object {
	changed := make(object, len(o)+len(changes))
	maps.Copy(changed, o)
	maps.Copy(changed, changes)
	for name, value := range changes {
		if value == nil {
			delete(changed, name)
		}
	}
	return changed
}

// Scan implements [sql.Scanner].
func (o *object) Scan(value any) error {
	*o = nil
	text, err := columnText(value)
	if err != nil || text == "" {
		return err
	}
	return decodeJSON(text, (*map[string]any)(o))
}

// columnText returns the text of a column, "" for NULL.
func columnText(value any) (string, error) {
	switch v := value.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case []byte:
		return string(v), nil
	}
	return "", fmt.Errorf("JSON is a %T", value)
}

func decodeJSON(text string, v any) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber() // ids beyond 2^53 keep their digits
	return d.Decode(v)
}

// A jsonValue is any value of encoding/json as a column holds it, or a text.
type jsonValue struct {
	value  any
	isText bool
}

// Scan implements [sql.Scanner].
func (j *jsonValue) Scan(value any) error {
	j.value = nil
	text, err := columnText(value)
	switch {
	case err != nil || text == "":
		return err
	case j.isText:
		j.value = text
		return nil
	}
	return decodeJSON(text, &j.value)
}
