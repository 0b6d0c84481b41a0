package storetest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/store/memstore"
)

// A linkTable keeps mail links in a slice, with the faults that its fields select.
type linkTable struct {
	*memstore.Store
	mu    sync.Mutex
	links []pintle.Verification

	same   func(v pintle.Verification, identifier, token string) bool
	remove func(v, used pintle.Verification) bool
	pause  bool // between looking and removing
	burn   bool // remove the links of an address whatever the token
	spoil  func(*pintle.Verification)
}

func (s *linkTable) CreateVerification(ctx context.Context, v *pintle.Verification) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links = append(s.links, *v)
	return ctx.Err()
}

func (s *linkTable) UseVerification(ctx context.Context, identifier, token string) (*pintle.Verification, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.links {
		if !s.same(v, identifier, token) {
			continue
		}
		if s.pause {
			s.mu.Unlock()
			time.Sleep(time.Millisecond)
			s.mu.Lock()
		}
		s.delete(v)
		if s.spoil != nil {
			s.spoil(&v)
		}
		return &v, nil
	}
	if s.burn {
		s.delete(pintle.Verification{Identifier: identifier})
	}
	return nil, pintle.ErrNotFound
}

func (s *linkTable) delete(used pintle.Verification) {
	var rest []pintle.Verification
	for _, v := range s.links {
		if !s.remove(v, used) {
			rest = append(rest, v)
		}
	}
	s.links = rest
}

func pair(v pintle.Verification, identifier, token string) bool {
	return v.Identifier == identifier && v.Token == token
}

func itself(v, used pintle.Verification) bool { return v == used }

func sameAddress(v, used pintle.Verification) bool { return v.Identifier == used.Identifier }

var linkMutants = []mutant{
	{"a link is found by its address", func(s *memstore.Store) pintle.Store {
		return &linkTable{Store: s, remove: itself, same: func(v pintle.Verification, identifier, _ string) bool { return v.Identifier == identifier }}
	}, "SH-08 a wrong token for the right address"},
	{"a link is found by its token", func(s *memstore.Store) pintle.Store {
		return &linkTable{Store: s, remove: itself, same: func(v pintle.Verification, _, token string) bool { return v.Token == token }}
	}, "SH-09 the right token for another address"},
	{"a wrong token burns the right one", func(s *memstore.Store) pintle.Store {
		return &linkTable{Store: s, remove: sameAddress, same: pair, burn: true}
	}, "SH-08 a wrong token for the right address"},
	{"a link can be used again", func(s *memstore.Store) pintle.Store {
		return &linkTable{Store: s, remove: func(_, _ pintle.Verification) bool { return false }, same: pair}
	}, "SH-19 a link is used once"},
	{"a link is read, then deleted", func(s *memstore.Store) pintle.Store {
		return &linkTable{Store: s, remove: itself, same: pair, pause: true}
	}, "SH-19, SH-20 of 64 who use one link"},
	{"using a link uses the others of its address", func(s *memstore.Store) pintle.Store {
		return &linkTable{Store: s, remove: sameAddress, same: pair}
	}, "several links may be open for one address"},
	{"a used link has expired just now", func(s *memstore.Store) pintle.Store {
		return &linkTable{Store: s, remove: itself, same: pair, spoil: func(v *pintle.Verification) { v.Expires = time.Now() }}
	}, "13, 14a a link is returned as it was stored"},
	{"an expired link is hidden", func(s *memstore.Store) pintle.Store { return hiddenLink{s} }, "an expired link is returned, and used up"},
	{"addresses of links are lower case", func(s *memstore.Store) pintle.Store {
		return &linkTable{Store: s, remove: itself, same: func(v pintle.Verification, identifier, token string) bool {
			return len(v.Identifier) == len(identifier) && v.Token == token
		}}
	}, "address and token are compared exactly"},
}

type hiddenLink struct{ *memstore.Store }

