package pintle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle/internal/bearer"
	"github.com/pintleauth/pintle/internal/body"
	"github.com/pintleauth/pintle/internal/clip"
	"github.com/pintleauth/pintle/internal/cookie"
	"github.com/pintleauth/pintle/internal/query"
	"github.com/pintleauth/pintle/internal/tally"
	"github.com/pintleauth/pintle/internal/wire"
)

// An exchange is one request and its answer: the requested action, the
// configuration that applies, and the answer so far.
type exchange struct {
	*settings
	ctx    context.Context
	w      http.ResponseWriter // nil inside, unless a page of the host needs a form token
	r      *http.Request
	began  time.Time
	origin string // https://app.example.com
	set    *cookieSet

	// inside reports that server code called the exchange, so that the method
	// and the form of the request have no meaning. The form token of others was
	// csrfVerified. waited reports that the sign-in was held before.
	inside, csrfVerified, waited bool

	// native reports that an application without a browser is signed in: it receives the
	// session given, if there is one, and no cookie.
	native bool
	given  *issued

	action   action
	provider *provider // of the path, if it names one
	page     string    // of the path, if it names one of Config.Accounts or Config.Native
	query    query.Values
	body     body.Fields
	sent     []byte // the whole body of a request to Config.Accounts or Config.Native

	csrfToken string

	// own are parameters of server code for the provider. asked is what it asks of the
	// provider, or has asked in the flow that ends here.
	own   query.Values
	asked *asked

	// proofs are what server code has verified beside a password, and when.
	proofs map[string]time.Time

	// callbackURL is where the browser goes in the end; callbackText is how the
	// cookie remembers it.
	callbackURL, callbackText string

	// acting is the session in which an operator acts as a user, or nil.
	acting *Session

	// about is who signs in, as far as that is known, for the event of a sign-in that fails.
	about *signingIn

	// seen is what the observer sees of a request for the routes, or nil.
	seen *ObservedRoute

	answer answer
}

// signingIn is the user whose first proof was right, or the address to which a mail was asked for.
type signingIn struct {
	user  *User
	typed string
}

// counting returns the context for functions of the host that limit attempts.
func (x *exchange) counting() context.Context { return tally.With(x.ctx, x.counts) }

// An action is the action that the path of a request names.
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

	// actionBackChannelLogout is called by providers. Auth.js does not have it.
	actionBackChannelLogout action = "backchannel-logout"

	// actionIDToken takes ID tokens that pages and applications have from the SDK of a
	// provider. Auth.js does not have it.
	actionIDToken action = "idtoken"

	// actionNative gives codes and tokens to native applications. Auth.js does not have it.
	actionNative action = "native"

	// actionClientKeys is called by providers. Auth.js does not have it.
	actionClientKeys action = "jwks"

	// actionInitiate is where a provider sends a browser that is to sign in with it.
	// Auth.js does not have it.
	actionInitiate action = "initiate"

	// actionAccount is served by [Config.Accounts]. Auth.js does not have it.
	actionAccount action = "account"
)

// A badRequest is a request that names no route or cannot be read.
type badRequest struct {
	status int
	err    error
}

func (e *badRequest) Error() string { return e.err.Error() }

func (e *badRequest) Unwrap() error { return e.err }

// confirming reports whether the flow confirms a session, and signs no user in.
func (x *exchange) confirming() bool { return x.asked != nil && x.asked.Session != "" }

// initiated reports whether the provider began the flow, and not the user.
func (x *exchange) initiated() bool { return x.asked != nil && x.asked.Initiated }

// initialCookie reads a cookie of this request.
func (x *exchange) initialCookie(c namedCookie) (string, bool) { return cookie.Get(x.r.Header, c.name) }

// callbackRoute is where the browser comes back to from a provider.
func (x *exchange) callbackRoute(provider string) string {
	return x.origin + x.base + "/callback/" + provider
}

// toForm begins a sign-in that ends at the callback route: the form for it, on the
// sign-in page, is posted there.
func (x *exchange) toForm() error {
	x.noteMisdirectedForm()
	return x.toSignInPage()
}

// toSignInPage redirects to the sign-in page.
func (x *exchange) toSignInPage() error { return x.redirect(x.origin + x.base + "/signin") }

// requirePost refuses a request to the callback route that has no form.
func (x *exchange) requirePost() error {
	if x.inside || x.r.Method == http.MethodPost {
		return nil
	}
	return fail(codeInvalidProvider, fmt.Errorf("the callback route of a %s provider was called with %s", x.provider.kind, x.r.Method))
}

