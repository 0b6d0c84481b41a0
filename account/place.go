package account

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"

	"github.com/pintleauth/pintle/internal/sealed"
)

// ErrCursor is the error for an After that a method of [Operators] has not returned for the same
// query, or that is older than a day.
var ErrCursor = errors.New("the value of After is not from this query, or is older than a day")

// placeLife is how long the text works that continues a list.
const placeLife = 24 * time.Hour

// A heldPlace is what continues a list: the text of the store, and the query that it belongs to.
// It is sealed, since it goes through pages, and a store returns the text as it is.
type heldPlace struct {
	sealed.Stamp
	Of    string `json:"of"`
	After string `json:"after"`
}

// listOf distinguishes a list from others: by what it lists, and by the conditions of its query.
func (b *boxes) listOf(what string, conditions any) string {
	text, _ := json.Marshal(conditions) // of texts and truth values, which always have a form
	sum := b.activityHash("list", what, string(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// openPlace returns the text of the store for a list, or "" for its beginning. The error is
// [ErrCursor].
func (b *boxes) openPlace(after, of string) (string, error) {
	if after == "" {
		return "", nil
	}
	held := &heldPlace{}
	if b.lists.Open(after, held) != nil || held.Of != of {
		return "", ErrCursor
	}
	return held.After, nil
}

// sealPlace seals the text of the store, which is empty after the last page.
func (b *boxes) sealPlace(after, of string) (string, error) {
	if after == "" {
		return "", nil
	}
	return b.lists.Seal(&heldPlace{Of: of, After: after})
}
