package mongostore

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Sweep implements [pintle.Store]. Several processes may sweep at once, and
// share the work. At the end it reads the ids of all users with a state or a factor, 500
// at a time, to find those who are gone.
func (s *Store) Sweep(ctx context.Context, before time.Time, limit int) (int, error) {
	n, err := sweepAll(ctx, before, limit, s.sessions, s.verifications, s.people.flows, s.people.factors, s.people.activity, s.signIns.signIns, s.signIns.ends)
	if err != nil || n >= limit {
		return n, err
	}
	shared, err := s.shared.Sweep(ctx, before, limit-n)
	if n += shared; err != nil {
		return n, err
	}
	orphans, err := s.sweepOrphans(ctx, before, limit-n)
	return n + orphans, fail(ctx, "sweep", err)
}

func sweepAll(ctx context.Context, before time.Time, limit int, collections ...*mongo.Collection) (int, error) {
	total := 0
	for _, c := range collections {
		for total < limit {
			found, removed, err := sweep(ctx, c, before, min(limit-total, deleteBatch))
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

// choice is how many times the limit a sweep reads, to remove a random part of
// it. Otherwise concurrent sweeps would all read the same documents, which one of
// them removes.
const choice = 8

// deleteBatch is how many documents one command removes, whose length is limited.
const deleteBatch = 1000

func sweep(ctx context.Context, c *mongo.Collection, before time.Time, limit int) (found, removed int, err error) {
	expired := bson.D{{Key: "expires", Value: bson.D{{Key: "$lt", Value: before}}}}
	first := options.Find().
		SetSort(bson.D{{Key: "expires", Value: 1}}).
		SetLimit(int64(limit) * choice).
		SetProjection(bson.D{{Key: "_id", Value: 1}})
	documents, err := all[struct {
		ID bson.RawValue `bson:"_id"`
	}](ctx, c, expired, first)
	if err != nil || len(documents) == 0 {
		return 0, 0, err
	}
	ids := make(bson.A, min(limit, len(documents)))
	start := anyOf(len(documents))
	for i := range ids {
		ids[i] = documents[(start+i)%len(documents)].ID
	}
	// The condition is repeated: a session may have been extended meanwhile.
	result, err := c.DeleteMany(ctx, append(expired, bson.E{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}))
	if err != nil {
		return 0, 0, err
	}
	return len(documents), int(result.DeletedCount), nil
}

// anyOf returns a random number below n.
func anyOf(n int) int {
	var random [8]byte
	_, _ = rand.Read(random[:])                                   // never fails
	return int(binary.LittleEndian.Uint64(random[:]) % uint64(n)) //nolint:gosec // below n, and not negative
}
