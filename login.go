package pintle

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle/internal/uuid"
)

// login asks the host, decides which user the arrival is, makes the session and
// sends the browser on.
func (x *exchange) login(who *arrival) error {
	stored, err := x.owner(who)
	if err != nil {
		return err
	}
	if (who.owned || who.stored || who.by == byHost) && (who.ticket == nil || who.ticket.checked) {
		x.about = &signingIn{user: stored}
	}
	if x.initiated() {
		if asked, err := x.askBeforeReplacing(who, stored); asked || err != nil {
			return err
		}
	}
	here, err := x.presenceFor(who)
	if err != nil {
		return err
	}
	if x.Callbacks.SignIn != nil {
		attempt := &SignInAttempt{User: stored, Account: who.account, Profile: who.profile, Submission: who.submission, SDK: who.sdk}
		attempt.Connection, attempt.VerifiedDomain = who.connection()
		// The host can require a recent sign-in before an account is linked: an old
		// session may be in the hands of another person.
		if who.links() && here.user != nil {
			attempt.LinkTo, attempt.SignedInAt, attempt.Authentication = here.user, here.authentication.Time, here.authentication
		}
		if elsewhere, err := x.askSignIn(attempt); elsewhere || err != nil {
			return err
		}
	}
	who.proof = x.keptProof()
	decided, err := x.decide(who, here)
	if held, ok := errors.AsType[*heldAddress](err); ok {
		return x.askAboutAddress(who, here, held)
	}
	if err != nil {
		x.debug("decided", "decision", undecidedBy(err))
		return err
	}
	x.about = &signingIn{user: decided.user}
	x.debug("decided", "decision", decided.how)
	if decided.proven {
		x.debug("address of the user verified by two proofs")
	}
	if decided.proven || who.taking != "" {
		x.addCookie(x.set.addressProof.clear())
	}
	x.keepTokens(who, decided)
	if held, err := x.hold(who, decided); held || err != nil {
		return err
	}
	return x.issue(who, decided)
}

// keepTokens stores the tokens of a sign-in with an account that was stored before, for
// [OAuth.StoreTokensAtSignIn]. They belong to the account whether or not the sign-in is
// completed.
func (x *exchange) keepTokens(who *arrival, d *decision) {
	if !who.provider.storesTokens || who.by != byAccount || !d.returning || who.account.AccessToken == "" {
		return
	}
	account := who.account.clone()
	account.Scope = cmp.Or(account.Scope, who.provider.scope)
	if err := x.replaceTokens(x.ctx, account, true); err != nil {
		x.log.LogAttrs(x.ctx, slog.LevelError, "pintle: the tokens of a sign-in are not stored", slog.String("code", string(classified(err).Code)),
			slog.String("provider", who.provider.id), slog.Any("error", err))
	}
}

// presenceFor returns the signed-in user that the arrival's account may be
// linked to, or an empty presence.
func (x *exchange) presenceFor(who *arrival) (*presence, error) {
	if x.records == nil || who.by == byHost {
		return &presence{}, nil
	}
	here, err := x.sessions.present(x)
	if err != nil {
		return nil, err
	}
	// The session may have been planted after the flow began: an attacker would
	// receive the account of the person at the browser.
	if here.user != nil && who.linkTo != nil && !who.linkTo(here.user) {
		return &presence{}, nil
	}
	return here, nil
}

// links reports whether the arrival's account or passkey would be linked to a
// signed-in user: it has no owner, as far as [exchange.owner] found.
func (who *arrival) links() bool {
	return who.newPasskey != nil || who.hasProfile() && !who.owned
}

// owner returns the user for the signIn callback: the owner of the account, or
// the user who would be created.
func (x *exchange) owner(who *arrival) (*User, error) {
	if x.records == nil || !who.hasProfile() {
		return who.user, nil
	}
	owner, err := x.records.userByAccount(x.ctx, who.account)
	if owner != nil || err != nil {
		who.owned = owner != nil
		return owner, err
	}
	return who.user, nil
}

