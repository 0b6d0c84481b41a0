package account

import (
	"cmp"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/page"
)

// A user who is signed in changes the address: a mail to the new one has a code and a link,
// and nothing moves before one of them comes back in a browser where the user is signed in.
// Each other step that an attacker could take is in the hands of the old mailbox: a notice
// when the change begins, and a link that undoes it; see undo.go.

// AddressChange are the rules for changes of the address of a user. [SignUp].Allow decides
// about a new address as well.
type AddressChange struct {
	// Off takes the pages out on which users change their address. A change that waits cannot be
	// finished. A link that undoes an earlier one still works: it is what the owner has against a
	// thief.
	Off bool

	// UndoFor is how long the link in the mail to the old address undoes the change. Whoever
	// has that mailbox can use it, also if it has another owner by then. Zero means 7 days,
	// negative no link, and more than 30 days is an error.
	UndoFor time.Duration
}

// addressRoutes are the routes that AddressChange.Off leaves out.
var addressRoutes = []string{"address", "address-finish", "address-cancel"}

// longestUndo is the most that AddressChange.UndoFor may be.
const longestUndo = 30 * 24 * time.Hour

func (c AddressChange) check() error {
	if c.UndoFor > longestUndo {
		return errors.New("account: Options.AddressChange.UndoFor is more than 30 days: the old mailbox may have another owner by then")
	}
	return nil
}

// undoFor is how long a change can be undone, and 0 if it cannot.
func (c AddressChange) undoFor() time.Duration {
	if c.UndoFor == 0 {
		return 7 * 24 * time.Hour
	}
	return max(c.UndoFor, 0)
}

func (v *visit) showAddress() (*view, error) {
	u, err := v.user()
	if err != nil {
		return nil, err
	}
	p := v.newPage("address", u.Email)
	if u.Email == "" {
		p.Text = page.Plain(v.word("address_none"))
	}
	in := v.emailInput()
	in.Label = v.word("new_email")
	p.Forms = []page.Form{v.formTo("address", "address", in)}
	p.Links = []page.Link{v.link("", "back")}
	return &view{page: p, data: map[string]any{"email": textOrNil(u.Email)}}, nil
}

// beginAddress mails a code and a link to the new address. Its answer and its work are the
// same whether or not a user has the address.
func (v *visit) beginAddress() (next string, err error) {
	u, err := v.user()
	if err != nil {
		return "", err
	}
	email, err := v.typedAddress()
	if err != nil {
		return "", err
	}
	if err := v.allowed(email); err != nil {
		return "", err
	}
	if err := v.allowMail(email); err != nil {
		return "", err
	}
	holder, err := v.findUser(v.ctx, email)
	if err != nil {
		return "", unavailable(err)
	}
	// At most one change is pending: a mistyped one must not stand in the way of the next.
	if _, err := v.rows.EndFlows(v.ctx, u.ID, addressKind.name); err != nil {
		return "", unavailable(err)
	}
	token, f, err := v.beginFlow(v.ctx, addressKind, u.ID, payload{Email: email, From: u.Email})
	if err != nil {
		return "", err
	}
	if f == nil { // requests of this moment have begun others
		return "", tooMany(0)
	}
	same, taken := email == u.Email, isProved(holder) && holder.ID != u.ID
	code := v.newCode(f)
	if same || taken {
		f.Code = accountstore.Hash{} // no code continues it, and no mail has its token
	}
	if err := v.changeFlow(v.ctx, f); err != nil {
		return "", err
	}
	if err := v.setFlowCookie(addressKind, &heldFlow{Token: token, Began: true}); err != nil {
		return "", err
	}
	elsewhere := letter{kind: "address-taken", to: email, at: time.Now()}
	if same {
		elsewhere = letter{}
	}
	v.sendEither(!same && !taken, letter{
		kind: "address-confirm", to: email, code: spaced(code),
		link: v.url("address-finish", "token", token), token: token, expires: f.Expires,
	}, elsewhere)
	if !same {
		v.notify(addressAsked, u, email, "")
	}
	return v.site.path("address-finish"), nil
}