// debug logs a step of the flow that the exchange belongs to.
func (x *exchange) debug(step string, pairs ...string) {
	if !x.log.debugs(x.ctx) {
		return
	}
	own := []string{"action", string(x.action)}
	if x.provider != nil {
		own = append(own, "provider", clip.Text(x.provider.id, clip.Max))
	}
	x.log.debug(x.ctx, step, append(own, pairs...)...)
}

// describe returns the attributes of the one record of a request that failed.
func (x *exchange) describe(level slog.Level, e *Error) []slog.Attr {
	attrs := []slog.Attr{slog.String("code", string(e.Code)), slog.String("action", string(x.action))}
	if id := x.providerOf(e); id != "" {
		attrs = append(attrs, slog.String("provider", clip.Text(id, clip.Max)))
	}
	if client := x.clientAddress(x.r); client.IsValid() {
		attrs = append(attrs, slog.String("client", client.String()))
	}
	if err := e.Err; err != nil {
		if level < slog.LevelError {
			err = boundedError{err}
		}
		attrs = append(attrs, slog.Any("error", err))
	}
	return attrs
}

// providerOf returns the id of the provider that an error is about, or empty.
func (x *exchange) providerOf(e *Error) string {
	if e.Provider == "" && x.provider != nil {
		return x.provider.id
	}
	return e.Provider
}

// emit calls a handler of the host. Its error is only logged: the event has
// already happened.
func emit[E any](ctx context.Context, s *settings, name string, handler func(context.Context, E) error, event E) {
	if handler == nil {
		return
	}
	if err := handler(ctx, event); err != nil {
		s.log.LogAttrs(ctx, slog.LevelError, "pintle: event handler failed",
			slog.String("code", string(codeEvent)), slog.String("event", name), slog.Any("error", err))
	}
}

func (x *exchange) emitLink(e *LinkAccountEvent) {
	emit(x.ctx, x.settings, "linkAccount", x.Events.LinkAccount, e)
}

// emitSignIn tells the host of a sign-in. given is nil if it has no session.
func (x *exchange) emitSignIn(who *arrival, d *decision, given *issued) {
	e := &SignInEvent{
		User: d.user, Account: d.account, Profile: who.profile, NewUser: d.newUser,
		SignedIn: given != nil && d.kept == nil && !who.unasked, SDK: who.sdk, Authentication: d.authentication, Request: x.r,
		addCookie: func(line string) { x.addCookie(line) },
	}
	if who.profile != nil {
		e.ProviderUser = who.user
	}
	if who.by == byHost {
		e.NewUser = nil
	}
	x.observeSignIn(outcomeOf(who, e, given), who.waited, e.NewUser != nil && *e.NewUser, nil)
	emit(x.ctx, x.settings, "signIn", x.Events.SignIn, e)
}

// emitSignInFailed tells the host of a sign-in that failed.
func (x *exchange) emitSignInFailed(e *Error) {
	if x.provider == nil || x.provider.kind == "" || x.action != actionCallback && x.action != actionSignIn && x.action != actionIDToken {
		return
	}
	switch e.Code {
	case codeMissingCSRF, codeInvalidProvider, codeUnknownAction:
		return
	}
	if !x.confirming() {
		x.observeSignIn(x.failureOf(e), x.waited, false, e)
	}
	failed := &SignInFailedEvent{Provider: x.providerOf(e), Code: e.Code, Err: e, Client: x.clientAddress(x.r), Request: x.r}
	if x.about != nil {
		failed.Email = x.about.typed
		if x.about.user != nil {
			failed.User = x.about.user.clone()
		}
	}
	emit(x.ctx, x.settings, "signInFailed", x.Events.SignInFailed, failed)
}

// observe tells the observer of the request, which has arrived. The function that it returns is
// called when the request is answered.
func (x *exchange) observe() (done func()) {
	o := &ObservedRoute{Method: x.r.Method, Route: x.routeName()}
	ctx, end := x.Observer.Route(x.ctx, o)
	x.ctx, x.r, x.seen = ctx, x.r.WithContext(ctx), o
	return func() {
		o.Provider, _ = x.settings.observed(x.provider)
		end()
	}
}

