package storetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// accountUserChecks are promises for the list of users. The store may have users of other
// checks: each check looks at those with a role, an address or a name of its own.
var accountUserChecks = []check{
	{"a list has each user once, whatever the size of its pages, the newest first", func(t *tester) {
		t.rows()
		role := unique()
		var made []string
		begun := time.Now()
		for range 7 {
			u := t.someone()
			made = append(made, u.ID)
			t.gives(u, func(s *accountstore.State) { s.Roles = []string{"b", role, "a"} })
			for at := time.Now().UnixMilli(); time.Now().UnixMilli() == at; { // the next one is newer
			}
		}
		all := t.list(accountstore.UserQuery{Role: role, Limit: 100})
		if len(all) != len(made) {
			t.Fatalf("the list has %d users, want %d", len(all), len(made))
		}
		knows := !slices.ContainsFunc(all, func(u *accountstore.User) bool { return u.Created.IsZero() })
		want := slices.Clone(made)
		slices.Reverse(want)
		if knows { // when it made them
			t.same("the list", fmt.Sprint(idsOf(all)), fmt.Sprint(want))
		}
		for _, u := range all {
			if d := u.Created.Sub(begun); knows && (d < -2*time.Second || d > time.Minute) {
				t.Errorf("a user was made at %s, %s after the begin", u.Created, d)
			}
		}
		for _, limit := range []int{1, 2, 3, 7} {
			t.same(fmt.Sprint("the pages of ", limit), fmt.Sprint(idsOf(t.list(accountstore.UserQuery{Role: role, Limit: limit}))), fmt.Sprint(idsOf(all)))
		}
		for _, limit := range []int{0, -1} {
			page, next, err := t.rows().Users(t.ctx, accountstore.UserQuery{Role: role, Limit: limit})
			t.ok("Users", err)
			if len(page) > 0 || next != "" {
				t.Errorf("Users with the limit %d returned %d users and the text %q", limit, len(page), next)
			}
		}
	}},
	{"a listed user has all that is kept of them", func(t *tester) {
		t.rows()
		for _, u := range []*pintle.User{t.someone(), t.createUser(&pintle.User{Email: unique() + "@example.org"})} {
			want := newState(u.ID)
			want.Claim = ""
			want = t.changeState(want)
			got := t.only(accountstore.UserQuery{ID: u.ID, Limit: 2})
			t.same("the user", described(&pintle.User{ID: got.ID, Name: got.Name, Email: got.Email, EmailVerified: got.EmailVerified, Image: got.Image}), described(u))
			t.same("the state of the user", describedState(&got.State), describedState(want))
			bare := t.only(accountstore.UserQuery{ID: t.someone().ID, Limit: 2})
			t.same("the state of a user without one", describedState(&bare.State), describedState(&accountstore.State{UserID: bare.ID}))
		}
	}},
	{"an address and a name are found by their beginnings", func(t *tester) {
		t.rows()
		begin := unique()
		ada := t.createUser(&pintle.User{Name: "Ada " + begin, Email: begin + ".ada@example.org"})
		bob := t.createUser(&pintle.User{Name: begin + " Bob", Email: begin + ".bob@example.org"})
		eve := t.createUser(&pintle.User{Name: strings.ToUpper(begin) + " Eve", Email: "x" + begin + "@example.org"})
		t.finds(accountstore.UserQuery{EmailPrefix: begin}, ada.ID, bob.ID)
		t.finds(accountstore.UserQuery{EmailPrefix: begin + ".ada@example.org"}, ada.ID)
		t.finds(accountstore.UserQuery{EmailPrefix: begin + ".ada@example.orgx"})
		t.finds(accountstore.UserQuery{EmailPrefix: begin, NamePrefix: begin}, bob.ID)
		t.finds(accountstore.UserQuery{NamePrefix: begin}, bob.ID, eve.ID)
		t.finds(accountstore.UserQuery{NamePrefix: strings.ToUpper(begin)}, bob.ID, eve.ID)
		t.finds(accountstore.UserQuery{NamePrefix: "ada " + begin}, ada.ID)
		t.finds(accountstore.UserQuery{NamePrefix: begin + strings.Repeat("x", 200)})
		name, email := begin+" Ada", "moved."+begin+"@example.org"
		_, err := t.store.UpdateUser(t.ctx, ada.ID, pintle.UserUpdate{Name: &name, Email: &email})
		t.ok("UpdateUser", err)
		t.finds(accountstore.UserQuery{EmailPrefix: begin}, bob.ID)
		t.finds(accountstore.UserQuery{EmailPrefix: "moved." + begin}, ada.ID)
		t.finds(accountstore.UserQuery{NamePrefix: begin}, ada.ID, bob.ID, eve.ID)
	}},
	{"AT-108 what is searched for is text", func(t *tester) {
		t.rows()
		begin := unique()
		u := t.createUser(&pintle.User{Name: begin + "aXb", Email: begin + "axb@example.org"})
		t.gives(u, func(s *accountstore.State) { s.Roles = []string{begin + "axb"} })
		for _, text := range append([]string{"a_b", "a%b", "%", "a.b", ".*", "a*", "[a]", "^a", "(?i)a", `a\`, `"`, `","`, `a","x`}, hostile...) {
			t.finds(accountstore.UserQuery{EmailPrefix: begin + text})
			t.finds(accountstore.UserQuery{NamePrefix: begin + text})
			t.finds(accountstore.UserQuery{Role: begin + text})
			t.finds(accountstore.UserQuery{Role: text, EmailPrefix: begin})
			t.finds(accountstore.UserQuery{ID: text, EmailPrefix: begin})
			t.finds(accountstore.UserQuery{ID: u.ID + text})
			page, _, err := t.rows().Users(t.ctx, accountstore.UserQuery{EmailPrefix: begin + "q", After: text, Limit: 10})
			if err == nil && len(page) > 0 {
				t.Errorf("a list that continues with %q returned %v", text, idsOf(page))
			}
		}
		for _, text := range unstorable {
			for _, q := range []accountstore.UserQuery{{EmailPrefix: begin + text}, {NamePrefix: begin + text}, {Role: text, EmailPrefix: begin}, {ID: text, EmailPrefix: begin}} {
				q.Limit = 10
				if page, _, err := t.rows().Users(t.ctx, q); err == nil && len(page) > 0 {
					t.Errorf("the search for %q returned %v", text, idsOf(page))
				}
			}
		}
	}},
	{"a role is the whole of one of the roles", func(t *tester) {
		t.rows()
		role := unique()
		a, b := t.someone(), t.someone()
		t.gives(a, func(s *accountstore.State) { s.Roles = []string{role + "admin", role + "user"} })
		t.gives(b, func(s *accountstore.State) { s.Roles = []string{role + "administrator"} })
		t.finds(accountstore.UserQuery{Role: role + "admin"}, a.ID)
		t.finds(accountstore.UserQuery{Role: role + "user"}, a.ID)
		t.finds(accountstore.UserQuery{Role: role + "administrator"}, b.ID)
		t.finds(accountstore.UserQuery{Role: role})
		t.finds(accountstore.UserQuery{Role: role + "Admin"})
		t.finds(accountstore.UserQuery{Role: role + "admin,user"})
		t.gives(a, func(s *accountstore.State) { s.Roles = nil })
		t.finds(accountstore.UserQuery{Role: role + "admin"})
	}},
	{"users are listed by ban, deletion, proof and second factor", func(t *tester) {
		t.rows()
		begin, at := unique(), now().Add(123*time.Millisecond)
		u := func(n string, proven bool, change func(*accountstore.State)) string {
			made := &pintle.User{Name: "name", Email: begin + n + "@example.org"}
			if proven {
				made.EmailVerified = now()
			}
			made = t.createUser(made)
			if change != nil {
				t.gives(made, change)
			}
			return made.ID
		}
		plain := u("plain", true, nil)
		unproven := u("unproven", false, func(s *accountstore.State) { s.Claim = "claimed@example.org" })
		banned := u("banned", true, func(s *accountstore.State) { s.BannedUntil = at.Add(time.Millisecond) })
		forever := u("forever", false, func(s *accountstore.State) { s.BannedUntil = accountstore.Forever })
		over := u("over", true, func(s *accountstore.State) { s.BannedUntil = at })
		deleting := u("deleting", true, func(s *accountstore.State) { s.DeleteAt = at.Add(-time.Hour) })
		claims := u("claims", true, func(s *accountstore.State) { s.DeleteAt, s.Claim = at, "other@example.org" })
		second := u("second", true, nil)
		t.addFactor(newFactor(second, totp))
		t.addFactor(newFactor(second, totp))
		t.addFactor(newFactor(plain, device))
		for _, c := range []struct {
			q    accountstore.UserQuery
			want []string
		}{
			{accountstore.UserQuery{}, []string{plain, unproven, banned, forever, over, deleting, claims, second}},
			{accountstore.UserQuery{Banned: new(true)}, []string{banned, forever}},
			{accountstore.UserQuery{Banned: new(false)}, []string{plain, unproven, over, deleting, claims, second}},
			{accountstore.UserQuery{Deleting: new(true)}, []string{deleting}},
			{accountstore.UserQuery{Deleting: new(false)}, []string{plain, unproven, banned, forever, over, claims, second}},
			{accountstore.UserQuery{Unproved: new(true)}, []string{unproven, forever}},
			{accountstore.UserQuery{Unproved: new(false)}, []string{plain, banned, over, deleting, claims, second}},
			{accountstore.UserQuery{SecondFactor: new(true)}, []string{second}},
			{accountstore.UserQuery{SecondFactor: new(false)}, []string{plain, unproven, banned, forever, over, deleting, claims}},
			{accountstore.UserQuery{Banned: new(true), Unproved: new(true)}, []string{forever}},
			{accountstore.UserQuery{Banned: new(true), Deleting: new(true)}, nil},
		} {
			c.q.EmailPrefix, c.q.At = begin, at
			t.finds(c.q, c.want...)
			if wanted := func(b *bool) bool { return b != nil && *b }; wanted(c.q.Banned) || wanted(c.q.Deleting) || wanted(c.q.SecondFactor) {
				c.q.EmailPrefix = ""
				c.q.Limit = 100
				found := idsOf(t.list(c.q))
				for _, id := range []string{plain, unproven, banned, forever, over, deleting, claims, second} {
					if slices.Contains(found, id) != slices.Contains(c.want, id) {
						t.Errorf("%s is in the list: %t", id, slices.Contains(found, id))
					}
				}
			}
		}
	}},
	{"a user without an address has nothing to prove", func(t *tester) {
		t.limited(AddressRequired)
		t.rows()
		u := t.createUser(&pintle.User{Name: unique()})
		t.finds(accountstore.UserQuery{NamePrefix: u.Name, Unproved: new(true)})
		t.finds(accountstore.UserQuery{NamePrefix: u.Name, Unproved: new(false)}, u.ID)
	}},
	{"a user who is deleted is in no list", func(t *tester) {
		s := t.deleter()
		t.rows()
		u := t.someone()
		t.gives(u, func(s *accountstore.State) { s.Roles = []string{u.ID} })
		t.finds(accountstore.UserQuery{Role: u.ID}, u.ID)
		t.ok("DeleteUser", s.DeleteUser(t.ctx, u.ID))
		t.finds(accountstore.UserQuery{Role: u.ID})
		t.finds(accountstore.UserQuery{ID: u.ID})
		t.finds(accountstore.UserQuery{EmailPrefix: u.Email})
	}},
}

// gives changes the state of a user.
func (t *tester) gives(u *pintle.User, change func(*accountstore.State)) {
	t.Helper()
	s, err := t.rows().State(t.ctx, u.ID)
	t.ok("State", err)
	change(s)
	t.ok("ChangeState", t.rows().ChangeState(t.ctx, s))
}

// list returns all users of a query, which it reads in pages.
func (t *tester) list(q accountstore.UserQuery) (all []*accountstore.User) {
	t.Helper()
	for {
		page, next, err := t.rows().Users(t.ctx, q)
		t.ok("Users", err)
		if len(page) > q.Limit || next != "" && len(page) == 0 {
			t.Fatalf("Users with the limit %d returned %d users and the text %q", q.Limit, len(page), next)
		}
		all = append(all, page...)
		if next == "" {
			return all
		}
		q.After = next
	}
}

func idsOf(users []*accountstore.User) []string {
	ids := make([]string, len(users))
	for i, u := range users {
		ids[i] = u.ID
	}
	return ids
}

// finds checks which users a query returns, in any order, in pages of each size.
func (t *tester) finds(q accountstore.UserQuery, want ...string) {
	t.Helper()
	want = slices.Sorted(slices.Values(want))
	for _, limit := range []int{1, 100} {
		q.Limit = limit
		if limit == 1 && len(want) > 3 {
			q.Limit = 3
		}
		got := idsOf(t.list(q))
		slices.Sort(got)
		t.same(fmt.Sprintf("the users of %+v", q), fmt.Sprintf("%q", got), fmt.Sprintf("%q", want))
	}
}

// only returns the one user of a query.
func (t *tester) only(q accountstore.UserQuery) *accountstore.User {
	t.Helper()
	all := t.list(q)
	if len(all) != 1 {
		t.Fatalf("the users of %+v are %q, want one", q, idsOf(all))
	}
	return all[0]
}
