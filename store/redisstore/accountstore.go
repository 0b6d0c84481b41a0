package redisstore

import (
	"context"
	"encoding/base64"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle/accountstore"
)

// An accountStore keeps states, factors, flows and events, each decision in one key. The
// rows of a user are on several nodes of a Cluster, as their sessions are.
type accountStore struct {
	client redis.UniversalClient
	keys   keys
}

// AccountStore implements [pintle.Store]. A flow goes by itself an hour after it has
// expired, and a factor that has expired as long goes when the user is given
// another. Events that have expired as long go when another of the user is recorded,
// a hundred at a time. All events of a site are on one node of a Cluster, too, for the
// queries of operators.
func (s *Store) AccountStore() accountstore.Store { return s.accountStore() }

func (s *Store) accountStore() accountStore { return accountStore{s.client, s.keys} }

// forget removes what is kept of a user who is gone. Before that, a password would
// need no second factor for a moment, and a ban would have ended.
func (a accountStore) forget(ctx context.Context, userID string) error {
	if _, err := a.endFlows(ctx, userID, func(string) bool { return true }); err != nil {
		return err
	}
	for _, key := range []string{a.keys.flows(userID), a.keys.factors(userID), a.keys.state(userID)} {
		if err := a.client.Del(ctx, key).Err(); err != nil {
			return err
		}
	}
	if err := a.forgetEvents(ctx, userID); err != nil {
		return err
	}
	return a.client.ZRem(ctx, a.keys.users(), userID).Err()
}

// failRead is fail for what only reads. A client of a Cluster then looks whether
// the key is on another node by now.
func (a accountStore) failRead(ctx context.Context, operation string, err error) error {
	lookAgain(ctx, a.client, err)
	return fail(ctx, operation, err)
}

// encodeHash is a hash in keys and fields, and empty for the zero value.
func encodeHash(h accountstore.Hash) string {
	if h == (accountstore.Hash{}) {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(h[:])
}

// flowName is what a flow is called in keys and lists. The zero hash has a name
// as well.
func flowName(id accountstore.Hash) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

var errNoHash = errors.New("a hash does not have 256 bits")

func decodeHash(text string) (h accountstore.Hash, err error) {
	if text == "" {
		return h, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil && len(data) != len(h) {
		err = errNoHash
	}
	if err == nil {
		copy(h[:], data)
	}
	return h, err
}

// encodeTime is a time in milliseconds, and empty for the zero time.
func encodeTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(t.UnixMilli(), 10)
}

func decodeTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, err
	}
	return time.UnixMilli(ms).UTC(), nil
}

// fields reads the fields of a hash and keeps the first error. A field that cannot
// be read is an error and not the zero value: a ban would be no ban.
type fields struct {
	values map[string]string
	err    error
}

func (f *fields) text(name string) string { return f.values[name] }

func (f *fields) number(name string) int64 {
	if f.values[name] == "" {
		return 0
	}
	n, err := strconv.ParseInt(f.values[name], 10, 64)
	f.note(err)
	return n
}

func (f *fields) time(name string) time.Time {
	t, err := decodeTime(f.values[name])
	f.note(err)
	return t
}

func (f *fields) hash(name string) accountstore.Hash {
	h, err := decodeHash(f.values[name])
	f.note(err)
	return h
}

func (f *fields) note(err error) {
	if f.err == nil {
		f.err = err
	}
}
