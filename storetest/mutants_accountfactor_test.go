package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
)

// factorReads is a mutant that returns factors altered.
func factorReads(name string, alter func([]*accountstore.Factor) []*accountstore.Factor, noticed string) mutant {
	return altering(name, func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, getFactors: func(ctx context.Context, userID string) ([]*accountstore.Factor, error) {
			factors, err := good.Factors(ctx, userID)
			return alter(factors), err
		}}
	}, noticed)
}

// eachFactor alters each factor that is returned.
func eachFactor(alter func(*accountstore.Factor)) func([]*accountstore.Factor) []*accountstore.Factor {
	return func(factors []*accountstore.Factor) []*accountstore.Factor {
		for _, f := range factors {
			alter(f)
		}
		return factors
	}
}

// replacing is a mutant that replaces factors in another way.
func replacing(name string, replace func(context.Context, accountstore.Store, *accountstore.Factor) error, noticed string) mutant {
	return altering(name, func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, replaceFactor: func(ctx context.Context, f *accountstore.Factor) error {
			c := *f
			return replace(ctx, good, &c)
		}}
	}, noticed)
}

// advancing is a mutant that advances factors in another way.
func advancing(name string, advance func(ctx context.Context, good accountstore.Store, userID, kind, id string, step int64, used time.Time) error, noticed string) mutant {
	return altering(name, func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, advanceFactor: func(ctx context.Context, userID, kind, id string, step int64, used time.Time) error {
			return advance(ctx, good, userID, kind, id, step, used)
		}}
	}, noticed)
}

// deleting is a mutant that deletes a factor in another way.
func deleting(name string, remove func(ctx context.Context, good accountstore.Store, userID, kind, id string) error, noticed string) mutant {
	return altering(name, func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, deleteFactor: func(ctx context.Context, userID, kind, id string) error {
			return remove(ctx, good, userID, kind, id)
		}}
	}, noticed)
}

// clearing is a mutant that deletes several factors in another way.
func clearing(name string, remove func(ctx context.Context, good accountstore.Store, userID string, kinds, except []string) (int, error), noticed string) mutant {
	return altering(name, func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, deleteFactors: func(ctx context.Context, userID string, kinds, except []string) (int, error) {
			return remove(ctx, good, userID, kinds, except)
		}}
	}, noticed)
}

// factorOf returns a factor.
func factorOf(ctx context.Context, good accountstore.Store, userID, kind, id string) (*accountstore.Factor, error) {
	factors, err := good.Factors(ctx, userID)
	if err != nil {
		return nil, err
	}
	for _, f := range factors {
		if f.Kind == kind && f.ID == id {
			return f, nil
		}
	}
	return nil, pintle.ErrNotFound
}

// forceFactor replaces a factor whatever its version.
func forceFactor(ctx context.Context, good accountstore.Store, f *accountstore.Factor) error {
	for {
		now, err := factorOf(ctx, good, f.UserID, f.Kind, f.ID)
		if err != nil {
			return err
		}
		f.Version = now.Version
		if err := good.ReplaceFactor(ctx, f); !errors.Is(err, pintle.ErrConflict) {
			return err
		}
	}
}

