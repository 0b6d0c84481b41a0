// Package storetest checks that a store keeps the promises its interface
// makes. A store of your own passes with
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) pintle.Store { return newStore(t) })
//	}
//
// The faults of a store show seldom and late: two requests that use one
// mail link, an address that matches in another case, an update that brings
// back a session which was just ended. Each check is one such promise, which its
// name states.
//
// The numbers in the names are those of the cases in the adapter suite of
// Auth.js, which this suite contains.
package storetest

import (
	"slices"
	"testing"

	"github.com/pintleauth/pintle"
)

// Run tests the stores that open returns. Each check opens its own, which must
// be empty. What the store does not have by its [pintle.Features] is skipped,
// visibly, but for one check: that its methods say so. So are the checks of
// [accountstore.Store], [sharedstate.Store] and [providersession.Store] if AccountStore,
// SharedState or ProviderSessions returns nil.
//
// A store with its own tables needs no limits: they are for tables whose columns
// another application has chosen.
func Run(t *testing.T, open func(*testing.T) pintle.Store, limits ...Limit) {
	RunWithoutRaces(t, open, limits...)
	RunRaces(t, open, limits...)
}

// RunRaces runs the checks of [Run] whose calls are concurrent. It is for a store that
// hands its calls to several instances in turn, each with its own connection: what one
// instance alone promises Run has shown.
func RunRaces(t *testing.T, open func(*testing.T) pintle.Store, limits ...Limit) {
	raceGroup.run(t, open, limits)
}

// RunWithoutRaces runs the other checks. Use it for a further layout of tables in the same
// database, where the statements lock the same rows as those that Run has tested.
func RunWithoutRaces(t *testing.T, open func(*testing.T) pintle.Store, limits ...Limit) {
	for _, g := range groups() {
		if g.name != raceGroup.name {
			g.run(t, open, limits)
		}
	}
}

// A Limit is something that given tables cannot do, however they are used. The
// checks that ask for it are skipped.
type Limit int

const (
	// WholeSeconds is a table whose times have no fractions of a second.
	WholeSeconds Limit = iota + 1

	// NarrowColumns is a table whose texts end at about 190 characters and
	// whose numbers and times end in 2038.
	NarrowColumns

	// AddressRequired is a table in which every user has an address.
	AddressRequired

	// OneAccountEach is a table in which a user has at most one account.
	OneAccountEach

	// LooseUniqueness is a table whose uniqueness rules take texts for equal
	// that differ in case or accents. Look-ups have to be exact regardless.
	LooseUniqueness

	// AuthJSAccounts is a table of accounts as Auth.js makes it: without a column
	// for [pintle.Account.VerifiedEmail], in some layouts without one for ids, and
	// with a column of text for [pintle.Account.SessionState].
	AuthJSAccounts
)

func (l Limit) String() string {
	switch l {
	case WholeSeconds:
		return "the table keeps whole seconds"
	case NarrowColumns:
		return "the table's columns are narrow"
	case AddressRequired:
		return "the table requires an address"
	case OneAccountEach:
		return "the table has room for one account per user"
	case LooseUniqueness:
		return "the table's uniqueness rules ignore case and accents"
	case AuthJSAccounts:
		return "the table of accounts is as Auth.js makes it"
	}
	return "unknown limit"
}

// A group is the checks of one feature.
type group struct {
	name   string
	checks []check
}

func (g group) run(t *testing.T, open func(*testing.T) pintle.Store, limits []Limit) {
	t.Run(g.name, func(t *testing.T) {
		for _, c := range g.checks {
			t.Run(c.name, func(t *testing.T) { c.run(newTester(t, open(t), limits)) })
		}
	})
}

var raceGroup = group{"Race", slices.Concat(raceChecks, accountRaceChecks, providerSessionRaceChecks)}

// A check is one promise.
type check struct {
	name string
	run  func(*tester)
}

func groups() []group {
	return []group{
		{"Features", featureChecks},
		{"User", userChecks},
		{"UserUpdate", userUpdateChecks},
		{"UserExtra", userExtraChecks},
		{"Account", accountChecks},
		{"Session", sessionChecks},
		{"SessionUpdate", sessionUpdateChecks},
		{"Verification", verificationChecks},
		{"Passkey", passkeyChecks},
		{"Accounts", accountsChecks},
		{"AccountSwap", accountSwapChecks},
		{"AccountStore", accountStoreChecks},
		{"ProviderSessions", providerSessionChecks},
		{"SharedState", sharedStateStoreChecks()},
		{"SessionList", sessionListerChecks},
		{"DeleteUser", userDeleterChecks},
		{"Sweep", sweeperChecks},
		{"Transactions", transactionChecks},
		{"Text", textChecks},
		raceGroup,
		{"Cancelled", slices.Concat(cancelledChecks, accountCancelledChecks, providerSessionCancelledChecks)},
	}
}

// limited skips a check of something the tables cannot do.
func (t *tester) limited(l Limit) {
	t.Helper()
	if t.has(l) {
		t.Skip(l.String())
	}
}

func (t *tester) has(l Limit) bool { return slices.Contains(t.limits, l) }
