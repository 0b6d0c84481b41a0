package pintle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/pintleauth/pintle/internal/clip"
	"github.com/pintleauth/pintle/internal/flight"
	"github.com/pintleauth/pintle/internal/lru"
	"github.com/pintleauth/pintle/internal/origin"
)

// maxTenants bounds the configurations that are kept. Keys come from requests,
// so a client can invent any number of them.
const maxTenants = 1000

// tenants are the configurations of a service by their keys.
type tenants struct {
	auth   *Auth // whose tenants they are
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
	s := resolve(cfg, t.auth.Tenant(key).attach)
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
			if q == nil || q.authority == "" || !sameStore(other.hostStore, s.hostStore) || p.authority == q.authority {
				continue
			}
			if t.warned == nil {
				t.warned = map[string]bool{}
			}
			t.warned[p.id] = true
			s.log.LogAttrs(ctx, slog.LevelWarn, "pintle: tenants share a store in which accounts of different "+
				"issuers have one provider id: a subject of one issuer is the user of another. Give each issuer "+
				"another provider id, or each tenant another store",
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

// logCall logs the failure of a function that server code called. The function
// returns the error as well, which the host may show or drop.
func (a *Auth) logCall(ctx context.Context, function string, err error) {
	log := slog.Default()
	if a.fixed != nil {
		log = a.fixed.log.Logger
	} else if s := a.known(ctx); s != nil {
		log = s.log.Logger
	}
	attrs := []slog.Attr{slog.String("function", function)}
	if isClassified(err) {
		e := classified(err)
		attrs = append(attrs, slog.String("code", string(e.Code)))
		if e.Provider != "" {
			attrs = append(attrs, slog.String("provider", clip.Text(e.Provider, clip.Max)))
		}
	}
	level := callLevel(ctx, err)
	if level < slog.LevelError {
		err = boundedError{err}
	}
	log.LogAttrs(ctx, level, "pintle: call failed", append(attrs, slog.Any("error", err))...)
}

// known returns the configuration that an Auth of [NewFunc] uses, if it has one.
func (a *Auth) known(ctx context.Context) *settings {
	if a.of != nil {
		return a.chosen.kept(a.tenant)
	}
	s, _ := ctx.Value(chosenKey{a}).(*settings)
	return s
}

// logFailed is [Auth.logCall] to be deferred.
func (a *Auth) logFailed(ctx context.Context, function string, err *error) {
	if *err != nil {
		a.logCall(ctx, function, *err)
	}
}

// callLevel returns the level at which the failure of a function is logged. Which
// account, passkey or session there is depends on the user, and on forms.
func callLevel(ctx context.Context, err error) slog.Level {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return slog.LevelInfo // the client has left
	case errors.Is(err, ErrNotFound), errors.Is(err, ErrNoRefresh):
		return slog.LevelInfo
	case errors.Is(err, errors.ErrUnsupported):
		return slog.LevelWarn // the page offers what the store cannot do
	}
	return classified(err).level()
}

// announce logs at the start what an operator should not overlook.
func (s *settings) announce(ctx context.Context) {
	switch {
	case s.Debug && s.Logger == nil:
		s.log.LogAttrs(ctx, slog.LevelWarn, "pintle: Config.Debug is on, so the log tells more than is needed in production",
			slog.String("code", "debug-enabled"))
	case s.Debug:
		s.log.LogAttrs(ctx, slog.LevelWarn, "pintle: Config.Debug has no effect, because Config.Logger is set: the "+
			"level of its handler decides",
			slog.String("code", "debug-enabled"))
	}
	if s.DangerouslyAllowShortSecrets {
		s.log.LogAttrs(ctx, slog.LevelWarn, "pintle: Config.DangerouslyAllowShortSecrets is on: replace the secret "+
			"by one of 32 characters or more",
			slog.String("code", "short-secrets-allowed"))
	}
	for _, p := range s.providers {
		if p.announce != nil {
			p.announce(ctx, s)
		}
	}
	s.announceAlone(ctx)
	if s.Session.MaxAge > browserMaxAge {
		s.log.LogAttrs(ctx, slog.LevelWarn, "pintle: browsers keep cookies for 400 days at most, so Config.Session.MaxAge is not reached",
			slog.String("code", "cookie-lifetime"))
	}
	if s.Callbacks.JWT != nil && s.sessions.needStoredUser() {
		s.log.LogAttrs(ctx, slog.LevelWarn, "pintle: Callbacks.JWT is never called, because sessions are in the database",
			slog.String("code", "unused-jwt-callback"),
			slog.String("fix", "remove it, and add to sessions in Callbacks.Session; or set Config.Session.Strategy to StrategyJWT"))
	}
	if site, err := origin.Parse(s.URL); err == nil && !site.Secure() && !site.Loopback() {
		s.log.LogAttrs(ctx, slog.LevelWarn, "pintle: Config.URL (AUTH_URL) is http: cookies lack the attribute "+
			"Secure, passwords and sessions can be read on the way, and browsers warn of forms that a page "+
			"with TLS posts there",
			slog.String("code", "insecure-url"), slog.String("url", string(site)),
			slog.String("fix", "set it to the https URL that users open, also where a proxy ends the TLS connection"))
	}
	if s.BasePath != "" && pathOf(s.URL) != "" && pathOf(s.URL) != s.base {
		s.log.LogAttrs(ctx, slog.LevelWarn, "pintle: the path of Config.URL (AUTH_URL) differs from Config.BasePath, which is used",
			slog.String("code", "env-url-basepath-mismatch"), slog.String("url", pathOf(s.URL)), slog.String("basePath", s.base))
	}
}

// announceAlone tells the operator what each process decides alone, unless there is one
// process by its store, or the site is on this machine: a program in development.
func (s *settings) announceAlone(ctx context.Context) {
	if s.shared != nil || s.records != nil && s.records.can.InMemory || s.isLocal() {
		return
	}
	var decides []string
	for _, p := range s.providers {
		for _, what := range p.decides {
			if !slices.Contains(decides, what) {
				decides = append(decides, what)
			}
		}
	}
	if s.Connections.Source != nil && s.Connections.Limited && !slices.Contains(decides, limitsOfAttempts) {
		decides = append(decides, limitsOfAttempts)
	}
	if len(decides) > 0 {
		s.log.LogAttrs(ctx, slog.LevelInfo, "pintle: there is no shared state: if several processes serve the site, each decides alone what it accepts once, and counts alone",
			slog.String("code", "NoSharedState"), slog.String("decides", strings.Join(decides, ", ")),
			slog.String("fix", "none is needed for one process; for several set Config.SharedState, or use a Config.Store that has one"))
	}
}
