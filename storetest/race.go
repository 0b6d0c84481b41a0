package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pintleauth/pintle"
)

// writers is how many want the same thing at once.
const writers = 64

var raceChecks = []check{
	{"SH-19, SH-20 of 64 who use one link one gets it", func(t *tester) {
		s := t.verifications()
		for range 4 {
			v := t.createVerification(newVerification())
			t.oneWinner("UseVerification", pintle.ErrNotFound, race(func(int) error {
				used, err := s.UseVerification(t.ctx, v.Identifier, v.Token)
				if err == nil && describedVerification(used) != describedVerification(v) {
					return errors.New("the winner got " + describedVerification(used))
				}
				return err
			}))
			t.unusable(v.Identifier, v.Token)
		}
	}},
	{"of 64 users with one address one is created", func(t *tester) {
		email := unique() + "@example.org"
		users := make([]*pintle.User, writers)
		t.oneWinner("CreateUser", pintle.ErrConflict, race(func(i int) error {
			u := newUser()
			u.Email = email
			var err error
			users[i], err = t.store.CreateUser(t.ctx, u)
			return err
		}))
		found, err := t.store.UserByEmail(t.ctx, email)
		t.ok("UserByEmail", err)
		for _, u := range users {
			if u != nil {
				t.same("the owner of the address", found.ID, u.ID)
			}
		}
	}},
	{"of 64 who take over one address one gets it", func(t *tester) {
		email := unique() + "@example.org"
		var users [writers]*pintle.User
		for i := range users {
			users[i] = t.someone()
		}
		t.oneWinner("UpdateUser", pintle.ErrConflict, race(func(i int) error {
			_, err := t.store.UpdateUser(t.ctx, users[i].ID, pintle.UserUpdate{Email: &email})
			return err
		}))
	}},
	{"AT-43 of 64 moves of one address of a user one is made", func(t *tester) {
		u := t.someone()
		winner := t.oneWinner("UpdateUser", pintle.ErrConflict, race(func(i int) error {
			email := fmt.Sprint(i, "-", u.ID, "@example.org")
			_, err := t.store.UpdateUser(t.ctx, u.ID, pintle.UserUpdate{Email: &email, IfEmail: &u.Email})
			return err
		}))
		found, err := t.store.User(t.ctx, u.ID)
		t.ok("User", err)
		t.same("the address of the user", found.Email, fmt.Sprint(winner, "-", u.ID, "@example.org"))
	}},
	{"SH-17 of 64 who link one account one owns it", func(t *tester) {
		var users [writers]*pintle.User
		for i := range users {
			users[i] = t.someone()
		}
		id := unique()
		errs := race(func(i int) error {
			a := newAccount(users[i].ID)
			a.ProviderAccountID = id
			return t.store.LinkAccount(t.ctx, a)
		})
		t.oneWinner("LinkAccount", pintle.ErrConflict, errs)
		for i, err := range errs {
			if err == nil {
				t.owner(&pintle.Account{Provider: "github", ProviderAccountID: id}, users[i])
			}
		}
	}},
	{"of 64 sessions with one token one is created", func(t *tester) {
		store := t.sessions()
		u := t.someone()
		s := newSession(u.ID)
		t.oneWinner("CreateSession", pintle.ErrConflict, race(func(int) error {
			mine := *s
			return store.CreateSession(t.ctx, &mine)
		}))
		t.live(s, u)
	}},
	{"of 64 who end one session one gets the row", func(t *tester) {
		store := t.sessions()
		s := t.createSession(newSession(t.someone().ID))
		t.oneWinner("DeleteSession", pintle.ErrNotFound, race(func(int) error {
			deleted, err := store.DeleteSession(t.ctx, s.Token)
			if err == nil {
				t.same("DeleteSession returned", describedSession(deleted), describedSession(s))
			}
			return err
		}))
		t.ended(s.Token)
	}},
	{"a session that is extended while it is ended stays ended", func(t *tester) {
		store := t.sessions()
		u := t.someone()
		for range 4 {
			s := t.createSession(newSession(u.ID))
			for _, err := range race(func(i int) error {
				if i == writers/2 {
					_, err := store.DeleteSession(t.ctx, s.Token)
					return err
				}
				err := store.UpdateSession(t.ctx, s.Token, pintle.SessionUpdate{Expires: s.Expires.Add(time.Second), Data: map[string]any{"i": i}})
				if errors.Is(err, pintle.ErrNotFound) {
					return nil
				}
				return err
			}) {
				t.ok("UpdateSession or DeleteSession", err)
			}
			t.ended(s.Token)
		}
	}},
	{"SH-25 of 64 assertions with one counter one moves it", func(t *tester) {
		s := t.passkeys()
		a := t.createPasskey(newPasskey(t.someone().ID))
		used := counted(a, a.Counter+1)
		t.oneWinner("UsePasskey", pintle.ErrConflict, race(func(int) error {
			return s.UsePasskey(t.ctx, used, a.Counter)
		}))
		t.passkey(used)
	}},
	{"of 64 passkeys with one credential id one is created", func(t *tester) {
		s := t.passkeys()
		a := newPasskey(t.someone().ID)
		t.oneWinner("CreatePasskey", pintle.ErrConflict, race(func(int) error {
			mine := *a
			return s.CreatePasskey(t.ctx, &mine)
		}))
		t.passkey(a)
	}},
	{"of 64 first sign-ins with one address one leaves a user, the others nothing", func(t *tester) {
		s := t.transactions()
		email := unique() + "@example.org"
		accounts := make([]*pintle.Account, writers)
		errs := race(func(i int) error {
			return s.InTx(t.ctx, func(tx pintle.Store) error {
				// A look-up first, as in a sign-in: a transaction that writes after
				// reading must not fail for that.
				if _, err := tx.UserByEmail(t.ctx, email); err == nil {
					return pintle.ErrConflict
				} else if !errors.Is(err, pintle.ErrNotFound) {
					return err
				}
				u := newUser()
				u.Email = email
				u, err := tx.CreateUser(t.ctx, u)
				if err != nil {
					return err
				}
				accounts[i] = newAccount(u.ID)
				return tx.LinkAccount(t.ctx, accounts[i])
			})
		})
		t.oneWinner("InTx", pintle.ErrConflict, errs)
		for i, err := range errs {
			switch {
			case err == nil:
				found, err := t.store.UserByEmail(t.ctx, email)
				t.ok("UserByEmail", err)
				t.owner(accounts[i], found)
			case accounts[i] != nil:
				t.noOwner(accounts[i].Provider, accounts[i].ProviderAccountID)
			}
		}
	}},
	{"of 64 who unlink an account each and keep another, one finds that it is the last", func(t *tester) {
		t.limited(OneAccountEach)
		s := t.accounts()
		u := t.someone()
		accounts := make([]*pintle.Account, writers)
		for i := range accounts {
			accounts[i] = t.link(newAccount(u.ID))
		}
		t.oneLoser("UnlinkAccount", race(func(i int) error {
			return s.UnlinkAccount(t.ctx, u.ID, accounts[i].Provider, accounts[i].ProviderAccountID, accounts)
		}))
		t.keepsOne(u)
	}},
	{"the last two accounts of a user are not unlinked at once", func(t *tester) {
		t.limited(OneAccountEach)
		s := t.accounts()
		var users [writers / 2]*pintle.User
		var accounts [writers]*pintle.Account
		for i := range users {
			users[i] = t.someone()
			accounts[2*i], accounts[2*i+1] = t.link(newAccount(users[i].ID)), t.link(newAccount(users[i].ID))
		}
		errs := race(func(i int) error {
			return s.UnlinkAccount(t.ctx, users[i/2].ID, accounts[i].Provider, accounts[i].ProviderAccountID, []*pintle.Account{accounts[i^1]})
		})
		for i, u := range users {
			t.oneLoser("UnlinkAccount", errs[2*i:2*i+2])
			t.keepsOne(u)
		}
	}},
	{"a user whose passkeys are unlinked at once keeps one", func(t *tester) {
		t.limited(OneAccountEach)
		s := t.accounts()
		u := t.someone()
		accounts := make([]*pintle.Account, 8)
		for i := range accounts {
			accounts[i] = newAccount(u.ID)
			accounts[i].Type, accounts[i].ProviderAccountID = pintle.TypeWebAuthn, t.createPasskey(newPasskey(u.ID)).CredentialID
			t.link(accounts[i])
		}
		t.oneLoser("UnlinkAccount", race(func(i int) error {
			if i >= len(accounts) {
				return pintle.ErrNotFound
			}
			return s.UnlinkAccount(t.ctx, u.ID, accounts[i].Provider, accounts[i].ProviderAccountID, accounts)
		}))
		t.keepsOne(u)
		passkeys, err := t.passkeys().UserPasskeys(t.ctx, u.ID)
		t.ok("UserPasskeys", err)
		if len(passkeys) != 1 {
			t.Errorf("%d passkeys are left, want 1", len(passkeys))
		}
	}},
	{"64 sweeps at once remove each row once", func(t *tester) {
		s := t.sweeper()
		w := t.mess(100, 50)
		var removed atomic.Int64
		for _, err := range race(func(int) error {
			for {
				n, err := s.Sweep(t.ctx, time.Now(), 7)
				removed.Add(int64(n))
				if err != nil || n < 7 {
					return err
				}
			}
		}) {
			t.ok("Sweep", err)
		}
		if left, err := s.Sweep(t.ctx, time.Now(), 1000); err != nil || int(removed.Load())+left != w.expired() {
			t.Errorf("%d sweeps removed %d rows of %d, and one more %d, %v", writers, removed.Load(), w.expired(), left, err)
		}
		w.swept(t)
	}},
	{"SH-16 a user who is deleted while signing in is signed in nowhere, and leaves nothing", func(t *tester) {
		s, store := t.deleter(), t.sessions()
		for range 4 {
			u := t.someone()
			sessions := make([]*pintle.StoredSession, writers)
			for i := range sessions {
				sessions[i] = newSession(u.ID)
			}
			t.deletedMeanwhile(s, u, func(i int) error { return store.CreateSession(t.ctx, sessions[i]) })
			for _, session := range sessions {
				t.noSession(session)
			}
		}
	}},
	{"SH-16 a user who is deleted while linking accounts leaves none", func(t *tester) {
		t.limited(OneAccountEach)
		s := t.deleter()
		for range 4 {
			u := t.someone()
			accounts := make([]*pintle.Account, writers)
			for i := range accounts {
				accounts[i] = newAccount(u.ID)
			}
			t.deletedMeanwhile(s, u, func(i int) error { return t.store.LinkAccount(t.ctx, accounts[i]) })
			for _, a := range accounts {
				t.noOwner(a.Provider, a.ProviderAccountID)
				if t.can.Accounts {
					_, err := t.store.Account(t.ctx, a.Provider, a.ProviderAccountID)
					t.notFound("Account", err)
				}
			}
		}
	}},
	{"SH-16 a user who is deleted while registering passkeys leaves none", func(t *tester) {
		s, store := t.deleter(), t.passkeys()
		for range 4 {
			u := t.someone()
			passkeys := make([]*pintle.Passkey, writers)
			for i := range passkeys {
				passkeys[i] = newPasskey(u.ID)
			}
			t.deletedMeanwhile(s, u, func(i int) error { return store.CreatePasskey(t.ctx, passkeys[i]) })
			for _, a := range passkeys {
				t.noPasskey(a)
			}
		}
	}},
	{"64 users at once are all created", func(t *tester) {
		created := make([]*pintle.User, writers)
		for _, err := range race(func(i int) (err error) {
			created[i], err = t.store.CreateUser(t.ctx, newUser())
			return err
		}) {
			t.ok("CreateUser", err)
		}
		ids := map[string]bool{}
		for _, u := range created {
			found, err := t.store.UserByEmail(t.ctx, u.Email)
			t.ok("UserByEmail", err)
			t.same("UserByEmail", described(found), described(u))
			ids[u.ID] = true
		}
		if len(ids) != writers {
			t.Errorf("%d users have %d ids", writers, len(ids))
		}
	}},
}

