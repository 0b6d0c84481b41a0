package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/address"
	"github.com/pintleauth/pintle/internal/page"
	"github.com/pintleauth/pintle/internal/userrule"
	"github.com/pintleauth/pintle/internal/uuid"
)

// Operators is what those who run the application do with the accounts of others. Get it
// from [Accounts.Operators]. It has no routes: pages of the application call it, and decide
// before each call whether the user of the session may.
//
// Each act is recorded before it happens, and its outcome after; see [WithOperator]. If the
// record cannot be written, the act does not happen.
//
// Ids of users that are not in the store are [pintle.ErrNotFound]. An argument that is not
// possible is an error that names it, and nothing is recorded. After any other error an act
// may be done in part, in an order in which no session stays that it is to end: call it again.
// An act that has begun goes on if its context ends.
//
// Methods may be called concurrently.
type Operators struct{ a *Accounts }

// Operators returns the acts of operators.
func (a *Accounts) Operators() *Operators { return &Operators{a} }

type operatorKey struct{}

// systemOperator is who acts if the context names no operator.
const systemOperator = "system"

// maxOperator is the most bytes of the id of an operator.
const maxOperator = 255

// WithOperator returns a context that names the operator of the acts that are called with it:
// the id of the user who is signed in, for example. Without it they are recorded as acts of
// "system".
func WithOperator(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, operatorKey{}, id)
}

type operatorNameKey struct{}

// WithOperatorName returns a context that names the person behind the id of [WithOperator], where
// several use one id, such as those of a command. Events of acts have it as the detail "operator",
// on one line of at most 64 characters.
func WithOperatorName(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, operatorNameKey{}, name)
}

// operator returns the operator whom a context names, or who acts in its request.
func operator(ctx context.Context) (string, error) {
	id, named := ctx.Value(operatorKey{}).(string)
	if here := pintle.SessionFrom(ctx); here != nil && here.Actor != nil {
		// An application that names the user of the session would name the user as whom the
		// operator acts.
		id, named = here.Actor.ID, true
	}
	switch {
	case !named:
		return systemOperator, nil
	case id == "" || len(id) > maxOperator || !utf8.ValidString(id) || strings.Contains(id, "\x00"):
		return "", fmt.Errorf("account: WithOperator was given %q: it takes the id of an operator, of at most %d bytes", id, maxOperator)
	}
	return id, nil
}

// ready returns an error before the configuration has the accounts.
func (o *Operators) ready(method string) error {
	if o.a.auth == nil {
		return fmt.Errorf("account: Operators.%s was called before pintle.New has the Accounts as Config.Accounts", method)
	}
	return nil
}

// act records an act on a user and does it. An act that cannot be recorded is not done. One
// that has begun goes on if ctx ends, as that of a request does when the browser closes the
// connection: a user who is banned would otherwise keep the sessions.
func (o *Operators) act(ctx context.Context, kind, userID string, do func(ctx context.Context) error, detail ...string) error {
	return o.actOn(ctx, entry{kind: kind, userID: userID, detail: detail}, do)
}

// actOn is act for an entry, which may be about an address instead of a user.
func (o *Operators) actOn(ctx context.Context, n entry, do func(ctx context.Context) error) error {
	by, err := operator(ctx)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	n.actor = by
	finish, err := o.a.beginEntry(ctx, n)
	if err != nil {
		return err
	}
	return finish(forOperator(do(context.WithoutCancel(ctx))))
}

// of returns the user with an id.
func (o *Operators) of(ctx context.Context, method, userID string) (*pintle.User, error) {
	if err := o.ready(method); err != nil {
		return nil, err
	}
	return o.a.store.User(ctx, userID)
}

// maxPage is the most users or events of a page, and usualPage how many one has by default.
const (
	maxPage   = 200
	usualPage = 50
)

