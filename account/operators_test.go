package account_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/account"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/authtest"
)

const grace = "grace"

// operators are the acts of grace.
func (s *site) operators() (*account.Operators, context.Context) {
	return s.accounts.Operators(), account.WithOperator(s.t.Context(), grace)
}

// done fails the test if an act has failed.
func (s *site) done(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// acts are the recorded acts of operators as "kind outcome actor reason", in the order of the
// texts: those of one millisecond have no other.
func (s *site) acts() (acts []string) {
	s.t.Helper()
	events, _, err := s.rows.Activity(s.t.Context(), accountstore.ActivityQuery{Limit: 1000})
	s.done(err)
	for _, e := range events {
		if strings.HasPrefix(e.Kind, "op_") {
			acts = append(acts, strings.TrimSpace(fmt.Sprint(e.Kind, " ", e.Outcome, " ", e.Actor, " ", e.Detail["reason"])))
		}
	}
	slices.Sort(acts)
	return acts
}

// AT-100, AC-187
func TestABanEndsWhatTheUserHasAndUnbanRevivesNothing(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		ops, ctx := s.operators()
		s.guard(inside)
		u := s.seed(ada, goodPassword, true)
		link := s.resetLink(ada)
		session := s.browser().signIn(ada, goodPassword).isSignedInAs(ada)
		shared := s.browser().shareSession(u, tokens).isSignedInAs(ada)
		code := s.app(u)
		half := s.browser().signIn(ada, goodPassword).isAt("/auth/account/second-factor")
		device, _, err := s.accounts.GiveBrowser(t.Context(), u.ID)
		s.done(err)

		s.done(ops.Ban(ctx, u.ID, time.Time{}, "spam"))
		dead := func(when string) {
			t.Helper()
			for name, b := range map[string]*browser{"session": session, "shared session": shared} {
				if who := b.who(); who != "" {
					t.Errorf("%s the %s is of %q", when, name, who)
				}
				if b.script(http.MethodGet, inside, "").status == http.StatusOK {
					t.Errorf("%s the %s opens a page", when, name)
				}
			}
			if half.post("/auth/account/second-factor", "code", code()).who() != "" {
				t.Errorf("%s the sign-in that waited goes on", when)
			}
			s.browser().get(link).want(http.StatusGone)
			if rows, err := s.rows.Factors(t.Context(), u.ID); err != nil || slices.ContainsFunc(rows, func(f *accountstore.Factor) bool { return f.Kind == "device" }) {
				t.Errorf("%s a browser is remembered: %v (%s)", when, err, device)
			}
		}
		dead("after the ban")
		banned := s.browser().signIn(ada, goodPassword)
		if banned.who() != "" || banned.at.Query().Get("error") != "AccessDenied" {
			t.Errorf("a banned user is %q at %s", banned.who(), banned.at)
		}
		later := s.browser().shareSession(u, tokens)
		if later.who() != "" {
			t.Error("what Auth.js begins during the ban is a session")
		}
		if m := s.wantMail(ada, "is locked"); m.Kind != "banned" {
			t.Errorf("the mail is %q", m.Kind)
		}

		s.done(ops.Unban(ctx, u.ID))
		dead("after the unban")
		if later.who() != "" {
			t.Error("what Auth.js has begun during the ban is a session after it")
		}
		if tokens {
			time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
		}
		s.browser().signIn(ada, goodPassword).isAt("/auth/account/second-factor")
		s.wantMail(ada, "is open again")
		want := []string{"op_unban ok grace", "op_unban begun grace", "op_ban ok grace spam", "op_ban begun grace spam"}
		slices.Sort(want)
		if got := s.acts(); !slices.Equal(got, want) {
			t.Errorf("the acts are %q, want %q", got, want)
		}
	})
}

// AT-100: a user without a second factor, whose shared sessions nothing else asks about.
func TestUnbanEndsWhatAuthJSHasBegunMeanwhile(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		ops, ctx := s.operators()
		u := s.seed(ada, goodPassword, true)
		s.done(ops.Ban(ctx, u.ID, time.Time{}, ""))
		if tokens {
			time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
		}
		b := s.browser().shareSession(u, tokens).isSignedInAs("")
		s.done(ops.Unban(ctx, u.ID))
		b.isSignedInAs("")
	})
}

// AT-101, AC-31
func TestOfABanAndASignInAtTheSameMomentTheBanWins(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		ops, ctx := s.operators()
		for round := range 6 {
			email := fmt.Sprintf("user%d@example.com", round)
			u := s.seed(email, goodPassword, true)
			browsers := []*browser{s.browser(), s.browser(), s.browser()}
			for _, b := range browsers {
				b.get("/auth/signin")
			}
			var wait sync.WaitGroup
			for i, b := range browsers {
				wait.Go(func() {
					time.Sleep(time.Duration(i) * time.Millisecond)
					b.post("/auth/callback/credentials", "email", email, "password", goodPassword)
				})
			}
			wait.Go(func() { s.done(ops.Ban(ctx, u.ID, time.Time{}, "")) })
			wait.Wait()
			for _, b := range browsers {
				b.isSignedInAs("")
			}
			if tokens {
				continue
			}
			for session, err := range s.store.UserSessions(t.Context(), u.ID) {
				t.Errorf("round %d: the banned user has the session %v, %v", round, session, err)
			}
		}
	})
}

func TestABanEndsAtItsTime(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	ops, ctx := s.operators()
	u := s.seed(ada, goodPassword, true)
	s.done(ops.Ban(ctx, u.ID, time.Now().Add(time.Hour), "an hour"))
	s.browser().signIn(ada, goodPassword).isSignedInAs("")
	state := s.state(u)
	if d := time.Until(state.BannedUntil); d < 59*time.Minute || d > time.Hour || state.BanReason != "an hour" {
		t.Errorf("the ban ends in %s for %q", d, state.BanReason)
	}
	s.changeState(u.ID, func(s *accountstore.State) { s.BannedUntil = time.Now().Add(-time.Second) })
	s.browser().signIn(ada, goodPassword).isSignedInAs(ada)
}

