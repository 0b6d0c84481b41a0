package mongostore

import (
	"context"
	"encoding/base64"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/pintleauth/pintle/sharedstate"
)

// A SharedState is a [sharedstate.Store] in MongoDB. Its documents are found by their
// ids; the indexes that [EnsureIndexes] makes are for Sweep. The clock is that of the
// primary.
//
// Its methods may be called concurrently.
type SharedState struct {
	sharedstate.Unimplemented
	db                   *mongo.Database
	once, leases, counts *mongo.Collection
}

var _ sharedstate.Store = (*SharedState)(nil)

// NewSharedState returns a shared state in the collections that o names, for a site
// without a [Store]. It makes no request.
func NewSharedState(db *mongo.Database, o Options) *SharedState { return newStore(db, o).shared }

// SharedState implements [pintle.Store].
func (s *Store) SharedState() sharedstate.Store { return s.shared }

func encodeKey(k sharedstate.Key) string { return base64.RawURLEncoding.EncodeToString(k[:]) }

// now returns the time of the server. It is a command because not all servers know $$NOW in
// an update.
func (s *SharedState) now(ctx context.Context) (time.Time, error) {
	hello, err := decode[struct {
		Now time.Time `bson:"localTime"`
	}](s.db.RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}))
	if err != nil {
		return time.Time{}, err
	}
	return hello.Now, nil
}

// expiredBy is the condition of documents that have expired at a time.
func expiredBy(now time.Time) bson.E {
	return bson.E{Key: "expires", Value: bson.D{{Key: "$lte", Value: now}}}
}

func ending(t time.Time) bson.E { return bson.E{Key: "expires", Value: t} }

// Once implements [sharedstate.Store], in one round trip for a new key.
func (s *SharedState) Once(ctx context.Context, key sharedstate.Key, until time.Time) (bool, error) {
	first, err := s.use(ctx, encodeKey(key), millisecond(until.Add(time.Millisecond-1))) // not before until
	return first, fail(ctx, "use a key once", err)
}

