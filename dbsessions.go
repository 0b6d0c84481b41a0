package pintle

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle/internal/bearer"
	"github.com/pintleauth/pintle/internal/cookie"
	"github.com/pintleauth/pintle/internal/wire"
	"github.com/pintleauth/pintle/providersession"
	"github.com/pintleauth/pintle/sharedstate"
)

func (dbSessions) needStoredUser() bool { return true }

// carryAddress returns false: the user is read with each session.
func (dbSessions) carryAddress() bool { return false }

func (s dbSessions) endHeldAtSignIn() bool { return s.Session.RotateAtSignIn }

func (dbSessions) endCopies() bool { return true }

func (s dbSessions) readable(ctx context.Context) error { return s.records.sessionsAnswer(ctx) }

// read returns the session of a request, and extends it when that is due.
func (s dbSessions) read(q sessionRequest) sessionResult {
	stored, user, err := s.sessionOfCookie(q.Context(), q.Request, q.set, s.liveSession)
	if err == nil && stored == nil && s.readsHeader(&q) && cookie.ReadChunked(q.Header, q.set.session.name).Value() == "" {
		if text := bearer.Token(q.Header); text != "" {
			stored, user, err = s.liveSession(q.Context(), text)
		}
	}
	switch {
	case isConflict(err):
		// The cookies are kept, as in tokenSessions.read.
		return sessionResult{unread: unread{err: fail(codeSessionToken, err)}}
	case err != nil:
		return sessionResult{unread: unread{fail(codeSessionToken, err), unanswered}}
	case stored == nil:
		return sessionResult{lines: q.clearing()} // signed out
	}
	if why := s.confirmed(q.Context(), stored); why.err != nil {
		return q.without(why.err, why.cause)
	}
	if stored.isReplaced() {
		q.onlyRead()
	}
	session := s.storedSession(stored, user)
	page, err := s.pageFirst(q.Context(), session)
	switch {
	case err != nil:
		return sessionResult{unread: unread{fail(codeSessionToken, err), unanswered}}
	case page != "":
		return sessionResult{page: page} // the cookie is kept for the page
	}
	lines, err := s.extend(&q, stored)
	if err != nil {
		return sessionResult{unread: unread{fail(codeSessionToken, err), unanswered}}
	}
	if err := s.showSession(&q, session, nil); err != nil {
		return sessionResult{unread: unread{fail(codeSessionToken, err), failed}}
	}
	return sessionResult{session: session, lines: lines}
}

func (s dbSessions) present(x *exchange) (*presence, error) {
	stored, user, err := s.sessionOfCookie(x.ctx, x.r, x.set, s.sessionAndUser)
	if isConflict(err) {
		s.logUnread(x.ctx, unread{err: err})
		return &presence{}, nil
	}
	// An expired session counts as signed out: no account is linked to its user.
	if err != nil || stored == nil || s.over(stored) {
		return &presence{}, err
	}
	if why := s.confirmed(x.ctx, stored); why.err != nil {
		if why.cause != unanswered { // it counts as signed out
			why.err = nil
		}
		return &presence{}, why.err
	}
	session := s.storedSession(stored, user)
	if page, err := s.pageFirst(x.ctx, session); err != nil || page != "" {
		return &presence{}, err
	}
	return &presence{user: user, session: stored, authentication: session.Authentication, began: stored.Created}, nil
}

// confirmed has the provider confirm a session that follows it, if that is due.
func (s dbSessions) confirmed(ctx context.Context, stored *StoredSession) unread {
	if !s.follows || stored.isReplaced() {
		return unread{}
	}
	key := providersession.KeyOf(stored.Token)
	id := string(key[:])
	known, _ := s.following.get(id)
	if !known.looked {
		r, err := s.beganBy(ctx, key)
		if err != nil {
			return unread{fail(codeSessionToken, err), unanswered}
		}
		s.following.change(id, func(c *confirmation) {
			if c.looked = true; r != nil {
				c.provider, c.account, c.proven = r.Provider, r.ProviderAccountID, provenAt(r)
			}
			known = *c
		})
	}
	_, why := s.follow(ctx, &followed{
		id: id, user: stored.UserID, provider: known.provider, account: known.account, proven: known.proven,
		latest: func(ctx context.Context) (time.Time, error) {
			r, err := s.beganBy(ctx, key)
			if r == nil {
				return time.Time{}, err
			}
			return provenAt(r), nil
		},
		note: func(ctx context.Context, at time.Time, renewed *Account) error {
			r, err := s.beganBy(ctx, key)
			switch {
			case err != nil:
				return err
			case r == nil:
				return errEndedAtProvider // since the session was read
			}
			r.Proof = at.UTC()
			if p := s.byID[r.Provider]; p != nil && p.confirmedThere != nil {
				p.confirmedThere(r, renewed)
			}
			return s.records.putSignIn(ctx, r, r.Created)
		},
		end: func(ctx context.Context) (bool, error) {
			row, err := s.records.deleteSession(ctx, stored.Token)
			return row != nil, err
		},
	})
	return why
}

