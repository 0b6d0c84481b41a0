package pintle

import (
	"context"
	"errors"
	"slices"
)

// Accounts returns the accounts that are linked to the user of a session, for
// an account page. They are without their tokens, which [Auth.Account] returns.
// The store needs [Features.Accounts].
//
// To link another account, a signed-in user signs in with its provider: with a
// form that is posted to the provider's sign-in route, or by [Auth.SignIn]. If
// that fails, the user returns to [Pages.Account].
func (a *Auth) Accounts(ctx context.Context, s *Session) (accounts []*Account, err error) {
	defer a.logFailed(ctx, "Accounts", &err)
	_, store, err := a.accountsOf(ctx, "Accounts", s)
	if err != nil {
		return nil, err
	}
	stored, err := store.userAccounts(ctx, s.User.ID)
	if err != nil {
		return nil, err
	}
	accounts = make([]*Account, len(stored))
	for i, with := range stored {
		accounts[i] = &Account{ID: with.ID, UserID: with.UserID, Type: with.Type, Provider: with.Provider, ProviderAccountID: with.ProviderAccountID, Scope: with.Scope}
	}
	return accounts, nil
}

// Unlink removes an account of the user of s, who can no longer sign in with
// it. The error matches [ErrNotFound] when the user has no such account, also
// if another user has it, and [CodeLastSignIn] when the user could not sign in
// without it. Of requests that remove the last accounts at the same time one
// gets CodeLastSignIn.
//
// A user can sign in with another account at a provider of this configuration;
// by mail, if there is an [Email] provider and a mail has verified their
// address; and with a [Credentials] provider that knows them, see
// [Credentials.CanSignIn]. A passkey is removed with its account.
//
// Sessions that were begun with the account go on; see [Auth.EndOtherDevices].
// Unlink calls no event. The store needs [Features.Accounts].
func (a *Auth) Unlink(ctx context.Context, s *Session, provider, providerAccountID string) (err error) {
	defer a.logFailed(ctx, "Unlink", &err)
	set, _, err := a.accountsOf(ctx, "Unlink", s)
	if err != nil {
		return err
	}
	known, err := set.knownOtherwise(ctx, s.User.ID)
	if err != nil {
		return err
	}
	account := &Account{UserID: s.User.ID, Provider: provider, ProviderAccountID: providerAccountID}
	for range unlinkAttempts {
		// A conflict means that another request removed, or is removing, the
		// accounts this one counted on: it decides again on what is left.
		if err = set.unlink(ctx, account, known); !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return lastSignIn(account, "the user's other accounts are being removed by other requests")
}

// unlinkAttempts is how often Unlink decides anew when accounts of the user
// change meanwhile.
const unlinkAttempts = 4

func lastSignIn(a *Account, reason string) error {
	return &Error{Code: CodeLastSignIn, Provider: a.Provider, Err: errors.New("Unlink: " + reason)}
}

// accountsOf returns the configuration and the store for a method by which a
// signed-in user changes their accounts.
func (a *Auth) accountsOf(ctx context.Context, method string, s *Session) (*settings, *records, error) {
	set, err := a.ofPerson(ctx, method, s)
	if err != nil {
		return nil, nil, err
	}
	store, err := storeFor(set, method, featureAccounts)
	return set, store, err
}

// knownOtherwise reports whether a user can sign in without any account: by
// mail, or by credentials that the host knows.
func (s *settings) knownOtherwise(ctx context.Context, userID string) (bool, error) {
	user, err := s.records.user(ctx, userID)
	if err != nil {
		return false, err
	}
	if user == nil {
		return false, ErrNotFound
	}
	for _, p := range s.providers {
		if p.knows == nil {
			continue
		}
		if known, err := p.knows(ctx, user); known || err != nil {
			return known, err
		}
	}
	return false, nil
}

// unlink removes an account unless it is the user's last way to sign in. The
// store checks in the same step that one of the accounts counted on is still
// linked.
func (s *settings) unlink(ctx context.Context, account *Account, known bool) error {
	linked, err := s.records.userAccounts(ctx, account.UserID)
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(slices.Clone(linked), func(other *Account) bool {
		return other.Provider == account.Provider && other.ProviderAccountID == account.ProviderAccountID
	})
	if len(others) == len(linked) {
		return ErrNotFound
	}
	var keep []*Account // nil: nothing has to be left
	if !known {
		if keep, err = s.waysIn(ctx, others); err != nil {
			return err
		}
		if len(keep) == 0 {
			return lastSignIn(account, "the user has no other way to sign in")
		}
	}
	return s.records.unlinkAccount(ctx, account, keep)
}

// waysIn returns those of a user's accounts that let the user sign in.
func (s *settings) waysIn(ctx context.Context, accounts []*Account) ([]*Account, error) {
	var ways []*Account
	for _, account := range accounts {
		can, err := s.signsIn(ctx, account)
		if err != nil {
			return nil, err
		}
		if can {
			ways = append(ways, account)
		}
	}
	return ways, nil
}

// signsIn reports whether an account signs its user in: its provider is
// configured, and admits it.
func (s *settings) signsIn(ctx context.Context, account *Account) (bool, error) {
	p := s.byID[account.Provider]
	if p == nil || p.admits == nil {
		return p != nil, nil
	}
	return p.admits(ctx, s.records, account)
}
