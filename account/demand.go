package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/internal/page"
)

// A Demand is how fresh and how strong the proofs of a session have to be. The zero
// Demand is one proof, whenever it was given.
type Demand struct {
	// MaxAge is how long ago a proof may have been given: older ones do not count.
	// Requests other than GET and HEAD get ten minutes more, so that a form that was
	// shown in time can be sent. Zero means that all proofs of the session count.
	MaxAge time.Duration

	// Level is what the proofs have to reach together. Zero means [OneFactor].
	Level Level

	// Strongest demands at least TwoFactors of users who have an authenticator app or a
	// passkey now, as the store says. It adds nothing if SecondFactor.Off is set.
	Strongest bool
}

// slack is the additional age of proofs for requests other than GET and HEAD. The user fills
// in a form in this time.
const slack = 10 * time.Minute

// accountDemand is the demand of all changes of how a user signs in, so that a session that
// was stolen, or left open, is not enough for them.
var accountDemand = Demand{MaxAge: 10 * time.Minute, Strongest: true}

// check returns what makes a demand impossible.
func (d Demand) check() error {
	if d.MaxAge < 0 {
		return fmt.Errorf("account: Demand.MaxAge is %v: give the time that may have passed, or zero", d.MaxAge)
	}
	if d.Level < 0 || d.Level > PhishingResistant {
		return fmt.Errorf("account: Demand.Level is %d: choose OneFactor, TwoFactors or PhishingResistant", d.Level)
	}
	return nil
}

// since is the time after which proofs count.
func (d Demand) since(more time.Duration) time.Time {
	if d.MaxAge == 0 {
		return time.Time{}
	}
	return time.Now().Add(-d.MaxAge - more)
}

// A StepUpError is a [Demand] that the session of a request does not meet. As an
// [http.Handler] it writes the answer of [Accounts.Demand].
type StepUpError struct {
	// Level is what the proofs have to reach, and MaxAge how long ago they may have
	// been given. Zero is without a limit.
	Level  Level
	MaxAge time.Duration

	// URL is the path of the page on which the user proves it, with the way back to
	// the request.
	URL string

	accounts *Accounts
}

func (e *StepUpError) Error() string {
	if e.MaxAge == 0 {
		return fmt.Sprintf("account: the proofs of the session do not reach %s: the user confirms at %s", e.Level, e.URL)
	}
	return fmt.Sprintf("account: the proofs of the last %v do not reach %s: the user confirms at %s", e.MaxAge, e.Level, e.URL)
}

// ServeHTTP writes the default answer.
func (e *StepUpError) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.accounts.guardVisit(w, r).fail(e)
}

// Demand returns a handler that passes requests on to next if they carry a session that
// meets d. It is [pintle.Auth.Require] as well, for requests without a session.
//
// Other requests do not reach next. A browser that loads a page goes to the page on which
// its user confirms, and comes back. A form that it sends is answered with status 403 and
// a page that says that nothing was done: its fields are not kept, since they may be
// secret, or forged. The header Pintle-Step-Up of this answer has the demand as JSON.
// Clients that do not ask for HTML, or send JSON, get status 401 with the challenge of
// RFC 9470, and JSON with the members error, acr_values, max_age and url.
//
// A session of which no proofs are recorded meets no demand: one that Auth.js has begun,
// or that is older than the accounts of the application. Neither does an operator who acts as
// the user: the status is 403, with the code "acting".
//
// Demand panics if d is impossible. With [pintle.NewFunc] each tenant has its own
// Accounts.
//
// https://www.rfc-editor.org/rfc/rfc9470#section-3
func (a *Accounts) Demand(d Demand, next http.Handler) http.Handler {
	if err := d.check(); err != nil {
		panic(err.Error())
	}
	guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := a.meets(r, pintle.SessionFrom(r.Context()), d); err != nil {
			a.guardVisit(w, r).fail(err)
			return
		}
		next.ServeHTTP(w, r)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.auth == nil {
			a.log().ErrorContext(r.Context(), "pintle: Accounts.Demand answers before pintle.New has the Accounts as Config.Accounts", slog.String("code", codeNotAttached), slog.String("fix", fixNotAttached))
			http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
			return
		}
		a.auth.Require(guarded).ServeHTTP(w, r)
	})
}

