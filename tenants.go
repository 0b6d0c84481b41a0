package pintle

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"

	"golang.org/x/sync/singleflight"

	"github.com/pintleauth/pintle/internal/recent"
)

// maxTenants bounds the configurations that are kept. Keys come from requests,
// so a stranger can invent any number of them.
const maxTenants = 1000

// tenants are the configurations of a service by their keys.
type tenants struct {
	key    func(*http.Request) string
	config func(context.Context, string) (Config, error)

	// spent is for all of them, because it must outlive each.
	spent *spent

	making singleflight.Group
	mu     sync.Mutex
	byKey  recent.Map[string, *settings]
}

func newTenants(key func(*http.Request) string, config func(context.Context, string) (Config, error)) *tenants {
	return &tenants{key: key, config: config, spent: &spent{}, byKey: recent.Map[string, *settings]{Max: maxTenants}}
}

func (t *tenants) settings(r *http.Request) (*settings, error) {
	key := t.key(r)
	if s := t.kept(key); s != nil {
		return s, nil
	}
	// The one that makes it must not stop because the request that asked first
	// goes away while others wait.
	ctx := context.WithoutCancel(r.Context())
	result := t.making.DoChan(key, func() (any, error) { return t.make(ctx, key) })
	select {
	case made := <-result:
		if made.Err != nil {
			return nil, fail(ErrConfiguration, made.Err)
		}
		return made.Val.(*settings), nil
	case <-r.Context().Done():
		return nil, fail(ErrConfiguration, context.Cause(r.Context()))
	}
}

func (t *tenants) kept(key string) *settings {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, _ := t.byKey.Get(key)
	return s
}

func (t *tenants) make(ctx context.Context, key string) (s *settings, err error) {
	// A panic in a goroutine that is no request's would end the program.
	defer func() {
		if failure := recover(); failure != nil {
			err = fmt.Errorf("the function that makes configurations panicked: %v\n%s", failure, debug.Stack())
		}
	}()
	if s := t.kept(key); s != nil {
		return s, nil // made between the caller's look and this one
	}
	cfg, err := t.config(ctx, key)
	if err != nil {
		return nil, err
	}
	s = resolve(cfg)
	s.spent = t.spent
	if s.fault == nil {
		s.announce(ctx)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byKey.Put(key, s)
	return s, nil
}
