package memstore

import (
	"context"

	"github.com/pintleauth/pintle"
)

type verificationKey struct{ identifier, token string }

// CreateVerification implements [pintle.Store].
func (r records) CreateVerification(ctx context.Context, v *pintle.Verification) error {
	if err := r.write(ctx); err != nil {
		return err
	}
	defer r.writeDone()
	key := verificationKey{v.Identifier, v.Token}
	before, replaced := r.verifications[key]
	r.verifications[key] = v.Expires.UnixMilli()
	r.undo(func() {
		delete(r.verifications, key)
		if replaced {
			r.verifications[key] = before
		}
	})
	return nil
}

// UseVerification implements [pintle.Store].
func (r records) UseVerification(ctx context.Context, identifier, token string) (*pintle.Verification, error) {
	if err := r.write(ctx); err != nil {
		return nil, err
	}
	defer r.writeDone()
	key := verificationKey{identifier, token}
	expires, found := r.verifications[key]
	if !found {
		return nil, pintle.ErrNotFound
	}
	r.deleteVerification(key, expires)
	return &pintle.Verification{Identifier: identifier, Token: token, Expires: instant(expires)}, nil
}

func (r records) deleteVerification(key verificationKey, expires int64) {
	delete(r.verifications, key)
	r.undo(func() { r.verifications[key] = expires })
}
