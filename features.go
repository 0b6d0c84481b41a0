package pintle

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

// Features reports which methods of a [Store] work. The zero value is a store
// of users, and of which accounts are theirs. [New] fails when a configuration
// needs more than its store has, and so do methods of [Auth]: their errors
// match [errors.ErrUnsupported].
type Features struct {
	// Accounts are the methods Account, UserAccounts, UpdateAccount and
	// UnlinkAccount. [Auth.Account], [Auth.UpdateAccount], [Auth.Accounts] and
	// [Auth.Unlink] need them. With them [Auth.Refresh] keeps the tokens it
	// gets, and a proof by mail finds out who else can use the address.
	Accounts bool

	// Sessions are the methods CreateSession, SessionAndUser, UpdateSession
	// and DeleteSession. [StrategyDatabase] needs them, and is the default
	// with them.
	Sessions bool

	// SessionList are the methods UserSessions, EndSession and
	// EndUserSessions, of a store that has Sessions. With database sessions
	// [Auth.Devices], [Auth.EndDevice], [Auth.EndOtherDevices] and
	// [Auth.SignOutEverywhere] need them. With them the first proof of an
	// address by mail ends the sessions of its user.
	SessionList bool

	// Verifications are the methods CreateVerification and UseVerification.
	// [Email] providers and [Callbacks.Hold] need them.
	Verifications bool

	// Passkeys are the methods CreatePasskey, Passkey, UserPasskeys, UsePasskey
	// and DeletePasskey, of a store that has Accounts. [WebAuthn] providers and
	// [Auth.Passkeys] need them.
	Passkeys bool

	// PasskeyNames is the method RenamePasskey, of a store that has Passkeys and
	// keeps their Name, Created and LastUsed. [Auth.RenamePasskey] needs it.
	PasskeyNames bool

	// Transactions is the method InTx. A first sign-in creates a user, an
	// account and a session; with InTx all of them exist or none. Without it,
	// in a store that has DeleteUser, the address of a user is written after
	// their account and passkey, so that a sign-in that stopped can be
	// repeated.
	Transactions bool

	// DeleteUser is the method of that name. [Auth.DeleteUser] needs it.
	DeleteUser bool

	// Sweep is the method of that name, which the host calls. A store whose
	// rows expire without it does not have it.
	Sweep bool

	// InMemory reports that only this process has what the store keeps, and
	// that it is gone when the process ends. It has no methods. If a browser
	// has a session that the store does not have, the log then mentions it.
	InMemory bool

	// Remedy describes how to add a missing feature to the store, such as "name
	// a table in Layout.Authenticators". It stands at the end of the error of
	// an operation that needs the feature.
	Remedy string
}

// A feature is a field of [Features], and its name.
type feature struct {
	name string
	of   func(Features) bool
}

var (
	featureAccounts      = feature{"Accounts", func(f Features) bool { return f.Accounts }}
	featureSessions      = feature{"Sessions", func(f Features) bool { return f.Sessions }}
	featureSessionList   = feature{"SessionList", func(f Features) bool { return f.SessionList }}
	featureVerifications = feature{"Verifications", func(f Features) bool { return f.Verifications }}
	featurePasskeys      = feature{"Passkeys", func(f Features) bool { return f.Passkeys }}
	featurePasskeyNames  = feature{"PasskeyNames", func(f Features) bool { return f.PasskeyNames }}
	featureDeleteUser    = feature{"DeleteUser", func(f Features) bool { return f.DeleteUser }}
)

// missing returns why something cannot be done with the store, or nil if it has
// the features for it.
func (r *records) missing(what string, needed ...feature) error {
	for _, f := range needed {
		if f.of(r.can) {
			continue
		}
		remedy := "use a store that has it"
		if r.can.Remedy != "" {
			remedy = r.can.Remedy
		}
		return missingFeature(fmt.Sprintf("%s needs pintle.Features.%s, which Config.Store, a %T, does not have: %s", what, f.name, r.store, remedy))
	}
	return nil
}

// A missingFeature is an error that names a feature that the store lacks.
type missingFeature string

func (e missingFeature) Error() string { return string(e) }

// Is reports whether the error matches [errors.ErrUnsupported].
func (e missingFeature) Is(target error) bool { return target == errors.ErrUnsupported }

