package account

import (
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/page"
)

// A thief of a session and of a proof can move the address. The link in the mail to the old
// address gives the account back: no change of the password ends it, and what the thief may
// have added is removed with it.
//
// The mailbox may have another owner by now. So a user who had a second factor long before
// the change shows it, and the password is typed on the page, which no program that opens the
// links in mails does.

// addedBefore is how long before the change of the address a thief may have added what signs
// in. A second factor that is older than this is that of the owner.
const addedBefore = 24 * time.Hour

// An undoLink is a link that undoes a change, before it is mailed.
type undoLink struct {
	token string
	code  string // if passwords are off
	flow  *flow
}

// prepareUndo stores how a change that follows can be undone. It comes first, so that no fault
// of the store leaves a change that nothing undoes. If the process ends between the change and
// the mail, an operator has to undo it. It is nil if there is no mailbox to undo from.
func (v *visit) prepareUndo(u *pintle.User, to string) (*undoLink, error) {
	life := v.o.AddressChange.undoFor()
	if life == 0 || !isProved(u) {
		return nil, nil
	}
	linked, err := v.store.UserAccounts(v.ctx, u.ID)
	if err != nil {
		return nil, unavailable(err)
	}
	p := payload{Email: to, From: u.Email}
	for _, l := range linked {
		p.Accounts = append(p.Accounts, accountKey(l))
	}
	k, token := undoKind, newToken()
	k.life = life
	f, err := v.createFlow(v.ctx, k, hashOf(token), u.ID, p)
	if err != nil {
		return nil, err
	}
	code, err := v.undoCode(f)
	if err != nil {
		return nil, err
	}
	err = v.changeUndoable(u.ID, life, func(ids []string) []string { return append(ids, idText(f)) })
	return &undoLink{token, code, f}, err
}

// dropUndo removes the link of a change that was not made. It was not mailed.
func (v *visit) dropUndo(undo *undoLink) {
	if undo == nil {
		return
	}
	if _, err := v.rows.UseFlow(v.ctx, undo.flow.ID, undoKind.name); err != nil && !errors.Is(err, pintle.ErrNotFound) {
		v.log().WarnContext(v.ctx, "pintle: the undoing of a change that was not made is still stored", slog.String("code", codeIncomplete), slog.Any("error", err))
	}
}

func idText(f *flow) string { return hex.EncodeToString(f.ID[:]) }

// accountKey names an account among those of a user.
func accountKey(a *pintle.Account) string { return a.Provider + "\x00" + a.ProviderAccountID }

// changeUndoable changes the list of the changes that can be undone, the oldest first. Undoing
// one takes those after it from the list: the mailboxes of a thief undo nothing then.
func (v *visit) changeUndoable(userID string, life time.Duration, change func(ids []string) []string) error {
	id := v.boxes.idOf(undoableKind, userID)
	for range 5 {
		f, err := v.findFlow(v.ctx, undoableKind, id)
		if isProblem(err, "link_expired") {
			// The row of a list that has expired may not be swept yet.
			if _, err := v.rows.UseFlow(v.ctx, id, undoableKind.name); err != nil && !errors.Is(err, pintle.ErrNotFound) {
				return unavailable(err)
			}
			f, err = v.createFlow(v.ctx, undoableKind, id, userID, payload{})
			if errors.Is(err, pintle.ErrConflict) {
				continue
			}
		}
		if err != nil {
			return err
		}
		f.payload.Undoable = change(f.payload.Undoable)
		if until := time.Now().Add(life).UTC().Truncate(time.Millisecond); until.After(f.Expires) {
			f.Expires = until
		}
		if err := v.changeFlow(v.ctx, f); !isProblem(err, "changed_meanwhile") && !isProblem(err, "link_expired") {
			return err
		}
	}
	return problemOf("changed_meanwhile")
}

// undoable reports whether a change is in the list.
func (v *visit) undoable(f *flow) error {
	list, err := v.findFlow(v.ctx, undoableKind, v.boxes.idOf(undoableKind, f.Subject))
	if err != nil {
		return err
	}
	if !slices.Contains(list.payload.Undoable, idText(f)) {
		return problemOf("link_expired")
	}
	return nil
}

