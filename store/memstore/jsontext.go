package memstore

import (
	"encoding/json"
	"strings"
)

// A jsonText is an object as JSON: a copy that shares nothing with the caller,
// and reads back with the same types as from any other store. Empty means no
// object.
type jsonText string

// encodeValue encodes any value of encoding/json. That of nil is empty.
func encodeValue(value any) (jsonText, error) {
	if value == nil {
		return "", nil
	}
	text, err := json.Marshal(value)
	return jsonText(text), err
}

func (t jsonText) decodeValue() (value any) {
	if t == "" {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(string(t)))
	d.UseNumber() // ids beyond 2^53 keep their digits
	if err := d.Decode(&value); err != nil {
		panic("memstore: unreachable: " + err.Error()) // encodeValue made it
	}
	return value
}

func encode(object map[string]any) (jsonText, error) {
	if len(object) == 0 {
		return "", nil
	}
	text, err := json.Marshal(object)
	return jsonText(text), err
}

func (t jsonText) decode() map[string]any {
	if t == "" {
		return nil
	}
	var object map[string]any
	d := json.NewDecoder(strings.NewReader(string(t)))
	d.UseNumber() // ids beyond 2^53 keep their digits
	if err := d.Decode(&object); err != nil {
		panic("memstore: unreachable: " + err.Error()) // encode made it
	}
	return object
}

// with returns the object with some members changed. Nil removes a member.
func (t jsonText) with(changes map[string]any) (jsonText, error) {
	if len(changes) == 0 {
		return t, nil
	}
	object := t.decode()
	if object == nil {
		object = make(map[string]any, len(changes))
	}
	for name, value := range changes {
		if value == nil {
			delete(object, name)
		} else {
			object[name] = value
		}
	}
	return encode(object)
}
