package xatastore

import (
	"context"
	"errors"

	"github.com/pintleauth/pintle"
)

// CreateVerification implements [pintle.Store].
func (s *Store) CreateVerification(ctx context.Context, v *pintle.Verification) error {
	if err := storable(v.Identifier, v.Token); err != nil {
		return fail(ctx, "create mail link", err)
	}
	fields := record{"identifier": v.Identifier, "token": v.Token, "expires": instantText(v.Expires)}
	return fail(ctx, "create mail link", s.client.put(ctx, s.names.verifications, idOf(v.Identifier, v.Token), fields))
}

// UseVerification implements [pintle.Store]. The service removes
// the record for one call; every other fails because it is missing.
func (s *Store) UseVerification(ctx context.Context, identifier, token string) (*pintle.Verification, error) {
	if identifier == "" || token == "" || storable(identifier, token) != nil {
		return nil, absent(ctx)
	}
	v, err := s.useVerification(ctx, identifier, token)
	if err != nil {
		return nil, fail(ctx, "use mail link", err)
	}
	return v, nil
}

func (s *Store) useVerification(ctx context.Context, identifier, token string) (*pintle.Verification, error) {
	r, err := s.client.first(ctx, s.names.verifications, []string{"*"},
		func(r record) bool { return r["identifier"] == identifier && r["token"] == token },
		condition{"identifier": identifier}, condition{"token": token})
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, pintle.ErrNotFound
	}
	c := &reader{record: r}
	v := &pintle.Verification{Identifier: identifier, Token: token, Expires: c.instant("expires")}
	if c.err != nil {
		return nil, c.err
	}
	err = s.client.delete(ctx, s.names.verifications, r.id())
	if none, maybeDone := missing(err); none {
		if maybeDone {
			// Not ErrNotFound, and certainly not the link: it is unknown which
			// attempt removed it.
			return nil, errors.New("the service did not answer when the link was used, and reports now that it is gone")
		}
		return nil, pintle.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}