// beganBy returns the record of the sign-in with which a session began, or nil.
func (s dbSessions) beganBy(ctx context.Context, session providersession.Key) (*providersession.Record, error) {
	all, err := s.records.signIns(ctx, session)
	if err != nil || len(all) == 0 || all[0].Role != providersession.Began {
		return nil, err
	}
	return all[0], nil
}

// provenAt is when the provider has confirmed the session of a record.
func provenAt(r *providersession.Record) time.Time {
	if r.Proof.IsZero() {
		return past(r.Created)
	}
	return past(r.Proof)
}

// storedSession is the session of a row and its user.
func (s dbSessions) storedSession(stored *StoredSession, user *User) *Session {
	return &Session{User: *user, Expires: stored.Expires, Authentication: s.authentication(stored), stored: stored}
}

// goesOn reads the row again.
func (dbSessions) goesOn(w *unitOfWork, _ *arrival, here *presence) (bool, error) {
	row, _, err := w.sessionAndUser(w.ctx, here.session.Token)
	return row != nil, err
}

// begin returns the present: rows that were removed before are gone.
func (dbSessions) begin(context.Context, string) (time.Time, error) { return time.Now(), nil }

// mayBegin accepts any time: rows that have ended are gone, and no list has to
// remember them.
func (dbSessions) mayBegin(time.Time) error { return nil }

// over reports whether a session has expired.
func (s dbSessions) over(stored *StoredSession) bool {
	now := time.Now()
	return stored.Expires.Before(now) || s.lifetime.Over(stored.Created, now)
}

// authentication is what a session records of the sign-in.
func (s dbSessions) authentication(stored *StoredSession) Authentication {
	if s.Session.RecordAuthentication {
		return stored.recorded()
	}
	return Authentication{Time: stored.Created, Started: stored.Created}
}

// recorded returns what the row records of the sign-in with
// SessionConfig.RecordAuthentication.
func (s *StoredSession) recorded() Authentication {
	a := Authentication{Time: s.Created, Started: s.Created}
	id, ok := recordedProvider(s.Data[claimProvider])
	if !ok {
		return a
	}
	methods := recordedMethods(s.Data[claimMethods])
	at, said := wire.Seconds(s.Data[claimSignedIn])
	if !said { // from before proofs were recorded
		a.Provider, a.Methods = id, methods
		if a.Time.IsZero() {
			return a
		}
		return a.complete()
	}
	if a.Started.IsZero() { // the table has no column for it
		began, _ := wire.Seconds(s.Data[claimStarted])
		a.Started = past(time.Unix(began, 0))
	}
	if a.Time = past(time.Unix(at, 0)); a.Time.IsZero() {
		return a
	}
	a.Provider = id
	a.Methods, a.Proofs = recordedProofs(methods, s.Data[claimProofs], past)
	return a.startedAt(a.Started) // which has milliseconds
}

// record writes into the data of a session what it records. The host may have
// written there what a client sent.
func (s dbSessions) record(session *StoredSession, a Authentication) {
	delete(session.Data, claimProvider)
	delete(session.Data, dataPending) // or no list of devices would have the session
	delete(session.Data, dataReplaces)
	if !s.Session.RecordAuthentication {
		return
	}
	if session.Data == nil {
		session.Data = map[string]any{}
	}
	for name, value := range map[string]any{
		claimProvider: a.Provider, claimMethods: encodable(a.Methods), claimProofs: encodableTimes(a.Proofs),
		claimSignedIn: float64(a.Time.Unix()), claimStarted: float64(a.Started.Unix()),
	} {
		if session.Data[name] = value; value == nil {
			delete(session.Data, name)
		}
	}
}

// A storedUser is a session of the database and its user. Both are nil for a
// token that the database does not have.
type storedUser struct {
	session *StoredSession
	user    *User
}