// AC-182, AT-97
func TestAnActThatCannotBeRecordedDoesNotHappen(t *testing.T) {
	t.Parallel()
	var store *unrecorded
	s := newSite(t, false, func(c *pintle.Config, _ *account.Options) {
		store = &unrecorded{Store: c.Store}
		c.Store = store
	})
	ops, ctx := s.operators()
	u := s.seed(ada, goodPassword, true)
	s.done(ops.SetRoles(ctx, u.ID, []string{"editor"}))
	b := s.browser().signIn(ada, goodPassword).isSignedInAs(ada)
	unproven := s.seed("grace@example.com", "", false)
	link, err := ops.Invite(ctx, account.Invitation{Email: "invited@example.com"})
	s.done(err)
	s.changeState(u.ID, func(state *accountstore.State) { state.DeleteAt = time.Now().Add(time.Hour) })
	handle := ""
	for device, err := range ops.Devices(ctx, u.ID) {
		s.done(err)
		handle = device.Handle
	}
	before := *s.state(u)
	store.away = true
	for name, err := range map[string]error{
		"Ban":                   ops.Ban(ctx, u.ID, time.Time{}, ""),
		"Unban":                 ops.Unban(ctx, u.ID),
		"SignOut":               ops.SignOut(ctx, u.ID),
		"SetRoles":              ops.SetRoles(ctx, u.ID, nil),
		"RequirePasswordChange": ops.RequirePasswordChange(ctx, u.ID),
		"ResetSecondFactor":     ops.ResetSecondFactor(ctx, u.ID),
		"Delete":                ops.Delete(ctx, u.ID),
		"SendReset":             second(ops.SendReset(ctx, u.ID)),
		"SetTemporaryPassword":  second(ops.SetTemporaryPassword(ctx, u.ID)),
		"Create":                second(ops.Create(ctx, account.NewUser{Email: "new@example.com"})),
		"Invite":                second(ops.Invite(ctx, account.Invitation{Email: "new@example.com"})),
		"Keep":                  ops.Keep(ctx, u.ID),
		"PlanDeletion":          ops.PlanDeletion(ctx, u.ID, time.Now().Add(2*time.Hour)),
		"ProveAddress":          ops.ProveAddress(ctx, unproven.ID),
		"EndDevice":             ops.EndDevice(ctx, u.ID, handle),
		"RevokeInvitation":      ops.RevokeInvitation(ctx, "invited@example.com"),
		"RemovePasskeys":        ops.RemovePasskeys(ctx, u.ID),
		"RecordExport":          ops.RecordExport(ctx, u.ID, func() error { t.Error("an export that is not recorded"); return nil }),
		"RecordImport": ops.RecordImport(ctx, func() (account.ImportCounts, error) {
			t.Error("an import that is not recorded")
			return account.ImportCounts{}, nil
		}),
	} {
		if !errors.Is(err, errAway) {
			t.Errorf("%s returned %v", name, err)
		}
	}
	store.away = false
	b.isSignedInAs(ada)
	if after := *s.state(u); after.Version != before.Version {
		t.Errorf("the state has changed from %+v to %+v", before, after)
	}
	if !s.user("grace@example.com").EmailVerified.IsZero() {
		t.Error("an address is proven")
	}
	s.browser().get(link).want(http.StatusOK)
	if s.user("new@example.com") != nil || len(s.sent("new@example.com")) > 0 {
		t.Error("there is a new user, or a mail")
	}
}

func second[T any](_ T, err error) error { return err }

// An unrecorded store keeps no events while it is away.
type unrecorded struct {
	pintle.Store
	away bool
}

func (s *unrecorded) AccountStore() accountstore.Store {
	return &unrecordedRows{s.Store.AccountStore(), s}
}

type unrecordedRows struct {
	accountstore.Store
	of *unrecorded
}

func (r *unrecordedRows) Record(ctx context.Context, e *accountstore.Event) error {
	if r.of.away {
		return errAway
	}
	return r.Store.Record(ctx, e)
}

// AC-182, AC-187: the browser of an operator closes the connection during an act.
func TestAnActThatHasBegunGoesOnIfItsContextEnds(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		var store *impatient
		s := newSite(t, tokens, func(c *pintle.Config, _ *account.Options) {
			store = &impatient{Store: c.Store}
			c.Store = store
		})
		for _, at := range []string{"Record", "ChangeState"} {
			for name, act := range map[string]func(*account.Operators, context.Context, string) error{
				"ban": func(o *account.Operators, ctx context.Context, id string) error {
					return o.Ban(ctx, id, time.Time{}, "")
				},
				"roles":   func(o *account.Operators, ctx context.Context, id string) error { return o.SetRoles(ctx, id, nil) },
				"signout": func(o *account.Operators, ctx context.Context, id string) error { return o.SignOut(ctx, id) },
				"delete": func(o *account.Operators, ctx context.Context, id string) error {
					return o.Delete(ctx, id)
				},
				"plan": func(o *account.Operators, ctx context.Context, id string) error {
					return o.PlanDeletion(ctx, id, time.Now().Add(time.Hour))
				},
			} {
				ops, ctx := s.operators()
				email := name + strings.ToLower(at) + "@example.com"
				u := s.seed(email, goodPassword, true)
				s.done(ops.SetRoles(ctx, u.ID, []string{"support"}))
				if tokens {
					time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
				}
				b := s.browser().signIn(email, goodPassword).isSignedInAs(email)
				ctx, store.cancel = context.WithCancel(ctx)
				store.at = at
				err := act(ops, ctx, u.ID)
				store.at = ""
				store.cancel()
				if err != nil {
					t.Errorf("%s, ended at %s: %v", name, at, err)
				}
				if name == "roles" && !tokens {
					if roles := s.state(u).Roles; len(roles) > 0 {
						t.Errorf("%s, ended at %s: the roles are %q", name, at, roles)
					}
				} else if who := b.who(); who != "" {
					t.Errorf("%s, ended at %s: the browser is signed in as %q", name, at, who)
				}
			}
		}
		// One that has not begun does nothing.
		ops, ctx := s.operators()
		ctx, cancel := context.WithCancel(ctx)
		u := s.seed(ada, goodPassword, true)
		b := s.browser().signIn(ada, goodPassword)
		before := len(s.acts())
		cancel()
		if err := ops.Ban(ctx, u.ID, time.Time{}, ""); !errors.Is(err, context.Canceled) {
			t.Errorf("Ban returned %v", err)
		}
		if b.isSignedInAs(ada); len(s.acts()) != before {
			t.Errorf("the acts are %q", s.acts())
		}
	})
}

