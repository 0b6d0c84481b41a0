package pintleotel

import (
	"context"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/providersession"
)

// revocation wraps a revocation list. A list that ends sessions by marks stays one that does.
func (t *telemetry) revocation(list pintle.RevocationStore) pintle.RevocationStore {
	switch list.(type) {
	case revocations, markingRevocations:
		return list
	}
	r := revocations{list, caller{t: t}}
	if marker, marks := list.(providersession.Marker); marks {
		return markingRevocations{r, marker}
	}
	return r
}

// revocations are a revocation list with a span for each call.
type revocations struct {
	pintle.RevocationStore
	c caller
}

func (r revocations) Revoked(ctx context.Context, s pintle.TokenSession) (bool, error) {
	return get(ctx, r.c, "Revocation.Revoked", func(ctx context.Context) (bool, error) { return r.RevocationStore.Revoked(ctx, s) })
}

func (r revocations) Revoke(ctx context.Context, s pintle.TokenSession, until time.Time) error {
	return r.c.do(ctx, "Revocation.Revoke", func(ctx context.Context) error { return r.RevocationStore.Revoke(ctx, s, until) })
}

func (r revocations) RevokeUser(ctx context.Context, userID string, until time.Time) error {
	return r.c.do(ctx, "Revocation.RevokeUser", func(ctx context.Context) error { return r.RevocationStore.RevokeUser(ctx, userID, until) })
}

// markingRevocations also end sessions by marks.
type markingRevocations struct {
	revocations
	marker providersession.Marker
}

func (r markingRevocations) EndMarked(ctx context.Context, m providersession.Mark, ended, until time.Time) error {
	return r.c.do(ctx, "Revocation.EndMarked", func(ctx context.Context) error { return r.marker.EndMarked(ctx, m, ended, until) })
}
