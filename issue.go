package pintle

import (
	"context"
	"errors"

	"github.com/pintleauth/pintle/internal/cookie"
	"github.com/pintleauth/pintle/internal/query"
	"github.com/pintleauth/pintle/internal/sealed"
)

// beginSession makes the session of a decision, unless one of the same user goes on.
// Every session begins here, in the transaction of its decision, and reaches the
// client by [exchange.giveSession].
func (x *exchange) beginSession(w *unitOfWork, d *decision) error {
	if d.session != nil {
		return x.sessions.join(w, d)
	}
	return x.sessions.create(w, d)
}

// admit makes the session of a sign-in that [Callbacks.Hold] lets in, after
// its decision was stored, and ends those that the browser holds.
//
// The session is written, and then the mark is checked. If the sessions of the user
// ended between the decision and now, the mark is gone, and the session goes, too. If
// they end later, the session ends with them.
func (x *exchange) admit(d *decision) error {
	w := &unitOfWork{records: x.records, x: x, ctx: x.ctx}
	if err := x.beginSession(w, d); err != nil {
		if errors.Is(err, ErrNotFound) || errors.Is(err, errEndedAtProvider) {
			err = noPending(errHeldEnded) // the user was deleted, or the provider has ended the session there
		}
		return err
	}
	good, err := x.sessions.unmark(x.ctx, d)
	if err == nil && !good {
		err = noPending(errHeldEnded)
	}
	if err == nil {
		err = x.sessions.endOther(w, &presence{}, d.user)
	}
	if err != nil && d.session != nil {
		// No browser gets its token, and it would be among the devices of the user.
		_, undone := x.records.deleteSession(context.WithoutCancel(x.ctx), d.session.Token)
		err = errors.Join(err, undone)
	}
	return err
}

// giveSession gives the browser the session of a user whose identity is decided.
// The result is nil where [Callbacks.JWT] wants no session.
func (x *exchange) giveSession(who *arrival, d *decision) (*issued, error) {
	given, err := x.sessions.issue(x, who, d)
	if err != nil {
		return nil, err
	}
	if given != nil {
		if x.endsAtProvider {
			x.keepSignOutHint(who, d, given.session().User.ID, false)
		}
		x.debug("signed in")
	}
	x.addCookie(who.submission.cookieLines()...)
	if given != nil && !x.native {
		x.clearActing()
		x.rememberProvider(who, d)
		x.clearTyped()
	}
	x.emitSignIn(who, d, given)
	return given, nil
}

// issue gives the browser the session, and sends the browser on. An application is given
// the session only.
func (x *exchange) issue(who *arrival, d *decision) error {
	given, err := x.giveSession(who, d)
	if err != nil {
		return err
	}
	if x.native {
		x.given = given
		return nil
	}
	if d.newUser != nil && *d.newUser && x.Pages.NewUser != "" {
		return x.redirect(query.Append(x.Pages.NewUser, "callbackUrl", x.callbackText))
	}
	// Whichever field or cookie it comes from, it has passed the redirect rules.
	return x.redirect(x.callbackURL)
}

// maxHint is the longest ID token that is kept. With it the answer to a sign-in stays below
// the 4 KB of headers that a proxy reads by default, and so does the request to sign out.
const maxHint = 1800

// A signOutHint is what a browser keeps, until it signs out, of the sign-in with
// which its session began. Only the routes below signout receive it, so that an ID token
// makes no other request longer.
type signOutHint struct {
	Provider string `json:"provider"`

	// Authority is that of the provider: an ID token is not sent to another issuer that
	// has the same id now.
	Authority string `json:"authority"`

	// User is the id of the user. What a former session left is not used for the
	// session of another user.
	User string `json:"user"`

	Hint string `json:"hint,omitempty"` // the ID token
	sealed.Expiry
}

// keepSignOutHint has the browser keep with which provider the session of a user begins, or
// begins if the sign-in is held and completed.
func (x *exchange) keepSignOutHint(who *arrival, d *decision, userID string, held bool) {
	// A session that goes on began before, and one that server code starts takes the place
	// of one.
	if !x.endsAtProvider || d.kept != nil || who.unasked {
		return
	}
	var value string
	if d.account != nil {
		if p := x.byID[d.account.Provider]; p != nil && p.endSession != nil {
			kept := &signOutHint{Provider: p.id, Authority: p.authority, User: userID, Hint: d.account.IDToken}
			if len(kept.Hint) > maxHint {
				kept.Hint = ""
			}
			if who.waited {
				return // it was kept when the sign-in was held, and the ID token is gone
			}
			value, _ = x.set.signOutHintBox.Seal(kept) // texts are JSON
		}
	}
	if held && value == "" {
		return // the session of before goes on unless the sign-in is completed
	}
	// A sign-out that was not finished is over: it would end the new session.
	x.addCookie(x.hintLine(value), x.leavingCookie().clear())
}

// keepNewerHint has the browser keep the ID token of a further sign-in with the account with
// which its session began: the ID token before may be of a session there that has ended.
func (x *exchange) keepNewerHint(who *arrival, here *presence) {
	if who.atProvider != nil && who.atProvider.began {
		x.keepSignOutHint(who, &decision{account: who.account}, here.user.ID, false)
	}
}

// hintLine sets the cookie, or clears it if the value is empty.
func (x *exchange) hintLine(value string) string {
	c := x.set.signOutHint
	c.attrs.Path = x.base + "/" + string(actionSignOut)
	if value == "" {
		return c.clear()
	}
	return cookie.Line(c.name, value, c.lasting(browserMaxAge))
}

func (x *exchange) leavingCookie() namedCookie {
	c := x.set.leaving
	c.attrs.Path = x.base + "/" + string(actionSignOut)
	return c
}
