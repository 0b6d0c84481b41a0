package redisstore

import (
	"context"
	"errors"

	"github.com/pintleauth/pintle"
)

// DeleteUser implements [pintle.Store]. Sessions go first, so that access
// ends at once, and the user after everything else, so that what broke off can be
// repeated. What Auth.js wrote goes too as far as its keys lead there.
func (s *Store) DeleteUser(ctx context.Context, id string) error {
	u, _, err := s.user(ctx, id)
	if errors.Is(err, pintle.ErrNotFound) {
		if isUserID(id) {
			err = s.deleteLeftovers(ctx, id)
		} else {
			err = errors.Join(s.accountStore().forget(ctx, id), s.sessions.forgetUserSignIns(ctx, id))
		}
		if err != nil {
			return fail(ctx, "delete user", err)
		}
		return absent(ctx)
	}
	if err == nil {
		err = s.deleteBelongings(ctx, id)
	}
	if err == nil {
		err = s.release(ctx, u.Email, id)
	}
	if err == nil {
		err = s.client.Del(ctx, s.keys.user(id)).Err()
	}
	if err == nil {
		err = s.deleteLeftovers(ctx, id)
	}
	return fail(ctx, "delete user", err)
}

// deleteLeftovers removes what was stored for a user while they were deleted,
// and the lists of such things. A call that stores something after that finds
// no user, and removes it.
func (s *Store) deleteLeftovers(ctx context.Context, id string) error {
	if err := s.deleteBelongings(ctx, id); err != nil {
		return err
	}
	// One by one: keys of one command have to be on one node.
	for _, key := range []string{
		s.keys.accountSet(id), s.keys.lastAccount(id), s.keys.sessionSet(id), s.keys.lastSession(id), s.keys.passkeys(id), s.keys.removals(id),
	} {
		if err := s.client.Del(ctx, key).Err(); err != nil {
			return err
		}
	}
	if err := s.sessions.forgetUserSignIns(ctx, id); err != nil {
		return err
	}
	return s.accountStore().forget(ctx, id)
}

// deleteBelongings removes the sessions, accounts and passkeys of a user.
func (s *Store) deleteBelongings(ctx context.Context, id string) error {
	if _, err := s.sessions.endAll(ctx, id, ""); err != nil {
		return err
	}
	accounts, err := s.UserAccounts(ctx, id)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		if err := s.unlink(ctx, a); err != nil && !errors.Is(err, pintle.ErrNotFound) {
			return err
		}
	}
	ids, _, err := s.passkeyIDs(ctx, id)
	if err != nil {
		return err
	}
	for _, credentialID := range ids {
		if err := s.deletePasskey(ctx, id, credentialID); err != nil && !errors.Is(err, pintle.ErrNotFound) {
			return err
		}
	}
	return nil
}
