package storetest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/store/memstore"
)

// rowMutants are stores whose rows have one thing wrong.
func rowMutants() []mutant {
	return slices.Concat(stateMutants, failureMutants(), factorMutants, flowMutants, listMutants(), userListMutants(), activityMutants(), rowStoreMutants)
}

// altering returns a mutant whose rows are those of a good store, altered.
func altering(name string, alter func(good accountstore.Store) accountstore.Store, noticed string) mutant {
	return mutant{name, func(s *memstore.Store) pintle.Store { return otherRows{s, alter(s.AccountStore())} }, noticed}
}

// otherRows is a store with other rows outside transactions.
type otherRows struct {
	*memstore.Store
	rows accountstore.Store
}

func (s otherRows) AccountStore() accountstore.Store { return s.rows }

var rowStoreMutants = []mutant{
	{"a deleted user's rows stay", func(s *memstore.Store) pintle.Store { return apart(s) }, "a deleted user leaves no state"},
	{"a deleted user's state stays", func(s *memstore.Store) pintle.Store { return newRemembering(s, "state") }, "a deleted user leaves no state"},
	{"a deleted user's factors stay", func(s *memstore.Store) pintle.Store { return newRemembering(s, "factors") }, "a deleted user leaves no state"},
	{"a deleted user's flows stay", func(s *memstore.Store) pintle.Store { return newRemembering(s, "flows") }, "a deleted user leaves no state"},
	{"the rows of no user stay", func(s *memstore.Store) pintle.Store { return carefulDelete{s} }, "rows of a user who does not exist"},
	{"the rows of another user go as well", func(s *memstore.Store) pintle.Store { return trimming{s} }, "a deleted user leaves no state"},
	{"rows are not swept", func(s *memstore.Store) pintle.Store { return apart(s) }, "a sweep removes the flows and factors"},
	{"a sweep of rows is one millisecond late", func(s *memstore.Store) pintle.Store { return inclusive{s} }, "a sweep removes the flows and factors"},
	{"factors that never expire are swept", func(s *memstore.Store) pintle.Store { return newRemembering(s, "sweep") }, "a sweep removes the flows and factors"},
	{"rows of users who are gone are not swept", func(s *memstore.Store) pintle.Store { return newGone(s, "kept") }, "a sweep removes the states"},
	{"a sweep takes rows of users who are there", func(s *memstore.Store) pintle.Store { return newGone(s, "all") }, "a sweep removes the states"},
	{"a sweep of rows of users who are gone has no limit", func(s *memstore.Store) pintle.Store { return newGone(s, "limit") }, "a sweep removes no more rows of users"},
	{"a new user has the rows of one who had the id", func(s *memstore.Store) pintle.Store { return newGone(s, "id") }, "a new user has no state"},
	{"a user who cannot be created takes rows", func(s *memstore.Store) pintle.Store { return newGone(s, "early") }, "a user who cannot be created"},
	{"a transaction's store has no rows", func(s *memstore.Store) pintle.Store { return rowless{s} }, "the store of a transaction has rows"},
	{"rows are not in the transaction", func(s *memstore.Store) pintle.Store { return outside{apart(s)} }, "each change of a row is undone"},
	{"new rows are not in the transaction", func(s *memstore.Store) pintle.Store { return outside{apart(s)} }, "rows that were made in a transaction"},
	{"a transaction's rows outlive it", func(s *memstore.Store) pintle.Store { return outside{apart(s)} }, "the rows of a finished transaction"},
	altering("a look-up of a row outlives its context", func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, getState: func(ctx context.Context, userID string) (*accountstore.State, error) {
			return good.State(context.WithoutCancel(ctx), userID)
		}}
	}, "a look-up of a row whose context has ended"),
	altering("a change of a row outlives its context", func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, useFlow: func(ctx context.Context, id accountstore.Hash, kind string) (*accountstore.Flow, error) {
			return good.UseFlow(context.WithoutCancel(ctx), id, kind)
		}}
	}, "a change of a row whose context has ended"),
}

// apart keeps the rows where DeleteUser and Sweep do not reach them.
func apart(s *memstore.Store) otherRows { return otherRows{s, memstore.New().AccountStore()} }

// A remembering store puts back what DeleteUser removes, or sweeps too much.
type remembering struct {
	*memstore.Store
	fault   string
	mu      sync.Mutex
	flows   []*accountstore.Flow
	factors []*accountstore.Factor
}

func newRemembering(s *memstore.Store, fault string) *remembering {
	return &remembering{Store: s, fault: fault}
}

func (s *remembering) AccountStore() accountstore.Store {
	good := s.Store.AccountStore()
	return &faulty{
		Store: good,
		createFlow: func(ctx context.Context, f *accountstore.Flow) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.flows = append(s.flows, f)
			return good.CreateFlow(ctx, f)
		},
		addFactor: func(ctx context.Context, f *accountstore.Factor) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.factors = append(s.factors, f)
			return good.AddFactor(ctx, f)
		},
	}
}

