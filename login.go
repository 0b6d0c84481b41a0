package pintle

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// An arrival is somebody who has shown who they are and is about to be signed
// in.
type arrival struct {
	provider *provider

	// user is who they say they are. For an OAuth provider the id is the
	// provider's and not yet one of ours.
	user    *User
	account *Account
	profile Profile

	submission *Submission

	// passkey is the passkey they have just created, for the stored user with
	// the id registrant, or if that is empty for one who will be created.
	passkey    *Authenticator
	registrant string

	// linkTo reports whether the account may be linked to whoever is signed in.
	linkTo func(signedIn *User) bool
}

// A decision is who an arrival turned out to be.
type decision struct {
	user    *User
	account *Account

	// newUser is nil where there is no store to know it.
	newUser *bool

	// session is the session that goes on, or the one made for them. It is nil
	// for token sessions.
	session *StoredSession
}

// login signs somebody in: it asks the host, decides who this is, makes the
// session and sends the browser on.
func (x *exchange) login(who *arrival) error {
	stored, err := x.owner(who)
	if err != nil {
		return err
	}
	attempt := &SignInAttempt{User: stored, Account: who.account, Profile: who.profile, Submission: who.submission}
	if elsewhere, err := x.askSignIn(attempt); elsewhere || err != nil {
		return err
	}
	decided, err := x.decide(who)
	if err != nil {
		return err
	}
	return x.issue(who, decided)
}

// owner returns the user the signIn callback is asked about: the one who has
// the account, and otherwise the one who would be created.
func (x *exchange) owner(who *arrival) (*User, error) {
	switch {
	case who.provider.oauth != nil:
		who.user.ID = newID()
		who.user.Email = strings.ToLower(who.user.Email)
		if x.records != nil {
			owner, err := x.records.userByAccount(x.ctx, who.account)
			if owner != nil || err != nil {
				return owner, err
			}
		}
	case who.provider.credentials != nil:
		if who.user.ID == "" {
			who.user.ID = newID()
		}
		who.account.ProviderAccountID = who.user.ID
	case who.passkey != nil && who.user.ID == "":
		who.user.ID = newID()
	}
	return who.user, nil
}

// askSignIn asks the host whether somebody may sign in. It reports whether the
// browser was sent elsewhere instead.
func (x *exchange) askSignIn(attempt *SignInAttempt) (elsewhere bool, err error) {
	if x.Callbacks.SignIn == nil {
		return false, nil
	}
	goTo, err := x.Callbacks.SignIn(x.ctx, attempt)
	switch {
	case err != nil && isClassified(err):
		return false, err
	case err != nil:
		return false, &Error{Code: ErrAccessDenied, Provider: attempt.Account.Provider, Err: err}
	case goTo == "":
		return false, nil
	}
	target, _, err := x.redirectTarget(goTo)
	if err != nil {
		return false, err
	}
	return true, x.redirect(target)
}

// decide finds, creates or links the user. It is the only place that writes
// users and accounts.
func (x *exchange) decide(who *arrival) (*decision, error) {
	if who.provider.credentials != nil {
		return x.decideCredentials(who)
	}
	if x.records == nil {
		return &decision{user: who.user, account: who.account}, nil
	}
	current, session, err := x.signedIn()
	if err != nil {
		return nil, err
	}
	if who.linkTo != nil && current != nil && !who.linkTo(current) {
		current, session = nil, nil
	}
	decided, err := x.attempt(who, current, session)
	if errors.Is(err, ErrConflict) {
		// Somebody else's request, or the same person's in another tab, was
		// faster by a moment. What it wrote is there to be found now.
		decided, err = x.attempt(who, current, session)
	}
	if errors.Is(err, ErrConflict) {
		return nil, &Error{Code: ErrStore, Provider: who.provider.id, Err: fmt.Errorf("the store refuses as existing what it does not find: %w", err)}
	}
	return decided, err
}

// decideCredentials takes the host's word for who this is.
//
// With database sessions the session has to belong to a stored user. Auth.js
// writes a token there, which its session route then rejects; a session of the
// right kind is made here if the user exists, and otherwise nobody is signed in.
func (x *exchange) decideCredentials(who *arrival) (*decision, error) {
	newUser := false
	d := &decision{user: who.user, account: who.account, newUser: &newUser}
	if x.strategy != StrategyDatabase {
		return d, nil
	}
	user, err := x.records.user(x.ctx, who.user.ID)
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, &Error{Code: codeUnsupportedStrategy, Provider: who.provider.id, Err: fmt.Errorf("the Authorize function returned the user %q, which the store does not have: with database sessions it must return a stored user, or Config.Session.Strategy must be StrategyJWT", who.user.ID)}
	}
	d.user = user
	if held := x.heldToken(); held != "" {
		if _, err := x.records.deleteSession(x.ctx, held); err != nil {
			return nil, err
		}
	}
	d.session, err = x.newSession(x.ctx, x.records.sessions, user.ID)
	return d, err
}

// attempt decides once, in one transaction where the store has them.
func (x *exchange) attempt(who *arrival, current *User, session *StoredSession) (*decision, error) {
	var d *decision
	run := func(w *work) (err error) {
		if who.provider.email != nil {
			d, err = x.decideMail(w, who, current, session)
		} else if d, err = x.decideAccount(w, who, current, session); err == nil {
			err = w.register(who, d)
		}
		if err != nil {
			return err
		}
		return x.rotate(w, d)
	}
	err := x.inTransaction(run)
	return d, err
}

