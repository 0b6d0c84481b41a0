package pintle

import "github.com/pintleauth/pintle/internal/query"

// beginSession makes the session of a decision, unless one of the same user goes on.
// Every session begins here, in the transaction of its decision, and reaches the
// client by [exchange.giveSession].
func (x *exchange) beginSession(w *unitOfWork, d *decision) error {
	if d.session != nil {
		return nil
	}
	return x.sessions.create(w, d)
}

// An issued is a session that a browser or an application was given.
type issued struct {
	token   string
	session *Session
}

// giveSession gives the browser the session of a user whose identity is decided.
// The result is nil where [Callbacks.JWT] wants no session.
func (x *exchange) giveSession(who *arrival, d *decision) (*issued, error) {
	given, err := x.sessions.issue(x, who, d)
	if err != nil {
		return nil, err
	}
	if given != nil {
		given.session.from = x.settings
		x.debug("signed in")
	}
	x.addCookie(who.submission.cookieLines()...)
	x.emitSignIn(who, d)
	return given, nil
}

// issue gives the browser the session, and sends the browser on.
func (x *exchange) issue(who *arrival, d *decision) error {
	if _, err := x.giveSession(who, d); err != nil {
		return err
	}
	if d.newUser != nil && *d.newUser && x.Pages.NewUser != "" {
		return x.redirect(query.Append(x.Pages.NewUser, "callbackUrl", x.callbackText))
	}
	// Whichever field or cookie it comes from, it has passed the redirect rules.
	return x.redirect(x.callbackURL)
}
