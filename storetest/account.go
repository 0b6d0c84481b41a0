package storetest

import "github.com/pintleauth/pintle"

var accountChecks = []check{
	{"9, 10 the owner of an account is found by it", func(t *tester) {
		u, other := t.someone(), t.someone()
		a, b := t.link(newAccount(u.ID)), t.link(newAccount(other.ID))
		t.owner(a, u)
		t.owner(b, other)
	}},
	{"10 an unknown account has no owner", func(t *tester) {
		a := t.link(newAccount(t.someone().ID))
		t.noOwner("gitlab", a.ProviderAccountID)
		t.noOwner(a.Provider, unique())
		t.noOwner(a.ProviderAccountID, a.Provider)
		t.noOwner("", a.ProviderAccountID)
		t.noOwner(a.Provider, "")
		t.noOwner("", "")
	}},
	{"10 the owner is the user as changed since", func(t *tester) {
		u := t.someone()
		a := t.link(newAccount(u.ID))
		u.Name = "Augusta Ada King"
		_, err := t.store.UpdateUser(t.ctx, u.ID, pintle.UserUpdate{Name: &u.Name})
		t.ok("UpdateUser", err)
		t.owner(a, u)
	}},
	{"provider and account id are found exactly, in their case", func(t *tester) {
		u := t.someone()
		a := newAccount(u.ID)
		a.ProviderAccountID = "AbC-é-" + a.ProviderAccountID
		t.link(a)
		t.owner(a, u)
		t.noOwner("GitHub", a.ProviderAccountID)
		t.noOwner(a.Provider+" ", a.ProviderAccountID)
		t.noOwner(a.Provider, "abc-é"+a.ProviderAccountID[len("AbC-é"):])
		t.noOwner(a.Provider, "AbC-e"+a.ProviderAccountID[len("AbC-é"):])
		t.noOwner(a.Provider, a.ProviderAccountID+" ")
		t.noOwner(a.Provider, "%")
	}},
	{"the border between provider and account id counts", func(t *tester) {
		pairs := [][2]string{{"a", "b:c"}, {"a:b", "c"}, {"a:b:c", ""}, {"a", "b/c"}, {"a/b", "c"}, {"a", "bc"}, {"ab", "c"}}
		var accounts []*pintle.Account
		var owners []*pintle.User
		for _, pair := range pairs {
			u := t.someone()
			a := newAccount(u.ID)
			a.Provider, a.ProviderAccountID = pair[0], pair[1]
			accounts, owners = append(accounts, t.link(a)), append(owners, u)
		}
		for i, a := range accounts {
			t.owner(a, owners[i])
		}
	}},
	{"ids that look like numbers keep every character", func(t *tester) {
		for _, id := range []string{"00123", "123", "1e3", "1000", "9007199254740993", "+1", "1.0", "-0"} {
			u := t.someone()
			a := newAccount(u.ID)
			a.ProviderAccountID = id
			t.link(a)
			t.owner(a, u)
		}
	}},
	{"an account that exists is refused, to its owner and to others", func(t *tester) {
		u, other := t.someone(), t.someone()
		a := t.link(newAccount(u.ID))
		t.conflict("LinkAccount a second time", t.store.LinkAccount(t.ctx, a))
		stolen := *a
		stolen.UserID, stolen.AccessToken = other.ID, "stolen"
		t.conflict("LinkAccount to another user", t.store.LinkAccount(t.ctx, &stolen))
		t.owner(a, u)
		if s := t.store; t.can.Accounts {
			found, err := s.Account(t.ctx, a.Provider, a.ProviderAccountID)
			t.ok("Account", err)
			t.same("Account after it was refused twice", describedAccount(found), describedAccount(a))
		}
	}},
	{"a user may have several accounts, two with one provider among them", func(t *tester) {
		t.limited(OneAccountEach)
		u := t.someone()
		a, b, c := newAccount(u.ID), newAccount(u.ID), newAccount(u.ID)
		c.Provider = "google"
		for _, account := range []*pintle.Account{a, b, c} {
			t.link(account)
		}
		for _, account := range []*pintle.Account{a, b, c} {
			t.owner(account, u)
		}
	}},
	{"an account of a user who does not exist is not found, and leaves nothing", func(t *tester) {
		for _, id := range t.noUsers() {
			a := newAccount(id)
			t.notFound("LinkAccount", t.store.LinkAccount(t.ctx, a))
			t.noOwner(a.Provider, a.ProviderAccountID)
			if s := t.store; t.can.Accounts {
				_, err := s.Account(t.ctx, a.Provider, a.ProviderAccountID)
				t.notFound("Account", err)
			}
			u := t.someone()
			a.UserID = u.ID
			t.link(a)
			t.owner(a, u)
		}
	}},
}

func (t *tester) owner(a *pintle.Account, want *pintle.User) {
	t.Helper()
	found, err := t.store.UserByAccount(t.ctx, a.Provider, a.ProviderAccountID)
	t.ok("UserByAccount("+a.Provider+", "+a.ProviderAccountID+")", err)
	t.same("UserByAccount("+a.Provider+", "+a.ProviderAccountID+")", described(found), described(want))
}

func (t *tester) noOwner(provider, id string) {
	t.Helper()
	_, err := t.store.UserByAccount(t.ctx, provider, id)
	t.notFound("UserByAccount("+provider+", "+id+")", err)
}
