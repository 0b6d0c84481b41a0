package pintle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
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
// known user changes with [OAuth.StoreTokensAtSignIn] only. An application with other
// rules calls it from [Events.SignIn] with the event's account:
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
	if _, err := storeFor(s, "UpdateAccount", featureAccounts); err != nil {
		return err
	}
	if account.AccessToken == "" {
		return nil
	}
	return s.replaceTokens(ctx, account, false)
}

// SignOutEverywhere ends every session of a user, on every device, and every sign-in
// that waits. With package account no browser is remembered any more that was not asked for a
// second factor, and a change of the address that waits for its code ends. To keep this browser signed in, by a new session, call [Auth.StartSession]
// after it in the same response. With
// database sessions the store needs [Features.SessionList]; with token sessions
// [SessionConfig.Revocation] must be set, since a token alone cannot be taken
// back. It fails with [CodeActing] if ctx is that of a request in which an operator acts as the
// user.
func (a *Auth) SignOutEverywhere(ctx context.Context, userID string) (err error) {
	defer a.logFailed(ctx, "SignOutEverywhere", &err)
	s, err := a.settingsFor(ctx, "SignOutEverywhere")
	if err != nil {
		return err
	}
	if err := s.notActingAs(ctx, userID); err != nil {
		return err
	}
	if err := s.sessions.endEverywhere(ctx, userID); err != nil {
		return err
	}
	// Afterwards: a sign-in that was to remember its browser can no longer be completed.
	return s.endBegun(ctx, userID)
}

// DeleteUser ends every session of a user and removes the user with all that
// belongs to them. The store needs [Features.DeleteUser]. Token sessions end only
// where [SessionConfig.Revocation] is set. The error matches [ErrNotFound] when
// there is no such user, as in a call that is repeated, and Code("NotRevoked") when the
// user is removed and a provider has not revoked the tokens; see [OAuth.RevokeAtUnlink].
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
	if err := s.notActingAs(ctx, userID); err != nil {
		return err
	}
	// Tokens first: a user who is gone must not stay signed in, and a failure
	// between the two leaves one who can sign in again.
	if s.Session.Revocation != nil {
		if err := s.revokeUser(ctx, userID); err != nil {
			return err
		}
	}
	var removed []*Account
	if store.can.Accounts && slices.ContainsFunc(s.providers, func(p *provider) bool { return p.revokesRemoved }) {
		if removed, err = store.userAccounts(ctx, userID); err != nil {
			return err
		}
	}
	if err := store.deleteUser(ctx, userID); err != nil {
		return err
	}
	return s.revokeRemoved(ctx, removed)
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
		return nil, fail(CodeAccessDenied, fmt.Errorf("%s was given a session that another Auth, or another "+
			"configuration of NewFunc, has read: call it on the Auth that guards the page", method))
	}
	return set, nil
}

// ofUserAlone is ofPerson for a method that an operator who acts as the user may not call.
func (a *Auth) ofUserAlone(ctx context.Context, method string, s *Session) (*settings, error) {
	set, err := a.ofPerson(ctx, method, s)
	if err == nil && s.Actor != nil {
		return nil, errActing
	}
	return set, err
}

// notActingAs refuses a call with the id of a user, if the request of its context is one in which
// an operator acts as this user.
func (s *settings) notActingAs(ctx context.Context, userID string) error {
	if here := SessionFrom(ctx); here != nil && here.Actor != nil && here.User.ID == userID && here.isOf(s) {
		return errActing
	}
	return nil
}

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
		accounts[i] = &Account{
			ID: with.ID, UserID: with.UserID, Type: with.Type, Provider: with.Provider,
			ProviderAccountID: with.ProviderAccountID, Scope: with.Scope,
		}
	}
	return accounts, nil
}

// Unlink removes an account of the user of s, who can no longer sign in with
// it. The error matches [ErrNotFound] when the user has no such account, also
// if another user has it, and [CodeLastSignIn] when the user could not sign in
// without it. Of requests that remove the last accounts at the same time one
// gets CodeLastSignIn. It matches Code("NotRevoked") when the account is removed and the
// provider has not revoked its tokens; see [OAuth.RevokeAtUnlink].
//
// A user can sign in with another account at a provider of this configuration;
// by mail, if there is an [Email] provider and a mail has verified their
// address; and with a [Credentials] provider that knows them, see
// [Credentials.CanSignIn]. A passkey is removed with its account.
//
// Sessions that were begun with the account go on; see [Auth.EndOtherDevices].
// Unlink calls no event, and asks for no fresh proof: the page decides who may. With package
// account it records nothing and mails nothing; its Accounts.Do, with the routes "unlink" and
// "passkey", does both and demands a fresh proof. The store needs [Features.Accounts].
func (a *Auth) Unlink(ctx context.Context, s *Session, provider, providerAccountID string) (err error) {
	defer a.logFailed(ctx, "Unlink", &err)
	set, err := a.ofUserAlone(ctx, "Unlink", s)
	if err != nil {
		return err
	}
	if _, err := storeFor(set, "Unlink", featureAccounts); err != nil {
		return err
	}
	known, err := set.knownOtherwise(ctx, s.User.ID)
	if err != nil {
		return err
	}
	account := &Account{UserID: s.User.ID, Provider: provider, ProviderAccountID: providerAccountID}
	for range maxAttempts {
		// A conflict means that another request removed, or is removing, the
		// accounts this one counted on: it decides again on what is left.
		if err = set.unlink(ctx, account, known); !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return lastSignIn(account, "the user's other accounts are being removed by other requests")
}

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
	isRemoved := func(other *Account) bool {
		return other.Provider == account.Provider && other.ProviderAccountID == account.ProviderAccountID
	}
	at := slices.IndexFunc(linked, isRemoved)
	if at < 0 {
		return ErrNotFound
	}
	removed, others := linked[at], slices.DeleteFunc(slices.Clone(linked), isRemoved)
	var keep []*Account // nil: nothing has to be left
	if !known {
		if keep, err = s.waysIn(ctx, others); err != nil {
			return err
		}
		if len(keep) == 0 {
			return lastSignIn(account, "the user has no other way to sign in")
		}
	}
	if err := s.records.unlinkAccount(ctx, account, keep); err != nil {
		return err
	}
	// A passkey is a second factor, and each change of those ends remembered browsers. An error
	// goes to the log and not to the caller: the account is gone, so a second call would find
	// nothing to remove, and the tokens at the provider still have to be revoked.
	if removed.Type == TypeWebAuthn && s.Accounts != nil {
		if err := s.records.forgetBrowsers(context.WithoutCancel(ctx), account.UserID); err != nil {
			s.log.LogAttrs(ctx, slog.LevelError, "pintle: a passkey is removed, and the browsers that the user has had remembered "+
				"are still not asked for a second factor: call Auth.SignOutEverywhere with the user, or have the user remove them",
				slog.String("user", account.UserID), slog.Any("error", err))
		}
	}
	return s.revokeRemoved(ctx, []*Account{removed})
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
	p, err := s.find(ctx, account.Provider)
	if p == nil || p.admits == nil || err != nil {
		return p != nil, err
	}
	return p.admits(ctx, s.records, account)
}

