package redisstore

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/providersession"
)

// providerSessions keeps sign-ins at providers, each in one hash, and ends, each in one
// key. A sign-in is in the lists that lead to it before it exists, and looks for ends
// after. An end is written before it looks for sign-ins. So one sees the other.
type providerSessions struct{ sessions }

var _ providersession.Store = providerSessions{}

// ProviderSessions implements [pintle.Store].
func (s *Store) ProviderSessions() providersession.Store { return providerSessions{s.sessions} }

// ProviderSessions implements [pintle.Store]: they are where the sessions are.
func (s *SessionStore) ProviderSessions() providersession.Store { return providerSessions{s.sessions} }

func encodeRecordKey(k providersession.Key) string { return base64.RawURLEncoding.EncodeToString(k[:]) }

// keyText is a key as a field, and empty for the zero value.
func keyText(k providersession.Key) string {
	if k == (providersession.Key{}) {
		return ""
	}
	return encodeRecordKey(k)
}

func (k keys) signIn(id string) string    { return k.AccountStoreKeyPrefix + "signin:" + id }
func (k keys) signInEnd(id string) string { return k.AccountStoreKeyPrefix + "ended:" + id }

func (k keys) signInsOf(session string) string  { return k.signInsBy("session", session) }
func (k keys) signInsBySid(key string) string   { return k.signInsBy("sid", key) }
func (k keys) signInsBySub(key string) string   { return k.signInsBy("sub", key) }
func (k keys) userSignIns(userID string) string { return k.signInsBy("user", userID) }

func (k keys) signInsBy(what, which string) string {
	return k.AccountStoreKeyPrefix + "signin-by:" + what + ":" + which
}

// lists returns the keys of the sets that lead to a record.
func (p providerSessions) lists(r *providersession.Record) []string {
	lists := []string{p.keys.signInsOf(encodeRecordKey(r.Session)), p.keys.userSignIns(r.UserID)}
	if r.Sid != (providersession.Key{}) {
		lists = append(lists, p.keys.signInsBySid(encodeRecordKey(r.Sid)))
	}
	if r.Sub != (providersession.Key{}) {
		lists = append(lists, p.keys.signInsBySub(encodeRecordKey(r.Sub)))
	}
	return lists
}

// A list has the id of each record, with the time at which Redis forgets it as its score.
var listSignIn = listFlow

func (p providerSessions) listRecord(ctx context.Context, r *providersession.Record, end time.Time) error {
	for _, list := range p.lists(r) {
		err := listSignIn.Run(ctx, p.client, []string{list}, encodeRecordKey(r.ID()), end.UnixMilli(), time.Now().UnixMilli()).Err()
		if err != nil {
			return err
		}
	}
	return nil
}

func (p providerSessions) unlistRecord(ctx context.Context, r *providersession.Record) error {
	for _, list := range p.lists(r) {
		if err := p.client.ZRem(ctx, list, encodeRecordKey(r.ID())).Err(); err != nil {
			return err
		}
	}
	return nil
}

// ARGV[1] is when Redis forgets the record, and the rest its fields and their values.
var putSignIn = redis.NewScript(`
	local role = redis.call('HGET', KEYS[1], 'role')
	redis.call('HSET', KEYS[1], unpack(ARGV, 2))
	if role == 'began' then redis.call('HSET', KEYS[1], 'role', role) end
	redis.call('PEXPIREAT', KEYS[1], ARGV[1])
	return 1`)

// Put implements [providersession.Store].
func (p providerSessions) Put(ctx context.Context, r *providersession.Record, flowBegan time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := storable(append([]string{r.UserID, r.Provider, r.ProviderAccountID, string(r.Role), r.ACR, r.Hint}, r.AMR...)...); err != nil {
		return fmt.Errorf("redisstore: put sign-in: %w", err)
	}
	err := p.put(ctx, r, flowBegan)
	if errors.Is(err, providersession.ErrEnded) {
		return err
	}
	return fail(ctx, "put sign-in", err)
}

