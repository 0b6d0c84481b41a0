package pintle

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle/internal/body"
	"github.com/pintleauth/pintle/internal/query"
)

// SignInOptions are the details of [Auth.SignIn]. The zero value is a sign-in
// that comes back to the page it started from.
type SignInOptions struct {
	// RedirectTo is where the browser goes in the end: a path or a URL of this
	// site. Empty means the page that the request's Referer names, or "/".
	RedirectTo string

	// Fields are what the provider's form would have sent: the address for an
	// [Email] provider under "email", the inputs of a [Credentials] provider.
	Fields map[string]any

	// Params are added to the authorization URL of an [OAuth] provider, for
	// example prompt or login_hint.
	Params url.Values
}

// SignIn signs a user in from the host's own handler: it does what a form
// that is posted to the sign-in page's provider does, sets the cookies on w, and
// returns where the browser has to be sent. Call it before the response is
// written, and redirect to the URL or give it to a script:
//
//	next, err := auth.SignIn(w, r, "github", pintle.SignInOptions{})
//
// An unknown or empty provider yields the sign-in page. When the sign-in fails
// the error is an [*Error], with [CodeCredentials] for a wrong password. It is
// logged, and Events.SignInFailed is called, as at the routes. The handler must
// protect itself against requests forged by other sites, for example with
// [http.CrossOriginProtection].
func (a *Auth) SignIn(w http.ResponseWriter, r *http.Request, provider string, o SignInOptions) (next string, err error) {
	x, fault := a.inner(r, actionSignIn)
	x.provider = x.byID[provider]
	// The fields are all that such a provider needs: there is no page in between.
	inOneStep := x.provider != nil && x.provider.hostUsers
	if inOneStep {
		x.action = actionCallback
	}
	if fault != nil {
		x.logError(fault)
		return "", fault
	}
	if err := x.comeBackTo(o.RedirectTo); err != nil {
		return x.leaveTo(w, err)
	}
	if x.provider == nil {
		return query.Append(x.origin+x.base+"/signin", "callbackUrl", x.callbackURL), nil
	}
	for name, values := range o.Params {
		for _, value := range values {
			x.query.Add(name, value)
		}
	}
	x.body = body.Of(o.Fields)
	if inOneStep {
		return x.leaveTo(w, x.callback())
	}
	return x.leaveTo(w, x.signIn())
}

// SignOutOptions are the details of [Auth.SignOut]. The zero value comes back to the
// page it started from.
type SignOutOptions struct {
	// RedirectTo is where the browser goes afterwards: a path or a URL of this
	// site. Empty means the page that the request's Referer names, or "/".
	RedirectTo string
}

// SignOut ends the session of a request from the host's own handler, clears its
// cookies on w and returns where the browser should go. Call it before the response is written. The error matches [CodeSignOut]
// when the store or the revocation list could not record the sign-out: the user
// is still signed in, and the cookies are left so that they can try again.
func (a *Auth) SignOut(w http.ResponseWriter, r *http.Request, o SignOutOptions) (next string, err error) {
	x, fault := a.inner(r, actionSignOut)
	if fault != nil {
		x.logError(fault)
		return "", fault
	}
	if err := x.comeBackTo(o.RedirectTo); err != nil {
		return x.leaveTo(w, err)
	}
	return x.leaveTo(w, x.signOut())
}

// UpdateSession saves what [Claim.Set] changed in the session of the request
// and lets the callbacks work on data, which may be nil, as they would on what a
// browser posts. It sets the cookies on w and returns the session as it is
// afterwards, or nil when the request is signed out. Call it before the response is
// written.
func (a *Auth) UpdateSession(w http.ResponseWriter, r *http.Request, data any) (*Session, error) {
	s, known, err := a.settings(r)
	if err != nil {
		a.logCall(r.Context(), "UpdateSession", err)
		return nil, err
	}
	set, err := s.cookiesOf(r)
	if err != nil {
		s.logUnread(r.Context(), unread{err, failed})
		return nil, err
	}
	q := sessionRequest{Request: known, set: set, renewal: renewAlways, trigger: TriggerUpdate, update: data}
	before := SessionFrom(r.Context())
	if before != nil && !before.isOf(s) {
		// The session is that of another Auth or tenant. Its changes are not
		// for this session, and the guards of that Auth must not find this
		// session in it.
		before = nil
	}
	if before != nil {
		q.changes = before.changes
	}
	result := s.sessionOf(q)
	if result.err != nil {
		s.logUnread(r.Context(), result.unread)
	}
	setCookies(w, result.lines)
	if before != nil && result.session != nil {
		// Handlers further in see the session as it is now.
		*before = *result.session
	}
	return result.session, result.err
}

// inner returns the exchange of a call from server code, and the fault that
// makes the configuration unusable for it. No form is involved whose origin
// could be in doubt.
func (a *Auth) inner(r *http.Request, act action) (*exchange, *Error) {
	s, known := a.settingsOrFault(r)
	x := &exchange{settings: s, ctx: known.Context(), r: known, action: act, began: time.Now(), inside: true, csrfVerified: true}
	return x, x.configFault()
}

// comeBackTo sets where the browser goes in the end.
func (x *exchange) comeBackTo(to string) (err error) {
	x.debug("called by server code")
	if to == "" {
		to = cmp.Or(x.r.Referer(), "/")
	}
	if x.callbackURL, x.callbackText, err = x.redirectTarget(to); err != nil {
		return err
	}
	if kept, _ := x.initialCookie(x.set.callbackURL); kept != x.callbackText {
		x.addCookie(x.set.callbackURL.line(x.callbackText))
	}
	return nil
}

// leaveTo returns the outcome of an inner exchange to the host. It logs a
// failure here, because the host may only show it.
func (x *exchange) leaveTo(w http.ResponseWriter, err error) (string, error) {
	if err != nil {
		e := classified(err)
		if e.Provider == "" && x.provider != nil {
			named := *e
			named.Provider = x.provider.id
			e = &named
		}
		x.logError(e)
		x.emitSignInFailed(e)
		return "", e
	}
	setCookies(w, x.answer.cookies)
	return asciiURL(x.answer.location), nil
}

// setCookies adds Set-Cookie lines to a response of the host's. A line for a
// cookie that was set before replaces the earlier one: browsers take the last,
// and proxies differ.
func setCookies(w http.ResponseWriter, lines []string) {
	h := w.Header()
	for _, line := range lines {
		name, _, _ := strings.Cut(line, "=")
		h["Set-Cookie"] = slices.DeleteFunc(h["Set-Cookie"], func(earlier string) bool {
			other, _, _ := strings.Cut(earlier, "=")
			return other == name
		})
		h["Set-Cookie"] = append(h["Set-Cookie"], line)
	}
	if len(lines) > 0 && h["Cache-Control"] == nil {
		h.Set("Cache-Control", "private")
	}
}
