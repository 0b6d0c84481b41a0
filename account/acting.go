package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/internal/cookie"
)

// Acting are the rules by which operators act as users; see [Operators.ActAs]. The zero value
// allows no operator to act.
type Acting struct {
	// Roles are those by which a user is an operator who may act: one of them is enough.
	// Roles are compared as a whole. An empty list allows no operator to act.
	Roles []string

	// Protected are roles of users as whom no operator may act: each role with more rights than
	// the operators have, such as that of administrators. An operator who acts as a user has the
	// rights of the user. Users with one of Roles are always protected. With an empty list
	// [Operators.ActAs] rejects every user who has a role, and [pintle.New] logs a notice with
	// the code ActingWithoutProtected.
	Protected []string

	// MaxAge is the longest time for which an operator acts, from its beginning. Zero means
	// one hour, and more than eight hours is an error.
	MaxAge time.Duration
}

const (
	defaultActing = time.Hour
	longestActing = 8 * time.Hour

	// minActingReason is the least number of characters of a reason.
	minActingReason = 3
)

// actingDemand is what the session of an operator has to prove before the operator acts.
var actingDemand = Demand{Level: TwoFactors, MaxAge: time.Hour}

// actingKind is an operator who acts as a user, who is the subject of the flow.
// [cookie.ActingName] names the cookie.
var actingKind = kind{name: "acting", life: longestActing}

// The kinds of the events.
const (
	actingBegun   = "op_acting_begun"
	actingEnded   = "op_acting_ended"
	actingRequest = "acting_request"
)

func (o Acting) check() error {
	for name, roles := range map[string][]string{"Roles": o.Roles, "Protected": o.Protected} {
		if _, err := checkRoles("Options.Acting."+name, roles); err != nil {
			return err
		}
	}
	if o.MaxAge < 0 || o.MaxAge > longestActing {
		return fmt.Errorf("account: Options.Acting.MaxAge is %v: the most is %v, and zero is %v", o.MaxAge, longestActing, defaultActing)
	}
	return nil
}

func (o Acting) maxAge() time.Duration { return cmp.Or(o.MaxAge, defaultActing) }

// mayAct reports whether the user of a state is an operator who may act.
func (o Acting) mayAct(s *accountstore.State) bool { return isOpen(s) && hasOne(s.Roles, o.Roles) }

// mayBeActedAs reports whether an operator may act as the user of a state.
func (o Acting) mayBeActedAs(s *accountstore.State) bool {
	return isOpen(s) && !slices.ContainsFunc(s.Roles, o.protects)
}

// protects reports whether acting as a user with this role is rejected.
func (o Acting) protects(role string) bool {
	return len(o.Protected) == 0 || slices.Contains(o.Protected, role) || slices.Contains(o.Roles, role)
}

// warn logs rules of a configuration that may be narrower than the application needs.
func (o Acting) warn(log *slog.Logger) {
	if len(o.Roles) > 0 && len(o.Protected) == 0 {
		log.LogAttrs(context.Background(), slog.LevelWarn, "pintle: Options.Acting has Roles and no Protected, so operators act as users without roles only",
			slog.String("code", "ActingWithoutProtected"), slog.String("fix", "list in Options.Acting.Protected each role with more rights than "+
				"the operators have; they then act as users with other roles as well"))
	}
}

// isOpen reports whether a user is neither banned nor about to be deleted.
func isOpen(s *accountstore.State) bool { return !s.BannedUntil.After(time.Now()) && !isDeleting(s) }

func hasOne(has, of []string) bool {
	return slices.ContainsFunc(of, func(role string) bool { return slices.Contains(has, role) })
}

// ActOptions are the details of [Operators.ActAs].
type ActOptions struct {
	// Reason is why the operator acts, in 3 to 500 characters. Each record of the acting has it,
	// and the user does not see it.
	Reason string

	// For is how long the operator acts. Zero, and more than [Acting].MaxAge, mean that time.
	For time.Duration

	// ReturnTo is where the button leads that ends it: a path of this site. Empty means "/".
	ReturnTo string
}

