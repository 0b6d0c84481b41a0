package storetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/providersession"
	"github.com/pintleauth/pintle/store/memstore"
)

// A mutantList is a good list with one thing wrong.
type mutantList struct {
	*memstore.Revocations
	revoked    func(ctx context.Context, userID, sessionID string, signedIn time.Time) (bool, error)
	asked      func(ctx context.Context, s pintle.TokenSession) (bool, error)
	endMarked  func(ctx context.Context, m providersession.Mark, ended, until time.Time) error
	revoke     func(ctx context.Context, userID, sessionID string, until time.Time) error
	revokeUser func(ctx context.Context, userID string, until time.Time) error
	sweep      func(ctx context.Context, before time.Time, limit int) (int, error)
}

func (m *mutantList) Revoked(ctx context.Context, s pintle.TokenSession) (bool, error) {
	if m.asked != nil {
		return m.asked(ctx, s)
	}
	if m.revoked != nil {
		return m.revoked(ctx, s.UserID, s.ID, s.SignedIn)
	}
	return m.Revocations.Revoked(ctx, s)
}

func (m *mutantList) Revoke(ctx context.Context, s pintle.TokenSession, until time.Time) error {
	if m.revoke != nil {
		return m.revoke(ctx, s.UserID, s.ID, until)
	}
	return m.Revocations.Revoke(ctx, s, until)
}

func (m *mutantList) RevokeUser(ctx context.Context, userID string, until time.Time) error {
	if m.revokeUser != nil {
		return m.revokeUser(ctx, userID, until)
	}
	return m.Revocations.RevokeUser(ctx, userID, until)
}

func (m *mutantList) EndMarked(ctx context.Context, mark providersession.Mark, ended, until time.Time) error {
	if m.endMarked != nil {
		return m.endMarked(ctx, mark, ended, until)
	}
	return m.Revocations.EndMarked(ctx, mark, ended, until)
}

func (m *mutantList) Sweep(ctx context.Context, before time.Time, limit int) (int, error) {
	if m.sweep != nil {
		return m.sweep(ctx, before, limit)
	}
	return m.Revocations.Sweep(ctx, before, limit)
}

