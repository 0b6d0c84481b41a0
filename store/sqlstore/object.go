package sqlstore

import (
	"encoding/json"
	"fmt"
	"strings"
)

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
