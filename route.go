package pintle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/pintleauth/pintle/internal/body"
	"github.com/pintleauth/pintle/internal/clip"
	"github.com/pintleauth/pintle/internal/query"
)

// serve fills in the answer.
func (x *exchange) serve() {
	if err := x.enter(); err != nil {
		x.answerBadRequest(err)
		return
	}
	x.debug("request accepted", "method", x.r.Method)
	if fault := x.configFault(); fault != nil {
		x.answerFault(fault)
		return
	}
	if x.action == actionClientKeys {
		x.clientKeys()
		return
	}
	if x.action == actionBackChannelLogout {
		raw, status, wrong := x.logoutToken()
		if wrong != "" {
			x.refuseLogout(status, errorRequest, wrong)
			return
		}
		x.backChannelLogout(raw)
		return
	}
	if x.action == actionNative && x.page == nativeToken {
		x.tokenForApplication()
		return
	}
	if x.action == actionIDToken && isNative(x.r) {
		x.nativeIDToken()
		return
	}
	if x.action == actionInitiate {
		x.initiation()
		return
	}
	if err := x.prepare(); err != nil {
		x.answerError(err)
		return
	}
	if err := x.checkActing(); err != nil {
		x.answerActing(err)
		return
	}
	err := x.dispatch()
	if _, bad := errors.AsType[*badRequest](err); bad {
		x.answerBadRequest(err)
	} else if err != nil {
		x.answerError(err)
		x.tellApplication(err)
	}
}

// enter reads what every route needs from the request.
func (x *exchange) enter() error {
	act, id, ok := x.parsePath(x.r.URL.EscapedPath())
	switch {
	case x.r.Method == http.MethodGet || x.r.Method == http.MethodPost:
	case act != actionAccount && (act != actionClientKeys || x.r.Method != http.MethodHead):
		// HEAD is rejected too: a mail scanner that sends it must not use up a link.
		return &badRequest{http.StatusBadRequest, fmt.Errorf("method %s: only GET and POST are served", clip.Quote(x.r.Method))}
	case x.r.Method != http.MethodHead:
		x.action = act
		return &badRequest{http.StatusMethodNotAllowed, fmt.Errorf("method %s: only GET, HEAD and POST are served", clip.Quote(x.r.Method))}
	}
	if !ok {
		return &badRequest{http.StatusBadRequest, fmt.Errorf("no route has the path %s", clip.Quote(x.r.URL.EscapedPath()))}
	}
	if act == actionClientKeys && x.r.Method == http.MethodPost {
		return &badRequest{http.StatusBadRequest, errors.New("method POST: only GET and HEAD are served here")}
	}
	x.action = act
	x.reached.Store(true)
	if act == actionBackChannelLogout {
		x.provider = x.byID[id] // parsePath has found it
		return nil              // a provider has no cookies, and nothing to say in a query
	}
	if act == actionNative {
		x.page = id
	}
	if act == actionAccount {
		x.page = id
	}
	var err error
	if x.query, err = query.Parse(x.r.URL.RawQuery); err != nil {
		return &badRequest{http.StatusBadRequest, err}
	}
	if x.r.Method == http.MethodPost {
		if x.body, err = x.readBody(); err != nil {
			status := http.StatusBadRequest
			switch {
			case errors.Is(err, body.ErrTooLarge):
				status = http.StatusRequestEntityTooLarge
			case errors.Is(err, os.ErrDeadlineExceeded):
				status = http.StatusRequestTimeout
			}
			return &badRequest{status, err}
		}
	}
	if id != "" && act != actionAccount && act != actionNative {
		x.provider = x.byID[id]
		if x.provider == nil {
			// prepare rejects it, once the error page can be shown.
			x.provider = &provider{providerBase: providerBase{id: id}}
		}
	}
	return nil
}

// bodyTimeout bounds the time in which a body has to arrive.
const bodyTimeout = 20 * time.Second

