package mongostore

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// A flowDocument is a flow, whose id is the hash of its token.
type flowDocument struct {
	ID       string     `bson:"_id"`
	Kind     string     `bson:"kind"`
	Subject  string     `bson:"subject"`
	Version  int64      `bson:"version"`
	Payload  string     `bson:"payload"`
	Code     *string    `bson:"code"`
	Attempts int64      `bson:"attempts"`
	Created  *time.Time `bson:"created"`
	Expires  *time.Time `bson:"expires"`
}

func (d *flowDocument) flow() (*accountstore.Flow, error) {
	f := &accountstore.Flow{
		Kind: d.Kind, Subject: d.Subject, Version: d.Version, Payload: d.Payload,
		Attempts: int(d.Attempts), Created: timeOf(d.Created), Expires: timeOf(d.Expires),
	}
	var err error
	if f.ID, err = decodeHash(d.ID); err != nil {
		return nil, err
	}
	if d.Code != nil {
		f.Code, err = decodeHash(*d.Code)
	}
	return f, err
}

// code is a hash as a text, or null for the zero value.
func code(h accountstore.Hash) *string {
	if h == (accountstore.Hash{}) {
		return nil
	}
	return new(encodeHash(h))
}

// CreateFlow implements [accountstore.Store].
func (a accountStore) CreateFlow(ctx context.Context, f *accountstore.Flow) error {
	if !storable(f.Kind, f.Subject, f.Payload) {
		return fail(ctx, "create flow", errNotText)
	}
	_, err := a.flows.InsertOne(ctx, flowDocument{
		ID: encodeHash(f.ID), Kind: f.Kind, Subject: f.Subject, Version: 1, Payload: f.Payload,
		Code: code(f.Code), Created: date(f.Created), Expires: date(f.Expires),
	})
	return fail(ctx, "create flow", err)
}

// Flow implements [accountstore.Store].
func (a accountStore) Flow(ctx context.Context, id accountstore.Hash) (*accountstore.Flow, error) {
	document, err := decode[flowDocument](a.flows.FindOne(ctx, byID(encodeHash(id))))
	if err != nil {
		return nil, fail(ctx, "find flow", err)
	}
	f, err := document.flow()
	return f, fail(ctx, "find flow", err)
}

// AttemptFlow implements [accountstore.Store].
func (a accountStore) AttemptFlow(ctx context.Context, id accountstore.Hash, limit int) (int, error) {
	key := encodeHash(id)
	fewer := append(byID(key), bson.E{Key: "attempts", Value: bson.D{{Key: "$lt", Value: int64(limit)}}})
	one := bson.D{{Key: "$inc", Value: bson.D{{Key: "attempts", Value: int64(1)}}}}
	after := options.FindOneAndUpdate().SetReturnDocument(options.After)
	document, err := decode[flowDocument](a.flows.FindOneAndUpdate(ctx, fewer, one, after))
	if missing(err) {
		err = unlessMissing(ctx, a.flows, key, fmt.Errorf("the limit is reached: %w", pintle.ErrConflict))
	}
	if err != nil {
		return 0, fail(ctx, "attempt flow", err)
	}
	return int(document.Attempts), nil
}

// ChangeFlow implements [accountstore.Store].
func (a accountStore) ChangeFlow(ctx context.Context, f *accountstore.Flow) error {
	if !storable(f.Payload) {
		return fail(ctx, "change flow", errNotText)
	}
	unchanged := bson.E{Key: "version", Value: f.Version}
	return fail(ctx, "change flow", change(ctx, a.flows, encodeHash(f.ID), unchanged, bson.D{
		{Key: "$set", Value: bson.D{
			{Key: "payload", Value: f.Payload},
			{Key: "code", Value: code(f.Code)},
			{Key: "expires", Value: date(f.Expires)},
		}},
		{Key: "$inc", Value: bson.D{{Key: "version", Value: int64(1)}}},
	}, fmt.Errorf("the flow has changed: %w", pintle.ErrConflict)))
}

// UseFlow implements [accountstore.Store].
func (a accountStore) UseFlow(ctx context.Context, id accountstore.Hash, kind string) (*accountstore.Flow, error) {
	if !storable(kind) {
		return nil, absent(ctx)
	}
	ofKind := append(byID(encodeHash(id)), bson.E{Key: "kind", Value: kind})
	document, err := decode[flowDocument](a.flows.FindOneAndDelete(ctx, ofKind))
	if err != nil {
		return nil, fail(ctx, "use flow", err)
	}
	f, err := document.flow()
	return f, fail(ctx, "use flow", err)
}

// EndFlows implements [accountstore.Store].
func (a accountStore) EndFlows(ctx context.Context, subject string, kinds ...string) (int, error) {
	if len(kinds) == 0 || !storable(subject) {
		return 0, ctx.Err()
	}
	if !storable(kinds...) {
		return 0, fail(ctx, "end flows", errNotText)
	}
	result, err := a.flows.DeleteMany(ctx, bson.D{
		{Key: "subject", Value: subject},
		{Key: "kind", Value: bson.D{{Key: "$in", Value: texts(kinds)}}},
	})
	if err != nil {
		return 0, fail(ctx, "end flows", err)
	}
	return int(result.DeletedCount), nil
}

// CountFlows implements [accountstore.Store].
func (a accountStore) CountFlows(ctx context.Context, subject, kind string, after time.Time) (int, error) {
	if !storable(subject, kind) {
		return 0, ctx.Err()
	}
	n, err := a.flows.CountDocuments(ctx, bson.D{
		{Key: "subject", Value: subject},
		{Key: "kind", Value: kind},
		{Key: "expires", Value: bson.D{{Key: "$gt", Value: millisecond(after)}}},
	})
	return int(n), fail(ctx, "count flows", err)
}
