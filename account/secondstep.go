package account

import (
	"errors"
	"slices"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/page"
)

// beginHeld stores the flow of a pending sign-in if there is none yet.
func (v *visit) beginHeld(k kind, p *pintle.PendingSignIn) error {
	_, err := v.createFlow(v.ctx, k, v.boxes.idOf(k, pendingID(p)), p.User.ID, payload{})
	if errors.Is(err, pintle.ErrConflict) {
		return nil
	}
	return err
}

// A secondStep is a sign-in that waits for a second factor, and what its user can answer.
type secondStep struct {
	pending *pintle.PendingSignIn
	passkey string // the id of the provider of the user's passkeys

	// ways are the methods of the user, the strongest first, and way the one that was
	// chosen. Which there are is for the user alone, who has given the first proof.
	ways []string
	way  string

	// mayRemember reports that the user may have this browser remembered.
	mayRemember bool
}

// secondStep returns the sign-in of the browser.
func (v *visit) secondStep() (*secondStep, error) {
	p, err := v.pending()
	if err != nil {
		return nil, err
	}
	if v.o.SecondFactor.Off {
		return nil, problemOf("flow_missing")
	}
	set, err := v.factorsOf(v.ctx, p.User.ID)
	if err != nil {
		return nil, unavailable(err)
	}
	keys, err := v.keyring(v.ctx, p.User.ID)
	if err != nil {
		return nil, err
	}
	s := &secondStep{pending: p, passkey: keys.passkey}
	if !set.asked() { // a passkey may be all that the user has
		if _, err = v.pendingAt("second-factor"); err != nil {
			return nil, err
		}
	}
	if s.passkey != "" {
		s.ways = append(s.ways, byPasskey)
	}
	if set.asked() {
		s.ways = append(s.ways, byTOTP)
	}
	if len(s.ways) > 0 && len(set.recovery) > 0 {
		s.ways = append(s.ways, byRecovery)
	}
	if len(s.ways) == 0 {
		return nil, problemOf("flow_missing") // the last passkey was removed meanwhile
	}
	mail, err := v.offersMail(s.pending)
	if err != nil {
		return nil, err
	}
	if mail {
		s.ways = append(s.ways, byMail)
	}
	s.way = s.ways[0]
	if wanted := v.asked("method"); slices.Contains(s.ways, wanted) {
		s.way = wanted
	}
	s.mayRemember, err = v.offersToRemember(s.pending)
	return s, err
}

// showSecondFactor is the form of the chosen method, with links to the others.
func (v *visit) showSecondFactor() (*view, error) {
	s, err := v.secondStep()
	if err != nil {
		return nil, err
	}
	data := map[string]any{"methods": s.ways, "remember": s.mayRemember}
	shown := v.newPage(secondPages[s.way], s.pending.User.Email)
	form := v.secondForm(s)
	switch s.way {
	case byMail:
		f, err := v.mailedSecond(s.pending)
		if err != nil {
			return nil, err
		}
		if f == nil {
			shown = v.newPage("second-factor-mail-begin", s.pending.User.Email)
		}
		shown.Forms, data["sent"] = v.mailForms(s, f), f != nil
	case byPasskey:
		form.PasskeyOptionsURL = v.site.path("second-factor-options")
	case byRecovery:
		form.Inputs = append(form.Inputs, v.recoveryInput())
	default:
		form.Inputs = append(form.Inputs, v.totpInput())
	}
	if s.way == byRecovery || !slices.Contains(s.ways, byRecovery) {
		shown.Hint = v.word("lost_factor")
		if !slices.Contains(s.ways, byTOTP) && s.way != byRecovery {
			shown.Hint = v.word("lost_passkey")
		}
	}
	if s.way != byMail {
		if s.mayRemember {
			form.Inputs = append(form.Inputs, v.rememberInput())
		}
		shown.Forms = []page.Form{v.withProblems(form)}
	}
	for _, way := range s.ways {
		if way != s.way {
			shown.Links = append(shown.Links, v.link("second-factor", wayWords[way], "method", way))
		}
	}
	shown.Links = append(shown.Links, v.cancelLink())
	return &view{page: shown, data: data}, nil
}

