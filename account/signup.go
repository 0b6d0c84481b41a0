package account

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/internal/query"
)

// showSignUp is the form for an address. It asks for no password: the one who reads the
// mail chooses it, so there is no password of an attacker to confirm.
func (v *visit) showSignUp() (*view, error) {
	if v.o.SignUp.Closed {
		return nil, problemOf("refused")
	}
	p := v.newPage("sign-up", "")
	p.Forms = []page.Form{v.formTo("sign-up", "sign-up", append([]page.Input{v.emailInput()}, v.fieldInputs()...)...)}
	p.Links = []page.Link{{URL: v.site.signIn("callbackUrl", v.callbackURL()), Text: v.word("sign_in")}}
	return &view{page: p}, nil
}

func (v *visit) emailInput() page.Input {
	return page.Input{
		Name: "email", Label: v.word("email"), Type: "email", Value: v.form["email"], Autocomplete: "email", LTR: true, Required: true,
	}
}

// signUp mails a code and a link. Its answer is the same for every address.
func (v *visit) signUp() (next string, err error) {
	if v.o.SignUp.Closed {
		return "", problemOf("refused")
	}
	if err := v.admitAction("sign-up"); err != nil {
		return "", err
	}
	email, err := v.typedAddress()
	if err != nil {
		return "", err
	}
	if err := v.allowed(email); err != nil {
		return "", err
	}
	fields, err := v.readFields()
	if err != nil {
		return "", err
	}
	if err := v.allowMail(email); err != nil {
		return "", err
	}
	if v.o.SignUp.Verify == VerifyDeferred {
		return v.signUpAtOnce(email, fields)
	}
	to, err := v.addressee(email)
	if err != nil {
		return "", err
	}
	// An address that has an account gets a flow, too: one that nothing continues. It
	// behaves alike and costs alike.
	begun := payload{Email: email, CallbackURL: v.callbackURL(), Fields: fields}
	token, f, err := v.beginFlow(v.ctx, signUpKind, v.boxes.subject(email), begun)
	if err != nil {
		return "", err
	}
	if f == nil {
		token = newToken() // enough mails were sent; see maxOpen
	} else if err := v.mailSignUp(f, token, to); err != nil {
		return "", err
	}
	if err := v.setFlowCookie(signUpKind, &heldFlow{Token: token, Began: true}); err != nil {
		return "", err
	}
	return v.site.path("sign-up-sent"), nil
}

// isProved reports whether a user has proven the address that they have.
func isProved(u *pintle.User) bool { return u != nil && u.Email != "" && !u.EmailVerified.IsZero() }

// mailSignUp sends the mail of a flow, with a new code.
func (v *visit) mailSignUp(f *flow, token string, to *addressee) error {
	code := v.newCode(f)
	if to.proved {
		f.Code = [32]byte{} // no code continues it
	}
	if err := v.changeFlow(v.ctx, f); err != nil {
		return err
	}
	v.sendEither(to.proved, v.knownLetter(f.payload.Email, to), letter{
		kind: "sign-up", to: f.payload.Email, code: spaced(code),
		link: v.url("sign-up-finish", "token", token), token: token, expires: f.Expires,
	})
	return nil
}

// showSignUpSent is the form for the code.
func (v *visit) showSignUpSent() (*view, error) {
	held, err := v.heldCookie(signUpKind)
	if err != nil {
		return nil, err
	}
	email := ""
	if f, err := v.findFlow(v.ctx, signUpKind, hashOf(held.Token)); err == nil {
		email = f.payload.Email
	}
	p := v.newPage("sign-up-sent", email)
	if email == "" {
		namesNone := slices.DeleteFunc(slices.Clone(v.pageText("sign-up-sent").Text), func(text string) bool { return strings.Contains(text, "%s") })
		p.Text = page.Plain(namesNone...)
	}
	p.Forms = []page.Form{
		v.formTo("sign-up-sent", "sign-up-sent", v.codeInput()),
		{
			Action: v.site.path("sign-up-sent"), Button: v.word("again"), Secondary: true,
			Hidden: []page.HiddenField{{Name: "again", Value: "1"}},
		},
	}
	p.Links = []page.Link{v.link("sign-up", "begin_again")}
	return &view{page: p}, nil
}

// codeInput is the field for a code that was mailed.
func (v *visit) codeInput() page.Input {
	return page.Input{
		Name: "code", Label: v.word("code"), Hint: v.word("code_hint"), Autocomplete: "one-time-code", InputMode: "numeric",
		MaxLength: 20, LTR: true, Required: true,
	}
}

// proveSignUp takes the code, or sends the mail again.
func (v *visit) proveSignUp() (next string, err error) {
	if v.o.SignUp.Closed {
		return "", problemOf("refused")
	}
	f, held, err := v.heldFlow(signUpKind)
	if err != nil {
		return "", err
	}
	if !held.Began {
		return "", problemOf("flow_missing")
	}
	if v.form["again"] != "" {
		if f.payload.Again >= codeAgain {
			return "", tooMany(0)
		}
		if err := v.allowMail(f.payload.Email); err != nil {
			return "", err
		}
		to, err := v.addressee(f.payload.Email)
		if err != nil {
			return "", err
		}
		f.payload.Again++
		if err := v.mailSignUp(f, held.Token, to); err != nil {
			return "", err
		}
		return withQuery(v.site.path("sign-up-sent"), "notice", "mail_sent"), nil
	}
	if err := v.checkCode(v.ctx, f, v.form["code"]); err != nil {
		return "", err
	}
	f.payload.Proved, f.Code = true, [32]byte{}
	f.Expires = time.Now().Add(timeToFinish).UTC().Truncate(time.Millisecond)
	if err := v.changeFlow(v.ctx, f); err != nil {
		return "", err
	}
	return v.site.path("sign-up-finish"), nil
}

