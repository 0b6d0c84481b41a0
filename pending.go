package pintle

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pintleauth/pintle/internal/clip"
	"github.com/pintleauth/pintle/internal/cookie"
	"github.com/pintleauth/pintle/internal/sealed"
	"github.com/pintleauth/pintle/internal/uuid"
	"github.com/pintleauth/pintle/internal/wire"
)

// pendingPurpose stands before the secret where it is hashed, so that no link in a
// mail can be made of it, and names what the mark of the browser is for.
const pendingPurpose = "pintle pending sign-in "

// asksHold reports whether the session of a decision needs the consent of the host.
// One that goes on as it is does not, nor one whose user has added an account: it
// records no other sign-in than before.
func (x *exchange) asksHold(who *arrival, d *decision) bool {
	goesOn := d.kept != nil || d.session != nil && !x.Session.RotateAtSignIn
	return x.Callbacks.Hold != nil && !goesOn && !who.unasked
}

// hold asks the host whether a sign-in needs something else first. If it does
// not, the session begins here. held reports that the browser was sent to a page
// instead.
//
// Every way in comes by here, between login and issue.
func (x *exchange) hold(who *arrival, d *decision) (held bool, err error) {
	if x.Callbacks.Hold == nil {
		return false, nil
	}
	if _, err := x.dropPending(); err != nil { // which this sign-in replaces
		return false, err
	}
	if !x.asksHold(who, d) {
		x.addCookie(x.set.clearPending(x.r.Header)...)
		return false, nil
	}
	d.authentication = d.authentication.startedAt(who.errands.sessionStart(d.user.ID, d.authentication.Started))
	h := &heldSignIn{ID: uuid.New(), By: who.by, User: d.user, NewUser: d.newUser, Stored: true, Lines: who.submission.cookieLines()}
	if who.by == byHost && !x.sessions.needStoredUser() {
		stored, err := x.records.user(x.ctx, d.user.ID)
		if err != nil {
			return false, err
		}
		if h.Stored = stored != nil; h.Stored {
			h.User = stored
		}
	}
	return x.askHold(who, d, h)
}

// askHold calls the host's Hold callback, and holds the sign-in or begins the session.
func (x *exchange) askHold(who *arrival, d *decision, h *heldSignIn) (held bool, err error) {
	page, err := x.Callbacks.Hold(x.ctx, x.pendingOf(who, d, h))
	x.debug("Callbacks.Hold called", "answer", answerOf(page, err))
	if err != nil {
		// The row of the mark would go by itself. An error of its removal changes
		// nothing.
		_, _ = x.sessions.unmark(x.ctx, d)
		if !isClassified(err) {
			err = &Error{Code: CodeAccessDenied, Provider: who.provider.id, Err: err}
		}
		return false, err
	}
	if page != "" {
		if err := x.renewMark(d, h); err != nil {
			return false, err
		}
		return true, x.keepPending(who, d, h, page)
	}
	if err := x.admit(d); err != nil {
		return false, err
	}
	x.addCookie(x.set.clearPending(x.r.Header)...)
	return false, nil
}

// pendingOf returns what the host sees of a sign-in.
func (x *exchange) pendingOf(who *arrival, d *decision, h *heldSignIn) *PendingSignIn {
	p := &PendingSignIn{
		ID: h.ID, User: h.User.clone(), Account: d.account.clone(), Profile: who.profile,
		Authentication: d.authentication, RedirectTo: x.callbackURL, Request: x.r,
	}
	p.Authentication.Methods, p.Authentication.Proofs = slices.Clone(d.authentication.Methods), maps.Clone(d.authentication.Proofs)
	if who.profile != nil {
		p.ProviderUser = who.user.clone()
	}
	if who.by != byHost {
		p.NewUser = d.newUser
	}
	if h.Expires != 0 {
		p.Expires = time.Unix(h.Expires, 0)
	}
	return p
}

