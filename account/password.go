package account

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/internal/tally"
)

// showPassword has the form to change the password, or to set a first one, and one to
// remove it.
func (v *visit) showPassword() (*view, error) {
	u, err := v.user()
	if err != nil {
		return nil, err
	}
	h, err := v.ways(v.ctx, u)
	if err != nil {
		return nil, err
	}
	if v.lacks != nil && !h.password {
		return nil, v.lacks
	}
	name := "password-first"
	inputs := []page.Input{v.newPasswordInput("password")}
	if h.password {
		name = "password"
		inputs = append([]page.Input{v.currentPasswordInput("current")}, inputs...)
	} else if !isProved(u) {
		return nil, v.unproved()
	}
	p := v.newPage(name, "")
	p.Forms = []page.Form{v.formTo("password", name, inputs...)}
	p.Links = []page.Link{v.link("", "back")}
	switch {
	case !h.password || !h.beside():
	case v.lacks != nil: // the form to remove it has no field for the password
		p.Links = append([]page.Link{{URL: v.lacks.URL, Text: v.pageText("password-remove").Button}}, p.Links...)
	default:
		remove := v.formTo("password", "password-remove")
		remove.Heading.Before, remove.Secondary, remove.Grave = v.pageText("password-remove").Heading, true, true
		remove.Hidden = append(remove.Hidden, page.HiddenField{Name: "remove", Value: "1"})
		p.Forms = append(p.Forms, remove)
	}
	return &view{page: p, data: map[string]any{"has_password": h.password, "min": v.minimum}}, nil
}

// hasPassword reports whether a user can sign in with a password.
func (v *visit) hasPassword(u *pintle.User) (bool, error) {
	_, hash, err := v.storedPassword(v.ctx, u)
	if err != nil {
		return false, unavailable(err)
	}
	return hash != "", nil
}

// currentPasswordInput is the field for the password that the user has.
func (v *visit) currentPasswordInput(name string) page.Input {
	return page.Input{
		Name: name, Label: v.word("current_password"), Type: "password", Show: v.word("show_password"), Autocomplete: "current-password", Required: true,
	}
}

// unproved is the problem of a user who has not proven the address. What signs a user in
// must not be added before: an attacker could add it to an account that the owner of the
// address then uses.
func (v *visit) unproved() *problem {
	p := problemOf("address_unproved")
	p.links = []page.Link{{URL: v.toProof(), Text: v.word("prove")}}
	return p
}

// changePassword changes the password of the session's user, sets a first one, or
// removes it. All other sessions end. The current password is proof enough for a change, so
// that a user without a second factor is asked once.
func (v *visit) changePassword() (next string, err error) {
	u, err := v.user()
	if err != nil {
		return "", err
	}
	row, current, err := v.storedPassword(v.ctx, u)
	if err != nil {
		return "", unavailable(err)
	}
	_, sent := v.form["current"]
	if v.lacks != nil && (!sent || current == "" || v.form["remove"] != "") {
		return "", v.lacks
	}
	switch {
	case v.form["remove"] != "":
		if current == "" {
			return "", problemOf("not_found")
		}
		return v.removePassword(u, row)
	case current == "":
		// A form that sends a current password means the change of one.
		if sent {
			return "", problemOf("changed_meanwhile")
		}
		return v.firstPassword(u, row)
	case !sent:
		return "", problemOf("has_password")
	}
	if err := v.verifyCurrent(u, v.form["current"]); err != nil {
		return "", err
	}
	if v.form["password"] == v.form["current"] {
		return "", inField("password", "password_same")
	}
	// Verifying may have replaced the hash. A row with another Step has another password: a
	// thief of the old one must not replace what the owner has chosen meanwhile.
	now, err := v.passwordOf(v.ctx, u.ID)
	if err != nil {
		return "", unavailable(err)
	}
	if chosenAt(now) != chosenAt(row) {
		return "", problemOf("changed_meanwhile")
	}
	row = now
	return v.replacePassword(u, row, "password_changed", "password-changed")
}

// firstPassword sets the password of a user who has none.
func (v *visit) firstPassword(u *pintle.User, row *accountstore.Factor) (next string, err error) {
	if !isProved(u) {
		return "", v.unproved()
	}
	return v.replacePassword(u, row, "password_set", "password-set")
}

// replacePassword stores the password of the form and gives this browser a new session.
// row is what the user has so far.
func (v *visit) replacePassword(u *pintle.User, row *accountstore.Factor, notice, mail string) (next string, err error) {
	hash, err := v.choose("password", v.form["password"], u)
	if err != nil {
		return "", err
	}
	before := v.session.Authentication
	v.seeThrough()
	err = v.whileSignedOut(v.ctx, u.ID, func() error { return v.newSecret(u, row, hash) })
	if v.chosen != "" { // also if a later step has failed
		v.notify(mail, u, "", "forgot")
	}
	if err != nil {
		return "", err
	}
	if err := v.startAgain(u, before, methodPassword); err != nil {
		return "", err
	}
	return withQuery(v.site.path(""), "notice", notice), nil
}

