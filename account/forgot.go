package account

import (
	"errors"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/page"
)

func (v *visit) showForgot() (*view, error) {
	p := v.newPage("forgot", "")
	p.Forms = []page.Form{v.formTo("forgot", "forgot", v.emailInput())}
	p.Links = []page.Link{{URL: v.site.signIn("callbackUrl", v.callbackURL()), Text: v.word("sign_in")}}
	return &view{page: p}, nil
}

func (v *visit) showForgotSent() (*view, error) {
	p := v.newPage("forgot-sent", "")
	p.Links = []page.Link{{URL: v.site.signIn(), Text: v.word("sign_in")}, v.link("forgot", "begin_again")}
	return &view{page: p}, nil
}

// forgot mails a link to choose a new password. Its answer and its work are the same for
// every address, and nothing of the user changes.
func (v *visit) forgot() (next string, err error) {
	if err := v.admitAction("forgot"); err != nil {
		return "", err
	}
	email, err := v.typedAddress()
	if err != nil {
		return "", err
	}
	if err := v.allowMail(email); err != nil {
		return "", err
	}
	to, err := v.addressee(email)
	if err != nil {
		return "", err
	}
	first, err := v.lacksPassword(to)
	if err != nil {
		return "", err
	}
	// An address without an account gets a flow, too, whose token is dropped.
	subject := v.boxes.subject(email)
	asked := entry{kind: kindResetAsked, address: email, r: v.r}
	if to.proved {
		subject, asked.userID = to.user.ID, to.user.ID
	}
	v.Accounts.note(v.ctx, asked)
	token, f, err := v.beginFlow(v.ctx, resetKind, subject, payload{Email: email})
	if err != nil {
		return "", err
	}
	if f == nil {
		return v.site.path("forgot-sent"), nil // enough mails were sent; see maxOpen
	}
	unknown := letter{kind: "reset-unknown", to: email, at: time.Now()}
	if !v.o.SignUp.Closed {
		unknown.link = v.url("sign-up")
	}
	if v.o.NoMailToUnknown {
		unknown = letter{}
	}
	reset := letter{
		kind: "reset", to: email, link: v.url("reset", "token", token), token: token, expires: f.Expires, ways: to.ways, noPassword: first,
	}
	if len(to.ways) > 0 {
		reset.other, reset.otherWord = v.site.originOf(v.r)+v.site.signIn(), "sign_in"
	}
	v.sendEither(to.proved, reset, unknown)
	return v.site.path("forgot-sent"), nil
}

// heldReset returns the flow of a reset and its user. A user who has another address by
// now, or is banned, cannot go on.
func (v *visit) heldReset() (*flow, *pintle.User, error) {
	f, held, err := v.heldFlow(resetKind)
	if err != nil {
		return nil, nil, err
	}
	if !held.Linked {
		return nil, nil, problemOf("flow_missing")
	}
	u, err := v.store.User(v.ctx, f.Subject)
	if errors.Is(err, pintle.ErrNotFound) {
		return nil, nil, problemOf("link_expired")
	}
	if err != nil {
		return nil, nil, unavailable(err)
	}
	if !isProved(u) || u.Email != f.payload.Email {
		return nil, nil, problemOf("link_expired")
	}
	state, err := v.rows.State(v.ctx, u.ID)
	if err != nil {
		return nil, nil, unavailable(err)
	}
	if state.BannedUntil.After(time.Now()) {
		return nil, nil, problemOf("link_expired")
	}
	v.about = u.ID
	return f, u, nil
}

// showReset is the form for the new password. It names the address, so that a person who
// follows the link of an attacker sees whose password it would be.
func (v *visit) showReset() (*view, error) {
	if taken, err := v.takeLink(resetKind); taken || err != nil {
		return &view{goTo: v.site.path("reset")}, err
	}
	f, u, err := v.heldReset()
	if err != nil {
		return nil, err
	}
	proof, err := v.resetProof(f, u)
	if err != nil {
		return nil, err
	}
	p := v.newPage("reset", u.Email)
	v.proves(proof, &p, v.formTo("reset", "reset", v.newPasswordInput("password")))
	return &view{page: p, data: map[string]any{"email": u.Email, "second_factor": len(proof.ways) > 0, "methods": proof.methods()}}, nil
}

// resetOptions are those of the ceremony of a passkey.
func (v *visit) resetOptions() (*view, error) {
	f, u, err := v.heldReset()
	if err != nil {
		return nil, err
	}
	proof, err := v.resetProof(f, u)
	if err != nil {
		return nil, err
	}
	return v.linkKeyOptions(proof)
}

