package pintle

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/providersession"
	"github.com/pintleauth/pintle/sharedstate"
)

// ErrNotFound is the error of a [Store] when nothing matches.
var ErrNotFound = errors.New("pintle: not found")

// ErrConflict is the error of a [Store] when a row would break a uniqueness
// rule: a second user with one address, a second account with one pair of
// provider and provider account id, a second session with one token.
var ErrConflict = errors.New("pintle: already exists")

// A Store keeps users and accounts, and what its [Features] list. Package
// storetest checks a store.
//
// Every store has the methods under "Users". The others are in groups, and each
// group is a field of Features. A method of a group that the store does not have
// fails with an error matching [errors.ErrUnsupported]. A store of few groups
// embeds an [UnimplementedStore], which has these methods.
//
// A decorator of a store embeds a Store and overrides the methods that it
// changes. It overrides InTx as well, to decorate the store of the transaction.
//
// Methods may be called concurrently, honour the context, and return errors
// matching [ErrNotFound] if nothing matches and [ErrConflict] if a row exists
// already. A list without entries is empty, which is not an error. Texts
// compare byte by byte: the flows have brought addresses into lower case. Times
// keep at least milliseconds. A method does not keep its arguments, and its
// results belong to the caller.
type Store interface {
	// Features returns which of the groups below the store has. It is called
	// once for each configuration and each transaction, and does not change.
	Features() Features

	// Users

	// CreateUser stores a new user and returns it as stored. The proposed ID
	// may be replaced by the store's own. It fails with ErrConflict when the
	// address belongs to another user. What AccountStore has left of a user who
	// had the ID before is removed.
	CreateUser(ctx context.Context, u *User) (*User, error)

	// User returns the user with the given id.
	User(ctx context.Context, id string) (*User, error)

	// UserByEmail returns the user with exactly the given address.
	UserByEmail(ctx context.Context, email string) (*User, error)

	// UserByAccount returns the owner of an account.
	UserByAccount(ctx context.Context, provider, providerAccountID string) (*User, error)

	// UpdateUser changes the given fields and returns the whole user as
	// stored. It fails with ErrNotFound when there is no such user. Of
	// concurrent calls that change different fields, none undoes another, and
	// the members of Extra are different fields. Members that the store has no
	// place for are left out of the user it returns.
	UpdateUser(ctx context.Context, id string, change UserUpdate) (*User, error)

	// LinkAccount stores an account, whose UserID names its owner. It fails
	// with ErrConflict when the account exists, no matter which user owns it,
	// and with ErrNotFound when its user does not exist.
	LinkAccount(ctx context.Context, a *Account) error

	// Accounts: Features.Accounts

	// Account returns an account with its tokens.
	Account(ctx context.Context, provider, providerAccountID string) (*Account, error)

	// UserAccounts returns the accounts of a user. The list is empty if the
	// user has no accounts or does not exist.
	UserAccounts(ctx context.Context, userID string) ([]*Account, error)

	// UpdateAccount replaces the token fields of an existing account. Its ID, owner,
	// Type and VerifiedEmail stay as LinkAccount stored them. It fails with
	// ErrNotFound when there is no such account.
	UpdateAccount(ctx context.Context, a *Account) error

	// UnlinkAccount removes an account of a user. With an account of
	// [TypeWebAuthn] it removes the user's passkey whose CredentialID is the
	// providerAccountID. It fails with ErrNotFound when the user has no such
	// account.
	//
	// A keepOneOf that is not nil is a condition: unless one of these accounts,
	// other than the one to remove, is linked to the user and stays so, nothing is
	// removed and the call fails with ErrConflict. Of concurrent calls for one
	// user, in any number of processes, none counts on an account that another
	// removes, so that two calls never remove the last two accounts. Only
	// Provider and ProviderAccountID of keepOneOf are read.
	UnlinkAccount(ctx context.Context, userID, provider, providerAccountID string, keepOneOf []*Account) error

	// Tokens that are used up: Features.AccountSwap

	// SwapAccount does what UpdateAccount does if the RefreshToken that is stored still
	// is old, byte by byte, in one step. An empty old stands for no token. Otherwise it
	// changes nothing and fails with ErrConflict. Of concurrent calls with one old, in
	// any number of processes, that store different refresh tokens one succeeds. It fails
	// with ErrNotFound when there is no such account.
	SwapAccount(ctx context.Context, a *Account, old string) error

	// Sessions: Features.Sessions

	// CreateSession stores a session. It fails with ErrConflict when the token is
	// taken, and with ErrNotFound when its user does not exist.
	CreateSession(ctx context.Context, s *StoredSession) error

	// SessionAndUser returns the session with the given token, expired or not,
	// and its user. It fails with ErrNotFound when either does not exist. It is
	// called for every request of a signed-in browser and should be one round
	// trip.
	SessionAndUser(ctx context.Context, token string) (*StoredSession, *User, error)

	// UpdateSession changes a session. It fails with ErrNotFound when no
	// session has that token.
	UpdateSession(ctx context.Context, token string, change SessionUpdate) error

	// DeleteSession removes a session and returns the row it removed. It fails
	// with ErrNotFound when no session has that token. Of any number of
	// concurrent calls exactly one gets the row.
	DeleteSession(ctx context.Context, token string) (*StoredSession, error)

	// The sessions of a user, for "signed-in devices": Features.SessionList

	// UserSessions yields the sessions of a user that have not expired, newest
	// first. Handle identifies each. The Token of a yielded session may be
	// empty, as it has to be in a store that keeps only its hash; Handle is
	// then the SHA-256 of the token in base64url without padding. Either value
	// distinguishes the user's current session from the others. The store may
	// hold a connection while the loop runs.
	UserSessions(ctx context.Context, userID string) iter.Seq2[*StoredSession, error]

	// EndSession removes the session of a user that has the given handle. It
	// fails with ErrNotFound when the user has no such session.
	EndSession(ctx context.Context, userID, handle string) error

	// EndUserSessions removes every session of a user except the one with the
	// token except, which may be empty, and returns how many it removed.
	EndUserSessions(ctx context.Context, userID, except string) (int, error)

	// Mail links on their way: Features.Verifications

	// CreateVerification stores a link's hashed token.
	CreateVerification(ctx context.Context, v *Verification) error

	// UseVerification removes the row with this identifier and hashed token
	// and returns it, expired or not. Of any number of concurrent calls
	// exactly one gets the row; the others, and every later one, fail with
	// ErrNotFound.
	UseVerification(ctx context.Context, identifier, token string) (*Verification, error)

	// Passkeys: Features.Passkeys

	// CreatePasskey stores a passkey. It fails with ErrConflict when the
	// credential id is taken, and with ErrNotFound when its user does not exist.
	CreatePasskey(ctx context.Context, a *Passkey) error

	// Passkey returns the passkey with exactly the given credential id.
	Passkey(ctx context.Context, credentialID string) (*Passkey, error)

	// UserPasskeys returns the passkeys of a user. The list is empty if the
	// user has no passkeys or does not exist.
	UserPasskeys(ctx context.Context, userID string) ([]*Passkey, error)

	// UsePasskey records that the passkey with used.CredentialID has
	// signed: it replaces Counter, BackedUp and LastUsed by those of used, in
	// one step, and only if the stored Counter still is old, so that of two
	// concurrent assertions with one counter only one succeeds. Otherwise it
	// fails with ErrConflict. A missing passkey is ErrNotFound.
	UsePasskey(ctx context.Context, used *Passkey, old uint32) error

	// DeletePasskey removes a passkey of a user. It fails with
	// ErrNotFound when the user has no such passkey. [Auth.Unlink] calls
	// UnlinkAccount instead, which removes the account of the passkey as well.
	DeletePasskey(ctx context.Context, userID, credentialID string) error

	// Names of passkeys: Features.PasskeyNames

	// RenamePasskey replaces the name of a passkey of a user. It fails
	// with ErrNotFound when the user has no such passkey.
	RenamePasskey(ctx context.Context, userID, credentialID, name string) error

	// Passwords and second factors

	// AccountStore returns where package account keeps passwords, second factors and
	// what users have begun, or nil if the store has no room for them. In the store
	// that InTx gives to f it is part of the transaction.
	AccountStore() accountstore.Store

	// Sign-ins at providers

	// ProviderSessions returns what is kept of the sign-ins at providers to which
	// sessions belong, or nil if the store has no room for it. In the store that InTx
	// gives to f it is part of the transaction. DeleteSession, EndSession,
	// EndUserSessions and DeleteUser forget what is kept of the sessions they end.
	ProviderSessions() providersession.Store

	// What several processes agree on

	// SharedState returns where the processes of a site agree on what is used up,
	// what is under way and how many attempts there were, or nil if the store has no room for it. The store that InTx
	// gives to f has none: what was decided stays decided if the transaction fails.
	SharedState() sharedstate.Store

	// Whole users: Features.DeleteUser

	// DeleteUser removes a user with their accounts, sessions and passkeys, and
	// with their rows in AccountStore. It fails with ErrNotFound when there is no
	// such user; it then also removes what an interrupted call left of the user.
	// When DeleteUser and the concurrent calls of this interface that store
	// something for the user have returned, nothing of the user is left: each of
	// these calls failed, or what it stored was removed. Calls of AccountStore do
	// not ask whether there is a user.
	DeleteUser(ctx context.Context, id string) error

	// What has expired: Features.Sweep

	// Sweep removes at most limit expired sessions, mail links, flows and factors of
	// AccountStore, records of ProviderSessions, and keys, leases and counts of
	// SharedState, and states and factors of users who are gone, and returns how many it removed. A
	// result below limit means that nothing is left to remove.
	Sweep(ctx context.Context, before time.Time, limit int) (int, error)

	// Transactions: Features.Transactions

	// InTx calls f with a store whose changes become visible together when f
	// returns nil, and not at all when it returns an error or panics. The
	// store given to f has the same features, but for Transactions.
	InTx(ctx context.Context, f func(Store) error) error
}

