package account

import (
	"cmp"
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

// A Verification is when a user has to show that they read mail at the address.
//
// A user of a deferred sign-up has no address in the store, but a claim in the state that
// package account keeps. So nothing finds the user by the address: no mail link, password,
// provider or reset leads to the account, and another user may sign up with the address
// meanwhile. The session has no proof, and meets no [Demand]. Therefore the user cannot add
// anything that signs in. The proof turns the claim into the address of the user, unless
// another user has proven it first.
type Verification int

const (
	// VerifyRequired makes the user once the address is proven.
	VerifyRequired Verification = iota

	// VerifyDeferred makes a user without an address at once, and begins a session in the
	// browser of the sign-up. The code of the mail proves the address there. Until then
	// nothing but that session leads to the account: a user who signs out loses it. After
	// seven days without the proof the session is no longer accepted, and the user is
	// deleted: when the session is read, or by [Accounts.DeleteUnproven].
	//
	// Each sign-up makes a user. So Options.Admit belongs to it, which can ask for the answer
	// to a CAPTCHA. A client has 20 sign-ups at once, and then one in three minutes, unless the
	// Guard of Options.Passwords has another limit in MailsPerClient.
	//
	// The store must take users without an address. No callback can hold such a sign-up:
	// [pintle.New] returns an error if Callbacks.Hold or SecondFactor.Required is set.
	VerifyDeferred

	// VerifyNone lets users sign in with a password whose address is not proven: those whom
	// an operator or an import has made. The host has to know that the addresses are
	// theirs. A sign-up still proves the address first, and so does a user before adding
	// what signs in.
	VerifyNone
)

// claimLife is how long a user of a deferred sign-up has for the proof.
const claimLife = 7 * 24 * time.Hour

// signUpProvider is what the session of a deferred sign-up has as its provider.
const signUpProvider = "sign-up"

// checkVerify returns what keeps users from signing up in the way of the options.
func (a *Accounts) checkVerify(cfg *pintle.Config) error {
	switch a.o.SignUp.Verify {
	case VerifyRequired, VerifyNone:
		return nil
	case VerifyDeferred:
	default:
		return fmt.Errorf("account: Options.SignUp.Verify is %d: choose VerifyRequired, VerifyDeferred or VerifyNone", a.o.SignUp.Verify)
	}
	var errs []error
	for name, set := range map[string]bool{
		"Config.Callbacks.Hold": cfg.Callbacks.Hold != nil, "Options.SecondFactor.Required": a.o.SecondFactor.Required != nil,
	} {
		if set {
			errs = append(errs, fmt.Errorf("account: Options.SignUp.Verify is VerifyDeferred, and %s is set: "+
				"a deferred sign-up begins a session that nothing can hold", name))
		}
	}
	return errors.Join(errs...)
}

// signUpAtOnce is a deferred sign-up. Its answer is the same for every address: each client
// becomes a new user, also with an address that another user has.
func (v *visit) signUpAtOnce(email string, fields map[string]string) (next string, err error) {
	if err := v.allowBy(v.newcomers, email); err != nil {
		return "", err
	}
	to, err := v.addressee(email)
	if err != nil {
		return "", err
	}
	n := &newcomer{fields: fields}
	if elsewhere, err := v.askSignUp(n); elsewhere != "" || err != nil {
		return elsewhere, err
	}
	made, err := v.createClaimer(n, email)
	if err != nil {
		return "", unavailable(err)
	}
	_, _, err = v.auth.StartSession(v.w, v.r, made, pintle.StartOptions{
		Authentication: pintle.Authentication{Provider: signUpProvider},
	})
	if err != nil { // without the session nothing leads to the user
		return "", asProblem(errors.Join(err, v.auth.DeleteUser(context.WithoutCancel(v.ctx), made.ID)))
	}
	v.note(kindSignUp, made.ID)
	v.tell("CreateUser", v.events.CreateUser, made)
	f, err := v.createFlow(v.ctx, proveKind, v.boxes.idOf(proveKind, "user "+made.ID), made.ID, payload{Email: email})
	if err == nil {
		err = v.mailClaim(f, to)
	}
	if err != nil {
		v.record(err) // the page to prove the address offers another mail
	}
	target := v.callbackURL()
	if target == "" {
		target = "/"
	}
	if v.newUserPage != "" {
		target = withQuery(v.newUserPage, "callbackUrl", target)
	}
	return target, nil
}

// createClaimer makes the user of a deferred sign-up. The state comes second, since
// CreateUser removes what is left under the id.
func (v *visit) createClaimer(n *newcomer, email string) (made *pintle.User, err error) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	err = v.together(func(s pintle.Store) (err error) {
		if made, err = s.CreateUser(v.ctx, n.made(now)); err != nil {
			return err
		}
		err = s.AccountStore().ChangeState(v.ctx, &accountstore.State{
			UserID: made.ID, Claim: email, Created: now, DeleteAt: now.Add(claimLife),
		})
		if err != nil && !v.store.Features().Transactions {
			err = errors.Join(err, s.DeleteUser(context.WithoutCancel(v.ctx), made.ID))
		}
		return err
	})
	return made, err
}

