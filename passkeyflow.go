package pintle

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/pintleauth/pintle/internal/address"
	"github.com/pintleauth/pintle/internal/clip"
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

// maxCeremonyAnswer is more than an attestation with a chain of certificates
// takes.
const maxCeremonyAnswer = 64 << 10

// maxCredentialID is the most bytes of a credential id.
//
// https://www.w3.org/TR/webauthn-3/#credential-id
const maxCredentialID = 1023

// fromAuthenticator takes the answer of an authenticator back.
func (x *exchange) fromAuthenticator(p *provider) (*arrival, error) {
	who, err := x.verifyCeremony(p)
	if err != nil && !isClassified(err) {
		err = &Error{Code: ErrWebAuthn, Provider: p.id, Err: err}
	}
	return who, err
}

// verifyCeremony fails with unclassified errors where the answer is at fault.
func (x *exchange) verifyCeremony(p *provider) (*arrival, error) {
	action, _, _ := x.body.String("action")
	answer, err := x.ceremonyAnswer()
	if err != nil {
		return nil, err
	}
	challenge, err := x.takeChallenge(p)
	if err != nil {
		return nil, err
	}
	request := &CeremonyRequest{Origin: x.origin, Challenge: challenge.Challenge, User: challenge.User, Answer: answer.text}
	switch {
	case ceremony(action) == ceremonyRegister && challenge.User != nil:
		return x.registered(p, request, answer)
	case ceremony(action) == ceremonyAuthenticate && challenge.User == nil:
		who, err := x.authenticated(p, request, answer)
		if err == nil {
			who.flow = challenge.flow
		}
		return who, err
	}
	return nil, fmt.Errorf("the form asks for the action %s, for which the challenge was not made", clip.Quote(action))
}

// A ceremonyAnswer is what the browser made of the options, as far as it is read
// here.
type ceremonyAnswer struct {
	text         []byte
	credentialID string // in standard base64 with padding
	userHandle   string
}

func (x *exchange) ceremonyAnswer() (*ceremonyAnswer, error) {
	text, present, isText := x.body.String("data")
	switch {
	case !present:
		return nil, errors.New("the form has no field data: it was posted without the script of the sign-in page")
	case !isText || len(text) > maxCeremonyAnswer:
		return nil, fmt.Errorf("the field data is no text of at most %d bytes", maxCeremonyAnswer)
	}
	var read struct {
		ID       string `json:"id"`
		Response struct {
			UserHandle string `json:"userHandle"`
		} `json:"response"`
	}
	if err := json.Unmarshal([]byte(text), &read); err != nil {
		return nil, errors.New("the field data is no JSON of a credential")
	}
	id, err := credentialID(read.ID)
	if err != nil {
		return nil, err
	}
	return &ceremonyAnswer{[]byte(text), id, read.Response.UserHandle}, nil
}

// credentialID brings the id of a credential into the form it is stored in.
// Browsers write base64url; the other alphabet and padding are taken too.
func credentialID(sent string) (string, error) {
	alphabet := strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimRight(sent, "="))
	id, err := base64.RawURLEncoding.DecodeString(alphabet)
	if err != nil || len(id) == 0 || len(id) > maxCredentialID {
		return "", fmt.Errorf("the credential id is not base64url of 1 to %d bytes", maxCredentialID)
	}
	return base64.StdEncoding.EncodeToString(id), nil
}

// authenticated is somebody whose passkey has signed.
func (x *exchange) authenticated(p *provider, request *CeremonyRequest, answer *ceremonyAnswer) (*arrival, error) {
	stored, err := x.records.authenticator(x.ctx, answer.credentialID)
	if err != nil {
		return nil, err
	}
	if stored == nil {
		return nil, errors.New("the credential is not a passkey of anybody: it may have been removed here")
	}
	request.Authenticators = []*Authenticator{stored}
	used, err := p.passkey.Ceremony.VerifyAuthentication(x.ctx, request)
	if err != nil {
		return nil, err
	}
	if err := x.use(stored, used); err != nil {
		return nil, err
	}
	account, user, err := x.passkeyOwner(p, stored)
	if err != nil {
		return nil, err
	}
	if userhandle.Contradicts(answer.userHandle, x.jwtSecrets, user.ID) {
		return nil, fmt.Errorf("the authenticator says that the passkey is of somebody else than its user %s", user.ID)
	}
	x.debug("passkey verified")
	return &arrival{provider: p, user: user, account: account}, nil
}

// use records that a passkey has signed, and moves its counter on. One that
// does not grow was reached before, by this authenticator or a copy of it.
//
// https://www.w3.org/TR/webauthn-3/#sctn-sign-counter
func (x *exchange) use(stored, reported *Authenticator) error {
	if reported.Counter <= stored.Counter && (reported.Counter > 0 || stored.Counter > 0) {
		emit(x.ctx, x.settings, "clonedPasskey", x.Events.ClonedPasskey, stored)
		return fmt.Errorf("the counter of the passkey went from %d to %d: it may have been copied", stored.Counter, reported.Counter)
	}
	used := *stored
	used.Counter, used.BackedUp, used.LastUsed = reported.Counter, reported.BackedUp, time.Now().UTC().Truncate(time.Millisecond)
	err := x.records.useAuthenticator(x.ctx, &used, stored.Counter)
	switch {
	case errors.Is(err, ErrConflict), errors.Is(err, ErrNotFound):
		return errors.New("the passkey was used in another request, or removed, at the same moment")
	case err != nil:
		return err
	}
	return nil
}

// passkeyOwner returns the account and the user of a passkey, which have to
// agree on whose it is.
func (x *exchange) passkeyOwner(p *provider, stored *Authenticator) (*Account, *User, error) {
	account, err := found(x.records.account(x.ctx, p.id, stored.ProviderAccountID))
	if err != nil {
		return nil, nil, err
	}
	if account == nil || account.UserID != stored.UserID {
		return nil, nil, fmt.Errorf("there is no account of the provider %q that goes with the passkey: it was unlinked, or belongs to another provider", p.id)
	}
	user, err := x.records.user(x.ctx, account.UserID)
	if err != nil {
		return nil, nil, err
	}
	if user == nil {
		return nil, nil, errors.New("the user of the passkey does not exist")
	}
	return account, user, nil
}

// registered is somebody who has created a passkey.
func (x *exchange) registered(p *provider, request *CeremonyRequest, answer *ceremonyAnswer) (*arrival, error) {
	created, err := p.passkey.Ceremony.VerifyRegistration(x.ctx, request)
	if err != nil {
		return nil, err
	}
	if created.CredentialID != answer.credentialID {
		return nil, errors.New("the credential that was verified is not the one that was sent")
	}
	x.debug("new passkey verified")
	created.ProviderAccountID, created.Created = created.CredentialID, time.Now().UTC().Truncate(time.Millisecond)
	return &arrival{
		provider: p, user: request.User.clone(), passkey: created, registrant: request.User.ID,
		account: &Account{Type: TypeWebAuthn, Provider: p.id, ProviderAccountID: created.CredentialID},
		linkTo:  func(signedIn *User) bool { return signedIn.ID == request.User.ID },
	}, nil
}
