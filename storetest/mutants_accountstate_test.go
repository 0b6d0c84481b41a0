package storetest

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/store/memstore"
)

// stateReads is a mutant that returns states altered.
func stateReads(name string, alter func(*accountstore.State), noticed string) mutant {
	return altering(name, func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, getState: func(ctx context.Context, userID string) (*accountstore.State, error) {
			s, err := good.State(ctx, userID)
			if err == nil {
				alter(s)
			}
			return s, err
		}}
	}, noticed)
}

// stateWrites is a mutant that changes states in another way.
func stateWrites(name string, change func(context.Context, accountstore.Store, *accountstore.State) error, noticed string) mutant {
	return altering(name, func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, changeState: func(ctx context.Context, s *accountstore.State) error {
			c := *s
			return change(ctx, good, &c)
		}}
	}, noticed)
}

// forceState writes a state whatever its version.
func forceState(ctx context.Context, good accountstore.Store, s *accountstore.State) error {
	for {
		now, err := good.State(ctx, s.UserID)
		if err != nil {
			return err
		}
		s.Version = now.Version
		if err := good.ChangeState(ctx, s); !errors.Is(err, pintle.ErrConflict) {
			return err
		}
	}
}

// tornState compares the version, and writes later.
func tornState(ctx context.Context, good accountstore.Store, s *accountstore.State) error {
	now, err := good.State(ctx, s.UserID)
	if err != nil {
		return err
	}
	if now.Version != s.Version {
		return pintle.ErrConflict
	}
	others()
	return forceState(ctx, good, s)
}

var stateMutants = []mutant{
	stateWrites("a state is written a moment after its change has returned", func(ctx context.Context, good accountstore.Store, s *accountstore.State) error {
		if now, err := good.State(ctx, s.UserID); err != nil || now.Version != s.Version {
			return errors.Join(err, pintle.ErrConflict)
		}
		if s.BannedUntil.IsZero() {
			return good.ChangeState(ctx, s)
		}
		time.AfterFunc(time.Millisecond, func() { _ = good.ChangeState(context.WithoutCancel(ctx), s) })
		return nil
	}, "AT-101 of a ban and sign-ins"),
	altering("a user without a state is not found", func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, getState: func(ctx context.Context, userID string) (*accountstore.State, error) {
			s, err := good.State(ctx, userID)
			if err == nil && s.Version == 0 {
				return nil, pintle.ErrNotFound
			}
			return s, err
		}}
	}, "a user without a row has the zero state"),
	stateReads("the zero state has no user", func(s *accountstore.State) {
		if s.Version == 0 {
			s.UserID = ""
		}
	}, "a user without a row has the zero state"),
	altering("states are found in any case", func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, getState: func(ctx context.Context, userID string) (*accountstore.State, error) {
			if s, err := good.State(ctx, userID); err != nil || s.Version > 0 {
				return s, err
			}
			return good.State(ctx, strings.ToLower(userID))
		}, changeState: func(ctx context.Context, s *accountstore.State) error {
			c := *s
			c.UserID = strings.ToLower(s.UserID)
			return good.ChangeState(ctx, &c)
		}}
	}, "a change leaves the states of other users"),
	stateReads("roles are sorted", func(s *accountstore.State) { slices.Sort(s.Roles) }, "they stay in their order"),
	stateReads("roles are a list with commas", func(s *accountstore.State) {
		if len(s.Roles) > 0 {
			s.Roles = strings.Split(strings.Join(s.Roles, ","), ",")
		}
	}, "a state reads back as it was stored"),
	stateReads("no roles are one empty role", func(s *accountstore.State) { s.Roles = strings.Split(strings.Join(s.Roles, "\x00"), "\x00") }, "a state without anything in it"),
	stateReads("one empty role is none", func(s *accountstore.State) {
		if slices.Equal(s.Roles, []string{""}) {
			s.Roles = nil
		}
	}, "a role may be any text"),
	stateReads("the times of a state have whole seconds", func(s *accountstore.State) { s.DeleteAt = s.DeleteAt.Truncate(time.Second) }, "a state reads back as it was stored"),
	stateReads("the times of a state are rounded", func(s *accountstore.State) { s.LastSignIn = s.LastSignIn.Round(10 * time.Millisecond) }, "the times of a state are kept"),
	stateReads("the times of a state are those of the process", func(s *accountstore.State) {
		if !s.Created.IsZero() {
			s.Created = s.Created.Add(time.Microsecond)
		}
	}, "the times of a state are kept"),
	stateReads("no time of a state is 1970", func(s *accountstore.State) {
		if s.DeleteAt.IsZero() {
			s.DeleteAt = time.UnixMilli(0)
		}
	}, "a state without anything in it"),
	stateReads("a ban for ever is none", func(s *accountstore.State) {
		if s.BannedUntil.Year() > 9999 {
			s.BannedUntil = time.Time{}
		}
	}, "a ban for ever"),
	stateReads("a long reason is cut", func(s *accountstore.State) { s.BanReason = s.BanReason[:min(len(s.BanReason), 255)] }, "the longest texts of a state"),
	stateReads("suspension is forgotten", func(s *accountstore.State) { s.Suspended = false }, "a state reads back as it was stored"),
	stateWrites("the version of a state is ignored", forceState, "a change of another version is a conflict"),
	stateWrites("version 0 overwrites a state", func(ctx context.Context, good accountstore.Store, s *accountstore.State) error {
		if s.Version == 0 {
			return forceState(ctx, good, s)
		}
		return good.ChangeState(ctx, s)
	}, "a change of another version is a conflict"),
	stateWrites("any version creates a state", func(ctx context.Context, good accountstore.Store, s *accountstore.State) error {
		if now, err := good.State(ctx, s.UserID); err != nil || now.Version == 0 {
			s.Version = 0
		}
		return good.ChangeState(ctx, s)
	}, "a change of another version is a conflict"),
	stateWrites("a state is compared, then written", tornState, "of 64 changes of one version of a state"),
	stateWrites("roles get lost", tornState, "roles that are given at once"),
	stateWrites("a change that changes nothing has no version", func(ctx context.Context, good accountstore.Store, s *accountstore.State) error {
		now, err := good.State(ctx, s.UserID)
		if err == nil && now.Version > 0 && now.Version == s.Version && now.Must == s.Must {
			return nil
		}
		return good.ChangeState(ctx, s)
	}, "a change does not write the streak"),
	stateWrites("empty texts leave what was there", func(ctx context.Context, good accountstore.Store, s *accountstore.State) error {
		if now, err := good.State(ctx, s.UserID); err == nil && s.Claim == "" {
			s.Claim = now.Claim
		}
		return good.ChangeState(ctx, s)
	}, "a state reads back as it was stored, in each change"),
	stateWrites("a change writes the streak", func(ctx context.Context, good accountstore.Store, s *accountstore.State) error {
		err := good.ChangeState(ctx, s)
		if err == nil && s.Streak == 0 {
			err = good.CountSuccess(ctx, s.UserID, time.Time{})
		}
		return err
	}, "a change does not write the streak"),
	altering("the version that was passed grows", func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, changeState: func(ctx context.Context, s *accountstore.State) error {
			err := good.ChangeState(ctx, s)
			s.Version++
			return err
		}}
	}, "a state that was passed or returned"),
	altering("roles are shared with the caller", func(good accountstore.Store) accountstore.Store {
		var roles sync.Map
		return &faulty{Store: good, changeState: func(ctx context.Context, s *accountstore.State) error {
			err := good.ChangeState(ctx, s)
			if err == nil {
				roles.Store(s.UserID, s.Roles)
			}
			return err
		}, getState: func(ctx context.Context, userID string) (*accountstore.State, error) {
			s, err := good.State(ctx, userID)
			if shared, ok := roles.Load(userID); ok && err == nil {
				s.Roles = shared.([]string)
			}
			return s, err
		}}
	}, "a state that was passed or returned"),
}

