package account

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
)

// askProveAddress is [pintle.Callbacks.ProveAddress]: a sign-in is about to prove the address of
// a user for the first time.
func (a *Accounts) askProveAddress(ctx context.Context, p *pintle.PendingSignIn) error {
	if _, err := a.rows.EndFlows(ctx, p.User.ID, endedFlows...); err != nil {
		return storeFault(err)
	}
	v := a.visitOf(p.Request)
	evicted, err := v.evictFor(ctx, p)
	if err != nil {
		return err
	}
	v.note("address_proved", p.User.ID, detailNumber, number(len(evicted)))
	v.tellEvicted(p.User, evicted)
	return nil
}

// proveFirst records the first proof of the address of p.User. p.Account and
// p.Authentication are what the user has proven now.
func (v *visit) proveFirst(p *pintle.PendingSignIn) error {
	p.Request = v.r
	evicted, err := v.evictFor(v.ctx, p)
	if err != nil {
		return asProblem(err)
	}
	if err := v.proveAddress(v.ctx, p.User); err != nil {
		return err
	}
	v.note("address_proved", p.User.ID, detailNumber, number(len(evicted)))
	v.tellEvicted(p.User, evicted)
	return nil
}

// provenLately is what a session has proven in the last ten minutes. A session of before may be
// that of another person at the same computer, who chose the password.
func provenLately(s *pintle.Session) pintle.Authentication {
	facts, lately := s.Authentication, pintle.Authentication{}
	since, latest := accountDemand.since(0), time.Now().Add(clockTolerance)
	for _, method := range facts.Methods {
		if at := facts.Proofs[method]; !at.Before(since) && !at.After(latest) {
			lately.Methods = append(lately.Methods, method)
		}
	}
	if slices.Contains(lately.Methods, methodProvider) {
		lately.Provider = facts.Provider
	}
	return lately
}

// evictFor evicts for a first proof, which the application may then deny.
func (v *visit) evictFor(ctx context.Context, p *pintle.PendingSignIn) (evicted []string, err error) {
	if evicted, err = v.evict(p); err != nil {
		return nil, storeFault(err)
	}
	if v.callback.ProveAddress != nil {
		err = v.callback.ProveAddress(ctx, p)
	}
	return evicted, err
}

// evict removes what signs in, or is asked for at sign-ins, from a user whose address is
// about to be proven for the first time: a person who used the address before may have
// added it, to get in again or to keep the owner of the address out. A password, a passkey or
// an account of a provider with which the user has signed in now stays. It returns the words
// of what it removed.
//
// It comes before the proof is stored: afterwards no sign-in would do it again.
func (v *visit) evict(p *pintle.PendingSignIn) (evicted []string, err error) {
	u, methods := p.User, p.Authentication.Methods
	// Recovery codes go with the app that they are for.
	removed, err := v.rows.DeleteFactors(v.ctx, u.ID, []string{factorTOTP, factorRecovery, factorDevice}, nil)
	if err != nil {
		return nil, unavailable(err)
	}
	if removed > 0 {
		evicted = append(evicted, v.word("second_factor"))
	}
	if !slices.Contains(methods, methodPassword) {
		row, hash, err := v.keptPassword(v.ctx, u) // Passwords.Off may be temporary
		if err != nil {
			return nil, unavailable(err)
		}
		if hash != "" { // of a former table of the application, too
			if err := v.storePassword(v.ctx, u.ID, row, ""); err != nil {
				return nil, err
			}
			evicted = append(evicted, v.word("password"))
		}
	}
	if !slices.Contains(methods, methodKey) {
		passkeys, err := v.dropPasskeys(u.ID)
		if err != nil {
			return nil, unavailable(err)
		}
		if passkeys {
			name := "Passkey"
			if len(v.passkeys) > 0 {
				name = v.providers[v.passkeys[0]]
			}
			evicted = append(evicted, v.configured(name))
		}
	}
	unlinked, err := v.dropAccounts(p)
	return append(evicted, unlinked...), err
}

