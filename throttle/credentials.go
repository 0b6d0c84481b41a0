package throttle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pintleauth/pintle"
)

// detail is the error detail of an attempt beyond the limit, and the key of its
// text in Texts of package pages.
const detail = "too_many_attempts"

// ErrTooMany is matched by the error of an attempt beyond a limit.
var ErrTooMany = errors.New("throttle: too many attempts")

// Credentials returns a provider that passes attempts to p within the limits of
// the guard. field is the form field with the name of the account, one of p.Fields.
// Attempts are counted by it unless p.Account returns another name.
func (g *Guard) Credentials(p *pintle.Credentials, field string) *pintle.Credentials {
	guarded := *p
	guarded.Limited, guarded.AccountField = true, field
	if p.Authorize == nil {
		return &guarded // pintle.New rejects it
	}
	provider := cmp.Or(p.ID, "credentials")
	guarded.Authorize = func(ctx context.Context, s *pintle.Submission) (*pintle.User, error) {
		client := client(s.Client)
		devices := readDevices(s)
		who, err := g.account(ctx, p, s, s.Text(field), client, len(devices) > 0)
		if err != nil {
			return nil, err
		}
		who.provider = provider
		// Counted before the password is verified, so that concurrent attempts
		// cannot all start before the first is found wrong.
		counted, err := g.count(ctx, s, who, client, devices.of(provider, who.exact))
		if err != nil {
			return nil, err
		}
		user, err := p.Authorize(ctx, s)
		if err == nil && user == nil || errors.Is(err, pintle.CodeCredentials) {
			return user, err
		}
		if err != nil && ctx.Err() != nil {
			// The client has left, which may be why it failed: it would guess without a limit.
			return user, err
		}
		// The password was right, or the application failed to verify it.
		g.giveBack(ctx, counted)
		if err != nil {
			return user, err
		}
		g.remembers(ctx, who.knownAt(client))
		return user, g.remember(s, devices, provider, who.exact, user)
	}
	return &guarded
}

// An accountName is what a submission calls an account.
type accountName struct {
	// counted is the name under which guesses are counted: names that a directory
	// may take for the same account have one.
	counted string

	// exact is the name under which a client is known. An application may have
	// accounts whose names differ in an accent alone, and the owner of one of them
	// must not be a known device, or a known address, of the other.
	exact string

	// provider is the id of the provider. The same name at another provider is
	// another account, perhaps of another user.
	provider string
}

// key returns the name under which guesses are counted.
func (who accountName) key() string { return who.provider + "\x00" + who.counted }

// knownAt returns the name under which a client is known to have signed in to the
// account. Without the provider in it, an attacker with an account of the same name
// at another provider would be exempt from the limit of this account.
func (who accountName) knownAt(client string) string {
	return client + " " + who.provider + "\x00" + who.exact
}

// account returns the name of the account that a submission is for.
func (g *Guard) account(ctx context.Context, p *pintle.Credentials, s *pintle.Submission, typed, client string, known bool) (accountName, error) {
	unresolved := accountName{counted: account(typed), exact: "typed " + typed}
	if p.Account == nil {
		return unresolved, nil
	}
	// Finding the account costs the application a search. A client beyond its
	// limit does not cause one, unless it is a browser that has signed in to
	// some account: the limit of the client does not apply to it.
	if wait := g.clients.wait(client, g.perClient()); wait > 0 && !known {
		return accountName{}, refusal(client, wait)
	}
	found, err := p.Account(ctx, s)
	if err != nil {
		return accountName{}, err
	}
	if found == "" {
		return unresolved, nil
	}
	// The prefix separates submitted names from those of the application, so
	// that a client cannot submit the id of another account as a name.
	return accountName{counted: "account " + found, exact: "account " + found}, nil
}

func (g *Guard) perClient() Limit { return g.PerClient.or(100, 6*time.Second) }

// count counts an attempt at an account, or rejects it. device is the browser if it
// has signed in to the account before, or nil.
func (g *Guard) count(ctx context.Context, s *pintle.Submission, who accountName, client string, device *device) ([]attempt, error) {
	perAccount := g.PerAccount.or(100, time.Minute)
	if device != nil {
		// Only its own limits apply to a known device: attempts of other clients at
		// the account, or from the same address, must not lock the owner out.
		counted := []attempt{
			{counts: &g.devices, kind: ofDevice, name: device.ID, limit: g.PerDevice.or(10, time.Minute)},
			{counts: &g.deviceAccounts, kind: ofDeviceAccount, name: string(device.User[:]), limit: perAccount},
		}
		if _, wait := g.take(ctx, counted); wait == 0 {
			return counted, nil
		}
	}
	pair := client + " " + who.key()
	counted := []attempt{
		{counts: &g.pairs, kind: ofPair, name: pair, limit: g.PerAccountAndClient.or(10, time.Minute)},
		{counts: &g.clients, kind: ofClient, name: client, limit: g.perClient()},
	}
	at := who.knownAt(client)
	if !g.known.noted(at) {
		counted = append(counted, attempt{counts: &g.accounts, kind: ofAccount, name: who.key(), limit: perAccount})
	}
	refusing, wait := g.take(ctx, counted)
	if wait == 0 {
		return counted, nil
	}
	if refusing != &g.accounts {
		return nil, refusal(client, wait)
	}
	known := g.knownElsewhere(ctx, at)
	if !known && g.Exceeded == nil {
		return nil, refusal(client, wait)
	}
	counted, excess := counted[:2], wait
	if _, wait = takeHere(counted); wait > 0 {
		return nil, refusal(client, wait)
	}
	if !known {
		if err := g.Exceeded(ctx, &Excess{Submission: s, Account: who.counted, RetryAfter: excess}); err != nil {
			giveBackHere(counted)
			return nil, err
		}
	}
	// What Exceeded rejects causes no call of the shared state.
	if _, wait = g.takeShared(ctx, counted); wait > 0 {
		return nil, refusal(client, wait)
	}
	return counted, nil
}

func refusal(client string, wait time.Duration) error {
	return &pintle.Error{Code: pintle.CodeCredentials, Detail: detail, RetryAfter: wait, Err: fmt.Errorf("%w from %s", ErrTooMany, client)}
}