// An impatient store ends the context of its caller in a call.
type impatient struct {
	pintle.Store
	at     string // the method
	cancel context.CancelFunc
}

func (s *impatient) AccountStore() accountstore.Store {
	return &impatientRows{s.Store.AccountStore(), s}
}

func (s *impatient) in(method string) {
	if s.at == method {
		s.cancel()
	}
}

type impatientRows struct {
	accountstore.Store
	of *impatient
}

func (r *impatientRows) Record(ctx context.Context, e *accountstore.Event) error {
	r.of.in("Record")
	return r.Store.Record(ctx, e)
}

func (r *impatientRows) ChangeState(ctx context.Context, s *accountstore.State) error {
	err := r.Store.ChangeState(ctx, s)
	r.of.in("ChangeState")
	return err
}

// AC-185
func TestAnActWithoutAnOperatorIsOneOfTheSystem(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	u := s.seed(ada, goodPassword, true)
	s.done(s.accounts.Operators().SignOut(t.Context(), u.ID))
	s.done(s.accounts.Operators().ResetSecondFactor(t.Context(), u.ID))
	want := []string{"op_factor_reset ok system", "op_factor_reset begun system", "op_signed_out ok system", "op_signed_out begun system"}
	slices.Sort(want)
	if got := s.acts(); !slices.Equal(got, want) {
		t.Errorf("the acts are %q, want %q", got, want)
	}
	for _, id := range []string{"", "a\x00b", "\xff", strings.Repeat("x", 256)} {
		if err := s.accounts.Operators().SignOut(account.WithOperator(t.Context(), id), u.ID); err == nil {
			t.Errorf("an act of the operator %q was done", id)
		}
	}
}

// AC-186
func TestArgumentsThatAreNotPossibleChangeNothing(t *testing.T) {
	t.Parallel()
	var flaky *flakyStore
	s := newSite(t, false, func(c *pintle.Config, _ *account.Options) {
		flaky = &flakyStore{Store: c.Store}
		c.Store = flaky
	})
	ops, ctx := s.operators()
	u := s.seed(ada, goodPassword, true)
	unproven := s.seed("bob@example.com", goodPassword, false)
	bare, err := s.store.CreateUser(t.Context(), &pintle.User{Name: "no address"})
	s.done(err)
	many := make([]string, 33)
	for i := range many {
		many[i] = fmt.Sprint("role", i)
	}
	for name, c := range map[string]struct {
		err  error
		says string
	}{
		"a ban until the past":      {ops.Ban(ctx, u.ID, time.Now().Add(-time.Second), ""), "has passed"},
		"a long reason":             {ops.Ban(ctx, u.ID, time.Time{}, strings.Repeat("x", 501)), "reason"},
		"a role in capital letters": {ops.SetRoles(ctx, u.ID, []string{"Admin"}), `"Admin" is no role`},
		"a role with a comma":       {ops.SetRoles(ctx, u.ID, []string{"admin,user"}), "is no role"},
		"an empty role":             {ops.SetRoles(ctx, u.ID, []string{""}), "is no role"},
		"a long role":               {ops.SetRoles(ctx, u.ID, []string{strings.Repeat("x", 65)}), "is no role"},
		"33 roles":                  {ops.SetRoles(ctx, u.ID, many), "too many"},
		"a deletion in the past":    {ops.PlanDeletion(ctx, u.ID, time.Now().Add(-time.Second)), "has passed"},
		"a reset without proof":     {second(ops.SendReset(ctx, unproven.ID)), "not proven"},
		"no address to sign in":     {second(ops.SetTemporaryPassword(ctx, bare.ID)), "no address"},
		"no address to prove":       {ops.ProveAddress(ctx, bare.ID), "no address"},
		"a long name":               {second(ops.Create(ctx, account.NewUser{Email: "new@example.com", Name: strings.Repeat("x", 101)})), "name"},
		"a name that is not UTF-8":  {second(ops.Create(ctx, account.NewUser{Email: "new@example.com", Name: "\xff"})), "name"},
		"a long address":            {second(ops.Create(ctx, account.NewUser{Email: strings.Repeat("x", 60) + "@" + strings.Repeat("x.", 100) + "example"})), "254 bytes"},
		"two addresses":             {second(ops.Create(ctx, account.NewUser{Email: "a@example.com,b@example.com"})), "address"},
		"an invited role":           {second(ops.Invite(ctx, account.Invitation{Email: "new@example.com", Roles: []string{"A"}})), "is no role"},
		"an invited name":           {second(ops.Invite(ctx, account.Invitation{Email: "new@example.com", Name: "a\nb"})), "one line"},
		"an invited user":           {second(ops.Invite(ctx, account.Invitation{Email: ada})), "already exists"},
		"a taken address":           {second(ops.Create(ctx, account.NewUser{Email: "BOB@example.com"})), "already exists"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	devices := func(userID string) error {
		for _, err := range ops.Devices(ctx, userID) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	withoutQuery := func(userID string) error {
		flaky.fail("Users")
		defer flaky.fail("")
		return second(ops.User(ctx, userID))
	}
	for name, err := range map[string]error{
		"Ban": ops.Ban(ctx, "gone", time.Time{}, ""), "Unban": ops.Unban(ctx, "gone"), "SignOut": ops.SignOut(ctx, "gone"),
		"SetRoles": ops.SetRoles(ctx, "gone", []string{"a"}), "Delete": ops.Delete(ctx, "gone"), "Keep": ops.Keep(ctx, "gone"),
		"ProveAddress": ops.ProveAddress(ctx, "gone"), "EndDevice": ops.EndDevice(ctx, "gone", "x"),
		"RequirePasswordChange": ops.RequirePasswordChange(ctx, "gone"), "ResetSecondFactor": ops.ResetSecondFactor(ctx, "gone"),
		"RevokeInvitation": ops.RevokeInvitation(ctx, "none@example.com"), "User": second(ops.User(ctx, "gone")), "User with no id": withoutQuery(""),
		"Devices": devices("gone"), "Devices with no id": devices(""),
	} {
		if !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("%s of a user who is gone: %v", name, err)
		}
	}
	if acts := s.acts(); !slices.Equal(acts, []string{"op_created begun grace", "op_created failed grace"}) {
		t.Errorf("the acts are %q", acts) // that of the taken address, which only the store decides
	}
	if state := s.state(u); state.Version != 0 {
		t.Errorf("the state is %+v", state)
	}
}

// AC-59, SH-22
func TestAnInvitedUserChoosesThePasswordAndHasTheRoles(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, func(_ *pintle.Config, o *account.Options) { o.SignUp.Closed = true })
		ops, ctx := s.operators()
		first, err := ops.Invite(ctx, account.Invitation{Email: "New@Example.com", Name: "Nora", Roles: []string{"editor", "admin", "editor"}})
		s.done(err)
		if m := s.wantMail("new@example.com", "invitation"); m.URL != first || m.Kind != "invitation" {
			t.Errorf("the mail has %q, want %q", m.URL, first)
		}
		link, err := ops.Invite(ctx, account.Invitation{Email: "new@example.com", Name: "Nora", Roles: []string{"editor", "admin"}})
		s.done(err)
		s.browser().get(first).want(http.StatusGone)

		s.browser().get(link).want(http.StatusOK) // a program that opens links
		b := s.browser().get(link).isAt("/auth/account/sign-up-finish").says("new@example.com")
		b.post("/auth/account/sign-up-finish", "password", goodPassword, "email", "other@example.com", "roles", "root").isSignedInAs("new@example.com")
		u := s.user("new@example.com")
		if u == nil || u.Name != "Nora" || u.EmailVerified.IsZero() {
			t.Fatalf("the user is %+v", u)
		}
		if roles := s.state(u).Roles; !slices.Equal(roles, []string{"admin", "editor"}) {
			t.Errorf("the roles are %q", roles)
		}
		if s.user("other@example.com") != nil {
			t.Error("the invitation was for another address")
		}
		s.browser().get(link).want(http.StatusGone)
	})
}

