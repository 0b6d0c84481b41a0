package redisstore

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// Each script works on one key, so that all of them run on a Cluster.
var (
	setIfEqual = redis.NewScript(`
		if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
		if ARGV[3] == '' then
			redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
		else
			redis.call('SET', KEYS[1], ARGV[2], 'PXAT', ARGV[3])
		end
		return 1`)

	deleteIfEqual = redis.NewScript(`
		if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
		return redis.call('DEL', KEYS[1])`)

	// A key without an end is one that its owner has confirmed. One that was kept
	// longer ago than a reservation lasts is one whose process has died: the user
	// says whether it is theirs. The answer is empty for one that is only reserved,
	// or has just been kept. ARGV[1] is how long a kept key lasts, ARGV[2] how long a
	// reservation does.
	confirmedHolder = redis.NewScript(`
		local holder = redis.call('GET', KEYS[1])
		if not holder then return holder end
		local left = redis.call('PTTL', KEYS[1])
		if left == -1 or left > ARGV[1] / 2 and left <= ARGV[1] - ARGV[2] then return holder end
		return ''`)

	// ARGV[3] is how long a kept key lasts, ARGV[4] how long a reservation does.
	takeOver = redis.NewScript(`
		if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
		local left = redis.call('PTTL', KEYS[1])
		if left ~= -1 and not (left > ARGV[3] / 2 and left <= ARGV[3] - ARGV[4]) then return 0 end
		redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[4])
		return 1`)

	keepIfEqual = redis.NewScript(`
		if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
		return redis.call('PEXPIRE', KEYS[1], ARGV[2])`)

	persistIfEqual = redis.NewScript(`
		if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
		redis.call('PERSIST', KEYS[1])
		return 1`)
)

// replace puts a value in the place of the one that was read, if it is still
// there. A zero end keeps the key's own.
func replace(ctx context.Context, c redis.Scripter, key string, before, after []byte, end time.Time) (bool, error) {
	at := any("")
	if !end.IsZero() {
		at = end.UnixMilli()
	}
	return setIfEqual.Run(ctx, c, []string{key}, before, after, at).Bool()
}

// remove deletes a key if it still holds the value that was read.
func remove(ctx context.Context, c redis.Scripter, key string, value []byte) (bool, error) {
	return deleteIfEqual.Run(ctx, c, []string{key}, value).Bool()
}

// setNew sets a key that does not exist, and reports whether it did not. A zero
// end means that the key stays.
func setNew(ctx context.Context, c redis.Cmdable, key string, value []byte, end time.Time) (bool, error) {
	err := c.SetArgs(ctx, key, value, redis.SetArgs{Mode: "NX", ExpireAt: end}).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, err
}

// lingering is how long sessions and mail links stay after they have expired:
// callers distinguish an expired session from a missing one, and the clocks of
// several machines differ.
const lingering = time.Hour

// endOf is when Redis forgets what expires at the given time.
func endOf(expires time.Time) time.Time {
	if now := time.Now(); expires.Before(now) {
		expires = now
	}
	return expires.Add(lingering)
}
