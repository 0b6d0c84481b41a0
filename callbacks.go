package pintle

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"github.com/pintleauth/pintle/internal/clip"
)

// Callbacks let the host decide. All are optional; they may be called
// concurrently.
type Callbacks struct {
	// SignIn decides whether a user may sign in. It returns "" and nil to allow
	// the sign-in, an error to deny it, or a URL to which the browser goes
	// instead: a path or a URL of this site, or what Redirect accepts. An error
	// that is not a [Code] or an [*Error] is shown to the user as
	// [CodeAccessDenied] and logged unchanged. With an [Email] provider SignIn
	// is called twice: before the mail is sent, and when the link is opened.
	SignIn func(ctx context.Context, s *SignInAttempt) (goTo string, err error)

	// SignUp decides whether a sign-in may create a user, once it is known that no stored
	// user signs in: after SignIn has allowed it, and before SyncUser. An error denies the
	// sign-in, as one of SignIn does, and nothing is stored. It is called once in a sign-in
	// that creates a user, by a mail link, an [OAuth] provider, a connection or a passkey. It
	// is not called when a stored user signs in, when an account is linked, and for
	// [Credentials], whose Authorize finds or creates its users itself. With package account
	// it is called for a sign-up with a password, too.
	//
	// a is the SignInAttempt of SignIn, and a.User the user that would be created, whose ID
	// is a proposal. Of the address in a.User a mail link has proven that the person reads
	// mail there. That of an OAuth provider is a claim: a.Account.VerifiedEmail is the one
	// that the provider has verified, or empty.
	//
	// SignUp runs outside the transaction of the sign-in, so that it may use the store. It
	// needs [Config.Store].
	SignUp func(ctx context.Context, a *SignInAttempt) error

	// SyncUser keeps stored users in step with what a provider reports at each
	// sign-in, such as a role or a name. It is called at every sign-in of a
	// user of [Config.Store], after SignIn has allowed it, and returns what to
	// change of a.User. What differs from the stored user is written before the
	// session is made, and together with it in a store with
	// [Features.Transactions]. A user who is created is created with the
	// change.
	//
	// a is the SignInAttempt of SignIn, except for a.User: that is the user to
	// change. For a new user it is the one that will be created, whose ID is a
	// proposal. An account of another provider can be linked to a user, and
	// then signs that user in: let a.Account.Provider decide what the account
	// may change. While an account or a passkey is linked to the signed-in
	// user, a.LinkTo is set.
	//
	// Profile is set for [OAuth] only. With an [Email] provider it is called when
	// the link is opened. It is not called for [Credentials], whose Authorize
	// returns the user and can change it in the store before.
	//
	// It cannot change the address: Email, EmailVerified, and members of Extra
	// with the name of a field of the user, fail the sign-in. So do members of
	// Extra that the store has no place for.
	//
	// An error denies the sign-in, and leaves no session; one that is not a
	// [Code] or an [*Error] is shown to the user as [CodeConfiguration].
	// SyncUser runs outside the transaction of the sign-in, so that it may use
	// the store. It may be called more than once in a sign-in, and in one that
	// is then denied: it should return what to write, and write nothing.
	SyncUser func(ctx context.Context, a *SignInAttempt) (UserUpdate, error)

	// HasPassword reports whether a stored user has a password at another
	// configuration of the store, which this one cannot see: another Auth,
	// another tenant of [NewFunc], Auth.js. It is called before the first mail
	// to an address that the user has not proven signs in as that user, and
	// before an account is linked by that address, as [Credentials.CanSignIn] is
	// for passwords here. An error fails the sign-in. Nil means that no user
	// has one.
	HasPassword func(ctx context.Context, u *User) (bool, error)

	// Hold decides whether a sign-in needs something else first: a second factor,
	// consent to terms of use, a missing name, a new password. It returns "" to let
	// the user in, or the page that asks for it: a path or a URL of this site, or
	// what Redirect accepts. The browser is sent there without a session, and
	// the page calls [Auth.CompleteSignIn] or [Auth.CancelSignIn]. An error denies
	// the sign-in, as one of SignIn does.
	//
	// It is called at every sign-in that makes a session, after the user is decided
	// and stored, whichever the provider, and again by CompleteSignIn: with
	// the methods that the page added and the user as the store has it now. It
	// may then return another page. It is not called for a session that goes on: when
	// a signed-in user links an account or adds a passkey, when the row of a session
	// stays as it is at a further sign-in of its user, and when a session is read.
	// CompleteSignIn does not call SignIn: check here, too, whether a user is banned. An
	// account that [OAuth].DangerouslyLinkByEmail links is linked before Hold is called,
	// and stays linked if the sign-in is denied or given up.
	//
	// It needs [Features.Verifications]. Claims of a token session are made when
	// the sign-in is held; see JWT. What a provider issued is in p.Account at the
	// first call only.
	Hold func(ctx context.Context, p *PendingSignIn) (page string, err error)

	// ProveAddress is called before a sign-in proves the address of a stored user for the
	// first time: it has shown that the user reads mail there, and [User].EmailVerified,
	// which is zero, is set after it returns nil. It removes what a person who used the
	// address before may have added to the user, such as a second factor, which would let
	// that person in or keep the owner of the address out. All other sessions of the user
	// end as well, as far as [Features].SessionList or [SessionConfig.Revocation] permit.
	//
	// p.Authentication has the methods that were proven in this sign-in. ID, RedirectTo
	// and Expires are not set. It may be called more than once in a sign-in, and in one
	// that is then denied. An error denies the sign-in, and the address stays unproven. It
	// runs outside the transaction of the sign-in. It is not called for a user whom the
	// sign-in creates.
	ProveAddress func(ctx context.Context, p *PendingSignIn) error

	// Accept decides whether a session that was read is used. It returns "" to use it,
	// or the page on which its user first proves more: a path or a URL of this site.
	// The request then counts as signed out, and its session is neither extended nor
	// ended: [Auth.Load] and [Auth.Session] find none, the session route shows null, and
	// nothing is linked to its user. [Auth.Require] sends browsers to the page, with the
	// parameter callbackUrl. An error means that it is not known, as if the store were
	// unavailable.
	//
	// It is called for every session that is read, before JWT and Session, so it should
	// decide by s.Authentication where it can. It must not change s. With token sessions
	// s.User has what the token carries.
	//
	// On the page the context of the request has to tell Accept that the session is
	// wanted: otherwise [Auth.Session] and [Auth.Reauthenticate] do not find it there
	// either.
	Accept func(ctx context.Context, s *Session) (page string, err error)

	// Roles returns the roles of a user, by the id, for [Session].Roles and the claim roles of
	// session tokens. It is called when a token is made, and each time it is renewed. An
	// error fails the sign-in, and leaves a session that is read unknown, as if the store
	// were unavailable; one that matches [CodeAccessDenied] ends the session of the token, or
	// denies the sign-in. It is not called for database sessions. Nil leaves the claim to
	// JWT. Package account sets it, and New returns an error if the host has set it as well.
	Roles func(ctx context.Context, userID string) ([]string, error)

	// Act returns the session of a user as whom an operator acts. It is called when the session
	// of a request is read, if the request has the cookie "pintle.acting": with the prefix
	// "__Host-" on a site of https, and with a hyphen and 16 digits after the name if there is a
	// tenant or a session cookie of another name or path.
	//
	// The result decides whose session the request has:
	//
	//   - A session is that of the request. It has the User, the Actor and an Expires, and may
	//     have Roles. It belongs to Pintle from then on: Act returns a new one for each call, and
	//     not a.Session. a.Session is the session of the operator and must not be changed; the
	//     browser keeps it.
	//   - Nil without an error means that the request lacks the session of the operator, who acts
	//     again once it comes. A GET or a HEAD has the session that came with it, if there is one.
	//     Other requests, and those with the header Upgrade, are rejected with status 409. The
	//     cookie stays.
	//   - An error that matches [CodeActingEnded] means that the operator does not act, or no
	//     longer. The same requests go on and are rejected: what the rejected ones do was meant
	//     for the user. The next page that the browser loads clears the cookie.
	//   - Any other error means that it is not known, as if the store were unavailable.
	//
	// Package account sets Act, and [New] returns an error if the host has set it as well.
	Act func(ctx context.Context, a *ActingRequest) (*Session, error)

	// Redirect chooses where the browser goes. target is what the request
	// asked for, base the origin of this site. Nil accepts paths and URLs of
	// this site and sends everything else to base.
	Redirect func(ctx context.Context, target, base string) (string, error)

	// JWT makes the claims of a session token. It is called at every sign-in
	// and every time a token session is read, and may change and return
	// t.Claims, or claims made from scratch. Returning nil claims ends the
	// session. It is not called for database sessions, and [New] warns of one beside them.
	//
	// The claims iat, exp and jti are set afterwards. So are auth_time, started and
	// sid where [SessionConfig.AbsoluteMaxAge] or [SessionConfig.Revocation] needs
	// them, and auth_time, started, amr, auth_provider and proofs with
	// [SessionConfig.RecordAuthentication]: no callback changes them. Without
	// it a claim auth_provider is removed. If a provider has [OAuth].BackChannelLogout,
	// [OAuth].FollowProvider or [OAuth].EndSessionsOnRefusal, a claim op that this package
	// has not written is removed, too.
	//
	// If Hold holds a sign-in, JWT is called then, and the claims wait, sealed, in
	// a cookie. The name, address and image of a stored user become those at
	// completion, unless JWT has replaced them.
	JWT func(ctx context.Context, t *TokenChange) (Claims, error)

	// Session makes what a browser is shown of the session. The result is
	// encoded as JSON; nil is shown as null, as for a request without a
	// session. [Auth.Require] rejects a request when this function returns nil
	// for its session or empties User in v.Session. A nil function shows the
	// user's name, address and image.
	Session func(ctx context.Context, v *SessionView) (any, error)

	// Authorized decides in [Auth.Require] whether a request may pass, or
	// answers it. s is nil when the request is signed out or its session has no
	// user. An error rejects the request and is logged. Nil lets every
	// signed-in user pass.
	Authorized func(r *http.Request, s *Session) (Access, error)
}

