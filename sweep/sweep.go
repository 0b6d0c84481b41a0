// Package sweep removes what has expired from the stores of a site while requests go on:
// sessions, mail links, the rows of package account, the shared state, and lists of ended
// sessions.
//
//	job := sweep.New(cfg)
//	go job.Run(ctx)
//
// A job removes rows in batches, with pauses between them. Each batch is one short statement
// per table, so that no request waits for it long. Any number of processes may run the same
// job: they share the work, or one of them finds nothing to do. Command "pintle sweep" does
// the same once, for a schedule of the operating system.
package sweep

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/sharedstate"
)

const (
	defaultBatch = 500
	defaultPause = 100 * time.Millisecond
	defaultEvery = time.Hour
	defaultGrace = 10 * time.Minute

	// weekly is how often a part is swept that looks at each key of a database.
	weekly = 7 * 24 * time.Hour

	// releaseTime is how long it may take to give up a lease.
	releaseTime = 5 * time.Second
)

// A Job removes what has expired. [New] makes one of a configuration. Its fields must not be
// changed once it is in use; its methods may be called concurrently.
type Job struct {
	// Parts are what is swept, one after the other.
	Parts []Part

	// Batch is how many rows of a part are removed at once. Zero means 500.
	Batch int

	// Pause is the least time between two batches. Zero means 0.1 seconds; negative means
	// none. A pause is as long as the batch took at least, so that the job keeps a database
	// busy for half of the time at most, and up to half of it longer, so that the processes
	// of a site do not remove rows in step.
	Pause time.Duration

	// Every is the time from the end of one round of [Job.Run] to the next, up to a tenth
	// more. Zero means an hour.
	Every time.Duration

	// Grace is for how long rows stay after they have expired. The clock of a process that
	// is ahead would otherwise remove sessions that others still accept. Zero means ten
	// minutes; negative means none.
	Grace time.Duration

	// Progress is called after each batch, if it is not nil.
	Progress func(Progress)

	// Logger receives a record of each round of [Job.Run] that has removed rows, at the level
	// INFO, and of each part that has failed, at the level WARN with the code SweepFailed.
	// Nil means [slog.Default].
	Logger *slog.Logger

	// leases has the leases of parts with Every, and may be nil. Tenants may share it, and
	// have stores of their own.
	leases sharedstate.Store
	tenant string
}

// A Part is what one call sweeps.
type Part struct {
	// Name tells the part in records and errors, such as "store". It distinguishes a part
	// with Every from others of the tenant, in all processes that share a state.
	Name string

	// Sweep removes at most limit rows that have expired before a time, and returns how many
	// it has removed. A result below limit means that nothing is left: see the method of
	// that name of [pintle.Store].
	Sweep func(ctx context.Context, before time.Time, limit int) (int, error)

	// Every is the least time between two rounds of [Job.Run] that sweep the part. Zero means
	// that each round does. If the configuration of [New] has a shared state, one process sweeps
	// the part in that time. A part that has failed is swept in the next round; if the process
	// dies while it sweeps, the part waits for the rest of the time.
	Every time.Duration
}

// Progress is what a round has done so far.
type Progress struct {
	// Part is the name of the part that was swept, and PartRemoved how many of its rows
	// the round has removed.
	Part        string
	PartRemoved int

	// Removed is how many rows of all parts the round has removed, and Took its duration.
	Removed int
	Took    time.Duration
}

// New returns the job for a configuration: its Store, SharedState and Session.Revocation, as far
// as their rows do not expire by themselves. What package account has in a redisstore of users
// whom Auth.js has deleted is removed once a week, by one of the processes of a tenant. Add
// stores that the configuration does not name to [Job.Parts].
//
// The job of a site whose data all expires by itself has no parts, and does nothing.
func New(cfg pintle.Config) *Job {
	job := &Job{Logger: cfg.Logger, leases: leases(cfg), tenant: cfg.Tenant}
	if s := cfg.Store; s != nil && !isNil(s) {
		if s.Features().Sweep {
			job.add("store", s)
		}
		if left, ok := s.(interface {
			SweepAccountStore(ctx context.Context, limit int) (int, error)
		}); ok {
			job.Parts = append(job.Parts, Part{"deleted_users", func(ctx context.Context, _ time.Time, limit int) (int, error) {
				return left.SweepAccountStore(ctx, limit)
			}, weekly})
		}
	}
	job.add("shared_state", cfg.SharedState)
	job.add("ended_sessions", cfg.Session.Revocation)
	return job
}

// leases returns the shared state of a configuration, or nil.
func leases(cfg pintle.Config) sharedstate.Store {
	if cfg.SharedState != nil && !isNil(cfg.SharedState) {
		return cfg.SharedState
	}
	if s := cfg.Store; s != nil && !isNil(s) {
		if state := s.SharedState(); state != nil && !isNil(state) {
			return state
		}
	}
	return nil
}

// A sweeper is a store whose rows do not expire by themselves.
type sweeper interface {
	Sweep(ctx context.Context, before time.Time, limit int) (int, error)
}

func (j *Job) add(name string, store any) {
	if s, ok := store.(sweeper); ok && !isNil(s) {
		j.Parts = append(j.Parts, Part{Name: name, Sweep: s.Sweep})
	}
}

