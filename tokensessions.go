package pintle

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/pintleauth/pintle/internal/uuid"
	"github.com/pintleauth/pintle/internal/wire"
	"github.com/pintleauth/pintle/providersession"
	"github.com/pintleauth/pintle/token"
)

// needStoredUser returns false: a session carries the data of its user.
func (tokenSessions) needStoredUser() bool { return false }

func (tokenSessions) carryAddress() bool { return true }

// endHeldAtSignIn reports whether sessions can be ended. Where they can, each new
// one ends the one before; see issue.
func (s tokenSessions) endHeldAtSignIn() bool { return s.endCopies() }

func (s tokenSessions) endCopies() bool { return s.Session.Revocation != nil }

// readable looks for a session of no user.
func (s tokenSessions) readable(ctx context.Context) error {
	if s.Session.Revocation == nil {
		return nil
	}
	if _, err := s.Session.Revocation.Revoked(ctx, TokenSession{UserID: unusedToken}); err != nil {
		return fail(CodeStore, fmt.Errorf("Config.Session.Revocation: %w", err))
	}
	return nil
}

// read returns the session of a request, and extends it when that is due.
func (s tokenSessions) read(q sessionRequest) sessionResult {
	held, err := s.decode(q.Context(), q.Request, q.set, s.readsHeader(&q))
	switch {
	case errors.Is(err, token.ErrNoToken):
		// Parts that lead to nothing are cleared, as Auth.js does.
		return sessionResult{lines: q.clearing()} // signed out
	case isConflict(err):
		// Clearing would remove the user's own cookie and leave the planted one,
		// which has a domain or a path that this server does not know.
		return sessionResult{unread: unread{err: err}}
	case err != nil:
		return q.without(err, rejected)
	}
	why, replaced := s.stillGood(q.Context(), held)
	if why.err != nil {
		return q.without(why.err, why.cause)
	}
	if replaced {
		q.onlyRead()
	} else if held, q.confirmed, why = s.confirmed(q.Context(), held); why.err != nil {
		return q.without(why.err, why.cause)
	}
	page, err := s.pageBefore(q.Context(), held)
	switch {
	case err != nil:
		return q.without(fail(codeJWTSession, err), unanswered)
	case page != "":
		return sessionResult{page: page} // the cookie is kept for the page
	}
	readsRoles := s.Callbacks.Roles != nil && s.renewing(&q, held, false)
	if s.Callbacks.JWT == nil && q.changes == nil && held.claims == nil && !readsRoles &&
		(!s.needsSignInTime() || !s.renewing(&q, held, false) || s.marksOf(held).areIn(held)) {
		return s.readPlain(&q, held)
	}
	marks := s.marksOf(held)
	claims, err := held.all()
	if err != nil {
		return q.without(fail(codeJWTSession, err), rejected)
	}
	if readsRoles {
		userID, _ := claims["sub"].(string)
		switch err := s.addRoles(q.Context(), marks, userID); {
		case errors.Is(err, CodeAccessDenied):
			return q.without(fail(codeJWTSession, err), rejected)
		case err != nil:
			return q.without(fail(CodeStore, err), unanswered)
		}
	}
	maps.Copy(claims, q.changes)
	claims = marks.in(claims)
	before, err := wire.Marshal(claims)
	if err != nil {
		return q.without(fail(codeJWTSession, err), rejected)
	}
	if s.Callbacks.JWT != nil {
		claims, err = s.Callbacks.JWT(q.Context(), &TokenChange{Claims: claims, Trigger: q.trigger, Update: q.update})
		if err != nil {
			return q.without(fail(codeJWTSession, fmt.Errorf("Callbacks.JWT: %w", err)), failed)
		}
	}
	if claims == nil {
		s.log.debug(q.Context(), "session ended by Callbacks.JWT")
		return sessionResult{lines: q.clearing()}
	}
	claims = marks.in(claims)
	after, err := wire.Marshal(claims)
	if err != nil {
		return q.without(fail(codeJWTSession, fmt.Errorf("Callbacks.JWT: %w", err)), rejected)
	}
	return s.readClaims(&q, held, claims, !bytes.Equal(before, after))
}

// pageBefore is pageFirst for the session of a token.
func (s tokenSessions) pageBefore(ctx context.Context, held heldToken) (page string, err error) {
	if s.Callbacks.Accept == nil {
		return "", nil
	}
	session := &Session{Expires: s.tokenExpiry(held), Authentication: s.authentication(held)}
	if session.data = held.claims; held.claims != nil {
		session.User.fromClaims(held.claims)
	} else {
		own := held.Token // held itself would be allocated for configurations without Accept, too
		session.claims = &own
		session.User.fromToken(own)
	}
	return s.pageFirst(ctx, session)
}