// A SignInAttempt is a sign-in that is verified but not complete.
type SignInAttempt struct {
	// User is the stored user if there is one, and otherwise the user that
	// would be created. [Callbacks.SyncUser] gets a copy.
	User *User

	// Account is the account that the user signs in with.
	Account *Account

	// Profile is what the provider reported. Nil unless the provider is
	// [OAuth].
	Profile Profile

	// Submission is what was typed. Nil unless the provider is [Credentials].
	Submission *Submission

	// Connection is the id of the connection of [Config.Connections] with which the user
	// signs in, and empty for other providers. VerifiedDomain reports that the address of
	// the profile is in one of the domains that the customer has proven to own. The address
	// in Profile may be any other text, and proves nothing then.
	Connection     string
	VerifiedDomain bool

	// VerificationRequest reports that a mail is about to be sent.
	VerificationRequest bool

	// SDK reports that a page or an application has sent an ID token from the SDK of the
	// provider; see [OAuth.AcceptIDTokens].
	SDK bool

	// LinkTo is the signed-in user to whom Account, or a passkey that was just
	// created, is about to be linked. It is nil for every other sign-in. An
	// account is a way in for good: ask for a recent sign-in by SignedInAt.
	LinkTo *User

	// SignedInAt is when LinkTo last proved who they are: the Time of [Session.Authentication]. It
	// is zero where the session does not record it, and then counts as long ago: in
	// tables without a column for it, and in tokens without
	// [SessionConfig.RecordAuthentication], [SessionConfig.Revocation] or
	// [SessionConfig.AbsoluteMaxAge].
	SignedInAt time.Time

	// Authentication is how LinkTo has signed in: that of the session. It is zero
	// where LinkTo is nil.
	Authentication Authentication
}

