package mongostore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// A stateDocument is a state, whose id is that of the user.
type stateDocument struct {
	ID      string `bson:"_id"`
	Version int64  `bson:"version"`

	Roles       []string   `bson:"roles,omitempty"`
	BannedUntil *time.Time `bson:"bannedUntil,omitempty"`
	BanReason   string     `bson:"banReason,omitempty"`
	DeleteAt    *time.Time `bson:"deleteAt,omitempty"`
	Must        string     `bson:"must,omitempty"`
	Claim       string     `bson:"claim,omitempty"`
	Suspended   bool       `bson:"suspended,omitempty"`
	Created     *time.Time `bson:"created,omitempty"`
	LastSignIn  *time.Time `bson:"lastSignIn,omitempty"`

	// Failures are the times that CountFailure has counted and CountSuccess has
	// not taken back.
	Failures []time.Time `bson:"failures"`
	Streak   int64       `bson:"streak"`
}

func (d *stateDocument) state() *accountstore.State {
	return &accountstore.State{
		UserID: d.ID, Version: d.Version, Roles: d.Roles,
		BannedUntil: timeOf(d.BannedUntil), BanReason: d.BanReason, DeleteAt: timeOf(d.DeleteAt),
		Must: d.Must, Claim: d.Claim, Suspended: d.Suspended,
		Created: timeOf(d.Created), LastSignIn: timeOf(d.LastSignIn), Streak: int(d.Streak),
	}
}

// stateFields are what ChangeState writes, but for the version.
func stateFields(s *accountstore.State) bson.D {
	return bson.D{
		{Key: "roles", Value: texts(s.Roles)},
		{Key: "bannedUntil", Value: date(s.BannedUntil)},
		{Key: "banReason", Value: s.BanReason},
		{Key: "deleteAt", Value: date(s.DeleteAt)},
		{Key: "must", Value: s.Must},
		{Key: "claim", Value: s.Claim},
		{Key: "suspended", Value: s.Suspended},
		{Key: "created", Value: date(s.Created)},
		{Key: "lastSignIn", Value: date(s.LastSignIn)},
	}
}

// State implements [accountstore.Store].
func (a accountStore) State(ctx context.Context, userID string) (*accountstore.State, error) {
	document, err := a.state(ctx, userID)
	if err != nil {
		return nil, fail(ctx, "find state", err)
	}
	return document.state(), nil
}

// state returns the document of a user, and an empty one for a user who has none.
func (a accountStore) state(ctx context.Context, userID string) (*stateDocument, error) {
	if !storable(userID) {
		return nil, errNotText
	}
	document, err := decode[stateDocument](a.states.FindOne(ctx, byID(userID)))
	if missing(err) {
		return &stateDocument{ID: userID}, ctx.Err()
	}
	return document, err
}

// ChangeState implements [accountstore.Store].
func (a accountStore) ChangeState(ctx context.Context, s *accountstore.State) error {
	if !storable(append([]string{s.UserID, s.BanReason, s.Must, s.Claim}, s.Roles...)...) {
		return fail(ctx, "change state", errNotText)
	}
	changed, err := a.replaceState(ctx, s)
	if err == nil && !changed && s.Version == 0 {
		first := append(byID(s.UserID), append(stateFields(s), bson.D{
			{Key: "version", Value: int64(1)},
			{Key: "failures", Value: bson.A{}},
			{Key: "streak", Value: int64(0)},
		}...)...)
		_, err = a.states.InsertOne(ctx, first)
		changed = err == nil
		if mongo.IsDuplicateKeyError(err) {
			// CountFailure created the row meanwhile, or another call has changed the
			// state.
			changed, err = a.replaceState(ctx, s)
		}
	}
	if err == nil && !changed {
		err = fmt.Errorf("the state has changed: %w", pintle.ErrConflict)
	}
	return fail(ctx, "change state", err)
}

