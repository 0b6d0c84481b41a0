package mongostore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/pintleauth/pintle"
)

// A userDocument is a user as the collection has it. A user without an address
// has no field for it, so that a sparse index works too.
type userDocument struct {
	ID       bson.ObjectID  `bson:"_id"`
	Name     *string        `bson:"name"`
	Email    *string        `bson:"email,omitempty"`
	Verified *time.Time     `bson:"emailVerified"`
	Image    *string        `bson:"image"`
	Extra    map[string]any `bson:",inline"`
}

// userFields are the fields that are not Extra. Auth.js's adapter, in older
// versions, writes the id a second time.
var userFields = []string{"_id", "id", "name", "email", "emailVerified", "image", removalsField}

func newUserDocument(u *pintle.User) (*userDocument, error) {
	if !storable(u.Name, u.Email, u.Image) {
		return nil, errNotText
	}
	extra, err := toDocument(u.Extra, userFields...)
	if err != nil {
		return nil, err
	}
	return &userDocument{
		ID: proposed(u.ID), Name: nullable(u.Name), Email: nullable(u.Email),
		Verified: date(u.EmailVerified), Image: nullable(u.Image), Extra: extra,
	}, nil
}

func (d *userDocument) user() *pintle.User {
	u := &pintle.User{
		ID: d.ID.Hex(), Name: textOf(d.Name), Email: textOf(d.Email), EmailVerified: timeOf(d.Verified), Image: textOf(d.Image),
	}
	if extra := fromDocument(d.Extra, userFields...); len(extra) > 0 {
		u.Extra = extra
	}
	u.MarkNull()
	return u
}

// CreateUser implements [pintle.Store]. The proposed ID is kept if it is that of
// an ObjectID. Fields of Extra become fields of the document.
func (s *Store) CreateUser(ctx context.Context, u *pintle.User) (*pintle.User, error) {
	document, err := newUserDocument(u)
	if err != nil {
		return nil, fail(ctx, "create user", err)
	}
	if _, err := s.users.InsertOne(ctx, document); err != nil {
		return nil, fail(ctx, "create user", err)
	}
	created := document.user()
	if created.ID != u.ID {
		return created, nil
	}
	// A user who is gone may have had the id that was proposed. The password of that user
	// must not sign in as this one.
	if err := s.people.forget(ctx, created.ID); err != nil {
		_, undone := s.users.DeleteOne(context.WithoutCancel(ctx), bson.D{{Key: "_id", Value: document.ID}})
		return nil, fail(ctx, "create user", errors.Join(err, undone))
	}
	return created, nil
}

// User implements [pintle.Store].
func (s *Store) User(ctx context.Context, id string) (*pintle.User, error) {
	key, ok := objectID(id)
	if !ok {
		return nil, absent(ctx)
	}
	return s.findUser(ctx, "find user", bson.D{{Key: "_id", Value: key}})
}

// UserByEmail implements [pintle.Store].
func (s *Store) UserByEmail(ctx context.Context, email string) (*pintle.User, error) {
	// A user without an address has none; an empty one is another program's.
	if email == "" || !storable(email) {
		return nil, absent(ctx)
	}
	return s.findUser(ctx, "find user by address", bson.D{{Key: "email", Value: email}})
}

// UserByAccount implements [pintle.Store]. It looks for the account and then
// for its owner.
func (s *Store) UserByAccount(ctx context.Context, provider, providerAccountID string) (*pintle.User, error) {
	owner, err := s.accountOwner(ctx, provider, providerAccountID)
	if err != nil {
		return nil, fail(ctx, "find user by account", err)
	}
	return s.findUser(ctx, "find user by account", bson.D{{Key: "_id", Value: owner.UserID}})
}

func (s *Store) findUser(ctx context.Context, operation string, filter bson.D) (*pintle.User, error) {
	document, err := decode[userDocument](s.users.FindOne(ctx, filter))
	if err != nil {
		return nil, fail(ctx, operation, err)
	}
	return document.user(), nil
}

