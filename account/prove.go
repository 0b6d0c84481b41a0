package account

import (
	"context"
	"crypto/sha256"
	"errors"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/page"
)

// A user proves the address by a code that was mailed to it: at the sign-in with a
// password that was set before anyone had proven the address (an import, or an
// operator, made the user), before a password that is due, or while signed in, before the
// first password, second factor or account of a provider is added.

// askProof is the part of the gate for users who have not proven their address, and come
// with a password or are to choose one: nothing that signs in goes with an address that may
// be that of another person.
func (a *Accounts) askProof(ctx context.Context, p *pintle.PendingSignIn) (page string, err error) {
	if needs, err := a.needsProof(ctx, p); err != nil || !needs {
		return "", err
	}
	a.mailOnHold(proveKind, p)
	return a.heldAt("prove"), nil
}

// mailOnHold mails the code of a sign-in that is held for the first time: the page that
// follows says that there is a mail. When a page asks the gate again, no mail is sent.
func (a *Accounts) mailOnHold(k kind, p *pintle.PendingSignIn) {
	if !p.Expires.IsZero() {
		return
	}
	v := a.visitOf(p.Request)
	if _, err := v.codeFlow(k, pendingID(p), p.User); err != nil {
		v.record(err) // the page offers to send it
	}
}

// needsProof reports whether a sign-in waits for a proof of the address.
func (a *Accounts) needsProof(ctx context.Context, p *pintle.PendingSignIn) (bool, error) {
	if p.User.Email == "" || isProved(p.User) {
		return false, nil
	}
	state, err := a.askedState(ctx, p)
	if err != nil {
		return false, err
	}
	if mustDo(state, mustPassword) && !a.o.Passwords.Off {
		return true, nil
	}
	if p.Authentication.Provider != providerID || a.o.SignUp.Verify == VerifyNone {
		return false, nil
	}
	enrols, err := a.willEnrol(ctx, p) // whose page asks for the proof, too
	return !enrols && err == nil, err
}

// pendingID names the flow of a kind that goes with a sign-in that waits.
func pendingID(p *pintle.PendingSignIn) string { return "pending " + p.ID }

// idOf is the id of the one flow of a kind that belongs to something with a name.
func (b *boxes) idOf(k kind, name string) accountstore.Hash {
	return sha256.Sum256([]byte("pintle account " + k.name + "\x00" + b.tenant + "\x00" + name))
}

// codeFlow begins the flow of a code and mails it, unless there is one already, or too
// many mails went to the address.
func (v *visit) codeFlow(k kind, name string, u *pintle.User) (*flow, error) {
	id := v.boxes.idOf(k, name)
	f, err := v.findFlow(v.ctx, k, id)
	if !isProblem(err, "link_expired") {
		return f, err
	}
	if err := v.allowCode(u.Email); err != nil {
		return nil, err
	}
	// The row of one that has expired may not be swept yet.
	if _, err := v.rows.UseFlow(v.ctx, id, k.name); err != nil && !errors.Is(err, pintle.ErrNotFound) {
		return nil, unavailable(err)
	}
	if f, err = v.createFlow(v.ctx, k, id, u.ID, payload{Email: u.Email}); err != nil {
		return nil, err
	}
	return f, v.mailCode(f)
}

// mailCode sends a new code to the address of a flow.
func (v *visit) mailCode(f *flow) error {
	code := v.newCode(f)
	if err := v.changeFlow(v.ctx, f); err != nil {
		return err
	}
	v.send(letter{kind: "code", to: f.payload.Email, code: spaced(code), expires: f.codeExpires()})
	return nil
}

// A proving is a user whose address is to be proven.
type proving struct {
	user *pintle.User
	name string // of the flow

	// session is that of a user who is signed in. Otherwise a sign-in waits.
	session *pintle.Session

	// claims reports that the user is one of a deferred sign-up, and the address is a claim.
	claims bool
}

// proving returns whose address is to be proven: that of the sign-in that waits, and
// otherwise that of the session.
func (v *visit) proving() (*proving, error) {
	p, err := v.auth.PendingSignIn(v.r)
	if err != nil {
		return nil, unavailable(err)
	}
	if p != nil {
		needs, err := v.needsProof(v.ctx, p)
		if err != nil {
			return nil, unavailable(err)
		}
		if !needs { // or waits because its password is stolen
			page, err := v.ask(v.ctx, p)
			if err != nil {
				return nil, asProblem(err)
			}
			needs = page == v.heldAt("prove")
		}
		if needs {
			return &proving{user: p.User, name: pendingID(p)}, nil
		}
	}
	session, err := v.cookieSession()
	if err != nil {
		return nil, unavailable(err)
	}
	if session == nil || session.User.ID == "" {
		return nil, problemOf("signed_out")
	}
	v.session = session
	u, err := v.user()
	if err != nil {
		return nil, err
	}
	claimer, err := v.claimerOf(u)
	if err != nil {
		return nil, err
	}
	if claimer != nil {
		return &proving{user: claimer, name: "user " + u.ID, session: session, claims: true}, nil
	}
	if isProved(u) || u.Email == "" {
		return nil, problemOf("not_found")
	}
	return &proving{user: u, name: "user " + u.ID, session: session}, nil
}

