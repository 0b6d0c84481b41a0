package xatastore

import (
	"context"
	"errors"

	"github.com/pintleauth/pintle"
)

// UnlinkAccount implements [pintle.Store], in one transaction. The
// condition that another account stays is an update in it that changes nothing:
// the service refuses it when the record that links that account is gone, or was
// a condition of another call since it was read.
func (s *Store) UnlinkAccount(ctx context.Context, userID, provider, providerAccountID string, keepOneOf []*pintle.Account) error {
	// Each time round another call for the user went through, and each of them
	// leaves one account less.
	for range len(keepOneOf) + attempts {
		again, err := s.unlink(ctx, userID, provider, providerAccountID, keepOneOf)
		if !again || ctx.Err() != nil {
			return fail(ctx, "unlink account", err)
		}
	}
	return fail(ctx, "unlink account", errors.New("the service refused every attempt"))
}

const attempts = 5

// unlink tries once, and reports whether another call was in the way.
func (s *Store) unlink(ctx context.Context, userID, provider, accountID string, keepOneOf []*pintle.Account) (again bool, err error) {
	found, err := s.find(ctx, provider, accountID)
	if err == nil && found.owned.UserID != userID {
		err = pintle.ErrNotFound
	}
	if err != nil {
		return false, err
	}
	var operations []operation
	if keepOneOf != nil {
		kept, err := s.keepOneOf(ctx, found, keepOneOf)
		if err != nil {
			return false, err
		}
		operations = append(operations, kept)
	}
	passkey, err := s.passkeyOf(ctx, found.owned)
	if err != nil {
		return false, err
	}
	if passkey != "" {
		operations = append(operations, remove(s.names.passkeys, passkey))
	}
	// The account's own record goes only with the join record: when that is
	// gone, another user may have linked the account meanwhile.
	operations = append(operations, removeExisting(s.names.userAccounts, found.join), remove(s.names.accounts, found.record))
	_, err = s.client.transaction(ctx, operations...)
	no := refused(err)
	if no == nil {
		return false, err
	}
	there, look := s.client.read(ctx, s.names.userAccounts, found.join)
	switch {
	case look != nil:
		return false, errors.Join(err, look)
	case there == nil && no.maybeDone:
		return false, nil // done by the attempt that got no answer
	case there == nil:
		return false, pintle.ErrNotFound
	}
	return keepOneOf != nil, err
}

// keepOneOf returns the condition that one of accounts, other than the one that
// is removed, stays with its user. It fails with ErrConflict when none does.
func (s *Store) keepOneOf(ctx context.Context, removed links, accounts []*pintle.Account) (operation, error) {
	// Calls for one user that all keep the same account refuse one another. The
	// random id of what a call removes decides where it begins to look.
	start := int(removed.join[len(removed.join)-1])
	for i := range accounts {
		a := accounts[(start+i)%len(accounts)]
		kept, err := s.find(ctx, a.Provider, a.ProviderAccountID)
		if errors.Is(err, pintle.ErrNotFound) || err == nil && (kept.owned.UserID != removed.owned.UserID || kept.join == removed.join) {
			continue
		}
		if err != nil {
			return nil, err
		}
		join, err := s.client.read(ctx, s.names.userAccounts, kept.join)
		if err != nil {
			return nil, err
		}
		if join == nil {
			continue
		}
		version, err := join.version()
		return updateVersion(s.names.userAccounts, kept.join, version, record{"user": removed.owned.UserID}), err
	}
	return nil, pintle.ErrConflict
}

// passkeyOf returns the id of the record of the passkey that belongs to an
// account, or "".
func (s *Store) passkeyOf(ctx context.Context, a *pintle.Account) (string, error) {
	if !s.client.Extended || a.Type != pintle.TypeWebAuthn {
		return "", nil
	}
	passkey, r, err := s.passkey(ctx, a.ProviderAccountID)
	if errors.Is(err, pintle.ErrNotFound) || err == nil && passkey.UserID != a.UserID {
		return "", nil
	}
	return r.id(), err
}
