package pintle

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pintleauth/pintle/internal/cookie"
	"github.com/pintleauth/pintle/internal/handshake"
	"github.com/pintleauth/pintle/internal/once"
	"github.com/pintleauth/pintle/internal/query"
	"github.com/pintleauth/pintle/internal/sealed"
	"github.com/pintleauth/pintle/oauth"
)

// clockTolerance is how far the clocks of two servers that share a cookie may
// be apart.
const clockTolerance = sealed.ClockTolerance

// usedLifetime is how long a value can be good after it was used: what a server
// issued whose clock is ahead expires later here, and clocks may differ when it
// is read as well.
const usedLifetime = checkMaxAge + 2*clockTolerance

// spent is what was used and must not be used again.
//
// The memory is that of one process, for all tenants of [NewFunc]. Where several
// processes serve one site, a copy of a browser's cookies works once at each of
// them. For passkeys the counter of an authenticator that counts stops that; for
// providers, that a code is redeemed once:
// https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2
type spent struct {
	// flows are the states of providers' responses, and the verifiers or nonces
	// of flows without a state.
	flows *once.Values

	// challenges are those of passkey ceremonies.
	challenges *once.Values
}

func newSpent() *spent {
	return &spent{flows: once.New(usedLifetime), challenges: once.New(usedLifetime)}
}

// A sealedCheck is what a check cookie holds. Auth.js reads and writes the same
// members; to it the jti is an arbitrary text.
type sealedCheck struct {
	Value    string `json:"value"`
	Provider string `json:"provider"`

	// The ID is a [flowID], the same in every cookie of one flow.
	sealed.Stamp

	// CallbackURL is where the browser goes in the end, in the state cookie of a
	// flow whose response is posted from the provider's site: no other cookie
	// comes along that could tell. Auth.js ignores it.
	CallbackURL string `json:"callbackUrl,omitempty"`
}

// issued returns when the check was made, in Unix seconds.
func (c *sealedCheck) issued() int64 { return c.Expires - int64(checkMaxAge/time.Second) }

// A sealedCookie is a cookie whose content only this application can make.
type sealedCookie struct {
	namedCookie
	box *sealed.Box
}

func (c *cookieSet) pkceCheck() sealedCookie      { return sealedCookie{c.pkce, c.pkceBox} }
func (c *cookieSet) stateCheck() sealedCookie     { return sealedCookie{c.state, c.stateBox} }
func (c *cookieSet) nonceCheck() sealedCookie     { return sealedCookie{c.nonce, c.nonceBox} }
func (c *cookieSet) challengeCheck() sealedCookie { return sealedCookie{c.challenge, c.challengeBox} }

// seal returns the Set-Cookie line that keeps a check until the browser is back.
func (c sealedCookie) seal(check sealedCheck, crossSite bool) (string, error) {
	value, err := c.box.Seal(&check)
	if err != nil {
		return "", fmt.Errorf("seal check: %w", err)
	}
	attrs := c.lasting(checkMaxAge)
	if crossSite {
		// A provider that answers with a form posts it from its own site, and a
		// browser sends only cookies along that say None.
		attrs.SameSite, attrs.Secure = "None", true
	}
	return cookie.Line(c.name, value, attrs), nil
}

// open returns what a check cookie of this request holds for the provider.
func (c sealedCookie) open(x *exchange, provider string) (*sealedCheck, error) {
	check, fault := c.read(x, provider)
	if fault != nil {
		x.debug("cookie not accepted", "cookie", c.name, "reason", fault.Err.Error())
		return nil, fault
	}
	return check, nil
}

func (c sealedCookie) read(x *exchange, provider string) (*sealedCheck, *Error) {
	value, ok := x.initialCookie(c.namedCookie)
	if !ok || value == "" {
		return nil, fail(CodeInvalidCheck, fmt.Errorf("the cookie %s is missing: the sign-in began in another browser, more than 15 minutes ago, or under another host name", c.name))
	}
	var check sealedCheck
	switch err := c.box.Open(value, &check); {
	case errors.Is(err, sealed.ErrKey):
		x.noteForeign(x.ctx, c.name, value)
		return nil, fail(CodeInvalidCheck, fmt.Errorf("the cookie %s %w: %s", c.name, err, fixSecrets))
	case errors.Is(err, sealed.ErrExpired):
		return nil, &Error{Code: CodeInvalidCheck, Detail: flowExpired, Err: fmt.Errorf("the cookie %s %w: the sign-in took more than 15 minutes", c.name, err)}
	case err != nil:
		return nil, fail(CodeInvalidCheck, fmt.Errorf("the cookie %s %w", c.name, err))
	case check.Value == "":
		return nil, fail(CodeInvalidCheck, fmt.Errorf("the cookie %s is empty", c.name))
	case check.Provider != provider:
		// A response of one provider must not complete the flow of another.
		return nil, &Error{Code: CodeInvalidCheck, Detail: flowReplaced, Err: fmt.Errorf("the cookie %s belongs to a sign-in with another provider, which began later in this browser, mostly in another tab", c.name)}
	}
	return &check, nil
}

// stateSalt is the salt of the state parameter itself, which the redirect proxy
// has to read without a cookie.
const stateSalt = "encodedState"

// resolveBoxes derives the keys that all cookies of the site have in common.
func (s *settings) resolveBoxes() *Error {
	if len(s.jwtSecrets) == 0 {
		return nil // resolveSecrets reports it
	}
	for box, salt := range map[**sealed.Box]string{&s.states: stateSalt, &s.challenges: challengeSalt} {
		var err error
		if *box, err = sealed.NewBox(s.jwtSecrets, salt, checkMaxAge); err != nil {
			return fail(CodeConfiguration, err)
		}
	}
	return nil
}

