package redisstore

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// A factorRow is the value of a factor's field in the hash of its user. Times are
// in milliseconds.
type factorRow struct {
	Kind     string `json:"kind"`
	ID       string `json:"id"`
	Version  int64  `json:"version"`
	Secret   string `json:"secret"`
	Step     int64  `json:"step"`
	Name     string `json:"name"`
	Created  *int64 `json:"created,omitempty"`
	LastUsed *int64 `json:"lastUsed,omitempty"`
	Expires  *int64 `json:"expires,omitempty"`

	// Forget is when a factor that expires may be removed.
	Forget *int64 `json:"forget,omitempty"`
}

func newFactorRow(f *accountstore.Factor) *factorRow {
	row := &factorRow{Kind: f.Kind, ID: f.ID, Version: 1, Step: f.Step, Created: millis(f.Created)}
	row.take(f)
	return row
}

// take copies what ReplaceFactor replaces, but for the version and the step.
func (r *factorRow) take(f *accountstore.Factor) {
	r.Secret, r.Name = f.Secret, f.Name
	r.LastUsed, r.Expires, r.Forget = millis(f.LastUsed), millis(f.Expires), nil
	if !f.Expires.IsZero() {
		r.Forget = millis(endOf(f.Expires))
	}
}

func (r *factorRow) factor(userID string) *accountstore.Factor {
	return &accountstore.Factor{
		UserID: userID, Kind: r.Kind, ID: r.ID, Version: r.Version, Secret: r.Secret, Step: r.Step, Name: r.Name,
		Created: ofMillis(r.Created), LastUsed: ofMillis(r.LastUsed), Expires: ofMillis(r.Expires),
	}
}

func millis(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	return new(t.UnixMilli())
}

func ofMillis(ms *int64) time.Time {
	if ms == nil {
		return time.Time{}
	}
	return time.UnixMilli(*ms).UTC()
}

// Factors implements [accountstore.Store].
func (a accountStore) Factors(ctx context.Context, userID string) ([]*accountstore.Factor, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rows, err := a.client.HVals(ctx, a.keys.factors(userID)).Result()
	if err != nil {
		return nil, a.failRead(ctx, "list factors", err)
	}
	factors := make([]*accountstore.Factor, len(rows))
	for i, text := range rows {
		var row factorRow
		if err := json.Unmarshal([]byte(text), &row); err != nil {
			return nil, fail(ctx, "list factors", err)
		}
		factors[i] = row.factor(userID)
	}
	slices.SortFunc(factors, func(a, b *accountstore.Factor) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	return factors, nil
}

// addFactor removes factors that have expired, since their number is that of the
// browsers a user has ever had, and adds one.
var addFactor = redis.NewScript(`
	local now, rows = tonumber(ARGV[3]), redis.call('HGETALL', KEYS[1])
	for i = 1, #rows, 2 do
		local ok, row = pcall(cjson.decode, rows[i + 1])
		if ok and type(row) == 'table' and type(row.forget) == 'number' and row.forget < now then
			redis.call('HDEL', KEYS[1], rows[i])
		end
	end
	return redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])`)

// AddFactor implements [accountstore.Store].
func (a accountStore) AddFactor(ctx context.Context, f *accountstore.Factor) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	text, err := encodeFactor(f.UserID, newFactorRow(f))
	if err != nil {
		return fmt.Errorf("redisstore: add factor: %w", err)
	}
	added, err := addFactor.Run(ctx, a.client, []string{a.keys.factors(f.UserID)},
		a.keys.factor(f.Kind, f.ID), text, time.Now().UnixMilli()).Bool()
	if err == nil && !added {
		err = fmt.Errorf("the user has the factor: %w", pintle.ErrConflict)
	}
	return fail(ctx, "add factor", err)
}

func encodeFactor(userID string, row *factorRow) ([]byte, error) {
	if err := storable(userID, row.Kind, row.ID, row.Secret, row.Name); err != nil {
		return nil, err
	}
	return json.Marshal(row) //nolint:gosec // the row is what the store is for
}

var replaceFactor = redis.NewScript(`
	if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
	redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
	return 1`)

// changeFactor changes a factor, unless change returns an error. It is repeated
// only if another call has changed the factor meanwhile.
func (a accountStore) changeFactor(ctx context.Context, userID, kind, id string, change func(*factorRow) error) error {
	key, field := a.keys.factors(userID), a.keys.factor(kind, id)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		before, err := a.client.HGet(ctx, key, field).Bytes()
		if err != nil {
			return err
		}
		var row factorRow
		if err := json.Unmarshal(before, &row); err != nil {
			return err
		}
		if err := change(&row); err != nil {
			return err
		}
		after, err := encodeFactor(userID, &row)
		if err != nil {
			return err
		}
		changed, err := replaceFactor.Run(ctx, a.client, []string{key}, field, before, after).Bool()
		if err != nil || changed {
			return err
		}
	}
}

// ReplaceFactor implements [accountstore.Store].
func (a accountStore) ReplaceFactor(ctx context.Context, f *accountstore.Factor) error {
	return fail(ctx, "replace factor", a.changeFactor(ctx, f.UserID, f.Kind, f.ID, func(row *factorRow) error {
		if row.Version != f.Version {
			return fmt.Errorf("the factor has changed: %w", pintle.ErrConflict)
		}
		row.take(f)
		row.Version, row.Step = row.Version+1, max(row.Step, f.Step)
		return nil
	}))
}

// AdvanceFactor implements [accountstore.Store].
func (a accountStore) AdvanceFactor(ctx context.Context, userID, kind, id string, step int64, used time.Time) error {
	return fail(ctx, "advance factor", a.changeFactor(ctx, userID, kind, id, func(row *factorRow) error {
		if row.Step >= step {
			return fmt.Errorf("the step is not a later one: %w", pintle.ErrConflict)
		}
		row.Step, row.LastUsed = step, millis(used)
		return nil
	}))
}

// DeleteFactor implements [accountstore.Store].
func (a accountStore) DeleteFactor(ctx context.Context, userID, kind, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n, err := a.client.HDel(ctx, a.keys.factors(userID), a.keys.factor(kind, id)).Result()
	if err == nil && n == 0 {
		err = pintle.ErrNotFound
	}
	return fail(ctx, "delete factor", err)
}

// ARGV[1] is how many of the rest are kinds; the others are ids that stay.
var deleteFactors = redis.NewScript(`
	local kinds, except, removed = {}, {}, 0
	for i = 2, #ARGV do
		if i <= 1 + tonumber(ARGV[1]) then kinds[ARGV[i]] = true else except[ARGV[i]] = true end
	end
	for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
		local kind, id = string.match(field, '^([^:]*):(.*)$')
		if kind and kinds[kind] and not except[id] then
			removed = removed + redis.call('HDEL', KEYS[1], field)
		end
	end
	return removed`)

// DeleteFactors implements [accountstore.Store], in one step.
func (a accountStore) DeleteFactors(ctx context.Context, userID string, kinds, except []string) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if len(kinds) == 0 {
		return 0, nil
	}
	args := []any{len(kinds)}
	for _, kind := range kinds {
		args = append(args, kindField(kind))
	}
	for _, id := range except {
		args = append(args, id)
	}
	n, err := deleteFactors.Run(ctx, a.client, []string{a.keys.factors(userID)}, args...).Int()
	return n, fail(ctx, "delete factors", err)
}