// heldUndo returns the change that the link in this browser undoes, and its user.
func (v *visit) heldUndo() (*flow, *pintle.User, error) {
	f, held, err := v.heldFlow(undoKind)
	if err != nil {
		return nil, nil, err
	}
	if !held.Linked {
		return nil, nil, problemOf("flow_missing")
	}
	if err := v.undoable(f); err != nil {
		return nil, nil, err
	}
	u, err := v.store.User(v.ctx, f.Subject)
	if errors.Is(err, pintle.ErrNotFound) {
		return nil, nil, problemOf("link_expired")
	}
	if err != nil {
		return nil, nil, unavailable(err)
	}
	state, err := v.rows.State(v.ctx, u.ID)
	if err != nil {
		return nil, nil, unavailable(err)
	}
	if state.BannedUntil.After(time.Now()) || isDue(state) {
		return nil, nil, problemOf("link_expired")
	}
	v.about = u.ID
	return f, u, nil
}

// suspect is the time from which on a thief may have added what signs in.
func (f *flow) suspect() time.Time { return f.Created.Add(-addedBefore) }

// ownFactorsBefore are the second factors that a user had before a thief may have come.
func (v *visit) ownFactorsBefore(userID string, since time.Time) (*factors, error) {
	rows, err := v.rows.Factors(v.ctx, userID)
	if err != nil {
		return nil, unavailable(err)
	}
	return factorsIn(slices.DeleteFunc(rows, func(row *accountstore.Factor) bool { return !row.Created.Before(since) })), nil
}

// showUndo tells what will happen, and asks for the new password.
func (v *visit) showUndo() (*view, error) {
	if taken, err := v.takeLink(undoKind); taken || err != nil {
		return &view{goTo: v.site.path("address-undo")}, err
	}
	f, u, err := v.heldUndo()
	if err != nil {
		return nil, err
	}
	proof, err := v.undoProof(f, u)
	if err != nil {
		return nil, err
	}
	p := v.newPage("address-undo", f.payload.From)
	var inputs []page.Input
	data := map[string]any{"email": f.payload.From, "second_factor": len(proof.ways) > 0, "methods": proof.methods()}
	if !v.o.Passwords.Off {
		inputs = append(inputs, v.newPasswordInput("password"))
		data["min"] = v.minimum
	} else {
		in := v.codeInput()
		in.Name, in.Hint = mailedCode, "" // which says when other codes expire
		inputs = append(inputs, in)
	}
	v.proves(proof, &p, v.formTo("address-undo", "address-undo", inputs...))
	return &view{page: p, data: data}, nil
}

// undoOptions are those of the ceremony of a passkey.
func (v *visit) undoOptions() (*view, error) {
	f, u, err := v.heldUndo()
	if err != nil {
		return nil, err
	}
	proof, err := v.undoProof(f, u)
	if err != nil {
		return nil, err
	}
	return v.linkKeyOptions(proof)
}

// undoProof is what a user who undoes a change proves: a second factor from before a thief may have
// come. A passkey is one also without an app, since the mailbox may have another owner by now. It
// has to be older then, by the life of a link: a thief who adds a passkey to the account of a user
// who has only a password, and waits for a day, would otherwise keep the owner from undoing.
func (v *visit) undoProof(f *flow, u *pintle.User) (*linkProof, error) {
	since := f.suspect()
	set, err := v.ownFactorsBefore(u.ID, since)
	if err != nil {
		return nil, err
	}
	if !set.asked() {
		since = f.Created.Add(-max(addedBefore, v.o.AddressChange.undoFor()))
	}
	keys, err := v.passkeysOf(u.ID, func(key *pintle.Passkey, l *pintle.Account) (bool, error) {
		// Shared tables do not say when a passkey was created. Its account tells then.
		if !key.Created.Before(since) {
			return false, nil
		}
		suspect, err := v.isSuspect(f, u, l, since)
		return !suspect, err
	})
	return v.linkProofOf("address-undo", f, u, set, keys), err
}

