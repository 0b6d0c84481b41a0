package redisstore

import (
	"context"
	"errors"

	"github.com/pintleauth/pintle"
	"github.com/redis/go-redis/v9"
)

// DeleteUser implements [pintle.UserDeleter]. Sessions go first, so that access
// ends at once, and the user last, so that what broke off can be repeated. What
// Auth.js wrote goes too as far as its keys lead there.
func (s *Store) DeleteUser(ctx context.Context, id string) error {
	u, text, err := s.user(ctx, id)
	switch {
	case errors.Is(err, pintle.ErrNotFound) && !isUserID(id):
		return nil
	case errors.Is(err, pintle.ErrNotFound):
		u = &pintle.User{ID: id}
	case err != nil:
		return fail(ctx, "delete user", err)
	}
	if _, err := s.sessions.endAll(ctx, id, ""); err != nil {
		return fail(ctx, "delete user", err)
	}
	if err := s.deleteBelongings(ctx, id); err != nil {
		return fail(ctx, "delete user", err)
	}
	if err := s.release(ctx, u.Email, id); err != nil {
		return fail(ctx, "delete user", err)
	}
	// One by one: keys of one command have to be on one node.
	for _, key := range []string{
		s.keys.accountSet(id), s.keys.lastAccount(id), s.keys.sessionSet(id), s.keys.lastSession(id), s.keys.passkeys(id),
	} {
		if err := s.client.Del(ctx, key).Err(); err != nil {
			return fail(ctx, "delete user", err)
		}
	}
	if text == nil {
		return nil
	}
	return fail(ctx, "delete user", s.client.Del(ctx, s.keys.user(id)).Err())
}

// deleteBelongings removes the accounts and passkeys of a user.
func (s *Store) deleteBelongings(ctx context.Context, id string) error {
	accounts, err := s.UserAccounts(ctx, id)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		if err := s.UnlinkAccount(ctx, id, a.Provider, a.ProviderAccountID); err != nil && !errors.Is(err, pintle.ErrNotFound) {
			return err
		}
	}
	ids, _, err := s.passkeyIDs(ctx, id)
	if err != nil {
		return err
	}
	for _, credentialID := range ids {
		for {
			row, text, err := s.passkey(ctx, credentialID)
			if errors.Is(err, redis.Nil) || err == nil && row.UserID != id {
				break
			}
			if err != nil {
				return err
			}
			removed, err := remove(ctx, s.client, s.keys.passkey(credentialID), text)
			if err != nil {
				return err
			}
			if removed {
				break
			}
		}
	}
	return nil
}