// dataApplication is the member of [StoredSession.Data] with the name of a native
// application.
const dataApplication = "application"

// errNoSession is the error for a token without a session.
var errNoSession = errors.New("the database has no session with the token")

// sessionOfCookie returns the session of the request's cookie as look finds it,
// or nil. A look-up that fails is an error also where another token opens: it
// could have been the one of another user.
func (s dbSessions) sessionOfCookie(ctx context.Context, r *http.Request, set *cookieSet,
	look func(ctx context.Context, token string) (*StoredSession, *User, error),
) (*StoredSession, *User, error) {
	var failure error
	found, err := cookie.Open(r.Header, set.session.name, func(text string) (storedUser, error) {
		if text == "" {
			return storedUser{}, errNoSession
		}
		session, user, err := look(ctx, text)
		switch {
		case err != nil:
			failure = err
			return storedUser{}, err
		case session == nil:
			return storedUser{}, errNoSession
		}
		return storedUser{session, user}, nil
	}, func(a, b storedUser) bool { return a.session.UserID == b.session.UserID })
	switch {
	case failure != nil:
		return nil, nil, failure
	case errors.Is(err, errNoSession):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	}
	return found.session, found.user, nil
}

// liveSession returns the session with a token and its user, if it has not
// expired. One that has is removed.
func (s dbSessions) liveSession(ctx context.Context, held string) (*StoredSession, *User, error) {
	stored, user, err := s.sessionAndUser(ctx, held)
	if err == nil && stored == nil {
		s.noteForgotten(ctx)
	}
	if err != nil || stored == nil {
		return nil, nil, err
	}
	if s.over(stored) {
		s.log.debug(ctx, "session expired")
		_, err := s.records.deleteSession(ctx, stored.Token)
		return nil, nil, err
	}
	return stored, user, nil
}

// sessionAndUser returns the session with a token and its user, also if the session was
// replaced a moment ago.
func (s dbSessions) sessionAndUser(ctx context.Context, held string) (*StoredSession, *User, error) {
	stored, user, err := s.records.sessionAndUser(ctx, held)
	if err != nil || stored != nil || !s.Session.RecordAuthentication {
		return stored, user, err
	}
	return s.records.sessionRow(ctx, replacedToken(held))
}

// replacedToken is the token of the row that stands in for a session that was replaced.
// The row of the session itself is gone: an extension by another request, which read it
// before, would make one that is left last. No browser has this token, and
// [records.sessionAndUser] does not find it.
func replacedToken(held string) string {
	hash := sha256.Sum256([]byte(held))
	return pendingToken + "replaced." + base64.RawURLEncoding.EncodeToString(hash[:])
}

// isReplaced reports whether a row stands in for a session that was replaced.
func (s *StoredSession) isReplaced() bool { return strings.HasPrefix(s.Token, pendingToken) }

// prove writes a row with another token and removes the one before. Of two requests that
// remove it, one has the row.
func (s dbSessions) prove(x *exchange, methods []string, there *atProvider) (*Session, error) {
	stored, user, err := s.sessionOfCookie(x.ctx, x.r, x.set, s.sessionAndUser)
	switch {
	case isConflict(err):
		return nil, noSession(err)
	case err != nil:
		return nil, err
	case stored == nil || s.over(stored):
		return nil, noSession(errNoSession)
	case stored.isReplaced():
		return nil, noSession(errReplaced)
	}
	if why := s.confirmed(x.ctx, stored); why.err != nil {
		return nil, noSession(why.err)
	}
	if page, err := s.pageFirst(x.ctx, s.storedSession(stored, user)); err != nil {
		return nil, fail(CodeStore, err)
	} else if page != "" {
		return nil, noSession(errNotUsed)
	}
	a := s.authentication(stored)
	if a.Started.IsZero() {
		a.Started = x.began
	}
	d := &decision{user: user, authentication: a.with(methods, x.began), replaces: stored}
	w := &unitOfWork{records: s.records, x: x, ctx: x.ctx}
	standIn := &StoredSession{
		Token: replacedToken(stored.Token), UserID: stored.UserID, Created: stored.Created,
		Expires: time.Now().Add(replacedGrace).UTC().Truncate(time.Millisecond), Data: maps.Clone(stored.Data),
	}
	if standIn.Data == nil {
		standIn.Data = map[string]any{}
	}
	standIn.Data[dataPending] = true // it is in no list
	if d.carried, err = s.carriedBy(w, stored); err != nil {
		return nil, err
	}
	for i, r := range d.carried {
		if there.isOf(r) {
			d.carried[i], there.began = there.again(r), r.Role == providersession.Began
		}
	}
	if err := w.createSession(x.ctx, standIn); err != nil {
		if errors.Is(err, ErrConflict) || errors.Is(err, ErrNotFound) {
			err = noSession(errEndedMeanwhile) // replaced by another request, or the user was deleted
		}
		return nil, err
	}
	var session *Session
	if err = s.carry(w, d.carried, standIn); err == nil {
		session, err = s.replace(w, d)
	}
	if err != nil {
		undo := context.WithoutCancel(x.ctx)
		tokens := []string{standIn.Token}
		if d.session != nil {
			tokens = append(tokens, d.session.Token)
		}
		return nil, errors.Join(err, s.records.deleteSessions(undo, tokens))
	}
	if _, err := s.issue(x, nil, d); err != nil {
		return nil, err
	}
	return session, nil
}

