package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// A hashColumn is a hash as it is read. NULL is the zero hash.
type hashColumn accountstore.Hash

// Scan implements [sql.Scanner].
func (h *hashColumn) Scan(value any) error {
	*h = hashColumn{}
	switch v := value.(type) {
	case nil:
		return nil
	case []byte:
		if copy(h[:], v) == len(v) && len(v) == len(h) {
			return nil
		}
	}
	return fmt.Errorf("a hash is a %T of another length", value)
}

// hashOrNull is what a column holds as a hash that may be missing.
func hashOrNull(h accountstore.Hash) any {
	if h == (accountstore.Hash{}) {
		return nil
	}
	return h[:]
}

// CreateFlow implements [accountstore.Store].
func (r accountRows) CreateFlow(ctx context.Context, f *accountstore.Flow) error {
	if !storable(f.Kind, f.Subject, f.Payload) {
		return r.fail(ctx, "create flow", errNotText)
	}
	_, err := r.exec(ctx, r.sql.createFlow, f.ID[:], f.Kind, f.Subject, 1, f.Payload, hashOrNull(f.Code), 0, milliseconds(f.Created), milliseconds(f.Expires))
	return r.fail(ctx, "create flow", err)
}

// Flow implements [accountstore.Store].
func (r accountRows) Flow(ctx context.Context, id accountstore.Hash) (*accountstore.Flow, error) {
	return r.findFlow(ctx, "find flow", id, r.sql.flow, id[:])
}

func (r accountRows) findFlow(ctx context.Context, operation string, id accountstore.Hash, find *statement, args ...any) (*accountstore.Flow, error) {
	f := &accountstore.Flow{ID: id}
	var created, expires instant
	err := r.one(ctx, []any{&f.Kind, &f.Subject, &f.Version, &f.Payload, (*hashColumn)(&f.Code), &f.Attempts, &created, &expires}, find, args...)
	if err != nil {
		return nil, r.fail(ctx, operation, err)
	}
	f.Created, f.Expires = created.Time, expires.Time
	return f, nil
}

// AttemptFlow implements [accountstore.Store], in one statement.
func (r accountRows) AttemptFlow(ctx context.Context, id accountstore.Hash, limit int) (attempts int, err error) {
	if r.dialect.returning() {
		err = r.one(ctx, []any{&attempts}, r.sql.attemptFlow, id[:], limit)
	} else {
		attempts, err = r.attemptFlow(ctx, id, limit)
	}
	switch {
	case missing(err):
		return 0, r.unchangedFlow(ctx, "attempt flow: the limit", id)
	case err != nil:
		return 0, r.fail(ctx, "attempt flow", err)
	}
	return attempts, nil
}

// attemptFlow returns the number that MySQL reports.
func (r accountRows) attemptFlow(ctx context.Context, id accountstore.Hash, limit int) (int, error) {
	result, err := r.result(ctx, r.sql.attemptFlow, id[:], limit)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	if err != nil {
		return 0, err
	}
	if n == 0 {
		return 0, sql.ErrNoRows
	}
	attempts, err := result.LastInsertId()
	return int(attempts), err
}

// unchangedFlow is [accountRows.unchanged] for a flow.
func (r accountRows) unchangedFlow(ctx context.Context, operation string, id accountstore.Hash) error {
	if _, err := r.Flow(ctx, id); err != nil {
		return err
	}
	return fmt.Errorf("sqlstore: %s: %w", operation, pintle.ErrConflict)
}

// ChangeFlow implements [accountstore.Store].
func (r accountRows) ChangeFlow(ctx context.Context, f *accountstore.Flow) error {
	if !storable(f.Payload) {
		return r.fail(ctx, "change flow", errNotText)
	}
	n, err := r.exec(ctx, r.sql.changeFlow, f.ID[:], f.Version, f.Payload, hashOrNull(f.Code), milliseconds(f.Expires))
	if err != nil || n > 0 {
		return r.fail(ctx, "change flow", err)
	}
	return r.unchangedFlow(ctx, "change flow: the version", f.ID)
}

// UseFlow implements [accountstore.Store]. The call that deletes the row gets it. If the
// statement cannot return the row, it is read and locked first, since ChangeFlow could
// change it in between.
func (r accountRows) UseFlow(ctx context.Context, id accountstore.Hash, kind string) (f *accountstore.Flow, err error) {
	if !storable(kind) {
		return nil, r.absent(ctx)
	}
	if r.dialect.returning() {
		return r.findFlow(ctx, "use flow", id, r.sql.useFlow, id[:], kind)
	}
	err = r.inOneStep(ctx, "use flow", func(r records) error {
		if f, err = (accountRows{r}).findFlow(ctx, "use flow", id, r.sql.lockFlow, id[:], kind); err != nil {
			return err
		}
		_, err := r.exec(ctx, r.sql.useFlow, id[:], kind)
		return r.fail(ctx, "use flow", err)
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// EndFlows implements [accountstore.Store].
func (r accountRows) EndFlows(ctx context.Context, subject string, kinds ...string) (int, error) {
	kinds = onlyStorable(kinds)
	if !storable(subject) || len(kinds) == 0 {
		return 0, ctx.Err()
	}
	n, err := r.exec(ctx, builder{r.tables}.endFlows(len(kinds)), texts([]any{subject}, kinds)...)
	return n, r.fail(ctx, "end flows", err)
}

// CountFlows implements [accountstore.Store].
func (r accountRows) CountFlows(ctx context.Context, subject, kind string, after time.Time) (n int, err error) {
	if !storable(subject, kind) {
		return 0, ctx.Err()
	}
	err = r.one(ctx, []any{&n}, r.sql.countFlows, subject, kind, after.UnixMilli())
	return n, r.fail(ctx, "count flows", err)
}
