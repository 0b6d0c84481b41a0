package pintle

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/pintleauth/pintle/internal/cookie"
	"github.com/pintleauth/pintle/internal/once"
	"github.com/pintleauth/pintle/internal/seal"
	"github.com/pintleauth/pintle/internal/sealed"
	"github.com/pintleauth/pintle/internal/tokenhash"
	"github.com/pintleauth/pintle/internal/uuid"
	"github.com/pintleauth/pintle/oauth"
)

// usedLifetime is how long a value can be good after it was used: what a server
// issued whose clock is ahead expires later here, and clocks may differ when it
// is read as well.
const usedLifetime = checkMaxAge + 2*clockTolerance

// noncePurpose names the nonces of SDKs: in their marks, and when one is used up.
const noncePurpose = "pintle id token nonce"

func newSpent() *spent {
	values := func(kind string) spentValues { return spentValues{kind, once.New(usedLifetime)} }
	return &spent{
		flows: values("pintle flow"), challenges: values("pintle challenge"),
		nonces: values(noncePurpose), idTokens: values("pintle id token"),
	}
}

// first reports whether a value is used for the first time: by all processes if they have a
// shared state, and otherwise by this one. It is kept until a time.
func (x *exchange) first(used spentValues, value string, issued, until time.Time) (bool, error) {
	name := used.kind + "\x00" + x.provider.id + "\x00" + x.Tenant + "\x00" + value
	if x.shared != nil {
		first, err := x.shared.once(x.ctx, sha256.Sum256([]byte(name)), until)
		if !errors.Is(err, errors.ErrUnsupported) {
			return first, err
		}
	}
	return used.here.Use(name, issued.Unix()), nil
}

// spend reports whether a value of a flow of this browser, which was issued at a time in
// Unix seconds, is used for the first time.
func (x *exchange) spend(used spentValues, value string, issued int64) (bool, error) {
	at := time.Unix(issued, 0)
	return x.first(used, value, at, at.Add(usedLifetime))
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
	// comes along that could tell. A flow that confirms a session has it, too, so that
	// a sign-in in another tab does not replace it. Auth.js ignores it.
	CallbackURL string `json:"callbackUrl,omitempty"`

	// Asked is what the provider's answer has to meet, in the state cookie.
	Asked *asked `json:"asked,omitempty"`
}

// issued returns when the check was made, in Unix seconds.
func (c *sealedCheck) issued() int64 { return c.Expires - int64(checkMaxAge/time.Second) }

// A sealedCookie is a cookie whose content only this application can make.
type sealedCookie struct {
	namedCookie
	box *sealed.Box
}

func (c *cookieSet) pkceCheck() sealedCookie { return sealedCookie{c.pkce, c.pkceBox} }

func (c *cookieSet) stateCheck() sealedCookie { return sealedCookie{c.state, c.stateBox} }

