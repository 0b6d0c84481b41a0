package pintle

import (
	"context"
	"errors"
	"iter"
	"time"
)

// ErrNotFound is what a [Store] returns when nothing matches.
var ErrNotFound = errors.New("pintle: not found")

// ErrConflict is what a [Store] returns when a row would break a uniqueness
// rule: a second user with one address, a second account with one pair of
// provider and provider account id, a second session with one token.
var ErrConflict = errors.New("pintle: already exists")

// A Store keeps users and accounts. Which further interfaces a configuration
// needs, [New] checks: [SessionStore] for sessions in the database,
// [VerificationStore] for mail links, [AuthenticatorStore] for passkeys.
//
// Methods may be called concurrently, honour the context, and return errors
// matching [ErrNotFound] where nothing matches and [ErrConflict] where a row
// exists already. Texts compare byte by byte: the flows have brought addresses
// into lower case. Times keep at least milliseconds. What is passed in is not
// kept, and what is returned belongs to the caller.
type Store interface {
	// CreateUser stores a new user and returns it as stored. The proposed ID
	// may be replaced by the store's own. It fails with ErrConflict when the
	// address belongs to another user.
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

	// LinkAccount stores an account, whose UserID names its owner. It fails with
	// ErrConflict when the account exists, whichever user owns it, and with
	// ErrNotFound when its user does not exist.
	LinkAccount(ctx context.Context, a *Account) error
}

// A SessionStore is a [Store] that keeps sessions too.
type SessionStore interface {
	Store

	// CreateSession stores a session. It fails with ErrConflict when the token is
	// taken, and with ErrNotFound when its user does not exist.
	CreateSession(ctx context.Context, s *StoredSession) error

	// SessionAndUser returns the session with the given token, expired or not,
	// and its user. It fails with ErrNotFound when either does not exist. It is
	// called for every request of a signed-in browser and should be one round
	// trip.
	SessionAndUser(ctx context.Context, token string) (*StoredSession, *User, error)

	// UpdateSession changes a session. It fails with ErrNotFound when there is
	// none with that token.
	UpdateSession(ctx context.Context, token string, change SessionUpdate) error

	// DeleteSession removes a session and returns the row it removed. When
	// there is none it returns nil and no error.
	DeleteSession(ctx context.Context, token string) (*StoredSession, error)
}

// A VerificationStore keeps the mail links on their way.
type VerificationStore interface {
	// CreateVerification stores a link's hashed token.
	CreateVerification(ctx context.Context, v *Verification) error

	// UseVerification removes the row with this identifier and hashed token
	// and returns it, expired or not. Of any number of concurrent calls
	// exactly one gets the row; the others, and every later one, fail with
	// ErrNotFound.
	UseVerification(ctx context.Context, identifier, token string) (*Verification, error)
}

// An AuthenticatorStore keeps passkeys.
type AuthenticatorStore interface {
	// Account returns an account. It fails with ErrNotFound when there is none.
	Account(ctx context.Context, provider, providerAccountID string) (*Account, error)

	// CreateAuthenticator stores a passkey. It fails with ErrConflict when the
	// credential id is taken, and with ErrNotFound when its user does not exist.
	CreateAuthenticator(ctx context.Context, a *Authenticator) error

	// Authenticator returns the passkey with exactly the given credential id.
	Authenticator(ctx context.Context, credentialID string) (*Authenticator, error)

	// UserAuthenticators returns the passkeys of a user, none for a user who
	// has none or does not exist.
	UserAuthenticators(ctx context.Context, userID string) ([]*Authenticator, error)

	// UseAuthenticator records that the passkey with used.CredentialID has
	// signed: it replaces Counter, BackedUp and LastUsed by those of used, in
	// one step, and only if the stored Counter still is old, so that of two
	// concurrent assertions with one counter only one succeeds. Otherwise it
	// fails with ErrConflict. A missing passkey is ErrNotFound.
	UseAuthenticator(ctx context.Context, used *Authenticator, old uint32) error
}

// An AuthenticatorManager renames passkeys, for [Auth.RenamePasskey], and
// removes them. [Auth.Unlink] removes a passkey together with its account:
// see [AccountStore.UnlinkAccount].
type AuthenticatorManager interface {
	// RenameAuthenticator replaces the name of a passkey of a user. It fails
	// with ErrNotFound when the user has no such passkey. Where there is no
	// room for names it fails with an error matching [errors.ErrUnsupported],
	// and Name, Created and LastUsed are not kept.
	RenameAuthenticator(ctx context.Context, userID, credentialID, name string) error

	// DeleteAuthenticator removes a passkey of a user. It fails with
	// ErrNotFound when the user has no such passkey.
	DeleteAuthenticator(ctx context.Context, userID, credentialID string) error
}

// A TxStore can make several changes as one. A first sign-in creates a user,
// an account and a session; in a TxStore all of them exist or none. In a store
// that is a [UserDeleter] instead, the address of a user is written after their
// account and passkey, so that a sign-in that stopped can be repeated.
type TxStore interface {
	// InTx calls f with a store whose changes become visible together when f
	// returns nil, and not at all when it returns an error or panics. The
	// store given to f implements the same optional interfaces, but for InTx.
	InTx(ctx context.Context, f func(Store) error) error
}

// An AccountStore is what account pages and token refresh need.
type AccountStore interface {
	// Account returns an account with its tokens.
	Account(ctx context.Context, provider, providerAccountID string) (*Account, error)

	// UserAccounts returns the accounts of a user, none for a user who has none
	// or does not exist.
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
}

// A SessionLister lists and ends all sessions of a user: "signed-in devices".
type SessionLister interface {
	// UserSessions yields the sessions of a user that have not expired, newest
	// first. Handle identifies each. The Token of a yielded session may be
	// empty, as it has to be where the store keeps only its hash, and Handle is
	// then the SHA-256 of the token in base64url without padding: by one of the
	// two the person's own session can be told from the others. The store may
	// hold a connection while the loop runs.
	UserSessions(ctx context.Context, userID string) iter.Seq2[*StoredSession, error]

	// EndSession removes the session of a user that has the given handle. It
	// fails with ErrNotFound when the user has none such.
	EndSession(ctx context.Context, userID, handle string) error

	// EndUserSessions removes every session of a user except the one with the
	// token except, which may be empty, and returns how many it removed.
	EndUserSessions(ctx context.Context, userID, except string) (int, error)
}

// A UserDeleter removes users with all that belongs to them.
type UserDeleter interface {
	// DeleteUser removes a user with their accounts, sessions and passkeys.
	// Removing one who does not exist is not an error. When DeleteUser and the
	// concurrent calls that store something for the user have returned, nothing
	// of the user is left: each of these calls failed, or what it stored was
	// removed.
	DeleteUser(ctx context.Context, id string) error
}

// A Sweeper removes what has expired. The host calls it from a schedule of its
// own; nothing in this package does.
type Sweeper interface {
	// Sweep removes at most limit expired sessions and mail links and returns
	// how many it removed. A result below limit means that none is left.
	Sweep(ctx context.Context, before time.Time, limit int) (int, error)
}
