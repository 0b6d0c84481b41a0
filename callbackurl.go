package pintle

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/pintleauth/pintle/internal/clip"
	"github.com/pintleauth/pintle/internal/origin"
)

// settleCallbackURL finds out where the browser is to go in the end: what the
// body says, or else the query, or else the cookie of an earlier request. All
// of them can be anybody's, so each passes through the redirect callback.
func (x *exchange) settleCallbackURL() error {
	asked, err := x.askedCallbackURL()
	if err != nil {
		return err
	}
	kept, _ := x.initialCookie(x.set.callbackURL)
	if asked == "" && origin.Allowed(kept) {
		asked = kept
	}
	x.callbackURL, x.callbackText = x.origin, x.origin
	if asked != "" {
		if x.callbackURL, x.callbackText, err = x.redirectTarget(asked); err != nil {
			return err
		}
		if x.callbackURL == x.origin && asked != x.origin {
			x.debug("callback URL not accepted, so the browser goes to the home page in the end")
		}
	}
	if x.callbackText != kept {
		x.addCookie(x.set.callbackURL.line(x.callbackText))
	}
	return nil
}

// askedCallbackURL is what the request itself says: its body, or else its query.
func (x *exchange) askedCallbackURL() (string, error) {
	asked, sent, isText := x.body.String("callbackUrl")
	switch {
	case sent && !isText:
		return "", fail(ErrConfiguration, byClient(errors.New("the callbackUrl of the body is not text")))
	case !sent:
		asked, _ = x.query.Last("callbackUrl")
	}
	return asked, nil
}

// redirectTarget asks the host, or the default rule, where a wish may lead. It
// returns the URL to go to and the text that Auth.js remembers it by, which is
// for the cookie only.
func (x *exchange) redirectTarget(wish string) (target, text string, err error) {
	if x.Callbacks.Redirect != nil {
		text, err = x.Callbacks.Redirect(x.ctx, wish, x.origin)
		if err != nil {
			return "", "", fail(ErrConfiguration, fmt.Errorf("Callbacks.Redirect: %w", err))
		}
		text = cmp.Or(text, x.origin)
		if x.isCallback(x.absolute(text)) || x.isCallback(text) {
			return x.origin, x.origin, nil
		}
		return x.absolute(text), text, nil
	}
	if text, err = origin.Verbatim(wish, x.origin); err != nil {
		return "", "", fail(ErrConfiguration, byClient(fmt.Errorf("callback URL: %w", err)))
	}
	if target, err = origin.Redirect(wish, x.origin); err != nil {
		// A line break in a path: nobody goes there, and nothing breaks.
		target = x.origin
	}
	if x.isCallback(target) || x.isCallback(text) {
		return x.origin, x.origin, nil
	}
	return target, text, nil
}

// isCallback reports whether a URL is one of the callback routes. An attacker who
// has a browser go on to a callback of theirs, such as the link in a mail to them,
// would sign it in as the attacker right after its user has signed in: the request
// then comes from this site, and nothing shows whose link it was.
//
// What cannot be parsed counts as one: browsers read more than net/url does.
func (x *exchange) isCallback(target string) bool {
	target, _, _ = strings.Cut(asciiURL(target), "#") // as it is sent
	// Browsers take a backslash for a slash.
	u, err := url.Parse(strings.ReplaceAll(target, `\`, "/"))
	if err != nil {
		return true
	}
	if u.Host != "" && !strings.EqualFold(u.Scheme+"://"+u.Host, x.origin) {
		return false
	}
	p := path.Clean("/" + u.Path + u.Opaque) // without dot segments
	return p == x.base+"/callback" || strings.HasPrefix(p, x.base+"/callback/")
}

// checkCallbackURL refuses a wish in the query that is no address at all, and
// leads people who follow a bad link to a page that says so. A bad cookie is
// overwritten instead: it would follow the browser everywhere.
//
// The status is that of a fault of the configuration, as on the wire of Auth.js.
// In the log it is a bad request.
func (x *exchange) checkCallbackURL() *Error {
	if asked, _ := x.query.Last("callbackUrl"); asked != "" && !origin.Allowed(asked) {
		return fail(codeInvalidCallbackURL, byClient(fmt.Errorf("the request asks to go to %s, which is neither a path nor an http(s) URL", clip.Quote(asked))))
	}
	return nil
}
