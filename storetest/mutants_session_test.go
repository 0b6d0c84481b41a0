package storetest

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

var sessionMutants = []mutant{
	{"an ended session comes back", func(s *memstore.Store) pintle.Store { return &resurrecting{Store: s} }, "does not bring it back"},
	{"an update of nothing is silent", func(s *memstore.Store) pintle.Store { return silentSession{s} }, "does not bring it back"},
	{"an unchanged row is not found", func(s *memstore.Store) pintle.Store { return changedRows{s} }, "an update of nothing, or to what is there"},
	{"deleting no session is no error", func(s *memstore.Store) pintle.Store { return laxDelete{s} }, "11 a session that was deleted, or never was"},
	{"the deleted row is not returned", func(s *memstore.Store) pintle.Store { return mute{s} }, "11 a deleted session is returned"},
	{"a session is not deleted", func(s *memstore.Store) pintle.Store { return immortal{s} }, "11 a deleted session is returned and is gone"},
	{"expired sessions are hidden", func(s *memstore.Store) pintle.Store { return hiding{s} }, "an expired session is returned"},
	{"expired sessions are deleted when read", func(s *memstore.Store) pintle.Store { return reaping{s} }, "an expired session is returned"},
	{"a session's id is its token", func(s *memstore.Store) pintle.Store { return tokenID{s} }, "a session has an id, which is not its token"},
	{"a session of no user is kept", func(s *memstore.Store) pintle.Store { return &leftSessions{Store: s} }, "a session of a user who does not exist"},
	{"sessions begin while their user is deleted", func(s *memstore.Store) pintle.Store { return &leftSessions{Store: s} }, "SH-16 a user who is deleted while signing in"},
	{"a token is taken over", func(s *memstore.Store) pintle.Store { return takeover{s} }, "a second session with one token"},
	{"tokens match in any case", func(s *memstore.Store) pintle.Store { return lowToken{s} }, "a token is found exactly"},
	{"data is lost when a session is extended", func(s *memstore.Store) pintle.Store { return dataLoss{s} }, "fields that are not given stay"},
	{"session times are cut to seconds", func(s *memstore.Store) pintle.Store { return wholeSeconds{s} }, "Session/times keep their milliseconds"},
	{"an extension moves every session", func(s *memstore.Store) pintle.Store { return &everySession{Store: s} }, "8 a session is extended"},
	{"the user of a session is remembered", func(s *memstore.Store) pintle.Store { return &oldUser{Store: s} }, "the session's user is the user as changed since"},
	{"the handle is the token", func(s *memstore.Store) pintle.Store { return &tokenHandle{Store: s} }, "a handle is no token"},
	{"has other handles and no tokens", func(s *memstore.Store) pintle.Store { return ownHandle{s} }, "told from the others"},
	{"a handle signs in", func(s *memstore.Store) pintle.Store { return handleIn{s} }, "a handle is no token"},
	{"any user ends a session", func(s *memstore.Store) pintle.Store { return anyUserEnds{s} }, "a user does not end the session of another"},
	{"expired sessions are listed", func(s *memstore.Store) pintle.Store { return &listAll{Store: s} }, "are listed newest first, without"},
	{"the oldest session is first", func(s *memstore.Store) pintle.Store { return oldest{s} }, "are listed newest first"},
	{"the session to keep ends too", func(s *memstore.Store) pintle.Store { return endAll{s} }, "end but the one to keep"},
	{"none to keep keeps one", func(s *memstore.Store) pintle.Store { return keepOne{s} }, "end when none is to be kept"},
	{"ended sessions are not counted", func(s *memstore.Store) pintle.Store { return uncounted{s} }, "end but the one to keep"},
	{"a deleted user's sessions stay", func(s *memstore.Store) pintle.Store { return orphaned{s} }, "SH-16, ASVS-7.4.2 a deleted user is gone at once"},
	{"a user is deleted and nothing else", func(s *memstore.Store) pintle.Store { return notDeleted{s} }, "SH-16, ASVS-7.4.2 a deleted user is gone at once"},
	{"deleting no user is no error", func(s *memstore.Store) pintle.Store { return laxUser{s} }, "a user who was deleted, or never was"},
	{"a sweep knows no limit", func(s *memstore.Store) pintle.Store { return boundless{s} }, "removes no more than its limit"},
	{"a sweep is one millisecond late", func(s *memstore.Store) pintle.Store { return inclusive{s} }, "what expires at the given instant"},
	{"a sweep removes what is alive", func(s *memstore.Store) pintle.Store { return eager{s} }, "the others stay"},
	{"a sweep removes nothing", func(s *memstore.Store) pintle.Store { return lazy{s} }, "expired sessions, mail links, flows and factors are removed"},
	{"a sweep does not count", func(s *memstore.Store) pintle.Store { return noCount{s} }, "expired sessions, mail links, flows and factors are removed"},
}