func isNil(store any) bool {
	v := reflect.ValueOf(store)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// Once sweeps all parts until nothing is left, and returns how many rows it has removed. A part
// that fails does not keep the others from being swept; the error names it. If the context
// ends, Once returns its error, and what is removed stays removed.
func (j *Job) Once(ctx context.Context) (removed int, err error) {
	removed, _, err = j.round(ctx, j.Parts)
	return removed, err
}

// round sweeps parts. It also returns the places of those that have failed.
func (j *Job) round(ctx context.Context, parts []Part) (removed int, failed []int, err error) {
	r := round{Job: j, began: time.Now()}
	var failures []error
	for i, p := range parts {
		if err := r.sweep(ctx, p); err != nil {
			failed, failures = append(failed, i), append(failures, fmt.Errorf("sweep: %s: %w", p.Name, err))
		}
	}
	if err := ctx.Err(); err != nil {
		return r.removed, failed, context.Cause(ctx)
	}
	return r.removed, failed, errors.Join(failures...)
}

// Run sweeps all parts now and then, until the context ends. A process that has just started
// waits for a part of a minute first: those that start together do not sweep together.
func (j *Job) Run(ctx context.Context) {
	log := cmp.Or(j.Logger, slog.Default())
	if len(j.Parts) == 0 || !wait(ctx, below(time.Minute)) {
		return
	}
	swept := map[int]time.Time{}
	for {
		var owner sharedstate.Owner
		_, _ = rand.Read(owner[:]) // never fails
		var due []Part
		var places []int // of the due parts, among all
		for i, p := range j.Parts {
			if at, ok := swept[i]; (!ok || time.Since(at) >= p.Every) && j.takes(ctx, p, owner) {
				due, places, swept[i] = append(due, p), append(places, i), time.Now()
			}
		}
		began := time.Now()
		removed, failed, err := j.round(ctx, due)
		for _, i := range failed {
			delete(swept, places[i]) // the next round tries again, also if the part is swept weekly
			j.gives(ctx, due[i], owner)
		}
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			log.LogAttrs(ctx, slog.LevelWarn, "pintle: expired rows could not be removed",
				slog.String("code", "SweepFailed"), slog.Any("error", err), slog.Int("removed", removed),
				slog.String("fix", "look whether the database can be reached, and whether its tables are migrated; the next round tries again"))
		case removed > 0:
			log.LogAttrs(ctx, slog.LevelInfo, "pintle: expired rows are removed",
				slog.String("code", "Swept"), slog.Int("removed", removed), slog.Duration("took", time.Since(began)))
		}
		every := cmp.Or(j.Every, defaultEvery)
		if !wait(ctx, every+below(every/10)) {
			return
		}
	}
}

// takes reports whether this process is the one that sweeps a part now. A shared state that
// fails leaves no part unswept.
func (j *Job) takes(ctx context.Context, p Part, owner sharedstate.Owner) bool {
	if p.Every <= 0 || j.leases == nil {
		return true
	}
	held, err := j.leases.Lease(ctx, j.lease(p), owner, p.Every)
	return held || err != nil
}

// gives lets any process sweep a part in its next round.
func (j *Job) gives(ctx context.Context, p Part, owner sharedstate.Owner) {
	if p.Every <= 0 || j.leases == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	_ = j.leases.Release(ctx, j.lease(p), owner) // otherwise the lease ends by its time
}

// lease is the key of the lease of a part. The quotes keep the names of a tenant and a part apart.
func (j *Job) lease(p Part) sharedstate.Key {
	return sha256.Sum256(fmt.Appendf(nil, "pintle sweep %q %q", j.tenant, p.Name))
}

// A round is one pass over parts.
type round struct {
	*Job
	began   time.Time
	removed int
}

// sweep removes what has expired of a part.
func (r *round) sweep(ctx context.Context, p Part) error {
	batch := cmp.Or(max(r.Batch, 0), defaultBatch)
	before := r.began.Add(-r.grace())
	for removed := 0; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		began := time.Now()
		n, err := p.Sweep(ctx, before, batch)
		removed, r.removed = removed+n, r.removed+n
		if r.Progress != nil {
			r.Progress(Progress{Part: p.Name, PartRemoved: removed, Removed: r.removed, Took: time.Since(r.began)})
		}
		if err != nil || n < batch {
			return err
		}
		if !wait(ctx, r.pause(time.Since(began))) {
			return context.Cause(ctx)
		}
	}
}

func (r *round) grace() time.Duration {
	if r.Grace < 0 {
		return 0
	}
	return cmp.Or(r.Grace, defaultGrace)
}

// pause returns how long to wait after a batch.
func (r *round) pause(took time.Duration) time.Duration {
	if r.Pause < 0 {
		return 0
	}
	least := max(cmp.Or(r.Pause, defaultPause), took)
	return least + below(least/2)
}

// wait reports whether a duration has passed before the context ends.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// below returns a random duration from zero to d.
func below(d time.Duration) time.Duration {
	var random [8]byte
	_, _ = rand.Read(random[:])                                               // never fails
	return time.Duration(binary.LittleEndian.Uint64(random[:]) % uint64(d+1)) //nolint:gosec // at most d, which is not negative
}
