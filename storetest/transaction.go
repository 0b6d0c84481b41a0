package storetest

import (
	"context"
	"errors"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/uuid"
)

var errChanged = errors.New("changed my mind")

var transactionChecks = []check{
	{"what was written is there afterwards, all of it", func(t *tester) {
		s := t.transactions()
		var b belongings
		t.ok("InTx", s.InTx(t.ctx, func(tx pintle.Store) error {
			b = t.within(tx).everything()
			return nil
		}))
		t.there(b)
	}},
	{"a transaction sees what it wrote, and what was there before", func(t *tester) {
		s := t.transactions()
		before := t.everything()
		t.ok("InTx", s.InTx(t.ctx, func(tx pintle.Store) error {
			in := t.within(tx)
			in.there(before)
			in.there(in.everything())
			return nil
		}))
	}},
	{"an error undoes everything, and is returned", func(t *tester) {
		s := t.transactions()
		before := t.everything()
		var b belongings
		err := s.InTx(t.ctx, func(tx pintle.Store) error {
			in := t.within(tx)
			b = in.everything()
			in.disturb(before)
			return errChanged
		})
		if !errors.Is(err, errChanged) {
			t.Errorf("InTx returned %v, want the error of its function", err)
		}
		t.gone(b)
		t.there(before)
	}},
	{"a panic undoes everything, and goes on", func(t *tester) {
		s := t.transactions()
		before := t.everything()
		var b belongings
		func() {
			defer func() {
				if r := recover(); r != errChanged { //nolint:errorlint // a panic's value, not an error's chain
					t.Errorf("recovered %v, want what the function panicked with", r)
				}
			}()
			err := s.InTx(t.ctx, func(tx pintle.Store) error {
				in := t.within(tx)
				b = in.everything()
				in.disturb(before)
				panic(errChanged)
			})
			t.Errorf("InTx returned %v after a panic", err)
		}()
		t.gone(b)
		t.there(before)
	}},
	{"a link used in a transaction that failed can be used again", func(t *tester) {
		s := t.transactions()
		v := t.createVerification(newVerification())
		err := s.InTx(t.ctx, func(tx pintle.Store) error {
			t.within(tx).uses(v)
			return errChanged
		})
		if !errors.Is(err, errChanged) {
			t.Errorf("InTx returned %v, want the error of its function", err)
		}
		t.uses(v)
		t.unusable(v.Identifier, v.Token)
	}},
	{"nothing is visible to others before the end", func(t *tester) {
		s := t.transactions()
		started, looked := make(chan belongings), make(chan error, 1)
		finished := make(chan struct{})
		go func() {
			b := <-started
			_, err := t.store.User(t.ctx, b.user.ID)
			select {
			case <-finished: // the store let the look-up wait, which is as good
				err = pintle.ErrNotFound
			default:
			}
			looked <- err
		}()
		t.ok("InTx", s.InTx(t.ctx, func(tx pintle.Store) error {
			started <- t.within(tx).everything()
			select {
			case err := <-looked:
				looked <- err
			case <-time.After(100 * time.Millisecond):
				close(finished)
			}
			return nil
		}))
		t.notFound("User, called from outside during the transaction", <-looked)
	}},
	{"a conflict is the same error as outside, and undoes what came before", func(t *tester) {
		s := t.transactions()
		there := t.someone()
		u := newUser()
		err := s.InTx(t.ctx, func(tx pintle.Store) error {
			created := t.within(tx).createUser(u)
			u.ID = created.ID
			second := newUser()
			second.Email = there.Email
			_, err := tx.CreateUser(t.ctx, second)
			return err
		})
		t.conflict("InTx", err)
		_, err = t.store.User(t.ctx, u.ID)
		t.notFound("User created before the conflict", err)
	}},
	{"a missing row is the same error as outside", func(t *tester) {
		s := t.transactions()
		err := s.InTx(t.ctx, func(tx pintle.Store) error {
			_, err := tx.User(t.ctx, uuid.New())
			return err
		})
		t.notFound("InTx", err)
	}},
	{"the store of a transaction can do what the store can, but for InTx", func(t *tester) {
		s := t.transactions()
		t.ok("InTx", s.InTx(t.ctx, func(tx pintle.Store) error {
			want := t.can
			want.Transactions = false
			if got := tx.Features(); got != want {
				t.Errorf("the store of a transaction has the features\n%+v, want\n%+v", got, want)
			}
			t.unsupported("InTx in a transaction", tx.InTx(t.ctx, func(pintle.Store) error { return nil }))
			return nil
		}))
	}},
	{"the store of a finished transaction refuses to work", func(t *tester) {
		s := t.transactions()
		for _, result := range []error{nil, errChanged} {
			var kept pintle.Store
			_ = s.InTx(t.ctx, func(tx pintle.Store) error {
				kept = tx
				return result
			})
			u := newUser()
			if _, err := kept.CreateUser(t.ctx, u); err == nil {
				t.Error("CreateUser succeeded after the transaction's end")
			}
			_, err := t.store.UserByEmail(t.ctx, u.Email)
			t.notFound("UserByEmail", err)
		}
	}},
	{"SH-16 a user is deleted in a transaction, or not at all", func(t *tester) {
		s := t.transactions()
		t.deleter()
		b := t.everything()
		for _, result := range []error{errChanged, nil} {
			_ = s.InTx(t.ctx, func(tx pintle.Store) error {
				in := t.within(tx)
				t.ok("DeleteUser", in.deleter().DeleteUser(in.ctx, b.user.ID))
				in.gone(b)
				return result
			})
			if result != nil {
				t.there(b)
			}
		}
		t.gone(b)
	}},
	{"a transaction whose context has ended writes nothing", func(t *tester) {
		s := t.transactions()
		ctx, cancel := context.WithCancel(t.ctx)
		u := newUser()
		err := s.InTx(ctx, func(tx pintle.Store) error {
			created, err := tx.CreateUser(ctx, u)
			if err == nil {
				u.ID = created.ID
			}
			cancel()
			return err
		})
		if err == nil {
			t.Error("InTx committed although its context had ended")
		}
		_, err = t.store.UserByEmail(t.ctx, u.Email)
		t.notFound("UserByEmail", err)

		err = s.InTx(ctx, func(tx pintle.Store) error {
			_, err := tx.CreateUser(ctx, u)
			return err
		})
		if err == nil {
			t.Error("InTx succeeded in a context that had ended")
		}
		_, err = t.store.UserByEmail(t.ctx, u.Email)
		t.notFound("UserByEmail", err)
		t.someone()
	}},
	{"transactions that follow one another do not disturb one another", func(t *tester) {
		s := t.transactions()
		for i := range 20 {
			fails := i%2 == 1
			var b belongings
			err := s.InTx(t.ctx, func(tx pintle.Store) error {
				b = t.within(tx).everything()
				if fails {
					return errChanged
				}
				return nil
			})
			if fails != (err != nil) {
				t.Errorf("InTx returned %v", err)
			}
			if fails {
				t.gone(b)
			} else {
				t.there(b)
			}
		}
	}},
}

