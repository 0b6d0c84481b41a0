package redisstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/redis/go-redis/v9"
)

// LinkAccount implements [pintle.Store].
func (s *Store) LinkAccount(ctx context.Context, a *pintle.Account) error {
	text, err := encodeAccount(a)
	if err != nil {
		return fmt.Errorf("redisstore: link account: %w", err)
	}
	if _, _, err := s.user(ctx, a.UserID); err != nil {
		return fail(ctx, "link account", err)
	}
	key := s.keys.account(a.Provider, a.ProviderAccountID)
	if err := s.listAccount(ctx, a.UserID, key); err != nil {
		return fail(ctx, "link account", err)
	}
	linked, err := s.claimAccount(ctx, key, text)
	if err != nil {
		return fail(ctx, "link account", err)
	}
	if !linked {
		return fail(ctx, "link account", errors.Join(pintle.ErrConflict, s.unlist(ctx, key, a.UserID)))
	}
	err = s.client.Set(ctx, s.keys.lastAccount(a.UserID), key, 0).Err()
	if err == nil {
		err = s.stillThere(ctx, a.UserID)
	}
	if errors.Is(err, pintle.ErrNotFound) {
		ctx, cancel := cleanUp(ctx)
		defer cancel()
		_, undone := remove(ctx, s.client, key, text)
		err = errors.Join(err, undone, s.forgetAccount(ctx, a.UserID, key))
	}
	return fail(ctx, "link account", err)
}

// stillThere fails with ErrNotFound when a user does not exist. It is called
// after something was stored for the user: DeleteUser looks for such things once
// more when the user is gone, so that one of the two finds it.
func (s *Store) stillThere(ctx context.Context, userID string) error {
	_, _, err := s.user(ctx, userID)
	return err
}

// listAccount puts an account into its owner's set, and with it the last one
// that Auth.js linked, which nothing else would lead to from now on.
func (s *Store) listAccount(ctx context.Context, userID, key string) error {
	listed := []any{key}
	last, err := s.client.Get(ctx, s.keys.lastAccount(userID)).Result()
	switch {
	case err == nil:
		listed = append(listed, last)
	case !errors.Is(err, redis.Nil):
		return err
	}
	return s.client.SAdd(ctx, s.keys.accountSet(userID), listed...).Err()
}

// claimAccount writes an account that no user has, and reports whether it did.
// Auth.js leaves accounts of users that it deletes: no user can sign in with
// them, and they would lock out the person to whom they belong.
func (s *Store) claimAccount(ctx context.Context, key string, text []byte) (bool, error) {
	for {
		claimed, err := setNew(ctx, s.client, key, text, time.Time{})
		if err != nil || claimed {
			return claimed, err
		}
		held, old, err := s.accountAt(ctx, key)
		if errors.Is(err, redis.Nil) {
			continue // it was unlinked in between
		}
		if err != nil {
			return false, err
		}
		// A user is written before their accounts and removed after them, so a
		// missing user stays missing.
		if _, _, err := s.user(ctx, held.UserID); !errors.Is(err, pintle.ErrNotFound) {
			return false, err
		}
		claimed, err = replace(ctx, s.client, key, old, text, time.Time{})
		if err != nil || claimed {
			return claimed, err
		}
	}
}

// unlist takes an account out of the set of a user to whom it does not belong.
func (s *Store) unlist(ctx context.Context, key, userID string) error {
	a, _, err := s.accountAt(ctx, key)
	if err == nil && a.UserID == userID {
		return nil
	}
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	return s.client.SRem(ctx, s.keys.accountSet(userID), key).Err()
}

// accountAt returns the account under a key and the text it was read from. It
// fails with [redis.Nil] when the key does not exist.
func (s *Store) accountAt(ctx context.Context, key string) (*pintle.Account, []byte, error) {
	text, err := s.client.Get(ctx, key).Bytes()
	if err != nil {
		return nil, nil, err
	}
	a, err := decodeAccount(text)
	return a, text, err
}

// account returns an account and the text it was read from.
func (s *Store) account(ctx context.Context, provider, accountID string) (*pintle.Account, []byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	a, text, err := s.accountAt(ctx, s.keys.account(provider, accountID))
	if err == nil && (a.Provider != provider || a.ProviderAccountID != accountID) {
		err = pintle.ErrNotFound
	}
	return a, text, err
}

// Account implements [pintle.Store].
func (s *Store) Account(ctx context.Context, provider, providerAccountID string) (*pintle.Account, error) {
	a, _, err := s.account(ctx, provider, providerAccountID)
	if err != nil {
		return nil, fail(ctx, "find account", err)
	}
	return a, nil
}

// UserByAccount implements [pintle.Store].
func (s *Store) UserByAccount(ctx context.Context, provider, providerAccountID string) (*pintle.User, error) {
	a, _, err := s.account(ctx, provider, providerAccountID)
	if err != nil {
		return nil, fail(ctx, "find user by account", err)
	}
	u, _, err := s.user(ctx, a.UserID)
	if err != nil {
		return nil, fail(ctx, "find user by account", err)
	}
	return u, nil
}

