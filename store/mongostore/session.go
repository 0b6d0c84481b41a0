package mongostore

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/providersession"
)

// A sessionDocument is a session as the collection has it: the fields of
// Auth.js, and two more, which its adapter leaves alone.
type sessionDocument struct {
	ID      bson.ObjectID `bson:"_id"`
	Token   string        `bson:"sessionToken"`
	UserID  bson.ObjectID `bson:"userId"`
	Expires time.Time     `bson:"expires"`

	// Created is a Date, null when it is not known, or missing in a session
	// that Auth.js began.
	Created bson.RawValue `bson:"created,omitempty"`

	// Data is JSON in a text: names in it may have dots and dollar signs, and
	// numbers any digits.
	Data string `bson:"data,omitempty"`
}

func (d *sessionDocument) session() (*pintle.StoredSession, error) {
	s := &pintle.StoredSession{ID: d.ID.Hex(), Token: d.Token, UserID: d.UserID.Hex(), Expires: d.Expires}
	switch d.Created.Type {
	case bson.TypeDateTime:
		s.Created = d.Created.Time().UTC()
	case 0: // The id of a document has the time at which it was made.
		s.Created = d.ID.Timestamp()
	}
	if d.Data != "" {
		data, err := decodeJSON[map[string]any]([]byte(d.Data))
		if err != nil {
			return nil, fmt.Errorf("decode data: %w", err)
		}
		s.Data = data
	}
	return s, nil
}

func sessionFilter(token string) bson.D { return bson.D{{Key: "sessionToken", Value: token}} }

// CreateSession implements [pintle.Store].
func (s *Store) CreateSession(ctx context.Context, session *pintle.StoredSession) error {
	owner, ok := objectID(session.UserID)
	if !ok {
		return absent(ctx)
	}
	if !storable(session.Token) {
		return fail(ctx, "create session", errNotText)
	}
	id := bson.NewObjectID()
	document := bson.D{
		{Key: "_id", Value: id},
		{Key: "sessionToken", Value: session.Token},
		{Key: "userId", Value: owner},
		{Key: "expires", Value: millisecond(session.Expires)},
		{Key: "created", Value: date(session.Created)},
	}
	if len(session.Data) > 0 {
		text, err := json.Marshal(session.Data)
		if err != nil {
			return fail(ctx, "create session", fmt.Errorf("encode Data: %w", err))
		}
		document = append(document, bson.E{Key: "data", Value: string(text)})
	}
	_, err := s.sessions.InsertOne(ctx, document)
	if err == nil {
		err = s.belongs(ctx, owner, s.sessions, id)
	}
	return fail(ctx, "create session", err)
}

// SessionAndUser implements [pintle.Store]. It looks for the session and
// then for its user, each by a unique index, which is two round trips.
func (s *Store) SessionAndUser(ctx context.Context, token string) (*pintle.StoredSession, *pintle.User, error) {
	if !storable(token) {
		return nil, nil, absent(ctx)
	}
	document, err := decode[sessionDocument](s.sessions.FindOne(ctx, sessionFilter(token)))
	if err != nil {
		return nil, nil, fail(ctx, "find session", err)
	}
	session, err := document.session()
	if err != nil {
		return nil, nil, fail(ctx, "find session", err)
	}
	u, err := s.findUser(ctx, "find user of session", bson.D{{Key: "_id", Value: document.UserID}})
	if err != nil {
		return nil, nil, err
	}
	return session, u, nil
}

// UpdateSession implements [pintle.Store].
func (s *Store) UpdateSession(ctx context.Context, token string, change pintle.SessionUpdate) error {
	if !storable(token) {
		return absent(ctx)
	}
	var set bson.D
	if !change.Expires.IsZero() {
		set = append(set, bson.E{Key: "expires", Value: millisecond(change.Expires)})
	}
	if change.Data != nil {
		text, err := json.Marshal(change.Data)
		if err != nil {
			return fail(ctx, "update session", fmt.Errorf("encode Data: %w", err))
		}
		set = append(set, bson.E{Key: "data", Value: string(text)})
	}
	if len(set) == 0 {
		return fail(ctx, "update session", s.sessions.FindOne(ctx, sessionFilter(token)).Err())
	}
	result, err := s.sessions.UpdateOne(ctx, sessionFilter(token), bson.D{{Key: "$set", Value: set}})
	if err == nil && result.MatchedCount == 0 {
		err = pintle.ErrNotFound
	}
	return fail(ctx, "update session", err)
}

// DeleteSession implements [pintle.Store].
func (s *Store) DeleteSession(ctx context.Context, token string) (*pintle.StoredSession, error) {
	if !storable(token) {
		return nil, absent(ctx)
	}
	document, err := decode[sessionDocument](s.sessions.FindOneAndDelete(ctx, sessionFilter(token)))
	if err != nil {
		return nil, fail(ctx, "delete session", err)
	}
	if err := s.signIns.forget(ctx, providersession.KeyOf(token)); err != nil {
		return nil, fail(ctx, "delete session", err)
	}
	session, err := document.session()
	return session, fail(ctx, "delete session", err)
}
