package redisstore

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/userlist"
)

// userBatch is how many users a list reads at a time.
const userBatch = 200

// The sorted set of all users has the time at which each was made, in milliseconds. ARGV[1] is
// the user after whom a batch begins and ARGV[2] the time of that user, who may be gone by now:
// the batch then begins with the users of that time.
var usersAfter = redis.NewScript(`
	local rank = redis.call('ZREVRANK', KEYS[1], ARGV[1])
	if not rank then rank = redis.call('ZCOUNT', KEYS[1], '(' .. ARGV[2], '+inf') - 1 end
	return redis.call('ZREVRANGE', KEYS[1], rank + 1, rank + tonumber(ARGV[3]), 'WITHSCORES')`)

// Users implements [accountstore.Store]. Redis has no index but for the time at which users
// were made: a search reads the users, the newest first, until the page is full. It has the
// users whom this package has made or changed; those whom Auth.js has made come last.
func (a accountStore) Users(ctx context.Context, q accountstore.UserQuery) (page []*accountstore.User, next string, err error) {
	if err := ctx.Err(); err != nil || q.Limit <= 0 {
		return nil, "", err
	}
	if q.ID != "" && !isUserID(q.ID) {
		return nil, "", nil
	}
	if q.ID != "" {
		page, err := a.listed(ctx, []string{q.ID}, make([]time.Time, 1))
		if err != nil || q.After != "" || len(page) == 0 || !q.Selects(page[0]) {
			return nil, "", a.failRead(ctx, "list users", err)
		}
		page[0].Created, err = a.madeAt(ctx, q.ID)
		return page, "", a.failRead(ctx, "list users", err)
	}
	after := userlist.Position{Order: userlist.Newest, Key: "+inf"}
	if q.After != "" {
		if after, err = userlist.Read(q.After, userlist.Newest); err == nil {
			_, err = strconv.ParseInt(after.Key, 10, 64)
		}
		if err != nil {
			return nil, "", fail(ctx, "list users", err)
		}
	}
	for from := after; ; {
		ids, times, err := a.usersFrom(ctx, from)
		if err != nil {
			return nil, "", a.failRead(ctx, "list users", err)
		}
		if len(ids) == 0 {
			return page, "", nil
		}
		last := len(ids) - 1
		before := from // which may be gone: the batch then begins with users of its time once more
		from = position(ids[last], times[last])
		for len(ids) > 0 && !isBeyond(position(ids[0], times[0]), before) {
			ids, times = ids[1:], times[1:]
		}
		users, err := a.listed(ctx, ids, times)
		if err != nil {
			return nil, "", a.failRead(ctx, "list users", err)
		}
		for _, u := range users {
			switch {
			case !q.Selects(u):
			case len(page) == q.Limit:
				return page, position(page[q.Limit-1].ID, page[q.Limit-1].Created).Text(), nil
			default:
				page = append(page, u)
			}
		}
	}
}

// position is the place of a user in the list. A user of whom it is not known when they were
// made has the time 0.
func position(id string, made time.Time) userlist.Position {
	key := "0"
	if !made.IsZero() {
		key = strconv.FormatInt(made.UnixMilli(), 10)
	}
	return userlist.Position{Order: userlist.Newest, Key: key, ID: id}
}

// isBeyond reports whether a user comes after a place.
func isBeyond(p, place userlist.Position) bool {
	if place.ID == "" {
		return true
	}
	at, _ := strconv.ParseInt(p.Key, 10, 64) // of a number that was formatted
	than, _ := strconv.ParseInt(place.Key, 10, 64)
	return at < than || at == than && p.ID < place.ID
}

// usersFrom returns the next ids after a place, and when their users were made.
func (a accountStore) usersFrom(ctx context.Context, place userlist.Position) (ids []string, made []time.Time, err error) {
	list, err := usersAfter.Run(ctx, a.client, []string{a.keys.users()}, place.ID, place.Key, userBatch).StringSlice()
	if err != nil {
		return nil, nil, err
	}
	for i := 0; i+1 < len(list); i += 2 {
		at, err := scoreTime(list[i+1])
		if err != nil {
			return nil, nil, err
		}
		ids, made = append(ids, list[i]), append(made, at)
	}
	return ids, made, nil
}

// scoreTime is the time that a score says.
func scoreTime(score string) (time.Time, error) {
	ms, err := strconv.ParseFloat(score, 64)
	if err != nil || ms == 0 {
		return time.Time{}, err
	}
	return time.UnixMilli(int64(ms)).UTC(), nil
}

func (a accountStore) madeAt(ctx context.Context, id string) (time.Time, error) {
	score, err := a.client.ZScore(ctx, a.keys.users(), id).Result()
	if errors.Is(err, redis.Nil) || score == 0 {
		return time.Time{}, nil
	}
	return time.UnixMilli(int64(score)).UTC(), err
}

// noteUser puts a user into the list of all, with the time at which they were made. The zero
// time is for users whom another program has made, and leaves the time of those who are there.
func (a accountStore) noteUser(ctx context.Context, id string, made time.Time) error {
	if made.IsZero() {
		return a.client.ZAddNX(ctx, a.keys.users(), redis.Z{Member: id}).Err()
	}
	return a.client.ZAdd(ctx, a.keys.users(), redis.Z{Score: float64(made.UnixMilli()), Member: id}).Err()
}

// listed reads users with what is kept of them. Those who are gone are left out.
func (a accountStore) listed(ctx context.Context, ids []string, made []time.Time) ([]*accountstore.User, error) {
	texts, states := make([]*redis.StringCmd, len(ids)), make([]*redis.MapStringStringCmd, len(ids))
	factors := make([]*redis.StringSliceCmd, len(ids))
	if len(ids) == 0 {
		return nil, nil
	}
	_, err := a.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, id := range ids {
			texts[i], states[i] = p.Get(ctx, a.keys.user(id)), p.HGetAll(ctx, a.keys.state(id))
			factors[i] = p.HKeys(ctx, a.keys.factors(id))
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	var users []*accountstore.User
	for i, id := range ids {
		text, err := texts[i].Bytes()
		if errors.Is(err, redis.Nil) || !isUserID(id) {
			continue
		}
		if err := errors.Join(err, states[i].Err(), factors[i].Err()); err != nil {
			return nil, err
		}
		u, err := decodeUser(id, text)
		if err != nil {
			return nil, err
		}
		state, err := decodeState(id, states[i].Val())
		if err != nil {
			return nil, err
		}
		listed := &accountstore.User{
			ID: id, Name: u.Name, Email: u.Email, EmailVerified: u.EmailVerified, Image: u.Image, Created: made[i], State: *state, //nolint:gosec // of as many ids
		}
		for _, field := range factors[i].Val() {
			listed.SecondFactor = listed.SecondFactor || strings.HasPrefix(field, kindField("totp")+":")
		}
		users = append(users, listed)
	}
	return users, nil
}
