package pintle

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/pintleauth/pintle/internal/clip"
	"github.com/pintleauth/pintle/internal/cookie"
	"github.com/pintleauth/pintle/internal/csrf"
	"github.com/pintleauth/pintle/internal/origin"
	"github.com/pintleauth/pintle/internal/wire"
)

// resolveCSRFToken takes the token from this browser's cookie, or makes a new one,
// and notes whether the body repeats it.
func (x *exchange) resolveCSRFToken() {
	if x.DangerouslySkipCSRFCheck {
		x.csrfVerified = true
		return
	}
	if value, ok := x.initialCookie(x.set.csrf); ok {
		// The hash in the cookie shows that the token was made with the secret:
		// another site can neither read the cookie nor make one.
		if token, ok := x.csrf.Parse(value); ok && !x.outdatedCSRF(token, value) {
			x.csrfToken = token
			if x.r.Method == http.MethodPost {
				sent, _, _ := x.body.String("csrfToken")
				x.csrfVerified = x.csrf.Verify(x.boundToken(x.set.actingHeld(x.r.Header)), sent)
			}
			return
		}
		x.debug("cookie not accepted", "cookie", x.set.csrf.name, "reason", "it was not made with the current secret")
	}
	token, value := x.csrf.Generate()
	x.csrfToken = token
	x.addCookie(x.set.csrf.line(value))
}

// tokenBeingSet returns the form token that a response sets already, or "". A page
// with two forms has one token: a second cookie would replace the first.
func (x *exchange) tokenBeingSet(response http.Header) string {
	for _, line := range response["Set-Cookie"] {
		pair, _, _ := strings.Cut(line, ";")
		if value, ok := cookie.Get(http.Header{"Cookie": {pair}}, x.set.csrf.name); ok {
			token, _ := x.csrf.Parse(value)
			return token
		}
	}
	return ""
}

// formToken returns the form token of this browser, and makes one where it has
// none.
func (x *exchange) formToken() string {
	if x.csrfToken == "" {
		x.csrfToken = x.sentFormToken()
	}
	if x.csrfToken == "" {
		token, value := x.csrf.Generate()
		x.csrfToken = token
		x.replaceCookie(x.set.csrf, value)
	}
	return x.csrfToken
}

// pageToken returns what the forms of a page repeat: the form token of this browser, bound to the
// cookie of an operator who acts as a user. The browser has many tabs, and a form that was loaded
// before the operator began to act, or before the end, is meant for another user than the one of
// the next request. The cookie of the token stays, because flows that the operator has begun in
// this browser end with it.
func (x *exchange) pageToken() string {
	lines := x.answer.cookies
	if x.w != nil {
		lines = slices.Concat(x.w.Header()["Set-Cookie"], lines)
	}
	return x.boundToken(x.set.actingAfter(x.r.Header, lines))
}

// boundToken returns the form token of this browser bound to the value of a cookie of an operator
// who acts as a user.
func (x *exchange) boundToken(acting string) string {
	if x.Callbacks.Act == nil {
		return x.csrfToken
	}
	return csrf.Bound(x.csrfToken, acting)
}

// sentFormToken returns the form token that came with the request, or "".
func (x *exchange) sentFormToken() string {
	value, _ := x.initialCookie(x.set.csrf)
	token, _ := x.csrf.Parse(value)
	return token
}

// outdatedCSRF reports whether the token was made with earlier secrets and may
// be replaced: at a provider's callback, when no form of this browser can be
// waiting to be posted. Everywhere else it stays good, so that a change of
// secrets breaks no form that is open.
func (x *exchange) outdatedCSRF(token, value string) bool {
	return x.action == actionCallback && x.r.Method == http.MethodGet && value != token+"|"+x.hashes.Sum(token)
}

// requireCSRF stops forms that another site made this browser send.
func (x *exchange) requireCSRF() error {
	if x.csrfVerified {
		return nil
	}
	return &Error{Code: codeMissingCSRF, Err: x.whyUnverified()}
}