// routeName is the route of the request, with nothing that the client has chosen.
func (x *exchange) routeName() string {
	act, id, ok := x.parsePath(x.r.URL.EscapedPath())
	switch {
	case !ok:
		return ""
	case id == "":
		return x.base + "/" + string(act)
	case act == actionNative:
		return x.base + "/" + string(act) + "/" + id // which parsePath has found
	case act != actionAccount:
		return x.base + "/" + string(act) + "/{provider}"
	}
	if h, lists := x.accounts.(pager); lists && h.HasPage(id) {
		return x.base + "/" + string(act) + "/" + id
	}
	return x.base + "/" + string(act) + "/{page}"
}

// A pager is a handler of Config.Accounts that knows its pages: see [Accounts].
type pager interface{ HasPage(page string) bool }

// noteError notes for the observer why the request failed.
func (x *exchange) noteError(e *Error) {
	if x.seen != nil {
		x.seen.Code, x.seen.Err, x.seen.Fault = e.Code.bounded(), e, x.isFault(e)
	}
}

// isFault reports whether the operator has to repair what an error is about. A store whose
// call was interrupted because the client has left is sound.
func (x *exchange) isFault(e *Error) bool {
	return e.level() >= slog.LevelError && !errors.Is(x.ctx.Err(), context.Canceled)
}

// observed returns what an observer sees of a provider, which may be nil.
func (s *settings) observed(p *provider) (id string, kind ProviderType) {
	switch {
	case p == nil || p.kind == "":
		return "", "" // the id comes from the request
	case p.joined != nil:
		return discoveryID, p.kind
	case s.byID[p.id] != nil:
		return p.id, p.kind
	}
	return "", "" // server code has named it
}

// observeSignIn tells the observer of a sign-in.
func (x *exchange) observeSignIn(outcome string, waited, newUser bool, e *Error) {
	if x.Observer.SignIn == nil {
		return
	}
	o := &ObservedSignIn{Outcome: outcome, Waited: waited, NewUser: newUser}
	o.Provider, o.Type = x.settings.observed(x.provider)
	if e != nil {
		o.Code, o.Err, o.Fault = e.Code.bounded(), e, x.isFault(e)
	}
	x.Observer.SignIn(x.ctx, o)
}

// failureOf is the outcome of a sign-in that failed.
func (x *exchange) failureOf(e *Error) string {
	switch {
	case e.RetryAfter > 0:
		return "throttled"
	case x.isFault(e):
		return "fault"
	}
	return "refused"
}

// outcomeOf is the outcome of a sign-in that did not fail.
func outcomeOf(who *arrival, e *SignInEvent, given *issued) string {
	switch {
	case given == nil:
		return "no_session"
	case who.by == byHost:
		return "started"
	case e.SignedIn:
		return "signed_in"
	}
	return "linked"
}

func (x *exchange) emitUser(name string, handler func(context.Context, *User) error, u *User) {
	emit(x.ctx, x.settings, name, handler, u)
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

	// passed is the request that Config.Accounts answers.
	passed *http.Request

	// switched reports that the browser stops to act as a user: no page that it has kept is
	// that of the user who is signed in now.
	switched bool
}

// json answers with a value.
func (x *exchange) json(status int, value any) error {
	body, err := wire.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	x.setJSON(status, body)
	return nil
}

func (x *exchange) setJSON(status int, body []byte) {
	x.answer.status, x.answer.json, x.answer.body = status, true, body
}

// nativeError answers an application with an error of OAuth, and no detail.
//
// https://www.rfc-editor.org/rfc/rfc6749#section-5.2
func (x *exchange) nativeError(status int, code string) {
	x.answer = answer{header: tokenHeader()}
	_ = x.json(status, map[string]string{"error": code}) // text always marshals
}

// tokenHeader are the headers of answers with tokens.
//
// https://www.rfc-editor.org/rfc/rfc6749#section-5.1
func tokenHeader() http.Header {
	return http.Header{"Cache-Control": {"no-store"}, "Pragma": {"no-cache"}}
}

// isNative reports whether an application without a browser sent a request. Whatever a
// page can make a browser send has one of these headers: Origin is in every POST of a
// script or a form. An application that keeps the cookies of this site counts as a
// browser.
//
// https://fetch.spec.whatwg.org/#append-a-request-origin-header
func isNative(r *http.Request) bool {
	for _, name := range []string{"Cookie", "Origin", "Sec-Fetch-Site"} {
		if len(r.Header[name]) > 0 {
			return false
		}
	}
	return true
}

// emptyCache has the browser remove what it has kept of pages, if it stops to act as a user.
//
// https://www.w3.org/TR/clear-site-data/#grammardef-cache
func (a *answer) emptyCache(h http.Header) {
	if a.switched {
		h.Add("Clear-Site-Data", `"cache"`)
	}
}

