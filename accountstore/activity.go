package accountstore

import (
	"context"
	"time"
)

// A Log keeps what happened to the users: the security activity of package account.
// Every [Store] is one.
//
// Events of users who are gone stay until they expire, but for these: DeleteUser, and
// CreateUser for what is left under the id of a new user, remove the events that have the
// id as their UserID and no Actor. An event that has an Actor is the act of an operator.
// It stays without its UserID, and keeps its Subject. Sweep removes the events that have
// expired.
type Log interface {
	// Record stores an event. If there is one with this ID, it adds e.Count to the
	// Count of that one and changes nothing else. A Count of 0 or less counts as 1.
	// It is one step.
	Record(ctx context.Context, e *Event) error

	// Activity returns a page of the events that a query selects, and next, with which the
	// query continues; next is empty after the last page. [AllEvents] reads all pages.
	//
	// The newest event is first: the order is the descending one of At and, among events of
	// one millisecond, of ID, byte by byte. An event that is there all the time is on one page.
	//
	// An After that is not from the store, or from a query with other conditions, is an error,
	// or a page of events that the query selects: it never returns others.
	Activity(ctx context.Context, q ActivityQuery) (page []*Event, next string, err error)
}

// An Event is something that happened to a user, or that a user or an operator did.
type Event struct {
	// ID distinguishes the event from all others. It has 1 to 64 characters, all of
	// them letters, digits, "-" and "_".
	ID string

	// At is when it happened. It is not zero.
	At time.Time

	// Kind is what happened, such as "sign_in". Outcome is how it ended: "ok", "refused" or
	// "failed", or "begun" for an act of an operator that is not done yet. Package account
	// lists the kinds.
	Kind, Outcome string

	// UserID is the user that the event is about. It is empty if there is none, as for
	// an address without an account.
	UserID string

	// Actor is the operator who acted. It is empty for what users do themselves.
	Actor string

	// Subject is a keyed hash: of the address of an event without a user, or of the
	// UserID of an operator's act. Zero means that there is none.
	Subject Hash

	// Detail has up to 32 further facts with up to 8 KiB of texts in all. It has no
	// secret and no text of a request but the name of a device and the reason that an
	// operator gave.
	Detail map[string]string

	// Count is how often it happened: several failures of one kind within a minute are
	// one event.
	Count int

	// Expires is when the event is no longer kept. It is not zero.
	Expires time.Time
}

// An ActivityQuery says which events [Log.Activity] returns. The zero values of its conditions
// select every event, and an event is selected by all conditions together.
type ActivityQuery struct {
	// UserID, Actor, Kind and Outcome are those of the events.
	UserID, Actor, Kind, Outcome string

	// Since and Until limit the time: events of Since and later, and before Until, in whole
	// milliseconds.
	Since, Until time.Time

	// After continues a list: it is what the page before has returned as next, for a query
	// with the same conditions. Empty begins with the newest event.
	After string

	// Limit is how many events a page has at most. 0 or less returns none.
	Limit int
}

// Selects reports whether an event fulfils the conditions of the query. It is for a store that
// looks at its events one by one.
func (q ActivityQuery) Selects(e *Event) bool {
	return (q.UserID == "" || q.UserID == e.UserID) &&
		(q.Actor == "" || q.Actor == e.Actor) &&
		(q.Kind == "" || q.Kind == e.Kind) &&
		(q.Outcome == "" || q.Outcome == e.Outcome) &&
		(q.Since.IsZero() || e.At.UnixMilli() >= q.Since.UnixMilli()) &&
		(q.Until.IsZero() || e.At.UnixMilli() < q.Until.UnixMilli())
}
