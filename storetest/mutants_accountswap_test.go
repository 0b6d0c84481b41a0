package storetest

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

// A swapping is a good store whose SwapAccount is another.
type swapping struct {
	*memstore.Store
	swap func(ctx context.Context, s *memstore.Store, a *pintle.Account, old string) error
}

func (s swapping) SwapAccount(ctx context.Context, a *pintle.Account, old string) error {
	return s.swap(ctx, s.Store, a, old)
}

// swapsIf swaps where the stored token is like the expected one.
func swapsIf(like func(stored, old string) bool) func(context.Context, *memstore.Store, *pintle.Account, string) error {
	return func(ctx context.Context, s *memstore.Store, a *pintle.Account, old string) error {
		found, err := s.Account(ctx, a.Provider, a.ProviderAccountID)
		if err != nil {
			return err
		}
		if !like(found.RefreshToken, old) {
			return pintle.ErrConflict
		}
		return s.SwapAccount(ctx, a, found.RefreshToken)
	}
}

var accountSwapMutants = swapMutants([]swapMutant{
	{"a swap asks for nothing", func(ctx context.Context, s *memstore.Store, a *pintle.Account, _ string) error {
		return s.UpdateAccount(ctx, a)
	}, "tokens are not swapped if"},
	{"a swap looks, then writes", func(ctx context.Context, s *memstore.Store, a *pintle.Account, old string) error {
		found, err := s.Account(ctx, a.Provider, a.ProviderAccountID)
		if err == nil && found.RefreshToken != old {
			err = pintle.ErrConflict
		}
		if err != nil {
			return err
		}
		time.Sleep(time.Millisecond) // a round trip
		return s.UpdateAccount(ctx, a)
	}, "of 64 who swap"},
	{"tokens match in any case", swapsIf(strings.EqualFold), "tokens are not swapped if"},
	{"tokens match without spaces", swapsIf(func(stored, old string) bool { return stored == strings.TrimSpace(old) }), "tokens are not swapped if"},
	{"tokens match to a NUL", swapsIf(func(stored, old string) bool {
		old, _, _ = strings.Cut(old, "\x00")
		return stored == old
	}), "tokens are not swapped if"},
	{"tokens match by their beginning", swapsIf(func(stored, old string) bool {
		return stored[:min(len(stored), 255)] == old[:min(len(old), 255)]
	}), "compared to its end"},
	{"no token matches all", swapsIf(func(stored, old string) bool { return stored == old || old == "" }), "tokens are not swapped if"},
	{"all match no token", swapsIf(func(stored, old string) bool { return stored == old || stored == "" }), "expected by an empty text"},
	{"no token is never expected", swapsIf(func(stored, old string) bool { return stored == old && old != "" }), "expected by an empty text"},
	{"a token has to change", func(ctx context.Context, s *memstore.Store, a *pintle.Account, old string) error {
		if a.RefreshToken == old {
			return pintle.ErrConflict
		}
		return s.SwapAccount(ctx, a, old)
	}, "a refresh token that stays"},
	{"a swap that is refused is silent", func(ctx context.Context, s *memstore.Store, a *pintle.Account, old string) error {
		if err := s.SwapAccount(ctx, a, old); !errors.Is(err, pintle.ErrConflict) {
			return err
		}
		return nil
	}, "tokens are not swapped if"},
	{"the account that a swap misses is a conflict", func(ctx context.Context, s *memstore.Store, a *pintle.Account, old string) error {
		if err := s.SwapAccount(ctx, a, old); !errors.Is(err, pintle.ErrNotFound) {
			return err
		}
		return pintle.ErrConflict
	}, "the tokens of an account that does not exist"},
	{"a swap links", func(ctx context.Context, s *memstore.Store, a *pintle.Account, old string) error {
		err := s.SwapAccount(ctx, a, old)
		if errors.Is(err, pintle.ErrNotFound) {
			_ = s.LinkAccount(ctx, a)
		}
		return err
	}, "the tokens of an account that does not exist"},
	{"a swap moves the account", func(ctx context.Context, s *memstore.Store, a *pintle.Account, old string) error {
		if err := s.SwapAccount(ctx, a, old); err != nil {
			return err
		}
		return moving{s}.UpdateAccount(ctx, a)
	}, "nothing else changes"},
	{"a swap replaces the refresh token alone", func(ctx context.Context, s *memstore.Store, a *pintle.Account, old string) error {
		found, err := s.Account(ctx, a.Provider, a.ProviderAccountID)
		if err != nil {
			return err
		}
		found.RefreshToken = a.RefreshToken
		return s.SwapAccount(ctx, found, old)
	}, "tokens are swapped if"},
	{"a swap goes on without its context", func(ctx context.Context, s *memstore.Store, a *pintle.Account, old string) error {
		return s.SwapAccount(context.WithoutCancel(ctx), a, old)
	}, "Cancelled"},
})

type swapMutant struct {
	name    string
	swap    func(ctx context.Context, s *memstore.Store, a *pintle.Account, old string) error
	noticed string
}

func swapMutants(all []swapMutant) []mutant {
	mutants := make([]mutant, len(all))
	for i, m := range all {
		mutants[i] = mutant{m.name, func(s *memstore.Store) pintle.Store { return swapping{s, m.swap} }, m.noticed}
	}
	return mutants
}