// removePassword removes a password that is not the last way in.
func (v *visit) removePassword(u *pintle.User, row *accountstore.Factor) (next string, err error) {
	h, err := v.ways(v.ctx, u)
	if err != nil {
		return "", err
	}
	if !h.beside() {
		return "", problemOf("last_sign_in")
	}
	before := v.session.Authentication
	v.seeThrough()
	dropped := false
	err = v.whileSignedOut(v.ctx, u.ID, func() error {
		err := v.dropPassword(u, row)
		dropped = err == nil
		return err
	})
	if dropped { // also if a later step has failed
		v.notify("password-removed", u, "", "")
	}
	if err != nil {
		return "", err
	}
	if err := v.startAgain(u, before); err != nil {
		return "", err
	}
	return withQuery(v.site.path(""), "notice", "password_removed"), nil
}

// dropPassword removes the hash, if it is the one that was read: the owner may have chosen
// another password meanwhile. A row without a hash stays. It keeps the password in a
// former table of the application from signing in again, and sign-ins with the old one from
// being completed.
func (v *visit) dropPassword(u *pintle.User, row *accountstore.Factor) error {
	return v.storePassword(v.ctx, u.ID, row, "")
}

// verifyCurrent checks the password of a user who is signed in, within the limits of
// guesses: a session may be in the hands of a thief.
func (v *visit) verifyCurrent(u *pintle.User, entered string) error {
	return v.verifyOwn(u, "current", entered)
}

// verifyOwn compares what was entered in a field with the password of the user of the
// session, within the limits of sign-ins: a thief who begins new sessions by a mailbox would
// have ten more guesses with each.
func (v *visit) verifyOwn(u *pintle.User, field, entered string) error {
	return v.withinTries(u, func() error {
		ctx := context.WithValue(tally.With(v.ctx, v.counts), signedInKey{}, true)
		found, err := v.passwords.Authorize(ctx, &pintle.Submission{
			Fields: map[string]any{"email": u.Email, "password": entered}, Request: v.r, Client: v.client(),
		})
		if limit, ok := errors.AsType[*pintle.Error](err); ok && errors.Is(err, pintle.CodeCredentials) {
			return tooMany(limit.RetryAfter)
		}
		if err != nil {
			return unavailable(err)
		}
		if found == nil || found.ID != u.ID {
			return inField(field, "wrong_password")
		}
		return nil
	})
}

// askMust is the part of the gate for users who need another password.
func (a *Accounts) askMust(ctx context.Context, p *pintle.PendingSignIn) (page string, err error) {
	if ctx.Value(newPasswordKey{}) != nil || a.o.Passwords.Off {
		return "", nil
	}
	state, err := a.askedState(ctx, p)
	if err != nil {
		return "", err
	}
	switch {
	case mustDo(state, mustReplace) && needsMail(p) && !hasSecondProof(p):
		// Others know the password: alone it must not choose the next one.
		a.mailOnHold(proveKind, p)
		return a.heldAt("prove"), nil
	case mustDo(state, mustPassword), mustDo(state, mustReplace):
		return a.heldAt("must-change"), nil
	}
	return "", nil
}

// hasSecondProof reports whether a sign-in has shown a code of an app or a recovery code.
func hasSecondProof(p *pintle.PendingSignIn) bool {
	return slices.ContainsFunc(p.Authentication.Methods, func(method string) bool {
		return method == methodTOTP || method == methodRecovery
	})
}

// pending returns the sign-in that waits in this browser.
func (v *visit) pending() (*pintle.PendingSignIn, error) {
	p, err := v.auth.PendingSignIn(v.r)
	if err != nil {
		return nil, unavailable(err)
	}
	if p == nil {
		return nil, problemOf("flow_missing")
	}
	v.about = p.User.ID
	return p, nil
}

// pendingAt returns the sign-in that the gate sends to a page. A sign-in that waits at
// another page is not found: one that waits for a second factor must not change the
// password, for example.
func (v *visit) pendingAt(name string) (*pintle.PendingSignIn, error) {
	p, err := v.pending()
	if err != nil {
		return nil, err
	}
	page, err := v.ask(v.ctx, p)
	if err != nil {
		return nil, asProblem(err)
	}
	if page != v.heldAt(name) {
		return nil, problemOf("flow_missing")
	}
	return p, nil
}

func (v *visit) showMustChange() (*view, error) {
	if _, err := v.pendingAt("must-change"); err != nil {
		return nil, err
	}
	p := v.newPage("must-change", "")
	p.Forms = []page.Form{v.formTo("must-change", "must-change", v.newPasswordInput("password"))}
	return &view{page: p, data: map[string]any{"min": v.minimum}}, nil
}

