package redisstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// State implements [accountstore.Store].
func (a accountStore) State(ctx context.Context, userID string) (*accountstore.State, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	values, err := a.client.HGetAll(ctx, a.keys.state(userID)).Result()
	if err != nil {
		return nil, a.failRead(ctx, "find state", err)
	}
	s, err := decodeState(userID, values)
	return s, fail(ctx, "find state", err)
}

func decodeState(userID string, values map[string]string) (*accountstore.State, error) {
	f := fields{values: values}
	s := &accountstore.State{
		UserID: userID, Version: f.number("version"),
		BannedUntil: f.time("bannedUntil"), BanReason: f.text("banReason"), DeleteAt: f.time("deleteAt"),
		Must: f.text("must"), Claim: f.text("claim"), Suspended: f.number("suspended") != 0,
		Created: f.time("created"), LastSignIn: f.time("lastSignIn"), Streak: int(f.number("streak")),
	}
	if roles := f.text("roles"); roles != "" {
		f.note(json.Unmarshal([]byte(roles), &s.Roles))
	}
	if f.err != nil {
		return nil, fmt.Errorf("read state: %w", f.err)
	}
	return s, nil
}

// ARGV[1] is the version, and the rest the fields and their values. The fields of
// CountFailure are not among them.
var changeState = redis.NewScript(`
	if (redis.call('HGET', KEYS[1], 'version') or '0') ~= ARGV[1] then return 0 end
	redis.call('HSET', KEYS[1], unpack(ARGV, 2))
	redis.call('HINCRBY', KEYS[1], 'version', 1)
	return 1`)

// ChangeState implements [accountstore.Store].
func (a accountStore) ChangeState(ctx context.Context, s *accountstore.State) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := storable(append([]string{s.UserID, s.BanReason, s.Must, s.Claim}, s.Roles...)...); err != nil {
		return fmt.Errorf("redisstore: change state: %w", err)
	}
	roles := ""
	if len(s.Roles) > 0 {
		text, err := json.Marshal(s.Roles)
		if err != nil {
			return fmt.Errorf("redisstore: change state: %w", err)
		}
		roles = string(text)
	}
	changed, err := changeState.Run(ctx, a.client, []string{a.keys.state(s.UserID)},
		s.Version,
		"roles", roles,
		"bannedUntil", encodeTime(s.BannedUntil),
		"banReason", s.BanReason,
		"deleteAt", encodeTime(s.DeleteAt),
		"must", s.Must,
		"claim", s.Claim,
		"suspended", s.Suspended,
		"created", encodeTime(s.Created),
		"lastSignIn", encodeTime(s.LastSignIn)).Bool()
	if err == nil && !changed {
		err = fmt.Errorf("the state has changed: %w", pintle.ErrConflict)
	}
	return fail(ctx, "change state", err)
}

// The times of failures are kept as texts, because a script would round a number
// when it writes it. A failure after the time counts too: the clocks of several
// processes differ, and none must be counted beyond the limit.
var countFailure = redis.NewScript(`
	local at, start, limit = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
	local recent, oldest = {}, at
	for failure in string.gmatch(redis.call('HGET', KEYS[1], 'failures') or '', '%S+') do
		if tonumber(failure) > start then
			table.insert(recent, failure)
			if #recent == 1 or tonumber(failure) < tonumber(oldest) then oldest = failure end
		end
	end
	if #recent >= limit then
		if #recent == 0 then oldest = '' end
		return {'', tostring(#recent), oldest, redis.call('HGET', KEYS[1], 'streak') or '0'}
	end
	if tonumber(at) < tonumber(oldest) then oldest = at end
	table.insert(recent, at)
	redis.call('HSET', KEYS[1], 'failures', table.concat(recent, ' '))
	return {'counted', tostring(#recent), oldest, tostring(redis.call('HINCRBY', KEYS[1], 'streak', 1))}`)

// CountFailure implements [accountstore.Store].
func (a accountStore) CountFailure(ctx context.Context, userID string, at time.Time, window time.Duration, limit int) (accountstore.Failures, error) {
	if err := ctx.Err(); err != nil {
		return accountstore.Failures{}, err
	}
	answer, err := countFailure.Run(ctx, a.client, []string{a.keys.state(userID)},
		at.UnixMilli(), at.UnixMilli()-window.Milliseconds(), limit).StringSlice()
	if err == nil && len(answer) != 4 {
		err = errors.New("the server did not count")
	}
	if err != nil {
		return accountstore.Failures{}, fail(ctx, "count failure", err)
	}
	recent, err1 := strconv.Atoi(answer[1])
	oldest, err2 := decodeTime(answer[2])
	streak, err3 := strconv.Atoi(answer[3])
	if err := errors.Join(err1, err2, err3); err != nil {
		return accountstore.Failures{}, fail(ctx, "count failure", err)
	}
	return accountstore.Failures{Counted: answer[0] != "", Recent: recent, Oldest: oldest, Streak: streak}, nil
}

var countSuccess = redis.NewScript(`
	local before = redis.call('HGET', KEYS[1], 'failures')
	if not before then return 0 end
	local left, found = {}, false
	for failure in string.gmatch(before, '%S+') do
		if failure == ARGV[1] and not found then
			found = true
		else
			table.insert(left, failure)
		end
	end
	redis.call('HSET', KEYS[1], 'failures', table.concat(left, ' '), 'streak', 0)
	return 1`)

// CountSuccess implements [accountstore.Store].
func (a accountStore) CountSuccess(ctx context.Context, userID string, at time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := countSuccess.Run(ctx, a.client, []string{a.keys.state(userID)}, at.UnixMilli()).Err()
	return fail(ctx, "count success", err)
}
