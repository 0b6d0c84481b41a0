package pintle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// members builds a JSON object in the order its members are added, as the
// browser clients of the reference expect to find them.
type members struct {
	text []byte
	err  error
}

func newMembers() *members { return &members{text: append(make([]byte, 0, 512), '{')} }

// key begins a member, whose value is to be appended next.
func (m *members) key(name string) {
	if len(m.text) > 1 {
		m.text = append(m.text, ',')
	}
	m.text = append(appendText(m.text, name), ':')
}

func (m *members) add(name string, value any) {
	if m.err != nil {
		return
	}
	text, err := marshal(value)
	if err != nil {
		m.err = err
		return
	}
	m.addRaw(name, text)
}

// addRaw adds a member whose value is JSON already.
func (m *members) addRaw(name string, value []byte) {
	m.key(name)
	m.text = append(m.text, value...)
}

func (m *members) addText(name string, t optionalText) {
	switch {
	case t.null:
		m.addRaw(name, []byte("null"))
	case t.present:
		m.key(name)
		m.text = appendText(m.text, t.text)
	}
}

func (m *members) addString(name, value string) {
	if value != "" {
		m.key(name)
		m.text = appendText(m.text, value)
	}
}

// addRest adds the members of extra in the order of their names.
func (m *members) addRest(extra map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		m.add(name, extra[name])
	}
}

func (m *members) bytes() ([]byte, error) { return append(m.text, '}'), m.err }

// appendText appends a string as JSON. Nearly all are plain ASCII and are copied;
// the rest is left to encoding/json.
func appendText(dst []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			quoted, _ := marshal(text) // text always marshals
			return append(dst, quoted...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, text...)
	return append(dst, '"')
}

// marshal is json.Marshal without HTML escaping, which the reference does not
// have either: bytes that clients compare or sign stay the same.
func marshal(value any) ([]byte, error) {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// isoTime writes t as Date.prototype.toISOString does.
func isoTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func setTime(field *time.Time, value any) error {
	switch v := value.(type) {
	case nil:
		*field = time.Time{}
	case string:
		t, err := time.Parse(time.RFC3339Nano, v)
		if err != nil {
			return fmt.Errorf("time %q is not in RFC 3339 form", v)
		}
		*field = t
	case time.Time:
		*field = v
	default:
		return fmt.Errorf("time is %T, not text", value)
	}
	return nil
}

// identifier returns the text of an id that may be text or a number. An id
// that stands for none, which services have been seen to send where they meant
// an error, is refused.
func identifier(value any) (id string, ok bool) {
	switch v := value.(type) {
	case string:
		id = v
	case json.Number:
		id = v.String()
	case float64:
		text, err := marshal(v)
		if err != nil {
			return "", false
		}
		id = string(text)
	case int:
		id = fmt.Sprint(v)
	case int64:
		id = fmt.Sprint(v)
	}
	switch strings.TrimSpace(id) {
	case "", "undefined", "null", "<nil>", "NaN":
		return "", false
	}
	return id, true
}

func cloneMap(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	return maps.Clone(m)
}
