package accountstore

import (
	"slices"
	"strings"
	"time"
)

// A UserQuery says which users [Store.Users] returns. The zero values of its conditions
// select every user, and a user is selected by all conditions together. Texts are compared as
// texts: no character in them has another meaning.
type UserQuery struct {
	// ID is the id of the user.
	ID string

	// EmailPrefix is how the address begins, in lower case, and NamePrefix how the name begins,
	// up to 100 characters. A name begins with it in capital or small letters; a store may
	// distinguish those beyond ASCII.
	EmailPrefix, NamePrefix string

	// Role is one of the roles.
	Role string

	// Banned selects the users who are banned at the time At, and with false the others. Nil
	// selects both, as it does for the conditions below. At has no meaning without Banned.
	Banned *bool
	At     time.Time

	// Deleting selects the users who have a DeleteAt and no Claim: users of a deferred
	// sign-up have not asked to be deleted.
	Deleting *bool

	// Unproved selects the users with an address that they have not proven.
	Unproved *bool

	// SecondFactor selects the users who have a factor of the kind "totp".
	SecondFactor *bool

	// After continues a list: it is what the page before has returned as next, for a query
	// with the same conditions. Empty begins with the first user.
	After string

	// Limit is how many users a page has at most. 0 or less returns none.
	Limit int
}

// A User is a user with what is kept of them.
type User struct {
	ID, Name, Email, Image string

	// EmailVerified is when the user proved the address, and Created when the store made
	// the user. Zero means never, or that the store does not know.
	EmailVerified, Created time.Time

	// State is the zero State, with UserID set, for a user without one.
	State State

	// SecondFactor reports that the user has a factor of the kind "totp".
	SecondFactor bool
}

// Selects reports whether a user fulfils the conditions of the query. It is for a store that
// looks at its users one by one.
func (q UserQuery) Selects(u *User) bool {
	is := func(wanted *bool, has bool) bool { return wanted == nil || *wanted == has }
	return (q.ID == "" || q.ID == u.ID) &&
		strings.HasPrefix(u.Email, q.EmailPrefix) &&
		strings.HasPrefix(strings.ToLower(u.Name), strings.ToLower(q.NamePrefix)) &&
		(q.Role == "" || slices.Contains(u.State.Roles, q.Role)) &&
		is(q.Banned, u.State.BannedUntil.UnixMilli() > q.At.UnixMilli()) &&
		is(q.Deleting, !u.State.DeleteAt.IsZero() && u.State.Claim == "") &&
		is(q.Unproved, u.Email != "" && u.EmailVerified.IsZero()) &&
		is(q.SecondFactor, u.SecondFactor)
}
