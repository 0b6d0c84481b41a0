package pintle

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pintleauth/pintle/internal/cookie"
	"github.com/pintleauth/pintle/internal/seal"
	"github.com/pintleauth/pintle/internal/uuid"
	"github.com/pintleauth/pintle/internal/wire"
)

// clockTolerance is how far the clocks of two servers that share a cookie may
// be apart.
const clockTolerance = 15 * time.Second

// A sealedCheck is what a check cookie holds. Auth.js reads and writes the same
// members; to it the jti is an arbitrary text.
type sealedCheck struct {
	Value    string `json:"value"`
	Provider string `json:"provider"`
	IssuedAt int64  `json:"iat"`
	Expires  int64  `json:"exp"`

	// ID is the same in every cookie of one flow: a UUID and, after a dot, who
	// was signed in when the flow began; see [settings.starter]. In a browser that
	// had proven an address, a dot and the mark of the proof follow; see
	// [exchange.proofMark]. The cookies of a flow that began at Auth.js have a UUID
	// each and no dot.
	ID string `json:"jti"`

	// CallbackURL is where the browser goes in the end, in the state cookie of a
	// flow whose response is posted from the provider's site: no other cookie
	// comes along that could tell. Auth.js ignores it.
	CallbackURL string `json:"callbackUrl,omitempty"`
}

// issued returns when the check was made, in Unix seconds.
func (c *sealedCheck) issued() int64 { return c.Expires - int64(checkMaxAge/time.Second) }

// marked reports whether the flow with this id began here and not at Auth.js.
func marked(id string) bool { return strings.Contains(id, ".") }

// A sealedCookie is a cookie whose content only this application can make.
type sealedCookie struct {
	namedCookie
	keys *seal.Keys
}

func (c *cookieSet) pkceCheck() sealedCookie      { return sealedCookie{c.pkce, c.pkceKeys} }
func (c *cookieSet) stateCheck() sealedCookie     { return sealedCookie{c.state, c.stateKeys} }
func (c *cookieSet) nonceCheck() sealedCookie     { return sealedCookie{c.nonce, c.nonceKeys} }
func (c *cookieSet) challengeCheck() sealedCookie { return sealedCookie{c.challenge, c.challengeKeys} }

// seal returns the Set-Cookie line that keeps a check until the browser is back.
func (c sealedCookie) seal(check sealedCheck, crossSite bool) (string, error) {
	now := time.Now()
	check.IssuedAt, check.Expires = now.Unix(), now.Add(checkMaxAge).Unix()
	text, err := wire.Marshal(check)
	if err != nil {
		return "", fmt.Errorf("seal check: %w", err)
	}
	attrs := c.lasting(checkMaxAge)
	if crossSite {
		// A provider that answers with a form posts it from its own site, and a
		// browser sends only cookies along that say None.
		attrs.SameSite, attrs.Secure = "None", true
	}
	return cookie.Line(c.name, string(c.keys.AppendSeal(nil, text)), attrs), nil
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
		return nil, fail(ErrInvalidCheck, fmt.Errorf("the cookie %s is missing: the sign-in began in another browser, more than 15 minutes ago, or under another host name", c.name))
	}
	text, err := c.keys.Open(nil, value)
	if err != nil {
		x.noteForeign(x.ctx, c.name, value)
		return nil, fail(ErrInvalidCheck, fmt.Errorf("the cookie %s cannot be opened: it was not made with a current secret: %s", c.name, fixSecrets))
	}
	var check sealedCheck
	if err := json.Unmarshal(text, &check); err != nil {
		return nil, fail(ErrInvalidCheck, fmt.Errorf("the cookie %s holds no check", c.name))
	}
	switch {
	case check.Expires <= time.Now().Add(-clockTolerance).Unix():
		return nil, &Error{Code: ErrInvalidCheck, Detail: flowExpired, Err: fmt.Errorf("the cookie %s has expired: the sign-in took more than 15 minutes", c.name)}
	case check.Expires > time.Now().Add(checkMaxAge+clockTolerance).Unix():
		// It would be good for longer than usedOnce remembers it.
		return nil, fail(ErrInvalidCheck, fmt.Errorf("the cookie %s expires later than any check: the clocks of the servers differ", c.name))
	case check.Value == "":
		return nil, fail(ErrInvalidCheck, fmt.Errorf("the cookie %s is empty", c.name))
	case check.Provider != provider:
		// A response of one provider must not complete the flow of another.
		return nil, &Error{Code: ErrInvalidCheck, Detail: flowReplaced, Err: fmt.Errorf("the cookie %s belongs to a sign-in with another provider, which began later in this browser, mostly in another tab", c.name)}
	}
	return &check, nil
}

