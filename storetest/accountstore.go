package storetest

import (
	"crypto/rand"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle/accountstore"
)

// accountStoreChecks are those of the rows that package account keeps. A store without
// an [accountstore.Store] skips them.
var accountStoreChecks = slices.Concat(stateChecks, failureChecks, factorChecks, flowChecks, accountListChecks, accountUserChecks, activityChecks, accountRowChecks, accountRowTransactionChecks)

// rows skips a check of an [accountstore.Store] if the store has none.
func (t *tester) rows() accountstore.Store {
	t.Helper()
	rows := t.store.AccountStore()
	if rows == nil {
		t.Skipf("%T has no AccountStore", t.store)
	}
	return rows
}

// hash returns an unused hash.
func hash() (h accountstore.Hash) {
	_, _ = rand.Read(h[:]) // it never fails
	return h
}

// kinds of flows and factors that the checks use, in the order of their bytes.
const (
	device, password, recovery, totp = "device", "password", "recovery", "totp"

	reset, signUp = "reset", "signup"
)

// newState has a value in every field.
func newState(userID string) *accountstore.State {
	return &accountstore.State{
		UserID:      userID,
		Roles:       []string{"editor", "a,b", `"quoted"`, "Zoë 🔑", "editor", " space "},
		BannedUntil: now().Add(24*time.Hour + 123*time.Millisecond),
		BanReason:   "spam, and \"worse\"\nthan that: 'ß'",
		DeleteAt:    now().Add(7*24*time.Hour + 999*time.Millisecond),
		Must:        "password",
		Claim:       "Ada.Lovelace+claim@example.org",
		Suspended:   true,
		Created:     now().Add(-time.Hour + time.Millisecond),
		LastSignIn:  now().Add(-time.Minute + 100*time.Millisecond),
	}
}

// newFactor has a value in every field.
func newFactor(userID, kind string) *accountstore.Factor {
	return &accountstore.Factor{
		UserID:   userID,
		Kind:     kind,
		ID:       unique(),
		Secret:   "$argon2id$v=19$m=19456,t=2,p=1$" + unique(),
		Step:     57_000_000,
		Name:     "Zoë's 🔑",
		Created:  now().Add(123 * time.Millisecond),
		LastUsed: now().Add(time.Minute + 7*time.Millisecond),
		Expires:  now().Add(30*24*time.Hour + 999*time.Millisecond),
	}
}

// newFlow has a value in every field.
func newFlow(subject, kind string) *accountstore.Flow {
	return &accountstore.Flow{
		ID:      hash(),
		Kind:    kind,
		Subject: subject,
		Payload: "sealed, with 'quotes' and \"more\": 山田 " + unique(),
		Code:    hash(),
		Created: now().Add(123 * time.Millisecond),
		Expires: now().Add(time.Hour + 999*time.Millisecond),
	}
}

func describedState(s *accountstore.State) string {
	if s == nil {
		return "no state"
	}
	return fmt.Sprintf("state of %q: version %d, roles %q, banned until %s for %q, delete at %s, must %q, claim %q, suspended %t, created %s, signed in %s, streak %d",
		s.UserID, s.Version, s.Roles, instant(s.BannedUntil), s.BanReason, instant(s.DeleteAt), s.Must, s.Claim, s.Suspended, instant(s.Created), instant(s.LastSignIn), s.Streak)
}

func describedFactor(f *accountstore.Factor) string {
	if f == nil {
		return "no factor"
	}
	return fmt.Sprintf("factor %q %q of %q: version %d, secret %q, step %d, name %q, created %s, used %s, expires %s",
		f.Kind, f.ID, f.UserID, f.Version, f.Secret, f.Step, f.Name, instant(f.Created), instant(f.LastUsed), instant(f.Expires))
}

func describedFlow(f *accountstore.Flow) string {
	if f == nil {
		return "no flow"
	}
	return fmt.Sprintf("flow %x: %q of %q, version %d, code %x, %d attempts, created %s, expires %s, payload %q",
		f.ID, f.Kind, f.Subject, f.Version, f.Code, f.Attempts, instant(f.Created), instant(f.Expires), f.Payload)
}