func (v *visit) showProve() (*view, error) {
	who, err := v.proving()
	if err != nil {
		return nil, err
	}
	f, err := v.findFlow(v.ctx, proveKind, v.boxes.idOf(proveKind, who.name))
	if err != nil && !isProblem(err, "link_expired") {
		return nil, err
	}
	if f != nil && f.payload.Proved {
		if shown, err := v.showWhose(who); shown != nil || err != nil {
			return shown, err
		}
	}
	again := page.Form{
		Action: v.site.path("prove"), Button: v.word("again"), Secondary: true,
		Hidden: []page.HiddenField{{Name: "again", Value: "1"}},
	}
	if c := v.callbackURL(); c != "" {
		again.Hidden = append(again.Hidden, page.HiddenField{Name: "callbackUrl", Value: c})
	}
	data := map[string]any{"email": who.user.Email, "sent": f != nil}
	if f == nil { // a page that is only shown sends no mail
		p := v.newPage("prove-begin", who.user.Email)
		again.Button, again.Secondary = v.pageText("prove-begin").Button, false
		p.Forms = []page.Form{again}
		return &view{page: p, data: data}, nil
	}
	p := v.newPage("prove", who.user.Email)
	p.Forms = []page.Form{v.formTo("prove", "prove", v.codeInput()), again}
	return &view{page: p, data: data}, nil
}

// prove takes the code, or mails one.
func (v *visit) prove() (next string, err error) {
	who, err := v.proving()
	if err != nil {
		return "", err
	}
	v.about = who.user.ID
	if v.form["again"] != "" {
		return v.mailProof(who)
	}
	f, err := v.findFlow(v.ctx, proveKind, v.boxes.idOf(proveKind, who.name))
	if err != nil {
		return "", err
	}
	if f.Subject != who.user.ID || f.payload.Email != who.user.Email {
		return "", problemOf("link_expired")
	}
	if who.claims {
		return v.proveClaim(who, f)
	}
	if err := v.checkCode(v.ctx, f, v.form["code"]); err != nil {
		return "", err
	}
	if err := v.notBanned(who.user.ID); err != nil {
		return "", err
	}
	if err := v.useFlow(v.ctx, proveKind, f); err != nil {
		return "", err
	}
	if who.session == nil {
		return v.provePending(who.user)
	}
	prove := func() error {
		return v.proveFirst(&pintle.PendingSignIn{User: who.user, Authentication: provenLately(who.session)})
	}
	if err := v.whileSignedOut(v.ctx, who.user.ID, prove); err != nil {
		return "", err
	}
	if err := v.startAgain(who.user, who.session.Authentication, methodMail); err != nil {
		return "", err
	}
	if v.callbackURL() != "" {
		return v.wayBack(), nil
	}
	return withQuery(v.site.path(""), "notice", "address_proved"), nil
}

// provePending goes on with the sign-in of a user who has typed the code.
func (v *visit) provePending(u *pintle.User) (next string, err error) {
	p, err := v.pending()
	if err != nil {
		return "", err
	}
	return v.completeAlone(u, func() error {
		if isProved(u) {
			return nil
		}
		// Before the gate is asked again: a second factor of another person would keep the user
		// out.
		return v.proveFirst(&pintle.PendingSignIn{User: u, Account: p.Account, Authentication: p.Authentication})
	}, methodMail)
}

// mailProof mails the code once more, or for the first time.
func (v *visit) mailProof(who *proving) (next string, err error) {
	if who.claims {
		return v.onWith("prove", "notice", "mail_sent"), v.mailClaimAgain(who)
	}
	f, err := v.findFlow(v.ctx, proveKind, v.boxes.idOf(proveKind, who.name))
	switch {
	case isProblem(err, "link_expired"):
		_, err := v.codeFlow(proveKind, who.name, who.user)
		return v.onWith("prove"), err
	case err != nil:
		return "", err
	}
	return v.onWith("prove", "notice", "mail_sent"), v.mailAgain(f)
}

// mailAgain mails a new code of a flow. The attempts stay counted.
func (v *visit) mailAgain(f *flow) error {
	if f.payload.Again >= codeAgain {
		return tooMany(0)
	}
	if err := v.allowCode(f.payload.Email); err != nil {
		return err
	}
	f.payload.Again++
	return v.mailCode(f)
}