// resetProof is what a user who resets the password proves. A user without an app is not asked, as
// at a sign-in with a password: if the rules of the application require a second factor, the
// sign-in that follows asks for the passkey.
func (v *visit) resetProof(f *flow, u *pintle.User) (*linkProof, error) {
	set, err := v.factorsOf(v.ctx, u.ID)
	if err != nil {
		return nil, unavailable(err)
	}
	var keys []*pintle.Account
	if set.asked() {
		keys, err = v.passkeysOf(u.ID, func(*pintle.Passkey, *pintle.Account) (bool, error) { return true, nil })
	}
	return v.linkProofOf("reset", f, u, set, keys), err
}

// reset replaces the password of the user who reads the mail. It makes no session: the
// sign-in that follows asks for everything that a sign-in asks for.
func (v *visit) reset() (next string, err error) {
	f, u, err := v.heldReset()
	if err != nil {
		return "", err
	}
	hash, err := v.choose("password", v.form["password"], u)
	if err != nil {
		return "", err
	}
	known, err := v.proveForReset(f, u)
	if err != nil {
		return "", err
	}
	row, err := v.passwordOf(v.ctx, u.ID)
	if err != nil {
		return "", unavailable(err)
	}
	// Of two requests with one link, one goes on.
	if err := v.useFlow(v.ctx, resetKind, f); err != nil {
		return "", err
	}
	v.clearCookie(resetKind)
	v.seeThrough()
	added := 0
	err = v.whileSignedOut(v.ctx, u.ID, func() (err error) {
		if err = v.newSecret(u, row, hash); err == nil {
			added, err = v.dropAddedSince(u, known)
		}
		return err
	})
	if v.chosen != "" { // also if a later step has failed
		v.notify("password-reset", u, "", "forgot")
	}
	if added > 0 {
		v.notify("factor-removed", u, "", "factors")
	}
	if err != nil {
		return "", err
	}
	v.untilNextSecond(v.ctx)
	return v.site.signIn("notice", "password_reset"), nil
}

// newSecret stores a password that the user has chosen. That settles what was asked about
// the old one. v.chosen is set if the password is stored, also beside an error.
func (v *visit) newSecret(u *pintle.User, before *accountstore.Factor, hash string) error {
	if err := v.storePassword(v.ctx, u.ID, before, hash); err != nil {
		return err
	}
	v.chosen = hash
	return v.settleMust(u)
}

// settleMust records that the user has another password now.
func (v *visit) settleMust(u *pintle.User) error {
	state, err := v.rows.State(v.ctx, u.ID)
	if err != nil {
		return unavailable(err)
	}
	if !mustDo(state, mustPassword) && !mustDo(state, mustReplace) {
		return nil
	}
	err = v.changeState(v.ctx, u.ID, func(s *accountstore.State) {
		dropMust(s, mustPassword)
		dropMust(s, mustReplace)
	})
	if err != nil {
		return unavailable(err)
	}
	return nil
}

// proveForReset asks a user who has a second factor for it, before the password changes. It
// returns the ids of the factors that the user had then.
func (v *visit) proveForReset(f *flow, u *pintle.User) (known []string, err error) {
	proof, err := v.resetProof(f, u)
	if err != nil {
		return nil, err
	}
	for _, row := range append(proof.set.totp, proof.set.recovery...) {
		known = append(known, row.ID)
	}
	if len(proof.ways) == 0 {
		return known, nil
	}
	byKey, err := v.provesByPasskey(proof)
	switch {
	case err != nil:
		return nil, err
	case byKey:
		return known, v.proveLinkKey(proof)
	}
	_, err = v.proveCode(u, v.form["code"], func() error { return v.countReset(f) })
	return known, err
}

// dropAddedSince removes second factors that were added while the password was reset, by a
// session that the reset ends. A thief could otherwise add an app during the reset, and
// the owner could not sign in with the new password.
func (v *visit) dropAddedSince(u *pintle.User, known []string) (removed int, err error) {
	removed, err = v.rows.DeleteFactors(v.ctx, u.ID, []string{factorTOTP, factorRecovery}, known)
	if err != nil {
		return 0, unavailable(err)
	}
	return removed, nil
}

// countReset counts a code for a reset. After several the reset has ended.
func (v *visit) countReset(f *flow) error {
	_, err := v.rows.AttemptFlow(v.ctx, f.ID, secondAttempts)
	if errors.Is(err, pintle.ErrConflict) {
		_, err = v.rows.UseFlow(v.ctx, f.ID, resetKind.name)
		if err == nil {
			err = pintle.ErrNotFound
		}
	}
	if errors.Is(err, pintle.ErrNotFound) {
		return problemOf("link_expired")
	}
	if err != nil {
		return unavailable(err)
	}
	return nil
}
