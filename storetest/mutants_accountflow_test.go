package storetest

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// flowReads is a mutant that returns flows altered.
func flowReads(name string, alter func(*accountstore.Flow), noticed string) mutant {
	return altering(name, func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, getFlow: func(ctx context.Context, id accountstore.Hash) (*accountstore.Flow, error) {
			f, err := good.Flow(ctx, id)
			if err == nil {
				alter(f)
			}
			return f, err
		}}
	}, noticed)
}

// using is a mutant that uses flows in another way.
func using(name string, use func(ctx context.Context, good accountstore.Store, id accountstore.Hash, kind string) (*accountstore.Flow, error), noticed string) mutant {
	return altering(name, func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, useFlow: func(ctx context.Context, id accountstore.Hash, kind string) (*accountstore.Flow, error) {
			return use(ctx, good, id, kind)
		}}
	}, noticed)
}

// attempting is a mutant that counts attempts in another way.
func attempting(name string, attempt func(ctx context.Context, good accountstore.Store, id accountstore.Hash, limit int) (int, error), noticed string) mutant {
	return altering(name, func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, attemptFlow: func(ctx context.Context, id accountstore.Hash, limit int) (int, error) {
			return attempt(ctx, good, id, limit)
		}}
	}, noticed)
}

// changing is a mutant that changes flows in another way.
func changing(name string, change func(ctx context.Context, good accountstore.Store, f *accountstore.Flow) error, noticed string) mutant {
	return altering(name, func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, changeFlow: func(ctx context.Context, f *accountstore.Flow) error {
			c := *f
			return change(ctx, good, &c)
		}}
	}, noticed)
}

// ending is a mutant that ends flows in another way.
func ending(name string, end func(ctx context.Context, good accountstore.Store, subject string, kinds []string) (int, error), noticed string) mutant {
	return altering(name, func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, endFlows: func(ctx context.Context, subject string, kinds ...string) (int, error) {
			return end(ctx, good, subject, kinds)
		}}
	}, noticed)
}

// counting is a mutant that counts flows in another way.
func counting(name string, count func(ctx context.Context, good accountstore.Store, subject, kind string, after time.Time) (int, error), noticed string) mutant {
	return altering(name, func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, countFlows: func(ctx context.Context, subject, kind string, after time.Time) (int, error) {
			return count(ctx, good, subject, kind, after)
		}}
	}, noticed)
}

// forceFlow changes a flow whatever its version.
func forceFlow(ctx context.Context, good accountstore.Store, f *accountstore.Flow) error {
	for {
		now, err := good.Flow(ctx, f.ID)
		if err != nil {
			return err
		}
		f.Version = now.Version
		if err := good.ChangeFlow(ctx, f); !errors.Is(err, pintle.ErrConflict) {
			return err
		}
	}
}

// makeFlow stores a flow with the version and the attempts that it has.
func makeFlow(ctx context.Context, good accountstore.Store, f *accountstore.Flow) error {
	if err := good.CreateFlow(ctx, f); err != nil {
		return err
	}
	for range f.Attempts {
		if _, err := good.AttemptFlow(ctx, f.ID, math.MaxInt); err != nil {
			return err
		}
	}
	c := *f
	for c.Version = 1; c.Version < f.Version; c.Version++ {
		if err := good.ChangeFlow(ctx, &c); err != nil {
			return err
		}
	}
	return nil
}

// shortHash is a store whose ids are altered.
func shortHash(alter func(accountstore.Hash) accountstore.Hash) func(accountstore.Store) accountstore.Store {
	return func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, createFlow: func(ctx context.Context, f *accountstore.Flow) error {
			c := *f
			c.ID = alter(f.ID)
			return good.CreateFlow(ctx, &c)
		}, getFlow: func(ctx context.Context, id accountstore.Hash) (*accountstore.Flow, error) {
			f, err := good.Flow(ctx, alter(id))
			if err == nil {
				f.ID = id
			}
			return f, err
		}}
	}
}