func TestARevokedInvitationIsOver(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	ops, ctx := s.operators()
	link, err := ops.Invite(ctx, account.Invitation{Email: "new@example.com"})
	s.done(err)
	open := s.browser().get(link).want(http.StatusOK)
	s.done(ops.RevokeInvitation(ctx, "NEW@example.com"))
	s.browser().get(link).want(http.StatusGone)
	open.post("/auth/account/sign-up-finish", "password", goodPassword).want(http.StatusGone)
	if s.user("new@example.com") != nil {
		t.Error("there is a user")
	}
	// Sign-ups that any client begins do not use up invitations.
	for range 6 {
		s.browser().signUp("new@example.com")
	}
	again, err := ops.Invite(ctx, account.Invitation{Email: "new@example.com"})
	s.done(err)
	s.browser().get(again).post("/auth/account/sign-up-finish", "password", goodPassword).isSignedInAs("new@example.com")
}

// An operator takes an invitation back, or sends another one in its place, also if the first secret
// has changed since.
func TestAnInvitationUnderAFormerSecretIsFound(t *testing.T) {
	t.Parallel()
	before := newSite(t, false, withSecrets(nil, beforeSecret))
	ops, ctx := before.operators()
	invite := func(s *site) string {
		link, err := ops.Invite(ctx, account.Invitation{Email: "new@example.com"})
		s.done(err)
		parsed, err := url.Parse(link)
		s.done(err)
		return parsed.RequestURI()
	}
	first := invite(before)
	after := newSite(t, false, withSecrets(before.store, afterSecret, beforeSecret))
	after.browser().get(first).want(http.StatusOK)
	ops, ctx = after.operators()
	s := after
	s.done(ops.RevokeInvitation(ctx, "new@example.com"))
	s.browser().get(first).want(http.StatusGone)

	ops, ctx = before.operators()
	second := invite(before)
	ops, ctx = after.operators()
	third := invite(after)
	s.browser().get(second).want(http.StatusGone)
	s.browser().get(third).post("/auth/account/sign-up-finish", "password", goodPassword).isSignedInAs("new@example.com")
}

