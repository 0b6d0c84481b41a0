package storetest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle/accountstore"
)

// accountListChecks are promises for the lists of users. The store may have rows of other
// checks: each check looks at users whose ids are its own.
var accountListChecks = []check{
	{"the users who are due are those whose time of deletion has come, to the millisecond", func(t *tester) {
		rows := t.rows()
		at := now().Add(-time.Hour).Add(123 * time.Millisecond)
		begin := unique()
		for i, deleteAt := range []time.Time{at.Add(-24 * time.Hour), at, at.Add(time.Millisecond), now().Add(time.Hour), accountstore.Forever, {}} {
			s := newState(fmt.Sprint(begin, i))
			s.DeleteAt, s.BannedUntil = deleteAt, at.Add(-time.Hour)
			t.changeState(s)
		}
		_, err := rows.CountFailure(t.ctx, begin+"failed", now(), time.Hour, noLimit)
		t.ok("CountFailure", err)
		t.users("DueUsers", t.dueUsers(at.Add(999*time.Microsecond)), begin, begin+"0", begin+"1")
		t.users("DueUsers", t.dueUsers(at.Add(time.Millisecond)), begin, begin+"0", begin+"1", begin+"2")
	}},
	{"a user who is no longer to be deleted is not due", func(t *tester) {
		t.rows()
		id, at := unique(), now()
		s := newState(id)
		s.DeleteAt = at.Add(-time.Hour)
		s = t.changeState(s)
		t.users("DueUsers", t.dueUsers(at), id, id)
		s.DeleteAt = time.Time{}
		t.changeState(s)
		t.users("DueUsers", t.dueUsers(at), id)
	}},
	{"a user of a factor is listed once for each of its kinds, and not once it is gone", func(t *tester) {
		rows := t.rows()
		begin := unique()
		for i := range 3 {
			id := fmt.Sprint(begin, i)
			t.addFactor(newFactor(id, totp))
			t.addFactor(newFactor(id, totp))
			t.addFactor(newFactor(id, device))
		}
		expired := newFactor(begin+"3", totp)
		expired.Expires = now().Add(-time.Minute)
		t.addFactor(expired)
		t.addFactor(newFactor(begin+"4", device))
		t.users("FactorUsers", t.factorUsers(totp), begin, begin+"0", begin+"1", begin+"2", begin+"3")
		t.users("FactorUsers", t.factorUsers(device), begin, begin+"0", begin+"1", begin+"2", begin+"4")
		_, err := rows.DeleteFactors(t.ctx, begin+"1", []string{totp}, nil)
		t.ok("DeleteFactors", err)
		t.users("FactorUsers", t.factorUsers(totp), begin, begin+"0", begin+"2", begin+"3")
	}},
	{"kinds of factors are compared byte by byte", func(t *tester) {
		t.rows()
		begin, kind := unique(), unique()
		kinds := []string{kind + "a", kind + "A", kind + "a ", kind + "a:", kind + "a%", kind + "ä"}
		for i, kind := range kinds {
			t.addFactor(newFactor(fmt.Sprint(begin, i), kind))
		}
		for i, kind := range kinds {
			t.users("FactorUsers", t.factorUsers(kind), begin, fmt.Sprint(begin, i))
		}
		t.users("FactorUsers", t.factorUsers(kind), begin)
	}},
	{"a page is the next ids in the order of their bytes, and no more than the limit", func(t *tester) {
		rows := t.rows()
		at, kind := now(), unique()
		ids := []string{"Z", "a", "a!", "a*", "a[", "aa", "b", "z", "ß", "ä", "山", "🔑"}
		begin := unique()
		for i, id := range ids {
			ids[i] = begin + id
			s := newState(ids[i])
			s.DeleteAt = at.Add(-time.Hour)
			t.changeState(s)
			for range 3 {
				t.addFactor(newFactor(ids[i], kind))
			}
		}
		slices.Sort(ids)
		for name, list := range t.lists(rows, at, kind) {
			for _, limit := range []int{1, 3, len(ids)} {
				for first := range ids {
					page, err := list(t.ctx, ids[first], limit)
					t.ok(name, err)
					want := ids[first+1 : min(first+1+limit, len(ids))]
					if len(want) < limit { // ids of other checks follow
						page = page[:min(len(page), len(want))]
					}
					t.same(fmt.Sprintf("%s, the page of %d after %q", name, limit, ids[first]), fmt.Sprintf("%q", page), fmt.Sprintf("%q", want))
				}
			}
			for _, limit := range []int{0, -1, math.MinInt} {
				page, err := list(t.ctx, "", limit)
				t.ok(name, err)
				if len(page) > 0 {
					t.Errorf("%s with the limit %d returned %q", name, limit, page)
				}
			}
		}
	}},
	{"an id may be any text", func(t *tester) {
		rows := t.rows()
		at, kind := now(), unique()
		for _, id := range hostile {
			s := newState(id)
			s.DeleteAt = at.Add(-time.Hour)
			found, err := rows.State(t.ctx, id)
			t.ok("State", err)
			s.Version = found.Version // another check may have used it
			t.changeState(s)
			t.addFactor(newFactor(id, kind))
		}
		for name, list := range t.lists(rows, at, kind) {
			listed := t.pages(name, list)
			for _, id := range hostile {
				if id != "" && !slices.Contains(listed, id) {
					t.Errorf("%s does not list %q", name, id)
				}
			}
		}
	}},
}

// A list is one of the lists of users.
type list func(ctx context.Context, after string, limit int) ([]string, error)

func (t *tester) lists(rows accountstore.Store, at time.Time, kind string) map[string]list {
	return map[string]list{
		"DueUsers": func(ctx context.Context, after string, limit int) ([]string, error) {
			return rows.DueUsers(ctx, at, after, limit)
		},
		"FactorUsers": func(ctx context.Context, after string, limit int) ([]string, error) {
			return rows.FactorUsers(ctx, kind, after, limit)
		},
	}
}

// pages returns all ids of a list, which it reads in pages.
func (t *tester) pages(name string, l list) (all []string) {
	t.Helper()
	const limit = 7
	after := ""
	for {
		page, err := l(t.ctx, after, limit)
		t.ok(name, err)
		for _, id := range page {
			if id <= after {
				t.Fatalf("%s returned %q after %q", name, id, after)
			}
			after = id
		}
		all = append(all, page...)
		if len(page) > limit {
			t.Fatalf("%s returned %d ids, and the limit is %d", name, len(page), limit)
		}
		if len(page) < limit {
			return all
		}
	}
}

func (t *tester) dueUsers(at time.Time) []string {
	t.Helper()
	return t.pages("DueUsers", t.lists(t.rows(), at, "")["DueUsers"])
}

func (t *tester) factorUsers(kind string) []string {
	t.Helper()
	return t.pages("FactorUsers", t.lists(t.rows(), now(), kind)["FactorUsers"])
}

// users checks which of the ids that begin with a text are in a list.
func (t *tester) users(name string, listed []string, begin string, want ...string) {
	t.Helper()
	own := slices.DeleteFunc(slices.Clone(listed), func(id string) bool { return !strings.HasPrefix(id, begin) })
	t.same(name, fmt.Sprintf("%q", own), fmt.Sprintf("%q", want))
}
