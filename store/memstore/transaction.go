package memstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/pintleauth/pintle"
)

// A transaction takes its changes back if it fails. It holds the lock of the
// tables, so no other call sees them before it has succeeded.
type transaction struct {
	mu   sync.Mutex
	over bool
	undo []func()
}

var (
	errOver   = errors.New("memstore: the transaction is over")
	errNested = fmt.Errorf("memstore: a transaction in a transaction: %w", errors.ErrUnsupported)
)

func (tx *transaction) enter() error {
	tx.mu.Lock()
	if tx.over {
		tx.mu.Unlock()
		return errOver
	}
	return nil
}

func (tx *transaction) leave() { tx.mu.Unlock() }

// end takes back what was done unless the transaction succeeded.
func (tx *transaction) end(succeeded bool) {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.over = true
	if succeeded {
		return
	}
	for _, f := range slices.Backward(tx.undo) {
		f()
	}
}

// InTx implements [pintle.Store]. Transactions run one after another, and
// all other calls wait while one runs: f must use the store it is given, for
// the one it was called on would wait for f itself.
func (s *Store) InTx(ctx context.Context, f func(pintle.Store) error) error {
	if err := s.write(ctx); err != nil {
		return err
	}
	defer s.writeDone()
	tx := &transaction{}
	succeeded := false
	defer func() { tx.end(succeeded) }() // also when f panics
	if err := f(&txStore{records{tables: s.tables, tx: tx}}); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	succeeded = true
	return nil
}

// A txStore is the store a transaction works with.
type txStore struct{ records }

// InTx implements [pintle.Store]: a transaction has none within.
func (*txStore) InTx(context.Context, func(pintle.Store) error) error { return errNested }