// askSignIn calls the host's SignIn callback. It reports whether the browser
// was sent elsewhere instead.
func (x *exchange) askSignIn(attempt *SignInAttempt) (elsewhere bool, err error) {
	if x.Callbacks.SignIn == nil {
		return false, nil
	}
	goTo, err := x.Callbacks.SignIn(x.ctx, attempt)
	x.debug("Callbacks.SignIn called", "answer", answerOf(goTo, err))
	switch {
	case err != nil && isClassified(err):
		return false, err
	case err != nil:
		return false, &Error{Code: CodeAccessDenied, Provider: attempt.Account.Provider, Err: err}
	case goTo == "":
		return false, nil
	}
	target, _, err := x.redirectTarget(goTo)
	if err != nil {
		return false, err
	}
	x.noteRefusedTarget("Callbacks.SignIn", goTo, target)
	return true, x.redirect(target)
}

// decide finds, creates or links the user. It is the only place that writes
// users and accounts.
func (x *exchange) decide(who *arrival, here *presence) (d *decision, err error) {
	if who.by == byHost {
		if d, err = x.decideByHost(who, "the Authorize function returned"); err != nil || !who.proof.of(d.user) {
			return d, err
		}
		err = x.runDecision(who, func(w *unitOfWork) error { return x.confirmAddress(w, who, d) })
		return d, err
	}
	if x.records == nil {
		if who.provider.refusesNewcomers() {
			return nil, who.notExpected()
		}
		return &decision{
			user: who.user, account: who.account, authentication: who.authentication,
			how: "the user of the profile: there is no store",
		}, nil
	}
	err = x.runDecision(who, func(w *unitOfWork) (err error) {
		d, err = x.attempt(w, who, here)
		return err
	})
	return d, err
}

// runDecision runs a decision in one transaction if the store supports them. It
// repeats the decision if another request wrote first, or after an errand, which
// must be done outside the transaction.
func (x *exchange) runDecision(who *arrival, run func(*unitOfWork) error) error {
	conflicts := 0
	for {
		err := x.inTransaction(run)
		if errand, ok := errors.AsType[*errand](err); ok {
			x.debug("decision made again: something has to be done outside the transaction first")
			if err := errand.run(&who.errands); err != nil {
				return err
			}
			continue
		}
		if !errors.Is(err, ErrConflict) {
			return err
		}
		// Another request, perhaps of the same user in another tab, was
		// faster by a moment. What it wrote can be found now.
		if conflicts++; conflicts > 1 {
			return &Error{
				Code: CodeStore, Provider: who.provider.id,
				Err: fmt.Errorf("the store refuses as existing what it does not find: %w", err),
			}
		}
		x.debug("decision made again: another request wrote first")
	}
}

// decideByHost signs in the user that the host has returned.
//
// With database sessions the session has to belong to a stored user. Auth.js
// writes a token there, which its session route then rejects; a session of the
// right kind is made here if the user exists, and otherwise the sign-in fails.
//
// origin says in an error where the user comes from.
func (x *exchange) decideByHost(who *arrival, origin string) (*decision, error) {
	newUser := false
	d := &decision{
		user: who.user, account: who.account, newUser: &newUser, authentication: who.authentication,
		returning: true, how: "the user that Authorize returned",
	}
	if !x.sessions.needStoredUser() {
		return d, nil
	}
	user, err := x.records.user(x.ctx, who.user.ID)
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, &Error{
			Code: codeUnsupportedStrategy, Provider: who.provider.id,
			Err: fmt.Errorf("%s the user %q, which the store does not have: with database sessions it must be a "+
				"stored user, or Config.Session.Strategy must be StrategyJWT", origin, who.user.ID),
		}
	}
	d.user = user
	if x.asksHold(who, d) {
		return d, x.sessions.mark(&unitOfWork{records: x.records, x: x, ctx: x.ctx}, d)
	}
	// The session that the browser had may be planted, copied or another user's.
	held, _ := x.heldSessions()
	if err := x.records.deleteSessions(x.ctx, held); err != nil {
		return nil, err
	}
	return d, x.beginSession(&unitOfWork{records: x.records, x: x, ctx: x.ctx}, d)
}