// starter says in a check cookie who was signed in when the flow began: a dot
// alone for nobody, or a dot and a keyed hash of the user's id. An account is
// linked only if that user is signed in when the browser comes back: otherwise an
// attacker who can plant a session cookie could collect the accounts of others.
func (s *settings) starter(user *User) string {
	if user == nil {
		return "."
	}
	return "." + flowMark(s.jwtSecrets[0], "pintle sign-in starter", user.ID)
}

// flowMark is a keyed hash for the id of a flow. It contains no dot.
func flowMark(secret, purpose, value string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(purpose + "\x00" + value))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

// startedBy reports whether the flow with this id was begun by user, who may be
// nil for nobody. A flow begun at Auth.js, whose id does not say, counts as begun
// by the user who is signed in. Without a check cookie there is no id, and no
// proof that any flow began: nothing is linked.
func (s *settings) startedBy(id string, user *User) bool {
	if !marked(id) {
		return id != ""
	}
	_, mark, _ := strings.Cut(id, ".")
	mark, _, _ = strings.Cut(mark, ".")
	for _, secret := range s.jwtSecrets {
		with := &settings{jwtSecrets: []string{secret}}
		if hmac.Equal([]byte("."+mark), []byte(with.starter(user))) {
			return true
		}
	}
	return false
}

// stateSalt is the salt of the state parameter itself, which the redirect proxy
// has to read without a cookie.
const stateSalt = "encodedState"

// A sealedState is the content of the state parameter.
type sealedState struct {
	// Origin is the callback URL of the deployment a redirect proxy is to send
	// the browser on to.
	Origin   string `json:"origin,omitempty"`
	Random   string `json:"random"`
	IssuedAt int64  `json:"iat"`
	Expires  int64  `json:"exp"`
	ID       string `json:"jti"`
}

func (s *settings) sealState(origin string) (string, error) {
	keys, err := seal.New(s.jwtSecrets, stateSalt)
	if err != nil {
		return "", err
	}
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails
	now := time.Now()
	text, err := wire.Marshal(sealedState{
		Origin: origin, Random: base64.RawURLEncoding.EncodeToString(random),
		IssuedAt: now.Unix(), Expires: now.Add(checkMaxAge).Unix(), ID: uuid.New(),
	})
	if err != nil {
		return "", err
	}
	return string(keys.AppendSeal(nil, text)), nil
}

// readState opens a state, of whatever age.
func (s *settings) readState(state string) (*sealedState, error) {
	keys, err := seal.New(s.jwtSecrets, stateSalt)
	if err != nil {
		return nil, err
	}
	text, err := keys.Open(nil, state)
	if err != nil {
		return nil, fail(ErrInvalidCheck, errors.New("the state cannot be opened: both ends of a redirect proxy need the same secret"))
	}
	var content sealedState
	if err := json.Unmarshal(text, &content); err != nil {
		return nil, fail(ErrInvalidCheck, errors.New("the state holds nothing to read"))
	}
	return &content, nil
}

func (s *settings) openState(state string) (*sealedState, error) {
	content, err := s.readState(state)
	if err == nil && content.expired() {
		return nil, &Error{Code: ErrInvalidCheck, Detail: flowExpired, Err: errors.New("the state has expired: the sign-in took more than 15 minutes")}
	}
	return content, err
}
