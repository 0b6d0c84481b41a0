package account

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// endedFlows are the kinds that end with the sessions of their user. The sign-ins that
// wait end with the sessions themselves.
var endedFlows = []string{
	resetKind.name, secondKind.name, enrolKind.name, proveKind.name, confirmKind.name, totpKind.name, addressKind.name,
}

// endSessions ends what was begun as a user: sessions, sign-ins that wait for a page, and
// flows.
func (a *Accounts) endSessions(ctx context.Context, userID string) error {
	// The request may be one in which an operator acts as the user: what has been decided is done.
	if err := a.auth.SignOutEverywhere(pintle.WithSession(ctx, nil), userID); err != nil {
		return unavailable(err)
	}
	return a.endFlows(ctx, userID)
}

func (a *Accounts) endFlows(ctx context.Context, userID string) error {
	if _, err := a.rows.EndFlows(ctx, userID, endedFlows...); err != nil {
		return unavailable(err)
	}
	return nil
}

// whileSignedOut makes a change that must not leave a session of before. They end
// before it, so that a crash in between leaves a user signed out and never a thief signed
// in, and after it, because a sign-in may have been under way.
func (a *Accounts) whileSignedOut(ctx context.Context, userID string, change func() error) error {
	if err := a.endSessions(ctx, userID); err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	return a.endSessions(ctx, userID)
}

// lockOut is whileSignedOut for an act of an operator. The change is made also if the sessions
// could not be ended before it: a list of ended sessions that does not answer must not keep a
// ban from being stored.
func (a *Accounts) lockOut(ctx context.Context, userID string, change func() error) error {
	before := a.endSessions(ctx, userID)
	if err := change(); err != nil {
		return errors.Join(err, before)
	}
	return a.endSessions(ctx, userID)
}

// untilNextSecond waits for a session to begin after the end of the others. Tokens and
// revocation lists count in whole seconds: a sign-in in this one would be ended, too.
func (a *Accounts) untilNextSecond(ctx context.Context) {
	if !a.tokens {
		return
	}
	now := time.Now()
	wait := time.NewTimer(now.Truncate(time.Second).Add(time.Second).Sub(now))
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
	}
}

// storePassword stores the password of a user: a first one, or another one. before is the
// row that was read, or nil.
func (a *Accounts) storePassword(ctx context.Context, userID string, before *accountstore.Factor, hash string) error {
	return a.storePasswordRow(ctx, before, newPassword(userID, hash, time.Now()))
}

func (a *Accounts) storePasswordRow(ctx context.Context, before, row *accountstore.Factor) error {
	var err error
	if before == nil {
		err = a.rows.AddFactor(ctx, row)
	} else {
		row.Version = before.Version
		err = a.rows.ReplaceFactor(ctx, row)
	}
	if errors.Is(err, pintle.ErrConflict) || errors.Is(err, pintle.ErrNotFound) {
		return problemOf("changed_meanwhile")
	}
	if err != nil {
		return unavailable(err)
	}
	waitForSignIn(row)
	return nil
}

// proveAddress records that the user reads mail at the address. It may have changed since it was
// read, and then it is not the one that was proven.
func (a *Accounts) proveAddress(ctx context.Context, u *pintle.User) error {
	now := time.Now().UTC().Truncate(time.Millisecond)
	_, err := a.store.UpdateUser(ctx, u.ID, pintle.UserUpdate{EmailVerified: &now, IfEmail: &u.Email})
	if errors.Is(err, pintle.ErrConflict) {
		return problemOf("changed_meanwhile")
	}
	if err != nil {
		return unavailable(err)
	}
	return nil
}

// startAgain gives this browser a new session in place of one that has ended with all
// others. What was proven before keeps its time; methods are what the user has proven now.
//
// If the provider of the session can end it, by a logout token or by refusing the user's
// refresh token, startAgain begins no new session, because the provider could not end that
// one. The user has to sign in again.
func (v *visit) startAgain(u *pintle.User, before pintle.Authentication, methods ...string) error {
	if v.backChannels[before.Provider] {
		v.untilNextSecond(v.ctx)
		return problemOf("signed_out")
	}
	again := pintle.Authentication{Provider: before.Provider, Proofs: map[string]time.Time{}}
	for _, method := range before.Methods {
		at := before.Proofs[method]
		if at.IsZero() {
			at = before.Time
		}
		// A provider may have reported a method twice.
		if !at.IsZero() && !slices.Contains(methods, method) && !slices.Contains(again.Methods, method) {
			again.Methods = append(again.Methods, method)
			again.Proofs[method] = at
		}
	}
	again.Methods = append(again.Methods, methods...)
	// Its begin is now: a session from before the end of the others would end, too.
	switch _, _, err := v.auth.StartSession(v.w, v.r, u, pintle.StartOptions{Authentication: again}); {
	case errors.Is(err, pintle.CodeAccessDenied):
		return problemOf("signed_out") // the user is banned by now: see tokenRoles
	case err != nil:
		return unavailable(err)
	}
	return v.notOvertaken(u)
}

