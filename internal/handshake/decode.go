package handshake

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// decodeJSON reads exactly one JSON value.
func decodeJSON(body []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, []byte("\ufeff"))))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("body is not JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("body is more than one JSON value")
	}
	return v, nil
}

// decodeObject reads exactly one JSON object.
func decodeObject(body []byte) (map[string]any, error) {
	v, err := decodeJSON(body)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("body is not a JSON object but %s", kindOf(v))
	}
	return m, nil
}

// text returns a member that is text, or "" if it is absent or another type.
func text(object map[string]any, name string) string {
	s, _ := object[name].(string)
	return s
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	default:
		return "a number"
	}
}
