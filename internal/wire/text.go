package wire

import (
	"bytes"
	"encoding/json"
)

// A Text is a text member of an object, which may also be null or absent. The zero
// value is absent.
type Text struct {
	Text    string
	Present bool // also where it is null
	Null    bool
}

// Value returns the text for [encoding/json], and nil for null.
func (t Text) Value() any {
	if t.Null {
		return nil
	}
	return t.Text
}

// AppendString appends a string as JSON. Nearly all are plain ASCII and are copied;
// the rest is left to encoding/json.
func AppendString(dst []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			quoted, _ := Marshal(text) // a string is always JSON
			return append(dst, quoted...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, text...)
	return append(dst, '"')
}

// Marshal is [json.Marshal] without HTML escaping, which JSON.stringify does not
// have either: bytes that clients compare or sign stay the same.
func Marshal(value any) ([]byte, error) {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
