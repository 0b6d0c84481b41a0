// Package userlist says where a page of a list of users ends: the text with which a store
// continues the list.
package userlist

import (
	"encoding/base64"
	"encoding/json"
	"errors"
)

// An Order is the order of a list. A text of one order does not continue a list of another.
type Order string

// The orders of lists.
const (
	Newest  Order = "newest"
	ByEmail Order = "email"
	ByName  Order = "name"
)

// Of returns the order of a list whose users have an address or a name that begins with a
// text.
func Of(email, name string) Order {
	switch {
	case email != "":
		return ByEmail
	case name != "":
		return ByName
	}
	return Newest
}

// A Position is the place of a user in a list: by a key, and by the id where keys are the same.
type Position struct {
	Order Order  `json:"o"`
	Key   string `json:"k,omitempty"`
	ID    string `json:"i"`
}

// Text returns the text for the place after a user.
func (p Position) Text() string {
	text, _ := json.Marshal(p) // of texts, which always have a form in JSON
	return base64.RawURLEncoding.EncodeToString(text)
}

// Read returns the place that a text says.
func Read(text string, order Order) (p Position, err error) {
	bytes, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(bytes, &p)
	}
	if err != nil || p.Order != order || p.ID == "" {
		return p, errors.New("the list does not continue with this text")
	}
	return p, nil
}
