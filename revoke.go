package pintle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pintleauth/pintle/internal/clip"
)

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
	p, err := s.find(ctx, account.Provider)
	if err != nil {
		return notRevoked(account, err)
	}
	if p == nil || p.revoke == nil {
		return notRevoked(account, errors.New("no provider of the configuration has its id and speaks OAuth 2"))
	}
	if !p.issued(account) {
		// The issuer that the connection has now must not receive them.
		return notRevoked(account, errOtherIssuer)
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
		err = errors.Join(err, p.revokeBy(clientOf(opened))(ctx, t.token, t.hint))
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
		if err := s.notActingAs(ctx, stored.UserID); err != nil {
			return err
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