// resurrecting writes the whole session back, as key-value stores do.
type resurrecting struct {
	*memstore.Store
	mu   sync.Mutex // many sign in at once
	last pintle.StoredSession
}

func (s *resurrecting) CreateSession(ctx context.Context, n *pintle.StoredSession) error {
	s.mu.Lock()
	s.last = *n
	s.mu.Unlock()
	return s.Store.CreateSession(ctx, n)
}

func (s *resurrecting) UpdateSession(ctx context.Context, token string, c pintle.SessionUpdate) error {
	err := s.Store.UpdateSession(ctx, token, c)
	if errors.Is(err, pintle.ErrNotFound) && token == s.last.Token {
		return s.Store.CreateSession(ctx, &s.last)
	}
	return err
}

type silentSession struct{ *memstore.Store }

func (s silentSession) UpdateSession(ctx context.Context, token string, c pintle.SessionUpdate) error {
	if err := s.Store.UpdateSession(ctx, token, c); !errors.Is(err, pintle.ErrNotFound) {
		return err
	}
	return nil
}

// changedRows counts like a MySQL that was not asked for found rows.
type changedRows struct{ *memstore.Store }

func (s changedRows) UpdateSession(ctx context.Context, token string, c pintle.SessionUpdate) error {
	if found, _, err := s.SessionAndUser(ctx, token); err == nil && found.Expires.Equal(c.Expires) {
		return pintle.ErrNotFound
	}
	return s.Store.UpdateSession(ctx, token, c)
}

type laxDelete struct{ *memstore.Store }

func (s laxDelete) DeleteSession(ctx context.Context, token string) (*pintle.StoredSession, error) {
	d, err := s.Store.DeleteSession(ctx, token)
	if errors.Is(err, pintle.ErrNotFound) {
		return nil, nil // which is the mistake
	}
	return d, err
}

type mute struct{ *memstore.Store }

func (s mute) DeleteSession(ctx context.Context, token string) (*pintle.StoredSession, error) {
	_, err := s.Store.DeleteSession(ctx, token)
	return nil, err
}

type immortal struct{ *memstore.Store }

func (s immortal) DeleteSession(ctx context.Context, token string) (*pintle.StoredSession, error) {
	found, _, err := s.SessionAndUser(ctx, token)
	if errors.Is(err, pintle.ErrNotFound) {
		return nil, nil
	}
	return found, err
}

type hiding struct{ *memstore.Store }

func (s hiding) SessionAndUser(ctx context.Context, token string) (*pintle.StoredSession, *pintle.User, error) {
	found, u, err := s.Store.SessionAndUser(ctx, token)
	if err == nil && found.Expires.Before(time.Now()) {
		return nil, nil, pintle.ErrNotFound
	}
	return found, u, err
}

type reaping struct{ *memstore.Store }

func (s reaping) SessionAndUser(ctx context.Context, token string) (*pintle.StoredSession, *pintle.User, error) {
	found, u, err := s.Store.SessionAndUser(ctx, token)
	if err == nil && found.Expires.Before(time.Now()) {
		_, err = s.DeleteSession(ctx, token)
	}
	return found, u, err
}

type tokenID struct{ *memstore.Store }

func (s tokenID) SessionAndUser(ctx context.Context, token string) (*pintle.StoredSession, *pintle.User, error) {
	found, u, err := s.Store.SessionAndUser(ctx, token)
	if err == nil {
		found.ID = token
	}
	return found, u, err
}

// leftSessions keeps sessions, whether their users exist or not.
type leftSessions struct {
	*memstore.Store
	sessions sync.Map
}