// ActAs lets the operator of the session of r act as a user, in this browser. It sets a cookie on
// w: call it before the response is written, and then send the browser to a page of the
// application, which shows what the user sees.
//
// The operator needs one of [Acting].Roles, and two factors proven in the last hour: if they are
// older, the error is a [*StepUpError], which can answer the request. The user must not have a
// protected role, be banned, be the operator, or be about to be deleted. These refusals are an
// [*Error] with [CodeRefused]. The error matches [CodeActing] if the operator acts already,
// and [CodeSignedOut] without a session. Whatever the context names as the operator, the one of
// the session is recorded.
//
// From then on the session of the requests of this browser has the user as its User and the
// operator as its Actor. Both the session of the operator and the record in the store are
// checked at each request. It ends after the time of o, which no request extends, by the button
// of the banner, by [Accounts.StopActing], at a sign-out, and with the session of the operator;
// also if either of them is banned, if the operator has the role no longer, and if all sessions
// of the user are ended. A request that is not a GET or a HEAD, and comes afterwards, is
// rejected: see [pintle.Auth.Load].
//
// The operator meets no [Demand] and changes nothing of how the user signs in: the forms of the
// account, [Accounts.Do], and the methods of [pintle.Auth] that do so, fail with the code
// "acting". What else an operator may not do, the application decides by
// [pintle.Session].Actor. The beginning, the end, and each request that may change something are
// in the activity, with the reason. If the beginning, or such a request, cannot be recorded, it
// does not happen. Requests are recorded by [pintle.Auth.Load] and [pintle.Auth.Require] alone:
// what a handler outside of them changes is in no record. The user sees the records without the
// reason, and receives a mail; [Notices].Off leaves the mail out.
//
// The answer has the header Clear-Site-Data, so that the browser keeps no page of the operator,
// and Cache-Control. Forms of Pintle that were loaded before are rejected, and forms of the
// application are if they check [pintle.Auth.CSRFToken].
//
// The handler must protect itself against requests forged by other sites.
func (o *Operators) ActAs(w http.ResponseWriter, r *http.Request, userID string, c ActOptions) error {
	ctx := r.Context()
	u, err := o.of(ctx, "ActAs", userID)
	if err != nil {
		return err
	}
	v := o.a.visitOf(r)
	v.w = w
	if err := v.checkActOptions(&c); err != nil {
		return err
	}
	operator, err := v.actingOperator(u)
	if err != nil {
		return v.toldError(err)
	}
	finish, err := o.a.beginAct(ctx, actingBegun, operator.User.ID, u.ID, detailReason, c.Reason)
	if err != nil {
		return err
	}
	if err := finish(forOperator(v.beginActing(operator, u, &c))); err != nil { //nolint:contextcheck // v has that of the request
		return err
	}
	o.a.tellOfOperator(ctx, userActedAs, u)
	return nil
}

// checkActOptions completes the details, or returns an error that names the wrong one.
func (v *visit) checkActOptions(c *ActOptions) (err error) {
	if len(v.o.Acting.Roles) == 0 {
		return errors.New("account: ActAs: no operator may act: set Options.Acting.Roles")
	}
	if c.Reason, err = checkReason("ActAs", c.Reason); err != nil {
		return err
	}
	if utf8.RuneCountInString(c.Reason) < minActingReason {
		return fmt.Errorf("account: ActAs: the reason has less than %d characters", minActingReason)
	}
	if c.For < 0 {
		return fmt.Errorf("account: ActAs: For is %v", c.For)
	}
	if most := v.o.Acting.maxAge(); c.For == 0 || c.For > most {
		c.For = most
	}
	if c.ReturnTo != "" && !isPathHere(c.ReturnTo) {
		return fmt.Errorf("account: ActAs: ReturnTo is %q: give a path of this site", c.ReturnTo)
	}
	return nil
}

// isPathHere reports whether a redirect to a text stays on this site. Browsers drop tabs and line
// breaks, and take "\" for "/", so "//" may appear where no one has written it.
//
// https://url.spec.whatwg.org/#concept-basic-url-parser
func isPathHere(text string) bool {
	return strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//") &&
		!strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c == '\\' || c == 0x7f })
}

