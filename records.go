package pintle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle/internal/tally"
	"github.com/pintleauth/pintle/providersession"
	"github.com/pintleauth/pintle/sharedstate"
)

// records is the host's store as this package uses it, and the only way to it:
// every operation is a debug record, every failure carries [CodeStore] and the
// operation's name.
type records struct {
	store Store
	can   Features
	log   logger
}

// newRecords returns nil without a store. [checkNil] refuses a store that is
// a nil pointer.
func newRecords(s Store, log logger) *records {
	if isNil(s) {
		return nil
	}
	return &records{store: s, can: s.Features(), log: log}
}

// A sharing is where the processes of a site agree, as this package uses it, and the only
// way to it. It is nil where each process decides alone.
type sharing struct {
	state sharedstate.Store
	log   logger
}

// newSharing returns the shared state of the host or, without one, that of its store.
func newSharing(cfg *Config, log logger) *sharing {
	state := cfg.SharedState
	if isNil(state) && !isNil(cfg.Store) {
		state = cfg.Store.SharedState()
	}
	if isNil(state) {
		return nil
	}
	return &sharing{state, log}
}

// lease takes a lease for a duration, and reports whether the owner has it.
func (a *sharing) lease(ctx context.Context, key sharedstate.Key, owner sharedstate.Owner, d time.Duration) (bool, error) {
	o := a.log.begin(ctx, "lease")
	held, err := a.state.Lease(ctx, key, owner, d)
	return held && err == nil, a.log.end(ctx, o, err)
}

// once reports whether no process has used a key, and uses it until a time.
func (a *sharing) once(ctx context.Context, key sharedstate.Key, until time.Time) (bool, error) {
	o := a.log.begin(ctx, "once")
	first, err := a.state.Once(ctx, key, until)
	return first && err == nil, a.log.end(ctx, o, err)
}

func (a *sharing) release(ctx context.Context, key sharedstate.Key, owner sharedstate.Owner) error {
	o := a.log.begin(ctx, "release")
	return a.log.end(ctx, o, a.state.Release(ctx, key, owner))
}

// counted is the part of a shared state that counts attempts.
type counted struct{ *sharing }

// newCounts returns where the limits of package throttle count: nowhere if each process counts
// alone, or if the store says that there is one process.
func newCounts(s *settings) *tally.Counts {
	if s.shared == nil || isNil(s.SharedState) && s.records.can.InMemory {
		return nil
	}
	return tally.New(counted{s.shared}, s.Secrets, s.Tenant, s.log.Logger)
}

// Take implements [tally.Store].
func (c counted) Take(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
	o := c.log.begin(ctx, "take")
	wait, err := c.state.Take(ctx, key, r)
	return wait, c.log.end(ctx, o, err)
}

// Wait implements [tally.Store].
func (c counted) Wait(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) (time.Duration, error) {
	o := c.log.begin(ctx, "wait")
	wait, err := c.state.Wait(ctx, key, r)
	return wait, c.log.end(ctx, o, err)
}

// GiveBack implements [tally.Store].
func (c counted) GiveBack(ctx context.Context, key sharedstate.Key, r sharedstate.Rate) error {
	o := c.log.begin(ctx, "giveBack")
	return c.log.end(ctx, o, c.state.GiveBack(ctx, key, r))
}

// checkNil rejects a store, a shared state, a revocation list or accounts that are a nil pointer:
// usually the result of a function whose error was not checked.
func checkNil(cfg *Config) *Error {
	for _, part := range []struct {
		option string
		value  any
	}{
		{"Config.Store", cfg.Store},
		{"Config.SharedState", cfg.SharedState},
		{"Config.Session.Revocation", cfg.Session.Revocation},
		{"Config.Accounts", cfg.Accounts},
	} {
		if part.value != nil && isNil(part.value) {
			return fail(CodeConfiguration,
				fmt.Errorf("%s is a nil %T: look at the error of the function that made it, or leave the option out",
					part.option, part.value))
		}
	}
	return nil
}

// unusedToken is the token, and unusedAddress the address, of nothing that is stored: a look-up shows
// whether the store answers.
const (
	unusedToken   = "pintle.health"
	unusedAddress = "health@pintle.invalid"
)

// sessionsAnswer reports whether sessions can be read. It is not logged like other calls: the
// handler of health checks logs what changes.
func (r *records) sessionsAnswer(ctx context.Context) error {
	_, _, err := r.store.SessionAndUser(ctx, unusedToken)
	return unlessMissing("getSessionAndUser", err)
}

