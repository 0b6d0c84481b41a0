package account_test

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
)

// A fault makes one call of the store fail.
type fault struct {
	left atomic.Int64 // calls until then
	hit  atomic.Bool

	// lasts makes the calls after it fail as well, and late makes an update of a user fail after
	// it was stored.
	lasts, late bool

	// onReplace is called before a factor is replaced, onUse after a flow was used,
	// onState after the state of a user was read, onEnd before the sessions of a user end,
	// and onUpdate before a user is updated.
	onReplace, onUse, onState, onEnd, onUpdate func()
}

// once calls a function that is set, and no second time.
func once(do *func()) {
	if f := *do; f != nil {
		*do = nil
		f()
	}
}

var errFault = errors.New("the store does not answer")

func (f *fault) arm(n int) { f.hit.Store(false); f.left.Store(int64(n)) }

func (f *fault) now() error {
	if left := f.left.Add(-1); left == 0 || left < 0 && f.lasts && f.hit.Load() {
		f.hit.Store(true)
		return errFault
	}
	return nil
}

// A faultyStore has no transactions: what a call has written stays.
type faultyStore struct {
	pintle.Store
	fault *fault
}

func (s faultyStore) Features() pintle.Features {
	f := s.Store.Features()
	f.Transactions = false
	return f
}

func (s faultyStore) AccountStore() accountstore.Store {
	return faultyRows{s.Store.AccountStore(), s.fault}
}

func (s faultyStore) User(ctx context.Context, id string) (*pintle.User, error) {
	if err := s.fault.now(); err != nil {
		return nil, err
	}
	return s.Store.User(ctx, id)
}

func (s faultyStore) UserByEmail(ctx context.Context, email string) (*pintle.User, error) {
	if err := s.fault.now(); err != nil {
		return nil, err
	}
	return s.Store.UserByEmail(ctx, email)
}

func (s faultyStore) CreateUser(ctx context.Context, u *pintle.User) (*pintle.User, error) {
	if err := s.fault.now(); err != nil {
		return nil, err
	}
	return s.Store.CreateUser(ctx, u)
}

func (s faultyStore) UpdateUser(ctx context.Context, id string, u pintle.UserUpdate) (*pintle.User, error) {
	err := s.fault.now()
	if err != nil && !s.fault.late {
		return nil, err
	}
	once(&s.fault.onUpdate)
	updated, failed := s.Store.UpdateUser(ctx, id, u)
	if err = cmp.Or(err, failed); err != nil {
		return nil, err
	}
	return updated, nil
}

func (s faultyStore) EndUserSessions(ctx context.Context, id, except string) (int, error) {
	if err := s.fault.now(); err != nil {
		return 0, err
	}
	once(&s.fault.onEnd)
	return s.Store.EndUserSessions(ctx, id, except)
}

func (s faultyStore) CreateSession(ctx context.Context, session *pintle.StoredSession) error {
	if err := s.fault.now(); err != nil {
		return err
	}
	return s.Store.CreateSession(ctx, session)
}

type faultyRows struct {
	accountstore.Store
	fault *fault
}

func (r faultyRows) State(ctx context.Context, id string) (*accountstore.State, error) {
	if err := r.fault.now(); err != nil {
		return nil, err
	}
	state, err := r.Store.State(ctx, id)
	if r.fault.onState != nil {
		r.fault.onState()
	}
	return state, err
}

func (r faultyRows) ChangeState(ctx context.Context, s *accountstore.State) error {
	if err := r.fault.now(); err != nil {
		return err
	}
	return r.Store.ChangeState(ctx, s)
}

func (r faultyRows) Factors(ctx context.Context, id string) ([]*accountstore.Factor, error) {
	if err := r.fault.now(); err != nil {
		return nil, err
	}
	return r.Store.Factors(ctx, id)
}

func (r faultyRows) AddFactor(ctx context.Context, f *accountstore.Factor) error {
	if err := r.fault.now(); err != nil {
		return err
	}
	return r.Store.AddFactor(ctx, f)
}

