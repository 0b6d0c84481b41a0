package main

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/redisstore"
)

var errNoServer = errors.New("no server")

func main() {
	client := redis.NewClient(&redis.Options{
		MaxRetries: -1,
		Dialer:     func(context.Context, string, string) (net.Conn, error) { return nil, errNoServer },
	})
	var store pintle.Store = redisstore.New(client, redisstore.Options{})
	_, err := store.User(context.Background(), "1")
	fmt.Println(errors.Is(err, errNoServer))
}

// Output: true
