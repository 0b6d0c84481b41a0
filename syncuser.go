package pintle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/pintleauth/pintle/internal/wire"
)

// A syncKey identifies a call of [Callbacks.SyncUser] within a sign-in. userID is
// the id of the stored user, and empty for a user who will be created. linking
// reports that the account is about to be linked to the signed-in user.
type syncKey struct {
	userID  string
	linking bool
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
	attempt := &SignInAttempt{User: user.clone(), Account: who.account.clone(), Profile: who.profile}
	if here != nil {
		attempt.LinkTo, attempt.SignedInAt = user.clone(), here.authentication.Time
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
			return fail(CodeStore, fmt.Errorf("the store has no place for the member %q of User.Extra that Callbacks.SyncUser returned: shared tables need a column that the layout names", name))
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