// rejoin writes the record of the session anew.
func (s dbSessions) rejoin(x *exchange, there *atProvider) error {
	if there == nil {
		return nil
	}
	stored, _, err := s.sessionOfCookie(x.ctx, x.r, x.set, s.sessionAndUser)
	if err != nil || stored == nil {
		return err
	}
	records, err := s.records.signIns(x.ctx, providersession.KeyOf(stored.Token))
	for _, r := range records {
		if err == nil && there.isOf(r) {
			there.began = r.Role == providersession.Began
			err = s.records.putSignIn(x.ctx, there.again(r), r.Created)
		}
	}
	return err
}

// replace writes the row of a decision in the place of the one that it replaces.
func (s dbSessions) replace(w *unitOfWork, d *decision) (*Session, error) {
	if err := w.x.beginSession(w, d); err != nil {
		return nil, err
	}
	session := &Session{User: *d.user, Expires: d.session.Expires, Authentication: s.authentication(d.session), stored: d.session}
	q := &sessionRequest{Request: w.x.r, set: w.x.set, trigger: TriggerUpdate}
	if err := s.showSession(q, session, nil); err != nil {
		return nil, err
	}
	row, err := w.deleteSession(w.ctx, d.replaces.Token)
	if err == nil && row == nil {
		err = noSession(errEndedMeanwhile)
	}
	return session, err
}

// extend moves the end of a session when UpdateAge has passed since it was moved
// last, and saves what [Claim.Set] changed. It returns the lines for the browser.
func (s dbSessions) extend(q *sessionRequest, stored *StoredSession) (lines []string, err error) {
	now := time.Now()
	expires := s.lifetime.Extended(stored.Created, now)
	// With a negative UpdateAge a session is extended in the millisecond it began.
	due := s.lifetime.Due(s.lifetime.LastExtended(stored.Expires), now.UTC().Truncate(time.Millisecond))
	if q.renewal != renewNever && (due && expires.After(stored.Expires) || q.changes != nil) {
		change := SessionUpdate{Expires: expires.UTC().Truncate(time.Millisecond)}
		if q.changes != nil {
			change.Data = maps.Clone(stored.Data)
			if change.Data == nil {
				change.Data = map[string]any{}
			}
			maps.Copy(change.Data, q.changes)
			stored.Data = change.Data
		}
		if err := s.save(q.Context(), stored.Token, change); err != nil && !errors.Is(err, ErrNotFound) {
			if q.renewal != renewDue || q.changes != nil {
				return nil, err
			}
			// The session is good until it ends. A database that only reads for
			// a while, as in a failover, is no reason to sign the user out.
			s.logUnread(q.Context(), unread{fail(codeSessionToken, err), unanswered})
			due = false
		} else if err == nil {
			s.log.debug(q.Context(), "session extended")
		}
	} else {
		due = false
		s.keepRecord(q.Context(), stored)
	}
	if q.renewal == renewAlways || (q.renewal == renewDue && due) {
		attrs := q.set.session.attrs
		attrs.Expires = expires
		lines = append(q.set.clearSessionParts(q.Header), cookie.Line(q.set.session.name, stored.Token, attrs))
	}
	return lines, nil
}