// keepPending seals a sign-in into the cookie, writes its row and sends the browser
// to a page.
func (x *exchange) keepPending(who *arrival, d *decision, h *heldSignIn, page string) error {
	target, _, err := x.redirectTarget(page)
	if err != nil {
		return fail(CodeConfiguration, fmt.Errorf("Callbacks.Hold returned the page %s: %w", clip.Quote(page), err))
	}
	x.noteRefusedTarget("Callbacks.Hold", page, target)
	if err := x.sessions.keep(x, who, d); err != nil {
		return err
	}
	userID := d.user.ID
	if d.claimed { // Callbacks.JWT may have named the user otherwise
		userID, _ = wire.ID(d.claims["sub"])
	}
	x.keepSignOutHint(who, d, userID, true)
	if began := d.authentication.Started.UnixMilli(); h.Began == 0 {
		h.Began = began
	} else if began != h.Began {
		h.Started = began
	}
	h.Provider, h.Methods = d.authentication.Provider, d.authentication.Methods
	h.Proofs = make(map[string]int64, len(d.authentication.Proofs))
	for method, at := range d.authentication.Proofs {
		h.Proofs[method] = at.UnixMilli()
	}
	h.Claims, h.Claimed, h.Marker = d.claims, d.claimed, d.marker
	if !d.claimed {
		h.AtProvider = d.atProvider.held()
	}
	if u := h.User; h.Stored { // the store has the rest
		h.User = &User{ID: u.ID, Name: u.Name, Email: u.Email, Image: u.Image, stated: u.stated}
	}
	h.Account = &Account{
		UserID: d.account.UserID, Type: d.account.Type, Provider: d.account.Provider,
		ProviderAccountID: d.account.ProviderAccountID,
	}
	if h.Secret, err = randomToken(); err != nil {
		return err
	}
	h.Browser = sealed.Mark(x.jwtSecrets[0], pendingPurpose, x.formToken())
	h.CallbackURL, h.CallbackText = x.callbackURL, x.callbackText
	h.Stamp = sealed.Stamp{}
	text, err := x.set.pendingBox.Seal(h)
	if err != nil {
		return fmt.Errorf("seal the pending sign-in: %w", err)
	}
	if parts := cookie.Parts(text); parts > cookie.MaxParts {
		return fmt.Errorf("the pending sign-in has %d bytes, which are %d cookies, and no more than %d are read "+
			"back: %s", len(text), parts, cookie.MaxParts, fixToken)
	}
	row := &Verification{
		Identifier: h.User.ID, Token: x.hashes.Tenant(x.Tenant).Sum(pendingPurpose + h.Secret),
		Expires: time.Now().Add(x.set.pendingAge() + 2*clockTolerance).UTC().Truncate(time.Millisecond),
	}
	if err := x.records.createVerification(x.ctx, row); err != nil {
		return err
	}
	x.addCookie(cookie.WriteChunked(x.set.pending.name, text, cookie.Received(x.r.Header, x.set.pending.name),
		x.set.pending.lasting(x.set.pendingAge()))...)
	x.debug("sign-in held")
	if !who.waited {
		x.observeSignIn("held", false, h.NewUser != nil && *h.NewUser, nil)
	}
	return x.redirect(target)
}

// openPending returns the sign-in in the cookie of this browser. Whether it was used is
// not known before its row is.
func (x *exchange) openPending() (*heldSignIn, error) {
	if x.Callbacks.Hold == nil {
		return nil, fail(CodeConfiguration, errors.New("a pending sign-in needs Callbacks.Hold, which decides when it is complete"))
	}
	same := func(a, b *heldSignIn) bool { return a.Secret == b.Secret }
	held, err := cookie.Open(x.r.Header, x.set.pending.name, x.readPending, same)
	if err != nil {
		return nil, noPending(err)
	}
	return held, nil
}

func (x *exchange) readPending(text string) (*heldSignIn, error) {
	if text == "" {
		return nil, errNotHeld
	}
	h := &heldSignIn{}
	if err := x.set.pendingBox.Open(text, h); err != nil {
		return nil, fmt.Errorf("the cookie %s %w", x.set.pending.name, err)
	}
	switch {
	case h.Secret == "" || h.ID == "" || h.User == nil || h.User.ID == "" || h.Account == nil || !x.mayHave(h.Provider):
		return nil, fmt.Errorf("the cookie %s holds no sign-in with a provider of this configuration", x.set.pending.name)
	case !sealed.HasMark(h.Browser, x.jwtSecrets, pendingPurpose, x.sentFormToken()):
		return nil, errHeldElsewhere
	}
	last := time.UnixMilli(h.Began).Add(maxHeld * x.set.pendingAge())
	if time.Now().After(last) {
		return nil, errHeldTooLong
	}
	h.Expires = min(h.Expires, last.Unix())
	return h, nil
}

// maxHeld is for how many times the age of a pending sign-in all its pages may take
// together. A completion that is held again gives the next page its time: without the
// limit the proof that the sign-in began with, such as a password, would stay good for
// as long as a browser completes one page after the other.
const maxHeld = 6

