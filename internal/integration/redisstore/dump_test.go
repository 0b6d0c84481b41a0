package redisstore_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle/internal/integration/accountsite"
	"github.com/pintleauth/pintle/store/redisstore"
)

// copied returns the names of all keys and all that is under them.
func copied(t *testing.T, client redis.UniversalClient) (cells []accountsite.Cell) {
	t.Helper()
	var mu sync.Mutex
	scan := func(ctx context.Context, node *redis.Client) error {
		keys := node.Scan(ctx, 0, "*", 100).Iterator()
		for keys.Next(ctx) {
			key := keys.Val()
			values, err := valuesOf(ctx, node, key)
			if err != nil {
				return err
			}
			mu.Lock()
			// The parts of names are tokens and hashes, too.
			for _, value := range append(values, key) {
				values = append(values, strings.FieldsFunc(value, func(r rune) bool { return r == ':' || r == ' ' })...)
			}
			for _, value := range append(values, key) {
				cells = append(cells, accountsite.Cell{Where: key, Value: []byte(value)})
			}
			mu.Unlock()
		}
		return keys.Err()
	}
	var err error
	switch c := client.(type) {
	case *redis.Client:
		err = scan(t.Context(), c)
	case *redis.ClusterClient:
		err = c.ForEachMaster(t.Context(), scan)
	}
	if err != nil {
		t.Fatal(err)
	}
	return cells
}

// valuesOf returns what is under a key: texts, fields and their values, or members.
func valuesOf(ctx context.Context, node *redis.Client, key string) (values []string, err error) {
	kind, err := node.Type(ctx, key).Result()
	if err != nil {
		return nil, err
	}
	switch kind {
	case "hash":
		fields, err := node.HGetAll(ctx, key).Result()
		for name, value := range fields {
			values = append(values, name, value)
		}
		return values, err
	case "set":
		return node.SMembers(ctx, key).Result()
	case "zset":
		return node.ZRange(ctx, key, 0, -1).Result()
	}
	value, err := node.Get(ctx, key).Result() // fails for any other type
	return []string{value}, err
}

// AT-114: in a copy of the data is no secret, and nothing in it is one. The token of a
// session is the name of its key, as Auth.js writes it, and nowhere else but in the session.
func TestACopyOfTheKeysSignsNoUserIn(t *testing.T) {
	for _, d := range deployments {
		t.Run(d.name, func(t *testing.T) {
			client := d.open(t)
			j := accountsite.New(t, redisstore.New(client, redisstore.Options{})).Take()
			dump := copied(t, client)
			sessions := func(key string) bool { return strings.HasPrefix(key, "user:session") }
			j.GivesNothingAway(dump, sessions)
			j.SignsNoUserIn(dump, sessions)
		})
	}
}