// UserAccounts implements [pintle.Store]. The accounts are in the order
// of their providers' names.
func (s *Store) UserAccounts(ctx context.Context, userID string) ([]*pintle.Account, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !isUserID(userID) {
		return nil, nil
	}
	keys, err := s.accountKeys(ctx, userID)
	if err != nil {
		return nil, fail(ctx, "list accounts", err)
	}
	var accounts []*pintle.Account
	for _, key := range keys {
		a, _, err := s.accountAt(ctx, key)
		if errors.Is(err, redis.Nil) {
			continue
		}
		if err != nil {
			return nil, fail(ctx, "list accounts", err)
		}
		if a.UserID == userID {
			accounts = append(accounts, a)
		}
	}
	slices.SortFunc(accounts, func(a, b *pintle.Account) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.ProviderAccountID, b.ProviderAccountID))
	})
	return accounts, nil
}

// accountKeys returns the keys of a user's accounts, including that of the last
// one that Auth.js linked.
func (s *Store) accountKeys(ctx context.Context, userID string) ([]string, error) {
	keys, err := s.client.SMembers(ctx, s.keys.accountSet(userID)).Result()
	if err != nil {
		return nil, err
	}
	last, err := s.client.Get(ctx, s.keys.lastAccount(userID)).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	if err == nil && !slices.Contains(keys, last) {
		keys = append(keys, last)
	}
	return keys, nil
}

// UpdateAccount implements [pintle.Store].
func (s *Store) UpdateAccount(ctx context.Context, a *pintle.Account) error {
	return s.updateAccount(ctx, "update account", a, func(*pintle.Account) bool { return true })
}

// SwapAccount implements [pintle.Store].
func (s *Store) SwapAccount(ctx context.Context, a *pintle.Account, old string) error {
	return s.updateAccount(ctx, "swap account", a, func(stored *pintle.Account) bool { return stored.RefreshToken == old })
}

// updateAccount replaces the tokens of an account if it may be replaced.
func (s *Store) updateAccount(ctx context.Context, operation string, a *pintle.Account, may func(stored *pintle.Account) bool) error {
	key := s.keys.account(a.Provider, a.ProviderAccountID)
	for {
		before, old, err := s.account(ctx, a.Provider, a.ProviderAccountID)
		if err == nil && !may(before) {
			err = pintle.ErrConflict
		}
		if err != nil {
			return fail(ctx, operation, err)
		}
		after := *a
		after.UserID, after.Type, after.VerifiedEmail = before.UserID, before.Type, before.VerifiedEmail
		text, err := encodeAccount(&after)
		if err != nil {
			return fmt.Errorf("redisstore: %s: %w", operation, err)
		}
		written, err := replace(ctx, s.client, key, old, text, time.Time{})
		if err != nil || written {
			return fail(ctx, operation, err)
		}
	}
}

// Members of an account's value beyond those of its JSON. Auth.js writes the
// first and passes over the second.
const (
	memberID            = "id"
	memberVerifiedEmail = "verifiedEmail"
)

// accountID is the id that Auth.js's adapter gives an account.
func accountID(a *pintle.Account) string { return a.Provider + ":" + a.ProviderAccountID }

// textIn returns a value that is a text.
func textIn(value any) string {
	text, _ := value.(string)
	return text
}

func encodeAccount(a *pintle.Account) ([]byte, error) {
	if err := storable(a.UserID, string(a.Type), a.Provider, a.ProviderAccountID, a.AccessToken, a.RefreshToken, a.IDToken,
		a.TokenType, a.Scope, textIn(a.SessionState), a.OAuthToken, a.OAuthTokenSecret, a.VerifiedEmail); err != nil {
		return nil, err
	}
	row := *a
	row.Extra = make(map[string]any, len(a.Extra)+2)
	maps.Copy(row.Extra, a.Extra)
	row.Extra[memberID] = accountID(a)
	delete(row.Extra, memberVerifiedEmail)
	if a.VerifiedEmail != "" {
		row.Extra[memberVerifiedEmail] = a.VerifiedEmail
	}
	return json.Marshal(row)
}

func decodeAccount(text []byte) (*pintle.Account, error) {
	a := &pintle.Account{}
	if err := json.Unmarshal(text, a); err != nil {
		return nil, err
	}
	// An Account reads the id "null" as empty, because services send it so.
	// A stored "null" is a real id.
	// A map has the exact names: a struct would take a member "userid" of the
	// provider's for the owner.
	var named map[string]any
	if err := json.Unmarshal(text, &named); err != nil {
		return nil, err
	}
	for name, field := range map[string]*string{"userId": &a.UserID, "provider": &a.Provider, "providerAccountId": &a.ProviderAccountID} {
		if value, ok := named[name].(string); ok {
			*field = value
		}
	}
	a.ID = accountID(a)
	a.VerifiedEmail, _ = a.Extra[memberVerifiedEmail].(string)
	delete(a.Extra, memberID)
	delete(a.Extra, memberVerifiedEmail)
	if len(a.Extra) == 0 {
		a.Extra = nil
	}
	return a, nil
}
