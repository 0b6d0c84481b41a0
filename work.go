package pintle

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// unitOfWork performs the writes of a decision. In a transaction the events wait
// until the writes are committed.
type unitOfWork struct {
	*records
	x       *exchange
	ctx     context.Context
	inTx    bool
	waiting bool
	events  []func()
}

// An errand is an error of a decision: something must be done first outside its
// transaction, because the host or its database might wait for the transaction.
// The decision is made again afterwards.
type errand struct{ run func(*errands) error }

func (e *errand) Error() string {
	return "pintle: the decision waits for something outside its transaction"
}

// errands holds the results of the errands so far.
type errands struct {
	// passwords records which users can sign in with a password, by their ids.
	passwords map[string]bool

	// synced is what [Callbacks.SyncUser] has returned.
	synced map[syncKey]UserUpdate

	// revoked are the ids of users whose token sessions were ended, and when.
	revoked map[string]time.Time

	// marking takes an address away by putting another in its place.
	marking bool
}

func (x *exchange) inTransaction(run func(*unitOfWork) error) error {
	if !x.records.can.Transactions {
		return run(&unitOfWork{records: x.records, x: x, ctx: x.ctx})
	}
	var done *unitOfWork
	err := x.records.inTx(x.ctx, func(r *records) error {
		done = &unitOfWork{records: r, x: x, ctx: x.ctx, inTx: true, waiting: true}
		return run(done)
	})
	if err != nil {
		if isClassified(err) || errors.Is(err, ErrConflict) || undecided(err) {
			return err
		}
		return storeError("transaction", err)
	}
	done.tell()
	return nil
}

// undecided reports whether a decision stopped for a reason other than a
// failure.
func undecided(err error) bool {
	if _, ok := errors.AsType[*errand](err); ok {
		return true
	}
	_, ok := errors.AsType[*heldAddress](err)
	return ok
}

func (w *unitOfWork) after(event func()) {
	if w.waiting {
		w.events = append(w.events, event)
		return
	}
	event()
}

// tell calls the event handlers for what has happened.
func (w *unitOfWork) tell() {
	w.waiting = false
	for _, event := range w.events {
		event()
	}
	w.events = nil
}

func (w *unitOfWork) createUser(u *User) (*User, error) {
	created, err := w.records.createUser(w.ctx, u.clone())
	if err != nil {
		return nil, err
	}
	w.after(func() { w.x.emitUser("createUser", w.x.Events.CreateUser, created) })
	return created, nil
}

// updateUser changes a user. If the user was removed meanwhile it returns a
// conflict, so that the decision is made again.
func (w *unitOfWork) updateUser(id string, change UserUpdate) (*User, error) {
	updated, err := w.records.updateUser(w.ctx, id, change)
	if errors.Is(err, ErrNotFound) {
		return nil, ErrConflict
	}
	if err != nil {
		return nil, err
	}
	w.after(func() { w.x.emitUser("updateUser", w.x.Events.UpdateUser, updated) })
	return updated, nil
}

// sync writes what differs between a change and a stored user, and returns the
// stored user. [Events.UpdateUser] is called if the user has changed: a column
// can return a value in another form than it was written in.
func (w *unitOfWork) sync(user *User, change UserUpdate) (*User, error) {
	change, differs := change.since(user)
	if !differs {
		return user, nil
	}
	updated, err := w.records.updateUser(w.ctx, user.ID, change)
	if errors.Is(err, ErrNotFound) {
		return nil, ErrConflict // the user was removed: the decision is made anew
	}
	if err != nil {
		return nil, err
	}
	if err := change.keptBy(updated); err != nil {
		return nil, err
	}
	if !sameJSON(user, updated) {
		w.after(func() { w.x.emitUser("updateUser", w.x.Events.UpdateUser, updated) })
	}
	return updated, nil
}

// syncLinked does the same for the signed-in user to whom an account was just
// linked. That user was read with the session, before the callbacks ran, and is
// read again.
func (w *unitOfWork) syncLinked(user *User, change UserUpdate) (*User, error) {
	if change.Name == nil && change.Image == nil && len(change.Extra) == 0 {
		return user, nil
	}
	now, err := w.user(w.ctx, user.ID)
	if err != nil {
		return nil, err
	}
	if now == nil {
		return nil, ErrConflict
	}
	return w.sync(now, change)
}

// verifyEmail records the first time that a mail proved the user's address.
//
// An update of one of Email and EmailVerified has both. The host or another
// request may change the address between the read of the user and this write:
// EmailVerified alone would then prove an address at which no mail was read.
func (w *unitOfWork) verifyEmail(u *User, now time.Time) (*User, error) {
	return w.updateUser(u.ID, UserUpdate{Email: &u.Email, EmailVerified: &now})
}

