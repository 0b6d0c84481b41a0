package handshake

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// An answer is what a provider sends after a time.
type answer struct {
	after time.Duration
	err   error
}

// answering returns a source whose document is the number of the request. It is never fresh.
func answering(warned *int, answers ...answer) source[int] {
	var requests atomic.Int32
	return source[int]{
		stale: time.Hour,
		fetch: func(context.Context) (fetched[int], error) {
			number := int(requests.Add(1))
			a := answers[number-1]
			time.Sleep(a.after)
			return fetched[int]{value: number}, a.err
		},
		warn: func(context.Context, time.Time, error) { *warned++ },
	}
}

// RPT-76. The request that was made beside a slow one is no reason to give the slow one up.
func TestASlowAnswerServesAlthoughALaterRequestFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c cell[int]
		away := errors.New("away")
		s := answering(new(int), answer{after: 5 * time.Second}, answer{err: away})
		if value, err := c.get(t.Context(), s); value != 1 || err != nil {
			t.Errorf("get() = %d, %v, want the first answer", value, err)
		}
	})
}

// RPX-120. A failure is one of the provider's now, and not of a connection that died long ago.
func TestAFailureThatComesAfterALaterAnswerDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c cell[int]
		warned := 0
		s := answering(&warned, answer{10 * time.Second, errors.New("dead")}, answer{}, answer{after: time.Second})
		if value, err := c.get(t.Context(), s); value != 2 || err != nil {
			t.Fatalf("get() = %d, %v, want the second answer", value, err)
		}
		time.Sleep(6500 * time.Millisecond)
		if value, err := c.get(t.Context(), s); value != 3 || err != nil || warned != 0 {
			t.Errorf("get() = %d, %v with %d warnings, want the third answer", value, err, warned)
		}
	})
}

// RPT-76. A host may allow requests more time than usual.
func TestFewRequestsHangAtATimeHoweverLongTheyMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c cell[int]
		var requests atomic.Int32
		s := source[int]{fetch: func(context.Context) (fetched[int], error) {
			requests.Add(1)
			time.Sleep(time.Minute)
			return fetched[int]{}, errors.New("away")
		}}
		if _, err := c.get(t.Context(), s); err == nil || requests.Load() != maxFetches {
			t.Errorf("%d requests were made, want %d; the error is %v", requests.Load(), maxFetches, err)
		}
		time.Sleep(time.Minute)
	})
}
