package pintle

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/pintleauth/pintle/internal/address"
	"github.com/pintleauth/pintle/internal/sealed"
	"github.com/pintleauth/pintle/internal/userhandle"
	"github.com/pintleauth/pintle/internal/uuid"
)

// A ceremony is what a browser does with an authenticator.
type ceremony string

const (
	ceremonyRegister     ceremony = "register"
	ceremonyAuthenticate ceremony = "authenticate"
)

// A visitor is what is known of whoever asks for the options of a ceremony.
type visitor int

const (
	visitorUnnamed  visitor = iota // said nothing
	visitorNew                     // said who they are; there is no such user
	visitorKnown                   // said they are somebody who exists
	visitorSignedIn                // is signed in
)

// chooseCeremony is the table of what is done for whom. A stranger who says
// that they are somebody may show it and not register another passkey.
func chooseCeremony(asked ceremony, who visitor) (ceremony, bool) {
	switch asked {
	case ceremonyAuthenticate:
		return asked, true
	case ceremonyRegister:
		return asked, who == visitorNew || who == visitorSignedIn
	}
	switch who {
	case visitorNew:
		return ceremonyRegister, true
	case visitorUnnamed, visitorKnown:
		return ceremonyAuthenticate, true
	}
	return "", false
}

// webAuthnOptions answers GET webauthn-options: the options of a ceremony, and
// a cookie that keeps the challenge in them.
func (x *exchange) webAuthnOptions() error {
	p := x.provider
	if p == nil || p.passkey == nil {
		return fail(codeInvalidProvider, errors.New("the options route was called without a passkey provider"))
	}
	wish, said := x.query.Last("action")
	asked := ceremony(wish)
	if said && asked != ceremonyRegister && asked != ceremonyAuthenticate {
		return x.refuseCeremony("Invalid action")
	}
	user, who, err := x.visitor(p)
	if err != nil {
		return err
	}
	chosen, ok := chooseCeremony(asked, who)
	if !ok || chosen == ceremonyRegister && user.Email == "" {
		return x.refuseCeremony("Invalid request")
	}
	var signedIn *User
	if who == visitorSignedIn {
		signedIn = user
	}
	return x.beginCeremony(p, chosen, user, signedIn)
}

func (x *exchange) refuseCeremony(reason string) error {
	return x.json(http.StatusBadRequest, map[string]string{"error": reason})
}

// visitor finds out who asks. A session that has expired, or a token that
// cannot be read, is nobody's.
func (x *exchange) visitor(p *provider) (*User, visitor, error) {
	current, _, err := x.signedIn()
	switch {
	case err != nil:
		return nil, 0, err
	case current != nil:
		return current, visitorSignedIn, nil
	case p.passkey.SignInOnly:
		return nil, visitorUnnamed, nil
	}
	user, err := x.identify(p)
	switch {
	case err != nil || user == nil:
		return nil, visitorUnnamed, err
	case user.ID == "":
		return user, visitorNew, nil
	}
	return user, visitorKnown, nil
}

// identify finds who is meant by what was typed.
func (x *exchange) identify(p *provider) (*User, error) {
	if p.passkey.Identify != nil {
		user, err := p.passkey.Identify(x.r)
		if err != nil {
			return nil, fail(ErrConfiguration, fmt.Errorf("Passkey.Identify: %w", err))
		}
		return user, nil
	}
	typed, _ := x.query.Last("email")
	email, err := address.Normalize(typed)
	if err != nil {
		return nil, nil //nolint:nilerr // an invalid address names no user
	}
	user, err := x.records.userByEmail(x.ctx, email)
	if user == nil && err == nil {
		user = &User{Email: email}
	}
	return user, err
}

// ceremonyOptions is the answer of the options route.
type ceremonyOptions struct {
	Action  ceremony        `json:"action"`
	Options json.RawMessage `json:"options"`
}

