package pintle

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pintleauth/pintle/internal/dpop"
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
//
// With [OAuth.EndSessionsOnRefusal] the sessions of the user have ended before Refresh returns
// [ErrNoRefresh] because of a refusal. If they cannot be ended, it returns the error of the
// store, and the next call ends them.
func (a *Auth) Refresh(ctx context.Context, account *Account) (refreshed *Account, err error) {
	defer a.logFailed(ctx, "Refresh", &err)
	s, err := a.settingsFor(ctx, "Refresh")
	if err != nil {
		return nil, err
	}
	return s.refresh(ctx, account)
}

// SendWithToken sends a request to an API with the access token of an account, which is
// mostly one that [Auth.Refresh] has returned. A token that is bound to a key
// ([OAuth.DPoP]) goes along with a proof of the key, and the request is sent once more if
// the API asks for another nonce in that, and the request has no body or a GetBody. Other
// tokens are sent as bearer tokens. It follows no redirects and looks at no other header of
// the answer.
//
// The transport sends the requests. Nil means [http.DefaultTransport]. The token goes to
// wherever the request does: package apiclient bounds that. The request is not changed, its
// body is closed, and its context is that of the call.
func (a *Auth) SendWithToken(account *Account, req *http.Request, transport http.RoundTripper) (resp *http.Response, err error) {
	ctx := req.Context()
	if transport == nil {
		transport = http.DefaultTransport
	}
	resp, err = a.sendWithToken(account, req.Clone(ctx), transport)
	if resp == nil && req.Body != nil {
		_ = req.Body.Close() // as every RoundTripper does
	}
	if isClassified(err) { // and not an error of the transport
		a.logCall(ctx, "SendWithToken", err)
	}
	return resp, err
}

func (a *Auth) sendWithToken(account *Account, with *http.Request, transport http.RoundTripper) (*http.Response, error) {
	if account == nil || account.AccessToken == "" {
		return nil, errors.New("SendWithToken: the account has no access token")
	}
	if !strings.EqualFold(account.TokenType, tokenTypeDPoP) {
		with.Header.Set("Authorization", "Bearer "+account.AccessToken)
		return transport.RoundTrip(with)
	}
	s, err := a.settingsFor(with.Context(), "SendWithToken")
	if err != nil {
		return nil, err
	}
	p := s.byID[account.Provider]
	if p == nil || p.proofs == nil {
		return nil, fail(CodeConfiguration, fmt.Errorf("SendWithToken: the token is bound to a key, and no provider %q with DPoP is configured", account.Provider))
	}
	with.Header.Set("Authorization", "DPoP "+account.AccessToken)
	for again := false; ; again = true {
		proof, err := p.proofs.Proof(with.Method, with.URL, account.AccessToken)
		if err != nil {
			return nil, fail(CodeConfiguration, err)
		}
		with.Header.Set("DPoP", proof)
		resp, err := transport.RoundTrip(with)
		if err != nil {
			return nil, err
		}
		if learned := p.proofs.Learn(with.URL, resp.Header); again || !learned || !dpop.AsksForNonce(resp.StatusCode, resp.Header) {
			return resp, nil
		}
		if with.Body != nil && with.Body != http.NoBody {
			if with.GetBody == nil {
				return resp, nil
			}
			if with.Body, err = with.GetBody(); err != nil {
				return resp, nil //nolint:nilerr // the answer to the first attempt stands
			}
		}
		_, _ = io.CopyN(io.Discard, resp.Body, maxDiscarded) // so that the connection is used again
		_ = resp.Body.Close()
		with = with.Clone(with.Context()) // a transport may still read the first one
	}
}

const (
	// tokenTypeDPoP is the type of tokens that are bound to a key.
	tokenTypeDPoP = "dpop"

	// maxDiscarded is how much is read of an answer that is not used.
	maxDiscarded = 64 << 10
)

// ErrNoRefresh means that an account cannot get a new access token until its
// owner signs in again.
var ErrNoRefresh = errors.New("pintle: the account cannot be refreshed")

var (
	errNoRefreshToken = fmt.Errorf("%w: it has no refresh token", ErrNoRefresh)
	errOtherIssuer    = fmt.Errorf("%w: it is of another issuer than the connection has now", ErrNoRefresh)
)

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