// undoAddress gives the account back to the reader of the old mailbox.
//
// All but the password comes before the link is used up, and can be repeated: after a crash
// in between the link still works. Of several requests with one link one sets its password.
func (v *visit) undoAddress() (next string, err error) {
	f, u, err := v.heldUndo()
	if err != nil {
		return "", err
	}
	owner := copyOf(u)
	owner.Email = f.payload.From
	hash, err := v.typedForUndo(f, owner)
	if err != nil {
		return "", err
	}
	if err := v.proveForUndo(f, u); err != nil {
		return "", err
	}
	if _, err := v.addressHolder(u, f.payload.From); err != nil {
		return "", err
	}
	v.seeThrough()
	// What came after goes first. Otherwise the link of a thief could undo the undoing.
	if err := v.changeUndoable(u.ID, 0, func(ids []string) []string { return upTo(ids, idText(f), 1) }); err != nil {
		return "", err
	}
	var back *pintle.User
	err = v.whileSignedOut(v.ctx, u.ID, func() error {
		if back, err = v.moveBack(u, f.payload.From); err != nil {
			return err
		}
		if err := v.dropSuspects(f, u); err != nil {
			return err
		}
		row, err := v.passwordOf(v.ctx, u.ID)
		if err != nil {
			return unavailable(err)
		}
		if err := v.useFlow(v.ctx, undoKind, f); err != nil {
			return err
		}
		if err := v.secretAfterUndo(u, row, hash); err != nil {
			return err
		}
		return v.changeUndoable(u.ID, 0, func(ids []string) []string { return upTo(ids, idText(f), 0) })
	})
	if v.chosen == "" {
		return "", err
	}
	// Also after a fault: the link is used up.
	v.clearCookie(undoKind)
	v.note("address_change_undone", u.ID)
	at, device := time.Now().UTC(), v.device()
	v.sendNotice(back, letter{kind: "address-undone", to: back.Email, value: back.Email, at: at, device: device, link: v.url("forgot")}, true)
	if u.Email != back.Email && isProved(u) {
		v.sendNotice(u, letter{kind: "address-undone", to: u.Email, value: back.Email, at: at, device: device, link: v.url("forgot")}, true)
	}
	v.tell("UpdateUser", v.events.UpdateUser, back)
	if err != nil {
		return "", err
	}
	v.untilNextSecond(v.ctx)
	if v.o.Passwords.Off {
		return v.site.signIn("notice", "sign_in_again"), nil
	}
	return v.site.signIn("notice", "address_undone"), nil
}

// upTo returns the ids before one, and that one with more = 1.
func upTo(ids []string, id string, more int) []string {
	if i := slices.Index(ids, id); i >= 0 {
		return ids[:i+more]
	}
	return ids
}

// undoAttempts is how many codes one link to undo a change takes.
const undoAttempts = 20

// proveForUndo asks a user who had a second factor before a thief may have come for it.
// What the thief has added is not accepted.
//
// The link has attempts apart from those of the user. A thief could use those up for as long
// as the link works, and a reader of the old mailbox could suspend the codes of the user.
func (v *visit) proveForUndo(f *flow, u *pintle.User) error {
	proof, err := v.undoProof(f, u)
	if err != nil || len(proof.ways) == 0 {
		return err
	}
	switch byKey, err := v.provesByPasskey(proof); {
	case err != nil:
		return err
	case byKey:
		return v.proveLinkKey(proof)
	}
	set := proof.set
	code, method := secondCode(v.form["code"])
	var opened []openedTOTP
	switch method {
	case "":
		return inField("code", "code_wrong") // not a guess
	case methodTOTP:
		if opened = v.openTOTP(set.totp); len(opened) == 0 {
			return notCheckable()
		}
	}
	switch _, err := v.rows.AttemptFlow(v.ctx, f.ID, undoAttempts); {
	case errors.Is(err, pintle.ErrConflict):
		return tooMany(0)
	case errors.Is(err, pintle.ErrNotFound):
		return problemOf("link_expired")
	case err != nil:
		return unavailable(err)
	}
	if method == methodRecovery {
		err = v.useRecoveryCode(u, set.recovery, code)
	} else {
		err = v.useAppCode(set, opened, code, time.Now())
	}
	if err != nil {
		return err
	}
	v.acceptCodes(u.ID) // the suspension may be the work of the thief
	return nil
}

