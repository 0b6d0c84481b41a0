package pintle

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
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

	// maxRefreshes bounds what is remembered, and maxChain how many exchanges of one
	// account follow one another in that time.
	maxRefreshes = 4096
	maxChain     = 64

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

	// clientHold is how long a provider that has refused the client is not asked. maxHold
	// bounds the Retry-After of a provider.
	clientHold = time.Minute
	maxHold    = 5 * time.Minute

	// rejectionHold is how long a new access token counts as good although an API has
	// rejected it: an API that accepts none would cause an exchange with every call.
	rejectionHold = 30 * time.Second
)

// Refresh returns an account with an access token that is good for about a minute
// at least, or for a tenth of its life if that is shorter. It returns the account as
// it is while that holds, and otherwise exchanges its refresh token at the provider.
//
// If several requests refresh an account, one exchange is under way: the others
// wait for its outcome, and those that come within two minutes with the old
// refresh token get the same. With a store that has [Features.Accounts] the
// stored account counts and is updated, and the given one needs only Provider
// and ProviderAccountID, or Provider and UserID if the user has one account there;
// otherwise the caller keeps the result, in [Callbacks.JWT] for example:
//
//	account, err := auth.Refresh(ctx, &pintle.Account{Provider: "google", …})
//
// With a UserID the account must be that user's: if not, the error matches
// [ErrNotFound]. The other fields of a stored account do not count, with one exception:
// to have an access token replaced that an API rejects, give it as AccessToken with an
// ExpiresAt that has passed, such as 1. If the store has another one by now, or this one
// is not half a minute old, that is returned.
//
// Processes that share a store whose SharedState is not nil exchange once together. A
// process that waits for another one for twelve seconds, as for one that has ended,
// returns an error that may pass.
//
// The error matches [ErrNoRefresh] if the account has no refresh token or the
// provider no longer accepts it: the user has to sign in again. It then also matches
// Code("ConsentRequired") if the provider asks for the user's consent. Any other error
// may be temporary. If it is an [*Error] with a RetryAfter, the provider is not asked
// before: because it asks for time, up to five minutes, or because it has refused the
// client, which is [CodeConfiguration], for a minute.
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

var errNoRefreshToken = fmt.Errorf("%w: it has no refresh token", ErrNoRefresh)

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

// rejects reports whether a caller gives back an access token that the account has,
// because the provider's API does not accept it.
func (a *Account) rejects(current *Account, now time.Time) bool {
	return a.AccessToken != "" && a.AccessToken == current.AccessToken && a.ExpiresAt != 0 && !time.Unix(a.ExpiresAt, 0).After(now)
}

// serves reports whether the access token of current will do for the caller: it is fresh,
// and given does not reject it.
func (r *refreshes) serves(current, given *Account) bool {
	return r.fresh(current, time.Now()) && !r.isRejected(current, given)
}

// isRejected reports whether given rejects the access token of current, and that token is
// older than rejectionHold.
func (r *refreshes) isRejected(current, given *Account) bool {
	return given.rejects(current, time.Now()) && !r.isNew(current)
}

// isNew reports whether an account got its access token here a moment ago.
func (r *refreshes) isNew(a *Account) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.done {
		if d.account != nil && d.account.AccessToken == a.AccessToken && time.Since(d.at) < rejectionHold {
			return true
		}
	}
	return false
}

