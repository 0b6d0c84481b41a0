package pintle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/pintleauth/pintle/internal/bearer"
	"github.com/pintleauth/pintle/internal/cookie"
)

// clearing returns the lines that remove the session cookie of a request that is
// signed out. Only the session route removes it, whose clients count on that.
func (q *sessionRequest) clearing() []string {
	if q.renewal != renewAlways {
		return nil
	}
	return q.set.clearSession(q.Header)
}

// without is the result for a session that is not used. The session route clears
// its cookie, since clients count on it.
func (q *sessionRequest) without(err error, cause unreadCause) sessionResult {
	if cause == unanswered {
		// The session may be good. Clearing its cookie would sign the user out for
		// an outage.
		return sessionResult{unread: unread{err, cause}}
	}
	return sessionResult{lines: q.clearing(), unread: unread{err, cause}}
}

// readsHeader reports whether the session may come in the Authorization header.
// The session route reads cookies only: its answers set them.
func (s *settings) readsHeader(q *sessionRequest) bool {
	return s.Session.AllowBearer && q.renewal != renewAlways
}

// sessionOf returns the session of a request. The session records the settings
// by which it was read: the methods of another [Auth] must not use it for one
// of their users.
func (s *settings) sessionOf(q sessionRequest) (result sessionResult) {
	if s.Callbacks.Act != nil && !q.own && q.carriesActing() {
		return s.showActing(q)
	}
	result = s.sessions.read(q)
	if result.session != nil {
		result.session.from = s
	}
	return result
}

// showActing is sessionOf for a request that has the cookie of an operator who acts as a user.
func (s *settings) showActing(q sessionRequest) sessionResult {
	result, claims := s.actingSession(q)
	if result.session == nil {
		return result
	}
	q.trigger, q.update = "", nil // are for the session of the browser, which is another one
	if err := s.showSession(&q, result.session, claims); err != nil {
		result.session, result.unread = nil, unread{err, failed}
	}
	return result
}

// pageFirst returns the page on which the user of a session has to prove more before the
// session is used, or "".
func (s *settings) pageFirst(ctx context.Context, session *Session) (page string, err error) {
	if s.Callbacks.Accept == nil {
		return "", nil
	}
	if page, err = s.Callbacks.Accept(ctx, session); err != nil {
		return "", fmt.Errorf("Callbacks.Accept: %w", err)
	}
	if page != "" {
		s.log.debug(ctx, "session not used: Callbacks.Accept sends its user to a page first")
	}
	return page, nil
}

// A followed is a session whose provider has to confirm it; see [OAuth.FollowProvider].
type followed struct {
	// id names the session in this process, and account the account at the provider.
	id, user, provider, account string

	// proven is when the provider has confirmed the session, as far as the session says,
	// or zero.
	proven time.Time

	// latest returns the same as the store has it by now. It may be nil. note records a
	// confirmation and what the account then has, and end ends the session. It returns false
	// if the session has ended since it was read. They are called once for all requests.
	latest func(context.Context) (time.Time, error)
	note   func(context.Context, time.Time, *Account) error
	end    func(context.Context) (bool, error)
}

const (
	// followWait is how long a request waits for a provider that is to confirm its session,
	// and followPause how long after that the provider is not asked about the session.
	followWait  = 5 * time.Second
	followPause = time.Minute

	// maxFollowGrace is how much longer than [OAuth.FollowProvider] a [OAuth.FollowGrace] is.
	maxFollowGrace     = 24 * time.Hour
	minFollow          = time.Minute
	defaultFollowGrace = time.Hour
)

var (
	errNotFollowed = fail(CodeAccessDenied, errors.New("the provider no longer confirms the session, which has ended"))
	errUnconfirmed = fail(CodeAccessDenied, errors.New("the provider has not confirmed the session for longer than FollowGrace"))
)

