package pintle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strings"

	"github.com/pintleauth/pintle/internal/cookie"
	"github.com/pintleauth/pintle/internal/limit"
	"github.com/pintleauth/pintle/internal/query"
)

// An action is what the path of a request asks for.
type action string

const (
	actionProviders       action = "providers"
	actionSession         action = "session"
	actionCSRF            action = "csrf"
	actionSignIn          action = "signin"
	actionSignOut         action = "signout"
	actionCallback        action = "callback"
	actionVerifyRequest   action = "verify-request"
	actionError           action = "error"
	actionWebAuthnOptions action = "webauthn-options"
)

// An exchange is one request being answered: what it asked for, the
// configuration that applies to it, and what it will be answered with.
type exchange struct {
	*settings
	ctx    context.Context
	r      *http.Request
	origin string // https://app.example.com
	set    *cookieSet

	action   action
	provider *provider // of the path, if it names one
	query    query.Values
	body     limit.Fields

	csrfToken    string
	csrfVerified bool

	// callbackURL is where the browser goes in the end; callbackText is how the
	// cookie remembers it.
	callbackURL, callbackText string

	answer answer
}

// An answer is a response in the making. Cookies are sent with it unless the
// request fails.
type answer struct {
	status   int
	json     bool        // what the body is
	noStore  bool        // whether the answer carries the headers of noStore
	header   http.Header // of a page
	body     []byte
	location string
	cookies  []string
	room     [5]string // for the cookies of nearly every answer
}

// ServeHTTP answers the requests below [Config.BasePath]. It may be mounted at
// any pattern that covers them; it does not strip prefixes.
func (a *Auth) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s, err := a.settings(r)
	if err != nil {
		s = resolve(Config{TrustHost: true}) // to show an error page with
		s.fault = classified(err)
	}
	x := &exchange{settings: s, ctx: r.Context(), r: r}
	x.serve() //nolint:contextcheck // undoing half a sign-in must outlive its request
	x.write(w)
}

// serve fills in the answer.
func (x *exchange) serve() {
	if err := x.enter(); err != nil {
		x.refuse(err)
		return
	}
	if fault := x.faulty(); fault != nil {
		x.answerFault(fault)
		return
	}
	if err := x.prepare(); err != nil {
		x.answerError(err)
		return
	}
	if err := x.dispatch(); err != nil {
		x.answerError(err)
	}
}

// A badRequest is a request that names no route or cannot be read.
type badRequest struct {
	status int
	err    error
}

func (e *badRequest) Error() string { return e.err.Error() }
func (e *badRequest) Unwrap() error { return e.err }

// enter reads what every route needs from the request.
func (x *exchange) enter() error {
	if x.r.Method != http.MethodGet && x.r.Method != http.MethodPost {
		return &badRequest{http.StatusBadRequest, fmt.Errorf("method %q: only GET and POST are served", x.r.Method)}
	}
	act, id, ok := x.parsePath(x.r.URL.EscapedPath())
	if !ok {
		return &badRequest{http.StatusBadRequest, fmt.Errorf("no route has the path %q", x.r.URL.EscapedPath())}
	}
	x.action = act
	var err error
	if x.query, err = query.Parse(x.r.URL.RawQuery); err != nil {
		return &badRequest{http.StatusBadRequest, err}
	}
	if x.r.Method == http.MethodPost {
		if x.body, err = limit.Read(x.r, limit.DefaultMax); err != nil {
			status := http.StatusBadRequest
			if errors.Is(err, limit.ErrTooLarge) {
				status = http.StatusRequestEntityTooLarge
			}
			return &badRequest{status, err}
		}
	}
	if id != "" {
		x.provider = x.byID[id]
		if x.provider == nil {
			x.provider = &provider{providerBase: providerBase{id: id}}
		}
	}
	return nil
}