// confirming is the ExpiresAt of an account whose access token is to be replaced however new
// it is: the exchange shows that the provider still accepts the user.
const confirming = -1

// confirmTokens exchanges the refresh token of the account of a user, unless this process or
// another one is doing that or has just done it. It is refused if the provider does not
// accept the user, and if the user has no such account.
func (s *settings) confirmTokens(ctx context.Context, account *Account) (renewed *Account, refused bool, err error) {
	stored, _, err := s.storedTokens(ctx, account)
	if err != nil {
		return nil, refusesUser(err), err
	}
	given := account.clone()
	given.AccessToken, given.ExpiresAt = stored.AccessToken, confirming
	for range confirmTries {
		renewed, err = s.refresh(ctx, given)
		if err != nil {
			return nil, refusesUser(err), err
		}
		if !s.refreshes.isRejected(renewed, given) {
			return renewed, false, nil
		}
	}
	return nil, false, errNotAsked
}

// confirmTries is how often a confirmation tries to get a turn. A call of [Auth.Refresh] for
// the account that is under way may have read the store only: it is no confirmation.
const confirmTries = 3

var errNotAsked = errors.New("refresh: the provider was not asked: other calls for the account were under way")

// refusesUser reports whether the error of a refresh says that the provider no longer accepts
// the user, or that there is nothing to ask it with. A request that the provider does not
// understand, an API that it does not know and a status that a proxy makes up say nothing of
// the user: they would end the sessions of all users.
func refusesUser(err error) bool {
	return errors.Is(err, ErrNotFound) || errors.Is(err, errNoRefreshToken) || errors.Is(err, errOtherIssuer) || hasRefused(err)
}

// hasRefused reports whether the error of a refresh is the answer of a provider that no longer
// accepts the user.
func hasRefused(err error) bool {
	if _, is := errors.AsType[*unendedError](err); is {
		return true
	}
	code, status, _ := refusal(err)
	if !errors.Is(err, ErrNoRefresh) || status >= http.StatusInternalServerError {
		return false
	}
	switch code {
	case "", "invalid_request", "invalid_scope", "invalid_target":
		return false
	}
	return true
}

// An unendedError means that the provider has refused a user whose sessions could not be ended.
// It does not match [ErrNoRefresh], after which a caller would not try again.
type unendedError struct{ cause error }

func (e *unendedError) Error() string {
	return "refresh: the provider has refused the refresh token, and the sessions of its user could not be ended: " + e.cause.Error()
}

func (e *unendedError) Unwrap() error { return e.cause }

// onRefusal returns the error of an exchange. If the provider refuses the user by it, the
// sessions of the user end first, for [OAuth.EndSessionsOnRefusal].
func (s *settings) onRefusal(ctx context.Context, x exchanged, after *afterwards, err error) error {
	if x.provider.refusedUser == nil || x.asked.IsZero() || !hasRefused(err) {
		return err
	}
	report, failed := s.endRefused(ctx, x)
	if report != nil {
		after.calls = append(after.calls, report)
	}
	s.refreshes.settle(refreshKey(x.account), failed == nil || errors.Is(failed, CodeConfiguration), report != nil)
	switch {
	case errors.Is(failed, CodeConfiguration):
		// Another attempt would fail as well, and the user has to sign in again.
		s.log.LogAttrs(ctx, slog.LevelError, "pintle: a provider has refused a user whose sessions cannot be ended",
			slog.String("code", string(CodeConfiguration)), slog.String("provider", x.provider.id), slog.Any("error", failed))
	case errors.Is(failed, errLogoutUnderWay):
		return &unendedError{&Error{Code: codeOAuthCallback, Provider: x.provider.id, RetryAfter: time.Second, Err: errEndUnderWay}}
	case failed != nil:
		return &unendedError{classified(failed)}
	}
	return err
}

var errEndUnderWay = errors.New("another process is ending them")

// afterwards is what a call that others wait for has to do when it is over. The handlers of
// the host must not run before: a handler that refreshes the same account would wait for
// itself.
type afterwards struct {
	calls []func()
	half  atomic.Bool
}

