package account

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/address"
	"github.com/pintleauth/pintle/internal/userrule"
)

// An Invitation is for one address.
type Invitation struct {
	// Email is the address. The user cannot choose another one.
	Email string

	// Name is what the user is called if they enter no name; it may be empty.
	Name string

	// Roles are those that the user gets: see [Operators.SetRoles].
	Roles []string
}

// maxInvited is the most characters of the name in an invitation.
const maxInvited = 100

// Invite mails a link with which a person who reads mail at the address makes an account: with
// a password or a passkey, also if [SignUp].Closed is set. It works for seven days, and takes
// the place of an earlier invitation to the address. [SignUp].Allow is not asked.
//
// If the operator is a user of the store, an invitation with roles cannot be accepted while that
// user is banned, is to be deleted or is gone, or lacks a role that the operator had when Invite
// was called. An invitation without roles can.
//
// It returns the link, for an application that sends it by itself: it is a secret, which
// proves the address. The error matches [pintle.ErrConflict] if a user has proven the address.
// It needs [pintle.Config].URL. It returns an error with [Passwords].Off, which leaves the pages
// of sign-up out: see [Operators.Create].
func (o *Operators) Invite(ctx context.Context, i Invitation) (link string, err error) {
	if err := o.withPasswords("Invite"); err != nil {
		return "", err
	}
	email, err := address.Normalize(i.Email)
	if err != nil || len(email) > userrule.MaxAddress {
		return "", errors.New("account: Invite: the address is not one of a mailbox")
	}
	roles, err := checkRoles("Invite", i.Roles)
	if err != nil {
		return "", err
	}
	name := oneLine(i.Name, maxInvited)
	if !utf8.ValidString(i.Name) || name != strings.TrimSpace(i.Name) {
		return "", fmt.Errorf("account: Invite: the name is not one line of at most %d characters", maxInvited)
	}
	v, err := o.mailing(ctx, "Invite")
	if err != nil {
		return "", err
	}
	u, err := o.a.userAt(ctx, email)
	switch {
	case err != nil:
		return "", err
	case isProved(u):
		return "", fmt.Errorf("account: Invite: a user has the address: %w", pintle.ErrConflict)
	}
	// Not about the user who has entered the address without proving it: that may be another
	// person, and would see the invitation on the page of the account.
	n := entry{kind: "op_invited", address: email, detail: []string{detailRoles, strings.Join(roles, " ")}}
	err = o.actOn(ctx, n, func(ctx context.Context) error {
		if err := o.a.endInvitations(ctx, email); err != nil {
			return err
		}
		p := payload{Email: email, Roles: roles}
		if err := o.a.signInvitation(ctx, &p); err != nil {
			return err
		}
		if name != "" {
			p.Fields = map[string]string{"name": name}
		}
		token := newToken()
		f, err := v.createFlow(ctx, inviteKind, hashOf(token), o.a.boxes.subject(email), p)
		if err != nil {
			return err
		}
		link = v.url("sign-up-finish", "token", token)
		v.send(letter{kind: "invitation", to: email, link: link, token: token, expires: f.Expires})
		return nil
	})
	return link, err
}

// RevokeInvitation ends the invitation to an address. The error matches [pintle.ErrNotFound] if
// there is none that can still be accepted.
func (o *Operators) RevokeInvitation(ctx context.Context, email string) error {
	if err := o.ready("RevokeInvitation"); err != nil {
		return err
	}
	email, err := address.Normalize(email)
	if err != nil {
		return pintle.ErrNotFound
	}
	open := 0
	for _, subject := range o.a.boxes.subjects(email) {
		n, err := o.a.rows.CountFlows(ctx, subject, inviteKind.name, time.Now())
		if err != nil {
			return err
		}
		open += n
	}
	if open == 0 {
		return pintle.ErrNotFound
	}
	return o.actOn(ctx, entry{kind: "op_invitation_revoked", address: email}, func(ctx context.Context) error {
		return o.a.endInvitations(ctx, email)
	})
}

// endInvitations ends the invitations to an address.
func (a *Accounts) endInvitations(ctx context.Context, email string) error {
	for _, subject := range a.boxes.subjects(email) {
		if _, err := a.rows.EndFlows(ctx, subject, inviteKind.name); err != nil {
			return err
		}
	}
	return nil
}

// signInvitation notes who gives roles by an invitation, and the roles by which they may.
func (a *Accounts) signInvitation(ctx context.Context, p *payload) error {
	by, err := operator(ctx)
	if err != nil || by == systemOperator || len(p.Roles) == 0 {
		return err
	}
	if _, err := a.store.User(ctx, by); errors.Is(err, pintle.ErrNotFound) {
		return nil // a program, or a person whom the application knows in another way
	} else if err != nil {
		return err
	}
	p.By = by
	p.ByRoles, err = a.rolesOf(ctx, by)
	return err
}

// stillInvited returns the problem link_expired for an invitation whose operator could not give
// its roles now. An operator who is dismissed could otherwise invite an address of their own
// just before, and get the roles back a week later.
func (v *visit) stillInvited(p *payload) error {
	if p.By == "" {
		return nil
	}
	if _, err := v.store.User(v.ctx, p.By); errors.Is(err, pintle.ErrNotFound) {
		return problemOf("link_expired")
	} else if err != nil {
		return unavailable(err)
	}
	state, err := v.rows.State(v.ctx, p.By)
	if err != nil {
		return unavailable(err)
	}
	lost := func(role string) bool { return !slices.Contains(state.Roles, role) }
	if state.BannedUntil.After(time.Now()) || isDeleting(state) || slices.ContainsFunc(p.ByRoles, lost) {
		return problemOf("link_expired")
	}
	return nil
}

// heldSignUp returns the flow of a sign-up or of an invitation whose cookie the browser has.
func (v *visit) heldSignUp() (*flow, *heldFlow, error) {
	f, held, err := v.heldFlow(signUpKind)
	if isProblem(err, "link_expired") {
		return v.heldFlow(inviteKind)
	}
	return f, held, err
}

// takeSignUpLink is takeLink for the links of a sign-up and of an invitation.
func (v *visit) takeSignUpLink() (taken bool, err error) {
	taken, err = v.takeLink(signUpKind)
	if isProblem(err, "link_expired") {
		return v.takeLink(inviteKind)
	}
	return taken, err
}

// signUpKindOf is the kind of a flow that makes a user.
func signUpKindOf(f *flow) kind {
	if f.Kind == inviteKind.name {
		return inviteKind
	}
	return signUpKind
}

// endSignUps ends the other sign-ups and invitations for the address of a flow that has made a
// user. An error changes nothing: they expire in any case, and find the address taken.
func (v *visit) endSignUps(f *flow) {
	for _, subject := range v.boxes.subjects(f.payload.Email) {
		_, _ = v.rows.EndFlows(v.ctx, subject, signUpKind.name, inviteKind.name)
	}
}

// invited adds what an operator has said of the user of an invitation.
func (n *newcomer) invited(f *flow) {
	if f.Kind != inviteKind.name {
		return
	}
	n.roles = f.payload.Roles
	if name := f.payload.Fields["name"]; name != "" && n.fields["name"] == "" {
		if n.fields == nil {
			n.fields = map[string]string{}
		}
		n.fields["name"] = name
	}
}

// giveRoles stores the roles of an invitation, before a session of the user begins.
func (v *visit) giveRoles(rows accountstore.Store, userID string, roles []string) error {
	if len(roles) == 0 {
		return nil
	}
	return changeState(v.ctx, rows, userID, func(s *accountstore.State) { s.Roles = roles })
}
