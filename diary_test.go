package pintle_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

// A callLog records the calls of the store and the events of a site in order. A
// call has the name of the method in Auth.js's adapter, an event the word "event"
// before its name.
type callLog struct {
	mu      sync.Mutex
	entries []string

	// failing maps operations to the errors that they return.
	failing map[string]error

	// before is called before an operation, without a lock.
	before func(operation string)
}

func (d *callLog) note(entry string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries = append(d.entries, entry)
}

// record notes an operation and returns the error that it must return, or nil.
func (d *callLog) record(operation string) error {
	if d.before != nil {
		d.before(operation)
	}
	d.note(operation)
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failing[operation]
}

// fail makes operations fail from now on.
func (d *callLog) fail(operations ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failing = map[string]error{}
	for _, operation := range operations {
		d.failing[operation] = errBroken
	}
}

// takeCalls returns the entries so far and empties the log.
func (d *callLog) takeCalls() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	entries := d.entries
	d.entries = nil
	return entries
}

// wantCalls fails the test unless the log holds exactly want, and empties the log.
func (d *callLog) wantCalls(t *testing.T, want ...string) {
	t.Helper()
	if got := d.takeCalls(); !slices.Equal(got, want) {
		t.Errorf("the calls are\n\t%s\nwant\n\t%s", strings.Join(got, ", "), strings.Join(want, ", "))
	}
}

// A recordingStore is a store in memory with a call log. It has no transactions.
type recordingStore struct {
	pintle.Store
	*callLog
}

// A recordingTxStore is a recordingStore with transactions.
type recordingTxStore struct {
	*recordingStore
	tx pintle.Store
}

// newRecordingStore returns an empty store and its call log.
func newRecordingStore() *recordingTxStore {
	memory := memstore.New()
	return &recordingTxStore{&recordingStore{sequential{memory}, &callLog{}}, memory}
}

// sequential is a store without its transactions.
type sequential struct{ pintle.Store }

func (s sequential) Features() pintle.Features {
	return lacking(s.Store, func(f *pintle.Features) { f.Transactions = false })
}

func (s sequential) InTx(context.Context, func(pintle.Store) error) error {
	return errors.ErrUnsupported
}

// lacking returns the features of a store after a change.
func lacking(s pintle.Store, change func(*pintle.Features)) pintle.Features {
	f := s.Features()
	change(&f)
	return f
}

// A plainRecordingStore is a store that can do what mail and database sessions need and
// nothing beyond.
type plainRecordingStore struct {
	unable
	plain
}

func (plainRecordingStore) Features() pintle.Features {
	return pintle.Features{Sessions: true, Verifications: true}
}

// unable has its methods in the second place, after those of a plain.
type unable struct{ pintle.UnimplementedStore }

type plain interface {
	CreateUser(ctx context.Context, u *pintle.User) (*pintle.User, error)
	User(ctx context.Context, id string) (*pintle.User, error)
	UserByEmail(ctx context.Context, email string) (*pintle.User, error)
	UserByAccount(ctx context.Context, provider, id string) (*pintle.User, error)
	UpdateUser(ctx context.Context, id string, change pintle.UserUpdate) (*pintle.User, error)
	LinkAccount(ctx context.Context, a *pintle.Account) error
	CreateSession(ctx context.Context, s *pintle.StoredSession) error
	SessionAndUser(ctx context.Context, token string) (*pintle.StoredSession, *pintle.User, error)
	UpdateSession(ctx context.Context, token string, change pintle.SessionUpdate) error
	DeleteSession(ctx context.Context, token string) (*pintle.StoredSession, error)
	CreateVerification(ctx context.Context, v *pintle.Verification) error
	UseVerification(ctx context.Context, identifier, token string) (*pintle.Verification, error)
}

func (k *recordingTxStore) Features() pintle.Features { return k.tx.Features() }

// InTx notes how a transaction ends.
func (k *recordingTxStore) InTx(ctx context.Context, f func(pintle.Store) error) error {
	if err := k.record("begin"); err != nil {
		return err
	}
	err := k.tx.InTx(ctx, func(s pintle.Store) error {
		if err := f(&recordingStore{s, k.callLog}); err != nil {
			return err
		}
		return k.record("commit")
	})
	if err != nil {
		k.note("rollback")
	}
	return err
}