// answers reports whether users can be read.
func (r *records) answers(ctx context.Context) error {
	_, err := r.store.UserByEmail(ctx, unusedAddress)
	return unlessMissing("getUserByEmail", err)
}

// answers reports whether the shared state can be written: it releases a lease that is not held.
func (a *sharing) answers(ctx context.Context) error {
	return storeError("release", a.state.Release(ctx, sharedstate.Key{}, sharedstate.Owner{}))
}

func unlessMissing(operation string, err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return storeError(operation, err)
}

// mailProvider returns the last provider that sends links, or nil.
func (s *settings) mailProvider() *provider {
	for _, p := range slices.Backward(s.providers) {
		if p.sendsLinks {
			return p
		}
	}
	return nil
}

// storeError classifies a failure of the store. ErrNotFound and ErrConflict are
// results, not failures, and pass through unchanged.
func storeError(operation string, err error) error {
	if err == nil || errors.Is(err, ErrNotFound) || errors.Is(err, ErrConflict) {
		return err
	}
	return fail(CodeStore, fmt.Errorf("%s: %w", operation, err))
}

// An operation is a call of the store under way.
type operation struct {
	name  string
	began time.Time // zero where it is not logged
}

// begin begins an operation. It has the name of the same operation at Auth.js,
// if there is one.
func (r *records) begin(ctx context.Context, name string) operation { return r.log.begin(ctx, name) }

// end ends an operation, and returns its error classified.
func (r *records) end(ctx context.Context, o operation, err error) error {
	return r.log.end(ctx, o, err)
}

func (l logger) begin(ctx context.Context, name string) operation {
	o := operation{name: name}
	if l.debugs(ctx) {
		o.began = time.Now()
	}
	return o
}

func (l logger) end(ctx context.Context, o operation, err error) error {
	if !o.began.IsZero() {
		l.note(ctx, o, outcome(err))
	}
	return storeError(o.name, err)
}

// note logs how an operation ended. The error is not in the record: databases
// repeat values in theirs.
func (l logger) note(ctx context.Context, o operation, outcome string) {
	l.LogAttrs(ctx, slog.LevelDebug, "pintle: store", slog.String("operation", o.name),
		slog.Duration("duration", time.Since(o.began)), slog.String("outcome", outcome))
}

func outcome(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, ErrNotFound):
		return "not found"
	case errors.Is(err, ErrConflict):
		return "conflict"
	case errors.Is(err, errors.ErrUnsupported):
		return "unsupported"
	}
	return "error"
}

// found turns ErrNotFound into a nil result, for look-ups where both results
// are expected.
func found[T any](value *T, err error) (*T, error) {
	if errors.Is(err, ErrNotFound) {
		return nil, nil // not found, which is no error here
	}
	if err != nil {
		return nil, err
	}
	return value, nil
}

func (r *records) createUser(ctx context.Context, u *User) (*User, error) {
	o := r.begin(ctx, "createUser")
	created, err := r.store.CreateUser(ctx, u)
	return created, r.end(ctx, o, err)
}

// user returns a user, or nil if the user does not exist.
func (r *records) user(ctx context.Context, id string) (*User, error) {
	o := r.begin(ctx, "getUser")
	u, err := r.store.User(ctx, id)
	return found(u, r.end(ctx, o, err))
}

// userByEmail returns the user with an address, or nil.
func (r *records) userByEmail(ctx context.Context, email string) (*User, error) {
	o := r.begin(ctx, "getUserByEmail")
	u, err := r.store.UserByEmail(ctx, email)
	return found(u, r.end(ctx, o, err))
}

// userByAccount returns the owner of an account, or nil.
func (r *records) userByAccount(ctx context.Context, a *Account) (*User, error) {
	o := r.begin(ctx, "getUserByAccount")
	u, err := r.store.UserByAccount(ctx, a.Provider, a.ProviderAccountID)
	return found(u, r.end(ctx, o, err))
}

func (r *records) updateUser(ctx context.Context, id string, change UserUpdate) (*User, error) {
	o := r.begin(ctx, "updateUser")
	updated, err := r.store.UpdateUser(ctx, id, change)
	return updated, r.end(ctx, o, err)
}

func (r *records) deleteUser(ctx context.Context, id string) error {
	o := r.begin(ctx, "deleteUser")
	return r.end(ctx, o, r.store.DeleteUser(ctx, id))
}

