package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
)

// checkTimeout is how long a check may take: a store that waits for itself fails
// instead of hanging.
const checkTimeout = time.Minute

// A tester is what one check works with.
type tester struct {
	testing.TB
	ctx    context.Context // a check is one call
	store  pintle.Store
	can    pintle.Features
	limits []Limit
}

func newTester(t testing.TB, s pintle.Store, limits []Limit) *tester {
	ctx, cancel := context.WithTimeout(t.Context(), checkTimeout)
	t.Cleanup(cancel)
	return &tester{TB: t, ctx: ctx, store: s, can: s.Features(), limits: limits}
}

// needs skips a check of a feature that the store does not have.
func (t *tester) needs(has bool, feature string) pintle.Store {
	t.Helper()
	if !has {
		t.Skipf("%T does not have pintle.Features.%s", t.store, feature)
	}
	return t.store
}

func (t *tester) accounts() pintle.Store {
	t.Helper()
	return t.needs(t.can.Accounts, "Accounts")
}

func (t *tester) sessions() pintle.Store {
	t.Helper()
	return t.needs(t.can.Sessions, "Sessions")
}

func (t *tester) lister() pintle.Store {
	t.Helper()
	return t.needs(t.can.SessionList, "SessionList")
}

func (t *tester) verifications() pintle.Store {
	t.Helper()
	return t.needs(t.can.Verifications, "Verifications")
}

func (t *tester) passkeys() pintle.Store {
	t.Helper()
	return t.needs(t.can.Passkeys, "Passkeys")
}

func (t *tester) namedPasskeys() pintle.Store {
	t.Helper()
	return t.needs(t.can.PasskeyNames, "PasskeyNames")
}

func (t *tester) deleter() pintle.Store {
	t.Helper()
	return t.needs(t.can.DeleteUser, "DeleteUser")
}

func (t *tester) sweeper() pintle.Store {
	t.Helper()
	return t.needs(t.can.Sweep, "Sweep")
}

func (t *tester) transactions() pintle.Store {
	t.Helper()
	return t.needs(t.can.Transactions, "Transactions")
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
