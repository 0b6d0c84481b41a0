package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/address"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/internal/userrule"
	"github.com/pintleauth/pintle/internal/uuid"
)

// A fate is the account that a sign-up leads to once the client has shown that it reads mail
// at the address.
type fate int

const (
	// The address is free.
	_ fate = iota

	// knownUser: a user has proven it.
	knownUser

	// sameUser: a user has it who cannot sign in at all, such as one whom an operator
	// has made. The sign-up gives that user the password. A user with an account of a
	// provider is another case, even if the provider is not configured now: it may be
	// configured again, and its owner could then sign in.
	sameUser

	// asksWhose: a user has it, unproven, and can sign in. That user may be the client or
	// an attacker, so the client is asked.
	asksWhose

	// takesAddress: the client has answered that the user is another one, who loses the
	// address.
	takesAddress
)

// A newcomer is the client of a sign-up that has shown that it reads mail at an address.
type newcomer struct {
	email   string
	fate    fate
	user    *pintle.User // who has the address, and after settle the user of the newcomer
	holding *holding     // of user, where it is asked for
	hash    string
	fields  map[string]string
	roles   []string // of an invitation
}

// newcomer decides to which account the sign-up leads. Reading the mail is not enough for the
// account of a user who has not proven the address and can sign in: that takes a sign-in,
// too.
func (v *visit) newcomer(f *flow, held *heldFlow) (*newcomer, error) {
	n := &newcomer{email: f.payload.Email}
	var err error
	if n.user, err = v.userAt(v.ctx, n.email); err != nil {
		return nil, unavailable(err)
	}
	if n.user == nil {
		return n, nil
	}
	if isProved(n.user) {
		n.fate = knownUser
		return n, nil
	}
	if n.holding, err = v.ways(v.ctx, n.user); err != nil {
		return nil, err
	}
	switch {
	case !n.holding.beside() && !n.holding.password && !n.holding.linked:
		n.fate = sameUser
	case held.Taking == n.user.ID:
		n.fate = takesAddress
	default:
		n.fate = asksWhose
	}
	return n, nil
}

// askWhose returns the page that asks whether the account with the address is that of the client.
// The answer goes to a route.
func (v *visit) askWhose(email string, h *holding, route string) *view {
	var names []string
	if h.password {
		names = append(names, v.word("passwords"))
	}
	for _, name := range h.names {
		names = append(names, v.configured(name))
	}
	p := v.newPage("sign-up-taken", email)
	if len(names) > 0 {
		p.Text = append(p.Text, page.Fill(v.word("signs_in_with"), strings.Join(names, ", ")))
	}
	choice := func(name, value string) page.Form {
		return page.Form{
			Action: v.site.path(route), Button: v.pageText(name).Button,
			Hidden: []page.HiddenField{{Name: "choice", Value: value}},
		}
	}
	theirs, other := choice("sign-up-taken", "theirs"), choice("sign-up-new", "new")
	other.Heading.Before, other.Secondary = v.pageText("sign-up-new").Heading, true
	p.Hint = strings.Join(v.pageText("sign-up-new").Text, " ")
	p.Forms = []page.Form{theirs, other}
	return &view{page: p, data: map[string]any{"email": email, "account": "unconfirmed", "ways": names}}
}

// chooseAddress takes the answer. It changes nothing but the cookie of this browser.
func (v *visit) chooseAddress() (next string, err error) {
	f, held, err := v.provenSignUp()
	if err != nil {
		return "", err
	}
	n, err := v.newcomer(f, held)
	if err != nil {
		return "", err
	}
	switch v.form["choice"] {
	case "theirs":
		// The sign-in is the second proof, and a code, once signed in, the first one again.
		return v.site.signIn("callbackUrl", v.site.path("prove")), nil
	case "new":
	default:
		return "", problemOf("invalid")
	}
	if n.fate == asksWhose {
		held.Taking = n.user.ID
		if err := v.setFlowCookie(signUpKind, held); err != nil {
			return "", err
		}
	}
	return v.site.path("sign-up-finish"), nil
}

