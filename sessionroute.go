package pintle

import "net/http"

// sessionRoute answers GET session and, with the session updated, POST session.
// Clients take null for "signed out", so it is what they get when the session
// cannot be read; the reason is in the log.
func (x *exchange) sessionRoute() error {
	r := reading{settings: x.settings, ctx: x.ctx, req: x.r, set: x.set, renewal: renewAlways}
	if x.r.Method == http.MethodPost {
		if err := x.requireCSRF(); err != nil {
			return err
		}
		r.trigger = TriggerUpdate
		r.update, _ = x.body.Raw("data")
	} else {
		x.answer.noStore = true
	}
	session, err := r.session()
	x.addCookie(r.lines...)
	if err != nil {
		x.logUnread(err, r.broken)
	}
	if session == nil {
		x.debug("no session shown")
		x.setJSON(http.StatusOK, []byte("null"))
		return nil
	}
	body, err := session.MarshalJSON()
	if err != nil {
		return err
	}
	x.setJSON(http.StatusOK, body)
	x.debug("session shown")
	x.emitSession(session)
	return nil
}

// logUnread notes why there is no session.
func (x *exchange) logUnread(err error, broken bool) {
	x.logStoreFailure(err)
	x.logReading(x.ctx, err, broken)
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