// keepRecord moves the record of a session in a table that Auth.js shares, which extends a
// session without it. Other tables have when a session began.
func (s dbSessions) keepRecord(ctx context.Context, stored *StoredSession) {
	if !s.tied || !stored.Created.IsZero() || stored.isReplaced() {
		return
	}
	key := providersession.KeyOf(stored.Token)
	if known, _ := s.following.get(string(key[:])); known.moved.Equal(stored.Expires) {
		return
	}
	if err := s.records.moveSignIns(ctx, key, stored.Expires); err != nil {
		s.logUnread(ctx, unread{fail(codeSessionToken, err), unanswered}) // the next request tries again
		return
	}
	s.following.change(string(key[:]), func(c *confirmation) { c.moved = stored.Expires })
}

// save changes a row. What finds it for a provider lasts as long, and so is written first:
// the provider could not end a session of which nothing is known any more.
func (s dbSessions) save(ctx context.Context, token string, change SessionUpdate) error {
	if s.tied {
		if err := s.records.moveSignIns(ctx, providersession.KeyOf(token), change.Expires); err != nil {
			return err
		}
	}
	return s.records.updateSession(ctx, token, change)
}

// create writes the row of a session.
func (s dbSessions) create(w *unitOfWork, d *decision) error {
	generate := s.Session.GenerateToken
	if generate == nil {
		generate = randomToken
	}
	token, err := generate()
	if err != nil {
		return fmt.Errorf("Config.Session.GenerateToken: %w", err)
	}
	created := d.authentication.Started.UTC().Truncate(time.Millisecond)
	expires := s.lifetime.Extended(created, time.Now()).UTC().Truncate(time.Millisecond)
	session := &StoredSession{Token: token, UserID: d.user.ID, Created: created, Expires: expires}
	switch {
	case d.replaces != nil:
		session.Data = maps.Clone(d.replaces.Data)
	case s.Session.Describe != nil:
		session.Data = maps.Clone(s.Session.Describe(w.x.r)) // the host may return one map for all
	}
	if d.application != "" {
		if session.Data == nil {
			session.Data = map[string]any{}
		}
		session.Data[dataApplication] = d.application
	}
	s.record(session, d.authentication)
	if d.replaces != nil {
		session.Data[dataReplaces] = replacedToken(d.replaces.Token)
	}
	if err := w.createSession(w.ctx, session); err != nil {
		return err
	}
	err = s.carry(w, d.carried, session)
	if err == nil && d.kept == nil {
		err = s.note(w, d.atProvider, session, providersession.Began)
	}
	if err != nil {
		return w.undoSession(session, err)
	}
	d.session = session
	return nil
}

// undoSession removes a row whose decision has failed, and returns the cause.
func (w *unitOfWork) undoSession(row *StoredSession, cause error) error {
	if w.inTx {
		return cause
	}
	_, err := w.deleteSession(context.WithoutCancel(w.ctx), row.Token)
	return errors.Join(cause, err)
}

// note writes to which sign-in at a provider a row belongs. The row is there already: a
// sign-out at the provider that comes now ends it, and one that came before is found.
func (dbSessions) note(w *unitOfWork, there *atProvider, row *StoredSession, role providersession.Role) error {
	if there == nil {
		return nil
	}
	r := there.record
	r.Session, r.UserID, r.Expires, r.Role = providersession.KeyOf(row.Token), row.UserID, row.Expires, role
	return w.putSignIn(w.ctx, &r, there.flowBegan)
}

// carry writes the records of one row for another one, which takes its place.
func (dbSessions) carry(w *unitOfWork, records []*providersession.Record, row *StoredSession) error {
	for _, before := range records {
		r := *before
		r.Session, r.Expires = providersession.KeyOf(row.Token), row.Expires
		// What was ended since it was created must not go on here.
		if err := w.putSignIn(w.ctx, &r, r.Created); err != nil {
			return err
		}
	}
	return nil
}

// carriedBy returns the records of a row that is about to be replaced.
func (s dbSessions) carriedBy(w *unitOfWork, row *StoredSession) ([]*providersession.Record, error) {
	if !s.tied {
		return nil, nil
	}
	return w.signIns(w.ctx, providersession.KeyOf(row.Token))
}

// join leaves the session with the sign-in with which it began, and takes the further one
// in beside it.
func (s dbSessions) join(w *unitOfWork, d *decision) error {
	return s.note(w, d.atProvider, d.session, providersession.Linked)
}

func (s dbSessions) lacksForProviderEnd() error { return s.records.lacksForProviderEnd(s.shared) }

