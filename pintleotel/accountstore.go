package pintleotel

import (
	"context"
	"time"

	"github.com/pintleauth/pintle/accountstore"
)

// accountRows are the rows of package account, with a span for each call.
type accountRows struct {
	accountstore.Store
	c caller
}

func (w accountRows) Users(ctx context.Context, q accountstore.UserQuery) (page []*accountstore.User, next string, err error) {
	ctx, o := w.c.begin(ctx, "AccountStore.Users")
	defer o.end(ctx)
	page, next, err = w.Store.Users(ctx, q)
	o.done(err)
	return page, next, err
}

func (w accountRows) State(ctx context.Context, userID string) (*accountstore.State, error) {
	return get(ctx, w.c, "AccountStore.State", func(ctx context.Context) (*accountstore.State, error) { return w.Store.State(ctx, userID) })
}

func (w accountRows) ChangeState(ctx context.Context, s *accountstore.State) error {
	return w.c.do(ctx, "AccountStore.ChangeState", func(ctx context.Context) error { return w.Store.ChangeState(ctx, s) })
}

func (w accountRows) CountFailure(ctx context.Context, userID string, at time.Time, window time.Duration, limit int) (accountstore.Failures, error) {
	return get(ctx, w.c, "AccountStore.CountFailure", func(ctx context.Context) (accountstore.Failures, error) {
		return w.Store.CountFailure(ctx, userID, at, window, limit)
	})
}

func (w accountRows) CountSuccess(ctx context.Context, userID string, at time.Time) error {
	return w.c.do(ctx, "AccountStore.CountSuccess", func(ctx context.Context) error { return w.Store.CountSuccess(ctx, userID, at) })
}

func (w accountRows) Factors(ctx context.Context, userID string) ([]*accountstore.Factor, error) {
	return get(ctx, w.c, "AccountStore.Factors", func(ctx context.Context) ([]*accountstore.Factor, error) { return w.Store.Factors(ctx, userID) })
}

func (w accountRows) AddFactor(ctx context.Context, f *accountstore.Factor) error {
	return w.c.do(ctx, "AccountStore.AddFactor", func(ctx context.Context) error { return w.Store.AddFactor(ctx, f) })
}

func (w accountRows) ReplaceFactor(ctx context.Context, f *accountstore.Factor) error {
	return w.c.do(ctx, "AccountStore.ReplaceFactor", func(ctx context.Context) error { return w.Store.ReplaceFactor(ctx, f) })
}

func (w accountRows) AdvanceFactor(ctx context.Context, userID, kind, id string, step int64, used time.Time) error {
	return w.c.do(ctx, "AccountStore.AdvanceFactor", func(ctx context.Context) error { return w.Store.AdvanceFactor(ctx, userID, kind, id, step, used) })
}

func (w accountRows) DeleteFactor(ctx context.Context, userID, kind, id string) error {
	return w.c.do(ctx, "AccountStore.DeleteFactor", func(ctx context.Context) error { return w.Store.DeleteFactor(ctx, userID, kind, id) })
}

func (w accountRows) DeleteFactors(ctx context.Context, userID string, kinds, except []string) (int, error) {
	return get(ctx, w.c, "AccountStore.DeleteFactors", func(ctx context.Context) (int, error) { return w.Store.DeleteFactors(ctx, userID, kinds, except) })
}

func (w accountRows) CreateFlow(ctx context.Context, f *accountstore.Flow) error {
	return w.c.do(ctx, "AccountStore.CreateFlow", func(ctx context.Context) error { return w.Store.CreateFlow(ctx, f) })
}

func (w accountRows) Flow(ctx context.Context, id accountstore.Hash) (*accountstore.Flow, error) {
	return get(ctx, w.c, "AccountStore.Flow", func(ctx context.Context) (*accountstore.Flow, error) { return w.Store.Flow(ctx, id) })
}

func (w accountRows) AttemptFlow(ctx context.Context, id accountstore.Hash, limit int) (int, error) {
	return get(ctx, w.c, "AccountStore.AttemptFlow", func(ctx context.Context) (int, error) { return w.Store.AttemptFlow(ctx, id, limit) })
}

func (w accountRows) ChangeFlow(ctx context.Context, f *accountstore.Flow) error {
	return w.c.do(ctx, "AccountStore.ChangeFlow", func(ctx context.Context) error { return w.Store.ChangeFlow(ctx, f) })
}

func (w accountRows) UseFlow(ctx context.Context, id accountstore.Hash, kind string) (*accountstore.Flow, error) {
	return get(ctx, w.c, "AccountStore.UseFlow", func(ctx context.Context) (*accountstore.Flow, error) { return w.Store.UseFlow(ctx, id, kind) })
}

func (w accountRows) EndFlows(ctx context.Context, subject string, kinds ...string) (int, error) {
	return get(ctx, w.c, "AccountStore.EndFlows", func(ctx context.Context) (int, error) { return w.Store.EndFlows(ctx, subject, kinds...) })
}

func (w accountRows) CountFlows(ctx context.Context, subject, kind string, after time.Time) (int, error) {
	return get(ctx, w.c, "AccountStore.CountFlows", func(ctx context.Context) (int, error) { return w.Store.CountFlows(ctx, subject, kind, after) })
}

func (w accountRows) DueUsers(ctx context.Context, at time.Time, after string, limit int) ([]string, error) {
	return get(ctx, w.c, "AccountStore.DueUsers", func(ctx context.Context) ([]string, error) { return w.Store.DueUsers(ctx, at, after, limit) })
}

func (w accountRows) FactorUsers(ctx context.Context, kind, after string, limit int) ([]string, error) {
	return get(ctx, w.c, "AccountStore.FactorUsers", func(ctx context.Context) ([]string, error) { return w.Store.FactorUsers(ctx, kind, after, limit) })
}

func (w accountRows) Record(ctx context.Context, e *accountstore.Event) error {
	return w.c.do(ctx, "AccountStore.Record", func(ctx context.Context) error { return w.Store.Record(ctx, e) })
}

func (w accountRows) Activity(ctx context.Context, q accountstore.ActivityQuery) (page []*accountstore.Event, next string, err error) {
	ctx, o := w.c.begin(ctx, "AccountStore.Activity")
	defer o.end(ctx)
	page, next, err = w.Store.Activity(ctx, q)
	o.done(err)
	return page, next, err
}
