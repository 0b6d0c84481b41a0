package redisstore

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/providersession"
	"github.com/redis/go-redis/v9"
)

// Revocations is a [pintle.RevocationStore] in Redis, for token sessions that several
// processes have to end:
//
//	Session: pintle.SessionConfig{
//		Strategy:   pintle.StrategyJWT,
//		Revocation: redisstore.NewRevocations(client, ""),
//	},
//
// It costs every signed-in request one round trip. When Redis does not answer,
// every request counts as signed out. Its keys expire by themselves. A server that
// evicts keys, or loses them at a restart, lets ended sessions go on
// until their tokens expire.
//
// Its methods may be called concurrently.
type Revocations struct {
	client redis.UniversalClient
	prefix string
}

var (
	_ pintle.RevocationStore = (*Revocations)(nil)
	_ providersession.Marker = (*Revocations)(nil)
)

// NewRevocations returns a list whose keys begin with prefix and "revoked:". It
// makes no request.
func NewRevocations(client redis.UniversalClient, prefix string) *Revocations {
	return &Revocations{client, prefix + "revoked:"}
}

// alwaysEnded stands for the time of a session that was ended by its id: it ends
// whenever it began. It is the greatest integer that scripts of Redis hold exactly.
const alwaysEnded = 1<<53 - 1

// key is the key of a session, or of a user. Ids come out of tokens and may be of
// any length.
func (r *Revocations) key(kind, userID, sessionID string) string {
	hash := sha256.Sum256([]byte(strconv.Itoa(len(userID)) + ":" + userID + sessionID))
	return r.prefix + kind + ":" + base64.RawURLEncoding.EncodeToString(hash[:])
}

func (r *Revocations) user(id string) string { return r.key("user", id, "") }

func (r *Revocations) session(userID, id string) string { return r.key("session", userID, id) }

func (r *Revocations) mark(m providersession.Mark) string { return r.key("mark", string(m[:]), "") }

// Revoked implements [pintle.RevocationStore]. On a Cluster the keys may be on several
// nodes, which are queried in parallel.
func (r *Revocations) Revoked(ctx context.Context, s pintle.TokenSession) (bool, error) {
	var began int64
	if !s.SignedIn.IsZero() {
		began = s.SignedIn.UnixMilli()
	}
	answers, err := r.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.Get(ctx, r.user(s.UserID))
		p.Get(ctx, r.session(s.UserID, s.ID))
		for _, m := range s.Marks {
			if m != (providersession.Mark{}) {
				p.Get(ctx, r.mark(m))
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		lookAgain(ctx, r.client, err)
		return true, fail(ctx, "look for a revocation", err)
	}
	for _, answer := range answers {
		ended, err := answer.(*redis.StringCmd).Int64()
		switch {
		case errors.Is(err, redis.Nil):
		case err != nil:
			return true, fmt.Errorf("redisstore: look for a revocation: %w", err)
		case ended >= began:
			return true, nil
		}
	}
	return false, nil
}

// Calls may be written in another order than they were made, so neither the mark
// nor the end of the key ever moves back.
var rememberRevocation = redis.NewScript(`
	local ended, now, last = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
	local before = redis.call('GET', KEYS[1])
	if before then
		ended = math.max(ended, tonumber(before))
		last = math.max(last, now + redis.call('PTTL', KEYS[1]))
	end
	redis.call('SET', KEYS[1], string.format('%.0f', ended), 'PXAT', string.format('%.0f', last))
	return 1`)

func (r *Revocations) remember(ctx context.Context, operation, key string, ended int64, until time.Time) error {
	err := rememberRevocation.Run(ctx, r.client, []string{key}, ended, time.Now().UnixMilli(), endOf(until).UnixMilli()).Err()
	return fail(ctx, operation, err)
}

// Revoke implements [pintle.RevocationStore].
func (r *Revocations) Revoke(ctx context.Context, s pintle.TokenSession, until time.Time) error {
	return r.remember(ctx, "revoke session", r.session(s.UserID, s.ID), alwaysEnded, until)
}

// RevokeUser implements [pintle.RevocationStore]. Tokens hold their beginning in whole
// seconds, so a session that begins in the same second is ended too.
func (r *Revocations) RevokeUser(ctx context.Context, userID string, until time.Time) error {
	return r.remember(ctx, "revoke user", r.user(userID), time.Now().UnixMilli(), until)
}

// EndMarked implements [providersession.Marker].
func (r *Revocations) EndMarked(ctx context.Context, m providersession.Mark, ended, until time.Time) error {
	return r.remember(ctx, "end marked sessions", r.mark(m), ended.UnixMilli(), until)
}
