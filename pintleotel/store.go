package pintleotel

import (
	"context"
	"errors"
	"iter"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/accountstore"
	"github.com/pintleauth/pintle/providersession"
	"github.com/pintleauth/pintle/sharedstate"
)

// A store is a store with a span for each call. It has the features of the store that it embeds,
// and a method that a later version of the interface adds works without a span.
type store struct {
	pintle.Store
	t *telemetry

	// tx is the span of the transaction of which this is the store, or nil.
	tx trace.Span
}

func (w store) calls() caller { return caller{w.t, w.tx} }

// InTx has the outcome "rolled_back" if f fails: a sign-in that is refused ends its transaction
// so, and clients cause such sign-ins at will. A call in the transaction that fails has its own
// span.
func (w store) InTx(ctx context.Context, f func(pintle.Store) error) error {
	ctx, o := w.calls().begin(ctx, "Store.InTx")
	defer o.end(ctx)
	var failed error
	err := w.Store.InTx(ctx, func(tx pintle.Store) error {
		failed = f(store{tx, w.t, trace.SpanFromContext(ctx)})
		return failed
	})
	if o.done(err); failed != nil && errors.Is(err, failed) {
		o.outcome = "rolled_back"
	}
	return err
}

func (w store) AccountStore() accountstore.Store {
	rows := w.Store.AccountStore()
	if isNil(rows) {
		return nil
	}
	return accountRows{rows, w.calls()}
}

func (w store) ProviderSessions() providersession.Store {
	records := w.Store.ProviderSessions()
	if isNil(records) {
		return nil
	}
	return providerSessions{records, w.calls()}
}

func (w store) SharedState() sharedstate.Store {
	state := w.Store.SharedState()
	if isNil(state) {
		return nil
	}
	return shared{state, w.t}
}

func (w store) SessionAndUser(ctx context.Context, token string) (*pintle.StoredSession, *pintle.User, error) {
	ctx, o := w.calls().begin(ctx, "Store.SessionAndUser")
	defer o.end(ctx)
	session, user, err := w.Store.SessionAndUser(ctx, token)
	o.done(err)
	return session, user, err
}

func (w store) UserSessions(ctx context.Context, userID string) iter.Seq2[*pintle.StoredSession, error] {
	return func(yield func(*pintle.StoredSession, error) bool) {
		ctx, o := w.calls().begin(ctx, "Store.UserSessions")
		defer o.end(ctx)
		var failed error
		for session, err := range w.Store.UserSessions(ctx, userID) {
			if err != nil {
				failed = err
			}
			if !yield(session, err) {
				break
			}
		}
		o.done(failed)
	}
}

func (w store) CreateUser(ctx context.Context, u *pintle.User) (*pintle.User, error) {
	return get(ctx, w.calls(), "Store.CreateUser", func(ctx context.Context) (*pintle.User, error) { return w.Store.CreateUser(ctx, u) })
}

func (w store) User(ctx context.Context, id string) (*pintle.User, error) {
	return get(ctx, w.calls(), "Store.User", func(ctx context.Context) (*pintle.User, error) { return w.Store.User(ctx, id) })
}

func (w store) UserByEmail(ctx context.Context, email string) (*pintle.User, error) {
	return get(ctx, w.calls(), "Store.UserByEmail", func(ctx context.Context) (*pintle.User, error) { return w.Store.UserByEmail(ctx, email) })
}

func (w store) UserByAccount(ctx context.Context, provider, providerAccountID string) (*pintle.User, error) {
	return get(ctx, w.calls(), "Store.UserByAccount", func(ctx context.Context) (*pintle.User, error) {
		return w.Store.UserByAccount(ctx, provider, providerAccountID)
	})
}

func (w store) UpdateUser(ctx context.Context, id string, change pintle.UserUpdate) (*pintle.User, error) {
	return get(ctx, w.calls(), "Store.UpdateUser", func(ctx context.Context) (*pintle.User, error) { return w.Store.UpdateUser(ctx, id, change) })
}

func (w store) LinkAccount(ctx context.Context, a *pintle.Account) error {
	return w.calls().do(ctx, "Store.LinkAccount", func(ctx context.Context) error { return w.Store.LinkAccount(ctx, a) })
}

func (w store) Account(ctx context.Context, provider, providerAccountID string) (*pintle.Account, error) {
	return get(ctx, w.calls(), "Store.Account", func(ctx context.Context) (*pintle.Account, error) {
		return w.Store.Account(ctx, provider, providerAccountID)
	})
}

func (w store) UserAccounts(ctx context.Context, userID string) ([]*pintle.Account, error) {
	return get(ctx, w.calls(), "Store.UserAccounts", func(ctx context.Context) ([]*pintle.Account, error) { return w.Store.UserAccounts(ctx, userID) })
}

