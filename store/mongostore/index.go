package mongostore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A need is an index that a store rests on.
type need struct {
	collection *mongo.Collection
	fields     []string
	unique     bool

	// optional is a unique index of a field that documents may lack, or have
	// as null.
	optional bool

	// removes says that the server removes documents by the index.
	removes bool
}

// ttlGrace is for how many seconds the server keeps documents that have expired, since its clock
// and those of the processes differ.
const ttlGrace = 600

func (s *Store) needs() []need {
	return []need{
		{collection: s.users, fields: []string{"email"}, unique: true, optional: true},
		{collection: s.accounts, fields: []string{"provider", "providerAccountId"}, unique: true},
		{collection: s.accounts, fields: []string{"userId"}},
		{collection: s.sessions, fields: []string{"sessionToken"}, unique: true},
		{collection: s.sessions, fields: []string{"userId"}},
		{collection: s.sessions, fields: []string{"expires"}, removes: s.expireSessionsAndTokens},
		{collection: s.verifications, fields: []string{"identifier", "token"}, unique: true},
		{collection: s.verifications, fields: []string{"expires"}, removes: s.expireSessionsAndTokens},
		{collection: s.authenticators, fields: []string{"credentialID"}, unique: true},
		{collection: s.authenticators, fields: []string{"userId"}},
		{collection: s.revocations, fields: []string{"expires"}, removes: true},
		{collection: s.people.states, fields: []string{"deleteAt"}},
		{collection: s.people.states, fields: []string{"bannedUntil"}},
		{collection: s.people.states, fields: []string{"roles"}},
		{collection: s.people.factors, fields: []string{"userId"}},
		{collection: s.people.factors, fields: []string{"expires"}, removes: true},
		{collection: s.people.flows, fields: []string{"subject", "kind"}},
		{collection: s.people.flows, fields: []string{"expires"}, removes: true},
		{collection: s.people.activity, fields: []string{"at", "_id"}},
		{collection: s.people.activity, fields: []string{"userId", "at", "_id"}},
		{collection: s.people.activity, fields: []string{"actor", "at", "_id"}},
		{collection: s.people.activity, fields: []string{"kind", "at", "_id"}},
		{collection: s.people.activity, fields: []string{"expires"}, removes: true},
		{collection: s.signIns.signIns, fields: []string{"session"}},
		{collection: s.signIns.signIns, fields: []string{"userId"}},
		{collection: s.signIns.signIns, fields: []string{"sid"}},
		{collection: s.signIns.signIns, fields: []string{"sub"}},
		{collection: s.signIns.signIns, fields: []string{"expires"}, removes: true},
		{collection: s.signIns.ends, fields: []string{"expires"}, removes: true},
		{collection: s.shared.once, fields: []string{"expires"}, removes: true},
		{collection: s.shared.leases, fields: []string{"expires"}, removes: true},
		{collection: s.shared.counts, fields: []string{"expires"}, removes: true},
	}
}

// String names the index in errors: users (email).
func (n need) String() string {
	return n.collection.Name() + " (" + strings.Join(n.fields, ", ") + ")"
}

func (n need) keys() bson.D {
	keys := make(bson.D, len(n.fields))
	for i, field := range n.fields {
		keys[i] = bson.E{Key: field, Value: 1}
	}
	return keys
}

// EnsureIndexes makes the indexes that [Open] requires and those for look-ups by
// user and by expiry. It does not change existing indexes, whatever their names,
// and may be called by every process at every
// start. For a large collection it may take minutes the first time.
//
// MongoDB itself removes what has expired from the collections that Auth.js does not have, by
// their index of the field expires, ten minutes after. It does so with sessions and verification
// tokens if Options.ExpireSessionsAndTokens is set. Where the index was there before, or the server has no
// such indexes, Sweep removes them.
//
// A unique index cannot be made while there are duplicates. The error then
// names the documents that have a value in common, in every collection. Merge
// or remove them and call it again: no program can decide which of two users
// a person is.
//
// An address is unique among the users that have one: the index is partial,
// over those whose email is a text and not empty. A server that has no partial indexes gets a
// sparse one. There two users with the address null are duplicates: Auth.js
// writes null if the provider reports no address.
func EnsureIndexes(ctx context.Context, db *mongo.Database, o Options) error {
	var problems []error
	for _, n := range newStore(db, o).needs() {
		if err := n.ensure(ctx); err != nil {
			problems = append(problems, err)
		}
		if err := ctx.Err(); err != nil {
			return fail(ctx, "ensure indexes", err)
		}
	}
	return fail(ctx, "ensure indexes", errors.Join(problems...))
}

func (n need) ensure(ctx context.Context) error {
	met, err := n.met(ctx)
	if err != nil || met {
		return err
	}
	o := options.Index().SetUnique(n.unique)
	if n.removes {
		// https://www.mongodb.com/docs/manual/core/index-ttl/
		if err := n.create(ctx, options.Index().SetExpireAfterSeconds(ttlGrace), bson.D{}); !lacksFeature(err) {
			return err
		}
	}
	if !n.optional {
		return n.create(ctx, o, bson.D{})
	}
	// Null counts as missing, and only a partial index can leave it out. MongoDB
	// does not use one with the filter {$type: "string"} to look for a text. With
	// this filter it detects that the index has every text that is not empty.
	//
	// https://www.mongodb.com/docs/manual/core/index-partial/#query-coverage
	texts := bson.D{{Key: n.fields[0], Value: bson.D{{Key: "$gt", Value: ""}}}}
	err = n.create(ctx, options.Index().SetUnique(true).SetPartialFilterExpression(texts), texts)
	if lacksFeature(err) {
		there := bson.D{{Key: n.fields[0], Value: bson.D{{Key: "$exists", Value: true}}}}
		err = n.create(ctx, o.SetSparse(true), there)
	}
	return err
}

