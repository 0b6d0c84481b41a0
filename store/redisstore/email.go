package redisstore

import (
	"context"
	"errors"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/redis/go-redis/v9"
)

// reservation is how long an address is held for a user who is being written.
// A process that takes longer has lost it; one that dies does not hold it for
// ever.
const reservation = time.Minute

// kept is the lifetime that the key of an address gets just before the row of its
// user is written. A confirmed key has no lifetime, which tells the two apart. If the
// process dies before it confirms the key, the row decides: the user whose row has
// the address keeps it, and without such a row it is free after [reservation].
const kept = 100 * 365 * 24 * time.Hour

// reserve holds an address for the user with the given id until it is
// confirmed, or for a minute. It fails with ErrConflict when it is another's.
func (s *Store) reserve(ctx context.Context, address, id string) error {
	key := s.keys.email(address)
	for range 3 {
		err := s.client.SetArgs(ctx, key, id, redis.SetArgs{Mode: "NX", TTL: reservation}).Err()
		if !errors.Is(err, redis.Nil) {
			return err
		}
		// The order matters: a call confirms an address after it has written the
		// user, so a user who is read now with another address has given this one
		// up.
		holder, err := confirmedHolder.Run(ctx, s.client, []string{key}, kept.Milliseconds(), reservation.Milliseconds()).Text()
		if errors.Is(err, redis.Nil) {
			continue // it was given up in between
		}
		if err != nil {
			return err
		}
		if holder == "" {
			return pintle.ErrConflict // another call's reservation
		}
		stale, err := s.isStale(ctx, address, holder)
		if err != nil {
			return err
		}
		if !stale {
			return pintle.ErrConflict
		}
		taken, err := takeOver.Run(ctx, s.client, []string{key}, holder, id, kept.Milliseconds(), reservation.Milliseconds()).Bool()
		if err != nil {
			return err
		}
		if !taken {
			return pintle.ErrConflict
		}
		return s.handBack(ctx, address, holder, id)
	}
	return pintle.ErrConflict
}

// handBack gives an address that was taken over back to a holder who has it
// again: they gave it up, were found without it, and came back before it was
// taken.
func (s *Store) handBack(ctx context.Context, address, holder, id string) error {
	stale, err := s.isStale(ctx, address, holder)
	if err != nil || stale {
		return err
	}
	_, err = replace(ctx, s.client, s.keys.email(address), []byte(id), []byte(holder), time.Time{})
	if err == nil {
		_, err = s.confirm(ctx, address, holder)
	}
	return errors.Join(pintle.ErrConflict, err)
}

// isStale reports whether the holder of an address is gone or has another one:
// Auth.js leaves the key of an address that a user no longer has.
func (s *Store) isStale(ctx context.Context, address, holder string) (bool, error) {
	u, _, err := s.user(ctx, holder)
	if errors.Is(err, pintle.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return u.Email != address, nil
}

// keepFor holds the reserved address of a user who is about to be written: from then on it
// leads to the user. It fails with ErrConflict if it is another's by now.
func (s *Store) keepFor(ctx context.Context, u *pintle.User) error {
	if u.Email == "" {
		return nil
	}
	held, err := keepIfEqual.Run(ctx, s.client, []string{s.keys.email(u.Email)}, u.ID, kept.Milliseconds()).Bool()
	if err == nil && !held {
		err = pintle.ErrConflict
	}
	return err
}

// confirm makes a reservation last, and reports whether it was still there.
func (s *Store) confirm(ctx context.Context, address, id string) (bool, error) {
	return persistIfEqual.Run(ctx, s.client, []string{s.keys.email(address)}, id).Bool()
}

// release gives an address up, if the user with the given id holds it.
func (s *Store) release(ctx context.Context, address, id string) error {
	if address == "" {
		return nil
	}
	_, err := remove(ctx, s.client, s.keys.email(address), []byte(id))
	return err
}

// giveUp releases the address that a user had before. Another call may have given it to them
// again, with the same value as its key: then it stays theirs.
func (s *Store) giveUp(ctx context.Context, address, id string) error {
	if address == "" {
		return nil
	}
	if stale, err := s.isStale(ctx, address, id); err != nil || !stale {
		return err
	}
	if err := s.release(ctx, address, id); err != nil {
		return err
	}
	// A call that has yet to write the user with the address finds its reservation gone. One
	// that has written them may have been done before the release.
	stale, err := s.isStale(ctx, address, id)
	if err == nil && !stale {
		_, err = setNew(ctx, s.client, s.keys.email(address), []byte(id), time.Time{})
	}
	return err
}

// UserByEmail implements [pintle.Store]. A key that leads to a user who has
// another address by now counts as missing.
func (s *Store) UserByEmail(ctx context.Context, email string) (*pintle.User, error) {
	if email == "" {
		return nil, absent(ctx)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	id, err := s.client.Get(ctx, s.keys.email(email)).Result()
	if err != nil {
		return nil, fail(ctx, "find user by address", err)
	}
	u, _, err := s.user(ctx, id)
	if err != nil {
		return nil, fail(ctx, "find user by address", err)
	}
	if u.Email != email {
		return nil, pintle.ErrNotFound
	}
	return u, nil
}