func (r faultyRows) ReplaceFactor(ctx context.Context, f *accountstore.Factor) error {
	if err := r.fault.now(); err != nil {
		return err
	}
	if r.fault.onReplace != nil {
		r.fault.onReplace()
	}
	return r.Store.ReplaceFactor(ctx, f)
}

func (r faultyRows) DeleteFactor(ctx context.Context, userID, kind, id string) error {
	if err := r.fault.now(); err != nil {
		return err
	}
	return r.Store.DeleteFactor(ctx, userID, kind, id)
}

func (r faultyRows) DeleteFactors(ctx context.Context, userID string, kinds, except []string) (int, error) {
	if err := r.fault.now(); err != nil {
		return 0, err
	}
	return r.Store.DeleteFactors(ctx, userID, kinds, except)
}

func (r faultyRows) Flow(ctx context.Context, id accountstore.Hash) (*accountstore.Flow, error) {
	if err := r.fault.now(); err != nil {
		return nil, err
	}
	return r.Store.Flow(ctx, id)
}

func (r faultyRows) CreateFlow(ctx context.Context, f *accountstore.Flow) error {
	if err := r.fault.now(); err != nil {
		return err
	}
	return r.Store.CreateFlow(ctx, f)
}

func (r faultyRows) ChangeFlow(ctx context.Context, f *accountstore.Flow) error {
	if err := r.fault.now(); err != nil {
		return err
	}
	return r.Store.ChangeFlow(ctx, f)
}

func (r faultyRows) AttemptFlow(ctx context.Context, id accountstore.Hash, limit int) (int, error) {
	if err := r.fault.now(); err != nil {
		return 0, err
	}
	return r.Store.AttemptFlow(ctx, id, limit)
}

func (r faultyRows) UseFlow(ctx context.Context, id accountstore.Hash, kind string) (*accountstore.Flow, error) {
	if err := r.fault.now(); err != nil {
		return nil, err
	}
	f, err := r.Store.UseFlow(ctx, id, kind)
	if r.fault.onUse != nil {
		r.fault.onUse()
	}
	return f, err
}

func (r faultyRows) EndFlows(ctx context.Context, subject string, kinds ...string) (int, error) {
	if err := r.fault.now(); err != nil {
		return 0, err
	}
	return r.Store.EndFlows(ctx, subject, kinds...)
}

func (r faultyRows) CountFlows(ctx context.Context, subject, kind string, after time.Time) (int, error) {
	if err := r.fault.now(); err != nil {
		return 0, err
	}
	return r.Store.CountFlows(ctx, subject, kind, after)
}

// withFaults starts a site whose store fails when it is told to.
func withFaults(t *testing.T) (*site, *fault) {
	f := &fault{}
	s := newSite(t, false, func(c *pintle.Config, _ *account.Options) { c.Store = faultyStore{c.Store, f} })
	return s, f
}

