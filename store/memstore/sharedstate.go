package memstore

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pintleauth/pintle/sharedstate"
)

// maxShared is how many keys a SharedState keeps, and how many leases and counts.
const maxShared = 1 << 18

var errFull = errors.New("there are too many that have not expired")

// A SharedState is a [sharedstate.Store] in memory, for a program of one process. The
// zero value is empty and ready to use. It forgets what has expired with the next call,
// and keeps at most 262,144 keys, as many leases and as many counts: beyond that calls
// fail, so that none is forgotten before its time.
type SharedState struct {
	sharedstate.Unimplemented
	mu     sync.Mutex
	used   expiring[struct{}]
	leases expiring[sharedstate.Owner]
	counts expiring[struct{}]
}

var _ sharedstate.Store = (*SharedState)(nil)

// SharedState implements [pintle.Store].
func (s *Store) SharedState() sharedstate.Store { return s.shared }

// SharedState implements [pintle.Store]: a transaction has none, since it could not
// take back what was decided.
func (*txStore) SharedState() sharedstate.Store { return nil }

// Once implements [sharedstate.Store].
func (s *SharedState) Once(ctx context.Context, key sharedstate.Key, until time.Time) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used.forget(time.Now())
	if s.used.rows[key] != nil {
		return false, nil
	}
	if err := s.used.put(key, struct{}{}, until); err != nil {
		return false, fmt.Errorf("memstore: use a key once: %w", err)
	}
	return true, nil
}

// Lease implements [sharedstate.Store].
func (s *SharedState) Lease(ctx context.Context, key sharedstate.Key, owner sharedstate.Owner, d time.Duration) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.leases.forget(now)
	if held := s.leases.rows[key]; held != nil && held.value != owner {
		return false, nil
	}
	if err := s.leases.put(key, owner, now.Add(max(d, time.Millisecond))); err != nil {
		return false, fmt.Errorf("memstore: take a lease: %w", err)
	}
	return true, nil
}

// Release implements [sharedstate.Store].
func (s *SharedState) Release(ctx context.Context, key sharedstate.Key, owner sharedstate.Owner) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if held := s.leases.rows[key]; held != nil && held.value == owner {
		s.leases.remove(held)
	}
	return nil
}

// Take implements [sharedstate.Store].
func (s *SharedState) Take(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.counts.forget(now)
	every, ahead := r.Milliseconds()
	to := now.Add(time.Duration(every) * time.Millisecond)
	wait := s.wait(key, r, now)
	if row := s.counts.rows[key]; row != nil {
		to = row.expires.Add(time.Duration(every) * time.Millisecond)
		if wait > 0 {
			to = row.expires
			if most := now.Add(time.Duration(ahead+every) * time.Millisecond); to.After(most) {
				to = most
			}
		}
	}
	if err := s.counts.put(key, struct{}{}, to); err != nil {
		return 0, fmt.Errorf("memstore: count an attempt: %w", err)
	}
	return wait, nil
}

// Wait implements [sharedstate.Store].
func (s *SharedState) Wait(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wait(key, r, time.Now()), nil
}

func (s *SharedState) wait(key sharedstate.Key, r sharedstate.Rate, now time.Time) time.Duration {
	row := s.counts.rows[key]
	if row == nil {
		return 0
	}
	every, ahead := r.Milliseconds()
	wait := row.expires.Sub(now) - time.Duration(ahead)*time.Millisecond
	return min(max(wait, 0), time.Duration(every)*time.Millisecond)
}

// GiveBack implements [sharedstate.Store].
func (s *SharedState) GiveBack(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.forget(time.Now())
	row := s.counts.rows[key]
	if row == nil {
		return nil
	}
	every, _ := r.Milliseconds()
	if err := s.counts.put(key, struct{}{}, row.expires.Add(-time.Duration(every)*time.Millisecond)); err != nil {
		return fmt.Errorf("memstore: give an attempt back: %w", err) // unreachable: the row is there
	}
	return nil
}

// An expiring is a map whose rows are also in the order in which they expire.
type expiring[V any] struct {
	rows  map[sharedstate.Key]*expiringRow[V]
	order byExpiry[V]
}

type expiringRow[V any] struct {
	key     sharedstate.Key
	value   V
	expires time.Time
	at      int // in the order
}

// put writes a row, in the place of the one that has the key.
func (e *expiring[V]) put(key sharedstate.Key, value V, expires time.Time) error {
	if row := e.rows[key]; row != nil {
		row.value, row.expires = value, expires
		heap.Fix(&e.order, row.at)
		return nil
	}
	if len(e.rows) >= maxShared {
		return errFull
	}
	if e.rows == nil {
		e.rows = make(map[sharedstate.Key]*expiringRow[V])
	}
	row := &expiringRow[V]{key: key, value: value, expires: expires}
	e.rows[key] = row
	heap.Push(&e.order, row)
	return nil
}

func (e *expiring[V]) remove(row *expiringRow[V]) {
	delete(e.rows, row.key)
	heap.Remove(&e.order, row.at)
}

// forget removes the rows that have expired.
func (e *expiring[V]) forget(now time.Time) {
	for len(e.order) > 0 && !e.order[0].expires.After(now) {
		e.remove(e.order[0])
	}
}

// byExpiry is a [heap.Interface].
type byExpiry[V any] []*expiringRow[V]

func (b byExpiry[V]) Len() int           { return len(b) }
func (b byExpiry[V]) Less(i, j int) bool { return b[i].expires.Before(b[j].expires) }

func (b byExpiry[V]) Swap(i, j int) {
	b[i], b[j] = b[j], b[i]
	b[i].at, b[j].at = i, j
}

// Push implements [heap.Interface].
func (b *byExpiry[V]) Push(row any) {
	r := row.(*expiringRow[V])
	r.at = len(*b)
	*b = append(*b, r)
}

// Pop implements [heap.Interface].
func (b *byExpiry[V]) Pop() any {
	last := len(*b) - 1
	row := (*b)[last]
	(*b)[last] = nil
	*b = (*b)[:last]
	return row
}
