package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
)

// printable is a text without characters that move the cursor of a terminal, or turn the
// direction of what follows: a browser may have chosen its name.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, text)
}

// jsonTo returns an encoder that escapes these characters: encoding/json escapes those below the
// space alone, and a terminal obeys U+009B as it does ESC and "[".
func jsonTo(w io.Writer) *json.Encoder { return json.NewEncoder(printableJSON{w}) }

// A printableJSON writes whole values, as an encoder does. Characters beyond ASCII are in texts only.
type printableJSON struct{ w io.Writer }

func (p printableJSON) Write(text []byte) (int, error) {
	var b strings.Builder
	for _, r := range string(text) {
		if r == '\n' || unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	if _, err := io.WriteString(p.w, b.String()); err != nil {
		return 0, err
	}
	return len(text), nil
}