func (s *leftSessions) CreateSession(ctx context.Context, n *pintle.StoredSession) error {
	err := s.Store.CreateSession(ctx, n)
	if errors.Is(err, pintle.ErrNotFound) {
		s.sessions.Store(n.Token, n)
	}
	return err
}

func (s *leftSessions) DeleteSession(ctx context.Context, token string) (*pintle.StoredSession, error) {
	if n, kept := s.sessions.LoadAndDelete(token); kept {
		return n.(*pintle.StoredSession), nil
	}
	return s.Store.DeleteSession(ctx, token)
}

type takeover struct{ *memstore.Store }

func (s takeover) CreateSession(ctx context.Context, n *pintle.StoredSession) error {
	if _, err := s.DeleteSession(ctx, n.Token); err != nil {
		return err
	}
	return s.Store.CreateSession(ctx, n)
}

type lowToken struct{ *memstore.Store }

func (s lowToken) CreateSession(ctx context.Context, n *pintle.StoredSession) error {
	c := *n
	c.Token = strings.ToLower(n.Token)
	return s.Store.CreateSession(ctx, &c)
}

func (s lowToken) SessionAndUser(ctx context.Context, token string) (*pintle.StoredSession, *pintle.User, error) {
	found, u, err := s.Store.SessionAndUser(ctx, strings.ToLower(token))
	if found != nil {
		found.Token = token
	}
	return found, u, err
}

type dataLoss struct{ *memstore.Store }

func (s dataLoss) UpdateSession(ctx context.Context, token string, c pintle.SessionUpdate) error {
	if c.Data == nil {
		c.Data = map[string]any{}
	}
	return s.Store.UpdateSession(ctx, token, c)
}

type wholeSeconds struct{ *memstore.Store }

func (s wholeSeconds) CreateSession(ctx context.Context, n *pintle.StoredSession) error {
	c := *n
	c.Expires = c.Expires.Truncate(time.Second)
	return s.Store.CreateSession(ctx, &c)
}

type everySession struct {
	*memstore.Store
	mu     sync.Mutex // many sign in at once
	tokens []string
}

func (s *everySession) CreateSession(ctx context.Context, n *pintle.StoredSession) error {
	s.mu.Lock()
	s.tokens = append(s.tokens, n.Token)
	s.mu.Unlock()
	return s.Store.CreateSession(ctx, n)
}

func (s *everySession) UpdateSession(ctx context.Context, token string, c pintle.SessionUpdate) error {
	for _, other := range s.tokens {
		_ = s.Store.UpdateSession(ctx, other, c)
	}
	return s.Store.UpdateSession(ctx, token, c)
}

type oldUser struct {
	*memstore.Store
	first *pintle.User
}

func (s *oldUser) SessionAndUser(ctx context.Context, token string) (*pintle.StoredSession, *pintle.User, error) {
	found, u, err := s.Store.SessionAndUser(ctx, token)
	if s.first == nil {
		s.first = u
	}
	return found, s.first, err
}

type tokenHandle struct {
	*memstore.Store
	mu    sync.Mutex // many sign in at once
	token string
}

func (s *tokenHandle) CreateSession(ctx context.Context, n *pintle.StoredSession) error {
	s.mu.Lock()
	s.token = n.Token
	s.mu.Unlock()
	return s.Store.CreateSession(ctx, n)
}

func (s *tokenHandle) UserSessions(ctx context.Context, id string) iter.Seq2[*pintle.StoredSession, error] {
	return func(yield func(*pintle.StoredSession, error) bool) {
		for found, err := range s.Store.UserSessions(ctx, id) {
			if found != nil {
				found.Handle = s.token
			}
			if !yield(found, err) {
				return
			}
		}
	}
}

type ownHandle struct{ *memstore.Store }

func (s ownHandle) UserSessions(ctx context.Context, id string) iter.Seq2[*pintle.StoredSession, error] {
	return func(yield func(*pintle.StoredSession, error) bool) {
		for found, err := range s.Store.UserSessions(ctx, id) {
			if found != nil {
				found.Handle = "row " + found.Handle
			}
			if !yield(found, err) {
				return
			}
		}
	}
}

type handleIn struct{ *memstore.Store }

