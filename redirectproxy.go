package pintle

import (
	"errors"
	"fmt"

	"github.com/pintleauth/pintle/internal/origin"
	"github.com/pintleauth/pintle/internal/query"
)

// resolveRedirectProxy reads the list of deployments. A deployment that is known
// to be the proxy needs one: see [exchange.passOn].
func (s *settings) resolveRedirectProxy() *Error {
	var err error
	if s.previews, err = origin.ParseHosts(s.RedirectProxyHosts); err != nil {
		return fail(ErrConfiguration, fmt.Errorf("Config.RedirectProxyHosts: %w: an entry is a host such as app.example.com or *.preview.example.com", err))
	}
	own, err := origin.Parse(s.URL)
	if err != nil || len(s.previews) > 0 {
		return nil //nolint:nilerr // an empty URL means that requests say it, and a bad one is reported elsewhere
	}
	for _, p := range s.providers {
		if p.oauth == nil || p.oauth.RedirectProxyURL == "" || p.formPost() {
			continue
		}
		if proxy, err := origin.Parse(p.oauth.RedirectProxyURL); err == nil && proxy == own {
			return &Error{Code: ErrConfiguration, Provider: p.id, Err: errors.New("this deployment is the one at RedirectProxyURL (AUTH_REDIRECT_PROXY_URL), and Config.RedirectProxyHosts is empty: list the hosts of the deployments that callbacks are passed on to, such as *.preview.example.com")}
		}
	}
	return nil
}

// mayReceive reports whether callbacks are passed on to a deployment. Over http a
// code can be read on the way, so http is for loopback addresses, and for entries
// of the list that say so.
func (s *settings) mayReceive(deployment origin.Origin) bool {
	if s.previews.Match(deployment) {
		return true
	}
	return !deployment.Secure() && deployment.Loopback() && s.previews.Match(origin.Origin("https://"+deployment.Host()))
}

// redirectProxy returns the callback URL of the deployment that receives the
// provider's responses for this one, if there is one, and whether it is this one
// itself. A provider that answers with a form cannot be proxied: a redirect would
// lose the form.
func (x *exchange) redirectProxy(p *provider) (callback string, same bool, err error) {
	base := p.oauth.RedirectProxyURL
	if base == "" || p.formPost() {
		return "", false, nil
	}
	site, err := origin.Parse(base)
	if err != nil {
		return "", false, &Error{Code: ErrConfiguration, Provider: p.id, Err: fmt.Errorf("RedirectProxyURL (AUTH_REDIRECT_PROXY_URL) is %q: %w", base, err)}
	}
	return base + "/callback/" + p.id, string(site) == x.origin, nil
}

// passOn sends a browser on whose sign-in began at another deployment. It
// reports whether it did.
//
// Only a deployment with the same secret can have sealed the state. That does not
// make its content true: a deployment that believes a forged Host header seals
// the attacker's host, who then receives the code of a user that follows the
// link. So the list decides.
func (x *exchange) passOn(p *provider, params query.Values) (bool, error) {
	_, same, err := x.redirectProxy(p)
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
		return false, fail(ErrInvalidCheck, fmt.Errorf("the state names no deployment: %w", err))
	}
	if string(home) == x.origin {
		return false, nil
	}
	if !x.mayReceive(home) {
		return false, fail(ErrInvalidCheck, fmt.Errorf("the flow says that it began at %s, which Config.RedirectProxyHosts does not list: add it if it is a deployment of yours", home))
	}
	x.debug("passed on to the deployment that the sign-in began at")
	return true, x.redirect(query.AppendValues(content.Origin, params))
}

// checkPreview stops a flow at its beginning that the proxy would stop at its
// end, where all deployments have the same list.
func (x *exchange) checkPreview(callback string) error {
	if callback == "" || len(x.previews) == 0 {
		return nil
	}
	own, err := origin.Parse(callback)
	if err != nil {
		return fail(ErrConfiguration, fmt.Errorf("the callback URL of this deployment: %w", err))
	}
	if !x.mayReceive(own) {
		return fail(ErrConfiguration, fmt.Errorf("this deployment is %s, which Config.RedirectProxyHosts does not list", own))
	}
	return nil
}
