package mongostore

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/pintleauth/pintle/providersession"
)

// providerSessions keeps sign-ins at providers and ends, each in one document. A sign-in
// is written before it looks for ends, and an end before it looks for sign-ins. So one
// sees the other.
type providerSessions struct {
	signIns, ends, sessions *mongo.Collection
}

var _ providersession.Store = providerSessions{}

// ProviderSessions implements [pintle.Store].
func (s *Store) ProviderSessions() providersession.Store { return s.signIns }

// A signInDocument is a record. Its id is [providersession.Record.ID].
type signInDocument struct {
	ID        string     `bson:"_id"`
	Session   string     `bson:"session"`
	UserID    string     `bson:"userId"`
	Provider  string     `bson:"provider"`
	AccountID string     `bson:"providerAccountId"`
	Sid       *string    `bson:"sid"`
	Sub       *string    `bson:"sub"`
	Role      string     `bson:"role"`
	ACR       string     `bson:"acr"`
	AMR       []string   `bson:"amr"`
	AuthTime  *time.Time `bson:"authTime"`
	Proof     *time.Time `bson:"proof"`
	Hint      string     `bson:"hint"`
	Created   time.Time  `bson:"created"`
	Expires   time.Time  `bson:"expires"`
}

func encodeRecordKey(k providersession.Key) string { return encodeKey([sha256.Size]byte(k)) }

// keyOrNull is a key as a text, or null for the zero value.
func keyOrNull(k providersession.Key) *string {
	if k == (providersession.Key{}) {
		return nil
	}
	return new(encodeRecordKey(k))
}

func decodeRecordKey(text *string) (providersession.Key, error) {
	if text == nil {
		return providersession.Key{}, nil
	}
	h, err := decodeHash(*text)
	return providersession.Key(h), err
}

func (d *signInDocument) record() (*providersession.Record, error) {
	r := &providersession.Record{
		UserID: d.UserID, Provider: d.Provider, ProviderAccountID: d.AccountID, Role: providersession.Role(d.Role),
		ACR: d.ACR, AMR: d.AMR, AuthTime: timeOf(d.AuthTime), Proof: timeOf(d.Proof), Hint: d.Hint, Created: d.Created, Expires: d.Expires,
	}
	for _, key := range []struct {
		text *string
		to   *providersession.Key
	}{{&d.Session, &r.Session}, {d.Sid, &r.Sid}, {d.Sub, &r.Sub}} {
		var err error
		if *key.to, err = decodeRecordKey(key.text); err != nil {
			return nil, fmt.Errorf("read sign-in: %w", err)
		}
	}
	return r, nil
}

// Put implements [providersession.Store].
func (p providerSessions) Put(ctx context.Context, r *providersession.Record, flowBegan time.Time) error {
	if !storable(append(slices.Clone(r.AMR), r.UserID, r.Provider, r.ProviderAccountID, string(r.Role), r.ACR, r.Hint)...) {
		return fail(ctx, "put sign-in", errNotText)
	}
	// Before the record is written as well, so that a refusal leaves what was there.
	refused, err := p.refused(ctx, r, flowBegan)
	if err == nil && !refused {
		if err = p.write(ctx, r); err == nil {
			refused, err = p.refused(ctx, r, flowBegan)
		}
		if err == nil && refused {
			_, err = p.signIns.DeleteOne(ctx, byID(encodeRecordKey(r.ID())))
		}
	}
	switch {
	case err != nil:
		return fail(ctx, "put sign-in", err)
	case refused:
		return providersession.ErrEnded
	case r.Role == providersession.Began:
		return nil
	}
	return fail(ctx, "put sign-in", p.trim(ctx, r.Session))
}

