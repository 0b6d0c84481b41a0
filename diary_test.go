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

// A diary is what happened in a site, in order: what the store was asked for, by
// the names Auth.js has for it, and every event after the word "event".
type diary struct {
	mu      sync.Mutex
	entries []string

	// failing are the operations that fail, and what they fail with.
	failing map[string]error

	// before is called before an operation, without a lock.
	before func(operation string)
}

func (d *diary) note(entry string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries = append(d.entries, entry)
}

// asked notes an operation, and returns what it has to fail with.
func (d *diary) asked(operation string) error {
	if d.before != nil {
		d.before(operation)
	}
	d.note(operation)
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failing[operation]
}

// fail makes operations fail from now on.
func (d *diary) fail(operations ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failing = map[string]error{}
	for _, operation := range operations {
		d.failing[operation] = errBroken
	}
}

// read returns the entries so far, and begins anew.
func (d *diary) read() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	entries := d.entries
	d.entries = nil
	return entries
}

// reads fails the test unless the diary holds these entries, and begins anew.
func (d *diary) reads(t *testing.T, want ...string) {
	t.Helper()
	if got := d.read(); !slices.Equal(got, want) {
		t.Errorf("the diary reads\n\t%s\nwant\n\t%s", strings.Join(got, ", "), strings.Join(want, ", "))
	}
}

// A keeper is a store in memory that keeps a diary. It has no transactions.
type keeper struct {
	pintle.Store
	*diary
}

// A txKeeper is a keeper with transactions.
type txKeeper struct {
	*keeper
	tx pintle.Store
}