// A Trigger is the reason for which [Callbacks.JWT] or [Callbacks.Session] is
// called.
type Trigger string

// The triggers. The empty one is a plain read.
const (
	TriggerSignIn Trigger = "signIn"
	TriggerSignUp Trigger = "signUp"
	TriggerUpdate Trigger = "update"
)

// A TokenChange is a session token about to be written.
type TokenChange struct {
	// Claims are the claims so far: at a sign-in name, email, picture and sub;
	// later those of the token that was read.
	Claims Claims

	// Trigger is TriggerSignIn, TriggerSignUp for a user just created,
	// TriggerUpdate, or empty for a read.
	Trigger Trigger

	// User, Account and Profile are set at a sign-in only. Profile is set for
	// [OAuth] providers only.
	User    *User
	Account *Account
	Profile Profile

	// NewUser reports that the user was created by this sign-in. It is nil
	// where that is not known: without a store, and for reads.
	NewUser *bool

	// Update is what an update came with: the data a browser posted, as
	// encoding/json decodes it, or what server code gave to
	// [Auth.UpdateSession]. Any signed-in user can post any data: copy only
	// what users may change about themselves.
	Update any
}

// A SessionView is a session about to be shown.
type SessionView struct {
	// Session is the session, whose JSON is the default view.
	Session *Session

	// Claims are those of the token. Nil for database sessions.
	Claims Claims

	// User is the stored user and Stored the row of the session, whose JSON
	// leaves out its token. Both are nil for token sessions.
	User   *User
	Stored *StoredSession

	// Trigger is TriggerUpdate or empty. Update is what the update came
	// with. Both are set for database sessions only; token sessions have them
	// in [TokenChange].
	Trigger Trigger
	Update  any
}

