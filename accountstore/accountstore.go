// Package accountstore has the rows that package account keeps for the users of a
// [pintle.Store]: their passwords and second factors, what they have begun and not
// finished, what an operator has decided about them, and what has happened to them.
//
// All stores of Pintle but xatastore have them, beside the tables of Auth.js as well.
// A store of your own implements [Store] and returns it from its method AccountStore;
// package storetest checks it.
//
// What a row has to keep secret is hashed or sealed before it comes here: passwords
// and recovery codes by package password, tokens of 256 random bits by SHA-256, codes
// by HMAC, secrets of authenticator apps by [pintle.Config.Secrets]. A copy of the rows
// signs no user in. Tokens of sessions are not among them: a store that shares the
// sessions of Auth.js has them as they are, and a copy of the sessions does sign in.
//
// [pintle.Store]: https://pkg.go.dev/github.com/pintleauth/pintle#Store
// [pintle.Config.Secrets]: https://pkg.go.dev/github.com/pintleauth/pintle#Config
package accountstore

import (
	"context"
	"time"
)

// A Store keeps the rows. Missing rows are pintle.ErrNotFound, and a row that exists,
// or has changed since it was read, is pintle.ErrConflict. Ids, kinds and subjects are
// compared byte by byte. Times are zero, or from 1970 to [Forever]; a store cuts off
// what is less than a millisecond. Texts are valid UTF-8 without NUL; a Secret and a
// Payload have up to 64 KiB, a Name and a BanReason up to 2000 bytes, other texts up to
// 255 bytes.
//
// A store changes nothing that it is given, and keeps no reference to it. What it
// returns belongs to the caller.
//
// Methods may be called concurrently by several processes. Those that say so are one
// step: of any number of concurrent calls, each sees what the others did before it, and
// none undoes another.
//
// The users of the rows need not exist: a store does not check them, since in tables
// that are shared with Auth.js it could not. [pintle.Store].DeleteUser removes the
// state, the factors and the flows whose Subject is the id of its user, and events as
// [Log] says. It removes what is left under an id also when it does not find the user: what was stored while
// a user was deleted, a second call removes. [pintle.Store].Sweep removes flows,
// factors and events that have expired; a store without it removes them without being asked, an
// hour after they expired or later.
//
// A user may go without DeleteUser, if Auth.js shares the tables or an operator deletes
// the row. Sweep also removes the states and the factors whose user the store does not
// have, if they were created before its time; a state without a time counts as older. So
// a store that does not have the users must not sweep these rows. Before
// [pintle.Store].CreateUser returns, it removes what is left under the id of the new user.
//
// [pintle.Store]: https://pkg.go.dev/github.com/pintleauth/pintle#Store
type Store interface {
	// State returns the state of a user. A user without a row has the zero State,
	// with UserID set.
	State(ctx context.Context, userID string) (*State, error)

	// ChangeState replaces the state of a user if its Version is still s.Version,
	// and adds one to it. Version 0 creates the row. Otherwise it fails with
	// pintle.ErrConflict, and the caller reads the state again. It leaves what
	// CountFailure counts as it is. It is one step.
	ChangeState(ctx context.Context, s *State) error

	// CountFailure counts a failed attempt of a user at a time, unless limit
	// failures or more were counted in the window that ends then. A failure that is
	// as old as the window is long is no longer in it. One that is later than at,
	// by the clock of another process, is in it: otherwise a clock that is behind
	// would permit more attempts. A store may forget a failure that has left the
	// window of a later call. With a limit of 0 or less it counts nothing, and says
	// what is in the window.
	//
	// It is one step, and does not change the Version of the state. It creates the
	// row of a user who has none, without a version: ChangeState with Version 0
	// succeeds afterwards.
	CountFailure(ctx context.Context, userID string, at time.Time, window time.Duration, limit int) (Failures, error)

	// CountSuccess takes back one failure that CountFailure has counted at a time, if
	// there is one, and sets the Streak to 0. The other failures in the window stay.
	// It is one step.
	CountSuccess(ctx context.Context, userID string, at time.Time) error

	// Factors returns the factors of a user, expired ones as well, in the order of
	// Created, Kind and ID, texts byte by byte. The list is empty if there are none.
	Factors(ctx context.Context, userID string) ([]*Factor, error)

	// AddFactor stores a factor with Version 1, whatever f.Version is. It fails with
	// pintle.ErrConflict if the user has one of this Kind and ID. It is one step.
	AddFactor(ctx context.Context, f *Factor) error

	// ReplaceFactor replaces everything but UserID, Kind, ID and Created of the
	// factor with these if its Version is still f.Version, and adds one to it.
	// Otherwise it fails with pintle.ErrConflict, and with pintle.ErrNotFound if
	// there is no such factor. It keeps the greater of the stored Step and f.Step,
	// since AdvanceFactor leaves the Version: a change of a factor that was read
	// before a code was accepted would make that code valid again (RFC 6238, section
	// 5.2). It is one step.
	ReplaceFactor(ctx context.Context, f *Factor) error

	// AdvanceFactor sets Step and LastUsed of a factor if its Step is less than
	// step, and leaves its Version. Otherwise it fails with pintle.ErrConflict, and
	// with pintle.ErrNotFound if there is no such factor. It is one step: of any
	// number of concurrent calls with the same step, one succeeds.
	AdvanceFactor(ctx context.Context, userID, kind, id string, step int64, used time.Time) error

	// DeleteFactor removes a factor. It fails with pintle.ErrNotFound if there is no
	// such factor. It is one step: of any number of concurrent calls, one succeeds.
	DeleteFactor(ctx context.Context, userID, kind, id string) error

	// DeleteFactors removes the factors of a user that have one of the kinds, except
	// those, of any kind, with one of the ids, and returns how many it removed.
	// Without kinds it removes nothing.
	DeleteFactors(ctx context.Context, userID string, kinds, except []string) (int, error)

	// CreateFlow stores a flow with Version 1 and without Attempts, whatever f has
	// in these. It fails with pintle.ErrConflict if there is one with this ID,
	// expired or not. It is one step.
	CreateFlow(ctx context.Context, f *Flow) error

	// Flow returns a flow, expired or not.
	Flow(ctx context.Context, id Hash) (*Flow, error)

	// AttemptFlow adds one to the Attempts of a flow and returns the new number. If
	// it has limit or more already, it fails with pintle.ErrConflict and adds
	// nothing. It leaves the Version. It is one step.
	AttemptFlow(ctx context.Context, id Hash, limit int) (int, error)

	// ChangeFlow replaces Payload, Code and Expires of a flow if its Version is still
	// f.Version, and adds one to it. Otherwise it fails with pintle.ErrConflict, and
	// with pintle.ErrNotFound if there is no such flow. It is one step.
	ChangeFlow(ctx context.Context, f *Flow) error

	// UseFlow removes a flow and returns it, expired or not. It fails with
	// pintle.ErrNotFound if there is no such flow, or if it is of another kind, which
	// then stays. It is one step: of any number of concurrent calls, one gets it.
	UseFlow(ctx context.Context, id Hash, kind string) (*Flow, error)

	// EndFlows removes the flows of a subject that have one of the kinds, and returns
	// how many it removed. Without kinds it removes nothing.
	EndFlows(ctx context.Context, subject string, kinds ...string) (int, error)

	// CountFlows returns how many flows a subject has of a kind that expire after a
	// time.
	CountFlows(ctx context.Context, subject, kind string, after time.Time) (int, error)

	// DueUsers returns the ids of users who are to be deleted: those whose state has a
	// DeleteAt that is no later than a time. It is a page: at most limit ids that are
	// greater than after, in the order of their bytes. Fewer than limit are the last
	// page. An empty after begins with the first id. A limit of 0 or less returns none.
	//
	// A job calls it, and no request: a store may look at every row for each page. A row
	// that changes meanwhile is on a page or is not, so the job reads the state of each
	// user again.
	DueUsers(ctx context.Context, at time.Time, after string, limit int) ([]string, error)

	// FactorUsers returns the ids of users who have a factor of a kind, expired or not:
	// each id once, in pages as those of DueUsers.
	FactorUsers(ctx context.Context, kind, after string, limit int) ([]string, error)

	// Users returns a page of the users whom a query selects, and next, with which the query
	// continues; next is empty after the last page. [AllUsers] reads all pages.
	//
	// The newest user is first, and users of whom the store does not know when it made
	// them are last. A query with EmailPrefix or NamePrefix may be in another order, which is the same
	// for all of its pages. A user who is there all the time is on one page. One that is
	// made, changed or deleted meanwhile is on a page or not.
	//
	// An After that is not from the store, or from a query with other conditions, is an error,
	// or a page of users whom the query selects: it never returns others.
	Users(ctx context.Context, q UserQuery) (page []*User, next string, err error)

	// What happened to the users.
	Log
}

