// Package lifetime decides how long sessions last and when they are extended, from
// times alone: the caller knows where a session is kept and what its token holds.
package lifetime

import "time"

// A Policy is how long sessions of an application last.
type Policy struct {
	// MaxAge is how long a session lasts since it was last extended, and TokenMaxAge
	// how long a token of it is good.
	MaxAge, TokenMaxAge time.Duration

	// UpdateAge is the least time between two extensions. Zero and less mean that a
	// session is extended whenever it is used.
	UpdateAge time.Duration

	// AbsoluteMaxAge is how long a session lasts since the user signed in, however
	// often it is extended. Zero means for ever. It does not apply to a session
	// whose beginning is unknown, the zero time.
	AbsoluteMaxAge time.Duration
}

// Due reports whether a session that was last extended at a time is to be extended
// now.
func (p Policy) Due(extended, now time.Time) bool {
	return !extended.Add(max(p.UpdateAge, 0)).After(now)
}

// Extended returns when a session ends that is extended now.
func (p Policy) Extended(began, now time.Time) time.Time {
	expires := now.Add(p.MaxAge)
	if last := p.last(began); !last.IsZero() && last.Before(expires) {
		return last
	}
	return expires
}

// LastExtended returns when a session was extended that ends at a time. It is too
// early for one that ends with its absolute lifetime.
func (p Policy) LastExtended(expires time.Time) time.Time { return expires.Add(-p.MaxAge) }

// TokenAge returns how long a token is good that is written now. It is negative
// after the absolute lifetime.
func (p Policy) TokenAge(began, now time.Time) time.Duration {
	if last := p.last(began); !last.IsZero() {
		return min(p.TokenMaxAge, last.Sub(now))
	}
	return p.TokenMaxAge
}

// Over reports whether a session has reached its absolute lifetime.
func (p Policy) Over(began, now time.Time) bool {
	last := p.last(began)
	return !last.IsZero() && !now.Before(last)
}

// last returns when a session ends however often it is extended, or the zero time.
func (p Policy) last(began time.Time) time.Time {
	if p.AbsoluteMaxAge <= 0 || began.IsZero() {
		return time.Time{}
	}
	return began.Add(p.AbsoluteMaxAge)
}