// timeToFinish is how long a sign-up goes on after the code was typed.
const timeToFinish = 30 * time.Minute

// mailRead is the proof that a client of a sign-up reads mail at the address, with its time:
// the sign-in that follows requires no second code (AC-118). The link of an invitation proves no
// mailbox, because [Operators.Invite] returns it to the application, too.
func (v *visit) mailRead(f *flow) map[string]time.Time {
	switch {
	case f.Kind != signUpKind.name:
		return nil
	case f.payload.Proved:
		return map[string]time.Time{methodMail: f.Expires.Add(-timeToFinish)}
	}
	return map[string]time.Time{methodMail: v.began} // the browser has the link
}

// provenSignUp returns the flow of a browser that has shown that its user reads the mail:
// by the link, or by the code where the flow began.
func (v *visit) provenSignUp() (*flow, *heldFlow, error) {
	f, held, err := v.heldSignUp()
	if err != nil {
		return nil, nil, err
	}
	if v.o.SignUp.Closed && f.Kind == signUpKind.name { // begun before sign-ups ended
		return nil, nil, problemOf("refused")
	}
	if !held.Linked && (!held.Began || !f.payload.Proved) {
		return nil, nil, problemOf("flow_missing")
	}
	return f, held, nil
}

// showSignUpFinish has the forms for the password, and for a passkey instead. It names the
// address, so that a person who
// follows the link of an attacker sees whose account it would be.
func (v *visit) showSignUpFinish() (*view, error) {
	if taken, err := v.takeSignUpLink(); taken || err != nil {
		return &view{goTo: v.site.path("sign-up-finish")}, err
	}
	f, held, err := v.provenSignUp()
	if err != nil {
		return nil, err
	}
	n, err := v.newcomer(f, held)
	if err != nil {
		return nil, err
	}
	switch n.fate {
	case knownUser:
		return v.knownAddress(f.payload.Email), nil
	case asksWhose:
		return v.askWhose(f.payload.Email, n.holding, "address-choice"), nil
	}
	p := v.newPage("sign-up-finish", f.payload.Email)
	var inputs []page.Input
	if !held.Began {
		inputs = v.fieldInputs() // what was entered elsewhere may be of another person
	}
	p.Forms = []page.Form{v.formTo("sign-up-finish", "sign-up-finish", append(slices.Clone(inputs), v.newPasswordInput("password"))...)}
	data := map[string]any{"email": f.payload.Email, "min": v.minimum}
	if v.takesPasskey(n) {
		p.Forms = append(p.Forms, v.newPasskeyForm(inputs))
		data["passkey"] = true
	}
	return &view{page: p, data: data}, nil
}

func (v *visit) knownAddress(email string) *view {
	p := v.newPage("sign-up-known", email)
	p.Links = []page.Link{{URL: v.site.signIn(), Text: v.word("sign_in")}, v.link("forgot", "forgot")}
	return &view{page: p, data: map[string]any{"email": email, "account": "exists"}}
}

// newPasswordInput is the field for a password that is chosen.
func (v *visit) newPasswordInput(name string) page.Input {
	return page.Input{
		Name: name, Label: v.word("new_password"), Type: "password", Show: v.word("show_password"), Autocomplete: "new-password", Required: true,
		Hint: strings.Replace(v.word("password_hint"), "%s", strconv.Itoa(v.minimum), 1),
	}
}

// goesTo is where a sign-up leads.
func (f *flow) goesTo(held *heldFlow) string {
	if held.Began && f.payload.CallbackURL != "" {
		return f.payload.CallbackURL
	}
	return "/" // another browser may be that of another person
}

// finishSignUp makes the user, and signs in through the provider of passwords, so that
// every rule for sign-ins holds here as well.
func (v *visit) finishSignUp() (next string, err error) {
	f, held, err := v.provenSignUp()
	if err != nil {
		return "", err
	}
	n, err := v.newcomer(f, held)
	if err != nil {
		return "", err
	}
	switch n.fate {
	case knownUser:
		return "", problemOf("account_exists")
	case asksWhose:
		return v.site.path("sign-up-finish"), nil // which asks
	}
	n.fields = f.payload.Fields
	if !held.Began {
		if n.fields, err = v.readFields(); err != nil {
			return "", err
		}
	}
	if err := v.stillInvited(&f.payload); err != nil {
		return "", err
	}
	n.invited(f)
	if v.form["action"] == "register" {
		return v.finishByPasskey(f, held, n)
	}
	if n.hash, err = v.choose("password", v.form["password"], n.made(time.Now())); err != nil {
		return "", err
	}
	if elsewhere, err := v.askSignUp(n); elsewhere != "" || err != nil {
		return elsewhere, err
	}
	// Of two browsers that finish one flow, one goes on.
	if err := v.useFlow(v.ctx, signUpKindOf(f), f); err != nil {
		return "", err
	}
	v.clearCookie(signUpKind)
	if err := v.settle(n); err != nil {
		return "", err
	}
	v.makeKnown(n.user.ID)
	v.endSignUps(f)
	target := f.goesTo(held)
	if v.newUserPage != "" && n.fate != sameUser {
		target = query.Append(v.newUserPage, "callbackUrl", target)
	}
	next, err = v.auth.SignIn(v.w, v.r.WithContext(withSignUp(withNewPassword(v.ctx))), providerID, pintle.SignInOptions{
		RedirectTo: target, Fields: map[string]any{"email": n.email, "password": v.form["password"]}, Proofs: v.mailRead(f),
	})
	if err != nil {
		return v.site.signIn(), nil //nolint:nilerr // the account exists; the sign-in page says what is wrong
	}
	return next, nil
}