// A failureTable counts failures by itself, with one fault.
type failureTable struct {
	accountstore.Store
	fault string
	mu    sync.Mutex
	rows  map[string]*failureRow
}

type failureRow struct {
	times  []int64
	streak int
}

func (s *failureTable) row(userID string) *failureRow {
	if s.fault == "shared" {
		userID = strings.ToLower(userID)
	}
	if s.rows == nil {
		s.rows = map[string]*failureRow{}
	}
	if s.rows[userID] == nil {
		s.rows[userID] = &failureRow{}
	}
	return s.rows[userID]
}

func (s *failureTable) State(ctx context.Context, userID string) (*accountstore.State, error) {
	state, err := s.Store.State(ctx, userID)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		state.Streak = s.row(userID).streak
	}
	return state, err
}

func (s *failureTable) CountFailure(ctx context.Context, userID string, at time.Time, window time.Duration, limit int) (accountstore.Failures, error) {
	if err := ctx.Err(); err != nil {
		return accountstore.Failures{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	row, end := s.row(userID), at.UnixMilli()
	begins := end - window.Milliseconds()
	switch s.fault {
	case "long window":
		begins--
	case "short window":
		begins++
	}
	var recent []int64
	for _, t := range row.times {
		if t > begins && (s.fault != "past" || t <= end) {
			recent = append(recent, t)
		}
	}
	var f accountstore.Failures
	f.Recent = len(recent)
	if s.fault == "torn" {
		s.mu.Unlock()
		others()
		s.mu.Lock()
		recent = row.times // what the others counted is kept
	}
	if s.fault == "generous" {
		limit++
	}
	if f.Recent < limit {
		f.Counted = true
		f.Recent++
		if s.fault != "set" || !slices.Contains(recent, end) {
			recent = append(recent, end)
		}
		row.streak++
		if s.fault == "forgets the state" {
			return f, s.Store.ChangeState(ctx, &accountstore.State{UserID: userID})
		}
	} else if s.fault == "counts all" {
		row.streak++
	}
	if s.fault == "lost" {
		before := slices.Clone(recent)
		s.mu.Unlock()
		others()
		s.mu.Lock()
		recent, row.streak = before, len(before)
	}
	row.times = recent
	f.Streak = row.streak
	switch {
	case len(recent) == 0:
	case s.fault == "first":
		f.Oldest = time.UnixMilli(recent[0])
	case s.fault == "latest":
		f.Oldest = time.UnixMilli(slices.Max(recent))
	default:
		f.Oldest = time.UnixMilli(slices.Min(recent))
	}
	switch s.fault {
	case "streak in the window":
		row.streak, f.Streak = len(recent), len(recent)
	case "set":
		f.Recent = len(recent)
	}
	return f, nil
}

func (s *failureTable) CountSuccess(ctx context.Context, userID string, at time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	row := s.row(userID)
	if s.fault != "streak" {
		row.streak = 0
	}
	switch i := slices.Index(row.times, at.UnixMilli()); {
	case s.fault == "clears":
		row.times = nil
	case s.fault == "keeps":
	case s.fault == "takes the last" && len(row.times) > 0:
		row.times = row.times[:len(row.times)-1]
	case s.fault == "takes all of a time":
		row.times = slices.DeleteFunc(row.times, func(t int64) bool { return t == at.UnixMilli() })
	case i >= 0:
		row.times = slices.Delete(row.times, i, i+1)
	}
	return nil
}

// failing is a mutant that counts failures with a fault.
func failing(name, fault, noticed string) mutant {
	return altering(name, func(good accountstore.Store) accountstore.Store { return &failureTable{Store: good, fault: fault} }, noticed)
}

// The table is the mutants' foundation: without a fault it counts as it should.
func TestATableOfFailuresWithoutAFaultFailsNoCheck(t *testing.T) {
	for _, c := range slices.Concat(failureChecks, accountRaceChecks) {
		s := memstore.New()
		if r := try(t, c, otherRows{s, &failureTable{Store: s.AccountStore()}}); r.failed {
			t.Errorf("%s: %s", c.name, r.log.String())
		}
	}
}

func failureMutants() []mutant {
	return []mutant{
		failing("the window is a millisecond longer", "long window", "a failure leaves the window when"),
		failing("the window is a millisecond shorter", "short window", "a failure leaves the window when"),
		failing("a failure of a clock that is ahead does not count", "past", "a failure of a clock that is ahead"),
		failing("failures in one millisecond are one", "set", "several failures in one millisecond"),
		failing("one failure more than the limit is counted", "generous", "failures are counted up to the limit"),
		failing("failures beyond the limit make the streak longer", "counts all", "failures are counted up to the limit"),
		failing("the oldest failure is the first that was stored", "first", "a failure of a clock that is ahead"),
		failing("the oldest failure is the latest", "latest", "the oldest failure in the window"),
		failing("failures are looked at, then counted", "torn", "of 64 failures no more are counted"),
		failing("failures get lost", "lost", "64 failures at once are all counted"),
		failing("failures belong to all who are called alike", "shared", "the failures of a user are theirs alone"),
		failing("a failure makes a state with a version", "forgets the state", "a failure needs no state"),
		failing("a streak is what is in the window", "streak in the window", "a streak goes on when the window does not"),
		failing("a success does not end the streak", "streak", "a success ends the streak"),
		failing("a success clears the window", "clears", "leaves the other failures in the window"),
		failing("a success takes back nothing", "keeps", "a success takes back the failure of its time"),
		failing("a success takes back another failure", "takes the last", "a success takes back the failure of its time"),
		failing("a success takes back all failures of a time", "takes all of a time", "a success takes back the failure of its time"),
		altering("a failure changes the version", func(good accountstore.Store) accountstore.Store {
			return &faulty{Store: good, countFailure: func(ctx context.Context, userID string, at time.Time, window time.Duration, limit int) (accountstore.Failures, error) {
				f, err := good.CountFailure(ctx, userID, at, window, limit)
				if s, stateErr := good.State(ctx, userID); err == nil && stateErr == nil && s.Version > 0 {
					err = good.ChangeState(ctx, s)
				}
				return f, err
			}}
		}, "failures and successes leave the version"),
		altering("a success makes a state", func(good accountstore.Store) accountstore.Store {
			return &faulty{Store: good, countSuccess: func(ctx context.Context, userID string, at time.Time) error {
				if s, err := good.State(ctx, userID); err == nil && s.Version == 0 {
					if err := good.ChangeState(ctx, s); err != nil {
						return err
					}
				}
				return good.CountSuccess(ctx, userID, at)
			}}
		}, "a success of a user without failures"),
		altering("a failure undoes a change of the state", func(good accountstore.Store) accountstore.Store {
			return &faulty{Store: good, countFailure: func(ctx context.Context, userID string, at time.Time, window time.Duration, limit int) (accountstore.Failures, error) {
				before, err := good.State(ctx, userID)
				if err != nil {
					return accountstore.Failures{}, err
				}
				others()
				if now, err := good.State(ctx, userID); err == nil && now.Version > before.Version {
					before.Version = math.MinInt64
					_ = forceState(ctx, good, before)
				}
				return good.CountFailure(ctx, userID, at, window, limit)
			}}
		}, "failures and changes of a state at once"),
	}
}
