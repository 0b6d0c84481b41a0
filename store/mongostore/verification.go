package mongostore

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/pintleauth/pintle"
)

type verificationDocument struct {
	Identifier string    `bson:"identifier"`
	Token      string    `bson:"token"`
	Expires    time.Time `bson:"expires"`
}

func verificationFilter(identifier, token string) (bson.D, bool) {
	filter := bson.D{{Key: "identifier", Value: identifier}, {Key: "token", Value: token}}
	return filter, storable(identifier, token)
}

// CreateVerification implements [pintle.Store]. A link that exists
// already gets the new end: a short token of a host's generator may occur twice,
// and must not allow two sign-ins.
func (s *Store) CreateVerification(ctx context.Context, v *pintle.Verification) error {
	filter, ok := verificationFilter(v.Identifier, v.Token)
	if !ok {
		return fail(ctx, "create mail link", errNotText)
	}
	end := bson.D{{Key: "$set", Value: bson.D{{Key: "expires", Value: millisecond(v.Expires)}}}}
	create := options.UpdateOne().SetUpsert(true)
	_, err := s.verifications.UpdateOne(ctx, filter, end, create)
	if mongo.IsDuplicateKeyError(err) {
		// Another call created it between MongoDB's look and its insertion.
		_, err = s.verifications.UpdateOne(ctx, filter, end, create)
	}
	return fail(ctx, "create mail link", err)
}

// UseVerification implements [pintle.Store].
func (s *Store) UseVerification(ctx context.Context, identifier, token string) (*pintle.Verification, error) {
	filter, ok := verificationFilter(identifier, token)
	if !ok {
		return nil, absent(ctx)
	}
	document, err := decode[verificationDocument](s.verifications.FindOneAndDelete(ctx, filter))
	if err != nil {
		return nil, fail(ctx, "use mail link", err)
	}
	return &pintle.Verification{Identifier: document.Identifier, Token: document.Token, Expires: document.Expires}, nil
}
