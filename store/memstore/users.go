package memstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/userlist"
)

// Users implements [accountstore.Store]. It looks at every user.
func (r accountRows) Users(ctx context.Context, q accountstore.UserQuery) (page []*accountstore.User, next string, err error) {
	order := userlist.Of(q.EmailPrefix, q.NamePrefix)
	var after userlist.Position
	if q.After != "" {
		if after, err = userlist.Read(q.After, order); err != nil {
			return nil, "", fmt.Errorf("memstore: list users: %w", err)
		}
	}
	if err := r.read(ctx); err != nil {
		return nil, "", err
	}
	defer r.readDone()
	place := func(u *accountstore.User) userlist.Position {
		key := map[userlist.Order]string{
			userlist.Newest: fmt.Sprintf("%016x", u.Created.UnixMilli()), userlist.ByEmail: u.Email, userlist.ByName: strings.ToLower(u.Name),
		}[order]
		return userlist.Position{Order: order, Key: key, ID: u.ID}
	}
	compare := func(a, b userlist.Position) int {
		n := cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.ID, b.ID))
		if order == userlist.Newest {
			return -n
		}
		return n
	}
	for row := range r.users.all() {
		u := r.listed(row)
		if q.Selects(u) && (q.After == "" || compare(place(u), after) > 0) {
			page = append(page, u)
		}
	}
	slices.SortFunc(page, func(a, b *accountstore.User) int { return compare(place(a), place(b)) })
	if limit := max(q.Limit, 0); len(page) > limit {
		page = page[:limit]
		if limit > 0 {
			next = place(page[limit-1]).Text()
		}
	}
	for _, u := range page {
		u.State.Roles = slices.Clone(u.State.Roles)
	}
	return page, next, nil
}

// listed is a user as a list has it.
func (r records) listed(row *user) *accountstore.User {
	u := &accountstore.User{
		ID: row.id(), Name: row.name(), Email: row.email(), Image: row.image(), Created: instant(row.created),
		State: r.stateOf(row.id()).row,
	}
	if row.verified != never {
		u.EmailVerified = instant(row.verified)
	}
	for key := range r.factors[row.id()] {
		u.SecondFactor = u.SecondFactor || key.kind == "totp"
	}
	return u
}
