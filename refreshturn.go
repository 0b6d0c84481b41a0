package pintle

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"
)

const (
	// leaseTime is how long the process that exchanges a refresh token keeps others from
	// it. It is three times [outgoingTimeout], the time of one request to the provider.
	// The exchange ends before it, so that there is time to store its outcome.
	leaseTime    = 3 * outgoingTimeout
	exchangeTime = leaseTime - 10*time.Second

	// maxWait is how long a call waits for another process: a little longer than one
	// request to the provider takes at most. It looks after firstPause, and then after
	// pauses that double up to maxPause.
	maxWait    = 12 * time.Second
	firstPause = 100 * time.Millisecond
	maxPause   = 400 * time.Millisecond
)

// newTurn returns a turn that is not taken yet. Without leases in the store it needs none.
func (s *settings) newTurn(p *provider, a *Account) *turn {
	t := &turn{
		shared: s.shared, provider: p.id, pause: firstPause,
		key: sha256.Sum256(fmt.Appendf(nil, "pintle grant %d:%s %d:%s", len(a.Provider), a.Provider, len(a.ProviderAccountID), a.ProviderAccountID)),
	}
	_, _ = rand.Read(t.owner[:]) // it never fails
	t.held = t.shared == nil
	return t
}

// take takes the turn, or waits for a moment while another process has it. The error is
// temporary: that process has ended, or the provider does not answer it.
func (t *turn) take(ctx context.Context) (err error) {
	t.held, err = t.shared.lease(ctx, t.key, t.owner, leaseTime)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		t.shared, t.held = nil, true
		return nil
	case err != nil || t.held:
		return err
	case t.waited >= maxWait:
		return &Error{
			Code: codeOAuthCallback, Provider: t.provider, RetryAfter: time.Second,
			Err: fmt.Errorf("refresh: another process has been exchanging the refresh token for %s", t.waited),
		}
	}
	pause := time.NewTimer(t.pause)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	t.waited += t.pause
	t.pause = min(2*t.pause, maxPause)
	return nil
}

// mayReplace reports whether an access token that an API rejects may be replaced before it
// ends. Of all processes one does that in rejectionHold.
func (t *turn) mayReplace(ctx context.Context) (bool, error) {
	if t.shared == nil {
		return true, nil // each process knows of its own
	}
	key := sha256.Sum256(append([]byte("pintle rejected token "), t.key[:]...))
	first, err := t.shared.once(ctx, key, time.Now().Add(rejectionHold))
	if errors.Is(err, errors.ErrUnsupported) {
		return true, nil
	}
	return first, err
}

// keep keeps the turn for as long as the outcome is remembered here, if the store allows
// that. Otherwise it ends with its lease.
func (t *turn) keep(ctx context.Context) {
	t.kept = true
	if t.shared != nil && t.held {
		_, _ = t.shared.lease(ctx, t.key, t.owner, refreshMemory) // the store has failed already
	}
}

// end gives the turn back, unless it is kept.
func (t *turn) end(ctx context.Context) {
	if !t.kept {
		t.giveBack(ctx)
	}
}

func (t *turn) giveBack(ctx context.Context) {
	if t.shared != nil && t.held {
		_ = t.shared.release(ctx, t.key, t.owner) // the lease ends by itself
	}
}