// parsePath takes a path apart into its action and the id of a provider. The
// path is compared as it was sent, undecoded: what only becomes an action or an
// id by decoding is neither.
func (s *settings) parsePath(path string) (act action, id string, ok bool) {
	rest, below := strings.CutPrefix(path, s.base)
	if !below || !strings.HasPrefix(rest, "/") {
		return "", "", false
	}
	rest = strings.Trim(rest, "/")
	first, second, two := strings.Cut(rest, "/")
	second = strings.TrimLeft(second, "/")
	if strings.Contains(second, "/") {
		return "", "", false
	}
	act = action(first)
	switch act {
	case actionSignIn, actionCallback, actionWebAuthnOptions:
		if second != "undefined" {
			id = second
		}
		return act, id, true
	case actionProviders, actionSession, actionCSRF, actionSignOut, actionVerifyRequest, actionError:
		return act, "", !two
	}
	return "", "", false
}

// faulty returns what makes the configuration unusable for this request.
func (x *exchange) faulty() *Error {
	site, err := x.settings.site(x.r)
	if err != nil {
		return classified(err)
	}
	x.origin, x.set = string(site), x.cookieSet(site.Secure())
	// The order is that in which the reference reports them.
	if x.fault != nil && x.fault.Code == codeMissingSecret {
		return x.fault
	}
	if wrong := x.checkCallbackURL(); wrong != nil {
		return wrong
	}
	if x.fault != nil {
		return x.fault
	}
	return x.set.fault
}

// prepare looks up the provider and settles the CSRF token and where the
// browser is to go in the end.
func (x *exchange) prepare() error {
	if x.provider != nil && x.provider.kind == "" {
		return fail(ErrConfiguration, fmt.Errorf("there is no provider %q", x.provider.id))
	}
	x.settleCSRF()
	return x.settleCallbackURL()
}

func (x *exchange) dispatch() error {
	get := x.r.Method == http.MethodGet
	switch {
	case get && x.action == actionProviders:
		return x.listProviders()
	case get && x.action == actionCSRF:
		return x.showCSRF()
	case x.action == actionSession:
		return x.sessionRoute()
	case get && x.action == actionWebAuthnOptions:
		return x.webAuthnOptions()
	case x.action == actionCallback:
		return x.callback()
	case get && x.action == actionSignIn && x.provider == nil:
		return x.signInPage()
	case !get && x.action == actionSignIn:
		return x.signIn()
	case get && x.action == actionSignOut:
		return x.signOutPage()
	case !get && x.action == actionSignOut:
		return x.signOut()
	case get && x.action == actionVerifyRequest:
		return x.verifyRequestPage()
	case get && x.action == actionError:
		return x.errorPage()
	}
	return fail(codeUnknownAction, fmt.Errorf("%s %s is not a route", x.r.Method, x.action))
}

// json answers with a value.
func (x *exchange) json(status int, value any) error {
	body, err := marshal(value)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	x.setJSON(status, body)
	return nil
}

func (x *exchange) setJSON(status int, body []byte) {
	x.answer.status, x.answer.json, x.answer.body = status, true, body
}

// redirect sends the browser to a URL, or tells a script where it would go.
func (x *exchange) redirect(target string) error {
	x.answer.location = target
	return nil
}

func (x *exchange) addCookie(lines ...string) {
	if x.answer.cookies == nil {
		x.answer.cookies = x.answer.room[:0]
	}
	x.answer.cookies = append(x.answer.cookies, lines...)
}

// refuse answers a request that names no route.
func (x *exchange) refuse(err error) {
	x.log.LogAttrs(x.ctx, slog.LevelError, "pintle: bad request",
		slog.String("code", string(codeUnknownAction)), slog.Any("error", err))
	status := http.StatusBadRequest
	if bad, ok := errors.AsType[*badRequest](err); ok {
		status = bad.status
	}
	x.setJSON(status, []byte(`"Bad request."`))
}

// answerError turns an error into what the browser may know of it. Cookies
// collected on the way are not sent: the flow they belong to has failed.
func (x *exchange) answerError(err error) {
	e := classified(err)
	x.logError(e)
	x.answer = answer{}
	if x.action == actionSession {
		x.setJSON(http.StatusBadRequest, []byte("null"))
		return
	}
	target := x.errorURL(e)
	if x.wantsJSON() {
		_ = x.json(http.StatusOK, map[string]string{"url": target}) // text always marshals
		return
	}
	_ = x.redirect(target)
}