// usePending uses the row of a sign-in up, and reports whether it was there.
func (x *exchange) usePending(h *heldSignIn) (bool, error) {
	row, err := x.useVerification(x.records, x.hashes.Tenant(x.Tenant), h.User.ID, pendingPurpose+h.Secret)
	return row != nil && row.Expires.After(time.Now()), err
}

// resumed returns the sign-in that was held, unless its user was deleted or its account
// unlinked.
func (x *exchange) resumed(h *heldSignIn) (*arrival, *decision, error) {
	p, err := x.find(x.ctx, h.Provider)
	if err != nil {
		return nil, nil, err
	}
	if p == nil {
		return nil, nil, noPending(errHeldEnded)
	}
	x.provider, x.callbackURL, x.callbackText = p, h.CallbackURL, h.CallbackText
	user := h.User
	if h.Stored {
		var err error
		if user, err = x.userOfHeld(h); err != nil {
			return nil, nil, err
		}
		if user == nil || user.ID != h.User.ID {
			return nil, nil, noPending(errHeldEnded)
		}
	}
	who := &arrival{provider: x.provider, by: h.By, user: user, account: h.Account, waited: true}
	if len(h.Lines) > 0 {
		who.submission = &Submission{lines: h.Lines}
	}
	proven := Authentication{Time: time.UnixMilli(h.Began).UTC(), Provider: h.Provider, Methods: h.Methods, Proofs: map[string]time.Time{}}
	for method, at := range h.Proofs {
		proven.Proofs[method] = time.UnixMilli(at).UTC()
	}
	proven = proven.complete()
	if h.Started != 0 {
		proven = proven.startedAt(time.UnixMilli(h.Started).UTC())
	}
	d := &decision{
		user: user, account: h.Account, newUser: h.NewUser, authentication: proven, atProvider: h.AtProvider.of(h.Account),
	}
	if err := x.sessions.resume(d, h); err != nil {
		return nil, nil, noPending(err)
	}
	h.User = user
	return who, d, nil
}

// userOfHeld returns the stored user whom a sign-in would sign in now. An account or a
// passkey that was unlinked while the sign-in waited signs its former owner in no more:
// the owner may have removed it because an attacker can use it.
func (x *exchange) userOfHeld(h *heldSignIn) (*User, error) {
	if h.By != byAccount {
		return x.records.user(x.ctx, h.User.ID)
	}
	return x.records.userByAccount(x.ctx, h.Account)
}

