package xatastore

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/uuid"
)

// userColumns are the columns that a user has a field for.
var userColumns = map[string]bool{"id": true, "xata": true, "email": true, "emailVerified": true, "name": true, "image": true, "extra": true}

// CreateUser implements [pintle.Store]. The proposed ID is kept if a record can
// have it.
//
// If two users with one address are created at once, only the unique column of
// [Schema] ensures that one call fails; see [Store.Check].
func (s *Store) CreateUser(ctx context.Context, u *pintle.User) (*pintle.User, error) {
	created, err := s.createUser(ctx, u)
	if err != nil {
		return nil, fail(ctx, "create user", err)
	}
	return created, nil
}

func (s *Store) createUser(ctx context.Context, u *pintle.User) (*pintle.User, error) {
	if err := errors.Join(storable(u.Email), storableText(u.Name, u.Image)); err != nil {
		return nil, err
	}
	id := u.ID
	if !isID(id) {
		id = uuid.New()
	}
	fields := record{}
	if err := s.putExtra(fields, u.Extra); err != nil {
		return nil, err
	}
	for column, text := range map[string]string{"email": u.Email, "name": u.Name, "image": u.Image} {
		if text != "" {
			fields[column] = text
		}
	}
	if !u.EmailVerified.IsZero() {
		fields["emailVerified"] = instantText(u.EmailVerified)
	}
	// Without a unique column this look is all that keeps addresses apart.
	if err := s.addressIsFree(ctx, u.Email, id); err != nil {
		return nil, err
	}
	r, err := s.client.create(ctx, s.names.users, id, fields)
	if no := refused(err); no != nil {
		return s.refusedUser(ctx, id, u, no)
	}
	if err != nil {
		return nil, err
	}
	return s.user(r)
}

// refusedUser finds out why a user was not created.
func (s *Store) refusedUser(ctx context.Context, id string, u *pintle.User, no *Error) (*pintle.User, error) {
	there, err := s.client.read(ctx, s.names.users, id)
	if err != nil {
		return nil, err
	}
	if there != nil {
		found, err := s.user(there)
		if err == nil && no.maybeDone && found.Email == u.Email && found.Name == u.Name && found.Image == u.Image {
			return found, nil // the attempt that got no answer was carried out
		}
		return nil, pintle.ErrConflict
	}
	if err := s.addressIsFree(ctx, u.Email, id); err != nil {
		return nil, err
	}
	return nil, no
}

// addressIsFree fails with ErrConflict when another user has the address.
func (s *Store) addressIsFree(ctx context.Context, email, id string) error {
	if email == "" {
		return ctx.Err()
	}
	other, err := s.client.first(ctx, s.names.users, []string{"email"},
		func(r record) bool { return r["email"] == email && r.id() != id }, condition{"email": email})
	if err == nil && other != nil {
		return pintle.ErrConflict
	}
	return err
}

// noUser fails with ErrNotFound when there is no user with the given id, which is
// why the service refuses what links to them.
func (s *Store) noUser(ctx context.Context, id string) error {
	r, err := s.client.read(ctx, s.names.users, id)
	if err == nil && r == nil {
		err = pintle.ErrNotFound
	}
	return err
}

// User implements [pintle.Store].
func (s *Store) User(ctx context.Context, id string) (*pintle.User, error) {
	if !isID(id) {
		return nil, absent(ctx)
	}
	r, err := s.client.read(ctx, s.names.users, id)
	if err != nil {
		return nil, fail(ctx, "find user", err)
	}
	if r == nil {
		return nil, pintle.ErrNotFound
	}
	u, err := s.user(r)
	return u, fail(ctx, "find user", err)
}

// UserByEmail implements [pintle.Store]. Where several users have the address,
// as in a table whose column is not unique, it is the first that the service
// names, as it is for Auth.js.
func (s *Store) UserByEmail(ctx context.Context, email string) (*pintle.User, error) {
	if email == "" || storable(email) != nil {
		return nil, absent(ctx)
	}
	r, err := s.client.first(ctx, s.names.users, []string{"*"},
		func(r record) bool { return r["email"] == email }, condition{"email": email})
	if err != nil {
		return nil, fail(ctx, "find user by address", err)
	}
	if r == nil {
		return nil, pintle.ErrNotFound
	}
	u, err := s.user(r)
	return u, fail(ctx, "find user by address", err)
}

