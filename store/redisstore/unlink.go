package redisstore

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/redis/go-redis/v9"
)

// Accounts of one user are on several nodes of a Cluster, so no command removes
// one on the condition that another is there. Instead every call that has such
// a condition enters itself in the user's list of removals first, which is one
// key, and then counts on no account that was in the list before it. Of two
// calls that would remove what the other keeps the second sees the first, and
// gives up.

// forgotten is when a call that never ended is no longer counted: its process
// died, and its account may still be there. A process that is stopped for this
// long in the midst of a call removes an account that others counted on since.
const forgotten = time.Hour

// enterRemoval adds a call to the list and returns the calls that were there.
var enterRemoval = redis.NewScript(`
	redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[3])
	local before = redis.call('ZRANGE', KEYS[1], 0, -1)
	redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
	redis.call('PEXPIRE', KEYS[1], ARGV[4])
	return before`)

// A removal is one call of UnlinkAccount in the list of its user.
type removal struct {
	list, entry string
	earlier     map[string]bool // the keys of accounts that earlier calls remove
}

func (s *Store) beginRemoval(ctx context.Context, userID, key string) (removal, error) {
	r := removal{list: s.keys.removals(userID), entry: rand.Text() + " " + key, earlier: make(map[string]bool)}
	now := time.Now()
	before, err := enterRemoval.Run(ctx, s.client, []string{r.list},
		r.entry, now.UnixMilli(), now.Add(-forgotten).UnixMilli(), forgotten.Milliseconds()).StringSlice()
	for _, entry := range before {
		_, earlier, _ := strings.Cut(entry, " ")
		r.earlier[earlier] = true
	}
	return r, err
}

func (s *Store) endRemoval(ctx context.Context, r removal) error {
	ctx, cancel := cleanUp(ctx)
	defer cancel()
	return s.client.ZRem(ctx, r.list, r.entry).Err()
}

// UnlinkAccount implements [pintle.Store]. A call with a condition whose
// process dies before it removed the account leaves the account, which for an
// hour is not one to keep.
func (s *Store) UnlinkAccount(ctx context.Context, userID, provider, providerAccountID string, keepOneOf []*pintle.Account) error {
	a, _, err := s.account(ctx, provider, providerAccountID)
	if err == nil && a.UserID != userID {
		err = pintle.ErrNotFound
	}
	if err != nil {
		return fail(ctx, "unlink account", err)
	}
	if keepOneOf == nil {
		return fail(ctx, "unlink account", s.unlink(ctx, a))
	}
	r, err := s.beginRemoval(ctx, userID, s.keys.account(provider, providerAccountID))
	if err != nil {
		return fail(ctx, "unlink account", err)
	}
	kept, err := s.keepsOneOf(ctx, a, keepOneOf, r)
	switch {
	case err != nil:
		return fail(ctx, "unlink account", errors.Join(err, s.endRemoval(ctx, r)))
	case !kept:
		return fail(ctx, "unlink account: no account to keep is linked", errors.Join(pintle.ErrConflict, s.endRemoval(ctx, r)))
	}
	// One that failed may have removed the account, or may not, and stays in
	// the list.
	if err := s.unlink(ctx, a); err != nil && !errors.Is(err, pintle.ErrNotFound) {
		return fail(ctx, "unlink account", err)
	} else if ended := s.endRemoval(ctx, r); err == nil {
		return fail(ctx, "unlink account", ended)
	}
	return pintle.ErrNotFound
}

// keepsOneOf reports whether the owner of an account has one of others, which no
// earlier call removes.
func (s *Store) keepsOneOf(ctx context.Context, a *pintle.Account, others []*pintle.Account, r removal) (bool, error) {
	own := s.keys.account(a.Provider, a.ProviderAccountID)
	for _, other := range others {
		key := s.keys.account(other.Provider, other.ProviderAccountID)
		if key == own || r.earlier[key] {
			continue
		}
		kept, _, err := s.account(ctx, other.Provider, other.ProviderAccountID)
		switch {
		case errors.Is(err, redis.Nil), errors.Is(err, pintle.ErrNotFound):
		case err != nil:
			return false, err
		case kept.UserID == a.UserID:
			return true, nil
		}
	}
	return false, nil
}

// unlink removes an account and the passkey that belongs to it. The passkey
// first: what is left if the process dies then is an account that does not
// sign in and can be unlinked.
func (s *Store) unlink(ctx context.Context, a *pintle.Account) error {
	if a.Type == pintle.TypeWebAuthn {
		if err := s.deletePasskey(ctx, a.UserID, a.ProviderAccountID); err != nil && !errors.Is(err, pintle.ErrNotFound) {
			return err
		}
	}
	key := s.keys.account(a.Provider, a.ProviderAccountID)
	for {
		held, text, err := s.account(ctx, a.Provider, a.ProviderAccountID)
		if errors.Is(err, redis.Nil) || err == nil && held.UserID != a.UserID {
			return pintle.ErrNotFound
		}
		if err != nil {
			return err
		}
		removed, err := remove(ctx, s.client, key, text)
		if err != nil {
			return err
		}
		if removed {
			return s.forgetAccount(ctx, a.UserID, key)
		}
	}
}

// forgetAccount takes an account that was removed out of its owner's lists,
// unless it was linked to the same owner again meanwhile.
func (s *Store) forgetAccount(ctx context.Context, userID, key string) error {
	_, err := remove(ctx, s.client, s.keys.lastAccount(userID), []byte(key))
	if err := errors.Join(err, s.client.SRem(ctx, s.keys.accountSet(userID), key).Err()); err != nil {
		return err
	}
	again, _, err := s.accountAt(ctx, key)
	switch {
	case errors.Is(err, redis.Nil):
		return nil
	case err != nil:
		return err
	case again.UserID == userID:
		return s.client.SAdd(ctx, s.keys.accountSet(userID), key).Err()
	}
	return nil
}