// Meets returns nil if the session of a request meets d, for server code that decides in
// the course of a request. Otherwise the error is a [*StepUpError], which can answer the
// request. It matches [pintle.CodeAccessDenied] if there is no session, and [CodeActing] if an
// operator acts as the user, which meets no demand. Any other error means that the session or the store could not be read: do nothing then either.
func (a *Accounts) Meets(r *http.Request, d Demand) error {
	if err := d.check(); err != nil {
		return err
	}
	if a.auth == nil {
		return errors.New("account: Meets was called before pintle.New has the Accounts as Config.Accounts")
	}
	session, err := a.auth.Session(r)
	if err != nil {
		return err
	}
	if err = a.meets(r, session, d); err == nil {
		return nil
	}
	var p *problem
	switch {
	case errors.As(err, &p) && p.code == "signed_out":
		return &pintle.Error{Code: pintle.CodeAccessDenied, Err: errors.New("account: the request has no session of a user")}
	case errors.As(err, &p) && p.code == "acting":
		return &Error{Code: CodeActing}
	case errors.As(err, &p):
		return fmt.Errorf("account: %w", p.err)
	}
	return err
}

// meets is the decision.
func (a *Accounts) meets(r *http.Request, s *pintle.Session, d Demand) error {
	switch {
	case s == nil || s.User.ID == "":
		return problemOf("signed_out")
	case s.Actor != nil:
		return problemOf("acting") // nothing that an operator proves is a proof of the user
	}
	need, err := a.levelFor(r.Context(), d, s.User.ID)
	if err != nil {
		return err
	}
	more := slack
	if isSafe(r) {
		more = 0
	}
	if a.levelSince(s.Authentication, d.since(more)) >= need {
		return nil
	}
	e := &StepUpError{Level: need, MaxAge: d.MaxAge, accounts: a}
	e.URL = withQuery(a.site.path("confirm"), append(e.query(), "callbackUrl", a.backFrom(r))...)
	return e
}

// levelFor returns the level that a user has to reach.
func (a *Accounts) levelFor(ctx context.Context, d Demand, userID string) (Level, error) {
	need := max(d.Level, OneFactor)
	if !d.Strongest {
		return need, nil
	}
	most, err := a.strongest(ctx, userID)
	return max(need, most), err
}

func isSafe(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// query has the demand for the page that asks for the proofs.
func (e *StepUpError) query() []string {
	pairs := []string{"acr_values", e.Level.String()}
	if e.MaxAge > 0 {
		pairs = append(pairs, "max_age", strconv.Itoa(e.seconds()))
	}
	return pairs
}

// seconds is MaxAge for clients, who read 0 as "now".
func (e *StepUpError) seconds() int { return int((e.MaxAge + time.Second - 1) / time.Second) }

// backFrom is where the browser goes once its user has confirmed: to the page that it
// wanted, and from a form or a script to the page on which that is. A request that
// changes something is not sent again.
func (a *Accounts) backFrom(r *http.Request) string {
	if isSafe(r) && !isScript(r) {
		return pathOf(r.URL)
	}
	sender, err := url.Parse(r.Referer())
	if err != nil || sender.Host == "" || sender.Scheme+"://"+sender.Host != a.site.originOf(r) {
		return "/"
	}
	return pathOf(sender)
}

// pathOf returns the path and the query of a URL. Two slashes at the start would lead to
// another site.
func pathOf(u *url.URL) string {
	path := u.EscapedPath()
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") {
		return "/"
	}
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return path
}

// isScript reports whether a request expects data rather than a page.
func isScript(r *http.Request) bool {
	return wantsJSON(r) || !strings.Contains(strings.Join(r.Header["Accept"], ","), "text/html")
}