// An Access is what [Callbacks.Authorized] decides about a request.
type Access struct {
	// Allowed lets the request pass.
	Allowed bool

	// Response answers the request instead: a redirect to another page, a text
	// of the host, any status. Nil lets Allowed decide. With Response set the
	// request does not pass, whatever Allowed is.
	Response http.Handler
}

// An ActingRequest is a request with the cookie of an operator who acts as a user; see
// [Callbacks].Act.
type ActingRequest struct {
	// Request is the request that is answered.
	Request *http.Request

	// Session is the session of the browser, which has to be that of the operator. It is nil
	// if there is none, or none that is used.
	Session *Session

	// Enters reports that the request is about to reach a handler of the application.
	// Otherwise the session is only looked at.
	Enters bool

	// Ends reports that the browser signs out, which ends the acting. Act returns
	// [CodeActingEnded] then. Other errors are logged, and a session is ignored.
	Ends bool
}

// A Refusal is a request that [Auth.Require] rejects. As an [http.Handler] it
// writes the default answer, so that [Config.Refuse] can change the answer to
// some requests and leave the others.
type Refusal struct {
	// Status is the status of the default answer:
	//   - 401: the request is signed out.
	//   - 403: the user is not authorized.
	//   - 404: [NewFunc] has no configuration for the request.
	//   - 409: an operator acted as a user, the acting has ended, and the request was meant for
	//     that user. [Auth.Load] rejects it as well.
	//   - 500: the configuration is at fault.
	//   - 503: the session could not be read, because the store or the revocation list is
	//     unavailable.
	Status int

	// SignIn is the sign-in page, or the page of [Callbacks.Accept], with the way back
	// to this request. It is set when Status is 401.
	SignIn string

	// Navigation reports that a browser is loading a page: a GET or HEAD that
	// asks for HTML. The default answer redirects it to SignIn, or shows a page in
	// the words of [pages.Texts]. A browser that has sent a form gets a page, too. Other
	// clients get Status and its text. With the status 409
	// it reports that a browser has sent a form, and other clients get JSON with the member
	// error, "acting_ended".
	Navigation bool

	// Session is the session of the user who is not authorized, when Status is
	// 403.
	Session *Session

	settings *settings // nil where there is no configuration

	// signInPage is that of SignIn, without the way back: where a form was posted to need
	// not be a page.
	signInPage string
}