// allowed asks the application whether it takes an address, by its text.
func (v *visit) allowed(email string) error {
	if v.o.SignUp.Allow == nil {
		return nil
	}
	if err := v.o.SignUp.Allow(v.ctx, email); err != nil {
		p := refusal(err)
		v.log().InfoContext(v.ctx, "pintle: SignUp.Allow refused an address", slog.String("detail", p.code), slog.Any("error", err))
		p.fields = map[string]string{"email": p.code}
		return p
	}
	return nil
}

// heldAddress returns the change that this browser can finish, and its user, who is signed in
// here. The reader of the new mailbox alone finishes nothing: the address may be mistyped, and
// belong to another person.
func (v *visit) heldAddress() (*flow, *heldFlow, *pintle.User, error) {
	f, held, err := v.heldFlow(addressKind)
	if err != nil {
		return nil, nil, nil, err
	}
	if v.session, err = v.cookieSession(); err != nil {
		return nil, nil, nil, unavailable(err)
	}
	if v.session == nil || v.session.User.ID == "" {
		return nil, nil, nil, problemOf("signed_out")
	}
	if v.session.User.ID != f.Subject {
		p := problemOf("other_user")
		p.links = []page.Link{{URL: v.site.signIn("callbackUrl", v.site.path("address-finish")), Text: v.word("sign_in")}}
		return nil, nil, nil, p
	}
	u, err := v.user()
	if err != nil {
		return nil, nil, nil, err
	}
	if u.Email != f.payload.From {
		return nil, nil, nil, problemOf("link_expired")
	}
	return f, held, u, nil
}

func (v *visit) showAddressFinish() (*view, error) {
	if taken, err := v.takeLink(addressKind); taken || err != nil {
		return &view{goTo: v.site.path("address-finish")}, err
	}
	f, held, _, err := v.heldAddress()
	if isProblem(err, "signed_out") && !v.json {
		return &view{goTo: v.site.signIn("callbackUrl", v.site.path("address-finish"), "notice", "address_sign_in")}, nil
	}
	if err != nil {
		return nil, err
	}
	name, inputs := "address-sent", []page.Input{v.codeInput()}
	if held.Linked {
		name, inputs = "address-finish", nil
	}
	p := v.newPage(name, f.payload.Email)
	p.Forms = []page.Form{v.formTo("address-finish", name, inputs...), v.cancelAddressForm()}
	p.Links = []page.Link{v.link("address", "begin_again"), v.link("", "back")}
	return &view{page: p, data: map[string]any{"email": f.payload.Email, "code": !held.Linked}}, nil
}

func (v *visit) cancelAddressForm() page.Form {
	return page.Form{Action: v.site.path("address-cancel"), Button: v.word("address_cancel"), Secondary: true, Joined: true}
}

// finishAddress moves the address.
func (v *visit) finishAddress() (next string, err error) {
	f, held, u, err := v.heldAddress()
	if err != nil {
		return "", err
	}
	if !held.Linked {
		if err := v.checkUserCode(u, f, v.form["code"]); err != nil {
			return "", err
		}
	}
	if err := v.notBanned(u.ID); err != nil {
		return "", err
	}
	holder, err := v.addressHolder(u, f.payload.Email)
	if err != nil {
		return "", err
	}
	before, err := v.sessionBasis(u)
	if err != nil {
		return "", err
	}
	if err := v.useFlow(v.ctx, addressKind, f); err != nil {
		return "", err
	}
	v.clearCookie(addressKind)
	v.seeThrough()
	undo, err := v.prepareUndo(u, f.payload.Email)
	if err != nil {
		return "", err
	}
	var moved *pintle.User
	var failed error // beside a move that stays
	stays := false
	err = v.whileSignedOut(v.ctx, u.ID, func() error {
		var evicted []string
		if u.Email != "" && !isProved(u) {
			if evicted, before, err = v.evictForAddress(u, f.payload.Email, before); err != nil {
				return err
			}
		}
		if moved, failed = v.moveAddress(u, holder, f.payload.Email); moved == nil {
			return failed
		}
		back, err := v.stayUnlessOvertaken(u, moved, before)
		if stays = !back; err != nil {
			return err
		}
		v.tellEvicted(moved, evicted)
		return nil
	})
	if !stays {
		v.dropUndo(undo)
		return "", err
	}
	// Also after a fault: the old address is told of each change that stays, and can undo it.
	v.tellMoved(u, moved, undo)
	v.tell("UpdateUser", v.events.UpdateUser, moved)
	if err = cmp.Or(err, failed); err != nil {
		return "", err
	}
	v.stored = moved
	if err := v.startAgain(moved, v.session.Authentication, methodMail); err != nil {
		return "", err
	}
	return withQuery(v.site.path(""), "notice", "address_changed"), nil
}

