package xatastore

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/uuid"
)

// The join table determines the owner of an account: Auth.js unlinks an account by
// removing its record there, and leaves the record of the account.

// LinkAccount implements [pintle.Store].
func (s *Store) LinkAccount(ctx context.Context, a *pintle.Account) error {
	return fail(ctx, "link account", s.linkAccount(ctx, a))
}

func (s *Store) linkAccount(ctx context.Context, a *pintle.Account) error {
	if !isID(a.UserID) {
		return absent(ctx)
	}
	fields, err := s.tokens(a)
	if err != nil {
		return err
	}
	if err := storable(string(a.Type), a.Provider, a.ProviderAccountID, a.VerifiedEmail); err != nil {
		return err
	}
	if s.client.Extended {
		fields["verified_email"] = textOrNull(a.VerifiedEmail)
	}
	fields["user"], fields["type"] = a.UserID, textOrNull(string(a.Type))
	fields["provider"], fields["providerAccountId"] = a.Provider, a.ProviderAccountID
	l := link{account: idOf(a.Provider, a.ProviderAccountID), join: uuid.New(), fields: fields, of: a}
	found, err := s.findLinks(ctx, a.Provider, a.ProviderAccountID)
	if err != nil {
		return err
	}
	if found.owned != nil {
		return pintle.ErrConflict
	}
	_, err = s.client.transaction(ctx, l.operations(s.names, nil)...)
	if no := refused(err); no != nil {
		return s.refusedLink(ctx, l, no)
	}
	return err
}

// A link is an account about to be linked. All calls that link one account use the
// same id for its record, so that the service lets one of them create it.
// The id of the join record is new each time, and identifies the attempt.
type link struct {
	account, join string
	fields        record
	of            *pintle.Account
}

func (l link) operations(n names, left *leftover) []operation {
	join := insertNew(n.userAccounts, l.join, record{"user": l.of.UserID, "account": l.account})
	if left == nil {
		return []operation{insertNew(n.accounts, l.account, l.fields), join}
	}
	return append(left.joins, updateVersion(n.accounts, l.account, left.version, l.fields), join)
}

// A leftover is an account's record to which no join record leads: Auth.js
// unlinked it, or deleted its user.
type leftover struct {
	version int64
	joins   []operation // remove join records without a user
}

// refusedLink finds out why an account was not linked, and takes over its record
// if it belonged to a user before.
func (s *Store) refusedLink(ctx context.Context, l link, no *Error) error {
	if no.maybeDone {
		mine, err := s.client.read(ctx, s.names.userAccounts, l.join)
		if err != nil || mine != nil {
			return err // linked by the attempt that got no answer, if there is no error
		}
	}
	// The version first: an account that is linked after this has another.
	there, err := s.client.read(ctx, s.names.accounts, l.account)
	if err != nil {
		return err
	}
	found, err := s.findLinks(ctx, l.of.Provider, l.of.ProviderAccountID)
	if err != nil {
		return err
	}
	if found.owned != nil {
		return pintle.ErrConflict
	}
	if missing := s.noUser(ctx, l.of.UserID); missing != nil {
		return missing
	}
	if there == nil {
		return no // for want of a column
	}
	left := &leftover{}
	if left.version, err = there.version(); err != nil {
		return err
	}
	for _, join := range found.stale {
		left.joins = append(left.joins, remove(s.names.userAccounts, join))
	}
	_, err = s.client.transaction(ctx, l.operations(s.names, left)...)
	if refused(err) == nil {
		return err
	}
	found, look := s.findLinks(ctx, l.of.Provider, l.of.ProviderAccountID)
	if look == nil && found.owned != nil {
		if found.join == l.join {
			return nil
		}
		return pintle.ErrConflict
	}
	return errors.Join(look, err)
}

// links are what the join table has about one account.
type links struct {
	owned  *pintle.Account // nil without an owner
	user   record
	record string   // the id of the account's own record, when owned
	join   string   // the id of the join record, when owned
	stale  []string // the ids of join records without a user
}

// findLinks returns to whom an account belongs.
func (s *Store) findLinks(ctx context.Context, provider, accountID string) (links, error) {
	var found links
	for r, err := range s.client.query(ctx, s.names.userAccounts, []string{"user.*", "account.*"},
		condition{"account.providerAccountId": accountID}, condition{"account.provider": provider}) {
		if err != nil {
			return links{}, err
		}
		c := &reader{record: r}
		user, account := c.link("user"), c.link("account")
		if c.err != nil {
			return links{}, c.err
		}
		switch {
		case account == nil || account["provider"] != provider || account["providerAccountId"] != accountID:
			// Another account than the requested one.
		case user == nil:
			found.stale = append(found.stale, r.id())
		default:
			a, err := s.account(account, user.id())
			return links{owned: a, user: user, record: account.id(), join: r.id()}, err
		}
	}
	return found, nil
}

// find returns the links of an account that has an owner.
func (s *Store) find(ctx context.Context, provider, accountID string) (links, error) {
	if storable(provider, accountID) != nil {
		return links{}, absent(ctx)
	}
	found, err := s.findLinks(ctx, provider, accountID)
	if err == nil && found.owned == nil {
		err = pintle.ErrNotFound
	}
	return found, err
}

// Account implements [pintle.Store].
func (s *Store) Account(ctx context.Context, provider, providerAccountID string) (*pintle.Account, error) {
	found, err := s.find(ctx, provider, providerAccountID)
	if err != nil {
		return nil, fail(ctx, "find account", err)
	}
	return found.owned, nil
}

// UserByAccount implements [pintle.Store].
func (s *Store) UserByAccount(ctx context.Context, provider, providerAccountID string) (*pintle.User, error) {
	found, err := s.find(ctx, provider, providerAccountID)
	if err != nil {
		return nil, fail(ctx, "find user by account", err)
	}
	u, err := s.user(found.user)
	return u, fail(ctx, "find user by account", err)
}

// UserAccounts implements [pintle.Store]. The accounts are in the order
// of their providers' names.
func (s *Store) UserAccounts(ctx context.Context, userID string) ([]*pintle.Account, error) {
	if !isID(userID) {
		return nil, ctx.Err()
	}
	var accounts []*pintle.Account
	for r, err := range s.client.query(ctx, s.names.userAccounts, []string{"user", "account.*"}, condition{"user.id": userID}) {
		if err != nil {
			return nil, fail(ctx, "list accounts", err)
		}
		c := &reader{record: r}
		user, linked := c.link("user"), c.link("account")
		if c.err != nil {
			return nil, fail(ctx, "list accounts", c.err)
		}
		if linked == nil || user.id() != userID {
			continue
		}
		a, err := s.account(linked, userID)
		if err != nil {
			return nil, fail(ctx, "list accounts", err)
		}
		accounts = append(accounts, a)
	}
	slices.SortFunc(accounts, func(a, b *pintle.Account) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.ProviderAccountID, b.ProviderAccountID))
	})
	return accounts, nil
}