// within is the same check, on the store of a transaction.
func (t *tester) within(tx pintle.Store) *tester {
	t.Helper()
	if t.store.AccountStore() != nil && tx.AccountStore() == nil {
		t.Fatal("the store of a transaction has no AccountStore")
	}
	in := *t
	in.store, in.can = tx, tx.Features()
	return &in
}

// disturb changes what belongs to a user, in each way the store knows.
func (t *tester) disturb(b belongings) {
	t.Helper()
	name, email := "Disturbed", unique()+"@example.org"
	_, err := t.store.UpdateUser(t.ctx, b.user.ID, pintle.UserUpdate{Name: &name, Email: &email})
	t.ok("UpdateUser", err)
	if s := t.store; t.can.Accounts {
		change := newAccount(b.user.ID)
		change.Provider, change.ProviderAccountID = b.account.Provider, b.account.ProviderAccountID
		t.ok("UpdateAccount", s.UpdateAccount(t.ctx, change))
		if t.can.AccountSwap {
			t.ok("SwapAccount", s.SwapAccount(t.ctx, newTokens(change), change.RefreshToken))
		}
		t.ok("UnlinkAccount", s.UnlinkAccount(t.ctx, b.user.ID, b.account.Provider, b.account.ProviderAccountID, nil))
	}
	if b.session != nil {
		t.ok("UpdateSession", t.sessions().UpdateSession(t.ctx, b.session.Token, pintle.SessionUpdate{Expires: now().Add(-time.Hour)}))
		_, err := t.sessions().DeleteSession(t.ctx, b.session.Token)
		t.ok("DeleteSession", err)
	}
	if b.passkey != nil {
		t.ok("UsePasskey", t.passkeys().UsePasskey(t.ctx, counted(b.passkey, b.passkey.Counter+1), b.passkey.Counter))
		if t.can.PasskeyNames {
			t.ok("RenamePasskey", t.namedPasskeys().RenamePasskey(t.ctx, b.user.ID, b.passkey.CredentialID, "Changed"))
		}
		if s := t.store; t.can.Passkeys {
			t.ok("DeletePasskey", s.DeletePasskey(t.ctx, b.user.ID, b.passkey.CredentialID))
		}
	}
	if b.rows != nil {
		for _, change := range rowChanges {
			t.ok(change.name, change.call(t, t.rows(), b.rows))
		}
	}
}