// readPlain returns the session of a token that stays as it is. Nearly every
// request takes this path.
func (s tokenSessions) readPlain(q *sessionRequest, held heldToken) sessionResult {
	read := &struct { // one allocation
		Session
		claims token.Token
	}{Session{Expires: s.tokenExpiry(held), Authentication: s.authentication(held)}, held.Token}
	session := &read.Session
	if s.Callbacks.Roles != nil {
		session.Roles = s.roles(held.value(claimRoles), session.Authentication)
	}
	session.claims = &read.claims
	session.User.fromToken(held.Token)
	var lines []string
	renewing := s.renewing(q, held, false)
	if renewing {
		signedIn := s.signedInAt(held)
		now := time.Now()
		session.Expires = s.lifetime.Extended(signedIn, now)
		text, err := q.set.tokens.Renew(held.Token, s.lifetime.TokenAge(signedIn, now))
		if err != nil {
			return q.without(fail(codeJWTSession, err), rejected)
		}
		if lines, err = s.tokenCookies(q.Context(), q.set, q.Header, text); err != nil {
			return tooLong(err)
		}
	}
	if s.Callbacks.Session != nil {
		claims, err := held.Claims()
		if err != nil {
			return q.without(fail(codeJWTSession, err), rejected)
		}
		if err := s.showSession(q, session, claims); err != nil {
			return q.without(fail(codeJWTSession, err), failed)
		}
	}
	if renewing {
		s.log.debug(q.Context(), "session extended")
	}
	return sessionResult{session: session, lines: lines}
}

// readClaims returns the session of claims that a callback has seen. changed
// reports that they are no longer those of the token: what a callback put into
// them may be there once only, such as a provider's new refresh token.
func (s tokenSessions) readClaims(q *sessionRequest, held heldToken, claims Claims, changed bool) sessionResult {
	session := &Session{data: claims, Expires: s.tokenExpiry(held), Authentication: s.authentication(held)}
	session.Roles = s.roles(claims[claimRoles], session.Authentication)
	session.User.fromClaims(claims)
	renewing := s.renewing(q, held, changed)
	if renewing {
		session.Expires = s.lifetime.Extended(s.beganAt(held), time.Now())
	}
	if err := s.showSession(q, session, claims); err != nil {
		return q.without(fail(codeJWTSession, err), failed)
	}
	if !renewing {
		return sessionResult{session: session}
	}
	text, err := s.encode(q.Context(), q.set, claims)
	if err != nil {
		return q.without(fail(codeJWTSession, err), rejected)
	}
	lines, err := s.tokenCookies(q.Context(), q.set, q.Header, text)
	if err != nil {
		return tooLong(err)
	}
	s.log.debug(q.Context(), "session extended")
	return sessionResult{session: session, lines: lines}
}

// tooLong is the result if the new token is too long for cookies. The browser
// keeps its present one.
func tooLong(err error) sessionResult {
	return sessionResult{unread: unread{fail(codeJWTSession, err), failed}}
}

// renewing reports whether a token is to be written anew. changed reports that a
// callback changed its claims.
func (s tokenSessions) renewing(q *sessionRequest, held heldToken, changed bool) bool {
	switch {
	case q.renewal == renewNever:
		return false
	case q.renewal == renewAlways || q.changes != nil || changed || q.confirmed || q.trigger == TriggerUpdate:
		return true
	}
	return s.lifetime.Due(held.issued(), time.Now())
}

// stillGood checks whether a valid token was ended before its time. The result
// has no error if it was not. replaced reports that its session goes on under another
// token.
func (s tokenSessions) stillGood(ctx context.Context, held heldToken) (why unread, replaced bool) {
	if !s.needsSignInTime() {
		return unread{}, false
	}
	if s.Session.AbsoluteMaxAge > 0 {
		switch began := s.beganAt(held); {
		case began.IsZero():
			return unread{err: fail(codeJWTSession,
				errors.New("the token does not say when it was issued, which Config.Session.AbsoluteMaxAge needs"))}, false
		case s.lifetime.Over(began, time.Now()):
			return unread{err: fail(codeJWTSession, errors.New("the session has reached its absolute lifetime"))}, false
		}
	}
	if s.Session.Revocation == nil {
		return unread{}, false
	}
	revoked, err := s.Session.Revocation.Revoked(ctx, s.identity(held))
	if err == nil && revoked {
		replaced, err = s.wasReplaced(ctx, s.identity(held))
	}
	if err != nil {
		return unread{fail(codeJWTSession, fmt.Errorf("Config.Session.Revocation: %w", err)), unanswered}, false
	}
	if revoked && !replaced {
		return unread{err: fail(codeJWTSession, errors.New("the session was ended"))}, false
	}
	return unread{}, replaced
}

// confirmed has the provider confirm a session that follows it, if that is due. It returns
// the token with the time of the confirmation, and reports whether it has changed.
func (s tokenSessions) confirmed(ctx context.Context, held heldToken) (_ heldToken, changed bool, why unread) {
	if s.follows { // apart from the rest, which keeps the token in memory: each check would pay
		return s.confirmedByProvider(ctx, held)
	}
	return held, false, unread{}
}