// requireOwnPage stops requests to Config.Accounts that are not of a page of this site.
// The form token shows that the page could read a cookie of this browser, and a page of
// a sibling domain can plant one. What the browser says of the page cannot be planted.
//
// https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header
func (x *exchange) requireOwnPage() error {
	if sites := x.r.Header["Sec-Fetch-Site"]; len(sites) > 0 {
		if site := strings.Join(sites, ","); site != "same-origin" && site != "none" {
			return &Error{Code: codeMissingCSRF, Err: fmt.Errorf("the browser says that the page that sent the form is %s", clip.Quote(site))}
		}
	} else if senders := x.r.Header["Origin"]; len(senders) > 0 {
		if sender, err := origin.Parse(strings.Join(senders, ",")); err != nil || string(sender) != x.origin {
			return &Error{Code: codeMissingCSRF, Err: fmt.Errorf("a page at %s sent the form, and this site is believed to be at %s: "+
				"a form of another site, or Config.URL (AUTH_URL) is not the address that users open",
				clip.Quote(strings.Join(senders, ",")), x.origin)}
		}
	}
	// A page of another site can send JSON as text without asking this one, and as a type
	// in whose parameter is the word: https://fetch.spec.whatwg.org/#cors-safelisted-request-header
	if kind := mediaType(x.r.Header.Get("Content-Type")); kind != typeForm && kind != typeJSON && x.maxUpload() == 0 && len(x.sent) > 0 {
		return &Error{Code: codeMissingCSRF, Err: fmt.Errorf("the body has the type %s: send a form, or JSON as %s", clip.Quote(kind), typeJSON)}
	}
	return x.requireCSRF()
}

// whyUnverified returns what a rejected form lacks.
func (x *exchange) whyUnverified() error {
	name := x.set.csrf.name
	value, sent := x.initialCookie(x.set.csrf)
	if !sent {
		if err := x.whyNoField(); err != nil {
			return fmt.Errorf("%w; and %w", x.whyNoCookie(name), err)
		}
		return x.whyNoCookie(name)
	}
	if _, ours := x.csrf.Parse(value); !ours {
		x.noteForeign(x.ctx, name, value)
		return fmt.Errorf("the cookie %s was not made with a current secret: %s", name, fixSecrets)
	}
	if err := x.whyNoField(); err != nil {
		return err
	}
	return fmt.Errorf("the field csrfToken is not the token of the cookie %s: the form was made for another "+
		"browser, before the cookie was replaced, or before an operator began or stopped to act as a user", name)
}

// whyNoField returns what a form without the field of the token lacks, and nil for one that
// has it.
func (x *exchange) whyNoField() error {
	if repeated, _, _ := x.body.String("csrfToken"); repeated != "" {
		return nil
	}
	return fmt.Errorf("the form has no field csrfToken: put the token of GET %s/csrf into it", x.base)
}

// whyNoCookie returns why the cookie of the form token may be missing. Browsers
// keep the cookies of two hosts apart, also of two names for this machine.
func (x *exchange) whyNoCookie(name string) error {
	sender, err := origin.Parse(x.r.Header.Get("Origin"))
	if err != nil || string(sender) == x.origin {
		return fmt.Errorf("the cookie %s did not come: the browser keeps no cookies, or has this site at another "+
			"address than %s, where it is believed to be: set Config.URL (AUTH_URL) to the address that users open",
			name, x.origin)
	}
	if site := origin.Origin(x.origin); site.Loopback() && sender.Loopback() {
		x.noteAddress(site, string(sender))
	}
	return fmt.Errorf("the cookie %s did not come with a form that a page at %s sent, and this site is believed to "+
		"be at %s: a form of another site, or Config.URL (AUTH_URL) is not the address that users open", name,
		clip.Text(string(sender), clip.Max), x.origin)
}

// showCSRF answers GET csrf.
func (x *exchange) showCSRF() error {
	if x.DangerouslySkipCSRFCheck {
		x.log.LogAttrs(x.ctx, slog.LevelWarn, "pintle: a client requested a CSRF token although the check is off",
			slog.String("code", "csrf-disabled"))
		x.addCookie(x.set.csrf.clear())
		x.answer.status = http.StatusNotFound
		return nil
	}
	x.answer.noStore = true
	// The token is hexadecimal or whatever else fits the hash in the cookie, so
	// it is quoted like any text.
	body := append(make([]byte, 0, 96), `{"csrfToken":`...)
	x.setJSON(http.StatusOK, append(wire.AppendString(body, x.pageToken()), '}'))
	return nil
}
