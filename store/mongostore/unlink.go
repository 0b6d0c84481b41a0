package mongostore

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/pintleauth/pintle"
)

// Without a transaction no command removes one document on the condition that
// another is there. Instead every call that has such a condition enters itself
// in a list of its user's document first, and then counts on no account that was
// in the list before it. Of two calls that would remove what the other keeps the
// second sees the first, and gives up.

// removalsField is the list, which is there while calls run. Each entry is a
// text: the id of the call, which has its time, and that of the account.
const removalsField = "pintle_unlinking"

// forgotten is when a call that never ended is no longer counted: its process
// died, and its account may still be there. A process that is stopped for this
// long in the midst of a call removes an account that others counted on since.
const forgotten = time.Hour

// finishTimeout bounds what a call finishes after its context has ended. Many calls for one
// user wait for one another.
const finishTimeout = 15 * time.Second

// A removal is one call of UnlinkAccount in the list of its user.
type removal struct {
	user    bson.ObjectID
	over    []string        // the entry of this call, and those of calls that never ended
	earlier map[string]bool // the ids of accounts that earlier calls remove
}

func (s *Store) beginRemoval(ctx context.Context, user, account bson.ObjectID) (*removal, error) {
	call := bson.NewObjectID()
	entry := call.Hex() + " " + account.Hex()
	enter := bson.D{{Key: "$push", Value: bson.D{{Key: removalsField, Value: entry}}}}
	before := options.FindOneAndUpdate().SetReturnDocument(options.Before)
	document, err := decode[removalsDocument](s.users.FindOneAndUpdate(ctx, bson.D{{Key: "_id", Value: user}}, enter, before))
	if err != nil {
		return nil, err
	}
	r := &removal{user: user, over: []string{entry}, earlier: make(map[string]bool)}
	for _, other := range document.Removals {
		id, removed, _ := strings.Cut(other, " ")
		if began, err := bson.ObjectIDFromHex(id); err != nil || call.Timestamp().Sub(began.Timestamp()) > forgotten {
			r.over = append(r.over, other)
			continue
		}
		r.earlier[removed] = true
	}
	return r, nil
}

// endRemoval takes a call out of the list, and the list away when it is empty.
func (s *Store) endRemoval(ctx context.Context, r *removal) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	theirs := bson.E{Key: "_id", Value: r.user}
	leave := bson.D{{Key: "$pullAll", Value: bson.D{{Key: removalsField, Value: r.over}}}}
	if _, err := s.users.UpdateOne(ctx, bson.D{theirs}, leave); err != nil {
		return err
	}
	empty := bson.D{theirs, {Key: removalsField, Value: bson.D{{Key: "$size", Value: 0}}}}
	_, err := s.users.UpdateOne(ctx, empty, bson.D{{Key: "$unset", Value: bson.D{{Key: removalsField, Value: ""}}}})
	return err
}

// UnlinkAccount implements [pintle.Store]. A call with a condition whose
// process dies before it removed the account leaves the account, which for an
// hour is not one to keep.
func (s *Store) UnlinkAccount(ctx context.Context, userID, provider, providerAccountID string, keepOneOf []*pintle.Account) error {
	filter, ok := accountFilter(provider, providerAccountID)
	owner, isID := objectID(userID)
	if !ok || !isID {
		return absent(ctx)
	}
	a, err := decode[accountDocument](s.accounts.FindOne(ctx, append(filter, bson.E{Key: "userId", Value: owner})))
	if err != nil {
		return fail(ctx, "unlink account", err)
	}
	if keepOneOf == nil {
		return fail(ctx, "unlink account", s.unlink(ctx, a))
	}
	r, err := s.beginRemoval(ctx, owner, a.ID)
	if err != nil {
		return fail(ctx, "unlink account", err)
	}
	kept, err := s.keepsOneOf(ctx, a, keepOneOf, r)
	if err == nil && kept {
		// One that failed may have removed the account, or may not, and stays
		// in the list.
		err = s.unlink(ctx, a)
		if err != nil && !errors.Is(err, pintle.ErrNotFound) {
			return fail(ctx, "unlink account", err)
		}
	}
	if ended := s.endRemoval(ctx, r); err == nil {
		err = ended
	}
	if err == nil && !kept {
		return fail(ctx, "unlink account: no account to keep is linked", pintle.ErrConflict)
	}
	return fail(ctx, "unlink account", err)
}

// keepsOneOf reports whether the owner of an account has one of others, which no
// earlier call removes.
func (s *Store) keepsOneOf(ctx context.Context, a *accountDocument, others []*pintle.Account, r *removal) (bool, error) {
	for _, other := range others {
		held, err := s.accountOwner(ctx, other.Provider, other.ProviderAccountID)
		if none := missing(err) || errors.Is(err, pintle.ErrNotFound); err != nil && !none {
			return false, err
		}
		if err != nil || held.UserID != a.UserID || held.ID == a.ID || r.earlier[held.ID.Hex()] {
			continue
		}
		// A read may come from a server that is no longer the primary and does
		// not know it. A write is acknowledged by a majority: its document is
		// there.
		same := bson.D{{Key: "$set", Value: bson.D{{Key: "userId", Value: a.UserID}}}}
		result, err := s.accounts.UpdateOne(ctx, bson.D{{Key: "_id", Value: held.ID}, {Key: "userId", Value: a.UserID}}, same)
		if err != nil || result.MatchedCount == 1 {
			return err == nil, err
		}
	}
	return false, nil
}

// unlink removes an account and the passkey that belongs to it. The passkey
// first: what is left if the process dies then is an account that does not
// sign in and can be unlinked.
func (s *Store) unlink(ctx context.Context, a *accountDocument) error {
	if a.Type == string(pintle.TypeWebAuthn) {
		theirs := append(authenticatorFilter(a.ProviderAccountID), bson.E{Key: "userId", Value: a.UserID})
		if _, err := s.authenticators.DeleteOne(ctx, theirs); err != nil {
			return err
		}
	}
	result, err := s.accounts.DeleteOne(ctx, bson.D{{Key: "_id", Value: a.ID}})
	if err == nil && result.DeletedCount == 0 {
		err = pintle.ErrNotFound
	}
	return err
}