// showActor marks an answer to a request in which an operator acts as a user. A browser must not
// show a page of the user once the operator has stopped.
func showActor(h http.Header) {
	h.Set(actingHeader, "1")
	h.Set("Cache-Control", "private, no-store")
}

// redirect sends the browser to a URL, or tells a script where it would go.
func (x *exchange) redirect(target string) error {
	x.answer.location = target
	return nil
}

// usualCookies is how many cookies most answers set at most.
const usualCookies = 4

func (x *exchange) addCookie(lines ...string) {
	if x.answer.cookies == nil {
		x.answer.cookies = make([]string, 0, max(usualCookies, len(lines)))
	}
	x.answer.cookies = append(x.answer.cookies, lines...)
}

// replaceCookie sets a cookie that the answer may set already: proxies differ in
// which of two lines they keep.
func (x *exchange) replaceCookie(c namedCookie, value string) {
	x.answer.cookies = slices.DeleteFunc(x.answer.cookies, func(line string) bool {
		return strings.HasPrefix(line, c.name+"=")
	})
	x.addCookie(c.line(value))
}

// wantsJSON reports whether a script sent the request, which asks for the address
// that a browser would be sent to. Version 4 of next-auth asks in its form.
//
// A page of another site can post that field, too, and shows its visitor JSON
// then; whether the request is obeyed does not depend on it.
func (x *exchange) wantsJSON() bool {
	if x.r.Header["X-Auth-Return-Redirect"] != nil || x.action == actionIDToken && mediaType(x.r.Header.Get("Content-Type")) == typeJSON {
		return true
	}
	asked, _, _ := x.body.String("json")
	return asked == "true"
}

// The types of a body that has fields for Config.Accounts.
const (
	typeForm = "application/x-www-form-urlencoded"
	typeJSON = "application/json"

	typeMultipart = "multipart/form-data"
)

// An uploader is a handler of Config.Accounts that accepts files: see [Accounts].
type uploader interface{ MaxUpload(page string) int64 }

// maxUpload returns the size limit of a multipart form, in bytes, and 0 for a request that
// sends none, or to a page that accepts none.
func (x *exchange) maxUpload() int64 {
	if x.action != actionAccount || mediaType(x.r.Header.Get("Content-Type")) != typeMultipart {
		return 0
	}
	if u, accepts := x.accounts.(uploader); accepts {
		return u.MaxUpload(x.page)
	}
	return 0
}

// asksForJSON reports whether a script sent a request to Config.Accounts.
func (x *exchange) asksForJSON() bool {
	if x.r.Header["X-Auth-Return-Redirect"] != nil || mediaType(x.r.Header.Get("Content-Type")) == typeJSON {
		return true
	}
	for _, line := range x.r.Header["Accept"] {
		for accepted := range strings.SplitSeq(line, ",") {
			if mediaType(accepted) == typeJSON {
				return true
			}
		}
	}
	return false
}

