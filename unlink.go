package pintle

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Accounts returns the accounts that are linked to the user of a session, for
// an account page. They are without their tokens, which [Auth.Account] returns.
// The store must be an [AccountStore].
//
// To link another one, the person signs in with its provider while they are
// signed in: with a form that is posted to the provider's sign-in route, or by
// [Auth.SignIn]. [Pages.Account] is where they come back to if that fails.
func (a *Auth) Accounts(ctx context.Context, s *Session) ([]*Account, error) {
	_, store, err := a.accountsOf(ctx, "Accounts", s)
	if err != nil {
		return nil, err
	}
	stored, err := store.UserAccounts(ctx, s.User.ID)
	if err != nil {
		return nil, storeError("userAccounts", err)
	}
	accounts := make([]*Account, len(stored))
	for i, with := range stored {
		accounts[i] = &Account{UserID: with.UserID, Type: with.Type, Provider: with.Provider, ProviderAccountID: with.ProviderAccountID, Scope: with.Scope}
	}
	return accounts, nil
}

// Unlink removes an account of the user of s, which signs them in no longer.
// The error matches [ErrNotFound] when the user has no such account, whoever
// else has it, and [ErrLastSignIn] when they could not sign in without it.
//
// They can with another account at a provider of this configuration; by mail,
// if there is an [Email] provider and a mail has verified their address; and
// where a [Credentials] provider knows them, see [Credentials.Knows]. A passkey
// is removed with its account.
//
// Sessions that were begun with the account go on; see [Auth.EndOtherDevices].
// No event tells of it. The store must be an [AccountStore].
func (a *Auth) Unlink(ctx context.Context, s *Session, provider, providerAccountID string) error {
	set, _, err := a.accountsOf(ctx, "Unlink", s)
	if err != nil {
		return err
	}
	// The host's answer comes before the transaction, during which its database
	// may have no connection for it.
	known, err := set.knownOtherwise(ctx, s.User.ID)
	if err != nil {
		return err
	}
	unlink := func(store Store) error {
		return set.unlink(ctx, store, &Account{UserID: s.User.ID, Provider: provider, ProviderAccountID: providerAccountID}, known)
	}
	// A store without transactions may let both of two accounts go that are
	// unlinked in the same moment. Both were asked for.
	if set.records.tx == nil {
		return unlink(set.Store)
	}
	err = set.records.tx.InTx(ctx, unlink)
	if err != nil && isClassified(err) {
		return err
	}
	return storeError("transaction", err)
}

// accountsOf returns the configuration and the store for a method that somebody
// who is signed in may use on their accounts.
func (a *Auth) accountsOf(ctx context.Context, method string, s *Session) (*settings, AccountStore, error) {
	set, err := a.ofPerson(ctx, method, s)
	if err != nil {
		return nil, nil, err
	}
	store, err := storeFor[AccountStore](set, method, "AccountStore")
	return set, store, err
}

// knownOtherwise reports whether a user can sign in without any account: by
// mail, or in a way that the host knows of.
func (s *settings) knownOtherwise(ctx context.Context, userID string) (bool, error) {
	user, err := s.Store.User(ctx, userID)
	if err != nil {
		return false, storeError("getUser", err)
	}
	for _, p := range s.providers {
		switch {
		case p.email != nil && user.Email != "" && !user.EmailVerified.IsZero():
			return true, nil
		case p.credentials != nil && p.credentials.Knows != nil:
			known, err := p.credentials.Knows(ctx, user.clone())
			if err != nil {
				return false, &Error{Code: ErrConfiguration, Provider: p.id, Err: fmt.Errorf("Credentials.Knows: %w", err)}
			}
			if known {
				return true, nil
			}
		}
	}
	return false, nil
}

func (s *settings) unlink(ctx context.Context, store Store, account *Account, known bool) error {
	accounts := store.(AccountStore)
	linked, err := accounts.UserAccounts(ctx, account.UserID)
	if err != nil {
		return storeError("userAccounts", err)
	}
	others := slices.DeleteFunc(slices.Clone(linked), func(other *Account) bool {
		return other.Provider == account.Provider && other.ProviderAccountID == account.ProviderAccountID
	})
	if len(others) == len(linked) {
		return ErrNotFound
	}
	for i := 0; i < len(others) && !known; i++ {
		if known, err = s.signsIn(ctx, store, others[i]); err != nil {
			return err
		}
	}
	if !known {
		return &Error{Code: ErrLastSignIn, Provider: account.Provider, Err: errors.New("Unlink: the user has no other way to sign in")}
	}
	if manager, ok := store.(AuthenticatorManager); ok && s.isPasskey(account) {
		// The passkey first: without it nobody signs in, whatever happens next.
		err := manager.DeleteAuthenticator(ctx, account.UserID, account.ProviderAccountID)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return storeError("deleteAuthenticator", err)
		}
	}
	return storeError("unlinkAccount", accounts.UnlinkAccount(ctx, account.UserID, account.Provider, account.ProviderAccountID))
}

// signsIn reports whether an account lets its user in: its provider is there,
// and so is the passkey if it is one's account. Auth.js may leave an account
// behind whose passkey was never stored.
func (s *settings) signsIn(ctx context.Context, store Store, account *Account) (bool, error) {
	if !s.isPasskey(account) {
		return s.byID[account.Provider] != nil, nil
	}
	key, err := store.(AuthenticatorStore).Authenticator(ctx, account.ProviderAccountID)
	key, err = found(key, "getAuthenticator", err)
	return key != nil, err
}

func (s *settings) isPasskey(account *Account) bool {
	p := s.byID[account.Provider]
	return p != nil && p.passkey != nil
}