// endBegun ends what the accounts of the configuration have begun for a user.
func (s *settings) endBegun(ctx context.Context, userID string) error {
	if s.Accounts == nil || s.records == nil {
		return nil
	}
	return s.records.endBegun(ctx, userID)
}

// endBegun ends what package account has begun for a user and keeps apart from sessions: browsers
// that are remembered, a change of the address that waits, and operators who act as the user.
func (r *records) endBegun(ctx context.Context, userID string) error {
	if err := r.forgetBrowsers(ctx, userID); err != nil {
		return err
	}
	rows := r.store.AccountStore()
	if isNil(rows) {
		return nil
	}
	o := r.begin(ctx, "endFlows")
	_, err := rows.EndFlows(ctx, userID, "address", "acting")
	return r.end(ctx, o, err)
}

// forgetBrowsers removes the browsers in which a user is not asked for a second factor: rows of
// package account. A store without such rows has none.
func (r *records) forgetBrowsers(ctx context.Context, userID string) error {
	rows := r.store.AccountStore()
	if isNil(rows) {
		return nil
	}
	o := r.begin(ctx, "deleteFactors")
	_, err := rows.DeleteFactors(ctx, userID, []string{"device"}, nil)
	return r.end(ctx, o, err)
}

func (r *records) linkAccount(ctx context.Context, a *Account) error {
	o := r.begin(ctx, "linkAccount")
	return r.end(ctx, o, r.store.LinkAccount(ctx, a))
}

// account returns an account. The error matches [ErrNotFound] if the account
// does not exist.
func (r *records) account(ctx context.Context, provider, providerAccountID string) (*Account, error) {
	o := r.begin(ctx, "getAccount")
	a, err := r.store.Account(ctx, provider, providerAccountID)
	return a, r.end(ctx, o, err)
}

func (r *records) userAccounts(ctx context.Context, userID string) ([]*Account, error) {
	o := r.begin(ctx, "userAccounts")
	accounts, err := r.store.UserAccounts(ctx, userID)
	return accounts, r.end(ctx, o, err)
}

func (r *records) updateAccount(ctx context.Context, a *Account) error {
	o := r.begin(ctx, "updateAccount")
	return r.end(ctx, o, r.store.UpdateAccount(ctx, a))
}

// swapAccount replaces the tokens of an account if the refresh token that is stored still
// is old, and otherwise fails with [ErrConflict]. Without [Features.AccountSwap] it
// replaces them whatever is stored.
func (r *records) swapAccount(ctx context.Context, a *Account, old string) error {
	if !r.can.AccountSwap {
		return r.updateAccount(ctx, a)
	}
	o := r.begin(ctx, "swapAccount")
	return r.end(ctx, o, r.store.SwapAccount(ctx, a, old))
}

func (r *records) unlinkAccount(ctx context.Context, a *Account, keepOneOf []*Account) error {
	o := r.begin(ctx, "unlinkAccount")
	return r.end(ctx, o, r.store.UnlinkAccount(ctx, a.UserID, a.Provider, a.ProviderAccountID, keepOneOf))
}

func (r *records) createSession(ctx context.Context, s *StoredSession) error {
	o := r.begin(ctx, "createSession")
	return r.end(ctx, o, r.store.CreateSession(ctx, s))
}

// sessionAndUser returns the session with a token and its user, or nil for both. The
// mark of a pending sign-in is no session.
func (r *records) sessionAndUser(ctx context.Context, token string) (*StoredSession, *User, error) {
	if strings.HasPrefix(token, pendingToken) {
		return nil, nil, nil
	}
	return r.sessionRow(ctx, token)
}

// hasMark reports whether the mark of a pending sign-in is still there.
func (r *records) hasMark(ctx context.Context, marker string) (bool, error) {
	row, _, err := r.sessionRow(ctx, marker)
	return row != nil, err
}

