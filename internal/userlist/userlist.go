// Package userlist has the text with which a store continues a list of users, or of their events:
// it names the last row of a page.
package userlist

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strconv"
	"time"
)

// An Order is the order of a list. A text of one order does not continue a list of another.
type Order string

// The orders of lists.
const (
	Newest  Order = "newest"
	ByEmail Order = "email"
	ByName  Order = "name"
	Events  Order = "events" // the newest first
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

// A Position is the place of a user or an event in a list: by a key, and by the id where keys are the same.
type Position struct {
	Order Order  `json:"o"`
	Key   string `json:"k,omitempty"`
	ID    string `json:"i"`
}

// OfEvent returns the place of an event, by its time in whole milliseconds and its id.
func OfEvent(at time.Time, id string) Position {
	return Position{Order: Events, Key: strconv.FormatInt(at.UnixMilli(), 10), ID: id}
}

// ReadEvent returns the time and the id of the event that a text of [OfEvent] names.
func ReadEvent(text string) (at time.Time, id string, err error) {
	p, err := Read(text, Events)
	if err != nil {
		return at, "", err
	}
	ms, err := strconv.ParseInt(p.Key, 10, 64)
	if err != nil {
		return at, "", errors.New("the list does not continue with this text")
	}
	return time.UnixMilli(ms).UTC(), p.ID, nil
}

// Text returns the text for the place after a user or an event.
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
