package throttle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pintleauth/pintle"
)

// detail is what the sign-in page is given for an attempt too many, and the key
// under which [pintle.Texts] has the words for it.
const detail = "too_many_attempts"

// ErrTooMany is the cause of the error of an attempt too many.
var ErrTooMany = errors.New("throttle: too many attempts")

// Credentials returns a provider that lets attempts through to p within the
// limits of the guard. field names the field of the form that names the account,
// by which attempts are counted unless p.Account knows better.
func (g *Guard) Credentials(p *pintle.Credentials, field string) *pintle.Credentials {
	guarded := *p
	if p.Authorize == nil {
		return &guarded // which pintle.New refuses
	}
	provider := cmp.Or(p.ID, "credentials")
	guarded.Authorize = func(ctx context.Context, s *pintle.Submission) (*pintle.User, error) {
		client := client(s.Client)
		devices := readDevices(s)
		who, err := g.account(ctx, p, s, account(s.Text(field)), client, len(devices) > 0)
		if err != nil {
			return nil, err
		}
		// Counted before the password is looked at, so that attempts at the same
		// time do not all come before the first is found wrong.
		counted, err := g.count(ctx, s, who, client, devices.of(provider, who))
		if err != nil {
			return nil, err
		}
		user, err := p.Authorize(ctx, s)
		if err == nil && user == nil || errors.Is(err, pintle.ErrCredentials) {
			return user, err
		}
		// It was right, or the application could not tell.
		giveBack(counted)
		if err != nil {
			return user, err
		}
		g.known.note(client + " " + who)
		return user, g.remember(s, devices, provider, who)
	}
	return &guarded
}

// account returns the name by which attempts at an account are counted.
func (g *Guard) account(ctx context.Context, p *pintle.Credentials, s *pintle.Submission, typed, client string, known bool) (string, error) {
	if p.Account == nil {
		return typed, nil
	}
	// To find the account costs the application a search. A client that is beyond
	// its limit does not get one, unless it is a browser that has signed in to
	// some account: the limit of the client is not for that.
	if wait := g.clients.wait(client, g.perClient()); wait > 0 && !known {
		return "", refusal(client, wait)
	}
	found, err := p.Account(ctx, s)
	if err != nil {
		return "", err
	}
	if found == "" {
		return typed, nil
	}
	// The spellings that people type and the names of the application are kept
	// apart, so that no one can name another account by typing its id.
	return "account " + found, nil
}

func (g *Guard) perClient() Limit { return g.PerClient.or(100, 6*time.Second) }

// count counts an attempt at an account, or refuses it. device is the id of a
// browser that has signed in to the account before, or empty.
func (g *Guard) count(ctx context.Context, s *pintle.Submission, who, client, device string) ([]attempt, error) {
	perAccount := g.PerAccount.or(100, time.Minute)
	if device != "" {
		// Only its own limits hold for a known device: what others do to the
		// account, or from the same address, must not keep the owner out.
		counted := []attempt{
			{&g.devices, device, g.PerDevice.or(10, time.Minute)},
			{&g.deviceAccounts, who, perAccount},
		}
		if _, wait := take(counted); wait == 0 {
			return counted, nil
		}
	}
	pair := client + " " + who
	counted := []attempt{
		{&g.pairs, pair, g.PerAccountAndClient.or(10, time.Minute)},
		{&g.clients, client, g.perClient()},
	}
	if !g.known.noted(pair) {
		counted = append(counted, attempt{&g.accounts, who, perAccount})
	}
	refusing, wait := take(counted)
	if wait == 0 {
		return counted, nil
	}
	if refusing == &g.accounts && g.Exceeded != nil {
		counted, excess := counted[:2], wait
		if _, wait = take(counted); wait == 0 {
			if err := g.Exceeded(ctx, &Excess{Submission: s, Account: who, RetryAfter: excess}); err != nil {
				giveBack(counted)
				return nil, err
			}
			return counted, nil
		}
	}
	return nil, refusal(client, wait)
}

func refusal(client string, wait time.Duration) error {
	return &pintle.Error{Code: pintle.ErrCredentials, Detail: detail, RetryAfter: wait, Err: fmt.Errorf("%w from %s", ErrTooMany, client)}
}
