package account

import (
	"context"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/page"
)

// A passkey confirms changes to the account, also where no sign-in asks for it: the password alone may be
// that of a thief. It can be lost, so its user can have recovery codes, as the user of an app has. Pages of
// a session offer them.
//
// A user whom the rules of the application ask for the passkey has to save them. The store does not know
// which passkeys are asked for: the rules may depend on a role. So the codes are not made with the passkey,
// but at the next sign-in that proves it, which goes on once they are saved.

// provesKey reports whether a sign-in has proven a passkey that counts as a second factor. Codes are
// shown to no other sign-in: one with a password alone may be that of a thief.
func provesKey(p *pintle.PendingSignIn) bool { return isVerifiedPasskey(p) || hasSecondKey(p) }

// lacksCodes reports whether a sign-in has proven the passkey that the rules of the application ask
// for, and its user has no recovery codes for the loss of it.
func (a *Accounts) lacksCodes(ctx context.Context, p *pintle.PendingSignIn) (bool, error) {
	if a.o.SecondFactor.Required == nil || a.o.SecondFactor.Off || !provesKey(p) {
		return false, nil
	}
	if p.User.Email != "" && !isProved(p.User) { // a proof of the address would remove them
		return false, nil
	}
	set, err := a.factorsOf(ctx, p.User.ID)
	if err != nil {
		return false, storeFault(err)
	}
	if set.asked() || len(set.recovery) > 0 {
		return false, nil
	}
	must, err := a.o.SecondFactor.Required(ctx, p)
	a.forgetAsked(ctx) // the application may have changed the state
	return must, err
}

// askCodes holds a sign-in that lacks codes.
func (a *Accounts) askCodes(ctx context.Context, p *pintle.PendingSignIn) (string, error) {
	lacks, err := a.lacksCodes(ctx, p)
	if err != nil || !lacks {
		return "", err
	}
	return a.heldAt("enrol"), nil
}

// enrolCodes makes recovery codes for the passkey of a sign-in that is held, and stores them once
// they are saved. held are codes that were made before, or nil.
func (v *visit) enrolCodes(p *pintle.PendingSignIn, held *flow) (next string, err error) {
	// Codes of an app that the user was adding count with that app alone.
	if held == nil || held.payload.Secret != "" || v.form["new"] != "" {
		if v.form["saved"] != "" {
			return "", problemOf("link_expired") // the codes that were shown are not stored
		}
		return v.site.path("enrol"), v.beginCodes(p.User, nil)
	}
	before, err := v.basisOf(v.ctx, p.User.ID)
	if err != nil {
		return "", err
	}
	s, err := v.takeCodes(p.User, held)
	if err != nil {
		return "", err
	}
	if err := v.storeSaved(p.User, s); err != nil {
		return "", err
	}
	if _, err := v.keepUnlessOvertaken(p.User, before, s.rows()); err != nil {
		return "", err
	}
	v.notify("recovery-made", p.User, "", "factors")
	return v.auth.CompleteSignIn(v.w, v.r, pintle.CompleteOptions{})
}

// showFirstCodes is the page that says what the codes are for. Its form makes them: a page that is
// only shown stores nothing.
func (v *visit) showFirstCodes(route string) *view {
	p := v.newPage("recovery-codes-first", "")
	form := v.formTo(route, "recovery-codes-first")
	form.Hidden = append(form.Hidden, page.HiddenField{Name: "new", Value: "1"})
	p.Forms = []page.Form{form}
	return &view{page: p, data: map[string]any{"recoveryLeft": 0}}
}

// usesCodes reports whether a user can have recovery codes: for an app, or for a passkey.
func (v *visit) usesCodes(u *pintle.User, set *factors) (bool, error) {
	switch {
	case set.asked():
		return true, nil
	case v.o.SecondFactor.Off:
		return false, nil
	}
	keys, err := v.keyring(v.ctx, u.ID)
	if err != nil {
		return false, err
	}
	return keys.passkey != "", nil
}

// lacksFirst reports whether a user of a passkey has made no recovery codes, or has used them all.
func (f *factors) lacksFirst() bool { return !f.asked() && len(f.recovery) == 0 }

// codesGroup has the recovery codes of a user who can have some: what they are for, or how many are left.
func (v *visit) codesGroup(set *factors) page.Group {
	text, link := page.Fill(v.pageText("recovery-codes-new").Text[0], count(set.recovery)), v.word("new_codes")
	if set.lacksFirst() {
		first := v.pageText("recovery-codes-first")
		text, link = page.Line{Before: first.Text[0]}, first.Heading
	}
	return page.Group{
		Heading: v.word("recovery_codes"), Text: []page.Line{text}, Links: []page.Link{{URL: v.onWith("recovery-codes"), Text: link}},
	}
}

// acceptsCodes reports whether a recovery code of a user proves something: the user has lost an app
// or a passkey. Codes that are left without either prove nothing.
func (a *Accounts) acceptsCodes(ctx context.Context, userID string, set *factors) (bool, error) {
	switch {
	case set.asked():
		return true, nil
	case len(set.recovery) == 0 || a.o.SecondFactor.Off:
		return false, nil
	}
	keys, err := a.keyring(ctx, userID)
	if err != nil {
		return false, err
	}
	return keys.passkey != "", nil
}

// dropFormerCodes removes recovery codes that were there before the only factor of a user, a passkey
// that was just added: an operator has removed the factor that they were for.
func (a *Accounts) dropFormerCodes(ctx context.Context, userID string) error {
	set, err := a.factorsOf(ctx, userID)
	if err != nil || set.asked() || len(set.recovery) == 0 {
		return err
	}
	keys, err := a.store.UserPasskeys(ctx, userID)
	if err != nil || len(keys) != 1 {
		return err
	}
	_, err = a.rows.DeleteFactors(ctx, userID, []string{factorRecovery}, nil)
	return err
}

// dropLeftCodes removes the recovery codes of a user without an app and without a passkey. They
// prove nothing then, and would be good again with the next passkey.
func (v *visit) dropLeftCodes(userID string) error {
	set, err := v.factorsOf(v.ctx, userID)
	if err != nil {
		return unavailable(err)
	}
	if set.asked() || len(set.recovery) == 0 {
		return nil
	}
	keys, err := v.keyring(v.ctx, userID)
	if err != nil || keys.passkey != "" {
		return err
	}
	if _, err := v.rows.DeleteFactors(v.ctx, userID, []string{factorRecovery}, nil); err != nil {
		return unavailable(err)
	}
	return nil
}
