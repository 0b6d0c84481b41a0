package redisstore

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle/sharedstate"
)

// A SharedState is a [sharedstate.Store] in Redis. Its keys expire by themselves, by the
// clock of the server. A server that evicts keys, or loses them at a restart, lets a
// value be used again, two processes do the same work, and begins to count again.
//
// Its methods may be called concurrently.
type SharedState struct {
	sharedstate.Unimplemented
	client redis.UniversalClient
	prefix string
}

var _ sharedstate.Store = (*SharedState)(nil)

// NewSharedState returns a shared state whose keys begin with prefix and "pintle:once:",
// "pintle:lease:" or "pintle:count:", for a site without a [Store]. It makes no request.
func NewSharedState(client redis.UniversalClient, prefix string) *SharedState {
	return &SharedState{client: client, prefix: prefix + "pintle:"}
}

// SharedState implements [pintle.Store].
func (s *Store) SharedState() sharedstate.Store {
	return &SharedState{client: s.client, prefix: s.keys.AccountStoreKeyPrefix}
}

func (s *SharedState) key(kind string, k sharedstate.Key) string {
	return s.prefix + kind + ":" + base64.RawURLEncoding.EncodeToString(k[:])
}

// useOnce sets a key that does not exist. The client sends a command again whose answer was
// lost: the value is that of the call, so that the call which has set the key is the first
// all the same.
var useOnce = redis.NewScript(`
	if redis.call('SET', KEYS[1], ARGV[1], 'PXAT', ARGV[2], 'NX') then return 1 end
	if redis.call('GET', KEYS[1]) == ARGV[1] then return 1 end
	return 0`)

// Once implements [sharedstate.Store].
func (s *SharedState) Once(ctx context.Context, key sharedstate.Key, until time.Time) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	var call [16]byte
	_, _ = rand.Read(call[:])                          // it never fails
	end := until.Add(time.Millisecond - 1).UnixMilli() // not before until
	first, err := useOnce.Run(ctx, s.client, []string{s.key("once", key)}, call[:], max(end, 1)).Bool()
	return err == nil && first, fail(ctx, "use a key once", err)
}

var takeLease = redis.NewScript(`
	local owner = redis.call('GET', KEYS[1])
	if owner and owner ~= ARGV[1] then return 0 end
	redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
	return 1`)

// Lease implements [sharedstate.Store].
func (s *SharedState) Lease(ctx context.Context, key sharedstate.Key, owner sharedstate.Owner, d time.Duration) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	held, err := takeLease.Run(ctx, s.client, []string{s.key("lease", key)}, owner[:], max(d.Milliseconds(), 1)).Bool()
	return err == nil && held, fail(ctx, "take a lease", err)
}

// Release implements [sharedstate.Store].
func (s *SharedState) Release(ctx context.Context, key sharedstate.Key, owner sharedstate.Owner) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := remove(ctx, s.client, s.key("lease", key), owner[:])
	return fail(ctx, "release a lease", err)
}

// takeAttempt changes the count of a key. Its value is the time at which it expires. The client
// sends the script again if the answer was lost: an attempt then counts twice.
var takeAttempt = redis.NewScript(`
	local time = redis.call('TIME')
	local now = time[1] * 1000 + math.floor(time[2] / 1000)
	local count = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now)
	local most = now + tonumber(ARGV[2]) + tonumber(ARGV[1])
	if count > most then
		count = most
		local to = string.format('%.0f', count)
		redis.call('SET', KEYS[1], to, 'PXAT', to)
	end
	local wait = count - now - tonumber(ARGV[2])
	if wait > 0 then return wait end
	local to = string.format('%.0f', count + tonumber(ARGV[1]))
	redis.call('SET', KEYS[1], to, 'PXAT', to)
	return 0`)

// Take implements [sharedstate.Store].
func (s *SharedState) Take(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	every, ahead := r.Milliseconds()
	wait, err := takeAttempt.Run(ctx, s.client, []string{s.key("count", key)}, every, ahead).Int64()
	if err != nil {
		return 0, fail(ctx, "count an attempt", err)
	}
	return time.Duration(wait) * time.Millisecond, nil
}

// Wait implements [sharedstate.Store].
func (s *SharedState) Wait(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	left, err := s.client.PTTL(ctx, s.key("count", key)).Result() // negative without the key
	if err != nil {
		return 0, fail(ctx, "look at a count", err)
	}
	every, ahead := r.Milliseconds()
	return min(max(left-time.Duration(ahead)*time.Millisecond, 0), time.Duration(every)*time.Millisecond), nil
}

// returnAttempt removes an interval from the count of a key. An expired key does not exist,
// and an expiry in the past deletes the key. A script that is sent again gives back twice, so a
// lost answer may allow one attempt more.
var returnAttempt = redis.NewScript(`
	local count = redis.call('GET', KEYS[1])
	if not count then return 0 end
	local to = string.format('%.0f', tonumber(count) - tonumber(ARGV[1]))
	redis.call('SET', KEYS[1], to)
	redis.call('PEXPIREAT', KEYS[1], to)
	return 1`)

// GiveBack implements [sharedstate.Store].
func (s *SharedState) GiveBack(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	every, _ := r.Milliseconds()
	err := returnAttempt.Run(ctx, s.client, []string{s.key("count", key)}, every).Err()
	return fail(ctx, "give an attempt back", err)
}