func (r *records) sessionRow(ctx context.Context, token string) (*StoredSession, *User, error) {
	o := r.begin(ctx, "getSessionAndUser")
	s, u, err := r.store.SessionAndUser(ctx, token)
	err = r.end(ctx, o, err)
	if errors.Is(err, ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return s, u, nil
}

func (r *records) updateSession(ctx context.Context, token string, change SessionUpdate) error {
	o := r.begin(ctx, "updateSession")
	return r.end(ctx, o, r.store.UpdateSession(ctx, token, change))
}

// deleteSession removes a session, and returns it unless it was gone already.
func (r *records) deleteSession(ctx context.Context, token string) (*StoredSession, error) {
	o := r.begin(ctx, "deleteSession")
	s, err := r.store.DeleteSession(ctx, token)
	return found(s, r.end(ctx, o, err))
}

// deleteSessions removes those of the sessions that exist.
func (r *records) deleteSessions(ctx context.Context, tokens []string) error {
	for _, token := range tokens {
		if _, err := r.deleteSession(ctx, token); err != nil {
			return err
		}
	}
	return nil
}

// userSessions yields the sessions of a user. The operation lasts as long as the
// loop, during which the store may hold a connection.
func (r *records) userSessions(ctx context.Context, userID string) iter.Seq2[*StoredSession, error] {
	return func(yield func(*StoredSession, error) bool) {
		o := r.begin(ctx, "userSessions")
		for s, err := range r.store.UserSessions(ctx, userID) {
			if err != nil {
				yield(nil, r.end(ctx, o, err))
				return
			}
			if !yield(s, nil) {
				break
			}
		}
		_ = r.end(ctx, o, nil) // which is an error for one
	}
}

func (r *records) endSession(ctx context.Context, userID, handle string) error {
	o := r.begin(ctx, "endSession")
	return r.end(ctx, o, r.store.EndSession(ctx, userID, handle))
}

func (r *records) endUserSessions(ctx context.Context, userID, except string) (int, error) {
	o := r.begin(ctx, "endUserSessions")
	n, err := r.store.EndUserSessions(ctx, userID, except)
	return n, r.end(ctx, o, err)
}

// putSignIn writes to which sign-in at a provider a session belongs. It fails with
// [providersession.ErrEnded] if the provider has ended that meanwhile.
func (r *records) putSignIn(ctx context.Context, signIn *providersession.Record, flowBegan time.Time) error {
	o := r.begin(ctx, "putProviderSession")
	err := r.store.ProviderSessions().Put(ctx, signIn, flowBegan)
	if errors.Is(err, providersession.ErrEnded) {
		_ = r.end(ctx, o, nil)
		return errEndedAtProvider
	}
	return r.end(ctx, o, err)
}

// signIns returns the records of a session.
func (r *records) signIns(ctx context.Context, session providersession.Key) ([]*providersession.Record, error) {
	o := r.begin(ctx, "getProviderSessions")
	all, err := r.store.ProviderSessions().Of(ctx, session)
	return all, r.end(ctx, o, err)
}

func (r *records) moveSignIns(ctx context.Context, session providersession.Key, expires time.Time) error {
	o := r.begin(ctx, "moveProviderSessions")
	return r.end(ctx, o, r.store.ProviderSessions().Move(ctx, session, expires))
}

// endSignIns ends the sessions that a provider has ended.
func (r *records) endSignIns(ctx context.Context, sid, sub providersession.Key, before time.Time) ([]*providersession.Record, error) {
	o := r.begin(ctx, "endProviderSessions")
	ended, err := r.store.ProviderSessions().EndBy(ctx, sid, sub, before)
	return ended, r.end(ctx, o, err)
}

// lacksForProviderEnd returns why providers cannot end sessions of the store.
func (r *records) lacksForProviderEnd(shared *sharing) error {
	var lacks string
	switch {
	case r == nil:
		return nil // resolveStore reports it
	case isNil(r.store.ProviderSessions()):
		lacks = "ProviderSessions"
	case shared == nil:
		lacks = "SharedState"
	default:
		return nil
	}
	return missingFeature(fmt.Sprintf("Config.Store, a %T, has no %s, by which a provider ends database sessions: use "+
		"a store that has it (for shared tables sqlstore.Layout.AccountTables), or StrategyJWT in Config.Session.Strategy", r.store, lacks))
}

// lacksForFollowing returns why the store cannot have when a provider has confirmed a session.
func (r *records) lacksForFollowing() error {
	if r == nil || !isNil(r.store.ProviderSessions()) {
		return nil // checkStore reports that there is no store
	}
	return missingFeature(fmt.Sprintf("Config.Store, a %T, has no ProviderSessions, which have when the provider has confirmed a "+
		"database session: use a store that has it (for shared tables sqlstore.Layout.AccountTables)", r.store))
}

// errEndedAtProvider rejects a sign-in that the provider has ended before it was complete.
var errEndedAtProvider = fail(CodeAccessDenied, errors.New("the provider has ended its session since the sign-in began"))

func (r *records) createVerification(ctx context.Context, v *Verification) error {
	o := r.begin(ctx, "createVerificationToken")
	return r.end(ctx, o, r.store.CreateVerification(ctx, v))
}

// useVerification removes the row of a link and returns it, or nil.
func (r *records) useVerification(ctx context.Context, identifier, hash string) (*Verification, error) {
	o := r.begin(ctx, "useVerificationToken")
	v, err := r.store.UseVerification(ctx, identifier, hash)
	return found(v, r.end(ctx, o, err))
}

func (r *records) createAuthenticator(ctx context.Context, a *Passkey) error {
	o := r.begin(ctx, "createAuthenticator")
	return r.end(ctx, o, r.store.CreatePasskey(ctx, a))
}

// authenticator returns a passkey, or nil.
func (r *records) authenticator(ctx context.Context, credentialID string) (*Passkey, error) {
	o := r.begin(ctx, "getAuthenticator")
	a, err := r.store.Passkey(ctx, credentialID)
	return found(a, r.end(ctx, o, err))
}

func (r *records) userAuthenticators(ctx context.Context, userID string) ([]*Passkey, error) {
	o := r.begin(ctx, "listAuthenticatorsByUserId")
	all, err := r.store.UserPasskeys(ctx, userID)
	return all, r.end(ctx, o, err)
}

func (r *records) useAuthenticator(ctx context.Context, used *Passkey, old uint32) error {
	o := r.begin(ctx, "updateAuthenticatorCounter")
	return r.end(ctx, o, r.store.UsePasskey(ctx, used, old))
}

func (r *records) renameAuthenticator(ctx context.Context, userID, credentialID, name string) error {
	o := r.begin(ctx, "renameAuthenticator")
	return r.end(ctx, o, r.store.RenamePasskey(ctx, userID, credentialID, name))
}

// inTx runs f in a transaction of the store. Its errors are not classified: they
// are mostly those of f.
func (r *records) inTx(ctx context.Context, f func(*records) error) error {
	var failed error
	o := r.begin(ctx, "transaction")
	err := r.store.InTx(ctx, func(s Store) error {
		failed = f(newRecords(s, r.log))
		return failed
	})
	switch {
	case o.began.IsZero():
	case err != nil && failed != nil:
		r.log.note(ctx, o, "rolled back")
	default:
		r.log.note(ctx, o, outcome(err))
	}
	return err
}

// logStoreFailure notes that the store failed, where the failure goes on under
// another code.
func (x *exchange) logStoreFailure(err error) {
	if errors.Is(err, CodeStore) {
		x.log.LogAttrs(x.ctx, slog.LevelError, "pintle: the store failed", slog.String("code", string(CodeStore)), slog.Any("error", err))
	}
}

// storeFor returns the store, if it has what a method of the host needs.
func storeFor(s *settings, method string, needed feature) (*records, error) {
	if s.records == nil {
		return nil, fail(CodeConfiguration, fmt.Errorf("%s needs a Config.Store", method))
	}
	if err := s.records.missing(method, needed); err != nil {
		return nil, fail(codeMissingAdapterMethods, err)
	}
	return s.records, nil
}

// sealTokens seals the access, refresh and ID tokens of an account before the
// store sees them, so that a copy of the database gives no access to the
// providers. Each is bound to its account and column: an attacker who can write
// rows must not be able to use the token of another user by copying it.
func (s *settings) sealTokens(a *Account) *Account {
	if !s.SealAccountTokens {
		return a
	}
	sealed := a.clone()
	for _, column := range sealed.secretColumns() {
		if *column.token != "" {
			bound := append(sealed.place(column.name), *column.token...)
			*column.token = sealedPrefix + string(s.accountKeys.AppendSeal(nil, bound))
		}
	}
	return sealed
}

// unsealTokens opens what sealTokens sealed. What was stored before sealing was
// turned on is returned as it is.
func (s *settings) unsealTokens(a *Account) (*Account, error) {
	opened := a.clone()
	for _, column := range opened.secretColumns() {
		sealed, ok := strings.CutPrefix(*column.token, sealedPrefix)
		if !ok {
			continue
		}
		text, err := s.accountKeys.Open(nil, sealed)
		if err != nil {
			return nil, fail(CodeConfiguration, fmt.Errorf("a stored token of provider %s cannot be opened: "+
				"Config.Secrets no longer has the secret it was sealed with", a.Provider))
		}
		token, here := bytes.CutPrefix(text, opened.place(column.name))
		if !here {
			return nil, fail(CodeConfiguration, fmt.Errorf("the stored %s of an account at provider %s was sealed "+
				"for another account or column: the row was changed by other means than Pintle", column.name, a.Provider))
		}
		*column.token = string(token)
	}
	return opened, nil
}

func (s *settings) storedAccount(ctx context.Context, account *Account) (*Account, error) {
	opened, _, err := s.storedTokens(ctx, account)
	return opened, err
}

// storedTokens returns an account with its tokens, and as the store has it.
func (s *settings) storedTokens(ctx context.Context, account *Account) (opened, stored *Account, err error) {
	if stored, err = s.records.account(ctx, account.Provider, account.ProviderAccountID); err != nil {
		return nil, nil, err
	}
	opened, err = s.unsealTokens(stored)
	return opened, stored, err
}

// accountOf returns the account of a user at a provider as the store has it: the one with
// the given id, or the only one. The error matches [ErrNotFound] if the user has none.
func (s *settings) accountOf(ctx context.Context, given *Account) (*Account, error) {
	linked, err := s.records.userAccounts(ctx, given.UserID)
	if err != nil {
		return nil, err
	}
	linked = slices.DeleteFunc(linked, func(a *Account) bool {
		return a.Provider != given.Provider || given.ProviderAccountID != "" && a.ProviderAccountID != given.ProviderAccountID
	})
	switch len(linked) {
	case 0:
		return nil, fmt.Errorf("the user has no such account at %s: %w", given.Provider, ErrNotFound)
	case 1:
		return linked[0], nil
	}
	return nil, fail(CodeConfiguration, fmt.Errorf("the user has %d accounts at %s: set ProviderAccountID to that of one of them, "+
		"which Auth.Accounts lists", len(linked), given.Provider))
}

// maxAttempts is how often a change of accounts is decided anew when they change
// meanwhile.
const maxAttempts = 4

// replaceTokens stores the tokens of an account in the place of those that the store has.
// A refresh token that the provider did not send is kept. With keepWider set tokens
// that can be refreshed stay if they have a scope that the new ones have not, unless the
// provider has refused to refresh them.
func (s *settings) replaceTokens(ctx context.Context, account *Account, keepWider bool) error {
	for range maxAttempts {
		opened, stored, err := s.storedTokens(ctx, account)
		if err != nil {
			return err
		}
		if keepWider && opened.RefreshToken != "" && opened.AccessToken != "" && len(lacking(account.Scope, scopesOf(opened.Scope))) > 0 {
			return nil
		}
		renewed := s.kept(account)
		renewed.UserID, renewed.Type, renewed.VerifiedEmail = opened.UserID, opened.Type, opened.VerifiedEmail
		if renewed.RefreshToken == "" {
			renewed.RefreshToken = opened.RefreshToken
		}
		// A refresh that ends in between has used up the refresh token that is kept.
		if err = s.records.swapAccount(ctx, s.sealTokens(renewed), stored.RefreshToken); !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return fail(CodeStore, errors.New("other requests keep replacing the tokens of the account: try again"))
}

// scopesOf returns the scopes of a list, which GitHub and others separate by commas.
func scopesOf(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ' ' || r == ',' })
}