// askSignUp asks the host whether the user may sign in, and be made, before the user exists.
func (v *visit) askSignUp(n *newcomer) (elsewhere string, err error) {
	attempt := func() *pintle.SignInAttempt {
		u := n.made(time.Now())
		return &pintle.SignInAttempt{
			User: u, Account: &pintle.Account{Type: pintle.TypeCredentials, Provider: providerID, ProviderAccountID: u.ID},
		}
	}
	denied := func(callback string, err error) error {
		v.log().InfoContext(v.ctx, "pintle: a callback denied a sign-up", slog.String("callback", callback), slog.Any("error", err))
		return problemOf("refused")
	}
	if v.callback.SignIn != nil {
		goTo, err := v.callback.SignIn(v.ctx, attempt())
		if err != nil {
			return "", denied("SignIn", err)
		}
		if goTo != "" {
			return cmp.Or(v.onSite(goTo), "/"), nil
		}
	}
	if v.callback.SignUp != nil && n.fate != sameUser {
		if err := v.callback.SignUp(v.ctx, attempt()); err != nil {
			return "", denied("SignUp", err)
		}
	}
	return "", nil
}

// askNewUser is [pintle.Callbacks.SignUp]: the root is about to make a user.
func (a *Accounts) askNewUser(ctx context.Context, attempt *pintle.SignInAttempt) error {
	// The user of a sign-up with a passkey comes from a form that has asked, or from an operator
	// who has invited them.
	if ctx.Value(signUpKey{}) == nil {
		if err := a.o.SignUp.admit(ctx, attempt); err != nil {
			return err
		}
	}
	if a.callback.SignUp != nil {
		return a.callback.SignUp(ctx, attempt)
	}
	return nil
}

// admit returns why no user is made by a sign-in.
func (o *SignUp) admit(ctx context.Context, attempt *pintle.SignInAttempt) error {
	refused := &pintle.Error{Code: pintle.CodeAccessDenied, Provider: attempt.Account.Provider}
	switch attempt.Account.Type {
	case pintle.TypeEmail, pintle.TypeWebAuthn:
		if o.Closed {
			refused.Err = errors.New("the sign-in would make a user, and SignUp.Closed is set")
			return refused
		}
	}
	if o.Allow == nil {
		return nil
	}
	email := provenAddress(attempt)
	err := o.Allow(ctx, email)
	if err == nil {
		return nil
	}
	reason := ""
	if e, ok := errors.AsType[*pintle.Error](err); ok {
		refused.Code, refused.Detail = cmp.Or(e.Code, refused.Code), e.Detail
		if e.Detail != "" {
			reason = " (" + e.Detail + ")"
		}
	} else if code, ok := errors.AsType[pintle.Code](err); ok {
		refused.Code = code
	}
	about := ""
	if email == "" {
		about = ", whose address is not verified (see OAuth.EmailVerified and provider.Options.TrustEmailVerified)"
	}
	refused.Err = fmt.Errorf("SignUp.Allow refused a user whom the sign-in would make%s%s: %w", about, reason, err)
	return refused
}

// provenAddress returns the address of a user who is about to be made, if the person has proven
// it, or the provider has verified it. It is empty otherwise: of an address that anyone can enter at
// a provider, or of a text that another program may read as another address, a rule learns nothing.
func provenAddress(attempt *pintle.SignInAttempt) string {
	switch attempt.Account.Type {
	case pintle.TypeEmail, pintle.TypeWebAuthn:
		if isProved(attempt.User) {
			return attempt.User.Email
		}
		return ""
	}
	verified := attempt.Account.VerifiedEmail
	if normal, err := address.Normalize(verified); err != nil || normal != verified {
		return ""
	}
	return verified
}