// evictForAddress is the first proof of an address by a user who moves to another one, see evict.go.
// It returns the basis after it: it may have removed the password.
func (v *visit) evictForAddress(u *pintle.User, to string, before basis) (evicted []string, after basis, err error) {
	if now, err := v.basisOf(v.ctx, u.ID); err != nil {
		return nil, basis{}, err
	} else if now != before {
		return nil, basis{}, problemOf("signed_out") // a reset of now must not be evicted
	}
	p := &pintle.PendingSignIn{User: u, Authentication: provenLately(v.session), Request: v.r}
	if evicted, err = v.evict(p); err != nil {
		return nil, basis{}, asProblem(err)
	}
	if v.callback.ProveAddress != nil {
		p.User = copyOf(u)
		p.User.Email = to // which is the one that is proven
		if err := v.callback.ProveAddress(v.ctx, p); err != nil {
			return nil, basis{}, asProblem(err)
		}
	}
	if after, err = v.basisOf(v.ctx, u.ID); err != nil {
		return nil, basis{}, err
	}
	if after.state != before.state { // a ban
		return nil, basis{}, problemOf("signed_out")
	}
	return evicted, after, nil
}

// addressHolder returns the user who has an address and has not proven it, and nil if it is
// free. One who has proven it keeps it.
func (v *visit) addressHolder(u *pintle.User, email string) (*pintle.User, error) {
	holder, err := v.userByEmail(v.ctx, email)
	switch {
	case err != nil:
		return nil, unavailable(err)
	case holder == nil || holder.ID == u.ID:
		return nil, nil
	case isProved(holder):
		return nil, problemOf("address_taken")
	}
	return holder, nil
}

// moveAddress gives a user the address, proven now, if it still is free and the user still
// has the one that was read. A holder who has not proven it loses it. A user is returned if the
// address has moved, also beside an error.
func (v *visit) moveAddress(u, holder *pintle.User, to string) (moved *pintle.User, err error) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	var taken *pintle.User
	move := func(instead string) error {
		err := v.together(func(s pintle.Store) (err error) {
			if holder != nil {
				if taken, err = v.takeAddress(s, holder, instead); err != nil {
					return err
				}
			}
			moved, err = s.UpdateUser(v.ctx, u.ID, pintle.UserUpdate{Email: &to, EmailVerified: &now, IfEmail: &u.Email})
			return err
		})
		if err != nil {
			moved = nil // taken back
		}
		return err
	}
	if holder == nil {
		err = move("")
	} else {
		err = v.whileSignedOut(v.ctx, holder.ID, func() error {
			err := move("")
			if err != nil && !errors.Is(err, pintle.ErrConflict) && !errors.Is(err, errProvenMeanwhile) {
				err = move("taken+" + holder.ID + "@invalid") // see makeUser
			}
			return err
		})
	}
	switch {
	case errors.Is(err, errProvenMeanwhile):
		return nil, problemOf("address_taken")
	case errors.Is(err, pintle.ErrConflict):
		now, failed := v.store.User(v.ctx, u.ID)
		switch {
		case failed == nil && now.Email == to: // by a first attempt whose answer was lost
			return now, problemOf("changed_meanwhile")
		case failed == nil && now.Email != u.Email:
			return nil, problemOf("changed_meanwhile")
		}
		return nil, problemOf("address_taken")
	case errors.Is(err, pintle.ErrNotFound):
		return nil, problemOf("signed_out")
	case err != nil:
		// The sessions of the holder may not have ended, or the answer of the store was lost.
		if now, err := v.store.User(v.ctx, u.ID); err == nil && now.Email == to {
			moved = now
		}
		return moved, unavailable(err)
	}
	if taken != nil {
		v.tell("UpdateUser", v.events.UpdateUser, taken)
	}
	return moved, err
}

