package sqlstore

import (
	"strings"
	"unicode/utf8"
)

// storable reports whether a database can keep the texts. A text that it cannot
// keep is in no row, so no query looks for it: PostgreSQL would return an error
// where others find nothing.
func storable(texts ...string) bool {
	for _, text := range texts {
		if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
			return false
		}
	}
	return true
}

// nullable is text whose absence is NULL, so that unique indices ignore it.
func nullable(text string) any {
	if text == "" {
		return nil
	}
	return text
}
