package pintle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/pintleauth/pintle/internal/cookie"
)

// claimSignedIn is when the person signed in, in Unix seconds. It is written
// only where something asks for it, so that tokens stay those of Auth.js.
//
// https://openid.net/specs/openid-connect-core-1_0.html#IDToken
const claimSignedIn = "auth_time"

// claimSession names a session across the renewals of its token, each of which
// has a jti of its own. It is written where sessions can be revoked.
//
// https://openid.net/specs/openid-connect-frontchannel-1_0.html#OPLogout
const claimSession = "sid"

// A renewal says how much reading a session extends it.
type renewal int

const (
	renewNever  renewal = iota // read only: there is no response to write to
	renewDue                   // when UpdateAge has passed
	renewAlways                // the session route, as its clients expect
)

// A reading is one request's session being read.
type reading struct {
	*settings
	ctx context.Context
	req *http.Request
	set *cookieSet

	renewal renewal
	trigger Trigger
	update  any
	changes map[string]any

	// changed reports that a callback changed the claims of the token.
	changed bool

	// lines are the Set-Cookie lines to send.
	lines []string

	// broken reports that the reading failed and not that nobody is signed in,
	// and away that it did because the store or the revocation list did not
	// answer.
	broken, away bool
}

// unanswered notes that what keeps sessions did not answer, so that nobody can
// say whose session this is. Fail closed: it is not one.
func (r *reading) unanswered(code Code, err error) error {
	r.broken, r.away = true, true
	return fail(code, err)
}

// bearer reports whether the session may come in the Authorization header.
func (r *reading) bearer() bool { return r.Session.AllowBearer && r.renewal != renewAlways }

// session returns the session of the request, or nil when nobody is signed in.
func (r *reading) session() (s *Session, err error) {
	if r.strategy == StrategyDatabase {
		s, err = r.storedSession()
	} else {
		s, err = r.tokenSession()
	}
	if s != nil {
		s.from = r.settings
	}
	return s, err
}

// loadSession reads the session of a request to the host's own handler and
// extends it when that is due. When what keeps sessions is away, somebody it does
// not know may still be signed in.
func (s *settings) loadSession(w http.ResponseWriter, req *http.Request) (session *Session, away bool) {
	set, err := s.cookiesOf(req)
	if err != nil {
		s.logReading(req.Context(), err, true)
		return nil, false
	}
	r := reading{settings: s, ctx: req.Context(), req: req, set: set, renewal: renewDue}
	if s.Session.AllowBearer {
		if cookie.ReadChunked(req.Header, set.session.name).Value() == "" {
			r.renewal = renewNever // a native application has no use for a cookie
		}
	}
	session, err = r.session()
	if err != nil {
		s.logReading(req.Context(), err, r.broken)
		return nil, r.away
	}
	if len(r.lines) > 0 {
		h := w.Header()
		h["Set-Cookie"] = append(h["Set-Cookie"], r.lines...)
		if h["Cache-Control"] == nil {
			// A shared cache must not hand this person's cookie to others.
			h.Set("Cache-Control", "private")
		}
	}
	return session, false
}

// readSession reads the session of a request without extending it.
func (s *settings) readSession(req *http.Request) (*Session, error) {
	set, err := s.cookiesOf(req)
	if err != nil {
		s.logReading(req.Context(), err, true)
		return nil, err
	}
	r := reading{settings: s, ctx: req.Context(), req: req, set: set, renewal: renewNever}
	session, err := r.session()
	if err != nil {
		s.logReading(req.Context(), err, r.broken)
		if !r.broken {
			return nil, nil // signed out: the token is invalid or has expired
		}
	}
	return session, err
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

// logReading notes why there is no session. Old and foreign cookies are everyday
// visitors, and so are those who leave before they are answered; what is broken
// needs the operator.
func (s *settings) logReading(ctx context.Context, err error, broken bool) {
	e := classified(err)
	level := unreadLevel(err, slog.LevelInfo)
	if broken && !errors.Is(ctx.Err(), context.Canceled) {
		level = s.repeated(e, slog.LevelError)
	}
	s.log.LogAttrs(ctx, level, "pintle: session not read", slog.String("code", string(e.Code)), slog.Any("error", e.Err))
}

// show asks the host what a browser may see of the session.
func (r *reading) show(s *Session, claims Claims) error {
	if r.Callbacks.Session == nil {
		return nil
	}
	if claims == nil && s.hasData {
		var err error
		if claims, err = s.claims.Claims(); err != nil {
			return r.endWith(fail(codeJWTSession, err))
		}
	}
	// The callback is given a copy, which is shown by the default view also where
	// it is a part of what is shown: the session itself would contain itself.
	own := *s
	view := &SessionView{Session: &own, Claims: claims}
	if s.stored != nil {
		view.User, view.Stored, view.Trigger, view.NewSession = &own.User, s.stored, r.trigger, r.update
	}
	shown, err := r.Callbacks.Session(r.ctx, view)
	if err != nil {
		r.broken = true
		if s.stored != nil {
			return fail(codeSessionToken, fmt.Errorf("Callbacks.Session: %w", err))
		}
		return r.endWith(fail(codeJWTSession, fmt.Errorf("Callbacks.Session: %w", err)))
	}
	*s = own
	if itself, same := shown.(*Session); !same || itself != &own {
		s.view, s.viewed = shown, true
	}
	return nil
}