// resetStep writes a step whatever the step is, and leaves the version by the factor
// being stored anew.
func resetStep(ctx context.Context, good accountstore.Store, userID, kind, id string, step int64, used time.Time) error {
	f, err := factorOf(ctx, good, userID, kind, id)
	if err != nil {
		return err
	}
	if err := good.DeleteFactor(ctx, userID, kind, id); err != nil {
		return err
	}
	version := f.Version
	f.Step, f.LastUsed = step, used
	if err := good.AddFactor(ctx, f); err != nil {
		return err
	}
	for f.Version = 1; f.Version < version; f.Version++ {
		if err := good.ReplaceFactor(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// fullKind returns the kind of the user's factor with an id.
func fullKind(ctx context.Context, good accountstore.Store, userID, kind, id string) string {
	factors, _ := good.Factors(ctx, userID)
	for _, f := range factors {
		if f.ID == id {
			return f.Kind
		}
	}
	return kind
}

var factorMutants = []mutant{
	factorReads("a new factor has version 0", eachFactor(func(f *accountstore.Factor) { f.Version-- }), "a factor reads back as it was stored"),
	factorReads("expired factors are hidden", func(factors []*accountstore.Factor) []*accountstore.Factor {
		return slices.DeleteFunc(factors, func(f *accountstore.Factor) bool { return !f.Expires.IsZero() && f.Expires.Before(time.Now()) })
	}, "expired factors are listed"),
	factorReads("factors are in no order", func(factors []*accountstore.Factor) []*accountstore.Factor {
		slices.Reverse(factors)
		return factors
	}, "factors are in the order of"),
	factorReads("factors of one time are in the order of a dictionary", func(factors []*accountstore.Factor) []*accountstore.Factor {
		slices.SortStableFunc(factors, func(a, b *accountstore.Factor) int {
			if c := a.Created.Compare(b.Created); c != 0 {
				return c
			}
			return strings.Compare(strings.ToLower(a.Kind+a.ID), strings.ToLower(b.Kind+b.ID))
		})
		return factors
	}, "factors are in the order of"),
	factorReads("the times of a factor have whole seconds", eachFactor(func(f *accountstore.Factor) { f.Created = f.Created.Truncate(time.Second) }), "a factor reads back"),
	factorReads("a factor that never expires expired in 1970", eachFactor(func(f *accountstore.Factor) {
		if f.Expires.IsZero() {
			f.Expires = time.UnixMilli(0)
		}
	}), "a factor without anything in it"),
	factorReads("a step has 53 bits", eachFactor(func(f *accountstore.Factor) { f.Step = int64(float64(f.Step)) }), "the least step and the greatest step"),
	factorReads("a long secret is cut", eachFactor(func(f *accountstore.Factor) { f.Secret = f.Secret[:min(len(f.Secret), 64<<10-1)] }), "the longest texts of a factor"),
	factorReads("at most 200 factors are listed", func(factors []*accountstore.Factor) []*accountstore.Factor {
		return factors[:min(len(factors), 200)]
	}, "many factors of a user"),
	altering("a new factor overwrites another", func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, addFactor: func(ctx context.Context, f *accountstore.Factor) error {
			if err := good.AddFactor(ctx, f); !errors.Is(err, pintle.ErrConflict) {
				return err
			}
			c := *f
			return forceFactor(ctx, good, &c)
		}}
	}, "a second factor of one user, kind and id"),
	altering("a new factor overwrites an expired one", func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, addFactor: func(ctx context.Context, f *accountstore.Factor) error {
			now, err := factorOf(ctx, good, f.UserID, f.Kind, f.ID)
			if err == nil && now.Expires.Before(time.Now()) && !now.Expires.IsZero() {
				c := *f
				return forceFactor(ctx, good, &c)
			}
			return good.AddFactor(ctx, f)
		}}
	}, "a second factor of one user, kind and id"),
	altering("a factor is looked for, then added", func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, addFactor: func(ctx context.Context, f *accountstore.Factor) error {
			if _, err := factorOf(ctx, good, f.UserID, f.Kind, f.ID); err == nil {
				return pintle.ErrConflict
			}
			others()
			if err := good.AddFactor(ctx, f); !errors.Is(err, pintle.ErrConflict) {
				return err
			}
			return nil
		}}
	}, "of 64 factors with one user, kind and id"),
	altering("kind and id are joined", func(good accountstore.Store) accountstore.Store {
		return &faulty{Store: good, addFactor: func(ctx context.Context, f *accountstore.Factor) error {
			factors, err := good.Factors(ctx, f.UserID)
			if err != nil {
				return err
			}
			for _, other := range factors {
				if other.Kind+":"+other.ID == f.Kind+":"+f.ID {
					return pintle.ErrConflict
				}
			}
			return good.AddFactor(ctx, f)
		}}
	}, "factors that differ in their user"),
	replacing("the version of a factor is ignored", forceFactor, "a replacement of another version"),
	replacing("a factor is compared, then replaced", func(ctx context.Context, good accountstore.Store, f *accountstore.Factor) error {
		now, err := factorOf(ctx, good, f.UserID, f.Kind, f.ID)
		if err != nil {
			return err
		}
		if now.Version != f.Version {
			return pintle.ErrConflict
		}
		others()
		return forceFactor(ctx, good, f)
	}, "of 64 replacements of one version"),
	replacing("a replacement makes a factor", func(ctx context.Context, good accountstore.Store, f *accountstore.Factor) error {
		if err := good.ReplaceFactor(ctx, f); !errors.Is(err, pintle.ErrNotFound) {
			return err
		}
		return good.AddFactor(ctx, f)
	}, "a factor that is missing is not found"),
	replacing("a factor that is missing is a conflict", func(ctx context.Context, good accountstore.Store, f *accountstore.Factor) error {
		if err := good.ReplaceFactor(ctx, f); err != nil {
			return pintle.ErrConflict
		}
		return nil
	}, "a factor that is missing is not found"),
	replacing("a replacement brings a deleted factor back", func(ctx context.Context, good accountstore.Store, f *accountstore.Factor) error {
		if _, err := factorOf(ctx, good, f.UserID, f.Kind, f.ID); err != nil {
			return err
		}
		others()
		if err := good.ReplaceFactor(ctx, f); !errors.Is(err, pintle.ErrNotFound) {
			return err
		}
		return good.AddFactor(ctx, f)
	}, "a factor that is changed while it is deleted"),
	replacing("a replacement leaves the expiry", func(ctx context.Context, good accountstore.Store, f *accountstore.Factor) error {
		if now, err := factorOf(ctx, good, f.UserID, f.Kind, f.ID); err == nil {
			f.Expires = now.Expires
		}
		return good.ReplaceFactor(ctx, f)
	}, "a factor is replaced but for its creation"),
	replacing("empty texts are not replaced", func(ctx context.Context, good accountstore.Store, f *accountstore.Factor) error {
		if now, err := factorOf(ctx, good, f.UserID, f.Kind, f.ID); err == nil && f.Name == "" {
			f.Name = now.Name
		}
		return good.ReplaceFactor(ctx, f)
	}, "a factor is replaced but for its creation"),
	replacing("a replacement sets the step back", func(ctx context.Context, good accountstore.Store, f *accountstore.Factor) error {
		if err := good.ReplaceFactor(ctx, f); err != nil {
			return err
		}
		return resetStep(ctx, good, f.UserID, f.Kind, f.ID, f.Step, f.LastUsed)
	}, "a code that was accepted stays used"),
	replacing("a replacement leaves the step", func(ctx context.Context, good accountstore.Store, f *accountstore.Factor) error {
		if now, err := factorOf(ctx, good, f.UserID, f.Kind, f.ID); err == nil {
			f.Step = now.Step
		}
		return good.ReplaceFactor(ctx, f)
	}, "a factor is replaced but for its creation"),
	replacing("the step of a replacement is compared as text", func(ctx context.Context, good accountstore.Store, f *accountstore.Factor) error {
		now, err := factorOf(ctx, good, f.UserID, f.Kind, f.ID)
		if err != nil {
			return err
		}
		if err := good.ReplaceFactor(ctx, f); err != nil {
			return err
		}
		step := f.Step
		if fmt.Sprint(now.Step) > fmt.Sprint(f.Step) {
			step = now.Step
		}
		return resetStep(ctx, good, f.UserID, f.Kind, f.ID, step, f.LastUsed)
	}, "a code that was accepted stays used"),
	replacing("the step of a factor is compared, then the factor is replaced", func(ctx context.Context, good accountstore.Store, f *accountstore.Factor) error {
		now, err := factorOf(ctx, good, f.UserID, f.Kind, f.ID)
		if err != nil {
			return err
		}
		// Of the calls of a race, the first to write is one that looked before a code was
		// accepted: the others wait for longer.
		for range 20 {
			others()
			if later, err := factorOf(ctx, good, f.UserID, f.Kind, f.ID); err != nil || later.Step != now.Step {
				break
			}
		}
		if err := good.ReplaceFactor(ctx, f); err != nil {
			return err
		}
		return resetStep(ctx, good, f.UserID, f.Kind, f.ID, max(now.Step, f.Step), f.LastUsed)
	}, "a code that is accepted while its factor is replaced"),
	replacing("a replacement is new", func(ctx context.Context, good accountstore.Store, f *accountstore.Factor) error {
		if err := good.ReplaceFactor(ctx, f); err != nil {
			return err
		}
		version := f.Version + 1
		if err := good.DeleteFactor(ctx, f.UserID, f.Kind, f.ID); err != nil {
			return err
		}
		if err := good.AddFactor(ctx, f); err != nil {
			return err
		}
		for f.Version = 1; f.Version < version; f.Version++ {
			if err := good.ReplaceFactor(ctx, f); err != nil {
				return err
			}
		}
		return nil
	}, "a factor is replaced but for its creation"),
	replacing("a factor is found by its id alone", func(ctx context.Context, good accountstore.Store, f *accountstore.Factor) error {
		f.Kind = fullKind(ctx, good, f.UserID, f.Kind, f.ID)
		return good.ReplaceFactor(ctx, f)
	}, "a factor that is missing is not found"),
	advancing("a step is found by its id alone", func(ctx context.Context, good accountstore.Store, userID, kind, id string, step int64, used time.Time) error {
		return good.AdvanceFactor(ctx, userID, fullKind(ctx, good, userID, kind, id), id, step, used)
	}, "a factor that is missing is not found"),
	advancing("one step is made twice", func(ctx context.Context, good accountstore.Store, userID, kind, id string, step int64, used time.Time) error {
		now, err := factorOf(ctx, good, userID, kind, id)
		if err == nil && now.Step == step {
			return nil
		}
		return good.AdvanceFactor(ctx, userID, kind, id, step, used)
	}, "a step only goes forward"),
	advancing("a step goes back", resetStep, "a step only goes forward"),
	advancing("a step is compared, then made", func(ctx context.Context, good accountstore.Store, userID, kind, id string, step int64, used time.Time) error {
		now, err := factorOf(ctx, good, userID, kind, id)
		if err != nil {
			return err
		}
		if now.Step >= step {
			return pintle.ErrConflict
		}
		others()
		if err := good.AdvanceFactor(ctx, userID, kind, id, step, used); !errors.Is(err, pintle.ErrConflict) {
			return err
		}
		return nil
	}, "of 64 who send one code"),
	advancing("a step does not set the time", func(ctx context.Context, good accountstore.Store, userID, kind, id string, step int64, used time.Time) error {
		if now, err := factorOf(ctx, good, userID, kind, id); err == nil {
			used = now.LastUsed
		}
		return good.AdvanceFactor(ctx, userID, kind, id, step, used)
	}, "a step only goes forward"),
	advancing("a step changes the version", func(ctx context.Context, good accountstore.Store, userID, kind, id string, step int64, used time.Time) error {
		if err := good.AdvanceFactor(ctx, userID, kind, id, step, used); err != nil {
			return err
		}
		now, err := factorOf(ctx, good, userID, kind, id)
		if err != nil {
			return err
		}
		return good.ReplaceFactor(ctx, now)
	}, "leaves the version"),
	deleting("a factor is deleted by its id alone", func(ctx context.Context, good accountstore.Store, userID, kind, id string) error {
		return good.DeleteFactor(ctx, userID, fullKind(ctx, good, userID, kind, id), id)
	}, "a factor that is missing is not found"),
	deleting("deleting no factor is no error", func(ctx context.Context, good accountstore.Store, userID, kind, id string) error {
		if err := good.DeleteFactor(ctx, userID, kind, id); !errors.Is(err, pintle.ErrNotFound) {
			return err
		}
		return nil
	}, "a factor is deleted once"),
	deleting("a factor is looked for, then deleted", func(ctx context.Context, good accountstore.Store, userID, kind, id string) error {
		if _, err := factorOf(ctx, good, userID, kind, id); err != nil {
			return err
		}
		others()
		if err := good.DeleteFactor(ctx, userID, kind, id); !errors.Is(err, pintle.ErrNotFound) {
			return err
		}
		return nil
	}, "of 64 who use one recovery code"),
	deleting("deleting a factor deletes those of its kind", func(ctx context.Context, good accountstore.Store, userID, kind, id string) error {
		if err := good.DeleteFactor(ctx, userID, kind, id); err != nil {
			return err
		}
		_, err := good.DeleteFactors(ctx, userID, []string{kind}, nil)
		return err
	}, "a factor is deleted once"),
	altering("any user deletes a factor", func(good accountstore.Store) accountstore.Store {
		var owners sync.Map
		return &faulty{Store: good, addFactor: func(ctx context.Context, f *accountstore.Factor) error {
			owners.Store([2]string{f.Kind, f.ID}, f.UserID)
			return good.AddFactor(ctx, f)
		}, deleteFactor: func(ctx context.Context, userID, kind, id string) error {
			if owner, ok := owners.Load([2]string{kind, id}); ok {
				userID = owner.(string)
			}
			return good.DeleteFactor(ctx, userID, kind, id)
		}}
	}, "a factor that is missing is not found"),
	clearing("exceptions are ignored", func(ctx context.Context, good accountstore.Store, userID string, kinds, _ []string) (int, error) {
		return good.DeleteFactors(ctx, userID, kinds, nil)
	}, "the factors of some kinds are deleted"),
	clearing("no kinds are all kinds", func(ctx context.Context, good accountstore.Store, userID string, kinds, except []string) (int, error) {
		if len(kinds) == 0 {
			kinds = []string{device, password, recovery, totp}
		}
		return good.DeleteFactors(ctx, userID, kinds, except)
	}, "the factors of some kinds are deleted"),
	clearing("only the first kind is deleted", func(ctx context.Context, good accountstore.Store, userID string, kinds, except []string) (int, error) {
		return good.DeleteFactors(ctx, userID, kinds[:min(1, len(kinds))], except)
	}, "the factors of some kinds are deleted"),
	clearing("an exception is one of the first kind", func(ctx context.Context, good accountstore.Store, userID string, kinds, except []string) (int, error) {
		if len(kinds) < 2 {
			return good.DeleteFactors(ctx, userID, kinds, except)
		}
		first, err := good.DeleteFactors(ctx, userID, kinds[:1], except)
		if err != nil {
			return 0, err
		}
		rest, err := good.DeleteFactors(ctx, userID, kinds[1:], nil)
		return first + rest, err
	}, "the factors of some kinds are deleted"),
	clearing("deleted factors are not counted", func(ctx context.Context, good accountstore.Store, userID string, kinds, except []string) (int, error) {
		_, err := good.DeleteFactors(ctx, userID, kinds, except)
		return 0, err
	}, "the factors of some kinds are deleted"),
}