// addressLast reports whether a user's address is written after everything else
// that signs them in. A process can stop between two writes. A user with an
// address and without a way in would then block the next attempt of the same
// person for ever, and linking the account to that user by the address would
// let others in. A user without an address blocks no sign-in.
//
// A store without DeleteUser gets the calls of Auth.js in their order.
func (w *unitOfWork) addressLast() bool { return !w.inTx && w.can.DeleteUser }

// createOwner creates a user with the arrival's account and passkey.
func (w *unitOfWork) createOwner(who *arrival, u *User) (*User, error) {
	address := ""
	if w.addressLast() {
		u = u.clone()
		address, u.Email = u.Email, ""
		w.waiting = true
	}
	created, err := w.records.createUser(w.ctx, u.clone())
	if err != nil {
		return nil, err
	}
	w.after(func() { w.x.emitUser("createUser", w.x.Events.CreateUser, created) })
	if err := w.link(who, created); err != nil {
		return nil, w.undoUser(created, err)
	}
	if address != "" {
		if err := w.giveAddress(created, address); err != nil {
			return nil, err
		}
	}
	if !w.inTx {
		w.tell()
	}
	return created, nil
}

// giveAddress writes the address of a user who has none. If another user has
// received it a moment ago, this user stays without an address and is not
// removed: the same person may be signed in as this user in another tab by now.
func (w *unitOfWork) giveAddress(u *User, address string) error {
	updated, err := w.records.updateUser(w.ctx, u.ID, UserUpdate{Email: &address, EmailVerified: &u.EmailVerified})
	switch {
	case errors.Is(err, ErrConflict):
		w.log.LogAttrs(w.ctx, slog.LevelWarn, "pintle: a user has no address, because another user took it at the same moment",
			slog.String("code", "address-taken"), slog.String("user", u.ID))
	case errors.Is(err, ErrNotFound):
		return ErrConflict
	case err != nil:
		return err
	default:
		*u = *updated
	}
	return nil
}

// restoreAddress gives a user the address that a first sign-in did not come to
// write. See addressLast.
func (w *unitOfWork) restoreAddress(who *arrival, owner *User) (*User, error) {
	address := who.user.Email
	if !w.addressLast() || owner.Email != "" || !who.hasProfile() || address == "" {
		return owner, nil
	}
	if who.trusted && who.deniesAddress() {
		return owner, nil // the user was stored without on purpose
	}
	holder, err := w.userByEmail(w.ctx, address)
	if err != nil || holder != nil {
		return owner, err
	}
	var unproven time.Time // a mark that is left is that of an earlier address
	updated, err := w.records.updateUser(w.ctx, owner.ID, UserUpdate{Email: &address, EmailVerified: &unproven})
	switch {
	case errors.Is(err, ErrConflict):
		return owner, nil
	case errors.Is(err, ErrNotFound):
		return nil, ErrConflict
	case err != nil:
		return nil, err
	}
	w.after(func() { w.x.emitUser("updateUser", w.x.Events.UpdateUser, updated) })
	return updated, nil
}

// link stores the account as the user's, and then the passkey that goes with
// it. An authenticator does not create a second passkey when the options list
// the first, and a passkey without an account signs no user in.
func (w *unitOfWork) link(who *arrival, user *User) error {
	stored := w.x.kept(who.account)
	stored.UserID = user.ID
	if err := w.linkAccount(w.ctx, w.x.sealTokens(stored)); err != nil {
		return err
	}
	w.after(func() { w.x.emitLink(&LinkAccountEvent{User: user, Account: stored, ProviderUser: who.user}) })
	return w.storePasskey(who, user)
}

// storePasskey stores the passkey that the arrival has just created as the
// user's.
func (w *unitOfWork) storePasskey(who *arrival, user *User) error {
	if who.newPasskey == nil {
		return nil
	}
	who.newPasskey.UserID = user.ID
	err := w.createAuthenticator(w.ctx, who.newPasskey)
	if errors.Is(err, ErrConflict) {
		return who.notLinked("the credential is registered already")
	}
	return err
}

// undoUser removes a user whom this request created and who cannot sign in:
// their account or their passkey could not be stored. It returns the cause.
func (w *unitOfWork) undoUser(user *User, cause error) error {
	if w.inTx || !w.can.DeleteUser {
		return cause
	}
	if err := w.deleteUser(context.WithoutCancel(w.ctx), user.ID); err != nil {
		return errors.Join(cause, err)
	}
	return cause
}
