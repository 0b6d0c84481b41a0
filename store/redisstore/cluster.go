package redisstore

import (
	"context"
	"errors"

	"github.com/pintleauth/pintle"
	"github.com/redis/go-redis/v9"
)

// lookAgain makes a client of a Cluster ask which node has which keys, when what
// a request was told may come of that having changed. By itself go-redis asks
// once a minute, or when a node says that it no longer has a key, which a node
// that died cannot say.
func lookAgain(ctx context.Context, client redis.UniversalClient, err error) {
	cluster, ok := client.(interface{ ReloadState(ctx context.Context) })
	switch {
	case !ok, err == nil, errors.Is(err, redis.Nil), errors.Is(err, pintle.ErrNotFound), errors.Is(err, context.Canceled):
		return
	}
	cluster.ReloadState(ctx) // in the background, five times a second at most
}
