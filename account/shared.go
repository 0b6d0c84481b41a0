package account

import (
	"context"
	"errors"
	"time"

	"github.com/pintleauth/pintle"
)

// accept is what [pintle.Callbacks.Accept] asks of every session that is read. The
// application's own question comes last.
func (a *Accounts) accept(ctx context.Context, s *pintle.Session) (page string, err error) {
	if ctx.Value(confirmingKey{}) != nil {
		return "", nil
	}
	banned, err := a.isBannedShared(ctx, s)
	if err != nil {
		return "", err
	}
	if banned {
		return a.site.signIn(), nil
	}
	asks, err := a.asksShared(ctx, s)
	switch {
	case err != nil:
		return "", err
	case asks:
		return withQuery(a.site.path("confirm"), "acr_values", OneFactor.String()), nil
	case a.callback.Accept != nil:
		return a.callback.Accept(ctx, s)
	}
	return "", nil
}

// asksShared reports whether a session may have begun beside the gate: it records no proof,
// and its user has a second factor. Only such a session costs a look-up. Once the user has
// confirmed it, it records the proof.
func (a *Accounts) asksShared(ctx context.Context, s *pintle.Session) (bool, error) {
	rules := a.o.SecondFactor
	if len(s.Authentication.Proofs) > 0 || s.User.ID == "" || rules.Off || rules.AcceptSharedSessions {
		return false, nil
	}
	set, err := a.factorsOf(ctx, s.User.ID)
	if err != nil {
		return false, err
	}
	return set.asked(), nil
}

// isBannedShared reports whether a session without proofs is of a user who is banned, or has
// deleted the account: Auth.js beside this program knows neither. Sessions that passed the gate
// ended then. The session of a deferred sign-up has no proofs, either, and ends with the time
// for the proof.
func (a *Accounts) isBannedShared(ctx context.Context, s *pintle.Session) (bool, error) {
	if len(s.Authentication.Proofs) > 0 || s.User.ID == "" {
		return false, nil
	}
	state, err := a.rows.State(ctx, s.User.ID)
	if err == nil && isOver(state) {
		a.endUnproven(ctx, state)
		return true, nil
	}
	return err == nil && (state.BannedUntil.After(time.Now()) || isDeleting(state)), err
}

// confirmingKey marks the context of the requests in which a session is confirmed, or asked
// whether it has to be.
type confirmingKey struct{}

// admit decides whether the request may use the route.
func (v *visit) admit() error {
	if v.route.who == forAnyone {
		return nil
	}
	r := v.r.WithContext(context.WithValue(v.ctx, confirmingKey{}, true))
	session, err := v.sessionOf(r)
	if err != nil {
		return sessionFault(err)
	}
	if session == nil || session.User.ID == "" {
		return problemOf("signed_out")
	}
	if session.Actor != nil { // act has asked about bans, and nothing can be confirmed
		v.session = session
		if !v.route.acting {
			return problemOf("acting")
		}
		return nil
	}
	if banned, err := v.isBannedShared(v.ctx, session); err != nil {
		return unavailable(err)
	} else if banned {
		return problemOf("signed_out")
	}
	v.session = session
	if v.unconfirmed, err = v.asksShared(v.ctx, session); err != nil {
		return unavailable(err)
	}
	if v.route.confirms {
		v.r, v.ctx = r, r.Context()
		return nil
	}
	if v.unconfirmed {
		e := &StepUpError{Level: OneFactor, accounts: v.Accounts}
		e.URL = withQuery(v.site.path("confirm"), append(e.query(), "callbackUrl", v.backFrom(v.r))...)
		return e
	}
	if v.callback.Accept != nil {
		if page, err := v.callback.Accept(v.ctx, session); err != nil {
			return unavailable(err)
		} else if page != "" {
			return problemOf("signed_out")
		}
	}
	if v.route.who != forProven {
		return nil
	}
	err = v.demand(accountDemand)
	if e, ok := errors.AsType[*StepUpError](err); ok && v.route.takesPassword && e.Level == OneFactor {
		v.lacks, err = e, nil // a password reaches no more than one factor
	}
	return err
}
