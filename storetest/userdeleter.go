package storetest

import (
	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/uuid"
)

var userDeleterChecks = []check{
	{"17, SH-16, ASVS-7.4.2 a deleted user is gone at once, with accounts, sessions and passkeys", func(t *tester) {
		s := t.deleter()
		u, other := t.everything(), t.everything()
		t.ok("DeleteUser", s.DeleteUser(t.ctx, u.user.ID))
		t.gone(u)
		t.there(other)
	}},
	{"a user who was deleted, or never was, is not found to be deleted", func(t *tester) {
		s := t.deleter()
		u, other := t.everything(), t.everything()
		t.ok("DeleteUser", s.DeleteUser(t.ctx, u.user.ID))
		for _, id := range []string{u.user.ID, uuid.New(), unique(), ""} {
			t.notFound("DeleteUser("+id+")", s.DeleteUser(t.ctx, id))
		}
		t.there(other)
	}},
	{"what belonged to a deleted user is free", func(t *tester) {
		s := t.deleter()
		u := t.everything()
		t.ok("DeleteUser", s.DeleteUser(t.ctx, u.user.ID))
		again := newUser()
		again.Email = u.user.Email
		heir := t.createUser(again)
		a := *u.account
		a.UserID = heir.ID
		t.link(&a)
		t.owner(&a, heir)
		if u.session != nil {
			session := *u.session
			session.UserID = heir.ID
			t.createSession(&session)
			t.live(&session, heir)
		}
	}},
	{"a deleted user's mail links are not touched, for they belong to an address", func(t *tester) {
		s := t.deleter()
		u := t.someone()
		v := newVerification()
		v.Identifier = u.Email
		t.createVerification(v)
		t.ok("DeleteUser", s.DeleteUser(t.ctx, u.ID))
		t.uses(v)
	}},
}

// belongings is a user with one of everything the store can keep for them.
type belongings struct {
	user    *pintle.User
	account *pintle.Account
	session *pintle.StoredSession
	passkey *pintle.Passkey
	rows    *rowsOf
}

func (t *tester) everything() belongings {
	t.Helper()
	u := t.someone()
	b := belongings{user: u, account: t.link(newAccount(u.ID))}
	if t.can.Sessions {
		b.session = t.createSession(newSession(u.ID))
	}
	if t.can.Passkeys {
		b.passkey = t.createPasskey(newPasskey(u.ID))
	}
	if t.store.AccountStore() != nil {
		b.rows = t.allRows(u.ID)
	}
	return b
}

// there checks that a user still has everything.
func (t *tester) there(b belongings) {
	t.Helper()
	found, err := t.store.User(t.ctx, b.user.ID)
	t.ok("User", err)
	t.same("User", described(found), described(b.user))
	found, err = t.store.UserByEmail(t.ctx, b.user.Email)
	t.ok("UserByEmail", err)
	t.same("UserByEmail", described(found), described(b.user))
	t.owner(b.account, b.user)
	if b.session != nil {
		t.live(b.session, b.user)
	}
	if b.passkey != nil {
		t.passkey(b.passkey)
	}
	if b.rows != nil {
		b.rows.there(t)
	}
}

// gone checks that nothing leads to a user any more.
func (t *tester) gone(b belongings) {
	t.Helper()
	_, err := t.store.User(t.ctx, b.user.ID)
	t.notFound("User", err)
	_, err = t.store.UserByEmail(t.ctx, b.user.Email)
	t.notFound("UserByEmail", err)
	t.noOwner(b.account.Provider, b.account.ProviderAccountID)
	if s := t.store; t.can.Accounts {
		_, err := s.Account(t.ctx, b.account.Provider, b.account.ProviderAccountID)
		t.notFound("Account", err)
		accounts, err := s.UserAccounts(t.ctx, b.user.ID)
		t.ok("UserAccounts", err)
		if len(accounts) != 0 {
			t.Errorf("UserAccounts returned %d accounts, want none", len(accounts))
		}
	}
	if b.session != nil {
		t.noSession(b.session)
	}
	if b.passkey != nil {
		s := t.passkeys()
		_, err := s.Passkey(t.ctx, b.passkey.CredentialID)
		t.notFound("Passkey", err)
		left, err := s.UserPasskeys(t.ctx, b.user.ID)
		t.ok("UserPasskeys", err)
		if len(left) != 0 {
			t.Errorf("UserPasskeys returned %d passkeys, want none", len(left))
		}
	}
	if b.rows != nil {
		b.rows.gone(t)
	}
}