func (s hiddenLink) UseVerification(ctx context.Context, identifier, token string) (*pintle.Verification, error) {
	v, err := s.Store.UseVerification(ctx, identifier, token)
	if err == nil && v.Expires.Before(time.Now()) {
		return nil, pintle.ErrNotFound
	}
	return v, err
}

var transactionMutants = []mutant{
	{"transports are shared with the caller", func(s *memstore.Store) pintle.Store { return &sharedTransports{Store: s} }, "passkeys that were passed or returned"},
	{"a transaction has no effect", func(s *memstore.Store) pintle.Store { return noTx{s} }, "an error undoes everything"},
	{"a panic commits", func(s *memstore.Store) pintle.Store { return panicCommits{s} }, "a panic undoes everything"},
	{"a panic is swallowed", func(s *memstore.Store) pintle.Store { return swallows{s} }, "a panic undoes everything, and goes on"},
	{"the error is hidden", func(s *memstore.Store) pintle.Store { return hides{s} }, "an error undoes everything, and is returned"},
	{"a transaction never commits", func(s *memstore.Store) pintle.Store { return never{s} }, "what was written is there afterwards"},
	{"changes are visible at once", func(s *memstore.Store) pintle.Store { return noTx{s} }, "nothing is visible to others"},
	{"a transaction's store does less", func(s *memstore.Store) pintle.Store { return less{s} }, "can do what the store can"},
	{"a transaction's store outlives it", func(s *memstore.Store) pintle.Store { return noTx{s} }, "the store of a finished transaction"},
	{"a transaction outlives its context", func(s *memstore.Store) pintle.Store { return outlives{s} }, "a transaction whose context has ended"},
}

type noTx struct{ *memstore.Store }

func (s noTx) InTx(_ context.Context, f func(pintle.Store) error) error {
	return f(s.Store)
}

type panicCommits struct{ *memstore.Store }

func (s panicCommits) InTx(ctx context.Context, f func(pintle.Store) error) error {
	var p any
	err := s.Store.InTx(ctx, func(tx pintle.Store) error {
		defer func() { p = recover() }()
		return f(tx)
	})
	if p != nil {
		panic(p)
	}
	return err
}

type swallows struct{ *memstore.Store }

func (s swallows) InTx(ctx context.Context, f func(pintle.Store) error) (err error) {
	defer func() { _ = recover() }()
	return s.Store.InTx(ctx, f)
}

type hides struct{ *memstore.Store }

func (s hides) InTx(ctx context.Context, f func(pintle.Store) error) error {
	if err := s.Store.InTx(ctx, f); err != nil {
		return errors.New("transaction failed")
	}
	return nil
}

type never struct{ *memstore.Store }

func (s never) InTx(ctx context.Context, f func(pintle.Store) error) error {
	var result error
	_ = s.Store.InTx(ctx, func(tx pintle.Store) error {
		result = f(tx)
		return errChanged
	})
	return result
}

type less struct{ *memstore.Store }

func (s less) InTx(ctx context.Context, f func(pintle.Store) error) error {
	return s.Store.InTx(ctx, func(tx pintle.Store) error { return f(noSweep{tx}) })
}

// sharedTransports keeps the slice that it is given.
type sharedTransports struct {
	*memstore.Store
	mu   sync.Mutex
	kept map[string][]string
}

func (s *sharedTransports) CreatePasskey(ctx context.Context, a *pintle.Passkey) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[string][]string{}
	}
	s.kept[a.CredentialID] = a.Transports
	return s.Store.CreatePasskey(ctx, a)
}

func (s *sharedTransports) Passkey(ctx context.Context, credentialID string) (*pintle.Passkey, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.Store.Passkey(ctx, credentialID)
	if err == nil {
		a.Transports = s.kept[credentialID]
	}
	return a, err
}

type noSweep struct{ pintle.Store }

func (s noSweep) Features() pintle.Features {
	f := s.Store.Features()
	f.Sweep = false
	return f
}

type outlives struct{ *memstore.Store }

func (s outlives) InTx(ctx context.Context, f func(pintle.Store) error) error {
	return s.Store.InTx(context.WithoutCancel(ctx), f)
}
