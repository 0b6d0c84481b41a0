package accountstore

import (
	"context"
	"iter"
	"time"
)

// allLimit is how many rows of a list are read at a time if the query has no Limit.
const allLimit = 200

// AllUsers yields the users whom a query selects, from q.After on, in the order of [Store.Users].
// It reads q.Limit at a time, and 200 with a Limit of 0 or less. A zero At is the time of the call.
// After an error, which comes with a nil user, it yields nothing more.
func AllUsers(ctx context.Context, s Store, q UserQuery) iter.Seq2[*User, error] {
	if q.At.IsZero() {
		q.At = time.Now()
	}
	return all(q.Limit, q.After, func(limit int, after string) ([]*User, string, error) {
		q := q // the sequence may be read by several goroutines
		q.Limit, q.After = limit, after
		return s.Users(ctx, q)
	})
}

// AllEvents yields the events that a query selects, from q.After on, the newest first. It reads
// q.Limit at a time, and 200 with a Limit of 0 or less. After an error, which comes with a nil
// event, it yields nothing more.
func AllEvents(ctx context.Context, l Log, q ActivityQuery) iter.Seq2[*Event, error] {
	return all(q.Limit, q.After, func(limit int, after string) ([]*Event, string, error) {
		q := q // the sequence may be read by several goroutines
		q.Limit, q.After = limit, after
		return l.Activity(ctx, q)
	})
}

func all[T any](limit int, after string, read func(limit int, after string) ([]*T, string, error)) iter.Seq2[*T, error] {
	if limit <= 0 {
		limit = allLimit
	}
	return func(yield func(*T, error) bool) {
		for from := after; ; {
			page, next, err := read(limit, from)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, row := range page {
				if !yield(row, nil) {
					return
				}
			}
			if next == "" {
				return
			}
			from = next
		}
	}
}