func asked[T any](k *recordingStore, operation string, run func() (T, error)) (result T, err error) {
	if err := k.record(operation); err != nil {
		return result, err
	}
	return run()
}

func (k *recordingStore) does(operation string, run func() error) error {
	if err := k.record(operation); err != nil {
		return err
	}
	return run()
}

func (k *recordingStore) CreateUser(ctx context.Context, u *pintle.User) (*pintle.User, error) {
	return asked(k, "createUser", func() (*pintle.User, error) { return k.Store.CreateUser(ctx, u) })
}

func (k *recordingStore) User(ctx context.Context, id string) (*pintle.User, error) {
	return asked(k, "getUser", func() (*pintle.User, error) { return k.Store.User(ctx, id) })
}

func (k *recordingStore) UserByEmail(ctx context.Context, email string) (*pintle.User, error) {
	return asked(k, "getUserByEmail", func() (*pintle.User, error) { return k.Store.UserByEmail(ctx, email) })
}

func (k *recordingStore) UserByAccount(ctx context.Context, provider, id string) (*pintle.User, error) {
	return asked(k, "getUserByAccount", func() (*pintle.User, error) { return k.Store.UserByAccount(ctx, provider, id) })
}

func (k *recordingStore) UpdateUser(ctx context.Context, id string, change pintle.UserUpdate) (*pintle.User, error) {
	return asked(k, "updateUser", func() (*pintle.User, error) { return k.Store.UpdateUser(ctx, id, change) })
}

func (k *recordingStore) LinkAccount(ctx context.Context, a *pintle.Account) error {
	return k.does("linkAccount", func() error { return k.Store.LinkAccount(ctx, a) })
}

func (k *recordingStore) CreateSession(ctx context.Context, s *pintle.StoredSession) error {
	return k.does("createSession", func() error { return k.Store.CreateSession(ctx, s) })
}

func (k *recordingStore) SessionAndUser(ctx context.Context, token string) (*pintle.StoredSession, *pintle.User, error) {
	if err := k.record("getSessionAndUser"); err != nil {
		return nil, nil, err
	}
	return k.Store.SessionAndUser(ctx, token)
}

func (k *recordingStore) UpdateSession(ctx context.Context, token string, change pintle.SessionUpdate) error {
	return k.does("updateSession", func() error { return k.Store.UpdateSession(ctx, token, change) })
}

func (k *recordingStore) DeleteSession(ctx context.Context, token string) (*pintle.StoredSession, error) {
	return asked(k, "deleteSession", func() (*pintle.StoredSession, error) { return k.Store.DeleteSession(ctx, token) })
}

func (k *recordingStore) CreateVerification(ctx context.Context, v *pintle.Verification) error {
	return k.does("createVerificationToken", func() error { return k.Store.CreateVerification(ctx, v) })
}

func (k *recordingStore) UseVerification(ctx context.Context, identifier, token string) (*pintle.Verification, error) {
	return asked(k, "useVerificationToken", func() (*pintle.Verification, error) {
		return k.Store.UseVerification(ctx, identifier, token)
	})
}

func (k *recordingStore) Account(ctx context.Context, provider, id string) (*pintle.Account, error) {
	return asked(k, "getAccount", func() (*pintle.Account, error) { return k.Store.Account(ctx, provider, id) })
}

func (k *recordingStore) UpdateAccount(ctx context.Context, a *pintle.Account) error {
	return k.does("updateAccount", func() error { return k.Store.UpdateAccount(ctx, a) })
}

func (k *recordingStore) SwapAccount(ctx context.Context, a *pintle.Account, old string) error {
	return k.does("swapAccount", func() error { return k.Store.SwapAccount(ctx, a, old) })
}

func (k *recordingStore) UserAccounts(ctx context.Context, userID string) ([]*pintle.Account, error) {
	return asked(k, "userAccounts", func() ([]*pintle.Account, error) { return k.Store.UserAccounts(ctx, userID) })
}

func (k *recordingStore) UnlinkAccount(ctx context.Context, userID, provider, id string, keepOneOf []*pintle.Account) error {
	return k.does("unlinkAccount", func() error { return k.Store.UnlinkAccount(ctx, userID, provider, id, keepOneOf) })
}