func (s tokenSessions) confirmedByProvider(ctx context.Context, held heldToken) (_ heldToken, changed bool, why unread) {
	there, ok := held.atProvider()
	if !ok || there.account == "" {
		return held, false, unread{}
	}
	proven, why := s.follow(ctx, &followed{
		id: held.session(), user: held.subject(), provider: there.provider, account: there.account, proven: held.counts(there.proof),
		note: func(context.Context, time.Time, *Account) error { return nil }, // the next token says it
		end: func(ctx context.Context) (bool, error) {
			if ended, err := s.ended(ctx, s.identity(held)); ended || err != nil {
				return false, err
			}
			return true, s.endOne(ctx, held)
		},
	})
	if why.err != nil || proven.Unix() <= there.proof.Unix() {
		return held, false, why
	}
	there.proof = proven
	claims, err := held.all()
	if err != nil {
		return held, false, unread{err: fail(codeJWTSession, err)}
	}
	claims[claimAtProvider] = there.value()
	held.claims = claims
	return held, true, unread{}
}

// successor is the id of the session that replaces one. It follows from the id before,
// so that the end of the one is the end of the other, whichever request comes first.
func successor(id string) string {
	hash := sha256.Sum256([]byte("pintle replaced session " + id))
	return base64.RawURLEncoding.EncodeToString(hash[:])
}

// replacement names to the revocation list when a session was replaced: as the end of all
// sessions of a user whose only session that is. The list has no other times.
func replacement(id string) string { return "pintle.replaced." + id }

// wasReplaced reports whether a session that the list has was replaced a moment ago, and
// its successor has not ended. A session that began replacedGrace before now counts as
// ended if the replacement came after that.
func (s tokenSessions) wasReplaced(ctx context.Context, old TokenSession) (bool, error) {
	if !s.Session.RecordAuthentication || old.ID == "" {
		return false, nil
	}
	latest := time.Now().Add(-replacedGrace).Truncate(time.Second)
	recent, err := s.Session.Revocation.Revoked(ctx, TokenSession{UserID: replacement(old.ID), ID: old.ID, SignedIn: latest})
	if err != nil || !recent {
		return false, err
	}
	next := old
	next.ID = successor(old.ID)
	ended, err := s.Session.Revocation.Revoked(ctx, next)
	return err == nil && !ended, err
}

// prove replaces the token. Without a list the one before is good until it expires, as
// any copy is.
func (s tokenSessions) prove(x *exchange, methods []string, there *atProvider) (*Session, error) {
	held, err := s.decode(x.ctx, x.r, x.set, false)
	if err != nil {
		return nil, noSession(err)
	}
	why, replaced := s.stillGood(x.ctx, held)
	switch {
	case why.cause == unanswered:
		return nil, fail(CodeStore, why.err)
	case why.err != nil:
		return nil, noSession(why.err)
	case replaced:
		return nil, noSession(errReplaced)
	case held.subject() == "":
		return nil, noSession(errors.New("the token names no user"))
	}
	if held, _, why = s.confirmed(x.ctx, held); why.err != nil {
		return nil, noSession(why.err)
	}
	if page, err := s.pageBefore(x.ctx, held); err != nil {
		return nil, fail(CodeStore, err)
	} else if page != "" {
		return nil, noSession(errNotUsed)
	}
	a := s.authentication(held)
	for _, began := range []time.Time{s.beganAt(held), past(held.issued()), x.began} {
		if a.Started.IsZero() {
			a.Started = began
		}
	}
	marks := s.marks(a.with(methods, x.began))
	old := s.identity(held)
	if s.Session.Revocation != nil {
		if marks[claimSession] = successor(old.ID); old.ID == "" {
			marks[claimSession] = uuid.New()
		}
	}
	if s.tied {
		marks[claimAtProvider] = s.rejoined(held, there)
	}
	claims, err := held.all()
	if err != nil {
		return nil, noSession(err)
	}
	userID, _ := claims["sub"].(string)
	if err := s.addRoles(x.ctx, marks, userID); err != nil {
		return nil, rolesFault(err)
	}
	claims = marks.in(claims)
	if s.Callbacks.JWT != nil {
		if claims, err = s.Callbacks.JWT(x.ctx, &TokenChange{Claims: claims, Trigger: TriggerUpdate}); err != nil {
			return nil, fmt.Errorf("Callbacks.JWT: %w", err)
		}
		if claims == nil {
			return nil, fail(CodeAccessDenied, errors.New("Callbacks.JWT returned no claims, which denies the session"))
		}
		claims = marks.in(claims)
	}
	text, err := s.encode(x.ctx, x.set, claims)
	if err != nil {
		return nil, err
	}
	lines, err := s.tokenCookies(x.ctx, x.set, x.r.Header, text)
	if err != nil {
		return nil, err
	}
	next := newToken(claims)
	session := &Session{data: claims, Expires: s.lifetime.Extended(s.beganAt(next), time.Now()), Authentication: s.authentication(next)}
	session.Roles = s.roles(claims[claimRoles], session.Authentication)
	session.User.fromClaims(claims)
	if err := s.showSession(&sessionRequest{Request: x.r, set: x.set, trigger: TriggerUpdate}, session, claims); err != nil {
		return nil, err
	}
	if s.Session.Revocation != nil {
		if err := s.replace(x.ctx, old, s.identity(next)); err != nil {
			return nil, err
		}
	}
	x.addCookie(lines...)
	return session, nil
}