// AT-140, AC-193: an operator who may no longer give roles gives none by an invitation of before.
func TestAnOperatorWithoutTheRoleGivesNoRolesByAnInvitation(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		lose  func(ops *account.Operators, ctx context.Context, id string) error
		roles []string
		over  bool
	}{
		"the role is taken away": {func(ops *account.Operators, ctx context.Context, id string) error {
			return ops.SetRoles(ctx, id, []string{"support"})
		}, []string{"editor"}, true},
		"a ban": {func(ops *account.Operators, ctx context.Context, id string) error {
			return ops.Ban(ctx, id, time.Time{}, "")
		}, []string{"editor"}, true},
		"a deletion that is planned": {func(ops *account.Operators, ctx context.Context, id string) error {
			return ops.PlanDeletion(ctx, id, time.Now().Add(time.Hour))
		}, []string{"editor"}, true},
		"a deletion": {func(ops *account.Operators, ctx context.Context, id string) error {
			return ops.Delete(ctx, id)
		}, []string{"editor"}, true},
		"another role is given": {func(ops *account.Operators, ctx context.Context, id string) error {
			return ops.SetRoles(ctx, id, []string{"admin", "editor", "support"})
		}, []string{"editor"}, false},
		"an invitation without roles": {func(ops *account.Operators, ctx context.Context, id string) error {
			return ops.SetRoles(ctx, id, nil)
		}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, false)
			ops, ctx := s.operators()
			u := s.seed(ada, goodPassword, true)
			s.done(ops.SetRoles(ctx, u.ID, []string{"admin", "support"}))
			link, err := ops.Invite(account.WithOperator(ctx, u.ID), account.Invitation{Email: "new@example.com", Roles: tt.roles})
			s.done(err)
			b := s.browser().get(link).want(http.StatusOK)
			s.done(tt.lose(ops, ctx, u.ID))
			b.post("/auth/account/sign-up-finish", "password", goodPassword)
			if tt.over {
				b.want(http.StatusGone)
				if s.user("new@example.com") != nil {
					t.Error("there is a user")
				}
				return
			}
			b.isSignedInAs("new@example.com")
			if roles := s.state(s.user("new@example.com")).Roles; !slices.Equal(roles, tt.roles) {
				t.Errorf("the roles are %q, want %q", roles, tt.roles)
			}
		})
	}
}

// AC-195: there is no account before a program makes one, and the program needs none to make the
// first operator.
func TestTheFirstOperatorIsMadeByAProgram(t *testing.T) {
	t.Parallel()
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) { o.SignUp.Closed = true })
	s.browser().get("/auth/signin")
	ops := s.accounts.Operators()
	users, _, err := ops.Users(t.Context(), accountstore.UserQuery{Limit: 10})
	if s.done(err); len(users) != 0 {
		t.Fatalf("a new store has %d users", len(users))
	}
	u, err := ops.Create(t.Context(), account.NewUser{Email: "grace@example.com", Roles: []string{"operator"}})
	s.done(err)
	s.browser().signIn("grace@example.com", "").isSignedInAs("")
	s.done(ops.ProveAddress(t.Context(), u.ID))
	link, err := ops.SendReset(t.Context(), u.ID)
	s.done(err)
	b := s.browser().get(link).post("/auth/account/reset", "password", goodPassword)
	b.signIn("grace@example.com", goodPassword).isSignedInAs("grace@example.com")
	if roles := s.state(u).Roles; !slices.Equal(roles, []string{"operator"}) {
		t.Errorf("the roles are %q", roles)
	}
}

// AC-193, AC-194, AT-107
func TestRolesAreOfOperatorsAndEndWithTheTokens(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens, func(c *pintle.Config, o *account.Options) {
			o.SignUp.Fields = []pintle.Field{{Name: "name", Label: "Name"}}
			c.Callbacks.JWT = func(_ context.Context, change *pintle.TokenChange) (pintle.Claims, error) {
				claims := pintle.Claims{}
				maps.Copy(claims, change.Claims)
				claims["roles"] = []any{"admin"} // what a client sent, perhaps
				return claims, nil
			}
		})
		ops, ctx := s.operators()
		s.mux.Handle(inside, s.accounts.RequireRole(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			roles, err := s.accounts.Roles(r.Context(), pintle.SessionFrom(r.Context()))
			_, _ = fmt.Fprint(w, roles, err)
		}), "admin", "support"))
		b := s.browser().signUp(ada, "roles", "admin", "role", "admin")
		b.post("/auth/account/sign-up-sent", "code", s.code()).
			post("/auth/account/sign-up-finish", "password", goodPassword, "name", "Ada", "roles", "admin").isSignedInAs(ada)
		forged := []string{"roles", "admin", "must", "", "bannedUntil", "0", "deleteAt", "1", "version", "7", "suspended", "1", "claim", "x@example.com"}
		b.post("/auth/account/profile", append(forged, "name", "Ada L")...)
		b.post("/auth/account/password", append(forged, "current", goodPassword, "password", newPassword)...)
		b.post("/auth/account/password", "current", newPassword, "password", goodPassword).isSignedInAs(ada)
		b.postJSON("/auth/session", map[string]any{"data": map[string]any{"roles": []string{"admin"}, "user": map[string]any{"roles": []string{"admin"}}}})
		if b.get(inside).status != http.StatusForbidden {
			t.Errorf("a user without roles gets %d: %s", b.status, b.page)
		}
		if !strings.Contains(b.page, "Not for this account") || strings.Contains(b.page, "/auth/signin") {
			t.Errorf("a user who is signed in is sent to sign in: %s", b.page)
		}
		if s.browser().script(http.MethodGet, inside, "").status != http.StatusUnauthorized {
			t.Error("a request without a session passes")
		}
		u := s.user(ada)
		if state := s.state(u); len(state.Roles) > 0 || state.Suspended || !state.DeleteAt.IsZero() || state.Claim != "" || state.Must != "" {
			t.Fatalf("the state is %+v", state)
		}

		s.done(ops.SetRoles(ctx, u.ID, []string{"support", "admin-of-nothing"}))
		if !tokens && b.get(inside).want(http.StatusOK).page != "[admin-of-nothing support] <nil>" {
			t.Errorf("the roles are %s", b.page)
		}
		other := s.browser().signIn(ada, goodPassword).isSignedInAs(ada)
		other.get(inside).want(http.StatusOK)
		if other.page != "[admin-of-nothing support] <nil>" {
			t.Errorf("the roles are %s", other.page)
		}
		s.done(ops.SetRoles(ctx, u.ID, []string{"support", "admin-of-nothing", "more"}))
		other.isSignedInAs(ada)
		s.done(ops.SetRoles(ctx, u.ID, []string{"admin-of-nothing"}))
		if tokens {
			other.isSignedInAs("")
		} else {
			other.isSignedInAs(ada).get(inside).want(http.StatusForbidden)
		}
	})
}

