package pintle

import (
	"context"
	"fmt"
)

// Account returns an account of the store with its provider's tokens, opened if
// they are sealed. The error matches [ErrNotFound] when the store has no such
// account. The tokens may have expired: see [Auth.Refresh].
func (a *Auth) Account(ctx context.Context, provider, providerAccountID string) (account *Account, err error) {
	defer a.logFailed(ctx, "Account", &err)
	s, err := a.settingsFor(ctx, "Account")
	if err != nil {
		return nil, err
	}
	if _, err := storeFor(s, "Account", featureAccounts); err != nil {
		return nil, err
	}
	return s.storedAccount(ctx, &Account{Provider: provider, ProviderAccountID: providerAccountID})
}

// UpdateAccount replaces the stored tokens of an account, which a sign-in of a
// known user does not change. An application that uses them calls it from
// [Events.SignIn] with the event's account:
//
//	SignIn: func(ctx context.Context, e *pintle.SignInEvent) error {
//		return auth.UpdateAccount(ctx, e.Account)
//	},
//
// With [Callbacks.Hold] it calls it there, with the account of the pending sign-in.
//
// The fields that [OAuth.StoreAccount] returns are stored, sealed if tokens are. A
// refresh token that the provider did not send again is kept, as many send one
// at the first sign-in only. Accounts without an access token, such as those of
// mails and passwords, are left alone. The error matches [ErrNotFound] when the
// account is not stored.
func (a *Auth) UpdateAccount(ctx context.Context, account *Account) (err error) {
	defer a.logFailed(ctx, "UpdateAccount", &err)
	s, err := a.settingsFor(ctx, "UpdateAccount")
	if err != nil {
		return err
	}
	store, err := storeFor(s, "UpdateAccount", featureAccounts)
	if err != nil {
		return err
	}
	if account.AccessToken == "" {
		return nil
	}
	stored, err := s.storedAccount(ctx, account)
	if err != nil {
		return err
	}
	renewed := s.kept(account)
	renewed.UserID, renewed.Type, renewed.VerifiedEmail = stored.UserID, stored.Type, stored.VerifiedEmail
	if renewed.RefreshToken == "" {
		renewed.RefreshToken = stored.RefreshToken
	}
	return store.updateAccount(ctx, s.sealTokens(renewed))
}

// SignOutEverywhere ends every session of a user, on every device. With
// database sessions the store needs [Features.SessionList]; with token sessions
// [SessionConfig.Revocation] must be set, since a token alone cannot be taken
// back.
func (a *Auth) SignOutEverywhere(ctx context.Context, userID string) (err error) {
	defer a.logFailed(ctx, "SignOutEverywhere", &err)
	s, err := a.settingsFor(ctx, "SignOutEverywhere")
	if err != nil {
		return err
	}
	return s.sessions.endEverywhere(ctx, userID)
}

// DeleteUser ends every session of a user and removes the user with all that
// belongs to them. The store needs [Features.DeleteUser]. Token sessions end only
// where [SessionConfig.Revocation] is set. The error matches [ErrNotFound] when
// there is no such user, as in a call that is repeated.
func (a *Auth) DeleteUser(ctx context.Context, userID string) (err error) {
	defer a.logFailed(ctx, "DeleteUser", &err)
	s, err := a.settingsFor(ctx, "DeleteUser")
	if err != nil {
		return err
	}
	store, err := storeFor(s, "DeleteUser", featureDeleteUser)
	if err != nil {
		return err
	}
	// Tokens first: a user who is gone must not stay signed in, and a failure
	// between the two leaves one who can sign in again.
	if s.Session.Revocation != nil {
		if err := s.revokeUser(ctx, userID); err != nil {
			return err
		}
	}
	return store.deleteUser(ctx, userID)
}

// ofPerson returns the configuration for a method that a signed-in user may use
// on the sessions, accounts and passkeys of that user. The session s determines
// the user; no request is read.
func (a *Auth) ofPerson(ctx context.Context, method string, s *Session) (*settings, error) {
	set, err := a.settingsFor(ctx, method)
	switch {
	case err != nil:
		return nil, err
	case s == nil || s.User.ID == "":
		return nil, fail(CodeAccessDenied, fmt.Errorf("%s requires the session of a signed-in user: call it inside Auth.Require", method))
	case !s.isOf(set):
		// In the other Auth the same id belongs to another user.
		return nil, fail(CodeAccessDenied, fmt.Errorf("%s was given a session that another Auth, or another configuration of NewFunc, has read: call it on the Auth that guards the page", method))
	}
	return set, nil
}

// storeFor returns the store, if it has what a method of the host needs.
func storeFor(s *settings, method string, needed feature) (*records, error) {
	if s.records == nil {
		return nil, fail(CodeConfiguration, fmt.Errorf("%s needs a Config.Store", method))
	}
	if err := s.records.missing(method, needed); err != nil {
		return nil, fail(codeMissingAdapterMethods, err)
	}
	return s.records, nil
}
