package pintle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// A holding is a user with an address that no mail has proven, and how that user
// can sign in, as far as is known.
type holding struct {
	user *User

	// accounts are those of providers other than mail. A passkey has one, too.
	accounts []*Account

	// unseen reports that there is, or may be, another way in without an
	// account: a password, or accounts of a store that cannot list them.
	unseen bool
}

// A heldAddress is an error of a decision: a mail has proven the address of a
// user whom others may be able to get into.
type heldAddress struct{ user *User }

func (e *heldAddress) Error() string {
	return fmt.Sprintf("pintle: the address belongs to the user %s, who has not proven it", e.user.ID)
}

// holding finds out how a user can sign in without a mail. It fails with an
// [errand] where the host has to be asked.
func (x *exchange) holding(ctx context.Context, r *records, found *errands, user *User) (*holding, error) {
	h := &holding{user: user}
	if !r.can.Accounts {
		// Only mails signed users in here, or accounts may exist.
		h.unseen = slices.ContainsFunc(x.providers, func(p *provider) bool { return !p.sendsLinks })
	} else {
		linked, err := r.userAccounts(ctx, user.ID)
		if err != nil {
			return nil, err
		}
		h.accounts = slices.DeleteFunc(linked, func(a *Account) bool { return a.Type == TypeEmail })
	}
	if h.vouched() {
		return h, nil
	}
	if r.can.Passkeys {
		passkeys, err := r.userAuthenticators(ctx, user.ID)
		if err != nil {
			return nil, err
		}
		h.unseen = h.unseen || len(passkeys) > 0
	}
	password, err := x.mayHavePassword(found, user)
	h.unseen = h.unseen || password
	return h, err
}

// mayHavePassword reports whether a user may be known to a [Credentials]
// provider, here or at another configuration of the store. The host is called
// before the transaction: during it, its database may have no free connection.
func (x *exchange) mayHavePassword(found *errands, user *User) (bool, error) {
	hostKnows := x.Callbacks.HasPassword != nil
	for _, p := range x.providers {
		if !p.hostUsers {
			continue
		}
		// Without Knows every user may have a password: assume the case with
		// more checks.
		if p.knows == nil {
			return true, nil
		}
		hostKnows = true
	}
	if !hostKnows {
		return false, nil
	}
	if known, asked := found.passwords[user.ID]; asked {
		return known, nil
	}
	return false, &errand{func(e *errands) error { return x.askForPassword(e, user) }}
}

func (x *exchange) askForPassword(e *errands, user *User) error {
	known := false
	var err error
	if x.Callbacks.HasPassword != nil {
		if known, err = x.Callbacks.HasPassword(x.ctx, user.clone()); err != nil {
			return fail(CodeConfiguration, fmt.Errorf("Callbacks.HasPassword: %w", err))
		}
	}
	for _, p := range x.providers {
		if known || !p.hostUsers || p.knows == nil {
			continue
		}
		if known, err = p.knows(x.ctx, user); err != nil {
			return err
		}
	}
	if e.passwords == nil {
		e.passwords = map[string]bool{}
	}
	e.passwords[user.ID] = known
	return nil
}

// vouched reports whether a provider had verified the user's address when one
// of their accounts was stored. An account with another verified address is no
// evidence for this one.
func (h *holding) vouched() bool {
	return h.user.Email != "" && slices.ContainsFunc(h.accounts, func(a *Account) bool { return a.VerifiedEmail == h.user.Email })
}

// othersMayEnter reports whether there is, or may be, a way in other than mail.
func (h *holding) othersMayEnter() bool { return len(h.accounts) > 0 || h.unseen }

// endSessions ends the sessions of a user whose address is proven for the first
// time, but for the database session with the token except: one of them may be
// of a person who used the address before its owner did. A store that cannot
// list sessions, and tokens without [SessionConfig.Revocation], keep theirs.
func (w *unitOfWork) endSessions(who *arrival, userID, except string) error {
	return w.x.sessions.endUnproven(w, who, userID, except)
}

// stillHeld rejects an account that was linked to a user whose address a mail
// has proven since the session was read. That proof ended the session, which
// may belong to a person who used the address before its owner did.
//
// Two transactions that overlap altogether may miss one another. That is accepted:
// such a user has no way in but mail, and so hardly a session to link from.
func (w *unitOfWork) stillHeld(who *arrival, user *User) error {
	if !w.inTx || user.Email == "" || !user.EmailVerified.IsZero() {
		return nil
	}
	now, err := w.user(w.ctx, user.ID)
	if err != nil {
		return err
	}
	if now == nil || !now.EmailVerified.IsZero() {
		return who.notLinked("the session ended during the sign-in: the address of its user was proven")
	}
	return nil
}

// takenAddress is what an address is replaced by where the store refuses users
// without one. No mail reaches it.
//
// https://www.rfc-editor.org/rfc/rfc6761#section-6.4
func takenAddress(userID string) string { return "taken+" + userID + "@invalid" }

// takeAddress takes an address away from a user who has not proven it, for the
// arrival who has. It fails if the person was asked about another user, or if
// the user has proven the address meanwhile. Sessions that carry the address
// end where they can be ended.
func (w *unitOfWork) takeAddress(who *arrival, user *User) error {
	if user.ID != who.taking || !user.EmailVerified.IsZero() {
		return &Error{Code: CodeVerification, Provider: who.provider.id, Err: errors.New("the address belongs to another user than the one the person was asked about")}
	}
	if w.x.sessions.carryAddress() {
		if err := w.endSessions(who, user.ID, ""); err != nil {
			return err
		}
	}
	var instead string
	if who.errands.marking {
		instead = takenAddress(user.ID)
	}
	var unproven time.Time
	_, err := w.updateUser(user.ID, UserUpdate{Email: &instead, EmailVerified: &unproven})
	if err != nil && !errors.Is(err, ErrConflict) && !who.errands.marking {
		// The column of the address may be NOT NULL, and the decision runs again
		// with takenAddress.
		return &errand{func(e *errands) error { e.marking = true; return nil }}
	}
	return err
}
