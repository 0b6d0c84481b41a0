package account

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/wire"
)

// The kinds of events that are named more than once.
const (
	kindSignIn       = "sign_in"
	kindSignInFailed = "sign_in_failed"
	kindSignUp       = "sign_up"
	kindResetAsked   = "reset_asked"
	kindAddressTaken = "address_change_taken"

	actImported = "op_imported"
	actExported = "op_exported"
)

// activityKinds are the kinds of events, with their groups. docs/activity.md explains them.
// Those that begin with op_ are acts of operators.
var activityKinds = []string{
	kindSignIn, kindSignInFailed, "second_factor_failed", "sign_out", "session_ended", kindSignUp,
	"address_proved", "address_change_begun", "address_change_done", "address_change_cancelled", "address_change_undone", kindAddressTaken,
	"password_set", "password_changed", "password_reset", "password_removed", "password_rehashed", kindResetAsked,
	"factor_added", "factor_removed", "factor_suspended", "recovery_used", "recovery_made", "device_remembered", "device_forgotten",
	"passkey_added", "passkey_renamed", "passkey_removed", "passkey_cloned", "account_linked", "account_unlinked",
	"confirmed", "confirm_failed", "profile_changed", "exported", "deletion_begun", "deletion_kept", "deletion_done",
	"mail_failed", "breach_check_failed",
	"op_created", "op_invited", "op_verified", "op_reset_sent", "op_temporary_password", "op_password_required", "op_ban", "op_unban", "op_factor_reset", "op_signed_out", "op_roles",
	"op_invitation_revoked", "op_kept", actImported, actExported, actingBegun, actingEnded, "op_deleted", actingRequest,
}

// unlimited are the kinds of events that the browser of a session causes as often as it likes,
// without a new proof, a mail or anything that is used up. Those of a minute are one event. A
// thief of a session could otherwise fill the store, and push the page on which the owner sees
// what the thief has done to the end of a long list.
var unlimited = map[string]bool{"profile_changed": true, "passkey_renamed": true, "session_ended": true}

// noticed are the kinds of events of which a notice tells the user, by the kinds of the notices.
var noticed = map[string]string{
	addressAsked:       "address_change_begun",
	"password-set":     "password_set",
	"password-changed": "password_changed",
	"password-reset":   "password_reset",
	"password-removed": "password_removed",
	"factor-added":     "factor_added",
	"factor-removed":   "factor_removed",
	"codes-suspended":  "factor_suspended",
	"recovery-used":    "recovery_used",
	"recovery-made":    "recovery_made",
	"exported":         "exported",
	passkeyAdded:       "", // linked records it with its provider
	accountLinked:      "", // the same
	newDevice:          "", // signedIn records the sign-in
	secondFactorWrong:  "", // noteFailure records it
	"address-proved":   "", // proven records it, also without a notice
}

// failures are the kinds of events of forms that fail, by the names of the routes.
var failures = map[string]string{
	"sign-up": kindSignUp, "sign-up-sent": kindSignUp, "sign-up-finish": kindSignUp, "address-choice": kindSignUp,
	"forgot": kindResetAsked, "reset": "password_reset", "password": "password_changed", "must-change": "password_changed",
	"prove": "address_proved", "address": "address_change_begun", "address-finish": "address_change_done", "address-undo": "address_change_undone",
	"second-factor": "second_factor_failed", "enrol": "factor_added", "totp": "factor_added", "factor": "factor_removed",
	"recovery-codes": "recovery_made", "confirm": "confirm_failed", "export": "exported", "delete": "deletion_begun", "keep": "deletion_kept",
}

// refusals are the codes of problems that are recorded, and their outcomes. Others are mistakes
// of a user, such as a name that is too long, or faults of the server.
var refusals = map[string]string{
	"code_wrong": outcomeFailed, "wrong_password": outcomeFailed, "passkey_failed": outcomeFailed, "link_expired": outcomeFailed,
	"too_many_attempts": outcomeRefused, "suspended": outcomeRefused, "refused": outcomeRefused, "address_taken": outcomeRefused,
}

// ActivityKinds returns the kinds of the events that this package records, those that belong
// together side by side: what a page for operators can select by, with
// [accountstore.ActivityQuery].Kind.
func ActivityKinds() []string { return slices.Clone(activityKinds) }

// noteFailure records an attempt that failed, or that a limit or the application refused. A GET
// stores nothing.
func (v *visit) noteFailure(err error) {
	p, is := errors.AsType[*problem](err)
	kind := failures[v.route.name]
	if !is || kind == "" {
		return
	}
	code := p.code
	if p.refused {
		code = "refused"
	}
	outcome := refusals[code]
	if outcome == "" {
		return
	}
	if code == "address_taken" {
		kind = kindAddressTaken
	}
	n := entry{kind: kind, outcome: outcome, userID: v.about, address: v.aboutAddress, detail: []string{detailCode, code}, r: v.r}
	if v.session != nil {
		n.userID = v.session.User.ID
		n.detail = append(n.detail, detailSession, v.handle(n.userID))
	}
	v.Accounts.note(v.ctx, n)
}