// follow has the provider of a session confirm it, if that is due. It returns when the
// provider has confirmed it last, or why the session is not used.
func (s *settings) follow(ctx context.Context, f *followed) (proven time.Time, why unread) {
	p := s.byID[f.provider]
	if p == nil || p.followEvery == 0 {
		return f.proven, unread{} // the session began with another provider
	}
	now := time.Now()
	known, _ := s.following.get(f.id)
	if proven = f.proven; past(known.proven).After(proven) {
		proven = known.proven
	}
	if now.Sub(proven) < p.followEvery {
		return proven, unread{}
	}
	if now.Sub(known.asked) >= followPause {
		waiting, cancel := context.WithTimeout(ctx, followWait)
		at, err := s.following.underWay.Do(waiting, f.id, func(ctx context.Context) (time.Time, error) { return s.confirmThere(ctx, p, f) })
		cancel()
		switch {
		case err == nil:
			return at, unread{}
		case errors.Is(err, errNotFollowed):
			return time.Time{}, unread{err: errNotFollowed}
		case ctx.Err() != nil:
			return time.Time{}, unread{context.Cause(ctx), unanswered}
		}
		s.following.change(f.id, func(c *confirmation) { c.asked = time.Now() })
		s.log.LogAttrs(ctx, slog.LevelWarn, "pintle: a provider has not confirmed a session",
			slog.String("provider", p.id), slog.Duration("since", now.Sub(proven).Round(time.Second)), slog.Any("error", err))
	}
	if now.Sub(proven) > p.followGrace {
		return time.Time{}, unread{err: errUnconfirmed}
	}
	return proven, unread{}
}

// confirmThere exchanges the refresh token of the account of a session, and ends the session
// if the provider refuses that.
func (s *settings) confirmThere(ctx context.Context, p *provider, f *followed) (time.Time, error) {
	if f.latest != nil {
		// Another process may have been faster.
		at, err := f.latest(ctx)
		if err == nil && time.Since(at) < p.followEvery {
			s.following.change(f.id, func(c *confirmation) { c.proven = at })
			return at, nil
		}
	}
	renewed, refused, err := s.confirmTokens(ctx, &Account{UserID: f.user, Provider: f.provider, ProviderAccountID: f.account})
	now := time.Now()
	if err == nil {
		s.following.change(f.id, func(c *confirmation) { c.proven = now })
		if err := f.note(ctx, now, renewed); errors.Is(err, errEndedAtProvider) {
			return now, errNotFollowed
		}
		return now, nil // what was not noted is known here
	}
	if !refused {
		return now, err
	}
	s.log.debug(ctx, "session ended: the provider has refused its refresh token", "provider", p.id)
	ended, failed := f.end(ctx)
	if failed != nil {
		s.log.LogAttrs(ctx, slog.LevelError, "pintle: a session that its provider refuses is not ended yet",
			slog.String("provider", p.id), slog.Any("error", failed))
		return now, errNotFollowed // the next request tries again
	}
	if !ended {
		return now, errNotFollowed // by the same refusal, which EndSessionsOnRefusal has reported
	}
	emit(ctx, s, "providerSignOut", s.Events.ProviderSignOut,
		&SignOutEvent{Provider: p.id, UserID: f.user, Ended: 1, Refused: true})
	return now, errNotFollowed
}

// observesSession returns when the reading of a session begins, and the zero time if nobody
// observes it.
func (s *settings) observesSession() (began time.Time) {
	if s.Observer.Session != nil {
		began = time.Now()
	}
	return began
}

// observeSession tells the observer what came of reading a session.
func (s *settings) observeSession(r *http.Request, set *cookieSet, began time.Time, result *sessionResult) {
	if began.IsZero() {
		return
	}
	name := result.name(r.Context())
	if name == "none" && s.carriesSession(r, set) {
		name = "rejected" // a row that is gone is no error
	}
	s.Observer.Session(r.Context(), &ObservedSession{Result: name, Duration: time.Since(began)})
}

