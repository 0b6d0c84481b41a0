package mongostore

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// orphanPage is how many documents a sweep reads at a time to find those whose user is
// gone.
const orphanPage = 500

// sweepOrphans removes at most limit states and factors that were made before a time and
// whose user is gone: Auth.js deletes users without them. The documents of a user who
// receives the id meanwhile are younger. Flows expire by themselves.
func (s *Store) sweepOrphans(ctx context.Context, before time.Time, limit int) (removed int, err error) {
	for _, of := range []struct {
		*mongo.Collection
		owner string
		old   bson.D
	}{
		{s.people.states, "_id", bson.D{{Key: "$or", Value: bson.A{
			bson.D{{Key: "created", Value: nil}}, bson.D{{Key: "created", Value: bson.D{{Key: "$lt", Value: before}}}},
		}}}},
		{s.people.factors, "userId", bson.D{{Key: "created", Value: bson.D{{Key: "$lt", Value: before}}}}},
	} {
		after := ""
		for removed < limit {
			owners, err := owners(ctx, of.Collection, of.owner, after, of.old, orphanPage)
			if err != nil || len(owners) == 0 {
				if err != nil {
					return removed, err
				}
				break
			}
			after = owners[len(owners)-1]
			gone, err := s.without(ctx, owners)
			if err != nil {
				return removed, err
			}
			for _, id := range gone {
				n, err := dropSome(ctx, of.Collection, append(bson.D{{Key: of.owner, Value: id}}, of.old...), limit-removed)
				if removed += n; err != nil {
					return removed, err
				}
			}
		}
	}
	return removed, nil
}

// owners returns the ids of users that are greater than after, in order: those in a field of
// the first documents that match.
func owners(ctx context.Context, c *mongo.Collection, field, after string, match bson.D, limit int) (ids []string, err error) {
	match = append(bson.D{{Key: field, Value: bson.D{{Key: "$gt", Value: after}}}}, match...)
	first := options.Find().
		SetSort(bson.D{{Key: field, Value: 1}}).
		SetLimit(int64(limit)).
		SetProjection(bson.D{{Key: field, Value: 1}})
	documents, err := all[bson.M](ctx, c, match, first)
	for _, document := range documents {
		if id, is := (*document)[field].(string); is && (len(ids) == 0 || ids[len(ids)-1] != id) {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// without returns those ids that no user has.
func (s *Store) without(ctx context.Context, ids []string) (gone []string, err error) {
	keys := bson.A{}
	for _, id := range ids {
		if key, ok := objectID(id); ok {
			keys = append(keys, key)
		}
	}
	found, err := all[struct {
		ID bson.ObjectID `bson:"_id"`
	}](ctx, s.users, bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: keys}}}}, options.Find().SetProjection(bson.D{{Key: "_id", Value: 1}}))
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, user := range found {
		there[user.ID.Hex()] = true
	}
	for _, id := range ids {
		if !there[id] {
			gone = append(gone, id)
		}
	}
	return gone, nil
}

// dropSome removes at most limit documents that match.
func dropSome(ctx context.Context, c *mongo.Collection, match bson.D, limit int) (int, error) {
	if limit <= 0 {
		return 0, nil
	}
	documents, err := all[struct {
		ID string `bson:"_id"`
	}](ctx, c, match, options.Find().SetLimit(int64(limit)).SetProjection(bson.D{{Key: "_id", Value: 1}}))
	if err != nil || len(documents) == 0 {
		return 0, err
	}
	ids := make(bson.A, len(documents))
	for i, document := range documents {
		ids[i] = document.ID
	}
	result, err := c.DeleteMany(ctx, bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}})
	if err != nil {
		return 0, err
	}
	return int(result.DeletedCount), nil
}
