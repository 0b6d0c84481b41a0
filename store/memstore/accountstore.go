package memstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// accountRows is the [accountstore.Store] of a store, or of its transaction. A row is
// never changed: another one takes its place, and undo puts the first one back.
type accountRows struct{ records }

// AccountStore implements [pintle.Store].
func (r records) AccountStore() accountstore.Store { return accountRows{r} }

// A state is what is kept of a user: a State, and when the failures in its window were,
// in milliseconds.
type state struct {
	row      accountstore.State
	failures []int64
}

type factorKey struct{ kind, id string }

// newAccountTables returns tables without rows.
func newAccountTables() accountTables {
	return accountTables{
		states:  make(map[string]*state),
		factors: make(map[string]map[factorKey]*accountstore.Factor),
		flows:   make(map[accountstore.Hash]*accountstore.Flow),
		flowsOf: make(map[string]map[accountstore.Hash]*accountstore.Flow),
		events:  &eventList{byID: make(map[string]*accountstore.Event)},
	}
}

type accountTables struct {
	states  map[string]*state                                   // by user
	factors map[string]map[factorKey]*accountstore.Factor       // by user
	flows   map[accountstore.Hash]*accountstore.Flow            // by id
	flowsOf map[string]map[accountstore.Hash]*accountstore.Flow // by subject
	events  *eventList
}

// whole is t as a row has it: in milliseconds. No time stays no time.
func whole(t time.Time) time.Time { return instant(t.UnixMilli()) }

// State implements [accountstore.Store].
func (r accountRows) State(ctx context.Context, userID string) (*accountstore.State, error) {
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	defer r.readDone()
	c := r.stateOf(userID).row
	c.Roles = slices.Clone(c.Roles)
	return &c, nil
}

// stateOf returns a copy of the state of a user.
func (r records) stateOf(userID string) *state {
	if kept := r.states[userID]; kept != nil {
		c := *kept
		return &c
	}
	return &state{row: accountstore.State{UserID: userID}}
}

// setState puts a state in the place of another. Nil removes it.
func (r records) setState(userID string, s *state) {
	before := r.states[userID]
	r.placeState(userID, s)
	r.undo(func() { r.placeState(userID, before) })
}

func (r records) placeState(userID string, s *state) {
	if s == nil {
		delete(r.states, userID)
		return
	}
	r.states[userID] = s
}

// ChangeState implements [accountstore.Store].
func (r accountRows) ChangeState(ctx context.Context, s *accountstore.State) error {
	if err := r.write(ctx); err != nil {
		return err
	}
	defer r.writeDone()
	changed := r.stateOf(s.UserID)
	if changed.row.Version != s.Version {
		return fmt.Errorf("memstore: change state: the version: %w", pintle.ErrConflict)
	}
	streak := changed.row.Streak
	changed.row = *s
	changed.row.Version, changed.row.Streak = s.Version+1, streak
	changed.row.Roles = slices.Clone(s.Roles)
	changed.row.BannedUntil, changed.row.DeleteAt = whole(s.BannedUntil), whole(s.DeleteAt)
	changed.row.Created, changed.row.LastSignIn = whole(s.Created), whole(s.LastSignIn)
	r.setState(s.UserID, changed)
	return nil
}

// CountFailure implements [accountstore.Store].
func (r accountRows) CountFailure(ctx context.Context, userID string, at time.Time, window time.Duration, limit int) (accountstore.Failures, error) {
	if err := r.write(ctx); err != nil {
		return accountstore.Failures{}, err
	}
	defer r.writeDone()
	counted := r.stateOf(userID)
	begins := at.UnixMilli() - window.Milliseconds()
	recent := make([]int64, 0, len(counted.failures)+1)
	for _, failure := range counted.failures {
		if failure > begins {
			recent = append(recent, failure)
		}
	}
	var f accountstore.Failures
	if len(recent) < limit {
		f.Counted = true
		recent = append(recent, at.UnixMilli())
		counted.row.Streak++
		counted.failures = recent
		r.setState(userID, counted)
	}
	f.Recent, f.Streak = len(recent), counted.row.Streak
	if len(recent) > 0 {
		f.Oldest = instant(slices.Min(recent))
	}
	return f, nil
}

