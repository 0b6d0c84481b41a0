package pintle

import (
	"context"
	"errors"
	"fmt"
)

// RemovePasskey removes a passkey of a user, and the account that lets it sign
// in: for a page on which people see to the passkeys they have, which
// [AuthenticatorStore].UserAuthenticators lists. The error matches
// [ErrNotFound] when the user has no such passkey, whoever else has it. Sessions
// that were begun with it go on; see [Auth.SignOutEverywhere].
//
// The store must be an [AuthenticatorDeleter] and an [AccountStore]. userID is
// that of the session, and never one from the request.
func (a *Auth) RemovePasskey(ctx context.Context, userID, credentialID string) error {
	s := a.fixed
	if s == nil || s.records == nil {
		return fail(ErrConfiguration, errors.New("RemovePasskey needs the fixed configuration of New with a Config.Store"))
	}
	for _, part := range []struct {
		name string
		has  bool
	}{
		{"AuthenticatorDeleter", implements[AuthenticatorDeleter](s.Store)},
		{"AccountStore", implements[AccountStore](s.Store)},
	} {
		if !part.has {
			return fail(codeMissingAdapterMethods, fmt.Errorf("RemovePasskey needs a store that implements pintle.%s, which %T does not", part.name, s.Store))
		}
	}
	remove := func(store Store) error { return s.removePasskey(ctx, store, userID, credentialID) }
	if s.records.tx != nil {
		return storeError("transaction", s.records.tx.InTx(ctx, remove))
	}
	return remove(s.Store)
}

func implements[T any](store Store) bool {
	_, ok := store.(T)
	return ok
}

func (s *settings) removePasskey(ctx context.Context, store Store, userID, credentialID string) error {
	// The passkey first: without it nobody signs in, whatever happens next.
	if err := store.(AuthenticatorDeleter).DeleteAuthenticator(ctx, userID, credentialID); err != nil {
		return storeError("deleteAuthenticator", err)
	}
	for _, p := range s.providers {
		if p.passkey == nil {
			continue
		}
		err := store.(AccountStore).UnlinkAccount(ctx, userID, p.id, credentialID)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return storeError("unlinkAccount", err)
		}
	}
	return nil
}
