package redisstore

import (
	"context"
	"errors"

	"github.com/pintleauth/pintle"
	"github.com/redis/go-redis/v9"
)

// lookAgain makes a client of a Cluster reload the map of nodes and keys if an
// error may come from a change of it. By itself go-redis reloads it
// once a minute, or when a node answers that a key has moved, which a dead node
// does not do.
func lookAgain(ctx context.Context, client redis.UniversalClient, err error) {
	cluster, ok := client.(interface{ ReloadState(ctx context.Context) })
	switch {
	case !ok, err == nil, errors.Is(err, redis.Nil), errors.Is(err, pintle.ErrNotFound), errors.Is(err, context.Canceled):
		return
	}
	cluster.ReloadState(ctx) // in the background, five times a second at most
}