func (x *exchange) beginCeremony(p *provider, chosen ceremony, user, signedIn *User) error {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails
	request := &CeremonyRequest{Origin: x.origin, Challenge: base64.RawURLEncoding.EncodeToString(random)}
	if user != nil && user.ID != "" {
		var err error
		if request.Authenticators, err = x.records.userAuthenticators(x.ctx, user.ID); err != nil {
			return err
		}
	}
	challenge := sealedChallenge{Challenge: request.Challenge}
	makeOptions := p.passkey.Ceremony.AuthenticationOptions
	if chosen == ceremonyRegister {
		request.User, request.UserHandle = user, x.userHandle(user)
		challenge.User = registrant(user)
		makeOptions = p.passkey.Ceremony.RegistrationOptions
	}
	options, err := makeOptions(x.ctx, request)
	if err != nil {
		return fail(ErrConfiguration, fmt.Errorf("options of a passkey ceremony: %w", err))
	}
	if err := x.keepChallenge(p, challenge, signedIn); err != nil {
		return err
	}
	x.debug("passkey ceremony begun", "ceremony", string(chosen))
	return x.json(http.StatusOK, ceremonyOptions{chosen, options})
}

// userHandle returns the handle of a passkey that is made for a user, who may not be
// stored yet.
func (s *settings) userHandle(user *User) string {
	if user.ID == "" {
		return userhandle.Random()
	}
	return userhandle.Of(s.jwtSecrets[0], user.ID)
}

// registrant is what has to be kept of somebody until their passkey is made. Of
// a stored user that is who they are; a cookie has no room for all their
// columns.
func registrant(user *User) *User {
	if user.ID == "" {
		return user
	}
	return &User{ID: user.ID, Name: user.Name, Email: user.Email}
}

// challengeSalt is the salt of the value in the challenge cookie.
const challengeSalt = "encodedWebauthnChallenge"

// A sealedChallenge is that value.
type sealedChallenge struct {
	Challenge string `json:"challenge"`

	// User is for whom a credential is created: a stored user, or one without
	// an id who will be. It is nil when one is used.
	User *User `json:"registerData,omitempty"`

	sealed.Stamp

	// flow is the id in the cookie.
	flow string
}

// keepChallenge sets the cookie that a challenge comes back in. The id in it is a
// [flowID] only where one of its last two marks is needed.
func (x *exchange) keepChallenge(p *provider, challenge sealedChallenge, signedIn *User) error {
	value, err := x.challenges.Seal(&challenge)
	if err != nil {
		return fmt.Errorf("seal challenge: %w", err)
	}
	id := uuid.New()
	if proof, browser := x.proofMark(signedIn), x.browserMark(); proof != "" || browser != "" {
		id = newFlowID(x.starter(signedIn), proof, browser)
	}
	line, err := x.set.challengeCheck().seal(sealedCheck{Value: value, Provider: p.id, Stamp: sealed.Stamp{ID: id}}, false)
	if err != nil {
		return err
	}
	x.addCookie(line)
	return nil
}

// takeChallenge returns the challenge this browser was given, and uses it up.
func (x *exchange) takeChallenge(p *provider) (*sealedChallenge, error) {
	cookie := x.set.challengeCheck()
	kept, err := cookie.open(x, p.id)
	if err != nil {
		return nil, err
	}
	var challenge sealedChallenge
	err = x.challenges.Open(kept.Value, &challenge)
	if err == nil && challenge.Challenge == "" {
		err = sealed.ErrContent
	}
	if err != nil {
		return nil, fail(ErrInvalidCheck, fmt.Errorf("the challenge in the cookie %s %w", cookie.name, err))
	}
	if !x.begunHere(kept.ID) {
		return nil, errBegunElsewhere
	}
	if !x.spent.challenges.Use(challenge.Challenge, challenge.IssuedAt) {
		return nil, fail(ErrInvalidCheck, errors.New("the challenge was answered before: somebody may have copied the answer and the cookie"))
	}
	x.addCookie(cookie.clear())
	challenge.flow = kept.ID
	return &challenge, nil
}