// readBody reads the body of the request. Where the server sets no time-out for
// that, a client could send a byte now and then and hold the connection forever.
func (x *exchange) readBody() (fields body.Fields, err error) {
	if server, known := x.ctx.Value(http.ServerContextKey).(*http.Server); !known || server.ReadTimeout <= 0 {
		// The server clears the deadline when the body has ended. A response
		// that has none, of a test or a framework, is bounded by its own server.
		_ = http.NewResponseController(x.w).SetReadDeadline(time.Now().Add(bodyTimeout))
	}
	switch x.action {
	case actionAccount, actionInitiate:
		return x.readAccountBody()
	case actionNative:
		x.sent, err = body.Bytes(x.r, maxNativeBody)
		if err == nil {
			fields, err = body.Read(x.withBody(), maxNativeBody)
		}
		return fields, err
	case actionBackChannelLogout:
		x.sent, err = body.Bytes(x.r, maxLogoutBody)
		return body.Fields{}, err
	}
	if x.action == actionIDToken {
		return body.Read(x.r, maxIDTokenBody)
	}
	return body.Read(x.r, body.DefaultMax)
}

// Limits of the routes of Config.Accounts, and of those for logout tokens, ID tokens and
// native applications: 64 KiB.
const (
	maxAccountBody = 64 << 10
	maxLogoutBody  = 64 << 10
	maxIDTokenBody = 64 << 10
	maxNativeBody  = 64 << 10
)

// readAccountBody reads a body of any type, which is read again: by the handler of
// Config.Accounts, or by [exchange.initiation].
func (x *exchange) readAccountBody() (fields body.Fields, err error) {
	upload := x.maxUpload()
	if x.sent, err = body.Bytes(x.r, max(upload, maxAccountBody)); err != nil {
		return fields, err
	}
	if upload == 0 {
		return body.Read(x.withBody(), maxAccountBody)
	}
	form, err := body.Multipart(x.r.Header.Get("Content-Type"), x.sent)
	if err != nil {
		return fields, err
	}
	members := make(map[string]any, len(form))
	for name, value := range form {
		members[name] = value
	}
	return body.Of(members), nil
}

// logoutToken returns the token of the request, or the status and the text of the answer
// to one that has none.
func (x *exchange) logoutToken() (token string, status int, wrong string) {
	if x.r.Method != http.MethodPost {
		return "", http.StatusBadRequest, "the method must be POST"
	}
	if mediaType(x.r.Header.Get("Content-Type")) != typeForm {
		return "", http.StatusBadRequest, "the body must be a form: " + typeForm
	}
	if _, err := x.readBody(); err != nil {
		x.debug("body not read", "reason", err.Error())
		if errors.Is(err, body.ErrTooLarge) {
			return "", http.StatusRequestEntityTooLarge, "the body is too large"
		}
		return "", http.StatusBadRequest, "the body cannot be read"
	}
	fields, err := query.Parse(string(x.sent))
	if err != nil {
		return "", http.StatusBadRequest, "the body cannot be read"
	}
	found := 0
	for _, field := range fields {
		if field.Key == "logout_token" {
			token = field.Value
			found++
		}
	}
	if found != 1 {
		return "", http.StatusBadRequest, "the body must have one logout_token"
	}
	return token, 0, ""
}

// withBody returns the request with the body that was read.
func (x *exchange) withBody() *http.Request {
	r := *x.r
	if x.sent != nil {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(x.sent)), int64(len(x.sent))
	}
	return &r
}

// guessBase takes the base path from the path of a request when no
// configuration sets it.
func (s *settings) guessBase(path string) {
	if base, ok := routedBelow(path); ok {
		s.base = base
	}
}

