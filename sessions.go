package pintle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"time"

	"github.com/pintleauth/pintle/internal/cookie"
	"github.com/pintleauth/pintle/token"
)

// claimSignedIn is when the person signed in, in Unix seconds. It is written
// only where something asks for it, so that tokens stay those of Auth.js.
//
// https://openid.net/specs/openid-connect-core-1_0.html#IDToken
const claimSignedIn = "auth_time"

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

	// broken reports that the reading failed and not that nobody is signed in.
	broken bool
}

// bearer reports whether the session may come in the Authorization header.
func (r *reading) bearer() bool { return r.Session.AllowBearer && r.renewal != renewAlways }

// session returns the session of the request, or nil when nobody is signed in.
func (r *reading) session() (*Session, error) {
	if r.strategy == StrategyDatabase {
		return r.storedSession()
	}
	return r.tokenSession()
}

// loadSession reads the session of a request to the host's own handler and
// extends it when that is due.
func (s *settings) loadSession(w http.ResponseWriter, req *http.Request) (*Session, error) {
	set, err := s.cookiesOf(req)
	if err != nil {
		s.logReading(req.Context(), err)
		return nil, err
	}
	r := reading{settings: s, ctx: req.Context(), req: req, set: set, renewal: renewDue}
	if s.Session.AllowBearer {
		if _, ok := cookie.GetChunked(req.Header, set.session.name); !ok {
			r.renewal = renewNever // a native application has no use for a cookie
		}
	}
	session, err := r.session()
	if err != nil {
		s.logReading(req.Context(), err)
		return nil, err
	}
	if len(r.lines) > 0 {
		h := w.Header()
		h["Set-Cookie"] = append(h["Set-Cookie"], r.lines...)
		if h["Cache-Control"] == nil {
			// A shared cache must not hand this person's cookie to others.
			h.Set("Cache-Control", "private")
		}
	}
	return session, nil
}

