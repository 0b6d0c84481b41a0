package xatastore

import (
	"context"
	"crypto/rand"
	"math/big"
	"net/http"
	"strconv"
	"time"
)

// An outcome is the result of one attempt.
type outcome struct {
	err       error
	again     bool          // another attempt may succeed
	wait      time.Duration // the pause that the service requests before it, or zero
	maybeDone bool          // the request may have been carried out all the same
}

const (
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second

	// maxWait is how long after the first attempt another may begin: later the
	// user who signs in has left.
	maxWait = 30 * time.Second
)

// A backoff is the pauses between the attempts of one call. Each is twice as
// long as the one before and shortened at random, so that clients that failed
// together do not come back together.
//
// https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3
type backoff struct {
	until time.Time // when it is too late for another attempt
	last  time.Duration
}

func newBackoff() *backoff { return &backoff{until: time.Now().Add(maxWait)} }

// wait pauses, and reports whether it is worth trying again: it is not when it
// is too late by then, or the context ends before.
func (b *backoff) wait(ctx context.Context, asked time.Duration) bool {
	b.last = min(max(2*b.last, firstPause), maxPause)
	pause := b.last/2 + random(b.last/2)
	if asked > 0 {
		pause = asked + random(firstPause)
	}
	end := b.until
	if deadline, ok := ctx.Deadline(); ok && deadline.Before(end) {
		end = deadline
	}
	if time.Until(end) <= pause {
		return false
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func random(most time.Duration) time.Duration {
	n, err := rand.Int(rand.Reader, big.NewInt(int64(most)+1))
	if err != nil {
		return most // cannot happen: the reader never fails
	}
	return time.Duration(n.Int64())
}

// asked returns the pause that the service requests. Retry-After is a
// number of seconds or a date; Xata's own header a number of seconds.
func asked(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if at, err := http.ParseTime(value); err == nil {
		return max(time.Until(at), 0)
	}
	for _, value := range []string{value, h.Get("X-RateLimit-Reset")} {
		seconds, err := strconv.ParseFloat(value, 64)
		if err == nil && seconds > 0 {
			return time.Duration(min(seconds, 1e6) * float64(time.Second))
		}
	}
	return 0
}
