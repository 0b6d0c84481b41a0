package pintle

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/pintleauth/pintle/internal/address"
	"github.com/pintleauth/pintle/internal/clip"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/internal/sealed"
	"github.com/pintleauth/pintle/internal/userhandle"
	"github.com/pintleauth/pintle/internal/uuid"
)

// A passkeyFlow is a sign-in, or the registration of a passkey, by a ceremony of
// WebAuthn. It begins at the options route.
type passkeyFlow struct {
	providerBase
	passkey *WebAuthn
}

func newPasskeyFlow(own WebAuthn) (*provider, *Error) {
	f := &passkeyFlow{own.base(), &own}
	return &provider{f.providerBase, f, facts{
		admits: admitsPasskey, linking: (*exchange).isSignedIn, autofill: !own.DisableAutofill, notLinked: codePasskeyNotLinked,
		removed: &Error{Code: codeWebAuthn, Provider: f.id, Err: errors.New("the passkey or its user was removed during the sign-in")},
		options: f.options, beginProof: f.beginProof, finishProof: f.finishProof, beginSignUp: f.beginSignUp,
		finishSignUp: f.finishSignUp, check: f.check, announce: f.announce, decides: []string{"challenges of passkeys"},
	}}, own.checkAutofill()
}

// check checks what passkeys need around them.
func (f *passkeyFlow) check(s *settings) *Error {
	because := func(code Code, err error) *Error { return &Error{Code: code, Provider: f.id, Err: err} }
	switch {
	case !s.ExperimentalPasskeys:
		return because(codeExperimental, errors.New("passkeys may still change: set Config.ExperimentalPasskeys to use them all the same"))
	case s.records == nil:
		return because(codeMissingAdapter, errors.New("passkeys need Config.Store, to keep them in"))
	case f.passkey.Ceremony == nil:
		return because(CodeConfiguration, errors.New("WebAuthn.Ceremony is nil: make the provider with passkey.New"))
	}
	if err := s.records.missing("a passkey provider", featureAccounts, featurePasskeys); err != nil {
		return because(codeMissingAdapterMethods, err)
	}
	if checked, ok := f.passkey.Ceremony.(interface{ Check() error }); ok {
		if err := checked.Check(); err != nil {
			return because(CodeConfiguration, err)
		}
	}
	return nil
}

func (f *passkeyFlow) announce(ctx context.Context, s *settings) {
	s.log.LogAttrs(ctx, slog.LevelWarn, "pintle: passkeys are experimental: they may still change in incompatible ways",
		slog.String("code", "experimental-webauthn"), slog.String("provider", f.id))
}

// admitsPasskey reports whether the passkey of an account exists. Auth.js may leave
// an account behind whose passkey was never stored.
func admitsPasskey(ctx context.Context, r *records, account *Account) (bool, error) {
	key, err := r.authenticator(ctx, account.ProviderAccountID)
	return key != nil, err
}

// begin shows the form, whose script begins a ceremony.
func (f *passkeyFlow) begin(x *exchange) error { return x.toForm() }

func (f *passkeyFlow) describe(x *exchange, entry page.Provider) page.Provider {
	entry.Action, entry.OptionsURL = x.formAction("/callback/"+f.id), x.base+"/webauthn-options/"+f.id
	entry.Fields, entry.ConditionalUI = pageFields(f.passkey.fields()), !f.passkey.DisableAutofill
	entry.Borrows, entry.IgnoresAddress = f.passkey.Fields == nil, f.passkey.SignInOnly
	return entry
}

// A ceremony is what a browser does with an authenticator.
type ceremony string

const (
	ceremonyRegister     ceremony = "register"
	ceremonyAuthenticate ceremony = "authenticate"
)

// A requester is what is known of the client that asks for the options of a
// ceremony.
type requester int

const (
	requesterUnnamed  requester = iota // names no user
	requesterNew                       // names a user who does not exist
	requesterKnown                     // names a user who exists
	requesterSignedIn                  // is signed in
)

