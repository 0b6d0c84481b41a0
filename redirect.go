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
	"github.com/pintleauth/pintle/internal/query"
)

// resolveCallbackURL determines where the browser goes in the end: from the
// body, or else the query, or else the cookie of an earlier request. An
// attacker can set all of them, so each passes through the redirect callback.
func (x *exchange) resolveCallbackURL() error {
	asked, err := x.askedCallbackURL()
	if err != nil {
		return err
	}
	kept, _ := x.initialCookie(x.set.callbackURL)
	// A malformed cookie is replaced: as an error it would make every request
	// of the browser fail.
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

// askedCallbackURL returns the URL in the request: in its body, or else its
// query.
func (x *exchange) askedCallbackURL() (string, error) {
	asked, sent, isText := x.body.String("callbackUrl")
	switch {
	case sent && !isText:
		return "", fail(CodeConfiguration, byClient(errors.New("the callbackUrl of the body is not text")))
	case !sent:
		asked, _ = x.query.Last("callbackUrl")
	}
	return asked, nil
}

// maxKeptCallbackURL bounds the callback URL in a state cookie. Browsers refuse
// cookies of more than 4096 bytes, and sealing adds a third.
//
// https://www.rfc-editor.org/rfc/rfc6265#section-6.1
const maxKeptCallbackURL = 2 << 10

// redirectTarget calls the Redirect callback, or applies the default rule, for
// a requested URL. It returns the URL to go to and the text that Auth.js stores
// for it, which is for the cookie only.
func (x *exchange) redirectTarget(wish string) (target, text string, err error) {
	if x.Callbacks.Redirect != nil {
		text, err = x.Callbacks.Redirect(x.ctx, wish, x.origin)
		if err != nil {
			return "", "", fail(CodeConfiguration, fmt.Errorf("Callbacks.Redirect: %w", err))
		}
		text = cmp.Or(text, x.origin)
		if x.isCallback(x.absolute(text)) || x.isCallback(text) {
			return x.origin, x.origin, nil
		}
		return x.absolute(text), text, nil
	}
	if text, err = origin.Verbatim(wish, x.origin); err != nil {
		return "", "", fail(CodeConfiguration, byClient(fmt.Errorf("callback URL: %w", err)))
	}
	if target, err = origin.Redirect(wish, x.origin); err != nil {
		// A line break in a path: no browser goes there, and nothing breaks.
		target = x.origin
	}
	if x.isCallback(target) || x.isCallback(text) {
		return x.origin, x.origin, nil
	}
	return target, text, nil
}

// isCallback reports whether a URL is one of the callback routes. An attacker
// could have a browser go on to a callback of the attacker's flow, such as the
// link in a mail to the attacker. It would sign the browser in as the attacker
// right after its user has signed in: the request then comes from this site,
// and does not show that the link is the attacker's.
//
// What cannot be parsed counts as one: browsers read more than net/url does.
func (x *exchange) isCallback(target string) bool {
	target, _, _ = strings.Cut(asciiURL(target), "#") // as it is sent
	// Browsers take a backslash for a slash, and more than two slashes for two.
	target = strings.ReplaceAll(target, `\`, "/")
	if scheme, rest, ok := strings.Cut(target, "://"); ok {
		target = scheme + "://" + strings.TrimLeft(rest, "/")
	}
	u, err := url.Parse(target)
	if err != nil || u.Host != "" && !x.mayBeHere(u) {
		return err != nil
	}
	p := path.Clean("/" + u.Path + u.Opaque) // without dot segments
	return p == x.base+"/callback" || strings.HasPrefix(p, x.base+"/callback/")
}

// mayBeHere reports whether a browser may take the host of a URL for this site's:
// with the default port, or in characters that it maps to ASCII. A host that cannot
// be told apart counts. So does http, from which servers redirect to https.
func (x *exchange) mayBeHere(u *url.URL) bool {
	if strings.EqualFold(u.Scheme+"://"+u.Host, x.origin) {
		return true // the usual case, without parsing
	}
	if u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	site, err := origin.Parse(cmp.Or(u.Scheme, "https") + "://" + u.Host)
	return err != nil || site.Host() == origin.Origin(x.origin).Host()
}

// checkCallbackURL rejects a malformed URL in the query, and sends users who
// follow a bad link to a page that explains it. A bad cookie is overwritten
// instead: it would follow the browser everywhere.
//
// The status is that of a fault of the configuration, as on the wire of Auth.js.
// In the log it is a bad request. Pages of the host and of Config.Accounts, whose code asks
// for a form token, decide themselves where their users go.
func (x *exchange) checkCallbackURL() *Error {
	if x.inside || x.action == actionAccount || x.action == actionSignOut && x.provider != nil {
		return nil
	}
	if asked, _ := x.query.Last("callbackUrl"); asked != "" && !origin.Allowed(asked) {
		return fail(codeInvalidCallbackURL,
			byClient(fmt.Errorf("the request asks to go to %s, which is neither a path nor an http(s) URL",
				clip.Quote(asked))))
	}
	return nil
}

// resolveRedirectProxy reads the list of deployments. A deployment that is known
// to be the proxy needs one: see [oauthFlow.passOn].
func (s *settings) resolveRedirectProxy() *Error {
	var err error
	if s.previews, err = origin.ParseHosts(s.RedirectProxyHosts); err != nil {
		return fail(CodeConfiguration, fmt.Errorf("Config.RedirectProxyHosts: %w: an entry is a host such as "+
			"app.example.com or *.preview.example.com", err))
	}
	own, err := origin.Parse(s.URL)
	if err != nil || len(s.previews) > 0 {
		return nil //nolint:nilerr // an empty URL means that requests say it, and a bad one is reported elsewhere
	}
	for _, p := range s.providers {
		if p.proxyURL == "" {
			continue
		}
		if proxy, err := origin.Parse(p.proxyURL); err == nil && proxy == own {
			return &Error{
				Code: CodeConfiguration, Provider: p.id,
				Err: errors.New("this deployment is the one at RedirectProxyURL (AUTH_REDIRECT_PROXY_URL), and " +
					"Config.RedirectProxyHosts is empty: list the hosts of the deployments that callbacks are passed " +
					"on to, such as *.preview.example.com"),
			}
		}
	}
	return nil
}

// mayReceive reports whether callbacks are passed on to a deployment. Over http
// a code can be read on the way, so http is for loopback addresses, and for
// entries of the list that begin with "http://".
func (s *settings) mayReceive(deployment origin.Origin) bool {
	if s.previews.Match(deployment) {
		return true
	}
	return !deployment.Secure() && deployment.Loopback() && s.previews.Match(origin.Origin("https://"+deployment.Host()))
}

// redirectProxy returns the URL, for an action, of the deployment that receives the
// provider's responses for this one, if there is one, and whether it is this one
// itself.
func (f *oauthFlow) redirectProxy(x *exchange, act action) (callback string, same bool, err error) {
	base := f.proxyURL
	if base == "" {
		return "", false, nil
	}
	site, err := origin.Parse(base)
	if err != nil {
		return "", false, &Error{
			Code: CodeConfiguration, Provider: f.id,
			Err: fmt.Errorf("RedirectProxyURL (AUTH_REDIRECT_PROXY_URL) is %q: %w", base, err),
		}
	}
	return base + "/" + string(act) + "/" + f.id, string(site) == x.origin, nil
}

// passOn redirects a browser whose sign-in or sign-out began at another deployment. It
// reports whether it did.
//
// Only a deployment with the same secret can have sealed the state. That does
// not make its content true: a deployment that trusts a forged Host header
// seals the attacker's host. If a user follows the attacker's link, that host
// receives the user's code. So the list decides.
func (f *oauthFlow) passOn(x *exchange, params query.Values, act action) (bool, error) {
	_, same, err := f.redirectProxy(x, act)
	state, sent := params.Last("state")
	if err != nil || !same || !sent {
		return false, err
	}
	content, err := x.openState(state)
	if err != nil || content.Origin == "" {
		return false, err
	}
	home, err := origin.Parse(content.Origin)
	if err != nil {
		return false, fail(CodeInvalidCheck, fmt.Errorf("the state names no deployment: %w", err))
	}
	if string(home) == x.origin {
		return false, nil
	}
	// The deployment would receive the code of the user.
	if !x.mayReceive(home) {
		return false, fail(CodeInvalidCheck,
			fmt.Errorf("the flow says that it began at %s, which Config.RedirectProxyHosts does not list: add it "+
				"if it is a deployment of yours", home))
	}
	x.debug("passed on to the deployment at which it began")
	return true, x.redirect(query.AppendValues(content.Origin, params))
}

// checkPreview rejects a flow at its beginning that the proxy would reject at
// its end, if all deployments have the same list.
func (x *exchange) checkPreview(callback string) error {
	if callback == "" || len(x.previews) == 0 {
		return nil
	}
	own, err := origin.Parse(callback)
	if err != nil {
		return fail(CodeConfiguration, fmt.Errorf("the callback URL of this deployment: %w", err))
	}
	if !x.mayReceive(own) {
		return fail(CodeConfiguration, fmt.Errorf("this deployment is %s, which Config.RedirectProxyHosts does not list", own))
	}
	return nil
}
