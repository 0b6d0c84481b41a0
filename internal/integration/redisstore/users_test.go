package redisstore_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/store/redisstore"
)

// A removal calls a function with the user after whom each batch of a list begins.
type removal struct{ before func(user string) }

func (r removal) DialHook(next redis.DialHook) redis.DialHook { return next }

func (r removal) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, c redis.Cmder) error {
		if args := c.Args(); strings.HasPrefix(c.Name(), "eval") && len(args) == 7 {
			r.before(fmt.Sprint(args[4]))
		}
		return next(ctx, c)
	}
}

func (r removal) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// An import makes many users in one millisecond. If the last one of a batch is deleted before the next
// batch is read, that batch begins with the first user of the time again.
func TestAPageHasAUserOnceAlthoughOthersAreDeletedMeanwhile(t *testing.T) {
	client := single(t)
	s := redisstore.New(client, redisstore.Options{})
	const users = 450
	for i := range users {
		if _, err := s.CreateUser(t.Context(), &pintle.User{ID: fmt.Sprintf("user-%03d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	list := keysOf(t, client)
	var of string
	for _, key := range list {
		if kind := client.Type(t.Context(), key).Val(); kind == "zset" && strings.HasSuffix(key, "users") {
			of = key
		}
	}
	for i := range users {
		client.ZAdd(t.Context(), of, redis.Z{Score: 1_700_000_000_000, Member: fmt.Sprintf("user-%03d", i)})
	}
	deleted := map[string]bool{}
	watched := again(t, client)
	watched.(*redis.Client).AddHook(removal{func(user string) {
		if user != "" {
			deleted[user] = true
			if err := s.DeleteUser(t.Context(), user); err != nil {
				t.Error(err)
			}
		}
	}})
	page, _, err := redisstore.New(watched, redisstore.Options{}).AccountStore().Users(t.Context(), accountstore.UserQuery{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	times := map[string]int{}
	for _, u := range page {
		times[u.ID]++
	}
	for i := range users {
		if id := fmt.Sprintf("user-%03d", i); times[id] != 1 {
			t.Errorf("%s is on the page %d times", id, times[id])
		}
	}
	if len(deleted) < 2 {
		t.Errorf("%d users were deleted between two batches, want 2 or more", len(deleted))
	}
}
