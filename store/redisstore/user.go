package redisstore

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/redis/go-redis/v9"
)

// CreateUser implements [pintle.Store]. The proposed ID, which the flows make, is
// kept unless it has a colon, which would make it a key of another kind. A user
// without such an ID is given a random one.
func (s *Store) CreateUser(ctx context.Context, u *pintle.User) (*pintle.User, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	row := *u
	if !isUserID(row.ID) {
		row.ID = rand.Text()
	}
	text, err := encodeUser(&row)
	if err != nil {
		return nil, fmt.Errorf("redisstore: create user: %w", err)
	}
	if row.Email != "" {
		if err := s.reserve(ctx, row.Email, row.ID); err != nil {
			return nil, fail(ctx, "create user", err)
		}
	}
	if err := s.writeNewUser(ctx, &row, text); err != nil {
		return nil, fail(ctx, "create user", err)
	}
	return decodeUser(row.ID, text)
}

// writeNewUser writes a user whose address is reserved.
func (s *Store) writeNewUser(ctx context.Context, u *pintle.User, text []byte) error {
	key, tried, created := s.keys.user(u.ID), false, false
	err := s.keepFor(ctx, u)
	if err == nil {
		tried = true
		created, err = setNew(ctx, s.client, key, text, time.Time{})
	}
	if err == nil && !created && u.Email != "" {
		// A client sends a command again whose answer was lost. While the address is held for the
		// id, no other call writes a user who has both.
		var there []byte
		there, err = s.client.Get(ctx, key).Bytes()
		if created = bytes.Equal(there, text); errors.Is(err, redis.Nil) {
			err = nil
		}
	}
	if err == nil && !created {
		tried, err = false, pintle.ErrConflict
	}
	if err == nil {
		// A user who is gone may have had the id. The password of that user must not sign
		// in as this one.
		err = s.accountStore().forget(ctx, u.ID)
	}
	if err == nil {
		err = s.accountStore().noteUser(ctx, u.ID, time.Now())
	}
	if err == nil && u.Email != "" {
		var held bool
		held, err = s.confirm(ctx, u.Email, u.ID)
		if err == nil && !held {
			err = pintle.ErrConflict
		}
	}
	if err == nil {
		return nil
	}
	ctx, cancel := cleanUp(ctx)
	defer cancel()
	if tried {
		_, undone := remove(ctx, s.client, key, text)
		err = errors.Join(err, undone, s.client.ZRem(ctx, s.keys.users(), u.ID).Err())
		if undone != nil {
			return err // the user may be there, and keeps the address then
		}
	}
	return errors.Join(err, s.release(ctx, u.Email, u.ID))
}

// User implements [pintle.Store].
func (s *Store) User(ctx context.Context, id string) (*pintle.User, error) {
	u, _, err := s.user(ctx, id)
	return u, fail(ctx, "find user", err)
}

// user returns a user and the text they were read from.
func (s *Store) user(ctx context.Context, id string) (*pintle.User, []byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if !isUserID(id) {
		return nil, nil, pintle.ErrNotFound
	}
	text, err := s.client.Get(ctx, s.keys.user(id)).Bytes()
	if err != nil {
		return nil, nil, fail(ctx, "find user", err)
	}
	u, err := decodeUser(id, text)
	return u, text, err
}

// UpdateUser implements [pintle.Store].
func (s *Store) UpdateUser(ctx context.Context, id string, change pintle.UserUpdate) (*pintle.User, error) {
	reserved := ""
	for {
		before, old, err := s.user(ctx, id)
		if err != nil {
			return nil, fail(ctx, "update user", err)
		}
		if change.IfEmail != nil && before.Email != *change.IfEmail {
			// What it has reserved in an earlier round goes by itself.
			return nil, fail(ctx, "update user", pintle.ErrConflict)
		}
		after := applied(before, change)
		text, err := encodeUser(after)
		if err != nil {
			return nil, fmt.Errorf("redisstore: update user: %w", err)
		}
		if after.Email != "" && after.Email != before.Email && after.Email != reserved {
			// Of a conflict keepFor decides: the address may be reserved for this user by a process that
			// died, or by a command whose answer was lost and that the client has sent again.
			if err := s.reserve(ctx, after.Email, id); err != nil && !errors.Is(err, pintle.ErrConflict) {
				return nil, fail(ctx, "update user", err)
			}
			reserved = after.Email
		}
		if after.Email != before.Email {
			if err := s.keepFor(ctx, after); err != nil {
				return nil, fail(ctx, "update user", err)
			}
		}
		// Only the change of another call makes this fail, so of several calls in
		// this loop one succeeds.
		written, err := replace(ctx, s.client, s.keys.user(id), old, text, time.Time{})
		if err != nil {
			return nil, fail(ctx, "update user", err)
		}
		if !written {
			continue
		}
		if err := s.accountStore().noteUser(ctx, id, time.Time{}); err != nil {
			return nil, fail(ctx, "update user", err)
		}
		if after.Email != before.Email {
			if err := s.moveAddress(ctx, id, before.Email, after.Email, old, text); err != nil {
				return nil, fail(ctx, "update user", err)
			}
		}
		return decodeUser(id, text)
	}
}

func applied(u *pintle.User, change pintle.UserUpdate) *pintle.User {
	c := *u
	if change.Name != nil {
		c.Name = *change.Name
	}
	if change.Email != nil {
		c.Email = *change.Email
	}
	if change.EmailVerified != nil {
		c.EmailVerified = *change.EmailVerified
	}
	if change.Image != nil {
		c.Image = *change.Image
	}
	c.Extra = maps.Clone(u.Extra)
	for name, value := range change.Extra {
		if value == nil {
			delete(c.Extra, name)
			continue
		}
		if c.Extra == nil {
			c.Extra = make(map[string]any, len(change.Extra))
		}
		c.Extra[name] = value
	}
	return &c
}

// moveAddress confirms the address a user was given and gives up the one before.
func (s *Store) moveAddress(ctx context.Context, id, before, after string, old, text []byte) error {
	if after != "" {
		held, err := s.confirm(ctx, after, id)
		if err != nil {
			return err
		}
		if !held {
			// Another user has it, more than a minute after it was reserved.
			_, err := replace(ctx, s.client, s.keys.user(id), text, old, time.Time{})
			return errors.Join(pintle.ErrConflict, err)
		}
	}
	return s.giveUp(ctx, before, id)
}

func encodeUser(u *pintle.User) ([]byte, error) {
	if err := storable(u.ID, u.Name, u.Email, u.Image); err != nil {
		return nil, err
	}
	return json.Marshal(u)
}

// decodeUser reads the value of a user's key. One that cannot be read is an
// error, not a missing user: the address of a missing user counts as free.
func decodeUser(id string, text []byte) (*pintle.User, error) {
	u := &pintle.User{}
	if err := json.Unmarshal(text, u); err != nil {
		return nil, err
	}
	u.ID = id
	return u, nil
}