// write puts a record in the place of another, which stays the one with which the session
// began.
func (p providerSessions) write(ctx context.Context, r *providersession.Record) (err error) {
	id := encodeRecordKey(r.ID())
	fields := bson.D{
		{Key: "session", Value: encodeRecordKey(r.Session)},
		{Key: "userId", Value: r.UserID},
		{Key: "provider", Value: r.Provider},
		{Key: "providerAccountId", Value: r.ProviderAccountID},
		{Key: "sid", Value: keyOrNull(r.Sid)},
		{Key: "sub", Value: keyOrNull(r.Sub)},
		{Key: "acr", Value: r.ACR},
		{Key: "amr", Value: texts(r.AMR)},
		{Key: "authTime", Value: date(r.AuthTime)},
		{Key: "proof", Value: date(r.Proof)},
		{Key: "hint", Value: r.Hint},
		{Key: "created", Value: millisecond(r.Created)},
		{Key: "expires", Value: millisecond(r.Expires)},
	}
	began := bson.E{Key: "role", Value: string(providersession.Began)}
	other := bson.E{Key: "role", Value: bson.D{{Key: "$ne", Value: string(providersession.Began)}}}
	for range 3 { // another call may write the record between the two commands
		var result *mongo.UpdateResult
		result, err = p.signIns.UpdateOne(ctx, append(byID(id), began), bson.D{{Key: "$set", Value: fields}})
		if err != nil || result.MatchedCount > 0 {
			return err
		}
		all := append(slices.Clone(fields), bson.E{Key: "role", Value: string(r.Role)})
		_, err = p.signIns.UpdateOne(ctx, append(byID(id), other), bson.D{{Key: "$set", Value: all}}, options.UpdateOne().SetUpsert(true))
		if !mongo.IsDuplicateKeyError(err) {
			return err
		}
	}
	return err
}

// refused reports whether an end has overtaken a sign-in.
func (p providerSessions) refused(ctx context.Context, r *providersession.Record, flowBegan time.Time) (bool, error) {
	ids := bson.A{}
	for _, id := range r.EndIDs() {
		ids = append(ids, encodeRecordKey(id))
	}
	if len(ids) == 0 {
		return false, ctx.Err()
	}
	err := p.ends.FindOne(ctx, bson.D{
		{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}},
		{Key: "ended", Value: bson.D{{Key: "$gt", Value: millisecond(flowBegan)}}},
	}).Err()
	if missing(err) {
		return false, nil
	}
	return err == nil, err
}

// trim removes the records of a session that Of does not return.
func (p providerSessions) trim(ctx context.Context, session providersession.Key) error {
	_, surplus, err := p.of(ctx, session)
	for _, old := range surplus {
		if err == nil {
			_, err = p.signIns.DeleteOne(ctx, byID(encodeRecordKey(old.ID())))
		}
	}
	return err
}

// Of implements [providersession.Store].
func (p providerSessions) Of(ctx context.Context, session providersession.Key) ([]*providersession.Record, error) {
	kept, _, err := p.of(ctx, session)
	return kept, fail(ctx, "list sign-ins", err)
}

func (p providerSessions) of(ctx context.Context, session providersession.Key) (kept, surplus []*providersession.Record, err error) {
	found, err := p.find(ctx, bySession(session))
	if err != nil {
		return nil, nil, err
	}
	kept, surplus = providersession.Sort(found)
	return kept, surplus, nil
}

func bySession(session providersession.Key) bson.D {
	return bson.D{{Key: "session", Value: encodeRecordKey(session)}}
}

