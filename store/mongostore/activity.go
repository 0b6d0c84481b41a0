package mongostore

import (
	"context"
	"errors"
	"math"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/userlist"
)

// An eventDocument is an event.
type eventDocument struct {
	ID      string     `bson:"_id"`
	At      time.Time  `bson:"at"`
	Kind    string     `bson:"kind"`
	Outcome string     `bson:"outcome"`
	UserID  *string    `bson:"userId"`
	Actor   *string    `bson:"actor"`
	Subject *string    `bson:"subject"`
	Detail  []textPair `bson:"detail"`
	Count   int64      `bson:"count"`
	Expires time.Time  `bson:"expires"`
}

// A textPair is a text with its name. As the name of a field, a text could not be empty
// or have a dot on every server.
type textPair struct {
	Name string `bson:"name"`
	Text string `bson:"text"`
}

func (d *eventDocument) event() (*accountstore.Event, error) {
	e := &accountstore.Event{ID: d.ID, At: d.At, Kind: d.Kind, Outcome: d.Outcome, Count: int(d.Count), Expires: d.Expires}
	if d.UserID != nil {
		e.UserID = *d.UserID
	}
	if d.Actor != nil {
		e.Actor = *d.Actor
	}
	if len(d.Detail) > 0 {
		e.Detail = make(map[string]string, len(d.Detail))
		for _, pair := range d.Detail {
			e.Detail[pair.Name] = pair.Text
		}
	}
	var err error
	if d.Subject != nil {
		e.Subject, err = decodeHash(*d.Subject)
	}
	return e, err
}

// Record implements [accountstore.Log], in one command. Of two that make the document at
// once the server may reject one, which then finds it.
//
// https://www.mongodb.com/docs/manual/reference/method/db.collection.update/#upsert-with-unique-index
func (a accountStore) Record(ctx context.Context, e *accountstore.Event) error {
	texts, detail := []string{e.ID, e.Kind, e.Outcome, e.UserID, e.Actor}, []textPair{}
	for name, text := range e.Detail {
		texts, detail = append(texts, name, text), append(detail, textPair{name, text})
	}
	if !storable(texts...) {
		return fail(ctx, "record", errNotText)
	}
	record := bson.D{
		{Key: "$inc", Value: bson.D{{Key: "count", Value: int64(max(e.Count, 1))}}},
		{Key: "$setOnInsert", Value: bson.D{
			{Key: "at", Value: millisecond(e.At)},
			{Key: "kind", Value: e.Kind},
			{Key: "outcome", Value: e.Outcome},
			{Key: "userId", Value: nullable(e.UserID)},
			{Key: "actor", Value: nullable(e.Actor)},
			{Key: "subject", Value: code(e.Subject)},
			{Key: "detail", Value: detail},
			{Key: "expires", Value: millisecond(e.Expires)},
		}},
	}
	_, err := a.activity.UpdateOne(ctx, byID(e.ID), record, options.UpdateOne().SetUpsert(true))
	if mongo.IsDuplicateKeyError(err) {
		_, err = a.activity.UpdateOne(ctx, byID(e.ID), record, options.UpdateOne().SetUpsert(true))
	}
	return fail(ctx, "record", err)
}

// Activity implements [accountstore.Log].
func (a accountStore) Activity(ctx context.Context, q accountstore.ActivityQuery) (page []*accountstore.Event, next string, err error) {
	if q.Limit <= 0 || !storable(q.UserID, q.Actor, q.Kind, q.Outcome) {
		return nil, "", ctx.Err()
	}
	q.Limit = min(q.Limit, math.MaxInt32-1) // one more is read
	match := bson.D{}
	for _, is := range []bson.E{{Key: "userId", Value: q.UserID}, {Key: "actor", Value: q.Actor}, {Key: "kind", Value: q.Kind}, {Key: "outcome", Value: q.Outcome}} {
		if is.Value != "" {
			match = append(match, is)
		}
	}
	at := bson.D{}
	if !q.Since.IsZero() {
		at = append(at, bson.E{Key: "$gte", Value: millisecond(q.Since)})
	}
	if !q.Until.IsZero() {
		at = append(at, bson.E{Key: "$lt", Value: millisecond(q.Until)})
	}
	if q.After != "" {
		moment, id, err := userlist.ReadEvent(q.After)
		if err == nil && !storable(id) {
			err = errors.New("the list does not continue with this text")
		}
		if err != nil {
			return nil, "", fail(ctx, "list activity", err)
		}
		last := millisecond(moment)
		at = append(at, bson.E{Key: "$lte", Value: last})
		match = append(match, bson.E{Key: "$or", Value: bson.A{
			bson.D{{Key: "at", Value: bson.D{{Key: "$lt", Value: last}}}},
			bson.D{{Key: "_id", Value: bson.D{{Key: "$lt", Value: id}}}},
		}})
	}
	if len(at) > 0 {
		match = append(match, bson.E{Key: "at", Value: at})
	}
	newest := options.Find().SetSort(bson.D{{Key: "at", Value: -1}, {Key: "_id", Value: -1}}).SetLimit(int64(q.Limit) + 1)
	documents, err := all[eventDocument](ctx, a.activity, match, newest)
	if err != nil {
		return nil, "", fail(ctx, "list activity", err)
	}
	more := len(documents) > q.Limit // the next page begins with the one beyond
	page = make([]*accountstore.Event, min(len(documents), q.Limit))
	for i := range page {
		if page[i], err = documents[i].event(); err != nil {
			return nil, "", fail(ctx, "list activity", err)
		}
	}
	if more {
		last := page[q.Limit-1]
		next = userlist.OfEvent(last.At, last.ID).Text()
	}
	return page, next, nil
}

// forgetEvents removes the events of a user, and the user from the acts of operators.
func (a accountStore) forgetEvents(ctx context.Context, userID string) error {
	if userID == "" {
		return nil
	}
	of := bson.E{Key: "userId", Value: userID}
	_, err := a.activity.UpdateMany(ctx, bson.D{of, {Key: "actor", Value: bson.D{{Key: "$ne", Value: nil}}}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "userId", Value: nil}}}})
	if err == nil {
		_, err = a.activity.DeleteMany(ctx, bson.D{of})
	}
	return err
}