// made is the user that a newcomer becomes.
func (n *newcomer) made(now time.Time) *pintle.User {
	if n.fate == sameUser {
		return n.user
	}
	u := &pintle.User{ID: uuid.New(), Email: n.email}
	if n.email != "" { // a deferred sign-up has proven none
		u.EmailVerified = now.UTC().Truncate(time.Millisecond)
	}
	for name, value := range n.fields {
		if name == "name" {
			u.Name = value
			continue
		}
		if u.Extra == nil {
			u.Extra = map[string]any{}
		}
		u.Extra[name] = value
	}
	return u
}

// settle stores what becomes of a newcomer: all of it or nothing.
func (v *visit) settle(n *newcomer) error {
	switch n.fate {
	case sameUser:
		err := v.whileSignedOut(v.ctx, n.user.ID, func() error { return v.becomeUser(n) })
		v.untilNextSecond(v.ctx)
		return err
	case takesAddress:
		// What was begun as the user who loses the address carries it: sessions, and codes
		// that were mailed to it.
		return v.whileSignedOut(v.ctx, n.user.ID, func() error { return v.makeUser(n) })
	}
	return v.makeUser(n)
}

// makeUser makes the user of a newcomer, and tells the application.
func (v *visit) makeUser(n *newcomer) error {
	made, taken, err := v.createUser(n, "")
	if err != nil && n.fate == takesAddress && !errors.Is(err, pintle.ErrConflict) && !errors.Is(err, errProvenMeanwhile) {
		// The column of the address may be NOT NULL. No mail reaches this one.
		//
		// https://www.rfc-editor.org/rfc/rfc6761#section-6.4
		made, taken, err = v.createUser(n, "taken+"+n.user.ID+"@invalid")
	}
	switch {
	case errors.Is(err, pintle.ErrConflict), errors.Is(err, errProvenMeanwhile):
		return problemOf("account_exists")
	case err != nil:
		return unavailable(err)
	}
	if taken != nil {
		v.tell("UpdateUser", v.events.UpdateUser, taken)
	}
	v.note(kindSignUp, made.ID)
	v.tell("CreateUser", v.events.CreateUser, made)
	n.user = made
	return nil
}

// createUser makes the user of a newcomer with a password: both or none. The user who
// loses the address gets another one instead, and is returned as taken.
func (v *visit) createUser(n *newcomer, instead string) (made, taken *pintle.User, err error) {
	err = v.together(func(s pintle.Store) (err error) {
		if n.fate == takesAddress {
			if taken, err = v.takeAddress(s, n.user, instead); err != nil {
				return err
			}
		}
		if made, err = s.CreateUser(v.ctx, n.made(time.Now())); err != nil {
			return err
		}
		row := newPassword(made.ID, n.hash, time.Now())
		if err = v.giveRoles(s.AccountStore(), made.ID, n.roles); err == nil {
			err = s.AccountStore().AddFactor(v.ctx, row)
		}
		if err == nil {
			waitForSignIn(row)
		}
		if err != nil && !v.store.Features().Transactions {
			err = errors.Join(err, s.DeleteUser(v.ctx, made.ID))
		}
		return err
	})
	return made, taken, err
}

// together runs changes as one transaction where the store has them.
func (v *visit) together(change func(pintle.Store) error) error {
	if v.store.Features().Transactions {
		return v.store.InTx(v.ctx, change)
	}
	return change(v.store)
}

// becomeUser gives a user who could not sign in the password and the address.
func (v *visit) becomeUser(n *newcomer) error {
	row, err := v.passwordOf(v.ctx, n.user.ID)
	if err != nil {
		return unavailable(err)
	}
	if err := v.giveRoles(v.rows, n.user.ID, n.roles); err != nil {
		return unavailable(err)
	}
	if err := v.newSecret(n.user, row, n.hash); err != nil {
		return err
	}
	chosen := pintle.Authentication{Methods: []string{methodPassword}} // now
	return v.proveFirst(&pintle.PendingSignIn{User: n.user, Authentication: chosen})
}

var errProvenMeanwhile = errors.New("the address was proven meanwhile")