// carriesSession reports whether a request carries what could be a session.
func (s *settings) carriesSession(r *http.Request, set *cookieSet) bool {
	return cookie.ReadChunked(r.Header, set.session.name).Value() != "" || s.Session.AllowBearer && bearer.Token(r.Header) != ""
}

// name is the name that an [ObservedSession] has for a result.
func (r *sessionResult) name(ctx context.Context) string {
	switch {
	case r.session != nil:
		return "valid"
	case r.page != "":
		return "page_first"
	case r.err == nil:
		return "none"
	case r.cause == rejected, r.cause == meantForUser:
		return "rejected"
	case errors.Is(ctx.Err(), context.Canceled):
		return "canceled"
	case r.cause == unanswered:
		return "unavailable"
	}
	return "fault"
}

// loadSession reads the session of a request to the host's own handler and
// extends it when that is due. Why a session was not read is in the log.
func (s *settings) loadSession(w http.ResponseWriter, req *http.Request) (result sessionResult) {
	set, err := s.cookiesOf(req)
	if err != nil {
		why := unread{err, failed}
		s.logUnread(req.Context(), why)
		return sessionResult{unread: why}
	}
	q := sessionRequest{Request: req, set: set, renewal: renewDue, enters: true}
	if s.Session.AllowBearer && cookie.ReadChunked(req.Header, set.session.name).Value() == "" {
		q.renewal = renewNever // a native application has no use for a cookie
	}
	began := s.observesSession()
	result = s.sessionOf(q)
	s.observeSession(req, set, began, &result)
	if result.acting != actingNot {
		s.answerActing(w, req, set, &result)
	}
	if result.err != nil {
		s.logUnread(req.Context(), result.unread)
		if result.acting != actingOver {
			return result
		}
	}
	if len(result.lines) > 0 {
		h := w.Header()
		h["Set-Cookie"] = append(h["Set-Cookie"], result.lines...)
		if h["Cache-Control"] == nil {
			// A shared cache must not give the user's cookie to others.
			h.Set("Cache-Control", "private")
		}
	}
	return result
}

// answerActing prepares the answer to a request with the cookie of an operator who acts as
// a user, or did.
func (s *settings) answerActing(w http.ResponseWriter, req *http.Request, set *cookieSet, result *sessionResult) {
	switch {
	case result.acting == actingNow:
		showActor(w.Header())
	case result.acting == actingOver && opensPage(req):
		// The operator sees a page without the banner now. A script, a frame or a page that is
		// fetched in advance must not clear it: a form in view is still meant for the user.
		result.lines = append(result.lines, set.acting.clear())
		(&answer{switched: true}).emptyCache(w.Header())
	}
}

// readSession reads the session of a request without extending it.
func (s *settings) readSession(req *http.Request) (*Session, error) {
	set, err := s.cookiesOf(req)
	if err != nil {
		s.logUnread(req.Context(), unread{err, failed})
		return nil, err
	}
	began := s.observesSession()
	result := s.sessionOf(sessionRequest{Request: req, set: set, renewal: renewNever})
	s.observeSession(req, set, began, &result)
	if result.err != nil {
		s.logUnread(req.Context(), result.unread)
		if result.cause == rejected || result.cause == meantForUser && result.alone {
			return nil, nil // signed out
		}
	}
	return result.session, result.err
}

func (s *settings) cookiesOf(req *http.Request) (*cookieSet, error) {
	site, err := s.site(req)
	if err != nil {
		return nil, err
	}
	if s.fault != nil {
		return nil, s.fault
	}
	set := s.cookieSet(site.Secure())
	if set.fault != nil {
		return nil, set.fault
	}
	return set, nil
}