func (s *remembering) DeleteUser(ctx context.Context, id string) error {
	good := s.Store.AccountStore()
	state, err := good.State(ctx, id)
	if err != nil {
		return err
	}
	if err := s.Store.DeleteUser(ctx, id); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.fault {
	case "state":
		state.Version = 0
		return good.ChangeState(ctx, state)
	case "factors":
		for _, f := range s.factors {
			if f.UserID == id {
				return good.AddFactor(ctx, f)
			}
		}
	case "flows":
		for _, f := range s.flows {
			if f.Subject == id {
				return good.CreateFlow(ctx, f)
			}
		}
	}
	return nil
}

func (s *remembering) Sweep(ctx context.Context, before time.Time, limit int) (int, error) {
	n, err := s.Store.Sweep(ctx, before, limit)
	if err != nil || s.fault != "sweep" {
		return n, err
	}
	for _, f := range s.factors {
		if f.Expires.IsZero() && s.Store.AccountStore().DeleteFactor(ctx, f.UserID, f.Kind, f.ID) == nil {
			n++
		}
	}
	return n, nil
}

// A gone store has a fault with the rows of users who are gone. Its rows are in a store
// without users, which takes them all for such.
type gone struct {
	*memstore.Store
	fault string
	rows  *memstore.Store
}

func newGone(s *memstore.Store, fault string) *gone { return &gone{s, fault, memstore.New()} }

func (s *gone) AccountStore() accountstore.Store { return s.rows.AccountStore() }

func (s *gone) CreateUser(ctx context.Context, u *pintle.User) (*pintle.User, error) {
	forget := func() { _ = s.rows.DeleteUser(ctx, u.ID) }
	if s.fault == "early" {
		forget()
	}
	created, err := s.Store.CreateUser(ctx, u)
	if err == nil && s.fault != "id" {
		forget()
	}
	return created, err
}

func (s *gone) Sweep(ctx context.Context, before time.Time, limit int) (int, error) {
	switch s.fault {
	case "kept":
		return s.Store.Sweep(ctx, before, limit)
	case "limit":
		return s.rows.Sweep(ctx, before, 1000)
	}
	return s.rows.Sweep(ctx, before, limit)
}

// carefulDelete asks first whether there is a user.
type carefulDelete struct{ *memstore.Store }

func (s carefulDelete) DeleteUser(ctx context.Context, id string) error {
	if _, err := s.User(ctx, id); err != nil {
		return err
	}
	return s.Store.DeleteUser(ctx, id)
}

// trimming deletes as a database does that compares texts without the spaces at their
// end.
type trimming struct{ *memstore.Store }

func (s trimming) DeleteUser(ctx context.Context, id string) error {
	err := s.Store.DeleteUser(ctx, id)
	if other := s.Store.DeleteUser(ctx, id+" "); !errors.Is(other, pintle.ErrNotFound) {
		return other
	}
	return err
}

// In a rowless store the store of a transaction has no rows.
type rowless struct{ *memstore.Store }

func (s rowless) InTx(ctx context.Context, f func(pintle.Store) error) error {
	return s.Store.InTx(ctx, func(tx pintle.Store) error { return f(otherTx{tx, nil}) })
}

// In an outside store the rows are the same in a transaction and out of it.
type outside struct{ otherRows }

func (s outside) InTx(ctx context.Context, f func(pintle.Store) error) error {
	return s.Store.InTx(ctx, func(tx pintle.Store) error { return f(otherTx{tx, s.rows}) })
}

type otherTx struct {
	pintle.Store
	rows accountstore.Store
}

func (s otherTx) AccountStore() accountstore.Store { return s.rows }

// A faulty store of rows is a good one but for the methods that are set.
type faulty struct {
	accountstore.Store

	getState      func(context.Context, string) (*accountstore.State, error)
	changeState   func(context.Context, *accountstore.State) error
	countFailure  func(context.Context, string, time.Time, time.Duration, int) (accountstore.Failures, error)
	countSuccess  func(context.Context, string, time.Time) error
	getFactors    func(context.Context, string) ([]*accountstore.Factor, error)
	addFactor     func(context.Context, *accountstore.Factor) error
	replaceFactor func(context.Context, *accountstore.Factor) error
	advanceFactor func(ctx context.Context, userID, kind, id string, step int64, used time.Time) error
	deleteFactor  func(ctx context.Context, userID, kind, id string) error
	deleteFactors func(ctx context.Context, userID string, kinds, except []string) (int, error)
	createFlow    func(context.Context, *accountstore.Flow) error
	getFlow       func(context.Context, accountstore.Hash) (*accountstore.Flow, error)
	attemptFlow   func(context.Context, accountstore.Hash, int) (int, error)
	changeFlow    func(context.Context, *accountstore.Flow) error
	useFlow       func(context.Context, accountstore.Hash, string) (*accountstore.Flow, error)
	endFlows      func(context.Context, string, ...string) (int, error)
	countFlows    func(ctx context.Context, subject, kind string, after time.Time) (int, error)
	dueUsers      func(ctx context.Context, at time.Time, after string, limit int) ([]string, error)
	factorUsers   func(ctx context.Context, kind, after string, limit int) ([]string, error)
	record        func(context.Context, *accountstore.Event) error
	activity      func(context.Context, accountstore.ActivityQuery) ([]*accountstore.Event, string, error)
	listUsers     func(context.Context, accountstore.UserQuery) ([]*accountstore.User, string, error)
}

