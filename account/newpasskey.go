package account

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/internal/uuid"
)

// A new user may create a passkey in place of a password. The ceremony begins once the
// address is proven, and belongs to the flow of the sign-up: the user that it makes has an
// id made of that of the flow. The root verifies the answer, and creates the user.

// takesPasskey reports whether a sign-up can end with a passkey. A user who has the address
// already gets a password, which does not depend on what else that user has.
func (v *visit) takesPasskey(n *newcomer) bool { return len(v.passkeys) > 0 && n.user == nil }

// newPasskeyForm is the form whose script creates a passkey. It has the fields of the
// application as the one for the password does.
func (v *visit) newPasskeyForm(inputs []page.Input) page.Form {
	f := v.formTo("sign-up-finish", "sign-up-finish", inputs...)
	f.Button, f.Secondary, f.PasskeyOptionsURL = v.word("create_passkey"), true, v.site.path("sign-up-options")
	return f
}

// passkeyUser is the user that a sign-up makes with a passkey.
func (v *visit) passkeyUser(f *flow, n *newcomer) *pintle.User {
	u := n.made(v.began)
	id := sha256.Sum256([]byte("pintle account new user\x00" + v.boxes.tenant + "\x00" + string(f.ID[:])))
	u.ID = uuid.Of([16]byte(id[:16]))
	return u
}

// signUpOptions begins the ceremony, for the script of the page or of the application. It
// stores nothing.
func (v *visit) signUpOptions() (*view, error) {
	f, held, err := v.provenSignUp()
	if err != nil {
		return nil, err
	}
	n, err := v.newcomer(f, held)
	if err != nil {
		return nil, err
	}
	if !v.takesPasskey(n) {
		return nil, problemOf("invalid")
	}
	if held.Began {
		n.fields = f.payload.Fields // the authenticator shows the name
	}
	options, err := v.auth.BeginPasskeySignUp(v.w, v.r, v.passkeys[0], v.passkeyUser(f, n))
	if err != nil {
		return nil, asSignUpProblem(err)
	}
	return &view{data: map[string]any{"action": "register", "options": options}}, nil
}

// finishByPasskey makes the user with the passkey that the answer has.
func (v *visit) finishByPasskey(f *flow, held *heldFlow, n *newcomer) (next string, err error) {
	if !v.takesPasskey(n) {
		return "", problemOf("invalid")
	}
	// Of two browsers that finish one flow, one goes on.
	if err := v.useFlow(v.ctx, signUpKindOf(f), f); err != nil {
		return "", err
	}
	next, err = v.auth.FinishPasskeySignUp(v.w, v.r.WithContext(withSignUp(v.ctx)), v.passkeys[0], v.passkeyUser(f, n), []byte(v.form["data"]),
		pintle.SignInOptions{RedirectTo: f.goesTo(held)})
	made, lookupErr := v.userAt(v.ctx, n.email)
	if lookupErr == nil && made == nil {
		v.giveBack(f)
	}
	if err != nil {
		if made != nil {
			return "", problemOf("account_exists")
		}
		return "", asSignUpProblem(err)
	}
	if made != nil {
		// A session in a token has them from its next renewal on.
		if err := v.giveRoles(v.rows, made.ID, n.roles); err != nil {
			v.record(unavailable(err))
		}
		v.clearCookie(signUpKind)
		v.endSignUps(f)
	}
	return next, nil
}

// giveBack stores a flow again that was used up and has made no user: its user may try
// another authenticator, or a password. Its code is no longer accepted, since the store
// begins to count its attempts anew.
func (v *visit) giveBack(f *flow) {
	f.Code = [32]byte{}
	if err := v.rows.CreateFlow(context.WithoutCancel(v.ctx), f.Flow); err != nil {
		v.log().WarnContext(v.ctx, "pintle: a sign-up cannot go on after a passkey that failed", slog.String("code", codeIncomplete), slog.Any("error", err))
	}
}

// asSignUpProblem is the problem of a passkey that the root has not accepted, and has logged.
func asSignUpProblem(err error) error {
	switch {
	case errors.Is(err, pintle.CodeAccessDenied):
		return problemOf("refused")
	case errors.Is(err, pintle.CodeStore), errors.Is(err, pintle.CodeConfiguration):
		return unavailable(err)
	}
	return problemOf("passkey_failed")
}