// chooseCeremony is the table of ceremonies. An anonymous client that names an
// existing user may authenticate but not register: it would add a passkey of its
// own to that user.
func chooseCeremony(asked ceremony, who requester) (ceremony, bool) {
	switch asked {
	case ceremonyAuthenticate:
		return asked, true
	case ceremonyRegister:
		return asked, who == requesterNew || who == requesterSignedIn
	}
	switch who {
	case requesterNew:
		return ceremonyRegister, true
	case requesterUnnamed, requesterKnown:
		return ceremonyAuthenticate, true
	}
	return "", false
}

// webAuthnOptions answers GET webauthn-options: the options of a ceremony, and
// a cookie that keeps the challenge in them.
func (x *exchange) webAuthnOptions() error {
	if x.provider == nil || x.provider.options == nil {
		return fail(codeInvalidProvider, errors.New("the options route was called without a passkey provider"))
	}
	return x.provider.options(x)
}

// options chooses a ceremony, and begins it.
func (f *passkeyFlow) options(x *exchange) error {
	wish, said := x.query.Last("action")
	asked := ceremony(wish)
	if said && asked != ceremonyRegister && asked != ceremonyAuthenticate {
		return x.refuseCeremony("Invalid action")
	}
	user, who, err := f.requester(x)
	if err != nil {
		return err
	}
	chosen, ok := chooseCeremony(asked, who)
	if !ok || chosen == ceremonyRegister && user.Email == "" {
		return x.refuseCeremony("Invalid request")
	}
	var signedIn *User
	if who == requesterSignedIn {
		signedIn = user
	}
	return f.beginCeremony(x, chosen, user, signedIn)
}

func (x *exchange) refuseCeremony(reason string) error {
	return x.json(http.StatusBadRequest, map[string]string{"error": reason})
}

// requester returns the user that a client is or names. A session that has expired,
// or a token that cannot be read, counts as signed out.
func (f *passkeyFlow) requester(x *exchange) (*User, requester, error) {
	current, _, err := x.signedIn()
	switch {
	case err != nil:
		return nil, 0, err
	case current != nil:
		return current, requesterSignedIn, nil
	// The credential ids of a named user would tell an anonymous client that
	// the address has an account.
	case f.passkey.SignInOnly:
		return nil, requesterUnnamed, nil
	}
	user, err := f.identify(x)
	switch {
	case err != nil || user == nil:
		return nil, requesterUnnamed, err
	case user.ID == "":
		return user, requesterNew, nil
	}
	return user, requesterKnown, nil
}

