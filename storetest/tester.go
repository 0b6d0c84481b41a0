package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/uuid"
)

// patience is how long a check may take: a store that waits for itself fails
// instead of hanging.
const patience = time.Minute

// A tester is what one check works with.
type tester struct {
	testing.TB
	ctx    context.Context // a check is one call
	store  pintle.Store
	limits []Limit
}

func newTester(t testing.TB, s pintle.Store, limits []Limit) *tester {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return &tester{TB: t, ctx: ctx, store: s, limits: limits}
}

// optional returns the store as one of the optional interfaces, or skips.
func optional[T any](t *tester, name string) T {
	t.Helper()
	s, ok := t.store.(T)
	if !ok {
		t.Skipf("%T does not implement pintle.%s", t.store, name)
	}
	return s
}

func (t *tester) sessions() pintle.SessionStore {
	t.Helper()
	return optional[pintle.SessionStore](t, "SessionStore")
}

func (t *tester) verifications() pintle.VerificationStore {
	t.Helper()
	return optional[pintle.VerificationStore](t, "VerificationStore")
}

func (t *tester) authenticators() pintle.AuthenticatorStore {
	t.Helper()
	s := optional[pintle.AuthenticatorStore](t, "AuthenticatorStore")
	if !t.keepsPasskeys() {
		t.Skip("the store has no table for passkeys")
	}
	return s
}

func (t *tester) keepsPasskeys() bool {
	s, ok := t.store.(pintle.AuthenticatorStore)
	if !ok {
		return false
	}
	_, err := s.Authenticator(t.ctx, unique())
	return !errors.Is(err, errors.ErrUnsupported)
}

func (t *tester) manager() pintle.AuthenticatorManager {
	t.Helper()
	t.authenticators()
	return optional[pintle.AuthenticatorManager](t, "AuthenticatorManager")
}

// namesPasskeys reports whether the store has room for what Auth.js does not
// know of a passkey.
func (t *tester) namesPasskeys() bool {
	s, ok := t.store.(pintle.AuthenticatorManager)
	if !ok || !t.keepsPasskeys() {
		return false
	}
	err := s.RenameAuthenticator(t.ctx, uuid.New(), unique(), "Unknown key")
	return !errors.Is(err, errors.ErrUnsupported)
}

func (t *tester) accounts() pintle.AccountStore {
	t.Helper()
	return optional[pintle.AccountStore](t, "AccountStore")
}

func (t *tester) lister() pintle.SessionLister {
	t.Helper()
	return optional[pintle.SessionLister](t, "SessionLister")
}

func (t *tester) deleter() pintle.UserDeleter {
	t.Helper()
	return optional[pintle.UserDeleter](t, "UserDeleter")
}

func (t *tester) sweeper() pintle.Sweeper {
	t.Helper()
	return optional[pintle.Sweeper](t, "Sweeper")
}

func (t *tester) transactions() pintle.TxStore {
	t.Helper()
	return optional[pintle.TxStore](t, "TxStore")
}

// ok ends the check when something failed that has to work.
func (t *tester) ok(what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// notFound reports an answer other than ErrNotFound.
func (t *tester) notFound(what string, err error) {
	t.Helper()
	if !errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("%s: got error %v, want pintle.ErrNotFound", what, err)
	}
	if errors.Is(err, pintle.ErrConflict) {
		t.Errorf("%s: %v is pintle.ErrConflict too", what, err)
	}
}

// conflict reports an answer other than ErrConflict.
func (t *tester) conflict(what string, err error) {
	t.Helper()
	if !errors.Is(err, pintle.ErrConflict) {
		t.Errorf("%s: got error %v, want pintle.ErrConflict", what, err)
	}
	if errors.Is(err, pintle.ErrNotFound) {
		t.Errorf("%s: %v is pintle.ErrNotFound too", what, err)
	}
}

// same reports two descriptions that differ.
func (t *tester) same(what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}
