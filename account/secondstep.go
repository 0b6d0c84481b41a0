package account

import (
	"errors"
	"slices"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/page"
)

// The ways to answer the page of the second factor.
const (
	answerTOTP     = "totp"
	answerRecovery = "recovery"
)

// beginHeld stores the flow of a pending sign-in if there is none yet.
func (v *visit) beginHeld(k kind, p *pintle.PendingSignIn) error {
	_, err := v.createFlow(v.ctx, k, v.boxes.idOf(k, pendingID(p)), p.User.ID, payload{})
	if errors.Is(err, pintle.ErrConflict) {
		return nil
	}
	return err
}

// showSecondFactor is the form for a code. Which methods there are is for the user alone,
// who has given the first proof.
func (v *visit) showSecondFactor() (*view, error) {
	p, err := v.pending()
	if err != nil {
		return nil, err
	}
	set, err := v.factorsOf(v.ctx, p.User.ID)
	if err != nil {
		return nil, unavailable(err)
	}
	if !set.asked() {
		return nil, problemOf("flow_missing")
	}
	data := map[string]any{"methods": set.answers()}
	wanted := v.form["method"]
	if wanted == "" {
		wanted = queryOf(v.r.URL, "method")
	}
	if wanted == answerRecovery {
		shown := v.newPage("second-factor-recovery", "")
		shown.Forms = []page.Form{v.formTo("second-factor", "second-factor-recovery", v.recoveryInput())}
		shown.Forms[0].Hidden = append(shown.Forms[0].Hidden, page.HiddenField{Name: "method", Value: answerRecovery})
		shown.Hint = v.word("lost_factor")
		shown.Links = []page.Link{v.link("second-factor", "use_totp"), v.cancelLink()}
		return &view{page: shown, data: data}, nil
	}
	shown := v.newPage("second-factor", "")
	shown.Forms = []page.Form{v.formTo("second-factor", "second-factor", v.totpInput())}
	shown.Links = []page.Link{v.link("second-factor", "use_recovery_code", "method", answerRecovery), v.cancelLink()}
	return &view{page: shown, data: data}, nil
}

func (v *visit) cancelLink() page.Link {
	return page.Link{URL: v.site.signIn(), Text: v.word("cancel")}
}

// answers are the methods that the user has.
func (f *factors) answers() []string {
	answers := []string{answerTOTP}
	if len(f.recovery) > 0 {
		answers = append(answers, answerRecovery)
	}
	return answers
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
	p, err := v.pending()
	if err != nil {
		return "", err
	}
	if !slices.Contains([]string{"", answerTOTP, answerRecovery}, v.form["method"]) {
		return "", problemOf("invalid")
	}
	if second, err := v.asksSecondFactor(p.User); err != nil {
		return "", err
	} else if !second {
		return "", problemOf("flow_missing")
	}
	attempts := 0
	method, err := v.proveCode(p.User, v.form["code"], func() error {
		if err := v.beginHeld(secondKind, p); err != nil {
			return err
		}
		n, err := v.rows.AttemptFlow(v.ctx, v.boxes.idOf(secondKind, pendingID(p)), secondAttempts)
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
		return "", v.giveUp(p)
	}
	if err != nil {
		return "", err
	}
	next, err = v.auth.CompleteSignIn(v.w, v.r, pintle.CompleteOptions{Methods: []string{method}})
	if err != nil || method != methodRecovery || next != p.RedirectTo {
		return next, err
	}
	return v.pastFewCodes(p.User, next), nil
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