// rejoined returns the claim of that name after a further sign-in at a provider, or after
// none.
func (s tokenSessions) rejoined(held heldToken, there *atProvider) any {
	claim, ok := held.atProvider()
	switch {
	case !ok:
		return nil
	case there != nil:
		claim = claim.again(s.newProviderClaim(there), there)
	}
	return claim.value()
}

// rejoin writes the token anew.
func (s tokenSessions) rejoin(x *exchange, there *atProvider) error {
	if there == nil {
		return nil
	}
	held, err := s.decode(x.ctx, x.r, x.set, false)
	if err != nil {
		return noSession(err)
	}
	claim := s.rejoined(held, there)
	if !there.began {
		return nil
	}
	claims, err := held.all()
	if err != nil {
		return noSession(err)
	}
	claims[claimAtProvider] = claim
	// What has ended there since the session began must not go on here.
	switch ended, err := s.ended(x.ctx, s.identity(newToken(claims))); {
	case err != nil:
		return err
	case ended:
		return noSession(errEndedMeanwhile)
	}
	text, err := s.encode(x.ctx, x.set, claims)
	if err != nil {
		return err
	}
	lines, err := s.tokenCookies(x.ctx, x.set, x.r.Header, text)
	x.addCookie(lines...)
	return err
}

// replace ends a session and lets the next one be, unless that has ended, too: all
// sessions of the user were ended, or a sign-out came between. The list is asked last. An
// end that it does not have by then ends the next session as any other.
func (s tokenSessions) replace(ctx context.Context, old, next TokenSession) error {
	list := s.Session.Revocation
	// The time of the replacement is first: without it the session before would be gone at
	// once, and the user signed out if the rest fails.
	err := list.RevokeUser(ctx, replacement(old.ID), time.Now().Add(replacedGrace+2*clockTolerance))
	if err == nil {
		err = list.Revoke(ctx, TokenSession{UserID: old.UserID, ID: old.ID}, s.lastCopyExpires())
	}
	if err != nil {
		return fail(CodeStore, fmt.Errorf("Config.Session.Revocation: %w", err))
	}
	ended, err := s.ended(ctx, next)
	if err == nil && ended {
		err = noSession(errEndedMeanwhile)
	}
	return err
}

// identity is what the revocation list has to know of a token. One without a sign-in
// time counts as older than any RevokeUser: Auth.js writes another iat at each
// renewal, so iat would outdate the revocation.
func (s tokenSessions) identity(held heldToken) TokenSession {
	session := TokenSession{UserID: held.subject(), ID: held.session(), SignedIn: s.signedInAt(held)}
	if s.endsByProvider {
		session.Marks = held.providerMarks()
	}
	return session
}

func (s tokenSessions) present(x *exchange) (*presence, error) {
	held, err := s.decode(x.ctx, x.r, x.set, false)
	if isConflict(err) {
		s.logUnread(x.ctx, unread{err: err})
	}
	if err == nil {
		ended, replaced := s.stillGood(x.ctx, held) // nothing is linked to one that was replaced: goesOn refuses it
		if ended.err == nil && !replaced {
			held, _, ended = s.confirmed(x.ctx, held)
		}
		if ended.cause == unanswered {
			// It is not known whether the user is signed in. If the request
			// counted as signed out, the account that the user links would go
			// to a new user.
			return nil, ended.err
		}
		err = ended.err
	}
	if err != nil {
		if !errors.Is(err, token.ErrNoToken) {
			x.debug("session cookie not accepted, so the request counts as signed out")
		}
		return &presence{}, nil // a token that is not valid counts as signed out
	}
	id := held.subject()
	if id == "" {
		return &presence{}, nil
	}
	if page, err := s.pageBefore(x.ctx, held); err != nil || page != "" {
		return &presence{}, err
	}
	here := &presence{user: &User{ID: id}, authentication: s.authentication(held), began: s.beganAt(held), token: s.identity(held)}
	if s.tied {
		here.atProvider = held.atProviderValue()
	}
	if s.records == nil {
		return here, nil
	}
	user, err := s.records.user(x.ctx, id)
	if user == nil {
		return &presence{}, err
	}
	here.user = user
	return here, err
}

// goesOn asks the revocation list again. It may be in the database of the
// transaction, and is read outside it, as in endUnproven.
func (s tokenSessions) goesOn(w *unitOfWork, who *arrival, here *presence) (bool, error) {
	if s.Session.Revocation == nil || who.errands.asked {
		return !who.errands.ended, nil
	}
	return false, &errand{func(e *errands) (err error) {
		e.asked = true
		e.ended, err = s.ended(w.x.ctx, here.token)
		return err
	}}
}