func (s *faulty) State(ctx context.Context, userID string) (*accountstore.State, error) {
	return set(s.getState, s.Store.State)(ctx, userID)
}

func (s *faulty) ChangeState(ctx context.Context, c *accountstore.State) error {
	return set(s.changeState, s.Store.ChangeState)(ctx, c)
}

func (s *faulty) CountFailure(ctx context.Context, userID string, at time.Time, window time.Duration, limit int) (accountstore.Failures, error) {
	return set(s.countFailure, s.Store.CountFailure)(ctx, userID, at, window, limit)
}

func (s *faulty) CountSuccess(ctx context.Context, userID string, at time.Time) error {
	return set(s.countSuccess, s.Store.CountSuccess)(ctx, userID, at)
}

func (s *faulty) Factors(ctx context.Context, userID string) ([]*accountstore.Factor, error) {
	return set(s.getFactors, s.Store.Factors)(ctx, userID)
}

func (s *faulty) AddFactor(ctx context.Context, f *accountstore.Factor) error {
	return set(s.addFactor, s.Store.AddFactor)(ctx, f)
}

func (s *faulty) ReplaceFactor(ctx context.Context, f *accountstore.Factor) error {
	return set(s.replaceFactor, s.Store.ReplaceFactor)(ctx, f)
}

func (s *faulty) AdvanceFactor(ctx context.Context, userID, kind, id string, step int64, used time.Time) error {
	return set(s.advanceFactor, s.Store.AdvanceFactor)(ctx, userID, kind, id, step, used)
}

func (s *faulty) DeleteFactor(ctx context.Context, userID, kind, id string) error {
	return set(s.deleteFactor, s.Store.DeleteFactor)(ctx, userID, kind, id)
}

func (s *faulty) DeleteFactors(ctx context.Context, userID string, kinds, except []string) (int, error) {
	return set(s.deleteFactors, s.Store.DeleteFactors)(ctx, userID, kinds, except)
}

func (s *faulty) CreateFlow(ctx context.Context, f *accountstore.Flow) error {
	return set(s.createFlow, s.Store.CreateFlow)(ctx, f)
}

func (s *faulty) Flow(ctx context.Context, id accountstore.Hash) (*accountstore.Flow, error) {
	return set(s.getFlow, s.Store.Flow)(ctx, id)
}

func (s *faulty) AttemptFlow(ctx context.Context, id accountstore.Hash, limit int) (int, error) {
	return set(s.attemptFlow, s.Store.AttemptFlow)(ctx, id, limit)
}

func (s *faulty) ChangeFlow(ctx context.Context, f *accountstore.Flow) error {
	return set(s.changeFlow, s.Store.ChangeFlow)(ctx, f)
}

func (s *faulty) UseFlow(ctx context.Context, id accountstore.Hash, kind string) (*accountstore.Flow, error) {
	return set(s.useFlow, s.Store.UseFlow)(ctx, id, kind)
}

func (s *faulty) EndFlows(ctx context.Context, subject string, kinds ...string) (int, error) {
	return set(s.endFlows, s.Store.EndFlows)(ctx, subject, kinds...)
}

func (s *faulty) CountFlows(ctx context.Context, subject, kind string, after time.Time) (int, error) {
	return set(s.countFlows, s.Store.CountFlows)(ctx, subject, kind, after)
}

func (s *faulty) DueUsers(ctx context.Context, at time.Time, after string, limit int) ([]string, error) {
	return set(s.dueUsers, s.Store.DueUsers)(ctx, at, after, limit)
}

func (s *faulty) FactorUsers(ctx context.Context, kind, after string, limit int) ([]string, error) {
	return set(s.factorUsers, s.Store.FactorUsers)(ctx, kind, after, limit)
}

func (s *faulty) Record(ctx context.Context, e *accountstore.Event) error {
	return set(s.record, s.Store.Record)(ctx, e)
}

func (s *faulty) Activity(ctx context.Context, q accountstore.ActivityQuery) ([]*accountstore.Event, string, error) {
	return set(s.activity, s.Store.Activity)(ctx, q)
}

func (s *faulty) Users(ctx context.Context, q accountstore.UserQuery) ([]*accountstore.User, string, error) {
	return set(s.listUsers, s.Store.Users)(ctx, q)
}

// set returns the first of its arguments that is set.
func set[F any](altered, good F) F {
	if reflect.ValueOf(altered).IsNil() {
		return good
	}
	return altered
}

// others lets the other calls of a race look before this one writes.
func others() { time.Sleep(time.Millisecond) }
