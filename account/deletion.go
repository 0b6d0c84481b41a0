package account

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/page"
)

// Deletion are the rules for users who delete their accounts. The zero value lets each user
// do so, and keeps the account for 14 days.
type Deletion struct {
	// After is how long the account can still be kept: sessions end at once, and a sign-in
	// leads to a page that asks whether to keep it. Zero means 14 days, and negative deletes
	// at once. More than 90 days is an error.
	After time.Duration

	// Delete removes what the application has of a user, before the user is removed: of one who
	// has asked for it, and of one who has not proven the address of a deferred sign-up in
	// time. It is called again after an error, or if the process ended meanwhile, and two
	// processes may call it for one user at the same time. So it accepts that something is
	// gone already. Nil removes nothing.
	Delete func(ctx context.Context, u *pintle.User) error

	// Off takes the page out: only server code deletes users.
	Off bool
}

func (d Deletion) check() error {
	if d.After > 90*24*time.Hour {
		return errors.New("account: Options.Deletion.After is more than 90 days: users who delete their accounts expect that it happens")
	}
	return nil
}

// after is how long an account can be kept, and 0 if it is deleted at once.
func (d Deletion) after() time.Duration {
	if d.After == 0 {
		return 14 * 24 * time.Hour
	}
	return max(d.After, 0)
}

func (v *visit) showDelete() (*view, error) {
	name := "delete"
	if v.o.Deletion.after() == 0 {
		name = "delete-now"
	}
	p := v.newPageAt(name, time.Now().Add(v.o.Deletion.after()))
	f := v.formTo("delete", name, page.Input{
		Name: "confirmed", Label: v.word("delete_confirmed"), Type: "checkbox", Required: true,
	})
	f.Grave = true
	p.Forms = []page.Form{f}
	p.Links = []page.Link{v.link("", "back")}
	return &view{page: p, data: map[string]any{"days": int(v.o.Deletion.after() / (24 * time.Hour))}}, nil
}

// beginDeletion ends all that was begun as the user, and plans the deletion.
func (v *visit) beginDeletion() (next string, err error) {
	if v.form["confirmed"] == "" {
		return "", inField("confirmed", "not_confirmed")
	}
	u, err := v.user()
	if err != nil {
		return "", err
	}
	if err := v.notBanned(u.ID); err != nil {
		return "", err
	}
	before, err := v.sessionBasis(u)
	if err != nil {
		return "", err
	}
	at := time.Now().Add(v.o.Deletion.after()).UTC().Truncate(time.Millisecond)
	v.seeThrough()
	planned := false
	err = v.whileSignedOut(v.ctx, u.ID, func() error {
		// A reset of the password, or a ban, has ended the session that asks for it.
		now, err := v.basisOf(v.ctx, u.ID)
		if err != nil {
			return err
		}
		if now != before {
			return problemOf("signed_out")
		}
		planned, err = v.planDeletion(u, before, at)
		return err
	})
	if planned && v.o.Deletion.after() > 0 { // also if a later step has failed
		v.tellOfDeletion("deletion-planned", u, page.Texts(v.texts).Day(at))
	}
	if err != nil {
		return "", err
	}
	v.note("deletion_begun", u.ID)
	if v.o.Deletion.after() > 0 {
		v.untilNextSecond(v.ctx)
		return v.site.signIn("notice", "deletion_planned"), nil
	}
	state, err := v.rows.State(v.ctx, u.ID)
	if err != nil {
		return "", unavailable(err)
	}
	if err := v.deleteNow(v.ctx, state); err != nil && !errors.Is(err, pintle.ErrConflict) { // the job was faster
		return "", unavailable(err) // the job tries again
	}
	v.tellOfDeletion("deletion-done", u, "")
	return v.site.signIn("notice", "deletion_done"), nil
}

