package pintle

import (
	"context"
	"net/http"
	"net/netip"
)

// Events report to the host what has happened. Handlers run in the request that
// caused them. An error they return is logged with the code EventError and changes
// nothing. All are optional; they may be called concurrently.
type Events struct {
	// SignIn: a session was made and the browser is about to be sent on, or
	// [Auth.StartSession] returns. It is called also where [Callbacks.JWT] returned
	// nil claims, and there is no session.
	// A sign-in that [Callbacks.Hold] held is complete then, and its event has neither
	// the profile nor the tokens of the account.
	SignIn func(ctx context.Context, e *SignInEvent) error

	// SignInFailed: a sign-in was refused or failed. It is called for every
	// error of a sign-in with one of [Config.Providers], whether it comes to the
	// routes, to [Auth.SignIn] or to [Auth.CompleteSignIn]: a wrong password or an attempt too many, a
	// refusal of [Callbacks.SignIn], an error that a provider answers with, a
	// callback that belongs to no flow of this browser, a mail link that is used
	// up, expired or unknown, a mail that is not sent, an account that cannot be
	// linked, a store that does not answer. It is not called for forms without
	// their token, nor for requests that no provider serves.
	SignInFailed func(ctx context.Context, e *SignInFailedEvent) error

	// SignOut: a session was ended by its user.
	SignOut func(ctx context.Context, e *SignOutEvent) error

	// CreateUser: the store has a new user.
	CreateUser func(ctx context.Context, u *User) error

	// UpdateUser: a mail proved the user's address for the first time, or proved
	// it for another user, who has it now; or [Callbacks.SyncUser] changed the
	// user. In a store without transactions also: a sign-in wrote the address that
	// an earlier one did not come to write.
	UpdateUser func(ctx context.Context, u *User) error

	// LinkAccount: the store has a new account of the user.
	LinkAccount func(ctx context.Context, e *LinkAccountEvent) error

	// ClonedPasskey: a sign-in was rejected because the counter of the passkey
	// did not grow. It grows unless the passkey exists twice.
	ClonedPasskey func(ctx context.Context, a *Passkey) error

	// Session: the session route read or updated a session.
	Session func(ctx context.Context, e *SessionEvent) error
}

// A SignInEvent is a completed sign-in.
type SignInEvent struct {
	User    *User
	Account *Account

	// Profile is what the provider reported. Nil unless the provider is
	// [OAuth].
	Profile Profile

	// NewUser reports that the user was created by this sign-in. It is nil
	// where that is not known: without a store, and for credentials.
	NewUser *bool
}

// A SignInFailedEvent is a sign-in that was refused or failed.
type SignInFailedEvent struct {
	// Provider is the id of the provider.
	Provider string

	// Code is the code of the error.
	Code Code

	// Err is the error, an [*Error]. Parts of the request in its text are
	// bounded; other text in it may come from a provider.
	Err error

	// Client is the address of the client, as [Config.ClientAddress] has it. It
	// may be invalid.
	Client netip.Addr

	// Request is the request. Its body has been read.
	Request *http.Request
}

// A SignOutEvent is an ended session: the claims of its token, or the row that
// was removed. Both are nil when the session was gone already.
type SignOutEvent struct {
	Claims  Claims
	Session *StoredSession

	// AtProvider reports that the browser was sent on to the provider with which the
	// session began, to end the session there; see [OAuth.EndSessionAtProvider].
	// Provider is its id. It is empty if a handler of the host signed out: a route finds
	// the provider later.
	AtProvider bool
	Provider   string
}

// A LinkAccountEvent is an account that was linked.
type LinkAccountEvent struct {
	User *User

	// Account is what was stored.
	Account *Account

	// ProviderUser is the user that the provider's profile describes.
	ProviderUser *User
}

// A SessionEvent is a session that was shown.
type SessionEvent struct {
	// Session is what the browser was shown.
	Session any

	// Claims are those of the new token. Nil for database sessions.
	Claims Claims
}
