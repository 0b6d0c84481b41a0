package pintle

import "github.com/pintleauth/pintle/internal/query"

// beginSession makes the session of a decision, unless one of the same user goes on.
// Every session begins here, in the transaction of its decision, and reaches the
// browser by [exchange.issue].
func (x *exchange) beginSession(w *unitOfWork, d *decision) error {
	if d.session != nil {
		return nil
	}
	return x.sessions.create(w, d)
}

// issue gives the browser the session of a user whose identity is decided, and
// sends the browser on.
func (x *exchange) issue(who *arrival, d *decision) error {
	issued, err := x.sessions.issue(x, who, d)
	if err != nil {
		return err
	}
	x.addCookie(who.submission.cookieLines()...)
	x.emitSignIn(who, d)
	if issued {
		x.debug("signed in")
	}
	if d.newUser != nil && *d.newUser && x.Pages.NewUser != "" {
		return x.redirect(query.Append(x.Pages.NewUser, "callbackUrl", x.callbackText))
	}
	// Whichever field or cookie it comes from, it has passed the redirect rules.
	return x.redirect(x.callbackURL)
}
