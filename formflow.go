package pintle

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/internal/uuid"
)

// A formFlow is a sign-in with what was typed into a form of this site, which the
// host checks.
type formFlow struct {
	providerBase
	form *Credentials
}

func newFormFlow(own Credentials) (*provider, *Error) {
	f := &formFlow{own.base(), &own}
	p := &provider{f.providerBase, f, facts{
		hostUsers:     true,
		listsPasskeys: slices.ContainsFunc(own.fields(), Field.listsPasskeys),
	}}
	if own.CanSignIn != nil {
		p.knows = f.knows
	}
	if own.Authorize == nil {
		return p, &Error{Code: codeMissingAuthorize, Provider: p.id, Err: errors.New("Credentials.Authorize is nil: set it to a function that checks what was submitted")}
	}
	return p, nil
}

// begin shows the form: what is typed into it goes to the callback route.
func (f *formFlow) begin(x *exchange) error { return x.toForm() }

// finish has the host check what was typed.
func (f *formFlow) finish(x *exchange) (*arrival, error) {
	if err := x.requirePost(); err != nil {
		return nil, err
	}
	if err := x.requireCSRF(); err != nil {
		return nil, err
	}
	submission := &Submission{Fields: x.body.All(), Request: x.r, Client: x.clientAddress(x.r), x: x}
	user, err := f.form.Authorize(x.ctx, submission)
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, &Error{Code: CodeCredentials, Provider: f.id}
	}
	x.debug("Authorize returned a user")
	user = user.clone()
	if user.ID == "" {
		user.ID = uuid.New()
	}
	return &arrival{
		by: byHost, user: user, submission: submission,
		account:        &Account{Type: TypeCredentials, Provider: f.id, ProviderAccountID: user.ID},
		authentication: Authentication{Methods: []string{methodPassword}},
		// The form token is that of this browser. Without the check any site could
		// have posted the form.
		fromHere: x.csrfVerified && !x.DangerouslySkipCSRFCheck,
	}, nil
}

func (f *formFlow) describe(x *exchange, entry page.Provider) page.Provider {
	entry.Action = x.formAction("/callback/" + f.id)
	entry.Fields = pageFields(f.form.fields())
	return entry
}

// knows reports whether a stored user can sign in with the form.
func (f *formFlow) knows(ctx context.Context, user *User) (bool, error) {
	known, err := f.form.CanSignIn(ctx, user.clone())
	if err != nil {
		return false, &Error{Code: CodeConfiguration, Provider: f.id, Err: fmt.Errorf("Credentials.CanSignIn: %w", err)}
	}
	return known, nil
}