// planDeletion stores when the user is deleted, and takes that back if a reset of the password
// has overtaken it. planned reports that it is stored, also beside an error.
func (v *visit) planDeletion(u *pintle.User, before basis, at time.Time) (planned bool, err error) {
	err = v.changeState(v.ctx, u.ID, func(s *accountstore.State) {
		s.DeleteAt, s.Claim = at, "" // a claim that is left would hide the deletion
	})
	if err != nil {
		return false, unavailable(err)
	}
	now, err := v.basisOf(v.ctx, u.ID) // whose state is the one that was stored
	if err == nil && now.chosen == before.chosen {
		return true, nil
	}
	if err == nil {
		err = problemOf("signed_out")
	}
	if failed := v.changeState(v.ctx, u.ID, func(s *accountstore.State) { s.DeleteAt = time.Time{} }); failed != nil {
		v.log().ErrorContext(v.ctx, "pintle: a deletion that was planned during a reset is still planned", slog.String("code", codeIncomplete),
			slog.String("user", u.ID), slog.Any("error", failed))
		return true, err
	}
	return false, err
}

// tellOfDeletion mails the user. No budget holds the mail back: a thief could use it up.
func (v *visit) tellOfDeletion(kind string, u *pintle.User, value string) {
	if !isProved(u) {
		return
	}
	l := letter{kind: kind, to: u.Email, value: value, at: time.Now().UTC(), device: v.device()}
	if kind != "deletion-done" {
		l.link = v.url("")
	}
	v.sendNotice(u, l, true)
}

// askKeep is the part of the gate for users who have deleted their account: for some days it
// can be kept. Afterwards no sign-in succeeds, whether or not the job has come.
func (a *Accounts) askKeep(ctx context.Context, p *pintle.PendingSignIn) (page string, err error) {
	state, err := a.askedState(ctx, p)
	switch {
	case err != nil:
		return "", err
	case !isDeleting(state):
		return "", nil
	case isDue(state):
		return "", &pintle.Error{
			Code: pintle.CodeAccessDenied, Provider: p.Authentication.Provider, Err: errors.New("account: the user has deleted the account"),
		}
	}
	return a.heldAt("keep"), nil
}

// isDue reports whether the time to keep the account is over.
func isDue(s *accountstore.State) bool { return isDeleting(s) && !s.DeleteAt.After(time.Now()) }

func (v *visit) showKeep() (*view, error) {
	p, err := v.pendingAt("keep")
	if err != nil {
		return nil, err
	}
	state, err := v.rows.State(v.ctx, p.User.ID)
	if err != nil {
		return nil, unavailable(err)
	}
	shown := v.newPageAt("keep", state.DeleteAt)
	shown.Forms, shown.Links = []page.Form{v.formTo("keep", "keep")}, []page.Link{v.cancelLink()}
	return &view{page: shown, data: map[string]any{"deletion": wireTime(state.DeleteAt)}}, nil
}

// keep takes the deletion back, and goes on with the sign-in. Every way in leads here.
func (v *visit) keep() (next string, err error) {
	p, err := v.pendingAt("keep")
	if err != nil {
		return "", err
	}
	state, err := v.rows.State(v.ctx, p.User.ID)
	if err != nil {
		return "", unavailable(err)
	}
	if !isDeleting(state) || isDue(state) {
		return "", problemOf("flow_missing")
	}
	// Of this and a deletion that begins, which bans the user first, one changes the state.
	state.DeleteAt = time.Time{}
	if err := v.rows.ChangeState(v.ctx, state); errors.Is(err, pintle.ErrConflict) {
		return "", problemOf("changed_meanwhile")
	} else if err != nil {
		return "", unavailable(err)
	}
	v.seeThrough()
	v.note("deletion_kept", p.User.ID)
	v.tellOfDeletion("deletion-kept", p.User, "")
	if next, err = v.auth.CompleteSignIn(v.w, v.r, pintle.CompleteOptions{}); err != nil {
		return "", asProblem(err)
	}
	return next, nil
}

// duePage is how many users the job reads at a time.
const duePage = 500

