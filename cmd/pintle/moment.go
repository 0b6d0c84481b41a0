package main

import (
	"errors"
	"time"
)

// A direction is where a duration in the place of a time leads.
type direction int

const (
	ago   direction = -1
	ahead direction = 1
)

// forms are the forms of a time, as the help and the messages have them.
func forms(d direction) string {
	if d == ahead {
		return "2027-01-31 (UTC), 2027-01-31T12:00:00Z, or 24h for a day from now"
	}
	return "2027-01-31 (UTC), 2027-01-31T12:00:00Z, or 24h for a day ago"
}

// moment returns a function that reads the time of an option: a date, a time, or how far from
// now it is.
func moment(at *time.Time, d direction) func(text string) error {
	return func(text string) error {
		if far, err := time.ParseDuration(text); err == nil && far >= 0 {
			*at = time.Now().Add(time.Duration(d) * far)
			return nil
		}
		for _, form := range []string{time.RFC3339, time.DateOnly} {
			if t, err := time.Parse(form, text); err == nil {
				*at = t
				return nil
			}
		}
		return errors.New("write " + forms(d))
	}
}
