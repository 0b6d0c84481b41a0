package mongostore

import (
	"context"
	"math"
	"regexp"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/userlist"
)

// userBatch is the least number of users that a list reads at a time.
const userBatch = 50

// Users implements [accountstore.Store]. The order is that of the ids, which begin with the
// time at which each was made. The users with a role, a ban or a planned deletion are found by
// their states, those of an address by the index of addresses, and any others by a look at each
// user, the newest first, until the page is full.
func (a accountStore) Users(ctx context.Context, q accountstore.UserQuery) (page []*accountstore.User, next string, err error) {
	if !storable(q.ID, q.EmailPrefix, q.NamePrefix, q.Role) || q.Limit <= 0 {
		return nil, "", ctx.Err()
	}
	after := userlist.Position{}
	if q.After != "" {
		if after, err = userlist.Read(q.After, userlist.Newest); err != nil {
			return nil, "", fail(ctx, "list users", err)
		}
		if _, ok := objectID(after.ID); !ok {
			return nil, "", ctx.Err()
		}
	}
	for from := after.ID; ; {
		batch, last, err := a.nextUsers(ctx, &q, from, max(min(q.Limit, math.MaxInt32-1)+1, userBatch))
		if err != nil {
			return nil, "", fail(ctx, "list users", err)
		}
		for _, u := range batch {
			switch {
			case !q.Selects(u):
			case len(page) == q.Limit:
				return page, userlist.Position{Order: userlist.Newest, ID: page[q.Limit-1].ID}.Text(), nil
			default:
				page = append(page, u)
			}
		}
		if from = last; from == "" {
			return page, "", ctx.Err()
		}
	}
}

// nextUsers returns users whose ids are less than from, the greatest first, among them all who
// fulfil the query, and the least id that it has looked at; empty if there are no more.
func (a accountStore) nextUsers(ctx context.Context, q *accountstore.UserQuery, from string, limit int) (users []*accountstore.User, last string, err error) {
	ids, last, byState, err := a.usersByState(ctx, q, from, limit)
	if err != nil || byState && len(ids) == 0 {
		return nil, last, err
	}
	filter := userFilter(q)
	switch key, ok := objectID(from); {
	case byState:
		filter = append(filter, bson.E{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}})
	case ok:
		filter = append(filter, bson.E{Key: "_id", Value: bson.D{{Key: "$lt", Value: key}}})
	}
	if q.ID != "" {
		key, ok := objectID(q.ID)
		if !ok {
			return nil, "", nil
		}
		filter = append(filter, bson.E{Key: "_id", Value: bson.D{{Key: "$eq", Value: key}}})
	}
	newest := options.Find().SetSort(bson.D{{Key: "_id", Value: -1}}).SetLimit(int64(limit))
	found, err := all[userDocument](ctx, a.users, bson.D{{Key: "$and", Value: each(filter)}}, newest)
	if err != nil {
		return nil, "", err
	}
	users, err = a.listed(ctx, found)
	if !byState && len(found) == limit {
		last = found[limit-1].ID.Hex()
	}
	return users, last, err
}

// each is a filter as a list, in which a field may occur twice. An empty one is fulfilled by
// every document.
func each(filter bson.D) bson.A {
	list := bson.A{bson.D{}}
	for _, e := range filter {
		list = append(list, bson.D{e})
	}
	return list
}

// userFilter has the conditions that the collection of users can decide.
func userFilter(q *accountstore.UserQuery) bson.D {
	filter := bson.D{}
	if q.EmailPrefix != "" { // $gte compares texts byte by byte
		filter = append(filter, bson.E{Key: "email", Value: bson.D{{Key: "$gte", Value: q.EmailPrefix}, {Key: "$lt", Value: q.EmailPrefix + "\U0010FFFF"}}})
	}
	if q.NamePrefix != "" {
		filter = append(filter, bson.E{Key: "name", Value: bson.Regex{Pattern: "^" + regexp.QuoteMeta(q.NamePrefix), Options: "i"}})
	}
	return filter
}

// usersByState finds users by what only their states have, if the query asks for that. The ids
// of users are texts there, whose order is that of the ids.
func (a accountStore) usersByState(ctx context.Context, q *accountstore.UserQuery, from string, limit int) (ids bson.A, last string, asked bool, err error) {
	filter := bson.D{}
	wanted := func(b *bool) bool { return b != nil && *b }
	if q.Role != "" {
		filter = append(filter, bson.E{Key: "roles", Value: q.Role})
	}
	if wanted(q.Banned) {
		filter = append(filter, bson.E{Key: "bannedUntil", Value: bson.D{{Key: "$gt", Value: millisecond(q.At)}}})
	}
	if wanted(q.Deleting) {
		filter = append(filter, bson.E{Key: "deleteAt", Value: bson.D{{Key: "$type", Value: "date"}}})
	}
	if len(filter) == 0 {
		return nil, "", false, nil
	}
	if from != "" {
		filter = append(filter, bson.E{Key: "_id", Value: bson.D{{Key: "$lt", Value: from}}})
	}
	newest := options.Find().SetSort(bson.D{{Key: "_id", Value: -1}}).SetLimit(int64(limit)).SetProjection(bson.D{{Key: "_id", Value: 1}})
	found, err := all[stateDocument](ctx, a.states, filter, newest)
	for _, s := range found {
		if key, ok := objectID(s.ID); ok {
			ids = append(ids, key)
		}
	}
	if len(found) == limit {
		last = found[limit-1].ID
	}
	return ids, last, true, err
}

// listed reads what is kept of users.
func (a accountStore) listed(ctx context.Context, users []*userDocument) ([]*accountstore.User, error) {
	if len(users) == 0 {
		return nil, nil
	}
	ids := make(bson.A, len(users))
	for i, u := range users {
		ids[i] = u.ID.Hex()
	}
	among := bson.D{{Key: "$in", Value: ids}}
	states, err := all[stateDocument](ctx, a.states, bson.D{{Key: "_id", Value: among}})
	if err != nil {
		return nil, err
	}
	second, err := all[factorDocument](ctx, a.factors, bson.D{{Key: "userId", Value: among}, {Key: "kind", Value: "totp"}},
		options.Find().SetProjection(bson.D{{Key: "userId", Value: 1}}))
	if err != nil {
		return nil, err
	}
	byUser, hasSecond := map[string]*stateDocument{}, map[string]bool{}
	for _, s := range states {
		byUser[s.ID] = s
	}
	for _, f := range second {
		hasSecond[f.UserID] = true
	}
	list := make([]*accountstore.User, len(users))
	for i, d := range users {
		u := d.user()
		state := byUser[u.ID]
		if state == nil {
			state = &stateDocument{ID: u.ID}
		}
		list[i] = &accountstore.User{
			ID: u.ID, Name: u.Name, Email: u.Email, EmailVerified: u.EmailVerified, Image: u.Image, Created: d.ID.Timestamp().UTC(),
			State: *state.state(), SecondFactor: hasSecond[u.ID],
		}
	}
	return list, nil
}
