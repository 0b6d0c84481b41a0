package sqlstore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/pintleauth/pintle"
)

// An authenticatorRow is a passkey as a row is read into it.
type authenticatorRow struct {
	pintle.Authenticator
	owner      idText
	transports sql.NullString
}

// dest is where the columns go, in the order of [authenticatorColumns].
func (a *authenticatorRow) dest(r records) []any {
	dest := []any{&a.CredentialID, &a.owner, &a.ProviderAccountID, &a.PublicKey, &a.Counter, &a.DeviceType, &a.BackedUp}
	if r.tables.authenticators.has("transports") {
		dest = append(dest, &a.transports)
	}
	return dest
}

func (a *authenticatorRow) authenticator() *pintle.Authenticator {
	found := a.Authenticator
	found.UserID, found.Transports = string(a.owner), a.transports.String
	return &found
}

// CreateAuthenticator implements [pintle.AuthenticatorStore]. It fails when
// there is no user with the passkey's UserID, if the table refers to users.
func (r records) CreateAuthenticator(ctx context.Context, a *pintle.Authenticator) error {
	t := r.tables.authenticators
	if t == nil {
		return r.fail(ctx, "create passkey", errNoTable)
	}
	owner, ok := r.tables.Users.ID.column(a.UserID)
	if !ok {
		return r.fail(ctx, "create passkey", errNotID)
	}
	if !storable(a.CredentialID, a.ProviderAccountID, a.PublicKey, a.DeviceType, a.Transports) {
		return r.fail(ctx, "create passkey", errNotText)
	}
	args := []any{a.CredentialID, owner, a.ProviderAccountID, a.PublicKey, int64(a.Counter), a.DeviceType, a.BackedUp}
	if t.has("transports") {
		args = append(args, nullable(a.Transports))
	}
	_, err := r.exec(ctx, r.sql.createAuthenticator, r.touched(t, args)...)
	return r.fail(ctx, "create passkey", err)
}

// Authenticator implements [pintle.AuthenticatorStore].
func (r records) Authenticator(ctx context.Context, credentialID string) (*pintle.Authenticator, error) {
	switch {
	case r.tables.authenticators == nil:
		return nil, r.fail(ctx, "find passkey", errNoTable)
	case !storable(credentialID):
		return nil, r.absent(ctx)
	}
	var row authenticatorRow
	if err := r.one(ctx, row.dest(r), r.sql.authenticator, credentialID); err != nil {
		return nil, r.fail(ctx, "find passkey", err)
	}
	return row.authenticator(), nil
}

// UserAuthenticators implements [pintle.AuthenticatorStore].
func (r records) UserAuthenticators(ctx context.Context, userID string) ([]*pintle.Authenticator, error) {
	if r.tables.authenticators == nil {
		return nil, r.fail(ctx, "list passkeys", errNoTable)
	}
	owner, ok := r.tables.Users.ID.column(userID)
	if !ok {
		return nil, ctx.Err()
	}
	var passkeys []*pintle.Authenticator
	err := r.each(ctx, func(scan func(...any) error) error {
		var row authenticatorRow
		if err := scan(row.dest(r)...); err != nil {
			return err
		}
		passkeys = append(passkeys, row.authenticator())
		return nil
	}, r.sql.userAuthenticators, owner)
	return passkeys, r.fail(ctx, "list passkeys", err)
}

// UpdateAuthenticatorCounter implements [pintle.AuthenticatorStore].
func (r records) UpdateAuthenticatorCounter(ctx context.Context, credentialID string, old, counter uint32) error {
	switch {
	case r.tables.authenticators == nil:
		return r.fail(ctx, "update passkey", errNoTable)
	case !storable(credentialID):
		return r.absent(ctx)
	}
	args := r.touched(r.tables.authenticators, []any{credentialID, int64(old), int64(counter)})
	n, err := r.exec(ctx, r.sql.updateCounter, args...)
	if err != nil || n > 0 {
		return r.fail(ctx, "update passkey", err)
	}
	found, err := r.Authenticator(ctx, credentialID)
	switch {
	case err != nil:
		return err
	case found.Counter == old && old == counter:
		return nil // MySQL does not count a row that was so already
	}
	return fmt.Errorf("sqlstore: update passkey: the counter has moved: %w", pintle.ErrConflict)
}

// DeleteAuthenticator implements [pintle.AuthenticatorDeleter].
func (r records) DeleteAuthenticator(ctx context.Context, userID, credentialID string) error {
	if r.tables.authenticators == nil {
		return r.fail(ctx, "delete passkey", errNoTable)
	}
	owner, ok := r.tables.Users.ID.column(userID)
	if !ok || !storable(credentialID) {
		return r.absent(ctx)
	}
	n, err := r.exec(ctx, r.sql.deleteAuthenticator, owner, credentialID)
	if err == nil && n == 0 {
		return pintle.ErrNotFound
	}
	return r.fail(ctx, "delete passkey", err)
}
