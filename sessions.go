package pintle

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"time"

	"github.com/pintleauth/pintle/internal/cookie"
)

// sessions is where the sessions of a configuration live: [tokenSessions] keeps
// them in tokens, [dbSessions] in rows of the store. Only
// [settings.chooseSessions] reads the strategy.
type sessions interface {
	// needStoredUser reports whether a session is a row of the store, which
	// belongs to a user of the store.
	needStoredUser() bool

	// carryAddress reports whether a session has a copy of the user's address, and
	// shows it until the session ends.
	carryAddress() bool

	// endHeldAtSignIn reports whether a sign-in with a provider ends the session
	// that the browser holds. The session cookie has to come along for that.
	endHeldAtSignIn() bool

	// endCopies reports whether the end of a session is the end of every copy of
	// its cookie. Where it is not, a sign-out can do no more than clear the cookie.
	endCopies() bool

	// read returns the session of a request and extends it as q requires. Only
	// [settings.sessionOf] calls it.
	read(q sessionRequest) sessionResult

	// present returns the user who is signed in in this browser. An expired
	// session counts as signed out: what is linked while a browser holds it must
	// not go to its user.
	present(x *exchange) (*presence, error)

	// create writes what the store keeps of the session of a decision, in its
	// transaction. Only [exchange.beginSession] calls it.
	create(w *unitOfWork, d *decision) error

	// mark writes what shows later whether the sessions of the user have ended
	// since the decision, in its transaction.
	mark(w *unitOfWork, d *decision) error

	// keep makes what the session of a held sign-in consists of, and resume takes
	// it back. A sign-in that another kind of sessions kept cannot be completed.
	keep(x *exchange, who *arrival, d *decision) error
	resume(d *decision, held *heldSignIn) error

	// marked reports whether the sessions of the user have not ended since mark.
	// unmark does the same and removes the mark.
	marked(ctx context.Context, d *decision) (bool, error)
	unmark(ctx context.Context, d *decision) (bool, error)

	// rotate ends the sessions that the browser holds and gives it one with another
	// token, where the host asks for that.
	rotate(w *unitOfWork, d *decision) error

	// endOther ends the sessions that the browser holds, before the sign-in of
	// user, unless it is signed in as that user. here is the presence in it.
	endOther(w *unitOfWork, here *presence, user *User) error

	// issue gives the browser the session of a decision, and returns nil where
	// there is none. Only [exchange.giveSession] calls it.
	issue(x *exchange, who *arrival, d *decision) (*issued, error)

	// end ends the sessions with the tokens held, which the request carries. Its
	// cookies are left.
	end(x *exchange, held []string) ([]*SignOutEvent, error)

	// endUnproven ends the sessions of a user, but for the one with the token
	// except, in the transaction of a decision. See [work.endSessions].
	endUnproven(w *unitOfWork, who *arrival, userID, except string) error

	// endEverywhere ends every session of a user.
	endEverywhere(ctx context.Context, userID string) error

	// devices, endDevice and endOtherDevices are what the methods of [Auth] with
	// these names do for the user of asking.
	devices(ctx context.Context, asking *Session) iter.Seq2[*Device, error]
	endDevice(ctx context.Context, asking *Session, handle string) error
	endOtherDevices(ctx context.Context, asking *Session) (ended int, err error)
}

// A renewal is the extent to which reading a session extends it.
type renewal int

const (
	renewNever  renewal = iota // read only: there is no response to write to
	renewDue                   // when UpdateAge has passed
	renewAlways                // the session route, as its clients expect
)

// A sessionRequest is a request whose session is to be read, and how.
type sessionRequest struct {
	*http.Request
	set     *cookieSet
	renewal renewal

	// trigger and update are for the callbacks: what a client or the host sent to
	// change the session.
	trigger Trigger
	update  any

	// changes are those that [Claim.Set] made and that are to be saved.
	changes map[string]any
}

// clearing returns the lines that remove the session cookie of a request that is
// signed out. Only the session route removes it, whose clients count on that.
func (q *sessionRequest) clearing() []string {
	if q.renewal != renewAlways {
		return nil
	}
	return q.set.clearSession(q.Header)
}

// A sessionResult is what came of reading the session of a request.
type sessionResult struct {
	// session is nil where the request is signed out or the session was not read.
	session *Session

	// lines are the Set-Cookie lines for the browser. Those of a session that was
	// not read are sent by the session route only.
	lines []string

	// unread has no error where the session was read, and where the request
	// carries none.
	unread
}

