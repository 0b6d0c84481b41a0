package provider

import (
	"errors"
	"time"
)

// instant reads a time in the form of RFC 3339, in which some services leave the
// colon out of the offset.
func instant(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999-0700"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, errors.New("not a time in the form of RFC 3339")
}