func (p providerSessions) put(ctx context.Context, r *providersession.Record, flowBegan time.Time) error {
	// Before the record is written as well, so that a refusal leaves what was there.
	if err := p.refused(ctx, r, flowBegan); err != nil {
		return err
	}
	amr, err := json.Marshal(r.AMR)
	if err != nil {
		return err
	}
	end := endOf(r.Expires)
	if err := p.listRecord(ctx, r, end); err != nil {
		return err
	}
	id := encodeRecordKey(r.ID())
	err = putSignIn.Run(ctx, p.client, []string{p.keys.signIn(id)},
		end.UnixMilli(),
		"session", encodeRecordKey(r.Session),
		"user", r.UserID,
		"provider", r.Provider,
		"account", r.ProviderAccountID,
		"sid", keyText(r.Sid),
		"sub", keyText(r.Sub),
		"role", string(r.Role),
		"acr", r.ACR,
		"amr", amr,
		"authTime", encodeTime(r.AuthTime),
		"proof", encodeTime(r.Proof),
		"hint", r.Hint,
		"created", encodeTime(r.Created),
		"expires", encodeTime(r.Expires)).Err()
	if err != nil {
		return err
	}
	if err := p.refused(ctx, r, flowBegan); err != nil {
		ctx, cancel := cleanUp(ctx)
		defer cancel()
		return errors.Join(err, p.dropRecord(ctx, r))
	}
	if r.Role == providersession.Began {
		return nil
	}
	_, surplus, err := p.of(ctx, r.Session)
	for _, old := range surplus {
		if err == nil {
			err = p.dropRecord(ctx, old)
		}
	}
	return err
}

