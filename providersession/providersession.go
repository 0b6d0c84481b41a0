// Package providersession defines the records with which a [pintle.Store] relates a session
// of the site to a sign-in at a provider, so that a sign-out at the provider can end the
// session here: see pintle.OAuth.BackChannelLogout and EndSessionsOnRefusal.
//
// A [Record] names a session of the site and the session of the provider from which it
// comes. A provider that ends its session names it by its own id, or by the user
// (OpenID Connect Back-Channel Logout 1.0, section 2.4).
//
// All stores of Pintle but xatastore have them, beside the tables of Auth.js as well. A
// store of your own implements [Store] and returns it from its method ProviderSessions;
// package storetest checks it.
//
// A copy of the database shows no token and no id of a provider's session: sessions and
// keys are hashes, and the hint is sealed by pintle.Config.Secrets.
//
// [pintle.Store]: https://pkg.go.dev/github.com/pintleauth/pintle#Store
package providersession

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"time"
)

// A Store keeps records. Texts are valid UTF-8 without NUL; a Hint has up to 64 KiB, an
// ACR up to 256 bytes, an AMR up to 8 texts of 32 bytes, other texts up to 255 bytes.
// Times are zero, or from 1970 on; a store cuts off what is less than a millisecond. A
// store changes nothing that it is given, and keeps no reference to it. What it returns
// belongs to the caller.
//
// Methods may be called concurrently by several processes. A store does not check that
// the user and the session of a record exist. [pintle.Store].DeleteSession, EndSession
// and EndUserSessions forget the records of the sessions that they end, and DeleteUser
// those of its user. [pintle.Store].Sweep removes records that have expired; a store
// without it removes them by itself.
//
// [pintle.Store]: https://pkg.go.dev/github.com/pintleauth/pintle#Store
type Store interface {
	// Put stores a record, in the place of the one that has its Session, Provider and
	// ProviderAccountID. A record that is [Began] stays so. Of a session it keeps
	// [MaxRecords]: the oldest that are [Linked] go.
	//
	// It fails with [ErrEnded], and stores nothing, if EndBy was called with fitting
	// keys and a time after flowBegan, which is when the user was sent to the
	// provider. The caller stores the session first and ends it after this error: of
	// a sign-in and a sign-out at the same moment, one sees the other.
	Put(ctx context.Context, r *Record, flowBegan time.Time) error

	// Of returns the records of a session, at most [MaxRecords]: the one with which it
	// began first, the others in the order of Created. The list is empty if there are
	// none.
	Of(ctx context.Context, session Key) ([]*Record, error)

	// EndBy removes the records that have the keys and were created before a time,
	// and ends the sessions in the store that began with them. It returns these
	// records, without hints. A zero key fits every record; both must not be zero.
	// Other records of an ended session are forgotten.
	//
	// For [Remembered] it also fails calls of Put, as described there.
	//
	// If it fails, another call with the same arguments completes it.
	EndBy(ctx context.Context, sid, sub Key, before time.Time) ([]*Record, error)

	// Move changes when the records of a session expire. It does nothing if there are
	// none.
	Move(ctx context.Context, session Key, expires time.Time) error

	// Forget removes the records of a session. It does nothing if there are none.
	Forget(ctx context.Context, session Key) error
}

// ErrEnded is the error of [Store.Put] if the provider has ended the session meanwhile.
var ErrEnded = errors.New("providersession: the provider has ended the session")

// ErrNoKey is the error of [Store.EndBy] without a key, which would end all sessions.
var ErrNoKey = errors.New("providersession: neither a session nor a user of the provider is named")

const (
	// MaxRecords is how many records of one session are kept.
	MaxRecords = 4

	// Remembered is how long after [Store.EndBy] a sign-in that began before it is
	// refused. The cookie of a sign-in is good for 15 minutes, and then the provider has
	// to answer; the rest is for processes whose clocks differ.
	Remembered = 30 * time.Minute
)

// A Key is a SHA-256: of a session token, of the id that a provider gives its session, or
// of the id that it gives a user, the last two with issuer and client. Zero means none.
type Key [sha256.Size]byte

// KeyOf returns the Session of a record, of the token of a database session.
func KeyOf(token string) Key { return sha256.Sum256([]byte(token)) }

// A Role is how a sign-in and a session belong together.
type Role string

// The roles.
const (
	// Began is the sign-in with which the session began. The session ends with it.
	Began Role = "began"

	// Linked is a sign-in by which the user of the session has added an account. The
	// session goes on without it.
	Linked Role = "linked"
)

// A Record is what is kept of a sign-in.
type Record struct {
	// Session is [KeyOf] the token of a database session, or a hash of the id of a
	// session in a token.
	Session Key

	UserID, Provider, ProviderAccountID string

	// Sid finds the record by the session at the provider, and Sub by the user there.
	Sid, Sub Key

	Role Role

	// ACR, AMR and AuthTime are those of the ID token, and of those that refreshes have
	// brought for the same session of the provider since: each as it was said last.
	ACR      string
	AMR      []string
	AuthTime time.Time

	// Proof is when the provider last confirmed its session. Zero means at the
	// sign-in.
	Proof time.Time

	// Hint is the ID token, sealed.
	Hint string

	// Created is when the user signed in at the provider, and Expires when the
	// session expires. Neither is zero.
	Created, Expires time.Time
}

// ID names the record among those of all sessions: two records with one ID are about one
// session and one account.
func (r *Record) ID() Key {
	h := sha256.New()
	_, _ = h.Write(r.Session[:]) // a hash never fails
	for _, text := range []string{r.Provider, r.ProviderAccountID} {
		sum := sha256.Sum256([]byte(text)) // of one length, so that no two pairs are the same
		_, _ = h.Write(sum[:])
	}
	return Key(h.Sum(nil))
}

// Fits reports whether [Store.EndBy] ends the record.
func (r *Record) Fits(sid, sub Key, before time.Time) bool {
	return (sid == Key{} || sid == r.Sid) && (sub == Key{} || sub == r.Sub) && r.Created.Before(before)
}

// EndIDs returns the names of the calls of [Store.EndBy] that end the record, in order.
func (r *Record) EndIDs() []Key {
	var ids []Key
	if r.Sid != (Key{}) {
		ids = append(ids, EndID(r.Sid, Key{}))
	}
	if r.Sub != (Key{}) {
		ids = append(ids, EndID(Key{}, r.Sub))
	}
	if len(ids) == 2 {
		ids = append(ids, EndID(r.Sid, r.Sub))
	}
	slices.SortFunc(ids, func(a, b Key) int { return slices.Compare(a[:], b[:]) })
	return ids
}

// EndID names the calls of [Store.EndBy] with two keys.
func EndID(sid, sub Key) Key { return sha256.Sum256(append(sid[:], sub[:]...)) }

// Sort puts the records of a session in the order of [Store.Of], and returns those that
// are kept, and those that are not.
func Sort(records []*Record) (kept, surplus []*Record) {
	slices.SortFunc(records, func(a, b *Record) int {
		return cmp.Or(rank(a)-rank(b), b.Created.Compare(a.Created), cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.ProviderAccountID, b.ProviderAccountID))
	})
	n := min(len(records), MaxRecords)
	kept, surplus = records[:n:n], records[n:]
	linked := slices.IndexFunc(kept, func(r *Record) bool { return r.Role != Began })
	if linked >= 0 {
		slices.Reverse(kept[linked:])
	}
	return kept, surplus
}

func rank(r *Record) int {
	if r.Role == Began {
		return 0
	}
	return 1
}