var revocationMutants = []struct {
	name    string
	change  func(*mutantList)
	noticed string
}{
	{"ends everything", func(m *mutantList) {
		m.revoked = func(ctx context.Context, _, _ string, _ time.Time) (bool, error) { return true, ctx.Err() }
	}, "that was not ended goes on"},
	{"ends nothing", func(m *mutantList) {
		m.revoked = func(ctx context.Context, _, _ string, _ time.Time) (bool, error) { return false, ctx.Err() }
	}, "that was ended stays ended"},
	{"fails when a session is ended twice", func(m *mutantList) {
		m.revoke = func(ctx context.Context, user, id string, until time.Time) error {
			if ended, _ := m.Revocations.Revoked(ctx, pintle.TokenSession{UserID: user, ID: id, SignedIn: now().Add(time.Hour)}); ended {
				return pintle.ErrConflict
			}
			return m.Revocations.Revoke(ctx, pintle.TokenSession{UserID: user, ID: id}, until)
		}
	}, "that was ended stays ended"},
	{"ends one session and with it the user's", func(m *mutantList) {
		m.revoke = func(ctx context.Context, user, _ string, until time.Time) error {
			return m.Revocations.RevokeUser(ctx, user, until)
		}
	}, "that was ended stays ended"},
	{"ends the sessions of all users", func(m *mutantList) {
		m.revokeUser = func(ctx context.Context, _ string, until time.Time) error {
			return m.Revocations.RevokeUser(ctx, "", until)
		}
		m.revoked = func(ctx context.Context, _, id string, signedIn time.Time) (bool, error) {
			return m.Revocations.Revoked(ctx, pintle.TokenSession{UserID: "", ID: id, SignedIn: signedIn})
		}
	}, "no other user's"},
	{"lets go on what does not say when it began", func(m *mutantList) {
		m.revoked = func(ctx context.Context, user, id string, signedIn time.Time) (bool, error) {
			if signedIn.IsZero() {
				signedIn = time.Now().Add(time.Hour)
			}
			return m.Revocations.Revoked(ctx, pintle.TokenSession{UserID: user, ID: id, SignedIn: signedIn})
		}
	}, "of unknown beginning"},
	{"never lets a user in again", func(m *mutantList) {
		m.revoked = func(ctx context.Context, user, id string, _ time.Time) (bool, error) {
			return m.Revocations.Revoked(ctx, pintle.TokenSession{UserID: user, ID: id, SignedIn: time.Time{}})
		}
	}, "a user who signs in again"},
	{"keeps the first mark of a user", func(m *mutantList) {
		var marked sync.Map // of user ids
		m.revokeUser = func(ctx context.Context, user string, until time.Time) error {
			if _, before := marked.LoadOrStore(user, true); before {
				return nil
			}
			return m.Revocations.RevokeUser(ctx, user, until)
		}
	}, "a later mark counts"},
	{"forgets when the last call allows", func(m *mutantList) {
		m.revoke = func(ctx context.Context, user, id string, until time.Time) error {
			if until.Before(time.Now()) {
				m.Revocations = &memstore.Revocations{}
			}
			return m.Revocations.Revoke(ctx, pintle.TokenSession{UserID: user, ID: id}, until)
		}
	}, "no call shortens"},
	{"has one place for users and sessions", func(m *mutantList) {
		m.revoke = func(ctx context.Context, user, id string, until time.Time) error {
			if err := m.Revocations.RevokeUser(ctx, id, until); err != nil {
				return err
			}
			return m.Revocations.Revoke(ctx, pintle.TokenSession{UserID: user, ID: id}, until)
		}
	}, "a user is no session"},
	{"joins the ids of user and session", func(m *mutantList) {
		m.revoke = func(ctx context.Context, user, id string, until time.Time) error {
			return m.Revocations.Revoke(ctx, pintle.TokenSession{UserID: "", ID: user + id}, until)
		}
		m.revoked = func(ctx context.Context, user, id string, signedIn time.Time) (bool, error) {
			if ended, err := m.Revocations.Revoked(ctx, pintle.TokenSession{UserID: "", ID: user + id, SignedIn: signedIn}); ended {
				return true, err
			}
			return m.Revocations.Revoked(ctx, pintle.TokenSession{UserID: user, ID: "", SignedIn: signedIn})
		}
	}, "a user is no session"},
	{"knows sessions by their ids alone", func(m *mutantList) {
		m.revoke = func(ctx context.Context, _, id string, until time.Time) error {
			return m.Revocations.Revoke(ctx, pintle.TokenSession{UserID: "", ID: id}, until)
		}
		m.revoked = func(ctx context.Context, user, id string, signedIn time.Time) (bool, error) {
			if ended, err := m.Revocations.Revoked(ctx, pintle.TokenSession{UserID: "", ID: id, SignedIn: time.Now().Add(time.Hour)}); ended {
				return true, err
			}
			return m.Revocations.Revoked(ctx, pintle.TokenSession{UserID: user, ID: id, SignedIn: signedIn})
		}
	}, "without an id"},
	{"ignores case", func(m *mutantList) {
		m.revoke = func(ctx context.Context, user, id string, until time.Time) error {
			return m.Revocations.Revoke(ctx, pintle.TokenSession{UserID: strings.ToLower(user), ID: strings.ToLower(id)}, until)
		}
		m.revoked = func(ctx context.Context, user, id string, signedIn time.Time) (bool, error) {
			return m.Revocations.Revoked(ctx, pintle.TokenSession{UserID: strings.ToLower(user), ID: strings.ToLower(id), SignedIn: signedIn})
		}
	}, "byte by byte"},
	{"ignores an ended context", func(m *mutantList) {
		m.revoked = func(_ context.Context, user, id string, signedIn time.Time) (bool, error) {
			return m.Revocations.Revoked(context.Background(), pintle.TokenSession{UserID: user, ID: id, SignedIn: signedIn})
		}
	}, "whose context has ended fails"},
	{"ignores marks", func(m *mutantList) {
		m.asked = func(ctx context.Context, s pintle.TokenSession) (bool, error) {
			s.Marks = [3]providersession.Mark{}
			return m.Revocations.Revoked(ctx, s)
		}
	}, "a mark ends the sessions"},
	{"looks at the first mark only", func(m *mutantList) {
		m.asked = func(ctx context.Context, s pintle.TokenSession) (bool, error) {
			s.Marks = [3]providersession.Mark{s.Marks[0]}
			return m.Revocations.Revoked(ctx, s)
		}
	}, "a mark ends the sessions"},
	{"ends by a mark for ever", func(m *mutantList) {
		m.endMarked = func(ctx context.Context, mark providersession.Mark, _, until time.Time) error {
			return m.Revocations.EndMarked(ctx, mark, time.Now().Add(24*time.Hour), until)
		}
	}, "a mark ends the sessions"},
	{"ends by the zero mark", func(m *mutantList) {
		m.endMarked = func(ctx context.Context, mark providersession.Mark, ended, until time.Time) error {
			if err := m.Revocations.EndMarked(ctx, providersession.Mark{}, ended, until); err != nil {
				return err
			}
			return m.Revocations.EndMarked(ctx, mark, ended, until)
		}
	}, "a mark ends the sessions"},
	{"looks at nothing but marks", func(m *mutantList) {
		m.asked = func(ctx context.Context, s pintle.TokenSession) (bool, error) {
			if s.Marks != [3]providersession.Mark{} {
				s.UserID, s.ID = unique(), unique()
			}
			return m.Revocations.Revoked(ctx, s)
		}
	}, "by its id and by its user"},
	{"lets the last end of a mark count", func(m *mutantList) {
		m.endMarked = func(ctx context.Context, mark providersession.Mark, ended, until time.Time) error {
			list := &memstore.Revocations{}
			m.Revocations = list
			return list.EndMarked(ctx, mark, ended, until)
		}
	}, "the latest end of a mark"},
	{"sweeps everything", func(m *mutantList) {
		m.sweep = func(ctx context.Context, _ time.Time, limit int) (int, error) {
			return m.Revocations.Sweep(ctx, time.Now().Add(365*24*time.Hour), limit)
		}
	}, "sweep"},
	{"sweeps without measure", func(m *mutantList) {
		m.sweep = func(ctx context.Context, before time.Time, _ int) (int, error) {
			return m.Revocations.Sweep(ctx, before, 1000)
		}
	}, "sweep"},
}

func TestEveryMutantOfAListIsNoticed(t *testing.T) {
	for _, m := range revocationMutants {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			var failed []string
			for _, c := range revocationChecks {
				list := &mutantList{Revocations: &memstore.Revocations{}}
				m.change(list)
				if tryList(t, c, list) {
					failed = append(failed, c.name)
				}
			}
			if !strings.Contains(strings.Join(failed, "\n"), m.noticed) {
				t.Errorf("no check named %q failed, only %q", m.noticed, failed)
			}
		})
	}
}

// tryList reports whether a list fails a check.
func tryList(t *testing.T, c revocationCheck, list pintle.RevocationStore) bool {
	r := &trial{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				r.Error(fmt.Sprintf("panic: %v", p))
			}
			for _, f := range r.cleanups {
				f()
			}
		}()
		c.run(newRevocationTester(r, list))
	}()
	<-done
	return r.failed
}
