package pintleotel

import (
	"context"
	"time"

	"github.com/pintleauth/pintle/providersession"
)

// providerSessions are the records of sign-ins at providers, with a span for each call.
type providerSessions struct {
	providersession.Store
	c caller
}

func (w providerSessions) Put(ctx context.Context, r *providersession.Record, flowBegan time.Time) error {
	return w.c.do(ctx, "ProviderSessions.Put", func(ctx context.Context) error { return w.Store.Put(ctx, r, flowBegan) })
}

func (w providerSessions) Of(ctx context.Context, session providersession.Key) ([]*providersession.Record, error) {
	return get(ctx, w.c, "ProviderSessions.Of", func(ctx context.Context) ([]*providersession.Record, error) { return w.Store.Of(ctx, session) })
}

func (w providerSessions) EndBy(ctx context.Context, sid, sub providersession.Key, before time.Time) ([]*providersession.Record, error) {
	return get(ctx, w.c, "ProviderSessions.EndBy", func(ctx context.Context) ([]*providersession.Record, error) {
		return w.Store.EndBy(ctx, sid, sub, before)
	})
}

func (w providerSessions) Move(ctx context.Context, session providersession.Key, expires time.Time) error {
	return w.c.do(ctx, "ProviderSessions.Move", func(ctx context.Context) error { return w.Store.Move(ctx, session, expires) })
}

func (w providerSessions) Forget(ctx context.Context, session providersession.Key) error {
	return w.c.do(ctx, "ProviderSessions.Forget", func(ctx context.Context) error { return w.Store.Forget(ctx, session) })
}
