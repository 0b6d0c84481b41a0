package redisstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/redis/go-redis/v9"
)

// An authenticatorRow is the value of a passkey's key, as the adapter for
// unstorage writes it. Auth.js passes the last three members on as it finds
// them.
type authenticatorRow struct {
	CredentialID      string  `json:"credentialID"`
	UserID            string  `json:"userId"`
	ProviderAccountID string  `json:"providerAccountId"`
	PublicKey         string  `json:"credentialPublicKey"`
	Counter           uint32  `json:"counter"`
	DeviceType        string  `json:"credentialDeviceType"`
	BackedUp          bool    `json:"credentialBackedUp"`
	Transports        *string `json:"transports"`

	Name     string `json:"name,omitempty"`
	Created  date   `json:"created,omitzero"`
	LastUsed date   `json:"lastUsed,omitzero"`
}

// CreatePasskey implements [pintle.Store].
func (s *Store) CreatePasskey(ctx context.Context, a *pintle.Passkey) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	text, err := encodeAuthenticator(a)
	if err != nil {
		return fmt.Errorf("redisstore: create passkey: %w", err)
	}
	if err := s.stillThere(ctx, a.UserID); err != nil {
		return fail(ctx, "create passkey", err)
	}
	// Listed first: a passkey that no list names would outlive its user.
	err = s.editPasskeys(ctx, a.UserID, func(ids []string) []string {
		return append([]string{a.CredentialID}, without(ids, a.CredentialID)...)
	})
	if err != nil {
		return fail(ctx, "create passkey", err)
	}
	created, err := setNew(ctx, s.client, s.keys.passkey(a.CredentialID), text, time.Time{})
	if err != nil {
		return fail(ctx, "create passkey", err)
	}
	if created {
		if err = s.stillThere(ctx, a.UserID); errors.Is(err, pintle.ErrNotFound) {
			err = errors.Join(err, s.undoPasskey(ctx, a, text))
		}
		return fail(ctx, "create passkey", err)
	}
	err = pintle.ErrConflict
	if holder, _, found := s.passkey(ctx, a.CredentialID); found != nil || holder.UserID != a.UserID {
		err = errors.Join(err, s.editPasskeys(ctx, a.UserID, func(ids []string) []string { return without(ids, a.CredentialID) }))
	}
	return fail(ctx, "create passkey", err)
}

// undoPasskey removes a passkey whose user does not exist, and the list that
// named it.
func (s *Store) undoPasskey(ctx context.Context, a *pintle.Passkey, text []byte) error {
	ctx, cancel := cleanUp(ctx)
	defer cancel()
	_, err := remove(ctx, s.client, s.keys.passkey(a.CredentialID), text)
	err = errors.Join(err, s.editPasskeys(ctx, a.UserID, func(ids []string) []string { return without(ids, a.CredentialID) }))
	_, emptied := remove(ctx, s.client, s.keys.passkeys(a.UserID), []byte("[]"))
	return errors.Join(err, emptied)
}

func without(ids []string, id string) []string {
	return slices.DeleteFunc(ids, func(other string) bool { return other == id })
}

// editPasskeys changes the list of a user's passkeys.
func (s *Store) editPasskeys(ctx context.Context, userID string, edit func([]string) []string) error {
	key := s.keys.passkeys(userID)
	for {
		ids, old, err := s.passkeyIDs(ctx, userID)
		if err != nil {
			return err
		}
		text, err := json.Marshal(edit(ids))
		if err != nil {
			return err
		}
		written := false
		if old == nil {
			written, err = setNew(ctx, s.client, key, text, time.Time{})
		} else {
			written, err = replace(ctx, s.client, key, old, text, time.Time{})
		}
		if err != nil || written {
			return err
		}
	}
}