// Features reports which methods of a [Store] work. The zero value is a store
// of users, and of which accounts are theirs. [New] fails when a configuration
// needs more than its store has, and so do methods of [Auth]: their errors
// match [errors.ErrUnsupported].
type Features struct {
	// Accounts are the methods Account, UserAccounts, UpdateAccount and
	// UnlinkAccount. [OAuth.StoreTokensAtSignIn], [SignInOptions].Scopes, [Auth.Account],
	// [Auth.UpdateAccount], [Auth.Accounts] and [Auth.Unlink] need them. With them [Auth.Refresh] keeps the tokens it
	// gets, and a proof by mail finds out who else can use the address.
	Accounts bool

	// AccountSwap is the method SwapAccount, of a store that has Accounts. Without it
	// [Auth.Refresh] and [Auth.UpdateAccount] read, and then write: of two that replace
	// the tokens of an account at one moment the slower one wins.
	AccountSwap bool

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

// SwapAccount fails.
func (UnimplementedStore) SwapAccount(context.Context, *Account, string) error {
	return unimplemented("SwapAccount")
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

// AccountStore returns nil.
func (UnimplementedStore) AccountStore() accountstore.Store { return nil }

// ProviderSessions returns nil.
func (UnimplementedStore) ProviderSessions() providersession.Store { return nil }

// SharedState returns nil.
func (UnimplementedStore) SharedState() sharedstate.Store { return nil }

// InTx fails.
func (UnimplementedStore) InTx(context.Context, func(Store) error) error {
	return unimplemented("InTx")
}