// mailClaim mails a new code, or to the address of another user that there is an account.
// The code of the second mail is no code: nothing is mailed that would prove the address of
// another user here.
func (v *visit) mailClaim(f *flow, to *addressee) error {
	code := v.newCode(f)
	if to.proved {
		f.Code = accountstore.Hash{}
	}
	if err := v.changeFlow(v.ctx, f); err != nil {
		return err
	}
	v.sendEither(to.proved, v.knownLetter(f.payload.Email, to), letter{
		kind: "sign-up-prove", to: f.payload.Email, code: spaced(code), link: v.url("prove"), expires: f.codeExpires(),
	})
	return nil
}

// claimerOf returns a user with the address that they claim, or nil for one who claims none.
func (v *visit) claimerOf(u *pintle.User) (*pintle.User, error) {
	if u.Email != "" {
		return nil, nil
	}
	state, err := v.rows.State(v.ctx, u.ID)
	if err != nil {
		return nil, unavailable(err)
	}
	if state.Claim == "" {
		return nil, nil
	}
	claimer := copyOf(u)
	claimer.Email = state.Claim
	return claimer, nil
}

// isOver reports whether the time for the proof of a claim has passed.
func isOver(s *accountstore.State) bool {
	return s.Claim != "" && !s.DeleteAt.IsZero() && !s.DeleteAt.After(time.Now())
}

// mailClaimAgain mails another code. Any client can cause it, so it has the limits of such
// mails.
func (v *visit) mailClaimAgain(who *proving) error {
	if err := v.allowMail(who.user.Email); err != nil {
		return err
	}
	to, err := v.addressee(who.user.Email)
	if err != nil {
		return err
	}
	id := v.boxes.idOf(proveKind, who.name)
	f, err := v.findFlow(v.ctx, proveKind, id)
	switch {
	case isProblem(err, "link_expired"):
		// The row of one that has expired may not be swept yet.
		if _, err := v.rows.UseFlow(v.ctx, id, proveKind.name); err != nil && !errors.Is(err, pintle.ErrNotFound) {
			return unavailable(err)
		}
		if f, err = v.createFlow(v.ctx, proveKind, id, who.user.ID, payload{Email: who.user.Email}); err != nil {
			return err
		}
	case err != nil:
		return err
	case f.payload.Again >= codeAgain:
		return tooMany(0)
	default:
		f.payload.Again++
	}
	return v.mailClaim(f, to)
}

// showWhose is the page of a user whose code was right, if another user has the address
// unproven: as at a sign-up, the client says whether that account is theirs, too. It is nil
// if there is no such user.
func (v *visit) showWhose(who *proving) (*view, error) {
	holder, err := v.userByEmail(v.ctx, who.user.Email)
	if err != nil {
		return nil, unavailable(err)
	}
	if holder == nil || isProved(holder) {
		return nil, nil
	}
	h, err := v.ways(v.ctx, holder)
	if err != nil {
		return nil, err
	}
	return v.askWhose(who.user.Email, h, "prove"), nil
}

