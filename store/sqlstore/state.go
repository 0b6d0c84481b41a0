package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// A jsonList is a JSON array as a column holds it. An empty one is NULL.
type jsonList[T any] []T

func (l jsonList[T]) column() (any, error) {
	if len(l) == 0 {
		return nil, nil // nil is the column's NULL
	}
	text, err := json.Marshal([]T(l))
	return string(text), err
}

// Scan implements [sql.Scanner].
func (l *jsonList[T]) Scan(value any) error {
	*l = nil
	text, err := columnText(value)
	if err != nil || text == "" {
		return err
	}
	return decodeJSON(text, (*[]T)(l))
}

// milliseconds is the form of times in the tables of package account. The zero time is
// NULL.
func milliseconds(t time.Time) any { return Milliseconds.column(0, t) }

// State implements [accountstore.Store].
func (r accountRows) State(ctx context.Context, userID string) (*accountstore.State, error) {
	s := &accountstore.State{UserID: userID}
	if !storable(userID) {
		return s, ctx.Err()
	}
	var roles jsonList[string]
	var bannedUntil, deleteAt, created, lastSignIn instant
	var banReason, must, claim sql.NullString
	err := r.one(ctx, []any{&s.Version, &roles, &bannedUntil, &banReason, &deleteAt, &must, &claim, &s.Suspended, &created, &lastSignIn, &s.Streak}, r.sql.state, userID)
	if missing(err) {
		return s, nil
	}
	if err != nil {
		return nil, r.fail(ctx, "find state", err)
	}
	s.Roles, s.BannedUntil, s.BanReason, s.DeleteAt = roles, bannedUntil.Time, banReason.String, deleteAt.Time
	s.Must, s.Claim, s.Created, s.LastSignIn = must.String, claim.String, created.Time, lastSignIn.Time
	return s, nil
}

// ChangeState implements [accountstore.Store]. Each of its statements either has the
// whole effect of the call or none.
func (r accountRows) ChangeState(ctx context.Context, s *accountstore.State) error {
	if !storable(append(slices.Clone(s.Roles), s.UserID, s.BanReason, s.Must, s.Claim)...) {
		return r.fail(ctx, "change state", errNotText)
	}
	roles, err := jsonList[string](s.Roles).column()
	if err != nil {
		return r.fail(ctx, "change state", err) // unreachable: texts have a form in JSON
	}
	values := []any{
		roles, milliseconds(s.BannedUntil), nullable(s.BanReason), milliseconds(s.DeleteAt), nullable(s.Must), nullable(s.Claim),
		s.Suspended, milliseconds(s.Created), milliseconds(s.LastSignIn),
	}
	change := func() (bool, error) {
		n, err := r.exec(ctx, r.sql.changeState, append([]any{s.UserID, s.Version}, values...)...)
		return n > 0, err
	}
	done, err := change()
	if err == nil && !done && s.Version == 0 {
		done, err = r.createState(ctx, append([]any{s.UserID, 1}, values...))
		if err == nil && !done { // another call has made the row, perhaps without a version
			done, err = change()
		}
	}
	if err == nil && !done {
		return fmt.Errorf("sqlstore: change state: the version: %w", pintle.ErrConflict)
	}
	return r.fail(ctx, "change state", err)
}

// createState reports whether it has made the row.
func (r accountRows) createState(ctx context.Context, values []any) (bool, error) {
	n, err := r.exec(ctx, r.sql.createState, values...)
	if err != nil && r.dialect == MySQL && isDuplicate(err) {
		return false, nil
	}
	return n > 0, err
}

// CountFailure implements [accountstore.Store]. Calls for one user wait for one another.
func (r accountRows) CountFailure(ctx context.Context, userID string, at time.Time, window time.Duration, limit int) (f accountstore.Failures, err error) {
	if !storable(userID) {
		return f, r.fail(ctx, "count failure", errNotText)
	}
	err = r.inOneStep(ctx, "count failure", func(r records) error {
		f, err = accountRows{r}.countFailure(ctx, userID, at, window, limit)
		return r.fail(ctx, "count failure", err)
	})
	if err != nil {
		return accountstore.Failures{}, err
	}
	return f, nil
}

func (r accountRows) countFailure(ctx context.Context, userID string, at time.Time, window time.Duration, limit int) (f accountstore.Failures, err error) {
	if _, err := r.exec(ctx, r.sql.ensureState, userID, 0, false); err != nil {
		return f, err
	}
	failures, streak, err := r.lockState(ctx, userID)
	if err != nil {
		return f, err
	}
	begins := at.UnixMilli() - window.Milliseconds()
	failures = slices.DeleteFunc(failures, func(t int64) bool { return t <= begins })
	f = accountstore.Failures{Counted: len(failures) < limit, Streak: streak}
	if f.Counted {
		failures = append(failures, at.UnixMilli())
		f.Streak++
		if err := r.countState(ctx, userID, failures, f.Streak); err != nil {
			return f, err
		}
	}
	if f.Recent = len(failures); f.Recent > 0 {
		f.Oldest = time.UnixMilli(slices.Min(failures)).UTC()
	}
	return f, nil
}

// CountSuccess implements [accountstore.Store].
func (r accountRows) CountSuccess(ctx context.Context, userID string, at time.Time) error {
	if !storable(userID) {
		return ctx.Err()
	}
	return r.inOneStep(ctx, "count success", func(r records) error {
		err := accountRows{r}.countSuccess(ctx, userID, at)
		if missing(err) {
			return nil
		}
		return r.fail(ctx, "count success", err)
	})
}

func (r accountRows) countSuccess(ctx context.Context, userID string, at time.Time) error {
	failures, _, err := r.lockState(ctx, userID)
	if err != nil {
		return err
	}
	if i := slices.Index(failures, at.UnixMilli()); i >= 0 {
		failures = slices.Delete(failures, i, i+1)
	}
	return r.countState(ctx, userID, failures, 0)
}

// DueUsers implements [accountstore.Store]. An index finds the users of the time.
func (r accountRows) DueUsers(ctx context.Context, at time.Time, after string, limit int) ([]string, error) {
	if !storable(after) || limit <= 0 {
		return nil, ctx.Err()
	}
	due, err := r.ids(ctx, r.sql.dueUsers, after, at.UnixMilli(), limit)
	return due, r.fail(ctx, "list due users", err)
}

// lockState reads what is counted of a user, and locks it for the transaction.
func (r accountRows) lockState(ctx context.Context, userID string) (failures []int64, streak int, err error) {
	err = r.one(ctx, []any{(*jsonList[int64])(&failures), &streak}, r.sql.lockState, userID)
	return failures, streak, err
}

// countState writes what is counted of a user.
func (r accountRows) countState(ctx context.Context, userID string, failures []int64, streak int) error {
	column, err := jsonList[int64](failures).column()
	if err == nil {
		_, err = r.exec(ctx, r.sql.countState, userID, column, streak)
	}
	return err
}

// errLostRace is the conflict of a transaction that the database gave up because of
// another one.
var errLostRace = fmt.Errorf("%w", pintle.ErrConflict)

// inOneStep runs f in a transaction, again after each lost race. In the transaction of
// the caller, which such a race ends, it runs f once.
func (r records) inOneStep(ctx context.Context, operation string, f func(records) error) (err error) {
	for range attempts {
		err = r.atomically(ctx, operation, f)
		if r.tx || !errors.Is(err, errLostRace) {
			break
		}
	}
	return err
}
