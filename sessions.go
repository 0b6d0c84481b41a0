package pintle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"

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

// loadSession reads the session of a request to the host's own handler and
// extends it when that is due. Why a session was not read is in the log.
func (s *settings) loadSession(w http.ResponseWriter, req *http.Request) sessionResult {
	set, err := s.cookiesOf(req)
	if err != nil {
		why := unread{err, failed}
		s.logUnread(req.Context(), why)
		return sessionResult{unread: why}
	}
	q := sessionRequest{Request: req, set: set, renewal: renewDue}
	if s.Session.AllowBearer && cookie.ReadChunked(req.Header, set.session.name).Value() == "" {
		q.renewal = renewNever // a native application has no use for a cookie
	}
	result := s.sessionOf(q)
	if result.err != nil {
		s.logUnread(req.Context(), result.unread)
		return result
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
	recorded.Methods, recorded.Proofs = slices.Clone(recorded.Methods), maps.Clone(recorded.Proofs)
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