// CountSuccess implements [accountstore.Store].
func (r accountRows) CountSuccess(ctx context.Context, userID string, at time.Time) error {
	if err := r.write(ctx); err != nil {
		return err
	}
	defer r.writeDone()
	if r.states[userID] == nil {
		return nil
	}
	succeeded := r.stateOf(userID)
	succeeded.row.Streak = 0
	if i := slices.Index(succeeded.failures, at.UnixMilli()); i >= 0 {
		succeeded.failures = slices.Delete(slices.Clone(succeeded.failures), i, i+1)
	}
	r.setState(userID, succeeded)
	return nil
}

// Factors implements [accountstore.Store].
func (r accountRows) Factors(ctx context.Context, userID string) ([]*accountstore.Factor, error) {
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	defer r.readDone()
	factors := make([]*accountstore.Factor, 0, len(r.factors[userID]))
	for _, row := range r.factors[userID] {
		c := *row
		factors = append(factors, &c)
	}
	slices.SortFunc(factors, func(a, b *accountstore.Factor) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	return factors, nil
}

// setFactor puts a factor in the place of another. Nil removes it.
func (r records) setFactor(userID string, key factorKey, f *accountstore.Factor) {
	before := r.factors[userID][key]
	r.placeFactor(userID, key, f)
	r.undo(func() { r.placeFactor(userID, key, before) })
}

func (r records) placeFactor(userID string, key factorKey, f *accountstore.Factor) {
	theirs := r.factors[userID]
	if f == nil {
		delete(theirs, key)
		if len(theirs) == 0 {
			delete(r.factors, userID)
		}
		return
	}
	if theirs == nil {
		theirs = make(map[factorKey]*accountstore.Factor)
		r.factors[userID] = theirs
	}
	theirs[key] = f
}

// AddFactor implements [accountstore.Store].
func (r accountRows) AddFactor(ctx context.Context, f *accountstore.Factor) error {
	if err := r.write(ctx); err != nil {
		return err
	}
	defer r.writeDone()
	key := factorKey{f.Kind, f.ID}
	if r.factors[f.UserID][key] != nil {
		return fmt.Errorf("memstore: add factor: %w", pintle.ErrConflict)
	}
	added := *f
	added.Version = 1
	added.Created, added.LastUsed, added.Expires = whole(f.Created), whole(f.LastUsed), whole(f.Expires)
	r.setFactor(f.UserID, key, &added)
	return nil
}

// ReplaceFactor implements [accountstore.Store].
func (r accountRows) ReplaceFactor(ctx context.Context, f *accountstore.Factor) error {
	if err := r.write(ctx); err != nil {
		return err
	}
	defer r.writeDone()
	key := factorKey{f.Kind, f.ID}
	before := r.factors[f.UserID][key]
	switch {
	case before == nil:
		return pintle.ErrNotFound
	case before.Version != f.Version:
		return fmt.Errorf("memstore: replace factor: the version: %w", pintle.ErrConflict)
	}
	replaced := *f
	replaced.Version, replaced.Created = before.Version+1, before.Created
	replaced.Step = max(before.Step, f.Step)
	replaced.LastUsed, replaced.Expires = whole(f.LastUsed), whole(f.Expires)
	r.setFactor(f.UserID, key, &replaced)
	return nil
}

// AdvanceFactor implements [accountstore.Store].
func (r accountRows) AdvanceFactor(ctx context.Context, userID, kind, id string, step int64, used time.Time) error {
	if err := r.write(ctx); err != nil {
		return err
	}
	defer r.writeDone()
	key := factorKey{kind, id}
	before := r.factors[userID][key]
	switch {
	case before == nil:
		return pintle.ErrNotFound
	case before.Step >= step:
		return fmt.Errorf("memstore: advance factor: the step: %w", pintle.ErrConflict)
	}
	advanced := *before
	advanced.Step, advanced.LastUsed = step, whole(used)
	r.setFactor(userID, key, &advanced)
	return nil
}

// DeleteFactor implements [accountstore.Store].
func (r accountRows) DeleteFactor(ctx context.Context, userID, kind, id string) error {
	if err := r.write(ctx); err != nil {
		return err
	}
	defer r.writeDone()
	key := factorKey{kind, id}
	if r.factors[userID][key] == nil {
		return pintle.ErrNotFound
	}
	r.setFactor(userID, key, nil)
	return nil
}

// DeleteFactors implements [accountstore.Store].
func (r accountRows) DeleteFactors(ctx context.Context, userID string, kinds, except []string) (int, error) {
	if err := r.write(ctx); err != nil {
		return 0, err
	}
	defer r.writeDone()
	n := 0
	for key := range r.factors[userID] {
		if slices.Contains(kinds, key.kind) && !slices.Contains(except, key.id) {
			r.setFactor(userID, key, nil)
			n++
		}
	}
	return n, nil
}

// setFlow puts a flow in the place of another. Nil removes it.
func (r records) setFlow(id accountstore.Hash, f *accountstore.Flow) {
	before := r.flows[id]
	r.placeFlow(id, f)
	r.undo(func() { r.placeFlow(id, before) })
}

func (r records) placeFlow(id accountstore.Hash, f *accountstore.Flow) {
	if before := r.flows[id]; before != nil {
		delete(r.flows, id)
		delete(r.flowsOf[before.Subject], id)
		if len(r.flowsOf[before.Subject]) == 0 {
			delete(r.flowsOf, before.Subject)
		}
	}
	if f == nil {
		return
	}
	r.flows[id] = f
	if r.flowsOf[f.Subject] == nil {
		r.flowsOf[f.Subject] = make(map[accountstore.Hash]*accountstore.Flow)
	}
	r.flowsOf[f.Subject][id] = f
}

// CreateFlow implements [accountstore.Store].
func (r accountRows) CreateFlow(ctx context.Context, f *accountstore.Flow) error {
	if err := r.write(ctx); err != nil {
		return err
	}
	defer r.writeDone()
	if r.flows[f.ID] != nil {
		return fmt.Errorf("memstore: create flow: %w", pintle.ErrConflict)
	}
	created := *f
	created.Version, created.Attempts = 1, 0
	created.Created, created.Expires = whole(f.Created), whole(f.Expires)
	r.setFlow(f.ID, &created)
	return nil
}

// Flow implements [accountstore.Store].
func (r accountRows) Flow(ctx context.Context, id accountstore.Hash) (*accountstore.Flow, error) {
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	defer r.readDone()
	row := r.flows[id]
	if row == nil {
		return nil, pintle.ErrNotFound
	}
	c := *row
	return &c, nil
}

// AttemptFlow implements [accountstore.Store].
func (r accountRows) AttemptFlow(ctx context.Context, id accountstore.Hash, limit int) (int, error) {
	if err := r.write(ctx); err != nil {
		return 0, err
	}
	defer r.writeDone()
	before := r.flows[id]
	switch {
	case before == nil:
		return 0, pintle.ErrNotFound
	case before.Attempts >= limit:
		return 0, fmt.Errorf("memstore: attempt flow: the limit: %w", pintle.ErrConflict)
	}
	attempted := *before
	attempted.Attempts++
	r.setFlow(id, &attempted)
	return attempted.Attempts, nil
}

// ChangeFlow implements [accountstore.Store].
func (r accountRows) ChangeFlow(ctx context.Context, f *accountstore.Flow) error {
	if err := r.write(ctx); err != nil {
		return err
	}
	defer r.writeDone()
	before := r.flows[f.ID]
	switch {
	case before == nil:
		return pintle.ErrNotFound
	case before.Version != f.Version:
		return fmt.Errorf("memstore: change flow: the version: %w", pintle.ErrConflict)
	}
	changed := *before
	changed.Version++
	changed.Payload, changed.Code, changed.Expires = f.Payload, f.Code, whole(f.Expires)
	r.setFlow(f.ID, &changed)
	return nil
}

// UseFlow implements [accountstore.Store].
func (r accountRows) UseFlow(ctx context.Context, id accountstore.Hash, kind string) (*accountstore.Flow, error) {
	if err := r.write(ctx); err != nil {
		return nil, err
	}
	defer r.writeDone()
	row := r.flows[id]
	if row == nil || row.Kind != kind {
		return nil, pintle.ErrNotFound
	}
	r.setFlow(id, nil)
	c := *row
	return &c, nil
}

// EndFlows implements [accountstore.Store].
func (r accountRows) EndFlows(ctx context.Context, subject string, kinds ...string) (int, error) {
	if err := r.write(ctx); err != nil {
		return 0, err
	}
	defer r.writeDone()
	return r.endFlows(subject, func(f *accountstore.Flow) bool { return slices.Contains(kinds, f.Kind) }), nil
}

func (r records) endFlows(subject string, ends func(*accountstore.Flow) bool) int {
	n := 0
	for id, row := range r.flowsOf[subject] {
		if ends(row) {
			r.setFlow(id, nil)
			n++
		}
	}
	return n
}

// CountFlows implements [accountstore.Store].
func (r accountRows) CountFlows(ctx context.Context, subject, kind string, after time.Time) (int, error) {
	if err := r.read(ctx); err != nil {
		return 0, err
	}
	defer r.readDone()
	n := 0
	for _, row := range r.flowsOf[subject] {
		if row.Kind == kind && row.Expires.UnixMilli() > after.UnixMilli() {
			n++
		}
	}
	return n, nil
}

// DueUsers implements [accountstore.Store].
func (r accountRows) DueUsers(ctx context.Context, at time.Time, after string, limit int) ([]string, error) {
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	defer r.readDone()
	var due []string
	for userID, row := range r.states {
		if !row.row.DeleteAt.IsZero() && row.row.DeleteAt.UnixMilli() <= at.UnixMilli() {
			due = append(due, userID)
		}
	}
	return pageOf(due, after, limit), nil
}

// FactorUsers implements [accountstore.Store].
func (r accountRows) FactorUsers(ctx context.Context, kind, after string, limit int) ([]string, error) {
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	defer r.readDone()
	var users []string
	for userID, theirs := range r.factors {
		for key := range theirs {
			if key.kind == kind {
				users = append(users, userID)
				break
			}
		}
	}
	return pageOf(users, after, limit), nil
}

// pageOf returns the first ids, in order, that are greater than after.
func pageOf(ids []string, after string, limit int) []string {
	ids = slices.DeleteFunc(ids, func(id string) bool { return id <= after })
	slices.Sort(ids)
	return ids[:min(len(ids), max(limit, 0))]
}

// deleteAccountRows removes the state, the factors, the flows and the events of a user.
func (r records) deleteAccountRows(userID string) {
	if r.states[userID] != nil {
		r.setState(userID, nil)
	}
	for key := range r.factors[userID] {
		r.setFactor(userID, key, nil)
	}
	r.endFlows(userID, func(*accountstore.Flow) bool { return true })
	r.forgetEvents(userID)
}

// sweepAccountRows removes at most limit flows and factors that expired before a time
// in milliseconds, and returns how many it removed.
func (r records) sweepAccountRows(end int64, limit int) int {
	n := 0
	for id, row := range r.flows {
		if n >= limit {
			return n
		}
		if row.Expires.UnixMilli() < end {
			r.setFlow(id, nil)
			n++
		}
	}
	for userID, theirs := range r.factors {
		for key, row := range theirs {
			if n >= limit {
				return n
			}
			if !row.Expires.IsZero() && row.Expires.UnixMilli() < end {
				r.setFactor(userID, key, nil)
				n++
			}
		}
	}
	return n
}

// sweepOrphans removes at most limit states and factors that were made before a time in
// milliseconds and whose user is gone, and returns how many it removed.
func (r records) sweepOrphans(end int64, limit int) int {
	n := 0
	for userID, row := range r.states {
		if n >= limit {
			return n
		}
		if r.users.get(userID) == nil && (row.row.Created.IsZero() || row.row.Created.UnixMilli() < end) {
			r.setState(userID, nil)
			n++
		}
	}
	for userID, theirs := range r.factors {
		if r.users.get(userID) != nil {
			continue
		}
		for key, row := range theirs {
			if n >= limit {
				return n
			}
			if row.Created.UnixMilli() < end {
				r.setFactor(userID, key, nil)
				n++
			}
		}
	}
	return n
}
