package pintle

import (
	"errors"
	"strings"

	"github.com/pintleauth/pintle/internal/sealed"
	"github.com/pintleauth/pintle/internal/uuid"
)

// A flowID is what the check cookies of one flow or ceremony have in common. In the
// cookies it is a UUID and, after a dot each, up to three keyed hashes, which may be
// empty:
//
//	uuid.user.proof.browser
//
// The cookies of a flow that began at Auth.js have a UUID each and no dot.
type flowID struct {
	// ours reports that the flow began here and not at Auth.js.
	ours bool

	// user is the mark of the user who was signed in when the flow began, or
	// empty. An account is linked only if that user is signed in when the browser
	// comes back: otherwise an attacker who can plant a session cookie could collect
	// the accounts of others.
	user string

	// proof is the mark of the proof of an address that the browser had; see
	// [exchange.proofMark].
	proof string

	// browser is the mark of the browser's form token; see [exchange.browserMark].
	browser string
}

func parseFlowID(text string) flowID {
	_, marks, ours := strings.Cut(text, ".")
	user, marks, _ := strings.Cut(marks, ".")
	proof, browser, _ := strings.Cut(marks, ".")
	return flowID{ours, user, proof, browser}
}

// newFlowID returns the text of a new id.
func newFlowID(user, proof, browser string) string {
	text := uuid.New() + "." + user
	if proof != "" || browser != "" {
		text += "." + proof
	}
	if browser != "" {
		text += "." + browser
	}
	return text
}

// marked reports whether the flow with this id began here and not at Auth.js.
func marked(id string) bool { return parseFlowID(id).ours }

const (
	userMarkPurpose  = "pintle sign-in starter"
	proofMarkPurpose = "pintle address proof"
	browserPurpose   = "pintle sign-in browser"
)

// userMark returns the mark of the user who is signed in when a flow begins.
// A nil user, for a signed-out browser, has an empty mark.
func (s *settings) userMark(user *User) string {
	if user == nil {
		return ""
	}
	return sealed.Mark(s.jwtSecrets[0], userMarkPurpose, user.ID)
}

// startedBy reports whether the flow with this id was begun by user, or signed
// out if user is nil. The id of a flow begun at Auth.js does not name its user:
// the flow counts as begun by the user who is signed in. Without a check cookie
// there is no id, and no proof that any flow began: nothing is linked.
func (s *settings) startedBy(id string, user *User) bool {
	flow := parseFlowID(id)
	if !flow.ours {
		return id != ""
	}
	if user == nil {
		return flow.user == ""
	}
	return sealed.HasMark(flow.user, s.jwtSecrets, userMarkPurpose, user.ID)
}

// bindsFlows reports whether a flow or ceremony ends only in the browser in which it
// began.
//
// A neighbour on a sibling domain can plant cookies of an attacker's flow and open
// its callback, which signs the browser in as the attacker. Where the session cookie
// has the prefix __Host- a neighbour cannot plant the session itself, so the flow is
// bound to the form token, whose cookie has the prefix, too. With any other name of
// the session cookie the bond would add nothing, and cost the browsers of Auth.js's
// flows an extra page at providers that post their response.
//
// A host that gives a check cookie a domain wants flows to end on another host than
// they begin on, where the cookie of the form token does not go.
//
// https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-4.1.3.2
func (c *cookieSet) bindsFlows() bool {
	for _, own := range []namedCookie{c.session, c.csrf} {
		if !strings.HasPrefix(own.name, "__Host-") {
			return false
		}
	}
	for _, check := range []namedCookie{c.state, c.pkce, c.nonce, c.challenge} {
		if check.attrs.Domain != "" {
			return false
		}
	}
	return true
}

// browserMark returns the mark of this browser for the id of a flow that begins. It
// is empty where flows are not bound. A browser without a form token gets one:
// server code can begin a flow that no form has begun.
func (x *exchange) browserMark() string {
	if !x.set.bindsFlows() {
		return ""
	}
	return sealed.Mark(x.jwtSecrets[0], browserPurpose, x.formToken())
}

// errBegunElsewhere rejects the callback of a flow that began in another
// browser.
var errBegunElsewhere = fail(CodeInvalidCheck, errors.New("the sign-in began in another browser, or the cookie of the form token was replaced meanwhile"))

// begunHere reports whether the flow with this id began in this browser, as far
// as the id records it.
func (x *exchange) begunHere(id string) bool {
	flow := parseFlowID(id)
	if flow.browser == "" {
		// Where flows are bound, every id that was made here has the mark. An id
		// of Auth.js records no browser.
		return !flow.ours || !x.set.bindsFlows()
	}
	return sealed.HasMark(flow.browser, x.jwtSecrets, browserPurpose, x.sentFormToken())
}
