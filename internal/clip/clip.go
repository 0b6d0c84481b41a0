// Package clip bounds the text of a client before it goes into a log record.
package clip

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Max is how many bytes of a client's text a log record repeats. A request may
// hold megabytes; logging all of them would let a client fill the disk.
const Max = 200

// Quote returns s between quotes with everything unprintable escaped. It keeps at
// most [Max] bytes of s and appends the full length if s is longer.
func Quote(s string) string {
	if len(s) <= Max {
		return strconv.Quote(s)
	}
	return fmt.Sprintf("%s… (%d bytes)", strconv.Quote(Text(s, Max)), len(s))
}

// Text returns the first max bytes of s, or fewer where that would cut a
// character.
func Text(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max]
}
