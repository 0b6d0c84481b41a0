package mongostore

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/pintleauth/pintle"
)

// An accountOwner is what of an account leads to its user.
type accountOwner struct {
	ID     bson.ObjectID `bson:"_id"`
	UserID bson.ObjectID `bson:"userId"`
}

// An accountDocument is an account as the collection has it. Its tokens are
// among the rest, because providers send other things than texts for some.
type accountDocument struct {
	ID                bson.ObjectID  `bson:"_id"`
	UserID            bson.ObjectID  `bson:"userId"`
	Type              string         `bson:"type"`
	Provider          string         `bson:"provider"`
	ProviderAccountID string         `bson:"providerAccountId"`
	VerifiedEmail     string         `bson:"verifiedEmail,omitempty"`
	Rest              map[string]any `bson:",inline"`
}

// accountFields are the fields that identify an account and its owner. Members of
// a provider's token response with these names are not kept.
var accountFields = []string{"_id", "id", "userId", "type", "provider", "providerAccountId", "verifiedEmail"}

// A tokenField is a field of an account that is a text.
type tokenField struct {
	name string
	text *string
}

func tokenFields(a *pintle.Account) []tokenField {
	return []tokenField{
		{"access_token", &a.AccessToken},
		{"refresh_token", &a.RefreshToken},
		{"id_token", &a.IDToken},
		{"token_type", &a.TokenType},
		{"scope", &a.Scope},
		{"oauth_token", &a.OAuthToken},
		{"oauth_token_secret", &a.OAuthTokenSecret},
	}
}

const (
	expiresAt    = "expires_at"
	sessionState = "session_state"
)

// tokens returns what an account has beside its owner, by field.
func tokens(a *pintle.Account) (map[string]any, error) {
	rest, err := toDocument(a.Extra, accountFields...)
	if err != nil {
		return nil, err
	}
	for _, field := range tokenFields(a) {
		if !storable(*field.text) {
			return nil, fmt.Errorf("%s: %w", field.name, errNotText)
		}
		if *field.text != "" {
			rest[field.name] = *field.text
		}
	}
	if a.ExpiresAt != 0 {
		rest[expiresAt] = a.ExpiresAt
	}
	delete(rest, sessionState)
	if a.SessionState != nil {
		if rest[sessionState], err = toBSON(a.SessionState); err != nil {
			return nil, fmt.Errorf("%s: %w", sessionState, err)
		}
	}
	return rest, nil
}

func (d *accountDocument) account() *pintle.Account {
	a := &pintle.Account{
		ID: d.ID.Hex(), UserID: d.UserID.Hex(), Type: pintle.ProviderType(d.Type), Provider: d.Provider, ProviderAccountID: d.ProviderAccountID,
		VerifiedEmail: d.VerifiedEmail,
	}
	rest := d.Rest
	for _, field := range tokenFields(a) {
		if text, ok := rest[field.name].(string); ok {
			*field.text = text
			delete(rest, field.name)
		}
	}
	if seconds, ok := unixSeconds(rest[expiresAt]); ok {
		a.ExpiresAt = seconds
		delete(rest, expiresAt)
	}
	a.SessionState = fromBSON(rest[sessionState])
	delete(rest, sessionState)
	for name, value := range rest {
		if value == nil { // Auth.js writes it for what a provider did not send
			delete(rest, name)
		}
	}
	if extra := fromDocument(rest, accountFields...); len(extra) > 0 {
		a.Extra = extra
	}
	return a
}

// unixSeconds reads a number in the type any driver writes it in: that of
// JavaScript writes one of more than 32 bits as a double.
func unixSeconds(value any) (int64, bool) {
	switch v := value.(type) {
	case int32:
		return int64(v), true
	case int64:
		return v, true
	case float64:
		return int64(v), v == float64(int64(v))
	}
	return 0, false
}

func accountFilter(provider, providerAccountID string) (bson.D, bool) {
	filter := bson.D{{Key: "provider", Value: provider}, {Key: "providerAccountId", Value: providerAccountID}}
	return filter, storable(provider, providerAccountID)
}

// accountOwner returns the owner of an account.
func (s *Store) accountOwner(ctx context.Context, provider, providerAccountID string) (*accountOwner, error) {
	filter, ok := accountFilter(provider, providerAccountID)
	if !ok {
		return nil, pintle.ErrNotFound
	}
	owner := options.FindOne().SetProjection(bson.D{{Key: "userId", Value: 1}})
	return decode[accountOwner](s.accounts.FindOne(ctx, filter, owner))
}

// LinkAccount implements [pintle.Store].
//
// An account whose owner does not exist any more is given to the new one. Such an
// account remains when a user signs in while being deleted, and would keep the
// person from ever signing in again.
func (s *Store) LinkAccount(ctx context.Context, a *pintle.Account) error {
	owner, ok := objectID(a.UserID)
	if !ok {
		return absent(ctx)
	}
	if !storable(string(a.Type), a.Provider, a.ProviderAccountID, a.VerifiedEmail) {
		return fail(ctx, "link account", errNotText)
	}
	rest, err := tokens(a)
	if err != nil {
		return fail(ctx, "link account", err)
	}
	document := accountDocument{
		ID: bson.NewObjectID(), UserID: owner, Type: string(a.Type),
		Provider: a.Provider, ProviderAccountID: a.ProviderAccountID, VerifiedEmail: a.VerifiedEmail, Rest: rest,
	}
	_, err = s.accounts.InsertOne(ctx, document)
	if mongo.IsDuplicateKeyError(err) {
		var abandoned bool
		if abandoned, err = s.removeAbandoned(ctx, a); err == nil && !abandoned {
			return fail(ctx, "link account", pintle.ErrConflict)
		}
		if err == nil {
			_, err = s.accounts.InsertOne(ctx, document)
		}
	}
	if err == nil {
		err = s.belongs(ctx, owner, s.accounts, document.ID)
	}
	return fail(ctx, "link account", err)
}

