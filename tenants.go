package pintle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"sync"

	"github.com/pintleauth/pintle/internal/clip"
	"github.com/pintleauth/pintle/internal/flight"
	"github.com/pintleauth/pintle/internal/lru"
)

// maxTenants bounds the configurations that are kept. Keys come from requests,
// so a client can invent any number of them.
const maxTenants = 1000

// tenants are the configurations of a service by their keys.
type tenants struct {
	key    func(*http.Request) string
	config func(context.Context, string) (Config, error)

	// spent is for all of them, because it must outlive each.
	spent *spent

	making flight.Group[*settings]
	mu     sync.Mutex
	byKey  lru.Map[string, *settings]
	warned map[string]bool // the ids of providers, which are the host's
}

func newTenants(key func(*http.Request) string, config func(context.Context, string) (Config, error)) *tenants {
	return &tenants{key: key, config: config, spent: newSpent(), byKey: lru.Map[string, *settings]{Max: maxTenants}}
}

// ofKey returns the configuration with a key, and makes it if it is not kept.
func (t *tenants) ofKey(ctx context.Context, key string) (*settings, error) {
	if s := t.kept(key); s != nil {
		return s, nil
	}
	s, err := t.making.Do(ctx, key, func(ctx context.Context) (*settings, error) { return t.make(ctx, key) })
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, fail(codeUnknownTenant, fmt.Errorf("%s: %w", clip.Quote(key), err))
	case err != nil:
		return nil, fail(CodeConfiguration, err)
	}
	return s, nil
}

func (t *tenants) kept(key string) *settings {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, _ := t.byKey.Get(key)
	return s
}

func (t *tenants) make(ctx context.Context, key string) (*settings, error) {
	if s := t.kept(key); s != nil {
		return s, nil // made between the caller's look and this one
	}
	cfg, err := t.config(ctx, key)
	if err != nil {
		return nil, err
	}
	if cfg.Tenant == "" && !cfg.SharedSessions {
		// A secret of the environment is shared by all tenants. Without the
		// tenant's name in the keys a session of one tenant would be valid for
		// every other.
		cfg.Tenant = key
	}
	s := resolve(cfg)
	s.spent, s.home, s.key = t.spent, t, key
	if s.fault == nil {
		s.announce(ctx)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.warnOfIssuers(ctx, s)
	t.byKey.Put(key, s)
	return s, nil
}

// warnOfIssuers logs providers with one id whose accounts are in one store and
// come from different issuers. The store identifies an account by the
// provider's id and the subject, so equal subjects of two issuers are one user:
// the operator of either issuer can sign in as any user.
//
// It warns and does not reject, because one operator may run several issuers,
// and because otherwise the first request would decide which tenant works.
func (t *tenants) warnOfIssuers(ctx context.Context, s *settings) {
	if s.Store == nil || s.fault != nil {
		return
	}
	for _, p := range s.providers {
		if p.authority == "" || t.warned[p.id] {
			continue
		}
		for other := range t.byKey.Values() {
			q := other.byID[p.id]
			if q == nil || q.authority == "" || !sameStore(other.Store, s.Store) || p.authority == q.authority {
				continue
			}
			if t.warned == nil {
				t.warned = map[string]bool{}
			}
			t.warned[p.id] = true
			s.log.LogAttrs(ctx, slog.LevelWarn, "pintle: tenants share a store in which accounts of different issuers have one provider id: a subject of one issuer is the user of another. Give each issuer another provider id, or each tenant another store",
				slog.String("code", "shared-provider-id"), slog.String("provider", p.id),
				slog.String("issuer", p.authority), slog.String("otherIssuer", q.authority))
			break
		}
	}
}

// sameStore reports whether two configurations have one store. Stores that
// cannot be compared are taken for different ones.
func sameStore(a, b Store) bool {
	return a != nil && b != nil && reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}