// proveClaim takes the code of a user who claims the address, and gives them the address.
func (v *visit) proveClaim(who *proving, f *flow) (next string, err error) {
	if !f.payload.Proved {
		if err := v.checkCode(v.ctx, f, v.form["code"]); err != nil {
			return "", err
		}
		f.payload.Proved, f.Code = true, accountstore.Hash{}
		if err := v.changeFlow(v.ctx, f); err != nil {
			return "", err
		}
	}
	if err := v.notBanned(who.user.ID); err != nil {
		return "", err
	}
	holder, err := v.userByEmail(v.ctx, who.user.Email)
	switch {
	case err != nil:
		return "", unavailable(err)
	case isProved(holder):
		return "", problemOf("account_exists")
	case holder != nil && v.form["choice"] == "theirs":
		return v.site.signIn("callbackUrl", v.site.path("prove")), nil
	case holder != nil && v.form["choice"] != "new":
		return v.site.path("prove"), nil // which asks
	}
	if elsewhere, err := v.askSignUp(&newcomer{user: who.user, fate: sameUser}); elsewhere != "" || err != nil {
		return elsewhere, err
	}
	if err := v.useFlow(v.ctx, proveKind, f); err != nil {
		return "", err
	}
	v.seeThrough()
	proven, err := v.giveAddress(who.user, holder)
	if err != nil {
		return "", err
	}
	// The sessions end after the change and not before it: until then nothing else leads to
	// the account.
	if err := v.endSessions(v.ctx, proven.ID); err != nil {
		return "", err
	}
	if err := v.startAgain(proven, who.session.Authentication, methodMail); err != nil {
		return "", err
	}
	switch {
	case v.callbackURL() != "":
		return v.wayBack(), nil
	case v.hasMail, v.o.Passwords.Off:
		return withQuery(v.site.path(""), "notice", "address_proved"), nil
	}
	return withQuery(v.site.path("password"), "notice", "address_proved"), nil // the user has no way in yet
}

// claimLease is how long a user of a claim stays at least while the address is given.
const claimLease = time.Hour

// giveAddress turns a claim into the address of its user. First it writes the state: of it and a
// deletion under way, which writes the state as well, one goes on. The user stays one who is to
// be deleted until the address is given, so that a process that ends in between leaves no
// user for ever.
func (v *visit) giveAddress(u, holder *pintle.User) (proven *pintle.User, err error) {
	state, err := v.rows.State(v.ctx, u.ID)
	if err != nil {
		return nil, unavailable(err)
	}
	if state.Claim != u.Email || isOver(state) || state.BannedUntil.After(time.Now()) {
		return nil, problemOf("signed_out")
	}
	if lease := time.Now().Add(claimLease).UTC().Truncate(time.Millisecond); lease.After(state.DeleteAt) {
		state.DeleteAt = lease
	}
	if err := v.rows.ChangeState(v.ctx, state); err != nil {
		if errors.Is(err, pintle.ErrConflict) {
			return nil, problemOf("changed_meanwhile")
		}
		return nil, unavailable(err)
	}
	proven, taken, err := v.storeAddress(u, holder)
	if err != nil {
		if errors.Is(err, pintle.ErrConflict) || errors.Is(err, errProvenMeanwhile) {
			return nil, problemOf("account_exists")
		}
		return nil, asProblem(err) // which the application may have caused
	}
	if err := v.changeState(v.ctx, u.ID, func(s *accountstore.State) { s.Claim, s.DeleteAt = "", time.Time{} }); err != nil {
		return nil, unavailable(err)
	}
	if taken != nil {
		v.tell("UpdateUser", v.events.UpdateUser, taken)
	}
	v.note("address_proved", proven.ID)
	v.tell("UpdateUser", v.events.UpdateUser, proven)
	return proven, nil
}

