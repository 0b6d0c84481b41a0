package pintle

import (
	"fmt"

	"github.com/pintleauth/pintle/internal/origin"
	"github.com/pintleauth/pintle/internal/query"
)

// redirectProxy returns the callback URL of the deployment that receives the
// provider's answers for this one, if there is one, and whether it is this one
// itself. A provider that answers by a form cannot be proxied: a redirect would
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
// reports whether it did. The state is trusted because only a deployment with
// the same secret can have sealed it.
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
	x.debug("passed on to the deployment the sign-in began at", p)
	return true, x.redirect(query.AppendValues(content.Origin, params))
}
