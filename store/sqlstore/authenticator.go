package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/pintleauth/pintle"
)

// An authenticatorRow is a passkey as a row is read into it.
type authenticatorRow struct {
	pintle.Passkey
	owner             idText
	transports, name  sql.NullString
	created, lastUsed instant
}

// dest is where the columns go, in the order of [builder.authenticators].
func (a *authenticatorRow) dest(r records) []any {
	a.created.wallClock, a.lastUsed.wallClock = r.dialect == MySQL, r.dialect == MySQL
	dest := []any{&a.CredentialID, &a.owner, &a.ProviderAccountID, &a.PublicKey, &a.Counter, &a.DeviceType, &a.BackedUp}
	return r.tables.authenticators.optional(dest, []optionalColumn{
		{"transports", &a.transports}, {"name", &a.name}, {"created", &a.created}, {"lastUsed", &a.lastUsed},
	})
}

// An optionalColumn is the value of a column that a table may not have.
type optionalColumn struct {
	name  string
	value any
}

// optional adds the values of those columns that the table has.
func (t *table) optional(values []any, columns []optionalColumn) []any {
	for _, c := range columns {
		if t.has(c.name) {
			values = append(values, c.value)
		}
	}
	return values
}

func (a *authenticatorRow) authenticator() *pintle.Passkey {
	found := a.Passkey
	found.UserID, found.Transports, found.Name = string(a.owner), transports(a.transports.String), a.name.String
	found.Created, found.LastUsed = a.created.Time, a.lastUsed.Time
	return &found
}

// CreatePasskey implements [pintle.Store].
func (r records) CreatePasskey(ctx context.Context, a *pintle.Passkey) error {
	t := r.tables.authenticators
	if t == nil {
		return r.fail(ctx, "create passkey", errNoTable)
	}
	owner, ok := r.tables.Users.ID.column(a.UserID)
	if !ok {
		return r.absent(ctx)
	}
	if !storable(a.CredentialID, a.ProviderAccountID, a.PublicKey, a.DeviceType, strings.Join(a.Transports, ","), a.Name) {
		return r.fail(ctx, "create passkey", errNotText)
	}
	args := []any{a.CredentialID, owner, a.ProviderAccountID, a.PublicKey, int64(a.Counter), a.DeviceType, a.BackedUp}
	args = t.optional(args, []optionalColumn{
		{"transports", nullable(strings.Join(a.Transports, ","))},
		{"name", nullable(a.Name)},
		{"created", r.tables.Times.column(r.dialect, a.Created)},
		{"lastUsed", r.tables.Times.column(r.dialect, a.LastUsed)},
	})
	return r.createOwned(ctx, "create passkey", r.sql.createAuthenticator, r.touched(t, args)...)
}

// Passkey implements [pintle.Store].
func (r records) Passkey(ctx context.Context, credentialID string) (*pintle.Passkey, error) {
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

// UserPasskeys implements [pintle.Store].
func (r records) UserPasskeys(ctx context.Context, userID string) ([]*pintle.Passkey, error) {
	if r.tables.authenticators == nil {
		return nil, r.fail(ctx, "list passkeys", errNoTable)
	}
	owner, ok := r.tables.Users.ID.column(userID)
	if !ok {
		return nil, ctx.Err()
	}
	var passkeys []*pintle.Passkey
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

// UsePasskey implements [pintle.Store].
func (r records) UsePasskey(ctx context.Context, used *pintle.Passkey, old uint32) error {
	t := r.tables.authenticators
	switch {
	case t == nil:
		return r.fail(ctx, "use passkey", errNoTable)
	case !storable(used.CredentialID):
		return r.absent(ctx)
	}
	args := []any{used.CredentialID, int64(old), int64(used.Counter), used.BackedUp}
	args = t.optional(args, []optionalColumn{{"lastUsed", r.tables.Times.column(r.dialect, used.LastUsed)}})
	n, err := r.exec(ctx, r.sql.useAuthenticator, r.touched(t, args)...)
	if err != nil || n > 0 {
		return r.fail(ctx, "use passkey", err)
	}
	found, err := r.Passkey(ctx, used.CredentialID)
	switch {
	case err != nil:
		return err
	case found.Counter == old && old == used.Counter:
		return nil // MySQL does not count a row that was so already
	}
	return fmt.Errorf("sqlstore: use passkey: the counter has moved: %w", pintle.ErrConflict)
}

// RenamePasskey implements [pintle.Store].
func (r records) RenamePasskey(ctx context.Context, userID, credentialID, name string) error {
	t := r.tables.authenticators
	switch {
	case t == nil:
		return r.fail(ctx, "rename passkey", errNoTable)
	case !t.has("name"):
		return r.fail(ctx, "rename passkey", errNoName)
	case !storable(name):
		return r.fail(ctx, "rename passkey", errNotText)
	}
	owner, ok := r.tables.Users.ID.column(userID)
	if !ok || !storable(credentialID) {
		return r.absent(ctx)
	}
	n, err := r.exec(ctx, r.sql.renameAuthenticator, r.touched(t, []any{owner, credentialID, nullable(name)})...)
	if err != nil || n > 0 {
		return r.fail(ctx, "rename passkey", err)
	}
	// MySQL does not count a row that had the values already.
	found, err := r.Passkey(ctx, credentialID)
	if err == nil && found.UserID != userID {
		err = pintle.ErrNotFound
	}
	return err
}

// DeletePasskey implements [pintle.Store].
func (r records) DeletePasskey(ctx context.Context, userID, credentialID string) error {
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

// transports returns the parts of a text with commas.
func transports(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}
