package pintle

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pintleauth/pintle/internal/clip"
	"github.com/pintleauth/pintle/internal/flight"
	"github.com/pintleauth/pintle/internal/handshake"
	"github.com/pintleauth/pintle/internal/wire"
)

const (
	// refreshEarly and refreshLate bound how long before its end an access token is
	// replaced, so that it does not expire on its way to the provider's API. Between
	// them it is a tenth of the token's life: a token that lives for a minute or less
	// would otherwise be replaced at every call.
	refreshEarly = time.Minute
	refreshLate  = 2 * time.Second

	// refreshMemory is how long the outcome of a refresh is remembered. Many
	// providers accept a refresh token once; requests that were on their way
	// with the old one receive the new tokens. A rejected token is not sent
	// again with every request.
	refreshMemory = 2 * time.Minute

	// maxRefreshes bounds what is remembered.
	maxRefreshes = 4096
)

// Refresh returns an account with an access token that is good for about a minute
// at least, or for a tenth of its life if that is shorter. It returns the account as
// it is while that holds, and otherwise exchanges its refresh token at the provider.
//
// If several requests refresh an account, one exchange is under way: the others
// wait for its outcome, and those that come within two minutes with the old
// refresh token get the same. With a store that has [Features.Accounts] the
// stored account counts and is updated, and the given one needs only Provider
// and ProviderAccountID; otherwise the caller keeps the result, in [Callbacks.JWT]
// for example:
//
//	account, err := auth.Refresh(ctx, &pintle.Account{Provider: "google", …})
//
// The error matches [ErrNoRefresh] if the account has no refresh token or the
// provider no longer accepts it: the user has to sign in again. Any other error
// may be temporary. Two processes that share a store may both refresh an
// account, and the slower one then finds what the faster one stored; with
// providers that end the grant when a refresh token is used twice, requests of
// one user must reach one process.
func (a *Auth) Refresh(ctx context.Context, account *Account) (refreshed *Account, err error) {
	defer a.logFailed(ctx, "Refresh", &err)
	s, err := a.settingsFor(ctx, "Refresh")
	if err != nil {
		return nil, err
	}
	return s.refresh(ctx, account)
}

// ErrNoRefresh means that an account cannot get a new access token until its
// owner signs in again.
var ErrNoRefresh = errors.New("pintle: the account cannot be refreshed")

// fresh reports whether the access token of an account need not be replaced yet.
func (r *refreshes) fresh(a *Account, now time.Time) bool {
	if a.AccessToken == "" || a.ExpiresAt == 0 {
		return a.AccessToken != ""
	}
	return time.Unix(a.ExpiresAt, 0).After(now.Add(earlyBy(a, r.life(a, now))))
}

// earlyBy returns how long before its end a token is replaced. It differs by up to a tenth
// between accounts, so that tokens that were issued at one moment, as after a restart, are
// not all replaced at one moment.
func earlyBy(a *Account, life time.Duration) time.Duration {
	place := a.place("expires_at")
	thousandths := 900 + int64(binary.BigEndian.Uint16(place)%201)
	return max(refreshLate, time.Duration(min(refreshEarly, life/10).Nanoseconds()*thousandths/1000))
}

// life returns how long an access token lives: what the provider said where the
// account has it, and otherwise the longest time to its end that was seen here.
func (r *refreshes) life(a *Account, now time.Time) time.Duration {
	if seconds, ok := wire.Seconds(a.Extra["expires_in"]); ok && seconds > 0 {
		return time.Duration(min(seconds, int64(refreshEarly/time.Second)*10)) * time.Second
	}
	key := string(a.place("expires_at"))
	left := time.Unix(a.ExpiresAt, 0).Sub(now)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen.Max = maxRefreshes
	known, ok := r.seen.Get(key)
	if !ok || known.end != a.ExpiresAt || known.left < left {
		known = sighting{a.ExpiresAt, left}
		r.seen.Put(key, known)
	}
	return known.left
}

func (s *settings) refresh(ctx context.Context, account *Account) (*Account, error) {
	if s.refreshes.fresh(account, time.Now()) {
		return account, nil
	}
	p := s.byID[account.Provider]
	if p == nil {
		return nil, fail(CodeConfiguration, fmt.Errorf("refresh: there is no provider %q", account.Provider))
	}
	if p.refresh == nil {
		return nil, fmt.Errorf("refresh: %w: provider %s is not an OAuth 2 provider", ErrNoRefresh, p.id)
	}
	id := account.Provider + "\x00" + account.ProviderAccountID
	if s.records != nil && s.records.can.Accounts {
		// Whatever tokens the callers hold, one refresh token is stored.
		current, err := s.oneAtATime(ctx, p, id, func(ctx context.Context) (*Account, error) {
			return s.refreshStored(ctx, p, account)
		})
		if !errors.Is(err, ErrNotFound) {
			return current, err
		}
	}
	// The refresh token is part of the key, so that an account id alone does
	// not yield the tokens.
	return s.oneAtATime(ctx, p, refreshKey(account), func(ctx context.Context) (*Account, error) {
		return s.exchangeOnce(ctx, p, account)
	})
}