// actingOperator returns the session of the operator if the operator may act as a user now.
func (v *visit) actingOperator(u *pintle.User) (*pintle.Session, error) {
	s, err := v.cookieSession()
	switch {
	case err != nil:
		return nil, err
	case s == nil || s.User.ID == "":
		return nil, problemOf("signed_out")
	case s.Actor != nil:
		return nil, problemOf("acting")
	}
	mine, err := v.rows.State(v.ctx, s.User.ID)
	if err != nil {
		return nil, unavailable(err)
	}
	theirs, err := v.rows.State(v.ctx, u.ID)
	if err != nil {
		return nil, unavailable(err)
	}
	if !v.o.Acting.mayAct(mine) || !v.o.Acting.mayBeActedAs(theirs) { // an operator is protected, from other operators and from acting as the same user
		return nil, problemOf("refused")
	}
	return s, v.meets(v.r, s, actingDemand)
}

// beginActing stores that the operator of a session acts as a user, and sets the cookie. The
// cookie ends with the browser; the row has the time.
func (v *visit) beginActing(operator *pintle.Session, u *pintle.User, c *ActOptions) error {
	k := actingKind
	k.life = c.For
	token := newToken()
	_, err := v.createFlow(context.WithoutCancel(v.ctx), k, hashOf(token), u.ID, payload{
		Operator: operator.User.ID, OperatorSince: operator.Authentication.Started.Unix(), Reason: c.Reason, CallbackURL: c.ReturnTo,
	})
	if err != nil {
		return err
	}
	name := v.actingCookie(v.r)
	text, err := v.boxes.cookies[name].Seal(&heldFlow{Token: token})
	if err != nil {
		return err
	}
	v.w.Header().Add("Set-Cookie", cookie.Line(name, text, v.actingAttributes(name)))
	changeUser(v.w)
	return nil
}

// changeUser is for the answer after which the requests of a browser are those of another user.
// What the browser has kept of pages would show the user of before.
//
// https://www.w3.org/TR/clear-site-data/#grammardef-cache
func changeUser(w http.ResponseWriter) {
	w.Header().Add("Clear-Site-Data", `"cache"`)
	w.Header().Set("Cache-Control", "private, no-store")
}

// actingCookie is the name of the cookie, which the root looks for.
func (a *Accounts) actingCookie(r *http.Request) string {
	if a.site.secureCookies == pintle.SecureAlways || a.site.secureCookies != pintle.SecureNever && a.site.secure(r) {
		return securePrefix + a.boxes.acting
	}
	return a.boxes.acting
}

// actingAttributes are those that the root clears the cookie with.
func (a *Accounts) actingAttributes(name string) cookie.Attributes {
	like := a.site.sessionCookie
	return cookie.Attributes{
		Path: "/", HTTPOnly: true, SameSite: cookie.SameSite(like.SameSite), Partitioned: like.Partitioned,
		Secure: strings.HasPrefix(name, securePrefix) || like.Secure == pintle.SecureAlways,
	}
}

// act is [pintle.Callbacks].Act.
func (a *Accounts) act(ctx context.Context, q *pintle.ActingRequest) (*pintle.Session, error) {
	held, err := a.heldActing(ctx, q.Request)
	switch {
	case err != nil:
		return nil, err
	case q.Ends:
		return nil, cmp.Or(a.endAllActing(ctx, held), error(pintle.CodeActingEnded))
	case len(held) == 0:
		return nil, pintle.CodeActingEnded
	case q.Session == nil:
		return nil, nil // the session that the flow belongs to may come with the next request
	}
	if ctx.Value(confirmingKey{}) != nil {
		// On pages of the account a session is read before it is known whether it is used.
		if page, err := a.accept(context.WithValue(ctx, confirmingKey{}, nil), q.Session); page != "" || err != nil {
			return nil, err
		}
	}
	// Another site of the domain may have planted cookies beside the one of this browser.
	i := slices.IndexFunc(held, func(f *flow) bool { return f.isOf(q.Session) })
	if i < 0 {
		return nil, pintle.CodeActingEnded
	}
	f, s := held[i], q.Session
	u, state, err := a.actedAs(ctx, f)
	if err != nil {
		return nil, err
	}
	if q.Enters && (!isSafe(q.Request) || q.Request.Header.Get("Upgrade") != "") {
		e := f.actingEntry(actingRequest)
		e.detail = append(e.detail, detailSession, a.boxes.sessionHandle(s.User.ID, s.Authentication.Started))
		if err := a.record(ctx, e); err != nil {
			return nil, err
		}
	}
	acted := &pintle.Session{
		User: *u, Expires: f.Expires, Actor: &pintle.Actor{ID: s.User.ID, Name: cmp.Or(s.User.Name, s.User.Email)},
	}
	if s.Expires.Before(acted.Expires) {
		acted.Expires = s.Expires
	}
	if a.tokens { // as a token of the user would have them
		acted.Roles = slices.Clone(state.Roles)
	}
	return acted, nil
}

