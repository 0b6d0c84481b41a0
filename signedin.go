package pintle

import (
	"time"
)

// signedIn returns the user who is signed in, and their database session if
// sessions are kept there. An expired session counts as signed out: what is
// linked while it is held must not go to its user.
func (x *exchange) signedIn() (*User, *StoredSession, error) {
	if x.strategy == StrategyDatabase {
		stored, user, err := x.sessionOfCookie(x.ctx, x.r, x.set, x.records.sessionAndUser)
		if isConflict(err) {
			x.logReading(x.ctx, err, false)
			return nil, nil, nil
		}
		if err != nil || stored == nil || stored.Expires.Before(time.Now()) || x.tooOld(stored.Created) {
			return nil, nil, err
		}
		return user, stored, nil
	}
	held, err := x.decode(x.r, x.set, false)
	if isConflict(err) {
		x.logReading(x.ctx, err, false)
	}
	if err == nil {
		r := reading{settings: x.settings, ctx: x.ctx}
		err = r.stillGood(held)
	}
	if err != nil {
		return nil, nil, nil //nolint:nilerr // a token that is not valid counts as signed out
	}
	id := held.subject()
	if id == "" {
		return nil, nil, nil
	}
	if x.records == nil {
		return &User{ID: id}, nil, nil
	}
	user, err := x.records.user(x.ctx, id)
	return user, nil, err
}