func (s *SharedState) use(ctx context.Context, id string, until time.Time) (bool, error) {
	_, err := s.once.InsertOne(ctx, append(byID(id), ending(until)))
	if !mongo.IsDuplicateKeyError(err) {
		return err == nil, err
	}
	now, err := s.now(ctx)
	if err != nil {
		return false, err
	}
	// If two calls find the key expired, and until is past as well, both could change
	// it: so the end has to be another one.
	renewed := bson.D{{Key: "$set", Value: bson.D{ending(later(until, now.Add(time.Millisecond)))}}}
	result, err := s.once.UpdateOne(ctx, append(byID(id), expiredBy(now)), renewed)
	return err == nil && result.MatchedCount == 1, err
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Lease implements [sharedstate.Store], in two round trips: the time, and the lease. The
// time is from before the change, so a lease ends no later than its owner counts.
func (s *SharedState) Lease(ctx context.Context, key sharedstate.Key, owner sharedstate.Owner, d time.Duration) (bool, error) {
	held, err := s.take(ctx, encodeKey(key), bson.Binary{Data: owner[:]}, max(d, time.Millisecond))
	return held, fail(ctx, "take a lease", err)
}

func (s *SharedState) take(ctx context.Context, id string, owner bson.Binary, d time.Duration) (bool, error) {
	now, err := s.now(ctx)
	if err != nil {
		return false, err
	}
	free := append(byID(id), bson.E{Key: "$or", Value: bson.A{
		bson.D{{Key: "owner", Value: owner}},
		bson.D{expiredBy(now)},
	}})
	taken := bson.D{{Key: "$set", Value: bson.D{{Key: "owner", Value: owner}, ending(millisecond(now.Add(d)))}}}
	_, err = s.leases.UpdateOne(ctx, free, taken, options.UpdateOne().SetUpsert(true))
	if mongo.IsDuplicateKeyError(err) {
		return false, nil // another owner has it
	}
	return err == nil, err
}

// Release implements [sharedstate.Store].
func (s *SharedState) Release(ctx context.Context, key sharedstate.Key, owner sharedstate.Owner) error {
	_, err := s.leases.DeleteOne(ctx, append(byID(encodeKey(key)), bson.E{Key: "owner", Value: bson.Binary{Data: owner[:]}}))
	return fail(ctx, "release a lease", err)
}

// Take implements [sharedstate.Store], in two round trips for a new count and in three for one
// that is under way. The field count is the count, in milliseconds since 1970, because
// MongoDB adds to no date. The field expires is not before it.
func (s *SharedState) Take(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
	wait, err := s.takeAttempt(ctx, encodeKey(key), r)
	return wait, fail(ctx, "count an attempt", err)
}

func (s *SharedState) takeAttempt(ctx context.Context, id string, r sharedstate.Rate) (time.Duration, error) {
	every, ahead := r.Milliseconds()
	for range attempts {
		now, err := s.now(ctx)
		if err != nil {
			return 0, err
		}
		at := now.UnixMilli()
		latest := ending(time.UnixMilli(at + ahead + every))
		past := append(byID(id), bson.E{Key: "count", Value: bson.D{{Key: "$lte", Value: at}}})
		begun := bson.D{{Key: "$set", Value: bson.D{{Key: "count", Value: at + every}, latest}}}
		_, err = s.counts.UpdateOne(ctx, past, begun, options.UpdateOne().SetUpsert(true))
		if !mongo.IsDuplicateKeyError(err) {
			return 0, err
		}
		allowed := append(byID(id), bson.E{Key: "count", Value: bson.D{{Key: "$gt", Value: at}, {Key: "$lte", Value: at + ahead}}})
		counted := bson.D{{Key: "$inc", Value: bson.D{{Key: "count", Value: every}}}, {Key: "$max", Value: bson.D{latest}}}
		result, err := s.counts.UpdateOne(ctx, allowed, counted)
		if err != nil || result.MatchedCount == 1 {
			return 0, err
		}
		wait, err := s.ahead(ctx, id, at+ahead)
		if err != nil {
			return 0, err
		}
		if most := time.Duration(every) * time.Millisecond; wait > most { // the clock was set back
			tooFar := append(byID(id), bson.E{Key: "count", Value: bson.D{{Key: "$gt", Value: at + ahead + every}}})
			lowered := bson.D{{Key: "$set", Value: bson.D{{Key: "count", Value: at + ahead + every}, latest}}}
			_, err := s.counts.UpdateOne(ctx, tooFar, lowered)
			return most, err
		}
		if wait > 0 {
			return wait, nil
		}
	}
	return 0, errors.New("other calls have changed the count each time")
}

// attempts is how often a call tries to change a count that others change as well.
const attempts = 10

// ahead returns how far a count is ahead of a time, which is zero without one.
func (s *SharedState) ahead(ctx context.Context, id string, of int64) (time.Duration, error) {
	found, err := decode[struct {
		Count int64 `bson:"count"`
	}](s.counts.FindOne(ctx, byID(id)))
	if missing(err) {
		return 0, ctx.Err()
	}
	if err != nil {
		return 0, err
	}
	return time.Duration(max(found.Count-of, 0)) * time.Millisecond, nil
}

// Wait implements [sharedstate.Store], in two round trips.
func (s *SharedState) Wait(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
	now, err := s.now(ctx)
	if err != nil {
		return 0, fail(ctx, "look at a count", err)
	}
	every, ahead := r.Milliseconds()
	wait, err := s.ahead(ctx, encodeKey(key), now.UnixMilli()+ahead)
	return min(wait, time.Duration(every)*time.Millisecond), fail(ctx, "look at a count", err)
}

// GiveBack implements [sharedstate.Store].
func (s *SharedState) GiveBack(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) error {
	every, _ := r.Milliseconds()
	_, err := s.counts.UpdateOne(ctx, byID(encodeKey(key)), bson.D{{Key: "$inc", Value: bson.D{{Key: "count", Value: -every}}}})
	return fail(ctx, "give an attempt back", err)
}

// Sweep removes keys, leases and counts that have expired, by the clock of the server and before
// a time, as [Store.Sweep] does. Call it if you do not call that one.
func (s *SharedState) Sweep(ctx context.Context, before time.Time, limit int) (int, error) {
	now, err := s.now(ctx)
	if err != nil {
		return 0, fail(ctx, "sweep the shared state", err)
	}
	if now.Before(before) {
		before = now // a process whose clock is ahead forgets nothing before its time
	}
	return sweepAll(ctx, before, limit, s.once, s.leases, s.counts)
}
