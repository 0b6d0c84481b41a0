package mongostore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/pintleauth/pintle"
)

// Options name the collections. The zero value has the names of Auth.js's
// adapter, whose option is called collections.
type Options struct {
	Users              string // users
	Accounts           string // accounts
	Sessions           string // sessions
	VerificationTokens string // verification_tokens

	// Authenticators is where passkeys are, for which the adapter has no
	// collection.
	Authenticators string // authenticators

	// Revocations is what [NewRevocations] keeps.
	Revocations string // pintle_revocations

	// States, Factors, Flows and Activity are what [Store.AccountStore] keeps.
	States   string // pintle_states
	Factors  string // pintle_factors
	Flows    string // pintle_flows
	Activity string // pintle_activity

	// ProviderSessions and ProviderEnds are what [Store.ProviderSessions] keeps.
	ProviderSessions string // pintle_provider_sessions
	ProviderEnds     string // pintle_provider_ends

	// Once, Leases and Counts are what [Store.SharedState] and [NewSharedState] keep.
	Once   string // pintle_once
	Leases string // pintle_leases
	Counts string // pintle_counts

	// ExpireSessionsAndTokens has [EnsureIndexes] make TTL indexes of sessions and verification
	// tokens, by which MongoDB removes the expired ones. The default leaves these collections,
	// which Auth.js uses as well, without them; [Store.Sweep] removes what has expired.
	ExpireSessionsAndTokens bool
}

// A Store keeps users, accounts, sessions, mail links and passkeys in MongoDB.
// Its methods may be called concurrently. The client remains the host's: the
// store does not disconnect it.
type Store struct {
	pintle.UnimplementedStore
	users, accounts, sessions, verifications, authenticators, revocations *mongo.Collection
	people                                                                accountStore
	signIns                                                               providerSessions
	shared                                                                *SharedState
	expireSessionsAndTokens                                               bool
}

var _ pintle.Store = (*Store)(nil)

// Features implements [pintle.Store]: all but transactions.
func (s *Store) Features() pintle.Features {
	return pintle.Features{
		Accounts: true, AccountSwap: true, Sessions: true, SessionList: true, Verifications: true, Passkeys: true, PasskeyNames: true, DeleteUser: true, Sweep: true,
	}
}

// Open returns a store that uses db. It fails when the collections lack an
// index that keeps an address, an account, a session, a mail link or a passkey
// unique, or do not compare texts byte by byte; the error names the remedy.
// Without the indexes two sign-ins at once make two users of one person.
// [EnsureIndexes] makes them.
func Open(ctx context.Context, db *mongo.Database, o Options) (*Store, error) {
	s := newStore(db, o)
	if err := s.check(ctx); err != nil {
		return nil, fail(ctx, "open", err)
	}
	return s, nil
}

// newStore returns a store whose collections read and write in one way,
// whatever the host's client is set to: an unacknowledged write would not report
// a conflict, a secondary does not yet know which sessions have
// ended, and what only one member of a replica set has written may be lost with
// it.
func newStore(db *mongo.Database, o Options) *Store {
	how := options.Collection().
		SetReadPreference(readpref.Primary()).
		SetWriteConcern(writeconcern.Majority()).
		SetRegistry(bson.NewRegistry()).
		SetBSONOptions(&options.BSONOptions{})
	collection := func(name, byDefault string) *mongo.Collection { return db.Collection(cmp.Or(name, byDefault), how) }
	return &Store{
		users:          collection(o.Users, "users"),
		accounts:       collection(o.Accounts, "accounts"),
		sessions:       collection(o.Sessions, "sessions"),
		verifications:  collection(o.VerificationTokens, "verification_tokens"),
		authenticators: collection(o.Authenticators, "authenticators"),
		revocations:    collection(o.Revocations, "pintle_revocations"),
		people: accountStore{
			states:   collection(o.States, "pintle_states"),
			factors:  collection(o.Factors, "pintle_factors"),
			flows:    collection(o.Flows, "pintle_flows"),
			activity: collection(o.Activity, "pintle_activity"),
			users:    collection(o.Users, "users"),
		},
		signIns: providerSessions{
			signIns:  collection(o.ProviderSessions, "pintle_provider_sessions"),
			ends:     collection(o.ProviderEnds, "pintle_provider_ends"),
			sessions: collection(o.Sessions, "sessions"),
		},
		shared: &SharedState{
			db:     db,
			once:   collection(o.Once, "pintle_once"),
			leases: collection(o.Leases, "pintle_leases"),
			counts: collection(o.Counts, "pintle_counts"),
		},
		expireSessionsAndTokens: o.ExpireSessionsAndTokens,
	}
}

var errNotText = errors.New("a text is not UTF-8, which MongoDB cannot keep")

// storable reports whether texts read back as they are.
func storable(texts ...string) bool {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return false
		}
	}
	return true
}

// fail converts an error to the errors of package pintle.
//
// The server's message about a conflict is left out, because it quotes the value,
// which may be a session token.
func fail(ctx context.Context, operation string, err error) error {
	switch {
	case err == nil:
		return nil
	case missing(err), errors.Is(err, pintle.ErrNotFound):
		return absent(ctx)
	case mongo.IsDuplicateKeyError(err):
		return fmt.Errorf("mongostore: %s: %w", operation, pintle.ErrConflict)
	}
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		return fmt.Errorf("mongostore: %s: %w: %w", operation, ended, err)
	}
	return fmt.Errorf("mongostore: %s: %w", operation, err)
}

// missing reports whether an error is that of a missing document.
func missing(err error) bool { return errors.Is(err, mongo.ErrNoDocuments) }

// absent returns the error for a missing document: that of the context if it
// has ended, and [pintle.ErrNotFound] otherwise.
func absent(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return pintle.ErrNotFound
}

// decode decodes the one document an operation returned.
func decode[T any](r *mongo.SingleResult) (*T, error) {
	var document T
	if err := r.Decode(&document); err != nil {
		return nil, err
	}
	return &document, nil
}

// all decodes the documents a query found.
func all[T any](ctx context.Context, c *mongo.Collection, filter any, o ...options.Lister[options.FindOptions]) ([]*T, error) {
	cursor, err := c.Find(ctx, filter, o...)
	if err != nil {
		return nil, err
	}
	var documents []*T
	err = cursor.All(ctx, &documents)
	return documents, err
}
