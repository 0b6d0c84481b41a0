package pintle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
)

// records is the host's store as the flows use it: every failure carries
// [ErrStore] and the operation's name, and every optional part was looked for
// when the configuration was made.
type records struct {
	Store
	sessions       SessionStore
	verifications  VerificationStore
	authenticators AuthenticatorStore
	accounts       AccountStore
	lister         SessionLister
	tx             TxStore
	deleter        UserDeleter
	log            *slog.Logger
}

func newRecords(s Store, log *slog.Logger) *records {
	if s == nil {
		return nil
	}
	r := &records{Store: s, log: log}
	r.sessions, _ = s.(SessionStore)
	r.verifications, _ = s.(VerificationStore)
	r.authenticators, _ = s.(AuthenticatorStore)
	r.accounts, _ = s.(AccountStore)
	r.lister, _ = s.(SessionLister)
	r.tx, _ = s.(TxStore)
	r.deleter, _ = s.(UserDeleter)
	return r
}

// resolveStore checks that the store can do what the configuration asks of it.
func (s *settings) resolveStore() *Error {
	s.records = newRecords(s.Store, s.log)
	var mail *provider
	for _, p := range s.providers {
		if p.email != nil {
			mail = p
		}
	}
	switch {
	case mail != nil && s.records == nil:
		return &Error{Code: codeMissingAdapter, Provider: mail.id, Err: errors.New("a mail provider needs Config.Store, to keep links and users in")}
	case s.Session.Strategy == StrategyDatabase && s.records == nil:
		return fail(codeMissingAdapter, errors.New("database sessions need Config.Store; without one set Config.Session.Strategy to StrategyJWT"))
	case mail != nil && s.records.verifications == nil:
		return &Error{Code: codeMissingAdapterMethods, Provider: mail.id, Err: fmt.Errorf("a mail provider needs a store that implements pintle.VerificationStore, which %T does not", s.Store)}
	case s.strategy == StrategyDatabase && s.records.sessions == nil:
		return fail(codeMissingAdapterMethods, fmt.Errorf("database sessions need a store that implements pintle.SessionStore, which %T does not", s.Store))
	case s.strategy != StrategyDatabase && s.strategy != StrategyJWT:
		return fail(codeUnsupportedStrategy, fmt.Errorf("Config.Session.Strategy is %q: use StrategyJWT or StrategyDatabase", s.strategy))
	}
	return nil
}

// storeError classifies a failure of the store. What was not found or exists
// already is an answer and not a failure.
func storeError(operation string, err error) error {
	if err == nil || errors.Is(err, ErrNotFound) || errors.Is(err, ErrConflict) {
		return err
	}
	return fail(ErrStore, fmt.Errorf("%s: %w", operation, err))
}

// found turns ErrNotFound into a nil result, for look-ups where both answers
// are expected.
func found[T any](value *T, operation string, err error) (*T, error) {
	if errors.Is(err, ErrNotFound) {
		return nil, nil // not found, which is no error here
	}
	if err != nil {
		return nil, storeError(operation, err)
	}
	return value, nil
}

func (r *records) user(ctx context.Context, id string) (*User, error) {
	u, err := r.Store.User(ctx, id)
	return found(u, "getUser", err)
}

func (r *records) userByEmail(ctx context.Context, email string) (*User, error) {
	u, err := r.Store.UserByEmail(ctx, email)
	return found(u, "getUserByEmail", err)
}

func (r *records) userByAccount(ctx context.Context, a *Account) (*User, error) {
	u, err := r.Store.UserByAccount(ctx, a.Provider, a.ProviderAccountID)
	return found(u, "getUserByAccount", err)
}

func (r *records) sessionAndUser(ctx context.Context, token string) (*StoredSession, *User, error) {
	s, u, err := r.sessions.SessionAndUser(ctx, token)
	if errors.Is(err, ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, storeError("getSessionAndUser", err)
	}
	return s, u, nil
}

func (r *records) deleteSession(ctx context.Context, token string) (*StoredSession, error) {
	s, err := r.sessions.DeleteSession(ctx, token)
	return found(s, "deleteSession", err)
}

// logStoreFailure notes that the store failed, where the failure goes on under
// another code.
func (x *exchange) logStoreFailure(err error) {
	if errors.Is(err, ErrStore) {
		x.log.LogAttrs(x.ctx, slog.LevelError, "pintle: the store failed", slog.String("code", string(ErrStore)), slog.Any("error", err))
	}
}
