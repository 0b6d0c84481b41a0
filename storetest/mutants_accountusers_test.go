package storetest

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/pintleauth/pintle/accountstore"
)

// userList is a mutant that lists users in another way.
func userList(name string, list func(ctx context.Context, good accountstore.Store, q accountstore.UserQuery) ([]*accountstore.User, string, error), noticed string) mutant {
	return altering(name, func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, listUsers: func(ctx context.Context, q accountstore.UserQuery) ([]*accountstore.User, string, error) {
			return list(ctx, good, q)
		}}
	}, noticed)
}

// asked is a mutant that asks another question.
func asked(name string, change func(*accountstore.UserQuery), noticed string) mutant {
	return userList(name, func(ctx context.Context, good accountstore.Store, q accountstore.UserQuery) ([]*accountstore.User, string, error) {
		change(&q)
		return good.Users(ctx, q)
	}, noticed)
}

// answered is a mutant that changes the page.
func answered(name string, change func(page []*accountstore.User, next string, q accountstore.UserQuery) ([]*accountstore.User, string), noticed string) mutant {
	return userList(name, func(ctx context.Context, good accountstore.Store, q accountstore.UserQuery) ([]*accountstore.User, string, error) {
		page, next, err := good.Users(ctx, q)
		page, next = change(page, next, q)
		return page, next, err
	}, noticed)
}

