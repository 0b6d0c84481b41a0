package account

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/page"
)

// A user who needs a second factor and has none adds one before the sign-in goes on. A user with
// a factor does not come here, because a thief of the password could replace it. The exception is
// a user whose only factor is a passkey, which the sign-in has proven, and who lacks recovery
// codes: see lacksCodes.

// needsCode reports whether a mailed code comes before the first factor: after a password alone,
// and to a user with an unproven address. A second factor goes with no address that may be that of
// another person, who would be kept out of the account by it. What a provider reports is no proof.
func needsCode(p *pintle.PendingSignIn) bool { return isUnproved(p.User) || needsMail(p) }

// isUnproved reports whether a user has an address that the user has not proven.
func isUnproved(u *pintle.User) bool { return u.Email != "" && !isProved(u) }

// needsMail reports whether the first proof was a password alone. A thief of the password
// would otherwise add a second factor, and the owner could not sign in any more.
func needsMail(p *pintle.PendingSignIn) bool {
	if p.User.Email == "" {
		return false // there is no mailbox that the owner could prove to have
	}
	return !slices.ContainsFunc(p.Authentication.Methods, func(method string) bool {
		return method == methodMail || method == methodProvider || method == methodKey
	})
}

// holdForEnrolment is the page of a sign-in that waits for a second factor.
func (a *Accounts) holdForEnrolment(p *pintle.PendingSignIn) string {
	if needsCode(p) {
		a.mailOnHold(enrolKind, p)
	}
	return a.heldAt("enrol")
}

// enrolling returns the sign-in that waits for a second factor, and whether it may add one
// by now, or else the flow of the mailed code, if there is one.
func (v *visit) enrolling() (p *pintle.PendingSignIn, f *flow, may bool, err error) {
	if p, err = v.pendingAt("enrol"); err != nil {
		return nil, nil, false, err
	}
	if !needsCode(p) {
		return p, nil, true, nil
	}
	f, err = v.findFlow(v.ctx, enrolKind, v.boxes.idOf(enrolKind, pendingID(p)))
	if isProblem(err, "link_expired") {
		return p, nil, false, nil
	}
	if err != nil {
		return nil, nil, false, err
	}
	return p, f, f.payload.Proved && f.payload.Email == p.User.Email, nil
}

func (v *visit) showEnrol() (*view, error) {
	p, f, may, err := v.enrolling()
	if err != nil {
		return nil, err
	}
	if !may {
		return v.showEnrolCode(p, f), nil
	}
	codes, err := v.heldCodes(p.User)
	if err != nil {
		return nil, err
	}
	lacks, err := v.lacksCodes(v.ctx, p)
	switch {
	case err != nil:
		return nil, asProblem(err)
	case codes != nil && (!lacks || codes.payload.Secret == ""):
		return v.showCodes("enrol", codes), nil
	case lacks:
		return v.showFirstCodes("enrol"), nil
	}
	return v.showKey("enrol", p.User)
}

// showEnrolCode is the form for the mailed code.
func (v *visit) showEnrolCode(p *pintle.PendingSignIn, f *flow) *view {
	again := page.Form{
		Action: v.site.path("enrol"), Button: v.word("again"), Secondary: true,
		Hidden: []page.HiddenField{{Name: "again", Value: "1"}},
	}
	data := map[string]any{"email": p.User.Email, "sent": f != nil}
	if f == nil { // a page that is only shown sends no mail
		shown := v.newPage("enrol", p.User.Email)
		again.Button, again.Secondary = v.pageText("enrol").Button, false
		shown.Forms, shown.Links = []page.Form{again}, []page.Link{v.cancelLink()}
		return &view{page: shown, data: data}
	}
	shown := v.newPage("enrol-code", p.User.Email)
	shown.Forms = []page.Form{v.formTo("enrol", "enrol-code", v.codeInput()), again}
	shown.Links = []page.Link{v.cancelLink()}
	return &view{page: shown, data: data}
}

// enrol takes the mailed code, then the secret, and then the codes that were saved.
func (v *visit) enrol() (next string, err error) {
	p, f, may, err := v.enrolling()
	if err != nil {
		return "", err
	}
	if !may {
		return v.proveForEnrolment(p, f)
	}
	codes, err := v.heldCodes(p.User)
	if err != nil {
		return "", err
	}
	if lacks, err := v.lacksCodes(v.ctx, p); err != nil {
		return "", asProblem(err)
	} else if lacks {
		return v.enrolCodes(p, codes)
	}
	if codes == nil || v.form["key"] != "" {
		key, err := v.confirmKey(p.User)
		if err != nil {
			return "", err
		}
		return v.site.path("enrol"), v.beginCodes(p.User, key)
	}
	if codes.payload.Secret == "" {
		return "", problemOf("flow_missing")
	}
	return v.addFirst(p, f, codes)
}