func (k *recordingStore) CreatePasskey(ctx context.Context, a *pintle.Passkey) error {
	return k.does("createAuthenticator", func() error { return k.Store.CreatePasskey(ctx, a) })
}

func (k *recordingStore) EndSession(ctx context.Context, userID, handle string) error {
	return k.does("endSession", func() error { return k.Store.EndSession(ctx, userID, handle) })
}

func (k *recordingStore) EndUserSessions(ctx context.Context, userID, except string) (int, error) {
	return asked(k, "endUserSessions", func() (int, error) { return k.Store.EndUserSessions(ctx, userID, except) })
}

func (k *recordingStore) DeleteUser(ctx context.Context, id string) error {
	return k.does("deleteUser", func() error { return k.Store.DeleteUser(ctx, id) })
}

// with makes the site use store and record its events in d.
func with(store pintle.Store, d *callLog, strategy pintle.SessionStrategy) func(*site) {
	return func(s *site) {
		s.Store, s.Session.Strategy = store, strategy
		s.writeEvents(d)
	}
}

// withRecordingStore makes the site keep its users and sessions in k.
func withRecordingStore(k *recordingTxStore, strategy pintle.SessionStrategy) func(*site) {
	return with(k, k.callLog, strategy)
}

// writeEvents records the events of the site in the call log.
func (s *site) writeEvents(d *callLog) {
	e := s.Events
	s.Events = pintle.Events{
		SignIn:      noting(d, "signIn", e.SignIn),
		SignOut:     noting(d, "signOut", e.SignOut),
		CreateUser:  noting(d, "createUser", e.CreateUser),
		UpdateUser:  noting(d, "updateUser", e.UpdateUser),
		LinkAccount: noting(d, "linkAccount", e.LinkAccount),
		Session:     noting(d, "session", e.Session),
	}
}

func noting[E any](d *callLog, name string, next func(context.Context, E) error) func(context.Context, E) error {
	return func(ctx context.Context, e E) error {
		d.note("event " + name)
		return next(ctx, e)
	}
}

// seedUser stores a user, unnoticed by the call log.
func (k *recordingStore) seedUser(t *testing.T, u pintle.User) *pintle.User {
	t.Helper()
	stored, err := k.Store.CreateUser(t.Context(), &u)
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

// seedAccount stores an account of a user, unnoticed by the call log.
func (k *recordingStore) seedAccount(t *testing.T, owner *pintle.User, provider, id string) {
	t.Helper()
	err := k.Store.LinkAccount(t.Context(), &pintle.Account{
		UserID: owner.ID, Type: pintle.TypeOIDC, Provider: provider, ProviderAccountID: id,
	})
	if err != nil {
		t.Fatal(err)
	}
}

// seedSession signs a user in with a session in the database, unnoticed by the
// call log, and returns its token.
func (k *recordingStore) seedSession(t *testing.T, owner *pintle.User, lasts time.Duration) string {
	t.Helper()
	s := &pintle.StoredSession{Token: "session-of-" + owner.ID + "-for-" + lasts.String(), UserID: owner.ID, Expires: time.Now().Add(lasts), Created: time.Now()}
	if err := k.Store.CreateSession(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return s.Token
}

// owner returns the owner of an account, or nil.
func (k *recordingStore) owner(t *testing.T, provider, id string) *pintle.User {
	t.Helper()
	u, err := k.Store.UserByAccount(t.Context(), provider, id)
	if err != nil && !errors.Is(err, pintle.ErrNotFound) {
		t.Fatal(err)
	}
	return u
}

// byEmail returns the user with an address, or nil.
func (k *recordingStore) byEmail(t *testing.T, email string) *pintle.User {
	t.Helper()
	u, err := k.Store.UserByEmail(t.Context(), email)
	if err != nil && !errors.Is(err, pintle.ErrNotFound) {
		t.Fatal(err)
	}
	return u
}

// sessions counts the sessions of a user.
func (k *recordingStore) sessions(t *testing.T, userID string) int {
	t.Helper()
	return count(t, k.UserSessions(t.Context(), userID))
}

func count[T any](t *testing.T, all iter.Seq2[T, error]) (n int) {
	t.Helper()
	for _, err := range all {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}
