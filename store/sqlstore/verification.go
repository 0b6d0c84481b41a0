package sqlstore

import (
	"context"

	"github.com/pintleauth/pintle"
)

// CreateVerification implements [pintle.Store].
func (r records) CreateVerification(ctx context.Context, v *pintle.Verification) error {
	if !storable(v.Identifier, v.Token) {
		return r.fail(ctx, "create mail link", errNotText)
	}
	t := r.tables.verifications
	args := []any{v.Identifier, v.Token, r.tables.Times.column(r.dialect, v.Expires)}
	if t.makesID() {
		args = append(args, t.ID.propose(""))
	}
	_, err := r.exec(ctx, r.sql.createVerification, r.touched(t, args)...)
	return r.fail(ctx, "create mail link", err)
}

// UseVerification implements [pintle.Store].
//
// The call that deletes the row gets it. Where that statement cannot return the
// row, it is read before, which is as good: nothing changes it in between.
func (r records) UseVerification(ctx context.Context, identifier, token string) (*pintle.Verification, error) {
	if !storable(identifier, token) {
		return nil, r.absent(ctx)
	}
	expires := instant{wallClock: r.dialect == MySQL}
	find := r.sql.useVerification
	if !r.dialect.returning() {
		find = r.sql.verification
	}
	err := r.one(ctx, []any{&expires}, find, identifier, token)
	if err == nil && !r.dialect.returning() {
		var n int
		if n, err = r.exec(ctx, r.sql.useVerification, identifier, token); err == nil && n == 0 {
			return nil, pintle.ErrNotFound
		}
	}
	if err != nil {
		return nil, r.fail(ctx, "use mail link", err)
	}
	return &pintle.Verification{Identifier: identifier, Token: token, Expires: expires.Time}, nil
}