// mustChange replaces the password of a user who may sign in but for that, and goes on
// with the sign-in. All sessions of before end.
func (v *visit) mustChange() (next string, err error) {
	p, err := v.pendingAt("must-change")
	if err != nil {
		return "", err
	}
	row, old, err := v.storedPassword(v.ctx, p.User)
	if err != nil {
		return "", unavailable(err)
	}
	chosen := v.form["password"]
	same, err := v.hasher.Verify(v.ctx, oldHash(row, old), chosen)
	if err != nil {
		return "", unavailable(err)
	}
	if same {
		return "", inField("password", "password_same")
	}
	hash, err := v.choose("password", chosen, p.User)
	if err != nil {
		return "", err
	}
	v.chosen = hash
	change := func() error {
		// After the row was read the sign-in still waits: otherwise the owner may have reset the
		// password in between, and the row would be the new one.
		if err := v.storePassword(v.ctx, p.User.ID, row, hash); err != nil {
			return err
		}
		v.notify("password-changed", p.User, "", "forgot")
		return nil
	}
	v.ctx = withNewPassword(v.ctx)
	if next, err = v.completeAlone(p.User, change); err != nil {
		return "", err
	}
	if next != p.RedirectTo {
		// Another page comes first. A sign-in with the old password goes no further.
		if err := v.endSessions(v.ctx, p.User.ID); err != nil {
			return "", err
		}
		v.untilNextSecond(v.ctx)
		next = v.site.signIn("notice", "sign_in_again")
	}
	// Last: until the sessions of before have ended the user is asked again.
	return next, v.settleMust(p.User)
}

// completeAlone goes on with the sign-in of u after a change that must leave nothing of before:
// another person may know the password, or may have used the account before its address was
// proven. The sessions end before the change, so that one that cannot end them is not made, and
// after it. That holds too if the user leaves the browser at the next page of the sign-in.
func (v *visit) completeAlone(u *pintle.User, change func() error, methods ...string) (next string, err error) {
	v.seeThrough()
	var failed error
	next, err = v.auth.CompleteSignIn(v.w, v.r.WithContext(v.ctx), pintle.CompleteOptions{
		Methods: methods,
		Change: func(context.Context) error {
			if failed = v.betweenEnds(u.ID, change); failed == nil {
				return nil
			}
			if p := asProblem(failed); p.err != nil {
				return storeFault(p.err)
			}
			return failed
		},
	})
	switch {
	case failed != nil:
		return "", failed
	case err != nil:
		return "", asProblem(err)
	}
	return next, v.notOvertaken(u)
}

// betweenEnds makes a change between two ends of the flows of a user.
func (v *visit) betweenEnds(userID string, change func() error) error {
	if err := v.endFlows(v.ctx, userID); err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	return v.endFlows(v.ctx, userID)
}

type newPasswordKey struct{}

// withNewPassword marks a sign-in in whose request the password was chosen: it is neither
// stale nor to be changed.
func withNewPassword(ctx context.Context) context.Context {
	return context.WithValue(ctx, newPasswordKey{}, true)
}

// askPassword denies a sign-in whose password was changed or removed after the request
// came. A sign-in with the old one may be under way while its owner ends all sessions.
func (a *Accounts) askPassword(ctx context.Context, p *pintle.PendingSignIn) (page string, err error) {
	if p.Authentication.Provider != providerID || ctx.Value(newPasswordKey{}) != nil {
		return "", nil
	}
	rows, err := a.askedFactors(ctx, p)
	if err != nil {
		return "", err
	}
	row := passwordIn(rows)
	// The times are those of servers and not of the store, whose interface has no clock. A
	// version that the check of the password has read would be exact, but the root passes
	// nothing from Credentials.Authorize to this question. Both times are in whole
	// milliseconds: in the same one the order is not known.
	stale := row == nil && a.o.Passwords.Import == nil ||
		row != nil && (row.Secret == "" || row.Step >= p.Authentication.Time.UnixMilli())
	if stale {
		return "", &pintle.Error{
			Code: pintle.CodeCredentials, Provider: providerID,
			Err: errors.New("account: the password was changed while the sign-in was under way"),
		}
	}
	return "", nil
}

// askBan denies the sign-in of a user who is banned.
func (a *Accounts) askBan(ctx context.Context, p *pintle.PendingSignIn) (page string, err error) {
	state, err := a.askedState(ctx, p)
	if err != nil {
		return "", err
	}
	if state.BannedUntil.After(time.Now()) {
		return "", &pintle.Error{
			Code: pintle.CodeAccessDenied, Provider: p.Authentication.Provider, Err: errors.New("account: the user is banned"),
		}
	}
	return "", nil
}