// A PendingSignIn is a sign-in whose user is known and that has no session yet. See
// [Callbacks.Hold].
type PendingSignIn struct {
	// ID names the sign-in: it is the same at each call of Hold and on each page of one
	// sign-in, so that guesses at a code can be counted by it. It is not a secret, and
	// does not continue the sign-in. It has 36 characters.
	ID string

	// User is the user as the store has it now. A user of [Credentials] who is not
	// in the store is as Authorize returned it.
	User *User

	// Account is the account that the user signed in with. It has the tokens of the
	// provider at the first call of Hold, which may keep them with
	// [Auth.UpdateAccount]. After that only UserID, Type, Provider and
	// ProviderAccountID are set: the account waits in a cookie.
	Account *Account

	// Profile is what the provider reported. It is nil unless the provider is
	// [OAuth], and set at the first call of Hold only. ProviderUser is the user that it
	// describes.
	Profile      Profile
	ProviderUser *User

	// Authentication is when the sign-in began (Started) and what has been proven so far,
	// each method at its time. It includes the methods that [Auth.CompleteSignIn] adds.
	Authentication Authentication

	// NewUser reports that the user was created by this sign-in. It is nil where that
	// is not known: for credentials.
	NewUser *bool

	// RedirectTo is the URL to which the browser goes in the end.
	RedirectTo string

	// Expires is when the sign-in can no longer be completed. It is zero in Hold,
	// where nothing is held yet.
	Expires time.Time

	// Request is the request that signs in, and in Hold also the request that
	// completes the sign-in: a cookie of the host in it may show that the
	// browser has passed the second factor before.
	Request *http.Request
}

// CompleteOptions are the details of [Auth.CompleteSignIn].
type CompleteOptions struct {
	// Methods are what the page has verified, as values of the claim amr: "otp" for
	// a code of an authenticator app, "sms" for one sent by text message. They are
	// added to Authentication.Methods, proven now, which Hold sees. A page that verified nothing,
	// such as one with terms of use, adds none. A method has at most 64 bytes, and a
	// session records the last sixteen.
	//
	// https://www.rfc-editor.org/rfc/rfc8176#section-2
	Methods []string

	// Change is a change to the user that must leave no session of before, such as another
	// password, or the first proof of the address. [Auth.CompleteSignIn] ends everything that
	// [Auth.SignOutEverywhere] ends, but for the sign-in that it completes, then calls Change,
	// and ends everything else once more, because a sign-in may have been under way. It then
	// reads the user again and goes on, be it to a further page or to a session. If the process
	// dies in between, the user is signed out.
	//
	// An error of Change, or of the store before it, ends the sign-in, and so does another request that
	// ends the sessions of the user meanwhile. Change is not called if
	// the sessions of before cannot be ended. It is called once, outside any transaction.
	// [Auth.Reauthenticate] does not call it.
	Change func(ctx context.Context) error
}

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

	// ProviderSignOut: a provider has ended sessions; see [OAuth].BackChannelLogout,
	// [OAuth].FollowProvider and [OAuth].EndSessionsOnRefusal. For a logout token it is
	// called once for each user whose database sessions have ended, also if the store then
	// fails and the token comes again; and once without a user if no session is known to have
	// ended, as always with token sessions. For the refusal of a refresh token it is called
	// before the call returns that was refused, if a database session has ended, and always
	// with token sessions.
	ProviderSignOut func(ctx context.Context, e *SignOutEvent) error

	// CreateUser: the store has a new user.
	CreateUser func(ctx context.Context, u *User) error

	// UpdateUser: a mail proved the user's address for the first time, or proved
	// it for another user, who has it now; or [Callbacks.SyncUser] changed the
	// user. In a store without transactions also: a sign-in wrote the address because
	// an earlier one was interrupted before it could.
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

	// ProviderUser is the user that Profile describes. It is nil if Profile is.
	ProviderUser *User

	// NewUser reports that the user was created by this sign-in. It is nil
	// where that is not known: without a store, and for credentials.
	NewUser *bool

	// SignedIn reports that the user has signed in by this request, and has a session. It
	// is false where the signed-in user has linked the account or added a passkey, where
	// [Auth.StartSession] made the session, without a sign-in, and where there is none,
	// because [Callbacks.JWT] returned nil claims.
	SignedIn bool

	// SDK is that of [SignInAttempt].
	SDK bool

	// Authentication is when and how the user has proven who they are, as the session
	// records it.
	Authentication Authentication

	// Request is the request that is answered. Its body has been read.
	Request *http.Request

	addCookie func(line string) // nil in tests of the host's
}