func (w store) UpdateAccount(ctx context.Context, a *pintle.Account) error {
	return w.calls().do(ctx, "Store.UpdateAccount", func(ctx context.Context) error { return w.Store.UpdateAccount(ctx, a) })
}

func (w store) UnlinkAccount(ctx context.Context, userID, provider, providerAccountID string, keepOneOf []*pintle.Account) error {
	return w.calls().do(ctx, "Store.UnlinkAccount", func(ctx context.Context) error {
		return w.Store.UnlinkAccount(ctx, userID, provider, providerAccountID, keepOneOf)
	})
}

func (w store) SwapAccount(ctx context.Context, a *pintle.Account, old string) error {
	return w.calls().do(ctx, "Store.SwapAccount", func(ctx context.Context) error { return w.Store.SwapAccount(ctx, a, old) })
}

func (w store) CreateSession(ctx context.Context, s *pintle.StoredSession) error {
	return w.calls().do(ctx, "Store.CreateSession", func(ctx context.Context) error { return w.Store.CreateSession(ctx, s) })
}

func (w store) UpdateSession(ctx context.Context, token string, change pintle.SessionUpdate) error {
	return w.calls().do(ctx, "Store.UpdateSession", func(ctx context.Context) error { return w.Store.UpdateSession(ctx, token, change) })
}

func (w store) DeleteSession(ctx context.Context, token string) (*pintle.StoredSession, error) {
	return get(ctx, w.calls(), "Store.DeleteSession", func(ctx context.Context) (*pintle.StoredSession, error) { return w.Store.DeleteSession(ctx, token) })
}

func (w store) EndSession(ctx context.Context, userID, handle string) error {
	return w.calls().do(ctx, "Store.EndSession", func(ctx context.Context) error { return w.Store.EndSession(ctx, userID, handle) })
}

func (w store) EndUserSessions(ctx context.Context, userID, except string) (int, error) {
	return get(ctx, w.calls(), "Store.EndUserSessions", func(ctx context.Context) (int, error) { return w.Store.EndUserSessions(ctx, userID, except) })
}

func (w store) CreateVerification(ctx context.Context, v *pintle.Verification) error {
	return w.calls().do(ctx, "Store.CreateVerification", func(ctx context.Context) error { return w.Store.CreateVerification(ctx, v) })
}

func (w store) UseVerification(ctx context.Context, identifier, token string) (*pintle.Verification, error) {
	return get(ctx, w.calls(), "Store.UseVerification", func(ctx context.Context) (*pintle.Verification, error) {
		return w.Store.UseVerification(ctx, identifier, token)
	})
}

func (w store) CreatePasskey(ctx context.Context, a *pintle.Passkey) error {
	return w.calls().do(ctx, "Store.CreatePasskey", func(ctx context.Context) error { return w.Store.CreatePasskey(ctx, a) })
}

func (w store) Passkey(ctx context.Context, credentialID string) (*pintle.Passkey, error) {
	return get(ctx, w.calls(), "Store.Passkey", func(ctx context.Context) (*pintle.Passkey, error) { return w.Store.Passkey(ctx, credentialID) })
}

func (w store) UserPasskeys(ctx context.Context, userID string) ([]*pintle.Passkey, error) {
	return get(ctx, w.calls(), "Store.UserPasskeys", func(ctx context.Context) ([]*pintle.Passkey, error) { return w.Store.UserPasskeys(ctx, userID) })
}

func (w store) UsePasskey(ctx context.Context, used *pintle.Passkey, old uint32) error {
	return w.calls().do(ctx, "Store.UsePasskey", func(ctx context.Context) error { return w.Store.UsePasskey(ctx, used, old) })
}

func (w store) DeletePasskey(ctx context.Context, userID, credentialID string) error {
	return w.calls().do(ctx, "Store.DeletePasskey", func(ctx context.Context) error { return w.Store.DeletePasskey(ctx, userID, credentialID) })
}

func (w store) RenamePasskey(ctx context.Context, userID, credentialID, name string) error {
	return w.calls().do(ctx, "Store.RenamePasskey", func(ctx context.Context) error { return w.Store.RenamePasskey(ctx, userID, credentialID, name) })
}

func (w store) DeleteUser(ctx context.Context, id string) error {
	return w.calls().do(ctx, "Store.DeleteUser", func(ctx context.Context) error { return w.Store.DeleteUser(ctx, id) })
}

func (w store) Sweep(ctx context.Context, before time.Time, limit int) (int, error) {
	return get(ctx, w.calls(), "Store.Sweep", func(ctx context.Context) (int, error) { return w.Store.Sweep(ctx, before, limit) })
}