// stayUnlessOvertaken moves the address back if the password was reset, or the user banned,
// while it moved: the request may be that of a thief whose session has just ended. back reports
// that the address is the one of before.
func (v *visit) stayUnlessOvertaken(u, moved *pintle.User, before basis) (back bool, err error) {
	now, err := v.basisOf(v.ctx, u.ID)
	if err == nil && now == before {
		return false, nil
	}
	if err == nil {
		err = problemOf("signed_out")
	}
	_, failed := v.store.UpdateUser(v.ctx, u.ID, pintle.UserUpdate{Email: &u.Email, EmailVerified: &u.EmailVerified, IfEmail: &moved.Email})
	if failed == nil {
		return true, err
	}
	if now, err := v.store.User(v.ctx, u.ID); err == nil && now.Email == u.Email {
		back = true // the owner has undone an earlier change
	}
	v.log().ErrorContext(v.ctx, "pintle: an address that moved during a reset did not move back", slog.String("code", codeIncomplete),
		slog.String("user", u.ID), slog.Bool("back", back), slog.Any("error", failed))
	return back, err
}

func (v *visit) forgetDevices(userID string) error {
	if _, err := v.rows.DeleteFactors(v.ctx, userID, []string{factorDevice}, nil); err != nil {
		return unavailable(err)
	}
	return nil
}

// tellMoved records the change and mails both addresses. Only the old one, if it was proven, gets the link that
// undoes the change: nobody can hold that mail back, and no budget does.
func (v *visit) tellMoved(before, moved *pintle.User, undo *undoLink) {
	v.note("address_change_done", moved.ID)
	at, device := time.Now().UTC(), v.device()
	if isProved(before) {
		old := letter{kind: addressChanged, to: before.Email, value: moved.Email, at: at, device: device, link: v.url("forgot")}
		if undo != nil {
			old.kind, old.link, old.token, old.expires = addressChangedUndo, v.url("address-undo", "token", undo.token), undo.token, undo.flow.Expires
			old.code = undo.code
		}
		v.sendNotice(before, old, true)
	}
	v.sendNotice(moved, letter{kind: "address-new", to: moved.Email, at: at, device: device, link: v.url("")}, true)
}

// cancelAddress ends the change that is pending. It takes no more than the session: ending
// one must be easy for a user who has read the notice.
func (v *visit) cancelAddress() (next string, err error) {
	n, err := v.rows.EndFlows(v.ctx, v.session.User.ID, addressKind.name)
	if err != nil {
		return "", unavailable(err)
	}
	if n > 0 {
		v.note("address_change_cancelled", v.session.User.ID)
	}
	v.clearCookie(addressKind)
	return withQuery(v.site.path(""), "notice", "address_cancelled"), nil
}

// changesAddress reports whether a change of the address is pending. With [AddressChange].Off none
// can be finished.
func (v *visit) changesAddress(userID string) (bool, error) {
	if v.o.AddressChange.Off {
		return false, nil
	}
	n, err := v.rows.CountFlows(v.ctx, userID, addressKind.name, time.Now())
	if err != nil {
		return false, unavailable(err)
	}
	return n > 0, nil
}

// addedSince are the ids of factors of some kinds that were added at a time or later, and
// the others.
func addedSince(rows []*accountstore.Factor, since time.Time, kinds ...string) (added, others []string) {
	for _, row := range rows {
		if slices.Contains(kinds, row.Kind) && !row.Created.Before(since) {
			added = append(added, row.ID)
		} else {
			others = append(others, row.ID)
		}
	}
	return added, others
}