// AT-7, AT-100: after a fault at any call of the store, a new password leaves no session of before.
// Of the other acts the operator learns that they are not complete. Done again, each of them is.
func TestAFaultDuringAnActOfAnOperatorKeepsNoThiefSignedIn(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]struct {
		do       func(ctx context.Context, ops *account.Operators, id string) error
		happened func(s *site, u *pintle.User) bool
	}{
		"Ban": {
			func(ctx context.Context, ops *account.Operators, id string) error {
				return ops.Ban(ctx, id, time.Time{}, "")
			},
			func(s *site, u *pintle.User) bool { return !s.state(u).BannedUntil.IsZero() },
		},
		"RequirePasswordChange": {
			func(ctx context.Context, ops *account.Operators, id string) error {
				return ops.RequirePasswordChange(ctx, id)
			},
			func(s *site, u *pintle.User) bool { return s.state(u).Must != "" },
		},
		"PlanDeletion": {
			func(ctx context.Context, ops *account.Operators, id string) error {
				return ops.PlanDeletion(ctx, id, time.Now().Add(time.Hour))
			},
			func(s *site, u *pintle.User) bool { return !s.state(u).DeleteAt.IsZero() },
		},
		"Delete": {
			func(ctx context.Context, ops *account.Operators, id string) error { return ops.Delete(ctx, id) },
			func(s *site, u *pintle.User) bool { return s.user(ada) == nil || !s.state(u).DeleteAt.IsZero() },
		},
		"SetTemporaryPassword": {
			func(ctx context.Context, ops *account.Operators, id string) error {
				_, err := ops.SetTemporaryPassword(ctx, id)
				return err
			},
			func(s *site, _ *pintle.User) bool { return !s.passwordIs(ada, goodPassword) },
		},
		"SetRoles": { // sessions in the database see the roles at once
			func(ctx context.Context, ops *account.Operators, id string) error {
				return ops.SetRoles(ctx, id, []string{"editor"})
			},
			func(*site, *pintle.User) bool { return false },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n++ {
				s, f := withFaults(t)
				ops, ctx := s.operators()
				u := s.seed(ada, goodPassword, true)
				thief := s.browser().signIn(ada, goodPassword).isSignedInAs(ada)
				f.arm(n)
				err := act.do(ctx, ops, u.ID)
				hit := f.hit.Load()
				f.arm(0)
				if act.happened(s, u) && thief.who() != "" {
					t.Errorf("call %d: %s has happened, the thief is signed in, and the error is %v", n, name, err)
				}
				if !hit {
					s.done(err)
					if n < 4 {
						t.Errorf("only %d calls were tried", n)
					}
					return
				}
				if s.user(ada) == nil {
					continue
				}
				s.done(act.do(ctx, ops, u.ID))
				if name != "SetRoles" {
					thief.isSignedInAs("")
				} else if roles := s.state(u).Roles; len(roles) != 1 || roles[0] != "editor" {
					t.Errorf("call %d: done again, the roles are %q", n, roles)
				}
			}
		})
	}
}

// AT-7, AC-4, AC-30, AC-34: after a fault at any call of the store, a thief who knew the old
// password has no session beside the new password, and the owner can go on. A new password is
// told.
func TestAFaultDuringAChangeOfThePasswordKeepsNoThiefSignedIn(t *testing.T) {
	for name, change := range map[string]struct {
		begin  func(s *site) *browser
		finish func(b *browser)
	}{
		"reset": {
			func(s *site) *browser { return s.browser().get(s.resetLink("ada@example.com")).want(http.StatusOK) },
			func(b *browser) { b.post("/auth/account/reset", "password", newPassword) },
		},
		"change": {
			func(s *site) *browser {
				return s.browser().signIn("ada@example.com", goodPassword).get("/auth/account/password").want(http.StatusOK)
			},
			func(b *browser) {
				b.post("/auth/account/password", "current", goodPassword, "password", newPassword)
			},
		},
		"must change": {
			func(s *site) *browser {
				s.changeState("id-ada@example.com", func(state *accountstore.State) { state.Must = "password" })
				return s.browser().signIn("ada@example.com", goodPassword).isAt("/auth/account/must-change")
			},
			func(b *browser) { b.post("/auth/account/must-change", "password", newPassword) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			for n := 1; ; n++ {
				s, f := withFaults(t)
				s.seed("ada@example.com", goodPassword, true)
				thief := s.browser().signIn("ada@example.com", goodPassword).isSignedInAs("ada@example.com")
				b := change.begin(s).stay()
				f.arm(n)
				change.finish(b)
				hit := f.hit.Load()
				f.arm(0)
				state, err := s.rows.State(t.Context(), "id-ada@example.com")
				if err != nil {
					t.Fatal(err)
				}
				if s.passwordIs("ada@example.com", newPassword) && state.Must == "" && thief.who() != "" {
					t.Errorf("call %d: the password is new, and the thief is signed in", n)
				}
				told := s.count("ada@example.com", "password-changed") + s.count("ada@example.com", "password-reset")
				if isNew := s.passwordIs("ada@example.com", newPassword); isNew != (told == 1) {
					t.Errorf("call %d: the password is new: %t, and %d mails tell of it", n, isNew, told)
				}
				if hit && b.status == http.StatusOK {
					t.Errorf("call %d failed, and the answer has status %d", n, b.status)
				}
				owner := s.browser().get(s.resetLink("ada@example.com"))
				owner.post("/auth/account/reset", "password", "the last long password").isAt("/auth/signin")
				thief.isSignedInAs("")
				owner.signIn("ada@example.com", "the last long password").isSignedInAs("ada@example.com")
				if !hit {
					if n < 8 {
						t.Errorf("only %d calls were tried", n)
					}
					return
				}
			}
		})
	}
}