func (s dbSessions) lacksForRevoking() error {
	if s.records == nil {
		return nil // checkStore reports it
	}
	if err := s.records.missing("RevokeAtSignOut", featureSessionList); err != nil {
		return err
	}
	return s.records.lacksForFollowing()
}

func (s dbSessions) lacksForFollowing() error {
	return s.records.lacksForFollowing()
}

// maxProviderEnd is how long one request at most keeps others with the same logout token
// from being answered. What it does twice has no further effect.
const maxProviderEnd = 10 * time.Second

// endByProvider holds a lease while it is at work, and another one of the logout token,
// which it keeps when that is done. So a token that has ended sessions does nothing a
// second time, and one that has not, because the store failed, can be sent again. A
// request that comes while another one is at work is not told that the token was used: the
// other one may fail.
func (s dbSessions) endByProvider(ctx context.Context, e *providerEnd) (ended []*providersession.Record, first bool, err error) {
	var owner sharedstate.Owner
	_, _ = rand.Read(owner[:]) // never fails
	work := sharedstate.Key(sha256.Sum256(append([]byte("pintle logout under way "), e.token[:]...)))
	switch held, err := s.shared.lease(ctx, work, owner, maxProviderEnd); {
	case err != nil:
		return nil, false, err
	case !held:
		return nil, false, errLogoutUnderWay
	}
	defer func() { _ = s.shared.release(context.WithoutCancel(ctx), work, owner) }() // it ends by itself
	// It ends before the other one, in case this process ends now.
	first, err = s.shared.lease(ctx, e.token, owner, maxProviderEnd-time.Second)
	if err != nil || !first {
		return nil, false, err
	}
	// Rows have milliseconds. One that began in this one began before.
	if ended, err = s.records.endSignIns(ctx, e.sid, e.sub, e.before.Add(time.Millisecond)); err == nil {
		first, err = s.shared.lease(ctx, e.token, owner, time.Until(e.until))
	}
	if err != nil {
		return ended, false, errors.Join(err, s.shared.release(context.WithoutCancel(ctx), e.token, owner))
	}
	return append([]*providersession.Record{}, ended...), first, nil
}

// errLogoutUnderWay means that another request is at work with the same logout token.
var errLogoutUnderWay = errors.New("another request with the logout token is under way")

// mark writes a row among the sessions of the user, which goes with them:
// whatever ends the sessions of a user removes their rows. The row signs no
// browser in: a browser has its token only in sealed form, and
// [records.sessionAndUser] does not find it.
func (s dbSessions) mark(w *unitOfWork, d *decision) error {
	random, err := randomToken()
	if err != nil {
		return err
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	row := &StoredSession{
		Token: pendingToken + random, UserID: d.user.ID, Created: now,
		Expires: now.Add(w.x.set.pendingAge() + 2*clockTolerance), Data: map[string]any{dataPending: true},
	}
	if err := w.createSession(w.ctx, row); err != nil {
		return err
	}
	// The sign-in may wait longer than the store remembers what the provider has ended.
	err = s.note(w, d.atProvider, row, providersession.Began)
	if err == nil {
		err = s.carry(w, d.carried, row)
	}
	if err != nil {
		return w.undoSession(row, err)
	}
	d.marker = row.Token
	return nil
}

// isMark reports whether a row is that of a sign-in that waits.
func (s *StoredSession) isMark() bool {
	return s.Data[dataPending] != nil || strings.HasPrefix(s.Token, pendingToken)
}

func (dbSessions) keep(*exchange, *arrival, *decision) error { return nil }

// resume leaves the marker empty for what another kind of sessions kept: there is no
// such row.
func (dbSessions) resume(d *decision, held *heldSignIn) error {
	d.marker = held.Marker
	return nil
}

func (s dbSessions) marked(ctx context.Context, d *decision) (bool, error) {
	return s.records.hasMark(ctx, d.marker)
}

func (s dbSessions) unmark(ctx context.Context, d *decision) (bool, error) {
	row, err := s.records.deleteSession(ctx, d.marker)
	return row != nil, err
}

// randomToken returns 256 random bits. A UUID, which Auth.js writes, has half
// as many.
func randomToken() (string, error) {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b), nil
}

