package memstore

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"github.com/pintleauth/pintle"
)

// A user is a row, and the way to the rows that belong to it.
type user struct {
	profile  pintle.User // without Extra
	extra    jsonText
	created  int64    // in milliseconds
	sessions *session // the newest, which leads to the next
	accounts []*account
	passkeys []*authenticator
}

func (u *user) copy() *pintle.User {
	c := u.profile
	c.Extra = u.extra.decode()
	return &c
}

// CreateUser implements [pintle.Store]. A user without an id is given a
// random one.
func (r records) CreateUser(ctx context.Context, u *pintle.User) (*pintle.User, error) {
	extra, err := encode(u.Extra)
	if err != nil {
		return nil, fmt.Errorf("memstore: create user: encode Extra: %w", err)
	}
	if err := r.write(ctx); err != nil {
		return nil, err
	}
	defer r.writeDone()
	row := &user{profile: *u, extra: extra, created: time.Now().UnixMilli()}
	row.profile.Extra = nil
	if row.profile.ID == "" {
		row.profile.ID = rand.Text()
	}
	if r.users[row.profile.ID] != nil {
		return nil, fmt.Errorf("memstore: create user: the id: %w", pintle.ErrConflict)
	}
	if r.byEmail[u.Email] != nil {
		return nil, fmt.Errorf("memstore: create user: the address: %w", pintle.ErrConflict)
	}
	r.addUser(row)
	r.undo(func() { r.removeUser(row) })
	r.deleteAccountRows(row.profile.ID) // of a user who had the id before
	return row.copy(), nil
}

func (r records) addUser(row *user) {
	r.users[row.profile.ID] = row
	if row.profile.Email != "" {
		r.byEmail[row.profile.Email] = row
	}
}

func (r records) removeUser(row *user) {
	delete(r.users, row.profile.ID)
	if row.profile.Email != "" {
		delete(r.byEmail, row.profile.Email)
	}
}

// User implements [pintle.Store].
func (r records) User(ctx context.Context, id string) (*pintle.User, error) {
	return r.found(ctx, func() *user { return r.users[id] })
}

// UserByEmail implements [pintle.Store].
func (r records) UserByEmail(ctx context.Context, email string) (*pintle.User, error) {
	return r.found(ctx, func() *user { return r.byEmail[email] })
}

// UserByAccount implements [pintle.Store].
func (r records) UserByAccount(ctx context.Context, provider, providerAccountID string) (*pintle.User, error) {
	return r.found(ctx, func() *user {
		if a := r.accounts[accountKey{provider, providerAccountID}]; a != nil {
			return a.owner
		}
		return nil
	})
}

func (r records) found(ctx context.Context, find func() *user) (*pintle.User, error) {
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	defer r.readDone()
	row := find()
	if row == nil {
		return nil, pintle.ErrNotFound
	}
	return row.copy(), nil
}

// UpdateUser implements [pintle.Store].
func (r records) UpdateUser(ctx context.Context, id string, change pintle.UserUpdate) (*pintle.User, error) {
	if err := r.write(ctx); err != nil {
		return nil, err
	}
	defer r.writeDone()
	row := r.users[id]
	if row == nil {
		return nil, pintle.ErrNotFound
	}
	if change.IfEmail != nil && row.profile.Email != *change.IfEmail {
		return nil, fmt.Errorf("memstore: update user: the address is another one: %w", pintle.ErrConflict)
	}
	if change.Email != nil {
		if owner := r.byEmail[*change.Email]; owner != nil && owner != row {
			return nil, fmt.Errorf("memstore: update user: the address: %w", pintle.ErrConflict)
		}
	}
	extra, err := row.extra.with(change.Extra)
	if err != nil {
		return nil, fmt.Errorf("memstore: update user: encode Extra: %w", err)
	}
	extraBefore, before, after := row.extra, row.profile, row.profile
	if change.Name != nil {
		after.Name = *change.Name
	}
	if change.Email != nil {
		after.Email = *change.Email
	}
	if change.EmailVerified != nil {
		after.EmailVerified = *change.EmailVerified
	}
	if change.Image != nil {
		after.Image = *change.Image
	}
	r.setProfile(row, after)
	row.extra = extra
	r.undo(func() {
		r.setProfile(row, before)
		row.extra = extraBefore
	})
	return row.copy(), nil
}

func (r records) setProfile(row *user, profile pintle.User) {
	r.removeUser(row)
	row.profile = profile
	r.addUser(row)
}

// DeleteUser implements [pintle.Store].
func (r records) DeleteUser(ctx context.Context, id string) error {
	if err := r.write(ctx); err != nil {
		return err
	}
	defer r.writeDone()
	r.deleteAccountRows(id)
	r.forgetUser(id)
	row := r.users[id]
	if row == nil {
		return pintle.ErrNotFound
	}
	for row.sessions != nil {
		r.deleteSession(row.sessions)
	}
	for _, a := range slices.Clone(row.accounts) {
		r.deleteAccount(a)
	}
	for _, a := range row.passkeys {
		delete(r.authenticators, a.CredentialID)
		r.undo(func() { r.authenticators[a.CredentialID] = a })
	}
	r.removeUser(row)
	r.undo(func() { r.addUser(row) })
	return nil
}