// configFault returns what makes the configuration unusable for this request.
func (x *exchange) configFault() *Error {
	site, err := x.settings.site(x.r)
	if err != nil {
		return classified(err)
	}
	if wrong := x.checkAddress(site); wrong != nil {
		return wrong
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

// prepare looks up the provider, and resolves the CSRF token and where the
// browser is to go in the end.
func (x *exchange) prepare() error {
	if x.provider != nil && x.provider.kind == "" {
		p, err := x.find(x.ctx, x.provider.id)
		if err != nil {
			return err
		}
		if p != nil {
			x.provider = p
		}
	}
	if x.provider != nil && x.provider.kind == "" {
		return fail(CodeConfiguration, byClient(fmt.Errorf("there is no provider %s", clip.Quote(x.provider.id))))
	}
	x.resolveCSRFToken()
	x.checkSender()
	if x.action == actionAccount || x.action == actionNative || x.action == actionSignOut && x.provider != nil || x.action == actionIDToken && x.r.Method == http.MethodGet {
		return nil // these routes keep their own callback URL
	}
	return x.resolveCallbackURL()
}

func (x *exchange) dispatch() error {
	get := x.r.Method == http.MethodGet
	switch {
	case get && x.action == actionProviders:
		return x.listProviders()
	case get && x.action == actionCSRF:
		return x.showCSRF()
	case x.action == actionAccount:
		x.accountRoute()
		return nil
	case x.action == actionSession:
		return x.sessionRoute()
	case get && x.action == actionWebAuthnOptions:
		return x.webAuthnOptions()
	case x.action == actionCallback:
		return x.callback()
	case x.action == actionNative:
		return x.authorizeNative()
	case get && x.action == actionIDToken:
		return x.giveNonce(false)
	case x.action == actionIDToken:
		return x.enterBy(x.idTokenOfBrowser())
	case get && x.action == actionSignIn && x.provider == nil:
		return x.signInPage()
	// No GET begins a sign-in or a sign-out: a link or an image of another site
	// can cause a GET.
	case !get && x.action == actionSignIn:
		return x.signIn()
	case get && x.action == actionSignOut && x.provider != nil:
		return x.backFromProvider()
	case get && x.action == actionSignOut:
		return x.signOutPage()
	case !get && x.action == actionSignOut && x.provider == nil:
		return x.signOut()
	case get && x.action == actionVerifyRequest:
		return x.verifyRequestPage()
	case get && x.action == actionError:
		return x.errorPage()
	}
	return fail(codeUnknownAction, fmt.Errorf("%s %s is not a route", x.r.Method, x.action))
}

// signIn answers POST signin: it begins a sign-in with the provider of the path.
func (x *exchange) signIn() error {
	// Another site must not begin a sign-in in this browser.
	if err := x.requireCSRF(); err != nil {
		return err
	}
	if x.provider == nil {
		return x.toSignInPage()
	}
	return x.provider.begin(x)
}

// accountRoute passes a request on to Config.Accounts.
func (x *exchange) accountRoute() {
	if x.r.Method == http.MethodPost {
		if err := x.requireOwnPage(); err != nil {
			x.logError(classified(err))
			x.answer = answer{}
			x.refuse(http.StatusForbidden)
			return
		}
	}
	r := x.withBody()
	// The path has one form, whatever slashes were sent.
	u := *r.URL
	u.Path, u.RawPath = x.base+"/"+string(actionAccount), ""
	if x.page != "" {
		u.Path += "/" + x.page
	}
	r.URL = &u
	x.answer.passed = r
}

// callback answers the callback route: a browser comes back from a provider, a
// mail or a form, and is signed in if all is well.
func (x *exchange) callback() error {
	p := x.provider
	if p == nil {
		return fail(codeInvalidProvider, errors.New("the callback route was called without a provider"))
	}
	return x.enterBy(p.finish(x))
}

// enterBy signs in the user of an arrival. Without an arrival the request is answered
// with a page or a redirect.
func (x *exchange) enterBy(who *arrival, err error) error {
	if err == nil && who != nil {
		err = x.arrive(who)
	}
	if err != nil && !isClassified(err) {
		if _, bad := errors.AsType[*badRequest](err); !bad {
			err = &Error{Code: codeCallbackRoute, Provider: x.provider.id, Err: err}
		}
	}
	return err
}

// nativeIDToken answers an application at the route for ID tokens. No answer to one has
// a cookie, and no answer to a browser has the token of a session.
func (x *exchange) nativeIDToken() {
	var err error
	if x.r.Method == http.MethodGet {
		err = x.giveNonce(true)
	} else if err = x.enterBy(x.idTokenOfApplication()); err == nil {
		err = x.answerBearer()
	}
	if err != nil {
		x.refuseNative(err)
	}
}

// arrive goes on with a user whom the provider has identified.
func (x *exchange) arrive(who *arrival) error {
	who.provider = x.provider
	who.authentication.Time, who.authentication.Provider = x.began, x.provider.id
	who.authentication.Started = who.authentication.Time
	// Only a session that records the methods, and Callbacks.Hold, see when each was proven.
	if x.Session.RecordAuthentication || x.Callbacks.Hold != nil {
		who.authentication = who.authentication.complete()
	}
	switch {
	case x.confirming() && len(x.asked.Scopes) > 0:
		return x.grantBy(who)
	case x.confirming():
		return x.confirmBy(who)
	}
	err := x.login(who)
	if who.ticket != nil {
		return x.settleTicket(who.ticket, err)
	}
	return err
}