// rotate replaces the session this browser came with. An attacker who planted its
// token, or copied it before the sign-in, has nothing afterwards. Auth.js lets the
// session go on, or leaves it beside the new one.
//
// A session that goes on because something is linked to its user has nothing but its
// row. If the row is gone, another request has ended the session, and it must not go
// on in a new row: of two requests that delete it, one has the row.
func (s dbSessions) rotate(w *unitOfWork, who *arrival, d *decision) error {
	if !s.Session.RotateAtSignIn {
		return nil
	}
	if d.kept != nil {
		var err error
		if d.carried, err = s.carriedBy(w, d.session); err != nil {
			return err
		}
	}
	held, _ := w.x.heldSessions()
	for _, token := range held {
		row, err := w.deleteSession(w.ctx, token)
		if err != nil {
			return err
		}
		if row == nil && d.kept != nil && token == d.session.Token {
			return who.notLinked("the session of the signed-in user ended during the sign-in")
		}
	}
	if !slices.Contains(held, d.session.Token) {
		return nil
	}
	d.session = nil
	return w.x.beginSession(w, d)
}

func (dbSessions) endOther(w *unitOfWork, here *presence, user *User) error {
	if here.user != nil && here.user.ID == user.ID {
		return nil
	}
	// The session of another user must not stay in this browser.
	held, _ := w.x.heldSessions()
	return w.deleteSessions(w.ctx, held)
}

// issue sets the cookie of a session whose row was written with the decision.
func (s dbSessions) issue(x *exchange, _ *arrival, d *decision) (*issued, error) {
	attrs := x.set.session.attrs
	attrs.Expires = d.session.Expires
	x.addCookie(x.set.clearSessionParts(x.r.Header)...)
	x.addCookie(cookie.Line(x.set.session.name, d.session.Token, attrs))
	x.debug("session issued", "strategy", string(StrategyDatabase))
	return &issued{d.session.Token, func() *Session {
		return &Session{User: *d.user, Expires: d.session.Expires, Authentication: s.authentication(d.session), stored: d.session}
	}}, nil
}

func (s dbSessions) end(x *exchange, held []string) (ended []*SignOutEvent, err error) {
	for i, text := range held {
		var began *providersession.Record
		if s.revokesLeft {
			if began, err = s.beganBy(x.ctx, providersession.KeyOf(text)); err != nil {
				return nil, err
			}
		}
		stored, err := s.records.deleteSession(x.ctx, text)
		if err != nil {
			return nil, err
		}
		if stored != nil {
			// It comes first: the row of a moment ago is no further session with the account.
			if before, _ := stored.Data[dataReplaces].(string); strings.HasPrefix(before, pendingToken) {
				if _, err := s.records.deleteSession(x.ctx, before); err != nil {
					return nil, err
				}
			}
		}
		if stored != nil && began != nil {
			s.revokeLeft(x.ctx, began)
		}
		if i == 0 || stored != nil {
			ended = append(ended, &SignOutEvent{Session: stored})
		}
	}
	return ended, nil
}

// maxLeft is how many sessions of a user are looked at. A user with more still uses the
// account.
const maxLeft = 100

// revokeLeft ends the tokens of the account with which a session began that has ended, if no
// other session began with it. The session has ended whatever comes of it.
func (s dbSessions) revokeLeft(ctx context.Context, began *providersession.Record) {
	p := s.byID[began.Provider]
	if p == nil || !p.revokesLeft {
		return
	}
	ctx = context.WithoutCancel(ctx)
	// The tokens are read first: those that a sign-in stores from now on are of its session.
	account, err := s.records.account(ctx, began.Provider, began.ProviderAccountID)
	// An account that was unlinked may be that of another user by now.
	if errors.Is(err, ErrNotFound) || err == nil && (account.UserID != began.UserID || account.AccessToken == "" && account.RefreshToken == "") {
		return
	}
	var last bool
	if err == nil {
		last, err = s.wasLast(ctx, began)
	}
	if err == nil && last {
		if err = s.revoke(ctx, account); err == nil {
			without := account.clone()
			without.AccessToken, without.RefreshToken, without.ExpiresAt = "", "", 0
			if err = s.records.swapAccount(ctx, without, account.RefreshToken); errors.Is(err, ErrConflict) {
				err = nil // a sign-in has stored others
			}
		}
	}
	if err != nil {
		s.log.LogAttrs(ctx, slog.LevelWarn, "pintle: the tokens of a user who has signed out are not revoked",
			slog.String("provider", began.Provider), slog.Any("error", err))
	}
}