// attempt decides once.
func (x *exchange) attempt(w *unitOfWork, who *arrival, here *presence) (d *decision, err error) {
	if t := who.ticket; t != nil && t.used == nil {
		row, err := x.useTicket(w.records, t)
		if err != nil {
			return nil, err
		}
		if who.stored {
			x.about = &signingIn{user: who.user}
		}
		w.after(func() { t.used = row })
	}
	if who.by == byAddress {
		d, err = x.decideByAddress(w, who, here)
	} else {
		d, err = x.decideByAccount(w, who, here)
	}
	if err != nil {
		return nil, err
	}
	d.authentication, d.atProvider = who.authentication, who.atProvider
	if d.kept != nil {
		d.authentication = d.kept.authentication
	}
	asks := x.asksHold(who, d)
	if asks {
		d.session = nil // the one that takes its place begins later
		err = x.sessions.mark(w, d)
	} else {
		// In the transaction of the decision, so that no half-made user stays if
		// the row of the session cannot be written.
		err = x.beginSession(w, d)
	}
	if err != nil {
		return nil, err
	}
	if who.by != byAddress {
		if err := x.confirmAddress(w, who, d); err != nil {
			return nil, err
		}
	}
	if who.namesOwner {
		d.account = who.account.clone()
		d.account.UserID = d.user.ID
	}
	if asks {
		return d, nil
	}
	return d, x.sessions.rotate(w, who, d)
}