// An UnimplementedStore is a [Store] without features. It also lacks the
// methods that every store must have. A store embeds it, implements those
// methods, overrides Features and implements the methods of its features:
//
//	type Store struct {
//		pintle.UnimplementedStore
//		db *sql.DB
//	}
//
//	func (s *Store) Features() pintle.Features { return pintle.Features{Sessions: true} }
//
// Its methods fail with an error matching [errors.ErrUnsupported].
type UnimplementedStore struct{}

func unimplemented(method string) error {
	return fmt.Errorf("the store has no %s: %w", method, errors.ErrUnsupported)
}

// Features returns none.
func (UnimplementedStore) Features() Features { return Features{} }

// Account fails.
func (UnimplementedStore) Account(context.Context, string, string) (*Account, error) {
	return nil, unimplemented("Account")
}

// UserAccounts fails.
func (UnimplementedStore) UserAccounts(context.Context, string) ([]*Account, error) {
	return nil, unimplemented("UserAccounts")
}

// UpdateAccount fails.
func (UnimplementedStore) UpdateAccount(context.Context, *Account) error {
	return unimplemented("UpdateAccount")
}

// UnlinkAccount fails.
func (UnimplementedStore) UnlinkAccount(context.Context, string, string, string, []*Account) error {
	return unimplemented("UnlinkAccount")
}

// CreateSession fails.
func (UnimplementedStore) CreateSession(context.Context, *StoredSession) error {
	return unimplemented("CreateSession")
}

// SessionAndUser fails.
func (UnimplementedStore) SessionAndUser(context.Context, string) (*StoredSession, *User, error) {
	return nil, nil, unimplemented("SessionAndUser")
}

// UpdateSession fails.
func (UnimplementedStore) UpdateSession(context.Context, string, SessionUpdate) error {
	return unimplemented("UpdateSession")
}

// DeleteSession fails.
func (UnimplementedStore) DeleteSession(context.Context, string) (*StoredSession, error) {
	return nil, unimplemented("DeleteSession")
}

// UserSessions yields an error.
func (UnimplementedStore) UserSessions(context.Context, string) iter.Seq2[*StoredSession, error] {
	return func(yield func(*StoredSession, error) bool) { yield(nil, unimplemented("UserSessions")) }
}

// EndSession fails.
func (UnimplementedStore) EndSession(context.Context, string, string) error {
	return unimplemented("EndSession")
}

// EndUserSessions fails.
func (UnimplementedStore) EndUserSessions(context.Context, string, string) (int, error) {
	return 0, unimplemented("EndUserSessions")
}

// CreateVerification fails.
func (UnimplementedStore) CreateVerification(context.Context, *Verification) error {
	return unimplemented("CreateVerification")
}

// UseVerification fails.
func (UnimplementedStore) UseVerification(context.Context, string, string) (*Verification, error) {
	return nil, unimplemented("UseVerification")
}

// CreatePasskey fails.
func (UnimplementedStore) CreatePasskey(context.Context, *Passkey) error {
	return unimplemented("CreatePasskey")
}

// Passkey fails.
func (UnimplementedStore) Passkey(context.Context, string) (*Passkey, error) {
	return nil, unimplemented("Passkey")
}

// UserPasskeys fails.
func (UnimplementedStore) UserPasskeys(context.Context, string) ([]*Passkey, error) {
	return nil, unimplemented("UserPasskeys")
}

// UsePasskey fails.
func (UnimplementedStore) UsePasskey(context.Context, *Passkey, uint32) error {
	return unimplemented("UsePasskey")
}

// DeletePasskey fails.
func (UnimplementedStore) DeletePasskey(context.Context, string, string) error {
	return unimplemented("DeletePasskey")
}

// RenamePasskey fails.
func (UnimplementedStore) RenamePasskey(context.Context, string, string, string) error {
	return unimplemented("RenamePasskey")
}

// DeleteUser fails.
func (UnimplementedStore) DeleteUser(context.Context, string) error {
	return unimplemented("DeleteUser")
}

// Sweep fails.
func (UnimplementedStore) Sweep(context.Context, time.Time, int) (int, error) {
	return 0, unimplemented("Sweep")
}

// InTx fails.
func (UnimplementedStore) InTx(context.Context, func(Store) error) error {
	return unimplemented("InTx")
}