// Users returns a page of the users whom q selects, and next, which continues the list as
// q.After; it is empty after the last page. The newest user is first; a search for the beginning
// of an address or a name may be in their order instead.
//
// A Limit of 0 is 50, and of more than 200 is 200. A zero At is now. The address is
// searched for in lower case. next is sealed and belongs to the query, so it may go through
// a page: with other conditions, or after a day, it is [ErrCursor]. What the store reads
// for a page, its documentation says.
func (o *Operators) Users(ctx context.Context, q accountstore.UserQuery) (page []*accountstore.User, next string, err error) {
	if err := o.ready("Users"); err != nil {
		return nil, "", err
	}
	q.EmailPrefix = strings.ToLower(q.EmailPrefix)
	only := q // the time is no condition: the next page is asked for later
	only.After, only.Limit, only.At = "", 0, time.Time{}
	of := o.a.boxes.listOf("users", only)
	if q.After, err = o.a.boxes.openPlace(q.After, of); err != nil {
		return nil, "", fmt.Errorf("account: Users: %w", err)
	}
	if q.At.IsZero() {
		q.At = time.Now()
	}
	if q.Limit <= 0 {
		q.Limit = usualPage
	}
	q.Limit = min(q.Limit, maxPage)
	if page, next, err = o.a.rows.Users(ctx, q); err != nil {
		return nil, "", err
	}
	next, err = o.a.boxes.sealPlace(next, of)
	return page, next, err
}

// Activity returns a page of the events that q selects, the newest first, and next, which
// continues the list as q.After; it is empty after the last page. They are events of all users,
// with all that is known of each. A user sees their own on the page "activity", and
// [Accounts.Read] reads that page for the application.
//
// A Limit of 0 is 50, and of more than 200 is 200. next is sealed as that of [Operators.Users]:
// with other conditions, among them Since and Until, or after a day, it is [ErrCursor].
func (o *Operators) Activity(ctx context.Context, q accountstore.ActivityQuery) (page []*accountstore.Event, next string, err error) {
	if err := o.ready("Activity"); err != nil {
		return nil, "", err
	}
	if q.Limit <= 0 {
		q.Limit = usualPage
	}
	q.Limit = min(q.Limit, maxPage)
	of := o.a.boxes.listOf("activity of operator", []string{q.UserID, q.Actor, q.Kind, q.Outcome, milli(q.Since), milli(q.Until)})
	if q.After, err = o.a.boxes.openPlace(q.After, of); err != nil {
		return nil, "", fmt.Errorf("account: Activity: %w", err)
	}
	if page, next, err = o.a.rows.Activity(ctx, q); err != nil {
		return nil, "", err
	}
	next, err = o.a.boxes.sealPlace(next, of)
	return page, next, err
}

// milli is a time of a query, which has the same text in every time zone.
func milli(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(t.UnixMilli(), 10)
}