// A State is what an application has decided about a user.
type State struct {
	UserID string

	// Version is 0 for a user without a state, and grows by one with each change.
	Version int64

	// Roles are names of roles, in the order in which they were given.
	Roles []string

	// BannedUntil is when a ban ends. Zero means that the user is not banned.
	// [Forever] is a ban without an end.
	BannedUntil time.Time
	BanReason   string

	// DeleteAt is when the user will be deleted. Zero means not at all.
	DeleteAt time.Time

	// Must names what the user has to do at the next sign-in: words with one space
	// between them, of "password", "password-stolen", "enrol" and "know-address-lost".
	// Empty means nothing.
	Must string

	// Claim is an address that the user has given and not proven.
	Claim string

	// Suspended reports that codes are no longer accepted of the user.
	Suspended bool

	// Created is when the row was made, and LastSignIn when the user last signed in.
	// Both may be zero.
	Created, LastSignIn time.Time

	// Streak is how many failures CountFailure has counted since the last
	// CountSuccess. ChangeState does not write it.
	Streak int
}

// Forever is the end of a ban that has none.
var Forever = time.UnixMilli(1<<53 - 1).UTC()

// Failures is the result of [Store.CountFailure].
type Failures struct {
	// Counted reports that the failure was counted. If it was not, there were enough
	// in the window already.
	Counted bool

	// Recent is how many failures are in the window, and Oldest when the first of
	// them was; zero if there are none. Streak is how many were counted since the
	// last success. All three include this failure if it was counted.
	Recent int
	Oldest time.Time
	Streak int
}