// storeAddress stores the proven address. holder, who has not proven it, loses it.
func (v *visit) storeAddress(u, holder *pintle.User) (proven, taken *pintle.User, err error) {
	if v.callback.ProveAddress != nil {
		err = v.callback.ProveAddress(v.ctx, &pintle.PendingSignIn{User: u, Authentication: v.session.Authentication, Request: v.r})
		if err != nil {
			return nil, nil, err
		}
	}
	if holder != nil { // what was begun as this user carries the address
		if err := v.endSessions(v.ctx, holder.ID); err != nil {
			return nil, nil, err
		}
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	err = v.together(func(s pintle.Store) (err error) {
		if holder != nil {
			if taken, err = v.takeAddress(s, holder, ""); err != nil {
				return err
			}
		}
		proven, err = s.UpdateUser(v.ctx, u.ID, pintle.UserUpdate{Email: &u.Email, EmailVerified: &now, IfEmail: new("")})
		return err
	})
	return proven, taken, err
}

// deletionPage is how many users a job reads at a time.
const deletionPage = 500

// DeleteUnproven deletes the users of deferred sign-ups who have not proven their address
// in seven days: Options.Deletion.Delete first, then [pintle.Auth.DeleteUser]. Call it from time to time, for example once
// a day, from any number of processes: a user who proves the address at the same moment is
// deleted or proven, and not both. It returns how many users it has deleted. A user whom it
// cannot delete is an error and the others are deleted; the next call tries again.
//
// It is for [VerifyDeferred]. Without it no such user is due.
func (a *Accounts) DeleteUnproven(ctx context.Context) (deleted int, err error) {
	if a.auth == nil {
		return 0, errors.New("account: DeleteUnproven was called before pintle.New has the Accounts as Config.Accounts")
	}
	var errs []error
	for after := ""; ; {
		page, err := a.rows.DueUsers(ctx, time.Now(), after, deletionPage)
		if err != nil {
			return deleted, errors.Join(append(errs, err)...)
		}
		for _, id := range page {
			state, err := a.rows.State(ctx, id)
			if err == nil && !isOver(state) {
				continue // is to be deleted for another reason, or no longer
			}
			if err == nil {
				err = a.deleteUnproven(ctx, state)
			}
			switch {
			case err == nil:
				deleted++
			case errors.Is(err, pintle.ErrConflict): // proven at this moment
			default:
				errs = append(errs, fmt.Errorf("account: delete the user %s: %w", id, err))
			}
			if ctx.Err() != nil {
				return deleted, errors.Join(append(errs, ctx.Err())...)
			}
		}
		if len(page) < deletionPage {
			return deleted, errors.Join(errs...)
		}
		after = page[len(page)-1]
	}
}

// deleteUnproven deletes a user whose time has passed. It bans the user first: the ban is a
// change of the state that was read, so it fails if the user has proven the address since,
// and after it the user cannot. A user who has a proven address has only kept the claim,
// because a process ended in between; the error is pintle.ErrConflict then, too.
func (a *Accounts) deleteUnproven(ctx context.Context, state *accountstore.State) error {
	u, err := a.store.User(ctx, state.UserID)
	if err != nil && !errors.Is(err, pintle.ErrNotFound) {
		return err
	}
	if isProved(u) {
		cleared := *state
		cleared.Claim, cleared.DeleteAt = "", time.Time{}
		return cmp.Or(a.rows.ChangeState(ctx, &cleared), pintle.ErrConflict)
	}
	banned := *state
	banned.Roles = slices.Clone(state.Roles)
	banned.BannedUntil, banned.BanReason = accountstore.Forever, "the address was not proven in time"
	if err := a.rows.ChangeState(ctx, &banned); err != nil {
		return err
	}
	if u != nil && a.o.Deletion.Delete != nil {
		if err := a.o.Deletion.Delete(ctx, u); err != nil {
			return fmt.Errorf("Options.Deletion.Delete: %w", err)
		}
	}
	if err := a.auth.DeleteUser(ctx, state.UserID); err != nil && !errors.Is(err, pintle.ErrNotFound) {
		return err
	}
	return nil
}

// endUnproven deletes a user whose session was read after the time. If that fails, the
// session is not accepted either, and DeleteUnproven tries again.
func (a *Accounts) endUnproven(ctx context.Context, state *accountstore.State) {
	err := a.deleteUnproven(context.WithoutCancel(ctx), state)
	if err != nil && !errors.Is(err, pintle.ErrConflict) {
		a.log().ErrorContext(ctx, "pintle: user who has not proven the address in time not deleted", slog.String("code", codeIncomplete),
			slog.String("user", state.UserID), slog.Any("error", err))
	}
}

// claimLinks lead a user who has nothing to confirm with to the proof of the address.
func (v *visit) claimLinks() ([]page.Link, error) {
	u, err := v.user()
	if err != nil {
		return nil, err
	}
	claimer, err := v.claimerOf(u)
	if err != nil || claimer == nil {
		return nil, err
	}
	return []page.Link{v.link("prove", "prove", "callbackUrl", v.wayBack())}, nil
}
