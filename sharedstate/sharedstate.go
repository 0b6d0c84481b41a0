// Package sharedstate has what the processes of one site decide together: that a value
// is accepted once, which process does a piece of work, and how many attempts a limit
// allows.
//
// All stores of Pintle but xatastore return a [Store] from their method SharedState.
// A site whose sessions are tokens, and which therefore has no store, makes one from a
// connection: memstore.SharedState, sqlstore.NewSharedState, redisstore.NewSharedState
// and mongostore.NewSharedState. Package storetest checks one of your own.
package sharedstate

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Store keeps keys, leases and counts, each under a [Key]. Keys of [Store.Once], of
// [Store.Lease] and of [Store.Take] have nothing to do with one another.
//
// The methods may be called concurrently by several processes, and each is one step:
// of any number of concurrent calls, each sees what the others did before it. They
// honour the context. An error means that nothing is known: the caller must not act as
// if it were the first, or held the lease.
//
// Times are compared with the clock of the store. The clock of a process that is an
// hour ahead would otherwise take a lease that is held, and accept a value again.
//
// A Store is not part of a transaction of a pintle.Store: a value that was accepted
// stays used if the transaction fails.
//
// Later versions add methods. A store of your own embeds an [Unimplemented].
type Store interface {
	// Once reports whether this is the first call with the key. Of any number of
	// calls in all processes, one is the first. The store keeps the key until a time
	// at least, to the millisecond, and may forget it then: the next call is the
	// first again. If the clocks of the caller and of the store differ, the caller
	// adds the difference that it allows.
	Once(ctx context.Context, key Key, until time.Time) (first bool, err error)

	// Lease takes the lease of a key for an owner, for a duration of a millisecond
	// or more, and reports whether the owner has it. An owner that has the lease
	// already has it for the duration from now. It is false while another owner has
	// the lease, and may be false for a moment after.
	//
	// The owner counts the duration from before the call. Work that takes longer
	// may be done twice, so what it writes has to be conditional.
	Lease(ctx context.Context, key Key, owner Owner, d time.Duration) (held bool, err error)

	// Release ends the lease of a key if it is the owner's. Otherwise it does
	// nothing, and returns no error.
	Release(ctx context.Context, key Key, owner Owner) error

	// Take counts an attempt under a key and returns zero. If the rate does not allow the
	// attempt, Take counts nothing, and returns how long it takes until the rate allows one.
	//
	// The count of a key is one time of the store's clock, in whole milliseconds. It is in the
	// future by one interval for each attempt that counts, and a count in the past is the same
	// as none. Take allows an attempt if the count is not further ahead than
	// [Rate.Milliseconds] says. The new count is one interval after the old one or, if the old
	// one is past, after the present time. This is the generic cell rate algorithm:
	// https://en.wikipedia.org/wiki/Generic_cell_rate_algorithm
	//
	// Attempts at one rate move a count to Burst intervals ahead at most. One that is further
	// ahead is from before the store's clock was set back: Take moves it to Burst intervals
	// ahead, so that it does not reject all attempts until the clock is where it was.
	//
	// The store keeps a count until its time, and may forget it then.
	Take(ctx context.Context, key Key, r Rate) (wait time.Duration, err error)

	// Wait returns what Take would return, and counts nothing.
	Wait(ctx context.Context, key Key, r Rate) (wait time.Duration, err error)

	// GiveBack removes an attempt that Take has counted with the same rate. It does
	// nothing, and returns no error, if the attempt has been forgotten.
	GiveBack(ctx context.Context, key Key, r Rate) error
}

// A Rate allows Burst attempts at once, and one more each time Every has passed.
type Rate struct {
	// Burst is 1 or more. Less counts as 1.
	Burst int

	// Every is a whole number of milliseconds, 1 or more. It is rounded up.
	Every time.Duration
}

// maxMilliseconds bounds what is added to a time. It is 100 years, so that the sum is a
// time in every store.
const maxMilliseconds = int64(100 * 365 * 24 * time.Hour / time.Millisecond)

// Milliseconds returns the rate in the numbers with which a store counts: the interval
// that one attempt adds, and how far ahead of the present a count may be for one more
// attempt, which is Burst-1 intervals. Both are at most 100 years. A count is at most their
// sum ahead.
func (r Rate) Milliseconds() (every, ahead int64) {
	every = int64(r.Every / time.Millisecond)
	if r.Every%time.Millisecond > 0 {
		every++
	}
	every = min(max(every, 1), maxMilliseconds)
	return every, min(int64(max(r.Burst, 1)-1), maxMilliseconds/every) * every
}

// A Key names what is decided or counted. It is a hash over the kind of the value and all that
// distinguishes it, because values come from clients and other services, and may be of
// any length.
type Key [32]byte

// An Owner is what holds a lease: 128 random bits for each attempt, so that two calls
// of one process do not hold a lease together.
type Owner [16]byte

// An Unimplemented is a [Store] without methods that work: they fail with an error
// matching [errors.ErrUnsupported].
type Unimplemented struct{}

var _ Store = Unimplemented{}

func unimplemented(method string) error {
	return fmt.Errorf("the shared state has no %s: %w", method, errors.ErrUnsupported)
}

// Once fails.
func (Unimplemented) Once(context.Context, Key, time.Time) (bool, error) {
	return false, unimplemented("Once")
}

// Lease fails.
func (Unimplemented) Lease(context.Context, Key, Owner, time.Duration) (bool, error) {
	return false, unimplemented("Lease")
}

// Release fails.
func (Unimplemented) Release(context.Context, Key, Owner) error { return unimplemented("Release") }

// Take fails.
func (Unimplemented) Take(context.Context, Key, Rate) (time.Duration, error) {
	return 0, unimplemented("Take")
}

// Wait fails.
func (Unimplemented) Wait(context.Context, Key, Rate) (time.Duration, error) {
	return 0, unimplemented("Wait")
}

// GiveBack fails.
func (Unimplemented) GiveBack(context.Context, Key, Rate) error { return unimplemented("GiveBack") }
