package pintle

import (
	"time"
)

// signedIn returns the user who is signed in, and their database session if
// sessions are kept there. An expired session is nobody's: what is linked while
// it is held must not go to its user.
func (x *exchange) signedIn() (*User, *StoredSession, error) {
	if x.strategy == StrategyDatabase {
		held := x.heldToken()
		if held == "" {
			return nil, nil, nil
		}
		stored, user, err := x.records.sessionAndUser(x.ctx, held)
		if err != nil || stored == nil || stored.Expires.Before(time.Now()) || x.tooOld(stored.Created) {
			return nil, nil, err
		}
		return user, stored, nil
	}
	tok, claims, err := x.decode(x.r, x.set, false)
	if err == nil {
		r := reading{settings: x.settings, ctx: x.ctx}
		err = r.stillGood(tok, claims)
	}
	if err != nil {
		return nil, nil, nil //nolint:nilerr // a token that is not valid is nobody's
	}
	id := tok.Subject()
	if claims != nil {
		id, _ = identifier(claims["sub"])
	}
	if id == "" {
		return nil, nil, nil
	}
	if x.records == nil {
		return &User{ID: id}, nil, nil
	}
	user, err := x.records.user(x.ctx, id)
	return user, nil, err
}
