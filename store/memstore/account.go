package memstore

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"

	"github.com/pintleauth/pintle"
)

type accountKey struct{ provider, id string }

type account struct {
	row   pintle.Account // without SessionState and Extra
	state jsonText
	extra jsonText
	owner *user
}

func newAccount(a *pintle.Account) (*account, error) {
	state, err := encodeValue(a.SessionState)
	if err != nil {
		return nil, fmt.Errorf("encode SessionState: %w", err)
	}
	extra, err := encode(a.Extra)
	if err != nil {
		return nil, fmt.Errorf("encode Extra: %w", err)
	}
	made := &account{row: *a, state: state, extra: extra}
	made.row.SessionState, made.row.Extra = nil, nil
	return made, nil
}

func (a *account) key() accountKey { return accountKey{a.row.Provider, a.row.ProviderAccountID} }

func (a *account) copy() *pintle.Account {
	c := a.row
	c.SessionState, c.Extra = a.state.decodeValue(), a.extra.decode()
	return &c
}

// LinkAccount implements [pintle.Store].
func (r records) LinkAccount(ctx context.Context, a *pintle.Account) error {
	linked, err := newAccount(a)
	if err != nil {
		return fmt.Errorf("memstore: link account: %w", err)
	}
	if err := r.write(ctx); err != nil {
		return err
	}
	defer r.writeDone()
	linked.row.ID, linked.owner = rand.Text(), r.users.get(a.UserID)
	if r.accounts[linked.key()] != nil {
		return fmt.Errorf("memstore: link account: %w", pintle.ErrConflict)
	}
	if linked.owner == nil {
		return fmt.Errorf("memstore: link account: the user: %w", pintle.ErrNotFound)
	}
	r.addAccount(linked)
	r.undo(func() { r.removeAccount(linked) })
	return nil
}

func (r records) addAccount(a *account) {
	r.accounts[a.key()] = a
	more := a.owner.gets()
	more.accounts = append(more.accounts, a)
}

func (r records) removeAccount(a *account) {
	delete(r.accounts, a.key())
	more := a.owner.gets()
	more.accounts = slices.DeleteFunc(more.accounts, func(other *account) bool { return other == a })
}

func (r records) deleteAccount(a *account) {
	r.removeAccount(a)
	r.undo(func() { r.addAccount(a) })
}

// Account implements [pintle.Store].
func (r records) Account(ctx context.Context, provider, providerAccountID string) (*pintle.Account, error) {
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	defer r.readDone()
	a := r.accounts[accountKey{provider, providerAccountID}]
	if a == nil {
		return nil, pintle.ErrNotFound
	}
	return a.copy(), nil
}

// UserAccounts implements [pintle.Store]. The accounts are in the order
// in which they were linked.
func (r records) UserAccounts(ctx context.Context, userID string) ([]*pintle.Account, error) {
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	defer r.readDone()
	owner := r.users.get(userID)
	if owner == nil {
		return nil, nil
	}
	accounts := make([]*pintle.Account, len(owner.has().accounts))
	for i, a := range owner.has().accounts {
		accounts[i] = a.copy()
	}
	return accounts, nil
}

// UpdateAccount implements [pintle.Store].
func (r records) UpdateAccount(ctx context.Context, a *pintle.Account) error {
	return r.updateAccount(ctx, "update account", a, nil)
}

// SwapAccount implements [pintle.Store].
func (r records) SwapAccount(ctx context.Context, a *pintle.Account, old string) error {
	return r.updateAccount(ctx, "swap account", a, &old)
}

// updateAccount replaces the tokens of an account, unless old is not nil and not its
// refresh token.
func (r records) updateAccount(ctx context.Context, operation string, a *pintle.Account, old *string) error {
	change, err := newAccount(a)
	if err != nil {
		return fmt.Errorf("memstore: %s: %w", operation, err)
	}
	if err := r.write(ctx); err != nil {
		return err
	}
	defer r.writeDone()
	linked := r.accounts[accountKey{a.Provider, a.ProviderAccountID}]
	switch {
	case linked == nil:
		return pintle.ErrNotFound
	case old != nil && linked.row.RefreshToken != *old:
		return fmt.Errorf("memstore: %s: the refresh token is another: %w", operation, pintle.ErrConflict)
	}
	before := *linked
	r.undo(func() { *linked = before })
	linked.row, linked.state, linked.extra = change.row, change.state, change.extra
	linked.row.ID, linked.row.UserID, linked.row.Type = before.row.ID, before.row.UserID, before.row.Type
	linked.row.VerifiedEmail = before.row.VerifiedEmail
	return nil
}

// UnlinkAccount implements [pintle.Store].
func (r records) UnlinkAccount(ctx context.Context, userID, provider, providerAccountID string, keepOneOf []*pintle.Account) error {
	if err := r.write(ctx); err != nil {
		return err
	}
	defer r.writeDone()
	a := r.accounts[accountKey{provider, providerAccountID}]
	if a == nil || a.row.UserID != userID {
		return pintle.ErrNotFound
	}
	if keepOneOf != nil && !r.keepsOneOf(a, keepOneOf) {
		return fmt.Errorf("memstore: unlink account: no account to keep is linked: %w", pintle.ErrConflict)
	}
	if passkey := r.authenticators[providerAccountID]; a.row.Type == pintle.TypeWebAuthn && passkey != nil && passkey.UserID == userID {
		r.deletePasskey(passkey)
	}
	r.deleteAccount(a)
	return nil
}

// keepsOneOf reports whether the owner of an account has one of others too.
func (r records) keepsOneOf(a *account, others []*pintle.Account) bool {
	return slices.ContainsFunc(others, func(other *pintle.Account) bool {
		kept := r.accounts[accountKey{other.Provider, other.ProviderAccountID}]
		return kept != nil && kept != a && kept.owner == a.owner
	})
}
