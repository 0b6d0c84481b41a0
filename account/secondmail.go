package account

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/page"
)

// A code by mail lets a user sign in who does not have the second factor at hand, if the
// application permits that. A mailbox is no second factor: it resets the password as well. So
// the session has one factor, and meets no demand of two.

// mailRest is for how long the fallback rests after a change of the password or of the address,
// which an attacker with the mailbox or a session may have made.
const mailRest = 24 * time.Hour

// offersMail reports whether the page of the second factor has the fallback for a sign-in.
func (v *visit) offersMail(p *pintle.PendingSignIn) (bool, error) {
	if v.o.SecondFactor.MailFallback == nil || !isProved(p.User) || byKey(p) || slices.Contains(p.Authentication.Methods, methodMail) {
		return false, nil
	}
	rested := time.Now().Add(-mailRest)
	if p.User.EmailVerified.After(rested) {
		return false, nil
	}
	row, err := v.passwordOf(v.ctx, p.User.ID)
	if err != nil {
		return false, unavailable(err)
	}
	if chosenAt(row) > rested.UnixMilli() {
		return false, nil
	}
	may, err := v.o.SecondFactor.MailFallback(v.ctx, p)
	if err != nil {
		return false, unavailable(err)
	}
	return may, nil
}

// mailAccepted reports whether a mailed code was right in a sign-in. The flow says so, and not the
// methods of the sign-in: a mail may also have been its first proof.
func (a *Accounts) mailAccepted(ctx context.Context, p *pintle.PendingSignIn) (bool, error) {
	if a.o.SecondFactor.MailFallback == nil {
		return false, nil
	}
	f, err := a.findFlow(ctx, secondKind, a.boxes.idOf(secondKind, pendingID(p)))
	if isProblem(err, "link_expired") {
		return false, nil
	}
	if err != nil {
		return false, storeFault(err)
	}
	return f.payload.Proved && f.Subject == p.User.ID && f.payload.Email == p.User.Email, nil
}

// secondFlow returns the flow of a sign-in, which counts its wrong codes of all kinds.
func (v *visit) secondFlow(p *pintle.PendingSignIn) (*flow, error) {
	id := v.boxes.idOf(secondKind, pendingID(p))
	f, err := v.findFlow(v.ctx, secondKind, id)
	if isProblem(err, "link_expired") {
		if err = v.beginHeld(secondKind, p); err == nil {
			f, err = v.findFlow(v.ctx, secondKind, id)
		}
	}
	return f, err
}

// mailSecond mails a code, or a new one.
func (v *visit) mailSecond(s *secondStep) (next string, err error) {
	f, err := v.secondFlow(s.pending)
	if err != nil {
		return "", err
	}
	if f.payload.CodeUntil == 0 {
		f.payload.Email = s.pending.User.Email
		if err = v.allowCode(f.payload.Email); err == nil {
			err = v.mailCode(f)
		}
	} else {
		err = v.mailAgain(f)
	}
	if err != nil {
		return "", err
	}
	return withQuery(v.site.path("second-factor"), "method", byMail), nil
}

// secondByMail takes the code, and completes the sign-in.
func (v *visit) secondByMail(s *secondStep) (next string, err error) {
	f, err := v.secondFlow(s.pending)
	if err != nil {
		return "", err
	}
	if f.payload.CodeUntil == 0 || f.payload.Email != s.pending.User.Email {
		return "", inField("code", "code_wrong") // none was mailed
	}
	attempts := f.Attempts + 1
	err = v.checkUserCode(s.pending.User, f, v.form["code"])
	if isProblem(err, "too_many_attempts") && asProblem(err).fields != nil || attempts >= secondAttempts && isWrong(err) && v.isCode() {
		return "", v.giveUp(s.pending)
	}
	if err != nil {
		return "", err
	}
	// The code works once: of two requests with it one changes the flow.
	f.payload.Proved, f.payload.CodeUntil, f.Code = true, 0, [32]byte{}
	if err := v.changeFlow(v.ctx, f); err != nil {
		return "", err
	}
	// The browser is not remembered: that would be worth more than this sign-in.
	return v.auth.CompleteSignIn(v.w, v.r, pintle.CompleteOptions{Methods: []string{methodMail}})
}

// isCode reports whether what was typed counts as an attempt.
func (v *visit) isCode() bool {
	_, is := digits(v.form["code"], codeDigits)
	return is
}

// mailForms are the forms of the page for the mailed code, and what stands for %s in its text.
func (v *visit) mailForms(s *secondStep, f *flow) []page.Form {
	send := v.secondForm(s)
	send.Hidden = append(send.Hidden, page.HiddenField{Name: "again", Value: "1"})
	if f == nil {
		send.Button = v.pageText("second-factor-mail-begin").Button
		return []page.Form{send}
	}
	send.Button, send.Secondary = v.word("again"), true
	form := v.secondForm(s)
	form.Inputs = []page.Input{v.codeInput()}
	return []page.Form{v.withProblems(form), send}
}

// mailedSecond returns the flow whose code was mailed, or nil.
func (v *visit) mailedSecond(p *pintle.PendingSignIn) (*flow, error) {
	f, err := v.findFlow(v.ctx, secondKind, v.boxes.idOf(secondKind, pendingID(p)))
	var fault *problem
	switch {
	case isProblem(err, "link_expired"):
		return nil, nil
	case errors.As(err, &fault):
		return nil, err
	case f.payload.CodeUntil == 0:
		return nil, nil
	}
	return f, nil
}
