package storetest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

// featureMutants are stores whose features are not what they say: each one is
// there and fails, and each one is missing and works.
func featureMutants() []mutant {
	mutants := []mutant{
		{"the features come with the first user", func(s *memstore.Store) pintle.Store { return &growing{Store: s} }, "the features do not change"},
		{"passkeys without accounts", func(s *memstore.Store) pintle.Store { return without(s, "Accounts") }, "a feature that needs another has it"},
		{"swaps without accounts", func(s *memstore.Store) pintle.Store { return without(s, "Accounts") }, "a feature that needs another has it"},
		{"a list of sessions without sessions", func(s *memstore.Store) pintle.Store { return without(s, "Sessions") }, "a feature that needs another has it"},
		{"names without passkeys", func(s *memstore.Store) pintle.Store { return without(s, "Passkeys") }, "a feature that needs another has it"},
	}
	for _, f := range features {
		mutants = append(mutants,
			mutant{f.name + " do not work", func(s *memstore.Store) pintle.Store { return broken{s, f.name} }, "a feature that the store has works"},
			mutant{f.name + " are kept secret", func(s *memstore.Store) pintle.Store { return without(s, f.name) }, "the methods of a feature that the store does not have"},
		)
	}
	return mutants
}

func TestTheChecksKnowEveryFeature(t *testing.T) {
	var names []string
	fields := reflect.TypeFor[pintle.Features]()
	for _, f := range features {
		names = append(names, f.name)
		for i := range fields.NumField() {
			v := reflect.New(fields).Elem()
			if v.Field(i).Kind() != reflect.Bool {
				continue
			}
			v.Field(i).SetBool(true)
			if got, want := f.of(v.Interface().(pintle.Features)), fields.Field(i).Name == f.name; got != want {
				t.Errorf("%s is %t for a store of %s alone", f.name, got, fields.Field(i).Name)
			}
		}
	}
	for field := range fields.Fields() {
		if !slices.Contains(append(names, "InMemory", "Remedy"), field.Name) {
			t.Errorf("there is no check of Features.%s", field.Name)
		}
	}
	methods := []string{"Features", "CreateUser", "User", "UserByEmail", "UserByAccount", "UpdateUser", "LinkAccount", "AccountStore", "SharedState", "ProviderSessions"}
	for _, f := range features {
		for _, m := range f.methods {
			methods = append(methods, m.name)
		}
	}
	for m := range reflect.TypeFor[pintle.Store]().Methods() {
		if !slices.Contains(methods, m.Name) {
			t.Errorf("Store.%s belongs to no feature", m.Name)
		}
	}
}

// altered is a store that says something else of its features.
type altered struct {
	*memstore.Store
	features pintle.Features
}

func (s altered) Features() pintle.Features { return s.features }

func without(s *memstore.Store, feature string) altered {
	f := s.Features()
	reflect.ValueOf(&f).Elem().FieldByName(feature).SetBool(false)
	return altered{s, f}
}

type growing struct {
	*memstore.Store
	grown atomic.Bool // many sign up at once
}

func (s *growing) CreateUser(ctx context.Context, u *pintle.User) (*pintle.User, error) {
	s.grown.Store(true)
	return s.Store.CreateUser(ctx, u)
}

func (s *growing) Features() pintle.Features {
	f := s.Store.Features()
	f.Sweep = s.grown.Load()
	return f
}

// broken is a store in which one method of a feature fails.
type broken struct {
	*memstore.Store
	feature string
}

func (s broken) fails(feature string) error {
	if feature == s.feature {
		return errors.ErrUnsupported
	}
	return nil
}

func (s broken) UpdateAccount(ctx context.Context, a *pintle.Account) error {
	return errors.Join(s.fails("Accounts"), s.Store.UpdateAccount(ctx, a))
}

func (s broken) SwapAccount(ctx context.Context, a *pintle.Account, old string) error {
	return errors.Join(s.fails("AccountSwap"), s.Store.SwapAccount(ctx, a, old))
}

func (s broken) UpdateSession(ctx context.Context, token string, change pintle.SessionUpdate) error {
	return errors.Join(s.fails("Sessions"), s.Store.UpdateSession(ctx, token, change))
}

func (s broken) EndSession(ctx context.Context, userID, handle string) error {
	return errors.Join(s.fails("SessionList"), s.Store.EndSession(ctx, userID, handle))
}

func (s broken) CreateVerification(ctx context.Context, v *pintle.Verification) error {
	return errors.Join(s.fails("Verifications"), s.Store.CreateVerification(ctx, v))
}

func (s broken) DeletePasskey(ctx context.Context, userID, credentialID string) error {
	return errors.Join(s.fails("Passkeys"), s.Store.DeletePasskey(ctx, userID, credentialID))
}

func (s broken) RenamePasskey(ctx context.Context, userID, credentialID, name string) error {
	return errors.Join(s.fails("PasskeyNames"), s.Store.RenamePasskey(ctx, userID, credentialID, name))
}

func (s broken) DeleteUser(ctx context.Context, id string) error {
	return errors.Join(s.fails("DeleteUser"), s.Store.DeleteUser(ctx, id))
}

func (s broken) Sweep(ctx context.Context, before time.Time, limit int) (int, error) {
	n, err := s.Store.Sweep(ctx, before, limit)
	return n, errors.Join(s.fails("Sweep"), err)
}

func (s broken) InTx(ctx context.Context, f func(pintle.Store) error) error {
	return errors.Join(s.fails("Transactions"), s.Store.InTx(ctx, f))
}