// ended asks the list, which must be there, whether a session has ended.
func (s tokenSessions) ended(ctx context.Context, session TokenSession) (bool, error) {
	ended, err := s.Session.Revocation.Revoked(ctx, session)
	if err != nil {
		return true, fail(CodeStore, fmt.Errorf("Config.Session.Revocation: %w", err))
	}
	return ended, nil
}

// tokenExpiry is when a token ends as it is.
func (s tokenSessions) tokenExpiry(held heldToken) time.Time {
	if expires := held.ends(); !expires.IsZero() {
		return expires
	}
	return s.lifetime.Extended(time.Time{}, time.Now())
}

// begin waits for the next second if the sessions of the user have ended in this one.
// The list cannot tell such a session from those that it has ended.
func (s tokenSessions) begin(ctx context.Context, userID string) (time.Time, error) {
	now := time.Now()
	if s.Session.Revocation == nil {
		return now, nil
	}
	ended, err := s.ended(ctx, TokenSession{UserID: userID, ID: uuid.New(), SignedIn: now.Truncate(time.Second)})
	if err != nil || !ended {
		return now, err
	}
	next := time.NewTimer(time.Until(now.Truncate(time.Second).Add(time.Second)))
	defer next.Stop()
	select {
	case <-next.C:
		return time.Now(), nil
	case <-ctx.Done():
		return now, ctx.Err()
	}
}

// mayBegin rejects a time before those that the revocation list knows about.
func (s tokenSessions) mayBegin(at time.Time) error {
	if s.Session.Revocation != nil && time.Since(at) > s.remembered() {
		return fmt.Errorf("the Time %v is longer ago than %v: Config.Session.Revocation may have forgotten that the "+
			"sessions of the user were ended since then", at, s.remembered())
	}
	return nil
}

// create does nothing: a token is made when it is issued.
func (tokenSessions) create(*unitOfWork, *decision) error { return nil }

// join does nothing: a token names the session at the provider with which it began.
func (tokenSessions) join(*unitOfWork, *decision) error { return nil }

// mark does nothing: the time in a token shows whether it began before the sessions
// of the user ended.
func (tokenSessions) mark(*unitOfWork, *decision) error { return nil }

// keep makes the claims while what the provider reported is there.
func (s tokenSessions) keep(x *exchange, who *arrival, d *decision) (err error) {
	if d.claimed {
		return nil
	}
	d.claims, err = s.makeClaims(x, who, d)
	d.claimed = true
	return err
}

func (tokenSessions) resume(d *decision, held *heldSignIn) error {
	if !held.Claimed {
		return errOtherSessions
	}
	d.claims, d.claimed, d.marker = held.Claims, true, pendingID(held.Secret)
	if !held.Stored || d.claims == nil {
		return nil
	}
	for name, of := range map[string]func(*User) wire.Text{"name": (*User).name, "email": (*User).email, "picture": (*User).image} {
		was, is := of(held.User), of(d.user)
		if value, said := d.claims[name]; said != was.Present || said && value != was.Value() {
			continue // the callback has chosen another
		}
		delete(d.claims, name)
		if is.Present {
			d.claims[name] = is.Value()
		}
	}
	return nil
}

// pendingID names a sign-in that waits in the list of ended sessions. The list does
// not get the secret: its readers must not find the row of the sign-in by it.
func pendingID(secret string) string {
	hash := sha256.Sum256([]byte(pendingToken + secret))
	return pendingToken + base64.RawURLEncoding.EncodeToString(hash[:])
}

// marked asks the list of ended sessions about the token to be, and about the sign-in
// that waits for it. Where there is no list, no session can be ended.
func (s tokenSessions) marked(ctx context.Context, d *decision) (bool, error) {
	if s.Session.Revocation == nil || d.claims == nil && d.marker == "" {
		return true, nil
	}
	token := newToken(d.claims)
	asked := TokenSession{UserID: d.user.ID, ID: token.session(), SignedIn: token.began()}
	if s.endsByProvider {
		asked.Marks = token.providerMarks()
	}
	if d.marker != "" {
		// Another token cannot have the id of this one: its session has not begun.
		asked.ID = d.marker
	}
	if d.claims == nil {
		asked.SignedIn = d.authentication.Started.Truncate(time.Second) // as a token has it
	}
	ended, err := s.ended(ctx, asked)
	return !ended && err == nil, err
}

// unmark notes in the list that the sign-in is over. Its cookie cannot be taken from
// an attacker who has a copy, and [Auth.PendingSignIn] would return its user as long
// as the cookie is good.
func (s tokenSessions) unmark(ctx context.Context, d *decision) (bool, error) {
	good, err := s.marked(ctx, d)
	if err != nil || s.Session.Revocation == nil || d.marker == "" {
		return good, err
	}
	until := time.Now().Add(s.plain.pendingAge() + 2*clockTolerance)
	if err := s.Session.Revocation.Revoke(ctx, TokenSession{UserID: d.user.ID, ID: d.marker}, until); err != nil {
		return false, fail(CodeStore, fmt.Errorf("Config.Session.Revocation: %w", err))
	}
	return good, nil
}

// rotate does nothing: every sign-in issues a new token, and ends the one before
// where that is possible.
func (tokenSessions) rotate(*unitOfWork, *arrival, *decision) error { return nil }