// pass is called when the call is over, and when its first caller has stopped waiting for it. It
// reports whether it was called for the second time.
func (a *afterwards) pass() bool { return a.half.Swap(true) }

func (a *afterwards) do() {
	for _, call := range a.calls {
		call()
	}
}

func (s *settings) refresh(ctx context.Context, given *Account) (*Account, error) {
	if s.refreshes.fresh(given, time.Now()) {
		return given, nil
	}
	p, err := s.find(ctx, given.Provider)
	if err != nil {
		return nil, fmt.Errorf("refresh: %w", err)
	}
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
	if !p.issued(account) {
		return nil, fmt.Errorf("refresh: provider %s: %w", p.id, errOtherIssuer)
	}
	if s.records != nil && s.records.can.Accounts {
		// The id of an account may come from a form: that of another user causes no
		// exchange.
		if account.UserID != "" {
			current, lookup := s.records.account(ctx, account.Provider, account.ProviderAccountID)
			if lookup == nil && !account.mayBe(current) {
				return nil, errOtherOwner
			}
		}
		// Whatever tokens the callers hold, one refresh token is stored.
		id := account.Provider + "\x00" + account.ProviderAccountID
		run := func(ctx context.Context, after *afterwards) (*Account, error) {
			return s.refreshStored(ctx, p, account, after)
		}
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
	return s.oneAtATime(ctx, p, refreshKey(account), func(ctx context.Context, after *afterwards) (*Account, error) {
		latest, known := s.refreshes.latest(account, account)
		refused := latest.clone()
		refused.ExpiresAt = 0 // the caller chooses it
		if known != nil {
			found, err := known.result()
			return found, s.onRefusal(ctx, exchanged{p, refused, known.unended, !known.told}, after, err)
		}
		asked := time.Now()
		renewed, err := s.exchangeOnce(ctx, p, latest, nil)
		return renewed, s.onRefusal(ctx, exchanged{p, refused, asked, false}, after, err)
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
	case !given.mayBe(current):
		return nil, errOtherOwner
	case err != nil:
		return nil, err
	}
	return current, nil
}

var errOtherOwner = fmt.Errorf("refresh: the account belongs to another user: %w", ErrNotFound)

// mayBe reports whether an account that a caller gives can be the stored one: it is of the
// same user, or names none.
func (a *Account) mayBe(stored *Account) bool { return a.UserID == "" || a.UserID == stored.UserID }

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
func (s *settings) oneAtATime(ctx context.Context, p *provider, key string, f func(context.Context, *afterwards) (*Account, error)) (*Account, error) {
	after := &afterwards{}
	renewed, err := s.refreshes.underWay.Do(ctx, key, func(ctx context.Context) (*Account, error) {
		defer func() {
			if after.pass() {
				// The first caller has left, and others may still wait for this call.
				flight.Beside(ctx, after.do, func(err error) {
					s.log.LogAttrs(ctx, slog.LevelError, "pintle: Events.ProviderSignOut did not return", slog.Any("error", err))
				})
			}
		}()
		return f(ctx, after)
	})
	if after.pass() {
		after.do()
	}
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
func (s *settings) refreshStored(ctx context.Context, p *provider, account *Account, after *afterwards) (*Account, error) {
	t := s.newTurn(p, account)
	defer t.end(ctx)
	for {
		current, stored, err := s.storedTokens(ctx, account)
		if err != nil || s.refreshes.serves(current, account) {
			return current, err
		}
		latest, known := s.refreshes.latest(current, account)
		switch {
		case known != nil && known.err != nil:
			_, err := known.result()
			return nil, s.onRefusal(ctx, exchanged{p, latest, known.unended, !known.told}, after, err)
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
		if s.refreshes.fresh(current, time.Now()) && account.ExpiresAt != confirming {
			if may, err := t.mayReplace(ctx); err != nil || !may {
				return current, err
			}
		}
		asked := time.Now()
		renewed, err := s.exchangeOnce(ctx, p, latest, t)
		if errors.Is(err, ErrNoRefresh) {
			// A process without a lease may have been faster, or the user has signed
			// in meanwhile.
			later, raw, lookup := s.storedTokens(ctx, account)
			switch {
			case errors.Is(lookup, ErrNotFound):
			case lookup != nil:
				if p.refusedUser != nil && hasRefused(err) {
					err = &unendedError{lookup} // the next call finds whether the user has signed in
				}
			case s.refreshes.serves(later, account):
				return later, nil
			case raw.RefreshToken == stored.RefreshToken:
				s.markRefused(ctx, raw)
				err = s.onRefusal(ctx, exchanged{p, latest, asked, false}, after, err)
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
	now, raw, err := s.storedTokens(ctx, given)
	if err == nil && raw.RefreshToken == stored.RefreshToken && raw.AccessToken != stored.AccessToken && now.isWider(renewed) {
		// The user has granted more during the exchange. The refresh token of before may be
		// used up.
		now.RefreshToken = renewed.RefreshToken
		renewed = now
	}
	err = s.records.swapAccount(ctx, s.sealTokens(s.kept(renewed)), stored.RefreshToken)
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

// exchangeOnce exchanges the refresh token of an account, and remembers the outcome. If it
// is the turn t of an account that is stored, the store is about to take the tokens.
func (s *settings) exchangeOnce(ctx context.Context, p *provider, account *Account, t *turn) (*Account, error) {
	if account.RefreshToken == "" {
		return nil, errNoRefreshToken
	}
	renewed := account.clone()
	asked := time.Now()
	// The lease outlasts the exchange.
	exchanging, cancel := context.WithTimeout(ctx, exchangeTime)
	defer cancel()
	response, err := p.refreshBy(clientOf(account))(exchanging, account.RefreshToken, subjectOf(account))
	if err == nil {
		renewed.ExpiresAt = 0
		renewed.setTokens(response)
		s.log.debug(ctx, "tokens refreshed", "provider", account.Provider)
		s.noteLost(ctx, s.refreshes.remember(refreshKey(account), refreshed{account: renewed, from: account.AccessToken, unsaved: t}, refreshMemory))
		return renewed, nil
	}
	key, failed, hold := refreshKey(account), fmt.Errorf("refresh: %w", err), refreshMemory
	unended := time.Time{}
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
	if p.refusedUser != nil && hasRefused(failed) {
		unended = asked
	}
	if hold > 0 {
		s.noteLost(ctx, s.refreshes.remember(key, refreshed{err: failed, unended: unended}, hold))
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
func subjectOf(a *Account) string { return keptClaims(a).Subject }

// clientOf returns the client to which the tokens of an account were issued: the audience
// of the ID token that came with them. It is empty without a kept one, and for one with
// several audiences.
func clientOf(a *Account) string {
	audience := keptClaims(a).Audience
	if list, _ := audience.([]any); len(list) == 1 {
		audience = list[0]
	}
	client, _ := audience.(string)
	return client
}

// keptIDToken has claims of an ID token that the store has. It was verified when it came.
type keptIDToken struct {
	Subject  string `json:"sub"`
	Audience any    `json:"aud"`
}

func keptClaims(a *Account) (claims keptIDToken) {
	if !readKept(a.IDToken, &claims) {
		return keptIDToken{}
	}
	return claims
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
		case known.account != nil && known.from != current.AccessToken && current.isWider(known.account):
			// The user has granted more since, and the provider sent no other refresh token.
			current = current.clone()
			current.RefreshToken = known.account.RefreshToken
			return current, nil
		case known.err != nil, r.serves(known.account, given):
			return current, known
		case known.account.RefreshToken == current.RefreshToken:
			return current, nil // the provider lets it be used again
		}
		current = known.account
	}
	return current, nil
}

// isWider reports whether an account has an access token, and a scope that another lacks.
func (a *Account) isWider(other *Account) bool {
	return a.AccessToken != "" && len(lacking(other.Scope, scopesOf(a.Scope))) > 0
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

// settle records of an attempt to end the sessions that a refusal ends whether it is the last
// one, and whether the host hears of it.
func (r *refreshes) settle(key string, last, told bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d, ok := r.done[key]
	if !ok {
		return
	}
	if d.told = d.told || told; last {
		d.unended = time.Time{}
	}
	r.done[key] = d
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