// rotate replaces the session this browser came with, where the host asks for
// that: who knew its token before the sign-in knows nothing after it. Auth.js
// lets the session go on, or leaves it beside the new one.
func (x *exchange) rotate(w *work, d *decision) error {
	held := x.heldToken()
	if !x.Session.RotateAtSignIn || d.session == nil || held == "" {
		return nil
	}
	if _, err := w.deleteSession(w.ctx, held); err != nil {
		return err
	}
	if d.session.Token != held {
		return nil
	}
	var err error
	d.session, err = x.newSession(w.ctx, w.sessions, d.user.ID)
	return err
}

// decideMail is the table for somebody who reads mail at an address.
func (x *exchange) decideMail(w *work, who *arrival, current *User, session *StoredSession) (*decision, error) {
	existing, err := w.userByEmail(w.ctx, who.user.Email)
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	newUser := existing == nil
	var user *User
	if newUser {
		who.user.EmailVerified = now
		user, err = w.createUser(who.user)
	} else {
		if err = x.endOther(w, current, existing, session); err == nil {
			user, err = w.verifyEmail(existing.ID, now)
		}
	}
	if err != nil {
		return nil, err
	}
	d := &decision{user: user, account: who.account, newUser: &newUser}
	d.session, err = x.sessionFor(w, user.ID)
	return d, err
}

// endOther ends the database session this browser holds when it is not one of
// the user who is now signing in.
func (x *exchange) endOther(w *work, current, existing *User, session *StoredSession) error {
	if x.strategy != StrategyDatabase || (current != nil && current.ID == existing.ID) {
		return nil
	}
	held := x.heldToken()
	if session != nil {
		held = session.Token
	}
	if held == "" {
		return nil
	}
	_, err := w.deleteSession(w.ctx, held)
	return err
}

// decideAccount is the table for somebody who has an account elsewhere.
func (x *exchange) decideAccount(w *work, who *arrival, current *User, session *StoredSession) (*decision, error) {
	owner, err := w.userByAccount(w.ctx, who.account)
	if err != nil {
		return nil, err
	}
	if err := who.mayRegister(owner, current); err != nil {
		return nil, err
	}
	known := false
	switch {
	case owner != nil && current != nil && owner.ID == current.ID:
		return &decision{user: current, account: who.account, newUser: &known, session: session}, nil

	case owner != nil && current != nil:
		return nil, who.notLinked("the account belongs to another user than the one signed in")

	case owner != nil:
		return x.decideOwner(w, who, owner)

	case current != nil:
		return &decision{user: current, account: who.account, newUser: &known, session: session}, w.link(who, current)
	}
	return x.decideStranger(w, who)
}

// decideOwner signs in whoever has the account.
func (x *exchange) decideOwner(w *work, who *arrival, owner *User) (*decision, error) {
	newUser := false
	session, err := x.sessionFor(w, owner.ID)
	return &decision{user: owner, account: who.account, newUser: &newUser, session: session}, err
}

// decideStranger is the part of the table for an account nobody has while
// nobody is signed in.
func (x *exchange) decideStranger(w *work, who *arrival) (*decision, error) {
	var user *User
	var err error
	if who.user.Email != "" {
		if user, err = w.userByEmail(w.ctx, who.user.Email); err != nil {
			return nil, err
		}
	}
	newUser := user == nil
	if newUser {
		if user, err = w.createUser(who.user); err != nil {
			return nil, err
		}
	} else if !who.provider.linksByEmail() {
		// The user may be the person's own, made a moment ago by their other
		// tab, which had the same account to show.
		if owner, err := w.userByAccount(w.ctx, who.account); owner != nil && err == nil {
			return x.decideOwner(w, who, owner)
		} else if err != nil {
			return nil, err
		}
		return nil, who.notLinked("a user with the address exists, and the provider is not trusted to have checked it: the person has to sign in as before and link the account from there")
	}
	if err := w.link(who, user); err != nil {
		return nil, w.undoUser(user, newUser, err)
	}
	d := &decision{user: user, account: who.account, newUser: &newUser}
	d.session, err = x.sessionFor(w, user.ID)
	return d, err
}

// mayRegister refuses a new passkey whose account is somebody else's, and one
// for a user who is not there any more.
//
// Credential ids are no secrets, and without an attestation anybody can claim
// one: to have created it must not sign anybody in as its owner.
func (who *arrival) mayRegister(owner, current *User) error {
	switch {
	case who.passkey == nil:
		return nil
	case who.registrant != "" && current == nil:
		return who.notLinked("the passkey was created for a user who is no longer the one signed in")
	case owner != nil && (current == nil || owner.ID != current.ID):
		return who.notLinked("the credential is registered for another user")
	}
	return nil
}

func (p *provider) linksByEmail() bool {
	return p.oauth != nil && p.oauth.AllowDangerousEmailAccountLinking
}

func (who *arrival) notLinked(reason string) error {
	code := ErrOAuthAccountNotLinked
	if who.provider.kind == TypeWebAuthn {
		code = ErrAccountNotLinked
	}
	return &Error{Code: code, Provider: who.provider.id, Err: errors.New(reason)}
}
