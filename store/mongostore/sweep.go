package mongostore

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Sweep implements [pintle.Sweeper]. What expired first goes first. Several
// processes may sweep at once.
func (s *Store) Sweep(ctx context.Context, before time.Time, limit int) (int, error) {
	total := 0
	for _, c := range []*mongo.Collection{s.sessions, s.verifications} {
		for total < limit {
			found, removed, err := sweep(ctx, c, before, limit-total)
			total += removed
			if err != nil {
				return total, fail(ctx, "sweep", err)
			}
			if found == 0 {
				break // others may have removed what was found before
			}
		}
	}
	return total, ctx.Err()
}

func sweep(ctx context.Context, c *mongo.Collection, before time.Time, limit int) (found, removed int, err error) {
	expired := bson.D{{Key: "expires", Value: bson.D{{Key: "$lt", Value: before}}}}
	first := options.Find().
		SetSort(bson.D{{Key: "expires", Value: 1}}).
		SetLimit(int64(limit)).
		SetProjection(bson.D{{Key: "_id", Value: 1}})
	documents, err := all[struct {
		ID bson.ObjectID `bson:"_id"`
	}](ctx, c, expired, first)
	if err != nil || len(documents) == 0 {
		return 0, 0, err
	}
	ids := make(bson.A, len(documents))
	for i, document := range documents {
		ids[i] = document.ID
	}
	// Asked for once more: a session may have been extended meanwhile.
	result, err := c.DeleteMany(ctx, append(expired, bson.E{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}))
	if err != nil {
		return 0, 0, err
	}
	return len(documents), int(result.DeletedCount), nil
}
