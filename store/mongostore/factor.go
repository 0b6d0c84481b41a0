package mongostore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// A factorDocument is a factor, whose id is made of user, kind and id.
type factorDocument struct {
	Key      string     `bson:"_id"`
	UserID   string     `bson:"userId"`
	Kind     string     `bson:"kind"`
	ID       string     `bson:"id"`
	Version  int64      `bson:"version"`
	Secret   string     `bson:"secret"`
	Step     int64      `bson:"step"`
	Name     string     `bson:"name"`
	Created  *time.Time `bson:"created"`
	LastUsed *time.Time `bson:"lastUsed"`
	Expires  *time.Time `bson:"expires"`
}

func (d *factorDocument) factor() *accountstore.Factor {
	return &accountstore.Factor{
		UserID: d.UserID, Kind: d.Kind, ID: d.ID, Version: d.Version, Secret: d.Secret, Step: d.Step, Name: d.Name,
		Created: timeOf(d.Created), LastUsed: timeOf(d.LastUsed), Expires: timeOf(d.Expires),
	}
}

// A colon in the id of a user or in a kind would make the border to the next part
// ambiguous, and with it whose factor a document is.
var inKey = strings.NewReplacer("%", "%25", ":", "%3A")

func factorKey(userID, kind, id string) string {
	return inKey.Replace(userID) + ":" + inKey.Replace(kind) + ":" + id
}

// Factors implements [accountstore.Store].
func (a accountStore) Factors(ctx context.Context, userID string) ([]*accountstore.Factor, error) {
	if !storable(userID) {
		return nil, ctx.Err()
	}
	documents, err := all[factorDocument](ctx, a.factors, bson.D{{Key: "userId", Value: userID}})
	if err != nil {
		return nil, fail(ctx, "list factors", err)
	}
	factors := make([]*accountstore.Factor, len(documents))
	for i, document := range documents {
		factors[i] = document.factor()
	}
	slices.SortFunc(factors, func(a, b *accountstore.Factor) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	return factors, nil
}

// AddFactor implements [accountstore.Store].
func (a accountStore) AddFactor(ctx context.Context, f *accountstore.Factor) error {
	if !storable(f.UserID, f.Kind, f.ID, f.Secret, f.Name) {
		return fail(ctx, "add factor", errNotText)
	}
	_, err := a.factors.InsertOne(ctx, factorDocument{
		Key: factorKey(f.UserID, f.Kind, f.ID), UserID: f.UserID, Kind: f.Kind, ID: f.ID, Version: 1,
		Secret: f.Secret, Step: f.Step, Name: f.Name,
		Created: date(f.Created), LastUsed: date(f.LastUsed), Expires: date(f.Expires),
	})
	return fail(ctx, "add factor", err)
}

// ReplaceFactor implements [accountstore.Store].
func (a accountStore) ReplaceFactor(ctx context.Context, f *accountstore.Factor) error {
	if !storable(f.UserID, f.Kind, f.ID) {
		return absent(ctx)
	}
	if !storable(f.Secret, f.Name) {
		return fail(ctx, "replace factor", errNotText)
	}
	unchanged := bson.E{Key: "version", Value: f.Version}
	return fail(ctx, "replace factor", change(ctx, a.factors, factorKey(f.UserID, f.Kind, f.ID), unchanged, bson.D{
		{Key: "$set", Value: bson.D{
			{Key: "secret", Value: f.Secret},
			{Key: "name", Value: f.Name},
			{Key: "lastUsed", Value: date(f.LastUsed)},
			{Key: "expires", Value: date(f.Expires)},
		}},
		{Key: "$max", Value: bson.D{{Key: "step", Value: f.Step}}},
		{Key: "$inc", Value: bson.D{{Key: "version", Value: int64(1)}}},
	}, fmt.Errorf("the factor has changed: %w", pintle.ErrConflict)))
}

// AdvanceFactor implements [accountstore.Store].
func (a accountStore) AdvanceFactor(ctx context.Context, userID, kind, id string, step int64, used time.Time) error {
	if !storable(userID, kind, id) {
		return absent(ctx)
	}
	earlier := bson.E{Key: "step", Value: bson.D{{Key: "$lt", Value: step}}}
	return fail(ctx, "advance factor", change(ctx, a.factors, factorKey(userID, kind, id), earlier, bson.D{
		{Key: "$set", Value: bson.D{{Key: "step", Value: step}, {Key: "lastUsed", Value: date(used)}}},
	}, fmt.Errorf("the step is not a later one: %w", pintle.ErrConflict)))
}

// DeleteFactor implements [accountstore.Store].
func (a accountStore) DeleteFactor(ctx context.Context, userID, kind, id string) error {
	if !storable(userID, kind, id) {
		return absent(ctx)
	}
	result, err := a.factors.DeleteOne(ctx, byID(factorKey(userID, kind, id)))
	if err == nil && result.DeletedCount == 0 {
		err = pintle.ErrNotFound
	}
	return fail(ctx, "delete factor", err)
}

// FactorUsers implements [accountstore.Store].
func (a accountStore) FactorUsers(ctx context.Context, kind, after string, limit int) ([]string, error) {
	if !storable(kind, after) || limit <= 0 {
		return nil, ctx.Err()
	}
	var users []string
	for {
		// A user may have several factors of the kind, so a page of factors may be of fewer users.
		page, err := owners(ctx, a.factors, "userId", after, bson.D{{Key: "kind", Value: kind}}, limit-len(users))
		if err != nil {
			return nil, fail(ctx, "list users of factors", err)
		}
		if users = append(users, page...); len(page) == 0 || len(users) == limit {
			return users, nil
		}
		after = page[len(page)-1]
	}
}

// DeleteFactors implements [accountstore.Store].
func (a accountStore) DeleteFactors(ctx context.Context, userID string, kinds, except []string) (int, error) {
	if len(kinds) == 0 || !storable(userID) {
		return 0, ctx.Err()
	}
	if !storable(kinds...) || !storable(except...) {
		return 0, fail(ctx, "delete factors", errNotText)
	}
	result, err := a.factors.DeleteMany(ctx, bson.D{
		{Key: "userId", Value: userID},
		{Key: "kind", Value: bson.D{{Key: "$in", Value: texts(kinds)}}},
		{Key: "id", Value: bson.D{{Key: "$nin", Value: texts(except)}}},
	})
	if err != nil {
		return 0, fail(ctx, "delete factors", err)
	}
	return int(result.DeletedCount), nil
}
