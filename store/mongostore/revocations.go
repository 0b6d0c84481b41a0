package mongostore

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"math"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/providersession"
)

// Revocations is a [pintle.RevocationStore] in MongoDB, for token sessions that
// several processes have to end:
//
//	Session: pintle.SessionConfig{
//		Strategy:   pintle.StrategyJWT,
//		Revocation: mongostore.NewRevocations(db, mongostore.Options{}),
//	},
//
// It costs every signed-in request one look-up by id. When the database does not
// answer, every request counts as signed out. Its documents need no other index;
// the one that [EnsureIndexes] makes is for Sweep.
//
// Its methods may be called concurrently.
type Revocations struct {
	documents *mongo.Collection
}

var (
	_ pintle.RevocationStore = (*Revocations)(nil)
	_ providersession.Marker = (*Revocations)(nil)
)

// NewRevocations returns a list in the collection that o names. It makes no
// request.
func NewRevocations(db *mongo.Database, o Options) *Revocations {
	return &Revocations{newStore(db, o).revocations}
}

// alwaysEnded stands for the time of a session that was ended by its id: it ends
// whenever it began.
const alwaysEnded = math.MaxInt64

// revocationKey is the id of a session's document, or of a user's: a hash, because
// ids come out of tokens and may be of any length, and because the documents
// should not show which user had which session.
func revocationKey(kind, userID, sessionID string) string {
	hash := sha256.Sum256([]byte(strconv.Itoa(len(userID)) + ":" + userID + sessionID))
	return kind + ":" + base64.RawURLEncoding.EncodeToString(hash[:])
}

func userRevocationKey(userID string) string { return revocationKey("user", userID, "") }

func sessionRevocationKey(userID, sessionID string) string {
	return revocationKey("session", userID, sessionID)
}

func markRevocationKey(m providersession.Mark) string { return revocationKey("mark", string(m[:]), "") }

// Revoked implements [pintle.RevocationStore], in one round trip.
func (r *Revocations) Revoked(ctx context.Context, s pintle.TokenSession) (bool, error) {
	var began int64
	if !s.SignedIn.IsZero() {
		began = s.SignedIn.UnixMilli()
	}
	ids := bson.A{userRevocationKey(s.UserID), sessionRevocationKey(s.UserID, s.ID)}
	for _, m := range s.Marks {
		if m != (providersession.Mark{}) {
			ids = append(ids, markRevocationKey(m))
		}
	}
	err := r.documents.FindOne(ctx, bson.D{
		{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}},
		// A value that is no number ends the session, to fail closed.
		{Key: "ended", Value: bson.D{{Key: "$not", Value: bson.D{{Key: "$lt", Value: began}}}}},
	}).Err()
	if missing(err) {
		return false, nil
	}
	return true, fail(ctx, "look for a revocation", err)
}

// Revoke implements [pintle.RevocationStore].
func (r *Revocations) Revoke(ctx context.Context, s pintle.TokenSession, until time.Time) error {
	return r.remember(ctx, "revoke session", sessionRevocationKey(s.UserID, s.ID), alwaysEnded, until)
}

// RevokeUser implements [pintle.RevocationStore]. Tokens hold their beginning in whole
// seconds, so a session that begins in the same second is ended too.
func (r *Revocations) RevokeUser(ctx context.Context, userID string, until time.Time) error {
	return r.remember(ctx, "revoke user", userRevocationKey(userID), time.Now().UnixMilli(), until)
}

// EndMarked implements [providersession.Marker].
func (r *Revocations) EndMarked(ctx context.Context, m providersession.Mark, ended, until time.Time) error {
	return r.remember(ctx, "end marked sessions", markRevocationKey(m), ended.UnixMilli(), until)
}

// remember writes a document. Calls may be written in another order than they
// were made, so neither the mark nor the end ever moves back.
func (r *Revocations) remember(ctx context.Context, operation, key string, ended int64, until time.Time) error {
	filter := bson.D{{Key: "_id", Value: key}}
	forward := bson.D{{Key: "$max", Value: bson.D{{Key: "ended", Value: ended}, {Key: "expires", Value: millisecond(until)}}}}
	create := options.UpdateOne().SetUpsert(true)
	_, err := r.documents.UpdateOne(ctx, filter, forward, create)
	if mongo.IsDuplicateKeyError(err) {
		// Another call created it between MongoDB's look and its insertion.
		_, err = r.documents.UpdateOne(ctx, filter, forward, create)
	}
	return fail(ctx, operation, err)
}

// Sweep implements [pintle.Store]: it removes what may be forgotten. Call it
// as you call that of the [Store].
func (r *Revocations) Sweep(ctx context.Context, before time.Time, limit int) (int, error) {
	return sweepAll(ctx, before, limit, r.documents)
}