func (s *settings) refresh(ctx context.Context, given *Account) (*Account, error) {
	if s.refreshes.fresh(given, time.Now()) {
		return given, nil
	}
	p := s.byID[given.Provider]
	if p == nil {
		return nil, fail(CodeConfiguration, fmt.Errorf("refresh: there is no provider %q", given.Provider))
	}
	if p.refresh == nil {
		return nil, fmt.Errorf("refresh: %w: provider %s is not an OAuth 2 provider", ErrNoRefresh, p.id)
	}
	account, err := s.accountMeant(ctx, given)
	if err != nil {
		return nil, err
	}
	if s.records != nil && s.records.can.Accounts {
		// Whatever tokens the callers hold, one refresh token is stored.
		id := account.Provider + "\x00" + account.ProviderAccountID
		run := func(ctx context.Context) (*Account, error) { return s.refreshStored(ctx, p, account) }
		current, err := s.oneAtATime(ctx, p, id, run)
		if err == nil && s.refreshes.isRejected(current, account) {
			// A call that was under way did not know that the API rejects the token.
			current, err = s.oneAtATime(ctx, p, id, run)
		}
		switch {
		case !errors.Is(err, ErrNotFound):
			return s.ofOwner(ctx, account, current, err)
		case account.UserID != "" && account.RefreshToken == "":
			return nil, err // the caller has not more than the name of an account
		}
	}
	// The refresh token is part of the key, so that an account id alone does
	// not yield the tokens.
	return s.oneAtATime(ctx, p, refreshKey(account), func(ctx context.Context) (*Account, error) {
		latest, known := s.refreshes.latest(account, account)
		if known != nil {
			return known.result()
		}
		return s.exchangeOnce(ctx, p, latest, nil)
	})
}

// ofOwner returns the outcome of a refresh, or ErrNotFound if the stored account is not that
// of given.UserID.
func (s *settings) ofOwner(ctx context.Context, given, current *Account, err error) (*Account, error) {
	if given.UserID == "" {
		return current, err
	}
	if err != nil {
		var lookup error
		if current, lookup = s.records.account(ctx, given.Provider, given.ProviderAccountID); lookup != nil {
			return nil, err
		}
	}
	switch {
	case current.UserID != given.UserID:
		return nil, fmt.Errorf("refresh: the account belongs to another user: %w", ErrNotFound)
	case err != nil:
		return nil, err
	}
	return current, nil
}