// noteSignIn records what [pintle.Events].SignIn reports.
func (a *Accounts) noteSignIn(ctx context.Context, e *pintle.SignInEvent) {
	detail := []string{detailMethods, strings.Join(e.Authentication.Methods, " ")}
	if e.Account != nil {
		detail = append(detail, detailProvider, e.Account.Provider)
	}
	if e.NewUser != nil && *e.NewUser {
		a.note(ctx, entry{kind: kindSignUp, userID: e.User.ID, detail: detail, r: e.Request})
	}
	if e.SignedIn {
		detail = append(detail, detailSession, a.boxes.sessionHandle(e.User.ID, e.Authentication.Started))
		a.note(ctx, entry{kind: kindSignIn, userID: e.User.ID, detail: detail, r: e.Request})
	}
}

// noteEvents adds the record to what the root tells the application.
func (a *Accounts) noteEvents(cfg *pintle.Config) {
	events := &cfg.Events
	events.SignInFailed = func(ctx context.Context, e *pintle.SignInFailedEvent) error {
		a.noteSignInFailed(ctx, e)
		return told(ctx, a.events.SignInFailed, e)
	}
	events.SignOut = func(ctx context.Context, e *pintle.SignOutEvent) error {
		if id := endedUser(e); id != "" {
			a.note(ctx, entry{kind: "sign_out", userID: id, detail: []string{detailSession, a.boxes.sessionHandle(id, startOf(e))}})
		}
		return told(ctx, a.events.SignOut, e)
	}
	events.ProviderSignOut = func(ctx context.Context, e *pintle.SignOutEvent) error {
		if id := endedUser(e); id != "" {
			a.note(ctx, entry{kind: "session_ended", userID: id, detail: []string{detailProvider, e.Provider, detailNumber, number(e.Ended)}})
		}
		return told(ctx, a.events.ProviderSignOut, e)
	}
	events.ClonedPasskey = func(ctx context.Context, p *pintle.Passkey) error {
		a.note(ctx, entry{kind: "passkey_cloned", outcome: outcomeRefused, userID: p.UserID})
		return told(ctx, a.events.ClonedPasskey, p)
	}
}

// told calls an event of the application.
func told[E any](ctx context.Context, event func(context.Context, E) error, e E) error {
	if event == nil {
		return nil
	}
	return event(ctx, e)
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// endedUser is the user whose sessions have ended, and "" if that is not known.
func endedUser(e *pintle.SignOutEvent) string {
	switch {
	case e.UserID != "":
		return e.UserID
	case e.Session != nil:
		return e.Session.UserID
	}
	id, _ := e.Claims["sub"].(string)
	return id
}

// startOf is when the session of an event began; zero if that is not known.
func startOf(e *pintle.SignOutEvent) time.Time {
	members := map[string]any(e.Claims)
	if e.Session != nil {
		if !e.Session.Created.IsZero() {
			return e.Session.Created
		}
		members = e.Session.Data // of tables without a column for it
	}
	if began, recorded := wire.Seconds(members["started"]); recorded {
		return time.Unix(began, 0)
	}
	return time.Time{}
}

// noteSignInFailed records a sign-in that was refused or failed: for the user if the first proof
// was right, and else for a keyed hash of the address that was typed. A wrong password is recorded
// by authorize and one attempt too many by limited, which know the address. A store that does not
// answer could not record it either.
func (a *Accounts) noteSignInFailed(ctx context.Context, e *pintle.SignInFailedEvent) {
	failed, _ := errors.AsType[*pintle.Error](e.Err)
	if e.Code == pintle.CodeStore || e.Provider == providerID && e.Code == pintle.CodeCredentials && failed != nil && (failed.Err == nil || failed.RetryAfter > 0) {
		return
	}
	outcome := outcomeFailed
	if e.Code == pintle.CodeAccessDenied || failed != nil && failed.RetryAfter > 0 {
		outcome = outcomeRefused
	}
	n := entry{
		kind: kindSignInFailed, outcome: outcome, address: e.Email, detail: []string{detailProvider, e.Provider, detailCode, string(e.Code)}, r: e.Request,
	}
	if e.User != nil {
		n.userID = e.User.ID
	}
	a.note(ctx, n)
}

// limited returns a provider of passwords that records each attempt that its limits reject, for a
// keyed hash of the address: whether it has an account is not looked at.
func (a *Accounts) limited(p *pintle.Credentials) *pintle.Credentials {
	authorize := p.Authorize
	p.Authorize = func(ctx context.Context, s *pintle.Submission) (*pintle.User, error) {
		u, err := authorize(ctx, s)
		if failed, is := errors.AsType[*pintle.Error](err); is && failed.RetryAfter > 0 && ctx.Value(signedInKey{}) == nil {
			a.note(ctx, entry{
				kind: kindSignInFailed, outcome: outcomeRefused, address: s.Text("email"),
				detail: []string{detailProvider, providerID, detailCode, string(failed.Code)}, r: s.Request,
			})
		}
		return u, err
	}
	return p
}

// noteWrongPassword records a wrong password: for the user who has proven the address, and
// otherwise for a keyed hash of it. Both cost the same. A user who has not proven it may be
// another person, who would see when its owner tries to sign in.
func (a *Accounts) noteWrongPassword(ctx context.Context, s *pintle.Submission, u *pintle.User) {
	if ctx.Value(signedInKey{}) != nil {
		return // the form that asks records it
	}
	n := entry{
		kind: kindSignInFailed, outcome: outcomeFailed, address: s.Text("email"),
		detail: []string{detailProvider, providerID, detailCode, string(pintle.CodeCredentials)}, r: s.Request,
	}
	if isProved(u) {
		n.userID = u.ID
	}
	a.note(ctx, n)
}