// passkeyIDs returns the ids of a user's passkeys and the text they were read
// from, nil when the user has none.
func (s *Store) passkeyIDs(ctx context.Context, userID string) (ids []string, text []byte, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	text, err = s.client.Get(ctx, s.keys.passkeys(userID)).Bytes()
	if errors.Is(err, redis.Nil) {
		return []string{}, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return ids, text, json.Unmarshal(text, &ids)
}

// passkey returns a passkey and the text it was read from.
func (s *Store) passkey(ctx context.Context, credentialID string) (*authenticatorRow, []byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if credentialID == "" {
		return nil, nil, redis.Nil
	}
	text, err := s.client.Get(ctx, s.keys.passkey(credentialID)).Bytes()
	if err != nil {
		return nil, nil, err
	}
	row := &authenticatorRow{}
	if err := json.Unmarshal(text, row); err != nil {
		return nil, nil, err
	}
	if row.CredentialID != credentialID {
		return nil, nil, redis.Nil // two ids may share a key
	}
	return row, text, nil
}

// Passkey implements [pintle.Store].
func (s *Store) Passkey(ctx context.Context, credentialID string) (*pintle.Passkey, error) {
	row, _, err := s.passkey(ctx, credentialID)
	if err != nil {
		return nil, fail(ctx, "find passkey", err)
	}
	return row.authenticator(), nil
}

// UserPasskeys implements [pintle.Store]. The newest passkey
// is the first.
func (s *Store) UserPasskeys(ctx context.Context, userID string) ([]*pintle.Passkey, error) {
	ids, _, err := s.passkeyIDs(ctx, userID)
	if err != nil {
		return nil, fail(ctx, "list passkeys", err)
	}
	var passkeys []*pintle.Passkey
	seen := make(map[string]bool, len(ids))
	for _, id := range ids {
		// The adapter lists a passkey a second time when its counter moves.
		if seen[id] {
			continue
		}
		seen[id] = true
		row, _, err := s.passkey(ctx, id)
		if errors.Is(err, redis.Nil) {
			continue
		}
		if err != nil {
			return nil, fail(ctx, "list passkeys", err)
		}
		if row.UserID == userID {
			passkeys = append(passkeys, row.authenticator())
		}
	}
	return passkeys, nil
}

// changePasskey changes a passkey, unless change returns an error.
func (s *Store) changePasskey(ctx context.Context, credentialID string, change func(*authenticatorRow) error) error {
	for {
		row, before, err := s.passkey(ctx, credentialID)
		if err != nil {
			return err
		}
		if err := change(row); err != nil {
			return err
		}
		text, err := json.Marshal(row)
		if err != nil {
			return err
		}
		written, err := replace(ctx, s.client, s.keys.passkey(credentialID), before, text, time.Time{})
		if err != nil || written {
			return err
		}
	}
}

// UsePasskey implements [pintle.Store].
func (s *Store) UsePasskey(ctx context.Context, used *pintle.Passkey, old uint32) error {
	return fail(ctx, "use passkey", s.changePasskey(ctx, used.CredentialID, func(row *authenticatorRow) error {
		if row.Counter != old {
			return fmt.Errorf("the counter has moved: %w", pintle.ErrConflict)
		}
		row.Counter, row.BackedUp, row.LastUsed = used.Counter, used.BackedUp, date{used.LastUsed}
		return nil
	}))
}

// RenamePasskey implements [pintle.Store].
func (s *Store) RenamePasskey(ctx context.Context, userID, credentialID, name string) error {
	if err := storable(name); err != nil {
		return fmt.Errorf("redisstore: rename passkey: %w", err)
	}
	return fail(ctx, "rename passkey", s.changePasskey(ctx, credentialID, func(row *authenticatorRow) error {
		if row.UserID != userID {
			return pintle.ErrNotFound
		}
		row.Name = name
		return nil
	}))
}

// DeletePasskey implements [pintle.Store].
func (s *Store) DeletePasskey(ctx context.Context, userID, credentialID string) error {
	return fail(ctx, "delete passkey", s.deletePasskey(ctx, userID, credentialID))
}

func (s *Store) deletePasskey(ctx context.Context, userID, credentialID string) error {
	for {
		row, text, err := s.passkey(ctx, credentialID)
		if errors.Is(err, redis.Nil) || err == nil && row.UserID != userID {
			return pintle.ErrNotFound
		}
		if err != nil {
			return err
		}
		// The loop repeats only if another call has changed the passkey.
		removed, err := remove(ctx, s.client, s.keys.passkey(credentialID), text)
		if err != nil {
			return err
		}
		if removed {
			break
		}
	}
	// The list last: what it names but is not there is passed over, and a passkey
	// that no list names would outlive its user. The same passkey is not registered
	// meanwhile, because each registration makes a new id.
	return s.editPasskeys(ctx, userID, func(ids []string) []string { return without(ids, credentialID) })
}

func encodeAuthenticator(a *pintle.Passkey) ([]byte, error) {
	if err := storable(a.CredentialID, a.UserID, a.ProviderAccountID, a.PublicKey, a.DeviceType, strings.Join(a.Transports, ","), a.Name); err != nil {
		return nil, err
	}
	row := authenticatorRow{
		CredentialID: a.CredentialID, UserID: a.UserID, ProviderAccountID: a.ProviderAccountID, PublicKey: a.PublicKey,
		Counter: a.Counter, DeviceType: a.DeviceType, BackedUp: a.BackedUp, Name: a.Name, Created: date{a.Created}, LastUsed: date{a.LastUsed},
	}
	if len(a.Transports) > 0 {
		row.Transports = new(strings.Join(a.Transports, ","))
	}
	return json.Marshal(row)
}

func (r *authenticatorRow) authenticator() *pintle.Passkey {
	a := &pintle.Passkey{
		CredentialID: r.CredentialID, UserID: r.UserID, ProviderAccountID: r.ProviderAccountID, PublicKey: r.PublicKey,
		Counter: r.Counter, DeviceType: r.DeviceType, BackedUp: r.BackedUp,
		Name: r.Name, Created: r.Created.Time, LastUsed: r.LastUsed.Time,
	}
	if r.Transports != nil {
		a.Transports = transports(*r.Transports)
	}
	return a
}

// transports returns the parts of a text with commas.
func transports(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}
