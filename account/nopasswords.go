package account

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/pages"
)

// An application with Passwords.Off has no provider of passwords and none of passwordRoutes, so
// that requests find nothing, and storedPassword finds no password. The sign-up belongs to them:
// it ends with a password, or with a passkey whose user could not get in again without the mail
// for a forgotten password.

// passwordRoutes are the routes that Passwords.Off leaves out.
var passwordRoutes = []string{
	"sign-up", "sign-up-sent", "sign-up-finish", "sign-up-options", "address-choice",
	"forgot", "forgot-sent", "reset", "reset-options", "password", "must-change",
}

// checkOff returns what makes no sense beside Passwords.Off: rules that would do nothing, and a
// configuration in which nobody could sign in.
func (a *Accounts) checkOff(cfg *pintle.Config) error {
	if !a.o.Passwords.Off {
		return nil
	}
	var errs []error
	p, s := a.o.Passwords, a.o.SignUp
	for _, rule := range []struct {
		set  bool
		name string
	}{
		{p.MinLength != 0, "Passwords.MinLength"},
		{p.Breached != nil, "Passwords.Breached"},
		{p.Import != nil, "Passwords.Import"},
		{p.FormerHash != "", "Passwords.FormerHash"},
		{len(s.Fields) > 0, "SignUp.Fields"},
		{s.Verify != VerifyRequired, "SignUp.Verify"},
	} {
		if rule.set {
			errs = append(errs, fmt.Errorf("account: Options.%s is set, and does nothing with Options.Passwords.Off: remove one of them", rule.name))
		}
	}
	// A passkey is added by a user who is signed in.
	isOther := func(p pintle.Provider) bool { _, is := p.(*pintle.WebAuthn); return !is }
	if !slices.ContainsFunc(cfg.Providers, isOther) && cfg.Connections.Source == nil {
		errs = append(errs, errors.New("account: Options.Passwords.Off is set, and no new user can sign in: "+
			"give Config.Providers one besides passkeys, or Config.Connections"))
	}
	return errors.Join(errs...)
}

// needsMails says what Options.Mail is for.
func (a *Accounts) needsMails() string {
	if a.o.Passwords.Off {
		return "codes and notices are mails"
	}
	return "sign-up and forgotten passwords need mails"
}

// withPasswords is ready for a method that leads to a password.
func (o *Operators) withPasswords(method string) error {
	if err := o.ready(method); err != nil {
		return err
	}
	if o.a.o.Passwords.Off {
		return fmt.Errorf("account: %s leads to a password, and Options.Passwords.Off is set", method)
	}
	return nil
}

// mailedCode is the field for the code of the mail whose link undoes a change of the address.
const mailedCode = "mailedCode"

// undoCode gives the flow of an undo a code if passwords are off. A program that opens links and
// presses buttons would otherwise undo the change: see typedForUndo.
func (v *visit) undoCode(f *flow) (code string, err error) {
	if !v.o.Passwords.Off {
		return "", nil
	}
	code = spaced(v.newCode(f))
	f.payload.CodeUntil = f.Expires.Unix()
	return code, v.changeFlow(v.ctx, f)
}

// typedForUndo checks what the reader of the old mailbox types: a password, whose hash it returns,
// or the code of the mail.
func (v *visit) typedForUndo(f *flow, owner *pintle.User) (hash string, err error) {
	if v.o.Passwords.Off {
		return "", v.checkCodeIn(v.ctx, mailedCode, undoAttempts, f, v.form[mailedCode])
	}
	return v.choose("password", v.form["password"], owner)
}

// secretAfterUndo stores the password that the reader of the old mailbox has chosen. If
// passwords are off, one takes its place with which nobody can sign in, also if they are on
// again later. Its time ends what a thief does meanwhile: see notOvertaken.
func (v *visit) secretAfterUndo(u *pintle.User, before *accountstore.Factor, hash string) error {
	if !v.o.Passwords.Off {
		return v.newSecret(u, before, hash)
	}
	row := newPassword(u.ID, usedMark, time.Now())
	row.Name = temporaryName
	if err := v.storePasswordRow(v.ctx, before, row); err != nil {
		return err
	}
	v.chosen = row.Secret
	return v.settleMust(u)
}

// adviseFor gives a notice to a user without a password other advice than to choose a new one. The
// mail links to the page on which the user ends sessions. A fault leaves the notice as it is: it
// must be sent.
func (v *visit) adviseFor(u *pintle.User, l *letter) {
	l.noPassword = v.o.Passwords.Off
	if !l.noPassword && slices.Contains(advisesPassword, l.kind) {
		_, hash, err := v.storedPassword(v.ctx, u)
		l.noPassword = err == nil && hash == ""
	}
	if l.noPassword && l.link == v.url("forgot") {
		l.link = v.url("devices")
	}
}

// lacksPassword reports whether an addressee has no password. Its work is the same for every
// address, so it does not call Passwords.Import, which may have one.
func (v *visit) lacksPassword(to *addressee) (bool, error) {
	rows, err := v.rows.Factors(v.ctx, cmp.Or(to.user, v.present.Load(), v.absent).ID)
	if err != nil {
		return false, unavailable(err)
	}
	row := passwordIn(rows)
	return v.o.Passwords.Import == nil && (row == nil || usableHash(row) == ""), nil
}

// advisesPassword are the mails whose advice is to choose another password.
var advisesPassword = []string{
	"code", "factor-added", "factor-removed", "address-asked", "address-changed", "address-undone", "deletion-planned", "deletion-kept",
	"exported", "recovery-used", "recovery-made", "account-linked", "account-unlinked", "passkey-added", "passkey-removed",
	"new-device", "new-devices", "codes-suspended",
}

// mailText is the text of a letter. To a user without a password, it gives the advice of
// address-new, which is to write to the operator of the site, and no sentence about the password.
func (v *visit) mailText(l letter) pages.MailText {
	kind, t := l.kind, v.texts.Account.Mails[l.kind]
	switch {
	case !l.noPassword && !v.o.Passwords.Off:
		return t
	case kind == "reset":
		t.Ignore = v.texts.Account.Mails["sign-up"].Ignore
		return t
	case !slices.Contains(advisesPassword, kind):
		return t
	}
	other := v.texts.Account.Mails["address-new"]
	t.Ignore = other.Ignore
	if t.Button != "" {
		t.Button = other.Button
	}
	if name, is := saidByPage[kind]; is {
		text := v.pageText(name).Text
		t.Text = text[:min(1, len(text))]
	}
	return t
}

// saidByPage are mails that speak of a new password where it matters, and the pages whose first
// sentences say the rest.
var saidByPage = map[string]string{"address-undone": "address-undo", "deletion-planned": "delete"}