// lookAtPending returns the sign-in of this browser for a page, or nil if there is
// none that can be completed.
func (x *exchange) lookAtPending() (*PendingSignIn, error) {
	h, err := x.openPending()
	if err != nil {
		x.debug("no pending sign-in", "reason", err.Error())
		return nil, nil // a cookie that is not good holds no sign-in
	}
	who, d, err := x.resumed(h)
	if err == nil {
		var good bool
		if good, err = x.sessions.marked(x.ctx, d); err == nil && !good {
			err = noPending(errHeldEnded)
		}
	}
	if errors.Is(err, CodeInvalidCheck) {
		x.debug("no pending sign-in", "reason", err.Error())
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return x.pendingOf(who, d, h), nil
}

// fault returns why methods cannot be recorded.
func (o CompleteOptions) fault() error {
	for _, method := range o.Methods {
		if method == "" || len(method) > maxMethod {
			return fail(CodeConfiguration, fmt.Errorf("CompleteOptions.Methods has %s: a method has 1 to %d bytes",
				clip.Quote(method), maxMethod))
		}
	}
	return nil
}

// complete signs the user of the pending sign-in in. lost reports that the cookie is
// of no more use, whatever became of the sign-in.
func (x *exchange) complete(o CompleteOptions) (lost bool, err error) {
	if err := o.fault(); err != nil {
		return false, err
	}
	h, err := x.openPending()
	if err != nil {
		return true, err
	}
	x.waited = true
	if x.provider, err = x.find(x.ctx, h.Provider); err != nil {
		return false, err
	}
	// It is used up before anything else happens: of concurrent requests one goes on.
	good, err := x.usePending(h)
	if err != nil {
		return false, err
	}
	if !good {
		return true, noPending(errHeldUsed)
	}
	who, d, err := x.resumed(h)
	if err != nil {
		return true, err
	}
	x.about = &signingIn{user: d.user}
	if o.Change != nil {
		if who, d, err = x.changeAlone(d, h, o); err != nil {
			return true, err
		}
	} else {
		d.authentication = d.authentication.with(o.Methods, x.began)
	}
	h.Expires = 0
	if held, err := x.askHold(who, d, h); held || err != nil {
		return err != nil, err
	}
	return true, x.issue(who, d)
}

// changeAlone makes a change of the host while nothing but the sign-in of d is left of what the
// user has begun. It returns the sign-in of the user as the change has left it.
func (x *exchange) changeAlone(d *decision, h *heldSignIn, o CompleteOptions) (who *arrival, changed *decision, err error) {
	// First of all: the list of ended token sessions does not tell afterwards whether this sign-in
	// had ended before the others.
	good, err := x.sessions.marked(x.ctx, d)
	if err == nil && !good {
		err = noPending(errHeldEnded)
	}
	if err != nil {
		return nil, nil, err
	}
	done := false
	defer func() {
		if !done { // also if Change panics: the server recovers from that, or ends the request
			// As in askHold. The row of the sign-in itself is used up.
			_, _ = x.sessions.unmark(context.WithoutCancel(x.ctx), d)
		}
	}()
	if err := x.endBeside(d); err != nil {
		return nil, nil, err
	}
	since := time.Now()
	err = o.Change(x.ctx)
	x.debug("CompleteOptions.Change called", "answer", answerOf("", err))
	if err != nil {
		if !isClassified(err) {
			err = &Error{Code: CodeAccessDenied, Provider: x.provider.id, Err: fmt.Errorf("CompleteOptions.Change: %w", err)}
		}
		return nil, nil, err
	}
	ended, err := x.sessions.endedAgain(x.ctx, d, since)
	if err == nil && ended {
		err = noPending(errHeldEnded)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := x.endBeside(d); err != nil {
		return nil, nil, err
	}
	if err := x.sessions.beginAfter(x.ctx, d); err != nil {
		return nil, nil, err
	}
	// Last: a token goes on without its user, and a deletion of before the new begin does not end it.
	h.Claims, h.Started = d.claims, d.authentication.Started.UnixMilli()
	if who, changed, err = x.resumed(h); err != nil {
		return nil, nil, err
	}
	changed.authentication = changed.authentication.with(o.Methods, x.began)
	done = true
	return who, changed, nil
}

// endBeside ends what [Auth.SignOutEverywhere] ends, but for the sign-in of d.
func (x *exchange) endBeside(d *decision) error {
	if err := x.sessions.endBeside(x.ctx, d); err != nil {
		return err
	}
	return x.endBegun(x.ctx, d.user.ID)
}

// renewMark replaces the mark of a sign-in that was held before by one that lasts as
// long as its next step. The new one is written first: if the sessions of the user end
// between the two, the old one is missed.
func (x *exchange) renewMark(d *decision, h *heldSignIn) error {
	if h.Secret == "" {
		return nil
	}
	old := *d
	if err := x.sessions.mark(&unitOfWork{records: x.records, x: x, ctx: x.ctx}, d); err != nil {
		if errors.Is(err, ErrNotFound) {
			err = noPending(errHeldEnded)
		}
		return err
	}
	good, err := x.sessions.unmark(x.ctx, &old)
	if err == nil && !good {
		err = noPending(errHeldEnded)
	}
	if err != nil && d.marker != "" {
		_, _ = x.sessions.unmark(context.WithoutCancel(x.ctx), d)
	}
	return err
}

// dropPending uses up the pending sign-ins of this browser, and reports whether every
// one was tried that the request may carry. There is one, unless cookies were planted:
// a value that comes first must not keep the sign-in of a copy good.
func (x *exchange) dropPending() (all bool, err error) {
	if x.Callbacks.Hold == nil {
		return true, nil // no sign-in can be completed
	}
	held, all := cookie.Candidates(x.r.Header, x.set.pending.name, maxEnded)
	for _, text := range held {
		h, err := x.readPending(text)
		if err != nil {
			continue // it is none of this browser
		}
		if err := x.dropOne(h); err != nil {
			return all, err
		}
	}
	return all, nil
}

func (x *exchange) dropOne(h *heldSignIn) error {
	if _, err := x.usePending(h); err != nil {
		return err
	}
	d := &decision{user: h.User}
	if err := x.sessions.resume(d, h); err != nil {
		return nil //nolint:nilerr // what another kind of sessions kept has no mark here
	}
	_, err := x.sessions.unmark(x.ctx, d)
	return err
}