func (s handleIn) DeleteSession(ctx context.Context, token string) (*pintle.StoredSession, error) {
	if len(token) == 43 {
		return &pintle.StoredSession{Token: token}, nil
	}
	return s.Store.DeleteSession(ctx, token)
}

type anyUserEnds struct{ *memstore.Store }

func (s anyUserEnds) EndSession(ctx context.Context, id, handle string) error {
	if err := s.Store.EndSession(ctx, id, handle); !errors.Is(err, pintle.ErrNotFound) {
		return err
	}
	return nil
}

type listAll struct {
	*memstore.Store
	mu  sync.Mutex // many sign in at once
	all []*pintle.StoredSession
}

func (s *listAll) CreateSession(ctx context.Context, n *pintle.StoredSession) error {
	s.mu.Lock()
	s.all = append(s.all, n)
	s.mu.Unlock()
	return s.Store.CreateSession(ctx, n)
}

func (s *listAll) UserSessions(context.Context, string) iter.Seq2[*pintle.StoredSession, error] {
	return func(yield func(*pintle.StoredSession, error) bool) {
		for _, n := range slices.Backward(s.all) {
			if !yield(n, nil) {
				return
			}
		}
	}
}

type oldest struct{ *memstore.Store }

func (s oldest) UserSessions(ctx context.Context, id string) iter.Seq2[*pintle.StoredSession, error] {
	return func(yield func(*pintle.StoredSession, error) bool) {
		var all []*pintle.StoredSession
		for found, err := range s.Store.UserSessions(ctx, id) {
			if err != nil {
				yield(nil, err)
				return
			}
			all = append(all, found)
		}
		for _, found := range slices.Backward(all) {
			if !yield(found, nil) {
				return
			}
		}
	}
}

type endAll struct{ *memstore.Store }

func (s endAll) EndUserSessions(ctx context.Context, id, _ string) (int, error) {
	return s.Store.EndUserSessions(ctx, id, "")
}

type keepOne struct{ *memstore.Store }

func (s keepOne) EndUserSessions(ctx context.Context, id, except string) (int, error) {
	if except == "" {
		return 0, nil
	}
	return s.Store.EndUserSessions(ctx, id, except)
}

type uncounted struct{ *memstore.Store }

func (s uncounted) EndUserSessions(ctx context.Context, id, except string) (int, error) {
	_, err := s.Store.EndUserSessions(ctx, id, except)
	return 0, err
}

// orphaned hides the user and leaves the sessions, as a cache would.
type orphaned struct{ *memstore.Store }

func (s orphaned) DeleteUser(ctx context.Context, id string) error {
	for _, a := range must(s.UserAccounts(ctx, id)) {
		_ = s.UnlinkAccount(ctx, id, a.Provider, a.ProviderAccountID, nil)
	}
	return ctx.Err()
}

func must[T any](v T, _ error) T { return v }

type notDeleted struct{ *memstore.Store }

func (s notDeleted) DeleteUser(ctx context.Context, _ string) error { return ctx.Err() }

type laxUser struct{ *memstore.Store }

func (s laxUser) DeleteUser(ctx context.Context, id string) error {
	if err := s.Store.DeleteUser(ctx, id); !errors.Is(err, pintle.ErrNotFound) {
		return err
	}
	return nil
}

type boundless struct{ *memstore.Store }

func (s boundless) Sweep(ctx context.Context, before time.Time, _ int) (int, error) {
	return s.Store.Sweep(ctx, before, 1<<30)
}

type inclusive struct{ *memstore.Store }

func (s inclusive) Sweep(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.Store.Sweep(ctx, before.Add(time.Millisecond), limit)
}

type eager struct{ *memstore.Store }

func (s eager) Sweep(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.Store.Sweep(ctx, before.AddDate(1, 0, 0), limit)
}

type lazy struct{ *memstore.Store }

func (s lazy) Sweep(ctx context.Context, _ time.Time, _ int) (int, error) { return 0, ctx.Err() }

type noCount struct{ *memstore.Store }

func (s noCount) Sweep(ctx context.Context, before time.Time, limit int) (int, error) {
	_, err := s.Store.Sweep(ctx, before, limit)
	return 0, err
}
