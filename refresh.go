package pintle

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	// refreshEarly is how long before its end an access token is replaced, so
	// that it does not expire on its way to the provider's API.
	refreshEarly = time.Minute

	// refreshMemory is how long the outcome of a refresh is remembered. Many
	// providers take a refresh token once; requests that were on their way with
	// the old one are answered with the new tokens.
	refreshMemory = 2 * time.Minute

	// maxRefreshes bounds what is remembered.
	maxRefreshes = 4096
)

// Refresh returns an account with an access token that is good for at least a
// minute. It returns a as it is while that holds, and otherwise exchanges its
// refresh token at the provider.
//
// However many requests ask, one exchange is under way per account: the others
// wait for its outcome, and those that come within two minutes with the old
// refresh token get the same. With a store that is an [AccountStore] the stored
// account counts and is updated; otherwise the caller keeps the result, in
// [Callbacks.JWT] for example:
//
//	account, err := auth.Refresh(ctx, &pintle.Account{Provider: "google", …})
//
// The error is [ErrNoRefresh] where the account has no refresh token or the
// provider takes none, so the person has to sign in again. Two processes that
// share a store may both refresh an account; providers that end the grant when a
// refresh token is used twice need requests of one person to reach one process.
func (a *Auth) Refresh(ctx context.Context, account *Account) (*Account, error) {
	s := a.fixed
	if s == nil {
		return nil, fail(ErrConfiguration, errors.New("Refresh needs the fixed configuration of New: the context does not say which tenant is meant"))
	}
	return s.refresh(ctx, account)
}

// ErrNoRefresh says that an account cannot get a new access token.
var ErrNoRefresh = errors.New("pintle: the account has no refresh token")

func (a *Account) fresh(now time.Time) bool {
	return a.AccessToken != "" && (a.ExpiresAt == 0 || time.Unix(a.ExpiresAt, 0).After(now.Add(refreshEarly)))
}

// refreshes are the exchanges under way and those just done.
type refreshes struct {
	group singleflight.Group
	mu    sync.Mutex
	done  map[string]refreshed
}

type refreshed struct {
	account *Account
	at      time.Time
}

func (s *settings) refresh(ctx context.Context, account *Account) (*Account, error) {
	if account.fresh(time.Now()) {
		return account, nil
	}
	p := s.byID[account.Provider]
	if p == nil {
		return nil, fail(ErrConfiguration, fmt.Errorf("refresh: there is no provider %q", account.Provider))
	}
	two, ok := p.flow.(oauth2Flow)
	if !ok {
		return nil, fmt.Errorf("refresh: %w: provider %s is not an OAuth 2 provider", ErrNoRefresh, p.id)
	}
	// The refresh token is part of the key, so that knowing somebody's account
	// id does not yield their tokens.
	key := fmt.Sprintf("%s\x00%s\x00%x", account.Provider, account.ProviderAccountID, sha256.Sum256([]byte(account.RefreshToken)))
	result := s.refreshes.group.DoChan(key, func() (any, error) {
		return s.refreshOnce(context.WithoutCancel(ctx), two, key, account)
	})
	select {
	case r := <-result:
		if r.Err != nil {
			return nil, &Error{Code: ErrOAuthCallback, Provider: p.id, Err: r.Err}
		}
		return r.Val.(*Account).clone(), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (s *settings) refreshOnce(ctx context.Context, f oauth2Flow, key string, account *Account) (*Account, error) {
	if known := s.refreshes.remembered(key); known != nil {
		return known, nil
	}
	current := account.clone()
	var stored AccountStore
	if s.records != nil {
		stored, _ = s.records.Store.(AccountStore)
	}
	if stored != nil {
		found, err := stored.Account(ctx, account.Provider, account.ProviderAccountID)
		switch {
		case errors.Is(err, ErrNotFound):
			stored = nil
		case err != nil:
			return nil, storeError("getAccount", err)
		default:
			if current, err = s.unsealTokens(found); err != nil {
				return nil, err
			}
			if current.fresh(time.Now()) {
				return current, nil // another process was here
			}
		}
	}
	if current.RefreshToken == "" {
		return nil, ErrNoRefresh
	}
	response, err := f.Refresh(ctx, current.RefreshToken, "")
	if err != nil {
		return nil, fmt.Errorf("refresh: %w", err)
	}
	current.ExpiresAt = 0
	current.setTokens(response)
	if stored != nil {
		if err := stored.UpdateAccount(ctx, s.sealTokens(s.kept(current))); err != nil {
			return nil, storeError("updateAccount", err)
		}
	}
	s.refreshes.remember(key, current)
	return current, nil
}

func (r *refreshes) remembered(key string) *Account {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d, ok := r.done[key]; ok && time.Since(d.at) < refreshMemory && d.account.fresh(time.Now()) {
		return d.account
	}
	return nil
}

func (r *refreshes) remember(key string, account *Account) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done == nil {
		r.done = map[string]refreshed{}
	}
	for k, d := range r.done {
		if time.Since(d.at) >= refreshMemory || len(r.done) >= maxRefreshes {
			delete(r.done, k)
		}
	}
	r.done[key] = refreshed{account.clone(), time.Now()}
}

// kept is what the store is given of an account: what the provider's Account
// function lets through.
func (s *settings) kept(account *Account) *Account {
	keep := storedByDefault
	if p := s.byID[account.Provider]; p != nil {
		keep = p.keepAccount()
	}
	stored := &Account{}
	if kept := keep(account.clone()); kept != nil {
		stored = kept
	}
	stored.UserID, stored.Type = account.UserID, account.Type
	stored.Provider, stored.ProviderAccountID = account.Provider, account.ProviderAccountID
	return stored
}
