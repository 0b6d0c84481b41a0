package lifetime_test

import (
	"testing"
	"time"

	"github.com/pintleauth/pintle/internal/lifetime"
)

const (
	hour = time.Hour
	day  = 24 * hour
)

// Times are counted from the beginning of the session.
func TestHowLongASessionLasts(t *testing.T) {
	usual := lifetime.Policy{MaxAge: 30 * day, TokenMaxAge: 7 * day, UpdateAge: day}
	bounded := usual
	bounded.AbsoluteMaxAge = 90 * day

	began := time.Date(2026, 2, 27, 23, 59, 59, 0, time.UTC)
	for _, tt := range []struct {
		name       string
		policy     lifetime.Policy
		unknown    bool // when the session began
		now        time.Duration
		extended   time.Duration // when it ends, if it is extended now
		tokenAge   time.Duration
		over       bool
		sinceFirst bool // due, if it has not been extended since it began
	}{
		{"at once", usual, false, 0, 30 * day, 7 * day, false, false},
		{"just before an extension is due", usual, false, day - 1, 31*day - 1, 7 * day, false, false},
		{"when an extension is due", usual, false, day, 31 * day, 7 * day, false, true},
		{"years later", usual, false, 1000 * day, 1030 * day, 7 * day, false, true},
		{"bounded: at once", bounded, false, 0, 30 * day, 7 * day, false, false},
		{"bounded: while the bound is far", bounded, false, 60 * day, 90 * day, 7 * day, false, true},
		{"bounded: a moment later", bounded, false, 60*day + 1, 90 * day, 7 * day, false, true},
		{"bounded: when the token reaches the bound", bounded, false, 83 * day, 90 * day, 7 * day, false, true},
		{"bounded: a moment later than that", bounded, false, 83*day + 1, 90 * day, 7*day - 1, false, true},
		{"bounded: in the last moment", bounded, false, 90*day - 1, 90 * day, 1, false, true},
		{"bounded: at the end", bounded, false, 90 * day, 90 * day, 0, true, true},
		{"bounded: afterwards", bounded, false, 91 * day, 90 * day, -day, true, true},
		{"bounded: the beginning is unknown", bounded, true, 91 * day, 121 * day, 7 * day, false, true},
		{"extended whenever it is used", lifetime.Policy{MaxAge: hour, TokenMaxAge: hour}, false, 0, hour, hour, false, true},
		{"a negative UpdateAge means always", lifetime.Policy{MaxAge: hour, TokenMaxAge: hour, UpdateAge: -day}, false, 0, hour, hour, false, true},
		{"a clock that is behind", usual, false, -hour, 30*day - hour, 7 * day, false, false},
		{"a negative UpdateAge and a clock that is behind", lifetime.Policy{MaxAge: hour, UpdateAge: -day}, false, -hour, 0, 0, false, false},
		{"a bound shorter than the rest", lifetime.Policy{MaxAge: day, TokenMaxAge: day, AbsoluteMaxAge: hour}, false, 0, hour, hour, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, now := tt.policy, began.Add(tt.now)
			known := began
			if tt.unknown {
				known = time.Time{}
			}
			if got := p.Extended(known, now); !got.Equal(began.Add(tt.extended)) {
				t.Errorf("extended now, it ends after %v, want %v", got.Sub(began), tt.extended)
			}
			if got := p.TokenAge(known, now); got != tt.tokenAge {
				t.Errorf("a token is good for %v, want %v", got, tt.tokenAge)
			}
			if got := p.Over(known, now); got != tt.over {
				t.Errorf("it is over: %t, want %t", got, tt.over)
			}
			if got := p.Due(began, now); got != tt.sinceFirst {
				t.Errorf("an extension is due: %t, want %t", got, tt.sinceFirst)
			}
			if expires := now.Add(p.MaxAge); !p.LastExtended(expires).Equal(now) {
				t.Errorf("one that ends at %v was extended at %v, want %v", expires, p.LastExtended(expires), now)
			}
		})
	}
}
