package pintle

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/pintleauth/pintle/internal/query"
	"github.com/pintleauth/pintle/internal/wire"
)

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

// redirect sends the browser to a URL, or tells a script where it would go.
func (x *exchange) redirect(target string) error {
	x.answer.location = target
	return nil
}

func (x *exchange) addCookie(lines ...string) {
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

// answerBadRequest answers a request that names no route. A browser gets a page that
// repeats nothing of the request.
func (x *exchange) answerBadRequest(err error) {
	x.log.LogAttrs(x.ctx, slog.LevelInfo, "pintle: bad request", x.describe(slog.LevelInfo, fail(codeUnknownAction, err))...)
	status := http.StatusBadRequest
	if bad, ok := errors.AsType[*badRequest](err); ok {
		status = bad.status
	}
	misrouted := x.action == "" && x.misrouted()
	switch {
	case !x.navigates():
		x.setJSON(status, []byte(`"Bad request."`))
	case misrouted:
		x.showMisrouted()
	default:
		_ = x.show(x.pages().Refusal(x.pageSite(), status)) // never fails
	}
}

// answerError turns an error into what the browser may know of it. Cookies
// collected on the way are not sent: the flow they belong to has failed.
func (x *exchange) answerError(err error) {
	e := classified(err)
	x.logError(e)
	x.emitSignInFailed(e)
	x.answer = answer{}
	if x.action == actionSession {
		x.setJSON(http.StatusBadRequest, []byte("null"))
		return
	}
	target := x.errorURL(e)
	if own, ok := x.accountPage(); ok {
		target = x.pageWithError(own, e)
		if e.Detail != flowReplaced {
			x.clearChecks()
		}
	}
	if x.wantsJSON() {
		status := http.StatusOK
		if e.RetryAfter > 0 {
			status = http.StatusTooManyRequests
			x.answer.header = http.Header{"Retry-After": {strconv.FormatInt(int64(math.Ceil(e.RetryAfter.Seconds())), 10)}}
		}
		_ = x.json(status, map[string]string{"url": target}) // text always marshals
		return
	}
	_ = x.redirect(target)
}

// logError notes why a request failed.
func (x *exchange) logError(e *Error) {
	level := x.repeated(e, e.level())
	x.log.LogAttrs(x.ctx, level, "pintle: request failed", x.describe(level, e)...)
}

// errorURL is the page that shows an error.
func (x *exchange) errorURL(e *Error) string {
	if mistake := x.mistake(e); mistake != nil {
		return query.AppendValues(x.absolute(cmp.Or(x.Pages.SignIn, x.base+"/signin")), mistake)
	}
	page, own := "/error", x.Pages.Error
	if e.Detail == linkCut && x.showsPage() {
		return x.pageWithError(x.base+page, &Error{Code: CodeVerification})
	}
	if e.Code.onSignInPage() {
		page, own = "/signin", x.Pages.SignIn
	}
	if own == "" {
		own = x.base + page
	}
	return x.pageWithError(own, e)
}

// showsPage reports whether a browser is about to show an error page of this site.
func (x *exchange) showsPage() bool { return x.navigates() && x.Pages.Error == "" }

// mistake returns the parameters of the sign-in page for an error that the user
// can correct, although Auth.js reports it as one of the configuration: a
// malformed address, too many mails, a flow that took too long or was continued
// in another tab. Only a browser that is about to show a page is sent there.
// Clients and the application's own error page receive these errors as
// "Configuration".
func (x *exchange) mistake(e *Error) query.Values {
	if !x.showsPage() {
		return nil
	}
	var pairs query.Values
	switch {
	case e.Code == CodeInvalidCheck, e.Code == codeCallbackRoute && e.Detail == flowReplaced:
		pairs.Add("error", string(CodeInvalidCheck))
	case e.Code == codeEmailSignIn && e.level() < slog.LevelError && !e.recipientRefused():
		pairs.Add("error", "EmailSignin")
	default:
		return nil
	}
	if e.Detail != "" {
		pairs.Add("code", e.Detail)
	}
	return pairs
}

// navigates reports whether a browser is about to show the answer.
//
// https://www.w3.org/TR/fetch-metadata/#sec-fetch-mode-header
func (x *exchange) navigates() bool {
	return x.r.Header.Get("Sec-Fetch-Mode") == "navigate" && !x.wantsJSON()
}

// pageWithError returns the URL of a page with what a browser may know of an
// error.
func (x *exchange) pageWithError(page string, e *Error) string {
	code := e.Code
	if !code.visible() {
		code = CodeConfiguration
	}
	pairs := query.Values{{Key: "error", Value: string(code)}}
	if code == CodeCredentials {
		pairs.Add("code", cmp.Or(e.Detail, "credentials"))
	}
	return query.AppendValues(x.absolute(page), pairs)
}

// accountPage returns the page that replaces the page of an error when the flow
// was to link an account: the user is signed in, and a sign-in page would only
// confuse them. Without such a page the user sees the sign-in page, as with
// Auth.js.
func (x *exchange) accountPage() (page string, ok bool) {
	if x.Pages.Account == "" || x.records == nil || x.set == nil || x.provider == nil || x.provider.linking == nil {
		return "", false
	}
	return x.Pages.Account, x.provider.linking(x)
}

// absolute completes a path to a URL of this site.
func (x *exchange) absolute(target string) string {
	if strings.HasPrefix(target, "/") {
		return x.origin + target
	}
	return target
}

// wantsJSON reports whether a script sent the request, which asks for the address
// that a browser would be sent to. Version 4 of next-auth asks in its form.
//
// A page of another site can post that field, too, and shows its visitor JSON
// then; whether the request is obeyed does not depend on it.
func (x *exchange) wantsJSON() bool {
	if x.r.Header["X-Auth-Return-Redirect"] != nil {
		return true
	}
	asked, _, _ := x.body.String("json")
	return asked == "true"
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
	switch {
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
	if x.answer.location != "" {
		location := asciiURL(x.answer.location)
		h["Location"] = []string{location}
		if !x.wantsJSON() {
			w.WriteHeader(http.StatusFound)
			return
		}
		// The address of an error or a next step, for a script to follow.
		body, _ := wire.Marshal(map[string]string{"url": location}) // text always marshals
		x.setJSON(http.StatusOK, body)
		h["Content-Type"] = jsonType
	}
	w.WriteHeader(x.answer.status)
	_, _ = w.Write(x.answer.body) // an error means that the browser has gone
}

// Values of headers that are the same in every answer.
var (
	jsonType = []string{"application/json"}
	noSniff  = []string{"nosniff"}
	varyAll  = []string{"*"}
	noStore  = []string{"private, no-cache, no-store"}
	expired  = []string{"0"}
	noCache  = []string{"no-cache"}

	varyOrigin = []string{"X-Forwarded-Host, X-Forwarded-Proto, Host"}
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