// A sealedState is the content of the state parameter.
type sealedState struct {
	// Origin is the callback URL of the deployment a redirect proxy is to send
	// the browser on to.
	Origin string `json:"origin,omitempty"`
	Random string `json:"random"`
	sealed.Stamp
}

func (s *settings) sealState(origin string) (string, error) {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails
	return s.states.Seal(&sealedState{Origin: origin, Random: base64.RawURLEncoding.EncodeToString(random)})
}

func (s *settings) openState(state string) (*sealedState, error) {
	var content sealedState
	switch err := s.states.Open(state, &content); {
	case errors.Is(err, sealed.ErrKey):
		return nil, fail(CodeInvalidCheck, fmt.Errorf("the state %w; both ends of a redirect proxy need the same", err))
	case errors.Is(err, sealed.ErrExpired):
		return nil, &Error{Code: CodeInvalidCheck, Detail: flowExpired, Err: fmt.Errorf("the state %w: the sign-in took more than 15 minutes", err)}
	case err != nil:
		return nil, fail(CodeInvalidCheck, fmt.Errorf("the state %w", err))
	}
	return &content, nil
}

// keptChecks is the content of this browser's check cookies.
type keptChecks struct {
	values map[oauth.Check]string
	errs   map[oauth.Check]error

	id          string // see sealedCheck; empty if no cookie says
	callbackURL string // from a flow whose response is posted
	cleared     []string

	// once is the value that can be used once, and issued when it was made.
	once   string
	issued int64
}

// value returns what was kept for a check, or an error if there is no value.
func (k *keptChecks) value(c oauth.Check) (string, error) { return k.values[c], k.errs[c] }

// takeChecks reads the check cookies of a provider's flow. Each is good for one
// callback: a success clears them here, and after a failure the page to which
// it leads does (see clearLeftovers).
//
// A state is required whatever [OAuth.Checks] lists: some services accept any
// code verifier, so without a state the response of an attacker's flow would
// pass as one of this browser's. The exception is a flow that began at Auth.js,
// which sends the listed checks only. A listed check without our mark proves
// that. If no check is listed there is no such proof, and a callback without a
// state is rejected: an attacker could have opened it.
func (f *oauthFlow) takeChecks(x *exchange) *keptChecks {
	k := &keptChecks{values: map[oauth.Check]string{}, errs: map[oauth.Check]error{}}
	found := map[oauth.Check]*sealedCheck{}
	elsewhere := false
	for _, c := range []struct {
		check  oauth.Check
		cookie sealedCookie
	}{
		{oauth.CheckNonce, x.set.nonceCheck()},
		{oauth.CheckPKCE, x.set.pkceCheck()},
		{oauth.CheckState, x.set.stateCheck()},
	} {
		isListed := slices.Contains(f.listed, c.check)
		if !isListed && c.check != oauth.CheckState {
			continue
		}
		kept, err := c.cookie.open(x, f.id)
		if kept != nil {
			k.cleared = append(k.cleared, c.cookie.clear())
		}
		if c.check == oauth.CheckState && !isListed && elsewhere && (kept == nil || marked(kept.ID)) {
			// Such a state is left from an earlier flow: Auth.js does not clear
			// the cookies of checks that it does not use.
			continue
		}
		if err != nil {
			k.errs[c.check] = err
			continue
		}
		found[c.check] = kept
		elsewhere = elsewhere || !marked(kept.ID)
	}
	k.keep(found)
	return k
}

// keep takes over the checks that were found, if they are all of one flow.
func (k *keptChecks) keep(found map[oauth.Check]*sealedCheck) {
	first := true
	for c, check := range found {
		if mine := marked(check.ID); !first && (mine != marked(k.id) || mine && check.ID != k.id) {
			// A neighbouring host may have planted a cookie of an attacker's
			// flow beside those of the user's.
			err := fail(CodeInvalidCheck, errors.New("the check cookies belong to different flows"))
			k.errs = map[oauth.Check]error{oauth.CheckPKCE: err, oauth.CheckState: err, oauth.CheckNonce: err}
			return
		}
		first = false
		k.id, k.values[c] = check.ID, check.Value
	}
	for _, c := range []oauth.Check{oauth.CheckState, oauth.CheckPKCE, oauth.CheckNonce} {
		if check := found[c]; check != nil {
			k.once, k.issued, k.callbackURL = check.Value, check.issued(), check.CallbackURL
			return
		}
	}
}

// clearLeftovers clears check cookies of a flow that failed, so that its state,
// nonce and verifier cannot be used again. Answers that report an error carry
// no cookies, so the page to which they lead clears them.
//
// If a later flow replaced the flow of a response, the response has used
// nothing of the later flow, which continues in another tab.
func (x *exchange) clearLeftovers() {
	code, failed := x.query.First("error")
	if detail, _ := x.query.First("code"); code == string(CodeInvalidCheck) && detail == flowReplaced {
		return
	}
	if failed {
		x.clearChecks()
	}
}

// clearChecks clears the check cookies that this browser has.
func (x *exchange) clearChecks() {
	for _, c := range []namedCookie{x.set.state, x.set.pkce, x.set.nonce, x.set.challenge} {
		if _, left := x.initialCookie(c); left {
			x.addCookie(c.clear())
		}
	}
}

// These details describe the flow of a returning browser that cannot be
// completed. The sign-in page receives them as the parameter "code", and shows
// what to do.
const (
	flowExpired  = "flow_expired"
	flowReplaced = "flow_replaced" // by one that the browser began later
	flowUsed     = "flow_used"
	flowUnknown  = "flow_unknown" // to this browser
)

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
