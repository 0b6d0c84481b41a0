package account

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/pintleauth/pintle"
)

// factorDevice is the kind of the rows of remembered browsers.
const factorDevice = "device"

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
	v.tellEvicted(p.User, evicted)
	return nil
}

// proveFirst records the first proof of the address of a user.
func (v *visit) proveFirst(u *pintle.User, methods []string) error {
	evicted, err := v.evictFor(v.ctx, &pintle.PendingSignIn{User: u, Authentication: pintle.Authentication{Methods: methods}, Request: v.r})
	if err != nil {
		return asProblem(err)
	}
	if err := v.proveAddress(v.ctx, u.ID); err != nil {
		return err
	}
	v.tellEvicted(u, evicted)
	return nil
}

// evictFor evicts for a first proof, which the application may then deny.
func (v *visit) evictFor(ctx context.Context, p *pintle.PendingSignIn) (evicted []string, err error) {
	if evicted, err = v.evict(p.User, p.Authentication.Methods); err != nil {
		return nil, storeFault(err)
	}
	if v.callback.ProveAddress != nil {
		err = v.callback.ProveAddress(ctx, p)
	}
	return evicted, err
}

// evict removes what signs in, or is asked for at sign-ins, from a user whose address is
// about to be proven for the first time: a person who used the address before may have
// added it, to get in again or to keep the owner of the address out. A password or a
// passkey among the methods that the user has proven now stays. It returns the words of
// what it removed.
//
// It comes before the proof is stored: afterwards no sign-in would do it again.
func (v *visit) evict(u *pintle.User, methods []string) (evicted []string, err error) {
	// Recovery codes go with the app that they are for.
	removed, err := v.rows.DeleteFactors(v.ctx, u.ID, []string{factorTOTP, factorRecovery, factorDevice}, nil)
	if err != nil {
		return nil, unavailable(err)
	}
	if removed > 0 {
		evicted = append(evicted, v.word("second_factor"))
	}
	if !slices.Contains(methods, methodPassword) {
		row, hash, err := v.storedPassword(v.ctx, u)
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
			evicted = append(evicted, v.configured(v.providers[v.passkeys[0]]))
		}
	}
	return evicted, nil
}

// dropPasskeys removes the passkeys of a user, with their accounts.
func (v *visit) dropPasskeys(userID string) (removed bool, err error) {
	if len(v.passkeys) == 0 {
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