// AT-7, AC-34: after a fault at any call of the store, the user is told of what has changed.
func TestAFaultDuringAChangeOfTheWaysInHidesNoMail(t *testing.T) {
	for name, change := range map[string]struct {
		begin  func(s *site, u *pintle.User) (b *browser, fields []string)
		path   string
		mail   string
		fields []string
	}{
		"the password is removed": {func(s *site, u *pintle.User) (*browser, []string) {
			s.link(u, "github")
			return s.browser().signIn(ada, goodPassword).get("/auth/account/password"), nil
		}, "password", "password-removed", []string{"remove", "1"}},
		"the last app is removed": {func(s *site, u *pintle.User) (*browser, []string) {
			s.app(u)
			if _, err := s.accounts.GiveRecoveryCodes(t.Context(), u.ID); err != nil {
				t.Fatal(err)
			}
			return s.browser().startSession(u, 0, "pwd", "otp").get("/auth/account/factors"), []string{"id", s.factor(u, "totp").ID}
		}, "factor", "factor-removed", []string{"action", "remove", "kind", "totp"}},
		"the first app is added": {func(s *site, _ *pintle.User) (*browser, []string) {
			b := s.browser().signIn(ada, goodPassword).get("/auth/account/totp")
			key, a := b.key()
			return b.post("/auth/account/totp", "key", key, "code", a.code(t, 0)).isAt("/auth/account/recovery-codes"), nil
		}, "recovery-codes", "factor-added", []string{"saved", "1"}},
		"a further app is added": {func(s *site, u *pintle.User) (*browser, []string) {
			s.app(u)
			b := s.browser().startSession(u, 0, "pwd", "otp").get("/auth/account/totp")
			key, a := b.key()
			return b, []string{"key", key, "code", a.code(t, 0)}
		}, "totp", "factor-added", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n++ {
				f := &fault{}
				s := newSite(t, false, withGitHub, func(c *pintle.Config, _ *account.Options) { c.Store = faultyStore{c.Store, f} })
				u := s.seed(ada, goodPassword, true)
				b, fields := change.begin(s, u)
				apps, _ := s.apps(u)
				token := b.token()
				f.arm(n)
				b.stay().post("/auth/account/"+change.path, append(append(fields, change.fields...), "csrfToken", token)...)
				hit := f.hit.Load()
				f.arm(0)
				now, _ := s.apps(u)
				changed := now != apps || !s.passwordIs(ada, goodPassword)
				if told := s.count(ada, change.mail); changed != (told == 1) {
					t.Errorf("call %d: changed: %t, and %d mails tell of it", n, changed, told)
				}
				if !hit {
					if !changed || n < 8 {
						t.Errorf("after %d calls: changed: %t", n, changed)
					}
					return
				}
			}
		})
	}
}

// AT-7, AC-54
func TestAFaultDuringASignUpLeavesNoHalfOfAUser(t *testing.T) {
	for n := 1; ; n++ {
		s, f := withFaults(t)
		b := s.browser().signUp("ada@example.com").get(s.lastMail().URL).want(http.StatusOK)
		f.arm(n)
		b.post("/auth/account/sign-up-finish", "password", goodPassword)
		hit := f.hit.Load()
		f.arm(0)
		if u := s.user("ada@example.com"); u != nil && !s.passwordIs("ada@example.com", goodPassword) {
			t.Errorf("call %d: the user has no password", n)
		}
		if s.user("ada@example.com") == nil {
			again := s.browser().signUp("ada@example.com").get(s.lastMail().URL)
			again.post("/auth/account/sign-up-finish", "password", goodPassword).isSignedInAs("ada@example.com")
		}
		s.browser().signIn("ada@example.com", goodPassword).isSignedInAs("ada@example.com")
		if !hit {
			if n < 8 {
				t.Errorf("only %d calls were tried", n)
			}
			return
		}
	}
}
