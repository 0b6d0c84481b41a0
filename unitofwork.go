package pintle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/pintleauth/pintle/internal/wire"
)

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
	if err := w.link(who, created, LinkAccountEvent{NewUser: true}); err != nil {
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
// the first, and a passkey without an account signs no user in. e has what the caller
// knows of the event.
func (w *unitOfWork) link(who *arrival, user *User, e LinkAccountEvent) error {
	stored := w.x.kept(who.account)
	stored.UserID = user.ID
	if err := w.linkAccount(w.ctx, w.x.sealTokens(stored)); err != nil {
		return err
	}
	w.after(func() {
		e.User, e.Account, e.ProviderUser, e.Request = user, stored, who.user, w.x.r
		w.x.emitLink(&e)
	})
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

// attempt describes a sign-in to a callback, which may change its user and account.
func (who *arrival) attempt(user *User) *SignInAttempt {
	attempt := &SignInAttempt{User: user.clone(), Account: who.account.clone(), Profile: who.profile, SDK: who.sdk}
	attempt.Connection, attempt.VerifiedDomain = who.connection()
	return attempt
}

// admitted returns why [Callbacks.SignUp] refuses a user who is about to be created. It fails
// with an [errand] if the callback has not been called yet, as synced does. A decision calls it
// before it writes anything.
func (w *unitOfWork) admitted(who *arrival, created *User) error {
	if w.x.Callbacks.SignUp == nil || who.errands.admitted {
		return nil
	}
	return &errand{func(e *errands) error {
		err := w.x.Callbacks.SignUp(w.x.ctx, who.attempt(created))
		w.x.debug("Callbacks.SignUp called", "answer", answerOf("", err))
		e.admitted = err == nil
		if err == nil || isClassified(err) {
			return err
		}
		return &Error{Code: CodeAccessDenied, Provider: who.provider.id, Err: fmt.Errorf("Callbacks.SignUp: %w", err)}
	}}
}

// synced returns what [Callbacks.SyncUser] changes of the user whom a decision
// has found or, with isNew, will create. here is the presence of the signed-in
// user if the account is about to be linked to that user, and otherwise nil.
//
// It fails with an [errand] if the callback has not been called yet: the callback
// may use the database, and would wait there for the transaction. A decision
// calls synced before it links or creates anything, because a store without
// transactions keeps what was written when the decision is made again. It calls
// it only for a user who will be signed in, because the callback of a host may
// write something itself.
func (w *unitOfWork) synced(who *arrival, user *User, isNew bool, here *presence) (UserUpdate, error) {
	if w.x.Callbacks.SyncUser == nil {
		return UserUpdate{}, nil
	}
	key := syncKey{userID: user.ID, linking: here != nil}
	if isNew {
		key.userID = ""
	}
	if change, called := who.errands.synced[key]; called {
		return change, nil
	}
	attempt := who.attempt(user)
	if here != nil {
		attempt.LinkTo, attempt.SignedInAt, attempt.Authentication = user.clone(), here.authentication.Time, here.authentication
	}
	return UserUpdate{}, &errand{func(e *errands) error { return w.x.callSyncUser(e, key, attempt) }}
}

func (x *exchange) callSyncUser(e *errands, key syncKey, attempt *SignInAttempt) error {
	provider := attempt.Account.Provider // which the callback may change
	change, err := x.Callbacks.SyncUser(x.ctx, attempt)
	if err != nil {
		return fmt.Errorf("Callbacks.SyncUser: %w", err)
	}
	if change, err = change.checked(); err != nil {
		return &Error{Code: CodeConfiguration, Provider: provider, Err: fmt.Errorf("Callbacks.SyncUser: %w", err)}
	}
	if e.synced == nil {
		e.synced = map[syncKey]UserUpdate{}
	}
	e.synced[key] = change
	return nil
}

// checked returns a change with the values of Extra as a store would return
// them. A change of the address is an error: mails and trusted providers sign
// in the user who has an address. A profile with the address of another person
// would open the account to that person, or lock the owner out.
func (c UserUpdate) checked() (UserUpdate, error) {
	if c.Email != nil || c.EmailVerified != nil {
		return UserUpdate{}, errors.New("it must not change Email or EmailVerified: a sign-in does not change the address of a user")
	}
	extra := make(map[string]any, len(c.Extra))
	for name, value := range c.Extra {
		if isUserField(name) {
			return UserUpdate{}, fmt.Errorf("the member %q of Extra has the name of a field of the user", name)
		}
		var err error
		if extra[name], err = asDecoded(value); err != nil {
			return UserUpdate{}, fmt.Errorf("the member %q of Extra is no value of encoding/json: %w", name, err)
		}
	}
	c.Extra = extra
	return c, nil
}

// asDecoded returns what encoding/json decodes from the text of a value. A nil
// slice becomes nil, and numbers keep their digits.
func asDecoded(value any) (decoded any, err error) {
	text, err := wire.Marshal(value)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&decoded)
	return decoded, err
}

// applied returns a user who is about to be created, with the change made.
func (c UserUpdate) applied(u *User) *User {
	u = u.clone()
	if c.Name != nil {
		u.Name = *c.Name
	}
	if c.Image != nil {
		u.Image = *c.Image
	}
	for name, value := range c.Extra {
		if value == nil {
			delete(u.Extra, name)
			continue
		}
		if u.Extra == nil {
			u.Extra = make(map[string]any, len(c.Extra))
		}
		u.Extra[name] = value
	}
	return u
}

// since returns what of a change differs from a stored user, and whether
// anything does.
func (c UserUpdate) since(u *User) (UserUpdate, bool) {
	if c.Name != nil && *c.Name == u.Name {
		c.Name = nil
	}
	if c.Image != nil && *c.Image == u.Image {
		c.Image = nil
	}
	c.Extra = maps.Clone(c.Extra)
	maps.DeleteFunc(c.Extra, func(name string, value any) bool { return sameJSON(value, u.Extra[name]) })
	return c, c.Name != nil || c.Image != nil || len(c.Extra) > 0
}

// keptBy returns an error if a store has no place for a member of Extra. The
// application may read the role from its own column, which still has the value
// of an earlier sign-in.
func (c UserUpdate) keptBy(u *User) error {
	for _, name := range slices.Sorted(maps.Keys(c.Extra)) {
		if c.Extra[name] != nil && u.Extra[name] == nil {
			return fail(CodeStore, fmt.Errorf("the store has no place for the member %q of User.Extra that "+
				"Callbacks.SyncUser returned: shared tables need a column that the layout names", name))
		}
	}
	return nil
}

// sameJSON reports whether two values have the same JSON text. A value without
// one differs from every other.
func sameJSON(a, b any) bool {
	one, err := wire.Marshal(a)
	if err != nil {
		return false
	}
	other, err := wire.Marshal(b)
	return err == nil && bytes.Equal(one, other)
}