// mediaType returns the type and subtype of a header field, without its parameters.
func mediaType(field string) string {
	kind, _, _ := strings.Cut(field, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// navigates reports whether a browser is about to show the answer.
//
// https://www.w3.org/TR/fetch-metadata/#sec-fetch-mode-header
func (x *exchange) navigates() bool {
	return x.r.Header.Get("Sec-Fetch-Mode") == "navigate" && !x.wantsJSON()
}

// isNavigation reports whether a browser is loading a page for its user.
func isNavigation(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" {
		// https://www.w3.org/TR/fetch-metadata/#sec-fetch-mode-header
		return mode == "navigate"
	}
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}

// postsForm reports whether a browser has sent a form and is about to show the answer.
func postsForm(r *http.Request) bool {
	return r.Method == http.MethodPost && r.Header.Get("Sec-Fetch-Mode") == "navigate"
}

// opensPage reports whether a browser loads a page that its user sees by itself: none in a frame,
// and none in advance.
//
// https://www.w3.org/TR/fetch-metadata/#sec-fetch-dest-header
func opensPage(r *http.Request) bool {
	dest := r.Header.Get("Sec-Fetch-Dest")
	return r.Method == http.MethodGet && isNavigation(r) && !isPrefetch(r) && (dest == "" || dest == "document")
}

// isPrefetch reports whether a browser fetches a page that its user has not opened
// yet. A link must not be used up by that.
//
// https://wicg.github.io/nav-speculation/prefetch.html#sec-purpose-header
func isPrefetch(r *http.Request) bool {
	for _, name := range []string{"Sec-Purpose", "Purpose", "X-Moz"} {
		if strings.Contains(strings.ToLower(r.Header.Get(name)), "prefetch") {
			return true
		}
	}
	return false
}

// isSafe reports whether a request changes nothing.
//
// https://www.rfc-editor.org/rfc/rfc9110#section-9.2.1
func isSafe(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// absolute completes a path to a URL of this site.
func (x *exchange) absolute(target string) string {
	if strings.HasPrefix(target, "/") {
		return x.origin + target
	}
	return target
}

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
	x.answer.emptyCache(h)
	switch {
	case x.action == actionAccount:
		// The handler may add to these: the values are its own.
		h.Set("Cache-Control", "no-store")
		h.Set("Vary", "Cookie, Accept")
		x.varyByLanguage(h)
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
	case x.action == actionProviders:
		if x.URL == "" {
			// The URLs in the answer are made from these headers. Vary keeps a
			// cache from handing what one host name gave to another.
			h["Vary"] = varyOrigin
		}
	case h["Cache-Control"] == nil:
		// Answers of the reference without Cache-Control stay without it, since
		// its clients see the header; a response that varies with everything is
		// not reused by any cache either.
		//
		// https://www.rfc-editor.org/rfc/rfc9111#section-4.1
		h["Vary"] = varyAll
	}
	if x.acting != nil {
		showActor(h)
	}
	if x.answer.passed != nil {
		if x.seen != nil {
			recorder := &statusRecorder{ResponseWriter: w, seen: x.seen}
			x.accounts.ServeHTTP(recorder, x.answer.passed)
			recorder.record(http.StatusOK) // the server writes it if the handler wrote nothing
			return
		}
		x.accounts.ServeHTTP(w, x.answer.passed)
		return
	}
	if x.answer.location != "" {
		location := asciiURL(x.answer.location)
		h["Location"] = []string{location}
		if !x.wantsJSON() {
			x.noteStatus(http.StatusFound)
			w.WriteHeader(http.StatusFound)
			return
		}
		// The address of an error or a next step, for a script to follow.
		body, _ := wire.Marshal(map[string]string{"url": location}) // text always marshals
		x.setJSON(http.StatusOK, body)
		h["Content-Type"] = jsonType
	}
	x.noteStatus(x.answer.status)
	w.WriteHeader(x.answer.status)
	_, _ = w.Write(x.answer.body) // an error means that the browser has gone
}

// noteStatus notes the status of the answer for the observer.
func (x *exchange) noteStatus(status int) {
	if x.seen != nil {
		x.seen.Status = status
	}
}

// A statusRecorder notes the status that the handler of Config.Accounts writes.
type statusRecorder struct {
	http.ResponseWriter
	seen *ObservedRoute
}

func (w *statusRecorder) record(status int) {
	if w.seen.Status == 0 && status >= http.StatusOK { // others come before the answer
		w.seen.Status = status
	}
}

func (w *statusRecorder) WriteHeader(status int) {
	w.record(status)
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusRecorder) Write(p []byte) (int, error) {
	w.record(http.StatusOK)
	return w.ResponseWriter.Write(p)
}

// Unwrap is for [http.ResponseController].
func (w *statusRecorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Values of headers that are the same in every answer.
var (
	jsonType = []string{typeJSON}
	noSniff  = []string{"nosniff"}
	varyAll  = []string{"*"}
	noStore  = []string{"private, no-cache, no-store"}
	expired  = []string{"0"}
	noCache  = []string{"no-cache"}

	varyOrigin = []string{"X-Forwarded-Host, X-Forwarded-Proto, Host"}
)

// heldSessions returns the tokens of every session that the request may carry, and
// whether these are all. There is one, unless cookies were planted: then all of
// them end, since the next request would be read by those that are left.
func (x *exchange) heldSessions() (tokens []string, all bool) {
	tokens, all = cookie.Candidates(x.r.Header, x.set.session.name, maxEnded)
	if len(tokens) == 0 && x.mayBearer() {
		if text := bearer.Token(x.r.Header); text != "" {
			tokens = []string{text}
		}
	}
	return tokens, all
}

// mayBearer reports whether a handler of the host's may end a session that came
// in the Authorization header.
func (x *exchange) mayBearer() bool {
	return x.inside && x.action == actionSignOut && x.Session.AllowBearer
}
