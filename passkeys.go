package pintle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxPasskeyName is the most characters of a passkey's name.
const maxPasskeyName = 64

// Passkeys returns the passkeys of a user, the newest last, for a page on which
// people see to them. userID is that of the session, and never one from the
// request. The store must be an [AuthenticatorStore].
func (a *Auth) Passkeys(ctx context.Context, userID string) ([]*Authenticator, error) {
	store, err := storeFor[AuthenticatorStore](a, "Passkeys", "AuthenticatorStore")
	if err != nil {
		return nil, err
	}
	passkeys, err := store.UserAuthenticators(ctx, userID)
	slices.SortFunc(passkeys, func(a, b *Authenticator) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.CredentialID, b.CredentialID))
	})
	return passkeys, storeError("listAuthenticatorsByUserId", err)
}

// RenamePasskey gives a passkey of a user another name. A name has at most 64
// characters, none of them a control character; an empty one takes the name
// away.
//
// The error matches [ErrNotFound] when the user has no such passkey, whoever
// else has it, and [errors.ErrUnsupported] when the store has no room for names.
// The store must be an [AuthenticatorManager]. userID is that of the session,
// and never one from the request.
func (a *Auth) RenamePasskey(ctx context.Context, userID, credentialID, name string) error {
	manager, err := storeFor[AuthenticatorManager](a, "RenamePasskey", "AuthenticatorManager")
	if err != nil {
		return err
	}
	switch {
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return errors.New("RenamePasskey: the name is not UTF-8, or has a control character: take only what a person can have typed")
	case utf8.RuneCountInString(name) > maxPasskeyName:
		return fmt.Errorf("RenamePasskey: the name has more than %d characters: check its length before", maxPasskeyName)
	}
	return storeError("renameAuthenticator", manager.RenameAuthenticator(ctx, userID, credentialID, name))
}

// RemovePasskey removes a passkey of a user, and the account that lets it sign
// in. The error matches [ErrNotFound] when the user has no such passkey, whoever
// else has it. It may be their last way to sign in, which [Auth.Unlink] refuses
// to remove. Sessions that were begun with it go on; see
// [Auth.SignOutEverywhere].
//
// The store must be an [AuthenticatorManager] and an [AccountStore]. userID is
// that of the session, and never one from the request.
func (a *Auth) RemovePasskey(ctx context.Context, userID, credentialID string) error {
	_, err := storeFor[AuthenticatorManager](a, "RemovePasskey", "AuthenticatorManager")
	if err == nil {
		_, err = storeFor[AccountStore](a, "RemovePasskey", "AccountStore")
	}
	if err != nil {
		return err
	}
	s := a.fixed
	remove := func(store Store) error { return s.removePasskey(ctx, store, userID, credentialID) }
	if s.records.tx != nil {
		return storeError("transaction", s.records.tx.InTx(ctx, remove))
	}
	return remove(s.Store)
}

// storeFor returns the store as the interface that a method of the host needs.
func storeFor[T any](a *Auth, method, name string) (T, error) {
	var none T
	if a.fixed == nil || a.fixed.records == nil {
		return none, fail(ErrConfiguration, fmt.Errorf("%s needs the fixed configuration of New with a Config.Store", method))
	}
	store, ok := a.fixed.Store.(T)
	if !ok {
		return none, fail(codeMissingAdapterMethods, fmt.Errorf("%s needs a store that implements pintle.%s, which %T does not", method, name, a.fixed.Store))
	}
	return store, nil
}

func (s *settings) removePasskey(ctx context.Context, store Store, userID, credentialID string) error {
	// The passkey first: without it nobody signs in, whatever happens next.
	if err := store.(AuthenticatorManager).DeleteAuthenticator(ctx, userID, credentialID); err != nil {
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