// dropAccounts unlinks the accounts of providers that may be those of another person, and
// returns the names of the providers.
func (v *visit) dropAccounts(p *pintle.PendingSignIn) (unlinked []string, err error) {
	linked, err := v.store.UserAccounts(v.ctx, p.User.ID)
	if err != nil {
		return nil, unavailable(err)
	}
	for _, account := range linked {
		if account.Type != pintle.TypeOAuth && account.Type != pintle.TypeOIDC || isOwn(account, p, linked) {
			continue
		}
		if err := v.unlink(p.User.ID, account); err != nil {
			return nil, err
		}
		name := v.configured(cmp.Or(v.providers[account.Provider], account.Provider))
		if !slices.Contains(unlinked, name) {
			unlinked = append(unlinked, name)
		}
	}
	return unlinked, nil
}

// unlink removes an account of a provider that may be that of another person. Its tokens end at the
// provider if [pintle.OAuth].RevokeAtUnlink is set. That comes first, because they are nowhere
// else afterwards. A provider that does not answer does not keep the account linked.
func (v *visit) unlink(userID string, linked *pintle.Account) error {
	if v.revokes[linked.Provider] {
		err := v.auth.RevokeTokens(v.ctx, &pintle.Account{
			UserID: userID, Provider: linked.Provider, ProviderAccountID: linked.ProviderAccountID,
		})
		if err != nil && !errors.Is(err, pintle.ErrNotFound) {
			v.log().WarnContext(v.ctx, "pintle: tokens of an account that is unlinked may still work at the provider", slog.String("code", codeNotRevoked),
				slog.String("provider", linked.Provider), slog.Any("error", err))
		}
	}
	err := v.store.UnlinkAccount(v.ctx, userID, linked.Provider, linked.ProviderAccountID, nil)
	if err != nil && !errors.Is(err, pintle.ErrNotFound) {
		return unavailable(err)
	}
	return nil
}

// isOwn reports whether an account is that of the person who reads mail at the address: the
// provider had verified the address, or the user has signed in with the account now.
func isOwn(account *pintle.Account, p *pintle.PendingSignIn, linked []*pintle.Account) bool {
	if account.VerifiedEmail != "" && account.VerifiedEmail == p.User.Email {
		return true
	}
	if by := p.Account; by != nil {
		return by.Provider == account.Provider && by.ProviderAccountID == account.ProviderAccountID
	}
	// A session knows the provider and not the account. Of several any may be the one.
	same := 0
	for _, other := range linked {
		if other.Provider == account.Provider {
			same++
		}
	}
	return same == 1 && account.Provider == p.Authentication.Provider && slices.Contains(p.Authentication.Methods, methodProvider)
}

// dropPasskeys removes the passkeys of a user, with their accounts. A program of operators has
// no provider of passkeys, and the application that it acts for may have one.
func (v *visit) dropPasskeys(userID string) (removed bool, err error) {
	if !v.store.Features().Passkeys {
		return false, nil
	}
	keys, err := v.store.UserPasskeys(v.ctx, userID)
	if err != nil || len(keys) == 0 {
		return false, err
	}
	accounts, err := v.store.UserAccounts(v.ctx, userID)
	if err != nil {
		return false, err
	}
	for _, linked := range accounts {
		if linked.Type != pintle.TypeWebAuthn {
			continue
		}
		err := v.store.UnlinkAccount(v.ctx, userID, linked.Provider, linked.ProviderAccountID, nil)
		if err != nil && !errors.Is(err, pintle.ErrNotFound) {
			return false, err
		}
	}
	for _, key := range keys { // of which Auth.js may have lost the account
		if err := v.store.DeletePasskey(v.ctx, userID, key.CredentialID); err != nil && !errors.Is(err, pintle.ErrNotFound) {
			return false, err
		}
	}
	return true, nil
}

// tellEvicted tells a user who has proven the address just now what was removed.
func (v *visit) tellEvicted(u *pintle.User, evicted []string) {
	if len(evicted) > 0 {
		proven := copyOf(u)
		proven.EmailVerified = time.Now()
		v.notify("address-proved", proven, strings.Join(evicted, ", "), "")
	}
}