// errorURL is the page that shows an error.
func (x *exchange) errorURL(e *Error) string {
	code := e.Code
	if !code.visible() {
		code = ErrConfiguration
	}
	page, own := "/error", x.Pages.Error
	if e.Code.onSignInPage() {
		page, own = "/signin", x.Pages.SignIn
	}
	if own == "" {
		own = x.base + page
	}
	pairs := query.Values{{Key: "error", Value: string(code)}}
	if code == ErrCredentials {
		pairs.Add("code", orDefault(e.Detail, "credentials"))
	}
	return query.AppendValues(x.absolute(own), pairs)
}

// absolute completes a path to a URL of this site.
func (x *exchange) absolute(target string) string {
	if strings.HasPrefix(target, "/") {
		return x.origin + target
	}
	return target
}

func (x *exchange) wantsJSON() bool { return x.r.Header["X-Auth-Return-Redirect"] != nil }

func (x *exchange) logError(e *Error) {
	attrs := []slog.Attr{slog.String("code", string(e.Code)), slog.String("action", string(x.action))}
	if e.Provider == "" && x.provider != nil {
		attrs = append(attrs, slog.String("provider", x.provider.id))
	} else if e.Provider != "" {
		attrs = append(attrs, slog.String("provider", e.Provider))
	}
	if e.Err != nil {
		attrs = append(attrs, slog.Any("error", e.Err))
	}
	x.log.LogAttrs(x.ctx, slog.LevelError, "pintle: request failed", attrs...)
}

// write sends the answer. It is the only place that does.
func (x *exchange) write(w http.ResponseWriter) {
	h := w.Header()
	maps.Copy(h, x.answer.header)
	if x.answer.json {
		h["Content-Type"] = jsonType
	}
	if x.answer.noStore {
		h["Cache-Control"], h["Expires"], h["Pragma"] = noStore, expired, noCache
	}
	if earlier := h["Set-Cookie"]; len(earlier) > 0 {
		h["Set-Cookie"] = append(earlier, x.answer.cookies...)
	} else if len(x.answer.cookies) > 0 {
		h["Set-Cookie"] = x.answer.cookies
	}
	h["X-Content-Type-Options"] = noSniff
	if x.action != actionProviders && h["Cache-Control"] == nil {
		// Answers of the reference without Cache-Control stay without it, since
		// its clients see the header; a response that varies with everything is
		// not reused by any cache either.
		//
		// https://www.rfc-editor.org/rfc/rfc9111#section-4.1
		h["Vary"] = varyAll
	}
	if x.answer.location != "" {
		location := asciiURL(x.answer.location)
		h["Location"] = []string{location}
		if !x.wantsJSON() {
			w.WriteHeader(http.StatusFound)
			return
		}
		// The address of an error or a next step, for a script to follow.
		body, _ := marshal(map[string]string{"url": location}) // text always marshals
		x.setJSON(http.StatusOK, body)
		h["Content-Type"] = jsonType
	}
	w.WriteHeader(x.answer.status)
	_, _ = w.Write(x.answer.body) // the browser has gone; nobody is left to tell
}

// Values of headers that are the same in every answer.
var (
	jsonType = []string{"application/json"}
	noSniff  = []string{"nosniff"}
	varyAll  = []string{"*"}
	noStore  = []string{"private, no-cache, no-store"}
	expired  = []string{"0"}
	noCache  = []string{"no-cache"}
)

// asciiURL percent-encodes what a header cannot carry, and drops control
// characters, which would end the header.
func asciiURL(target string) string {
	clean := func(c byte) bool { return c > ' ' && c < 0x7f }
	for i := range len(target) {
		if !clean(target[i]) {
			var b strings.Builder
			b.WriteString(target[:i])
			for ; i < len(target); i++ {
				switch c := target[i]; {
				case clean(c):
					b.WriteByte(c)
				case c == ' ' || c >= 0x80:
					fmt.Fprintf(&b, "%%%02X", c)
				}
			}
			return b.String()
		}
	}
	return target
}

// initialCookie reads a cookie of this request.
func (x *exchange) initialCookie(c namedCookie) (string, bool) { return cookie.Get(x.r.Header, c.name) }