// AC-193: a token that is renewed has the roles that the user has by then.
func TestATokenThatIsRenewedHasTheNewRole(t *testing.T) {
	t.Parallel()
	s := newSite(t, true, func(c *pintle.Config, _ *account.Options) { c.Session.UpdateAge = time.Nanosecond })
	ops, ctx := s.operators()
	s.mux.Handle(inside, s.accounts.RequireRole(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), "admin"))
	u := s.seed(ada, goodPassword, true)
	b := s.browser().signIn(ada, goodPassword).isSignedInAs(ada)
	b.get(inside).want(http.StatusForbidden)
	s.done(ops.SetRoles(ctx, u.ID, []string{"admin"}))
	before := b.sessionCookie()
	b.get("/auth/session").want(http.StatusOK)
	if b.sessionCookie() == before {
		t.Fatal("the token was not renewed")
	}
	b.get(inside).want(http.StatusOK)
	b.isSignedInAs(ada)
}

// AT-106: a role is compared as a whole.
func TestARoleIsNoPartOfAnother(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	ops, ctx := s.operators()
	s.mux.Handle(inside, s.accounts.RequireRole(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), "admin"))
	u := s.seed(ada, goodPassword, true)
	b := s.browser().signIn(ada, goodPassword)
	for roles, status := range map[string]int{
		"admins": http.StatusForbidden, "adm user": http.StatusForbidden, "user:admin": http.StatusForbidden, "user admin": http.StatusOK,
	} {
		s.done(ops.SetRoles(ctx, u.ID, strings.Fields(roles)))
		if got := b.get(inside).status; got != status {
			t.Errorf("with the roles %q the page is answered with %d", roles, got)
		}
	}
	for _, roles := range [][]string{nil, {""}, {"admin,user"}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("RequireRole takes %q", roles)
				}
			}()
			s.accounts.RequireRole(http.NotFoundHandler(), roles...)
		}()
	}
}

func TestOperatorsListUsersPageByPage(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	ops, ctx := s.operators()
	for i := range 7 {
		s.seed(fmt.Sprintf("user%d@example.com", i), "", i%2 == 0)
	}
	q := accountstore.UserQuery{EmailPrefix: "USER", Unproved: new(false), Limit: 3}
	page, next, err := ops.Users(ctx, q)
	s.done(err)
	if len(page) != 3 || next == "" || strings.Contains(next, "user") {
		t.Fatalf("the page has %d users, and goes on with %q", len(page), next)
	}
	rest := q
	rest.After = next
	last, end, err := ops.Users(ctx, rest)
	s.done(err)
	if len(last) != 1 || end != "" || slices.ContainsFunc(page, func(u *accountstore.User) bool { return u.ID == last[0].ID }) {
		t.Errorf("the last page has %d users, and goes on with %q", len(last), end)
	}
	// AC-184: the text is that of the query, and of no other.
	for name, other := range map[string]accountstore.UserQuery{
		"another query": {EmailPrefix: "user", After: next}, "no text of the list": {EmailPrefix: "USER", Unproved: new(false), After: "bmV4dA"},
		"a part": {EmailPrefix: "USER", Unproved: new(false), After: next[:len(next)-4]},
	} {
		if page, _, err := ops.Users(ctx, other); !errors.Is(err, account.ErrCursor) {
			t.Errorf("%s continues the list with %d users", name, len(page))
		}
	}
	for limit, want := range map[int]int{0: 7, 500: 7, 200: 7, 2: 2} {
		page, _, err := ops.Users(ctx, accountstore.UserQuery{Limit: limit})
		s.done(err)
		if len(page) != want {
			t.Errorf("with the limit %d the page has %d users", limit, len(page))
		}
	}
	one, err := ops.User(ctx, "id-user3@example.com")
	if err != nil || one.Email != "user3@example.com" {
		t.Errorf("the user is %v, %v", one, err)
	}
}

func TestAPageHasAtMost200Users(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	ops, ctx := s.operators()
	for i := range 201 {
		s.seed(fmt.Sprintf("user%d@example.com", i), "", true)
	}
	for limit, want := range map[int]int{0: 50, 1000: 200} {
		page, next, err := ops.Users(ctx, accountstore.UserQuery{Limit: limit})
		if err != nil || len(page) != want || next == "" {
			t.Errorf("with the limit %d the page has %d users, %v", limit, len(page), err)
		}
	}
}

func TestAnOperatorMakesAUserAndProvesTheAddress(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		var told []string
		s := newSite(t, tokens, func(c *pintle.Config, _ *account.Options) {
			c.Events.CreateUser = func(_ context.Context, u *pintle.User) error {
				told = append(told, u.Email)
				return nil
			}
		})
		ops, ctx := s.operators()
		u, err := ops.Create(ctx, account.NewUser{Name: "Ada", Email: "ADA@example.com", Roles: []string{"editor"}})
		s.done(err)
		if u.Email != ada || !u.EmailVerified.IsZero() || !slices.Equal(s.state(u).Roles, []string{"editor"}) || !slices.Equal(told, []string{ada}) {
			t.Errorf("the user is %+v with %+v; the application was told of %v", u, s.state(u), told)
		}
		given, err := ops.Create(ctx, account.NewUser{ID: "given", Email: "grace@example.com", Image: "/grace.png", Extra: map[string]any{"team": "blue"}})
		if s.done(err); given.ID != "given" || given.Image != "/grace.png" || given.Extra["team"] != "blue" {
			t.Errorf("the user is %+v", given)
		}
		s.browser().signIn(ada, goodPassword).isSignedInAs("")
		if s.done(ops.ProveAddress(ctx, u.ID)); s.user(ada).EmailVerified.IsZero() {
			t.Error("the address is not proven")
		}
		s.done(ops.ProveAddress(ctx, u.ID))
		link, err := ops.SendReset(ctx, u.ID)
		s.done(err)
		if m := s.wantMail(ada, "A new password"); m.URL != link {
			t.Errorf("the mail has %q, want %q", m.URL, link)
		}
		s.browser().get(link).post("/auth/account/reset", "password", goodPassword).isAt("/auth/signin").signIn(ada, goodPassword).isSignedInAs(ada)
	})
}

