package wire

import (
	"maps"
	"slices"
)

// An Object writes a JSON object, with its members in the order in which they are
// added. Only [NewObject] makes one.
type Object struct {
	text []byte
	err  error
}

// NewObject returns an object without members.
func NewObject() *Object { return &Object{text: append(make([]byte, 0, 512), '{')} }

// key begins a member, whose value is to be appended next.
func (o *Object) key(name string) {
	if o.text[len(o.text)-1] != '{' {
		o.text = append(o.text, ',')
	}
	o.text = append(AppendString(o.text, name), ':')
}

// Begin begins a member that is an object. What is added until [Object.End] are
// the members of that one.
func (o *Object) Begin(name string) {
	o.key(name)
	o.text = append(o.text, '{')
}

// End ends the object that [Object.Begin] began.
func (o *Object) End() { o.text = append(o.text, '}') }

// Add adds a member with what [Marshal] makes of the value. An error is kept for
// [Object.Bytes].
func (o *Object) Add(name string, value any) {
	if o.err != nil {
		return
	}
	text, err := Marshal(value)
	if err != nil {
		o.err = err
		return
	}
	o.key(name)
	o.text = append(o.text, text...)
}

// AddRaw adds a member whose value is JSON already.
func (o *Object) AddRaw(name, value string) {
	o.key(name)
	o.text = append(o.text, value...)
}

// AddText adds a text or null, or nothing where the text is absent.
func (o *Object) AddText(name string, t Text) {
	switch {
	case t.Null:
		o.AddRaw(name, "null")
	case t.Present:
		o.key(name)
		o.text = AppendString(o.text, t.Text)
	}
}

// AddString adds a text that is not empty.
func (o *Object) AddString(name, value string) {
	if value != "" {
		o.key(name)
		o.text = AppendString(o.text, value)
	}
}

// AddRest adds members in the order of their names.
func (o *Object) AddRest(members map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		o.Add(name, members[name])
	}
}

// Bytes returns the object, or the error of the first value that was no JSON. The
// object is complete: nothing may be added to it afterwards.
func (o *Object) Bytes() ([]byte, error) { return append(o.text, '}'), o.err }