// addFirst stores the app whose recovery codes were saved, and goes on with the sign-in. f is the
// flow of the mailed code, or nil.
func (v *visit) addFirst(p *pintle.PendingSignIn, f, codes *flow) (next string, err error) {
	before, err := v.basisOf(v.ctx, p.User.ID)
	if err != nil {
		return "", err
	}
	s, err := v.takeCodes(p.User, codes)
	if err != nil {
		return "", err
	}
	methods := []string{methodTOTP}
	if f != nil {
		methods = append(methods, methodMail)
	}
	if isUnproved(p.User) {
		// The proof comes now, and not when the code was typed: the sign-in can be broken off until
		// here, and then a session of before would go on with a proven address.
		return v.completeAlone(p.User, func() error {
			u, before, err := v.proveAtEnrolment(p, before)
			if err != nil {
				return err
			}
			return v.addAsFirst(u, s, before)
		}, methods...)
	}
	if err := v.addAsFirst(p.User, s, before); err != nil {
		return "", err
	}
	return v.auth.CompleteSignIn(v.w, v.r, pintle.CompleteOptions{Methods: methods})
}

// addAsFirst stores the first factor of a user, and tells the user of it.
func (v *visit) addAsFirst(u *pintle.User, s *saved, before basis) error {
	if err := v.storeFirst(u, s, before); err != nil {
		return err
	}
	v.notify("factor-added", u, "", "factors")
	return nil
}

// proveAtEnrolment records the proof of the address by the mailed code. It returns the user with the
// proof, and what the first factor builds on: the proof may have removed the password.
func (v *visit) proveAtEnrolment(p *pintle.PendingSignIn, before basis) (*pintle.User, basis, error) {
	err := v.proveFirst(&pintle.PendingSignIn{User: p.User, Account: p.Account, Authentication: p.Authentication})
	if err != nil {
		return nil, basis{}, err
	}
	now, err := v.basisOf(v.ctx, p.User.ID)
	if err != nil {
		return nil, basis{}, err
	}
	u := copyOf(p.User)
	u.EmailVerified = time.Now()
	return u, basis{state: before.state, chosen: now.chosen}, nil
}

// proveForEnrolment takes the mailed code, or mails one.
func (v *visit) proveForEnrolment(p *pintle.PendingSignIn, f *flow) (next string, err error) {
	next = v.site.path("enrol")
	switch {
	case v.form["again"] != "" && f == nil:
		_, err = v.codeFlow(enrolKind, pendingID(p), p.User)
		return withQuery(next, "notice", "mail_sent"), err
	case v.form["again"] != "":
		return withQuery(next, "notice", "mail_sent"), v.mailAgain(f)
	case f == nil:
		return "", inField("code", "code_wrong")
	}
	if err := v.checkCode(v.ctx, f, v.form["code"]); err != nil {
		return "", err
	}
	f.payload.Proved, f.Code = true, accountstore.Hash{}
	return next, v.changeFlow(v.ctx, f)
}

// storeFirst stores the first factor of a user. If another one was added meanwhile, that
// is the one to ask for, and the new one goes.
func (v *visit) storeFirst(u *pintle.User, s *saved, before basis) error {
	if err := v.storeSaved(u, s); err != nil {
		return err
	}
	if _, err := v.keepUnlessOvertaken(u, before, s.rows()); err != nil {
		return err
	}
	set, err := v.factorsOf(v.ctx, u.ID)
	if err != nil {
		return unavailable(err)
	}
	if len(set.totp) > 1 {
		if err := v.rows.DeleteFactor(v.ctx, u.ID, factorTOTP, s.app.ID); err != nil && !errors.Is(err, pintle.ErrNotFound) {
			return unavailable(err)
		}
		return problemOf("changed_meanwhile")
	}
	return v.settleEnrolment(u, s, before)
}

// settleEnrolment records that the user has what an operator has asked for, unless the
// operator has asked once more since.
func (v *visit) settleEnrolment(u *pintle.User, s *saved, before basis) error {
	state, err := v.rows.State(v.ctx, u.ID)
	if err != nil {
		return unavailable(err)
	}
	if !mustDo(state, mustEnrol) {
		return nil
	}
	state.Version = before.state
	dropMust(state, mustEnrol)
	switch err := v.rows.ChangeState(v.ctx, state); {
	case errors.Is(err, pintle.ErrConflict):
		_, err := v.keepUnlessOvertaken(u, before, s.rows())
		return err
	case err != nil:
		return unavailable(err)
	}
	return nil
}

func (a *Accounts) resetSecondFactor(ctx context.Context, u *pintle.User) error {
	if err := a.whileSignedOut(ctx, u.ID, func() error { return a.dropFactors(ctx, u.ID) }); err != nil {
		return err
	}
	a.untilNextSecond(ctx)
	a.tellOfOperator(ctx, "factors-reset", u)
	return nil
}

// dropFactors removes the second factors of a user. That one is to be added is written
// first: a sign-in between the two must not do without.
func (a *Accounts) dropFactors(ctx context.Context, userID string) error {
	err := a.changeState(ctx, userID, func(s *accountstore.State) {
		s.Suspended = false
		addMust(s, mustEnrol)
	})
	if err != nil {
		return err
	}
	if _, err = a.rows.DeleteFactors(ctx, userID, []string{factorTOTP, factorRecovery}, nil); err != nil {
		return err
	}
	return a.rows.CountSuccess(ctx, userID, time.Now())
}

// visitOfOperator is for a mail that no request of the user has caused. Its words are those
// of Config.Texts. It goes on if ctx ends: the mail says what has been done.
func (a *Accounts) visitOfOperator(ctx context.Context) (*visit, error) {
	r, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodGet, cmp.Or(a.site.origin, "http://localhost")+a.site.base, http.NoBody)
	if err != nil {
		return nil, err
	}
	return a.visitOf(r), nil
}