// AC-61, AT-11: the account may be that of another person, who has entered the address.
func TestAnOperatorWhoProvesAnAddressEvictsWhatWasThereBefore(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		for name, configured := range map[string]bool{"the application": true, "a program without its providers": false} {
			t.Run(name, func(t *testing.T) {
				var changes []func(*pintle.Config, *account.Options)
				var asked []string
				if configured {
					idp, provider := acme(t)
					idp.SignInAs(authtest.Person{Subject: "eve", Email: ada})
					changes = append(changes, provider, withPasskeys(&echo{verifies: true}), func(c *pintle.Config, _ *account.Options) {
						c.Callbacks.ProveAddress = func(_ context.Context, p *pintle.PendingSignIn) error {
							asked = append(asked, p.User.Email)
							return nil
						}
					})
				}
				s := newSite(t, tokens, changes...)
				ops, ctx := s.operators()
				u := s.seed(ada, goodPassword, false)
				thief := s.browser().startSession(u, time.Minute, "fed").isSignedInAs(ada)
				s.trojans(u)
				id := s.passkey(u)
				s.done(s.store.LinkAccount(t.Context(), &pintle.Account{UserID: u.ID, Type: pintle.TypeOIDC, Provider: "acme", ProviderAccountID: "eve"}))

				s.done(ops.ProveAddress(ctx, u.ID))
				if s.user(ada).EmailVerified.IsZero() {
					t.Error("the address is not proven")
				}
				if configured && !slices.Equal(asked, []string{ada}) {
					t.Errorf("the application was asked to remove what it has of %q", asked)
				}
				thief.isSignedInAs("")
				if kinds := s.storedKinds(u); kinds != "" {
					t.Errorf("the user has %q", kinds)
				}
				if accounts, err := s.store.UserAccounts(t.Context(), u.ID); err != nil || len(accounts) > 0 {
					t.Errorf("the user has %d accounts, %v", len(accounts), err)
				}
				if keys, err := s.store.UserPasskeys(t.Context(), u.ID); err != nil || len(keys) > 0 {
					t.Errorf("the user has %d passkeys, %v", len(keys), err)
				}
				if tokens {
					time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
				}
				s.browser().signIn(ada, goodPassword).isSignedInAs("")
				if configured {
					s.browser().get("/auth/signin").post("/auth/signin/acme").isSignedInAs("")
					b := s.browser().get("/auth/signin")
					data, _ := b.answer(id, "/auth/webauthn-options/passkey?action=authenticate")
					b.post("/auth/callback/passkey", "action", "authenticate", "data", data).isSignedInAs("")
				}
			})
		}
	})
}

// AC-61, AT-7: what could not be removed leaves the address unproven.
func TestAnOperatorDoesNotProveAnAddressIfTheEvictionFails(t *testing.T) {
	t.Parallel()
	f := &fault{}
	s := newSite(t, false, func(c *pintle.Config, _ *account.Options) { c.Store = faultyStore{c.Store, f} })
	ops, ctx := s.operators()
	u := s.seed(ada, goodPassword, false)
	for call := 1; ; call++ {
		f.arm(call)
		err := ops.ProveAddress(ctx, u.ID)
		reached := f.hit.Load()
		f.arm(0)
		if !reached {
			s.done(err)
			break
		}
		kinds := s.storedKinds(u)
		if proven := !s.user(ada).EmailVerified.IsZero(); proven && kinds != "" {
			t.Errorf("call %d failed: the address is proven, and the user has %q", call, kinds)
		} else if proven {
			break // the rest ends sessions once more
		}
	}
	if kinds := s.storedKinds(u); kinds != "" {
		t.Errorf("the user has %q", kinds)
	}
}

func TestAnOperatorEndsSessions(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		ops, ctx := s.operators()
		u := s.seed(ada, goodPassword, true)
		first, second := s.browser().signIn(ada, goodPassword).isSignedInAs(ada), s.browser().signIn(ada, goodPassword).isSignedInAs(ada)
		var handles []string
		for device, err := range ops.Devices(ctx, u.ID) {
			s.done(err)
			handles = append(handles, device.Handle)
		}
		if want := map[bool]int{false: 2, true: 0}[tokens]; len(handles) != want {
			t.Fatalf("the user has the devices %q", handles)
		}
		if err := ops.EndDevice(ctx, u.ID, "none"); !errors.Is(err, pintle.ErrNotFound) {
			t.Errorf("EndDevice without a device: %v", err)
		}
		if !tokens {
			s.done(ops.EndDevice(ctx, u.ID, handles[0]))
			if first.who()+second.who() != ada {
				t.Errorf("the browsers are signed in as %q and %q", first.who(), second.who())
			}
		}
		s.done(ops.SignOut(ctx, u.ID))
		first.isSignedInAs("")
		second.isSignedInAs("")
		s.wantMail(ada, "signed out")
		if tokens {
			time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
		}
		s.done(ops.RequirePasswordChange(ctx, u.ID))
		if tokens {
			time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
		}
		s.browser().signIn(ada, goodPassword).isAt(mustChange).isSignedInAs("")
	})
}

