package mongostore

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/providersession"
)

// UserSessions implements [pintle.Store]. The handles of the yielded
// sessions are the ids of the documents, which lead to no token. The list is made
// when the loop begins: no connection is held while it runs.
func (s *Store) UserSessions(ctx context.Context, userID string) iter.Seq2[*pintle.StoredSession, error] {
	return func(yield func(*pintle.StoredSession, error) bool) {
		sessions, err := s.liveSessions(ctx, userID)
		if err != nil {
			yield(nil, fail(ctx, "list sessions", err))
			return
		}
		for _, session := range sessions {
			if !yield(session, nil) {
				return
			}
		}
	}
}

func (s *Store) liveSessions(ctx context.Context, userID string) ([]*pintle.StoredSession, error) {
	owner, ok := objectID(userID)
	if !ok {
		return nil, ctx.Err()
	}
	documents, err := all[sessionDocument](ctx, s.sessions, bson.D{
		{Key: "userId", Value: owner},
		{Key: "expires", Value: bson.D{{Key: "$gt", Value: time.Now()}}},
	})
	if err != nil {
		return nil, err
	}
	sessions := make([]*pintle.StoredSession, len(documents))
	for i, document := range documents {
		if sessions[i], err = document.session(); err != nil {
			return nil, err
		}
		sessions[i].Handle = document.ID.Hex()
	}
	slices.SortStableFunc(sessions, func(a, b *pintle.StoredSession) int {
		return cmp.Or(b.Created.Compare(a.Created), b.Expires.Compare(a.Expires))
	})
	return sessions, nil
}

// EndSession implements [pintle.Store].
func (s *Store) EndSession(ctx context.Context, userID, handle string) error {
	owner, isUser := objectID(userID)
	id, isHandle := objectID(handle)
	if !isUser || !isHandle {
		return absent(ctx)
	}
	document, err := decode[sessionDocument](s.sessions.FindOneAndDelete(ctx, bson.D{{Key: "_id", Value: id}, {Key: "userId", Value: owner}}))
	if err == nil {
		err = s.signIns.forget(ctx, providersession.KeyOf(document.Token))
	}
	return fail(ctx, "end session", err)
}

// EndUserSessions implements [pintle.Store].
func (s *Store) EndUserSessions(ctx context.Context, userID, except string) (int, error) {
	owner, ok := objectID(userID)
	if !ok {
		return 0, ctx.Err()
	}
	filter := bson.D{{Key: "userId", Value: owner}}
	if except != "" && storable(except) {
		filter = append(filter, bson.E{Key: "sessionToken", Value: bson.D{{Key: "$ne", Value: except}}})
	}
	result, err := s.sessions.DeleteMany(ctx, filter)
	if err != nil {
		return 0, fail(ctx, "end sessions", err)
	}
	return int(result.DeletedCount), fail(ctx, "end sessions", s.signIns.forgetUser(ctx, userID, except))
}
