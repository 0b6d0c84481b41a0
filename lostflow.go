package pintle

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/pintleauth/pintle/internal/handshake"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/internal/query"
	"github.com/pintleauth/pintle/internal/sealed"
	"github.com/pintleauth/pintle/oauth"
)

// postedAgain is the field of a response that this site has had posted again.
const postedAgain = "pintle.again"

// errCookiesLeftBehind reports that the browser kept cookies back that are needed.
var errCookiesLeftBehind = errors.New("the response was posted from the provider's site, without the cookies of this one")

// postedParams are the parameters of a response that came as a form.
func (x *exchange) postedParams() query.Values {
	var params query.Values
	fields := x.body.All()
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if text, ok := fields[name].(string); ok && name != postedAgain {
			params.Add(name, text)
		}
	}
	return params
}

// requireStarter makes sure that an account is linked to the user who began the
// flow, or not at all. The provider's form is posted from another site, and a
// browser does not send session cookies with SameSite=Lax along: the user would
// look signed out, and a second user would be created. So the browser posts the
// form once more from a page of this site. If there is still no session of that
// user, the sign-in ends with an error.
//
// https://www.rfc-editor.org/rfc/rfc6265#section-5.2 leaves SameSite to
// https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-5.2
func (f *oauthFlow) requireStarter(x *exchange, kept *keptChecks) error {
	_, again, _ := x.body.String(postedAgain)
	if !again && parseFlowID(kept.id).browser != "" && x.sentFormToken() == "" {
		return errCookiesLeftBehind // [exchange.begunHere] needs the form token
	}
	if !again && x.Callbacks.Hold != nil && x.sentFormToken() == "" {
		return errCookiesLeftBehind // a held sign-in is bound to it, and open forms need it
	}
	leftBehind := !again && x.heldToken() == ""
	if x.records == nil || x.startedBy(kept.id, nil) && marked(kept.id) {
		// There is nothing to link, or it began signed out. The browser may have
		// got a session meanwhile.
		if leftBehind && x.sessions.endHeldAtSignIn() {
			return errCookiesLeftBehind
		}
		return nil
	}
	if leftBehind {
		return errCookiesLeftBehind
	}
	if !marked(kept.id) {
		return nil // Auth.js does not say who began it
	}
	user, _, err := x.signedIn()
	if err != nil {
		return err
	}
	if user == nil || !x.startedBy(kept.id, user) {
		return &Error{
			Code: CodeAccountNotLinked, Provider: f.id,
			Err: errors.New("the user who began the flow to link an account is no longer signed in"),
		}
	}
	return nil
}

// postAgain has the browser post a response from this site. Nothing of it has
// been used yet.
func (x *exchange) postAgain(action string, params query.Values) error {
	data := page.ContinueData{Site: x.pageSite(), Action: action}
	for _, e := range params {
		data.Fields = append(data.Fields, page.HiddenField{Name: e.Key, Value: e.Value})
	}
	data.Fields = append(data.Fields, page.HiddenField{Name: postedAgain, Value: "1"})
	x.debug("response posted again from this site, so that the session cookie comes along")
	// Cookies that are set because this request came without any would replace
	// those that the browser kept back.
	x.answer.cookies = nil
	x.answer.noStore = true // the page holds a code
	return x.show(x.pages().Continue(data))
}

// restoreCallbackURL sets the end of the flow, if this request has no cookie
// with it. The kept URL passes through the redirect rules again.
func (x *exchange) restoreCallbackURL(kept string) error {
	if kept == "" {
		return nil
	}
	asked, err := x.askedCallbackURL()
	if _, sent := x.initialCookie(x.set.callbackURL); err != nil || sent || asked != "" {
		return err
	}
	if x.callbackURL, x.callbackText, err = x.redirectTarget(kept); err != nil {
		return err
	}
	x.replaceCookie(x.set.callbackURL, x.callbackText)
	return nil
}

// lostFlow adds to an error what became of the flow. The cookies of a browser
// belong to one flow, as with Auth.js: of two tabs that sign in, the one that
// began later has them. The state of a response is sealed, so it shows whether
// this site made it, and when.
func (f *oauthFlow) lostFlow(x *exchange, params query.Values, kept *keptChecks, err error) error {
	state, _ := params.Last("state")
	_, unopened := x.openState(state)
	expired := errors.Is(unopened, sealed.ErrExpired)
	ours := unopened == nil || expired
	e, invalid := errors.AsType[*Error](err)
	switch other := errors.Is(err, handshake.ErrOtherFlow); {
	case other && kept.values[oauth.CheckState] != "" && (ours || f.oauth.Protocol == oauth.OAuth1):
		return &Error{
			Code: codeCallbackRoute, Detail: flowReplaced, Provider: f.id,
			Err: fmt.Errorf("%w: a sign-in that began later in this browser, mostly in another tab, took its place", err),
		}
	case other || !invalid || e.Code != CodeInvalidCheck || e.Detail != "":
		return err
	}
	lost := *e
	lost.Detail = flowUnknown
	if expired {
		lost.Detail = flowExpired
	}
	return &lost
}
