package throttle

import (
	"context"
	"fmt"
	"time"

	"github.com/pintleauth/pintle"
)

// mailDetail is the error detail of a mail beyond the limit.
const mailDetail = "too_many_mails"

// Email returns a provider that sends mails through p within the limits of the
// guard. A mail beyond a limit is rejected before its link is stored; links that
// were sent before stay valid. p.Allow runs for mails within the limits.
func (g *Guard) Email(p *pintle.Email) *pintle.Email {
	guarded := *p
	guarded.Limited = true
	guarded.Allow = func(ctx context.Context, m *pintle.MailRequest) error {
		client := client(m.Client)
		_, wait := g.take(ctx, []attempt{
			{counts: &g.mailAddresses, kind: ofMailbox, name: mailbox(m.Address), limit: g.MailsPerAddress.or(5, 10*time.Minute)},
			{counts: &g.mailClients, kind: ofMailClient, name: client, limit: g.MailsPerClient.or(100, time.Minute)},
		})
		if wait > 0 {
			return &pintle.Error{
				Code: pintle.Code("EmailSignInError"), Detail: mailDetail, RetryAfter: wait, Provider: m.Provider,
				Err: fmt.Errorf("%w from %s: the next mail can be sent in %s", ErrTooMany, client, wait.Round(time.Second)),
			}
		}
		if p.Allow == nil {
			return nil
		}
		return p.Allow(ctx, m)
	}
	return &guarded
}