// identify returns the user that was typed, or nil.
func (f *passkeyFlow) identify(x *exchange) (*User, error) {
	if f.passkey.Identify != nil {
		user, err := f.passkey.Identify(x.r)
		if err != nil {
			return nil, fail(CodeConfiguration, fmt.Errorf("WebAuthn.Identify: %w", err))
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

func (f *passkeyFlow) beginCeremony(x *exchange, chosen ceremony, user, signedIn *User) error {
	request := &CeremonyRequest{Origin: x.origin, Challenge: newChallenge()}
	if user != nil && user.ID != "" {
		var err error
		if request.Passkeys, err = x.records.userAuthenticators(x.ctx, user.ID); err != nil {
			return err
		}
	}
	challenge := sealedChallenge{Challenge: request.Challenge}
	makeOptions := f.passkey.Ceremony.AuthenticationOptions
	if chosen == ceremonyRegister {
		request.User, request.UserHandle = user, x.userHandle(user)
		challenge.User = registrant(user)
		makeOptions = f.passkey.Ceremony.RegistrationOptions
	}
	options, err := makeOptions(x.ctx, request)
	if err != nil {
		return fail(CodeConfiguration, fmt.Errorf("options of a passkey ceremony: %w", err))
	}
	if err := f.keepChallenge(x, x.challenges, challenge, signedIn); err != nil {
		return err
	}
	x.debug("passkey ceremony begun", "ceremony", string(chosen))
	return x.json(http.StatusOK, ceremonyOptions{chosen, options})
}

// newChallenge returns 256 random bits in base64url. The standard recommends at least 16
// bytes.
//
// https://www.w3.org/TR/webauthn-3/#sctn-cryptographic-challenges
func newChallenge() string {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails
	return base64.RawURLEncoding.EncodeToString(random)
}

// userHandle returns the handle of a passkey that is made for a user, who may not be
// stored yet.
func (s *settings) userHandle(user *User) string {
	if user.ID == "" {
		return userhandle.Random()
	}
	return userhandle.Of(s.jwtSecrets[0], user.ID)
}

// registrant returns what has to be kept of a user until the passkey is made. Of a
// stored user that is the id, the name and the address: a cookie has no room for all
// columns.
func registrant(user *User) *User {
	if user.ID == "" {
		return user
	}
	return &User{ID: user.ID, Name: user.Name, Email: user.Email}
}

// A sealedChallenge is that value.
type sealedChallenge struct {
	Challenge string `json:"challenge"`

	// User is for whom a credential is created: a stored user, or one without
	// an id who will be. It is nil when one is used.
	User *User `json:"registerData,omitempty"`

	// Mark is that of a [keyProof], and Verified reports that the authenticator has to
	// verify its user for it.
	Mark     string `json:"session,omitempty"`
	Verified bool   `json:"verified,omitempty"`

	sealed.Stamp

	// flow is the id in the cookie.
	flow string
}

// keepChallenge sets the cookie that a challenge comes back in. The id in it is a
// [flowID], as in the cookies of other flows: one without marks would pass for a
// challenge of Auth.js, which no browser is bound to.
func (f *passkeyFlow) keepChallenge(x *exchange, box *sealed.Box, challenge sealedChallenge, signedIn *User) error {
	value, err := box.Seal(&challenge)
	if err != nil {
		return fmt.Errorf("seal challenge: %w", err)
	}
	id := newFlowID(x.userMark(signedIn), x.proofMark(signedIn), x.browserMark())
	line, err := x.set.challengeCheck().seal(sealedCheck{Value: value, Provider: f.id, Stamp: sealed.Stamp{ID: id}}, false)
	if err != nil {
		return err
	}
	x.addCookie(line)
	return nil
}

// takeChallenge returns the challenge this browser was given, and uses it up. The box is
// that of the purpose.
func (f *passkeyFlow) takeChallenge(x *exchange, box *sealed.Box) (*sealedChallenge, error) {
	cookie := x.set.challengeCheck()
	kept, err := cookie.open(x, f.id)
	if err != nil {
		return nil, err
	}
	var challenge sealedChallenge
	err = box.Open(kept.Value, &challenge)
	if err == nil && challenge.Challenge == "" {
		err = sealed.ErrContent
	}
	if err != nil {
		return nil, fail(CodeInvalidCheck, fmt.Errorf("the challenge in the cookie %s %w", cookie.name, err))
	}
	// An attacker on a sibling domain can plant the cookie of the attacker's
	// ceremony, and post its answer from this browser.
	if !x.begunHere(kept.ID) {
		return nil, errBegunElsewhere
	}
	// A copy of the cookie and the answer would sign in once more.
	first, err := x.spend(x.spent.challenges, challenge.Challenge, challenge.IssuedAt)
	switch {
	case err != nil:
		return nil, err
	case !first:
		return nil, fail(CodeInvalidCheck, errors.New("the challenge was answered before: the answer and the cookie may have been copied"))
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

// finish verifies the answer of an authenticator.
func (f *passkeyFlow) finish(x *exchange) (*arrival, error) {
	if err := x.requirePost(); err != nil {
		return nil, err
	}
	who, err := f.verifyCeremony(x)
	if err != nil && !isClassified(err) {
		err = &Error{Code: codeWebAuthn, Provider: f.id, Err: err}
	}
	return who, err
}

// verifyCeremony fails with unclassified errors where the answer is at fault.
func (f *passkeyFlow) verifyCeremony(x *exchange) (*arrival, error) {
	action, _, _ := x.body.String("action")
	answer, err := x.ceremonyAnswer()
	if err != nil {
		return nil, err
	}
	challenge, err := f.takeChallenge(x, x.challenges)
	if err != nil {
		return nil, err
	}
	// The user comes from the sealed cookie and never from the form, which an
	// attacker can fill in with another user.
	request := &CeremonyRequest{Origin: x.origin, Challenge: challenge.Challenge, User: challenge.User, Answer: answer.text}
	switch {
	case ceremony(action) == ceremonyRegister && challenge.User != nil:
		return f.registered(x, request, answer)
	case ceremony(action) == ceremonyAuthenticate && challenge.User == nil:
		who, err := f.authenticated(x, request, answer, nil)
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
	case !isText:
		return nil, errors.New("the field data is no text")
	}
	return readCeremonyAnswer(text)
}

func readCeremonyAnswer(text string) (*ceremonyAnswer, error) {
	// The answer is parsed before the client has proven anything.
	if len(text) > maxCeremonyAnswer {
		return nil, fmt.Errorf("the answer has more than %d bytes", maxCeremonyAnswer)
	}
	var read struct {
		ID       string `json:"id"`
		Response struct {
			UserHandle string `json:"userHandle"`
		} `json:"response"`
	}
	if err := json.Unmarshal([]byte(text), &read); err != nil {
		return nil, errors.New("the answer is no JSON of a credential")
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

// authenticated is a user whose passkey has signed: owner, or any if that is nil.
func (f *passkeyFlow) authenticated(x *exchange, request *CeremonyRequest, answer *ceremonyAnswer, owner *User) (*arrival, error) {
	stored, err := x.records.authenticator(x.ctx, answer.credentialID)
	if err != nil {
		return nil, err
	}
	if stored == nil {
		return nil, errors.New("the credential is not a passkey of any user: it may have been removed here")
	}
	if owner != nil && stored.UserID != owner.ID {
		return nil, errors.New("the passkey is of another user than the one who is known")
	}
	request.Passkeys = []*Passkey{stored}
	used, err := f.passkey.Ceremony.VerifyAuthentication(x.ctx, request)
	if err != nil {
		return nil, err
	}
	if request.RequireUserVerification && !used.UserVerified {
		return nil, errNotVerified
	}
	if err := x.use(stored, used); err != nil {
		return nil, err
	}
	account, user, err := f.owner(x, stored)
	if err != nil {
		return nil, err
	}
	// The user handle must name the owner of the passkey, if it is sent:
	// https://www.w3.org/TR/webauthn-3/#sctn-verifying-assertion
	if userhandle.Contradicts(answer.userHandle, x.jwtSecrets, user.ID) {
		return nil, fmt.Errorf("the authenticator says that the passkey is of another user than %s", user.ID)
	}
	x.debug("passkey verified")
	signed := *stored
	signed.UserVerified = used.UserVerified
	return &arrival{
		by: byAccount, user: user, stored: true, account: account, namesOwner: true, signed: &signed, authentication: signed.authentication(),
	}, nil
}

var errNotVerified = errors.New("the authenticator did not verify its user, by a PIN or a biometric")

// proofOfSession is the proof that confirms the session of a presence.
func (x *exchange) proofOfSession(here *presence) *keyProof {
	return &keyProof{here.user, here.user, x.confirmations, sessionMarkPurpose, here.name()}
}

// proofOfPending is the proof that a sign-in waits for. The sign-in is completed once, so an
// answer that was verified is of no use to another one.
func (x *exchange) proofOfPending(p *PendingSignIn) *keyProof {
	return &keyProof{p.User, nil, x.secondFactors, pendingMarkPurpose, p.ID + "\x00" + p.User.ID}
}

// proofOf is the proof of a user for what server code names.
func (x *exchange) proofOf(user *User, of string) *keyProof {
	return &keyProof{user, nil, x.keyProofs, namedMarkPurpose, of + "\x00" + user.ID}
}

// beginProof begins a ceremony. The challenge is for this proof, and for no sign-in.
func (f *passkeyFlow) beginProof(x *exchange, of *keyProof, verified bool) (json.RawMessage, error) {
	known, err := x.records.userAuthenticators(x.ctx, of.user.ID)
	if err != nil {
		return nil, err
	}
	if len(known) == 0 {
		// Without a list the authenticator would offer the passkeys of other users.
		return nil, &Error{Code: codeWebAuthn, Provider: f.id, Err: errors.New("the user has no passkey")}
	}
	request := &CeremonyRequest{Origin: x.origin, Challenge: newChallenge(), Passkeys: known, RequireUserVerification: verified}
	options, err := f.passkey.Ceremony.AuthenticationOptions(x.ctx, request)
	if err != nil {
		return nil, fail(CodeConfiguration, fmt.Errorf("options of a passkey ceremony: %w", err))
	}
	challenge := sealedChallenge{
		Challenge: request.Challenge, Mark: sealed.Mark(x.jwtSecrets[0], of.purpose, of.mark), Verified: verified,
	}
	if err := f.keepChallenge(x, of.box, challenge, of.signedIn); err != nil {
		return nil, err
	}
	x.debug("passkey ceremony begun", "ceremony", "confirm")
	return options, nil
}

// finishProof verifies the answer, and returns the passkey that has signed.
func (f *passkeyFlow) finishProof(x *exchange, of *keyProof, text []byte) (*Passkey, error) {
	answer, err := readCeremonyAnswer(string(text))
	if err != nil {
		return nil, err
	}
	challenge, err := f.takeChallenge(x, of.box)
	if err != nil {
		return nil, err
	}
	if !sealed.HasMark(challenge.Mark, x.jwtSecrets, of.purpose, of.mark) {
		return nil, fail(CodeInvalidCheck, errors.New("the challenge was made for another session or sign-in than the one in the browser"))
	}
	request := &CeremonyRequest{
		Origin: x.origin, Challenge: challenge.Challenge, Answer: answer.text, RequireUserVerification: challenge.Verified,
	}
	who, err := f.authenticated(x, request, answer, of.user)
	if err != nil {
		return nil, err
	}
	return who.signed, nil
}

// beginSignUp begins a ceremony for the passkey of a user who does not exist. The challenge
// is for this user, and for no other ceremony.
func (f *passkeyFlow) beginSignUp(x *exchange, u *User) (json.RawMessage, error) {
	// A store may choose another id for the user. The handle must not contradict that one.
	request := &CeremonyRequest{
		Origin: x.origin, Challenge: newChallenge(), User: u, UserHandle: userhandle.Random(), RequireUserVerification: true,
	}
	options, err := f.passkey.Ceremony.RegistrationOptions(x.ctx, request)
	if err != nil {
		return nil, fail(CodeConfiguration, fmt.Errorf("options of a passkey ceremony: %w", err))
	}
	challenge := sealedChallenge{Challenge: request.Challenge, User: registrant(u), Verified: true}
	if err := f.keepChallenge(x, x.signUps, challenge, nil); err != nil {
		return nil, err
	}
	x.debug("passkey ceremony begun", "ceremony", "sign up")
	return options, nil
}

// finishSignUp verifies the answer. The user who arrives is u.
func (f *passkeyFlow) finishSignUp(x *exchange, u *User, text []byte) (*arrival, error) {
	answer, err := readCeremonyAnswer(string(text))
	if err != nil {
		return nil, err
	}
	challenge, err := f.takeChallenge(x, x.signUps)
	if err != nil {
		return nil, err
	}
	if made := challenge.User; made == nil || made.ID != u.ID || made.Email != u.Email {
		return nil, fail(CodeInvalidCheck, errors.New("the challenge was made for another user than the one who signs up"))
	}
	request := &CeremonyRequest{
		Origin: x.origin, Challenge: challenge.Challenge, User: u, Answer: answer.text, RequireUserVerification: true,
	}
	who, err := f.registered(x, request, answer)
	if err != nil {
		return nil, err
	}
	// The passkey is of a new user, whichever user is signed in.
	who.registrant = ""
	who.linkTo = func(*User) bool { return false }
	return who, nil
}

// authentication is how the user of a passkey has just proven who they are.
func (p *Passkey) authentication() Authentication {
	// Every ceremony requires that the user was present. A key and a PIN or a
	// biometric are two factors.
	methods := []string{methodKey, methodPresence}
	if p.UserVerified {
		methods = append(methods, methodMultiple)
	}
	return Authentication{Methods: methods}
}

// use records that a passkey has signed, and moves its counter on. One that
// does not grow was reached before, by this authenticator or a copy of it.
//
// https://www.w3.org/TR/webauthn-3/#sctn-sign-counter
func (x *exchange) use(stored, reported *Passkey) error {
	if reported.Counter <= stored.Counter && (reported.Counter > 0 || stored.Counter > 0) {
		emit(x.ctx, x.settings, "clonedPasskey", x.Events.ClonedPasskey, stored)
		return fmt.Errorf("the counter of the passkey went from %d to %d: it may have been copied", stored.Counter, reported.Counter)
	}
	used := *stored
	used.Counter, used.BackedUp, used.LastUsed = reported.Counter, reported.BackedUp, time.Now().UTC().Truncate(time.Millisecond)
	err := x.records.useAuthenticator(x.ctx, &used, stored.Counter)
	switch {
	// The store compares and sets the counter in one step. Of two answers of an
	// authenticator that counts, one of which may be a copy's, one fails.
	case errors.Is(err, ErrConflict), errors.Is(err, ErrNotFound):
		return errors.New("the passkey was used in another request, or removed, at the same moment")
	case err != nil:
		return err
	}
	return nil
}

// owner returns the account and the user of a passkey. All three have to name the
// same user.
func (f *passkeyFlow) owner(x *exchange, stored *Passkey) (*Account, *User, error) {
	account, err := found(x.records.account(x.ctx, f.id, stored.ProviderAccountID))
	if err != nil {
		return nil, nil, err
	}
	if account == nil || account.UserID != stored.UserID {
		return nil, nil, fmt.Errorf("there is no account of the provider %q that goes with the passkey: it was "+
			"unlinked, or belongs to another provider", f.id)
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

// registered is a user who has created a passkey.
func (f *passkeyFlow) registered(x *exchange, request *CeremonyRequest, answer *ceremonyAnswer) (*arrival, error) {
	created, err := f.passkey.Ceremony.VerifyRegistration(x.ctx, request)
	if err != nil {
		return nil, err
	}
	// The id that is stored must be the one that was verified.
	if created.CredentialID != answer.credentialID {
		return nil, errors.New("the credential that was verified is not the one that was sent")
	}
	if request.RequireUserVerification && !created.UserVerified {
		return nil, errNotVerified
	}
	x.debug("new passkey verified")
	proof := created.authentication()
	created.UserVerified = false // it is of this ceremony, not of the passkey
	created.ProviderAccountID, created.Created = created.CredentialID, time.Now().UTC().Truncate(time.Millisecond)
	user := request.User.clone()
	if user.ID == "" {
		user.ID = uuid.New()
	}
	return &arrival{
		by: byAccount, user: user, newPasskey: created, registrant: request.User.ID, namesOwner: true,
		account:        &Account{Type: TypeWebAuthn, Provider: f.id, ProviderAccountID: created.CredentialID},
		authentication: proof,
		linkTo:         func(signedIn *User) bool { return signedIn.ID == request.User.ID },
	}, nil
}