// lacking returns those of some scopes that a list has not.
func lacking(list string, wanted []string) []string {
	granted := scopesOf(list)
	return slices.DeleteFunc(slices.Clone(wanted), func(scope string) bool { return slices.Contains(granted, scope) })
}

// kept is what the store is given of an account: what the provider's Account
// function lets through.
func (s *settings) kept(account *Account) *Account {
	keep := storedByDefault
	if p := s.byID[account.Provider]; p != nil && p.keep != nil {
		keep = p.keep
	}
	stored := &Account{}
	if kept := keep(account.clone()); kept != nil {
		stored = kept
	}
	stored.UserID, stored.Type = account.UserID, account.Type
	stored.Provider, stored.ProviderAccountID = account.Provider, account.ProviderAccountID
	stored.VerifiedEmail = account.VerifiedEmail
	return stored
}

// missing returns why something cannot be done with the store, or nil if it has
// the features for it.
func (r *records) missing(what string, needed ...feature) error {
	for _, f := range needed {
		if f.of(r.can) {
			continue
		}
		remedy := "use a store that has it"
		if r.can.Remedy != "" {
			remedy = r.can.Remedy
		}
		return missingFeature(fmt.Sprintf("%s needs pintle.Features.%s, which Config.Store, a %T, does not have: %s",
			what, f.name, r.store, remedy))
	}
	return nil
}

// pendingToken begins the token of a row that is no session: see mark. It is told
// apart by its token because not every table has a column for more.
const pendingToken = "pending-sign-in."
