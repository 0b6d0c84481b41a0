package memstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/pintleauth/pintle"
)

// An authenticator is a passkey. Its struct has nothing a caller could share.
type authenticator = pintle.Passkey

// CreatePasskey implements [pintle.Store].
func (r records) CreatePasskey(ctx context.Context, a *pintle.Passkey) error {
	if err := r.write(ctx); err != nil {
		return err
	}
	defer r.writeDone()
	if r.authenticators[a.CredentialID] != nil {
		return fmt.Errorf("memstore: create passkey: %w", pintle.ErrConflict)
	}
	user := r.users.get(a.UserID)
	if user == nil {
		return fmt.Errorf("memstore: create passkey: the user: %w", pintle.ErrNotFound)
	}
	row, owner := copied(a), user.gets()
	r.authenticators[row.CredentialID] = row
	owner.passkeys = append(owner.passkeys, row)
	r.undo(func() {
		delete(r.authenticators, row.CredentialID)
		owner.passkeys = slices.DeleteFunc(owner.passkeys, func(other *authenticator) bool { return other == row })
	})
	return nil
}

// Passkey implements [pintle.Store].
func (r records) Passkey(ctx context.Context, credentialID string) (*pintle.Passkey, error) {
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	defer r.readDone()
	row := r.authenticators[credentialID]
	if row == nil {
		return nil, pintle.ErrNotFound
	}
	return copied(row), nil
}

// UserPasskeys implements [pintle.Store]. The passkeys are
// in the order in which they were created.
func (r records) UserPasskeys(ctx context.Context, userID string) ([]*pintle.Passkey, error) {
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	defer r.readDone()
	owner := r.users.get(userID)
	if owner == nil {
		return nil, nil
	}
	passkeys := make([]*pintle.Passkey, len(owner.has().passkeys))
	for i, row := range owner.has().passkeys {
		passkeys[i] = copied(row)
	}
	return passkeys, nil
}

// UsePasskey implements [pintle.Store].
func (r records) UsePasskey(ctx context.Context, used *pintle.Passkey, old uint32) error {
	if err := r.write(ctx); err != nil {
		return err
	}
	defer r.writeDone()
	row := r.authenticators[used.CredentialID]
	switch {
	case row == nil:
		return pintle.ErrNotFound
	case row.Counter != old:
		return fmt.Errorf("memstore: use passkey: the counter has moved: %w", pintle.ErrConflict)
	}
	before := *row
	row.Counter, row.BackedUp, row.LastUsed = used.Counter, used.BackedUp, used.LastUsed
	r.undo(func() { *row = before })
	return nil
}

// RenamePasskey implements [pintle.Store].
func (r records) RenamePasskey(ctx context.Context, userID, credentialID, name string) error {
	if err := r.write(ctx); err != nil {
		return err
	}
	defer r.writeDone()
	row := r.authenticators[credentialID]
	if row == nil || row.UserID != userID {
		return pintle.ErrNotFound
	}
	before := row.Name
	row.Name = name
	r.undo(func() { row.Name = before })
	return nil
}

// DeletePasskey implements [pintle.Store].
func (r records) DeletePasskey(ctx context.Context, userID, credentialID string) error {
	if err := r.write(ctx); err != nil {
		return err
	}
	defer r.writeDone()
	row := r.authenticators[credentialID]
	if row == nil || row.UserID != userID {
		return pintle.ErrNotFound
	}
	r.deletePasskey(row)
	return nil
}

func (r records) deletePasskey(row *authenticator) {
	owner := r.users.get(row.UserID).gets()
	place := slices.Index(owner.passkeys, row)
	delete(r.authenticators, row.CredentialID)
	owner.passkeys = slices.Delete(owner.passkeys, place, place+1)
	r.undo(func() {
		r.authenticators[row.CredentialID] = row
		owner.passkeys = slices.Insert(owner.passkeys, place, row)
	})
}

// copied returns a copy of a passkey that shares nothing with it.
func copied(a *pintle.Passkey) *pintle.Passkey {
	c := *a
	c.Transports = slices.Clone(a.Transports)
	return &c
}
