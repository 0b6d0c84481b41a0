package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// Factors implements [accountstore.Store].
func (r accountRows) Factors(ctx context.Context, userID string) ([]*accountstore.Factor, error) {
	if !storable(userID) {
		return nil, ctx.Err()
	}
	var factors []*accountstore.Factor
	err := r.each(ctx, func(scan func(...any) error) error {
		f := &accountstore.Factor{UserID: userID}
		var created, lastUsed, expires instant
		if err := scan(&f.Kind, &f.ID, &f.Version, &f.Secret, &f.Step, &f.Name, &created, &lastUsed, &expires); err != nil {
			return err
		}
		f.Created, f.LastUsed, f.Expires = created.Time, lastUsed.Time, expires.Time
		factors = append(factors, f)
		return nil
	}, r.sql.factors, userID)
	slices.SortFunc(factors, func(a, b *accountstore.Factor) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	return factors, r.fail(ctx, "list factors", err)
}

// AddFactor implements [accountstore.Store].
func (r accountRows) AddFactor(ctx context.Context, f *accountstore.Factor) error {
	if !storable(f.UserID, f.Kind, f.ID, f.Secret, f.Name) {
		return r.fail(ctx, "add factor", errNotText)
	}
	_, err := r.exec(ctx, r.sql.addFactor, f.UserID, f.Kind, f.ID, 1, f.Secret, f.Step, f.Name, milliseconds(f.Created), milliseconds(f.LastUsed), milliseconds(f.Expires))
	return r.fail(ctx, "add factor", err)
}

// ReplaceFactor implements [accountstore.Store].
func (r accountRows) ReplaceFactor(ctx context.Context, f *accountstore.Factor) error {
	if !storable(f.UserID, f.Kind, f.ID) {
		return r.absent(ctx)
	}
	if !storable(f.Secret, f.Name) {
		return r.fail(ctx, "replace factor", errNotText)
	}
	n, err := r.exec(ctx, r.sql.replaceFactor, f.UserID, f.Kind, f.ID, f.Version, f.Step, f.Secret, f.Name, milliseconds(f.LastUsed), milliseconds(f.Expires))
	if err != nil || n > 0 {
		return r.fail(ctx, "replace factor", err)
	}
	return r.unchanged(ctx, "replace factor: the version", r.sql.factorExists, f.UserID, f.Kind, f.ID)
}

// unchanged returns the error of a conditional statement that has changed no row:
// [pintle.ErrNotFound] if the row is missing, and [pintle.ErrConflict] if it did not
// meet the condition. find returns its version.
func (r accountRows) unchanged(ctx context.Context, operation string, find *statement, key ...any) error {
	var version int64
	if err := r.one(ctx, []any{&version}, find, key...); err != nil {
		return r.fail(ctx, operation, err)
	}
	return fmt.Errorf("sqlstore: %s: %w", operation, pintle.ErrConflict)
}

// AdvanceFactor implements [accountstore.Store].
func (r accountRows) AdvanceFactor(ctx context.Context, userID, kind, id string, step int64, used time.Time) error {
	if !storable(userID, kind, id) {
		return r.absent(ctx)
	}
	n, err := r.exec(ctx, r.sql.advanceFactor, userID, kind, id, step, milliseconds(used))
	if err != nil || n > 0 {
		return r.fail(ctx, "advance factor", err)
	}
	return r.unchanged(ctx, "advance factor: the step", r.sql.factorExists, userID, kind, id)
}

// DeleteFactor implements [accountstore.Store].
func (r accountRows) DeleteFactor(ctx context.Context, userID, kind, id string) error {
	if !storable(userID, kind, id) {
		return r.absent(ctx)
	}
	n, err := r.exec(ctx, r.sql.deleteFactor, userID, kind, id)
	if err == nil && n == 0 {
		return pintle.ErrNotFound
	}
	return r.fail(ctx, "delete factor", err)
}

// DeleteFactors implements [accountstore.Store].
func (r accountRows) DeleteFactors(ctx context.Context, userID string, kinds, except []string) (int, error) {
	kinds, except = onlyStorable(kinds), onlyStorable(except)
	if !storable(userID) || len(kinds) == 0 {
		return 0, ctx.Err()
	}
	args := append(texts([]any{userID}, kinds), texts(nil, except)...)
	n, err := r.exec(ctx, builder{r.tables}.deleteFactors(len(kinds), len(except)), args...)
	return n, r.fail(ctx, "delete factors", err)
}

// FactorUsers implements [accountstore.Store]. It reads the keys of the factors from a user on.
func (r accountRows) FactorUsers(ctx context.Context, kind, after string, limit int) ([]string, error) {
	if !storable(kind, after) || limit <= 0 {
		return nil, ctx.Err()
	}
	users, err := r.ids(ctx, r.sql.factorUsers, after, kind, limit)
	return users, r.fail(ctx, "list users of factors", err)
}

// onlyStorable returns those texts that a row can have.
func onlyStorable(texts []string) []string {
	return slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return !storable(text) })
}

// texts adds texts to arguments.
func texts(args []any, more []string) []any {
	for _, text := range more {
		args = append(args, text)
	}
	return args
}