func (c *cookieSet) nonceCheck() sealedCookie { return sealedCookie{c.nonce, c.nonceBox} }

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
		return nil, fail(CodeInvalidCheck, fmt.Errorf("the cookie %s is missing: the sign-in began in another "+
			"browser, more than 15 minutes ago, or under another host name", c.name))
	}
	var check sealedCheck
	switch err := c.box.Open(value, &check); {
	case errors.Is(err, sealed.ErrKey):
		x.noteForeign(x.ctx, c.name, value)
		return nil, fail(CodeInvalidCheck, fmt.Errorf("the cookie %s %w: %s", c.name, err, fixSecrets))
	case errors.Is(err, sealed.ErrExpired):
		return nil, &Error{
			Code: CodeInvalidCheck, Detail: flowExpired,
			Err: fmt.Errorf("the cookie %s %w: the sign-in took more than 15 minutes", c.name, err),
		}
	case err != nil:
		return nil, fail(CodeInvalidCheck, fmt.Errorf("the cookie %s %w", c.name, err))
	case check.Value == "":
		return nil, fail(CodeInvalidCheck, fmt.Errorf("the cookie %s is empty", c.name))
	case check.Provider != provider:
		// A response of one provider must not complete the flow of another.
		return nil, &Error{
			Code: CodeInvalidCheck, Detail: flowReplaced,
			Err: fmt.Errorf("the cookie %s belongs to a sign-in with another provider, which began later in this "+
				"browser, mostly in another tab", c.name),
		}
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
	for box, salt := range map[**sealed.Box]string{
		&s.states: stateSalt, &s.challenges: challengeSalt, &s.confirmations: confirmationSalt,
		&s.secondFactors: secondFactorSalt, &s.signUps: signUpSalt, &s.keyProofs: keyProofSalt,
	} {
		var err error
		if *box, err = sealed.NewBox(s.jwtSecrets, salt, checkMaxAge); err != nil {
			return fail(CodeConfiguration, err)
		}
	}
	var err error
	if s.nativeCodes, err = sealed.NewBox(s.jwtSecrets, seal.Salt(nativeCodeSalt, s.Tenant), nativeCodeLife); err != nil {
		return fail(CodeConfiguration, err)
	}
	return nil
}

// nativeCodeSalt is the salt of the codes of native applications, and nativeCodeLife how
// long they are good.
const (
	nativeCodeSalt = "pintle.nativeCode"
	nativeCodeLife = time.Minute
)

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
		return nil, &Error{
			Code: CodeInvalidCheck, Detail: flowExpired,
			Err: fmt.Errorf("the state %w: the sign-in took more than 15 minutes", err),
		}
	case err != nil:
		return nil, fail(CodeInvalidCheck, fmt.Errorf("the state %w", err))
	}
	return &content, nil
}

// value returns what was kept for a check, or an error if there is no value.
func (k *keptChecks) value(c oauth.Check) (string, error) { return k.values[c], k.errs[c] }

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
			k.once, k.issued, k.callbackURL, k.asked = check.Value, check.issued(), check.CallbackURL, check.Asked
			return
		}
	}
}

