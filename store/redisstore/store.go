package redisstore

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/pintleauth/pintle"
	"github.com/redis/go-redis/v9"
)

// Options name the keys. The zero value has the names of Auth.js's adapters. A
// prefix that is set replaces the default and is followed by nothing: end it
// with a colon.
type Options struct {
	// BaseKeyPrefix is put in front of every key. It is empty by default.
	BaseKeyPrefix string

	UserKeyPrefix              string // user:
	EmailKeyPrefix             string // user:email:
	AccountKeyPrefix           string // user:account:
	AccountByUserIDPrefix      string // user:account:by-user-id:
	SessionKeyPrefix           string // user:session:
	SessionByUserIDKeyPrefix   string // user:session:by-user-id:
	VerificationTokenKeyPrefix string // user:token:

	// The passkeys of the adapter for unstorage.
	AuthenticatorKeyPrefix     string // authenticator:
	AuthenticatorUserKeyPrefix string // authenticator:by-user-id:

	// The sets that only this package has.
	AccountSetKeyPrefix string // user:accounts:
	SessionSetKeyPrefix string // user:sessions:
	UnlinkingKeyPrefix  string // user:unlinking:

	// AccountStoreKeyPrefix is in front of the keys of [Store.AccountStore], which
	// are pintle:state:, pintle:factors:, pintle:flow:, pintle:flows:,
	// pintle:activity: and the sorted set pintle:users by default,
	// of [Store.SharedState], which are pintle:once: and pintle:lease:, and of
	// [Store.ProviderSessions], which are pintle:signin:, pintle:signin-by: and
	// pintle:ended:.
	AccountStoreKeyPrefix string // pintle:
}

// A Store keeps users, accounts, sessions, mail links and passkeys in Redis.
// Its methods may be called concurrently.
type Store struct {
	pintle.UnimplementedStore
	client   redis.UniversalClient
	keys     keys
	sessions sessions
	oneTrip  bool // a script may read two keys
}

var _ pintle.Store = (*Store)(nil)

// Features implements [pintle.Store]: all but transactions and Sweep, since Redis
// removes what has expired.
func (s *Store) Features() pintle.Features {
	return pintle.Features{
		Accounts: true, AccountSwap: true, Sessions: true, SessionList: true, Verifications: true, Passkeys: true, PasskeyNames: true, DeleteUser: true,
	}
}

// New returns a store that uses client, which may be a [redis.Client], a
// [redis.ClusterClient] or whatever [redis.NewUniversalClient] makes. It makes
// no request.
func New(client redis.UniversalClient, o Options) *Store {
	k := newKeys(o)
	_, single := client.(*redis.Client)
	return &Store{client: client, keys: k, sessions: sessions{client: client, keys: k}, oneTrip: single}
}

var errNotText = errors.New("a text is not UTF-8, which JSON cannot keep")

// storable reports the first text that would not read back as it is.
func storable(texts ...string) error {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return errNotText
		}
	}
	return nil
}

// fail converts an error to the errors of package pintle. The messages of Redis
// name no key, and so no token.
func fail(ctx context.Context, operation string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, redis.Nil):
		return pintle.ErrNotFound
	case errors.Is(err, pintle.ErrNotFound):
		return err
	}
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		return fmt.Errorf("redisstore: %s: %w: %w", operation, ended, err)
	}
	return fmt.Errorf("redisstore: %s: %w", operation, err)
}

// cleanUp returns a context for taking back half of a change whose own context
// may have ended.
func cleanUp(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
}

// absent returns the error for a key that cannot exist: that of the context if
// it has ended, and [pintle.ErrNotFound] otherwise.
func absent(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return pintle.ErrNotFound
}