// secondPages are the texts of the page, by the chosen method.
var secondPages = map[string]string{
	byPasskey: "second-factor-passkey", byTOTP: "second-factor", byRecovery: "second-factor-recovery", byMail: "second-factor-mail",
}

// secondForm is the form of a method, without what is entered.
func (v *visit) secondForm(s *secondStep) page.Form {
	f := v.formTo("second-factor", secondPages[s.way])
	f.Hidden = append(f.Hidden, page.HiddenField{Name: "method", Value: s.way})
	return f
}

func (v *visit) cancelLink() page.Link {
	return page.Link{URL: v.site.signIn(), Text: v.word("cancel")}
}

func (v *visit) totpInput() page.Input {
	return page.Input{
		Name: "code", Label: v.word("totp_code"), Hint: v.word("totp_code_hint"), Autocomplete: "one-time-code",
		InputMode: "numeric", MaxLength: 20, LTR: true, Required: true,
	}
}

func (v *visit) recoveryInput() page.Input {
	return page.Input{
		Name: "code", Label: v.word("recovery_code"), Autocomplete: "off", MaxLength: 40, LTR: true, Required: true,
	}
}

// secondFactor completes the sign-in.
func (v *visit) secondFactor() (next string, err error) {
	s, err := v.secondStep()
	if err != nil {
		return "", err
	}
	switch wanted := v.form["method"]; {
	case wanted == byPasskey && s.way == byPasskey:
		return v.secondByPasskey(s)
	case wanted == byMail && s.way == byMail && v.form["again"] != "":
		return v.mailSecond(s)
	case wanted == byMail && s.way == byMail:
		return v.secondByMail(s)
	case !slices.Contains([]string{"", byTOTP, byRecovery}, wanted):
		return "", problemOf("invalid")
	}
	attempts := 0
	method, err := v.proveCode(s.pending.User, v.form["code"], func() error {
		if err := v.beginHeld(secondKind, s.pending); err != nil {
			return err
		}
		n, err := v.rows.AttemptFlow(v.ctx, v.boxes.idOf(secondKind, pendingID(s.pending)), secondAttempts)
		if attempts = n; errors.Is(err, pintle.ErrConflict) {
			attempts = secondAttempts
			return inField("code", "code_wrong") // parallel requests had them all
		}
		if err != nil {
			return unavailable(err)
		}
		return nil
	})
	if attempts >= secondAttempts && isWrong(err) {
		return "", v.giveUp(s.pending)
	}
	if err != nil {
		return "", err
	}
	next, err = v.completeSecond(s, method)
	if err != nil || method != methodRecovery || next != s.pending.RedirectTo {
		return next, err
	}
	return v.pastFewCodes(s.pending.User, next), nil
}

// completeSecond goes on with the sign-in after a second factor. The browser is remembered if
// the user has ticked that.
func (v *visit) completeSecond(s *secondStep, methods ...string) (next string, err error) {
	browser := v.remember(s)
	next, err = v.auth.CompleteSignIn(v.w, v.r, pintle.CompleteOptions{Methods: methods})
	switch {
	case browser == nil:
	case err != nil:
		v.forgetAgain(browser)
	default:
		v.keepBrowser(browser)
	}
	return next, err
}

// pastFewCodes returns the list of apps, which offers new recovery codes, as the next page of
// a user who has signed in with a recovery code and has few left. The list links to next.
// After the last code the loss of the app would lock the user out.
func (v *visit) pastFewCodes(u *pintle.User, next string) string {
	set, err := v.factorsOf(v.ctx, u.ID)
	if err != nil || len(set.recovery) >= fewCodes || v.onSite(next) == "" {
		return next // the user is signed in all the same
	}
	return withQuery(v.site.path("factors"), "callbackUrl", next)
}

// giveUp ends a sign-in after too many wrong codes, and tells the user, whose password is
// known.
func (v *visit) giveUp(p *pintle.PendingSignIn) error {
	if err := v.auth.CancelSignIn(v.w, v.r); err != nil {
		return unavailable(err)
	}
	if !slices.Contains(p.Authentication.Methods, methodPassword) {
		return problemOf("too_many_attempts")
	}
	v.notify(secondFactorWrong, p.User, "", "forgot")
	return problemOf("too_many_attempts")
}