func (p providerSessions) find(ctx context.Context, filter bson.D) ([]*providersession.Record, error) {
	documents, err := all[signInDocument](ctx, p.signIns, filter)
	if err != nil {
		return nil, err
	}
	found := make([]*providersession.Record, len(documents))
	for i, document := range documents {
		if found[i], err = document.record(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// EndBy implements [providersession.Store]. Each session ends before its record goes, so
// that a call that breaks off can be repeated.
func (p providerSessions) EndBy(ctx context.Context, sid, sub providersession.Key, before time.Time) ([]*providersession.Record, error) {
	if sid == (providersession.Key{}) && sub == (providersession.Key{}) {
		return nil, providersession.ErrNoKey
	}
	ended, err := p.endBy(ctx, sid, sub, millisecond(before))
	if err != nil {
		return nil, fail(ctx, "end sign-ins", err)
	}
	return ended, nil
}

func (p providerSessions) endBy(ctx context.Context, sid, sub providersession.Key, before time.Time) ([]*providersession.Record, error) {
	if err := p.rememberEnd(ctx, encodeRecordKey(providersession.EndID(sid, sub)), before); err != nil {
		return nil, err
	}
	filter := bson.D{{Key: "created", Value: bson.D{{Key: "$lt", Value: before}}}}
	for _, key := range []struct {
		name string
		key  providersession.Key
	}{{"sid", sid}, {"sub", sub}} {
		if key.key != (providersession.Key{}) {
			filter = append(filter, bson.E{Key: key.name, Value: encodeRecordKey(key.key)})
		}
	}
	ended, err := p.find(ctx, filter)
	if err != nil {
		return nil, err
	}
	for _, r := range ended {
		if r.Role == providersession.Began {
			err = p.endSession(ctx, r)
		} else {
			_, err = p.signIns.DeleteOne(ctx, byID(encodeRecordKey(r.ID())))
		}
		if err != nil {
			return nil, err
		}
		r.Hint = ""
	}
	return ended, nil
}

// rememberEnd writes an end. One with an earlier time does not take back another.
func (p providerSessions) rememberEnd(ctx context.Context, id string, before time.Time) error {
	forward := bson.D{{Key: "$max", Value: bson.D{
		{Key: "ended", Value: before},
		{Key: "expires", Value: millisecond(time.Now().Add(providersession.Remembered))},
	}}}
	create := options.UpdateOne().SetUpsert(true)
	_, err := p.ends.UpdateOne(ctx, byID(id), forward, create)
	if mongo.IsDuplicateKeyError(err) {
		// Another call created it between MongoDB's look and its insertion.
		_, err = p.ends.UpdateOne(ctx, byID(id), forward, create)
	}
	return err
}

// endSession ends the session of a record, if there is one, and forgets its records. The
// tokens of the sessions are hashed to find it.
func (p providerSessions) endSession(ctx context.Context, r *providersession.Record) error {
	if owner, ok := objectID(r.UserID); ok {
		documents, err := all[sessionDocument](ctx, p.sessions, bson.D{{Key: "userId", Value: owner}})
		if err != nil {
			return err
		}
		for _, d := range documents {
			if providersession.KeyOf(d.Token) != r.Session {
				continue
			}
			if _, err := p.sessions.DeleteOne(ctx, bson.D{{Key: "_id", Value: d.ID}}); err != nil {
				return err
			}
		}
	}
	return p.forget(ctx, r.Session)
}

// Move implements [providersession.Store].
func (p providerSessions) Move(ctx context.Context, session providersession.Key, expires time.Time) error {
	moved := bson.D{{Key: "$set", Value: bson.D{ending(millisecond(expires))}}}
	_, err := p.signIns.UpdateMany(ctx, bySession(session), moved)
	return fail(ctx, "move sign-ins", err)
}

// Forget implements [providersession.Store].
func (p providerSessions) Forget(ctx context.Context, session providersession.Key) error {
	return fail(ctx, "forget sign-ins", p.forget(ctx, session))
}

func (p providerSessions) forget(ctx context.Context, session providersession.Key) error {
	_, err := p.signIns.DeleteMany(ctx, bySession(session))
	return err
}

// forgetUser removes the records of a user, but those of one session.
func (p providerSessions) forgetUser(ctx context.Context, userID, except string) error {
	if !storable(userID) {
		return nil
	}
	filter := bson.D{{Key: "userId", Value: userID}}
	if except != "" {
		filter = append(filter, bson.E{Key: "session", Value: bson.D{{Key: "$ne", Value: encodeRecordKey(providersession.KeyOf(except))}}})
	}
	if _, err := p.signIns.DeleteMany(ctx, filter); err != nil {
		return fmt.Errorf("%s: %w", p.signIns.Name(), err)
	}
	return nil
}
