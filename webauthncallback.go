package pintle

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pintleauth/pintle/internal/clip"
	"github.com/pintleauth/pintle/internal/userhandle"
)

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
