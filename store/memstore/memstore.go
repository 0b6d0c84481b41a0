// Package memstore keeps users and sessions in memory, for tests,
// demonstrations and programs of one process that may forget.
//
// A [Store] has every feature of [pintle.Features], the rows of package account, the
// sign-ins at providers, and a [SharedState]. It keeps no session token, only its hash,
// starts no goroutine, and forgets what has expired when [Store.Sweep] is called.
package memstore

import (
	"context"
	"hash/maphash"
	"sync"

	"github.com/pintleauth/pintle"
)

// A Store is a store in memory. Its methods may be called concurrently.
type Store struct {
	records
	shared *SharedState
}

var (
	_ pintle.Store = (*Store)(nil)
	_ pintle.Store = (*txStore)(nil)
)

// New returns an empty store.
func New() *Store {
	seed := maphash.MakeSeed()
	byText := func(text string) uint64 { return maphash.String(seed, text) }
	return &Store{records: records{tables: &tables{
		users:          newIndex(byText, func(u *user) string { return u.id() }),
		byEmail:        newIndex(byText, func(u *user) string { return u.email() }),
		accounts:       make(map[accountKey]*account),
		sessions:       newIndex(sessionKey.hash, func(s *session) sessionKey { return s.key }),
		verifications:  make(map[verificationKey]int64),
		authenticators: make(map[string]*authenticator),
		marks:          marks{byJSON: make(map[string]uint32)},
		accountTables:  newAccountTables(),
		providerTables: newProviderTables(),
	}}, shared: &SharedState{}}
}

// Features implements [pintle.Store]: a store in memory has all of them, but for
// transactions in a transaction.
func (r records) Features() pintle.Features {
	return pintle.Features{
		Accounts: true, AccountSwap: true, Sessions: true, SessionList: true, Verifications: true, Passkeys: true, PasskeyNames: true,
		Transactions: r.tx == nil, DeleteUser: true, Sweep: true, InMemory: true,
	}
}

// tables is everything a store keeps. One lock for all of it is what makes a
// look-up that follows a pointer from one table into another simple; readers
// share it.
type tables struct {
	mu             sync.RWMutex
	users          *index[string, user]
	byEmail        *index[string, user]
	accounts       map[accountKey]*account
	sessions       *index[sessionKey, session]
	verifications  map[verificationKey]int64 // when it expires, in milliseconds
	authenticators map[string]*authenticator
	marks
	accountTables
	providerTables
}

// records is what a [Store] and the store of a transaction have in common.
type records struct {
	*tables
	tx *transaction // nil outside a transaction
}

// read waits until the tables may be read. The caller calls readDone after.
func (r records) read(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.tx != nil {
		return r.tx.enter()
	}
	r.mu.RLock()
	return nil
}

func (r records) readDone() {
	if r.tx != nil {
		r.tx.leave()
		return
	}
	r.mu.RUnlock()
}

// write waits until the tables may be written. The caller calls writeDone after.
func (r records) write(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.tx != nil {
		return r.tx.enter()
	}
	r.mu.Lock()
	return nil
}

func (r records) writeDone() {
	if r.tx != nil {
		r.tx.leave()
		return
	}
	r.mu.Unlock()
}

// undo remembers how to take back a change that was just made, if a
// transaction may have to.
func (r records) undo(f func()) {
	if r.tx != nil {
		r.tx.undo = append(r.tx.undo, f)
	}
}
