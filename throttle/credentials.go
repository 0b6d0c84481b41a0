package throttle

import (
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
// limits of the guard. field names the field of the form that names the account.
func (g *Guard) Credentials(p *pintle.Credentials, field string) *pintle.Credentials {
	guarded := *p
	if p.Authorize == nil {
		return &guarded // which pintle.New refuses
	}
	guarded.Authorize = func(ctx context.Context, s *pintle.Submission) (*pintle.User, error) {
		who, client := account(s.Text(field)), g.client(s.Request)
		pair := client + " " + who
		// Counted before the password is looked at, so that attempts at the same
		// time do not all come before the first is found wrong.
		counted, wait := take(
			attempt{&g.pairs, pair, g.PerAccountAndClient.or(10, time.Minute)},
			attempt{&g.clients, client, g.PerClient.or(100, 6*time.Second)},
			attempt{&g.accounts, who, g.PerAccount.or(100, time.Minute).unless(g.known.noted(pair))},
		)
		if wait > 0 {
			return nil, &pintle.Error{Code: pintle.ErrCredentials, Detail: detail, RetryAfter: wait, Err: fmt.Errorf("%w from %s", ErrTooMany, client)}
		}
		user, err := p.Authorize(ctx, s)
		if err == nil && user == nil || errors.Is(err, pintle.ErrCredentials) {
			return user, err
		}
		// It was right, or the application could not tell.
		giveBack(counted)
		if err == nil {
			g.known.note(pair)
		}
		return user, err
	}
	return &guarded
}
