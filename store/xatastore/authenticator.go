package xatastore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/pintleauth/pintle"
)

// keepsPasskeys fails with [errors.ErrUnsupported] where there is no table.
func (s *Store) keepsPasskeys(ctx context.Context) error {
	if err := ctx.Err(); err != nil || s.client.Extended {
		return err
	}
	return errNoTable
}

// CreatePasskey implements [pintle.Store].
func (s *Store) CreatePasskey(ctx context.Context, a *pintle.Passkey) error {
	return fail(ctx, "create passkey", s.createAuthenticator(ctx, a))
}

func (s *Store) createAuthenticator(ctx context.Context, a *pintle.Passkey) error {
	if err := s.keepsPasskeys(ctx); err != nil {
		return err
	}
	if err := errors.Join(storable(a.CredentialID, a.ProviderAccountID, a.DeviceType, strings.Join(a.Transports, ","), a.Name), storableText(a.PublicKey)); err != nil {
		return err
	}
	if a.CredentialID == "" {
		return errors.New("the passkey has no credential id")
	}
	if !isID(a.UserID) {
		return absent(ctx)
	}
	id := idOf(a.CredentialID)
	_, err := s.client.create(ctx, s.names.passkeys, id, record{
		"credentialID": a.CredentialID, "user": a.UserID, "providerAccountId": a.ProviderAccountID,
		"credentialPublicKey": a.PublicKey, "counter": a.Counter, "credentialDeviceType": a.DeviceType,
		"credentialBackedUp": a.BackedUp, "transports": textOrNull(strings.Join(a.Transports, ",")),
		"name": textOrNull(a.Name), "created": instantText(a.Created), "lastUsed": instantText(a.LastUsed),
	})
	no := refused(err)
	if no == nil {
		return err
	}
	there, _, look := s.passkey(ctx, a.CredentialID)
	switch {
	case errors.Is(look, pintle.ErrNotFound):
		if missing := s.noUser(ctx, a.UserID); missing != nil {
			return missing
		}
		return err
	case look != nil:
		return look
	case no.maybeDone && there.UserID == a.UserID && there.PublicKey == a.PublicKey:
		return nil // the attempt that got no answer was carried out
	}
	return pintle.ErrConflict
}

// passkey returns a passkey and the record it was read from.
func (s *Store) passkey(ctx context.Context, credentialID string) (*pintle.Passkey, record, error) {
	if err := s.keepsPasskeys(ctx); err != nil {
		return nil, nil, err
	}
	if credentialID == "" || storable(credentialID) != nil {
		return nil, nil, absent(ctx)
	}
	r, err := s.client.read(ctx, s.names.passkeys, idOf(credentialID))
	if err != nil {
		return nil, nil, err
	}
	if r == nil {
		return nil, nil, pintle.ErrNotFound
	}
	a, err := readPasskey(r)
	if err == nil && a.CredentialID != credentialID {
		err = pintle.ErrNotFound
	}
	return a, r, err
}

// readPasskey reads the record of a passkey. One whose user is gone counts as
// missing.
func readPasskey(r record) (*pintle.Passkey, error) {
	c := &reader{record: r}
	counter := c.integer("counter")
	a := &pintle.Passkey{
		CredentialID: c.text("credentialID"), UserID: c.link("user").id(), ProviderAccountID: c.text("providerAccountId"),
		PublicKey: c.text("credentialPublicKey"), Counter: uint32(counter), //nolint:gosec // checked below
		DeviceType: c.text("credentialDeviceType"), BackedUp: c.flag("credentialBackedUp"), Transports: transports(c.text("transports")),
		Name: c.text("name"), Created: c.instant("created"), LastUsed: c.instant("lastUsed"),
	}
	switch {
	case c.err != nil:
		return nil, c.err
	case counter < 0 || counter > math.MaxUint32:
		return nil, errors.New("the counter of a passkey does not have 32 bits")
	case a.UserID == "":
		return nil, pintle.ErrNotFound
	}
	return a, nil
}

// Passkey implements [pintle.Store].
func (s *Store) Passkey(ctx context.Context, credentialID string) (*pintle.Passkey, error) {
	a, _, err := s.passkey(ctx, credentialID)
	if err != nil {
		return nil, fail(ctx, "find passkey", err)
	}
	return a, nil
}

