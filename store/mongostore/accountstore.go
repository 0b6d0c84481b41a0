package mongostore

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/pintleauth/pintle/accountstore"
)

// An accountStore keeps states, factors, flows and events. The id of each document is its
// whole key, so every operation that decides something is one command on one
// document that is found by id.
type accountStore struct {
	states, factors, flows, activity *mongo.Collection
	users                            *mongo.Collection // which it only reads
}

// AccountStore implements [pintle.Store].
func (s *Store) AccountStore() accountstore.Store { return s.people }

// forget removes what is kept of a user who is gone. Before that, a password would
// need no second factor for a moment, and a ban would have ended.
func (a accountStore) forget(ctx context.Context, userID string) error {
	if !storable(userID) {
		return nil
	}
	if _, err := a.flows.DeleteMany(ctx, bson.D{{Key: "subject", Value: userID}}); err != nil {
		return fmt.Errorf("%s: %w", a.flows.Name(), err)
	}
	if _, err := a.factors.DeleteMany(ctx, bson.D{{Key: "userId", Value: userID}}); err != nil {
		return fmt.Errorf("%s: %w", a.factors.Name(), err)
	}
	if _, err := a.states.DeleteOne(ctx, byID(userID)); err != nil {
		return fmt.Errorf("%s: %w", a.states.Name(), err)
	}
	if err := a.forgetEvents(ctx, userID); err != nil {
		return fmt.Errorf("%s: %w", a.activity.Name(), err)
	}
	return nil
}

func byID(id string) bson.D { return bson.D{{Key: "_id", Value: id}} }

// change updates one document, and returns unmet if the one with the id exists and
// does not meet the condition.
func change(ctx context.Context, c *mongo.Collection, id string, condition bson.E, update bson.D, unmet error) error {
	result, err := c.UpdateOne(ctx, append(byID(id), condition), update)
	if err != nil || result.MatchedCount == 1 {
		return err
	}
	return unlessMissing(ctx, c, id, unmet)
}

// unlessMissing returns unmet if there is a document with the id, and the error of
// a missing document otherwise.
func unlessMissing(ctx context.Context, c *mongo.Collection, id string, unmet error) error {
	if err := c.FindOne(ctx, byID(id)).Err(); err != nil {
		return err
	}
	return unmet
}

// encodeHash is a hash as a text.
func encodeHash(h accountstore.Hash) string { return base64.RawURLEncoding.EncodeToString(h[:]) }

var errNoHash = errors.New("a hash does not have 256 bits")

func decodeHash(text string) (h accountstore.Hash, err error) {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil && len(data) != len(h) {
		err = errNoHash
	}
	if err == nil {
		copy(h[:], data)
	}
	return h, err
}

// texts is an array of texts, which are none if it is null.
func texts(list []string) bson.A {
	array := make(bson.A, len(list))
	for i, text := range list {
		array[i] = text
	}
	return array
}