// belongs fails with ErrNotFound, and removes a document that was stored for a
// user, when the user does not exist. DeleteUser looks for such documents once
// more when the user is gone, so that one of the two finds it.
func (s *Store) belongs(ctx context.Context, owner bson.ObjectID, c *mongo.Collection, id any) error {
	err := s.users.FindOne(ctx, bson.D{{Key: "_id", Value: owner}}, options.FindOne().SetProjection(bson.D{{Key: "_id", Value: 1}})).Err()
	if err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	_, undone := c.DeleteOne(ctx, bson.D{{Key: "_id", Value: id}})
	if missing(err) {
		err = pintle.ErrNotFound
	}
	return errors.Join(err, undone)
}

// removeAbandoned removes an account whose owner does not exist, and reports
// whether it is gone.
func (s *Store) removeAbandoned(ctx context.Context, a *pintle.Account) (bool, error) {
	held, err := s.accountOwner(ctx, a.Provider, a.ProviderAccountID)
	if missing(err) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	err = s.users.FindOne(ctx, bson.D{{Key: "_id", Value: held.UserID}}).Err()
	if !missing(err) {
		return false, err
	}
	_, err = s.accounts.DeleteOne(ctx, bson.D{{Key: "_id", Value: held.ID}})
	return err == nil, err
}

// Account implements [pintle.Store].
func (s *Store) Account(ctx context.Context, provider, providerAccountID string) (*pintle.Account, error) {
	filter, ok := accountFilter(provider, providerAccountID)
	if !ok {
		return nil, absent(ctx)
	}
	document, err := decode[accountDocument](s.accounts.FindOne(ctx, filter))
	if err != nil {
		return nil, fail(ctx, "find account", err)
	}
	return document.account(), nil
}

// UserAccounts implements [pintle.Store]. The accounts are in the order
// in which they were linked.
func (s *Store) UserAccounts(ctx context.Context, userID string) ([]*pintle.Account, error) {
	owner, ok := objectID(userID)
	if !ok {
		return nil, ctx.Err()
	}
	oldest := options.Find().SetSort(bson.D{{Key: "_id", Value: 1}})
	documents, err := all[accountDocument](ctx, s.accounts, bson.D{{Key: "userId", Value: owner}}, oldest)
	if err != nil {
		return nil, fail(ctx, "list accounts", err)
	}
	accounts := make([]*pintle.Account, len(documents))
	for i, document := range documents {
		accounts[i] = document.account()
	}
	return accounts, nil
}

// UpdateAccount implements [pintle.Store]. Members of Extra that are not
// given stay.
func (s *Store) UpdateAccount(ctx context.Context, a *pintle.Account) error {
	return s.updateAccount(ctx, "update account", a)
}

// SwapAccount implements [pintle.Store]. Members of Extra that are not given stay.
func (s *Store) SwapAccount(ctx context.Context, a *pintle.Account, old string) error {
	if !storable(old) {
		old = errNotText.Error() // no token
	}
	stored := bson.E{Key: "refresh_token", Value: old}
	if old == "" {
		// A document without the field matches null.
		stored.Value = bson.D{{Key: "$in", Value: bson.A{nil, ""}}}
	}
	err := s.updateAccount(ctx, "swap account", a, stored)
	if !errors.Is(err, pintle.ErrNotFound) {
		return err
	}
	switch _, err := s.accountOwner(ctx, a.Provider, a.ProviderAccountID); {
	case missing(err), errors.Is(err, pintle.ErrNotFound):
		return absent(ctx)
	case err != nil:
		return fail(ctx, "swap account", err)
	}
	return fail(ctx, "swap account", pintle.ErrConflict)
}

// updateAccount replaces the tokens of an account that meets further conditions. It
// fails with ErrNotFound if none does.
func (s *Store) updateAccount(ctx context.Context, operation string, a *pintle.Account, conditions ...bson.E) error {
	filter, ok := accountFilter(a.Provider, a.ProviderAccountID)
	if !ok {
		return absent(ctx)
	}
	filter = append(filter, conditions...)
	set, err := tokens(a)
	if err != nil {
		return fail(ctx, operation, err)
	}
	var unset bson.D
	drop := func(name string) {
		if _, given := set[name]; !given {
			unset = append(unset, bson.E{Key: name, Value: ""})
		}
	}
	for _, field := range tokenFields(a) {
		drop(field.name)
	}
	drop(expiresAt)
	drop(sessionState)
	var update bson.D
	if len(set) > 0 {
		update = append(update, bson.E{Key: "$set", Value: set})
	}
	if len(unset) > 0 {
		update = append(update, bson.E{Key: "$unset", Value: unset})
	}
	result, err := s.accounts.UpdateOne(ctx, filter, update)
	if err == nil && result.MatchedCount == 0 {
		err = pintle.ErrNotFound
	}
	return fail(ctx, operation, err)
}