// logUnread logs why a session was not read. Rejected cookies and cancelled
// requests are common, and logged at Info. A request with sessions of several
// users is logged at Warn, because it may be an attack on its user. Failures are
// for the operator.
func (s *settings) logUnread(ctx context.Context, why unread) {
	e := classified(why.err)
	level := slog.LevelInfo
	if isConflict(why.err) {
		level = slog.LevelWarn
	}
	if why.cause != rejected && !errors.Is(ctx.Err(), context.Canceled) {
		level = s.repeated(e, slog.LevelError)
	}
	s.log.LogAttrs(ctx, level, "pintle: session not read", slog.String("code", string(e.Code)), slog.Any("error", e.Err))
}

// showSession lets the host choose what a browser may see of a session. claims are
// those of a token session.
func (s *settings) showSession(q *sessionRequest, session *Session, claims Claims) error {
	if s.Callbacks.Session == nil {
		return nil
	}
	if q.later != nil {
		q.later.claims = claims
		return nil
	}
	// The callback receives a copy. If its result contains the copy, the copy
	// is shown by the default view: the session itself would contain itself.
	own := *session
	recorded := session.Authentication
	recorded.Methods, recorded.Proofs = slices.Clone(recorded.Methods), maps.Clone(recorded.Proofs)
	view := &SessionView{Session: &own, Claims: claims}
	switch {
	case session.stored != nil:
		view.User, view.Stored, view.Trigger, view.Update = &own.User, session.stored, q.trigger, q.update
	case session.Actor != nil && claims == nil: // no row is that of the user
		view.User, view.Stored = &own.User, &StoredSession{UserID: own.User.ID, Expires: own.Expires}
	}
	actor := session.Actor
	shown, err := s.Callbacks.Session(q.Context(), view)
	if err != nil {
		return fmt.Errorf("Callbacks.Session: %w", err)
	}
	*session = own
	session.Authentication, session.Actor = recorded, actor // which no callback changes
	if itself, same := shown.(*Session); !same || itself != &own {
		session.view = &shown
	}
	return nil
}

// sessionRoute answers GET session and, with the session updated, POST session.
// Clients take null for "signed out", so they get it also when the session cannot
// be read; the reason is in the log.
func (x *exchange) sessionRoute() error {
	q := sessionRequest{Request: x.r, set: x.set, renewal: renewAlways}
	if x.r.Method == http.MethodPost {
		if err := x.requireCSRF(); err != nil {
			return err
		}
		q.own = true // or checkActing has refused it
		q.trigger = TriggerUpdate
		q.update, _ = x.body.Raw("data")
	} else {
		x.answer.noStore = true
	}
	began := x.observesSession()
	result := x.sessionOf(q)
	x.observeSession(x.r, x.set, began, &result)
	x.addCookie(result.lines...)
	if result.err != nil {
		x.logStoreFailure(result.err)
		x.logUnread(x.ctx, result.unread)
	}
	if result.session == nil {
		x.debug("no session shown")
		x.setJSON(http.StatusOK, []byte("null"))
		return nil
	}
	body, err := result.session.MarshalJSON()
	if err != nil {
		return err
	}
	x.setJSON(http.StatusOK, body)
	x.debug("session shown")
	x.emitSession(result.session)
	return nil
}

func (x *exchange) emitSession(s *Session) {
	if x.Events.Session == nil {
		return
	}
	e := &SessionEvent{Session: s}
	if s.view != nil {
		e.Session = *s.view
	}
	switch {
	case s.data != nil:
		e.Claims = s.data
	case s.claims != nil:
		e.Claims, _ = s.claims.Claims() // they were valid a moment ago
	}
	emit(x.ctx, x.settings, "session", x.Events.Session, e)
}

// signedIn returns the signed-in user, and their database session if sessions
// are kept there.
func (x *exchange) signedIn() (*User, *StoredSession, error) {
	here, err := x.sessions.present(x)
	if err != nil {
		return nil, nil, err
	}
	return here.user, here.session, nil
}

// isSignedIn reports whether a user is signed in, as far as the store can say.
func (x *exchange) isSignedIn() bool {
	user, _, err := x.signedIn()
	return err == nil && user != nil
}