// newKeeper returns an empty store and its diary.
func newKeeper() *txKeeper {
	memory := memstore.New()
	return &txKeeper{&keeper{sequential{memory}, &diary{}}, memory}
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

// A plainKeeper is a store that can do what mail and database sessions need and
// nothing beyond.
type plainKeeper struct {
	unable
	plain
}

func (plainKeeper) Features() pintle.Features {
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

func (k *txKeeper) Features() pintle.Features { return k.tx.Features() }

// InTx notes how a transaction ends.
func (k *txKeeper) InTx(ctx context.Context, f func(pintle.Store) error) error {
	if err := k.asked("begin"); err != nil {
		return err
	}
	err := k.tx.InTx(ctx, func(s pintle.Store) error {
		if err := f(&keeper{s, k.diary}); err != nil {
			return err
		}
		return k.asked("commit")
	})
	if err != nil {
		k.note("rollback")
	}
	return err
}

func asked[T any](k *keeper, operation string, run func() (T, error)) (result T, err error) {
	if err := k.asked(operation); err != nil {
		return result, err
	}
	return run()
}

func (k *keeper) does(operation string, run func() error) error {
	if err := k.asked(operation); err != nil {
		return err
	}
	return run()
}

func (k *keeper) CreateUser(ctx context.Context, u *pintle.User) (*pintle.User, error) {
	return asked(k, "createUser", func() (*pintle.User, error) { return k.Store.CreateUser(ctx, u) })
}

func (k *keeper) User(ctx context.Context, id string) (*pintle.User, error) {
	return asked(k, "getUser", func() (*pintle.User, error) { return k.Store.User(ctx, id) })
}

func (k *keeper) UserByEmail(ctx context.Context, email string) (*pintle.User, error) {
	return asked(k, "getUserByEmail", func() (*pintle.User, error) { return k.Store.UserByEmail(ctx, email) })
}

func (k *keeper) UserByAccount(ctx context.Context, provider, id string) (*pintle.User, error) {
	return asked(k, "getUserByAccount", func() (*pintle.User, error) { return k.Store.UserByAccount(ctx, provider, id) })
}

func (k *keeper) UpdateUser(ctx context.Context, id string, change pintle.UserUpdate) (*pintle.User, error) {
	return asked(k, "updateUser", func() (*pintle.User, error) { return k.Store.UpdateUser(ctx, id, change) })
}

func (k *keeper) LinkAccount(ctx context.Context, a *pintle.Account) error {
	return k.does("linkAccount", func() error { return k.Store.LinkAccount(ctx, a) })
}

func (k *keeper) CreateSession(ctx context.Context, s *pintle.StoredSession) error {
	return k.does("createSession", func() error { return k.Store.CreateSession(ctx, s) })
}

func (k *keeper) SessionAndUser(ctx context.Context, token string) (*pintle.StoredSession, *pintle.User, error) {
	if err := k.asked("getSessionAndUser"); err != nil {
		return nil, nil, err
	}
	return k.Store.SessionAndUser(ctx, token)
}

func (k *keeper) UpdateSession(ctx context.Context, token string, change pintle.SessionUpdate) error {
	return k.does("updateSession", func() error { return k.Store.UpdateSession(ctx, token, change) })
}

func (k *keeper) DeleteSession(ctx context.Context, token string) (*pintle.StoredSession, error) {
	return asked(k, "deleteSession", func() (*pintle.StoredSession, error) { return k.Store.DeleteSession(ctx, token) })
}

func (k *keeper) CreateVerification(ctx context.Context, v *pintle.Verification) error {
	return k.does("createVerificationToken", func() error { return k.Store.CreateVerification(ctx, v) })
}

func (k *keeper) UseVerification(ctx context.Context, identifier, token string) (*pintle.Verification, error) {
	return asked(k, "useVerificationToken", func() (*pintle.Verification, error) {
		return k.Store.UseVerification(ctx, identifier, token)
	})
}

func (k *keeper) Account(ctx context.Context, provider, id string) (*pintle.Account, error) {
	return asked(k, "getAccount", func() (*pintle.Account, error) { return k.Store.Account(ctx, provider, id) })
}

func (k *keeper) UpdateAccount(ctx context.Context, a *pintle.Account) error {
	return k.does("updateAccount", func() error { return k.Store.UpdateAccount(ctx, a) })
}

func (k *keeper) UserAccounts(ctx context.Context, userID string) ([]*pintle.Account, error) {
	return asked(k, "userAccounts", func() ([]*pintle.Account, error) { return k.Store.UserAccounts(ctx, userID) })
}

func (k *keeper) UnlinkAccount(ctx context.Context, userID, provider, id string, keepOneOf []*pintle.Account) error {
	return k.does("unlinkAccount", func() error { return k.Store.UnlinkAccount(ctx, userID, provider, id, keepOneOf) })
}

func (k *keeper) CreatePasskey(ctx context.Context, a *pintle.Passkey) error {
	return k.does("createAuthenticator", func() error { return k.Store.CreatePasskey(ctx, a) })
}

func (k *keeper) EndSession(ctx context.Context, userID, handle string) error {
	return k.does("endSession", func() error { return k.Store.EndSession(ctx, userID, handle) })
}

func (k *keeper) EndUserSessions(ctx context.Context, userID, except string) (int, error) {
	return asked(k, "endUserSessions", func() (int, error) { return k.Store.EndUserSessions(ctx, userID, except) })
}

func (k *keeper) DeleteUser(ctx context.Context, id string) error {
	return k.does("deleteUser", func() error { return k.Store.DeleteUser(ctx, id) })
}

// with makes the site keep its users and sessions in store, whose diary it
// writes its events into.
func with(store pintle.Store, d *diary, strategy pintle.SessionStrategy) func(*site) {
	return func(s *site) {
		s.Store, s.Session.Strategy = store, strategy
		s.writeEvents(d)
	}
}

// withKeeper makes the site keep its users and sessions in k.
func withKeeper(k *txKeeper, strategy pintle.SessionStrategy) func(*site) {
	return with(k, k.diary, strategy)
}

// writeEvents notes events in the diary, too.
func (s *site) writeEvents(d *diary) {
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

func noting[E any](d *diary, name string, next func(context.Context, E) error) func(context.Context, E) error {
	return func(ctx context.Context, e E) error {
		d.note("event " + name)
		return next(ctx, e)
	}
}

// seedUser stores a user, unnoticed by the diary.
func (k *keeper) seedUser(t *testing.T, u pintle.User) *pintle.User {
	t.Helper()
	stored, err := k.Store.CreateUser(t.Context(), &u)
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

// seedAccount stores an account of a user, unnoticed by the diary.
func (k *keeper) seedAccount(t *testing.T, owner *pintle.User, provider, id string) {
	t.Helper()
	err := k.Store.LinkAccount(t.Context(), &pintle.Account{
		UserID: owner.ID, Type: pintle.TypeOIDC, Provider: provider, ProviderAccountID: id,
	})
	if err != nil {
		t.Fatal(err)
	}
}

// seedSession signs a user in with a session in the database, unnoticed by the
// diary, and returns its token.
func (k *keeper) seedSession(t *testing.T, owner *pintle.User, lasts time.Duration) string {
	t.Helper()
	s := &pintle.StoredSession{Token: "session-of-" + owner.ID + "-for-" + lasts.String(), UserID: owner.ID, Expires: time.Now().Add(lasts), Created: time.Now()}
	if err := k.Store.CreateSession(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return s.Token
}

// owner returns the owner of an account, or nil.
func (k *keeper) owner(t *testing.T, provider, id string) *pintle.User {
	t.Helper()
	u, err := k.Store.UserByAccount(t.Context(), provider, id)
	if err != nil && !errors.Is(err, pintle.ErrNotFound) {
		t.Fatal(err)
	}
	return u
}

// byEmail returns the user with an address, or nil.
func (k *keeper) byEmail(t *testing.T, email string) *pintle.User {
	t.Helper()
	u, err := k.Store.UserByEmail(t.Context(), email)
	if err != nil && !errors.Is(err, pintle.ErrNotFound) {
		t.Fatal(err)
	}
	return u
}

// sessions counts the sessions of a user.
func (k *keeper) sessions(t *testing.T, userID string) int {
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
