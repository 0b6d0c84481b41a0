package storetest

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle/accountstore"
)

// due is a mutant that lists the users who are due in another way.
func due(name string, list func(ctx context.Context, good accountstore.Store, at time.Time, after string, limit int) ([]string, error), noticed string) mutant {
	return altering(name, func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, dueUsers: func(ctx context.Context, at time.Time, after string, limit int) ([]string, error) {
			return list(ctx, good, at, after, limit)
		}}
	}, noticed)
}

// usersOf is a mutant that lists the users of factors in another way.
func usersOf(name string, list func(ctx context.Context, good accountstore.Store, kind, after string, limit int) ([]string, error), noticed string) mutant {
	return altering(name, func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, factorUsers: func(ctx context.Context, kind, after string, limit int) ([]string, error) {
			return list(ctx, good, kind, after, limit)
		}}
	}, noticed)
}

const isPage = "a page is the next ids"

func listMutants() []mutant {
	return []mutant{
		due("users are due a millisecond early", func(ctx context.Context, good accountstore.Store, at time.Time, after string, limit int) ([]string, error) {
			return good.DueUsers(ctx, at.Add(time.Millisecond), after, limit)
		}, "the users who are due"),
		due("users are due a millisecond late", func(ctx context.Context, good accountstore.Store, at time.Time, after string, limit int) ([]string, error) {
			return good.DueUsers(ctx, at.Add(-time.Millisecond), after, limit)
		}, "the users who are due"),
		due("all users to be deleted are due", func(ctx context.Context, good accountstore.Store, _ time.Time, after string, limit int) ([]string, error) {
			return good.DueUsers(ctx, accountstore.Forever, after, limit)
		}, "the users who are due"),
		due("no user is due", func(ctx context.Context, _ accountstore.Store, _ time.Time, _ string, _ int) ([]string, error) {
			return nil, ctx.Err()
		}, "a user who is no longer to be deleted"),
		due("pages of due users begin with the user before", func(ctx context.Context, good accountstore.Store, at time.Time, after string, limit int) ([]string, error) {
			page, err := good.DueUsers(ctx, at, after, limit)
			if after != "" && len(page) > 0 {
				page = append([]string{after}, page...)[:len(page)]
			}
			return page, err
		}, isPage),
		due("pages of due users have one more than the limit", func(ctx context.Context, good accountstore.Store, at time.Time, after string, limit int) ([]string, error) {
			return good.DueUsers(ctx, at, after, limit+1)
		}, isPage),
		due("pages of due users are in another order", func(ctx context.Context, good accountstore.Store, at time.Time, after string, limit int) ([]string, error) {
			page, err := good.DueUsers(ctx, at, after, limit)
			slices.Reverse(page)
			return page, err
		}, isPage),
		due("pages of due users skip one", func(ctx context.Context, good accountstore.Store, at time.Time, after string, limit int) ([]string, error) {
			page, err := good.DueUsers(ctx, at, after, min(max(limit, 0), math.MaxInt-1)+1)
			return page[min(1, len(page)):], err
		}, isPage),
		due("a negative limit is none", func(ctx context.Context, good accountstore.Store, at time.Time, after string, limit int) ([]string, error) {
			if limit < 0 {
				limit = 100
			}
			return good.DueUsers(ctx, at, after, limit)
		}, isPage),
		due("ids with a colon are not listed", func(ctx context.Context, good accountstore.Store, at time.Time, after string, limit int) ([]string, error) {
			page, err := good.DueUsers(ctx, at, after, limit)
			return slices.DeleteFunc(page, func(id string) bool { return strings.Contains(id, ":") }), err
		}, "an id may be any text"),
		usersOf("a user is listed for each factor", func(ctx context.Context, good accountstore.Store, kind, after string, limit int) ([]string, error) {
			page, err := good.FactorUsers(ctx, kind, after, limit)
			var each []string
			for _, id := range page {
				factors, err := good.Factors(ctx, id)
				if err != nil {
					return nil, err
				}
				for _, f := range factors {
					if f.Kind == kind {
						each = append(each, id)
					}
				}
			}
			return each[:min(len(each), max(limit, 0))], err
		}, "a user of a factor is listed once"),
		usersOf("users of factors that have expired are not listed", func(ctx context.Context, good accountstore.Store, kind, after string, limit int) ([]string, error) {
			page, err := good.FactorUsers(ctx, kind, after, limit)
			return slices.DeleteFunc(page, func(id string) bool {
				factors, _ := good.Factors(ctx, id)
				return !slices.ContainsFunc(factors, func(f *accountstore.Factor) bool { return f.Kind == kind && f.Expires.After(now()) })
			}), err
		}, "a user of a factor is listed once"),
		usersOf("all kinds of factors are listed", func(ctx context.Context, good accountstore.Store, kind, after string, limit int) ([]string, error) {
			all := map[string]bool{}
			for _, of := range []string{kind, totp, device} {
				page, err := good.FactorUsers(ctx, of, after, limit)
				if err != nil {
					return nil, err
				}
				for _, id := range page {
					all[id] = true
				}
			}
			var ids []string
			for id := range all {
				ids = append(ids, id)
			}
			slices.Sort(ids)
			return ids[:min(len(ids), max(limit, 0))], nil
		}, "a user of a factor is listed once"),
		usersOf("kinds are compared without regard to case", func(ctx context.Context, good accountstore.Store, kind, after string, limit int) ([]string, error) {
			page, err := good.FactorUsers(ctx, kind, after, limit)
			other, otherErr := good.FactorUsers(ctx, strings.ToLower(kind), after, limit)
			if err == nil {
				err = otherErr
			}
			both := append(page, other...)
			slices.Sort(both)
			both = slices.Compact(both)
			return both[:min(len(both), max(limit, 0))], err
		}, "kinds of factors are compared byte by byte"),
		usersOf("pages of users of factors skip one", func(ctx context.Context, good accountstore.Store, kind, after string, limit int) ([]string, error) {
			page, err := good.FactorUsers(ctx, kind, after, max(limit, 0)+1)
			return page[min(1, len(page)):], err
		}, isPage),
	}
}