// UpdateUser implements [pintle.Store].
func (s *Store) UpdateUser(ctx context.Context, id string, change pintle.UserUpdate) (*pintle.User, error) {
	if !isID(id) {
		return nil, absent(ctx)
	}
	fields := record{}
	var err error
	for column, text := range map[string]*string{"name": change.Name, "image": change.Image, "email": change.Email} {
		if text == nil {
			continue
		}
		fields[column] = textOrNull(*text)
		err = errors.Join(err, storableText(*text))
	}
	if change.EmailVerified != nil {
		fields["emailVerified"] = instantText(*change.EmailVerified)
	}
	if change.Email != nil {
		err = errors.Join(err, storable(*change.Email))
	}
	if err != nil {
		return nil, fail(ctx, "update user", errNotText)
	}
	rest := map[string]any{}
	for name, value := range change.Extra {
		switch {
		case slices.Contains(s.client.UserColumns, name):
			fields[name] = value
		case s.client.Extended:
			rest[name] = value
		}
	}
	if len(fields)+len(rest) == 0 && change.IfEmail == nil {
		return s.User(ctx, id)
	}
	u, err := s.updateUser(ctx, id, change.IfEmail, fields, rest)
	return u, fail(ctx, "update user", err)
}

// updateUser changes columns, and members of the object that one column holds.
func (s *Store) updateUser(ctx context.Context, id string, ifEmail *string, fields, members record) (*pintle.User, error) {
	email, _ := fields["email"].(string)
	if err := s.addressIsFree(ctx, email, id); err != nil {
		return nil, err
	}
	// Each time round another call for the user went through.
	for {
		r, version, err := s.patchUser(ctx, id, ifEmail, fields, members)
		if none, _ := missing(err); none {
			return nil, pintle.ErrNotFound
		}
		if refused(err) == nil {
			if err != nil {
				return nil, err
			}
			return s.user(r)
		}
		// The service has no fixed status for a missing record.
		there, look := s.client.read(ctx, s.names.users, id)
		if look == nil && there == nil {
			return nil, pintle.ErrNotFound
		}
		if (len(members) > 0 || ifEmail != nil) && look == nil {
			if now, look := there.version(); look == nil && now != version {
				continue
			}
		}
		if taken := s.addressIsFree(ctx, email, id); errors.Is(taken, pintle.ErrConflict) {
			return nil, taken
		}
		return nil, err
	}
}

// patchUser writes once. With members, or a condition, it writes only to the version of
// the record that it has read and returns.
func (s *Store) patchUser(ctx context.Context, id string, ifEmail *string, fields, members record) (r record, version int64, err error) {
	if len(members) == 0 && ifEmail == nil {
		r, err = s.client.update(ctx, s.names.users, id, fields)
		return r, 0, err
	}
	there, err := s.client.read(ctx, s.names.users, id)
	if err != nil {
		return nil, 0, err
	}
	if there == nil {
		return nil, 0, pintle.ErrNotFound
	}
	if version, err = there.version(); err != nil {
		return nil, 0, err
	}
	c := &reader{record: there}
	if ifEmail != nil && c.text("email") != *ifEmail {
		return nil, 0, errors.Join(pintle.ErrConflict, c.err)
	}
	object := map[string]any{}
	maps.Copy(object, c.object("extra"))
	for name, value := range members {
		if object[name] = value; value == nil {
			delete(object, name)
		}
	}
	if c.err != nil {
		return nil, 0, c.err
	}
	changed := maps.Clone(fields)
	if len(members) > 0 {
		changed["extra"] = nil
	}
	if len(members) > 0 && len(object) > 0 {
		if changed["extra"], err = objectText(object); err != nil {
			return nil, 0, err
		}
	}
	r, err = s.client.updateIf(ctx, s.names.users, id, version, changed)
	return r, version, err
}

// user takes a record of a user apart.
func (s *Store) user(r record) (*pintle.User, error) {
	c := &reader{record: r}
	u := &pintle.User{ID: r.id(), Name: c.text("name"), Email: c.text("email"), EmailVerified: c.instant("emailVerified"), Image: c.text("image")}
	u.Extra = s.extra(r, c)
	u.MarkNull()
	switch {
	case c.err != nil:
		return nil, c.err
	case !isID(u.ID):
		return nil, errors.New("the record of a user has no id")
	}
	return u, nil
}

// putExtra writes members that have a column into that column, and the rest
// into one column if the database is an extended one.
func (s *Store) putExtra(fields record, extra map[string]any) (err error) {
	rest := map[string]any{}
	for name, value := range extra {
		switch {
		case !slices.Contains(s.client.UserColumns, name):
			rest[name] = value
		case value != nil:
			fields[name] = value
		}
	}
	if s.client.Extended && len(rest) > 0 {
		fields["extra"], err = objectText(rest)
	}
	return err
}

func (s *Store) extra(r record, c *reader) map[string]any {
	extra := map[string]any{}
	if s.client.Extended {
		maps.Copy(extra, c.object("extra"))
	}
	for _, name := range s.client.UserColumns {
		if value := r[name]; value != nil {
			extra[name] = value
		}
	}
	if len(extra) == 0 {
		return nil
	}
	return extra
}
