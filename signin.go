package pintle

import (
	"errors"
	"fmt"
	"net/http"
)

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

// callback answers the callback route: a browser comes back from a provider, a
// mail or a form, and is signed in if all is well.
func (x *exchange) callback() error {
	p := x.provider
	if p == nil {
		return fail(codeInvalidProvider, errors.New("the callback route was called without a provider"))
	}
	who, err := p.finish(x)
	// Without an arrival finish has answered with a page or a redirect.
	if err == nil && who != nil {
		who.provider = p
		who.authentication.Time, who.authentication.Provider = x.began, p.id
		err = x.login(who)
	}
	if err != nil && !isClassified(err) {
		err = &Error{Code: codeCallbackRoute, Provider: p.id, Err: err}
	}
	return err
}

// toForm begins a sign-in that ends at the callback route: the form for it, on the
// sign-in page, is posted there.
func (x *exchange) toForm() error {
	x.noteMisdirectedForm()
	return x.toSignInPage()
}

// toSignInPage redirects to the sign-in page.
func (x *exchange) toSignInPage() error { return x.redirect(x.origin + x.base + "/signin") }

// callbackRoute is where the browser comes back to from a provider.
func (x *exchange) callbackRoute(provider string) string {
	return x.origin + x.base + "/callback/" + provider
}

// requirePost refuses a request to the callback route that has no form.
func (x *exchange) requirePost() error {
	if x.inside || x.r.Method == http.MethodPost {
		return nil
	}
	return fail(codeInvalidProvider, fmt.Errorf("the callback route of a %s provider was called with %s", x.provider.kind, x.r.Method))
}
