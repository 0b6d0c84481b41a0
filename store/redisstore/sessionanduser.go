package redisstore

import (
	"context"

	"github.com/pintleauth/pintle"
	"github.com/redis/go-redis/v9"
)

// sessionAndUser reads a session and its user in one round trip. The user's
// key is known only once the session is, so it is not declared: a Cluster would
// have to find it on another node, and a Store uses this on one server only.
var sessionAndUser = redis.NewScript(`
	local session = redis.call('GET', KEYS[1])
	if not session then return {} end
	local ok, row = pcall(cjson.decode, session)
	if not ok or type(row) ~= 'table' or type(row.userId) ~= 'string' or row.userId:find(':', 1, true) then return {} end
	local user = redis.call('GET', ARGV[1] .. row.userId)
	if not user then return {} end
	return {session, user}`)

// SessionAndUser implements [pintle.Store]. It is one round trip on one
// server and two on a Cluster.
func (s *Store) SessionAndUser(ctx context.Context, token string) (*pintle.StoredSession, *pintle.User, error) {
	read := s.readInTwo
	if s.oneTrip {
		read = s.readInOne
	}
	row, u, err := read(ctx, token)
	if err != nil {
		lookAgain(ctx, s.client, err)
		return nil, nil, fail(ctx, "find session", err)
	}
	return row.session(token, s.sessions.handle(token)), u, nil
}

func (s *Store) readInTwo(ctx context.Context, token string) (*sessionRow, *pintle.User, error) {
	row, _, err := s.sessions.find(ctx, token)
	if err != nil {
		return nil, nil, err
	}
	u, _, err := s.user(ctx, row.UserID)
	return row, u, err
}

func (s *Store) readInOne(ctx context.Context, token string) (*sessionRow, *pintle.User, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	key, ok := s.keys.session(token)
	if !ok {
		return nil, nil, redis.Nil
	}
	texts, err := sessionAndUser.Run(ctx, s.client, []string{key}, s.keys.UserKeyPrefix).StringSlice()
	if err != nil {
		return nil, nil, err
	}
	if len(texts) != 2 {
		return nil, nil, redis.Nil
	}
	row, err := decodeSession([]byte(texts[0]))
	if err != nil {
		return nil, nil, err
	}
	u, err := decodeUser(row.UserID, []byte(texts[1]))
	return row, u, err
}