// refused fails with ErrEnded if an end has overtaken a sign-in. On a Cluster the ends may
// be on several nodes, which are queried in parallel.
func (p providerSessions) refused(ctx context.Context, r *providersession.Record, flowBegan time.Time) error {
	ids := r.EndIDs()
	if len(ids) == 0 {
		return nil
	}
	answers, err := p.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, id := range ids {
			pipe.Get(ctx, p.keys.signInEnd(encodeRecordKey(id)))
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	for _, answer := range answers {
		ended, err := answer.(*redis.StringCmd).Int64()
		switch {
		case errors.Is(err, redis.Nil):
		case err != nil:
			return err
		case ended > flowBegan.UnixMilli():
			return providersession.ErrEnded
		}
	}
	return nil
}

// dropRecord removes a record, and then its entries.
func (p providerSessions) dropRecord(ctx context.Context, r *providersession.Record) error {
	if err := p.client.Del(ctx, p.keys.signIn(encodeRecordKey(r.ID()))).Err(); err != nil {
		return err
	}
	return p.unlistRecord(ctx, r)
}

// Of implements [providersession.Store].
func (p providerSessions) Of(ctx context.Context, session providersession.Key) ([]*providersession.Record, error) {
	kept, _, err := p.of(ctx, session)
	return kept, fail(ctx, "list sign-ins", err)
}

func (p providerSessions) of(ctx context.Context, session providersession.Key) (kept, surplus []*providersession.Record, err error) {
	found, err := p.listed(ctx, p.keys.signInsOf(encodeRecordKey(session)))
	if err != nil {
		return nil, nil, err
	}
	kept, surplus = providersession.Sort(found)
	return kept, surplus, nil
}

// listed returns the records in a list that exist.
func (p providerSessions) listed(ctx context.Context, list string) (found []*providersession.Record, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ids, err := p.client.ZRange(ctx, list, 0, -1).Result()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		values, err := p.client.HGetAll(ctx, p.keys.signIn(id)).Result()
		if err != nil {
			return nil, err
		}
		if len(values) == 0 {
			continue
		}
		r, err := decodeRecord(values)
		if err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	return found, nil
}

func decodeRecord(values map[string]string) (*providersession.Record, error) {
	f := fields{values: values}
	r := &providersession.Record{
		Session: providersession.Key(f.hash("session")), UserID: f.text("user"), Provider: f.text("provider"), ProviderAccountID: f.text("account"),
		Sid: providersession.Key(f.hash("sid")), Sub: providersession.Key(f.hash("sub")), Role: providersession.Role(f.text("role")),
		ACR: f.text("acr"), AuthTime: f.time("authTime"), Proof: f.time("proof"), Hint: f.text("hint"),
		Created: f.time("created"), Expires: f.time("expires"),
	}
	f.note(json.Unmarshal([]byte(f.text("amr")), &r.AMR))
	if f.err != nil {
		return nil, fmt.Errorf("read sign-in: %w", f.err)
	}
	return r, nil
}

// An end with an earlier time does not take back another.
var rememberEnd = redis.NewScript(`
	local ended = tonumber(ARGV[1])
	local before = redis.call('GET', KEYS[1])
	if before then ended = math.max(ended, tonumber(before)) end
	redis.call('SET', KEYS[1], string.format('%.0f', ended), 'PX', ARGV[2])
	return 1`)

// EndBy implements [providersession.Store]. Each session ends before its record goes, so
// that a call that breaks off can be repeated.
func (p providerSessions) EndBy(ctx context.Context, sid, sub providersession.Key, before time.Time) ([]*providersession.Record, error) {
	if sid == (providersession.Key{}) && sub == (providersession.Key{}) {
		return nil, providersession.ErrNoKey
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ended, err := p.endBy(ctx, sid, sub, before)
	if err != nil {
		return nil, fail(ctx, "end sign-ins", err)
	}
	return ended, nil
}

func (p providerSessions) endBy(ctx context.Context, sid, sub providersession.Key, before time.Time) (ended []*providersession.Record, err error) {
	end := p.keys.signInEnd(encodeRecordKey(providersession.EndID(sid, sub)))
	if err := rememberEnd.Run(ctx, p.client, []string{end}, before.UnixMilli(), providersession.Remembered.Milliseconds()).Err(); err != nil {
		return nil, err
	}
	list := p.keys.signInsBySid(encodeRecordKey(sid))
	if sid == (providersession.Key{}) {
		list = p.keys.signInsBySub(encodeRecordKey(sub))
	}
	found, err := p.listed(ctx, list)
	if err != nil {
		return nil, err
	}
	for _, r := range found {
		// A list may name a record that has other keys by now.
		if !r.Fits(sid, sub, before.Truncate(time.Millisecond)) {
			continue
		}
		if r.Role == providersession.Began {
			err = p.endSession(ctx, r)
		} else {
			err = p.dropRecord(ctx, r)
		}
		if err != nil {
			return nil, err
		}
		r.Hint = ""
		ended = append(ended, r)
	}
	return ended, nil
}

// endSession ends the session of a record, if it is in Redis, and forgets its records.
func (p providerSessions) endSession(ctx context.Context, r *providersession.Record) error {
	err := p.endOne(ctx, r.UserID, encodeRecordKey(r.Session))
	if err != nil && !errors.Is(err, pintle.ErrNotFound) {
		return err
	}
	return p.forgetSignIns(ctx, r.Session)
}

// KEYS[1] is a record, ARGV[1] its new end, and ARGV[2] when Redis forgets it.
var moveSignIn = redis.NewScript(`
	if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
	redis.call('HSET', KEYS[1], 'expires', ARGV[1])
	redis.call('PEXPIREAT', KEYS[1], ARGV[2])
	return 1`)

// Move implements [providersession.Store]. The lists go first: a record is in them as long
// as it exists.
func (p providerSessions) Move(ctx context.Context, session providersession.Key, expires time.Time) error {
	found, err := p.listed(ctx, p.keys.signInsOf(encodeRecordKey(session)))
	end := endOf(expires)
	for _, r := range found {
		if err == nil {
			err = p.listRecord(ctx, r, end)
		}
		if err == nil {
			err = moveSignIn.Run(ctx, p.client, []string{p.keys.signIn(encodeRecordKey(r.ID()))}, expires.UnixMilli(), end.UnixMilli()).Err()
		}
	}
	return fail(ctx, "move sign-ins", err)
}

// Forget implements [providersession.Store].
func (p providerSessions) Forget(ctx context.Context, session providersession.Key) error {
	return fail(ctx, "forget sign-ins", p.forgetSignIns(ctx, session))
}

// forgetSignIns removes the records of a session.
func (s sessions) forgetSignIns(ctx context.Context, session providersession.Key) error {
	return s.dropListed(ctx, s.keys.signInsOf(encodeRecordKey(session)))
}

// forgetUserSignIns removes the records of a user: those of sessions in tokens, since the
// others went with their sessions.
func (s sessions) forgetUserSignIns(ctx context.Context, userID string) error {
	return s.dropListed(ctx, s.keys.userSignIns(userID))
}

func (s sessions) dropListed(ctx context.Context, list string) error {
	p := providerSessions{s}
	found, err := p.listed(ctx, list)
	for _, r := range found {
		if err == nil {
			err = p.dropRecord(ctx, r)
		}
	}
	return err
}