// isOf reports whether a session is that of the operator in which the operator has begun to act.
func (f *flow) isOf(s *pintle.Session) bool {
	return s.User.ID == f.payload.Operator && s.Authentication.Started.Unix() == f.payload.OperatorSince
}

// actingEntry is what is recorded of a flow in which an operator acts.
func (f *flow) actingEntry(kind string) entry {
	return entry{kind: kind, userID: f.Subject, actor: f.payload.Operator, detail: []string{detailReason, f.payload.Reason}}
}

// maxActingCookies is how many cookies of one name are tried.
const maxActingCookies = 16

// heldActing returns the flows that the cookies of a request name and that have not ended. There
// is one cookie, unless other sites of the domain have planted some.
func (a *Accounts) heldActing(ctx context.Context, r *http.Request) (held []*flow, err error) {
	name := a.actingCookie(r)
	values, all := cookie.Values(r.Header, name, maxActingCookies)
	if !all {
		return nil, unavailable(fmt.Errorf("the request has more than %d cookies %s: another site of the domain has planted them", maxActingCookies, name))
	}
	for _, value := range values {
		c := &heldFlow{}
		if a.boxes.cookies[name].Open(value, c) != nil {
			continue
		}
		f, err := a.findFlow(ctx, actingKind, hashOf(c.Token))
		switch {
		case isProblem(err, "link_expired"):
		case err != nil:
			return nil, err
		default:
			held = append(held, f)
		}
	}
	return held, nil
}

// actedAs returns the user of a flow and the state, if the operator may still act as the user. If
// not, the flow ends, and does not go on if the operator may again.
func (a *Accounts) actedAs(ctx context.Context, f *flow) (*pintle.User, *accountstore.State, error) {
	mine, err := a.rows.State(ctx, f.payload.Operator)
	if err != nil {
		return nil, nil, err
	}
	theirs, err := a.rows.State(ctx, f.Subject)
	if err != nil {
		return nil, nil, err
	}
	if !a.o.Acting.mayAct(mine) || !a.o.Acting.mayBeActedAs(theirs) {
		return nil, nil, cmp.Or(a.endActing(ctx, f), error(pintle.CodeActingEnded))
	}
	u, err := a.store.User(ctx, f.Subject)
	if errors.Is(err, pintle.ErrNotFound) {
		err = pintle.CodeActingEnded
	}
	return u, theirs, err
}

// endActing removes the flow and records the end, once. It is recorded afterwards, so that an
// activity that cannot be written does not let the operator go on.
func (a *Accounts) endActing(ctx context.Context, f *flow) error {
	ctx = context.WithoutCancel(ctx)
	_, err := a.rows.UseFlow(ctx, f.ID, actingKind.name)
	if errors.Is(err, pintle.ErrNotFound) {
		return nil
	}
	if err != nil {
		return unavailable(err)
	}
	a.note(ctx, f.actingEntry(actingEnded))
	return nil
}

// endAllActing is endActing for all flows of a browser.
func (a *Accounts) endAllActing(ctx context.Context, held []*flow) error {
	var errs []error
	for _, f := range held {
		errs = append(errs, a.endActing(ctx, f))
	}
	return errors.Join(errs...)
}