// clearLeftovers clears check cookies of a flow that failed, so that its state,
// nonce and verifier cannot be used again. Answers that report an error carry
// no cookies, so the page to which they lead clears them.
//
// If a later flow replaced the flow of a response, the response has used
// nothing of the later flow, which continues in another tab. While an operator acts as a
// user, no response of a provider is read, and the flow of the operator continues
// afterwards.
func (x *exchange) clearLeftovers() {
	code, failed := x.query.First("error")
	if detail, _ := x.query.First("code"); code == string(CodeInvalidCheck) && detail == flowReplaced {
		return
	}
	if failed && x.acting == nil {
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
var errBegunElsewhere = fail(CodeInvalidCheck,
	errors.New("the sign-in began in another browser, or the cookie of the form token was replaced meanwhile"))

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

// useVerification takes the link out of the store, under the hash that the
// current secrets give or one that earlier ones gave.
func (x *exchange) useVerification(r *records, hashes tokenhash.Hasher, identifier, token string) (*Verification, error) {
	return x.takeVerification(x.ctx, r, hashes, identifier, token)
}

func (*exchange) takeVerification(ctx context.Context, r *records, hashes tokenhash.Hasher, identifier, token string) (*Verification, error) {
	for _, hash := range hashes.Candidates(token) {
		if v, err := r.useVerification(ctx, identifier, hash); v != nil || err != nil {
			return v, err
		}
	}
	return nil, nil // no such link
}

// checkTicket refuses a ticket that is not good, before Callbacks.SignIn runs.
//
// The transaction of the decision uses the ticket up, so that a store or a process which fails
// does not cost the user the link. Here the ticket is taken, and put back by a rollback: no
// method of a store reads it. Without transactions it is used up at once.
func (x *exchange) checkTicket(t *ticket) error {
	if !x.records.can.Transactions {
		row, err := x.useTicket(x.records, t)
		t.used = row
		return err
	}
	if x.Callbacks.SignIn == nil {
		return nil // the decision is next
	}
	var refused error
	good := errors.New("the row stays")
	err := x.records.inTx(x.ctx, func(r *records) error {
		_, refused = x.useTicket(r, t)
		switch {
		case refused == nil:
			return good
		case errors.Is(refused, CodeStore):
			return refused // a store may try the transaction again
		}
		return nil // one that has expired is gone
	})
	switch {
	case refused != nil:
		return refused
	case errors.Is(err, good):
		return nil
	}
	return storeError("transaction", err)
}

// useTicket uses a ticket up and returns its row, or why it is not good.
func (x *exchange) useTicket(r *records, t *ticket) (*Verification, error) {
	row, err := x.useVerification(r, t.hashes, t.identifier, t.token)
	if err != nil {
		return nil, err
	}
	t.found = row != nil
	if err := t.refuse(row); err != nil {
		return nil, err
	}
	if !t.checked {
		t.checked = true
		x.debug(t.name + " accepted")
	}
	return row, nil
}

// settleTime is how long it may take to store a ticket again, or to use one up.
const settleTime = 5 * time.Second

// settleTicket is called with the outcome of a sign-in, and returns it. A sign-in that was refused
// has used its ticket up. One that failed because the operator has to repair something, or because
// the client left, leaves the user a link that works.
//
// It goes on if the client leaves: that must not keep a ticket that was refused. A page that a link
// leads to, such as the question whose the address is, is not shown if the link stays good.
func (x *exchange) settleTicket(t *ticket, outcome error) error {
	stays := outcome != nil && classified(outcome).level() >= slog.LevelError
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.ctx), settleTime)
	defer cancel()
	var err error
	switch {
	case stays && t.used != nil:
		if err = x.records.createVerification(ctx, t.used); err == nil {
			x.debug(t.name + " works again, because the sign-in failed")
		}
	case !stays && t.found && t.used == nil:
		_, err = x.takeVerification(ctx, x.records, t.hashes, t.identifier, t.token)
	}
	if err != nil && outcome == nil {
		return err
	}
	if err != nil {
		x.logStoreFailure(err)
	}
	return outcome
}

// challengeSalt is the salt of the value in the challenge cookie.
const challengeSalt = "encodedWebauthnChallenge"

// confirmationSalt is the salt of challenges that confirm a session. It differs from
// challengeSalt, so that such a challenge signs no user in, here or at Auth.js, and a
// challenge of a sign-in confirms no session.
const confirmationSalt = "pintle.passkeyConfirmation"

// secondFactorSalt is the salt of challenges that a sign-in waits for. A passkey that has
// answered one confirms no session and signs no user in by itself.
const secondFactorSalt = "pintle.passkeySecondFactor"

// keyProofSalt is the salt of challenges for what server code has named, such as the link of a
// mail. A passkey that has answered one confirms no session and signs no user in.
const keyProofSalt = "pintle.passkeyProof"

// signUpSalt is the salt of challenges for the passkey of a user whose address server code
// has proven. A challenge of any other ceremony makes no such user.
const signUpSalt = "pintle.passkeySignUp"

const (
	sessionMarkPurpose = "pintle session to confirm"
	pendingMarkPurpose = "pintle sign-in that waits for a passkey"
	namedMarkPurpose   = "pintle proof of a passkey"
)

// sessionMark names the session of a presence for what is to confirm it. A renewal does
// not change when a session began.
func (s *settings) sessionMark(here *presence) string {
	return sealed.Mark(s.jwtSecrets[0], sessionMarkPurpose, here.name())
}

// isMarked reports whether a mark is that of the session of a presence.
func (s *settings) isMarked(mark string, here *presence) bool {
	return here.user != nil && sealed.HasMark(mark, s.jwtSecrets, sessionMarkPurpose, here.name())
}

func (here *presence) name() string {
	return strconv.FormatInt(here.authentication.Started.Unix(), 10) + "\x00" + here.user.ID
}