// endOther does nothing, for the same reason.
func (tokenSessions) endOther(*unitOfWork, *presence, *User) error { return nil }

// makeClaims returns the claims of the token of a new session, or nil if the host
// wants none.
func (s tokenSessions) makeClaims(x *exchange, who *arrival, d *decision) (Claims, error) {
	claims := s.described(x.r)
	d.user.addClaims(claims)
	marks := s.newMarks(x, who, d)
	if err := s.addRoles(x.ctx, marks, d.user.ID); err != nil {
		return nil, rolesFault(err)
	}
	claims = marks.in(claims)
	if s.Callbacks.JWT != nil {
		change := &TokenChange{
			Claims: claims, Trigger: TriggerSignIn,
			User: d.user, Account: d.account, Profile: who.profile, NewUser: d.newUser,
		}
		if d.newUser != nil && *d.newUser {
			change.Trigger = TriggerSignUp
		}
		var err error
		if claims, err = s.Callbacks.JWT(x.ctx, change); err != nil {
			return nil, fmt.Errorf("Callbacks.JWT: %w", err)
		}
	}
	if claims == nil {
		return nil, nil
	}
	return marks.in(claims), s.refuseEndedThere(x.ctx, who, d)
}

// refuseEndedThere rejects a sign-in whose session at the provider has ended since the
// browser was sent there. What ends later than now also ends the session to be, which
// began before.
func (s tokenSessions) refuseEndedThere(ctx context.Context, who *arrival, d *decision) error {
	if !s.endsByProvider || who.atProvider == nil || d.kept != nil {
		return nil
	}
	r := &who.atProvider.record
	ended, err := s.ended(ctx, TokenSession{
		// The ends of other sessions of the user do not count.
		UserID: "pintle.flow", ID: uuid.New(),
		SignedIn: who.atProvider.flowBegan, Marks: providersession.Marks(r.Sid.Mark(), r.Sub.Mark()),
	})
	if err == nil && ended {
		err = errEndedAtProvider
	}
	return err
}

func (s tokenSessions) lacksForProviderEnd() error {
	if _, is := s.Session.Revocation.(providersession.Marker); is {
		return nil
	}
	if s.Session.Revocation == nil {
		return errors.New("a provider ends token sessions by Config.Session.Revocation: set it, for example to " +
			"sqlstore.NewRevocations for several processes")
	}
	return fmt.Errorf("Config.Session.Revocation, a %T, is no providersession.Marker, by which a provider ends token sessions: "+
		"give it the method EndMarked", s.Session.Revocation)
}

func (tokenSessions) lacksForRevoking() error {
	return errors.New("token sessions do not know which of them is the last one with an account: set Config.Session.Strategy to " +
		"StrategyDatabase, or call Auth.RevokeTokens in Events.SignOut")
}

func (s tokenSessions) lacksForFollowing() error {
	if s.Session.Revocation == nil {
		return errors.New("a token session that has ended is good again at a later sign-in of its user without " +
			"Config.Session.Revocation: set it, for example to sqlstore.NewRevocations for several processes")
	}
	return nil
}

// endByProvider notes on the list which sessions have ended, and then that the logout
// token was used. If the first fails, the token can be sent again.
func (s tokenSessions) endByProvider(ctx context.Context, e *providerEnd) (_ []*providersession.Record, first bool, err error) {
	list := s.Session.Revocation
	id := "pintle.logout." + base64.RawURLEncoding.EncodeToString(e.token[:])
	used := TokenSession{UserID: id, ID: id}
	before, err := list.Revoked(ctx, used)
	if err == nil && before {
		return nil, false, nil
	}
	if err == nil {
		mark := providersession.EndMark(e.sid.Mark(), e.sub.Mark())
		err = list.(providersession.Marker).EndMarked(ctx, mark, e.before, s.lastCopyExpires())
	}
	if err == nil {
		err = list.Revoke(ctx, used, e.until)
	}
	if err != nil {
		return nil, false, fail(CodeStore, fmt.Errorf("Config.Session.Revocation: %w", err))
	}
	return nil, true, nil
}

// described returns the claims that describe the client. A user who has no name must not
// get what a client calls itself for one, nor a session a beginning that the sign-in
// has not recorded.
func (s tokenSessions) described(r *http.Request) Claims {
	claims := Claims{}
	if s.Session.Describe == nil {
		return claims
	}
	maps.Copy(claims, s.Session.Describe(r))
	for _, name := range slices.Concat(reservedClaims, []string{"name", "email", "picture"}) {
		delete(claims, name)
	}
	return claims
}

