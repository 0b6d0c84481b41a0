package redisstore

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// DueUsers implements [accountstore.Store]. It looks at every key of the database, a few
// hundred at a time: there is no list of these users beside their states, since the two could
// differ after a failure.
func (a accountStore) DueUsers(ctx context.Context, at time.Time, after string, limit int) ([]string, error) {
	due, err := a.usersWhere(ctx, a.keys.state(""), after, limit, func(ctx context.Context, c *redis.Client, keys []string) ([]bool, error) {
		times, err := inOneTrip(ctx, c, keys, func(p redis.Pipeliner, key string) *redis.StringCmd { return p.HGet(ctx, key, "deleteAt") })
		is := make([]bool, len(keys))
		for i, found := range times {
			text, missing := found.Result()
			if err != nil || missing != nil {
				continue
			}
			var deleteAt time.Time
			deleteAt, err = decodeTime(text)
			is[i] = !deleteAt.IsZero() && deleteAt.UnixMilli() <= at.UnixMilli()
		}
		return is, err
	})
	return due, fail(ctx, "list due users", err)
}

// FactorUsers implements [accountstore.Store]. It looks at every key, as DueUsers does.
func (a accountStore) FactorUsers(ctx context.Context, kind, after string, limit int) ([]string, error) {
	ofKind := kindField(kind) + ":"
	users, err := a.usersWhere(ctx, a.keys.factors(""), after, limit, func(ctx context.Context, c *redis.Client, keys []string) ([]bool, error) {
		fields, err := inOneTrip(ctx, c, keys, func(p redis.Pipeliner, key string) *redis.StringSliceCmd { return p.HKeys(ctx, key) })
		is := make([]bool, len(keys))
		for i, found := range fields {
			is[i] = slices.ContainsFunc(found.Val(), func(field string) bool { return strings.HasPrefix(field, ofKind) })
		}
		return is, err
	})
	return users, fail(ctx, "list users of factors", err)
}

// usersWhere returns the first ids of users, in order, that are greater than after: the rest
// of the keys with a prefix for which where is true.
func (a accountStore) usersWhere(
	ctx context.Context, prefix, after string, limit int, where func(context.Context, *redis.Client, []string) ([]bool, error),
) ([]string, error) {
	if limit <= 0 {
		return nil, ctx.Err()
	}
	var users []string
	var mu sync.Mutex
	err := eachNode(ctx, a.client, func(ctx context.Context, c *redis.Client) error {
		for cursor := uint64(0); ; {
			keys, next, err := c.Scan(ctx, cursor, globbed.Replace(prefix)+"*", sweepPage).Result()
			if err != nil {
				return err
			}
			keys = slices.DeleteFunc(keys, func(key string) bool { return strings.TrimPrefix(key, prefix) <= after })
			is, err := where(ctx, c, keys)
			if err != nil {
				return err
			}
			mu.Lock()
			for i, key := range keys {
				if is[i] {
					users = append(users, strings.TrimPrefix(key, prefix))
				}
			}
			mu.Unlock()
			if cursor = next; cursor == 0 {
				return ctx.Err()
			}
		}
	})
	slices.Sort(users)
	users = slices.Compact(users) // SCAN may return a key twice
	return users[:min(len(users), limit)], err
}

// inOneTrip sends a command for each key, together. A field that is missing is no error.
func inOneTrip[C redis.Cmder](ctx context.Context, c *redis.Client, keys []string, command func(redis.Pipeliner, string) C) ([]C, error) {
	commands := make([]C, len(keys))
	if len(keys) == 0 {
		return commands, nil
	}
	_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, key := range keys {
			commands[i] = command(p, key)
		}
		return nil
	})
	if err == redis.Nil { //nolint:errorlint // Pipelined returns the error of the first command as it is
		err = nil
	}
	for _, sent := range commands {
		if failed := sent.Err(); err == nil && failed != nil && failed != redis.Nil { //nolint:errorlint // the same
			err = failed
		}
	}
	return commands, err
}