func userListMutants() []mutant {
	const (
		isList = "a list has each user once"
		byText = "an address and a name"
		isText = "AT-108"
		byRole = "a role is the whole"
		byWhat = "users are listed by"
	)
	// eachUser is a page of all users that a look at every one of them accepts.
	eachUser := func(accepts func(q accountstore.UserQuery, u *accountstore.User) bool) func(context.Context, accountstore.Store, accountstore.UserQuery) ([]*accountstore.User, string, error) {
		return func(ctx context.Context, good accountstore.Store, q accountstore.UserQuery) ([]*accountstore.User, string, error) {
			if _, err := strconv.Atoi(q.After); q.After != "" && err != nil {
				return nil, "", err
			}
			all, _, err := good.Users(ctx, accountstore.UserQuery{Limit: 1 << 20, At: q.At})
			all = slices.DeleteFunc(all, func(u *accountstore.User) bool { return !accepts(q, u) })
			begin, _ := strconv.Atoi(q.After)
			end := min(begin+max(q.Limit, 0), len(all))
			if end == len(all) || q.Limit <= 0 {
				return all[min(begin, end):end], "", err
			}
			return all[begin:end], strconv.Itoa(end), err
		}
	}
	return []mutant{
		answered("the oldest users come first", func(page []*accountstore.User, next string, _ accountstore.UserQuery) ([]*accountstore.User, string) {
			slices.Reverse(page)
			return page, next
		}, isList),
		answered("the last page is not empty", func(page []*accountstore.User, next string, q accountstore.UserQuery) ([]*accountstore.User, string) {
			if next == "" && q.Limit < 7 && len(page) > 0 {
				page = page[:len(page)-1]
			}
			return page, next
		}, isList),
		answered("a list ends after its first page", func(page []*accountstore.User, _ string, _ accountstore.UserQuery) ([]*accountstore.User, string) {
			return page, ""
		}, isList),
		asked("pages have one more than the limit", func(q *accountstore.UserQuery) { q.Limit++ }, isList),
		asked("a limit of 0 is none", func(q *accountstore.UserQuery) {
			if q.Limit <= 0 {
				q.Limit = 100
			}
		}, isList),
		answered("users have no state", func(page []*accountstore.User, next string, _ accountstore.UserQuery) ([]*accountstore.User, string) {
			for _, u := range page {
				u.State = accountstore.State{UserID: u.ID}
			}
			return page, next
		}, "a listed user has all"),
		answered("users without a state have no id in it", func(page []*accountstore.User, next string, _ accountstore.UserQuery) ([]*accountstore.User, string) {
			for _, u := range page {
				if u.State.Version == 0 {
					u.State.UserID = ""
				}
			}
			return page, next
		}, "a listed user has all"),
		answered("addresses are proven at no time", func(page []*accountstore.User, next string, _ accountstore.UserQuery) ([]*accountstore.User, string) {
			for _, u := range page {
				u.EmailVerified = u.Created
			}
			return page, next
		}, "a listed user has all"),
		userList("an address is found by its middle", eachUser(func(q accountstore.UserQuery, u *accountstore.User) bool {
			email := q.EmailPrefix
			other := q
			other.EmailPrefix = ""
			return strings.Contains(u.Email, email) && other.Selects(u)
		}), byText),
		userList("a name is found by its middle", eachUser(func(q accountstore.UserQuery, u *accountstore.User) bool {
			other := q
			other.NamePrefix = ""
			return strings.Contains(strings.ToLower(u.Name), strings.ToLower(q.NamePrefix)) && other.Selects(u)
		}), byText),
		asked("a name is found by capital letters only", func(q *accountstore.UserQuery) {
			if q.NamePrefix != strings.ToUpper(q.NamePrefix) {
				q.NamePrefix = "\x00"
			}
		}, byText),
		asked("the name is not asked for with an address", func(q *accountstore.UserQuery) {
			if q.EmailPrefix != "" {
				q.NamePrefix = ""
			}
		}, byText),
		userList("% is anything", eachUser(func(q accountstore.UserQuery, u *accountstore.User) bool {
			other := q
			other.EmailPrefix, _, _ = strings.Cut(q.EmailPrefix, "%")
			return other.Selects(u)
		}), isText),
		userList("_ is any character", eachUser(func(q accountstore.UserQuery, u *accountstore.User) bool {
			other := q
			if i := strings.Index(q.EmailPrefix, "a_b"); i > 0 && len(u.Email) > i+1 {
				other.EmailPrefix = q.EmailPrefix[:i+1] + u.Email[i+1:i+2] + q.EmailPrefix[i+2:]
			}
			return other.Selects(u)
		}), isText),
		userList("a role is a part of the text of the list", eachUser(func(q accountstore.UserQuery, u *accountstore.User) bool {
			other := q
			other.Role = ""
			return strings.Contains(strings.Join(u.State.Roles, ","), q.Role) && other.Selects(u)
		}), byRole),
		userList("a role is found in any case", eachUser(func(q accountstore.UserQuery, u *accountstore.User) bool {
			other := q
			other.Role = ""
			return (q.Role == "" || slices.ContainsFunc(u.State.Roles, func(r string) bool { return strings.EqualFold(r, q.Role) })) && other.Selects(u)
		}), byRole),
		asked("a ban lasts a millisecond longer", func(q *accountstore.UserQuery) { q.At = q.At.Add(-1e6) }, byWhat),
		asked("a ban ends a millisecond early", func(q *accountstore.UserQuery) { q.At = q.At.Add(1e6) }, byWhat),
		asked("bans are not asked for", func(q *accountstore.UserQuery) { q.Banned = nil }, byWhat),
		asked("deletions are not asked for", func(q *accountstore.UserQuery) { q.Deleting = nil }, byWhat),
		asked("proofs are not asked for", func(q *accountstore.UserQuery) { q.Unproved = nil }, byWhat),
		asked("second factors are not asked for", func(q *accountstore.UserQuery) { q.SecondFactor = nil }, byWhat),
		userList("users of a deferred sign-up are being deleted", eachUser(func(q accountstore.UserQuery, u *accountstore.User) bool {
			other := *u
			other.State.Claim = ""
			return q.Selects(&other)
		}), byWhat),
		userList("a remembered browser is a second factor", eachUser(func(q accountstore.UserQuery, u *accountstore.User) bool {
			other := *u
			other.SecondFactor = other.SecondFactor || strings.Contains(u.Email, "plain@")
			return q.Selects(&other)
		}), byWhat),
		userList("users without an address have not proven it", eachUser(func(q accountstore.UserQuery, u *accountstore.User) bool {
			other := q
			other.Unproved = nil
			return (q.Unproved == nil || *q.Unproved == u.EmailVerified.IsZero()) && other.Selects(u)
		}), "a user without an address has nothing"),
	}
}
