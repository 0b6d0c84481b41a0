package redisstore

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// SweepAccountStore removes what [Store.AccountStore] keeps of at most limit users who are
// gone, and returns of how many rows: Auth.js deletes users without them. A result below
// limit means that nothing is left to remove. It looks at every key of the database, a few
// hundred at a time, so once a week is enough. Flows expire by themselves.
func (s *Store) SweepAccountStore(ctx context.Context, limit int) (int, error) {
	var removed atomic.Int64
	err := eachNode(ctx, s.client, func(ctx context.Context, c *redis.Client) error { return s.sweepNode(ctx, c, &removed, int64(limit)) })
	return int(removed.Load()), fail(ctx, "sweep", err)
}

// eachNode calls f with each node that has keys: several at once.
func eachNode(ctx context.Context, client redis.UniversalClient, f func(context.Context, *redis.Client) error) error {
	switch c := client.(type) {
	case *redis.ClusterClient:
		return c.ForEachMaster(ctx, f)
	case *redis.Ring:
		return c.ForEachShard(ctx, f)
	case *redis.Client:
		return f(ctx, c)
	}
	return errNoScan
}

var errNoScan = errors.New("the client is no *redis.Client, *redis.ClusterClient or *redis.Ring, of which each node lists its keys")

// sweepPage is how many keys a node looks at for one answer.
const sweepPage = 500

// sweepNode removes the keys of users who are gone from one node.
func (s *Store) sweepNode(ctx context.Context, c *redis.Client, removed *atomic.Int64, limit int64) error {
	// Factors go first: a process that dies in between leaves a ban, and no password.
	for _, prefix := range []string{s.keys.factors(""), s.keys.state("")} {
		for cursor := uint64(0); ; {
			keys, next, err := c.Scan(ctx, cursor, globbed.Replace(prefix)+"*", sweepPage).Result()
			if err != nil {
				return err
			}
			for _, key := range keys {
				if err := s.sweepKey(ctx, key, strings.TrimPrefix(key, prefix), removed, limit); err != nil {
					return err
				}
			}
			if cursor = next; cursor == 0 || removed.Load() >= limit {
				break
			}
		}
	}
	return ctx.Err()
}

func (s *Store) sweepKey(ctx context.Context, key, userID string, removed *atomic.Int64, limit int64) error {
	if isUserID(userID) {
		if there, err := s.client.Exists(ctx, s.keys.user(userID)).Result(); err != nil || there > 0 {
			return err
		}
	}
	if removed.Add(1) > limit {
		removed.Add(-1)
		return nil
	}
	n, err := s.client.Del(ctx, key).Result()
	if n == 0 { // another process was first
		removed.Add(-1)
	}
	return err
}

// globbed quotes what has a meaning in a pattern.
//
// https://redis.io/docs/latest/commands/keys/
var globbed = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`)