// changeState stores a state, and returns what the store has then.
func (t *tester) changeState(s *accountstore.State) *accountstore.State {
	t.Helper()
	t.ok("ChangeState", t.rows().ChangeState(t.ctx, s))
	stored := *s
	stored.Version++
	return &stored
}

// addFactor stores a factor, and returns what the store has then.
func (t *tester) addFactor(f *accountstore.Factor) *accountstore.Factor {
	t.Helper()
	t.ok("AddFactor", t.rows().AddFactor(t.ctx, f))
	stored := *f
	stored.Version = 1
	return &stored
}

// createFlow stores a flow, and returns what the store has then.
func (t *tester) createFlow(f *accountstore.Flow) *accountstore.Flow {
	t.Helper()
	t.ok("CreateFlow", t.rows().CreateFlow(t.ctx, f))
	stored := *f
	stored.Version, stored.Attempts = 1, 0
	return &stored
}

// state checks that a user has a state.
func (t *tester) state(want *accountstore.State) {
	t.Helper()
	found, err := t.rows().State(t.ctx, want.UserID)
	t.ok("State", err)
	t.same("State", describedState(found), describedState(want))
}

// noState checks that a user has no state.
func (t *tester) noState(userID string) {
	t.Helper()
	t.state(&accountstore.State{UserID: userID})
}

// factors checks that a user has these factors, in this order.
func (t *tester) factors(userID string, want ...*accountstore.Factor) {
	t.Helper()
	found, err := t.rows().Factors(t.ctx, userID)
	t.ok("Factors", err)
	lines := func(factors []*accountstore.Factor) string {
		var b strings.Builder
		for _, f := range factors {
			b.WriteString("\n\t" + describedFactor(f))
		}
		return b.String()
	}
	t.same("Factors", lines(found), lines(want))
}

// flow checks that a flow is there.
func (t *tester) flow(want *accountstore.Flow) {
	t.Helper()
	found, err := t.rows().Flow(t.ctx, want.ID)
	t.ok("Flow", err)
	t.same("Flow", describedFlow(found), describedFlow(want))
}

// noFlow checks that there is no flow with an id.
func (t *tester) noFlow(id accountstore.Hash) {
	t.Helper()
	_, err := t.rows().Flow(t.ctx, id)
	t.notFound("Flow", err)
}

// counts checks that a failure is counted, and what CountFailure returns.
func (t *tester) counts(userID string, at time.Time, window time.Duration, limit int, want accountstore.Failures) {
	t.Helper()
	got, err := t.rows().CountFailure(t.ctx, userID, at, window, limit)
	t.ok("CountFailure", err)
	t.same("CountFailure", describedFailures(got), describedFailures(want))
}

func describedFailures(f accountstore.Failures) string {
	return fmt.Sprintf("counted %t, %d recent since %s, streak %d", f.Counted, f.Recent, instant(f.Oldest), f.Streak)
}

// recent returns how many failures a user has in a window, without counting one.
func (t *tester) recent(userID string, at time.Time, window time.Duration) int {
	t.Helper()
	f, err := t.rows().CountFailure(t.ctx, userID, at, window, 0)
	t.ok("CountFailure with limit 0", err)
	if f.Counted {
		t.Error("CountFailure with limit 0 counted a failure")
	}
	return f.Recent
}

// noLimit is a limit that no check reaches.
const noLimit = math.MaxInt32

// similar are texts that a comparison which is not byte by byte takes for equal.
func similar() []string {
	id := unique()
	return []string{
		"jose" + id, "Jose" + id, "JOSE" + id, "josé" + id, "jose\u0301" + id,
		"jose" + id + " ", " jose" + id, "jose" + id + "\t", "jose" + id + "%", "jos_" + id,
		"stra\u00dfe" + id, "strasse" + id,
	}
}
