package memstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"github.com/pintleauth/pintle"
)

// A user is a row, and the way to the rows that belong to it. It is small, for there
// may be many: 64 bytes.
type user struct {
	profile
	created  int64    // in milliseconds
	sessions *session // the newest, which leads to the next
	more     *more    // nil for a user who has nothing of it
}

// more is what many users do not have.
type more struct {
	extra    jsonText
	accounts []*account
	passkeys []*authenticator
}

// nothing is what a user has of more who has nothing. It does not change.
var nothing = &more{}

func (u *user) has() *more {
	if u.more == nil {
		return nothing
	}
	return u.more
}

// gets returns more of u, to add to it.
func (u *user) gets() *more {
	if u.more == nil {
		u.more = &more{}
	}
	return u.more
}

func (u *user) setExtra(extra jsonText) {
	if extra != u.has().extra {
		u.gets().extra = extra
	}
}

func (r records) copyOf(u *user) *pintle.User {
	c := r.bare[u.mark]
	c.ID, c.Name, c.Email, c.Image = u.id(), u.name(), u.email(), u.image()
	if u.verified != never {
		c.EmailVerified = instant(u.verified)
	}
	c.Extra = u.has().extra.decode()
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
	id := cmp.Or(u.ID, rand.Text())
	if r.users.get(id) != nil {
		return nil, fmt.Errorf("memstore: create user: the id: %w", pintle.ErrConflict)
	}
	if r.byEmail.get(u.Email) != nil {
		return nil, fmt.Errorf("memstore: create user: the address: %w", pintle.ErrConflict)
	}
	row := &user{profile: r.profileOf(id, u), created: time.Now().UnixMilli()}
	row.setExtra(extra)
	r.addUser(row)
	r.undo(func() { r.removeUser(row) })
	r.deleteAccountRows(id) // of a user who had the id before
	return r.copyOf(row), nil
}

func (r records) addUser(row *user) {
	r.users.add(row)
	if row.email() != "" {
		r.byEmail.add(row)
	}
}

func (r records) removeUser(row *user) {
	r.users.remove(row)
	r.byEmail.remove(row)
}

// User implements [pintle.Store].
func (r records) User(ctx context.Context, id string) (*pintle.User, error) {
	return r.found(ctx, func() *user { return r.users.get(id) })
}

// UserByEmail implements [pintle.Store].
func (r records) UserByEmail(ctx context.Context, email string) (*pintle.User, error) {
	return r.found(ctx, func() *user { return r.byEmail.get(email) })
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
	return r.copyOf(row), nil
}

// UpdateUser implements [pintle.Store].
func (r records) UpdateUser(ctx context.Context, id string, change pintle.UserUpdate) (*pintle.User, error) {
	if err := r.write(ctx); err != nil {
		return nil, err
	}
	defer r.writeDone()
	row := r.users.get(id)
	if row == nil {
		return nil, pintle.ErrNotFound
	}
	if change.IfEmail != nil && row.email() != *change.IfEmail {
		return nil, fmt.Errorf("memstore: update user: the address is another one: %w", pintle.ErrConflict)
	}
	if change.Email != nil {
		if owner := r.byEmail.get(*change.Email); owner != nil && owner != row {
			return nil, fmt.Errorf("memstore: update user: the address: %w", pintle.ErrConflict)
		}
	}
	extra, err := row.has().extra.with(change.Extra)
	if err != nil {
		return nil, fmt.Errorf("memstore: update user: encode Extra: %w", err)
	}
	extraBefore, before, after := row.has().extra, row.profile, r.copyOf(row)
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
	r.setProfile(row, r.profileOf(id, after))
	row.setExtra(extra)
	r.undo(func() {
		r.setProfile(row, before)
		row.setExtra(extraBefore)
	})
	return r.copyOf(row), nil
}

func (r records) setProfile(row *user, p profile) {
	r.removeUser(row)
	row.profile = p
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
	row := r.users.get(id)
	if row == nil {
		return pintle.ErrNotFound
	}
	for row.sessions != nil {
		r.deleteSession(row.sessions)
	}
	for _, a := range slices.Clone(row.has().accounts) {
		r.deleteAccount(a)
	}
	for _, a := range row.has().passkeys {
		delete(r.authenticators, a.CredentialID)
		r.undo(func() { r.authenticators[a.CredentialID] = a })
	}
	r.removeUser(row)
	r.undo(func() { r.addUser(row) })
	return nil
}
