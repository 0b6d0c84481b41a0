package pintle

import (
	"context"
	"errors"
	"time"
)

// work is what a decision writes. In a transaction the events wait until it is
// certain that it happened.
type work struct {
	*records
	x       *exchange
	ctx     context.Context
	waiting bool
	events  []func()
}

func (x *exchange) inTransaction(run func(*work) error) error {
	if x.records.tx == nil {
		return run(&work{records: x.records, x: x, ctx: x.ctx})
	}
	var done *work
	err := x.records.tx.InTx(x.ctx, func(s Store) error {
		done = &work{records: newRecords(s, x.log), x: x, ctx: x.ctx, waiting: true}
		return run(done)
	})
	if err != nil {
		if isClassified(err) || errors.Is(err, ErrConflict) {
			return err
		}
		return storeError("transaction", err)
	}
	for _, event := range done.events {
		event()
	}
	return nil
}

func (w *work) after(event func()) {
	if w.waiting {
		w.events = append(w.events, event)
		return
	}
	event()
}

func (w *work) createUser(u *User) (*User, error) {
	created, err := w.Store.CreateUser(w.ctx, u.clone())
	if err != nil {
		return nil, storeError("createUser", err)
	}
	w.after(func() { w.x.emitUser("createUser", w.x.Events.CreateUser, created) })
	return created, nil
}

func (w *work) verifyEmail(id string, now time.Time) (*User, error) {
	updated, err := w.Store.UpdateUser(w.ctx, id, UserUpdate{EmailVerified: &now})
	if err != nil {
		return nil, storeError("updateUser", err)
	}
	w.after(func() { w.x.emitUser("updateUser", w.x.Events.UpdateUser, updated) })
	return updated, nil
}

// link stores the account as the user's.
func (w *work) link(who *arrival, user *User) error {
	stored := w.x.kept(who.account)
	stored.UserID = user.ID
	if err := w.Store.LinkAccount(w.ctx, w.x.sealTokens(stored)); err != nil {
		return storeError("linkAccount", err)
	}
	w.after(func() { w.x.emitLink(&LinkAccountEvent{User: user, Account: stored, Profile: who.user}) })
	return nil
}

// register stores the passkey that somebody comes with as theirs.
func (w *work) register(who *arrival, d *decision) error {
	if who.provider.passkey != nil {
		d.account = who.account.clone()
		d.account.UserID = d.user.ID
	}
	if who.passkey == nil {
		return nil
	}
	who.passkey.UserID = d.user.ID
	err := storeError("createAuthenticator", w.authenticators.CreateAuthenticator(w.ctx, who.passkey))
	if errors.Is(err, ErrConflict) {
		err = who.notLinked("the credential is registered already")
	}
	if err != nil {
		return w.undoUser(d.user, *d.newUser, err)
	}
	return nil
}

func (p *provider) keepAccount() func(*Account) *Account {
	if p.oauth != nil && p.oauth.Account != nil {
		return p.oauth.Account
	}
	return storedByDefault
}

// undoUser removes a user who was just created but whose account could not be
// stored. Without a transaction the user would otherwise be in the way of the
// same person's next attempt, by their address. It returns the cause.
func (w *work) undoUser(user *User, created bool, cause error) error {
	if !created || w.waiting || w.deleter == nil {
		return cause
	}
	if err := w.deleter.DeleteUser(context.WithoutCancel(w.ctx), user.ID); err != nil {
		return errors.Join(cause, storeError("deleteUser", err))
	}
	return cause
}
