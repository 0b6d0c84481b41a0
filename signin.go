package pintle

import (
	"cmp"
	"strings"

	"github.com/pintleauth/pintle/internal/query"
	"github.com/pintleauth/pintle/internal/sealed"
)

// signIn answers POST signin: it starts a sign-in with the provider of the path.
func (x *exchange) signIn() error {
	if err := x.requireCSRF(); err != nil {
		return err
	}
	switch {
	case x.provider == nil:
		return x.redirect(x.origin + x.base + "/signin")
	case x.provider.oauth != nil:
		return x.leave(x.provider)
	case x.provider.email != nil:
		return x.requestMail(x.provider)
	}
	// What is typed into a form of ours goes to the callback route.
	x.noteMisdirectedForm()
	return x.redirect(x.origin + x.base + "/signin")
}

// leave sends the browser to an OAuth provider, with what has to be known when
// it comes back kept in its cookies.
func (x *exchange) leave(p *provider) error {
	redirectURI, preview, err := x.redirectURI(p)
	if err != nil {
		return err
	}
	if err := x.checkPreview(preview); err != nil {
		return err
	}
	state, err := x.sealState(preview)
	if err != nil {
		return err
	}
	begun, err := p.flow.begin(x.ctx, departure{redirectURI: redirectURI, state: state, extra: x.query})
	if err != nil {
		return &Error{Code: ErrConfiguration, Provider: p.id, Err: err}
	}
	user, _, err := x.signedIn()
	if err != nil {
		return err
	}
	kept := sealedCheck{Provider: p.id, Stamp: sealed.Stamp{ID: newFlowID(x.starter(user), x.proofMark(user), x.browserMark())}}
	if p.formPost() && x.callbackText != x.origin && len(x.callbackText) <= maxKeptCallbackURL {
		kept.CallbackURL = x.callbackText
	}
	var sent []string
	for _, check := range []struct {
		name   Check
		cookie sealedCookie
		value  string
	}{
		{State, x.set.stateCheck(), begun.state},
		{PKCE, x.set.pkceCheck(), begun.verifier},
		{Nonce, x.set.nonceCheck(), begun.nonce},
	} {
		if check.value == "" {
			continue
		}
		kept.Value = check.value
		line, err := check.cookie.seal(kept, p.formPost())
		if err != nil {
			return err
		}
		x.addCookie(line)
		sent = append(sent, string(check.name))
		kept.CallbackURL = "" // the first cookie has it
	}
	x.debug("sent to the provider", "checks", strings.Join(sent, " "))
	return x.redirect(begun.url)
}

// callbackRoute is where the browser comes back to from a provider.
func (x *exchange) callbackRoute(p *provider) string {
	return x.origin + x.base + "/callback/" + p.id
}

// redirectURI is the callback URL a provider is told, in both of the requests
// that mention it. preview is this deployment's own when a redirect proxy
// stands in for it.
func (x *exchange) redirectURI(p *provider) (uri, preview string, err error) {
	own := cmp.Or(p.oauth.RedirectURL, x.callbackRoute(p))
	proxy, same, err := x.redirectProxy(p)
	if err != nil || proxy == "" || same {
		return own, "", err
	}
	return proxy, own, nil
}

// verifyRequestURL is where a browser goes after a mail was asked for.
func (x *exchange) verifyRequestURL(p *provider) string {
	return query.Append(x.origin+x.base+"/verify-request", "provider", p.id, "type", "email")
}