// askSignIn is [pintle.Callbacks.SignIn]. Linking an account or adding a passkey gives the user
// another way to sign in, so it has the demand of all such changes, and needs a proven
// address unless the user has none. After the confirmation the user begins again: what the
// provider issued is not kept.
func (a *Accounts) askSignIn(ctx context.Context, attempt *pintle.SignInAttempt) (goTo string, err error) {
	if u := attempt.LinkTo; u != nil {
		need, err := a.levelFor(ctx, accountDemand, u.ID)
		if err != nil {
			return "", &pintle.Error{Code: pintle.CodeStore, Err: err}
		}
		if a.levelSince(attempt.Authentication, accountDemand.since(slack)) < need {
			return withQuery(a.site.path("confirm"), "callbackUrl", a.site.path("")), nil
		}
		// An attacker may have made this user with the address of another person, who will
		// prove it, and then share the user with the account.
		stored, err := a.store.User(ctx, u.ID)
		if err != nil {
			return "", storeFault(err)
		}
		if stored.Email != "" && !isProved(stored) {
			return withQuery(a.site.path("prove"), "callbackUrl", a.site.path("")), nil
		}
		if err := a.mayAddPasskey(ctx, attempt); err != nil {
			return "", err
		}
	}
	if attempt.VerificationRequest {
		a.evenOutMail(ctx, attempt.User.Email)
	}
	if a.callback.SignIn != nil {
		return a.callback.SignIn(ctx, attempt)
	}
	return "", nil
}

// evenOutMail does for a mail link what findUser does. The root also looks the address up, and
// does not pass on what it found: together these are four look-ups that find two users.
func (a *Accounts) evenOutMail(ctx context.Context, email string) {
	if u, err := a.userByEmail(ctx, email); err == nil {
		a.evenOut(ctx, u)
		a.evenOut(ctx, u)
	}
}

// guardVisit is a visit to a page of the host. It reads neither the body nor the form
// token.
func (a *Accounts) guardVisit(w http.ResponseWriter, r *http.Request) *visit {
	v := &visit{Accounts: a, w: w, r: r, ctx: r.Context(), texts: a.auth.Texts(r), json: isScript(r)}
	v.pages = a.site.pages[v.texts.Lang]
	if s := pintle.SessionFrom(r.Context()); s != nil && s.Actor != nil {
		if token, err := a.auth.CSRFToken(w, r); err == nil {
			v.acting, v.csrf = s, token // the page has the banner
		}
	}
	// The answer depends on the session, so no cache may give it to others.
	w.Header().Set("Cache-Control", "private, no-cache, no-store")
	w.Header().Add("Vary", "Cookie, Accept")
	if len(a.site.pages) > 1 {
		w.Header().Add("Vary", "Accept-Language")
	}
	return v
}

// demand decides for a route of this package.
func (v *visit) demand(d Demand) error { return v.meets(v.r, v.session, d) }

// failStepUp answers a request whose session does not meet a demand.
func (v *visit) failStepUp(e *StepUpError) {
	h := v.w.Header()
	v.log().DebugContext(v.ctx, "pintle: the user has to confirm first", slog.String("level", e.Level.String()))
	switch {
	case isScript(v.r):
		challenge := `Bearer error="insufficient_user_authentication", error_description="The user has to confirm that it is them", acr_values="` +
			e.Level.andAbove() + `"`
		answer := map[string]any{
			"error": "insufficient_user_authentication", "acr_values": e.Level.andAbove(), "url": v.absolute(e.URL),
		}
		if e.MaxAge > 0 {
			challenge += `, max_age="` + strconv.Itoa(e.seconds()) + `"`
			answer["max_age"] = e.seconds()
		}
		h.Set("WWW-Authenticate", challenge)
		v.writeJSON(http.StatusUnauthorized, answer)
	case isSafe(v.r):
		h.Set("Location", e.URL)
		v.w.WriteHeader(http.StatusSeeOther)
	default:
		demand := map[string]any{"acr": e.Level.String()}
		if e.MaxAge > 0 {
			demand["max_age"] = e.seconds()
		}
		text, _ := json.Marshal(demand) // text and numbers always marshal
		h.Set("Pintle-Step-Up", string(text))
		p := v.newPage("nothing-done", "")
		p.Status, p.Notice = http.StatusForbidden, ""
		p.Links = []page.Link{{URL: e.URL, Text: v.pageText("nothing-done").Button}}
		if v.route != nil { // not a page of the application
			v.dress(&p)
		}
		v.writePage(v.pages.Form(p))
	}
}