// A Factor is something by which a user can prove who they are, a browser that has
// proven it, or a picture of a linked account, which is kept and removed as those are.
type Factor struct {
	UserID string

	// Kind is "password", "totp", "recovery", "device" or "picture", and ID distinguishes the
	// factors of a user of one kind. It is empty for a password.
	Kind, ID string

	// Version is 1 for a new factor, and grows by one with each ReplaceFactor.
	Version int64

	// Secret is a hash, or sealed. That of a picture is its address, of at most 2,048
	// characters, which is no secret.
	Secret string

	// Step is the last time step at which a code was accepted.
	Step int64

	// Name is what the user calls it, or the provider of a picture.
	Name string

	// Created is when the factor was stored first. LastUsed is when it was used last,
	// and zero if it was not. Expires is when it can no longer be used; zero means
	// never.
	Created, LastUsed, Expires time.Time
}

// A Hash is the SHA-256 of a token, or an HMAC-SHA-256.
type Hash [32]byte

// A Flow is something that a user has begun and not finished: a sign-up, a reset of a
// password, a second factor.
type Flow struct {
	// ID is the hash of the token that continues the flow.
	ID Hash

	// Kind is what was begun, such as "reset", and Subject whom it is about: the id of
	// a user, or the keyed hash of an address.
	Kind, Subject string

	// Version is 1 for a new flow, and grows by one with each ChangeFlow.
	Version int64

	// Payload is sealed.
	Payload string

	// Code is the keyed hash of a code that continues the flow in the browser that
	// began it. Zero means that there is none.
	Code Hash

	// Attempts is how many codes were tried.
	Attempts int

	// Created is when the flow was begun, and Expires when it ends. Neither is zero.
	Created, Expires time.Time
}