// moveBack gives the user the old address. Another request may move it at the same time: the
// last move is this one.
func (v *visit) moveBack(u *pintle.User, to string) (*pintle.User, error) {
	for range 5 {
		holder, err := v.addressHolder(u, to)
		if err != nil {
			return nil, err
		}
		now, err := v.store.User(v.ctx, u.ID)
		if err != nil {
			return nil, unavailable(err)
		}
		back, err := v.moveAddress(now, holder, to)
		if !isProblem(err, "changed_meanwhile") {
			return back, err
		}
	}
	return nil, problemOf("changed_meanwhile")
}

// dropSuspects removes what signs in, or is asked for at sign-ins, that was added since a
// thief may have come, and ends a deletion that the thief may have asked for.
func (v *visit) dropSuspects(f *flow, u *pintle.User) error {
	since := f.suspect()
	rows, err := v.rows.Factors(v.ctx, u.ID)
	if err != nil {
		return unavailable(err)
	}
	if added, others := addedSince(rows, since, factorTOTP, factorRecovery); len(added) > 0 {
		if _, err := v.rows.DeleteFactors(v.ctx, u.ID, []string{factorTOTP, factorRecovery}, others); err != nil {
			return unavailable(err)
		}
	}
	if err := v.forgetDevices(u.ID); err != nil {
		return err
	}
	linked, err := v.store.UserAccounts(v.ctx, u.ID)
	if err != nil {
		return unavailable(err)
	}
	for _, l := range linked {
		if suspect, err := v.isSuspect(f, u, l, since); err != nil {
			return err
		} else if !suspect {
			continue
		}
		if err := v.unlink(u.ID, l); err != nil {
			return err
		}
	}
	if err := v.dropPasskeysSince(u.ID, since); err != nil {
		return err
	}
	if err := v.changeState(v.ctx, u.ID, func(s *accountstore.State) {
		// A ban means that the deletion has begun. A user who is half deleted must not stay.
		if isDeleting(s) && !s.BannedUntil.After(time.Now()) {
			s.DeleteAt = time.Time{}
		}
	}); err != nil {
		return unavailable(err)
	}
	return nil
}

// isSuspect reports whether an account was linked since a thief may have come: after the
// change, or, as linkedKind records, shortly before.
func (v *visit) isSuspect(f *flow, u *pintle.User, l *pintle.Account, since time.Time) (bool, error) {
	if !slices.Contains(f.payload.Accounts, accountKey(l)) {
		return true, nil
	}
	row, err := v.rows.Flow(v.ctx, v.boxes.idOf(linkedKind, u.ID+"\x00"+accountKey(l)))
	if errors.Is(err, pintle.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, unavailable(err)
	}
	return !row.Created.Before(since), nil
}

// dropPasskeysSince removes passkeys whose account is missing, which Auth.js may cause.
func (v *visit) dropPasskeysSince(userID string, since time.Time) error {
	if len(v.passkeys) == 0 {
		return nil
	}
	keys, err := v.store.UserPasskeys(v.ctx, userID)
	if err != nil {
		return unavailable(err)
	}
	for _, key := range keys {
		if key.Created.Before(since) {
			continue
		}
		if err := v.store.DeletePasskey(v.ctx, userID, key.CredentialID); err != nil && !errors.Is(err, pintle.ErrNotFound) {
			return unavailable(err)
		}
	}
	return nil
}

// noteLinked records when an account was linked to a user, since stores do not. An error is
// recorded: the account stays, and is taken for an older one.
func (v *visit) noteLinked(ctx context.Context, userID string, l *pintle.Account) {
	if v.o.AddressChange.undoFor() == 0 {
		return
	}
	k := linkedKind
	k.life = v.o.AddressChange.undoFor() + max(addedBefore, v.o.AddressChange.undoFor()) // see undoProof
	id := v.boxes.idOf(k, userID+"\x00"+accountKey(l))
	_, err := v.rows.UseFlow(ctx, id, k.name) // it may have been linked before, and unlinked
	if err == nil || errors.Is(err, pintle.ErrNotFound) {
		_, err = v.createFlow(ctx, k, id, userID, payload{})
	}
	if err != nil && !errors.Is(err, pintle.ErrConflict) {
		v.log().WarnContext(ctx, "pintle: the time at which an account was linked is not recorded", slog.String("code", codeIncomplete),
			slog.String("provider", strings.ToValidUTF8(l.Provider, "")), slog.Any("error", err))
	}
}