// SetCookie adds a cookie to the answer to the sign-in: to remember with which provider
// a browser has signed in, for example. It works while [Events].SignIn runs. The cookie
// reaches no client if [Auth.StartSession] is called without a response. It fails if c has
// a name that no cookie can have. c must not have the name of a cookie of Pintle.
func (e *SignInEvent) SetCookie(c *http.Cookie) error {
	line := c.String()
	if line == "" {
		return fmt.Errorf("pintle: SignInEvent.SetCookie: no cookie can have the name %s", clip.Quote(c.Name))
	}
	if e.addCookie != nil {
		e.addCookie(line)
	}
	return nil
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

	// User is the user whose sign-in it was, if the first proof was right: the password, the
	// link of a mail, the passkey, or the account of a provider that the user has already.
	// Otherwise it is nil.
	User *User

	// Email is the address to which the link of an [Email] provider was asked for, in its
	// normal form. Any client can ask, and the address need not have a user. It is empty for
	// other sign-ins.
	Email string

	// Client is the address of the client, as [Config.ClientAddress] has it. It
	// may be invalid.
	Client netip.Addr

	// Request is the request. Its body has been read.
	Request *http.Request
}

// A SignOutEvent is an ended session: the claims of its token, or the row that
// was removed. Both are nil when the session was gone already. In
// [Events].ProviderSignOut it is what a provider has ended.
type SignOutEvent struct {
	Claims  Claims
	Session *StoredSession

	// AtProvider reports that the browser is sent on to end its session at the provider,
	// too; see [OAuth.EndSessionAtProvider]. Provider is the id of the provider with which
	// the session began, if it is known. After [Auth.SignOut] it is empty, and AtProvider
	// reports only that the browser is sent to the route that finds the provider: if the
	// session did not begin with one, that route sends the browser on to RedirectTo.
	AtProvider bool
	Provider   string

	// The others are those of [Events].ProviderSignOut, which has neither Claims nor
	// Session.

	// UserID is the user whose database sessions have ended, and Ended how many. Both are
	// zero where that is not known. With [OAuth.EndSessionsOnRefusal] UserID is that of the
	// account that was refused, also for token sessions.
	UserID string
	Ended  int

	// ProviderSession and ProviderUser are the claims sid and sub of the logout token. If
	// ProviderSession is empty, all sessions of the user at the provider have ended. With
	// [OAuth.EndSessionsOnRefusal] ProviderUser is the claim sub of the kept ID token, or
	// the ProviderAccountID if the provider speaks OAuth 2 alone.
	ProviderSession, ProviderUser string

	// Refused reports that there was no logout token: the provider has refused a refresh
	// token. With [OAuth.FollowProvider] that is the one of a session that follows the
	// provider, and the event is about this session of UserID: ProviderUser is empty.
	Refused bool
}

// A LinkAccountEvent is an account that was linked.
type LinkAccountEvent struct {
	User *User

	// Account is what was stored.
	Account *Account

	// ProviderUser is the user that the provider's profile describes.
	ProviderUser *User

	// NewUser reports that the user was created for the account.
	NewUser bool

	// Authentication is when and how the user has proven who they are, as the session
	// records it in which they have linked the account or added the passkey. It is zero if
	// no user was signed in.
	Authentication Authentication

	// Request is the request that is answered. Its body has been read.
	Request *http.Request
}

// A SessionEvent is a session that was shown.
type SessionEvent struct {
	// Session is what the browser was shown.
	Session any

	// Claims are those of the new token. Nil for database sessions.
	Claims Claims
}