// decideByAddress is the table for a user who reads mail at an address.
//
// The first mail that proves an address must not let its reader into a user
// that others can get into: an attacker who made a provider report the address, or
// registered a passkey or a password for it, would share everything that the
// reader does there from then on.
//
// https://www.usenix.org/conference/usenixsecurity22/presentation/sudhodanan
func (x *exchange) decideByAddress(w *unitOfWork, who *arrival, here *presence) (*decision, error) {
	user, err := w.userByEmail(w.ctx, who.user.Email)
	if err != nil {
		return nil, err
	}
	var loser *User
	if who.taking != "" {
		loser, user = user, nil
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	newUser := user == nil
	if newUser {
		user, err = w.createByMail(who, loser, now)
	} else {
		user, err = x.enterByMail(w, who, here, user, now)
	}
	if err != nil {
		return nil, err
	}
	return &decision{user: user, account: who.account, newUser: &newUser, how: createdOr(newUser, "user found by the address")}, nil
}

// createByMail creates the user of a mail. loser is the user that loses the
// address to them, nil if the address is free.
func (w *unitOfWork) createByMail(who *arrival, loser *User, now time.Time) (*User, error) {
	created := who.newcomer(now)
	if err := w.admitted(who, created); err != nil {
		return nil, err
	}
	change, err := w.synced(who, created, true, nil)
	if err != nil {
		return nil, err
	}
	if loser != nil {
		if err := w.takeAddress(who, loser); err != nil {
			return nil, err
		}
	}
	user, err := w.createUser(change.applied(created))
	if err != nil {
		return nil, err
	}
	return user, change.keptBy(user)
}

// enterByMail signs in the user who has the address that a mail has proven.
func (x *exchange) enterByMail(w *unitOfWork, who *arrival, here *presence, user *User, now time.Time) (*User, error) {
	first, alone := user.EmailVerified.IsZero(), false
	if first {
		var err error
		if alone, err = x.mayConfirm(w, who, user); err != nil {
			return nil, err
		}
	}
	change, err := w.synced(who, user, false, nil)
	if err != nil {
		return nil, err
	}
	if first {
		if err := w.beforeProof(who, user); err != nil {
			return nil, err
		}
	}
	// A person who used the address before its owner did may hold a session.
	if alone || first && x.Callbacks.ProveAddress != nil {
		if err := w.endSessions(who, user.ID, ""); err != nil {
			return nil, err
		}
	}
	if x.Callbacks.Hold == nil { // else they end when the sign-in is complete
		if err := x.sessions.endOther(w, here, user); err != nil {
			return nil, err
		}
	}
	if first {
		if user, err = w.verifyEmail(user, now); err != nil {
			return nil, err
		}
	}
	return w.sync(user, change)
}

// newcomer is the user that a mail creates. A stored user whom another request
// deleted after the look-up does not come back with their id and their name:
// tokens and rows of the host still name the id.
func (who *arrival) newcomer(now time.Time) *User {
	user := who.user
	if who.stored {
		user = &User{ID: uuid.New(), Email: who.user.Email}
	}
	user.EmailVerified = now
	return user
}

// mayConfirm returns nil if a mail may prove the address of a user whose address
// no mail has proven, and a [heldAddress] if others may be able to get in. alone
// reports that no other can, and that nothing vouches for the address either: the
// sessions of the user end with the proof.
func (x *exchange) mayConfirm(w *unitOfWork, who *arrival, user *User) (alone bool, err error) {
	h, err := x.holding(w.ctx, w.records, &who.errands, user)
	switch {
	case err != nil:
		return false, err
	case h.vouched():
		return false, nil
	case h.othersMayEnter():
		return false, &heldAddress{user}
	}
	return true, nil
}

// decideByAccount is the table for a user who has an account.
func (x *exchange) decideByAccount(w *unitOfWork, who *arrival, here *presence) (*decision, error) {
	owner, err := w.userByAccount(w.ctx, who.account)
	if err != nil {
		return nil, err
	}
	current := here.user
	if err := who.mayRegister(owner, current); err != nil {
		return nil, err
	}
	if err := who.mayLink(owner, current); err != nil {
		return nil, err
	}
	known := false
	switch {
	case owner != nil && current != nil && owner.ID == current.ID:
		return w.decideKnown(who, owner, here)

	case owner != nil && current != nil:
		return nil, who.notLinked("the account belongs to another user than the one signed in")

	case owner != nil:
		return x.decideOwner(w, who, owner)

	case who.stored:
		// The account had an owner a moment ago, when the user was found. That
		// user has been removed and must not be created again.
		return nil, who.removed()

	case current != nil:
		change, err := w.synced(who, current, false, here)
		if err != nil {
			return nil, err
		}
		if err := x.mayLinkBy(w, who, here); err != nil {
			return nil, err
		}
		who.vouchFor(current)
		if err := w.endOthersFor(who, here); err != nil {
			return nil, err
		}
		if err := w.link(who, current, LinkAccountEvent{Authentication: here.authentication}); err != nil {
			return nil, err
		}
		if err := w.stillHeld(who, current); err != nil {
			return nil, err
		}
		if err := w.endOthersFor(who, here); err != nil { // a sign-in may have been under way
			return nil, err
		}
		user, err := w.syncLinked(current, change)
		return &decision{
			user: user, account: who.account, newUser: &known, session: here.session, kept: here,
			how: "account linked to the user who is signed in",
		}, err
	}
	return x.decideUnowned(w, who)
}

// endOthersFor ends the sessions of the signed-in user but for this one if the user adds a passkey
// with [Config.Accounts]: a passkey is a second factor there, and each change of those ends them.
func (w *unitOfWork) endOthersFor(who *arrival, here *presence) error {
	if who.newPasskey == nil || w.x.Accounts == nil {
		return nil
	}
	except := ""
	if here.session != nil {
		except = here.session.Token
	}
	return w.endSessions(who, here.user.ID, except)
}

// vouchFor drops the verified address from an account that is about to be linked to
// the user who is signed in, unless that user has proven this very address. Another
// host of the domain can plant the session, of a user made by an attacker with the
// address of the person at the browser. The account of that person must not vouch
// later that the address is the user's: the first mail asks.
func (who *arrival) vouchFor(current *User) {
	if current.EmailVerified.IsZero() || current.Email != who.account.VerifiedEmail {
		who.account.VerifiedEmail = ""
	}
}

// decideKnown goes on with the session of the user who is signed in and has the
// account. A registration that stopped after the account was stored goes on,
// too.
func (w *unitOfWork) decideKnown(who *arrival, owner *User, here *presence) (*decision, error) {
	var linkTo *presence
	if who.newPasskey != nil {
		linkTo = here
	}
	change, err := w.synced(who, owner, false, linkTo)
	if err != nil {
		return nil, err
	}
	if linkTo != nil {
		if err := w.x.mayLinkBy(w, who, here); err != nil {
			return nil, err
		}
	}
	if err := w.storePasskey(who, owner); err != nil {
		return nil, err
	}
	user, err := w.sync(owner, change)
	known := false
	return &decision{
		user: user, account: who.account, newUser: &known, session: here.session, kept: linkTo,
		returning: who.newPasskey == nil, how: "the user who is signed in",
	}, err
}

// decideOwner signs in the owner of the account.
func (x *exchange) decideOwner(w *unitOfWork, who *arrival, owner *User) (*decision, error) {
	change, err := w.synced(who, owner, false, nil)
	if err != nil {
		return nil, err
	}
	if owner, err = w.restoreAddress(who, owner); err != nil {
		return nil, err
	}
	if owner, err = w.sync(owner, change); err != nil {
		return nil, err
	}
	newUser := false
	return &decision{user: owner, account: who.account, newUser: &newUser, returning: true, how: "user found by the account"}, nil
}

// decideUnowned is the part of the table for an account without an owner while the
// request is signed out.
func (x *exchange) decideUnowned(w *unitOfWork, who *arrival) (*decision, error) {
	var user *User
	var err error
	if who.user.Email != "" {
		if user, err = w.userByEmail(w.ctx, who.user.Email); err != nil {
			return nil, err
		}
	}
	newUser := user == nil
	if newUser {
		if who.provider.refusesNewcomers() {
			return nil, who.notExpected()
		}
		user, err = w.createByAccount(who)
	} else {
		var trusted, alone bool
		if trusted, alone, err = x.linksByAddress(w, who, user); err == nil && !trusted {
			return x.decideLate(w, who)
		}
		if err == nil {
			user, err = w.linkByAddress(who, user, alone)
		}
	}
	if err != nil {
		return nil, err
	}
	return &decision{
		user: user, account: who.account, newUser: &newUser,
		how: createdOr(newUser, "account linked to the user with the address"),
	}, nil
}

// createByAccount creates a user with the account.
func (w *unitOfWork) createByAccount(who *arrival) (*User, error) {
	created := who.user
	if who.trusted && who.deniesAddress() {
		// Accounts of the provider vouch for addresses: no later account must
		// join this user for an address that the provider has not verified.
		created = created.clone()
		created.Email = ""
	}
	if err := w.admitted(who, created); err != nil {
		return nil, err
	}
	change, err := w.synced(who, created, true, nil)
	if err != nil {
		return nil, err
	}
	user, err := w.createOwner(who, change.applied(created))
	if err != nil {
		return nil, err
	}
	return user, change.keptBy(user)
}

// linkByAddress links the account to the user who has its address. See
// linksByAddress for alone.
func (w *unitOfWork) linkByAddress(who *arrival, user *User, alone bool) (*User, error) {
	change, err := w.synced(who, user, false, nil)
	if err != nil {
		return nil, err
	}
	// As in enterByMail.
	if alone {
		if err := w.endSessions(who, user.ID, ""); err != nil {
			return nil, err
		}
	}
	if err := w.link(who, user, LinkAccountEvent{}); err != nil {
		return nil, err
	}
	return w.sync(user, change)
}

// decideLate looks once more for an owner of the account before it is refused
// for its address. The user with the address may be the owner, created a moment ago
// in another tab that had the same account.
func (x *exchange) decideLate(w *unitOfWork, who *arrival) (*decision, error) {
	owner, err := w.userByAccount(w.ctx, who.account)
	if err != nil {
		return nil, err
	}
	if owner == nil {
		return nil, who.notLinked("a user has the address, and the address of the user or of the account is not " +
			"proven: the person has to sign in as before and link the account from there")
	}
	if err := who.mayRegister(owner, nil); err != nil {
		return nil, err
	}
	return x.decideOwner(w, who, owner)
}

// linksByAddress reports whether an account may be linked to the user who has
// its address. The provider must be trusted with addresses and not deny this
// one; and the address of the user must be proven too, or the owner of the
// address would be let into a user that another person registered. alone reports
// that no other can get into that user: the sessions of the user end with the link.
func (x *exchange) linksByAddress(w *unitOfWork, who *arrival, user *User) (trusted, alone bool, err error) {
	switch {
	case !who.trusted || who.deniesAddress():
		return false, false, nil
	case who.provider.joined != nil:
		if free, err := x.isFreeFor(w, who, user); !free || err != nil {
			return false, false, err
		}
	}
	switch {
	case !user.EmailVerified.IsZero():
		return true, false, nil
	}
	h, err := x.holding(w.ctx, w.records, &who.errands, user)
	if err != nil {
		return false, false, err
	}
	if h.vouched() {
		return true, false, nil
	}
	alone = !h.othersMayEnter()
	return alone, alone, nil
}

// isFreeFor reports whether an account of a connection may be linked to a user by the
// address: nothing shows that the user belongs to another customer, or has another way in
// that the operator of the connection's provider would get past.
func (x *exchange) isFreeFor(w *unitOfWork, who *arrival, user *User) (bool, error) {
	if !w.can.Accounts {
		return false, nil
	}
	linked, err := w.userAccounts(w.ctx, user.ID)
	if err != nil {
		return false, err
	}
	prefix := who.provider.joined.prefix
	if slices.ContainsFunc(linked, func(a *Account) bool { return strings.HasPrefix(a.Provider, prefix) }) {
		return false, nil
	}
	password, err := x.mayHavePassword(&who.errands, user)
	return !password && err == nil, err
}

// notExpected refuses a user without an account, whom the connection does not let in.
func (who *arrival) notExpected() error {
	return &Error{
		Code: CodeAccessDenied, Provider: who.provider.id,
		Err: errors.New("the connection signs in only users who have an account already: it has DisableProvision"),
	}
}

// provesAddress reports whether the provider has verified the address by its
// own statement. Without [OAuth.EmailVerified] the standard claim counts if the
// host trusts the provider with addresses.
func (who *arrival) provesAddress() bool {
	if verified := who.emailVerified; verified != nil {
		return verified(who.profile)
	}
	return who.trusted && who.profile.Bool("email_verified")
}

// mayRegister rejects a new passkey whose account has another owner, and one
// for a user who is no longer signed in.
//
// Credential ids are no secrets, and without an attestation anyone can claim
// one: having created it must not sign a browser in as its owner.
func (who *arrival) mayRegister(owner, current *User) error {
	switch {
	case who.newPasskey == nil:
		return nil
	case who.registrant != "" && current == nil:
		return who.notLinked("the passkey was created for a user who is no longer the one signed in")
	case owner != nil && (current == nil || owner.ID != current.ID):
		return who.notLinked("the credential is registered for another user")
	}
	return nil
}

// mayLink rejects an account or a passkey that must not get an owner in this
// sign-in.
//
// The signIn callback may demand a recent sign-in before an account is linked,
// and decides by the user whether the sign-in is allowed. It was called for the
// owner of the account. The owner can remove the account meanwhile: it would
// then be linked to the signed-in user, or to a user with its address, without
// the callback's consent.
//
// While it is not decided who owns a user, an attacker may have planted the
// session of that user: an account of the owner of the address, once linked,
// would let the owner's next mail in.
func (who *arrival) mayLink(owner, current *User) error {
	switch {
	case who.owned && owner == nil:
		return who.notLinked("the account was unlinked during the sign-in: the signIn callback was asked about its former owner")
	case current != nil && (owner == nil || who.newPasskey != nil) && who.proof != nil && who.proof.openFor(current):
		return who.notLinked("the address of the signed-in user waits for a proof: nothing is linked before the " +
			"person has signed in as before")
	}
	return nil
}

// mayLinkBy rejects an account or a passkey if the session by which it would be
// linked has ended since it was read. A copy of the session may be in the hands of
// an attacker, and the user may end it while the callbacks of the host run: what
// is linked afterwards would be a way in for good.
func (x *exchange) mayLinkBy(w *unitOfWork, who *arrival, here *presence) error {
	good, err := x.sessions.goesOn(w, who, here)
	if err == nil && !good {
		err = who.notLinked("the session of the signed-in user ended during the sign-in")
	}
	return err
}

func (who *arrival) removed() error {
	if e := who.provider.removed; e != nil {
		return e
	}
	return who.notLinked("the account or its user was removed during the sign-in")
}