// An unread is the reason why a session was not read.
type unread struct {
	err   error
	cause unreadCause
}

type unreadCause int

const (
	// rejected is a token that is expired, ended or not one of this site. The
	// request is signed out.
	rejected unreadCause = iota

	// failed is a fault of the configuration or of a callback.
	failed

	// unanswered means that a store or a revocation list is unavailable. It is
	// not known whether the request is signed in, so it counts as signed out: a
	// session that has ended must not be used because the list of ended ones is
	// unavailable.
	unanswered
)

// readsHeader reports whether the session may come in the Authorization header.
// The session route reads cookies only: its answers set them.
func (s *settings) readsHeader(q *sessionRequest) bool {
	return s.Session.AllowBearer && q.renewal != renewAlways
}

// sessionOf returns the session of a request. The session records the settings
// by which it was read: the methods of another [Auth] must not use it for one
// of their users.
func (s *settings) sessionOf(q sessionRequest) sessionResult {
	result := s.sessions.read(q)
	if result.session != nil {
		result.session.from = s
	}
	return result
}

// loadSession reads the session of a request to the host's own handler and
// extends it when that is due. away reports that the store or the revocation
// list is unavailable, so that a user whose session was not read may be signed
// in.
func (s *settings) loadSession(w http.ResponseWriter, req *http.Request) (session *Session, away bool) {
	set, err := s.cookiesOf(req)
	if err != nil {
		s.logUnread(req.Context(), unread{err, failed})
		return nil, false
	}
	q := sessionRequest{Request: req, set: set, renewal: renewDue}
	if s.Session.AllowBearer && cookie.ReadChunked(req.Header, set.session.name).Value() == "" {
		q.renewal = renewNever // a native application has no use for a cookie
	}
	result := s.sessionOf(q)
	if result.err != nil {
		s.logUnread(req.Context(), result.unread)
		return nil, result.cause == unanswered
	}
	if len(result.lines) > 0 {
		h := w.Header()
		h["Set-Cookie"] = append(h["Set-Cookie"], result.lines...)
		if h["Cache-Control"] == nil {
			// A shared cache must not give the user's cookie to others.
			h.Set("Cache-Control", "private")
		}
	}
	return result.session, false
}

// readSession reads the session of a request without extending it.
func (s *settings) readSession(req *http.Request) (*Session, error) {
	set, err := s.cookiesOf(req)
	if err != nil {
		s.logUnread(req.Context(), unread{err, failed})
		return nil, err
	}
	result := s.sessionOf(sessionRequest{Request: req, set: set, renewal: renewNever})
	if result.err != nil {
		s.logUnread(req.Context(), result.unread)
		if result.cause == rejected {
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
	// The callback receives a copy. If its result contains the copy, the copy
	// is shown by the default view: the session itself would contain itself.
	own := *session
	recorded := session.Authentication
	view := &SessionView{Session: &own, Claims: claims}
	if session.stored != nil {
		view.User, view.Stored, view.Trigger, view.Update = &own.User, session.stored, q.trigger, q.update
	}
	shown, err := s.Callbacks.Session(q.Context(), view)
	if err != nil {
		return fmt.Errorf("Callbacks.Session: %w", err)
	}
	*session = own
	session.Authentication = recorded // which no callback changes
	if itself, same := shown.(*Session); !same || itself != &own {
		session.view, session.viewed = shown, true
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
		q.trigger = TriggerUpdate
		q.update, _ = x.body.Raw("data")
	} else {
		x.answer.noStore = true
	}
	result := x.sessionOf(q)
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
	if s.viewed {
		e.Session = s.view
	}
	switch {
	case s.data != nil:
		e.Claims = s.data
	case s.hasData:
		e.Claims, _ = s.claims.Claims() // they were valid a moment ago
	}
	emit(x.ctx, x.settings, "session", x.Events.Session, e)
}

// A presence is the user who is signed in in a browser.
type presence struct {
	// user is nil where the request is signed out.
	user *User

	// session is the database session, nil where sessions are kept in tokens.
	session *StoredSession

	// authentication is what the session records of the sign-in, and began when the
	// session began at the latest. Both are zero if the session does not record it.
	authentication Authentication
	began          time.Time
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
