package redisstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pintleauth/pintle"
	"github.com/redis/go-redis/v9"
)

type verificationRow struct {
	Identifier string `json:"identifier"`
	Token      string `json:"token"`
	Expires    date   `json:"expires"`
}

// CreateVerification implements [pintle.Store].
func (s *Store) CreateVerification(ctx context.Context, v *pintle.Verification) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := storable(v.Identifier, v.Token); err != nil {
		return fmt.Errorf("redisstore: create mail link: %w", err)
	}
	key, ok := s.keys.verification(v.Identifier, v.Token)
	if !ok {
		return errors.New("redisstore: create mail link: the hashed token has a colon in it")
	}
	text, err := json.Marshal(verificationRow{v.Identifier, v.Token, date{v.Expires}})
	if err != nil {
		return fmt.Errorf("redisstore: create mail link: %w", err)
	}
	err = s.client.SetArgs(ctx, key, text, redis.SetArgs{ExpireAt: endOf(v.Expires)}).Err()
	return fail(ctx, "create mail link", err)
}

// UseVerification implements [pintle.Store].
func (s *Store) UseVerification(ctx context.Context, identifier, token string) (*pintle.Verification, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	key, ok := s.keys.verification(identifier, token)
	if !ok {
		return nil, pintle.ErrNotFound
	}
	text, err := s.client.GetDel(ctx, key).Bytes()
	if err != nil {
		return nil, fail(ctx, "use mail link", err)
	}
	var row verificationRow
	if err := json.Unmarshal(text, &row); err != nil {
		return nil, fail(ctx, "use mail link", err)
	}
	return &pintle.Verification{Identifier: identifier, Token: token, Expires: row.Expires.Time}, nil
}