// Devices yields where the user of a session is signed in, the last sign-in
// first, for an account page:
//
//	for device, err := range auth.Devices(ctx, pintle.SessionFrom(ctx)) {
//
// The store needs [Features.SessionList], and may hold a connection while the
// loop runs.
//
// Token sessions are kept in browsers and nowhere else. Of those it yields only s,
// without a handle.
func (a *Auth) Devices(ctx context.Context, s *Session) iter.Seq2[*Device, error] {
	return func(yield func(*Device, error) bool) {
		set, err := a.ofPerson(ctx, "Devices", s)
		if err != nil {
			a.logCall(ctx, "Devices", err)
			yield(nil, err)
			return
		}
		for device, err := range set.sessions.devices(ctx, s) {
			if err != nil {
				a.logCall(ctx, "Devices", err)
			}
			if !yield(device, err) {
				return
			}
		}
	}
}

// EndDevice ends a session of the user of s: the one with a handle that
// [Auth.Devices] yielded, which may come from a form. The error matches
// [ErrNotFound] when the user has no such session, also if another user has it,
// and always for token sessions.
//
// It asks for no fresh proof, and package account does not record it: its Accounts.Do, with the
// route "end-devices", does both.
func (a *Auth) EndDevice(ctx context.Context, s *Session, handle string) (err error) {
	defer a.logFailed(ctx, "EndDevice", &err)
	set, err := a.ofUserAlone(ctx, "EndDevice", s)
	if err != nil {
		return err
	}
	return set.sessions.endDevice(ctx, s, handle)
}

// EndOtherDevices ends every session of the user of s but s, and returns how
// many there were. Token sessions can be ended only together: use
// [Auth.SignOutEverywhere] there, and have the user sign in again.
func (a *Auth) EndOtherDevices(ctx context.Context, s *Session) (ended int, err error) {
	defer a.logFailed(ctx, "EndOtherDevices", &err)
	set, err := a.ofUserAlone(ctx, "EndOtherDevices", s)
	if err != nil {
		return 0, err
	}
	return set.sessions.endOtherDevices(ctx, s)
}

// maxPasskeyName is the most characters of a passkey's name.
const maxPasskeyName = 64

// Passkeys returns the passkeys of the user of a session, the newest last, for an
// account page. [Auth.Unlink] removes one, by the id of its provider and its
// CredentialID. The store needs [Features.Passkeys].
func (a *Auth) Passkeys(ctx context.Context, s *Session) (passkeys []*Passkey, err error) {
	defer a.logFailed(ctx, "Passkeys", &err)
	set, err := a.ofPerson(ctx, "Passkeys", s)
	if err != nil {
		return nil, err
	}
	store, err := storeFor(set, "Passkeys", featurePasskeys)
	if err != nil {
		return nil, err
	}
	passkeys, err = store.userAuthenticators(ctx, s.User.ID)
	slices.SortFunc(passkeys, func(a, b *Passkey) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.CredentialID, b.CredentialID))
	})
	return passkeys, err
}

// RenamePasskey gives a passkey of the user of s another name. A name has at most 64
// characters, none of them a control character; an empty one takes the name
// away.
//
// The error matches [ErrNotFound] when the user has no such passkey, even if
// another user has it. Package account does not record it: its Accounts.Do, with the route
// "passkey", does. The store needs [Features.PasskeyNames].
func (a *Auth) RenamePasskey(ctx context.Context, s *Session, credentialID, name string) (err error) {
	defer a.logFailed(ctx, "RenamePasskey", &err)
	set, err := a.ofUserAlone(ctx, "RenamePasskey", s)
	if err != nil {
		return err
	}
	store, err := storeFor(set, "RenamePasskey", featurePasskeyNames)
	if err != nil {
		return err
	}
	switch {
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return byClient(errors.New("RenamePasskey: the name is not UTF-8, or has a control character: take only " +
			"what a person can have typed"))
	case utf8.RuneCountInString(name) > maxPasskeyName:
		return byClient(fmt.Errorf("RenamePasskey: the name has more than %d characters: check its length before", maxPasskeyName))
	}
	return store.renameAuthenticator(ctx, s.User.ID, credentialID, name)
}