// DeleteDue deletes the users who have asked for it and whose time to keep the account is
// over: Options.Deletion.Delete first, then [pintle.Auth.DeleteUser]. Call it from time to
// time, for example once an hour, from any number of processes. It returns how many users it
// has deleted. A user whom it cannot delete is an error, and the others are deleted; the next
// call tries again. So is a user whose codes are suspended after too many wrong ones, who may
// have been kept from keeping the account; an operator decides.
//
// The user receives a mail at the last address.
func (a *Accounts) DeleteDue(ctx context.Context) (deleted int, err error) {
	if a.auth == nil {
		return 0, errors.New("account: DeleteDue was called before pintle.New has the Accounts as Config.Accounts")
	}
	var errs []error
	for after := ""; ; {
		due, err := a.rows.DueUsers(ctx, time.Now(), after, duePage)
		if err != nil {
			return deleted, errors.Join(append(errs, err)...)
		}
		for _, id := range due {
			done, err := a.deleteDue(ctx, id)
			if err != nil {
				errs = append(errs, fmt.Errorf("account: delete the user %s: %w", id, err))
			}
			if done {
				deleted++
			}
			if ctx.Err() != nil {
				return deleted, errors.Join(append(errs, ctx.Err())...)
			}
		}
		if len(due) < duePage {
			return deleted, errors.Join(errs...)
		}
		after = due[len(due)-1]
	}
}

// deleteDue deletes one user, unless the deletion was taken back at this moment.
func (a *Accounts) deleteDue(ctx context.Context, userID string) (done bool, err error) {
	state, err := a.rows.State(ctx, userID)
	if err != nil || !isDue(state) {
		return false, err
	}
	// A thief may have asked for the deletion, and has then kept the owner from the sign-in that
	// keeps the account.
	if a.o.Deletion.after() > 0 && isSuspended(state) {
		return false, errors.New("there were so many wrong codes in a row that the user may have been kept from keeping the account: " +
			"ask the user, and then call Operators.ResetSecondFactor or Operators.Delete")
	}
	u, err := a.store.User(ctx, userID)
	if err != nil && !errors.Is(err, pintle.ErrNotFound) {
		return false, err
	}
	err = a.deleteNow(ctx, state)
	switch {
	case errors.Is(err, pintle.ErrConflict):
		return false, nil
	case err != nil:
		return false, err
	}
	if u == nil {
		return false, nil
	}
	v, err := a.visitOfOperator(ctx)
	if err != nil {
		return true, err
	}
	v.tellOfDeletion("deletion-done", u, "")
	return true, nil
}

// deletionBan is the reason of the ban with which a deletion begins.
const deletionBan = "the user has deleted the account"

// hasBegunDeletion reports whether the user is being deleted: the application may have removed
// its part already.
func hasBegunDeletion(s *accountstore.State) bool {
	return isDeleting(s) && s.BanReason == deletionBan && s.BannedUntil.Equal(accountstore.Forever)
}

// deleteNow deletes a user. The ban comes first: it is a change of the state that was read,
// so it fails with ErrConflict if the user has kept the account since, and after it the user
// cannot.
func (a *Accounts) deleteNow(ctx context.Context, state *accountstore.State) error {
	banned := *state
	banned.Roles = slices.Clone(state.Roles)
	banned.BannedUntil, banned.BanReason = accountstore.Forever, deletionBan
	if err := a.rows.ChangeState(ctx, &banned); err != nil {
		return err
	}
	u, err := a.store.User(ctx, state.UserID)
	if err == nil && a.o.Deletion.Delete != nil {
		if err := a.o.Deletion.Delete(ctx, u); err != nil {
			return fmt.Errorf("Options.Deletion.Delete: %w", err)
		}
	} else if err != nil && !errors.Is(err, pintle.ErrNotFound) {
		return err
	}
	err = a.auth.DeleteUser(pintle.WithSession(ctx, nil), state.UserID) // see endSessions
	switch {
	case errors.Is(err, pintle.ErrNotFound):
		return pintle.ErrConflict // another process was faster, and has told the user
	case errors.Is(err, pintle.Code("NotRevoked")):
		err = nil // the user is gone, and the log has it
	}
	if err == nil {
		a.note(ctx, entry{kind: "deletion_done", goneID: state.UserID})
	}
	return err
}
