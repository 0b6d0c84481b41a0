package pintle

import (
	"cmp"
	"errors"
	"net/http"
	"strings"

	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/internal/query"
)

// initiation answers the route by which a provider begins a sign-in, in a browser that it
// sends here.
//
// https://openid.net/specs/openid-connect-core-1_0.html#ThirdPartyInitiatedLogin
func (x *exchange) initiation() {
	err := x.initiate()
	if bad, ok := errors.AsType[*badRequest](err); ok {
		x.answer = answer{}
		x.answerBadRequest(bad)
	} else if err != nil {
		x.answerError(err)
	}
	x.answer.noStore = true
}

func (x *exchange) initiate() error {
	p, err := x.find(x.ctx, x.provider.id)
	if err != nil {
		return err
	}
	if p == nil || p.initiated == nil {
		return &badRequest{http.StatusBadRequest, errors.New("no provider may begin a sign-in at this route")}
	}
	x.provider = p
	params := x.query
	if x.r.Method == http.MethodPost {
		if _, agreed, _ := x.body.String("replace"); agreed {
			return x.replaceSession()
		}
		if params, err = query.Parse(string(x.sent)); err != nil {
			return &badRequest{http.StatusBadRequest, err}
		}
	}
	issuer, err := onlyParam(params, "iss")
	if err != nil {
		return err
	}
	known, err := p.initiated(x.ctx, issuer)
	if err != nil {
		return &Error{Code: CodeConfiguration, Provider: p.id, Err: err}
	}
	if !known {
		return &badRequest{http.StatusBadRequest, errors.New("the parameter iss is not the issuer of the provider")}
	}
	target, _ := params.Last("target_link_uri")
	hint, _ := params.Last("login_hint")
	if len(hint) > maxInitiatedHint {
		hint = ""
	}
	if x.r.Method == http.MethodPost {
		// A form of another site brings no cookies along that say SameSite=Lax, and the
		// flow is to be bound to those of this browser.
		pairs := query.Values{{Key: "iss", Value: issuer}}
		for _, pair := range (query.Values{{Key: "login_hint", Value: hint}, {Key: "target_link_uri", Value: target}}) {
			if pair.Value != "" {
				pairs = append(pairs, pair)
			}
		}
		return x.redirect(query.AppendValues(x.origin+x.base+"/"+string(actionInitiate)+"/"+p.id, pairs))
	}
	return x.beginInitiated(target, hint, false)
}

// maxInitiatedHint bounds the login_hint of a request that any site can send.
const maxInitiatedHint = 256

// onlyParam returns a parameter that must be sent once.
func onlyParam(params query.Values, name string) (value string, err error) {
	found := 0
	for _, pair := range params {
		if pair.Key == name {
			value = pair.Value
			found++
		}
	}
	if found != 1 {
		return "", &badRequest{http.StatusBadRequest, errors.New("the request must have one parameter " + name)}
	}
	return value, nil
}

// replaceSession begins the flow once more, after the user has agreed to it.
func (x *exchange) replaceSession() error {
	x.resolveCSRFToken()
	if err := x.requireOwnPage(); err != nil {
		return err
	}
	target, _, _ := x.body.String("target_link_uri")
	return x.beginInitiated(target, "", true)
}

func (x *exchange) beginInitiated(target, hint string, replace bool) error {
	x.callbackURL, x.callbackText = x.origin, x.origin
	// To browsers, a path that begins with two slashes is the URL of another host.
	if strings.HasPrefix(target, "//") || strings.Contains(target, `\`) {
		target = ""
	}
	if target = cmp.Or(target, x.origin); len(target) <= maxKeptCallbackURL {
		var err error
		if x.callbackURL, x.callbackText, err = x.redirectTarget(target); err != nil {
			return &badRequest{http.StatusBadRequest, err}
		}
	}
	x.query = nil // other parameters are not for the provider
	if hint != "" {
		x.own.Add("login_hint", hint)
	}
	x.asked = &asked{Initiated: true, Replace: replace}
	return x.provider.begin(x)
}

// askBeforeReplacing decides what becomes of the session in a browser that a provider has
// sent to sign in: the session of the same user goes on, and before that of another user
// ends, a page asks. It reports whether it does. The account is never linked: any site
// can begin such a flow, and the account may be an attacker's.
func (x *exchange) askBeforeReplacing(who *arrival, stored *User) (bool, error) {
	here, err := x.sessions.present(x)
	if err != nil {
		return false, err
	}
	isSame := here.user != nil && who.owned && stored.ID == here.user.ID
	who.linkTo = func(*User) bool { return isSame }
	if here.user == nil || isSame || x.asked.Replace && marked(who.flow) && x.startedBy(who.flow, here.user) {
		return false, nil
	}
	x.debug("another user is signed in: the question page is shown")
	x.answer.noStore = true
	x.formToken() // a browser that comes from a provider may have none yet
	return true, x.show(x.pages().Replace(page.ReplaceData{
		Site: x.pageSite(), Action: x.formAction("/" + string(actionInitiate) + "/" + x.provider.id), CSRFToken: x.pageToken(),
		Target: x.callbackText, User: cmp.Or(here.user.Name, here.user.Email), Provider: x.provider.name,
	}))
}
