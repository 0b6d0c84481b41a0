package account_test

import (
	"context"
	"errors"
	"reflect"
	"sync/atomic"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// A flakyStore is a store whose rows of accounts can be made to fail.
type flakyStore struct {
	pintle.Store
	failing atomic.Value // the name of a method
}

func (s *flakyStore) fail(method string) { s.failing.Store(method) }

func (s *flakyStore) AccountStore() accountstore.Store {
	return &flakyRows{s.Store.AccountStore(), s}
}

type flakyRows struct {
	accountstore.Store
	of *flakyStore
}

var errAway = errors.New("the store is away")

func (r *flakyRows) Factors(ctx context.Context, userID string) ([]*accountstore.Factor, error) {
	if r.of.failing.Load() == "Factors" {
		return nil, errAway
	}
	return r.Store.Factors(ctx, userID)
}

func (r *flakyRows) DeleteFactors(ctx context.Context, userID string, kinds, except []string) (int, error) {
	if r.of.failing.Load() == "DeleteFactors" {
		return 0, errAway
	}
	return r.Store.DeleteFactors(ctx, userID, kinds, except)
}

func (r *flakyRows) AttemptFlow(ctx context.Context, id accountstore.Hash, limit int) (int, error) {
	if r.of.failing.Load() == "AttemptFlow" {
		return 0, errAway
	}
	return r.Store.AttemptFlow(ctx, id, limit)
}

func (r *flakyRows) Users(ctx context.Context, q accountstore.UserQuery) (page []*accountstore.User, next string, err error) {
	if r.of.failing.Load() == "Users" {
		return nil, "", errAway
	}
	return r.Store.Users(ctx, q)
}

func equalJSON(a, b any) bool { return reflect.DeepEqual(a, b) }