// race runs f as often as there are writers, at once, and returns what each
// returned.
func race(f func(i int) error) []error {
	errs := make([]error, writers)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			<-start
			errs[i] = f(i)
		})
	}
	close(start)
	all.Wait()
	return errs
}

// deletedMeanwhile deletes a user while the other writers store something for
// them, which fails with ErrNotFound as soon as the user is gone.
func (t *tester) deletedMeanwhile(s pintle.Store, u *pintle.User, store func(i int) error) {
	t.Helper()
	for i, err := range race(func(i int) error {
		if i == writers/2 {
			return s.DeleteUser(t.ctx, u.ID)
		}
		return store(i)
	}) {
		switch {
		case i == writers/2:
			t.ok("DeleteUser", err)
		case err != nil:
			t.notFound("a write for a user who was deleted", err)
		}
	}
	_, err := t.store.User(t.ctx, u.ID)
	t.notFound("User", err)
}

// keepsOne checks that a user has one account left.
func (t *tester) keepsOne(u *pintle.User) {
	t.Helper()
	left, err := t.accounts().UserAccounts(t.ctx, u.ID)
	t.ok("UserAccounts", err)
	if len(left) != 1 {
		t.Errorf("%d accounts are left, want 1", len(left))
	}
	for _, a := range left {
		t.owner(a, u)
	}
}

// oneLoser checks that one call failed with a conflict. Calls that unlink an
// account that another has unlinked do not find it.
func (t *tester) oneLoser(what string, errs []error) {
	t.Helper()
	losers := 0
	for _, err := range errs {
		switch {
		case errors.Is(err, pintle.ErrConflict):
			losers++
		case err != nil:
			t.notFound(what+" a second time", err)
		}
	}
	if losers != 1 {
		t.Errorf("%s found %d times of %d that it is the last, want 1", what, losers, len(errs))
	}
}

// oneWinner checks that one call succeeded and that the others failed with the
// right error. It returns the index of the one.
func (t *tester) oneWinner(what string, lost error, errs []error) (winner int) {
	t.Helper()
	winners := 0
	for i, err := range errs {
		switch {
		case err == nil:
			winner = i
			winners++
		case !errors.Is(err, lost):
			t.Errorf("%s: a loser got %v, want %v", what, err, lost)
		}
	}
	if winners != 1 {
		t.Errorf("%s succeeded %d times of %d, want 1", what, winners, len(errs))
	}
	return winner
}