// AC-92, AC-186
func TestAnOperatorDeletesAndKeepsUsers(t *testing.T) {
	inBothKinds(t, func(t *testing.T, tokens bool) {
		s := newSite(t, tokens)
		ops, ctx := s.operators()
		u := s.seed(ada, goodPassword, true)
		b := s.browser().signIn(ada, goodPassword).isSignedInAs(ada)
		s.done(ops.PlanDeletion(ctx, u.ID, time.Now().Add(time.Hour)))
		b.isSignedInAs("")
		s.wantMail(ada, "will be deleted")
		s.done(ops.Keep(ctx, u.ID))
		s.done(ops.Keep(ctx, u.ID))
		if state := s.state(u); !state.DeleteAt.IsZero() {
			t.Errorf("the user is to be deleted at %s", state.DeleteAt)
		}
		s.done(ops.Delete(ctx, u.ID))
		if s.user(ada) != nil {
			t.Error("the user is there")
		}
		want := []string{
			"op_deleted ok grace", "op_deleted begun grace", "op_kept ok grace", "op_kept begun grace", "op_deleted ok grace", "op_deleted begun grace",
		}
		slices.Sort(want)
		if got := s.acts(); !slices.Equal(got, want) {
			t.Errorf("the acts are %q, want %q", got, want)
		}
		events, _, err := s.rows.Activity(t.Context(), accountstore.ActivityQuery{Limit: 100})
		s.done(err)
		for _, e := range events {
			if e.UserID == u.ID {
				t.Errorf("the event %q has the id of the user who is gone", e.Kind)
			}
			if e.Actor != "" && e.Subject == (accountstore.Hash{}) {
				t.Errorf("the act %q does not say of whom", e.Kind)
			}
		}
	})
}

// AC-186: what the application had of the user may be gone.
func TestADeletionThatHasBegunCannotBeTakenBack(t *testing.T) {
	t.Parallel()
	away := true
	s := newSite(t, false, func(_ *pintle.Config, o *account.Options) {
		o.Deletion.Delete = func(context.Context, *pintle.User) error {
			if away {
				return errAway
			}
			return nil
		}
	})
	ops, ctx := s.operators()
	u := s.seed(ada, goodPassword, true)
	if err := ops.Delete(ctx, u.ID); !errors.Is(err, errAway) {
		t.Fatalf("Delete returned %v", err)
	}
	for _, err := range []error{ops.Unban(ctx, u.ID), ops.Ban(ctx, u.ID, time.Time{}, "spam"), ops.Keep(ctx, u.ID)} {
		if !errors.Is(err, pintle.ErrConflict) {
			t.Errorf("Unban, Ban or Keep returned %v", err)
		}
	}
	if n := s.count(ada, "deletion-kept"); n > 0 {
		t.Errorf("%d mails say that the account is kept", n)
	}
	away = false
	if n, err := s.accounts.DeleteDue(t.Context()); n != 1 || err != nil || s.user(ada) != nil {
		t.Errorf("DeleteDue deleted %d users, %v", n, err)
	}
	// A user whom an operator has banned can be kept.
	banned := s.seed("bob@example.com", goodPassword, true)
	s.done(ops.Ban(ctx, banned.ID, time.Time{}, "spam"))
	s.done(ops.PlanDeletion(ctx, banned.ID, time.Now().Add(time.Hour)))
	s.done(ops.Keep(ctx, banned.ID))
	if !s.state(banned).DeleteAt.IsZero() {
		t.Error("the user is to be deleted")
	}
}

// AC-182: the user of an address that is not proven may be another person than its owner.
func TestAUserDoesNotSeeEventsOfAnAddressThatIsNotProven(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	ops, ctx := s.operators()
	eve, owner := s.seed("boss@example.com", "", false), s.seed(ada, goodPassword, true)
	_, err := ops.Invite(ctx, account.Invitation{Email: "boss@example.com", Roles: []string{"support"}})
	s.done(err)
	s.done(ops.RevokeInvitation(ctx, "boss@example.com"))
	s.browser().signIn("boss@example.com", "not the password").isSignedInAs("")
	s.browser().signIn(ada, "not the password").isSignedInAs("")
	for _, e := range s.everything(accountstore.ActivityQuery{UserID: eve.ID}) {
		t.Errorf("the user without proof sees %q", e.Kind)
	}
	if events := s.everything(accountstore.ActivityQuery{UserID: owner.ID}); len(events) != 1 || events[0].Kind != "sign_in_failed" {
		t.Errorf("the user with proof sees %v", events)
	}
	found := map[string]accountstore.Hash{}
	for _, e := range s.everything(accountstore.ActivityQuery{}) {
		if e.UserID == "" {
			found[e.Kind+" "+e.Outcome] = e.Subject
		}
	}
	for _, kind := range []string{"op_invited begun", "op_invited ok", "op_invitation_revoked begun", "op_invitation_revoked ok"} {
		if found[kind] == (accountstore.Hash{}) || found[kind] != found["sign_in_failed failed"] {
			t.Errorf("the event %q does not have the hash of the address: %x", kind, found[kind])
		}
	}
}

func TestOperatorsNeedAConfiguration(t *testing.T) {
	t.Parallel()
	ops := account.New(account.Options{}).Operators()
	for name, err := range map[string]error{
		"Ban": ops.Ban(t.Context(), "x", time.Time{}, ""), "Users": func() error { _, _, err := ops.Users(t.Context(), accountstore.UserQuery{}); return err }(),
		"Create": second(ops.Create(t.Context(), account.NewUser{})), "Invite": second(ops.Invite(t.Context(), account.Invitation{})),
		"User": second(ops.User(t.Context(), "x")), "RevokeInvitation": ops.RevokeInvitation(t.Context(), "x"),
		"RecordImport": ops.RecordImport(t.Context(), nil), "RecordExport": ops.RecordExport(t.Context(), "x", nil),
	} {
		if err == nil || !strings.Contains(err.Error(), name+" was called before pintle.New") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, err := range ops.Devices(t.Context(), "x") {
		if err == nil {
			t.Error("Devices yields a device")
		}
	}
}