// notOvertaken ends the session that begins if the user is banned or deleted, or if another request
// has stored a password since this one came. Either has ended the session of this request,
// which may be that of a thief, and the new session began afterwards, beside the gate.
func (v *visit) notOvertaken(u *pintle.User) error {
	state, err := v.rows.State(v.ctx, u.ID)
	var row *accountstore.Factor
	if err == nil {
		row, err = v.passwordOf(v.ctx, u.ID)
	}
	if err == nil && !state.BannedUntil.After(time.Now()) && !isDeleting(state) &&
		(row == nil || row.Step < v.began.UnixMilli() || row.Secret == v.chosen) {
		return nil
	}
	fault := problemOf("signed_out")
	if err != nil {
		fault = unavailable(err)
	}
	if err := v.endSessions(context.WithoutCancel(v.ctx), u.ID); err != nil {
		return err
	}
	return fault
}

// recordProof renews the session with a method that its user has proven now. What was
// proven before keeps its time.
func (v *visit) recordProof(method string) (*pintle.Session, error) {
	return v.unlessBanned(func() (*pintle.Session, error) {
		renewed, err := v.auth.Reauthenticate(v.w, v.r, pintle.CompleteOptions{Methods: []string{method}})
		if errors.Is(err, pintle.CodeAccessDenied) {
			return nil, problemOf("signed_out") // the session has ended meanwhile
		}
		if err != nil {
			return nil, unavailable(err)
		}
		return renewed, nil
	})
}

// unlessBanned renews the session. A user who is banned proves nothing, and a ban that comes
// meanwhile ends the new session: the state is read again once it is stored.
func (v *visit) unlessBanned(renew func() (*pintle.Session, error)) (*pintle.Session, error) {
	if err := v.notBanned(v.session.User.ID); err != nil {
		return nil, err
	}
	renewed, err := renew()
	if err != nil {
		return nil, err
	}
	return renewed, v.notBanned(renewed.User.ID)
}

// notBanned ends the sessions of a user who is banned, and returns the problem signed_out.
func (v *visit) notBanned(userID string) error {
	state, err := v.rows.State(v.ctx, userID)
	if err != nil {
		return unavailable(err)
	}
	if !state.BannedUntil.After(time.Now()) {
		return nil
	}
	if err := v.endSessions(context.WithoutCancel(v.ctx), userID); err != nil {
		return err
	}
	return problemOf("signed_out")
}

// A holding is how a user can sign in.
type holding struct {
	// names are the names of the providers, in order.
	names []string

	password bool

	// linked reports that accounts of providers are linked to the user, be they
	// configured or not.
	linked bool

	// others reports a way of the application: a provider of credentials of its
	// own, or another configuration of the store.
	others bool
	mail   bool
}

// ways finds out how a user can sign in, by the rule of [pintle.Auth.Unlink].
func (a *Accounts) ways(ctx context.Context, u *pintle.User) (*holding, error) {
	h := &holding{mail: a.hasMail && isProved(u)}
	accounts, err := a.store.UserAccounts(ctx, u.ID)
	if err != nil {
		return nil, unavailable(err)
	}
	h.linked = len(accounts) > 0
	h.names = a.namesOf(accounts)
	if _, hash, err := a.storedPassword(ctx, u); err != nil {
		return nil, unavailable(err)
	} else if hash != "" {
		h.password = true
	}
	for _, p := range a.credentials {
		known := p.CanSignIn == nil
		if p.CanSignIn != nil {
			if known, err = p.CanSignIn(ctx, u); err != nil {
				return nil, unavailable(err)
			}
		}
		h.others = h.others || known
	}
	if a.callback.HasPassword != nil && !h.others {
		if h.others, err = a.callback.HasPassword(ctx, u); err != nil {
			return nil, unavailable(err)
		}
	}
	return h, nil
}

// namesOf returns the names of the providers of accounts that are configured, in order.
func (a *Accounts) namesOf(accounts []*pintle.Account) []string {
	names := map[string]bool{}
	for _, linked := range accounts {
		if name, configured := a.providers[linked.Provider]; configured {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// beside reports whether there is a way in other than the password.
func (h *holding) beside() bool { return len(h.names) > 0 || h.others || h.mail }
