package pintle

import (
	"errors"
	"time"

	"github.com/pintleauth/pintle/token"
)

// A presence is the user who is signed in in a browser.
type presence struct {
	// user is nil where the request is signed out.
	user *User

	// session is the database session, nil where sessions are kept in tokens.
	session *StoredSession

	// signedInAt is when the session began. It is zero where the session does
	// not say.
	signedInAt time.Time
}

// signedIn returns the signed-in user, and their database session if sessions
// are kept there.
func (x *exchange) signedIn() (*User, *StoredSession, error) {
	here, err := x.present()
	if err != nil {
		return nil, nil, err
	}
	return here.user, here.session, nil
}

// isSignedIn reports whether a user is signed in, as far as the store can say.
func (x *exchange) isSignedIn() bool {
	user, _, err := x.signedIn()
	return err == nil && user != nil
}

// present returns who is signed in. An expired session counts as signed out:
// what is linked while a browser holds it must not go to its user.
func (x *exchange) present() (*presence, error) {
	if x.strategy == StrategyDatabase {
		return x.presentBySession()
	}
	held, err := x.decode(x.ctx, x.r, x.set, false)
	if isConflict(err) {
		x.logReading(x.ctx, err, false)
	}
	if err == nil {
		r := reading{settings: x.settings, ctx: x.ctx}
		err = r.stillGood(held)
	}
	if err != nil {
		if !errors.Is(err, token.ErrNoToken) {
			x.debug("session cookie not accepted, so the request counts as signed out")
		}
		return &presence{}, nil // a token that is not valid counts as signed out
	}
	id, began := held.subject(), held.time(claimSignedIn)
	if id == "" {
		return &presence{}, nil
	}
	if x.records == nil {
		return &presence{user: &User{ID: id}, signedInAt: began}, nil
	}
	user, err := x.records.user(x.ctx, id)
	if user == nil {
		return &presence{}, err
	}
	return &presence{user: user, signedInAt: began}, err
}

func (x *exchange) presentBySession() (*presence, error) {
	stored, user, err := x.sessionOfCookie(x.ctx, x.r, x.set, x.records.sessionAndUser)
	if isConflict(err) {
		x.logReading(x.ctx, err, false)
		return &presence{}, nil
	}
	if err != nil || stored == nil || stored.Expires.Before(time.Now()) || x.lifetime.Over(stored.Created, time.Now()) {
		return &presence{}, err
	}
	return &presence{user, stored, stored.Created}, nil
}