// readSession reads the session of a request without extending it.
func (s *settings) readSession(req *http.Request) (*Session, error) {
	set, err := s.cookiesOf(req)
	if err != nil {
		return nil, err
	}
	r := reading{settings: s, ctx: req.Context(), req: req, set: set, renewal: renewNever}
	session, err := r.session()
	if err != nil && !r.broken {
		// An invalid or expired token is a stranger's.
		s.logReading(req.Context(), err)
		return nil, nil //nolint:nilnil // nil is the answer "nobody"
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

func (s *settings) logReading(ctx context.Context, err error) {
	e := classified(err)
	level := slog.LevelError
	if e.Code == codeJWTSession {
		// Old and foreign cookies are everyday visitors.
		level = slog.LevelInfo
	}
	s.log.LogAttrs(ctx, level, "pintle: session not read", slog.String("code", string(e.Code)), slog.Any("error", e.Err))
}

// tokenSession reads a session that is kept in a token.
func (r *reading) tokenSession() (*Session, error) {
	tok, claims, err := r.decode(r.req, r.set, r.bearer())
	if errors.Is(err, token.ErrNoToken) {
		return nil, nil //nolint:nilnil // nil is the answer "nobody"
	}
	if err == nil {
		err = r.stillGood(tok, claims)
	}
	if err != nil {
		return nil, r.endWith(err)
	}
	if r.Callbacks.JWT == nil && r.changes == nil && claims == nil {
		return r.plainTokenSession(tok)
	}
	if claims == nil {
		if claims, err = tok.Claims(); err != nil {
			return nil, r.endWith(fail(codeJWTSession, err))
		}
	}
	maps.Copy(claims, r.changes)
	before, err := marshal(claims)
	if err != nil {
		return nil, r.endWith(fail(codeJWTSession, err))
	}
	if r.Callbacks.JWT != nil {
		claims, err = r.Callbacks.JWT(r.ctx, &TokenChange{Claims: claims, Trigger: r.trigger, Session: r.update})
		if err != nil {
			r.broken = true
			return nil, r.endWith(fail(codeJWTSession, fmt.Errorf("Callbacks.JWT: %w", err)))
		}
	}
	if claims == nil {
		r.end()
		return nil, nil //nolint:nilnil // the host ended the session
	}
	after, err := marshal(claims)
	if err != nil {
		return nil, r.endWith(fail(codeJWTSession, fmt.Errorf("Callbacks.JWT: %w", err)))
	}
	// What a callback put into the token may be there once only, such as a
	// provider's new refresh token.
	r.changed = !bytes.Equal(before, after)
	return r.changedTokenSession(tok, claims)
}

// endWith clears the cookies of a session that cannot be read, on the route
// whose clients count on it.
func (r *reading) endWith(err error) error {
	r.end()
	return err
}

func (r *reading) end() {
	if r.renewal == renewAlways {
		r.lines = r.sessionClearing(r.set, r.req.Header)
	}
}

// plainTokenSession is the session of a token that nobody wants to change: the
// way nearly every request goes.
func (r *reading) plainTokenSession(tok token.Token) (*Session, error) {
	s := &Session{claims: tok, hasData: true, Expires: r.tokenExpiry(tok)}
	s.User.fromToken(tok)
	if r.renewing(tok) {
		s.Expires = r.renewed(r.signedInAt(tok))
		text, err := r.set.tokens.Renew(tok, r.tokenAge(r.signedInAt(tok)))
		if err != nil {
			return nil, r.endWith(fail(codeJWTSession, err))
		}
		r.lines = r.tokenCookies(r.set, r.req.Header, text)
	}
	if err := r.show(s, nil); err != nil {
		return nil, err
	}
	return s, nil
}

// changedTokenSession is the session of claims that a callback has seen.
func (r *reading) changedTokenSession(tok token.Token, claims Claims) (*Session, error) {
	s := &Session{data: claims, Expires: r.tokenExpiry(tok)}
	s.User.fromClaims(claims)
	renewing := r.renewing(tok)
	if renewing {
		s.Expires = r.renewed(r.signedInAt(tok))
	}
	if err := r.show(s, claims); err != nil {
		return nil, err
	}
	if renewing {
		text, err := r.encode(r.ctx, r.set, claims)
		if err != nil {
			return nil, r.endWith(fail(codeJWTSession, err))
		}
		r.lines = r.tokenCookies(r.set, r.req.Header, text)
	}
	return s, nil
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
	view := &SessionView{Session: s, Claims: claims}
	if s.stored != nil {
		view.User, view.Stored, view.Trigger, view.NewSession = &s.User, s.stored, r.trigger, r.update
	}
	shown, err := r.Callbacks.Session(r.ctx, view)
	if err != nil {
		r.broken = true
		if s.stored != nil {
			return fail(codeSessionToken, fmt.Errorf("Callbacks.Session: %w", err))
		}
		return r.endWith(fail(codeJWTSession, fmt.Errorf("Callbacks.Session: %w", err)))
	}
	// A session shown as itself is shown by the default view.
	if own, same := shown.(*Session); !same || own != s {
		s.view, s.viewed = shown, true
	}
	return nil
}

// storedSession reads a session that is kept in the database.
func (r *reading) storedSession() (*Session, error) {
	held, received := cookie.ReadChunked(r.req.Header, r.set.session.name)
	if held == "" && r.bearer() {
		held = bearerToken(r.req)
	}
	if held == "" {
		return nil, nil //nolint:nilnil // nil is the answer "nobody"
	}
	stored, user, err := r.liveSession(r.ctx, held)
	if err != nil {
		r.broken = true
		return nil, fail(codeSessionToken, err)
	}
	if stored == nil {
		r.end()
		return nil, nil //nolint:nilnil // nil is the answer "nobody"
	}
	s := &Session{User: *user, Expires: stored.Expires, stored: stored}
	if err := r.extend(s, received); err != nil {
		r.broken = true
		return nil, err
	}
	if err := r.show(s, nil); err != nil {
		r.lines = nil
		return nil, err
	}
	return s, nil
}

// liveSession returns the session with a token and its user, if it has not
// expired. One that has is removed.
func (s *settings) liveSession(ctx context.Context, held string) (*StoredSession, *User, error) {
	stored, user, err := s.records.sessionAndUser(ctx, held)
	if err != nil || stored == nil {
		return nil, nil, err
	}
	if stored.Expires.Before(time.Now()) || s.tooOld(stored.Created) {
		_, err := s.records.deleteSession(ctx, held)
		return nil, nil, err
	}
	return stored, user, nil
}

// extend moves the end of a database session when UpdateAge has passed since it
// was moved last.
func (r *reading) extend(s *Session, received []string) error {
	stored := s.stored
	now := time.Now().UTC().Truncate(time.Millisecond)
	expires := r.renewed(stored.Created)
	due := !stored.Expires.Add(-r.Session.MaxAge).Add(max(r.Session.UpdateAge, 0)).After(now)
	if r.renewal != renewNever && (due && expires.After(stored.Expires) || r.changes != nil) {
		change := SessionUpdate{Expires: expires.UTC().Truncate(time.Millisecond)}
		if r.changes != nil {
			change.Data = cloneMap(stored.Data)
			if change.Data == nil {
				change.Data = map[string]any{}
			}
			maps.Copy(change.Data, r.changes)
			stored.Data = change.Data
		}
		if err := r.records.sessions.UpdateSession(r.ctx, stored.Token, change); err != nil && !errors.Is(err, ErrNotFound) {
			return fail(codeSessionToken, storeError("updateSession", err))
		}
	} else {
		due = false
	}
	if r.renewal == renewAlways || (r.renewal == renewDue && due) {
		attrs := r.set.session.attrs
		attrs.Expires = expires
		for _, name := range received {
			if name != r.set.session.name {
				r.lines = append(r.lines, cookie.ClearLine(name, r.set.session.attrs))
			}
		}
		r.lines = append(r.lines, cookie.Line(r.set.session.name, stored.Token, attrs))
	}
	return nil
}