// UpdateUser implements [pintle.Store].
func (s *Store) UpdateUser(ctx context.Context, id string, change pintle.UserUpdate) (*pintle.User, error) {
	key, ok := objectID(id)
	if !ok {
		return nil, absent(ctx)
	}
	filter := bson.D{{Key: "_id", Value: key}}
	update, err := userUpdate(change)
	if err != nil {
		return nil, fail(ctx, "update user", err)
	}
	if change.IfEmail != nil {
		if !storable(*change.IfEmail) {
			return nil, fail(ctx, "update user", fmt.Errorf("email: %w", errNotText))
		}
		filter = append(filter, bson.E{Key: "email", Value: nullable(*change.IfEmail)}) // null is also that of no field
	}
	if len(update) == 0 {
		u, err := s.findUser(ctx, "update user", filter)
		return u, s.orOtherAddress(ctx, key, change, err)
	}
	after := options.FindOneAndUpdate().SetReturnDocument(options.After)
	document, err := decode[userDocument](s.users.FindOneAndUpdate(ctx, filter, update, after))
	if err != nil {
		return nil, s.orOtherAddress(ctx, key, change, fail(ctx, "update user", err))
	}
	return document.user(), nil
}

// orOtherAddress turns the error of a conditional change that found no user into
// ErrConflict if the user is there, with another address.
func (s *Store) orOtherAddress(ctx context.Context, key any, change pintle.UserUpdate, err error) error {
	if change.IfEmail == nil || !errors.Is(err, pintle.ErrNotFound) {
		return err
	}
	if _, err := s.findUser(ctx, "update user", bson.D{{Key: "_id", Value: key}}); err != nil {
		return err
	}
	return fail(ctx, "update user", pintle.ErrConflict)
}

func userUpdate(change pintle.UserUpdate) (update bson.D, err error) {
	var set, unset bson.D
	for _, field := range []struct {
		name string
		text *string
	}{{"name", change.Name}, {"email", change.Email}, {"image", change.Image}} {
		switch {
		case field.text == nil:
		case !storable(*field.text):
			return nil, fmt.Errorf("%s: %w", field.name, errNotText)
		case field.name == "email" && *field.text == "":
			unset = append(unset, bson.E{Key: "email", Value: ""})
		default:
			set = append(set, bson.E{Key: field.name, Value: nullable(*field.text)})
		}
	}
	if change.EmailVerified != nil {
		set = append(set, bson.E{Key: "emailVerified", Value: date(*change.EmailVerified)})
	}
	extra, err := toDocument(change.Extra, userFields...)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if extra[name] == nil {
			unset = append(unset, bson.E{Key: name, Value: ""})
		} else {
			set = append(set, bson.E{Key: name, Value: extra[name]})
		}
	}
	if len(set) > 0 {
		update = append(update, bson.E{Key: "$set", Value: set})
	}
	if len(unset) > 0 {
		update = append(update, bson.E{Key: "$unset", Value: unset})
	}
	return update, nil
}

// DeleteUser implements [pintle.Store]. Sessions go first, so that access
// ends at once, and the user after everything else, so that what broke off can be
// repeated. What was stored for the user meanwhile goes last; a call that
// stores something after that finds no user, and removes it.
func (s *Store) DeleteUser(ctx context.Context, id string) error {
	key, ok := objectID(id)
	if !ok {
		if err := errors.Join(s.people.forget(ctx, id), s.signIns.forgetUser(ctx, id, "")); err != nil {
			return fail(ctx, "delete user", err)
		}
		return absent(ctx)
	}
	if err := s.deleteBelongings(ctx, key); err != nil {
		return fail(ctx, "delete user", err)
	}
	user, err := s.users.DeleteOne(ctx, bson.D{{Key: "_id", Value: key}})
	if err != nil {
		return fail(ctx, "delete user", err)
	}
	if err := s.deleteBelongings(ctx, key); err != nil {
		return fail(ctx, "delete user", err)
	}
	if err := errors.Join(s.signIns.forgetUser(ctx, id, ""), s.people.forget(ctx, id)); err != nil {
		return fail(ctx, "delete user", err)
	}
	if user.DeletedCount == 0 {
		return absent(ctx)
	}
	return nil
}

// deleteBelongings removes the sessions, accounts and passkeys of a user.
func (s *Store) deleteBelongings(ctx context.Context, id bson.ObjectID) error {
	for _, c := range []*mongo.Collection{s.sessions, s.accounts, s.authenticators} {
		if _, err := c.DeleteMany(ctx, bson.D{{Key: "userId", Value: id}}); err != nil {
			return fmt.Errorf("%s: %w", c.Name(), err)
		}
	}
	return nil
}