// User returns one user, with what is kept of them.
func (o *Operators) User(ctx context.Context, userID string) (*accountstore.User, error) {
	if err := o.ready("User"); err != nil {
		return nil, err
	}
	if userID == "" { // an empty ID of a query selects all users
		return nil, pintle.ErrNotFound
	}
	page, _, err := o.a.rows.Users(ctx, accountstore.UserQuery{ID: userID, At: time.Now(), Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(page) == 0 {
		return nil, pintle.ErrNotFound
	}
	return page[0], nil
}

// A NewUser is a user whom an operator makes; see [Operators.Create]. Only Email is required.
type NewUser struct {
	// Email is the address. It is not proven; [Operators.Invite] lets the user prove it.
	Email string

	// Name is the name, with at most 100 characters.
	Name string

	// Image is the URL of a picture; see [pintle.User].
	Image string

	// Roles are those that the user has: see [Operators.SetRoles].
	Roles []string

	// ID is the id in the store, which may choose another one. Empty means a random UUID.
	ID string

	// Extra are further fields; see [pintle.User]. The store needs room for them.
	Extra map[string]any
}

// Create stores a user, who has no password: the user chooses one by a mail of the page for
// forgotten passwords once the address is proven, or signs up with the address. With
// [Passwords].Off the user signs in with a provider whose sign-in may join a user with the
// address.
//
// The error matches [pintle.ErrConflict] if another user has the address.
func (o *Operators) Create(ctx context.Context, n NewUser) (made *pintle.User, err error) {
	if err := o.ready("Create"); err != nil {
		return nil, err
	}
	roles, err := checkRoles("Create", n.Roles)
	if err != nil {
		return nil, err
	}
	u := &pintle.User{ID: cmp.Or(n.ID, uuid.New()), Image: n.Image, Extra: maps.Clone(n.Extra)}
	if u.Email, err = address.Normalize(n.Email); err != nil {
		return nil, fmt.Errorf("account: Create: the address: %w", err)
	}
	if len(u.Email) > userrule.MaxAddress {
		return nil, fmt.Errorf("account: Create: the address has more than %d bytes", userrule.MaxAddress)
	}
	if n.Name != "" {
		if u.Name, err = userName(n.Name); err != nil {
			return nil, fmt.Errorf("account: Create: the name is not one of 1 to %d characters without control characters", userrule.MaxName)
		}
	}
	v, err := o.a.visitOfOperator(ctx)
	if err != nil {
		return nil, err
	}
	by, err := operator(ctx)
	if err != nil {
		return nil, err
	}
	detail := []string{detailRoles, strings.Join(roles, " ")}
	finish, err := o.a.beginAct(ctx, "op_created", by, "", detail...)
	if err != nil {
		return nil, err
	}
	if made, err = o.create(v, u, roles); err != nil { //nolint:contextcheck // v has that of the call
		return nil, finish(forOperator(err))
	}
	// The store may have chosen another id.
	o.a.note(ctx, entry{kind: "op_created", userID: made.ID, actor: by, detail: detail})
	v.tell("CreateUser", v.events.CreateUser, made)
	return made, nil
}

// create stores a user and the roles: both or none. The state comes second, since CreateUser
// removes what is left under the id.
func (o *Operators) create(v *visit, u *pintle.User, roles []string) (made *pintle.User, err error) {
	ctx := v.ctx
	err = v.together(func(s pintle.Store) (err error) {
		if made, err = s.CreateUser(ctx, u); err != nil || len(roles) == 0 {
			return err
		}
		err = changeState(ctx, s.AccountStore(), made.ID, func(s *accountstore.State) { s.Roles = roles })
		if err != nil && !o.a.store.Features().Transactions {
			err = errors.Join(err, s.DeleteUser(context.WithoutCancel(ctx), made.ID))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// ProveAddress records that the user reads mail at the address that they have: the operator
// knows it. It is an error if the user has no address, and does nothing if it is proven.
//
// Another person may have used the address before. So, as at any first proof, all sessions end,
// and the ways to sign in are removed: the password, also one that was imported, second factors,
// passkeys, and accounts of providers that have not verified the address. The user then chooses
// a password by mail: see [Operators.SendReset]. Callbacks.ProveAddress removes what the
// application has, and is called with a request without a browser.
func (o *Operators) ProveAddress(ctx context.Context, userID string) error {
	u, err := o.of(ctx, "ProveAddress", userID)
	if err != nil {
		return err
	}
	switch {
	case u.Email == "":
		return errors.New("account: ProveAddress: the user has no address")
	case isProved(u):
		return nil
	}
	v, err := o.a.visitOfOperator(ctx)
	if err != nil {
		return err
	}
	return o.act(ctx, "op_verified", u.ID, func(ctx context.Context) error {
		return o.a.whileSignedOut(ctx, u.ID, func() error {
			if _, err := v.evictFor(v.ctx, &pintle.PendingSignIn{User: u, Request: v.r}); err != nil { //nolint:contextcheck // v has that of the call
				return err
			}
			now := time.Now().UTC().Truncate(time.Millisecond)
			_, err := o.a.store.UpdateUser(ctx, u.ID, pintle.UserUpdate{EmailVerified: &now, IfEmail: &u.Email})
			return err
		})
	})
}

// SendReset mails the user a link to choose a password, as the page for forgotten passwords
// does, and returns the link: it is a secret, which an operator should not see. The address has
// to be proven. It needs [pintle.Config.URL]. It returns an error with [Passwords].Off.
func (o *Operators) SendReset(ctx context.Context, userID string) (link string, err error) {
	if err := o.withPasswords("SendReset"); err != nil {
		return "", err
	}
	u, err := o.of(ctx, "SendReset", userID)
	if err != nil {
		return "", err
	}
	if !isProved(u) {
		return "", errors.New("account: SendReset: the user has not proven the address: mail reaches another person, perhaps")
	}
	v, err := o.mailing(ctx, "SendReset")
	if err != nil {
		return "", err
	}
	_, hash, err := v.storedPassword(ctx, u)
	if err != nil {
		return "", fmt.Errorf("account: SendReset: %w", err)
	}
	err = o.act(ctx, "op_reset_sent", u.ID, func(ctx context.Context) error {
		token := newToken() // without the limit of flows that anyone begins
		f, err := v.createFlow(ctx, resetKind, hashOf(token), u.ID, payload{Email: u.Email})
		if err != nil {
			return err
		}
		link = v.url("reset", "token", token)
		v.send(letter{kind: "reset", to: u.Email, link: link, token: token, expires: f.Expires, noPassword: hash == ""})
		return nil
	})
	return link, err
}

// mailing is a visit for mails with links.
func (o *Operators) mailing(ctx context.Context, method string) (*visit, error) {
	if o.a.site.origin == "" {
		return nil, fmt.Errorf("account: %s: Config.URL is empty, and the link in the mail needs it", method)
	}
	return o.a.visitOfOperator(ctx)
}

// SetTemporaryPassword gives a user a random password of 19 characters, such as
// "7K2M-Q9XD-0V4T-HB3C", in place of the one of before, and returns it. It works for one
// sign-in, within 24 hours, and that sign-in goes on once the user has chosen another
// password. Used again, or later, it is a wrong password.
//
// It ends all sessions of the user, the sign-ins that wait, and links to choose a password.
// Second factors stay and are asked for. The user receives a mail at the proven address,
// which does not have the password.
//
// It is for operators who can hand the password over safely, for example in person, and who
// have made sure that the owner of the account asks for it. [Operators.SendReset] is better
// wherever the user reads mail: there the operator learns no password. A user without an
// address could not sign in with a password, which is an error. So is the call with
// [Passwords].Off.
func (o *Operators) SetTemporaryPassword(ctx context.Context, userID string) (password string, err error) {
	if err := o.withPasswords("SetTemporaryPassword"); err != nil {
		return "", err
	}
	u, err := o.of(ctx, "SetTemporaryPassword", userID)
	if err != nil {
		return "", err
	}
	if u.Email == "" {
		return "", errors.New("account: SetTemporaryPassword: the user has no address to sign in with")
	}
	err = o.act(ctx, "op_temporary_password", u.ID, func(ctx context.Context) error {
		password, err = o.a.setTemporaryPassword(ctx, u)
		return err
	})
	if err != nil {
		return "", err
	}
	return password, nil
}

// RequirePasswordChange has a user with a password choose another one at the next sign-in. All
// sessions of the user end. It returns an error with [Passwords].Off.
func (o *Operators) RequirePasswordChange(ctx context.Context, userID string) error {
	if err := o.withPasswords("RequirePasswordChange"); err != nil {
		return err
	}
	u, err := o.of(ctx, "RequirePasswordChange", userID)
	if err != nil {
		return err
	}
	return o.act(ctx, "op_password_required", u.ID, func(ctx context.Context) error {
		return o.a.lockOut(ctx, u.ID, func() error {
			return o.a.changeState(ctx, u.ID, func(s *accountstore.State) { addMust(s, mustPassword) })
		})
	})
}

// Ban keeps a user from signing in, in any way, until a time; the zero time is without an end,
// and a time that has passed is an error. The reason is for operators, and may be empty.
//
// The sessions of the user end, and what was begun as the user: sign-ins that wait, links in
// mails, remembered browsers. They end before the ban is stored, so that a process that ends in
// between leaves a user signed out, and again afterwards, so that a sign-in at the same moment
// leaves no session. A token of a banned user is not renewed, should the list of ended sessions
// have lost it. Sessions that Auth.js has beside this program are not accepted here.
func (o *Operators) Ban(ctx context.Context, userID string, until time.Time, reason string) error {
	u, err := o.of(ctx, "Ban", userID)
	if err != nil {
		return err
	}
	switch {
	case until.IsZero() || until.After(accountstore.Forever):
		until = accountstore.Forever
	case !until.After(time.Now()):
		return fmt.Errorf("account: Ban: the time %s has passed", until.UTC().Format(time.RFC3339))
	}
	if reason, err = checkReason("Ban", reason); err != nil {
		return err
	}
	if err := o.notBeingDeleted(ctx, "Ban", u.ID); err != nil {
		return err
	}
	err = o.act(ctx, "op_ban", u.ID, func(ctx context.Context) error {
		return o.a.lockOut(ctx, u.ID, func() error {
			return o.a.changeState(ctx, u.ID, func(s *accountstore.State) { s.BannedUntil, s.BanReason = until.UTC(), reason })
		})
	}, detailReason, reason)
	if err == nil {
		o.a.tellOfOperator(ctx, userBanned, u)
	}
	return err
}

// notBeingDeleted returns an error if the deletion of a user has begun. The ban that shows it must
// stay: without it the user could be kept.
func (o *Operators) notBeingDeleted(ctx context.Context, method, userID string) error {
	state, err := o.a.rows.State(ctx, userID)
	if err == nil && hasBegunDeletion(state) {
		err = fmt.Errorf("account: %s: the deletion of the user has begun: %w", method, pintle.ErrConflict)
	}
	return err
}

// Unban lets a user sign in again. What the ban has ended stays ended, and so does what Auth.js
// has begun beside this program meanwhile. The error of Ban and Unban matches
// [pintle.ErrConflict] if the deletion of the user has begun.
func (o *Operators) Unban(ctx context.Context, userID string) error {
	u, err := o.of(ctx, "Unban", userID)
	if err != nil {
		return err
	}
	if err := o.notBeingDeleted(ctx, "Unban", u.ID); err != nil {
		return err
	}
	err = o.act(ctx, "op_unban", u.ID, func(ctx context.Context) error {
		if err := o.a.endSessions(ctx, u.ID); err != nil {
			return err
		}
		return o.a.changeState(ctx, u.ID, func(s *accountstore.State) { s.BannedUntil, s.BanReason = time.Time{}, "" })
	})
	if err == nil {
		o.a.tellOfOperator(ctx, userUnbanned, u)
	}
	return err
}

// ResetSecondFactor removes all apps and recovery codes of a user. It ends the user's
// sessions and the sign-ins that wait, with what these have begun: an app that is being
// added meanwhile is not kept. Passkeys stay: see RemovePasskeys. At the next sign-in the user has to add an
// app, also a user with a passkey; after a sign-in with a password, a code that is mailed
// to the user is required before that. The user receives a mail at the proven address.
//
// It is for a user who has lost the second factor. Operators have to make sure by other means
// that the owner of the account asks for it. Set [pintle.Config].URL: without it the
// mail has no link, and names the site only if Config.Texts.Site does.
func (o *Operators) ResetSecondFactor(ctx context.Context, userID string) error {
	u, err := o.of(ctx, "ResetSecondFactor", userID)
	if err != nil {
		return err
	}
	return o.act(ctx, "op_factor_reset", u.ID, func(ctx context.Context) error { return o.a.resetSecondFactor(ctx, u) })
}

// RemovePasskeys removes all passkeys of a user, with their accounts, and ends the user's sessions
// and what was begun as the user: one of the passkeys may be that of a thief. It is recorded as
// ResetSecondFactor is, and the user receives the same mail. Apps and recovery codes stay.
//
// A user who signs in with passkeys only cannot sign in afterwards: [Operators.SendReset] lets
// one with a proven address choose a password, unless [Passwords].Off is set. It does nothing in a store without passkeys.
func (o *Operators) RemovePasskeys(ctx context.Context, userID string) error {
	u, err := o.of(ctx, "RemovePasskeys", userID)
	if err != nil {
		return err
	}
	err = o.act(ctx, "op_factor_reset", u.ID, func(ctx context.Context) error {
		return o.a.whileSignedOut(ctx, u.ID, func() error { return o.a.dropPasskeys(ctx, u.ID) })
	})
	if err == nil {
		o.a.tellOfOperator(ctx, "factors-reset", u)
	}
	return err
}

// dropPasskeys removes the passkeys of a user, also those whose account is missing, which Auth.js
// may cause.
func (a *Accounts) dropPasskeys(ctx context.Context, userID string) error {
	if !a.store.Features().Passkeys {
		return nil
	}
	linked, err := a.store.UserAccounts(ctx, userID)
	if err != nil {
		return err
	}
	for _, l := range linked {
		if l.Type != pintle.TypeWebAuthn {
			continue
		}
		err := a.store.UnlinkAccount(ctx, userID, l.Provider, l.ProviderAccountID, nil)
		if err != nil && !errors.Is(err, pintle.ErrNotFound) {
			return err
		}
	}
	keys, err := a.store.UserPasskeys(ctx, userID)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if err := a.store.DeletePasskey(ctx, userID, key.CredentialID); err != nil && !errors.Is(err, pintle.ErrNotFound) {
			return err
		}
	}
	return nil
}

// Devices yields where a user is signed in, as [pintle.Auth.Devices] does for the user of a
// session. Sessions in tokens are in no list.
func (o *Operators) Devices(ctx context.Context, userID string) iter.Seq2[*pintle.Device, error] {
	return func(yield func(*pintle.Device, error) bool) {
		u, err := o.of(ctx, "Devices", userID)
		if err != nil {
			yield(nil, err)
			return
		}
		for device, err := range o.a.auth.Devices(ctx, ofUser(u.ID)) {
			if device != nil && device.Handle == "" {
				continue // the session that only names the user
			}
			if !yield(device, err) {
				return
			}
		}
	}
}

// ofUser is a session that names a user, for methods of the root that take one.
func ofUser(userID string) *pintle.Session { return &pintle.Session{User: pintle.User{ID: userID}} }

// EndDevice ends one session of a user: the one with a handle that Devices yielded. The error
// matches [pintle.ErrNotFound] if the user has no such session, and always for sessions in
// tokens.
func (o *Operators) EndDevice(ctx context.Context, userID, handle string) error {
	u, err := o.of(ctx, "EndDevice", userID)
	if err != nil {
		return err
	}
	return o.act(ctx, "op_signed_out", u.ID, func(ctx context.Context) error { return o.a.auth.EndDevice(ctx, ofUser(u.ID), handle) })
}

// SignOut ends all sessions of a user, and what was begun as the user: sign-ins that wait,
// links in mails, remembered browsers.
func (o *Operators) SignOut(ctx context.Context, userID string) error {
	u, err := o.of(ctx, "SignOut", userID)
	if err != nil {
		return err
	}
	err = o.act(ctx, "op_signed_out", u.ID, func(ctx context.Context) error { return o.a.endSessions(ctx, u.ID) })
	if err == nil {
		o.a.tellOfOperator(ctx, userSignedOut, u)
	}
	return err
}

// SetRoles gives a user these roles in place of those of before. A role has 1 to 64 of the
// characters a-z, 0-9, ":", "_" and "-", begins with no "-", and a user has at most 32. Without roles it takes all away.
//
// Sessions in the database see the change at once: see [Accounts.Roles]. Tokens carry the
// roles, so if a role is taken away the sessions in tokens of the user end.
func (o *Operators) SetRoles(ctx context.Context, userID string, roles []string) error {
	u, err := o.of(ctx, "SetRoles", userID)
	if err != nil {
		return err
	}
	if roles, err = checkRoles("SetRoles", roles); err != nil {
		return err
	}
	return o.act(ctx, "op_roles", u.ID, func(ctx context.Context) error {
		before, err := o.a.rows.State(ctx, u.ID)
		if err != nil {
			return err
		}
		ends := o.a.tokens && !onlyAdds(before.Roles, roles)
		if ends {
			if err := o.a.endSessions(ctx, u.ID); err != nil {
				return err
			}
		}
		err = o.a.changeState(ctx, u.ID, func(s *accountstore.State) {
			ends = ends || o.a.tokens && !onlyAdds(s.Roles, roles) // another operator may have changed them
			s.Roles = roles
		})
		if err != nil || !ends {
			return err
		}
		return o.a.endSessions(ctx, u.ID)
	}, detailRoles, strings.Join(roles, " "))
}

// onlyAdds reports whether roles have all of those before, and others. It is false for the same
// roles: a call before may have failed before the tokens ended.
func onlyAdds(before, roles []string) bool {
	taken := slices.ContainsFunc(before, func(role string) bool { return !slices.Contains(roles, role) })
	return !taken && len(roles) > len(before)
}

// Delete deletes a user at once: the sessions end, [Deletion].Delete removes what the application
// has, and then the store removes the user. If [Deletion].Delete fails, the user stays banned and
// is to be deleted: call Delete again, or leave it to [Accounts.DeleteDue].
func (o *Operators) Delete(ctx context.Context, userID string) error {
	due := time.Now().UTC().Truncate(time.Millisecond)
	return o.delete(ctx, "Delete", userID, due, "deletion-done", func(ctx context.Context, userID string) error {
		state, err := o.a.rows.State(ctx, userID)
		if err != nil {
			return err
		}
		return o.a.deleteNow(ctx, state)
	})
}

// PlanDeletion plans to delete a user at a time, until when the user can keep the account as after
// a deletion of their own. A time that has passed is an error. The sessions of the user end. The
// deletion happens when [Accounts.DeleteDue] is called after that time.
func (o *Operators) PlanDeletion(ctx context.Context, userID string, at time.Time) error {
	if !at.After(time.Now()) {
		return fmt.Errorf("account: PlanDeletion: the time %s has passed: call Delete to delete the user at once", at.UTC().Format(time.RFC3339))
	}
	due := at.UTC().Truncate(time.Millisecond)
	return o.delete(ctx, "PlanDeletion", userID, due, "deletion-planned", func(context.Context, string) error { return nil })
}

// delete stores when a user is deleted, ends the sessions, and goes on with then. notice is what
// the user is told.
func (o *Operators) delete(
	ctx context.Context, method, userID string, due time.Time, notice string, then func(ctx context.Context, userID string) error,
) error {
	u, err := o.of(ctx, method, userID)
	if err != nil {
		return err
	}
	v, err := o.a.visitOfOperator(ctx)
	if err != nil {
		return err
	}
	err = o.act(ctx, "op_deleted", u.ID, func(ctx context.Context) error {
		// A user of a deferred sign-up who claims an address is to be deleted by another rule.
		err := o.a.lockOut(ctx, u.ID, func() error {
			return o.a.changeState(ctx, u.ID, func(s *accountstore.State) { s.DeleteAt, s.Claim = due, "" })
		})
		if err != nil {
			return err
		}
		return then(ctx, u.ID)
	})
	if err == nil {
		v.tellOfDeletion(notice, u, page.Texts(v.texts).Day(due))
	}
	return err
}

// Keep takes a planned deletion back, whether the user or an operator has planned it. The error
// matches [pintle.ErrConflict] if the deletion has begun: it cannot be taken back, since a part of
// what the application has of the user may be gone.
func (o *Operators) Keep(ctx context.Context, userID string) error {
	u, err := o.of(ctx, "Keep", userID)
	if err != nil {
		return err
	}
	v, err := o.a.visitOfOperator(ctx)
	if err != nil {
		return err
	}
	state, err := o.a.rows.State(ctx, u.ID)
	switch {
	case err != nil:
		return err
	case !isDeleting(state):
		return nil
	case hasBegunDeletion(state):
		return fmt.Errorf("account: Keep: the deletion of the user has begun: %w", pintle.ErrConflict)
	}
	err = o.act(ctx, "op_kept", u.ID, func(ctx context.Context) error {
		// Of this and a deletion that begins, which bans the user first, one changes the state.
		state.DeleteAt = time.Time{}
		return o.a.rows.ChangeState(ctx, state)
	})
	if err == nil {
		v.tellOfDeletion("deletion-kept", u, "")
	}
	return err
}

// checkReason returns a reason as one line.
func checkReason(method, reason string) (string, error) {
	if !utf8.ValidString(reason) || utf8.RuneCountInString(reason) > userrule.MaxReason {
		return "", fmt.Errorf("account: %s: the reason is not UTF-8, or has more than %d characters", method, userrule.MaxReason)
	}
	return oneLine(reason, userrule.MaxReason), nil
}