var flowMutants = []mutant{
	flowReads("the times of a flow have whole seconds", func(f *accountstore.Flow) { f.Expires = f.Expires.Truncate(time.Second) }, "a flow reads back"),
	flowReads("no code is a code", func(f *accountstore.Flow) {
		if f.Code == (accountstore.Hash{}) {
			f.Code[0] = 1
		}
	}, "a flow reads back"),
	flowReads("a long payload is cut", func(f *accountstore.Flow) { f.Payload = f.Payload[:min(len(f.Payload), 64<<10-1)] }, "the longest texts of a flow"),
	flowReads("zeros at the end of a code are lost", func(f *accountstore.Flow) {
		if f.Code[31] == 0 {
			f.Code[31] = ' '
		}
	}, "an id and a code may have any bytes"),
	altering("an id has 31 bytes", shortHash(func(id accountstore.Hash) accountstore.Hash { id[31] = 0; return id }), "an id and a code may have any bytes"),
	altering("an id is a text in any case", shortHash(func(id accountstore.Hash) accountstore.Hash {
		for i, b := range id {
			if 'a' <= b && b <= 'z' {
				id[i] = b - 'a' + 'A'
			}
		}
		return id
	}), "an id and a code may have any bytes"),
	altering("expired flows are not found", func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, getFlow: func(ctx context.Context, id accountstore.Hash) (*accountstore.Flow, error) {
			f, err := good.Flow(ctx, id)
			if err == nil && f.Expires.Before(time.Now()) {
				return nil, pintle.ErrNotFound
			}
			return f, err
		}}
	}, "an expired flow is returned"),
	altering("a new flow overwrites another", func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, createFlow: func(ctx context.Context, f *accountstore.Flow) error {
			if now, err := good.Flow(ctx, f.ID); err == nil {
				_, _ = good.UseFlow(ctx, f.ID, now.Kind)
			}
			return good.CreateFlow(ctx, f)
		}}
	}, "a second flow with one id"),
	altering("a new flow overwrites an expired one", func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, createFlow: func(ctx context.Context, f *accountstore.Flow) error {
			if now, err := good.Flow(ctx, f.ID); err == nil && now.Expires.Before(time.Now()) {
				_, _ = good.UseFlow(ctx, f.ID, now.Kind)
			}
			return good.CreateFlow(ctx, f)
		}}
	}, "a second flow with one id"),
	altering("a flow is looked for, then created", func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, createFlow: func(ctx context.Context, f *accountstore.Flow) error {
			if _, err := good.Flow(ctx, f.ID); err == nil {
				return pintle.ErrConflict
			}
			others()
			if err := good.CreateFlow(ctx, f); !errors.Is(err, pintle.ErrConflict) {
				return err
			}
			return nil
		}}
	}, "of 64 flows with one id"),
	altering("a flow is created with the attempts that were passed", func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, createFlow: func(ctx context.Context, f *accountstore.Flow) error { return makeFlow(ctx, good, f) }}
	}, "with version 1 and without attempts"),

	attempting("one attempt more than the limit", func(ctx context.Context, good accountstore.Store, id accountstore.Hash, limit int) (int, error) {
		return good.AttemptFlow(ctx, id, limit+1)
	}, "attempts are counted up to the limit"),
	attempting("attempts are looked at, then counted", func(ctx context.Context, good accountstore.Store, id accountstore.Hash, limit int) (int, error) {
		f, err := good.Flow(ctx, id)
		if err != nil {
			return 0, err
		}
		if f.Attempts >= limit {
			return 0, pintle.ErrConflict
		}
		others()
		return good.AttemptFlow(ctx, id, math.MaxInt)
	}, "of 64 attempts no more are counted"),
	attempting("attempts get lost", func(ctx context.Context, good accountstore.Store, id accountstore.Hash, limit int) (int, error) {
		f, err := good.Flow(ctx, id)
		if err != nil {
			return 0, err
		}
		others()
		n, err := good.AttemptFlow(ctx, id, limit)
		return min(n, f.Attempts+1), err
	}, "of 64 attempts no more are counted"),
	attempting("an attempt beyond the limit is counted", func(ctx context.Context, good accountstore.Store, id accountstore.Hash, limit int) (int, error) {
		n, err := good.AttemptFlow(ctx, id, math.MaxInt)
		if err == nil && n > limit {
			return 0, pintle.ErrConflict
		}
		return n, err
	}, "attempts are counted up to the limit"),
	attempting("an unknown flow is at its limit", func(ctx context.Context, good accountstore.Store, id accountstore.Hash, limit int) (int, error) {
		n, err := good.AttemptFlow(ctx, id, limit)
		if err != nil {
			return 0, pintle.ErrConflict
		}
		return n, nil
	}, "an unknown flow is not found"),
	attempting("an attempt changes the version", func(ctx context.Context, good accountstore.Store, id accountstore.Hash, limit int) (int, error) {
		n, err := good.AttemptFlow(ctx, id, limit)
		if f, flowErr := good.Flow(ctx, id); err == nil && flowErr == nil {
			err = good.ChangeFlow(ctx, f)
		}
		return n, err
	}, "leave the version"),

	changing("the version of a flow is ignored", forceFlow, "a change of another version of a flow"),
	changing("a flow is compared, then changed", func(ctx context.Context, good accountstore.Store, f *accountstore.Flow) error {
		now, err := good.Flow(ctx, f.ID)
		if err != nil {
			return err
		}
		if now.Version != f.Version {
			return pintle.ErrConflict
		}
		others()
		return forceFlow(ctx, good, f)
	}, "of 64 changes of one version of a flow"),
	changing("a change makes a flow", func(ctx context.Context, good accountstore.Store, f *accountstore.Flow) error {
		if err := good.ChangeFlow(ctx, f); !errors.Is(err, pintle.ErrNotFound) {
			return err
		}
		return good.CreateFlow(ctx, f)
	}, "an unknown flow is not found"),
	changing("a change brings a used flow back", func(ctx context.Context, good accountstore.Store, f *accountstore.Flow) error {
		if _, err := good.Flow(ctx, f.ID); err != nil {
			return err
		}
		others()
		if err := good.ChangeFlow(ctx, f); !errors.Is(err, pintle.ErrNotFound) {
			return err
		}
		return good.CreateFlow(ctx, f)
	}, "a flow that is tried and changed while it is used"),
	changing("a change writes the attempts", func(ctx context.Context, good accountstore.Store, f *accountstore.Flow) error {
		if err := good.ChangeFlow(ctx, f); err != nil {
			return err
		}
		now, err := good.UseFlow(ctx, f.ID, mustKind(ctx, good, f.ID))
		if err != nil {
			return err
		}
		now.Attempts = f.Attempts
		return makeFlow(ctx, good, now)
	}, "a flow is changed in payload, code and expiry only"),
	changing("attempts are lost while a flow is changed", func(ctx context.Context, good accountstore.Store, f *accountstore.Flow) error {
		before, err := good.Flow(ctx, f.ID)
		if err != nil {
			return err
		}
		others()
		if err := good.ChangeFlow(ctx, f); err != nil {
			return err
		}
		now, err := good.UseFlow(ctx, f.ID, before.Kind)
		if err != nil {
			return err
		}
		now.Attempts = before.Attempts
		return makeFlow(ctx, good, now)
	}, "attempts are not lost while a flow is changed"),
	changing("a change moves a flow to another subject", func(ctx context.Context, good accountstore.Store, f *accountstore.Flow) error {
		if err := good.ChangeFlow(ctx, f); err != nil {
			return err
		}
		now, err := good.UseFlow(ctx, f.ID, mustKind(ctx, good, f.ID))
		if err != nil {
			return err
		}
		now.Subject, now.Kind = f.Subject, f.Kind
		return makeFlow(ctx, good, now)
	}, "a flow is changed in payload, code and expiry only"),
	changing("a change leaves the expiry", func(ctx context.Context, good accountstore.Store, f *accountstore.Flow) error {
		if now, err := good.Flow(ctx, f.ID); err == nil {
			f.Expires = now.Expires
		}
		return good.ChangeFlow(ctx, f)
	}, "a flow is changed in payload, code and expiry only"),
	changing("a code is never removed", func(ctx context.Context, good accountstore.Store, f *accountstore.Flow) error {
		if now, err := good.Flow(ctx, f.ID); err == nil && f.Code == (accountstore.Hash{}) {
			f.Code = now.Code
		}
		return good.ChangeFlow(ctx, f)
	}, "a flow is changed in payload, code and expiry only"),

	using("the kind of a flow is ignored", func(ctx context.Context, good accountstore.Store, id accountstore.Hash, _ string) (*accountstore.Flow, error) {
		return good.UseFlow(ctx, id, mustKind(ctx, good, id))
	}, "a flow of another kind is not found to be used"),
	using("a flow of another kind is removed", func(ctx context.Context, good accountstore.Store, id accountstore.Hash, kind string) (*accountstore.Flow, error) {
		f, err := good.UseFlow(ctx, id, mustKind(ctx, good, id))
		if err == nil && f.Kind != kind {
			return nil, pintle.ErrNotFound
		}
		return f, err
	}, "a flow of another kind is not found to be used, and stays"),
	using("kinds are compared in any case", func(ctx context.Context, good accountstore.Store, id accountstore.Hash, kind string) (*accountstore.Flow, error) {
		if f, err := good.Flow(ctx, id); err == nil && strings.EqualFold(f.Kind, kind) {
			kind = f.Kind
		}
		return good.UseFlow(ctx, id, kind)
	}, "a flow of another kind is not found to be used"),
	using("a flow is read, then deleted", func(ctx context.Context, good accountstore.Store, id accountstore.Hash, kind string) (*accountstore.Flow, error) {
		f, err := good.Flow(ctx, id)
		if err != nil {
			return nil, err
		}
		if f.Kind != kind {
			return nil, pintle.ErrNotFound
		}
		others()
		if _, err := good.UseFlow(ctx, id, kind); !errors.Is(err, pintle.ErrNotFound) {
			return f, err
		}
		return f, nil
	}, "of 64 who use one flow"),
	using("a flow can be used again", func(ctx context.Context, good accountstore.Store, id accountstore.Hash, kind string) (*accountstore.Flow, error) {
		f, err := good.Flow(ctx, id)
		if err == nil && f.Kind != kind {
			return nil, pintle.ErrNotFound
		}
		return f, err
	}, "a flow is used once"),
	using("an expired flow cannot be used", func(ctx context.Context, good accountstore.Store, id accountstore.Hash, kind string) (*accountstore.Flow, error) {
		if f, err := good.Flow(ctx, id); err == nil && f.Expires.Before(time.Now()) {
			return nil, pintle.ErrNotFound
		}
		return good.UseFlow(ctx, id, kind)
	}, "an expired flow is returned"),

	ending("no kinds are all kinds of flows", func(ctx context.Context, good accountstore.Store, subject string, kinds []string) (int, error) {
		if len(kinds) == 0 {
			kinds = []string{reset, signUp}
		}
		return good.EndFlows(ctx, subject, kinds...)
	}, "the flows of a subject end"),
	ending("only the first kind ends", func(ctx context.Context, good accountstore.Store, subject string, kinds []string) (int, error) {
		return good.EndFlows(ctx, subject, kinds[:min(1, len(kinds))]...)
	}, "the flows of a subject end"),
	ending("ended flows are not counted", func(ctx context.Context, good accountstore.Store, subject string, kinds []string) (int, error) {
		_, err := good.EndFlows(ctx, subject, kinds...)
		return 0, err
	}, "the flows of a subject end"),
	ending("subjects end in any case", func(ctx context.Context, good accountstore.Store, subject string, kinds []string) (int, error) {
		n, err := good.EndFlows(ctx, subject, kinds...)
		if err != nil {
			return 0, err
		}
		_, err = good.EndFlows(ctx, strings.ToUpper(subject), kinds...)
		return n, err
	}, "the flows of a subject end"),
	altering("expired flows do not end", func(good accountstore.Store) accountstore.Store {
		var mu sync.Mutex
		expired := map[string][]*accountstore.Flow{}
		return &faulty{Store: good, createFlow: func(ctx context.Context, f *accountstore.Flow) error {
			mu.Lock()
			defer mu.Unlock()
			if f.Expires.Before(time.Now()) {
				expired[f.Subject] = append(expired[f.Subject], f)
			}
			return good.CreateFlow(ctx, f)
		}, endFlows: func(ctx context.Context, subject string, kinds ...string) (int, error) {
			n, err := good.EndFlows(ctx, subject, kinds...)
			for _, f := range expired[subject] {
				if good.CreateFlow(ctx, f) == nil {
					n--
				}
			}
			return n, err
		}}
	}, "the flows of a subject end"),

	counting("expired flows are counted", func(ctx context.Context, good accountstore.Store, subject, kind string, _ time.Time) (int, error) {
		return good.CountFlows(ctx, subject, kind, time.Time{})
	}, "the flows of a subject and a kind are counted"),
	counting("a flow expires a millisecond late", func(ctx context.Context, good accountstore.Store, subject, kind string, after time.Time) (int, error) {
		return good.CountFlows(ctx, subject, kind, after.Add(-time.Millisecond))
	}, "the flows of a subject and a kind are counted"),
	counting("flows of other kinds are counted", func(ctx context.Context, good accountstore.Store, subject, _ string, after time.Time) (int, error) {
		n := 0
		for _, kind := range []string{reset, signUp, "Reset"} {
			one, err := good.CountFlows(ctx, subject, kind, after)
			if err != nil {
				return 0, err
			}
			n += one
		}
		return n, nil
	}, "the flows of a subject and a kind are counted"),
	counting("flows of other subjects are counted", func(ctx context.Context, good accountstore.Store, subject, kind string, after time.Time) (int, error) {
		n, err := good.CountFlows(ctx, subject, kind, after)
		if err != nil {
			return 0, err
		}
		other, err := good.CountFlows(ctx, strings.ToUpper(subject), kind, after)
		return n + other, err
	}, "the flows of a subject and a kind are counted"),
	altering("a changed flow is counted by its first expiry", func(good accountstore.Store) accountstore.Store {
		var first sync.Map
		return &faulty{Store: good, createFlow: func(ctx context.Context, f *accountstore.Flow) error {
			first.Store(f.Subject, f.Expires)
			return good.CreateFlow(ctx, f)
		}, countFlows: func(ctx context.Context, subject, kind string, after time.Time) (int, error) {
			if last, ok := first.Load(subject); ok && !last.(time.Time).After(after) {
				return 0, ctx.Err()
			}
			return good.CountFlows(ctx, subject, kind, after)
		}}
	}, "the flows of a subject and a kind are counted"),
}

// mustKind returns the kind of a flow, or a kind that none has.
func mustKind(ctx context.Context, good accountstore.Store, id accountstore.Hash) string {
	f, err := good.Flow(ctx, id)
	if err != nil {
		return "\x00"
	}
	return f.Kind
}