func refreshKey(a *Account) string {
	return fmt.Sprintf("%s\x00%s\x00%x", a.Provider, a.ProviderAccountID, sha256.Sum256([]byte(a.RefreshToken)))
}

// oneAtATime runs f for a key, or waits for the run that is under way.
func (s *settings) oneAtATime(ctx context.Context, p *provider, key string, f func(context.Context) (*Account, error)) (*Account, error) {
	renewed, err := s.refreshes.underWay.Do(ctx, key, f)
	switch {
	case err == nil:
		return renewed.clone(), nil
	case flight.IsCrash(err): // of the store or a hook of the provider, which are the host's
		return nil, fail(CodeConfiguration, fmt.Errorf("refresh: %w", err))
	case isClassified(err), errors.Is(err, ErrNotFound), errors.Is(err, context.Cause(ctx)):
		return nil, err
	}
	return nil, &Error{Code: codeOAuthCallback, Provider: p.id, Err: err}
}

// refreshStored refreshes the account that the store has.
func (s *settings) refreshStored(ctx context.Context, p *provider, account *Account) (*Account, error) {
	current, err := s.storedAccount(ctx, account)
	if err != nil || s.refreshes.fresh(current, time.Now()) {
		return current, err
	}
	renewed, err := s.exchangeOnce(ctx, p, current)
	if errors.Is(err, ErrNoRefresh) {
		// Another process may have been faster, and the token spent by it.
		if later, lookup := s.storedAccount(ctx, account); lookup == nil && s.refreshes.fresh(later, time.Now()) {
			return later, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if err := s.records.updateAccount(ctx, s.sealTokens(s.kept(renewed))); err != nil {
		return nil, err
	}
	return renewed, nil
}

func (s *settings) storedAccount(ctx context.Context, account *Account) (*Account, error) {
	found, err := s.records.account(ctx, account.Provider, account.ProviderAccountID)
	if err != nil {
		return nil, err
	}
	return s.unsealTokens(found)
}

// exchangeOnce exchanges the refresh token of an account, unless that was done a
// moment ago.
func (s *settings) exchangeOnce(ctx context.Context, p *provider, account *Account) (*Account, error) {
	if account.RefreshToken == "" {
		return nil, fmt.Errorf("%w: it has no refresh token", ErrNoRefresh)
	}
	key := refreshKey(account)
	if known, ok := s.refreshes.remembered(key); ok {
		return known.account, known.err
	}
	renewed := account.clone()
	response, err := p.refresh(ctx, account.RefreshToken, subjectOf(account))
	switch {
	case err == nil:
		renewed.ExpiresAt = 0
		renewed.setTokens(response)
		s.log.debug(ctx, "tokens refreshed", "provider", account.Provider)
	case isRefused(err):
		err = fmt.Errorf("%w: %w", ErrNoRefresh, err)
	default:
		return nil, fmt.Errorf("refresh: %w", err)
	}
	s.refreshes.remember(key, refreshed{account: renewed, err: err, at: time.Now()})
	return renewed, err
}

// isRefused reports whether a provider will reject the same refresh token
// again.
//
// RFC 6749 has invalid_grant for that. dex answers an unknown, revoked or expired
// token with status 400 and invalid_request, Glewlwyd with status 400 and no code,
// and GitHub with status 200 and bad_refresh_token. A malformed request would be
// refused alike; it is tried again when the outcome is forgotten.
//
// https://www.rfc-editor.org/rfc/rfc6749#section-5.2
func isRefused(err error) bool {
	code, status := "", 0
	if refusal, ok := errors.AsType[*handshake.TokenError](err); ok {
		code, status = refusal.Code, refusal.Status
	} else if refusal, ok := errors.AsType[*handshake.ResponseError](err); ok {
		code = refusal.Code // reported by a Quirks.TokenResponse, as for Microsoft
	}
	switch code {
	case "invalid_grant", "interaction_required", "login_required", "consent_required", "bad_refresh_token":
		return true
	case "invalid_request", "":
		return status == http.StatusBadRequest
	}
	return false
}

// subjectOf returns the required subject of an ID token that comes with a
// refresh: the subject of the kept ID token, which was verified when it came.
// It is empty without a kept one.
//
// https://openid.net/specs/openid-connect-core-1_0.html#RefreshTokenResponse
func subjectOf(a *Account) string {
	_, rest, _ := strings.Cut(a.IDToken, ".")
	payload, _, _ := strings.Cut(rest, ".")
	text, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil {
		return ""
	}
	var claims struct {
		Subject string `json:"sub"`
	}
	if json.Unmarshal(text, &claims) != nil {
		return ""
	}
	return claims.Subject
}

func (r *refreshes) remembered(key string) (refreshed, bool) {
	r.mu.Lock()
	d, ok := r.done[key]
	r.mu.Unlock()
	ok = ok && time.Since(d.at) < refreshMemory && (d.err != nil || r.fresh(d.account, time.Now()))
	return d, ok
}

func (r *refreshes) remember(key string, outcome refreshed) {
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
	r.done[key] = outcome
}

// RevokeTokens asks the provider of an account to end its tokens, and removes them from
// the store if it has [Features.Accounts]. The account stays linked. As with
// [Auth.Refresh], the stored account counts, and the given one needs only Provider and
// ProviderAccountID then. It takes five seconds at most, and may be repeated.
//
// The error matches Code("NotRevoked") if the provider has not confirmed that both tokens
// ended: they may still work.
//
// https://www.rfc-editor.org/rfc/rfc7009
func (a *Auth) RevokeTokens(ctx context.Context, account *Account) (err error) {
	defer a.logFailed(ctx, "RevokeTokens", &err)
	s, err := a.settingsFor(ctx, "RevokeTokens")
	if err != nil {
		return err
	}
	if s.records == nil || !s.records.can.Accounts {
		return s.revoke(ctx, account)
	}
	stored, err := s.records.account(ctx, account.Provider, account.ProviderAccountID)
	if err != nil {
		return err
	}
	if err := s.revoke(ctx, stored); err != nil {
		return err
	}
	without := stored.clone()
	without.AccessToken, without.RefreshToken, without.ExpiresAt = "", "", 0
	return s.records.updateAccount(ctx, without)
}

const (
	// revokeTimeout bounds the revocation of the tokens of one account.
	revokeTimeout = 5 * time.Second

	// maxRevocations is how many accounts of a user are revoked at once.
	maxRevocations = 8
)

// revokeRemoved ends the tokens of accounts that are removed here, at the providers that
// have [OAuth.RevokeAtUnlink]. A client that goes away meanwhile does not end it: the
// tokens are nowhere else by then.
func (s *settings) revokeRemoved(ctx context.Context, removed []*Account) error {
	removed = slices.DeleteFunc(slices.Clone(removed), func(a *Account) bool {
		p := s.byID[a.Provider]
		return p == nil || !p.revokesRemoved || a.AccessToken == "" && a.RefreshToken == ""
	})
	ctx = context.WithoutCancel(ctx)
	errs := make([]error, len(removed))
	var wait sync.WaitGroup
	places := make(chan struct{}, maxRevocations)
	for i, account := range removed {
		places <- struct{}{}
		wait.Go(func() {
			defer func() {
				// OAuth.Quirks are the host's. A crash outside the request would end the server.
				if crash := recover(); crash != nil {
					errs[i] = notRevoked(account, fmt.Errorf("a function of the provider crashed: %v", crash))
				}
				<-places
			}()
			errs[i] = s.revoke(ctx, account)
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// revoke ends the tokens of an account at its provider, the refresh token first: without
// it no other token can be issued.
func (s *settings) revoke(ctx context.Context, account *Account) error {
	p := s.byID[account.Provider]
	if p == nil || p.revoke == nil {
		return notRevoked(account, errors.New("no provider of the configuration has its id and speaks OAuth 2"))
	}
	opened, err := s.unsealTokens(account)
	if err != nil {
		return notRevoked(account, err)
	}
	ctx, cancel := context.WithTimeout(ctx, revokeTimeout)
	defer cancel()
	for _, t := range []struct{ token, hint string }{{opened.RefreshToken, "refresh_token"}, {opened.AccessToken, "access_token"}} {
		if t.token == "" {
			continue
		}
		if err := p.revoke(ctx, t.token, t.hint); err != nil {
			return notRevoked(account, err)
		}
	}
	return nil
}

func notRevoked(a *Account, err error) error {
	return &Error{
		Code: codeNotRevoked, Provider: a.Provider,
		Err: fmt.Errorf("the tokens of account %s may still work at the provider: %w", clip.Quote(a.ProviderAccountID), err),
	}
}