// accountMeant returns given or, if it names a user and a provider alone, the user's only
// account there.
func (s *settings) accountMeant(ctx context.Context, given *Account) (*Account, error) {
	if given.ProviderAccountID != "" || given.UserID == "" || given.RefreshToken != "" {
		return given, nil
	}
	if _, err := storeFor(s, "Refresh of an account without ProviderAccountID", featureAccounts); err != nil {
		return nil, err
	}
	linked, err := s.accountOf(ctx, given)
	if err != nil {
		return nil, fmt.Errorf("refresh: %w", err)
	}
	meant := given.clone()
	meant.ProviderAccountID = linked.ProviderAccountID
	return meant, nil
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

// refreshStored refreshes the account that the store has. Of all processes that share
// the store one exchanges its refresh token, which it reads after it has its turn: what
// was read before may be used up.
func (s *settings) refreshStored(ctx context.Context, p *provider, account *Account) (*Account, error) {
	t := s.newTurn(ctx, p, account)
	defer t.end(ctx)
	for {
		current, stored, err := s.storedTokens(ctx, account)
		if err != nil || s.refreshes.serves(current, account) {
			return current, err
		}
		latest, known := s.refreshes.latest(current, account)
		switch {
		case known != nil && known.err != nil:
			return known.result()
		case known != nil:
			return s.storeRenewed(ctx, t, account, known.account, stored)
		case latest.RefreshToken == "":
			return nil, errNoRefreshToken
		case !t.held:
			if err := t.take(ctx); err != nil {
				return nil, err
			}
			continue
		}
		if s.refreshes.fresh(current, time.Now()) {
			if may, err := t.mayReplace(ctx); err != nil || !may {
				return current, err
			}
		}
		renewed, err := s.exchangeOnce(ctx, p, latest, t)
		if errors.Is(err, ErrNoRefresh) {
			// A process without a lease may have been faster, or the user has signed
			// in meanwhile.
			later, raw, lookup := s.storedTokens(ctx, account)
			switch {
			case lookup != nil:
			case s.refreshes.serves(later, account):
				return later, nil
			case raw.RefreshToken == stored.RefreshToken:
				s.markRefused(ctx, raw)
			}
		}
		if err != nil {
			return nil, err
		}
		return s.storeRenewed(ctx, t, account, renewed, stored)
	}
}

// markRefused takes away the access token of a stored account whose refresh token the
// provider has refused. The tokens of the next sign-in replace such an account whatever
// their scope. The refresh token stays: a provider can be wrong for a while.
func (s *settings) markRefused(ctx context.Context, stored *Account) {
	if s.records.can.AccountSwap && stored.AccessToken != "" {
		marked := stored.clone()
		marked.AccessToken = ""
		_ = s.records.swapAccount(ctx, marked, stored.RefreshToken) // the refusal is the error of the call
	}
}

// storeRenewed stores new tokens in the place of those whose refresh token is stored. If
// there are others meanwhile, they are newer than the ones that were exchanged.
func (s *settings) storeRenewed(ctx context.Context, t *turn, given, renewed, stored *Account) (*Account, error) {
	err := s.records.swapAccount(ctx, s.sealTokens(s.kept(renewed)), stored.RefreshToken)
	switch {
	case err == nil:
		s.refreshes.saved(renewed, func(earlier *turn) { earlier.giveBack(ctx) })
		return renewed, nil
	case errors.Is(err, ErrConflict):
		s.refreshes.saved(renewed, func(earlier *turn) { earlier.giveBack(ctx) })
		later, _, err := s.storedTokens(ctx, given)
		if err == nil && !s.refreshes.serves(later, given) {
			err = errors.New("refresh: the stored tokens were replaced during the exchange, and the new ones have expired: try again")
		}
		return later, err
	case errors.Is(err, ErrNotFound):
		// The account was removed during the exchange, and the token that was revoked is the
		// one that is used up.
		if p := s.byID[renewed.Provider]; p != nil && p.revokesRemoved {
			if failed := s.revoke(context.WithoutCancel(ctx), renewed); failed != nil {
				s.log.LogAttrs(ctx, slog.LevelWarn, "pintle: new tokens of a removed account not revoked", slog.Any("error", failed))
			}
		}
	default:
		// Another process would send the refresh token that is used up.
		t.keep(ctx)
	}
	return nil, err
}

func (s *settings) newTurn(ctx context.Context, p *provider, a *Account) *turn {
	t := &turn{
		records: s.records, provider: p.id, shared: s.records.hasLeases(), pause: firstPause,
		key: sha256.Sum256(fmt.Appendf(nil, "pintle grant %d:%s %d:%s", len(a.Provider), a.Provider, len(a.ProviderAccountID), a.ProviderAccountID)),
	}
	_, _ = rand.Read(t.owner[:]) // it never fails
	if t.held = !t.shared; t.held && !s.records.can.InMemory {
		s.noteNoLease(ctx, p.id)
	}
	return t
}

// take takes the turn, or waits for a moment while another process has it. The error is
// temporary: that process has ended, or the provider does not answer it.
func (t *turn) take(ctx context.Context) (err error) {
	t.held, err = t.records.lease(ctx, t.key, t.owner, leaseTime)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		t.shared, t.held = false, true
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
	if !t.shared {
		return true, nil // each process knows of its own
	}
	key := sha256.Sum256(append([]byte("pintle rejected token "), t.key[:]...))
	first, err := t.records.once(ctx, key, time.Now().Add(rejectionHold))
	if errors.Is(err, errors.ErrUnsupported) {
		return true, nil
	}
	return first, err
}

// keep keeps the turn for as long as the outcome is remembered here, if the store allows
// that. Otherwise it ends with its lease.
func (t *turn) keep(ctx context.Context) {
	t.kept = true
	if t.shared && t.held {
		_, _ = t.records.lease(ctx, t.key, t.owner, refreshMemory) // the store has failed already
	}
}

// end gives the turn back, unless it is kept.
func (t *turn) end(ctx context.Context) {
	if !t.kept {
		t.giveBack(ctx)
	}
}

func (t *turn) giveBack(ctx context.Context) {
	if t.shared && t.held {
		_ = t.records.release(ctx, t.key, t.owner) // the lease ends by itself
	}
}

// exchangeOnce exchanges the refresh token of an account, and remembers the outcome. If it
// is the turn t of an account that is stored, the store is about to take the tokens.
func (s *settings) exchangeOnce(ctx context.Context, p *provider, account *Account, t *turn) (*Account, error) {
	if account.RefreshToken == "" {
		return nil, errNoRefreshToken
	}
	renewed := account.clone()
	// The lease outlasts the exchange.
	exchanging, cancel := context.WithTimeout(ctx, exchangeTime)
	defer cancel()
	response, err := p.refresh(exchanging, account.RefreshToken, subjectOf(account))
	if err == nil {
		renewed.ExpiresAt = 0
		renewed.setTokens(response)
		s.log.debug(ctx, "tokens refreshed", "provider", account.Provider)
		s.noteLost(ctx, s.refreshes.remember(refreshKey(account), refreshed{account: renewed, unsaved: t}, refreshMemory))
		return renewed, nil
	}
	key, failed, hold := refreshKey(account), fmt.Errorf("refresh: %w", err), refreshMemory
	code, status, wait := refusal(err)
	switch {
	case needsConsent(code):
		failed = &Error{Code: codeConsentRequired, Provider: p.id, Err: fmt.Errorf("%w: %w", ErrNoRefresh, err)}
	case isRefused(code, status):
		failed = fmt.Errorf("%w: %w", ErrNoRefresh, err)
	case code == "invalid_client", code == "unauthorized_client":
		// It is the same for every account.
		key, hold = p.id, clientHold
		failed = &Error{Code: CodeConfiguration, Provider: p.id, RetryAfter: hold, Err: failed}
	default:
		hold = min(wait, maxHold)
		failed = &Error{Code: codeOAuthCallback, Provider: p.id, RetryAfter: hold, Err: failed}
	}
	if hold > 0 {
		s.noteLost(ctx, s.refreshes.remember(key, refreshed{err: failed}, hold))
	}
	return nil, failed
}

// noteLost logs that the only copy of some tokens is forgotten.
func (s *settings) noteLost(ctx context.Context, lost []*Account) {
	for _, a := range lost {
		s.log.LogAttrs(ctx, slog.LevelError, "pintle: new tokens of an account are lost: the store has not taken them in time, and the old "+
			"refresh token may be used up", slog.String("code", string(CodeStore)), slog.String("provider", a.Provider),
			slog.Duration("time", refreshMemory))
	}
}

// noteNoLease logs once that processes cannot agree on which of them refreshes an account.
func (s *settings) noteNoLease(ctx context.Context, provider string) {
	if !s.notices.first(noticeNoLease) {
		return
	}
	s.log.LogAttrs(ctx, slog.LevelInfo, "pintle: the store has no SharedState, so that two processes may exchange one refresh token: "+
		"at providers that end the grant then, the requests of a user have to reach one process",
		slog.String("provider", provider))
}

// refusal returns what a token endpoint said: an error code and a status, of which each
// may be missing, and how long it asks to wait.
func refusal(err error) (code string, status int, wait time.Duration) {
	if refusal, ok := errors.AsType[*handshake.TokenError](err); ok {
		if refusal.Status == http.StatusTooManyRequests || refusal.Status >= http.StatusInternalServerError {
			wait = refusal.RetryAfter
		}
		return refusal.Code, refusal.Status, wait
	}
	if refusal, ok := errors.AsType[*handshake.ResponseError](err); ok {
		return refusal.Code, 0, 0 // reported by a Quirks.TokenResponse, as for Microsoft
	}
	return "", 0, 0
}

// needsConsent reports whether the user has to agree to something at the provider.
//
// https://openid.net/specs/openid-connect-core-1_0.html#AuthError
// https://www.rfc-editor.org/rfc/rfc6749#section-5.2
// https://www.rfc-editor.org/rfc/rfc8707#section-2
func needsConsent(code string) bool {
	switch code {
	case "consent_required", "interaction_required", "invalid_scope", "invalid_target":
		return true
	}
	return false
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
func isRefused(code string, status int) bool {
	switch code {
	case "invalid_grant", "login_required", "bad_refresh_token":
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

// latest follows the exchanges that are remembered from the refresh token of an account
// on. It returns the account with the newest refresh token, and what is known of it
// or of the provider that answers the caller who gave an account: nil if it has to be
// exchanged.
func (r *refreshes) latest(current, given *Account) (*Account, *refreshed) {
	for range maxChain {
		known := r.remembered(refreshKey(current))
		switch {
		case known == nil:
			return current, r.remembered(current.Provider)
		case known.err != nil, r.serves(known.account, given):
			return current, known
		case known.account.RefreshToken == current.RefreshToken:
			return current, nil // the provider lets it be used again
		}
		current = known.account
	}
	return current, nil
}

// result returns what is remembered to a caller.
func (d *refreshed) result() (*Account, error) {
	failed, ok := errors.AsType[*Error](d.err)
	if !ok || failed.RetryAfter == 0 {
		return d.account, d.err
	}
	left := *failed
	left.RetryAfter = max(time.Until(d.until), time.Second).Round(time.Second)
	return nil, &left
}

// remembered returns an outcome that is remembered, or nil.
func (r *refreshes) remembered(key string) *refreshed {
	r.mu.Lock()
	defer r.mu.Unlock()
	d, ok := r.done[key]
	if !ok || !time.Now().Before(d.until) {
		return nil
	}
	return &d
}

// remember remembers an outcome for a time. It returns the accounts with tokens that the
// store has not taken, and that are forgotten now.
func (r *refreshes) remember(key string, outcome refreshed, d time.Duration) (lost []*Account) {
	outcome.at = time.Now()
	outcome.until = outcome.at.Add(d)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done == nil {
		r.done = map[string]refreshed{}
	}
	for k, d := range r.done {
		if outcome.at.Before(d.until) && len(r.done) < maxRefreshes {
			continue
		}
		if delete(r.done, k); d.unsaved != nil {
			lost = append(lost, d.account)
		}
	}
	r.done[key] = outcome
	return lost
}

// saved records that the store has the tokens of an account, or newer ones, and tells the
// turns that have waited for that.
func (r *refreshes) saved(a *Account, tell func(*turn)) {
	r.mu.Lock()
	var waiting []*turn
	for key, d := range r.done {
		if d.unsaved != nil && d.account.Provider == a.Provider && d.account.ProviderAccountID == a.ProviderAccountID {
			if d.unsaved.kept {
				waiting = append(waiting, d.unsaved)
			}
			d.unsaved = nil
			r.done[key] = d
		}
	}
	r.mu.Unlock()
	for _, t := range waiting {
		tell(t)
	}
}

// RevokeTokens asks the provider of an account to end its tokens, and removes them from
// the store if it has [Features.Accounts]. The account stays linked. As with
// [Auth.Refresh], the stored account counts, and the given one needs only Provider and
// ProviderAccountID then. With a UserID the account must be that user's. It takes five
// seconds at most, and may be repeated.
//
// The error matches Code("NotRevoked") if the provider has not confirmed that both tokens
// ended: they may still work, and are still stored. It matches [ErrNotFound] if there is no
// such account, and [ErrConflict] if newer tokens were stored meanwhile: call it again.
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
	for range revokeAttempts {
		stored, lookup := s.records.account(ctx, account.Provider, account.ProviderAccountID)
		if lookup != nil {
			return lookup
		}
		if account.UserID != "" && stored.UserID != account.UserID {
			return fmt.Errorf("RevokeTokens: the account belongs to another user: %w", ErrNotFound)
		}
		if err := s.revoke(ctx, stored); err != nil {
			return err
		}
		without := stored.clone()
		without.AccessToken, without.RefreshToken, without.ExpiresAt = "", "", 0
		// A conflict means that a refresh or a sign-in has stored other tokens meanwhile.
		if err = s.records.swapAccount(ctx, without, stored.RefreshToken); !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return err
}

const (
	// revokeTimeout bounds the revocation of the tokens of one account.
	revokeTimeout = 5 * time.Second

	// revokeAttempts is how often tokens that are stored meanwhile are revoked, too.
	revokeAttempts = 4

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
		err = errors.Join(err, p.revoke(ctx, t.token, t.hint))
	}
	if err != nil {
		return notRevoked(account, err)
	}
	return nil
}

func notRevoked(a *Account, err error) error {
	return &Error{
		Code: codeNotRevoked, Provider: a.Provider,
		Err: fmt.Errorf("the tokens of account %s may still work at the provider: %w", clip.Quote(a.ProviderAccountID), err),
	}
}