// issue writes a token with the claims the host wants in it. There is no session
// if the host wants none.
func (s tokenSessions) issue(x *exchange, who *arrival, d *decision) (given *issued, err error) {
	claims := d.claims
	if d.claimed && claims != nil {
		claims = s.marks(d.authentication).in(claims) // with the methods of the host's pages
	} else if !d.claimed {
		if claims, err = s.makeClaims(x, who, d); err != nil {
			return nil, err
		}
	}
	if claims == nil {
		if err := s.endHeld(x, nil); err != nil {
			return nil, err
		}
		x.addCookie(x.set.clearSession(x.r.Header)...)
		x.debug("no session issued: Callbacks.JWT returned no claims")
		x.noteNoClaims(who.provider.id)
		return nil, nil
	}
	text, err := s.encode(x.ctx, x.set, claims)
	if err != nil {
		return nil, err
	}
	lines, err := s.tokenCookies(x.ctx, x.set, x.r.Header, text)
	if err != nil {
		return nil, err
	}
	if err := s.refuseEnded(x.ctx, who, d, newToken(claims)); err != nil {
		return nil, err
	}
	// The session this browser held ends, if token sessions can be ended: a copy
	// of its token must not outlive the sign-in (SH-41). If the list does not
	// answer, the sign-in fails.
	if err := s.endHeld(x, d.kept); err != nil {
		return nil, err
	}
	x.addCookie(lines...)
	x.debug("session issued", "strategy", string(StrategyJWT))
	return &issued{text, func() *Session {
		held := newToken(claims)
		session := &Session{data: claims, Expires: s.lifetime.Extended(s.beganAt(held), time.Now()), Authentication: s.authentication(held)}
		session.Roles = s.roles(claims[claimRoles], session.Authentication)
		session.User.fromClaims(claims)
		return session
	}}, nil
}

// refuseEnded rejects a new token of a session that has ended. Of one that goes on,
// the list may have been written after the decision read it. One that server code
// starts may begin before the end of all sessions of its user.
func (s tokenSessions) refuseEnded(ctx context.Context, who *arrival, d *decision, held heldToken) error {
	if s.Session.Revocation == nil || d.kept == nil && !who.unasked {
		return nil
	}
	ended, err := s.ended(ctx, s.identity(held))
	if err == nil && ended {
		err = fail(CodeAccessDenied, errors.New("the session has ended: the user signed out of it, or all sessions "+
			"of the user were ended since the sign-in"))
	}
	return err
}

// endHeld ends the sessions that this browser held before a sign-in, but for one that
// goes on.
func (s tokenSessions) endHeld(x *exchange, kept *presence) error {
	held, _ := x.heldSessions()
	if kept != nil {
		held = slices.DeleteFunc(held, func(text string) bool {
			tok, err := s.decodeText(x.ctx, x.set, text)
			return err == nil && tok.subject() == kept.user.ID && tok.session() == kept.token.ID && kept.token.ID != ""
		})
	}
	_, err := s.end(x, held)
	return err
}

// end revokes the sessions. Where that is not possible they end by their cookie
// alone.
func (s tokenSessions) end(x *exchange, held []string) (ended []*SignOutEvent, err error) {
	var unread error
	for _, text := range held {
		tok, err := s.decodeText(x.ctx, x.set, text)
		if err != nil {
			unread = err
			continue
		}
		claims, err := tok.all()
		if err != nil {
			unread = err
			continue
		}
		if err := s.endOne(x.ctx, tok); err != nil {
			return nil, err
		}
		ended = append(ended, &SignOutEvent{Claims: claims})
	}
	if unread != nil && len(ended) == 0 && x.action == actionSignOut {
		// A token that is not valid is no session that could be ended, and any
		// client can send one.
		s.log.LogAttrs(x.ctx, slog.LevelInfo, "pintle: the session cookie could not be read",
			slog.String("code", string(CodeSignOut)), slog.Any("error", boundedError{unread}))
	}
	return ended, nil
}

// endOne notes in the list, where there is one, that a session has ended. The session that
// replaces it ends with it: another request may be making that one.
func (s tokenSessions) endOne(ctx context.Context, tok heldToken) error {
	if s.Session.Revocation == nil {
		return nil
	}
	ids := []string{tok.session()}
	if s.Session.RecordAuthentication && ids[0] != "" {
		ids = append(ids, successor(ids[0]))
	}
	for _, id := range ids {
		if err := s.Session.Revocation.Revoke(ctx, TokenSession{UserID: tok.subject(), ID: id}, s.lastCopyExpires()); err != nil {
			return fail(CodeStore, fmt.Errorf("Config.Session.Revocation: %w", err))
		}
	}
	return nil
}

// endUnproven ends every session of the user. It does nothing where sessions
// cannot be revoked.
//
// The list of ended sessions may be in the database of the transaction, and would
// wait for the transaction: the list is written outside it.
func (s tokenSessions) endUnproven(w *unitOfWork, who *arrival, userID, _ string) error {
	if s.Session.Revocation == nil || !who.errands.revoked[userID].IsZero() {
		return nil
	}
	return &errand{func(e *errands) error { return s.revokeBefore(w.x.ctx, e, userID) }}
}