// replaceState changes the row of a user that has the version, and reports whether
// there is one.
func (a accountStore) replaceState(ctx context.Context, s *accountstore.State) (bool, error) {
	unchanged := append(byID(s.UserID), bson.E{Key: "version", Value: s.Version})
	result, err := a.states.UpdateOne(ctx, unchanged, bson.D{
		{Key: "$set", Value: stateFields(s)},
		{Key: "$inc", Value: bson.D{{Key: "version", Value: int64(1)}}},
	})
	if err != nil {
		return false, err
	}
	return result.MatchedCount == 1, nil
}

// replaceFailures puts failures in the place of those that were read, and reports
// whether they were still there. A document that was not found is made.
func (a accountStore) replaceFailures(ctx context.Context, read *stateDocument, failures []time.Time, streak int64) (bool, error) {
	if read.Failures == nil {
		_, err := a.states.InsertOne(ctx, stateDocument{ID: read.ID, Failures: failures, Streak: streak})
		if mongo.IsDuplicateKeyError(err) {
			return false, nil
		}
		return err == nil, err
	}
	unchanged := append(byID(read.ID), bson.E{Key: "failures", Value: read.Failures}, bson.E{Key: "streak", Value: read.Streak})
	result, err := a.states.UpdateOne(ctx, unchanged, bson.D{{Key: "$set", Value: bson.D{
		{Key: "failures", Value: failures},
		{Key: "streak", Value: streak},
	}}})
	if err != nil {
		return false, err
	}
	return result.MatchedCount == 1, nil
}

// CountFailure implements [accountstore.Store]. A failure after the time counts
// too: the clocks of several processes differ, and none must be counted beyond the
// limit.
func (a accountStore) CountFailure(ctx context.Context, userID string, at time.Time, window time.Duration, limit int) (accountstore.Failures, error) {
	at = millisecond(at)
	for {
		document, err := a.state(ctx, userID)
		if err != nil {
			return accountstore.Failures{}, fail(ctx, "count failure", err)
		}
		recent := []time.Time{}
		for _, failure := range document.Failures {
			if failure.After(at.Add(-window)) {
				recent = append(recent, failure)
			}
		}
		if len(recent) >= limit {
			return failures(recent, document.Streak, false), nil
		}
		recent = append(recent, at)
		// Only another call makes this fail, so of several calls in this loop one
		// succeeds.
		replaced, err := a.replaceFailures(ctx, document, recent, document.Streak+1)
		if err != nil {
			return accountstore.Failures{}, fail(ctx, "count failure", err)
		}
		if replaced {
			return failures(recent, document.Streak+1, true), nil
		}
	}
}

func failures(recent []time.Time, streak int64, counted bool) accountstore.Failures {
	f := accountstore.Failures{Counted: counted, Recent: len(recent), Streak: int(streak)}
	if len(recent) > 0 {
		f.Oldest = slices.MinFunc(recent, time.Time.Compare)
	}
	return f
}

// DueUsers implements [accountstore.Store].
func (a accountStore) DueUsers(ctx context.Context, at time.Time, after string, limit int) ([]string, error) {
	if !storable(after) || limit <= 0 {
		return nil, ctx.Err()
	}
	due, err := owners(ctx, a.states, "_id", after, bson.D{{Key: "deleteAt", Value: bson.D{{Key: "$lte", Value: millisecond(at)}}}}, limit)
	return due, fail(ctx, "list due users", err)
}

// CountSuccess implements [accountstore.Store].
func (a accountStore) CountSuccess(ctx context.Context, userID string, at time.Time) error {
	at = millisecond(at)
	for {
		document, err := a.state(ctx, userID)
		if err != nil || document.Failures == nil {
			return fail(ctx, "count success", err)
		}
		left := slices.Clone(document.Failures)
		if i := slices.IndexFunc(left, at.Equal); i >= 0 {
			left = slices.Delete(left, i, i+1)
		}
		replaced, err := a.replaceFailures(ctx, document, left, 0)
		if err != nil || replaced {
			return fail(ctx, "count success", err)
		}
	}
}