// UserPasskeys implements [pintle.Store].
func (s *Store) UserPasskeys(ctx context.Context, userID string) ([]*pintle.Passkey, error) {
	if err := s.keepsPasskeys(ctx); err != nil {
		return nil, fail(ctx, "list passkeys", err)
	}
	if !isID(userID) {
		return nil, nil
	}
	var passkeys []*pintle.Passkey
	for r, err := range s.client.query(ctx, s.names.passkeys, []string{"*"}, condition{"user.id": userID}) {
		if err != nil {
			return nil, fail(ctx, "list passkeys", err)
		}
		a, err := readPasskey(r)
		if errors.Is(err, pintle.ErrNotFound) || err == nil && a.UserID != userID {
			continue
		}
		if err != nil {
			return nil, fail(ctx, "list passkeys", err)
		}
		passkeys = append(passkeys, a)
	}
	return passkeys, nil
}

// UsePasskey implements [pintle.Store]. The service writes
// it only if the record still has the version that was read.
func (s *Store) UsePasskey(ctx context.Context, used *pintle.Passkey, old uint32) error {
	return fail(ctx, "use passkey", s.changePasskey(ctx, used.CredentialID, func(a *pintle.Passkey) (record, error) {
		if a.Counter != old {
			return nil, fmt.Errorf("the counter has moved: %w", pintle.ErrConflict)
		}
		return record{"counter": used.Counter, "credentialBackedUp": used.BackedUp, "lastUsed": instantText(used.LastUsed)}, nil
	}))
}

// RenamePasskey implements [pintle.Store].
func (s *Store) RenamePasskey(ctx context.Context, userID, credentialID, name string) error {
	if err := storable(name); err != nil {
		return fail(ctx, "rename passkey", err)
	}
	return fail(ctx, "rename passkey", s.changePasskey(ctx, credentialID, func(a *pintle.Passkey) (record, error) {
		if a.UserID != userID {
			return nil, pintle.ErrNotFound
		}
		return record{"name": textOrNull(name)}, nil
	}))
}

var errMaybeUsed = errors.New("the service did not answer when the passkey was changed, and reports now that it was changed")

// changePasskey writes what change returns for a passkey, unless that is an
// error.
func (s *Store) changePasskey(ctx context.Context, credentialID string, change func(*pintle.Passkey) (record, error)) error {
	maybeDone := false
	for {
		a, r, err := s.passkey(ctx, credentialID)
		if err != nil {
			return err
		}
		fields, err := change(a)
		if errors.Is(err, pintle.ErrConflict) && maybeDone {
			return errMaybeUsed // perhaps by the attempt that got no answer
		}
		if err != nil {
			return err
		}
		version, err := r.version()
		if err != nil {
			return err
		}
		_, err = s.client.updateIf(ctx, s.names.passkeys, r.id(), version, fields)
		if none, _ := missing(err); none {
			return pintle.ErrNotFound
		}
		no := refused(err)
		if no == nil {
			return err
		}
		there, err := s.client.read(ctx, s.names.passkeys, r.id())
		if err != nil {
			return err
		}
		if there == nil {
			return pintle.ErrNotFound
		}
		if now, err := there.version(); err != nil || now == version {
			return errors.Join(no, err) // for another reason, and so again and again
		}
		// The change of another call is the only other reason, so of several calls
		// in this loop one succeeds.
		maybeDone = maybeDone || no.maybeDone
	}
}

// DeletePasskey implements [pintle.Store].
func (s *Store) DeletePasskey(ctx context.Context, userID, credentialID string) error {
	a, r, err := s.passkey(ctx, credentialID)
	if err != nil {
		return fail(ctx, "remove passkey", err)
	}
	if a.UserID != userID {
		return pintle.ErrNotFound
	}
	err = s.client.delete(ctx, s.names.passkeys, r.id())
	if none, maybeDone := missing(err); none {
		if maybeDone {
			return nil // gone, which is what was asked for
		}
		return pintle.ErrNotFound
	}
	return fail(ctx, "remove passkey", err)
}

// transports returns the parts of a text with commas.
func transports(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}