// wasLast reports whether no session of the user began with the account of a record.
func (s dbSessions) wasLast(ctx context.Context, began *providersession.Record) (bool, error) {
	var keys []providersession.Key
	for row, err := range s.records.userSessions(ctx, began.UserID) {
		if err != nil || len(keys) == maxLeft {
			return false, err
		}
		if !s.over(row) {
			keys = append(keys, row.key())
		}
	}
	for _, key := range keys {
		r, err := s.beganBy(ctx, key)
		if err != nil || r != nil && r.Provider == began.Provider && r.ProviderAccountID == began.ProviderAccountID {
			return false, err
		}
	}
	return true, nil
}

// endUnproven does nothing where the store cannot list sessions.
func (dbSessions) endUnproven(w *unitOfWork, _ *arrival, userID, except string) error {
	if !w.can.SessionList {
		return nil
	}
	_, err := w.endUserSessions(w.ctx, userID, except)
	return err
}

func (s dbSessions) endEverywhere(ctx context.Context, userID string) error {
	store, err := storeFor(s.settings, "SignOutEverywhere", featureSessionList)
	if err != nil {
		return err
	}
	_, err = store.endUserSessions(ctx, userID, "")
	return err
}

// endBeside keeps the mark of the sign-in. The other sign-ins lose theirs.
func (s dbSessions) endBeside(ctx context.Context, d *decision) error {
	store, err := storeFor(s.settings, "CompleteOptions.Change", featureSessionList)
	if err != nil {
		return err
	}
	_, err = store.endUserSessions(ctx, d.user.ID, d.marker)
	return err
}

// endedAgain is not needed: an end by another request removes the mark.
func (dbSessions) endedAgain(context.Context, *decision, time.Time) (bool, error) { return false, nil }

// beginAfter does nothing: the mark has stayed.
func (dbSessions) beginAfter(context.Context, *decision) error { return nil }

func (s dbSessions) devices(ctx context.Context, asking *Session) iter.Seq2[*Device, error] {
	return func(yield func(*Device, error) bool) {
		store, err := storeFor(s.settings, "Devices", featureSessionList)
		if err != nil {
			yield(nil, err)
			return
		}
		for row, err := range store.userSessions(ctx, asking.User.ID) {
			if err != nil {
				yield(nil, err)
				return
			}
			if row.isMark() || s.lifetime.Over(row.Created, time.Now()) {
				continue
			}
			if !yield(s.device(row, asking), nil) {
				return
			}
		}
	}
}

func (s dbSessions) endDevice(ctx context.Context, asking *Session, handle string) error {
	store, err := storeFor(s.settings, "EndDevice", featureSessionList)
	if err != nil {
		return err
	}
	// With the id of the user, so that the handle of another user's session ends
	// nothing.
	return store.endSession(ctx, asking.User.ID, handle)
}

func (s dbSessions) endOtherDevices(ctx context.Context, asking *Session) (ended int, err error) {
	store, err := storeFor(s.settings, "EndOtherDevices", featureSessionList)
	if err != nil {
		return 0, err
	}
	except := ""
	if asking.stored != nil {
		except = asking.stored.Token
	}
	return store.endUserSessions(ctx, asking.User.ID, except)
}

// device returns what a user may see of a session on another device.
func (s dbSessions) device(row *StoredSession, asking *Session) *Device {
	d := &Device{
		Handle: row.Handle, Created: row.Created, LastUsed: s.lifetime.LastExtended(row.Expires), Expires: row.Expires,
		Current: asking.stored != nil && row.is(asking.stored.Token), Data: row.Data,
	}
	now := time.Now()
	switch {
	case d.Current || d.LastUsed.After(now):
		d.LastUsed = now
	case d.LastUsed.Before(d.Created):
		// Sessions lasted less long when it was extended.
		d.LastUsed = d.Created
	}
	return d
}

// key names a session that [Store.UserSessions] yielded in its records.
func (s *StoredSession) key() (key providersession.Key) {
	if s.Token != "" {
		return providersession.KeyOf(s.Token)
	}
	hash, _ := base64.RawURLEncoding.DecodeString(s.Handle) // which the store has made
	copy(key[:], hash)
	return key
}

// is reports whether a session that [Store.UserSessions] yielded has a token.
func (s *StoredSession) is(token string) bool {
	if s.Token != "" {
		return s.Token == token
	}
	hash := sha256.Sum256([]byte(token))
	return s.Handle == base64.RawURLEncoding.EncodeToString(hash[:])
}