// create makes the index, which covers the documents that match covered.
func (n need) create(ctx context.Context, o *options.IndexOptionsBuilder, covered bson.D) error {
	// The name is one the host's own indexes do not have.
	o.SetName("pintle_" + strings.Join(n.fields, "_"))
	_, err := n.collection.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: n.keys(), Options: o})
	if mongo.IsDuplicateKeyError(err) {
		return n.duplicates(ctx, covered)
	}
	if err != nil {
		return fmt.Errorf("create the index %v: %w", n, err)
	}
	return nil
}

// lacksFeature reports whether a server rejected an option that it does not know.
func lacksFeature(err error) bool {
	refused, ok := errors.AsType[mongo.CommandError](err)
	const (
		cannotCreateIndex   = 67
		commandNotSupported = 115
		notImplemented      = 238
	)
	return ok && slices.Contains([]int32{cannotCreateIndex, commandNotSupported, notImplemented}, refused.Code)
}

// An index is one as the server lists it.
type index struct {
	Keys      bson.D   `bson:"key"`
	Unique    bool     `bson:"unique"`
	Partial   bson.D   `bson:"partialFilterExpression"`
	Collation bson.Raw `bson:"collation"`
}

func (n need) met(ctx context.Context) (bool, error) {
	cursor, err := n.collection.Indexes().List(ctx)
	if err != nil {
		return false, fmt.Errorf("list the indexes of %s: %w", n.collection.Name(), err)
	}
	var indexes []index
	if err := cursor.All(ctx, &indexes); err != nil {
		return false, fmt.Errorf("list the indexes of %s: %w", n.collection.Name(), err)
	}
	return slices.ContainsFunc(indexes, n.metBy), nil
}

func (n need) metBy(x index) bool {
	// An index with rules of a language is not used by exact look-ups.
	if len(x.Collation) > 0 || !n.covered(x.Partial) {
		return false
	}
	within := !slices.ContainsFunc(x.Keys, func(key bson.E) bool { return !slices.Contains(n.fields, key.Key) })
	if x.Unique && within {
		return true // at most one document, found by it
	}
	if n.unique || len(x.Keys) < len(n.fields) {
		return false
	}
	for i, field := range n.fields {
		if x.Keys[i].Key != field {
			return false
		}
	}
	return true
}

// covered reports whether an index with that filter, or none, has every
// document in which a field of the need is a text, and is used to look for one.
func (n need) covered(filter bson.D) bool {
	if len(filter) == 0 {
		return true
	}
	condition, ok := filter[0].Value.(bson.D)
	if !ok || len(filter) != 1 || len(condition) != 1 || !slices.Contains(n.fields, filter[0].Key) {
		return false
	}
	switch value := condition[0].Value; condition[0].Key {
	case "$exists":
		return value == true
	case "$gt", "$gte":
		return value == ""
	}
	return false
}

// check looks whether the collections keep apart what the store keeps apart.
func (s *Store) check(ctx context.Context) error {
	var missing []string
	for _, n := range s.needs() {
		if !n.unique {
			continue // without it look-ups take longer, and no more
		}
		met, err := n.met(ctx)
		if err != nil {
			return err
		}
		if !met {
			missing = append(missing, n.String())
		}
	}
	var problems []error
	if len(missing) > 0 {
		problems = append(problems, fmt.Errorf("there is no unique index on %s: call mongostore.EnsureIndexes with the same options first",
			strings.Join(missing, ", ")))
	}
	return errors.Join(append(problems, s.checkCollations(ctx))...)
}

// A collection is one as the server lists it.
type collection struct {
	Name    string `bson:"name"`
	Options struct {
		Collation bson.Raw `bson:"collation"`
	} `bson:"options"`
}

// check fails where a collection takes texts for equal that differ: a token in
// other letters would sign in, and an address find another user.
func (c *collection) check() error {
	if len(c.Options.Collation) == 0 {
		return nil
	}
	return fmt.Errorf("the collection %s has a collation, by which texts are equal that differ: copy it into one without", c.Name)
}

func (s *Store) checkCollations(ctx context.Context) error {
	names := bson.A{}
	for _, c := range []*mongo.Collection{
		s.users, s.accounts, s.sessions, s.verifications, s.authenticators, s.people.states, s.people.factors, s.people.flows, s.people.activity,
	} {
		names = append(names, c.Name())
	}
	cursor, err := s.users.Database().ListCollections(ctx, bson.D{{Key: "name", Value: bson.D{{Key: "$in", Value: names}}}})
	if err != nil {
		return fmt.Errorf("list the collections: %w", err)
	}
	var found []collection
	if err := cursor.All(ctx, &found); err != nil {
		return fmt.Errorf("list the collections: %w", err)
	}
	var problems []error
	for _, c := range found {
		problems = append(problems, c.check())
	}
	return errors.Join(problems...)
}