// takeAddress takes the address away from a user who has not proven it.
func (v *visit) takeAddress(s pintle.Store, u *pintle.User, instead string) (*pintle.User, error) {
	now, err := s.User(v.ctx, u.ID)
	if err != nil {
		return nil, err
	}
	if isProved(now) {
		return nil, errProvenMeanwhile
	}
	if now.Email != u.Email {
		return nil, nil
	}
	// No mail reaches the user any more, who learns of it at the next sign-in. It is written
	// first: a user who is told and keeps the address sees it on the page of the account.
	if err := changeState(v.ctx, s.AccountStore(), u.ID, func(s *accountstore.State) { addMust(s, mustKnow) }); err != nil {
		return nil, err
	}
	// The user may prove another address in between, which must stay.
	return s.UpdateUser(v.ctx, u.ID, pintle.UserUpdate{Email: &instead, EmailVerified: &time.Time{}, IfEmail: &u.Email})
}

// askLost is the part of the gate for users who have lost their address to another person.
func (a *Accounts) askLost(ctx context.Context, p *pintle.PendingSignIn) (page string, err error) {
	state, err := a.askedState(ctx, p)
	if err != nil {
		return "", err
	}
	if mustDo(state, mustKnow) {
		return a.heldAt("address-lost"), nil
	}
	return "", nil
}

func (v *visit) showLost() (*view, error) {
	if _, err := v.pendingAt("address-lost"); err != nil {
		return nil, err
	}
	p := v.newPage("address-lost", "")
	p.Forms = []page.Form{v.formTo("address-lost", "address-lost")}
	return &view{page: p}, nil
}

// knowLost goes on with the sign-in of a user who has read it.
func (v *visit) knowLost() (next string, err error) {
	p, err := v.pendingAt("address-lost")
	if err != nil {
		return "", err
	}
	if err := v.changeState(v.ctx, p.User.ID, func(s *accountstore.State) { dropMust(s, mustKnow) }); err != nil {
		return "", unavailable(err)
	}
	if next, err = v.auth.CompleteSignIn(v.w, v.r, pintle.CompleteOptions{}); err != nil {
		return "", asProblem(err)
	}
	return next, nil
}

// tell calls an event of the application.
func (v *visit) tell(name string, event func(context.Context, *pintle.User) error, u *pintle.User) {
	if event == nil {
		return
	}
	if err := event(v.ctx, u); err != nil {
		v.log().ErrorContext(v.ctx, "pintle: an event of an account failed", slog.String("code", codeEvent), slog.String("event", name), slog.Any("error", err))
	}
}

// maxField is the most characters of a field of the application.
const maxField = 200

// fieldInputs are the fields of the application.
func (v *visit) fieldInputs() []page.Input {
	var inputs []page.Input
	for _, f := range v.o.SignUp.Fields {
		_, required := f.Attributes["required"]
		in := page.Input{
			Name: f.Name, Label: v.configured(cmp.Or(f.Label, f.Name)), Type: f.Type, Value: v.form[f.Name],
			Autocomplete: f.Attributes["autocomplete"], Required: required,
		}
		if f.Type == "checkbox" {
			in.Checked = v.form[f.Name] != ""
		} else {
			in.MaxLength = maxField
			if f.Name == "name" {
				in.MaxLength = userrule.MaxName
			}
		}
		inputs = append(inputs, in)
	}
	return inputs
}

// readFields returns what was entered into the fields of the application. Nothing else that
// was sent is kept, and no text that databases refuse.
func (v *visit) readFields() (map[string]string, error) {
	var fields map[string]string
	for _, f := range v.o.SignUp.Fields {
		value := strings.TrimSpace(v.form[f.Name])
		_, required := f.Attributes["required"]
		if required && value == "" || len([]rune(value)) > maxField || !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl) {
			return nil, inField(f.Name, "invalid")
		}
		if value == "" {
			continue
		}
		if f.Name == "name" { // by the rules of the page that changes it
			if _, err := userName(value); err != nil {
				return nil, err
			}
		}
		if fields == nil {
			fields = map[string]string{}
		}
		fields[f.Name] = value
	}
	return fields, nil
}
