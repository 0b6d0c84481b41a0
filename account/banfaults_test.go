package account_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/store/memstore"
)

// AT-7, AC-30, AC-187: the process ends, or one call of the store fails, at any point of an act of
// an operator. What the act has stored holds for the sessions of before, too.
func TestAnActOfAnOperatorThatBreaksOffLeavesNoSession(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		act  func(ctx context.Context, ops *account.Operators, userID string) error
		done func(*accountstore.State) bool
	}{
		"Ban": {
			func(ctx context.Context, ops *account.Operators, userID string) error {
				return ops.Ban(ctx, userID, time.Time{}, "")
			},
			func(s *accountstore.State) bool { return !s.BannedUntil.IsZero() },
		},
		"RequirePasswordChange": {
			func(ctx context.Context, ops *account.Operators, userID string) error {
				return ops.RequirePasswordChange(ctx, userID)
			},
			func(s *accountstore.State) bool { return s.Must != "" },
		},
		"PlanDeletion": {
			func(ctx context.Context, ops *account.Operators, userID string) error {
				return ops.PlanDeletion(ctx, userID, time.Now().Add(time.Hour))
			},
			func(s *accountstore.State) bool { return !s.DeleteAt.IsZero() },
		},
	} {
		for _, lasts := range []bool{false, true} {
			for n := 1; ; n++ {
				s, f := withFaults(t)
				ops, ctx := s.operators()
				u := s.seed(ada, goodPassword, true)
				b := s.browser().signIn(ada, goodPassword).isSignedInAs(ada)
				f.lasts = lasts
				f.arm(n)
				err := test.act(ctx, ops, u.ID)
				hit := f.hit.Load()
				f.lasts = false
				f.arm(0)
				if test.done(s.state(u)) && b.who() != "" {
					t.Errorf("%s, call %d fails, and those after it: %t: the act is stored (%v), and the session goes on", name, n, lasts, err)
				}
				s.done(test.act(ctx, ops, u.ID))
				b.isSignedInAs("")
				if !hit {
					if n < 5 {
						t.Errorf("%s: only %d calls were tried", name, n)
					}
					break
				}
			}
		}
	}
}

// A lostList is a list of ended sessions that does not answer when a user's sessions end.
type lostList struct {
	*memstore.Revocations
	lost bool
}

func (l *lostList) RevokeUser(ctx context.Context, userID string, until time.Time) error {
	if l.lost {
		return errAway
	}
	return l.Revocations.RevokeUser(ctx, userID, until)
}

// AC-187, AC-30, AT-100
func TestATokenOfABannedUserIsNotRenewed(t *testing.T) {
	t.Parallel()
	list := &lostList{Revocations: &memstore.Revocations{}}
	s := newSite(t, true, func(c *pintle.Config, _ *account.Options) {
		c.Session.Revocation, c.Session.UpdateAge = list, -1 // each request renews the token
	})
	ops, ctx := s.operators()
	u := s.seed(ada, goodPassword, true)
	signedIn := func() *browser { return s.browser().signIn(ada, goodPassword).isSignedInAs(ada) }
	b, route := signedIn(), signedIn()

	list.lost = true
	if err := ops.Ban(ctx, u.ID, time.Time{}, ""); err == nil {
		t.Error("the operator is not told that sessions have not ended")
	}
	if s.state(u).BannedUntil.IsZero() {
		t.Error("the ban waits for the list of ended sessions")
	}
	b.isSignedInAs("")
	if route.get("/auth/session").want(http.StatusOK); route.page != "null" {
		t.Errorf("the session route says %s", route.page)
	}
	list.lost = false
	s.done(ops.Unban(ctx, u.ID))
	b.isSignedInAs("")
}

// AC-30: a role that is taken away, at a process that ends, is in no token that a sign-in of
// before has.
func TestATokenHasNoRoleThatIsTakenAwayByAnActThatBreaksOff(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		f := &fault{lasts: true}
		list := &memstore.Revocations{}
		s := newSite(t, true, func(c *pintle.Config, _ *account.Options) {
			c.Store, c.Session.Revocation = faultyStore{c.Store, f}, &faultyList{list, f}
		})
		ops, ctx := s.operators()
		u := s.seed(ada, goodPassword, true)
		s.done(ops.SetRoles(ctx, u.ID, []string{"admin"}))
		b := s.browser().signIn(ada, goodPassword).isSignedInAs(ada)
		f.arm(n)
		err := ops.SetRoles(ctx, u.ID, nil)
		hit := f.hit.Load()
		f.lasts = false
		f.arm(0)
		if len(s.state(u).Roles) == 0 && b.who() != "" {
			t.Errorf("call %d: the role is gone (%v), and the token goes on", n, err)
		}
		if !hit {
			if n < 6 {
				t.Errorf("only %d calls were tried", n)
			}
			return
		}
	}
}

// A faultyList is a list of ended sessions whose writes fail.
type faultyList struct {
	*memstore.Revocations
	fault *fault
}

func (l *faultyList) RevokeUser(ctx context.Context, userID string, until time.Time) error {
	if err := l.fault.now(); err != nil {
		return err
	}
	return l.Revocations.RevokeUser(ctx, userID, until)
}
