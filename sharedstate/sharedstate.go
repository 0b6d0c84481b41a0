// Package sharedstate has what the processes of one site decide together: that a value
// is accepted once, and which process does a piece of work.
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

// A Store keeps keys and leases, each under a [Key]. Keys of [Store.Once] and keys of
// [Store.Lease] have nothing to do with one another.
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
}

// A Key names what is decided. It is a hash over the kind of the value and all that
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
