package mongostore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/pintleauth/pintle"
)

// An authenticatorDocument is a passkey. Auth.js's adapter for MongoDB keeps
// none; the fields are those its other adapters have, and three more.
type authenticatorDocument struct {
	ID                bson.ObjectID `bson:"_id"`
	CredentialID      string        `bson:"credentialID"`
	UserID            bson.ObjectID `bson:"userId"`
	ProviderAccountID string        `bson:"providerAccountId"`
	PublicKey         string        `bson:"credentialPublicKey"`
	Counter           int64         `bson:"counter"`
	DeviceType        string        `bson:"credentialDeviceType"`
	BackedUp          bool          `bson:"credentialBackedUp"`
	Transports        *string       `bson:"transports"`
	Name              string        `bson:"name,omitempty"`
	Created           *time.Time    `bson:"created,omitempty"`
	LastUsed          *time.Time    `bson:"lastUsed,omitempty"`
}

func (d *authenticatorDocument) authenticator() (*pintle.Passkey, error) {
	counter := uint32(d.Counter) //nolint:gosec // compared below
	if int64(counter) != d.Counter {
		return nil, fmt.Errorf("the counter %d does not have 32 bits", d.Counter)
	}
	return &pintle.Passkey{
		CredentialID: d.CredentialID, UserID: d.UserID.Hex(), ProviderAccountID: d.ProviderAccountID, PublicKey: d.PublicKey,
		Counter: counter, DeviceType: d.DeviceType, BackedUp: d.BackedUp, Transports: transports(textOf(d.Transports)),
		Name: d.Name, Created: timeOf(d.Created), LastUsed: timeOf(d.LastUsed),
	}, nil
}

func authenticatorFilter(credentialID string) bson.D {
	return bson.D{{Key: "credentialID", Value: credentialID}}
}

// CreatePasskey implements [pintle.Store].
func (s *Store) CreatePasskey(ctx context.Context, a *pintle.Passkey) error {
	owner, ok := objectID(a.UserID)
	if !ok {
		return absent(ctx)
	}
	if !storable(a.CredentialID, a.ProviderAccountID, a.PublicKey, a.DeviceType, strings.Join(a.Transports, ","), a.Name) {
		return fail(ctx, "create passkey", errNotText)
	}
	id := bson.NewObjectID()
	_, err := s.authenticators.InsertOne(ctx, authenticatorDocument{
		ID: id, CredentialID: a.CredentialID, UserID: owner, ProviderAccountID: a.ProviderAccountID, PublicKey: a.PublicKey,
		Counter: int64(a.Counter), DeviceType: a.DeviceType, BackedUp: a.BackedUp, Transports: nullable(strings.Join(a.Transports, ",")),
		Name: a.Name, Created: date(a.Created), LastUsed: date(a.LastUsed),
	})
	if err == nil {
		err = s.belongs(ctx, owner, s.authenticators, id)
	}
	return fail(ctx, "create passkey", err)
}

// Passkey implements [pintle.Store].
func (s *Store) Passkey(ctx context.Context, credentialID string) (*pintle.Passkey, error) {
	if !storable(credentialID) {
		return nil, absent(ctx)
	}
	document, err := decode[authenticatorDocument](s.authenticators.FindOne(ctx, authenticatorFilter(credentialID)))
	if err != nil {
		return nil, fail(ctx, "find passkey", err)
	}
	a, err := document.authenticator()
	return a, fail(ctx, "find passkey", err)
}

// UserPasskeys implements [pintle.Store]. The newest passkey
// is the first.
func (s *Store) UserPasskeys(ctx context.Context, userID string) ([]*pintle.Passkey, error) {
	owner, ok := objectID(userID)
	if !ok {
		return nil, ctx.Err()
	}
	newest := options.Find().SetSort(bson.D{{Key: "_id", Value: -1}})
	documents, err := all[authenticatorDocument](ctx, s.authenticators, bson.D{{Key: "userId", Value: owner}}, newest)
	if err != nil {
		return nil, fail(ctx, "list passkeys", err)
	}
	passkeys := make([]*pintle.Passkey, len(documents))
	for i, document := range documents {
		if passkeys[i], err = document.authenticator(); err != nil {
			return nil, fail(ctx, "list passkeys", err)
		}
	}
	return passkeys, nil
}

// UsePasskey implements [pintle.Store].
func (s *Store) UsePasskey(ctx context.Context, used *pintle.Passkey, old uint32) error {
	if !storable(used.CredentialID) {
		return absent(ctx)
	}
	unmoved := append(authenticatorFilter(used.CredentialID), bson.E{Key: "counter", Value: int64(old)})
	use := bson.D{{Key: "$set", Value: bson.D{
		{Key: "counter", Value: int64(used.Counter)},
		{Key: "credentialBackedUp", Value: used.BackedUp},
		{Key: "lastUsed", Value: date(used.LastUsed)},
	}}}
	result, err := s.authenticators.UpdateOne(ctx, unmoved, use)
	if err != nil || result.MatchedCount == 1 {
		return fail(ctx, "use passkey", err)
	}
	if err := s.authenticators.FindOne(ctx, authenticatorFilter(used.CredentialID)).Err(); err != nil {
		return fail(ctx, "use passkey", err)
	}
	return fail(ctx, "use passkey: the counter has moved", pintle.ErrConflict)
}

// ownAuthenticator finds a passkey of a user.
func ownAuthenticator(userID, credentialID string) (bson.D, bool) {
	owner, ok := objectID(userID)
	return append(authenticatorFilter(credentialID), bson.E{Key: "userId", Value: owner}), ok && storable(credentialID)
}

// RenamePasskey implements [pintle.Store].
func (s *Store) RenamePasskey(ctx context.Context, userID, credentialID, name string) error {
	filter, ok := ownAuthenticator(userID, credentialID)
	if !ok {
		return absent(ctx)
	}
	if !storable(name) {
		return fail(ctx, "rename passkey", errNotText)
	}
	result, err := s.authenticators.UpdateOne(ctx, filter, bson.D{{Key: "$set", Value: bson.D{{Key: "name", Value: name}}}})
	if err == nil && result.MatchedCount == 0 {
		err = pintle.ErrNotFound
	}
	return fail(ctx, "rename passkey", err)
}

// DeletePasskey implements [pintle.Store].
func (s *Store) DeletePasskey(ctx context.Context, userID, credentialID string) error {
	filter, ok := ownAuthenticator(userID, credentialID)
	if !ok {
		return absent(ctx)
	}
	result, err := s.authenticators.DeleteOne(ctx, filter)
	if err == nil && result.DeletedCount == 0 {
		err = pintle.ErrNotFound
	}
	return fail(ctx, "remove passkey", err)
}

// transports returns the parts of a text with commas.
func transports(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}