// revokeBefore ends the token sessions of a user that exist now, and records
// when the next one may begin. Tokens record in whole seconds when their
// session began, and those of the current second are ended, too.
func (s tokenSessions) revokeBefore(ctx context.Context, e *errands, userID string) error {
	if err := s.revokeUser(ctx, userID); err != nil {
		return err
	}
	if e.revoked == nil {
		e.revoked = map[string]time.Time{}
	}
	e.revoked[userID] = time.Now().Truncate(time.Second).Add(time.Second)
	return nil
}

func (s tokenSessions) endEverywhere(ctx context.Context, userID string) error {
	if s.Session.Revocation == nil {
		return fail(CodeConfiguration, errors.New("SignOutEverywhere with token sessions needs a RevocationStore: set Config.Session.Revocation, for example to sqlstore.NewRevocations(…)"))
	}
	return s.revokeUser(ctx, userID)
}

// endBeside ends every session. The sign-in that waits is one of them until beginAfter.
func (s tokenSessions) endBeside(ctx context.Context, d *decision) error {
	if s.Session.Revocation == nil {
		return fail(CodeConfiguration, errors.New("CompleteOptions.Change with token sessions needs a RevocationStore: set Config.Session.Revocation, for example to sqlstore.NewRevocations(…)"))
	}
	return s.revokeUser(ctx, d.user.ID)
}

// endedAgain asks about the next second: in the same one the list does not tell the end by
// another request from that of this one.
func (s tokenSessions) endedAgain(ctx context.Context, d *decision, since time.Time) (bool, error) {
	next := since.Truncate(time.Second).Add(time.Second)
	return s.ended(ctx, TokenSession{UserID: d.user.ID, ID: uuid.New(), SignedIn: next})
}

// beginAfter moves the begin of the session into the next second, and waits for it. What the
// provider has ended until then is asked for with the begin of before: a logout must not be
// missed because the begin has moved past it.
func (s tokenSessions) beginAfter(ctx context.Context, d *decision) error {
	at, err := s.begin(ctx, d.user.ID)
	if err != nil {
		return err
	}
	if s.endsByProvider && d.claims != nil {
		token := newToken(d.claims)
		ended, err := s.ended(ctx, TokenSession{
			UserID: "pintle.flow", ID: uuid.New(), // this request has ended the sessions of the user
			SignedIn: token.began(), Marks: token.providerMarks(),
		})
		if err == nil && ended {
			err = noPending(errHeldEnded)
		}
		if err != nil {
			return err
		}
	}
	d.authentication = d.authentication.startedAt(at)
	if d.claims != nil {
		d.claims = s.marks(d.authentication).in(d.claims)
	}
	return nil
}

// revokeUser notes on the revocation list, which must be there, that the token
// sessions of a user have ended.
func (s *settings) revokeUser(ctx context.Context, userID string) error {
	if err := s.Session.Revocation.RevokeUser(ctx, userID, s.lastCopyExpires()); err != nil {
		return fail(CodeStore, fmt.Errorf("Config.Session.Revocation: %w", err))
	}
	return nil
}

// lastCopyExpires is the latest expiry of any copy of a token issued so far, or of a
// sign-in that waits to become one. A copy may have been renewed just now, and is
// valid for its lifetime plus the tolerance for clocks.
func (s *settings) lastCopyExpires() time.Time {
	return time.Now().Add(s.remembered() + 2*clockTolerance)
}

// remembered is how long the revocation list knows of an end at least. The list is
// asked whenever a pending sign-in is held once more, which makes it last longer.
func (s *settings) remembered() time.Duration {
	return max(s.JWT.MaxAge, s.plain.pendingAge(), s.secure.pendingAge())
}

// devices yields the current session: no other session is known here.
func (s tokenSessions) devices(_ context.Context, asking *Session) iter.Seq2[*Device, error] {
	return func(yield func(*Device, error) bool) {
		device := &Device{Expires: asking.Expires, Current: true, LastUsed: time.Now(), Data: asking.data}
		if asking.claims != nil {
			claims, err := asking.claims.Claims()
			if err != nil {
				yield(nil, fail(codeJWTSession, err))
				return
			}
			device.Data = claims
		}
		device.Created = newToken(device.Data).began()
		yield(device, nil)
	}
}

func (tokenSessions) endDevice(context.Context, *Session, string) error {
	return fmt.Errorf("EndDevice: token sessions have no handles: %w", ErrNotFound)
}

func (tokenSessions) endOtherDevices(context.Context, *Session) (int, error) {
	return 0, fail(codeUnsupportedStrategy, errors.New("EndOtherDevices needs database sessions: token sessions of "+
		"a user end all at once, with SignOutEverywhere"))
}

// fromToken fills in a user from the known claims of a token.
func (u *User) fromToken(tok token.Token) {
	u.ID, u.Name, u.Email, u.Image = tok.Subject(), tok.Name(), tok.Email(), tok.Picture()
}

// fromClaims fills in a user from claims. Claims of the wrong type are left
// out: a token of another server may hold anything.
func (u *User) fromClaims(claims Claims) {
	u.ID, _ = wire.ID(claims["sub"])
	u.Name, _ = claims["name"].(string)
	u.Email, _ = claims["email"].(string)
	u.Image, _ = claims["picture"].(string)
}
